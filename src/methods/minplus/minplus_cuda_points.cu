/* minplus/cuda, first part of the bracket search, in the z stage: *points*, every MC_SPAN-th row of a strip, try the rows of the strip.
 * The *bracket* of a point is the range of rows that contains its winners in all columns. Rows are values in memory, and every row
 * bounds the distance of a point; so some rows show which others can win at which points, before these are read.
 *
 * Templates are WHOLE as offers are (minplus_cuda_offers.cuh).
 */
#include "methods/minplus/minplus_cuda_offers.cuh"

enum {
    POINTS = 9, /* of a block */
    WARPS = 16,
    BUNCH = 8, /* rows that a point's winner is among */
    WORDS = 8, /* of 32 rows, that a warp lists at most */
    SOME = 64, /* one row in so many bounds how far points are from their sites */
    MOST_SAMPLES = MC_MOST_POINT_ROWS / SOME,
};
static_assert((POINTS - 1) * MC_SPAN <= MC_POINT_ROWS && WORDS * 32 * WARPS >= MC_MOST_POINT_ROWS,
              "minplus_cuda_stages.c sees to it that numbers are small enough, and rows few enough");

/* What a warp knows of points: the least offer, and the number of the first row of the bunch that it came from. */
typedef struct winners {
    int32_t best[POINTS], at[POINTS];
} winners;

/* A block's points. */
typedef struct points {
    /* Rows that have a site, in order, the last one again up to a whole bunch: */
    uint32_t *t;              /* which they are, from y0, as offers have it, */
    uint32_t *list;           /* and from the first plane; */
    uint32_t *start;          /* what is added to their values */
    const char *source;       /* this lane's column, of row 0 */
    int32_t count, y0, first; /* first: point */
    uint32_t turn[POINTS];
} points;

/* The distance of the points from y0 in rows, in the form of minplus_cuda_offers.cuh. */
template <bool WHOLE> DM_DEVICE int32_t level_rows(void) { return WHOLE ? 0 : (int32_t)MC_POINT_ROWS; }

/* A bunch of rows, for the points that it may reach. */
template <bool WHOLE>
DM_DEVICE void take_bunch(const mc_stage &p, const points &at, int32_t first, uint32_t reach, winners *w) {
    uint4 bits[BUNCH / 4], t[BUNCH / 4];
#pragma unroll
    for (int i = 0; i < BUNCH / 4; i++)
        t[i] = *(const uint4 *)(at.t + first + i * 4),
        bits[i] = slow_offers<WHOLE>(p, at.source, *(const uint4 *)(at.list + first + i * 4),
                                     *(const uint4 *)(at.start + first + i * 4));
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        if (!(reach >> q & 1))
            continue;
        int32_t here = no_offer<WHOLE>();
#pragma unroll
        for (int i = 0; i < BUNCH / 4; i++)
            take_four<WHOLE, 1>(bits[i], t[i], at.turn + q, &here);
        if (here < w->best[q])
            w->best[q] = here, w->at[q] = first;
    }
}

/* A block's shared memory, besides its rows. */
typedef struct point_room {
    int32_t counts[WARPS];
    float bound[POINTS];
    union { /* first these, then those */
        int32_t sample[MOST_SAMPLES][32];
        int32_t best[POINTS][WARPS][32];
    };
    uint16_t from[POINTS][WARPS][32];
} point_room;

/* The row of a sample. */
DM_DEVICE int32_t sample_row(const points &at, int32_t sample) {
    return (int32_t)at.list[min(sample * SOME + SOME / 2, at.count - 1)];
}

/* For the whole block: how far points are from their sites at most, squared, by some of the rows. */
DM_DEVICE void find_bounds(const mc_stage &p, const points &at, point_room &room) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int32_t samples = (at.count + SOME - 1) / SOME;
#pragma unroll 1
    for (int32_t i = warp; i < samples; i += WARPS)
        room.sample[i][lane] =
            *(const int32_t *)(at.source + mc_wide((uint32_t)sample_row(at, i), (uint32_t)p.source.stride[2]));
    __syncthreads();
    if (warp < POINTS) {
        const int32_t y = point_row(p, at.first + warp);
        int32_t least = MC_NOTHING;
#pragma unroll 4
        for (int32_t i = 0; i < samples; i++) {
            const int32_t dy = y - sample_row(at, i);
            least = min(least, room.sample[i][lane] + p.wy2 * dy * dy);
        }
        room.bound[warp] = (float)mc_warp_most(least);
    }
    __syncthreads();
}

/* Which points one of a warp's bunches may reach, the lane's: those that are no farther from it than they are from their sites. */
template <bool WHOLE> DM_DEVICE uint32_t find_reach(const mc_stage &p, const points &at, const float bound[POINTS]) {
    const int32_t bunch = (int32_t)(threadIdx.x / 32 + threadIdx.x % 32 * WARPS);
    if (bunch >= at.count / BUNCH)
        return 0;
    const float low = (float)offer_value<WHOLE>((int32_t)at.t[bunch * BUNCH]),
                high = (float)offer_value<WHOLE>((int32_t)at.t[bunch * BUNCH + BUNCH - 1]), w = (float)p.wy2;
    uint32_t reach = 0;
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        const float y = (float)(point_row(p, at.first + q) - at.y0), dy = fmaxf(fmaxf(low - y, y - high), 0.0f);
        reach |= w * dy * dy <= bound[q] * 1.0001f + 1.0f ? 1u << q : 0; /* whatever the roundings */
    }
    return reach;
}

