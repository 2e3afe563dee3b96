/* minplus/cuda, the bracket search's second part: the spans between points.
 *
 *     d2(y) = min over rows j of f(j) + w (y - j)^2    in one column
 *
 * The winning row rises with y, so between two points only rows from the one's bracket to the other's can win
 * (minplus_cuda_points.cu), and of these only those no farther from the span than its pixels can be from their sites. A block
 * lists these rows and spreads what they offer into shared memory, by fours. The first rows of the span's parts are queried by
 * all of them; then a warp has a part, for which each lane goes through the few rows among which its column's winners are. So
 * it goes chunk by chunk, where there are more rows than find room: what was said of winners holds among any rows.
 *
 * Therefore several blocks may have a span, each some of its rows, and none has much more to do than others: the least that
 * they find is the result. Roots rise with squares, and bits of both compare as integers do, so it is found where it is stored.
 * In planes find_points lists what there is to do, as items, and blocks that find room at once take one after another.
 */
#include "methods/minplus/minplus_cuda_spans.cuh"

/* What of a span is stored of a warp's pixels. */
enum { NONE_YET, STORING, STORED };

/* For the whole warp: whether it is the first to store; else those of another block that was have been stored. That is being done
 * meanwhile, at the worst. */
DM_DEVICE bool is_first(uint32_t *state) {
    bool first = false;
    if (threadIdx.x % 32 == 0) {
        first = atomicCAS(state, (uint32_t)NONE_YET, (uint32_t)STORING) == NONE_YET;
        while (!first && atomicAdd(state, 0u) == STORING)
            ;
        __threadfence();
    }
    return __any_sync(MC_WHOLE, first);
}

/* What the warp has stored is there for others. */
DM_DEVICE void tell_stored(uint32_t *state) {
    __threadfence();
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        atomicCAS(state, (uint32_t)STORING, (uint32_t)STORED);
}

/* How the results of a warp's pixels go out: as ROOTS or SQUARES, all of which there are, to as many rows, less than 4 GiB apart;
 * LIMITED, in general; JOINED with what others of the span have stored. */
typedef enum storing { ROOTS, SQUARES, LIMITED, JOINED } storing;

template <storing HOW> DM_DEVICE bool store_pixels(const mc_stage &p, const span &u, const int32_t best[HEIGHT]) {
    const int32_t i = warp_number() * HEIGHT, lane = (int)threadIdx.x % 32, height = p.height - u.y0 - i;
    /* offered_square(), in floats. */
    const float start = (float)(p.wy2 * (i * i - MC_SPAN * MC_SPAN)), each = (float)(2 * p.wy2 * i), w = (float)p.wy2;
    bool none = false;
    if (u.strip * 32 + lane >= p.width)
        return none;
    char *const to = mc_row(p.target, u.plane, u.y0 + i) + (u.strip * 32 + lane) * p.target.stride[3];
    const uint32_t next = (uint32_t)p.target.stride[2];
    char *row = to;
#pragma unroll
    for (int r = 0; r < HEIGHT; r++) {
        const float d2 = __int_as_float(best[r]) + fmaf((float)r, each, fmaf((float)(r * r), w, start));
        const uint32_t result =
            HOW == ROOTS || (HOW == JOINED && !p.squared) ? __float_as_uint(mc_root(d2)) : (uint32_t)(int32_t)d2;
        if (HOW == ROOTS || HOW == SQUARES)
            *(unsigned *)(to + (uint64_t)next * (uint32_t)r) = result; /* one instruction's address */
        else if (HOW == JOINED && r < height)
            atomicMin((unsigned *)(row), result);
        else if (r < height)
            mc_store(p, row, best[r] < ANY_OFFER ? result : (uint32_t)MC_NOTHING, mc_root(d2), &none);
        row += p.target.stride[2];
    }
    return none;
}

DM_DEVICE void store_first(const mc_stage &p, const span &u, const int32_t best[HEIGHT]) {
    const bool whole =
        u.y0 + (warp_number() + 1) * HEIGHT <= p.height && p.target.stride[2] == (uint32_t)p.target.stride[2];
    if (!whole || p.most < MC_NOTHING - 1 || !u.count)
        mc_raise(p, store_pixels<LIMITED>(p, u, best));
    else if (p.squared)
        store_pixels<SQUARES>(p, u, best);
    else
        store_pixels<ROOTS>(p, u, best);
}

