/* What the far search knows of rows: a strip's rows by their entries (plane stage) or values (z stage), which of them may
 * matter to others, and what one offers. A warp has a strip, a lane a column of it. */
#ifndef DISTMAP_MINPLUS_CUDA_ROWS_CUH
#define DISTMAP_MINPLUS_CUDA_ROWS_CUH

#include "methods/minplus/minplus_cuda.cuh"

enum { SPAN = 32 /* rows found at once */ };

/* A strip and, for this lane, its column. */
typedef struct strip {
    const uint2 *entries; /* plane stage: of row 0; rows are 4 apart */
    const char *source;   /* z stage: of row 0 */
    int64_t column;       /* of p.chunk and p.best, one pitch before unit 1 */
    int64_t pitch;        /* the same, from unit to unit */
    int lane;
    int column_lane; /* the same within the image: the last column again where it ends */
} strip;

template <bool SLOW> DM_DEVICE strip strip_at(const mc_stage &p, int64_t plane, int32_t s) {
    strip made;
    made.lane = (int)threadIdx.x % 32;
    made.column_lane = min(made.lane, p.width - 1 - s * 32);
    if (SLOW)
        made.source = mc_row(p.source, plane, 0) + (int64_t)(s * 32 + made.column_lane) * 4;
    else
        made.entries = (const uint2 *)p.entries + (plane * p.groups + s / 4) * p.height * 4 + s % 4;
    made.pitch = (int64_t)p.groups * MC_GROUP;
    made.column = (plane * p.units - 1) * made.pitch + s * 32 + made.lane;
    return made;
}

/* ---- Rows: of a plane, by their entries; of the z stage, by their values ---- */

DM_DEVICE uint2 row_entry(const mc_stage &p, const strip &s, int32_t j) {
    return j >= 0 && j < p.height ? s.entries[(int64_t)j * 4] : make_uint2(0, MC_WHOLE);
}

/* wx2 g^2 of this lane's column. The entry must have a site somewhere in its row: then of the two sides, one that has none
 * is farther than the other. */
DM_DEVICE int32_t entry_value(const mc_stage &p, uint2 entry, int lane) {
    uint32_t left = (entry.y & MC_NONE) + (uint32_t)lane + 1, right = (entry.y >> 16) + 32 - (uint32_t)lane;
    if (entry.x) {
        const uint32_t at = entry.x << (31 - lane), after = entry.x >> lane;
        left = at ? (uint32_t)__clz((int)at) : left;
        right = after ? (uint32_t)__ffs((int)after) - 1 : right;
    }
    const uint32_t g = min(left, right);
    return (int32_t)(g * g * (uint32_t)p.wx2);
}

DM_DEVICE int32_t source_value(const mc_stage &p, const strip &s, int32_t j) {
    const int32_t value = *(const int32_t *)(s.source + j * p.source.stride[2]);
    return p.sites == MC_SITES_NONE ? value : mc_offset_square(p, (uint32_t)value);
}

DM_DEVICE float warp_least(float v) {
    for (int step = 16; step; step /= 2)
        v = fminf(v, __shfl_xor_sync(MC_WHOLE, v, step));
    return v;
}

/* Squared distance along the row from the strip's nearest and farthest column to the sites of an entry's row, at least and at
 * most; INFINITY where it has none. */
DM_DEVICE void strip_squares(const mc_stage &p, uint2 entry, float *low, float *high) {
    const bool any = entry.x != 0 || entry.y != MC_WHOLE;
    const float dx = entry.x ? 0.0f : (float)(min(entry.y & MC_NONE, entry.y >> 16) + 1);
    *low = any ? (float)p.wx2 * dx * dx : INFINITY;
    *high = any ? (float)p.wx2 * (dx + 31.0f) * (dx + 31.0f) : INFINITY;
}

/* Which of the rows `first` + lane may matter to rows [y0, y1], as a mask. Passed over are rows farther from the strip than
 * bound2, and rows that another one beats everywhere: of two rows at most SPAN apart, the parabolas differ between y0 and y1
 * by at most |f(j) - f(i)| +- wy2 SPAN (2 Y + SPAN), Y being the farthest that one of those lies from here. */
DM_DEVICE uint32_t rows_of_span(const mc_stage &p, const strip &s, int32_t first, int32_t y0, int32_t y1, float bound2,
                                uint2 entry) {
    const int32_t j = first + s.lane;
    float low, high;
    strip_squares(p, entry, &low, &high);
    const float dy = (float)max(max(y0 - j, j - y1), 0);
    const float farthest = (float)max(abs(y0 - first), abs(y1 - first)) + 32.0f;
    const float beaten = (warp_least(high) + (float)p.wy2 * 32.0f * (2.0f * farthest + 32.0f)) * 1.0001f;
    return __ballot_sync(MC_WHOLE, low < INFINITY && low + (float)p.wy2 * dy * dy <= bound2 && low <= beaten);
}

