/* minplus/cuda, the near search with sites. Like minplus_cuda_near.cu, but it searches for *keys*,
 *
 *     d2 << bits | (k + middle)
 *
 * the least of which is the nearest site, and among equals the one in the lowest row. Within its row the site is the one at
 * distance g, on the left if there is one. So the search continues while a site k steps away may be as near as the best.
 *
 * Keys of 16 bits come first, two columns to a word: d2 << 6 | (k + 32), ten bits for the sum of f and wy2 k^2. So that it fits, f
 * is clamped for each group of steps, to the rest that the costliest of these steps leaves. A clamped row gives at least
 * the clamp plus the cost of the first of these steps, so results below all such sums, key_sure, are exact; at unit pitch
 * MC_KEYS steps settle up to 29^2. A step costs as much as without sites, one instruction for each of its two rows.
 *
 * If a pixel has not found a site after the first steps, samples of the loaded rows bound its distance. *Deep* strips,
 * beyond short keys, start again with keys of 32 bits, from more rows, which the block loads for all of them together
 * (minplus_cuda_eights.cuh); the others continue when these are loaded. From then on no warp waits for another.
 *
 * Per pixel: 8 instructions (times 1.4 for the rows around) to spread, one per step of short keys, and what
 * minplus_cuda_sites.cuh says for the results.
 */
#ifndef MC_DOWN /* minplus_cuda_near_sites_tall.cu has its own */
#define MC_DOWN 4
#define MC_WORDS 4
#endif
#ifndef MC_NEAR
#define MC_NEAR mc_near_sites
#endif
enum { STRIP = 32, SITES = 1, KINDS = 0 };
#include "methods/minplus/minplus_cuda_eights.cuh"

typedef mc_keys<true> pairs;

/* Steps before it is told which strips are deep: with fewer, too many of a mask of 1 % would ask for samples. */
enum { FIRST = 8 };

/* ---- Keys of 16 bits ---- */

/* A pair of squares, clamped, as keys of their own row, less the middle. */
DM_DEVICE uint32_t pair_key(uint32_t squares, uint32_t clamp) { return mc_min(squares, clamp) << pairs::BITS; }

/* Which clamp step k has. */
DM_DEVICE constexpr int clamp_of(int k) {
    constexpr int from[] = MC_KEY_FROM;
    int c = 0;
    while (k >= from[c + 1])
        c++;
    return c;
}

/* Steps FROM..TO of a strip; row0 + r * PITCH is this lane's pair of the strip's row r. */
template <int FROM, int TO>
DM_DEVICE void pair_steps(const mc_stage &p, const uint32_t *row0, uint32_t f[STRIP + 2 * MC_KEYS],
                          uint32_t best[STRIP]) {
    constexpr int clamped = clamp_of(FROM);
    static_assert(clamped == clamp_of(TO), "steps of one clamp");
    const uint32_t clamp = p.key_clamp[clamped];
    if (clamped != clamp_of(FROM - 1)) {
#pragma unroll
        for (int i = 1 - FROM; i < STRIP - 1 + FROM; i++)
            f[MC_KEYS + i] = mc_min(f[MC_KEYS + i], clamp << pairs::BITS);
    }
#pragma unroll
    for (int k = FROM; k <= TO; k++) {
        f[MC_KEYS - k] = pair_key(row0[-k * PITCH], clamp);
        f[MC_KEYS + STRIP - 1 + k] = pair_key(row0[(STRIP - 1 + k) * PITCH], clamp);
        const uint32_t below = p.key[0][k], above = p.key[1][k];
#pragma unroll
        for (int i = 0; i < STRIP; i++) /* first in turns on both pipes, then in short code */
            best[i] = (i + k) % 2 || FROM > FIRST
                          ? mc_add_min(f[MC_KEYS + i + k], above, mc_add_min(f[MC_KEYS + i - k], below, best[i]))
                          : mc_min3(mc_plus(f[MC_KEYS + i + k], above), mc_plus(f[MC_KEYS + i - k], below), best[i]);
    }
}

