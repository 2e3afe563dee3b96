/* The near search, of tiles with few sites around them: from a list of these, however far they are.
 *
 * Where one pixel in a thousand is a site, a search along columns takes as many steps as the nearest ones are far, but a tile
 * and its surroundings hold a hundred sites at most. The block lists them, by the bits of entries. A warp passes over those
 * that are nearest to none of its pixels: farther from the rectangle of these than another is from its farthest corner. Each
 * of the rest, some 20 at 0.1%, takes one instruction for two pixels,
 *
 *     best = min(wx2 (x - sx)^2 + wy2 (y - sy)^2, best)
 *
 * The first term is had once for a column; the second, which all lanes share, comes from a table, four rows at a time. All
 * are at most MC_SURE. What is no farther than the surroundings reach is settled: sites that are not listed lie beyond.
 *
 * Per pixel: 0.8 instructions for a site that is left, and seven for the list and the table. */
#ifndef DISTMAP_MINPLUS_CUDA_LISTED_CUH
#define DISTMAP_MINPLUS_CUDA_LISTED_CUH

#include "methods/minplus/minplus_cuda_tile_kind.cuh"

enum {
    MOST_LISTED = LOW ? 256 : 512,
    AROUND = 128,          /* rows and columns of the surroundings, at most, */
    APART = ROWS + AROUND, /* which lie fewer rows from a pixel, */
    COSTS = 2 * APART,     /* so that the table has as many words */
    AT_ONCE = 6,           /* entries that a thread waits for together */
};

/* In the block's shared memory. Sites and pixels are counted from AROUND rows above and columns before the tile's first. */
typedef struct listed {
    uint4 cost[4][COSTS / 4];   /* copy c has wy2 (i + c - APART)^2 as its word i, in both halves */
    uint32_t site[MOST_LISTED]; /* row << 16 | column */
    int32_t count;
} listed;
static_assert(!LISTS || sizeof(listed) <= TILE_BYTES, "lies where rows would");

DM_DEVICE void fill_costs(const mc_stage &p, listed *l) {
    const uint32_t farthest = MC_SURE / (uint32_t)p.wy2;
    for (int word = (int)threadIdx.x; word < COSTS; word += THREADS)
#pragma unroll
        for (int copy = 0; copy < 4; copy++) {
            const int d = word + copy - APART;
            const uint32_t square = min((uint32_t)(d * d), farthest + 1);
            ((uint32_t *)l->cost[copy])[word] = min((uint32_t)p.wy2 * square, (uint32_t)MC_SURE) * 0x00010001u;
        }
}

/* The sites of `rows` rows more above and below the tile and of `strips` strips more on either side. */
DM_DEVICE void list_sites(const mc_stage &p, const tile &t, int32_t rows, int32_t strips, listed *l) {
    const int32_t top = max(t.y0 - rows, p.low), count = min(t.y0 + ROWS + rows, p.low + p.rows) - top;
    const int32_t first = max(t.strip - strips, 0), end = min(t.strip + WORDS + strips, p.strips);
    const uint2 *entries = t.entries + (int64_t)(first - t.strip) * p.rows + top;
    const float per_count = 1.0f / (float)count;
    for (int32_t start = (int32_t)threadIdx.x; start < (end - first) * count; start += AT_ONCE * THREADS) {
        uint32_t bits[AT_ONCE], place[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int32_t task = start + i * THREADS;
            const int32_t strip = (int32_t)(((float)task + 0.5f) * per_count), row = task - strip * count;
            bits[i] = first + strip < end ? entries[(int64_t)strip * p.rows + row].x : 0;
            place[i] =
                (uint32_t)(top + row - t.y0 + AROUND) << 16 | (uint32_t)((first + strip - t.strip) * 32 + AROUND);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            int32_t at = bits[i] ? atomicAdd(&l->count, __popc(bits[i])) : 0;
            for (; bits[i] && at < MOST_LISTED; bits[i] &= bits[i] - 1)
                l->site[at++] = place[i] + (uint32_t)__ffs((int)bits[i]) - 1;
        }
    }
}

