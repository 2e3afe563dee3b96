/* minplus/cuda, the bracket search's first part, in the z stage: *points*, every MC_SPAN-th row of a strip, are queried by its rows;
 * a point's *bracket* is among which rows its winners are, in all columns. Rows are values in memory, and a point is no farther
 * from its sites than by any of them; so some rows tell which others may win at which points, before these are read.
 */
#include "methods/minplus/minplus_cuda_offers.cuh"

enum {
    POINTS = 9, /* of a block */
    WARPS = 16,
    BUNCH = 8, /* rows that a point's winner is among */
    WORDS = 8, /* of 32 rows, that a warp lists at most */
    SOME = 64, /* one row in so many bounds how far points are from their sites */
};
static_assert((POINTS - 1) * MC_SPAN <= MC_POINT_ROWS,
              "minplus_cuda_stages.c sees to it that numbers are small enough");

/* What a warp knows of points: the least offer, and the number of the first row of the bunch that it came from. */
typedef struct winners {
    int32_t best[POINTS], at[POINTS];
} winners;

/* A block's points. */
typedef struct points {
    float *t; /* rows that have a site, in order, the last one again up to a whole bunch: which they are, from y0, */
    uint16_t *list;           /* and from the first plane */
    const char *source;       /* this lane's column, of row 0 */
    int32_t count, y0, first; /* first: point */
    float turn[POINTS];
} points;

/* The value of row j. There are fewer than 2^12 rows and columns, for squared distances are below 2^24. */
DM_DEVICE int32_t value_of(const mc_stage &p, const points &at, uint32_t j) {
    return *(const int32_t *)(at.source + (uint64_t)j * (uint32_t)p.source.stride[2]);
}

/* What two rows offer, in two halves of a word. */
DM_DEVICE uint2 two_offers(const mc_stage &p, const points &at, uint32_t rows) {
    const int32_t j[2] = {(int32_t)(rows & 0xFFFF), (int32_t)(rows >> 16)};
    return make_uint2(slow_row(p, value_of(p, at, (uint32_t)j[0]), j[0] - at.y0, MC_POINT_ROWS),
                      slow_row(p, value_of(p, at, (uint32_t)j[1]), j[1] - at.y0, MC_POINT_ROWS));
}

/* A bunch of rows, for the points that it may reach. */
DM_DEVICE void take_bunch(const mc_stage &p, const points &at, int32_t first, uint32_t reach, winners *w) {
    uint4 bits[BUNCH / 4];
    float4 t[BUNCH / 4];
#pragma unroll
    for (int i = 0; i < BUNCH / 4; i++) {
        const uint2 rows = *(const uint2 *)(at.list + first + i * 4);
        const uint2 one = two_offers(p, at, rows.x), two = two_offers(p, at, rows.y);
        bits[i] = make_uint4(one.x, one.y, two.x, two.y), t[i] = *(const float4 *)(at.t + first + i * 4);
    }
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        if (!(reach >> q & 1))
            continue;
        int32_t here = NO_OFFER;
#pragma unroll
        for (int i = 0; i < BUNCH / 4; i++)
            take_four<1>(bits[i], t[i], at.turn + q, &here);
        if (here < w->best[q])
            w->best[q] = here, w->at[q] = first;
    }
}

/* For a warp: how far point q is from its sites at most, squared, by some of the rows. */
DM_DEVICE float find_bound(const mc_stage &p, const points &at, int q) {
    const int32_t y = point_row(p, at.first + q);
    int32_t least = MC_NOTHING;
#pragma unroll 8
    for (int32_t n = SOME / 2; n < at.count + SOME / 2; n += SOME) {
        const int32_t j = at.list[min(n, at.count - 1)];
        least = min(least, value_of(p, at, (uint32_t)j) + p.wy2 * (y - j) * (y - j));
    }
    return (float)mc_warp_most(least);
}

/* Which points one of a warp's bunches may reach, the lane's: those that are no farther from it than they are from their sites. */
DM_DEVICE uint32_t find_reach(const mc_stage &p, const points &at, const float bound[POINTS]) {
    const int32_t bunch = (int32_t)(threadIdx.x / 32 + threadIdx.x % 32 * WARPS);
    if (bunch >= at.count / BUNCH)
        return 0;
    const float low = at.t[bunch * BUNCH], high = at.t[bunch * BUNCH + BUNCH - 1], w = (float)p.wy2;
    uint32_t reach = 0;
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        const float y = at.turn[q] * (-0.5f / w), dy = fmaxf(fmaxf(low - y, y - high), 0.0f);
        reach |= w * dy * dy <= bound[q] * 1.0001f + 1.0f ? 1u << q : 0; /* whatever the roundings */
    }
    return reach;
}

/* The bunches of a warp. */
DM_DEVICE void query_reached(const mc_stage &p, const points &at, const float bound[POINTS], winners *w) {
    const int warp = (int)threadIdx.x / 32;
    const uint32_t reach = find_reach(p, at, bound);
    for (uint32_t left = __ballot_sync(MC_WHOLE, reach != 0); left; left &= left - 1) {
        const int bunch = __ffs((int)left) - 1;
        take_bunch(p, at, (warp + bunch * WARPS) * BUNCH, __shfl_sync(MC_WHOLE, reach, bunch), w);
    }
}

