/* minplus/cuda, the near search: whole tiles of a plane, from entries to results, for pixels less than WIDE from their sites.
 *
 *     d2(y, x) = min over |k| <= K of wx2 g(y + k, x)^2 + wy2 k^2
 *
 * A thread holds columns x and x + 16 of an entry as the halves of a word, so that one instruction serves two pixels, no
 * shift is needed, and a warp's stores fill whole sectors. A block first spreads the entries of its tile, and of MC_REACH
 * rows on either side, into g^2 in shared memory; each warp then takes STRIP rows of 64 columns into registers and reads two
 * rows more for each step. It stops when wy2 (K + 1)^2 reaches the largest of its results. If after MC_REACH steps a strip
 * of the tile is not settled, but every pixel has seen a site, the block spreads as many rows more as that can take.
 * What is then still open, and tiles with hardly a site in sight, are marked in p.open for the far search, which writes
 * whole units; before brackets tiles, too, of which no pixel has a site within the first steps.
 *
 * Per pixel: 6 instructions (times 1.4 for the rows around) to spread, one per step, 11 for the root. What binds is the pipe of
 * minima, so sums go by that of multiplications where code does not grow. Tiles are narrow, so that only four warps wait for one
 * another; but a multiprocessor's four blocks are in different places of the code, which must be short.
 */
#ifndef MC_STRIP /* minplus_cuda_near_small.cu has its own */
#define MC_STRIP 32
#define MC_NEAR mc_near
#endif
#ifndef MC_KINDS /* minplus_cuda_near_kinds.cu has them */
#define MC_KINDS 0
#endif
enum {
    STRIP = MC_STRIP,
    SITES = 0,
    KINDS = MC_KINDS,
};
#include "methods/minplus/minplus_cuda_kinds.cuh"
#include "methods/minplus/minplus_cuda_listed.cuh"
#include "methods/minplus/minplus_cuda_segments.cuh"

/* Steps FROM..TO of a strip; row0 + r * PITCH is this lane's pair of the strip's row r. From the farthest step on, each
 * adds what that costs more than the one before it: one minimum for both rows, and one sum, which another pipe can take. */
template <int FROM, int TO>
DM_DEVICE void steps(const mc_stage &p, const uint32_t *row0, uint32_t f[STRIP + 2 * MC_UNROLLED],
                     uint32_t best[STRIP]) {
#pragma unroll
    for (int k = FROM; k <= TO; k++) {
        f[MC_UNROLLED - k] = row0[-k * PITCH];
        f[MC_UNROLLED + STRIP - 1 + k] = row0[(STRIP - 1 + k) * PITCH];
    }
#pragma unroll
    for (int i = 0; i < STRIP; i++) {
        uint32_t least = mc_min(f[MC_UNROLLED + i - TO], f[MC_UNROLLED + i + TO]);
#pragma unroll
        for (int k = TO - 1; k >= FROM; k--)
            least = mc_min3(f[MC_UNROLLED + i - k], f[MC_UNROLLED + i + k], mc_plus(least, p.cost[k + 1] - p.cost[k]));
        best[i] = mc_add_min(least, p.cost[FROM], best[i]);
    }
}

/* Whether any pixel of the warp's may still gain from step k. */
DM_DEVICE bool beyond(const mc_stage &p, const uint32_t best[STRIP], int k) {
    return __any_sync(MC_WHOLE, largest(best) > p.done[k]);
}

/* How results are stored: as ROOTS, DISTANCES in a unit, SQUARES or, of signed maps, SIGNED roots, of whole strips, side by side, and without a limit that
 * could be passed; or in general. */
typedef enum storing { ROOTS, DISTANCES, SQUARES, SIGNED, ANY } storing;

/* Bit 0 of `negative`: on which side. */
template <storing HOW>
DM_DEVICE void store_one(const mc_stage &p, char *to, uint32_t d2, float root, uint32_t negative, bool *none) {
    if (HOW == ROOTS || HOW == DISTANCES)
        __stcs((float *)to, root);
    else if (HOW == SQUARES)
        __stcs((unsigned *)to, d2 * p.factor);
    else if (HOW == SIGNED)
        __stcs((unsigned *)to, __float_as_uint(root - p.surface) ^ negative << 31);
    else if (KINDS && p.negative)
        mc_store_signed(p, to, d2, root, negative, none);
    else
        mc_store(p, to, d2, root, none);
}

