/* minplus/cuda, the bracket search's first part: points, exact at any distance.
 *
 *     d2(y) = min over rows j of f(j) + w (y - j)^2    in one column
 *
 * Where strips are few, a block that solves one is a chain of waits, and the longest one keeps all others waiting
 * (minplus_cuda_far.cu). The bracket search, of planes of middle size, is two launches that have work for every multiprocessor
 * from their start to their end. In large volumes it takes less for strips with deep units, in both stages: there most rows have
 * a site. Points are every MC_SPAN-th row, and the plane's last one. Of a point it is found among
 * which rows the winners are, in all columns of its strip, and how far at most: its *bracket*. Between two points only rows
 * from the one's bracket to the other's can win (minplus_cuda_spans.cu).
 *
 * A block queries some points of a strip by all rows that may win, its warps each by some of the rows, BUNCH at a time, nearest
 * first, until none beyond can change what the warp has found. Per pixel, where half of the rows may win: 65 instructions.
 */
#include "methods/minplus/minplus_cuda_offers.cuh"

enum {
    POINTS = 9, /* of a block, */
    WARPS = 16,
    POINT_ROWS = (POINTS - 1) * MC_SPAN, /* between the first and the last one */
    BUNCH = 8,                           /* rows that a point's winner is among */
};
static_assert((int)MC_POINT_ROWS == (int)POINT_ROWS, "minplus_cuda_stages.c sees to it that numbers are small enough");

/* What a warp knows of points: the least offer, and the number of the first row of the bunch that it came from. */
typedef struct winners {
    int32_t best[POINTS], at[POINTS];
} winners;

/* A block's points. */
typedef struct points {
    const row_offer *rows; /* those that have a site, in order, the last one again up to a whole bunch: */
    const float *t;        /* which they are, from y0, */
    const uint16_t *list;  /* and from the plane's first one */
    const char *source;    /* z stage: this lane's column, of row 0 */
    int32_t count, y0;
    int column;
    float wx2, turn[POINTS];
} points;

DM_DEVICE int32_t point_row(const mc_stage &p, int32_t point) { return min(point * MC_SPAN, p.height - 1); }

/* What the row of number n offers. */
template <bool SLOW> DM_DEVICE uint32_t offer_of(const mc_stage &p, const points &at, int32_t n) {
    if constexpr (SLOW) {
        const int32_t j = at.list[n];
        return slow_row(p, *(const int32_t *)(at.source + j * p.source.stride[2]), j - at.y0, POINT_ROWS);
    }
    return spread_row(at.rows[n], at.column, at.wx2);
}

template <bool SLOW> DM_DEVICE void take_bunch(const mc_stage &p, const points &at, int32_t first, winners *w) {
    int32_t here[POINTS];
#pragma unroll
    for (int q = 0; q < POINTS; q++)
        here[q] = NO_OFFER;
#pragma unroll
    for (int n = first; n < first + BUNCH; n += 4)
        take_four<POINTS>(make_uint4(offer_of<SLOW>(p, at, n), offer_of<SLOW>(p, at, n + 1),
                                     offer_of<SLOW>(p, at, n + 2), offer_of<SLOW>(p, at, n + 3)),
                          *(const float4 *)(at.t + n), at.turn, here);
#pragma unroll
    for (int q = 0; q < POINTS; q++)
        if (here[q] < w->best[q])
            w->best[q] = here[q], w->at[q] = first;
}

/* The largest squared distance of the warp's points; very large without a site. */
DM_DEVICE int32_t farthest(const mc_stage &p, const winners &w, int32_t first_point, int32_t y0) {
    int32_t most = 0;
#pragma unroll
    for (int q = 0; q < POINTS; q++)
        most = max(most, offered_square(p, (int32_t)__int_as_float(w.best[q]), point_row(p, first_point + q) - y0,
                                        POINT_ROWS));
    return most;
}

