/* skeleton/cuda's kernel: see skeleton_cuda.c.
 *
 * Most neighbours have the same site, which their indices tell, or one that is next to it. Of the others a filter in float32,
 * passed in doubt, leaves few to be asked the rule in FP64. */
#include "cuda/elements.cuh"
#include "operations/skeleton_cuda.h"

enum { THREADS = 256, MOST_BLOCKS = 1 << 16 };
#define SLACK 1e-5f /* more than the roundings of float32 take */

DM_DEVICE int64_t index_at(const sk_work &w, int64_t element) {
    return w.wide ? ((const int64_t *)w.index)[element] : ((const int32_t *)w.index)[element];
}

DM_DEVICE uint32_t divide(const sk_divider &by, uint32_t i) { return (uint32_t)((uint64_t)i * by.factor >> by.shift); }

/* Where an index lies along measured axis k. */
DM_DEVICE int64_t place_along(const sk_work &w, int k, int64_t index) {
    if (w.wide)
        return index / w.elements.linear[w.rule.axis[k]] % w.rule.length[k];
    const uint32_t whole = divide(w.stride[k], (uint32_t)index);
    return (int32_t)(whole - divide(w.length[k], whole) * w.length[k].n);
}

/* Sets p->site of the element at p->at. `r` says how many axes are measured by a constant, so that loops over them unroll. */
DM_DEVICE void find_site(const sk_work &w, const sk_rule &r, int64_t index, sk_point *p) {
    if (index == DISTMAP_INDEX_BORDER) {
        sk_point outside = *p; /* in memory: its places are numbered there */
        sk_leave(&w.rule, &outside);
        *p = outside;
        return;
    }
#pragma unroll
    for (int k = 0; k < r.axes; k++)
        p->site[k] = index < 0 ? index : place_along(w, k, index);
}

/* Whether sk_pair may say that e is marked because of q. Squares in units of h^2. */
DM_DEVICE bool may_mark(const sk_work &w, const sk_rule &r, const sk_point &e, const sk_point &q) {
    if (!w.filters)
        return true;
    uint32_t apart = 0;
#pragma unroll
    for (int k = 0; k < r.axes; k++)
        apart += (uint32_t)abs((int32_t)e.site[k] - (int32_t)q.site[k]);
    if (apart <= 1)
        return false;
    float d = 0, ss = 0, vu = 0;
#pragma unroll
    for (int k = 0; k < r.axes; k++) {
        const float u = (float)((int32_t)e.site[k] - (int32_t)q.site[k]);
        const float v = (float)((int32_t)e.at[k] - (int32_t)q.at[k]);
        const float s = (float)((int32_t)e.at[k] - (int32_t)e.site[k]) + (float)((int32_t)q.at[k] - (int32_t)q.site[k]);
        d += w.w2[k] * (u * u);
        ss += w.w2[k] * (s * s);
        vu += w.w2[k] * (v * u);
    }
    const float t = d - 2 * vu - w.more + SLACK * (d + 2 * fabsf(vu) + w.more), above = d * (1 + SLACK);
    /* Said by what it is not, so that overflows pass as well. */
    return !(r.pruning == DISTMAP_PRUNING_SQUARE_ROOT ? t < 0 || t * t * (1 + SLACK) < ss
             : r.pruning == DISTMAP_PRUNING_LINEAR    ? above < w.gamma2 * ss
                                                      : above < w.gamma2);
}

/* Whether e is on the skeleton because of the neighbour `step` along measured axis k. */
DM_DEVICE bool is_marked_by(const sk_work &w, const sk_rule &r, const sk_point &e, int64_t element, int64_t index,
                            int k, int64_t step) {
    sk_point q = e;
    q.at[k] += step;
    if (q.at[k] >= 0 && q.at[k] < r.length[k]) {
        const int64_t other = index_at(w, element + step * w.elements.linear[r.axis[k]]);
        if (other == index && index >= 0)
            return false;
        find_site(w, r, other, &q);
    } else {
        if (!r.border)
            return false;
#pragma unroll
        for (int i = 0; i < r.axes; i++)
            q.site[i] = q.at[i];
    }
    return may_mark(w, r, e, q) && sk_pair(&r, &e, &q) & SK_FIRST;
}

/* A thread for each element, in turns. Reads the sites of it and of its neighbours, which caches share; writes mask and
 * distance. */
template <int AXES> static __global__ void __launch_bounds__(THREADS) mark(const __grid_constant__ sk_work w) {
    const dm_elements *p = &w.elements;
    const int64_t turn = (int64_t)gridDim.x * THREADS;
    sk_rule r = w.rule;
    r.axes = AXES;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < p->elements; i += turn) {
        const int64_t index = index_at(w, i);
        sk_point e;
#pragma unroll
        for (int k = 0; k < AXES; k++)
            e.at[k] = place_along(w, k, i);
        find_site(w, r, index, &e);
        bool on = false;
        if (index != i && index != DISTMAP_INDEX_NONE) {
#pragma unroll
            for (int k = 0; k < AXES; k++)
                on = on || is_marked_by(w, r, e, i, index, k, -1) || is_marked_by(w, r, e, i, index, k, 1);
        }
        int64_t at[DM_NDIM];
        dm_element_split(p, i, at);
        if (p->arrays.mask.data)
            *(uint8_t *)dm_element_address(&p->arrays.mask, at) = on;
        if (!p->arrays.distance.data)
            continue;
        dm_value squared;
        squared.u64 = 0; /* the bits of 0.0 as well */
#pragma unroll
        for (int k = AXES - 1; k >= 0; k--) {
            const int64_t d = on ? e.at[k] - e.site[k] : 0;
            if (p->number == DM_F64)
                squared.f64 = fma(r.w2[k], (double)(d * d), squared.f64);
            else
                squared.u64 += p->w2[r.axis[k]] * (uint64_t)(d * d);
        }
        dm_store_distance(p, &p->arrays.distance, dm_element_address(&p->arrays.distance, at), squared, false);
    }
}

cudaError_t sk_mark(const struct sk_work *work, cudaStream_t stream) {
    static void (*const of_axes[])(sk_work) = {mark<1>, mark<2>, mark<3>};
    void (*const kernel)(sk_work) = of_axes[work->rule.axes - 1];
    DM_LAUNCH(kernel, dm_blocks(work->elements.elements, THREADS, MOST_BLOCKS), THREADS, 0, stream, *work);
    return cudaGetLastError();
}
