/* brute/cuda's kernels: see brute_cuda.c. */
#include "cuda/elements.cuh"
#include "methods/brute/brute_cuda.h"

enum { THREADS = BRUTE_THREADS, MOST_BLOCKS = 1 << 16 };

DM_DEVICE int64_t batch_of(const dm_elements *e, const int64_t at[DM_NDIM]) {
    int64_t batch = 0;
#pragma unroll
    for (int a = 0; a < DM_NDIM; a++)
        if (!e->measured[a])
            batch = batch * e->shape[a] + at[a];
    return batch;
}

/* Coordinates of element `inside` of a batch: the batch's number tells those of its axes, `inside` those of the measured. */
DM_DEVICE void place_in_batch(const dm_elements *e, int64_t batch, int64_t inside, int64_t at[DM_NDIM]) {
#pragma unroll
    for (int a = DM_X; a >= 0; a--) {
        int64_t *rest = e->measured[a] ? &inside : &batch;
        at[a] = *rest % e->shape[a];
        *rest /= e->shape[a];
    }
}

DM_DEVICE int64_t linear_of(const dm_elements *e, const int64_t at[DM_NDIM]) {
    return at[0] * e->linear[0] + at[1] * e->linear[1] + at[2] * e->linear[2] + at[3];
}

/* A thread for each element, in turns. Reads the input once, writes the candidates, or with LISTED where they lie. */
template <bool LISTED>
static __global__ void __launch_bounds__(THREADS) collect(const __grid_constant__ struct brute_work w) {
    const dm_elements *e = &w.elements;
    const int64_t step = (int64_t)gridDim.x * THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < e->elements; i += step) {
        int64_t at[DM_NDIM];
        dm_element_split(e, i, at);
        struct brute_candidate made = {i, {0}};
        if (e->input == DISTMAP_INPUT_SAMPLED) {
            const dm_value f = dm_element_value(e, at, &raised);
            if (dm_value_is_none(e, f))
                continue;
            made.f.u64 = f.u64;
        } else if (!e->by_kind && !dm_element_is_site(e, at, &raised)) {
            continue;
        }
        const int64_t batch = batch_of(e, at);
        const int64_t place = batch * w.batch_elements + (int64_t)atomicAdd(&w.count[batch], 1ull);
        if (LISTED)
            w.listed[place] = {{(int32_t)at[0], (int32_t)at[1], (int32_t)at[2], (int32_t)at[3]}};
        else
            w.candidates[place] = made;
    }
    dm_raise(e, raised);
}

/* Candidates as a block shares them: each is taken apart once for all its threads. */
struct shared_candidate {
    int at[DM_NDIM];
    int64_t label, linear;
    dm_value f;
};

struct nearest {
    dm_value squared;
    int64_t site;
};

/* Lower distance first, then lower index: candidates come in no order. */
DM_DEVICE void compare(const dm_elements *e, const int64_t at[DM_NDIM], const struct shared_candidate *q,
                       struct nearest *best) {
    if (e->number == DM_F64) {
        double d2 = q->f.f64;
#pragma unroll
        for (int a = DM_X; a >= 0; a--) {
            const int64_t d = at[a] - q->at[a];
            if (d)
                d2 = fma(e->w2f[a], (double)(d * d), d2);
        }
        if (d2 < best->squared.f64 || (d2 == best->squared.f64 && d2 <= DBL_MAX && q->linear < best->site)) {
            best->squared.f64 = d2;
            best->site = q->linear;
        }
        return;
    }
    uint64_t d2 = q->f.u64, offset[DM_NDIM];
#pragma unroll
    for (int a = 0; a < DM_NDIM; a++) {
        const int64_t d = at[a] - q->at[a];
        offset[a] = (uint64_t)(d < 0 ? -d : d);
        d2 += e->w2[a] * (uint64_t)(d * d);
    }
    if (!dm_is_euclidean(&e->chamfer))
        d2 = dm_chamfer_length(&e->chamfer, offset);
    if (d2 < best->squared.u64 || (d2 == best->squared.u64 && q->linear < best->site)) {
        best->squared.u64 = d2;
        best->site = q->linear;
    }
}

/* A block for THREADS elements of one batch, in turns over all batches. Each batch's candidates go by in tiles. */
static __global__ void __launch_bounds__(THREADS) search(const __grid_constant__ struct brute_work w) {
    const dm_elements *e = &w.elements;
    const bool labels = e->by_kind;
    const int64_t parts = (w.batch_elements + THREADS - 1) / THREADS;
    __shared__ struct shared_candidate tile[THREADS];
    unsigned raised = 0;
    for (int64_t turn = blockIdx.x; turn < parts * w.batches; turn += gridDim.x) {
        const int64_t batch = turn / parts, inside = turn % parts * THREADS + threadIdx.x;
        const bool active = inside < w.batch_elements;
        int64_t at[DM_NDIM] = {0}, label = 0;
        struct nearest best = {dm_value_none(e), DISTMAP_INDEX_NONE};
        bool searches = active;
        if (active)
            place_in_batch(e, batch, inside, at);
        if (active && labels) {
            label = dm_element_kind(e, at, &raised);
            if (dm_element_is_zero(e, at, &raised)) { /* background: its own and only candidate */
                best.squared.u64 = 0;                 /* the bits of 0.0 as well */
                best.site = linear_of(e, at);
                searches = false;
            }
        }
        const int64_t count = (int64_t)w.count[batch];
        for (int64_t from = 0; from < count; from += THREADS) {
            __syncthreads();
            if (from + threadIdx.x < count) {
                const struct brute_candidate c = w.candidates[batch * w.batch_elements + from + threadIdx.x];
                struct shared_candidate *q = &tile[threadIdx.x];
                int64_t place[DM_NDIM];
                dm_element_split(e, c.linear, place);
#pragma unroll
                for (int a = 0; a < DM_NDIM; a++)
                    q->at[a] = (int)place[a];
                q->label = labels ? dm_element_kind(e, place, &raised) : 0;
                q->linear = c.linear;
                q->f.u64 = c.f.u64;
            }
            __syncthreads();
            for (int k = 0; searches && k < THREADS && from + k < count; k++)
                if (!labels || tile[k].label != label)
                    compare(e, at, &tile[k], &best);
        }
        if (active)
            dm_element_emit(e, at, best.squared, best.site, &raised);
    }
    dm_raise(e, raised);
}

