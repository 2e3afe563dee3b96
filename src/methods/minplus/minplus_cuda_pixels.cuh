/* How the bracket and the corner search store their results: of a warp, a lane to a column, HEIGHT rows of a strip. */
#ifndef DISTMAP_MINPLUS_CUDA_PIXELS_CUH
#define DISTMAP_MINPLUS_CUDA_PIXELS_CUH

#include "methods/minplus/minplus_cuda_offers.cuh"

/* As ROOTS, SQUARES or DISTANCES in a unit, all of which there are, to as many rows, less than 4 GiB apart; LIMITED, in general. */
typedef enum storing { ROOTS, SQUARES, DISTANCES, LIMITED } storing;

template <storing HOW, int HEIGHT>
DM_DEVICE bool store_as(const mc_stage &p, int64_t plane, int32_t strip, int32_t y, float level, float each,
                        const int32_t best[HEIGHT]) {
    const int32_t x = strip * 32 + (int32_t)threadIdx.x % 32;
    const float w = (float)p.wy2;
    bool none = false;
    if (x >= p.width)
        return none;
    char *const to = mc_forget(mc_row(p.target, plane, y) + x * p.target.stride[3]);
    const uint32_t next = (uint32_t)p.target.stride[2];
    char *row = to;
#pragma unroll
    for (int r = 0; r < HEIGHT; r++) {
        const float d2 = __int_as_float(best[r]) + fmaf((float)r, each, fmaf((float)(r * r), w, level));
        const uint32_t square = (uint32_t)(int32_t)d2;
        const uint32_t result = HOW == ROOTS       ? __float_as_uint(mc_root(d2))
                                : HOW == DISTANCES ? __float_as_uint(mc_unit_root(p, square, d2))
                                : HOW == SQUARES   ? square * p.factor
                                                   : square;
        if (HOW != LIMITED)
            *(unsigned *)(to + mc_wide(next, (uint32_t)r)) = result;
        else if (y + r < p.height)
            mc_store(p, row, best[r] < ANY_OFFER ? result : (uint32_t)MC_NOTHING,
                     p.in_unit ? mc_unit_root(p, square, d2) : mc_root(d2), &none);
        row += p.target.stride[2];
    }
    return none;
}

/* By a warp: its pixels from row y on, squared distances being best[r] + level + each r + wy2 r^2. Nothing that is left has a site
 * in part. */
template <int HEIGHT>
DM_DEVICE void store_pixels(const mc_stage &p, int64_t plane, int32_t strip, int32_t y, float level, float each,
                            const int32_t best[HEIGHT]) {
    const bool whole = y + HEIGHT <= p.height && p.target.stride[2] == (uint32_t)p.target.stride[2];
    const bool any = __all_sync(MC_WHOLE, best[0] < ANY_OFFER);
    if (!whole || p.most < MC_NOTHING - 1 || !any)
        mc_raise(p, store_as<LIMITED, HEIGHT>(p, plane, strip, y, level, each, best));
    else if (p.squared)
        store_as<SQUARES, HEIGHT>(p, plane, strip, y, level, each, best);
    else if (p.in_unit)
        store_as<DISTANCES, HEIGHT>(p, plane, strip, y, level, each, best);
    else
        store_as<ROOTS, HEIGHT>(p, plane, strip, y, level, each, best);
}

#endif
