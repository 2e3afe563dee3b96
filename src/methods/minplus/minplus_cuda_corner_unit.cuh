/* How a block of the corner search (minplus_cuda_corners.cu) solves a unit.
 *
 * Among 128 rows, a quarter of them the unit's own and the others evenly from all, it finds rivals (dominating sites) of the unit. They
 * bound the distance of rows that can win, and rows that can win are listed. Then each warp has a quarter, finds rivals of it among the
 * listed rows, and evaluates the rows that do not lose to them for all its pixels: a float multiplication and addition and half a
 * minimum. In a circle of 2048^2 about 600 rows are within reach of a unit, 77 are listed, 16 remain for a quarter, and 7 win; in blobs
 * 200, 77, 31 and 10. */
#ifndef DISTMAP_MINPLUS_CUDA_CORNER_UNIT_CUH
#define DISTMAP_MINPLUS_CUDA_CORNER_UNIT_CUH

#include "methods/minplus/minplus_cuda_corners.cuh"

enum {
    HEIGHT = MC_FILL, /* rows of pixels that a warp has */
    WARPS = MC_UNIT / HEIGHT,
    THREADS = WARPS * 32,
    SAMPLES = THREADS, /* rows, one to a thread: */
    OWN = MC_UNIT / 2, /* every other one of the unit's own, and others */
    LISTED = 512,      /* rows that find room */
};

/* A block's shared memory. */
typedef struct corner_room {
    site_row sample[SAMPLES];
    site_row row[LISTED];
    row_ends ends[LISTED];
    uint16_t picked[WARPS][LISTED + 4]; /* where in the list rows are that a warp evaluates, in bytes */
    uint32_t least[WARPS][CORNERS];     /* of what a warp's samples offer corners, and which they are */
    int4 rival[1 + WARPS][CORNERS];     /* of the unit, and of warps' quarters */
    int32_t farthest;                   /* the largest squared distance, at most */
    int32_t reach;                      /* how many rows away what matters can be */
    int32_t count;                      /* of rows in the list */
} corner_room;

/* A block's work. */
typedef struct unit {
    int64_t plane;
    const uint2 *entries;
    int32_t strip, y0, height; /* rows of it that there are */
    uint32_t open;             /* quarters: all, until what is left is known */
    int column;                /* this lane's */
    pitches w;
} unit;

/* A unit by its number, of all planes. */
DM_DEVICE unit unit_at(const mc_stage &p, uint32_t number) {
    const mc_divided row = mc_divide(number, p.by_units), strip = mc_divide(row.whole, p.by_strips);
    unit u;
    u.plane = strip.whole;
    u.strip = (int32_t)strip.rest;
    u.entries = mc_entries(p, u.plane, u.strip);
    u.y0 = (int32_t)row.rest * MC_UNIT;
    u.height = min(p.height - u.y0, (int32_t)MC_UNIT);
    u.open = (1u << (u.height + HEIGHT - 1) / HEIGHT) - 1;
    u.column = lane_column(p, u.strip, (int)threadIdx.x % 32);
    u.w.wx2 = (float)p.wx2, u.w.wy2 = (float)p.wy2;
    return u;
}

/* Rows first .. last of a unit. */
DM_DEVICE rectangle rows_of(const mc_stage &p, const unit &u, int32_t first, int32_t last) {
    const rectangle made = {
        lane_column(p, u.strip, 31), {first, last}, {(float)(-2 * p.wy2 * first), (float)(-2 * p.wy2 * last)}};
    return made;
}

/* Of what is open the first row, and the last one. */
DM_DEVICE int32_t top_of(const unit &u) { return (__ffs((int)u.open) - 1) * HEIGHT; }
DM_DEVICE int32_t bottom_of(const unit &u) { return min((32 - __clz((int)u.open)) * HEIGHT, u.height) - 1; }

/* Which row a thread looks at for rivals, and its entry. */
DM_DEVICE int32_t sample_row(const mc_stage &p, const unit &u) {
    const uint32_t i = threadIdx.x, evenly = SAMPLES - OWN;
    return i < OWN ? min(u.y0 + 2 * (int32_t)i, p.height - 1)
                   : (int32_t)((2 * (i - OWN) + 1) * (uint32_t)p.height / (2 * evenly));
}
DM_DEVICE uint2 sample_of(const mc_stage &p, const unit &u) { return u.entries[sample_row(p, u)]; }