/* Squared distance from a rectangle's nearest element to a site, and from its farthest. */
DM_DEVICE float from_rectangle(const mc_stage &p, uint32_t site, int32_t x, int32_t y, bool farthest) {
    const int32_t left = x - (int32_t)(site & 0xFFFF), right = -left - 63;
    const int32_t above = y - (int32_t)(site >> 16), below = -above - STRIP + 1;
    const int32_t dx = farthest ? max(-left, -right) : max(max(left, right), 0);
    const int32_t dy = farthest ? max(-above, -below) : max(max(above, below), 0);
    return (float)p.wx2 * (float)(dx * dx) + (float)p.wy2 * (float)(dy * dy);
}

/* A strip's results from the listed sites. `inside`: the halves that are columns of the image. */
DM_DEVICE void search_listed(const mc_stage &p, const tile &t, const listed &l, uint32_t inside, uint32_t best[STRIP]) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int32_t left = AROUND + half_of(warp) * 64, top = AROUND + strip_of(warp), x = left + column_of(0, 0, lane);
    float bound = INFINITY;
    for (int i = lane; i < l.count; i += 32)
        bound = fminf(bound, from_rectangle(p, l.site[i], left, top, true));
    bound = mc_warp_least(bound) * 1.0001f; /* whatever the roundings */
#pragma unroll
    for (int i = 0; i < STRIP; i++)
        best[i] = t.y0 + top - AROUND + i < p.height ? MC_SURE * 0x00010001u & inside : 0;
    for (int start = 0; start < l.count; start += 32) {
        const uint32_t own = l.site[min(start + lane, l.count - 1)];
        const bool near = start + lane < l.count && from_rectangle(p, own, left, top, false) <= bound;
        for (uint32_t sites = __ballot_sync(MC_WHOLE, near); sites; sites &= sites - 1) {
            const uint32_t site = __shfl_sync(MC_WHOLE, own, __ffs((int)sites) - 1);
            const int32_t low = x - (int32_t)(site & 0xFFFF), high = low + 16;
            const uint32_t along = min((uint32_t)(p.wx2 * low * low), (uint32_t)MC_SURE) |
                                   min((uint32_t)(p.wx2 * high * high), (uint32_t)MC_SURE) << 16;
            const int32_t at = top - (int32_t)(site >> 16) + APART;
            const uint4 *cost = l.cost[at % 4] + at / 4;
#pragma unroll
            for (int i = 0; i < STRIP; i += 4) {
                const uint4 across = cost[i / 4];
                best[i] = mc_add_min(along, across.x, best[i]);
                best[i + 1] = mc_add_min(along, across.y, best[i + 1]);
                best[i + 2] = mc_add_min(along, across.z, best[i + 2]);
                best[i + 3] = mc_add_min(along, across.w, best[i + 3]);
            }
        }
    }
}

/* Whether the block lists its tile's sites, as far around as nearly every pixel should find one, and how far, squared, that
 * settles. Of random sites at density r a circle of radius R has none with probability exp(-pi r R^2): one of six millions
 * for R^2 = 5 / r. */
DM_DEVICE bool make_list(const mc_stage &p, const tile &t, int32_t sites, listed *l, uint32_t *settled) {
    const float seen = (float)first_rows(p, t) * (float)min(p.width - t.strip * 32, (int32_t)TILE_COLUMNS);
    const float square = 5.0f * seen / (float)sites * sqrtf((float)p.wx2 * (float)p.wy2);
    int32_t rows = (int32_t)sqrtf(square / (float)p.wy2) + 1;
    int32_t strips = (int32_t)sqrtf(square * p.per_wx2) / 32 + 1;
    if (LOW) /* farther, but no farther than there is room for */
        rows = min(rows * 3 / 2, (int32_t)AROUND), strips = min(strips + 1, AROUND / 32);
    else if (!(square < MC_SURE) || rows > AROUND || strips * 32 > AROUND)
        return false;
    fill_costs(p, l);
    if (threadIdx.x == 0)
        l->count = 0;
    __syncthreads();
    list_sites(p, t, rows, strips, l);
    __syncthreads();
    const int32_t across = strips * 32 + 1;
    *settled = min(min((uint32_t)(p.wx2 * across * across), (uint32_t)(p.wy2 * (rows + 1) * (rows + 1))),
                   (uint32_t)MC_SURE - 1);
    return l->count <= MOST_LISTED;
}

#endif
