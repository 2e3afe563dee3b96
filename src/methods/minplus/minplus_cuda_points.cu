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
 * A block queries some points of a strip by all rows that may win, its warps each by some of the rows, BUNCH at a time. In planes
 * it is known beforehand which bunches may win at which points, for an entry says how near its sites are to the strip, at least
 * and at most. Where such blocks are few, several share the rows of the same points; the last one to be done has what all of
 * them found.
 */
#include "methods/minplus/minplus_cuda_offers.cuh"

enum {
    POINTS = MC_POINTS,
    WARPS = 16,
    BUNCH = 8,   /* rows that a point's winner is among */
    WORDS = 8,   /* of 32 rows, that a warp lists at most */
    ALONE = 640, /* rows with a site that one block does as soon as several */
};
static_assert((int)MC_POINT_ROWS == MC_POINT_SPANS * MC_SPAN && (int)POINTS == MC_POINT_SPANS + 1,
              "minplus_cuda_stages.c sees to it that numbers are small enough");

/* What a warp knows of points: the least offer, and the number of the first row of the bunch that it came from. */
typedef struct winners {
    int32_t best[POINTS], at[POINTS];
} winners;

/* A block's points. */
typedef struct points {
    row_offer *rows;    /* those that have a site, in order, the last one again up to a whole bunch: */
    float *t;           /* which they are, from y0, */
    uint16_t *list;     /* and from the plane's first one; */
    uint16_t *reach;    /* planes: of bunches, bit q: one of its rows may win at point q */
    const char *source; /* z stage: this lane's column, of row 0 */
    int32_t count, y0, y1;
    int column;
    float wx2, turn[POINTS];
} points;

DM_DEVICE int32_t point_row(const mc_stage &p, int32_t point) { return min(point * MC_SPAN, p.height - 1); }

/* What the row of number n offers. */
template <bool SLOW> DM_DEVICE uint32_t offer_of(const mc_stage &p, const points &at, int32_t n) {
    if constexpr (SLOW) {
        const int32_t j = at.list[n];
        return slow_row(p, *(const int32_t *)(at.source + j * p.source.stride[2]), j - at.y0, MC_POINT_ROWS);
    }
    return spread_row(at.rows[n], at.column, at.wx2);
}

/* A bunch of rows, for the points that it may reach. */
template <bool SLOW>
DM_DEVICE void take_bunch(const mc_stage &p, const points &at, int32_t first, uint32_t reach, winners *w) {
    uint4 bits[BUNCH / 4];
    float4 t[BUNCH / 4];
#pragma unroll
    for (int i = 0; i < BUNCH / 4; i++) {
        const int32_t n = first + i * 4;
        bits[i] = make_uint4(offer_of<SLOW>(p, at, n), offer_of<SLOW>(p, at, n + 1), offer_of<SLOW>(p, at, n + 2),
                             offer_of<SLOW>(p, at, n + 3));
        t[i] = *(const float4 *)(at.t + n);
    }
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        if (!SLOW && !(reach >> q & 1))
            continue;
        int32_t here = NO_OFFER;
#pragma unroll
        for (int i = 0; i < BUNCH / 4; i++)
            take_four<1>(bits[i], t[i], at.turn + q, &here);
        if (here < w->best[q])
            w->best[q] = here, w->at[q] = first;
    }
}

/* The largest squared distance of the warp's points; very large without a site. */
DM_DEVICE int32_t farthest(const mc_stage &p, const winners &w, int32_t first_point, int32_t y0) {
    int32_t most = 0;
#pragma unroll
    for (int q = 0; q < POINTS; q++)
        most = max(most, offered_square(p, (int32_t)__int_as_float(w.best[q]), point_row(p, first_point + q) - y0,
                                        MC_POINT_ROWS));
    return most;
}

/* z stage: the rows of a warp, from the middle of the block's points, nearest first, until none beyond can change what the warp
 * has found. */
