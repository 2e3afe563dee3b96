/* What rows offer the pixels of a block, as floats: for the direct and the bracket search.
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

/* A row of a strip, ready to be spread. Without a site it offers 2^32 at least, less than 2^25: that is none. */
typedef struct __align__(16) row_offer {
    uint32_t bits; /* of its entry; */
    float left,
        right;   /* how far its sites beyond the strip are from the columns before the first one and after the last; */
    float level; /* h without f */
}
row_offer;

/* Row t of a block that has `rows`. */
DM_DEVICE row_offer row_offer_of(const mc_stage &p, uint2 entry, int32_t t, int32_t rows) {
    /* Halves of a word as floats, by way of the mantissa of 2^23. */
    const float left = __uint_as_float(__byte_perm(entry.y, 0x4B00, 0x5410)),
                right = __uint_as_float(__byte_perm(entry.y, 0x4B00, 0x5432));
    const row_offer made = {entry.x, left - (8388608.0f - 1.0f), right - (8388608.0f - 32.0f),
                            (float)(p.wy2 * (t * t + rows * rows))};
    return made;
}

/* How far its sites are from the nearest column of the strip, along the row. */
DM_DEVICE float along_strip(const row_offer &row) { return row.bits ? 0.0f : fminf(row.left, row.right - 31.0f); }

/* How far its sites are from a column of the strip: of a row without a site in the strip; of any. */
DM_DEVICE float outer_along(const row_offer &row, int column) {
    return fminf(row.left + (float)column, row.right - (float)column);
}
DM_DEVICE float row_along(const row_offer &row, int column) {
    if (!row.bits)
        return outer_along(row, column);
    const uint32_t before = row.bits << (31 - column), after = row.bits >> column;
    const float left = before ? (float)__clz((int)before) : row.left + (float)column;
    const float right = after ? (float)(__ffs((int)after) - 1) : row.right - (float)column;
    return fminf(left, right);
}

/* h in a column that its sites are g away from; in any column. */
DM_DEVICE uint32_t spread_along(const row_offer &row, float g, float wx2) {
    return __float_as_uint(fmaf(g * wx2, g, row.level));
}
DM_DEVICE uint32_t spread_row(const row_offer &row, int column, float wx2) {
    return spread_along(row, row_along(row, column), wx2);
}

/* Four rows, `step` apart in memory, in a column of the strip. Most have no site in it. */
DM_DEVICE uint4 spread_four(const row_offer *row, int32_t step, int column, float wx2) {
    const row_offer own[4] = {row[0], row[step], row[2 * step], row[3 * step]};
    uint32_t made[4];
    if (own[0].bits | own[1].bits | own[2].bits | own[3].bits) {
#pragma unroll
        for (int n = 0; n < 4; n++)
            made[n] = spread_row(own[n], column, wx2);
    } else {
#pragma unroll
        for (int n = 0; n < 4; n++)
            made[n] = spread_along(own[n], outer_along(own[n], column), wx2);
    }
    return make_uint4(made[0], made[1], made[2], made[3]);
}

/* h of row t in the z stage, from its value there. */
DM_DEVICE uint32_t slow_row(const mc_stage &p, int32_t value, int32_t t, int32_t rows) {
    return offer_bits(true, offer_start(p, (uint32_t)value, t, rows));
}

/* In how many parts the rows of a span are taken, by its points. With a limit it is one, for a part could not tell whether others
 * find a site within it. Of a span of one row both points are the same, but maybe not their winners. */
DM_DEVICE int32_t span_parts(const mc_stage &p, const mc_point ends[2]) {
    const int32_t sites = max(ends[0].high, ends[1].high) - ends[0].low + 1;
    return min((sites + MC_PART_SITES - 1) / MC_PART_SITES, p.most < MC_NOTHING - 1 ? 1 : (int32_t)MC_SPAN_PARTS);
}

/* Part number `part` of `parts` of the rows of a span, by its points. A pixel between these is no farther from its site than it is
 * from a point and that from its own. */
DM_DEVICE mc_item span_item(const mc_stage &p, uint32_t strip, int32_t at, const mc_point ends[2], int32_t part,
                            int32_t parts) {
    const int32_t first = ends[0].first, count = max(ends[0].last, ends[1].last) - first + 1;
    const int32_t y0 = at * MC_SPAN, end = min(y0 + MC_SPAN, p.height - 1);
    const float way = mc_near_root((float)ends[0].farthest) + mc_near_root((float)ends[1].farthest) +
                      mc_near_root((float)p.wy2) * (float)(end - y0);
    const mc_item made = {strip,
                          (uint16_t)at,
                          (uint16_t)parts,
                          (uint16_t)(first + count * part / parts),
                          (uint16_t)(first + count * (part + 1) / parts - 1),
                          way * way * 0.25f * 1.0001f + 1.0f}; /* whatever the roundings */
    return made;
}

/* Where item number i of the first ones of spans is. */
DM_DEVICE mc_item *first_item(const mc_stage &p, uint32_t i) {
    return p.items + (p.planes * p.strips * p.spans * MC_SPAN_PARTS - 1 - i);
}

/* ---- What a block works on ---- */

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
