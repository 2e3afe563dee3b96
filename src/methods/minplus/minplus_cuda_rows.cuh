/* What the far searches share: a strip's rows, what they are worth in its columns, open units, results. A warp has a strip, a
 * lane a column of it. */
#ifndef DISTMAP_MINPLUS_CUDA_ROWS_CUH
#define DISTMAP_MINPLUS_CUDA_ROWS_CUH

#include "methods/minplus/minplus_cuda_kinds.cuh"

enum { CUT = 0x7FFF }; /* of falls, sums of two of which fit 16 bits (minplus_cuda_units.cuh) */

/* A strip, or part of one's height, that a block works on. */
typedef struct work {
    const uint2 *entries;      /* planes: of row 0 */
    const char *values;        /* z stage: of row 0 and column 0, as they came, */
    const int2 *shared_values; /* and, of the first `held` positions, this lane's columns in shared memory */
    int32_t held;
    const uint16_t *list; /* rows that have a site, less p.low, padded; NULL: one after another from `first` on */
    int32_t first, count;
    int64_t plane;
    int32_t strip, u0, units; /* units from u0 on */
    int column[2];            /* this lane's columns of the strip; within the image: the last one again where it ends */
} work;

/* Whether the corner search has the strip, of all planes, or else the far search. */
DM_DEVICE bool by_corners(const mc_stage &p, int64_t strip) {
    return p.mixed ? p.left[strip * 2 + MC_DEEP] : p.few && mc_told(p.open_rows[strip]) <= (uint32_t)p.few;
}

DM_DEVICE int lane_column(const mc_stage &p, int32_t strip, int column) {
    return min(column, p.width - 1 - strip * 32);
}

/* How far from an entry's column `lane` it is to `rim` beyond the sites of its row: where none is in the strip, and in general.
 * The row must have a site: then of the two sides, one that has none is farther than the other. */
DM_DEVICE uint32_t outer_distance(uint2 entry, int lane, int32_t rim) {
    return __viaddmin_u32(entry.y & MC_NONE, (uint32_t)(lane + 1 + rim), (entry.y >> 16) + (uint32_t)(32 - lane + rim));
}
DM_DEVICE uint32_t entry_distance(uint2 entry, int lane, int32_t rim) {
    const uint32_t at = entry.x << (31 - lane), after = entry.x >> lane;
    const uint32_t left = at ? (uint32_t)__clz((int)at) : (entry.y & MC_NONE) + (uint32_t)lane + 1;
    const uint32_t right = after ? (uint32_t)__ffs((int)after) - 1 : (entry.y >> 16) + 32 - (uint32_t)lane;
    return min(left, right) + (uint32_t)rim;
}
/* The same of any row, in fewer instructions where none is in the strip. */
DM_DEVICE uint32_t row_distance(uint2 entry, int lane, int32_t rim) {
    return entry.x ? entry_distance(entry, lane, rim) : outer_distance(entry, lane, rim);
}

/* How far from it the nearest of them is, the left one of two: negative to the left. */
DM_DEVICE int32_t entry_site(uint2 entry, int lane) {
    const uint32_t at = entry.x << (31 - lane), after = entry.x >> lane;
    const int32_t left = at ? __clz((int)at) : (int32_t)(entry.y & MC_NONE) + lane + 1;
    const int32_t right = after ? __ffs((int)after) - 1 : (int32_t)(entry.y >> 16) + 32 - lane;
    return right < left ? right : -left;
}

DM_DEVICE uint2 row_entry(const mc_stage &p, const uint2 *entries, int32_t j) {
    return is_known(p, j) ? entries[j] : make_uint2(0, MC_WHOLE);
}

/* Squared distance along the row from the strip's nearest and farthest column to the sites of an entry's row, at least and at
 * most; INFINITY where it has none. */
DM_DEVICE void strip_squares(const mc_stage &p, uint2 entry, float *low, float *high) {
    const bool any = has_any(entry);
    const float dx = (float)((entry.x ? 0 : (int32_t)min(entry.y & MC_NONE, entry.y >> 16) + 1) + p.rim);
    *low = any ? (float)p.wx2 * dx * dx : INFINITY;
    *high = any ? (float)p.wx2 * (dx + 31.0f) * (dx + 31.0f) : INFINITY;
}

