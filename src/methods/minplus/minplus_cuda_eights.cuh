/* The near search with sites, for strips whose sites are far: keys of 32 bits, of one column of a pair after the other, from
 * eight rows at a time.
 *
 *     d2 << 16 | (k + 256)
 *
 * Deep within an area hardly any row can still be nearest: those on the way to the rim are farther from sites than it is. Rows
 * that lie b eights from eight pixels of a column are w (8 |b| - 7)^2 or more away, so they are passed over where that and the
 * least they offer exceed the worst of the eight results, in all the warp's columns. What is as near may be in a lower row, and
 * is tried. Rows are taken from the strip's middle outwards, and what is worst is known anew after each eight that were tried.
 * Of blobs 60 rows deep a third is tried; were results known from the start, it would be nine tenths of these.
 *
 * What rows cost stands in a table, by how far they are: 15 words for eight and eight, which their 64 pairs share.
 *
 * Once the rows are there no warp waits for another. Warps drift apart by that, so code must be short: stores are loops
 * (minplus_cuda_sites.cuh).
 *
 * Per lane: seven instructions for eight and eight rows, and 80 where these are tried.
 */
#ifndef DISTMAP_MINPLUS_CUDA_EIGHTS_CUH
#define DISTMAP_MINPLUS_CUDA_EIGHTS_CUH

#include "methods/minplus/minplus_cuda_sites.cuh"

typedef mc_keys<false> longs;

enum {
    EIGHTS = STRIP / 8,
    UPPER = (EIGHTS - 1) / 2, /* a strip's middle eights: this */
    LOWER = EIGHTS / 2,       /* and this */
    FARTHEST = WIDE / 8 + EIGHTS - 1,
    COSTS = 16 * (FARTHEST + 1),
};

/* In static shared memory. */
typedef struct eight_costs {
    uint4 row[COSTS / 4]; /* word COSTS / 2 + d: the key of nothing, d rows away; wy2 d^2 is at most MC_SURE */
    uint32_t least[2 * FARTHEST + 1]; /* word FARTHEST + b: of rows b eights away, without k */
} eight_costs;

DM_DEVICE uint32_t square_key(const mc_stage &p, int d) {
    return min((uint32_t)(p.wy2 * d * d), (uint32_t)MC_SURE) << longs::BITS;
}

/* By the whole block. */
DM_DEVICE void fill_costs(const mc_stage &p, eight_costs *costs) {
    for (int d = (int)threadIdx.x - COSTS / 2; d < COSTS / 2; d += THREADS)
        ((uint32_t *)costs->row)[COSTS / 2 + d] = square_key(p, d) + (uint32_t)(longs::MIDDLE + d);
    for (int b = (int)threadIdx.x - FARTHEST; b <= FARTHEST; b += THREADS)
        costs->least[FARTHEST + b] = square_key(p, b ? 8 * abs(b) - 7 : 0);
}

/* Whether any of the warp's columns may gain from what is offered, or get a site as near. Neither has its k. */
DM_DEVICE bool may_gain(uint32_t offered, uint32_t cost, uint32_t worst) {
    return __any_sync(MC_WHOLE, offered + cost <= worst);
}

/* The largest of keys. */
template <int COUNT> DM_DEVICE uint32_t worst_of(const uint32_t best[COUNT]) {
    uint32_t worst = best[0];
#pragma unroll
    for (int i = 1; i < COUNT; i++)
        worst = max(worst, best[i]);
    return worst;
}

/* Which of a pair's squares comes to a key's top. */
DM_DEVICE uint32_t top_of(uint32_t pair, int column) { return __byte_perm(pair, 0, column ? 0x3244 : 0x1044); }