DM_DEVICE void query_nearest(const mc_stage &p, const points &at, int32_t first_point, winners *w) {
    const int32_t middle = first_from(at.list, at.count, (at.y0 + at.y1) / 2) & ~3; /* rows are read by fours */
    bool wanted[2] = {true, true};
    for (int32_t k = (int)threadIdx.x / 32; wanted[0] || wanted[1]; k += WARPS) {
        /* At the ends of the list some rows come again, which changes nothing. */
        const int32_t up = middle - (k + 1) * BUNCH, down = middle + k * BUNCH;
        if (wanted[0])
            take_bunch<true>(p, at, max(up, 0), 0, w);
        if (wanted[1])
            take_bunch<true>(p, at, min(down, at.count - BUNCH), 0, w);
        /* How far the rows that come next on either side are from the nearest point. */
        const int32_t above = up - WARPS * BUNCH + BUNCH - 1, below = down + WARPS * BUNCH;
        const int32_t before = at.y0 - at.list[max(above, 0)], after = at.list[min(below, at.count - 1)] - at.y1;
        const int32_t most = farthest(p, *w, first_point, at.y0);
        wanted[0] = above >= 0 && (before < 0 || __any_sync(MC_WHOLE, most > p.wy2 * before * before));
        wanted[1] = below < at.count && (after < 0 || __any_sync(MC_WHOLE, most > p.wy2 * after * after));
    }
}

/* Planes: which bunches reach which points. A row's site is no farther from a column of the strip than from the one farthest
 * from it; the least of that, over any rows, is more than a point's winner can offer. Of the POINTS points `wanted` are. */
DM_DEVICE void find_reach(const mc_stage &p, const points &at, int32_t wanted, float *bound) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const float w = (float)p.wy2, per_turn = -0.5f / w;
    float least[POINTS];
    { /* some of the rows will do */
        const int32_t n = (int32_t)threadIdx.x * at.count / (WARPS * 32);
        const float far = along_strip(at.rows[n]) + 31.0f, high = at.wx2 * far * far;
#pragma unroll
        for (int q = 0; q < POINTS; q++) {
            const float dy = at.t[n] - per_turn * at.turn[q];
            least[q] = w * dy * dy + high;
        }
    }
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        const float own = mc_warp_least(least[q]);
        if (lane == 0)
            atomicMin((int *)bound + q, __float_as_int(own));
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < POINTS; q++)
        least[q] = bound[q] * 1.0001f + 1.0f; /* whatever the roundings */
    for (int32_t start = warp * 32; start < at.count; start += WARPS * 32) {
        const int32_t n = min(start + lane, at.count - 1);
        const float near = along_strip(at.rows[n]), low = at.wx2 * near * near;
        uint32_t reach = 0;
#pragma unroll
        for (int q = 0; q < POINTS; q++) {
            const float dy = at.t[n] - per_turn * at.turn[q];
            reach |= w * dy * dy + low <= least[q] ? 1u << q : 0;
        }
        for (int step = 1; step < BUNCH; step *= 2)
            reach |= __shfl_xor_sync(MC_WHOLE, reach, step);
        if (lane % BUNCH == 0 && start + lane < at.count)
            at.reach[n / BUNCH] = (uint16_t)(reach & ((1u << wanted) - 1));
    }
    __syncthreads();
}

/* Planes: the bunches of a warp. */
DM_DEVICE void query_reached(const mc_stage &p, const points &at, int32_t share, int32_t shares, winners *w) {
    const int32_t warps = shares * WARPS;
    for (int32_t bunch = share * WARPS + (int)threadIdx.x / 32; bunch < at.count / BUNCH; bunch += warps)
        if (at.reach[bunch])
            take_bunch<false>(p, at, bunch * BUNCH, at.reach[bunch], w);
}

/* The rows of a strip that have a site; how many they are, with those that come again. */
template <bool SLOW>
DM_DEVICE int32_t list_sites(const mc_stage &p, const uint2 *entries, const uint8_t *alive, uint16_t *list,
                             int32_t *counts) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int32_t words = (p.height + WARPS * 32 - 1) / (WARPS * 32), first = warp * words * 32 + lane;
    bool any[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        any[i] = i < words && first + i * 32 < p.height && offers_any<SLOW>(entries, alive, first + i * 32);
    int32_t own = 0;
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        own += __popc(__ballot_sync(MC_WHOLE, any[i]));
    counts[warp] = own;
    __syncthreads();
    int32_t at = 0, count = 0;
    for (int other = 0; other < WARPS; other++) {
        at += other < warp ? counts[other] : 0;
        count += counts[other];
    }
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        const uint32_t rows = __ballot_sync(MC_WHOLE, any[i]);
        if (any[i])
            list[at + __popc(rows & ((1u << lane) - 1))] = (uint16_t)(first + i * 32);
        at += __popc(rows);
    }
    __syncthreads();
    const int32_t whole = (count + BUNCH - 1) & -BUNCH;
    if (count + (int32_t)threadIdx.x < whole)
        list[count + (int32_t)threadIdx.x] = list[count - 1];
    __syncthreads();
    return whole;
}