DM_DEVICE uint32_t largest_of_pairs(const uint32_t best[STRIP]) { return largest(best) >> pairs::BITS; }

/* Squared distances from this on may still gain from step k, or get another site of the same distance. */
DM_DEVICE uint32_t open_from(const mc_stage &p, int k) { return min((uint32_t)(p.wy2 * k * k), p.key_sure); }

/* Whether any pixel of the warp's has one. */
DM_DEVICE bool pairs_open(const mc_stage &p, const uint32_t best[STRIP], int k) {
    return __any_sync(MC_WHOLE, largest_of_pairs(best) >= open_from(p, k));
}

/* Rows from `from` to `to` of the strip, as keys of the first clamp. */
DM_DEVICE void first_keys(const mc_stage &p, const uint32_t *row0, int from, int to, uint32_t f[STRIP + 2 * MC_KEYS]) {
#pragma unroll
    for (int i = from; i <= to; i++)
        f[MC_KEYS + i] = pair_key(row0[i * PITCH], p.key_clamp[0]);
}

/* Begins to search for short keys, `best`; whether more steps can change them. Steps are taken in bunches, since tests cost as
 * much as a step. */
DM_DEVICE bool begin_pairs(const mc_stage &p, const uint32_t *row0, int32_t y, int32_t x, uint32_t best[STRIP]) {
    const uint32_t inside = inside_of(p, x);
    uint32_t f[STRIP + 2 * MC_KEYS];
    first_keys(p, row0, 0, STRIP - 1, f);
#pragma unroll
    for (int i = 0; i < STRIP; i++)
        best[i] = f[MC_KEYS + i] | pairs::MIDDLE * 0x00010001u;
    if (is_cut(p, y, inside)) {
#pragma unroll
        for (int i = 0; i < STRIP; i++)
            best[i] = (y + i < p.height ? best[i] & inside : 0) | pairs::MIDDLE * 0x00010001u;
    }
    bool open = pairs_open(p, best, 1);
    if (open)
        pair_steps<1, 2>(p, row0, f, best), open = pairs_open(p, best, 3);
    if (open)
        pair_steps<3, 5>(p, row0, f, best), open = pairs_open(p, best, 6);
    if (open)
        pair_steps<6, FIRST>(p, row0, f, best), open = pairs_open(p, best, FIRST + 1);
    return open;
}

/* Goes on with that; whether all pixels are settled. */
template <bool SLOW> DM_DEVICE bool finish_pairs(const mc_stage &p, const uint32_t *row0, uint32_t best[STRIP]) {
    uint32_t f[STRIP + 2 * MC_KEYS];
    first_keys(p, row0, -FIRST, STRIP - 1 + FIRST, f);
    pair_steps<FIRST + 1, 13>(p, row0, f, best);
    bool open = pairs_open(p, best, 14);
    if (open)
        pair_steps<14, 16>(p, row0, f, best), open = pairs_open(p, best, 17);
    if (open)
        pair_steps<17, 19>(p, row0, f, best), open = pairs_open(p, best, 20);
    if (open)
        pair_steps<20, 22>(p, row0, f, best), open = pairs_open(p, best, 23);
    if (open)
        pair_steps<23, 24>(p, row0, f, best), open = pairs_open(p, best, 25);
    if (open && !SLOW)
        pair_steps<25, MC_KEYS>(p, row0, f, best), open = pairs_open(p, best, MC_KEYS + 1);
    return !open;
}

/* ---- Tiles ---- */

/* A thread's part of a tile: its first row and column, and where its pairs lie. */
typedef struct part {
    int32_t y, x;
    const uint32_t *row0;
} part;

DM_DEVICE part part_of(const tile &t, int thread) {
    const part made = {t.y0 + strip_of(thread / 32), column_of(t.strip, half_of(thread / 32), thread % 32),
                       lane_rows(t, thread / 32, thread % 32)};
    return made;
}

/* Both columns of a strip from long keys, as far as `reach` goes, if at all; what that does not settle is left to the far
 * search. */
