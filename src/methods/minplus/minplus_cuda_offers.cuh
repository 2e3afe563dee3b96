/* What rows offer the pixels of a block: for the direct, the corner and the bracket search.
 *
 * Rows are counted from the block's first one, y0: with y = y0 + i, row j = y0 + t and i up to `rows`
 *
 *     d2(y0 + i) - w i^2 + c = h(t) - (2 w i) t    where h(t) = f(j) + w t^2 + c
 *
 * so that a row offers a pixel one multiplication and addition. Where all terms are integers below 2^24 (minplus_cuda_stages.c sees
 * to it) these are floats, which are exact, and twice as fast as integers; with c = w rows^2 sums are positive, so that their bits
 * compare as integers do, two rows in one instruction. Else they are WHOLE: 32-bit integers, c = 0. Terms may leave 32 bits, as long
 * as d2 < 2^31 and w i^2 <= 2^31 of every row j and pixel i: then so does no offer.
 */
#ifndef DISTMAP_MINPLUS_CUDA_OFFERS_CUH
#define DISTMAP_MINPLUS_CUDA_OFFERS_CUH

#include "methods/minplus/minplus_cuda_pixels.cuh"
#include "methods/minplus/minplus_cuda_rows.cuh"

enum {
    /* What rows without a site offer as floats: 2^30, of which slopes take less than 2^25. What others do is below 2^24. */
    NO_OFFER = 0x4E800000,
    ANY_OFFER = 0x4B800000,
};

/* The least that pixels are offered, of no row. */
template <bool WHOLE> DM_DEVICE int32_t no_offer(void) { return WHOLE ? INT32_MAX : (int32_t)NO_OFFER; }
/* Whether it is of some row. */
template <bool WHOLE> DM_DEVICE bool is_offer(int32_t least) {
    return least < (WHOLE ? INT32_MAX : (int32_t)ANY_OFFER);
}

/* h, of a row that has a site. WHOLE: `rows` is 0. */
DM_DEVICE uint32_t offer_start(const mc_stage &p, uint32_t f, int32_t t, int32_t rows) {
    return f + (uint32_t)p.wy2 * ((uint32_t)t * (uint32_t)t + (uint32_t)(rows * rows));
}

/* A number as offers have it, and back. */
template <bool WHOLE> DM_DEVICE uint32_t offer_number(int32_t n) {
    return WHOLE ? (uint32_t)n : __float_as_uint((float)n);
}
template <bool WHOLE> DM_DEVICE int32_t offer_value(int32_t bits) {
    return WHOLE ? bits : (int32_t)__int_as_float(bits);
}

/* What row t offers a pixel, whose turn is -2 w i. */
DM_DEVICE int32_t offer_at(uint32_t bits, float t, float turn) {
    return __float_as_int(fmaf(t, turn, __uint_as_float(bits)));
}
template <bool WHOLE> DM_DEVICE int32_t offer_at(uint32_t h, uint32_t t, uint32_t turn) {
    return WHOLE ? (int32_t)(h + t * turn) : offer_at(h, __uint_as_float(t), __uint_as_float(turn));
}

/* The turns of COUNT rows of pixels, `step` apart, from row i on. WHOLE: times 2^shift. */
template <bool WHOLE, int COUNT>
DM_DEVICE void set_turns(const mc_stage &p, int32_t i, int32_t step, int32_t shift, uint32_t turn[COUNT]) {
    const int32_t first = -2 * p.wy2 * i, each = -2 * p.wy2 * step;
#pragma unroll
    for (int r = 0; r < COUNT; r++)
        turn[r] =
            WHOLE ? (uint32_t)(first + r * each) << shift : __float_as_uint(fmaf((float)r, (float)each, (float)first));
}

template <bool WHOLE, int COUNT> DM_DEVICE void set_none(int32_t best[COUNT]) {
#pragma unroll
    for (int r = 0; r < COUNT; r++)
        best[r] = no_offer<WHOLE>();
}

