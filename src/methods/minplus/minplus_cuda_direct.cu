/* minplus/cuda, the direct search, of small planes: every pixel from all the rows that can matter, nearest first, in one launch.
 *
 *     d2(y) = min over rows j of f(j) + w (y - j)^2    in one column
 *
 * A near and a far search of a small image take most of their time to start, to decide and to wait for their slowest block.
 * Here nothing is decided. A block takes ROWS rows of a strip, a warp HEIGHT of them, a lane a column, and rows are counted
 * from the block's first one, as minplus_cuda_offers.cuh says: a row offers a pixel one multiplication and addition. Without sites
 * it is one of floats, with sites one of integers with the row below them, which so breaks ties. 1.8 instructions per pixel
 * and row.
 *
 * Rows come in chunks of SIDE on either side of those known. A warp passes over a side when no row beyond can change its
 * pixels, w (rows between)^2 being as large as all of theirs; the block ends when all its warps do, or the plane does.
 */
#include "methods/minplus/minplus_cuda_offers.cuh"

enum {
    WARPS = 8,
    HEIGHT = MC_DIRECT_ROWS / WARPS,                 /* rows of a warp */
    SIDE = 4 * WARPS,                                /* rows of a chunk on one side: each warp spreads four */
    BEFORE = SIDE - (2 * SIDE - MC_DIRECT_ROWS) / 2, /* side 0 begins with the rows before this one */
    /* What rows without a site offer as a key: 3 2^29, of which slopes take less than 2^29. What others do is below. */
    NONE_KEY = 3 << 29,
    ANY_KEY = 1 << 30,
};

/* A block's place. */
typedef struct place {
    int64_t plane;
    int32_t strip, y0;
    const uint2 *entries; /* planes */
    const char *source;   /* z stage: this lane's column, of row 0 */
    const uint8_t *alive;
    int column; /* this lane's */
} place;

/* The rows that a warp spreads, as they come: four of each side. */
typedef struct raw {
    uint2 entry;      /* planes: of one of these rows, lane % 8 */
    int32_t value[8]; /* z stage: of all, in this lane's column */
} raw;

/* A chunk in shared memory. */
typedef struct chunk_rows {
    uint4 values[2][WARPS][32];
    uint8_t any[2][WARPS]; /* whether the four rows have a site */
} chunk_rows;

/* The first row of a chunk's side, from y0. */
DM_DEVICE int32_t side_start(int chunk, int side) { return BEFORE + (side ? chunk : -1 - chunk) * SIDE; }

template <bool SLOW> DM_DEVICE raw load_chunk(const mc_stage &p, const place &at, int chunk) {
    const int lane = (int)threadIdx.x % 32;
    const int32_t first = at.y0 + (int)threadIdx.x / 32 * 4;
    raw made;
    if constexpr (SLOW) {
#pragma unroll
        for (int n = 0; n < 8; n++) {
            const int32_t j = first + side_start(chunk, n / 4) + n % 4;
            made.value[n] = MC_NOTHING;
            if ((uint32_t)j < (uint32_t)p.height && at.alive[j]) {
                const int32_t v = *(const int32_t *)(at.source + j * p.source.stride[2]);
                made.value[n] = p.sites == MC_SITES_NONE ? v : mc_offset_square(p, (uint32_t)v);
            }
        }
    } else {
        const int32_t j = first + side_start(chunk, lane / 4 % 2) + lane % 4;
        made.entry = is_known(p, j) ? at.entries[j] : make_uint2(0, MC_WHOLE);
    }
    return made;
}

/* h of row y0 + t, or its key. */
template <bool SITES>
DM_DEVICE uint32_t spread_value(const mc_stage &p, const place &at, bool any, uint32_t f, int32_t t) {
    const uint32_t h = offer_start(p, f, t, MC_DIRECT_ROWS);
    if (SITES)
        return any ? (h << p.row_bits) + (uint32_t)(at.y0 + t - p.low) : (uint32_t)NONE_KEY;
    return offer_bits(any, h);
}

