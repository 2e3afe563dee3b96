/* What rows offer the pixels of a block, as floats: for the direct, the corner and the bracket search.
 *
 * Rows are counted from the block's first one, y0: with y = y0 + i, row j = y0 + t and i up to `rows`
 *
 *     d2(y0 + i) - w i^2 + c = h(t) - (2 w i) t    where h(t) = f(j) + w t^2 + c    and c = w rows^2
 *
 * so that a row offers a pixel one multiplication and addition. All terms are integers below 2^24 (minplus_cuda_stages.c sees to it),
 * so floats are exact; sums are positive, so that their bits compare as integers do, two rows in one instruction.
 */
#ifndef DISTMAP_MINPLUS_CUDA_OFFERS_CUH
#define DISTMAP_MINPLUS_CUDA_OFFERS_CUH

#include "methods/minplus/minplus_cuda_rows.cuh"

enum {
    /* What rows without a site offer: 2^30, of which slopes take less than 2^25. What others do is below 2^24. */
    NO_OFFER = 0x4E800000,
    ANY_OFFER = 0x4B800000,
};

/* h, of a row that has a site. */
DM_DEVICE uint32_t offer_start(const mc_stage &p, uint32_t f, int32_t t, int32_t rows) {
    return f + (uint32_t)p.wy2 * (uint32_t)(t * t + rows * rows);
}
DM_DEVICE uint32_t offer_bits(bool any, uint32_t start) {
    return any ? __float_as_uint((float)(int32_t)start) : (uint32_t)NO_OFFER;
}

/* What row t offers a pixel, whose turn is -2 w i. */
DM_DEVICE int32_t offer_at(uint32_t bits, float t, float turn) {
    return __float_as_int(fmaf(t, turn, __uint_as_float(bits)));
}

/* The least that pixels are offered, of no row. */
template <int COUNT> DM_DEVICE void set_none(int32_t best[COUNT]) {
#pragma unroll
    for (int r = 0; r < COUNT; r++)
        best[r] = NO_OFFER;
}

/* Four rows, the lane's column; the least that they offer pixels, and `best`. */
template <int COUNT> DM_DEVICE void take_four(uint4 bits, float4 t, const float turn[COUNT], int32_t best[COUNT]) {
#pragma unroll
    for (int r = 0; r < COUNT; r++) {
        best[r] = __vimin3_s32(best[r], offer_at(bits.x, t.x, turn[r]), offer_at(bits.y, t.y, turn[r]));
        best[r] = __vimin3_s32(best[r], offer_at(bits.z, t.z, turn[r]), offer_at(bits.w, t.w, turn[r]));
    }
}

/* d2 of pixel i, from the least that it was offered. */
DM_DEVICE int32_t offered_square(const mc_stage &p, int32_t least, int32_t i, int32_t rows) {
    return least - p.wy2 * (rows * rows - i * i);
}

/* h of four rows of the z stage, whose starts are known; `source` is this lane's column of row 0. There are fewer than 2^12 rows and
 * columns, for squared distances are below 2^24. */
DM_DEVICE uint4 slow_offers(const mc_stage &p, const char *source, uint4 row, uint4 start) {
    const uint32_t pitch = (uint32_t)p.source.stride[2];
    return make_uint4(offer_bits(true, start.x + *(const uint32_t *)(source + mc_wide(row.x, pitch))),
                      offer_bits(true, start.y + *(const uint32_t *)(source + mc_wide(row.y, pitch))),
                      offer_bits(true, start.z + *(const uint32_t *)(source + mc_wide(row.z, pitch))),
                      offer_bits(true, start.w + *(const uint32_t *)(source + mc_wide(row.w, pitch))));
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