/* What a block has of a span. */
template <bool SLOW, bool MIXED>
DM_DEVICE void solve_item(const mc_stage &p, const mc_item item, span_rows &rows, uint16_t *list) {
    const int warp = warp_number(), lane = (int)threadIdx.x % 32;
    span u;
    const uint32_t plane = p.planes == 1 ? 0 : item.strip / (uint32_t)p.strips;
    u.plane = plane;
    u.strip = (int32_t)(item.strip - plane * (uint32_t)p.strips);
    u.y0 = item.at * MC_SPAN;
    u.column = lane_column(p, u.strip, lane);
    u.entries = SLOW ? NULL : mc_entries(p, u.plane, u.strip);
    u.source = SLOW ? mc_row(p.source, u.plane, 0) + ((int64_t)u.strip * 32 + u.column) * 4 : NULL;
    u.alive = SLOW ? mc_alive(p, u.plane) : NULL;
    u.wx2 = (float)p.wx2;
    /* What the near search has stored stays. */
    const bool wanted =
        u.y0 + warp * HEIGHT < p.height && p.open[(int64_t)item.strip * p.units + (u.y0 + warp * HEIGHT) / MC_UNIT];
    list_rows<SLOW>(p, item, &u, rows, list);
    int32_t best[HEIGHT];
    for (int r = 0; r < HEIGHT; r++)
        best[r] = NO_OFFER;
    for (int32_t start = 0; start < u.fours; start += CHUNK) {
        spread_chunk<SLOW>(p, u, list, start, rows);
        take_chunk(p, min(u.fours - start, (int32_t)CHUNK), rows, wanted, best);
    }
    uint32_t taken = 0; /* asked for before it is wanted */
    if (!MIXED && threadIdx.x == 0)
        taken = atomicAdd(&p.any_open[MC_ITEMS_TAKEN], 1u);
    if (wanted && (u.count || item.parts == 1)) {
        uint32_t *state = item.parts == 1 ? NULL : p.stored + ((int64_t)item.strip * p.spans + item.at) * WARPS + warp;
        if (!state || is_first(state))
            store_first(p, u, best);
        else
            store_pixels<JOINED>(p, u, best);
        if (state)
            tell_stored(state);
    }
    if (!MIXED && threadIdx.x == 0)
        rows.next = gridDim.x + taken;
    __syncthreads(); /* for those who still read */
}

/* Item number i, of which so many are not first ones: by one access to memory. */
DM_DEVICE mc_item item_at(const mc_stage &p, uint32_t i, uint32_t others) {
    const uint4 item = *(const uint4 *)(i < others ? p.items + i : first_item(p, i - others));
    const mc_item made = {item.x,           (uint16_t)item.y,         (uint16_t)(item.y >> 16),
                          (uint16_t)item.z, (uint16_t)(item.z >> 16), __uint_as_float(item.w)};
    return made;
}

/* Grid: any; blocks take items that find_points listed, one after another; MIXED: some spans of strips, all rows of each. Shared memory:
 * the list, a row of the plane 2 bytes. */
template <bool SLOW, bool MIXED>
static __global__ void __launch_bounds__(WARPS * 32, 4) solve_spans(const __grid_constant__ mc_stage p) {
    DM_DYNAMIC_SHARED(uint16_t, list);
    __shared__ span_rows rows;
    dm_wait_for_last();
    if constexpr (MIXED) {
        const uint32_t spans = (uint32_t)p.spans;
        if (p.any_open[MC_DEEP])
            for_wanted((uint32_t)(p.planes * p.strips) * spans,
                       [&](uint32_t i) {
                           return p.left[i / spans * 2 + MC_DEEP] && is_open(p, i / spans, (int32_t)(i % spans));
                       },
                       [&](uint32_t i) {
                           const uint32_t strip = i / spans;
                           const int32_t at = (int32_t)(i - strip * spans);
                           const mc_point *ends = p.points + (int64_t)strip * (p.spans + 1) + at;
                           solve_item<SLOW, true>(p, span_item(p, strip, at, ends, 0, 1), rows, list);
                       });
    } else {
        const uint32_t others = p.any_open[MC_ITEMS], items = others + p.any_open[MC_FIRST_ITEMS];
        for (uint32_t i = blockIdx.x; i < items;) {
            solve_item<SLOW, false>(p, item_at(p, i, others), rows, list);
            i = rows.next;
            __syncthreads();
        }
    }
}

template <bool SLOW, bool MIXED> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    const size_t bytes = (size_t)p->height * sizeof(uint16_t);
    const cudaError_t error = cudaFuncSetAttribute((const void *)solve_spans<SLOW, MIXED>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    const int64_t items = p->planes * p->strips * p->spans * (MIXED ? 1 : MC_SPAN_PARTS);
    const int64_t most = MIXED ? p->resident : (p->resident + 1) / 2;
    DM_LAUNCH_EARLY((solve_spans<SLOW, MIXED>), (unsigned)(items < most ? items : most), WARPS * 32, bytes, stream, *p);
    return cudaGetLastError();
}

cudaError_t mc_spans(const mc_stage *p, cudaStream_t stream) {
    if (p->source.data)
        return launch<true, true>(p, stream);
    return p->mixed ? launch<false, true>(p, stream) : launch<false, false>(p, stream);
}
