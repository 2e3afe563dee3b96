/* minplus/cuda, the bracket search's first part: points, exact at any distance.
 *
 *     d2(y) = min over rows j of f(j) + w (y - j)^2    in one column
 *
 * Where strips are few, a block that solves one is a chain of waits, and the longest one keeps all others waiting
 * (minplus_cuda_far.cu). The bracket search, of planes of middle size, is two launches that have work for every multiprocessor
 * from their start to their end. Points are the first row of each unit, and the plane's last one. Of a point it is found among
 * which rows the winners are, in all columns of its strip, and how far at most: its *bracket*. Between two points only rows
 * from the one's bracket to the other's can win (minplus_cuda_units.cu).
 *
 * A block queries some points of a strip by all rows that may win, its warps each by some of the rows, BUNCH at a time, nearest
 * first, until none beyond can change what the warp has found. Per pixel, where half of the rows may win: 65 instructions.
 */
#include "methods/minplus/minplus_cuda_offers.cuh"

enum {
    POINTS = 9, /* of a block, */
    WARPS = 16,
    POINT_ROWS = (POINTS - 1) * MC_UNIT, /* between the first and the last one */
    BUNCH = 8,                           /* rows that a point's winner is among */
};
static_assert((int)MC_POINT_ROWS == (int)POINT_ROWS, "minplus_cuda.c sees to it that numbers are small enough");

/* What a warp knows of points: the least offer, and the first row of the bunch that it came from. */
typedef struct winners {
    int32_t best[POINTS], at[POINTS];
} winners;

/* A block's points. */
typedef struct points {
    const row_offer *rows; /* of the plane */
    int32_t y0;
    int column;
    float wx2, turn[POINTS];
} points;

DM_DEVICE int32_t point_row(const mc_stage &p, int32_t point) { return min(point * MC_UNIT, p.height - 1); }

DM_DEVICE void take_bunch(const points &at, int32_t first, winners *w) {
    int32_t here[POINTS];
#pragma unroll
    for (int q = 0; q < POINTS; q++)
        here[q] = NO_OFFER;
#pragma unroll
    for (int n = 0; n < BUNCH; n += 4) {
        const row_offer *rows = at.rows + first + n;
        const float t = (float)(first + n - at.y0);
        take_four<POINTS>(make_uint4(spread_row(rows[0], at.column, at.wx2), spread_row(rows[1], at.column, at.wx2),
                                     spread_row(rows[2], at.column, at.wx2), spread_row(rows[3], at.column, at.wx2)),
                          make_float4(t, t + 1, t + 2, t + 3), at.turn, here);
    }
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
DM_DEVICE void query_points(const mc_stage &p, const points &at, int32_t first_point, winners *w) {
    const int32_t y1 = point_row(p, first_point + POINTS - 1), middle = (at.y0 + y1) / 2, end = p.height - BUNCH;
    bool wanted[2] = {true, true};
    for (int32_t k = (int)threadIdx.x / 32; wanted[0] || wanted[1]; k += WARPS) {
        /* Where the plane ends some rows come again, which changes nothing. */
        const int32_t up = middle - (k + 1) * BUNCH, down = middle + k * BUNCH;
        if (wanted[0])
            take_bunch(at, max(up, 0), w);
        if (wanted[1])
            take_bunch(at, min(down, end), w);
        /* How far the rows that come next on either side are from the nearest point. */
        const int32_t before = at.y0 - (up - WARPS * BUNCH + BUNCH - 1), after = down + WARPS * BUNCH - y1;
        const int32_t most = farthest(p, *w, first_point, at.y0);
        wanted[0] = at.y0 - before >= 0 && (before < 0 || __any_sync(MC_WHOLE, most > p.wy2 * before * before));
        wanted[1] = y1 + after < p.height && (after < 0 || __any_sync(MC_WHOLE, most > p.wy2 * after * after));
    }
}

/* Whether any unit that ends or begins at one of the block's points is open. */
DM_DEVICE bool any_wanted(const mc_stage &p, int64_t strip, int32_t first_point) {
    const int32_t unit = first_point - 1 + (int32_t)threadIdx.x;
    return __syncthreads_or(threadIdx.x <= POINTS && unit >= 0 && unit < p.units && p.open[strip * p.units + unit]);
}

/* Grid: a block per POINTS points of a strip. Shared memory: all its rows, 16 bytes each. */
static __global__ void __launch_bounds__(WARPS * 32, 2)
    find_points(const __grid_constant__ mc_stage p, int32_t blocks_down) {
    DM_DYNAMIC_SHARED(row_offer, rows);
    __shared__ int32_t best[POINTS][WARPS][32];
    __shared__ uint16_t from[POINTS][WARPS][32];
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int64_t strip = blockIdx.x / (uint32_t)blocks_down; /* of all planes */
    const int32_t first_point = (int32_t)(blockIdx.x - (uint32_t)strip * (uint32_t)blocks_down) * POINTS;
    if (!*p.any_open || !any_wanted(p, strip, first_point))
        return;
    const int64_t plane = strip / p.strips;
    const int32_t across = (int32_t)(strip - plane * p.strips);
    points at = {rows, point_row(p, first_point), lane_column(p, across, lane), (float)p.wx2, {}};
    const uint2 *entries = mc_entries(p, plane, across);
    for (int32_t j = (int)threadIdx.x; j < p.height; j += WARPS * 32)
        rows[j] = row_offer_of(p, entries[j], j - at.y0, POINT_ROWS);
    __syncthreads();
    winners w;
#pragma unroll
    for (int q = 0; q < POINTS; q++) {
        at.turn[q] = (float)(-2 * p.wy2 * (point_row(p, first_point + q) - at.y0));
        w.best[q] = NO_OFFER, w.at[q] = 0;
    }
    query_points(p, at, first_point, &w);
#pragma unroll
    for (int q = 0; q < POINTS; q++)
        best[q][warp][lane] = w.best[q], from[q][warp][lane] = (uint16_t)w.at[q];
    __syncthreads();
    if (warp >= POINTS || first_point + warp > p.units)
        return;
    int32_t least = best[warp][0][lane], first = from[warp][0][lane];
#pragma unroll
    for (int other = 1; other < WARPS; other++)
        if (best[warp][other][lane] < least)
            least = best[warp][other][lane], first = from[warp][other][lane];
    const int32_t row = point_row(p, first_point + warp);
    const int32_t d2 = offered_square(p, (int32_t)__int_as_float(least), row - at.y0, POINT_ROWS);
    const mc_point made = {(uint16_t)(-warp_most(-first)), (uint16_t)min(warp_most(first) + BUNCH - 1, p.height - 1),
                           warp_most(d2)};
    if (lane == 0)
        p.points[strip * (p.units + 1) + first_point + warp] = made;
}

cudaError_t mc_points(const mc_stage *p, cudaStream_t stream) {
    const int32_t blocks_down = (p->units + POINTS) / POINTS;
    const size_t bytes = (size_t)p->height * sizeof(row_offer);
    const cudaError_t error =
        cudaFuncSetAttribute((const void *)find_points, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH(find_points, (unsigned)(p->planes * p->strips * blocks_down), WARPS * 32, bytes, stream, *p, blocks_down);
    return cudaGetLastError();
}
