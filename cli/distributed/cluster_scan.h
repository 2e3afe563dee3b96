/* Chamfer distances by two scans on a cluster, in parallelogram blocks (S. J. Shyu, T. W. Chou, T. L. Chia, "Distance
 * Transformation in Parallel", Journal of Informatics & Electronics, 2006; the scans are A. Rosenfeld's and J. Pfaltz's, 1968), by
 * the ranks of a communicator.
 *
 *     d(i, j) = min(d(i, j), d(i - 1, j - 1) + b, d(i - 1, j) + a, d(i - 1, j + 1) + b, d(i, j - 1) + a)
 *
 * forwards, and the same backwards, which is forwards in the image turned by 180 degrees. Strips of ALPHA rows go to the ranks in
 * turns. Row i of a strip's block k is columns [k BETA - i, (k + 1) BETA - i): so slanted, that it needs nothing to the right
 * of it from its own strip, and of the strip above it only the last row, as far as column (k + 1) BETA. That row comes in
 * segments, one for each block of the strip above, and so all ranks are at work once the first blocks have passed them. Small
 * blocks let the next rank begin sooner, large ones take fewer messages.
 */
#ifndef DISTMAP_CLI_CLUSTER_SCAN_H
#define DISTMAP_CLI_CLUSTER_SCAN_H

#include <mpi.h>

#include <distmap.h>

enum { CLUSTER_FAR = 1 << 30, CLUSTER_ROUNDS = 5 };

struct cluster_image {
    int64_t height, width, alpha, beta;
    int a, b; /* weights; (height + width) * b < CLUSTER_FAR */
    MPI_Comm comm;
    int rank, size;
    int64_t strips; /* of all ranks; strip s is on rank s % size */
    int64_t pitch;  /* of a row, with a column on either side */
    int *memory;    /* this rank's strips: alpha rows, with one above and one below */
    MPI_Request *request;
};

struct cluster_image cluster_image_make(MPI_Comm comm, int64_t height, int64_t width, int64_t alpha, int64_t beta,
                                        int a, int b);
void cluster_image_free(struct cluster_image *m);
/* Both scans, once to warm up and then some rounds, from all ready to all done: how long each took, the shortest first. */
void cluster_race(struct cluster_image *m, double seconds[CLUSTER_ROUNDS]);
/* The distances by chamfer/cpu, one process, one thread, and how long that takes at least; to be freed. */
uint32_t *cluster_reference(const struct cluster_image *m, double *seconds);
/* Whether the strips of all ranks are what rank 0 knows; the same answer on all. */
bool cluster_is_same(const struct cluster_image *m, const uint32_t *wanted);

#endif
