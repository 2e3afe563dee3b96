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
 *
 * Per pixel, where as many rows as the span has can win: 13 instructions to spread, 25 for the parts, 40 to fill, 20 for the
 * root.
 */
#include "methods/minplus/minplus_cuda_offers.cuh"

enum {
    WARPS = MC_SPAN_WARPS,
    PARTS = WARPS,            /* of a span, */
    HEIGHT = MC_SPAN / PARTS, /* so many rows of pixels */
    CHUNK = 44,               /* fours of rows in shared memory */
    ENOUGH = 6,               /* fours that are no more work than to query parts */
};

/* A span's block. */
typedef struct span {
    int64_t plane;
    int32_t strip, y0;
    const uint2 *entries; /* planes */
    const char *source;   /* z stage: this lane's column, of row 0, */
    const uint8_t *alive; /* and which rows have a site */
    int column;           /* this lane's */
    float wx2;
    int32_t count; /* rows in the list, */
    int32_t fours; /* and by fours */
} span;

/* Its shared memory. */
typedef struct span_rows {
    row_offer row[CHUNK * 4];           /* a chunk of the list: rows, */
    float t[CHUNK * 4];                 /* which they are, */
    uint4 values[CHUNK][32];            /* and what they offer */
    int32_t best[PARTS + 1][WARPS][32]; /* what warps found for the first rows of parts, */
    uint8_t from[PARTS + 1][WARPS][32]; /* and where: fours */
    uint8_t winner[PARTS + 1][32];
    int32_t counts[WARPS];
} span_rows;

DM_DEVICE float4 four_rows(const span_rows &rows, int32_t four) { return ((const float4 *)rows.t)[four]; }

/* Rows of part number `part` of `parts` of the bracket that are near enough, in order. */
template <bool SLOW>
DM_DEVICE void list_bracket(const mc_stage &p, const mc_point bracket[2], int32_t part, int32_t parts, span *u,
                            span_rows &rows, uint16_t *list) {
    /* A pixel between two points is no farther from its site than it is from a point and that from its own. */
    const int32_t end = min(u->y0 + MC_SPAN, p.height - 1);
    const float way = mc_near_root((float)bracket[0].farthest) + mc_near_root((float)bracket[1].farthest) +
                      mc_near_root((float)p.wy2) * (float)(end - u->y0);
    const float bound2 = way * way * 0.25f * 1.0001f + 1.0f; /* whatever the roundings */
    u->count = 0;
    const int32_t first = bracket[0].first, count = max(bracket[0].last, bracket[1].last) - first + 1;
    const int32_t last = first + count * (part + 1) / parts - 1;
    for (int32_t start = first + count * part / parts; start <= last; start += WARPS * 32) {
        const int32_t j = start + (int32_t)threadIdx.x;
        float low = INFINITY, high;
        if (SLOW)
            low = j <= last && u->alive[j] ? 0.0f : INFINITY;
        else if (j <= last)
            strip_squares(p, u->entries[j], &low, &high);
        const float dy = (float)max(max(u->y0 - j, j - end), 0);
        u->count = append_rows(low + (float)p.wy2 * dy * dy <= bound2, j, list, u->count, rows.counts);
    }
    u->fours = (u->count + 3) / 4;
}

/* Fours from number `start` on into shared memory, for all to see. */
template <bool SLOW>
DM_DEVICE void spread_chunk(const mc_stage &p, const span &u, const uint16_t *list, int32_t start, span_rows &rows) {
    const int lane = (int)threadIdx.x % 32;
    const int32_t fours = min(u.fours - start, (int32_t)CHUNK);
    __syncthreads();
    for (int32_t i = (int)threadIdx.x; i < fours * 4; i += WARPS * 32) {
        const int32_t row = list[min(start * 4 + i, u.count - 1)]; /* the last one again */
        if (!SLOW)
            rows.row[i] = row_offer_of(p, u.entries[row], row - u.y0, MC_SPAN);
        rows.t[i] = (float)(row - u.y0);
    }
    __syncthreads();
    for (int32_t four = (int)threadIdx.x / 32; four < fours; four += WARPS) {
        if constexpr (SLOW) {
            uint32_t own[4];
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const int32_t row = list[min((start + four) * 4 + n, u.count - 1)];
                own[n] = slow_row(p, *(const int32_t *)(u.source + row * p.source.stride[2]), row - u.y0, MC_SPAN);
            }
            rows.values[four][lane] = make_uint4(own[0], own[1], own[2], own[3]);
            continue;
        }
        const row_offer *row = rows.row + four * 4;
        rows.values[four][lane] = make_uint4(spread_row(row[0], u.column, u.wx2), spread_row(row[1], u.column, u.wx2),
                                             spread_row(row[2], u.column, u.wx2), spread_row(row[3], u.column, u.wx2));
    }
    __syncthreads();
}

