/* minplus/cuda, the bracket search's second part, in the z stage: the spans between points.
 *
 *     d2(y) = min over rows j of f(j) + w (y - j)^2    in one column
 *
 * The winning row rises with y, so between two points only rows from the one's bracket to the other's can win
 * (minplus_cuda_points.cu), and of these only those no farther from the span than its pixels can be from their sites. A block
 * lists these rows and spreads what they offer into shared memory, by fours. The first rows of the span's parts are queried by
 * all of them; then a warp has a part, for which each lane goes through the few rows among which its column's winners are. So
 * it goes chunk by chunk, where there are more rows than find room: what was said of winners holds among any rows.
 */
#include "methods/minplus/minplus_cuda_spans.cuh"

/* Span number `at` of a strip, of all planes. */
template <bool WHOLE>
DM_DEVICE void solve_span(const mc_stage &p, uint32_t strip, int32_t at, span_rows &rows, uint16_t *list) {
    const int warp = warp_number(), lane = (int)threadIdx.x % 32;
    const mc_divided place = mc_divide(strip, p.by_strips);
    span u;
    u.plane = place.whole;
    u.strip = (int32_t)place.rest;
    u.y0 = at * MC_SPAN;
    u.source = mc_forget(mc_row(p.source, u.plane, 0) + ((int64_t)u.strip * 32 + lane_column(p, u.strip, lane)) * 4);
    u.alive = mc_alive(p, u.plane);
    /* What the near search has stored stays. */
    const int32_t y = u.y0 + warp * HEIGHT;
    const bool wanted = y < p.height && p.open[(int64_t)strip * p.units + y / MC_UNIT] >> y % MC_UNIT / MC_FILL & 1;
    list_rows(p, p.points + (int64_t)strip * (p.spans + 1) + at, &u, rows, list);
    int32_t best[HEIGHT];
    set_none<WHOLE, HEIGHT>(best);
    for (int32_t start = 0; start < u.fours; start += CHUNK) {
        spread_chunk<WHOLE>(p, u, list, start, rows);
        take_chunk<WHOLE>(p, u.y0, min(u.fours - start, (int32_t)CHUNK), rows, wanted, best);
    }
    if (wanted)
        store_offered<WHOLE, true, HEIGHT>(p, u.plane, u.strip, y, warp * HEIGHT, level_rows<WHOLE>(), best);
    __syncthreads(); /* for those who still read */
}

/* Grid: any, blocks have some spans of strips. Shared memory: the list, 2 bytes for a row. */
template <bool WHOLE>
static __global__ void __launch_bounds__(WARPS * 32, 4) solve_spans(const __grid_constant__ mc_stage p) {
    DM_DYNAMIC_SHARED(uint16_t, list);
    __shared__ span_rows rows;
    dm_wait_for_last();
    if (p.any_open[MC_DEEP])
        for_wanted((uint32_t)(p.planes * p.strips * p.spans),
                   [&](uint32_t i) {
                       const mc_divided at = mc_divide(i, p.by_spans);
                       return p.left[at.whole * 2 + MC_DEEP] && is_open(p, at.whole, (int32_t)at.rest);
                   },
                   [&](uint32_t i) {
                       const mc_divided at = mc_divide(i, p.by_spans);
                       solve_span<WHOLE>(p, at.whole, (int32_t)at.rest, rows, list);
                   });
}

static_assert(sizeof(span_rows) + MC_MOST_POINT_ROWS * sizeof(uint16_t) <= MC_LEAST_BYTES, "room for the list");

template <bool WHOLE> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    const size_t bytes = (size_t)p->height * sizeof(uint16_t);
    const cudaError_t error =
        cudaFuncSetAttribute((const void *)solve_spans<WHOLE>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    const int64_t items = p->planes * p->strips * p->spans;
    DM_LAUNCH_EARLY(solve_spans<WHOLE>, (unsigned)(items < p->resident ? items : p->resident), WARPS * 32, bytes,
                    stream, *p);
    return cudaGetLastError();
}

cudaError_t mc_spans(const mc_stage *p, cudaStream_t stream) {
    return p->whole ? launch<true>(p, stream) : launch<false>(p, stream);
}