/* The bunches of a warp. */
template <bool WHOLE>
DM_DEVICE void query_reached(const mc_stage &p, const points &at, const float bound[POINTS], winners *w) {
    const int warp = (int)threadIdx.x / 32;
    const uint32_t reach = find_reach<WHOLE>(p, at, bound);
    for (uint32_t left = __ballot_sync(MC_WHOLE, reach != 0); left; left &= left - 1) {
        const int bunch = __ffs((int)left) - 1;
        take_bunch<WHOLE>(p, at, (warp + bunch * WARPS) * BUNCH, __shfl_sync(MC_WHOLE, reach, bunch), w);
    }
}

/* The rows that have a site; how many they are, with those that come again. */
DM_DEVICE int32_t list_sites(const mc_stage &p, const uint8_t *alive, uint32_t *list, int32_t *counts) {
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
            list[at + __popc(rows & ((1u << lane) - 1))] = (uint32_t)(first + i * 32);
        at += __popc(rows);
    }
    __syncthreads();
    const int32_t whole = (count + BUNCH - 1) & -BUNCH;
    if (count + (int32_t)threadIdx.x < whole)
        list[count + (int32_t)threadIdx.x] = list[count - 1];
    __syncthreads();
    return whole;
}

/* POINTS points of a strip, of all planes. */
template <bool WHOLE>
DM_DEVICE void solve_points(const mc_stage &p, uint32_t strip, uint32_t group, uint32_t *t, point_room &room) {
    const int32_t room_for = (p.height + BUNCH) / BUNCH * BUNCH;
    uint32_t *list = t + room_for, *start = list + room_for;
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
    for (int32_t n = (int)threadIdx.x; n < count; n += WARPS * 32) {
        const int32_t from = (int32_t)list[n] - y0;
        t[n] = offer_number<WHOLE>(from), start[n] = offer_start(p, 0, from, level_rows<WHOLE>());
    }
    points at = {t, list, start, mc_forget(values + lane_column(p, across, lane) * 4), count, y0, first_point, {}};
    winners w;
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        at.turn[q] = offer_number<WHOLE>(-2 * p.wy2 * (point_row(p, first_point + q) - y0));
        w.best[q] = no_offer<WHOLE>(), w.at[q] = 0;
    }
    find_bounds(p, at, room);
    query_reached<WHOLE>(p, at, room.bound, &w);
#pragma unroll
    for (int q = 0; q < POINTS; q++)
        room.best[q][warp][lane] = w.best[q], room.from[q][warp][lane] = (uint16_t)w.at[q];
    __syncthreads();
    if (warp < POINTS && first_point + warp <= p.spans) {
        int32_t least = no_offer<WHOLE>(), first = 0;
#pragma unroll
        for (int other = 0; other < WARPS; other++)
            if (room.best[warp][other][lane] < least)
                least = room.best[warp][other][lane], first = room.from[warp][other][lane];
        const int32_t row = point_row(p, first_point + warp);
        const int32_t d2 = offered_square(p, offer_value<WHOLE>(least), row - y0, level_rows<WHOLE>());
        mc_point made = {1, 0, 0}; /* no row */
        if (count) {
            made.first = (uint16_t)list[-mc_warp_most(-first)],
            made.last = (uint16_t)list[mc_warp_most(first) + BUNCH - 1];
            made.farthest = mc_warp_most(d2);
        }
        if (lane == 0)
            p.points[(int64_t)strip * (p.spans + 1) + first_point + warp] = made;
    }
    __syncthreads(); /* for those who still read */
}

/* Grid: any, blocks have some strips. Shared memory: 12 bytes for each row and for a bunch more. */
template <bool WHOLE>
static __global__ void __launch_bounds__(WARPS * 32, 2)
    find_points(const __grid_constant__ mc_stage p, mc_divisor groups) {
    DM_DYNAMIC_SHARED(uint32_t, t);
    __shared__ point_room room;
    dm_let_next_begin();
    dm_wait_for_last();
    if (p.any_open[MC_DEEP])
        for_wanted((uint32_t)(p.planes * p.strips) * groups.by,
                   [&](uint32_t i) { return p.left[mc_over(i, groups) * 2 + MC_DEEP]; },
                   [&](uint32_t i) {
                       const mc_divided at = mc_divide(i, groups);
                       solve_points<WHOLE>(p, at.whole, at.rest, t, room);
                   });
}

static_assert(sizeof(point_room) + BUNCH * MC_POINT_ROW_BYTES <= MC_POINT_BYTES &&
                  MC_POINT_ROW_BYTES == 3 * sizeof(uint32_t),
              "minplus_cuda_stages.c counts on this");

template <bool WHOLE> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    const int32_t groups = (p->spans + POINTS - 2) / (POINTS - 1);
    const size_t bytes = (size_t)(p->height + BUNCH) * MC_POINT_ROW_BYTES;
    const cudaError_t error =
        cudaFuncSetAttribute((const void *)find_points<WHOLE>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    const int64_t items = p->planes * p->strips * groups;
    DM_LAUNCH_EARLY(find_points<WHOLE>, (unsigned)(items > p->resident ? p->resident : items), WARPS * 32, bytes,
                    stream, *p, mc_divisor_of(groups));
    return cudaGetLastError();
}

cudaError_t mc_points(const mc_stage *p, cudaStream_t stream) {
    return p->whole ? launch<true>(p, stream) : launch<false>(p, stream);
}