/* A strip's results. */
template <storing HOW>
DM_DEVICE bool store_rows(const mc_stage &p, int64_t plane, int32_t y, int32_t x, const uint32_t best[STRIP]) {
    const bool first = x < p.width, second = x + 16 < p.width;
    enum { AT_ONCE = HOW == ANY ? 2 : 8 }; /* short code: instructions are what tiles wait for most */
    char *to = mc_row(p.target, plane, y) + x * p.target.stride[3];
    const int64_t apart = 16 * (HOW != ANY ? 4 : p.target.stride[3]);
    uint32_t negative[2] = {0, 0};
    if (KINDS && HOW >= SIGNED && p.negative && y < p.height) {
#pragma unroll
        for (int c = 0; c < 2; c++)
            negative[c] = p.negative[mc_band_at(p, plane, y, min(x + c * 16, p.width - 1))];
    }
    bool none = false;
    uint32_t coming[STRIP];
#pragma unroll
    for (int i = 0; i < STRIP; i++)
        coming[i] = best[i];
#pragma unroll 1
    for (int start = 0; start < STRIP; start += AT_ONCE) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            if (HOW == ANY && y + start + i >= p.height)
                return none;
            const uint32_t pair = coming[i], low = pair & 0xFFFF, high = pair >> 16;
            const float low_real = mc_float_of(pair, 0), high_real = mc_float_of(pair, 1);
            const bool in_unit = HOW == DISTANCES || (HOW == ANY && p.in_unit);
            const float low_root = in_unit ? mc_unit_root(p, low, low_real) : mc_root(low_real);
            const float high_root = in_unit ? mc_unit_root(p, high, high_real) : mc_root(high_real);
            if (first)
                store_one<HOW>(p, to, low, low_root, negative[0] >> i, &none);
            if (second)
                store_one<HOW>(p, to + apart, high, high_root, negative[1] >> i, &none);
            to += p.target.stride[2];
        }
        negative[0] >>= AT_ONCE, negative[1] >>= AT_ONCE;
        move_up<AT_ONCE>(coming);
    }
    return none;
}

DM_DEVICE void store_strip(const mc_stage &p, int64_t plane, int32_t y, int32_t x, const uint32_t best[STRIP]) {
    const bool plain = p.most >= MC_SURE && p.target.stride[3] == 4 && y + STRIP <= p.height;
    if (KINDS && plain && p.negative)
        store_rows<SIGNED>(p, plane, y, x, best);
    else if (plain && p.in_unit)
        store_rows<DISTANCES>(p, plane, y, x, best);
    else if (plain && !p.squared)
        store_rows<ROOTS>(p, plane, y, x, best);
    else if (plain)
        store_rows<SQUARES>(p, plane, y, x, best);
    else
        mc_raise(p, store_rows<ANY>(p, plane, y, x, best));
}

/* A strip's results, unless some may be wrong: then it is left to the far search, which writes whole units. */
DM_DEVICE void finish_strip(const mc_stage &p, const tile &t, int32_t y, int32_t x, bool open,
                            const uint32_t best[STRIP]) {
    if (!open)
        store_strip(p, t.plane, y, x, best);
    else if (threadIdx.x % 16 == 0)
        mc_leave_open(p, t.plane, y, STRIP, x / 32, MC_DEEP);
}

/* Kinds: a strip's own band, of both of the lane's columns. */
typedef struct band {
    uint2 across[2];
    uint32_t ground[2];
} band;

template <bool SLOW> DM_DEVICE band band_of(const mc_stage &p, int64_t plane, int32_t y, int32_t x) {
    static_assert(STRIP == 32 || !KINDS, "a strip is a band");
    band made;
#pragma unroll
    for (int c = 0; c < 2; c++) {
        const int64_t at = mc_band_at(p, plane, min(y, p.height - 1), min(x + c * 16, p.width - 1));
        made.across[c] = mc_across(p, at), made.ground[c] = SLOW ? 0 : mc_ground(p, at);
    }
    return made;
}
DM_DEVICE bool is_promising(const band &b) { return b.across[0].x | b.across[1].x | b.ground[0] | b.ground[1]; }

