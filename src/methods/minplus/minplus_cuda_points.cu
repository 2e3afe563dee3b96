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
 *
 * In planes nothing of this waits for the near search, which leaves multiprocessors idle where its blocks have nothing to do: points
 * begin while it runs, but where it will hardly leave anything.
 */
#include "methods/minplus/minplus_cuda_points.cuh"

/* For the whole block: whether any unit of the spans between its points is open. */
DM_DEVICE bool any_wanted(const mc_stage &p, int64_t strip, int32_t first_point) {
    const int32_t at = first_point + (int32_t)threadIdx.x;
    return __syncthreads_or(threadIdx.x < MC_POINT_SPANS && at < p.spans && is_open(p, strip, at));
}

/* For the whole block: whether the near search will probably leave some of their pixels open: there is a unit with no site within
 * 32 columns. */
DM_DEVICE bool any_empty(const mc_stage &p, const uint2 *entries, int32_t first_point) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int32_t end = min((first_point + MC_POINT_SPANS) * MC_SPAN, p.height) & -MC_UNIT;
    bool empty = false;
    for (int32_t y = first_point * MC_SPAN + warp * MC_UNIT; y < end; y += WARPS * MC_UNIT) {
        bool far = true;
#pragma unroll
        for (int32_t j = lane; j < MC_UNIT; j += 32) {
            const uint2 entry = entries[y + j];
            far &= entry.x == 0 && min(entry.y & MC_NONE, entry.y >> 16) >= 32;
        }
        empty |= __all_sync(MC_WHOLE, far);
    }
    return __syncthreads_or(empty);
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

/* By a warp: lists what there is to do of open spans between the block's points. */
DM_DEVICE void list_items(const mc_stage &p, uint32_t strip, int32_t first_point, const point_room &room) {
    const int32_t lane = (int32_t)threadIdx.x, at = first_point + lane;
    const bool wanted = lane < MC_POINT_SPANS && at < p.spans && is_open(p, strip, at);
    const mc_point *ends = room.point + lane;
    const int32_t parts = wanted ? span_parts(p, ends) : 0;
    /* How many items this lane and those before it have beside first ones. */
    uint32_t others = wanted ? (uint32_t)parts - 1 : 0;
    for (int step = 1; step < MC_POINT_SPANS; step *= 2) {
        const uint32_t before = __shfl_up_sync(MC_WHOLE, others, step);
        others += lane >= step ? before : 0;
    }
    const uint32_t spans = __ballot_sync(MC_WHOLE, wanted);
    uint32_t place = 0;
    if (lane == MC_POINT_SPANS - 1)
        place = atomicAdd(&p.any_open[MC_ITEMS], others);
    else if (lane == MC_POINT_SPANS)
        place = atomicAdd(&p.any_open[MC_FIRST_ITEMS], (uint32_t)__popc(spans));
    const uint32_t first = __shfl_sync(MC_WHOLE, place, MC_POINT_SPANS) + __popc(spans & ((1u << lane) - 1));
    const uint32_t end = __shfl_sync(MC_WHOLE, place, MC_POINT_SPANS - 1) + others;
    for (int32_t part = 0; part < parts; part++)
        *(part ? p.items + (end - part) : first_item(p, first)) = span_item(p, strip, at, ends, part, parts);
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
    if (!MIXED) {
        dm_wait_for_last();
        if (warp == 0)
            list_items(p, strip, first_point, room);
    }
}

/* Grid: `shares` blocks per POINTS points of a strip; MIXED: any, blocks have some strips. Shared memory: of planes 22 bytes for
 * each row of a plane and for a bunch more, of the z stage 6, and 2 for a bunch. */
template <bool SLOW, bool MIXED>
static __global__ void __launch_bounds__(WARPS * 32, 2)
    find_points(const __grid_constant__ mc_stage p, uint32_t groups) {
    DM_DYNAMIC_SHARED(row_offer, rows);
    __shared__ point_room room;
    dm_let_next_begin();
    if constexpr (MIXED) {
        dm_wait_for_last();
        if (p.any_open[MC_DEEP])
            for_wanted((uint32_t)(p.planes * p.strips) * groups,
                       [&](uint32_t i) { return p.left[i / groups * 2 + MC_DEEP]; },
                       [&](uint32_t i) { solve_points<SLOW, true>(p, i / groups, i % groups, 0, rows, room); });
    } else {
        const uint32_t i = blockIdx.x / (uint32_t)p.shares, share = blockIdx.x - i * (uint32_t)p.shares;
        const uint32_t strip = i / groups, group = i - strip * groups, plane = strip / (uint32_t)p.strips;
        const int32_t first_point = (int32_t)group * MC_POINT_SPANS;
        if (!any_empty(p, mc_entries(p, plane, (int32_t)(strip - plane * (uint32_t)p.strips)), first_point)) {
            dm_wait_for_last();
            if (!any_wanted(p, strip, first_point))
                return;
        }
        solve_points<SLOW, false>(p, strip, group, (int32_t)share, rows, room);
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
    DM_LAUNCH_EARLY((find_points<SLOW, MIXED>), (unsigned)(MIXED && items > p->resident ? p->resident : items),
                    WARPS * 32, bytes, stream, *p, (uint32_t)groups);
    return cudaGetLastError();
}

cudaError_t mc_points(const mc_stage *p, cudaStream_t stream) {
    if (p->source.data)
        return launch<true, true>(p, stream);
    return p->mixed ? launch<false, true>(p, stream) : launch<false, false>(p, stream);
}
