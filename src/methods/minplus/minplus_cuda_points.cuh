/* minplus/cuda, points of the bracket search in planes (minplus_cuda_points.cu): which rows a block's warps query its points by.
 *
 * A row that loses to a *rival*, one site, at both ends of a strip loses in all of its columns (minplus_cuda_rivals.cuh).
 * There is one rival for either end, so a row that offers both ends more than their own rivals do must offer each less than
 * the other's. That is true of any rivals; if they are the winners of the ends, or nearly, hardly more than the rows from the
 * one to the other are left. Here they are found among one of each thread's rows, and offers are floats.
 */
#ifndef DISTMAP_MINPLUS_CUDA_POINTS_CUH
#define DISTMAP_MINPLUS_CUDA_POINTS_CUH

#include "methods/minplus/minplus_cuda_offers.cuh"

enum {
    WARPS = 16,
    THREADS = WARPS * 32,
    SIDE = 16,     /* lanes of a warp that have either end of the strip */
    FAR = 1 << 18, /* along a row: farther than any site, and than none, which is 2^16 away */
};

/* A block's points, and the rows of their strip, by fours. A thread has one of these, or two that follow one another. */
typedef struct points {
    row_offer *rows; /* row r of four number i is rows[r * fours + i] */
    uint16_t *reach; /* of fours, bit q: one of its rows may win at point q */
    int32_t fours, y0;
    int32_t first, wanted; /* point, and how many */
    int twice;             /* 1: two fours */
    int column, last;      /* this lane's; the strip's last one */
    float wx2, turn;       /* lanes q and SIDE + q: of point q */
} points;

/* A block's shared memory, besides its rows; COUNT points. */
template <int COUNT> struct point_room {
    uint4 nearest[2][COUNT][WARPS / 4]; /* of the rows that a warp's threads look at: the least offer, and whose it is */
    uint16_t looked[THREADS];           /* which rows these are */
    int32_t sites[WARPS];               /* if not mixed: rows of a warp's fours that have a site */
    uint16_t reached[WARPS];            /* by warps, bit q: something is found for point q, */
    int32_t best[COUNT][WARPS][32];     /* the least offer, */
    uint16_t from[COUNT][WARPS][32];    /* and its four */
    mc_point point[COUNT];
};

/* The rows of fours, counted from y0. */
DM_DEVICE float4 four_rows(const points &at, int32_t four) {
    const float t = (float)(four * 4 - at.y0);
    return make_float4(t, t + 1.0f, t + 2.0f, t + 3.0f);
}

/* All rows of the strip; whether any of the warp's has a site. Of its own ones each thread looks at the one that is nearest to the
 * strip. */
template <bool MIXED, int COUNT>
DM_DEVICE bool load_rows(const mc_stage &p, const points &at, const uint2 *entries, point_room<COUNT> &room) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int32_t start = (int32_t)threadIdx.x << at.twice, end = min(start + 1 + at.twice, at.fours);
    float nearest = FAR;
    int32_t own = 0, sites = 0;
#pragma unroll 1
    for (int32_t i = start; i < end; i++) {
        uint2 entry[4]; /* asked for before any is wanted */
#pragma unroll
        for (int r = 0; r < 4; r++)
            entry[r] = i * 4 + r < p.height ? entries[i * 4 + r] : make_uint2(0, MC_WHOLE);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const row_offer row = row_offer_of(p, entry[r], i * 4 + r - at.y0, MC_POINT_ROWS);
            at.rows[r * at.fours + i] = row;
            sites += has_any(entry[r]);
            const float along = along_strip(row);
            if (along < nearest)
                nearest = along, own = i * 4 + r;
        }
    }
    room.looked[threadIdx.x] = (uint16_t)own;
    sites = mc_warp_sum(sites);
    if (!MIXED && lane == 0)
        room.sites[warp] = sites;
    uint32_t least = NO_OFFER;
    if (sites) {
        uint32_t offer[2] = {NO_OFFER, NO_OFFER};
        if (start < end) {
            const row_offer row = at.rows[own % 4 * at.fours + own / 4];
            offer[0] = spread_row(row, 0, at.wx2), offer[1] = spread_row(row, at.last, at.wx2);
        }
        const float t = (float)(own - at.y0);
#pragma unroll
        for (int q = 0; q < COUNT; q++) {
            const float turn = __shfl_sync(MC_WHOLE, at.turn, q);
#pragma unroll
            for (int side = 0; side < 2; side++) {
                const int32_t here = (offer_at(offer[side], t, turn) & -THREADS) | (int32_t)threadIdx.x;
                const float of_warp = mc_warp_least(__int_as_float(here));
                least = lane == side * SIDE + q ? __float_as_uint(of_warp) : least;
            }
        }
    }
    if (lane % SIDE < COUNT)
        ((uint32_t *)room.nearest[lane / SIDE][lane % SIDE])[warp] = least;
    return sites != 0;
}