/* Four rows, the lane's column; the least that they offer pixels, and `best`. */
template <bool WHOLE, int COUNT>
DM_DEVICE void take_four(uint4 four, uint4 rows, const uint32_t turn[COUNT], int32_t best[COUNT]) {
#pragma unroll
    for (int r = 0; r < COUNT; r++) {
        best[r] =
            __vimin3_s32(best[r], offer_at<WHOLE>(four.x, rows.x, turn[r]), offer_at<WHOLE>(four.y, rows.y, turn[r]));
        best[r] =
            __vimin3_s32(best[r], offer_at<WHOLE>(four.z, rows.z, turn[r]), offer_at<WHOLE>(four.w, rows.w, turn[r]));
    }
}

/* d2 of pixel i, from the least that it was offered. */
DM_DEVICE int32_t offered_square(const mc_stage &p, int32_t least, int32_t i, int32_t rows) {
    return (int32_t)((uint32_t)least - (uint32_t)p.wy2 * (uint32_t)(rows * rows - i * i));
}

/* Stores a warp's pixels from row y on, which is row i of the block's, by the least that they were offered. */
template <bool WHOLE, bool UNITS, int HEIGHT>
DM_DEVICE void store_offered(const mc_stage &p, int64_t plane, int32_t strip, int32_t y, int32_t i, int32_t rows,
                             const int32_t best[HEIGHT]) {
    const float w = (float)p.wy2, level = (float)(p.wy2 * (i * i - rows * rows)), each = (float)(2 * p.wy2 * i);
    store_pixels<WHOLE, UNITS, HEIGHT>(p, plane, strip, y, [&](int r) {
        const uint32_t whole = (uint32_t)offered_square(p, best[r], i + r, rows);
        const float d2 = __int_as_float(best[r]) + fmaf((float)r, each, fmaf((float)(r * r), w, level));
        const pixel made = {WHOLE ? whole : (uint32_t)(int32_t)d2, WHOLE ? (float)whole : d2, is_offer<WHOLE>(best[r])};
        return made;
    });
}

/* h of four rows of the z stage, whose starts are known; `source` is this lane's column of row 0. There are at most 2^12 rows. */
template <bool WHOLE> DM_DEVICE uint4 slow_offers(const mc_stage &p, const char *source, uint4 row, uint4 start) {
    const uint32_t pitch = (uint32_t)p.source.stride[2];
    const auto at = [&](uint32_t r, uint32_t h) {
        return offer_number<WHOLE>((int32_t)(h + *(const uint32_t *)(source + mc_wide(r, pitch))));
    };
    return make_uint4(at(row.x, start.x), at(row.y, start.y), at(row.z, start.z), at(row.w, start.w));
}

/* ---- What a block works on ---- */

/* Known to be the same in all lanes, which saves registers and instructions. */
DM_DEVICE int warp_number() { return __shfl_sync(MC_WHOLE, (int)threadIdx.x / 32, 0); }

/* The row of a point. */
DM_DEVICE int32_t point_row(const mc_stage &p, int32_t point) { return min(point * MC_SPAN, p.height - 1); }

/* Whether a span of a strip, of all planes, is open. */
DM_DEVICE bool is_open(const mc_stage &p, int64_t strip, int32_t at) {
    static_assert(MC_SPAN == 2 * MC_UNIT, "units of a span");
    const uint8_t *open = p.open + strip * p.units + at * 2;
    return open[0] | (at * 2 + 1 < p.units ? open[1] : 0);
}

/* For the whole block: of `items`, of which it has every gridDim.x-th one, those that are `wanted`, which it takes to `solve`. */
template <typename Wanted, typename Solve>
DM_DEVICE void for_wanted(uint32_t items, const Wanted &wanted, const Solve &solve) {
    __shared__ uint32_t found[32];
    for (uint32_t start = blockIdx.x; start < items; start += gridDim.x * blockDim.x) {
        const uint32_t own = start + threadIdx.x * gridDim.x;
        const uint32_t warps = __ballot_sync(MC_WHOLE, own < items && wanted(own));
        if (threadIdx.x % 32 == 0)
            found[threadIdx.x / 32] = warps;
        __syncthreads();
        for (uint32_t warp = 0; warp < blockDim.x / 32; warp++)
            for (uint32_t left = found[warp]; left; left &= left - 1)
                solve(start + (warp * 32 + (uint32_t)__ffs((int)left) - 1) * gridDim.x);
        __syncthreads();
    }
}

#endif
