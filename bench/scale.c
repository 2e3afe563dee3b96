/* distmap_scale DEPTH HEIGHT WIDTH [ROUNDS [PANEL_BYTES [NEAR_RANKS]]]: what several ranks gain, by mpiexec with as many
 * as wanted, one thread each.
 *
 * In turns, of a volume of blobs that every rank makes its part of: rank 0 transforms the whole by a plan of the core, and by a
 * plan of libdistmap_mpi with itself alone, while the others sleep; then all do it together. The least time of each counts,
 * and with indices the same again. With HEIGHT 1 it is a plane of DEPTH rows. Needs 5 bytes per voxel in rank 0, 9 with indices,
 * and as much in all others together.
 */
#include <string.h>

#include <distmap/mpi.h>

#include "ranks.h"

enum { WAYS = 3 };

static int rank, size;
static distmap_context *context;
static distmap_mpi_options options;

static void check(distmap_status status) {
    if (status == DISTMAP_OK)
        return;
    fprintf(stderr, "distmap_scale: %s\n", distmap_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Balls of radius 20 on a lattice of 64, all but one of nine voxels in them sites. A plane goes through the middle of some. */
static void paint(uint8_t *mask, int64_t first, const int64_t shape[3]) {
    const int64_t middle = shape[1] == 1 ? 32 : 0;
    for (int64_t z = 0; z < shape[0]; z++)
        for (int64_t y = 0; y < shape[1]; y++)
            for (int64_t x = 0; x < shape[2]; x++) {
                const int64_t k = (first + z) % 64 - 32, j = (y + middle) % 64 - 32, i = x % 64 - 32;
                *mask++ = i * i + j * j + k * k > 400 || (x + 2 * y + 4 * z) % 9 == 0;
            }
}

struct volume {
    int64_t first, shape[3];
    distmap_arrays arrays;
};

/* A plane without its axis of length 1. */
static distmap_view view_of(void *data, distmap_dtype dtype, const int64_t shape[3]) {
    const int64_t plane[] = {shape[0], shape[2]};
    return shape[1] == 1 ? distmap_view_make(data, dtype, 2, plane) : distmap_view_make(data, dtype, 3, shape);
}

static struct volume volume_make(int64_t first, const int64_t shape[3], bool index) {
    const size_t voxels = (size_t)(shape[0] * shape[1] * shape[2]);
    struct volume v = {.first = first, .shape = {shape[0], shape[1], shape[2]}};
    v.arrays.input = view_of(reserve(voxels), DISTMAP_UINT8, shape);
    v.arrays.distance = view_of(reserve(4 * voxels), DISTMAP_FLOAT32, shape);
    memset(v.arrays.distance.data, 0, 4 * voxels);
    if (index) {
        v.arrays.index = view_of(reserve(4 * voxels), DISTMAP_INT32, shape);
        memset(v.arrays.index.data, 0, 4 * voxels);
    }
    paint(v.arrays.input.data, first, shape);
    return v;
}

static void volume_free(struct volume *v) {
    free(v->arrays.input.data);
    free(v->arrays.distance.data);
    free(v->arrays.index.data);
}

static void race(const distmap_problem *problem, const int64_t shape[3], int rounds) {
    static const char *const names[WAYS] = {"one process", "one rank", "all ranks"};
    double best[WAYS] = {1e30, 1e30, 1e30};
    int64_t first, slab[3] = {0, shape[1], shape[2]};
    check(distmap_mpi_slab(problem->shape[0], size, rank, &first, &slab[0]));
    struct volume whole = {0}, part = volume_make(first, slab, problem->want.index);
    distmap_plan *alone = NULL;
    distmap_mpi_plan *single = NULL, *together = NULL;
    distmap_mpi_description described;
    if (rank == 0) {
        whole = volume_make(0, shape, problem->want.index);
        check(distmap_plan_create(context, problem, NULL, &alone));
        check(distmap_mpi_plan_create(MPI_COMM_SELF, context, problem, 0, problem->shape[0], &options, &single));
    }
    check(distmap_mpi_plan_create(MPI_COMM_WORLD, context, problem, first, slab[0], &options, &together));
    distmap_mpi_plan_describe(together, &described);
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < WAYS; way++) {
            meet();
            const double begun = MPI_Wtime();
            if (way == 0 && rank == 0)
                check(distmap_plan_execute(alone, &whole.arrays));
            if (way == 1 && rank == 0)
                check(distmap_mpi_plan_execute(single, &whole.arrays));
            if (way == 2)
                check(distmap_mpi_plan_execute(together, &part.arrays));
            const double taken = MPI_Wtime() - begun;
            best[way] = taken < best[way] ? taken : best[way];
        }
    const double voxels = (double)(shape[0] * shape[1] * shape[2]);
    for (int way = 0; way < WAYS && rank == 0; way++)
        printf("%-12s %s  %8.3f s  %6.2f ns per voxel  %5.2f of one process's speed\n", names[way],
               problem->want.index ? "distance, index" : "distance       ", best[way], 1e9 * best[way] / voxels,
               best[0] / best[way]);
    if (rank == 0)
        printf("             %lld panels; rank 0 holds %.2f bytes of scratch per voxel of its slab, sends %.2f\n",
               (long long)described.panels, (double)described.scratch_bytes * size / voxels,
               (double)described.sent_bytes * size / voxels);
    distmap_mpi_plan_destroy(&together);
    distmap_mpi_plan_destroy(&single);
    distmap_plan_destroy(&alone);
    volume_free(&whole);
    volume_free(&part);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t shape[3];
    for (int a = 0; a < 3; a++)
        shape[a] = argc > a + 1 ? atoll(argv[a + 1]) : 256;
    distmap_problem problem = {.dtype = DISTMAP_UINT8, .want.distance = DISTMAP_FLOAT32};
    const distmap_view like = view_of(NULL, DISTMAP_UINT8, shape);
    problem.ndim = like.ndim;
    memcpy(problem.shape, like.shape, sizeof problem.shape);
    check(distmap_context_create(&(distmap_context_options){.threads = 1}, &context));
    if (rank == 0)
        printf("%lld x %lld x %lld on %d ranks of one thread\n", (long long)shape[0], (long long)shape[1],
               (long long)shape[2], size);
    options.panel_bytes = argc > 5 ? strtoull(argv[5], NULL, 0) : 0;
    options.near_ranks = argc > 6 ? atoi(argv[6]) : 0;
    const int rounds = argc > 4 ? atoi(argv[4]) : 5;
    race(&problem, shape, rounds);
    problem.want.index = DISTMAP_INT32;
    race(&problem, shape, rounds);
    distmap_context_destroy(&context);
    MPI_Finalize();
    return 0;
}
