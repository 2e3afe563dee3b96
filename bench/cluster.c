/* distmap_cluster [HEIGHT WIDTH [ALPHA BETA [A B]]]: the scans of cli/distributed/cluster_scan.h, by mpiexec with as many ranks as
 * wanted. It prints the time of one rank and of all, medians, and compares their bits with chamfer/cpu. `distmap bench --suite cluster`
 * measures the usual blocks and writes a record.
 */
#include <limits.h>

#include "../cli/distributed/cluster_scan.h"
#include "ranks.h"

int main(int argc, char **argv) {
    static const int64_t usual[][2] = {{16, 256}, {32, 128}, {32, 256}, {32, 512}, {64, 256}, {128, 256}, {128, 1024}};
    int64_t numbers[6] = {3840, 3840, 0, 0, 3, 4};
    int rank, size, failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 6 && i + 1 < argc; i++)
        numbers[i] = atoll(argv[i + 1]);
    const int64_t height = numbers[0], width = numbers[1];
    const int a = (int)numbers[4], b = (int)numbers[5], tried = numbers[2] ? 1 : (int)(sizeof usual / sizeof *usual);
    if (height < 1 || width < 1 || width > INT_MAX || numbers[2] < 0 || (numbers[2] && numbers[3] < 1) || a < 1 ||
        b < a || b > 2 * a || (height + width) * b >= CLUSTER_FAR) {
        if (rank == 0)
            fprintf(stderr, "usage: distmap_cluster [HEIGHT WIDTH [ALPHA BETA [A B]]], A <= B <= 2 A\n");
        MPI_Finalize();
        return 2;
    }
    struct cluster_image one = {.height = height, .width = width, .a = a, .b = b};
    uint32_t *wanted = NULL;
    double by_library = 0, alone = 0, rounds[CLUSTER_ROUNDS];
    if (rank == 0) {
        wanted = cluster_reference(&one, &by_library);
        one = cluster_image_make(MPI_COMM_SELF, height, width, height, width + height, a, b);
        cluster_race(&one, rounds);
        alone = rounds[CLUSTER_ROUNDS / 2];
        failed = !cluster_is_same(&one, wanted);
        cluster_image_free(&one);
        printf("%lld x %lld, weights %d %d: two scans by one rank %.1f ms%s, chamfer/cpu by one thread %.1f ms\n",
               (long long)height, (long long)width, a, b, 1e3 * alone, failed ? ", OTHER BITS" : "", 1e3 * by_library);
    }
    meet();
    for (int i = 0; i < tried; i++) {
        const int64_t alpha = numbers[2] ? numbers[2] : usual[i][0], beta = numbers[2] ? numbers[3] : usual[i][1];
        struct cluster_image m = cluster_image_make(MPI_COMM_WORLD, height, width, alpha, beta, a, b);
        cluster_race(&m, rounds);
        const double seconds = rounds[CLUSTER_ROUNDS / 2];
        const bool same = cluster_is_same(&m, wanted);
        failed |= !same;
        if (rank == 0)
            printf("%d ranks, blocks of %lld x %lld: %.1f ms, %.2f times one rank%s\n", size, (long long)alpha,
                   (long long)beta, 1e3 * seconds, alone / seconds, same ? "" : ", OTHER BITS");
        cluster_image_free(&m);
    }
    free(wanted);
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