/* The rows of a warp, from the middle of the block's points. */
template <bool SLOW> DM_DEVICE void query_points(const mc_stage &p, const points &at, int32_t first_point, winners *w) {
    const int32_t y1 = point_row(p, first_point + POINTS - 1);
    const int32_t middle = first_from(at.list, at.count, (at.y0 + y1) / 2) & ~3; /* rows are read by fours */
    bool wanted[2] = {true, true};
    for (int32_t k = (int)threadIdx.x / 32; wanted[0] || wanted[1]; k += WARPS) {
        /* At the ends of the list some rows come again, which changes nothing. */
        const int32_t up = middle - (k + 1) * BUNCH, down = middle + k * BUNCH;
        if (wanted[0])
            take_bunch<SLOW>(p, at, max(up, 0), w);
        if (wanted[1])
            take_bunch<SLOW>(p, at, min(down, at.count - BUNCH), w);
        /* How far the rows that come next on either side are from the nearest point. */
        const int32_t above = up - WARPS * BUNCH + BUNCH - 1, below = down + WARPS * BUNCH;
        const int32_t before = at.y0 - at.list[max(above, 0)], after = at.list[min(below, at.count - 1)] - y1;
        const int32_t most = farthest(p, *w, first_point, at.y0);
        wanted[0] = above >= 0 && (before < 0 || __any_sync(MC_WHOLE, most > p.wy2 * before * before));
        wanted[1] = below < at.count && (after < 0 || __any_sync(MC_WHOLE, most > p.wy2 * after * after));
    }
}

/* The rows of a strip that have a site; how many they are, with those that come again. */
template <bool SLOW>
DM_DEVICE int32_t list_sites(const mc_stage &p, const uint2 *entries, const uint8_t *alive, uint16_t *list,
                             int32_t *counts) {
    int32_t count = 0;
    for (int32_t start = 0; start < p.height; start += WARPS * 32) {
        const int32_t j = start + (int32_t)threadIdx.x;
        count = append_rows(j < p.height && offers_any<SLOW>(entries, alive, j), j, list, count, counts);
    }
    const int32_t whole = (count + BUNCH - 1) & -BUNCH;
    if (count + (int32_t)threadIdx.x < whole)
        list[count + (int32_t)threadIdx.x] = list[count - 1];
    __syncthreads();
    return whole;
}

/* For the whole block: whether any unit of the spans that end or begin at one of POINTS points is open. */
DM_DEVICE bool any_wanted(const mc_stage &p, int64_t strip, int32_t first_point) {
    enum { UNITS = MC_SPAN / MC_UNIT };
    const int32_t unit = (first_point - 1) * UNITS + (int32_t)threadIdx.x;
    return __syncthreads_or(threadIdx.x < (POINTS + 1) * UNITS && unit >= 0 && unit < p.units &&
                            p.open[strip * p.units + unit]);
}

/* A block's shared memory, besides its rows. */
typedef struct point_room {
    int32_t counts[WARPS];
    int32_t best[POINTS][WARPS][32];
    uint16_t from[POINTS][WARPS][32];
} point_room;

/* POINTS points of a strip, of all planes. */
template <bool SLOW>
DM_DEVICE void solve_points(const mc_stage &p, uint32_t strip, int32_t first_point, row_offer *rows, point_room &room) {
    const int32_t most = p.height + BUNCH;
    float *t = (float *)(SLOW ? rows : rows + most);
    uint16_t *list = (uint16_t *)(t + most);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const uint32_t plane = strip / (uint32_t)p.strips;
    const int32_t across = (int32_t)(strip - plane * (uint32_t)p.strips), column = lane_column(p, across, lane);
    const uint2 *entries = SLOW ? NULL : mc_entries(p, plane, across);
    const char *source = SLOW ? mc_row(p.source, plane, 0) + ((int64_t)across * 32 + column) * 4 : NULL;
    const int32_t count = list_sites<SLOW>(p, entries, SLOW ? mc_alive(p, plane) : NULL, list, room.counts);
    const int32_t y0 = point_row(p, first_point);
    for (int32_t n = (int)threadIdx.x; n < count; n += WARPS * 32) {
        if (!SLOW)
            rows[n] = row_offer_of(p, entries[list[n]], list[n] - y0, POINT_ROWS);
        t[n] = (float)(list[n] - y0);
    }
    __syncthreads();
    points at = {rows, t, list, source, count, y0, column, (float)p.wx2, {}};
    winners w;
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        at.turn[q] = (float)(-2 * p.wy2 * (point_row(p, first_point + q) - at.y0));
        w.best[q] = NO_OFFER, w.at[q] = 0;
    }
    if (count)
        query_points<SLOW>(p, at, first_point, &w);