template <bool SLOW, bool SITES>
DM_DEVICE void spread_chunk(const mc_stage &p, const place &at, int chunk, const raw &from, chunk_rows &rows) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    /* Which of the eight rows have a site, and in the strip; the same in all lanes. */
    uint32_t any = 0, inside = 0;
    if (SLOW) {
#pragma unroll
        for (int n = 0; n < 8; n++)
            any |= from.value[n] != MC_NOTHING ? 1u << n : 0;
    } else {
        any = __ballot_sync(MC_WHOLE, has_any(from.entry));
        inside = __ballot_sync(MC_WHOLE, from.entry.x != 0);
    }
#pragma unroll
    for (int side = 0; side < 2; side++) {
        if (lane == 0)
            rows.any[side][warp] = any >> side * 4 & 15;
        if (!(any >> side * 4 & 15))
            continue;
        uint32_t f[4];
#pragma unroll
        for (int n = 0; n < 4; n++) {
            if (SLOW) {
                f[n] = (uint32_t)from.value[side * 4 + n];
                continue;
            }
            const uint2 entry = make_uint2(__shfl_sync(MC_WHOLE, from.entry.x, side * 4 + n),
                                           __shfl_sync(MC_WHOLE, from.entry.y, side * 4 + n));
            const uint32_t g =
                (inside >> side * 4 & 15 ? entry_distance(entry, at.column) : outer_distance(entry, at.column)) +
                (uint32_t)p.rim;
            f[n] = g * g * (uint32_t)p.wx2;
        }
        const int32_t t = side_start(chunk, side) + warp * 4;
        uint4 four;
        four.x = spread_value<SITES>(p, at, any >> side * 4 & 1, f[0], t);
        four.y = spread_value<SITES>(p, at, any >> side * 4 & 2, f[1], t + 1);
        four.z = spread_value<SITES>(p, at, any >> side * 4 & 4, f[2], t + 2);
        four.w = spread_value<SITES>(p, at, any >> side * 4 & 8, f[3], t + 3);
        rows.values[side][warp][lane] = four;
    }
}

/* What a side's rows offer the warp's, i .. i + HEIGHT - 1. */
template <bool SITES>
DM_DEVICE void take_side(const mc_stage &p, const chunk_rows &rows, int chunk, int side, int32_t i,
                         int32_t best[HEIGHT]) {
    const uint2 any = *(const uint2 *)rows.any[side];
    if (!(any.x | any.y))
        return;
    const int lane = (int)threadIdx.x % 32;
    float turn[HEIGHT];
#pragma unroll
    for (int r = 0; r < HEIGHT; r++)
        turn[r] = (float)(-2 * p.wy2 * (i + r));
#pragma unroll
    for (int q = 0; q < WARPS; q++) {
        if (!((q < 4 ? any.x : any.y) >> q % 4 * 8 & 0xFF))
            continue;
        const int32_t t = side_start(chunk, side) + q * 4;
        const float row = (float)t;
        const uint4 four = rows.values[side][q][lane];
        const uint32_t v[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int n = 0; n < 4; n += 2)
#pragma unroll
            for (int r = 0; r < HEIGHT; r++) {
                int32_t offer[2];
#pragma unroll
                for (int m = 0; m < 2; m++)
                    offer[m] = SITES ? (int32_t)v[n + m] - 2 * p.wy2 * (t + n + m) * (1 << p.row_bits) * (i + r)
                                     : offer_at(v[n + m], row + (float)(n + m), turn[r]);
                best[r] = __vimin3_s32(best[r], offer[0], offer[1]);
            }
    }
}