/* For the whole block: appends the rows j of its threads, in order, that are `wanted` to a list of `count` rows; how many it then
 * has. counts[warps] is the block's. */
DM_DEVICE int32_t append_rows(bool wanted, int32_t j, uint16_t *list, int32_t count, int32_t *counts) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, warps = (int)blockDim.x / 32;
    const uint32_t rows = __ballot_sync(MC_WHOLE, wanted);
    counts[warp] = __popc(rows);
    __syncthreads();
    int32_t at = count;
    for (int other = 0; other < warps; other++) {
        at += other < warp ? counts[other] : 0;
        count += counts[other];
    }
    if (wanted)
        list[at + __popc(rows & ((1u << lane) - 1))] = (uint16_t)j;
    __syncthreads();
    return count;
}

/* The first position of a list of rows, in order, whose row is `row` at least. */
DM_DEVICE int32_t first_from(const uint16_t *list, int32_t count, int32_t row) {
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (list[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What a row offers at rows t + i away from it, less wy2 i^2, which is the same for all rows: linear in i. */
typedef struct parabola {
    uint32_t value, weight; /* for i = 0, and wy2 t */
} parabola;

DM_DEVICE parabola parabola_at(const mc_stage &p, int32_t value, int32_t t) {
    const uint32_t weight = (uint32_t)p.wy2 * (uint32_t)t;
    /* Forgotten, or else w t^2 + 2 w t i becomes w t (t + 2 i), in more instructions. */
    const parabola made = {(uint32_t)value + weight * (uint32_t)t, mc_forget(weight)};
    return made;
}
DM_DEVICE int32_t candidate(const parabola &at, int32_t twice_i) {
    return (int32_t)(at.value + at.weight * (uint32_t)twice_i);
}

/* What a far or a direct search gives, which kernels are made for apart: the distances of a plain map, as ALL_ROOTS of numbers below 2^24 or
 * ALL_LARGE_ROOTS, which leave out what the others need and so have more registers and shorter code; ANY_RESULTS; or WITH_SITES. */
typedef enum row_results { ALL_ROOTS, ALL_LARGE_ROOTS, ANY_RESULTS, WITH_SITES } row_results;

static inline row_results results_of(const mc_stage *p) {
    if (p->sites != MC_SITES_NONE)
        return WITH_SITES;
    if (p->across || p->squared || p->in_unit || p->most < MC_NOTHING - 1)
        return ANY_RESULTS;
    return p->large ? ALL_LARGE_ROOTS : ALL_ROOTS;
}

/* How results of which there are all are stored: as ROOTS of numbers below 2^24, CLOSE_ROOTS of any that lie close together,
 * LARGE_ROOTS of any, SQUARES, or DISTANCES in a unit. */
typedef enum row_storing { ROW_ROOTS, ROW_CLOSE_ROOTS, ROW_LARGE_ROOTS, ROW_SQUARES, ROW_DISTANCES } row_storing;

template <row_storing HOW> DM_DEVICE uint32_t plain_result(const mc_stage &p, uint32_t d2, const mc_close &close) {
    return HOW == ROW_ROOTS         ? __float_as_uint(mc_root((float)d2))
           : HOW == ROW_CLOSE_ROOTS ? __float_as_uint(mc_close_root(d2, close))
           : HOW == ROW_LARGE_ROOTS ? __float_as_uint(mc_large_root(d2))
           : HOW == ROW_SQUARES     ? d2 * p.factor
                                    : __float_as_uint(mc_unit_root(p, d2, (float)d2));
}

template <int HEIGHT, int COLUMNS>
DM_DEVICE uint32_t squared_at(const mc_stage &p, const int32_t best[COLUMNS][HEIGHT], int c, int i) {
    return (uint32_t)best[c][i] + (uint32_t)p.wy2 * (uint32_t)(i * i);
}

/* store_plain() where all is in the image and neighbours lie side by side: stored together. */
template <row_storing HOW, int HEIGHT, int COLUMNS>
DM_DEVICE void store_inside(const mc_stage &p, char *to, const int32_t best[COLUMNS][HEIGHT], const mc_close &close) {
    const auto result = [&](int c, int i) {
        return plain_result<HOW>(p, squared_at<HEIGHT, COLUMNS>(p, best, c, i), close);
    };
    char *const first = mc_forget(to);
#pragma unroll
    for (int i = 0; i < HEIGHT; i++) {
        char *const row = first + mc_wide((uint32_t)p.target.stride[2], (uint32_t)i);
        if (COLUMNS == 1)
            *(uint32_t *)row = result(0, i);
        else
            *(uint2 *)row = make_uint2(result(0, i), result(COLUMNS - 1, i));
    }
}

/* Results of COLUMNS columns from x on and HEIGHT rows from y on, less wy2 i^2. All have sites within the limit. */
template <row_storing HOW, int HEIGHT, int COLUMNS>
DM_DEVICE void store_plain(const mc_stage &p, char *to, int32_t x, int32_t y, const int32_t best[COLUMNS][HEIGHT]) {
    static_assert(COLUMNS == 1 || COLUMNS == 2, "x is a multiple of it");
    const int64_t next = p.target.stride[2];
    const bool inside = y + HEIGHT <= p.height && (x | 31) < p.width && next == (uint32_t)next;
    const bool aligned = p.target.stride[3] == 4 && (((uintptr_t)to | (uintptr_t)next) & 7) == 0;
    mc_close close = {};
    if (inside && (COLUMNS == 1 || aligned)) {
        if (HOW != ROW_LARGE_ROOTS)
            return store_inside<HOW, HEIGHT, COLUMNS>(p, to, best, close);
        const float apart = (HEIGHT - 1) * p.apart[0] + (COLUMNS - 1) * p.apart[1] + 1;
        close = mc_close_to(squared_at<HEIGHT, COLUMNS>(p, best, 0, 0), apart);
        if (close.small)
            return store_inside<ROW_ROOTS, HEIGHT, COLUMNS>(p, to, best, close);
        if (close.fits)
            return store_inside<ROW_CLOSE_ROOTS, HEIGHT, COLUMNS>(p, to, best, close);
    }
#pragma unroll
    for (int i = 0; i < HEIGHT; i++, to += next)
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            if (y + i < p.height && x + c < p.width)
                *(uint32_t *)(to + c * p.target.stride[3]) =
                    plain_result<HOW>(p, squared_at<HEIGHT, COLUMNS>(p, best, c, i), close);
}

/* Squared distances of a column from row y on, with the roots of numbers below 2^24 if SMALL. Whether one has no site. */
template <bool SMALL, int HEIGHT>
DM_DEVICE bool store_column(const mc_stage &p, char *to, int32_t y, const uint32_t d2[HEIGHT], uint32_t negative) {
    bool none = false;
#pragma unroll
    for (int i = 0; i < HEIGHT; i++, to += p.target.stride[2]) {
        if (y + i >= p.height)
            break;
        const float root = SMALL ? mc_root((float)d2[i]) : mc_distance(p, d2[i]);
        if (p.negative)
            mc_store_signed(p, to, d2[i], root, negative >> i, &none);
        else
            mc_store(p, to, d2[i], root, &none);
    }
    return none;
}

/* store_plain() of kinds, under their caps; the rows are of one band. Whether one has no site. */
template <int HEIGHT, int COLUMNS>
DM_DEVICE bool store_kinds(const mc_stage &p, int64_t plane, int32_t x, int32_t y,
                           const int32_t best[COLUMNS][HEIGHT]) {
    static_assert(32 % HEIGHT == 0, "y is a multiple of it");
    bool none = false;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        if (x + c >= p.width || y >= p.height)
            break;
        const int64_t at = mc_band_at(p, plane, y, x + c);
        const uint2 across = mc_across(p, at);
        const uint32_t ground = mc_ground(p, at), negative = p.negative ? p.negative[at] >> y % 32 : 0;
        char *to = mc_row(p.target, plane, y) + (x + c) * p.target.stride[3];
        uint32_t d2[HEIGHT], bits = 0;
#pragma unroll
        for (int i = 0; i < HEIGHT; i++) {
            const int row = y % 32 + i;
            const uint32_t e = entry_distance(across, row, 1), b = (uint32_t)best[c][i];
            const uint32_t cap = has_any(across) ? (uint32_t)p.wy2 * (e * e) : (uint32_t)MC_NOTHING;
            const uint32_t found = b == MC_NOTHING ? b : b + (uint32_t)p.wy2 * (uint32_t)(i * i);
            d2[i] = ground >> row & 1 ? 0 : min(found, cap);
            bits |= y + i < p.height ? d2[i] : 0;
        }
        none |= !p.in_unit && bits < DM_UNIT_EXACT_FLOAT ? store_column<true, HEIGHT>(p, to, y, d2, negative)
                                                         : store_column<false, HEIGHT>(p, to, y, d2, negative);
    }
    return none;
}

/* Results that have no site. */
DM_DEVICE void store_infinity(const mc_stage &p, char *to, int32_t x, int32_t y, int32_t height, int32_t columns) {
#pragma unroll 1
    for (int32_t i = 0; i < height && y + i < p.height; i++, to += p.target.stride[2])
        for (int32_t c = 0; c < columns && x + c < p.width; c++)
            *(float *)(to + c * p.target.stride[3]) = INFINITY;
}

/* The same in general, and with sites the rows that they come from. Whether one has no site. */
template <row_results HOW, int HEIGHT, int COLUMNS>
DM_DEVICE bool store_rows(const mc_stage &p, int64_t plane, int32_t x, int32_t y, const int32_t best[COLUMNS][HEIGHT],
                          const int32_t row[COLUMNS][HEIGHT]) {
    enum { SITES = HOW == WITH_SITES };
    if constexpr (!SITES)
        if (HOW == ANY_RESULTS && p.across)
            return store_kinds<HEIGHT, COLUMNS>(p, plane, x, y, best);
    mc_place at;
    if (SITES)
        at = mc_place_of(p, plane);
    char *to = p.target.data ? mc_row(p.target, plane, y) + x * p.target.stride[3] : NULL;
    const bool has_all = best[0][0] != MC_NOTHING; /* a column has sites for all rows, or none */
    if constexpr (HOW == ALL_ROOTS || HOW == ALL_LARGE_ROOTS) {
        if (has_all)
            store_plain<HOW == ALL_ROOTS ? ROW_ROOTS : ROW_LARGE_ROOTS, HEIGHT, COLUMNS>(p, to, x, y, best);
        else
            store_infinity(p, to, x, y, HEIGHT, COLUMNS);
        return !has_all;
    }
    bool none = false;
    if (!SITES && p.most >= MC_NOTHING - 1 && has_all) { /* or one of the two would have it */
        if (p.squared)
            store_plain<ROW_SQUARES, HEIGHT, COLUMNS>(p, to, x, y, best);
        else
            store_plain<ROW_DISTANCES, HEIGHT, COLUMNS>(p, to, x, y, best);
        return false;
    }
#pragma unroll
    for (int i = 0; i < HEIGHT; i++) {
        if (y + i >= p.height)
            break;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            const int32_t b = best[c][i];
            const uint32_t d2 =
                b == MC_NOTHING ? (uint32_t)MC_NOTHING : (uint32_t)b + (uint32_t)p.wy2 * (uint32_t)(i * i);
            const float root = mc_distance(p, d2);
            if (x + c >= p.width)
                continue;
            if (SITES)
                mc_store_site(p, at, to + c * p.target.stride[3],
                              at.site + (y + i) * p.site.stride[2] + (x + c) * p.site.stride[3], y + i, x + c, d2,
                              row[c][i] - y - i, root, &none);
            else
                mc_store(p, to + c * p.target.stride[3], d2, root, &none);
        }
        to += p.target.stride[2];
    }
    return none;
}

#endif
