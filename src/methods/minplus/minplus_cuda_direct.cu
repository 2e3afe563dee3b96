/* minplus/cuda, the direct search, for small planes: every pixel from all rows that can win, in one launch.
 *
 *     d2(y) = min over rows j of f(j) + w (y - j)^2    in one column
 *
 * In a small image a near and a far search spend most of their time on starting, deciding and waiting for their slowest block.
 * Here nothing is decided. A block solves ROWS rows of a strip, a warp HEIGHT of them, a lane a column. Rows are counted
 * from the block's first one, as minplus_cuda_offers.cuh says: the value of a row at a pixel takes one multiplication and addition, of
 * floats without sites; with sites of integers with the row in the low bits, which breaks ties.
 *
 * First all rows around the block's own are tried. They bound the distance of the others: rows that may be nearer
 * are listed and expanded, and rows of the block STEP apart try all of them. The winning row
 * increases with y, so between two such rows only the rows between their winners can win, and only these are
 * tried, in each column its own.
 */
#include "methods/minplus/minplus_cuda_direct.cuh"

/* The rows around the block's into shared memory: each warp spreads two fours of them. */
template <bool SLOW, bool SITES> DM_DEVICE void spread_around(const mc_stage &p, const place &at, direct_rows &rows) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int32_t t0 = warp * 8 - BEFORE;
    uint2 entry = make_uint2(0, MC_WHOLE);
    int32_t value[8];
    uint32_t any = 0, inside = 0; /* bits: rows that have a site, and in the strip */
    if (SLOW) {
#pragma unroll
        for (int n = 0; n < 8; n++) {
            const int32_t j = at.y0 + t0 + n;
            value[n] = (uint32_t)j < (uint32_t)p.height && at.alive[j] ? slow_value(p, at, j) : (int32_t)MC_NOTHING;
            any |= value[n] != MC_NOTHING ? 1u << n : 0;
        }
    } else {
        const int32_t j = at.y0 + t0 + lane % 8;
        if (is_known(p, j))
            entry = at.entries[j];
        any = __ballot_sync(MC_WHOLE, has_any(entry));
        inside = __ballot_sync(MC_WHOLE, entry.x != 0);
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (lane == 0)
            rows.any[warp * 2 + half] = any >> half * 4 & 15;
        if (!(any >> half * 4 & 15))
            continue;
        uint32_t h[4];
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const int row = half * 4 + n;
            uint32_t f;
            if (SLOW) {
                f = (uint32_t)value[row];
            } else {
                const uint2 own = make_uint2(__shfl_sync(MC_WHOLE, entry.x, row), __shfl_sync(MC_WHOLE, entry.y, row));
                f = along_row(p, own, at.column, inside >> half * 4 & 15);
            }
            h[n] = any >> row & 1 ? row_offer<SITES>(p, at, f, t0 + row) : no_row<SITES>();
        }
        rows.values[warp * 2 + half][lane] = make_uint4(h[0], h[1], h[2], h[3]);
    }
}

template <bool SITES>
DM_DEVICE void take_around(const mc_stage &p, const direct_rows &rows, int32_t i0, int32_t best[HEIGHT]) {
    const uint4 any = *(const uint4 *)rows.any;
    const uint32_t words[4] = {any.x, any.y, any.z, any.w};
    uint32_t turn[HEIGHT];
    set_turns<SITES, HEIGHT>(p, i0, 1, p.row_bits, turn);
#pragma unroll
    for (int four = 0; four < AROUND / 4; four++) {
        if (!(words[four / 4] >> four % 4 * 8 & 0xFF))
            continue;
        uint32_t t[4];
#pragma unroll
        for (int n = 0; n < 4; n++)
            t[n] = offer_number<SITES>(four * 4 + n - BEFORE);
        take_four<SITES, HEIGHT>(rows.values[four][threadIdx.x % 32], make_uint4(t[0], t[1], t[2], t[3]), turn, best);
    }
}