/* The squared distance of pixel y0 + i, if it has a site; else it is large. */
template <bool SITES> DM_DEVICE int32_t square_of(const mc_stage &p, int32_t best, int32_t i) {
    return offered_square(p, SITES ? best >> p.row_bits : (int32_t)__int_as_float(best), i, MC_DIRECT_ROWS);
}
template <bool SITES> DM_DEVICE bool is_any(int32_t best) { return best < (SITES ? (int)ANY_KEY : (int)ANY_OFFER); }

/* Grid: a block per MC_DIRECT_ROWS rows of a strip. */
template <bool SLOW, bool SITES>
static __global__ void __launch_bounds__(WARPS * 32, 32 / WARPS)
    direct_strips(const __grid_constant__ mc_stage p, int32_t blocks_down) {
    __shared__ chunk_rows rows;
    const int lane = (int)threadIdx.x % 32;
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
    const int32_t i0 = (int)threadIdx.x / 32 * HEIGHT;
    int32_t best[HEIGHT];
#pragma unroll
    for (int r = 0; r < HEIGHT; r++)
        best[r] = SITES ? (int)NONE_KEY : (int)NO_OFFER;
    bool wanted[2] = {true, true};
    raw next = load_chunk<SLOW>(p, at, 0);
    for (int chunk = 0;; chunk++) {
        spread_chunk<SLOW, SITES>(p, at, chunk, next, rows);
        __syncthreads();
        next = load_chunk<SLOW>(p, at, chunk + 1);
#pragma unroll
        for (int side = 0; side < 2; side++)
            if (wanted[side])
                take_side<SITES>(p, rows, chunk, side, i0, best);
        int32_t most = 0;
#pragma unroll
        for (int r = 0; r < HEIGHT; r++)
            most = max(most, at.y0 + i0 + r < p.height ? square_of<SITES>(p, best[r], i0 + r) : 0);
        /* The rows that come next on either side, and how far they are from the nearest of the warp's. At an equal distance,
         * rows before these have the lower sites. */
        const int32_t before = side_start(chunk, 0) - 1, after = side_start(chunk, 1) + SIDE;
        const int32_t up = i0 - before, down = after - (i0 + HEIGHT - 1);
        wanted[0] = at.y0 + before >= p.low && __any_sync(MC_WHOLE, most + SITES > p.wy2 * up * up);
        wanted[1] = at.y0 + after < p.low + p.rows && __any_sync(MC_WHOLE, most > p.wy2 * down * down);
        if (!__syncthreads_or(wanted[0] || wanted[1]))
            break;
    }
    int32_t row[1][HEIGHT];
#pragma unroll
    for (int r = 0; r < HEIGHT; r++) {
        row[0][r] = SITES ? p.low + (best[r] & ((1 << p.row_bits) - 1)) : 0;
        best[r] = is_any<SITES>(best[r]) ? square_of<SITES>(p, best[r], i0 + r) - p.wy2 * r * r : MC_NOTHING;
    }
    mc_raise(p, store_rows<SITES, HEIGHT, 1>(p, at.plane, at.strip * 32 + lane, at.y0 + i0,
                                             (const int32_t(*)[HEIGHT]) & best, row));
}

template <bool SLOW> static void launch(const mc_stage *p, cudaStream_t stream) {
    const int32_t blocks_down = (p->height + MC_DIRECT_ROWS - 1) / MC_DIRECT_ROWS;
    const unsigned blocks = (unsigned)(p->planes * p->strips * blocks_down);
    if (p->sites == MC_SITES_NONE)
        DM_LAUNCH((direct_strips<SLOW, false>), blocks, WARPS * 32, 0, stream, *p, blocks_down);
    else
        DM_LAUNCH((direct_strips<SLOW, true>), blocks, WARPS * 32, 0, stream, *p, blocks_down);
}

cudaError_t mc_direct(const mc_stage *p, cudaStream_t stream) {
    if (p->source.data)
        launch<true>(p, stream);
    else
        launch<false>(p, stream);
    return cudaGetLastError();
}