/* For the whole block. */
template <bool SLOW> DM_DEVICE void search_tile(const mc_stage &p, const tile &t, void *memory) {
    __shared__ uint32_t hardest;
    hardest = 0;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int32_t x = column_of(t.strip, half_of(warp), lane), y = t.y0 + strip_of(warp);
    band own;
    if (KINDS)
        own = band_of<SLOW>(p, t.plane, y, x);
    int32_t sites;
    const tile_kind kind = load_tile<SLOW>(p, t, KINDS && is_promising(own), &sites);
    if (kind <= TILE_DEEP)
        return;
    const uint32_t inside = inside_of(p, x);
    uint32_t best[STRIP];
    if (LISTS && !SLOW && kind == TILE_SPARSE) {
        listed *list = (listed *)memory;
        uint32_t settled;
        if (make_list(p, t, sites, list, &settled)) {
            search_listed(p, t, *list, inside, best);
            finish_strip(p, t, y, x, __any_sync(MC_WHOLE, largest(best) > settled), best);
            return;
        }
        __syncthreads(); /* nobody looks at the list any more */
        load_rows<SLOW>(p, t, WIDE - MC_REACH, WIDE - MC_REACH + SPREAD / 2, SPREAD / 2);
        __syncthreads();
    }
    const uint32_t *row0 = lane_rows(t, warp, lane);
    bool open;
    uint32_t above[EIGHTS], below[EIGHTS], most[BLOCKS];
    {
        if (KINDS)
            mc_caps(p, own.across, best);
        if (KINDS && !SLOW && p.ground)
            mc_clear(own.ground, best);
        uint32_t f[STRIP + 2 * MC_UNROLLED];
#pragma unroll
        for (int i = 0; i < STRIP; i++) {
            f[MC_UNROLLED + i] = row0[i * PITCH];
            best[i] = KINDS ? mc_min(best[i], f[MC_UNROLLED + i]) : f[MC_UNROLLED + i];
        }
        if (is_cut(p, y, inside)) {
#pragma unroll
            for (int i = 0; i < STRIP; i++)
                best[i] = y + i < p.height ? best[i] & inside : 0;
        }
        /* Tests cost as much as a step, so they are few. */
        open = beyond(p, best, 1);
        if (open)
            steps<1, 2>(p, row0, f, best), open = beyond(p, best, 3);
        if (open)
            steps<3, 5>(p, row0, f, best), open = beyond(p, best, 6);
        if (open)
            steps<6, 8>(p, row0, f, best), open = beyond(p, best, 9);
        if (open)
            first_eights<1>(f, above), first_eights<-1>(f, below), find_most(best, most);
    }
    /* From there on a loop: short code is worth more than the rows that it reads again. */
    for (int32_t reach = MC_UNROLLED, to = MC_REACH; to > reach;
         to = widen<SLOW>(p, t, reach, open, larger_half(most_in<BLOCKS>(most)), &hardest)) {
        for (int32_t k = reach + 1; open && k <= to; k += SEGMENT) {
            segments<1>(p, row0, k, most, above, best);
            segments<-1>(p, row0, k, most, below, best);
            const uint32_t done = min((uint32_t)(p.wy2 * (k + SEGMENT) * (k + SEGMENT)), (uint32_t)MC_SURE - 1);
            find_most(best, most);
            open = __any_sync(MC_WHOLE, larger_half(most_in<BLOCKS>(most)) > done);
        }
        reach = to;
    }
    finish_strip(p, t, y, x, open, best);
}

/* For the whole block: all of a tile is stored, or marked as left. Blocks of the corner search, which has begun, wait for that. */
DM_DEVICE void tell_finished(const mc_stage &p, const tile &t) {
    __syncthreads();
    const int32_t y = t.y0 + (int32_t)threadIdx.x / WORDS * MC_UNIT, end = min(t.y0 + (int32_t)ROWS, p.height);
    const int32_t strip = t.strip + (int32_t)threadIdx.x % WORDS;
    if (y >= end || strip >= p.strips)
        return;
    const int64_t unit = (t.plane * p.strips + strip) * p.units + y / MC_UNIT;
    const uint32_t rows = (uint32_t)min(end - y, (int32_t)MC_UNIT), first = (uint32_t)(y % MC_UNIT / MC_FILL),
                   quarters = (rows + MC_FILL - 1) / MC_FILL;
    const uint32_t open = mc_told(p.open[unit]) & (((1u << quarters) - 1) << first);
    atomicAdd(p.finished + unit, rows + open * MC_FINISHED_OPEN);
}

/* Grid: a block per tile, tiles of a plane column by column. */
template <bool SLOW>
static __global__ void __launch_bounds__(THREADS, MC_TILES_AT_ONCE)
    near_tiles(const __grid_constant__ mc_stage p, const __grid_constant__ tiling tiles) {
    dm_wait_for_last();
    dm_let_next_begin();
    DM_DYNAMIC_SHARED(uint4, memory); /* squares [WIDE + ROWS + WIDE][PITCH], or a list */
    const tile t = tile_at(p, blockIdx.x, tiles, (uint32_t *)memory);
    search_tile<SLOW>(p, t, memory);
    if (STRIP < 32 && !SLOW && p.finished) /* of planes of middle size */
        tell_finished(p, t);
}

template <bool SLOW> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    const tiling tiles = tiling_of(*p);
    const cudaError_t error =
        cudaFuncSetAttribute((const void *)near_tiles<SLOW>, cudaFuncAttributeMaxDynamicSharedMemorySize, TILE_BYTES);
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH_EARLY(near_tiles<SLOW>, tiles_of(*p, tiles), THREADS, (size_t)TILE_BYTES, stream, *p, tiles);
    return cudaGetLastError();
}

cudaError_t MC_NEAR(const mc_stage *p, cudaStream_t stream) {
    return p->source.data ? launch<true>(p, stream) : launch<false>(p, stream);
}
