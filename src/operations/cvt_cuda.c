/* cvt/cuda: centroidal Voronoi diagrams on a GPU.
 *
 * A step is the inner plan with indices, one pass over its map for the cells' sums (cvt_cuda_gather.cu), and three kernels over
 * the points; the host enqueues them and waits for nothing, except between steps where somebody watches the progress. It makes the
 * start, though, from the weights of the first grid, which come to it in pieces.
 */
#include <string.h>

#include "core/scratch.h"
#include "operations/cvt_cuda.h"
#include "operations/inner_cuda.h"

static struct dm_cuda *cuda_of(const cv_work *w) { return w->plan->context->cuda; }

/* ---- Memory ---- */

static size_t lay_out(const cv_work *w, char *base, cv_own *own) {
    const distmap_problem *p = &w->plan->problem;
    dm_scratch walk = {.base = base, .unit = DM_CUDA_UNIT};
    own->totals = dm_take(&walk, 1, sizeof *own->totals);
    own->chunk = dm_take(&walk, CV_CHUNK, sizeof *own->chunk);
    own->taken = dm_take(&walk, (p->cvt.steps + 1) * CV_AXES, sizeof *own->taken);
    if (w->plan->host_views) {
        own->dense_sites = dm_take(&walk, w->points * p->ndim, distmap_dtype_size(p->want.sites));
        own->dense_centroids = dm_take(&walk, w->points * p->ndim, distmap_dtype_size(p->want.centroids));
        own->dense_energies = dm_take(&walk, p->cvt.steps + 1, distmap_dtype_size(p->want.energies));
    }
    return walk.used;
}

static size_t own_bytes(const cv_work *w) {
    cv_own own;
    return lay_out(w, NULL, &own);
}

static cv_args arguments(const cv_work *w, int grid) {
    cv_args a = {.grid = w->grid[grid],
                 .finer = w->grid[grid > 0 ? grid - 1 : 0],
                 .input = w->arrays->input,
                 .label = w->arrays->label,
                 .stand = w->stand,
                 .index = w->index,
                 .place = w->place,
                 .sums = w->sums,
                 .target = w->target,
                 .points = w->points,
                 .steps = w->plan->problem.cvt.steps,
                 .units = w->units,
                 .omega = w->omega,
                 .number = grid,
                 .ndim = w->plan->problem.ndim,
                 .wide = w->wide};
    lay_out(w, w->own, &a.own);
    return a;
}

/* To the host, at once. */
static distmap_status fetch(const cv_work *w, const void *from, size_t bytes, void *to) {
    TRY_CUDA(cuda_of(w), cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, cuda_of(w)->stream));
    TRY_CUDA(cuda_of(w), cudaStreamSynchronize(cuda_of(w)->stream));
    return DISTMAP_OK;
}

/* ---- The start ---- */

static distmap_status measure(cv_work *w, double share) {
    struct dm_cuda *cuda = cuda_of(w);
    enum cudaStreamCaptureStatus capture;
    cv_args a = arguments(w, 0);
    cv_totals totals;
    TRY_CUDA(cuda, cudaStreamIsCapturing(cuda->stream, &capture));
    if (capture != cudaStreamCaptureStatusNone)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "plan: CVT waits for the device at its start, so it cannot be captured into a CUDA graph");
    TRY_CUDA(cuda, cudaMemsetAsync(a.own.totals, 0, sizeof *a.own.totals, cuda->stream));
    TRY_CUDA(cuda,
             cudaMemsetAsync(a.own.taken, 0, (size_t)(a.steps + 1) * CV_AXES * sizeof *a.own.taken, cuda->stream));
    TRY_CUDA(cuda, cv_launch_measure(&a, cuda->stream));
    for (int grid = 1; grid < w->grids; grid++) {
        a = arguments(w, grid);
        TRY_CUDA(cuda, cv_launch_coarsen(&a, cuda->stream));
    }
    TRY(fetch(w, a.own.totals, sizeof totals, &totals));
    w->found.total = totals.total;
    for (int grid = 0; grid < w->grids; grid++)
        w->found.weighted[grid] = (int64_t)totals.weighted[grid];
    w->plan->progress_base += share;
    return DISTMAP_OK;
}

static distmap_status weights(cv_work *w, int grid, int64_t first, int64_t count, uint64_t *to) {
    cv_args a = arguments(w, grid);
    for (; count > 0; first += a.count, to += a.count, count -= a.count) {
        a.first = first;
        a.count = count < CV_CHUNK ? count : CV_CHUNK;
        TRY_CUDA(cuda_of(w), cv_launch_weights(&a, cuda_of(w)->stream));
        TRY(fetch(w, a.own.chunk, (size_t)a.count * sizeof *to, to));
    }
    return DISTMAP_OK;
}

/* `places` may change afterwards: memory that is not page-locked was read when the call returns. */
static distmap_status put(cv_work *w, int64_t first, int64_t count, const cv_place *places) {
    if (count)
        TRY_CUDA(cuda_of(w), cudaMemcpyAsync(w->place + first, places, (size_t)count * sizeof *places,
                                             cudaMemcpyHostToDevice, cuda_of(w)->stream));
    return DISTMAP_OK;
}

/* ---- Steps ---- */