/* The turns of COUNT rows of pixels, `step` apart, from row i on. */
template <int COUNT> DM_DEVICE void set_turns(const mc_stage &p, int32_t i, int32_t step, float turn[COUNT]) {
    const float first = (float)(-2 * p.wy2 * i), each = (float)(-2 * p.wy2 * step);
#pragma unroll
    for (int r = 0; r < COUNT; r++)
        turn[r] = fmaf((float)r, each, first);
}

/* Among which fours of the chunk, of which there are so many, the winners of the first rows of parts are, and of the row after
 * the last one. */
DM_DEVICE void query_parts(const mc_stage &p, int32_t fours, span_rows &rows) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    int32_t best[PARTS + 1], from[PARTS + 1];
    float turn[PARTS + 1];
#pragma unroll
    for (int q = 0; q <= PARTS; q++)
        best[q] = NO_OFFER, from[q] = 0;
    set_turns<PARTS + 1>(p, 0, HEIGHT, turn);
    for (int32_t four = warp; four < fours; four += WARPS) {
        int32_t here[PARTS + 1];
#pragma unroll
        for (int q = 0; q <= PARTS; q++)
            here[q] = NO_OFFER;
        take_four<PARTS + 1>(rows.values[four][lane], four_rows(rows, four), turn, here);
#pragma unroll
        for (int q = 0; q <= PARTS; q++)
            if (here[q] < best[q])
                best[q] = here[q], from[q] = four;
    }
#pragma unroll
    for (int q = 0; q <= PARTS; q++)
        rows.best[q][warp][lane] = best[q], rows.from[q][warp][lane] = (uint8_t)from[q];
    __syncthreads();
    for (int q = warp; q <= PARTS; q += WARPS) {
        int32_t least = rows.best[q][0][lane];
        uint8_t at = rows.from[q][0][lane];
#pragma unroll
        for (int other = 1; other < WARPS; other++)
            if (rows.best[q][other][lane] < least)
                least = rows.best[q][other][lane], at = rows.from[q][other][lane];
        rows.winner[q][lane] = at;
    }
    __syncthreads();
}

/* A warp's pixels, from fours `first` to `last` in shared memory, the lane's own. */
DM_DEVICE void fill(const mc_stage &p, const span_rows &rows, int32_t first, int32_t last, int32_t best[HEIGHT]) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    float turn[HEIGHT];
    set_turns<HEIGHT>(p, warp * HEIGHT, 1, turn);
    const int32_t count = mc_warp_most(last - first) + 1;
    for (int32_t k = 0; k < count; k++) {
        const int32_t four = min(first + k, last);
        take_four<HEIGHT>(rows.values[four][lane], four_rows(rows, four), turn, best);
    }
}

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

/* The results of a warp's pixels, into what others of the span have stored. */
DM_DEVICE void join_rows(const mc_stage &p, const span &u, const int32_t best[HEIGHT]) {
    const int32_t x = u.strip * 32 + (int)threadIdx.x % 32, y = u.y0 + (int)threadIdx.x / 32 * HEIGHT;
    char *to = mc_row(p.target, u.plane, y) + x * p.target.stride[3];
#pragma unroll
    for (int r = 0; r < HEIGHT; r++) {
        const uint32_t d2 = (uint32_t)(best[r] + p.wy2 * r * r);
        if (y + r < p.height && x < p.width)
            atomicMin((unsigned *)to, p.squared ? d2 : __float_as_uint(mc_root((float)d2)));
        to += p.target.stride[2];
    }
}