/* For the whole block: the largest squared distance of its pixels, as far as these are known. */
template <bool SITES>
DM_DEVICE int32_t farthest(const mc_stage &p, const place &at, int32_t i0, const int32_t best[HEIGHT],
                           direct_rows &rows) {
    int32_t most = 0;
#pragma unroll
    for (int r = 0; r < HEIGHT; r++)
        most = max(most, at.y0 + i0 + r < p.height ? square_of<SITES>(p, best[r], i0 + r) : 0);
    most = mc_warp_most(most);
    if (threadIdx.x % 32 == 0)
        rows.counts[0][threadIdx.x / 32] = most;
    __syncthreads();
#pragma unroll
    for (int warp = 0; warp < WARPS; warp++)
        most = max(most, rows.counts[0][warp]);
    return most;
}

/* The other rows that are no farther than that: number n of `all` is row `above` + n, and from number `up` on row `below` + n. */
typedef struct others {
    int32_t above, below, up, all;
    float most;
} others;

DM_DEVICE others others_within(const mc_stage &p, const place &at, int32_t most) {
    const int32_t reach = (int32_t)sqrtf((float)most / (float)p.wy2) + 1;
    others o;
    o.above = max(at.y0 - reach, p.low);
    o.up = max(at.y0 - BEFORE - o.above, 0);
    const int32_t first = at.y0 - BEFORE + AROUND, last = min(at.y0 + MC_DIRECT_ROWS - 1 + reach, p.low + p.rows - 1);
    o.below = first - o.up;
    o.all = o.up + max(last - first + 1, 0);
    o.most = (float)most;
    return o;
}

/* For the whole block: lists those from number `start` on, as many as find room, that can be nearer; how many they are. In planes a
 * row's site is no farther from any pixel than from the one farthest from it, which says more of how far they may be. */
template <bool SLOW, bool SITES>
DM_DEVICE int32_t list_others(const mc_stage &p, const place &at, int32_t start, others &o, direct_rows &rows) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    listed own[EACH];
    uint32_t wanted[EACH];
    float low[EACH], least = INFINITY;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int32_t n = start + k * WARPS * 32 + (int)threadIdx.x, j = n + (n < o.up ? o.above : o.below);
        own[k].j = j;
        low[k] = INFINITY;
        if (SLOW) {
            low[k] = n < o.all && at.alive[j] ? 0.0f : INFINITY;
        } else if (n < o.all) {
            own[k].entry = at.entries[j];
            float high;
            strip_squares(p, own[k].entry, &low[k], &high);
            const float dy = (float)(n < o.up ? at.y0 - j : j - (at.y0 + MC_DIRECT_ROWS - 1));
            const float far = dy + (float)(MC_DIRECT_ROWS - 1);
            low[k] += (float)p.wy2 * dy * dy;
            least = fminf(least, high + (float)p.wy2 * far * far);
        }
    }
    if (!SLOW) {
        least = mc_warp_least(least);
        if (lane == 0)
            rows.least[warp] = least * 1.0001f + 1.0f; /* whatever the roundings */
        __syncthreads();
#pragma unroll
        for (int other = 0; other < WARPS; other++)
            o.most = fminf(o.most, rows.least[other]);
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        wanted[k] = __ballot_sync(MC_WHOLE, low[k] <= o.most);
        if (lane == 0)
            rows.counts[k][warp] = __popc(wanted[k]);
    }
    __syncthreads();
    int32_t count = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++)
#pragma unroll
        for (int other = 0; other < WARPS; other++) {
            if (other == warp && wanted[k] >> lane & 1)
                own[k].place = count + __popc(wanted[k] & ((1u << lane) - 1));
            count += rows.counts[k][other];
        }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (!(wanted[k] >> lane & 1))
            continue;
        /* The last one again, up to a whole four. */
        const int32_t end = own[k].place == count - 1 ? (count + 3) & ~3 : own[k].place + 1;
        for (int32_t i = own[k].place; i < end; i++) {
            const int32_t t = own[k].j - at.y0;
            ((uint32_t *)rows.t)[i] = offer_number<SITES>(t);
            rows.values[i / 4][i % 4] = make_uint4(own[k].entry.x, own[k].entry.y, (uint32_t)t, 0);
        }
    }
    __syncthreads();
    return count;
}

