/* The corner search (minplus_cuda_corners.cu): which rows can win in a rectangle of a strip's pixels.
 *
 * The value of a site in row j and column c at pixel (x, y) is
 *
 *     D(x, y) = wx2 (x - c)^2 + wy2 (y - j)^2
 *
 * The difference of two sites' values is linear in x and y: a site that loses to another at all four corners of a rectangle
 * loses in all of it. The value of a row's nearest site at a corner is a lower bound for all its sites. So a row is skipped if this
 * bound loses to one site, a *rival*, at all corners. A rival dominates the row. Any site can be one; the best of each corner are good.
 *
 * Rows are counted from a block's first one, y0: with j = y0 + t
 *
 *     D(x, y0 + i) - wy2 i^2 + c = h(t) - (2 wy2 i) t    where h(t) = wx2 (x - c)^2 + wy2 t^2 + c    and c = wy2 MC_UNIT^2
 *
 * which is positive, and below 2^24 if it can win, so that floats are exact and their bits compare like integers
 * (minplus_cuda_offers.cuh). Larger values are rounded, but lose in any case.
 */
#ifndef DISTMAP_MINPLUS_CUDA_CORNERS_CUH
#define DISTMAP_MINPLUS_CUDA_CORNERS_CUH

#include "methods/minplus/minplus_cuda_offers.cuh"

enum { CORNERS = 4 }; /* in the first or last column, and the first or last row */

/* A row of a strip: the bits of its entry; how far its sites beyond the strip are from the columns before the first one and after
 * the last, 2^16 where there are none; and which it is. */
typedef struct __align__(16) site_row {
    uint32_t bits;
    float left, right, t;
}
site_row;

DM_DEVICE site_row site_row_of(uint2 entry, float t) {
    /* Halves of a word as floats, by way of the mantissa of 2^23. */
    const float left = __uint_as_float(__byte_perm(entry.y, 0x4B00, 0x5410)),
                right = __uint_as_float(__byte_perm(entry.y, 0x4B00, 0x5432));
    const site_row made = {entry.x, left - (8388608.0f - 1.0f), right - (8388608.0f - 32.0f), t};
    return made;
}

/* The distance of a row's nearest site from a column of the strip: from the first one; from the last one; from any, for a row without a
 * site in the strip, and for all rows. */
DM_DEVICE float first_along(const site_row &row) {
    return fminf(row.left, row.bits ? (float)(__ffs((int)row.bits) - 1) : row.right);
}
DM_DEVICE float last_along(const site_row &row, int last) {
    return fminf(row.bits ? (float)(last - 31 + __clz((int)row.bits)) : row.left + (float)last,
                 row.right - (float)last);
}
DM_DEVICE float outer_along(const site_row &row, float column) { return fminf(row.left + column, row.right - column); }
DM_DEVICE float any_along(const site_row &row, int column) {
    const uint32_t before = row.bits << (31 - column), after = row.bits >> column;
    const float left = before ? (float)__clz((int)before) : row.left + (float)column;
    const float right = after ? (float)(__ffs((int)after) - 1) : row.right - (float)column;
    return fminf(left, right);
}

/* Pixels: of columns 0 .. last, and from a first to a last row i, whose slopes (`turn`) are -2 wy2 i. */
typedef struct rectangle {
    int last;
    int32_t row[2];
    float turn[2];
} rectangle;

/* Squared pitches. */
typedef struct pitches {
    float wx2, wy2;
} pitches;

/* h, of a site `along` away in row t. */
DM_DEVICE uint32_t start_offer(const pitches &w, float along, float t) {
    const float across = fmaf(w.wy2 * t, t, w.wy2 * (float)(MC_UNIT * MC_UNIT));
    return __float_as_uint(fmaf(w.wx2 * along, along, across));
}

/* h of a row in the first and the last column. */
typedef struct __align__(16) row_ends {
    float t;
    uint32_t end[2], unused;
}
row_ends;

DM_DEVICE row_ends row_ends_of(const pitches &w, const site_row &row, int last) {
    const row_ends made = {
        row.t, {start_offer(w, first_along(row), row.t), start_offer(w, last_along(row, last), row.t)}, 0};
    return made;
}

/* Values at the corners: in the first row, then in the last one. */
DM_DEVICE int4 corner_offers(const row_ends &row, const rectangle &r) {
    return make_int4(offer_at(row.end[0], row.t, r.turn[0]), offer_at(row.end[1], row.t, r.turn[0]),
                     offer_at(row.end[0], row.t, r.turn[1]), offer_at(row.end[1], row.t, r.turn[1]));
}

/* The values of each corner's rival at all corners. */
typedef struct rivals {
    int4 by[CORNERS];
} rivals;

DM_DEVICE rivals read_rivals(const int4 *room) {
    rivals made;
#pragma unroll
    for (int i = 0; i < CORNERS; i++)
        made.by[i] = room[i];
    return made;
}

/* For the whole warp: the rivals, one in each of its first lanes, are the sites of rows that are nearest to corners; without `any` there is
 * none, and no row loses. */
DM_DEVICE void put_rivals(const pitches &w, const site_row &row, bool any, const rectangle &r, int4 *room) {
    const int lane = (int)threadIdx.x % 32;
    if (lane < CORNERS) {
        /* Where it is, counted from the first column. */
        const float last = (float)r.last, along = lane % 2 ? last_along(row, r.last) : first_along(row);
        const bool outside = along == (lane % 2 ? row.right - last : row.left);
        const float site = lane % 2 ? outside ? last + along : last - along : outside ? -along : along;
        const row_ends ends = {row.t, {start_offer(w, site, row.t), start_offer(w, last - site, row.t)}, 0};
        room[lane] = any ? corner_offers(ends, r) : make_int4(INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX);
    }
    __syncwarp();
}

/* Whether a row can win, by its values at the corners. Most lose to the first rival. */
DM_DEVICE bool loses(const int4 &offers, const int4 &by) {
    return offers.x > by.x && offers.y > by.y && offers.z > by.z && offers.w > by.w;
}
DM_DEVICE bool can_win(const int4 &offers, const rivals &of) {
    return !loses(offers, of.by[0]) && !(loses(offers, of.by[1]) | loses(offers, of.by[2]) | loses(offers, of.by[3]));
}

/* The least for each corner, with a number below NUMBERS in place of its last bits, which is near enough to find a rival by. */
template <int NUMBERS> DM_DEVICE void note_least(const int4 &offers, int32_t number, uint32_t least[CORNERS]) {
    least[0] = min(least[0], (uint32_t)((offers.x & -NUMBERS) | number));
    least[1] = min(least[1], (uint32_t)((offers.y & -NUMBERS) | number));
    least[2] = min(least[2], (uint32_t)((offers.z & -NUMBERS) | number));
    least[3] = min(least[3], (uint32_t)((offers.w & -NUMBERS) | number));
}

/* Lane c: the warp's least for corner c. */
DM_DEVICE uint32_t share_least(const uint32_t least[CORNERS]) {
    uint32_t made = 0;
#pragma unroll
    for (int c = 0; c < CORNERS; c++) {
        const uint32_t of_warp = __float_as_uint(mc_warp_least(__uint_as_float(least[c])));
        made = (int)threadIdx.x % 32 == c ? of_warp : made;
    }
    return made;
}

#endif