/* For the whole block: whether any unit of the spans between its points is open. */
DM_DEVICE bool any_wanted(const mc_stage &p, int64_t strip, int32_t first_point) {
    const int32_t at = first_point + (int32_t)threadIdx.x;
    return __syncthreads_or(threadIdx.x < MC_POINT_SPANS && at < p.spans && is_open(p, strip, at));
}

/* A block's shared memory, besides its rows. */
typedef struct point_room {
    int32_t counts[WARPS];
    float bound[POINTS];
    int32_t best[POINTS][WARPS][32];
    uint16_t from[POINTS][WARPS][32];
    mc_point point[POINTS];
    bool done;
} point_room;

/* For the whole block: whether all others that share its points are done. */
DM_DEVICE bool is_last(uint32_t *arrived, int32_t shares, point_room &room) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        room.done = atomicAdd(arrived, 1u) == (uint32_t)shares - 1;
    __syncthreads();
    return room.done;
}

/* Lists the parts beside the first of open spans between the block's points. */
DM_DEVICE void list_parts(const mc_stage &p, uint32_t strip, int32_t first_point, const point_room &room) {
    const int32_t at = first_point + (int32_t)threadIdx.x;
    if (threadIdx.x >= MC_POINT_SPANS || at >= p.spans)
        return;
    const uint32_t parts = (uint32_t)span_parts(p, room.point + threadIdx.x);
    if (parts == 1 || !is_open(p, strip, at))
        return;
    uint32_t *item = p.items + atomicAdd(&p.any_open[MC_ITEMS], parts - 1);
    for (uint32_t part = 1; part < parts; part++)
        item[part - 1] = (strip * (uint32_t)p.spans + (uint32_t)at) << 4 | part;
}

/* POINTS points of a strip, of all planes. */
template <bool SLOW, bool MIXED>
DM_DEVICE void solve_points(const mc_stage &p, uint32_t strip, uint32_t group, int32_t share, row_offer *rows,
                            point_room &room) {
    const int32_t most = p.height + BUNCH;
    float *t = (float *)(SLOW ? rows : rows + most);
    uint16_t *list = (uint16_t *)(t + most), *reach = list + most;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const uint32_t plane = strip / (uint32_t)p.strips;
    const int32_t across = (int32_t)(strip - plane * (uint32_t)p.strips), column = lane_column(p, across, lane);
    const uint2 *entries = SLOW ? NULL : mc_entries(p, plane, across);
    const char *source = SLOW ? mc_row(p.source, plane, 0) + ((int64_t)across * 32 + column) * 4 : NULL;
    const int32_t count = list_sites<SLOW>(p, entries, SLOW ? mc_alive(p, plane) : NULL, list, room.counts);
    const int32_t shares = count > ALONE ? p.shares : 1;
    if (share >= shares)
        return;
    const int32_t first_point = (int32_t)group * MC_POINT_SPANS, y0 = point_row(p, first_point);
    for (int32_t n = (int)threadIdx.x; n < count; n += WARPS * 32) {
        if (!SLOW)
            rows[n] = row_offer_of(p, entries[list[n]], list[n] - y0, MC_POINT_ROWS);
        t[n] = (float)(list[n] - y0);
    }
    points at = {rows,         t, list, reach, source, count, y0, point_row(p, first_point + POINTS - 1), column,
                 (float)p.wx2, {}};
    winners w;
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        at.turn[q] = (float)(-2 * p.wy2 * (point_row(p, first_point + q) - y0));
        w.best[q] = NO_OFFER, w.at[q] = 0;
    }
    if (threadIdx.x < POINTS)
        room.bound[threadIdx.x] = INFINITY;
    __syncthreads();
    if (SLOW && count)
        query_nearest(p, at, first_point, &w);
    if (!SLOW && count) {
        find_reach(p, at, min(p.spans - first_point + 1, (int32_t)POINTS), room.bound);
        query_reached(p, at, share, shares, &w);
    }
