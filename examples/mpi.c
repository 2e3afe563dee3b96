/* A volume that no rank holds alone: each has some of its slices, and gets their distances. One site, in the first corner.
 *
 * mpicc mpi.c $(pkg-config --cflags --libs distmap_mpi) && mpiexec -n 3 ./a.out
 */
#include <stdio.h>
#include <stdlib.h>

#include <distmap/mpi.h>

enum { DEPTH = 40, HEIGHT = 30, WIDTH = 20 };

int main(int argc, char **argv) {
    int granted, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &granted);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    /* The problem is the whole volume's, and the same on all ranks. */
    const distmap_problem problem = {
        .dtype = DISTMAP_UINT8, .ndim = 3, .shape = {DEPTH, HEIGHT, WIDTH}, .want.distance = DISTMAP_FLOAT32};
    int64_t first, count; /* slices; any partition will do, this one is even */
    distmap_mpi_slab(DEPTH, size, rank, &first, &count);
    const int64_t slab[] = {count, HEIGHT, WIDTH};
    const size_t voxels = (size_t)count * HEIGHT * WIDTH;
    uint8_t *mask = malloc(voxels + 1);
    float *distance = malloc(sizeof(float) * voxels + 1);
    distmap_context *context = NULL;
    distmap_mpi_plan *plan = NULL;
    if (mask == NULL || distance == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < voxels; i++)
        mask[i] = first > 0 || i > 0;

    const distmap_arrays arrays = {.input = distmap_view_make(mask, DISTMAP_UINT8, 3, slab),
                                   .distance = distmap_view_make(distance, DISTMAP_FLOAT32, 3, slab)};
    const distmap_context_options options = {.threads = 1};
    distmap_status status = distmap_context_create(&options, &context);
    if (status != DISTMAP_OK)
        MPI_Abort(MPI_COMM_WORLD, 1); /* a context is each rank's own affair: the others do not know */
    status = distmap_mpi_plan_create(MPI_COMM_WORLD, context, &problem, first, count, NULL, &plan);
    if (status == DISTMAP_OK)
        status = distmap_mpi_plan_execute(plan, &arrays);
    if (status != DISTMAP_OK && rank == 0) /* the same everywhere */
        fprintf(stderr, "mpi: %s\n", distmap_error_text());

    bool right = status == DISTMAP_OK;
    if (right && count > 0 && first + count == DEPTH) {
        const float last = distance[voxels - 1];
        printf("rank %d of %d: the last voxel is %.4f from the site\n", rank, size, last);
        right = last > 52.182 && last < 52.183; /* the root of 39^2 + 29^2 + 19^2 */
    }
    distmap_mpi_plan_destroy(&plan);
    distmap_context_destroy(&context);
    free(distance);
    free(mask);
    MPI_Finalize();
    return !right;
}
