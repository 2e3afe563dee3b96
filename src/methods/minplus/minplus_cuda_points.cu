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
 * Here planes are solved; minplus_cuda_points_z.cu has the z stage. A block has some points of a strip. All its rows come into
 * shared memory, where it is found which fours of them may win at which points (minplus_cuda_points.cuh). Of a circle of 2048^2
 * these are 5 of 512, so that what they offer is little work, which all warps share.
 *
 * Nothing of this waits for the near search, which leaves multiprocessors idle where its blocks have nothing to do: points
 * begin while it runs, but where it will hardly leave anything.
 */
#include "methods/minplus/minplus_cuda_points.cuh"

/* Of a block; in planes of middle size fewer, for more blocks. */
enum { POINTS = 9, FEWER_POINTS = 5 };

/* For the whole block: whether any unit of the spans between its points is open. */
template <int SPANS> DM_DEVICE bool any_wanted(const mc_stage &p, int64_t strip, int32_t first_point) {
    const int32_t at = first_point + (int32_t)threadIdx.x;
    return __syncthreads_or(threadIdx.x < SPANS && at < p.spans && is_open(p, strip, at));
}

/* For the whole block: whether the near search will probably leave some of their pixels open: there are 16 fours in a row with no
 * site within 32 columns. All entries of the strip come along, which the block will want. */
template <int SPANS> DM_DEVICE bool any_empty(const mc_stage &p, const uint2 *entries, int32_t first_point) {
    const int twice = (p.height + 3) / 4 > THREADS;
    const int32_t start = ((int32_t)threadIdx.x << twice) * 4, end = min(start + (4 << twice), p.height);
    bool far = start >= first_point * MC_SPAN && start < (first_point + SPANS) * MC_SPAN && start < p.height;
#pragma unroll 4
    for (int32_t j = start; j < end; j++) {
        const uint2 entry = entries[j];
        far &= entry.x == 0 && min(entry.y & MC_NONE, entry.y >> 16) >= 32;
    }
    uint32_t run = __ballot_sync(MC_WHOLE, far);
    for (int step = 1; step < 16; step *= 2)
        run &= run >> step;
    return __syncthreads_or(run != 0);
}

/* By a warp: lists what there is to do of open spans between the block's points. */
template <int COUNT>
DM_DEVICE void list_items(const mc_stage &p, uint32_t strip, int32_t first_point, const point_room<COUNT> &room) {
    enum { SPANS = COUNT - 1 };
    const int32_t lane = (int32_t)threadIdx.x, at = first_point + lane;
    const bool wanted = lane < SPANS && at < p.spans && is_open(p, strip, at);
    const mc_point *ends = room.point + lane;
    const int32_t parts = wanted ? span_parts(p, ends) : 0;
    /* How many items this lane and those before it have beside first ones. */
    uint32_t others = wanted ? (uint32_t)parts - 1 : 0;
    for (int step = 1; step < SPANS; step *= 2) {
        const uint32_t before = __shfl_up_sync(MC_WHOLE, others, step);
        others += lane >= step ? before : 0;
    }
    const uint32_t spans = __ballot_sync(MC_WHOLE, wanted);
    uint32_t place = 0;
    if (lane == SPANS - 1)
        place = atomicAdd(&p.any_open[MC_ITEMS], others);
    else if (lane == SPANS)
        place = atomicAdd(&p.any_open[MC_FIRST_ITEMS], (uint32_t)__popc(spans));
    const uint32_t first = __shfl_sync(MC_WHOLE, place, SPANS) + __popc(spans & ((1u << lane) - 1));
    const uint32_t end = __shfl_sync(MC_WHOLE, place, SPANS - 1) + others;
    for (int32_t part = 0; part < parts; part++)
        *(part ? p.items + (end - part) : first_item(p, first)) = span_item(p, strip, at, ends, part, parts);
}

