/* The far search, its first part, of planes: open units near enough to few enough rows are solved from those rows alone.
 *
 * The rows around a unit, nearest first, give a bound for it: a site dx from the strip and dy from the unit is within reach
 * of all its pixels. Rows whose nearest site is farther than the bound are passed over, 32 at a time, a lane to a row: where
 * sites are few, few are left, and are evaluated one after another, HEIGHT pixels of each column at once.
 *
 * A warp does a unit, a lane a column of it: two instructions per pixel and row.
 */
#ifndef DISTMAP_MINPLUS_CUDA_FEW_CUH
#define DISTMAP_MINPLUS_CUDA_FEW_CUH

#include "methods/minplus/minplus_cuda_rows.cuh"

enum {
    SPAN = 32,          /* rows looked at together */
    AHEAD = 64,         /* rows on either side after which there has to be some bound */
    MOST = 64,          /* rows worth evaluating one by one */
    WIDEST = 32 * SPAN, /* rows among which they may be */
};

/* No pixel of rows [y, last] is farther than this, squared: by the rows around them, nearest first, as far as a nearer one may
 * lie, and no farther when those AHEAD give little hope. */
DM_DEVICE float bound_by_rows(const mc_stage &p, const uint2 *entries, int lane, int32_t y, int32_t last,
                              float hopeless) {
    const int32_t middle = y + MC_UNIT / 2 - 1;
    const auto farthest_by = [&](int32_t away) {
        /* Half of the lanes above the unit's middle, half below. */
        const int32_t j = lane < SPAN / 2 ? middle - away - lane : middle + 1 + away + lane - SPAN / 2;
        float low, high;
        strip_squares(p, row_entry(p, entries, j), &low, &high);
        const float dy = (float)max(abs(y - j), abs(last - j));
        return high + (float)p.wy2 * dy * dy;
    };
    float bound2 = INFINITY;
#pragma unroll /* asked for together, for they are waited for */
    for (int32_t away = 0; away < AHEAD; away += SPAN / 2)
        bound2 = fminf(bound2, farthest_by(away));
    bound2 = mc_warp_least(bound2);
    if (bound2 < hopeless)
        for (int32_t away = AHEAD; (float)p.wy2 * (float)away * (float)away < bound2; away += SPAN / 2)
            bound2 = fminf(bound2, mc_warp_least(farthest_by(away)));
    return bound2 * 1.0001f + 1.0f; /* whatever the roundings */
}

/* The rows that matter to a unit. */
typedef struct few {
    int32_t first, last; /* lane i has rows first + 32 i .. */
    uint32_t rows;       /* as bits */
    int count;           /* of all lanes; more than MOST: `rows` does not hold */
} few;

DM_DEVICE few find_rows(const mc_stage &p, const uint2 *entries, int lane, int32_t y) {
    const float hopeless = (float)p.wy2 * (16 * SPAN) * (16 * SPAN);
    const int32_t last = y + MC_UNIT - 1;
    const float bound2 = bound_by_rows(p, entries, lane, y, last, hopeless);
    const int32_t reach = (int32_t)fminf(sqrtf(bound2 / (float)p.wy2), 1e6f) + 1;
    few found = {max(y - reach, p.low), min(last + reach, p.low + p.rows - 1), 0, 0};
    const int32_t spans = (found.last - found.first) / SPAN + 1;
    if (found.last - found.first >= WIDEST)
        found.count = MOST + 1;
    for (int i = 0; i < spans && found.count <= MOST; i++) {
        const int32_t j = found.first + i * SPAN + lane;
        float low, high;
        strip_squares(p, row_entry(p, entries, j), &low, &high);
        const float dy = (float)max(max(y - j, j - last), 0);
        const uint32_t rows = __ballot_sync(MC_WHOLE, low < INFINITY && low + (float)p.wy2 * dy * dy <= bound2);
        found.rows = lane == i ? rows : found.rows;
        found.count += __popc(rows);
    }
    return found;
}

/* Results of a column and HEIGHT rows from y on, less wy2 i^2, with their sites: row, counted from p.low, << 16 | column. */
template <int HEIGHT>
DM_DEVICE bool store_places(const mc_stage &p, int64_t plane, int32_t x, int32_t y, const int32_t best[HEIGHT],
                            const uint32_t from[HEIGHT]) {
    const mc_place at = mc_place_of(p, plane);
    char *to = at.target + y * p.target.stride[2] + x * p.target.stride[3];
    char *site = at.site + y * p.site.stride[2] + x * p.site.stride[3];
    bool none = false;
#pragma unroll
    for (int i = 0; i < HEIGHT; i++) {
        if (y + i >= p.height || x >= p.width)
            break;
        const uint32_t d2 =
            best[i] == MC_NOTHING ? (uint32_t)MC_NOTHING : (uint32_t)best[i] + (uint32_t)p.wy2 * (uint32_t)(i * i);
        mc_store_found(p, at, to, site, y + i, x, d2, 0, p.low + (int32_t)(from[i] >> 16) - y - i,
                       (int32_t)(from[i] & MC_NONE) - x, mc_distance(p, d2), &none);
        to += p.target.stride[2], site += p.site.stride[2];
    }
    return none;
}

/* HEIGHT rows of a unit, from y on. */
template <row_results HOW, int HEIGHT>
DM_DEVICE bool solve_by_few_rows(const mc_stage &p, const work &w, int32_t y, const few &found) {
    /* best[i] is the result less wy2 i^2: what a row gives is then linear in i. With sites a candidate brings its place along,
     * which is had once for a row. */
    enum { SITES = HOW == WITH_SITES };
    const int lane = (int)threadIdx.x % 32, column = lane_column(p, w.strip, lane);
    const int32_t x = w.strip * 32 + lane;
    int32_t best[1][HEIGHT];
    uint32_t from[HEIGHT];
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
        best[0][i] = MC_NOTHING, from[i] = 0;
    for (uint32_t spans = __ballot_sync(MC_WHOLE, found.rows != 0); spans; spans &= spans - 1) {
        const int span = __ffs((int)spans) - 1;
        for (uint32_t rows = __shfl_sync(MC_WHOLE, found.rows, span); rows; rows &= rows - 1) {
            const int32_t row = found.first + span * SPAN + __ffs((int)rows) - 1;
            const uint2 entry = w.entries[row];
            uint32_t g, place = 0;
            if (SITES) {
                const int32_t along = entry_site(entry, column);
                g = (uint32_t)abs(along);
                place = (uint32_t)(row - p.low) << 16 | (uint32_t)(w.strip * 32 + column + along);
            } else {
                g = row_distance(entry, column, p.rim);
            }
            const parabola at = parabola_at(p, (int32_t)(g * g * (uint32_t)p.wx2), y - row);
#pragma unroll
            for (int i = 0; i < HEIGHT; i++) {
                const int32_t here = candidate(at, 2 * i);
                if (SITES)
                    from[i] = here < best[0][i] ? place : from[i];
                best[0][i] = min(best[0][i], here);
            }
        }
    }
    if constexpr (SITES)
        return store_places<HEIGHT>(p, w.plane, x, y, best[0], from);
    else
        return store_rows<HOW, HEIGHT, 1>(p, w.plane, x, y, best, NULL);
}

#endif