/* What a point is offered in the strip's first column and in its last one, by a site or by rows. */
typedef struct ends {
    float first, last;
} ends;

/* Lane q: point q's of the first column, SIDE + q: of the last one. Nothing is less than they offer, if there is no site. */
template <int COUNT> DM_DEVICE ends find_rivals(const points &at, const point_room<COUNT> &room) {
    const int side = (int)threadIdx.x % 32 / SIDE, end = side ? at.last : 0; /* column */
    const uint4 *nearest = room.nearest[side][min((int)threadIdx.x % SIDE, COUNT - 1)];
    int32_t least = INT32_MAX;
#pragma unroll
    for (int i = 0; i < WARPS / 4; i++) {
        least = __vimin3_s32(least, (int32_t)nearest[i].x, (int32_t)nearest[i].y);
        least = __vimin3_s32(least, (int32_t)nearest[i].z, (int32_t)nearest[i].w);
    }
    const int32_t j = room.looked[least % THREADS];
    const row_offer row = at.rows[j % 4 * at.fours + j / 4];
    /* The site, counted from the first column. */
    const float along = row_along(row, end);
    const uint32_t after = row.bits >> end;
    const float right = after ? (float)(__ffs((int)after) - 1) : row.right - (float)end;
    const float site = (float)end + (along == right ? along : -along), t = (float)(j - at.y0);
    const ends made = {__int_as_float(offer_at(spread_along(row, site, at.wx2), t, at.turn)),
                       __int_as_float(offer_at(spread_along(row, (float)at.last - site, at.wx2), t, at.turn))};
    const ends none = {0.0f, 0.0f}; /* offers are positive */
    return least < ANY_OFFER ? made : none;
}

/* Which fours reach which points; `any`: some of the warp's have a site. */
template <int COUNT> DM_DEVICE void find_reach(const points &at, const point_room<COUNT> &room, bool any) {
    const int32_t start = (int32_t)threadIdx.x << at.twice;
    if (!any) {
        for (int32_t i = start; i < min(start + 1 + at.twice, at.fours); i++)
            at.reach[i] = 0;
        return;
    }
    const ends own = find_rivals(at, room);
#pragma unroll 1
    for (int32_t i = start; i < start + 1 + at.twice; i++) {
        const int32_t four = min(i, at.fours - 1);
        const uint4 first = spread_four(at.rows + four, at.fours, 0, at.wx2);
        const uint4 last = spread_four(at.rows + four, at.fours, at.last, at.wx2);
        const float4 t = four_rows(at, four);
        uint32_t reach = 0;
#pragma unroll
        for (int q = 0; q < COUNT; q++) {
            const float turn = __shfl_sync(MC_WHOLE, at.turn, q);
            const ends one = {__shfl_sync(MC_WHOLE, own.first, q), __shfl_sync(MC_WHOLE, own.last, q)};
            const ends two = {__shfl_sync(MC_WHOLE, own.first, SIDE + q), __shfl_sync(MC_WHOLE, own.last, SIDE + q)};
            int32_t least[2] = {NO_OFFER, NO_OFFER};
            take_four<1>(first, t, &turn, &least[0]);
            take_four<1>(last, t, &turn, &least[1]);
            const ends here = {__int_as_float(least[0]), __int_as_float(least[1])};
            if (here.first <= one.first || here.last <= two.last || (here.first <= two.first && here.last <= one.last))
                reach |= 1u << q;
        }
        if (i < at.fours)
            at.reach[i] = (uint16_t)reach;
    }
}