#pragma unroll
    for (int q = 0; q < POINTS; q++)
        room.best[q][warp][lane] = w.best[q], room.from[q][warp][lane] = (uint16_t)w.at[q];
    __syncthreads();
    int32_t least = NO_OFFER, first = 0;
    if (warp < POINTS) {
#pragma unroll
        for (int other = 0; other < WARPS; other++)
            if (room.best[warp][other][lane] < least)
                least = room.best[warp][other][lane], first = room.from[warp][other][lane];
    }
    const int64_t place = (int64_t)strip * ((p.spans + MC_POINT_SPANS - 1) / MC_POINT_SPANS) + group;
    if (shares > 1) {
        unsigned long long *found = p.found + (place * POINTS + warp) * 32 + lane;
        if (warp < POINTS)
            atomicMax(found, ~((unsigned long long)(uint32_t)least << 32 | (uint32_t)first));
        if (!is_last(p.arrived + place, shares, room))
            return;
        if (warp < POINTS) {
            const unsigned long long all = ~atomicMax(found, 0ull);
            least = (int32_t)(all >> 32), first = (int32_t)all;
        }
    }
    if (warp < POINTS && first_point + warp <= p.spans) {
        const int32_t row = point_row(p, first_point + warp);
        const int32_t d2 = offered_square(p, (int32_t)__int_as_float(least), row - at.y0, MC_POINT_ROWS);
        mc_point made = {1, 0, 0, 0, 0}; /* no row */
        if (count) {
            const int32_t low = -mc_warp_most(-first), high = mc_warp_most(first) + BUNCH - 1;
            made.first = list[low], made.last = list[high];
            made.low = (uint16_t)low, made.high = (uint16_t)high;
            made.farthest = mc_warp_most(d2);
        }
        if (lane == 0)
            room.point[warp] = p.points[(int64_t)strip * (p.spans + 1) + first_point + warp] = made;
    }
    __syncthreads(); /* for those who still read */
    if (!MIXED)
        list_parts(p, strip, first_point, room);
}

/* Grid: `shares` blocks per POINTS points of a strip; MIXED: any, blocks have some strips. Shared memory: of planes 22 bytes for
 * each row of a plane and for a bunch more, of the z stage 6, and 2 for a bunch. */
template <bool SLOW, bool MIXED>
static __global__ void __launch_bounds__(WARPS * 32, 2)
    find_points(const __grid_constant__ mc_stage p, uint32_t groups) {
    DM_DYNAMIC_SHARED(row_offer, rows);
    __shared__ point_room room;
    if (!(p.any_open[MC_DEEP] | (MIXED ? 0 : p.any_open[MC_BLIND])))
        return;
    if constexpr (MIXED)
        for_wanted((uint32_t)(p.planes * p.strips) * groups,
                   [&](uint32_t i) { return p.left[i / groups * 2 + MC_DEEP]; },
                   [&](uint32_t i) { solve_points<SLOW, true>(p, i / groups, i % groups, 0, rows, room); });
    else {
        const uint32_t i = blockIdx.x / (uint32_t)p.shares, share = blockIdx.x - i * (uint32_t)p.shares;
        if (any_wanted(p, i / groups, (int32_t)(i % groups) * MC_POINT_SPANS))
            solve_points<SLOW, false>(p, i / groups, i % groups, (int32_t)share, rows, room);
    }
}

template <bool SLOW, bool MIXED> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    const int32_t groups = (p->spans + MC_POINT_SPANS - 1) / MC_POINT_SPANS;
    const size_t row = (SLOW ? 0 : sizeof(row_offer)) + sizeof(float) + sizeof(uint16_t);
    const size_t bytes = (size_t)(p->height + BUNCH) * row + (size_t)(p->height / BUNCH + 1) * sizeof(uint16_t);
    const cudaError_t error = cudaFuncSetAttribute((const void *)find_points<SLOW, MIXED>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    const int64_t items = p->planes * p->strips * groups * p->shares;
    DM_LAUNCH((find_points<SLOW, MIXED>), (unsigned)(MIXED && items > p->resident ? p->resident : items), WARPS * 32,
              bytes, stream, *p, (uint32_t)groups);
    return cudaGetLastError();
}

cudaError_t mc_points(const mc_stage *p, cudaStream_t stream) {
    if (p->source.data)
        return launch<true, true>(p, stream);
    return p->mixed ? launch<false, true>(p, stream) : launch<false, false>(p, stream);
}