/* COUNT points of a strip, of all planes. */
template <int COUNT, bool MIXED>
DM_DEVICE void solve_points(const mc_stage &p, uint32_t strip, uint32_t group, row_offer *rows,
                            point_room<COUNT> &room) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const uint32_t plane = strip / (uint32_t)p.strips;
    const int32_t across = (int32_t)(strip - plane * (uint32_t)p.strips), fours = (p.height + 3) / 4;
    const int32_t first = (int32_t)group * (COUNT - 1), y0 = point_row(p, first);
    const points at = {rows,
                       (uint16_t *)(rows + fours * 4),
                       fours,
                       y0,
                       first,
                       min(p.spans - first + 1, COUNT),
                       fours > THREADS,
                       lane_column(p, across, lane),
                       lane_column(p, across, 31),
                       (float)p.wx2,
                       (float)(-2 * p.wy2 * (point_row(p, first + lane % SIDE) - y0))};
    const bool any = load_rows<MIXED>(p, at, mc_entries(p, plane, across), room);
    __syncthreads();
    find_reach(at, room, any);
    __syncthreads();
    query_reached(at, room);
    __syncthreads();
    if (warp < at.wanted) {
        const mc_point made = join_found<MIXED>(p, at, room, warp);
        if (lane == 0 && MIXED)
            p.points[(int64_t)strip * (p.spans + 1) + first + warp] = made;
        else if (lane == 0)
            room.point[warp] = made;
    }
    if (!MIXED) {
        __syncthreads();
        dm_wait_for_last();
        if (warp == 0)
            list_items(p, strip, first, room);
    }
}

/* Grid: a block per COUNT points of a strip; MIXED: any, blocks have some strips. Shared memory: 16 bytes for each row of a plane, up to
 * a whole four, and 2 for a four. */
template <int COUNT, bool MIXED>
static __global__ void __launch_bounds__(THREADS, 2) find_points(const __grid_constant__ mc_stage p, uint32_t groups) {
    DM_DYNAMIC_SHARED(row_offer, rows);
    __shared__ point_room<COUNT> room;
    dm_let_next_begin();
    if constexpr (MIXED) {
        dm_wait_for_last();
        if (p.any_open[MC_DEEP])
            for_wanted((uint32_t)(p.planes * p.strips) * groups,
                       [&](uint32_t i) { return p.left[i / groups * 2 + MC_DEEP]; },
                       [&](uint32_t i) { solve_points<COUNT, true>(p, i / groups, i % groups, rows, room); });
    } else {
        const uint32_t strip = blockIdx.x / groups, group = blockIdx.x - strip * groups;
        const uint32_t plane = strip / (uint32_t)p.strips;
        const int32_t first_point = (int32_t)group * (COUNT - 1);
        if (!any_empty<COUNT - 1>(p, mc_entries(p, plane, (int32_t)(strip - plane * (uint32_t)p.strips)),
                                  first_point)) {
            dm_wait_for_last();
            if (!any_wanted<COUNT - 1>(p, strip, first_point))
                return;
        }
        solve_points<COUNT, false>(p, strip, group, rows, room);
    }
}

template <int COUNT, bool MIXED> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    static_assert((COUNT - 1) * MC_SPAN <= MC_POINT_ROWS,
                  "minplus_cuda_stages.c sees to it that numbers are small enough");
    const int32_t groups = (p->spans + COUNT - 2) / (COUNT - 1), fours = (p->height + 3) / 4;
    const size_t bytes = (size_t)fours * (4 * sizeof(row_offer) + sizeof(uint16_t));
    const cudaError_t error = cudaFuncSetAttribute((const void *)find_points<COUNT, MIXED>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    const int64_t items = p->planes * p->strips * groups;
    DM_LAUNCH_EARLY((find_points<COUNT, MIXED>), (unsigned)(MIXED && items > p->resident ? p->resident : items),
                    THREADS, bytes, stream, *p, (uint32_t)groups);
    return cudaGetLastError();
}

cudaError_t mc_points(const mc_stage *p, cudaStream_t stream) {
    if (p->source.data)
        return mc_points_z(p, stream);
    return p->mixed ? launch<POINTS, true>(p, stream) : launch<FEWER_POINTS, false>(p, stream);
}