/* The rows that have a site; how many they are, with those that come again. */
DM_DEVICE int32_t list_sites(const mc_stage &p, const uint8_t *alive, uint16_t *list, int32_t *counts) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int32_t words = (p.height + WARPS * 32 - 1) / (WARPS * 32), first = warp * words * 32 + lane;
    bool any[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        any[i] = i < words && first + i * 32 < p.height && alive[first + i * 32];
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

/* A block's shared memory, besides its rows. */
typedef struct point_room {
    int32_t counts[WARPS];
    float bound[POINTS];
    int32_t best[POINTS][WARPS][32];
    uint16_t from[POINTS][WARPS][32];
} point_room;

/* POINTS points of a strip, of all planes. */
DM_DEVICE void solve_points(const mc_stage &p, uint32_t strip, uint32_t group, float *t, point_room &room) {
    uint16_t *list = (uint16_t *)(t + (p.height + BUNCH) / BUNCH * BUNCH);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const mc_divided place = mc_divide(strip, p.by_strips);
    const uint32_t plane = place.whole;
    const int32_t across = (int32_t)place.rest;
    /* Of nearly all rows some point wants the values, which lie in one line of the cache, or two. */
    const char *values = mc_row(p.source, plane, 0) + (int64_t)across * 32 * 4;
    for (int32_t j = (int32_t)threadIdx.x; j < p.height; j += WARPS * 32)
        dm_prefetch_far(values + j * p.source.stride[2]);
    const int32_t count = list_sites(p, mc_alive(p, plane), list, room.counts);
    const int32_t first_point = (int32_t)group * (POINTS - 1), y0 = point_row(p, first_point);
    for (int32_t n = (int)threadIdx.x; n < count; n += WARPS * 32)
        t[n] = (float)(list[n] - y0);
    points at = {t, list, values + lane_column(p, across, lane) * 4, count, y0, first_point, {}};
    winners w;
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        at.turn[q] = (float)(-2 * p.wy2 * (point_row(p, first_point + q) - y0));
        w.best[q] = NO_OFFER, w.at[q] = 0;
    }
    if (warp < POINTS && count)
        room.bound[warp] = find_bound(p, at, warp);
    __syncthreads();
    query_reached(p, at, room.bound, &w);
#pragma unroll
    for (int q = 0; q < POINTS; q++)
        room.best[q][warp][lane] = w.best[q], room.from[q][warp][lane] = (uint16_t)w.at[q];
    __syncthreads();
    if (warp < POINTS && first_point + warp <= p.spans) {
        int32_t least = NO_OFFER, first = 0;
#pragma unroll
        for (int other = 0; other < WARPS; other++)
            if (room.best[warp][other][lane] < least)
                least = room.best[warp][other][lane], first = room.from[warp][other][lane];
        const int32_t row = point_row(p, first_point + warp);
        const int32_t d2 = offered_square(p, (int32_t)__int_as_float(least), row - y0, MC_POINT_ROWS);
        mc_point made = {1, 0, 0}; /* no row */
        if (count) {
            made.first = list[-mc_warp_most(-first)], made.last = list[mc_warp_most(first) + BUNCH - 1];
            made.farthest = mc_warp_most(d2);
        }
        if (lane == 0)
            p.points[(int64_t)strip * (p.spans + 1) + first_point + warp] = made;
    }
    __syncthreads(); /* for those who still read */
}

/* Grid: any, blocks have some strips. Shared memory: 6 bytes for each row and for a bunch more. */
static __global__ void __launch_bounds__(WARPS * 32, 2)
    find_points(const __grid_constant__ mc_stage p, mc_divisor groups) {
    DM_DYNAMIC_SHARED(float, t);
    __shared__ point_room room;
    dm_let_next_begin();
    dm_wait_for_last();
    if (p.any_open[MC_DEEP])
        for_wanted((uint32_t)(p.planes * p.strips) * groups.by,
                   [&](uint32_t i) { return p.left[mc_over(i, groups) * 2 + MC_DEEP]; },
                   [&](uint32_t i) {
                       const mc_divided at = mc_divide(i, groups);
                       solve_points(p, at.whole, at.rest, t, room);
                   });
}

cudaError_t mc_points(const mc_stage *p, cudaStream_t stream) {
    const int32_t groups = (p->spans + POINTS - 2) / (POINTS - 1);
    const size_t bytes = (size_t)(p->height + BUNCH) * (sizeof(float) + sizeof(uint16_t));
    const cudaError_t error =
        cudaFuncSetAttribute((const void *)find_points, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    const int64_t items = p->planes * p->strips * groups;
    DM_LAUNCH_EARLY(find_points, (unsigned)(items > p->resident ? p->resident : items), WARPS * 32, bytes, stream, *p,
                    mc_divisor_of(groups));
    return cudaGetLastError();
}