/* What eight rows, counted in eights from the strip's first row on, offer to its pixels, of which the nearest eight is `nearest` away. */
DM_DEVICE void take_eight(const eight_costs &costs, const uint32_t *row0, int column, int32_t eight, uint32_t nearest,
                          uint32_t best[STRIP], uint32_t worst[EIGHTS]) {
    uint32_t f[8];
#pragma unroll
    for (int r = 0; r < 8; r++)
        f[r] = row0[(eight * 8 + r) * PITCH];
    const uint32_t least = top_of(least_of(f), column);
    if (!may_gain(least, nearest, worst_of<EIGHTS>(worst)))
        return;
#pragma unroll
    for (int r = 0; r < 8; r++)
        f[r] = top_of(f[r], column);
#pragma unroll
    for (int j = 0; j < EIGHTS; j++) {
        if (!may_gain(least, costs.least[FARTHEST + eight - j], worst[j]))
            continue;
        uint4 fours[4]; /* costs from row -8 of the eight on, as pixel 0 sees them */
#pragma unroll
        for (int i = 0; i < 4; i++)
            fours[i] = costs.row[COSTS / 8 + (eight - j) * 2 - 2 + i];
        const uint32_t *cost = (const uint32_t *)fours;
#pragma unroll
        for (int r = 0; r < 8; r += 4)
#pragma unroll
            for (int i = 0; i < 8; i++) { /* on both pipes: of four rows two are added by each */
                uint32_t &to = best[j * 8 + i];
                to = __viaddmin_u32(f[r], cost[8 + r - i], to);
                to = __viaddmin_u32(f[r + 1], cost[9 + r - i], to);
                to = __vimin3_u32(mc_plus(f[r + 2], cost[10 + r - i]), mc_plus(f[r + 3], cost[11 + r - i]), to);
            }
        worst[j] = worst_of<8>(best + j * 8);
    }
}

/* A column's results from what reaches `reach` rows on either side of the strip; whether they may gain from beyond. */
DM_DEVICE bool search_eights(const eight_costs &costs, const uint32_t *row0, int column, int32_t reach,
                             uint32_t best[STRIP]) {
    uint32_t worst[EIGHTS];
#pragma unroll
    for (int j = 0; j < EIGHTS; j++)
        worst[j] = worst_of<8>(best + j * 8);
#pragma unroll 1
    for (int32_t next = 0;; next++) {
        const int32_t ring = next / 2;
        const uint32_t nearest = costs.least[FARTHEST + max(ring - UPPER, 0)];
        if (next % 2 == 0) {
            if (!may_gain(0, nearest, worst_of<EIGHTS>(worst)))
                return false;
            if (ring > UPPER + reach / 8)
                return true;
        }
        take_eight(costs, row0, column, next % 2 ? LOWER + ring : UPPER - ring, nearest, best, worst);
    }
}

/* How far this lane's pixels are from sites, squared, by every fourth of the rows that are there, and of them every 16th. */
template <int AROUND> DM_DEVICE uint32_t sampled_most(const mc_stage &p, const uint32_t *row0) {
    uint32_t sample[STRIP / 16 + 1];
#pragma unroll
    for (int i = 0; i <= STRIP / 16; i++)
        sample[i] = MC_SURE * 0x00010001u;
#pragma unroll
    for (int row = -AROUND; row < STRIP + AROUND; row += 4) {
        const uint32_t f = row0[row * PITCH];
#pragma unroll
        for (int i = 0; i <= STRIP / 16; i++)
            sample[i] = mc_add_min(f, cost_of(p, row - i * 16), sample[i]);
    }
    return larger_half(most_in<STRIP / 16 + 1>(sample));
}

/* As many rows on either side as a strip's search can need, by its samples, and no fewer than are there; 0 if no column has a site
 * in sight, and rows are not worth their loading. A pixel eight rows on is no more than eight rows' pitch farther from a site. */
template <int AROUND> DM_DEVICE int32_t reach_of(const mc_stage &p, uint32_t sampled) {
    if (__all_sync(MC_WHOLE, sampled >= MC_SURE))
        return 0;
    const float rows = sqrtf((float)mc_warp_most((int32_t)sampled) / (float)p.wy2);
    return min(max((int32_t)rows / 8 * 8 + 16, (int32_t)AROUND), (int32_t)WIDE);
}

#endif
