/* Device functions of minplus/cuda's kernels: lanes of 16 bits, roots, where results go. */
#ifndef DISTMAP_MINPLUS_CUDA_CUH
#define DISTMAP_MINPLUS_CUDA_CUH

#include "cuda/elements.cuh"
#include "methods/minplus/minplus_cuda.h"

#define MC_WHOLE 0xFFFFFFFFu /* all lanes of a warp */

/* On two halves: min(a, b), and min(a + b, c) where a + b stays below 2^16. Hopper has both in one instruction. */
DM_DEVICE uint32_t mc_min(uint32_t a, uint32_t b) { return __vminu2(a, b); }
DM_DEVICE uint32_t mc_add_min(uint32_t a, uint32_t b, uint32_t c) { return __viaddmin_u16x2(a, b, c); }

/* sqrtf of an integer below 2^24, correctly rounded: a step of Newton's from the approximate 1 / sqrt, with the rest taken
 * exactly. (A GPU has been through all of them.) */
DM_DEVICE float mc_root(float x) {
    const float r = rsqrtf(x + 1e-30f), s = x * r;
    return fmaf(fmaf(-s, s, x), 0.5f * r, s);
}

DM_DEVICE char *mc_row(const mc_rows &rows, int64_t plane, int32_t y) {
    const int64_t outer = plane / rows.inner;
    return rows.data + outer * rows.stride[0] + (plane - outer * rows.inner) * rows.stride[1] + y * rows.stride[2];
}

/* A result; `none` is set where it is beyond the limit. */
DM_DEVICE void mc_store(const mc_stage &p, char *to, uint32_t d2, float root, bool *none) {
    const bool beyond = d2 > p.most;
    *none |= beyond;
    if (p.squared)
        __stcs((unsigned *)to, beyond ? p.nothing : d2);
    else
        __stcs((float *)to, beyond ? (float)INFINITY : root);
}

DM_DEVICE void mc_raise(const mc_stage &p, bool none) {
    if (none && p.flags)
        atomicOr(p.flags, (unsigned)DISTMAP_FLAG_NO_SITE);
}

#endif