static distmap_status occupy(cv_work *w, int grid, double share) {
    struct dm_cuda *cuda = cuda_of(w);
    const cv_args a = arguments(w, grid);
    TRY_CUDA(cuda, cudaMemsetAsync(w->stand, 0, (size_t)a.grid.elements * sizeof *w->stand, cuda->stream));
    TRY_CUDA(cuda, cv_launch_occupy(&a, cuda->stream));
    w->plan->progress_base += share;
    return DISTMAP_OK;
}

static distmap_status gather(cv_work *w, int grid, double share) {
    struct dm_cuda *cuda = cuda_of(w);
    const cv_args a = arguments(w, grid);
    TRY_CUDA(cuda, cudaMemsetAsync(w->sums, 0, (size_t)w->points * sizeof *w->sums, cuda->stream));
    TRY_CUDA(cuda, cv_launch_gather(&a, cuda->stream));
    w->plan->progress_base += share;
    return DISTMAP_OK;
}

static void nothing(void *arg, size_t index, int worker) { (void)arg, (void)index, (void)worker; }

/* Where somebody watches, the progress is told when it is made. */
static distmap_status advance(cv_work *w, int grid, int64_t step, bool moves, bool *rest, double share) {
    struct dm_cuda *cuda = cuda_of(w);
    cv_args a = arguments(w, grid);
    a.step = step;
    a.moves = moves;
    *rest = false;
    TRY_CUDA(cuda, cv_launch_advance(&a, cuda->stream));
    if (!w->plan->context->progress)
        return DISTMAP_OK;
    TRY_CUDA(cuda, cudaStreamSynchronize(cuda->stream));
    return dm_parallel(w->plan, 1, nothing, NULL, share);
}

static distmap_status refine(cv_work *w) {
    const cv_args a = arguments(w, 0);
    TRY_CUDA(cuda_of(w), cv_launch_refine(&a, cuda_of(w)->stream));
    return DISTMAP_OK;
}

/* ---- Results ---- */

/* The memory that kernels write for an output of rows x columns: the output, or its copy in device memory. */
static dm_array on_device(const dm_array *array, void *dense, int64_t columns) {
    if (!array->data || array->space != DISTMAP_SPACE_HOST)
        return *array;
    dm_array copy = {.data = dense, .dtype = array->dtype, .space = DISTMAP_SPACE_CUDA};
    copy.stride[DM_X] = (int64_t)distmap_dtype_size(array->dtype);
    copy.stride[DM_X - 1] = columns * copy.stride[DM_X];
    return copy;
}

/* From the copy to an output on the host. */
static distmap_status bring(const cv_work *w, const dm_array *array, const void *dense, int64_t rows, int64_t columns) {
    char piece[1 << 16];
    const size_t size = distmap_dtype_size(array->dtype);
    if (!array->data || array->space != DISTMAP_SPACE_HOST)
        return DISTMAP_OK;
    const int64_t all = rows * columns, each = (int64_t)(sizeof piece / size);
    for (int64_t first = 0; first < all; first += each) {
        const int64_t count = all - first < each ? all - first : each;
        TRY(fetch(w, (const char *)dense + (size_t)first * size, (size_t)count * size, piece));
        for (int64_t i = 0; i < count; i++)
            memcpy(array->data + (first + i) / columns * array->stride[DM_X - 1] +
                       (first + i) % columns * array->stride[DM_X],
                   piece + (size_t)i * size, size);
    }
    return DISTMAP_OK;
}

static distmap_status emit(cv_work *w, double share) {
    const dm_arrays *out = w->arrays;
    cv_args a = arguments(w, 0);
    a.own.sites = on_device(&out->sites, a.own.dense_sites, a.ndim);
    a.own.centroids = on_device(&out->centroids, a.own.dense_centroids, a.ndim);
    a.own.energies = on_device(&out->energies, a.own.dense_energies, 1);
    TRY_CUDA(cuda_of(w), cv_launch_emit(&a, cuda_of(w)->stream));
    TRY(bring(w, &out->sites, a.own.dense_sites, a.points, a.ndim));
    TRY(bring(w, &out->centroids, a.own.dense_centroids, a.points, a.ndim));
    TRY(bring(w, &out->energies, a.own.dense_energies, 1, a.steps + 1));
    w->plan->progress_base += share;
    return DISTMAP_OK;
}

/* ---- The row of the table ---- */

static const cv_device device = {
    .unit = DM_CUDA_UNIT,
    .own_bytes = own_bytes,
    .measure = measure,
    .weights = weights,
    .put = put,
    .occupy = occupy,
    .gather = gather,
    .advance = advance,
    .refine = refine,
    .emit = emit,
};

static size_t scratch_bytes(const distmap_plan *plan) { return cv_scratch_bytes(plan, &device); }

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) { return cv_run(plan, arrays, &device); }

const dm_method dm_cvt_cuda = {
    .info =
        {
            .name = "cvt/cuda",
            .summary = "Lloyd's steps from coarse to fine, sums of columns' runs by atomic adds",
            .source = "Cao et al. 2010; Lloyd 1982",
            .device = "cuda",
            .exact = true,
            .field = DISTMAP_FIELD_CVT,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = cv_prepare,
    .release = op_inner_release,
};