/* What rows listed offer, in the place of the list. */
template <bool SLOW, bool SITES>
DM_DEVICE void spread_others(const mc_stage &p, const place &at, int32_t fours, direct_rows &rows) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    for (int32_t four = warp; four < fours; four += WARPS) {
        uint32_t f[4], bits = 0;
        uint4 row[4];
#pragma unroll
        for (int n = 0; n < 4; n++)
            row[n] = rows.values[four][n], bits |= row[n].x;
#pragma unroll
        for (int n = 0; n < 4; n++)
            f[n] = SLOW ? (uint32_t)slow_value(p, at, at.y0 + (int32_t)row[n].z)
                        : along_row(p, make_uint2(row[n].x, row[n].y), at.column, bits);
        __syncwarp();
        rows.values[four][lane] = make_uint4(
            row_offer<SITES>(p, at, f[0], (int32_t)row[0].z), row_offer<SITES>(p, at, f[1], (int32_t)row[1].z),
            row_offer<SITES>(p, at, f[2], (int32_t)row[2].z), row_offer<SITES>(p, at, f[3], (int32_t)row[3].z));
    }
    __syncthreads();
}

/* For the whole block: among which fours the winners of its rows 0, STEP, ... are. */
template <bool SITES> DM_DEVICE void query(const mc_stage &p, int32_t fours, direct_rows &rows) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    int32_t best[QUERIES], from[QUERIES];
    uint32_t turn[QUERIES];
    set_turns<SITES, QUERIES>(p, 0, STEP, p.row_bits, turn);
#pragma unroll
    for (int q = 0; q < QUERIES; q++)
        best[q] = no_row<SITES>(), from[q] = 0;
    for (int32_t four = warp; four < fours; four += WARPS) {
        int32_t here[QUERIES];
#pragma unroll
        for (int q = 0; q < QUERIES; q++)
            here[q] = no_row<SITES>();
        take_four<SITES, QUERIES>(rows.values[four][lane], rows.t[four], turn, here);
#pragma unroll
        for (int q = 0; q < QUERIES; q++)
            if (here[q] < best[q])
                best[q] = here[q], from[q] = four;
    }
#pragma unroll
    for (int q = 0; q < QUERIES; q++)
        rows.best[q][warp][lane] = best[q], rows.from[q][warp][lane] = (uint8_t)from[q];
    __syncthreads();
    if (warp < QUERIES) {
        int32_t least = rows.best[warp][0][lane];
        uint8_t at = rows.from[warp][0][lane];
#pragma unroll
        for (int other = 1; other < WARPS; other++)
            if (rows.best[warp][other][lane] < least)
                least = rows.best[warp][other][lane], at = rows.from[warp][other][lane];
        rows.winner[warp][lane] = at;
    }
    __syncthreads();
}

/* What the fours `first` to `last`, this lane's own, offer the warp's rows. */
template <bool SITES>
DM_DEVICE void take_others(const mc_stage &p, const direct_rows &rows, int32_t first, int32_t last, int32_t i0,
                           int32_t best[HEIGHT]) {
    uint32_t turn[HEIGHT];
    set_turns<SITES, HEIGHT>(p, i0, 1, p.row_bits, turn);
    const int32_t count = mc_warp_most(last - first) + 1;
    for (int32_t k = 0; k < count; k++) {
        const int32_t four = min(first + k, last);
        take_four<SITES, HEIGHT>(rows.values[four][threadIdx.x % 32], rows.t[four], turn, best);
    }
}