/* The square of how far a pixel of the unit can be from a rival's site. */
DM_DEVICE int32_t farthest_from(const mc_stage &p, const rectangle &r, const int4 &rival) {
    const float most = (float)(1 << 30); /* whatever has no site, or none that is near enough */
    const int32_t first = (int32_t)fminf(__int_as_float(max(rival.x, rival.y)), most),
                  last = (int32_t)fminf(__int_as_float(max(rival.z, rival.w)), most);
    return max(offered_square(p, first, r.row[0], MC_UNIT), offered_square(p, last, r.row[1], MC_UNIT));
}

/* For the whole block: the unit's rivals, by samples, and what rows they leave within reach: no pixel is farther from its site than from
 * a rival. */
DM_DEVICE void find_unit_rivals(const mc_stage &p, const unit &u, const rectangle &r, uint2 sample, corner_room &room) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    uint32_t least[CORNERS] = {NO_OFFER, NO_OFFER, NO_OFFER, NO_OFFER};
    const site_row row = site_row_of(sample, (float)(sample_row(p, u) - u.y0));
    room.sample[threadIdx.x] = row;
    note_least<SAMPLES>(corner_offers(row_ends_of(u.w, row, r.last), r), (int32_t)threadIdx.x, least);
    const uint32_t of_warp = share_least(least);
    if (lane < CORNERS)
        room.least[warp][lane] = of_warp;
    __syncthreads();
    if (warp == 0) {
        uint32_t of_block = NO_OFFER;
#pragma unroll
        for (int other = 0; other < WARPS; other++)
            of_block = min(of_block, room.least[other][lane % CORNERS]);
        const bool any = of_block < ANY_OFFER;
        put_rivals(u.w, room.sample[of_block % SAMPLES], any, r, room.rival[0]);
        const int32_t own = any ? farthest_from(p, r, room.rival[0][lane % CORNERS]) : (int32_t)MC_NOTHING;
        const int32_t farthest = ~mc_warp_most(~own);
        if (lane == 0) /* whatever the roundings */
            room.farthest = farthest,
            room.reach = farthest == MC_NOTHING ? p.height : (int32_t)mc_near_root((float)(farthest / p.wy2)) + 2;
    }
    __syncthreads();
}

/* Rows start .. end - 1 that can win are listed, in any order. */
DM_DEVICE void list_winning_rows(const unit &u, const rectangle &r, int32_t start, int32_t end, corner_room &room) {
    const int lane = (int)threadIdx.x % 32;
    const rivals of = read_rivals(room.rival[0]);
    uint2 next = u.entries[min(start + (int32_t)threadIdx.x, end - 1)];
    for (int32_t j = start + (int32_t)threadIdx.x; j - lane < end; j += THREADS) {
        const uint2 entry = next;
        next = u.entries[min(j + THREADS, end - 1)];
        const site_row own = site_row_of(entry, (float)(j - u.y0));
        const row_ends ends = row_ends_of(u.w, own, r.last);
        const bool wins = j < end && has_any(entry) && can_win(corner_offers(ends, r), of);
        const uint32_t rows = __ballot_sync(MC_WHOLE, wins);
        if (!rows)
            continue;
        int32_t at = 0;
        if (lane == 0)
            at = atomicAdd(&room.count, __popc(rows));
        at = __shfl_sync(MC_WHOLE, at, 0) + __popc(rows & ((1u << lane) - 1));
        if (wins)
            room.row[at] = own, room.ends[at] = ends;
    }
}

/* By a warp: those of `count` listed rows that can win in its quarter; how many these are. Up to a whole four one of them comes
 * again. */