#pragma unroll
    for (int q = 0; q < POINTS; q++)
        room.best[q][warp][lane] = w.best[q], room.from[q][warp][lane] = (uint16_t)w.at[q];
    __syncthreads();
    if (warp < POINTS && first_point + warp <= p.spans) {
        int32_t least = room.best[warp][0][lane], first = room.from[warp][0][lane];
#pragma unroll
        for (int other = 1; other < WARPS; other++)
            if (room.best[warp][other][lane] < least)
                least = room.best[warp][other][lane], first = room.from[warp][other][lane];
        const int32_t row = point_row(p, first_point + warp);
        const int32_t d2 = offered_square(p, (int32_t)__int_as_float(least), row - at.y0, POINT_ROWS);
        mc_point made = {1, 0, 0}; /* no row */
        if (count) {
            made.first = (uint16_t)-mc_warp_most(-(int32_t)list[first]);
            made.last = (uint16_t)mc_warp_most(list[first + BUNCH - 1]);
            made.farthest = mc_warp_most(d2);
        }
        if (lane == 0)
            p.points[(int64_t)strip * (p.spans + 1) + first_point + warp] = made;
    }
    __syncthreads(); /* for those who still read */
}

/* Grid: a block per POINTS points of a strip; MIXED: any, blocks have some strips. Shared memory: of planes 22 bytes for each
 * row of a plane and for a bunch more, of the z stage 6. */
template <bool SLOW, bool MIXED>
static __global__ void __launch_bounds__(WARPS * 32, 2)
    find_points(const __grid_constant__ mc_stage p, uint32_t blocks_down) {
    DM_DYNAMIC_SHARED(row_offer, rows);
    __shared__ point_room room;
    if (!(p.any_open[MC_DEEP] | (MIXED ? 0 : p.any_open[MC_BLIND])))
        return;
    const auto solve = [&](uint32_t i) {
        solve_points<SLOW>(p, i / blocks_down, (int32_t)(i % blocks_down) * POINTS, rows, room);
    };
    if constexpr (MIXED)
        for_wanted((uint32_t)(p.planes * p.strips) * blocks_down,
                   [&](uint32_t i) { return p.left[i / blocks_down * 2 + MC_DEEP]; }, solve);
    else if (any_wanted(p, blockIdx.x / blocks_down, (int32_t)(blockIdx.x % blocks_down) * POINTS))
        solve(blockIdx.x);
}

template <bool SLOW, bool MIXED> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    const int32_t blocks_down = (p->spans + POINTS) / POINTS;
    const size_t row = (SLOW ? 0 : sizeof(row_offer)) + sizeof(float) + sizeof(uint16_t);
    const size_t bytes = (size_t)(p->height + BUNCH) * row;
    const cudaError_t error = cudaFuncSetAttribute((const void *)find_points<SLOW, MIXED>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    const int64_t items = p->planes * p->strips * blocks_down;
    DM_LAUNCH((find_points<SLOW, MIXED>), (unsigned)(MIXED && items > p->resident ? p->resident : items), WARPS * 32,
              bytes, stream, *p, (uint32_t)blocks_down);
    return cudaGetLastError();
}

cudaError_t mc_points(const mc_stage *p, cudaStream_t stream) {
    if (p->source.data)
        return launch<true, true>(p, stream);
    return p->mixed ? launch<false, true>(p, stream) : launch<false, false>(p, stream);
}