/* ---- sites=texture ---- */

/* A thread for each element, in turns. Reads the input once, writes a byte per element. */
static __global__ void __launch_bounds__(THREADS) mark(const __grid_constant__ struct brute_work w) {
    const int64_t step = (int64_t)gridDim.x * THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < w.elements.elements; i += step) {
        int64_t at[DM_NDIM];
        dm_element_split(&w.elements, i, at);
        w.marks[i] = dm_element_is_site(&w.elements, at, &raised);
    }
    dm_raise(&w.elements, raised);
}

/* A block to a row of the image, a thread to every THREADS-th element of it, in turns; each goes through all of its batch's
 * sites. Reads 16 bytes per site and element, by way of the texture; writes the outputs. */
static __global__ void __launch_bounds__(THREADS)
    search_texture(const __grid_constant__ struct brute_work w, cudaTextureObject_t texture) {
    const dm_elements *e = &w.elements;
    const int64_t nx = e->shape[DM_X];
    unsigned raised = 0;
    for (int64_t row = blockIdx.x; row < e->elements / nx; row += gridDim.x)
        for (int64_t x = threadIdx.x; x < nx; x += THREADS) {
            int64_t at[DM_NDIM];
            dm_element_split(e, row * nx + x, at);
            const int64_t batch = batch_of(e, at);
            const int first = (int)(batch * w.batch_elements), count = (int)w.count[batch];
            struct nearest best = {dm_value_none(e), DISTMAP_INDEX_NONE};
            for (int i = first; i < first + count; i++) {
                const int4 site = tex1Dfetch<int4>(texture, i);
                const int place[DM_NDIM] = {site.x, site.y, site.z, site.w};
                uint64_t d2 = 0, offset[DM_NDIM];
#pragma unroll
                for (int a = 0; a < DM_NDIM; a++) {
                    const int64_t d = at[a] - place[a];
                    offset[a] = (uint64_t)(d < 0 ? -d : d);
                    d2 += e->w2[a] * (uint64_t)(d * d);
                }
                if (!dm_is_euclidean(&e->chamfer))
                    d2 = dm_chamfer_length(&e->chamfer, offset);
                if (d2 > best.squared.u64)
                    continue;
                const int64_t whole[DM_NDIM] = {site.x, site.y, site.z, site.w}, linear = linear_of(e, whole);
                if (d2 < best.squared.u64 || linear < best.site) {
                    best.squared.u64 = d2;
                    best.site = linear;
                }
            }
            dm_element_emit(e, at, best.squared, best.site, &raised);
        }
    dm_raise(e, raised);
}

cudaError_t brute_mark(const struct brute_work *work, cudaStream_t stream) {
    const struct brute_work w = *work;
    DM_LAUNCH(mark, dm_blocks(w.elements.elements, THREADS, MOST_BLOCKS), THREADS, 0, stream, w);
    return cudaGetLastError();
}

cudaError_t brute_list(const struct brute_work *work, cudaStream_t stream) {
    const struct brute_work w = *work;
    DM_LAUNCH(collect<true>, dm_blocks(w.elements.elements, THREADS, MOST_BLOCKS), THREADS, 0, stream, w);
    return cudaGetLastError();
}

cudaError_t brute_search_texture(const struct brute_work *work, cudaTextureObject_t texture, cudaStream_t stream) {
    const struct brute_work w = *work;
    const int64_t rows = w.elements.elements / w.elements.shape[DM_X];
    DM_LAUNCH(search_texture, dm_blocks(rows, 1, MOST_BLOCKS), THREADS, 0, stream, w, texture);
    return cudaGetLastError();
}

cudaError_t brute_collect(const struct brute_work *work, cudaStream_t stream) {
    const struct brute_work w = *work;
    DM_LAUNCH(collect<false>, dm_blocks(w.elements.elements, THREADS, MOST_BLOCKS), THREADS, 0, stream, w);
    return cudaGetLastError();
}

cudaError_t brute_search(const struct brute_work *work, cudaStream_t stream) {
    const struct brute_work w = *work;
    const int64_t parts = (w.batch_elements + THREADS - 1) / THREADS;
    DM_LAUNCH(search, dm_blocks(parts * w.batches, 1, MOST_BLOCKS), THREADS, 0, stream, w);
    return cudaGetLastError();
}