DM_DEVICE int32_t pick_rows(const unit &u, const rectangle &r, int32_t count, corner_room &room) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    uint32_t least[CORNERS] = {NO_OFFER, NO_OFFER, NO_OFFER, NO_OFFER};
    for (int32_t i = lane; i < count; i += 32)
        note_least<LISTED>(corner_offers(room.ends[i], r), i, least);
    const uint32_t best = share_least(least) % LISTED;
    put_rivals(u.w, room.row[best], true, r, room.rival[1 + warp]);
    const rivals of = read_rivals(room.rival[1 + warp]);
    uint16_t *picked = room.picked[warp];
    int32_t n = 0;
    for (int32_t start = 0; start < count; start += 32) {
        const int32_t i = min(start + lane, count - 1);
        const bool wins = start + lane < count && can_win(corner_offers(room.ends[i], r), of);
        const uint32_t rows = __ballot_sync(MC_WHOLE, wins);
        if (wins)
            picked[n + __popc(rows & ((1u << lane) - 1))] = (uint16_t)(i * sizeof(site_row));
        n += __popc(rows);
    }
    if (lane < 3)
        picked[n + lane] = (uint16_t)(best * sizeof(site_row));
    __syncwarp();
    return n;
}

/* What four rows offer pixels of the lane's column, the first of which is row i0 of the unit. Row i0 + r is offered
 *
 *     D - wy2 r^2 + wy2 HEIGHT^2 = start - 2 r turn    where turn = wy2 (t - i0)
 */
typedef struct four_offers {
    float start[4], turn[4];
} four_offers;

DM_DEVICE four_offers offers_of(const unit &u, int32_t i0, const site_row row[4]) {
    const float column = (float)u.column, first = (float)i0, level = u.w.wy2 * (float)(HEIGHT * HEIGHT);
    float along[4];
    four_offers made;
    if (row[0].bits | row[1].bits | row[2].bits | row[3].bits) {
#pragma unroll
        for (int n = 0; n < 4; n++)
            along[n] = any_along(row[n], u.column);
    } else {
#pragma unroll
        for (int n = 0; n < 4; n++)
            along[n] = outer_along(row[n], column);
    }
#pragma unroll
    for (int n = 0; n < 4; n++) {
        const float t = row[n].t - first;
        made.turn[n] = u.w.wy2 * t;
        made.start[n] = fmaf(made.turn[n], t, fmaf(u.w.wx2 * along[n], along[n], level));
    }
    return made;
}

DM_DEVICE int32_t offer_of(const four_offers &of, int n, int r) {
    return __float_as_int(r ? fmaf(of.turn[n], (float)(-2 * r), of.start[n]) : of.start[n]);
}

/* By a warp: the least that four rows offer its pixels. */
template <int ROWS> DM_DEVICE void take_rows(const unit &u, int32_t i0, const site_row row[4], int32_t best[ROWS]) {
    const four_offers of = offers_of(u, i0, row);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int32_t here[4];
#pragma unroll
        for (int n = 0; n < 4; n++)
            here[n] = offer_of(of, n, r);
        best[r] = __vimin3_s32(best[r], here[0], here[1]);
        best[r] = __vimin3_s32(best[r], here[2], here[3]);
    }
}

/* With sites: which row it is, the lowest of several, that offers a pixel its best. */
template <int ROWS>
DM_DEVICE void note_rows(const unit &u, int32_t i0, const site_row row[4], const int32_t best[ROWS],
                         int32_t from[ROWS]) {
    const four_offers of = offers_of(u, i0, row);
#pragma unroll
    for (int n = 0; n < 4; n++) {
        const int32_t t = (int32_t)row[n].t;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            from[r] = offer_of(of, n, r) == best[r] ? min(from[r], t) : from[r];
    }
}

/* By a warp: its picked rows, four by four, to `take`. */
template <typename Take> DM_DEVICE void for_picked(int32_t count, const corner_room &room, const Take &take) {
    const uint16_t *picked = room.picked[threadIdx.x / 32];
    for (int32_t i = 0; i < count; i += 4) {
        const uint2 four = *(const uint2 *)(picked + i);
        const uint32_t at[4] = {four.x & 0xFFFF, four.x >> 16, four.y & 0xFFFF, four.y >> 16};
        site_row row[4];
#pragma unroll
        for (int n = 0; n < 4; n++)
            row[n] = *(const site_row *)((const char *)room.row + at[n]);
        take(row);
    }
}

/* For the whole block: of the rows start .. end - 1 that can win in a rectangle, whose rivals are known, the first that find room are
 * listed; *start becomes the first row that was not looked at. How many are listed. */
