/* minplus/cuda, points of the bracket search (minplus_cuda_points.cu): the rows of a strip that have a site, and which of them a
 * block's warps query its points by. */
#ifndef DISTMAP_MINPLUS_CUDA_POINTS_CUH
#define DISTMAP_MINPLUS_CUDA_POINTS_CUH

#include "methods/minplus/minplus_cuda_offers.cuh"

enum {
    POINTS = MC_POINTS,
    WARPS = 16,
    BUNCH = 8,   /* rows that a point's winner is among */
    WORDS = 8,   /* of 32 rows, that a warp lists at most */
    ALONE = 640, /* rows with a site that one block does as soon as several */
    INSIDE = 1 << 15, /* of a bunch: one of its rows has a site in the strip */
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
    uint16_t *reach;    /* planes: of bunches, bit q: one of its rows may win at point q; and INSIDE */
    const char *source; /* z stage: this lane's column, of row 0 */
    int32_t count, y0, y1;
    int column;
    float wx2, turn[POINTS];
} points;

DM_DEVICE int32_t point_row(const mc_stage &p, int32_t point) { return min(point * MC_SPAN, p.height - 1); }

/* What the row of number n offers. `inside`: it may have a site in the strip. */
template <bool SLOW> DM_DEVICE uint32_t offer_of(const mc_stage &p, const points &at, int32_t n, bool inside) {
    if constexpr (SLOW) {
        const int32_t j = at.list[n];
        return slow_row(p, *(const int32_t *)(at.source + j * p.source.stride[2]), j - at.y0, MC_POINT_ROWS);
    }
    return inside ? spread_row(at.rows[n], at.column, at.wx2) : spread_outer(at.rows[n], at.column, at.wx2);
}
template <bool SLOW> DM_DEVICE uint4 four_offers(const mc_stage &p, const points &at, int32_t n, bool inside) {
    return make_uint4(offer_of<SLOW>(p, at, n, inside), offer_of<SLOW>(p, at, n + 1, inside),
                      offer_of<SLOW>(p, at, n + 2, inside), offer_of<SLOW>(p, at, n + 3, inside));
}

/* A bunch of rows, for the points that it may reach. */
template <bool SLOW>
DM_DEVICE void take_bunch(const mc_stage &p, const points &at, int32_t first, uint32_t reach, winners *w) {
    uint4 bits[BUNCH / 4];
    float4 t[BUNCH / 4];
    if (SLOW || !(reach & INSIDE)) {
#pragma unroll
        for (int i = 0; i < BUNCH / 4; i++)
            bits[i] = four_offers<SLOW>(p, at, first + i * 4, false);
    } else {
#pragma unroll
        for (int i = 0; i < BUNCH / 4; i++)
            bits[i] = four_offers<SLOW>(p, at, first + i * 4, true);
    }
#pragma unroll
    for (int i = 0; i < BUNCH / 4; i++)
        t[i] = *(const float4 *)(at.t + first + i * 4);
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
        reach |= at.rows[n].bits ? (uint32_t)INSIDE : 0;
        for (int step = 1; step < BUNCH; step *= 2)
            reach |= __shfl_xor_sync(MC_WHOLE, reach, step);
        if (lane % BUNCH == 0 && start + lane < at.count)
            at.reach[n / BUNCH] = (uint16_t)(reach & (((1u << wanted) - 1) | INSIDE));
    }
    __syncthreads();
}

/* Planes: the bunches of a warp. */
DM_DEVICE void query_reached(const mc_stage &p, const points &at, int32_t share, int32_t shares, winners *w) {
    const int32_t warps = shares * WARPS;
    for (int32_t bunch = share * WARPS + (int)threadIdx.x / 32; bunch < at.count / BUNCH; bunch += warps)
        if (at.reach[bunch] & ~INSIDE)
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

#endif
