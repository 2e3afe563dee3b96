/* How searches of columns store their results: of a warp, a lane to a column, HEIGHT rows of a strip. */
#ifndef DISTMAP_MINPLUS_CUDA_PIXELS_CUH
#define DISTMAP_MINPLUS_CUDA_PIXELS_CUH

#include "methods/minplus/minplus_cuda.cuh"

/* A squared distance, and as a float; `any`: there is a site. */
typedef struct pixel {
    uint32_t square;
    float number;
    bool any;
} pixel;

/* As ROOTS of numbers below 2^24, CLOSE_ROOTS of any that lie close together, LARGE_ROOTS of any, SQUARES, or DISTANCES in a unit, all
 * of which there are, to as many rows, less than 4 GiB apart; LIMITED, in general. */
typedef enum storing { ROOTS, CLOSE_ROOTS, LARGE_ROOTS, SQUARES, DISTANCES, LIMITED } storing;

template <storing HOW, int HEIGHT, typename At>
DM_DEVICE bool store_as(const mc_stage &p, int64_t plane, int32_t strip, int32_t y, const At &at,
                        const mc_close &close = {}) {
    const int32_t x = strip * 32 + (int32_t)threadIdx.x % 32;
    bool none = false;
    if (x >= p.width)
        return none;
    char *const to = mc_forget(mc_row(p.target, plane, y) + x * p.target.stride[3]);
    const uint32_t next = (uint32_t)p.target.stride[2];
    char *row = to;
#pragma unroll
    for (int r = 0; r < HEIGHT; r++) {
        const pixel d2 = at(r);
        const uint32_t result = HOW == ROOTS         ? __float_as_uint(mc_root(d2.number))
                                : HOW == CLOSE_ROOTS ? __float_as_uint(mc_close_root(d2.square, close))
                                : HOW == LARGE_ROOTS ? __float_as_uint(mc_large_root(d2.square))
                                : HOW == DISTANCES   ? __float_as_uint(mc_unit_root(p, d2.square, d2.number))
                                : HOW == SQUARES     ? d2.square * p.factor
                                                     : d2.square;
        if (HOW != LIMITED)
            *(unsigned *)(to + mc_wide(next, (uint32_t)r)) = result;
        else if (y + r < p.height)
            mc_store(p, row, d2.any ? result : (uint32_t)MC_NOTHING, mc_distance_apart(p, d2.square), &none);
        row += p.target.stride[2];
    }
    return none;
}

/* Distances that may be 4096 or more. */
template <int HEIGHT, typename At>
DM_DEVICE void store_large(const mc_stage &p, int64_t plane, int32_t strip, int32_t y, const At &at) {
    const mc_close close = mc_close_to(at(0).square, (HEIGHT - 1) * p.apart[0] + 1);
    if (__all_sync(MC_WHOLE, close.small))
        store_as<ROOTS, HEIGHT>(p, plane, strip, y, at);
    else if (__all_sync(MC_WHOLE, close.fits))
        store_as<CLOSE_ROOTS, HEIGHT>(p, plane, strip, y, at, close);
    else
        store_as<LARGE_ROOTS, HEIGHT>(p, plane, strip, y, at);
}

/* By a warp: its pixels from row y on, at(r) being that of row y + r. LARGE: squares may be 2^24 or more. UNITS: results may be
 * distances in a unit, which take more instructions: kernels that have none of these are shorter, and start sooner. Either all rows
 * of a column have a site or none does. */
template <bool LARGE, bool UNITS, int HEIGHT, typename At>
DM_DEVICE void store_pixels(const mc_stage &p, int64_t plane, int32_t strip, int32_t y, const At &at) {
    const bool whole = y + HEIGHT <= p.height && p.target.stride[2] == (uint32_t)p.target.stride[2];
    const bool any = __all_sync(MC_WHOLE, at(0).any);
    if (!whole || p.most < MC_NOTHING - 1 || !any)
        mc_raise(p, store_as<LIMITED, HEIGHT>(p, plane, strip, y, at));
    else if (p.squared)
        store_as<SQUARES, HEIGHT>(p, plane, strip, y, at);
    else if (UNITS && p.in_unit)
        store_as<DISTANCES, HEIGHT>(p, plane, strip, y, at);
    else if (LARGE)
        store_large<HEIGHT>(p, plane, strip, y, at);
    else
        store_as<ROOTS, HEIGHT>(p, plane, strip, y, at);
}

#endif