/* One part of the rows that can win in a span; WHOLE: all. */
template <bool SLOW, bool WHOLE>
DM_DEVICE void solve_span(const mc_stage &p, uint32_t strip, int32_t at, int32_t part, span_rows &rows,
                          uint16_t *list) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    span u;
    const uint32_t plane = strip / (uint32_t)p.strips;
    u.plane = plane;
    u.strip = (int32_t)(strip - plane * (uint32_t)p.strips);
    u.y0 = at * MC_SPAN;
    u.column = lane_column(p, u.strip, lane);
    u.entries = SLOW ? NULL : mc_entries(p, u.plane, u.strip);
    u.source = SLOW ? mc_row(p.source, u.plane, 0) + ((int64_t)u.strip * 32 + u.column) * 4 : NULL;
    u.alive = SLOW ? mc_alive(p, u.plane) : NULL;
    u.wx2 = (float)p.wx2;
    const mc_point *ends = p.points + (int64_t)strip * (p.spans + 1) + at;
    const int32_t parts = WHOLE ? 1 : span_parts(p, ends);
    list_bracket<SLOW>(p, ends, part, parts, &u, rows, list);
    int32_t best[HEIGHT];
    for (int r = 0; r < HEIGHT; r++)
        best[r] = NO_OFFER;
    for (int32_t start = 0; start < u.fours; start += CHUNK) {
        const int32_t fours = min(u.fours - start, (int32_t)CHUNK);
        spread_chunk<SLOW>(p, u, list, start, rows);
        if (fours > ENOUGH)
            query_parts(p, fours, rows);
        fill(p, rows, fours > ENOUGH ? rows.winner[warp][lane] : 0,
             fours > ENOUGH ? rows.winner[warp + 1][lane] : fours - 1, best);
    }
#pragma unroll
    for (int r = 0; r < HEIGHT; r++) {
        const int32_t d2 = offered_square(p, (int32_t)__int_as_float(best[r]), warp * HEIGHT + r, MC_SPAN);
        best[r] = best[r] < ANY_OFFER ? d2 - p.wy2 * r * r : (int32_t)MC_NOTHING;
    }
    uint32_t *state = parts > 1 ? p.stored + ((int64_t)strip * p.spans + at) * WARPS + warp : NULL;
    if (!state || (u.count && is_first(state)))
        mc_raise(p, store_rows<false, HEIGHT, 1>(p, u.plane, u.strip * 32 + lane, u.y0 + warp * HEIGHT,
                                                 (const int32_t(*)[HEIGHT]) & best, NULL));
    else if (u.count)
        join_rows(p, u, best);
    if (state && u.count) {
        __threadfence();
        __syncwarp();
        if (lane == 0)
            atomicCAS(state, (uint32_t)STORING, (uint32_t)STORED);
    }
    __syncthreads(); /* for those who still read */
}

/* Grid: `extra` blocks for all that find_points listed, and then a block per span; MIXED: any, blocks have some spans of strips.
 * Shared memory: the list, a row of the plane 2 bytes. */
template <bool SLOW, bool MIXED>
static __global__ void __launch_bounds__(WARPS * 32, 4)
    solve_spans(const __grid_constant__ mc_stage p, uint32_t extra) {
    DM_DYNAMIC_SHARED(uint16_t, list);
    __shared__ span_rows rows;
    const uint32_t spans = (uint32_t)p.spans;
    dm_wait_for_last();
    if constexpr (MIXED) {
        if (p.any_open[MC_DEEP])
            for_wanted((uint32_t)(p.planes * p.strips) * spans,
                       [&](uint32_t i) {
                           return p.left[i / spans * 2 + MC_DEEP] && is_open(p, i / spans, (int32_t)(i % spans));
                       },
                       [&](uint32_t i) { solve_span<SLOW, true>(p, i / spans, (int32_t)(i % spans), 0, rows, list); });
        return;
    }
    /* The first part of a span of its own, or others. */
    const bool own = blockIdx.x >= extra;
    const uint32_t first = own ? blockIdx.x - extra : blockIdx.x, end = own ? first + 1 : p.any_open[MC_ITEMS];
    for (uint32_t i = first; i < end; i += extra) {
        const uint32_t item = own ? i << 4 : p.items[i], strip = (item >> 4) / spans;
        const int32_t at = (int32_t)((item >> 4) - strip * spans);
        if (!own || is_open(p, strip, at))
            solve_span<SLOW, false>(p, strip, at, (int32_t)(item & 15), rows, list);
    }
}

template <bool SLOW, bool MIXED> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    const size_t bytes = (size_t)p->height * sizeof(uint16_t);
    const cudaError_t error = cudaFuncSetAttribute((const void *)solve_spans<SLOW, MIXED>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    const int64_t items = p->planes * p->strips * p->spans, extra = MIXED ? 0 : (items + 3) / 4;
    DM_LAUNCH_EARLY((solve_spans<SLOW, MIXED>), (unsigned)(MIXED && items > p->resident ? p->resident : items + extra),
              WARPS * 32, bytes, stream, *p, (uint32_t)extra);
    return cudaGetLastError();
}

cudaError_t mc_spans(const mc_stage *p, cudaStream_t stream) {
    if (p->source.data)
        return launch<true, true>(p, stream);
    return p->mixed ? launch<false, true>(p, stream) : launch<false, false>(p, stream);
}
