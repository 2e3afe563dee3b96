/* skeleton/cuda's kernel: see skeleton_cuda.c. */
#include "cuda/elements.cuh"
#include "operations/skeleton_cuda.h"

enum { THREADS = 256, MOST_BLOCKS = 1 << 16 };

DM_DEVICE sk_point load_point(const sk_work &w, int64_t element, const int64_t at[DM_NDIM]) {
    sk_point p;
#pragma unroll
    for (int k = 0; k < SK_AXES; k++) {
        const bool used = k < w.rule.axes;
        p.at[k] = used ? at[w.rule.axis[k]] : 0;
        p.site[k] = !used      ? 0
                    : w.narrow ? ((const int16_t *)w.plane[k])[element]
                               : ((const int32_t *)w.plane[k])[element];
    }
    if (w.rule.border && p.site[0] == DISTMAP_INDEX_BORDER)
        sk_leave(&w.rule, &p);
    return p;
}

/* Whether e is on the skeleton because of the neighbour `step` along measured axis k. */
DM_DEVICE bool is_marked_by(const sk_work &w, const sk_point &e, int64_t element, const int64_t at[DM_NDIM], int k,
                            int64_t step) {
    int64_t beside[DM_NDIM];
#pragma unroll
    for (int a = 0; a < DM_NDIM; a++)
        beside[a] = at[a] + (a == w.rule.axis[k] ? step : 0);
    sk_point q;
    if (e.at[k] + step >= 0 && e.at[k] + step < w.rule.length[k]) {
        q = load_point(w, element + step * w.elements.linear[w.rule.axis[k]], beside);
    } else {
        if (!w.rule.border)
            return false;
        q = e;
        q.at[k] += step;
#pragma unroll
        for (int i = 0; i < SK_AXES; i++)
            q.site[i] = q.at[i];
    }
    return sk_pair(&w.rule, &e, &q) & SK_FIRST;
}

/* A thread for each element, in turns. Reads the coordinates of it and of its neighbours, which caches share; writes mask and
 * distance. */
static __global__ void __launch_bounds__(THREADS) mark(const __grid_constant__ sk_work w) {
    const dm_elements *p = &w.elements;
    const int64_t turn = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < p->elements; i += turn) {
        int64_t at[DM_NDIM];
        dm_element_split(p, i, at);
        const sk_point e = load_point(w, i, at);
        bool outside = false, none = !w.rule.border, on = false;
        for (int k = 0; k < w.rule.axes; k++) {
            outside |= e.site[k] != e.at[k];
            none &= e.site[k] == DISTMAP_INDEX_NONE;
        }
        for (int k = 0; outside && !none && !on && k < w.rule.axes; k++)
            on = is_marked_by(w, e, i, at, k, -1) || is_marked_by(w, e, i, at, k, 1);
        if (p->arrays.mask.data)
            *(uint8_t *)dm_element_address(&p->arrays.mask, at) = on;
        if (!p->arrays.distance.data)
            continue;
        dm_value squared;
        squared.u64 = 0; /* the bits of 0.0 as well */
        for (int k = w.rule.axes - 1; on && k >= 0; k--) {
            const int64_t d = e.at[k] - e.site[k];
            if (p->number == DM_F64)
                squared.f64 = fma(w.rule.w2[k], (double)(d * d), squared.f64);
            else
                squared.u64 += p->w2[w.rule.axis[k]] * (uint64_t)(d * d);
        }
        dm_store_distance(p, &p->arrays.distance, dm_element_address(&p->arrays.distance, at), squared, false);
    }
}

cudaError_t sk_mark(const struct sk_work *work, cudaStream_t stream) {
    const struct sk_work w = *work;
    DM_LAUNCH(mark, dm_blocks(w.elements.elements, THREADS, MOST_BLOCKS), THREADS, 0, stream, w);
    return cudaGetLastError();
}