template <bool SLOW>
DM_DEVICE void search_longs(const mc_stage &p, const eight_costs &costs, const tile &t, const part &at, int32_t reach) {
#pragma unroll 1 /* short code: warps are anywhere in it */
    for (int column = 0; column < 2; column++) {
        const int32_t x = at.x + 16 * column, rows = x < p.width ? p.height - at.y : 0;
        uint32_t best[STRIP];
#pragma unroll
        for (int i = 0; i < STRIP; i++)
            best[i] = (i < rows ? MC_SURE << longs::BITS : 0) + longs::MIDDLE;
        if (!reach || search_eights(costs, at.row0, column, reach, best)) {
            if (threadIdx.x % 16 == 0)
                mc_leave_open(p, t.plane, at.y, STRIP, at.x / 32, MC_DEEP);
            return;
        }
        store_strip<SLOW, false>(p, t, at.y, x, best);
    }
}

/* Grid: a block per tile, tiles of a plane column by column. */
template <bool SLOW>
static __global__ void __launch_bounds__(THREADS, MC_TILES_AT_ONCE)
    near_tiles_sites(const __grid_constant__ mc_stage p, const __grid_constant__ tiling tiles) {
    dm_wait_for_last();
    dm_let_next_begin();
    DM_DYNAMIC_SHARED(uint32_t, squares); /* [HELD][PITCH], lefts [WORDS][HELD] */
    __shared__ eight_costs costs;
    __shared__ tile kept;                          /* which saves registers while short keys are searched for */
    __shared__ int32_t reach;                      /* how far strips with long keys go; 0: no site is in sight */
    constexpr int AROUND = SLOW ? Z_REACH : REACH; /* rows that are there at first */
    bool open, deep = false;
    uint32_t best[STRIP];
    {
        const tile t = tile_at(p, blockIdx.x, tiles, squares);
        if (threadIdx.x == 0)
            kept = t, reach = 0;
        if (load_tile<SLOW>(p, t, false, NULL) == TILE_HOPELESS)
            return;
        const part at = part_of(t, (int)threadIdx.x);
        open = begin_pairs(p, at.row0, at.y, at.x, best);
        if (open && pairs_open(p, best, AROUND + 1)) {
            const uint32_t sampled = sampled_most<AROUND>(p, at.row0), most = open_from(p, AROUND + 1);
            deep = __any_sync(MC_WHOLE, sampled > most + most / 8); /* of rows between samples some may be nearer */
            const int32_t own = reach_of<AROUND>(p, sampled);
            if (threadIdx.x % 32 == 0)
                atomicMax(&reach, own);
        }
    }
    __syncthreads();
    tile t = kept;
    set_memory(&t, squares);
    const part at = part_of(t, mc_forget((int)threadIdx.x));
    if (reach) {
        widen_rows<SLOW>(p, t, AROUND, reach);
        fill_costs(p, &costs);
        __syncthreads();
    }
    /* From here on no warp waits for another. */
    if (!open || (!deep && finish_pairs<SLOW>(p, at.row0, best)))
        store_strip<SLOW, true>(p, t, at.y, at.x, best);
    else
        search_longs<SLOW>(p, costs, t, at, reach);
}

template <bool SLOW> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    const tiling tiles = tiling_of(*p);
    const cudaError_t error = cudaFuncSetAttribute((const void *)near_tiles_sites<SLOW>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, TILE_BYTES);
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH_EARLY(near_tiles_sites<SLOW>, tiles_of(*p, tiles), THREADS, (size_t)TILE_BYTES, stream, *p, tiles);
    return cudaGetLastError();
}

#ifdef MC_PLANES_ALONE
cudaError_t MC_NEAR(const mc_stage *p, cudaStream_t stream) { return launch<false>(p, stream); }
#else
cudaError_t MC_NEAR(const mc_stage *p, cudaStream_t stream) {
    return p->source.data ? launch<true>(p, stream) : launch<false>(p, stream);
}
#endif