DM_DEVICE int32_t list_some(const unit &u, const rectangle &r, int32_t *start, int32_t end, corner_room &room) {
    int32_t count = 0;
    if (threadIdx.x == 0)
        room.count = 0;
    __syncthreads();
    do {
        const int32_t stop = min(*start + (LISTED - count) / THREADS * THREADS, end);
        list_winning_rows(u, r, *start, stop, room);
        __syncthreads();
        count = room.count;
        *start = stop;
        __syncthreads();
    } while (*start < end && LISTED - count >= THREADS);
    return count;
}

/* Rows within reach of a rectangle, whose rivals are known. */
DM_DEVICE int32_t first_within(const unit &u, const rectangle &r, const corner_room &room) {
    return max(u.y0 + r.row[0] - room.reach, 0);
}
DM_DEVICE int32_t end_within(const mc_stage &p, const unit &u, const rectangle &r, const corner_room &room) {
    return min(u.y0 + r.row[1] + 1 + room.reach, p.height);
}

/* By a warp: what listed rows offer its pixels, which are in rows from i0 on; with sites, `from` which. */
template <int ROWS, bool SITES>
DM_DEVICE void take_listed(const mc_stage &p, const unit &u, int32_t i0, int32_t count, corner_room &room,
                           int32_t best[ROWS], int32_t from[ROWS]) {
    if (!count)
        return;
    int32_t before[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        before[r] = best[r];
    const int32_t picked = pick_rows(u, rows_of(p, u, i0, min(i0 + ROWS, u.height) - 1), count, room);
    for_picked(picked, room, [&](const site_row row[4]) { take_rows<ROWS>(u, i0, row, best); });
    if constexpr (SITES) {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            from[r] = best[r] < before[r] ? INT32_MAX : from[r];
        for_picked(picked, room, [&](const site_row row[4]) { note_rows<ROWS>(u, i0, row, best, from); });
    }
}

/* By a warp: its results, from what is offered by take_rows(). */
template <int ROWS, bool UNITS>
DM_DEVICE void store_unit(const mc_stage &p, const unit &u, int32_t i0, const int32_t best[ROWS]) {
    store_offered<false, UNITS, ROWS>(p, u.plane, u.strip, u.y0 + i0, 0, HEIGHT, best);
}

/* The same with the sites, of rows `from`; all of these are asked for before the first is needed. */
template <int ROWS>
DM_DEVICE void store_sites(const mc_stage &p, const unit &u, int32_t i0, const int32_t best[ROWS],
                           const int32_t from[ROWS]) {
    const int32_t x = u.strip * 32 + (int32_t)threadIdx.x % 32, y = u.y0 + i0;
    const mc_place at = mc_place_of(p, u.plane);
    char *to = p.target.data ? mc_row(p.target, u.plane, y) + x * p.target.stride[3] : NULL;
    char *site = at.site + y * p.site.stride[2] + x * p.site.stride[3];
    uint2 entry[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        entry[r] = u.entries[best[r] < ANY_OFFER ? u.y0 + from[r] : 0];
    bool none = false;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (y + r >= p.height || x >= p.width)
            break;
        const int32_t square = (int32_t)__int_as_float(best[r]) - p.wy2 * (HEIGHT * HEIGHT - r * r);
        const uint32_t d2 = best[r] < ANY_OFFER ? (uint32_t)square : (uint32_t)MC_NOTHING;
        mc_store_found(p, at, to, site, y + r, x, d2, 0, from[r] - i0 - r, entry_site(entry[r], u.column),
                       mc_distance(p, d2), &none);
        to += p.target.stride[2], site += p.site.stride[2];
    }
    mc_raise(p, none);
}

/* By a warp: rows of pixels, from all that are listed. */
template <int ROWS, bool UNITS>
DM_DEVICE void solve_unit_rows(const mc_stage &p, const unit &u, int32_t i0, int32_t count, corner_room &room) {
    if (i0 >= u.height)
        return;
    int32_t best[ROWS];
    set_none<false, ROWS>(best);
    take_listed<ROWS, false>(p, u, i0, count, room, best, NULL);
    store_unit<ROWS, UNITS>(p, u, i0, best);
}

#endif