/* Grid: a block per MC_DIRECT_ROWS rows of a strip. */
template <bool SLOW, row_results HOW>
static __global__ void __launch_bounds__(WARPS * 32, 3)
    direct_strips(const __grid_constant__ mc_stage p, int32_t blocks_down) {
    enum { SITES = HOW == WITH_SITES };
    dm_wait_for_last();
    DM_DYNAMIC_SHARED(char, memory);
    direct_rows &rows = *(direct_rows *)memory;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const uint32_t strip = blockIdx.x / (uint32_t)blocks_down; /* of all planes */
    place at;
    at.plane = strip / (uint32_t)p.strips;
    at.strip = (int32_t)(strip - (uint32_t)at.plane * (uint32_t)p.strips);
    at.y0 = (int32_t)(blockIdx.x - strip * (uint32_t)blocks_down) * MC_DIRECT_ROWS;
    at.column = lane_column(p, at.strip, lane);
    at.entries = SLOW ? NULL : mc_entries(p, at.plane, at.strip);
    at.source = SLOW ? mc_row(p.source, at.plane, 0) + (at.strip * 32 + at.column) * 4 : NULL;
    at.alive = SLOW ? mc_alive(p, at.plane) : NULL;
    if (!SLOW && p.alive && !p.alive[at.plane]) /* a volume's plane without a site is left alone */
        return;
    const int32_t i0 = warp * HEIGHT;
    int32_t best[HEIGHT];
#pragma unroll
    for (int r = 0; r < HEIGHT; r++)
        best[r] = no_row<SITES>();
    spread_around<SLOW, SITES>(p, at, rows);
    __syncthreads();
    take_around<SITES>(p, rows, i0, best);
    others o = others_within(p, at, farthest<SITES>(p, at, i0, best, rows));
    for (int32_t start = 0; start < o.all; start += EACH * WARPS * 32) {
        __syncthreads(); /* for those who still read */
        const int32_t count = list_others<SLOW, SITES>(p, at, start, o, rows), fours = (count + 3) / 4;
        if (!count)
            continue;
        spread_others<SLOW, SITES>(p, at, fours, rows);
        if (fours > ENOUGH)
            query<SITES>(p, fours, rows);
        const int q = i0 / STEP;
        take_others<SITES>(p, rows, fours > ENOUGH ? rows.winner[q][lane] : 0,
                           fours > ENOUGH ? rows.winner[q + 1][lane] : fours - 1, i0, best);
    }
    int32_t row[1][HEIGHT];
#pragma unroll
    for (int r = 0; r < HEIGHT; r++) {
        row[0][r] = SITES ? p.low + (best[r] & ((1 << p.row_bits) - 1)) : 0;
        best[r] = is_row<SITES>(best[r]) ? square_of<SITES>(p, best[r], i0 + r) - p.wy2 * r * r : (int32_t)MC_NOTHING;
    }
    mc_raise(p, store_rows<HOW, HEIGHT, 1>(p, at.plane, at.strip * 32 + lane, at.y0 + i0,
                                           (const int32_t(*)[HEIGHT]) & best, row));
}

static_assert(sizeof(direct_rows) <= MC_DIRECT_BYTES, "minplus_cuda_stages.c counts on this");

template <bool SLOW, row_results HOW> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    const int32_t blocks_down = (p->height + MC_DIRECT_ROWS - 1) / MC_DIRECT_ROWS;
    const unsigned blocks = (unsigned)(p->planes * p->strips * blocks_down);
    const cudaError_t error = cudaFuncSetAttribute((const void *)direct_strips<SLOW, HOW>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(direct_rows));
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH_EARLY((direct_strips<SLOW, HOW>), blocks, WARPS * 32, sizeof(direct_rows), stream, *p, blocks_down);
    return cudaGetLastError();
}

template <bool SLOW> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    switch (results_of(p)) {
    case ALL_ROOTS: return launch<SLOW, ALL_ROOTS>(p, stream);
    case WITH_SITES: return launch<SLOW, WITH_SITES>(p, stream);
    default: /* numbers are below 2^24 */ return launch<SLOW, ANY_RESULTS>(p, stream);
    }
}

cudaError_t mc_direct(const mc_stage *p, cudaStream_t stream) {
    return p->source.data ? launch<true>(p, stream) : launch<false>(p, stream);
}