/* The rows `first` + i that may matter to rows [y0, y1], and what this lane's column is worth in them. */
typedef struct row_span {
    uint32_t rows; /* bit i */
    uint2 entry;   /* lane i's is row i's */
    int32_t first;
} row_span;

template <bool SLOW>
DM_DEVICE row_span find_span(const mc_stage &p, const strip &s, int32_t first, int32_t y0, int32_t y1, float bound2) {
    row_span found = {MC_WHOLE, {0, 0}, first};
    if (SLOW) {
        if (p.height - first < SPAN)
            found.rows >>= SPAN - (p.height - first);
    } else {
        found.entry = row_entry(p, s, first + s.lane);
        found.rows = rows_of_span(p, s, first, y0, y1, bound2, found.entry);
    }
    return found;
}

/* Row i of a span. z stage: MC_NOTHING in every lane, when the row has no site or lies too far for all of them. */
template <bool SLOW>
DM_DEVICE int32_t row_value(const mc_stage &p, const strip &s, const row_span &found, int i, int32_t y0, int32_t y1,
                            float bound2) {
    if (!SLOW)
        return entry_value(p,
                           make_uint2(__shfl_sync(MC_WHOLE, found.entry.x, i), __shfl_sync(MC_WHOLE, found.entry.y, i)),
                           s.column_lane);
    const int32_t j = found.first + i, f = source_value(p, s, j);
    const float dy = (float)max(max(y0 - j, j - y1), 0);
    const bool near = f != MC_NOTHING && (float)f + (float)p.wy2 * dy * dy <= bound2;
    return __any_sync(MC_WHOLE, near) ? f : MC_NOTHING;
}

/* What is known of rows [u0, u1] of units: the chunks in which their winners lie, and how far they can be, squared. */
typedef struct range {
    int32_t first, last; /* rows, whole chunks */
    float bound2;
} range;

/* Narrows a range to the rows within sqrt(bound2) of rows [y0, y1). */
DM_DEVICE range within(const mc_stage &p, range r, int32_t y0, int32_t y1, float bound2) {
    const int32_t reach = (int32_t)fminf(sqrtf(bound2 / (float)p.wy2), 1e9f) + 1;
    r.first = max(r.first, max(y0 - reach, 0) & -MC_CHUNK); /* chunks start at multiples */
    r.last = min(r.last, y1 + reach);
    r.bound2 = bound2;
    return r;
}

DM_DEVICE range range_between(const mc_stage &p, const strip &s, int32_t u0, int32_t u1) {
    const bool lower = u0 > 0, upper = u1 <= p.last_query;
    const float span = sqrtf((float)p.wy2) * (float)((u1 - u0) * MC_UNIT);
    int32_t first = 0, last = 0xFFFF;
    float d0 = INFINITY, d1 = INFINITY;
    if (lower) {
        first = p.chunk[s.column + u0 * s.pitch];
        d0 = sqrtf((float)p.best[s.column + u0 * s.pitch]);
    }
    if (upper) {
        last = p.chunk[s.column + u1 * s.pitch];
        d1 = sqrtf((float)p.best[s.column + u1 * s.pitch]);
    }
    float bound = lower && upper ? (d0 + d1 + span) * 0.5f : fminf(d0, d1) + span;
    for (int step = 16; step; step /= 2) {
        first = min(first, __shfl_xor_sync(MC_WHOLE, first, step));
        last = max(last, __shfl_xor_sync(MC_WHOLE, last, step));
        bound = fmaxf(bound, __shfl_xor_sync(MC_WHOLE, bound, step));
    }
    const range r = {first * MC_CHUNK, upper ? min(p.height - 1, last * MC_CHUNK + MC_CHUNK - 1) : p.height - 1,
                     INFINITY};
    /* A little more, whatever the roundings. */
    return bound < INFINITY ? within(p, r, u0 * MC_UNIT, u1 * MC_UNIT, bound * bound * 1.0001f + 1.0f) : r;
}

/* What a row offers at rows t + i step away from it, less wy2 (i step)^2, which is the same for all: linear in i. Rows beyond
 * the image's end may overflow, and are not used. */
typedef struct parabola {
    uint32_t value, slope;
} parabola;

DM_DEVICE parabola parabola_at(const mc_stage &p, int32_t value, int32_t t, int32_t step) {
    const uint32_t weight = (uint32_t)p.wy2, away = (uint32_t)t;
    const parabola made = {(uint32_t)value + weight * away * away, 2 * weight * away * (uint32_t)step};
    return made;
}
DM_DEVICE int32_t squared_at(const mc_stage &p, int32_t best, int32_t i) {
    return (int32_t)((uint32_t)best + (uint32_t)p.wy2 * (uint32_t)i * (uint32_t)i);
}
DM_DEVICE int32_t candidate(const parabola &at, int i) { return (int32_t)(at.value + at.slope * (uint32_t)i); }

#endif