/* What a warp finds for those points that its fours reach, and in which. */
template <int COUNT> DM_DEVICE void query_reached(const points &at, point_room<COUNT> &room) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    uint32_t reach[2]; /* of a lane's fours; those of a warp are far from one another, for what reaches a point is not */
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int32_t four = warp + (i * 32 + lane) * WARPS;
        reach[i] = four < at.fours ? at.reach[four] : 0;
    }
    const uint32_t reached = mc_warp_any(reach[0] | reach[1]) & ((1u << at.wanted) - 1);
    if (lane == 0)
        room.reached[warp] = (uint16_t)reached;
#pragma unroll 1
    for (uint32_t more = reached; more; more &= more - 1) {
        const int q = __ffs((int)more) - 1;
        const float turn = __shfl_sync(MC_WHOLE, at.turn, q);
        int32_t best = NO_OFFER, from = 0;
#pragma unroll 1
        for (int i = 0; i < 2; i++)
            for (uint32_t left = __ballot_sync(MC_WHOLE, (i ? reach[1] : reach[0]) >> q & 1); left; left &= left - 1) {
                const int32_t four = warp + (i * 32 + __ffs((int)left) - 1) * WARPS, before = best;
                take_four<1>(spread_four(at.rows + four, at.fours, at.column, at.wx2), four_rows(at, four), &turn,
                             &best);
                from = best < before ? four : from;
            }
        room.best[q][warp][lane] = best, room.from[q][warp][lane] = (uint16_t)from;
    }
}

/* How many rows that have a site come before row j, about: as if they were even among those of a warp's fours. */
template <int COUNT> DM_DEVICE int32_t sites_before(const points &at, const point_room<COUNT> &room, int32_t j) {
    const int rows = 7 + at.twice; /* of a warp's fours, as a power of two */
    const int32_t of = ((int)threadIdx.x % 32) << rows, part = min(max(j - of, 0), 1 << rows);
    return mc_warp_sum(room.sites[threadIdx.x % WARPS] * (threadIdx.x % 32 < WARPS ? part : 0) >> rows);
}

/* For the whole warp: the bracket of point q, which warps have queried. */
template <bool MIXED, int COUNT>
DM_DEVICE mc_point join_found(const mc_stage &p, const points &at, const point_room<COUNT> &room, int q) {
    const int lane = (int)threadIdx.x % 32;
    int32_t least = NO_OFFER, four = 0;
    uint32_t left = __ballot_sync(MC_WHOLE, lane < WARPS && room.reached[lane % WARPS] >> q & 1);
    for (; left; left &= left - 1) {
        const int other = __ffs((int)left) - 1;
        const int32_t best = room.best[q][other][lane];
        if (best < least)
            least = best, four = room.from[q][other][lane];
    }
    mc_point made = {1, 0, 0, 0, 0}; /* no row */
    const int32_t row = point_row(p, at.first + q) - at.y0;
    const int32_t farthest = mc_warp_most(offered_square(p, (int32_t)__int_as_float(least), row, MC_POINT_ROWS));
    const int32_t low = -mc_warp_most(-four) * 4, high = min(mc_warp_most(four) * 4 + 3, p.height - 1);
    const int32_t before = MIXED ? 0 : sites_before(at, room, low);
    const int32_t with = MIXED ? 1 : sites_before(at, room, high + 1);
    if (least < ANY_OFFER) {
        made.first = (uint16_t)low, made.last = (uint16_t)high;
        made.low = (uint16_t)before, made.high = (uint16_t)(max(with, before + 1) - 1);
        made.farthest = farthest;
    }
    return made;
}

#endif
