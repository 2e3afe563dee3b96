/* minplus/cuda, the far search: what the near search left open, exact at any distance, with a bound on its work whatever the image.
 *
 *     d2(y) = min over rows j of f(j) + wy2 (y - j)^2    in one column
 *
 * The winning row j is monotone in y. So rows are queried from coarse to fine, MC_FAN times finer each time: between two
 * queried rows only rows between their winners can win. Winners are known by chunk, MC_CHUNK rows, which saves keeping the
 * row with each value. With h rows a level reads each row about once for its MC_FAN queries, and there are log(h) / log 8
 * levels. Distances are 1-Lipschitz: a pixel between queried rows a, b apart at distances da, db is at most
 * (da + db + sqrt(wy2) (b - a)) / 2 from its site, so rows whose nearest site to the strip is farther are passed over, 32
 * at a time: where sites are few, few rows are left.
 *
 * A warp does a strip, the 32 columns of an entry. Rows are found by lanes in parallel; one by one the lanes then take
 * their own column's f from the row's entry.
 */
#include "methods/minplus/minplus_cuda_rows.cuh"

enum { WARPS = 4, PARTS = 4 };

/* Rows y + q step, q < MC_FAN, all within [y0, y1], from the spans r.first + offset, + stride, ... */
template <bool SLOW>
DM_DEVICE void query(const mc_stage &p, const strip &s, int32_t y, int32_t step, const range &r, int32_t offset,
                     int32_t stride, int32_t y0, int32_t y1, int32_t best[MC_FAN], int32_t chunk[MC_FAN]) {
#pragma unroll
    for (int q = 0; q < MC_FAN; q++)
        best[q] = MC_NOTHING, chunk[q] = 0;
    for (int32_t c = r.first + offset; c <= r.last; c += stride) {
        const row_span found = find_span<SLOW>(p, s, c, y0, y1, r.bound2);
        for (int sub = 0; sub < SPAN / MC_CHUNK; sub++) {
            uint32_t rows = found.rows >> sub * MC_CHUNK & ((1u << MC_CHUNK) - 1);
            if (!rows)
                continue;
            int32_t here[MC_FAN];
#pragma unroll
            for (int q = 0; q < MC_FAN; q++)
                here[q] = MC_NOTHING;
            for (; rows; rows &= rows - 1) {
                const int i = sub * MC_CHUNK + __ffs((int)rows) - 1;
                const int32_t value = row_value<SLOW>(p, s, found, i, y0, y1, r.bound2);
                if (SLOW && value == MC_NOTHING) /* in one lane, in all */
                    continue;
                const parabola at = parabola_at(p, value, y - c - i, step);
#pragma unroll
                for (int q = 0; q < MC_FAN; q++)
                    here[q] = min(here[q], candidate(at, q));
            }
#pragma unroll
            for (int q = 0; q < MC_FAN; q++)
                if (here[q] < best[q])
                    best[q] = here[q], chunk[q] = c / MC_CHUNK + sub;
        }
    }
#pragma unroll
    for (int q = 0; q < MC_FAN; q++)
        best[q] = best[q] == MC_NOTHING ? MC_NOTHING : squared_at(p, best[q], q * step);
}

/* Whether any unit of [u0, u1) of the strip needs to know where its winners lie. */
DM_DEVICE bool any_unseen(const mc_stage &p, int64_t plane, int32_t s, int32_t u0, int32_t u1) {
    const int64_t strips = p.groups * 4;
    const uint8_t *open = p.open + plane * p.units * strips + s;
    for (int32_t u = u0; u < min(u1, p.units); u += 32) {
        const int32_t mine = u + (int)threadIdx.x % 32;
        if (__any_sync(MC_WHOLE, mine < min(u1, p.units) && (open[mine * strips] & MC_UNSEEN)))
            return true;
    }
    return false;
}

DM_DEVICE void keep_queries(const mc_stage &p, const strip &s, int32_t u, int32_t units, int count,
                            const int32_t best[MC_FAN], const int32_t chunk[MC_FAN]) {
    for (int q = 0; q < count; q++)
        if (u + q * units <= p.last_query) {
            p.best[s.column + (u + q * units) * s.pitch] = best[q];
            p.chunk[s.column + (u + q * units) * s.pitch] = (uint16_t)chunk[q];
        }
}

/* A warp's way through the open units: it takes units in turn, and looks 32 turns up at once. */
typedef struct open_units {
    int64_t turn, unit, plane;
    uint32_t open; /* of the turns looked up last */
    int32_t strip, y;
} open_units;

DM_DEVICE open_units units_begin(void) {
    const open_units begin = {
        (int64_t)blockIdx.x * WARPS + threadIdx.x / 32 - 32 * (int64_t)gridDim.x * WARPS, 0, 0, 0, 0, 0};
    return begin;
}

DM_DEVICE bool units_next(const mc_stage &p, open_units *u) {
    const int32_t strips = p.groups * 4;
    const int64_t count = p.planes * p.units * strips, step = (int64_t)gridDim.x * WARPS;
    while (!u->open) {
        u->turn += 32 * step;
        if (u->turn >= count)
            return false;
        const int64_t mine = u->turn + (int64_t)(threadIdx.x % 32) * step;
        u->open = __ballot_sync(MC_WHOLE, mine < count && p.open[mine]);
    }
    u->unit = u->turn + (__ffs((int)u->open) - 1) * step;
    u->open &= u->open - 1;
    const int64_t rest = u->unit / strips;
    u->plane = rest / p.units;
    u->strip = (int32_t)(u->unit - rest * strips);
    u->y = (int32_t)(rest - u->plane * p.units) * MC_UNIT;
    return true;
}

/* No pixel of rows [y, last] is farther than this: by the rows around them, nearest first, as far as a nearer one may lie,
 * and no farther when a few rows give little hope of one below `hopeless`. */
DM_DEVICE float bound_by_entries(const mc_stage &p, const strip &s, int32_t y, int32_t last, float hopeless) {
    const int32_t middle = y + MC_UNIT / 2 - 1;
    float bound2 = INFINITY, low, high;
    for (int32_t away = 0; (float)p.wy2 * (float)away * (float)away < bound2; away += SPAN / 2) {
        if (away == MC_UNIT && bound2 >= hopeless)
            break;
        /* Half of the lanes above the unit's middle, half below. */
        const int32_t j = s.lane < SPAN / 2 ? middle - away - s.lane : middle + 1 + away + s.lane - SPAN / 2;
        strip_squares(p, row_entry(p, s, j), &low, &high);
        const float dy = (float)max(abs(y - j), abs(last - j));
        bound2 = fminf(bound2, warp_least(high + (float)p.wy2 * dy * dy));
    }
    return bound2;
}

/* The same by some of the rows around them. */
DM_DEVICE float bound_by_values(const mc_stage &p, const strip &s, int32_t y, int32_t last) {
    enum { EVERY = 4 };
    float bound2 = INFINITY;
    for (int32_t j = max(y - MC_UNIT, 0); j < min(y + 2 * MC_UNIT, p.height); j += EVERY) {
        const int32_t f = source_value(p, s, j);
        const float dy = (float)max(abs(y - j), abs(last - j));
        if (f != MC_NOTHING)
            bound2 = fminf(bound2, (float)f + (float)p.wy2 * dy * dy);
    }
    return -warp_least(-bound2);
}

/* A bound for every open unit; units without one are marked MC_UNSEEN. Grid: any. */
template <bool SLOW>
static __global__ void __launch_bounds__(32 * WARPS) far_bounds(const __grid_constant__ mc_stage p) {
    if (!*p.any_open)
        return;
    const float hopeless = (float)p.wy2 * MC_AROUND * MC_AROUND;
    open_units u = units_begin();
    while (units_next(p, &u)) {
        const strip s = strip_at<SLOW>(p, u.plane, u.strip);
        const int32_t last = u.y + MC_UNIT - 1;
        const float bound2 = SLOW ? bound_by_values(p, s, u.y, last) : bound_by_entries(p, s, u.y, last, hopeless);
        if (s.lane == 0)
            p.bound2[u.unit] = bound2 * 1.0001f + 1.0f; /* whatever the roundings */
        if (s.lane == 0 && bound2 >= hopeless) {
            p.open[u.unit] = MC_OPEN | MC_UNSEEN;
            *p.any_open = MC_OPEN | MC_UNSEEN;
        }
    }
}

/* The coarsest level: MC_FAN queries, `units` apart, over all rows; PARTS warps share a strip's rows.
 * Grid: a block per group of 4 strips. */
template <bool SLOW>
static __global__ void __launch_bounds__(32 * 4 * PARTS) far_top(const __grid_constant__ mc_stage p, int32_t units) {
    __shared__ int32_t bests[PARTS][4][MC_FAN][32], chunks[PARTS][4][MC_FAN][32];
    if (!(*p.any_open & MC_UNSEEN))
        return;
    const int warp = (int)threadIdx.x / 32, part = warp / 4, word = warp % 4;
    for (int64_t column = blockIdx.x; column < p.planes * p.groups; column += gridDim.x) {
        const int64_t plane = column / p.groups;
        const int32_t group = (int32_t)(column - plane * p.groups);
        const strip s = strip_at<SLOW>(p, plane, group * 4 + word);
        const bool needed = any_unseen(p, plane, group * 4 + word, 0, p.units);
        const range all = {0, p.height - 1, INFINITY};
        int32_t best[MC_FAN], chunk[MC_FAN];
        if (needed) {
            query<SLOW>(p, s, units * MC_UNIT, units * MC_UNIT, all, part * SPAN, PARTS * SPAN, 0, p.units * MC_UNIT,
                        best, chunk);
            for (int q = 0; q < MC_FAN; q++)
                bests[part][word][q][s.lane] = best[q], chunks[part][word][q][s.lane] = chunk[q];
        }
        __syncthreads();
        if (needed && part == 0) {
            for (int q = 0; q < MC_FAN; q++)
                for (int other = 1; other < PARTS; other++) {
                    const int32_t b = bests[other][word][q][s.lane], c = chunks[other][word][q][s.lane];
                    if (b < best[q] || (b == best[q] && c < chunk[q]))
                        best[q] = b, chunk[q] = c;
                }
            keep_queries(p, s, units, units, MC_FAN, best, chunk);
        }
        __syncthreads();
    }
}

/* A finer level: between rows MC_FAN * units apart, those `units` apart. Grid: any; warps take (interval, strip) in turn. */
template <bool SLOW>
static __global__ void __launch_bounds__(32 * WARPS) far_level(const __grid_constant__ mc_stage p, int32_t units) {
    if (!(*p.any_open & MC_UNSEEN))
        return;
    const int32_t strips = p.groups * 4, intervals = (p.units + MC_FAN * units - 1) / (MC_FAN * units);
    const int64_t count = p.planes * intervals * strips, step = (int64_t)gridDim.x * WARPS;
    for (int64_t i = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32; i < count; i += step) {
        const int64_t rest = i / strips, plane = rest / intervals;
        const int32_t column = (int32_t)(i - rest * strips), u0 = (int32_t)(rest - plane * intervals) * MC_FAN * units;
        const int32_t u1 = u0 + MC_FAN * units;
        if (!any_unseen(p, plane, column, u0, u1))
            continue;
        const strip s = strip_at<SLOW>(p, plane, column);
        const range r = range_between(p, s, u0, u1);
        int32_t best[MC_FAN], chunk[MC_FAN];
        query<SLOW>(p, s, (u0 + units) * MC_UNIT, units * MC_UNIT, r, 0, SPAN, u0 * MC_UNIT, u1 * MC_UNIT, best, chunk);
        keep_queries(p, s, u0 + units, units, MC_FAN - 1, best, chunk);
    }
}

/* A column of a unit: results less wy2 i^2, and with sites the rows that they come from. */
template <bool SITES, int HEIGHT>
DM_DEVICE bool store_column(const mc_stage &p, const open_units &u, int32_t y, int32_t x, const int32_t best[HEIGHT],
                            const int32_t row[HEIGHT]) {
    mc_place at;
    if (SITES)
        at = mc_place_of(p, u.plane, u.strip / 4);
    char *to = SITES ? NULL : mc_row(p.target, u.plane, y) + x * p.target.stride[3];
    bool none = false;
    if (x >= p.width)
        return false;
#pragma unroll
    for (int i = 0; i < HEIGHT; i++) {
        if (y + i >= p.height)
            break;
        const uint32_t d2 = (uint32_t)(best[i] == MC_NOTHING ? (int32_t)MC_NOTHING : squared_at(p, best[i], i));
        const float root = __fsqrt_rn((float)d2);
        if (SITES)
            mc_store_site(p, at, at.target + (y + i) * p.target.stride[2] + x * p.target.stride[3],
                          at.site + (y + i) * p.site.stride[2] + x * p.site.stride[3], y + i, x, d2, row[i] - y - i,
                          root, &none);
        else
            mc_store(p, to + i * p.target.stride[2], d2, root, &none);
    }
    return none;
}

/* HEIGHT rows of a unit. */
template <bool SLOW, bool SITES, int HEIGHT>
DM_DEVICE bool solve_rows(const mc_stage &p, const open_units &u, const strip &s, int32_t y, const range &r) {
    const int32_t last = y + HEIGHT - 1;
    /* best[i] is the result less wy2 i^2: what a row gives is then linear in i. */
    int32_t best[HEIGHT], from[HEIGHT];
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
        best[i] = MC_NOTHING, from[i] = 0;
    for (int32_t c = r.first; c <= r.last; c += SPAN) {
        const row_span found = find_span<SLOW>(p, s, c, y, last, r.bound2);
        for (uint32_t rows = found.rows; rows; rows &= rows - 1) {
            const int row = __ffs((int)rows) - 1;
            const int32_t value = row_value<SLOW>(p, s, found, row, y, last, r.bound2);
            if (SLOW && value == MC_NOTHING)
                continue;
            const parabola at = parabola_at(p, value, y - c - row, 1);
#pragma unroll
            for (int i = 0; i < HEIGHT; i++) {
                const int32_t here = candidate(at, i);
                if (SITES)
                    from[i] = here < best[i] ? c + row : from[i];
                best[i] = min(best[i], here);
            }
        }
    }
    return store_column<SITES, HEIGHT>(p, u, y, u.strip * 32 + s.lane, best, from);
}

/* Open units: all their pixels. Grid: any. */
template <bool SLOW, bool SITES>
static __global__ void __launch_bounds__(32 * WARPS) far_units(const __grid_constant__ mc_stage p) {
    enum { HEIGHT = SITES ? MC_UNIT / 2 : MC_UNIT }; /* registers */
    if (!*p.any_open)
        return;
    bool none = false;
    open_units u = units_begin();
    while (units_next(p, &u)) {
        const strip s = strip_at<SLOW>(p, u.plane, u.strip);
        const range all = {0, p.height - 1, INFINITY};
        const range r = p.open[u.unit] & MC_UNSEEN ? range_between(p, s, u.y / MC_UNIT, u.y / MC_UNIT + 1)
                                                   : within(p, all, u.y, u.y + MC_UNIT - 1, p.bound2[u.unit]);
        for (int32_t y = u.y; y < u.y + MC_UNIT; y += HEIGHT)
            none |= solve_rows<SLOW, SITES, HEIGHT>(p, u, s, y, r);
    }
    mc_raise(p, none);
}

template <bool SLOW> static cudaError_t launch(const mc_stage *p, int multiprocessors, cudaStream_t stream) {
    int32_t units = 1;
    while (units * MC_FAN < p->units)
        units *= MC_FAN;
    const unsigned grid = dm_blocks(p->planes * p->units * p->groups * 4, WARPS, multiprocessors * 8);
    DM_LAUNCH(far_bounds<SLOW>, grid, 32 * WARPS, 0, stream, *p);
    DM_LAUNCH(far_top<SLOW>, dm_blocks(p->planes * p->groups, 1, multiprocessors * 4), 32 * 4 * PARTS, 0, stream, *p,
              units);
    while (units > 1) {
        units /= MC_FAN;
        DM_LAUNCH(far_level<SLOW>, grid, 32 * WARPS, 0, stream, *p, units);
    }
    if (p->sites == MC_SITES_NONE)
        DM_LAUNCH((far_units<SLOW, false>), grid, 32 * WARPS, 0, stream, *p);
    else
        DM_LAUNCH((far_units<SLOW, true>), grid, 32 * WARPS, 0, stream, *p);
    return cudaGetLastError();
}

cudaError_t mc_far(const mc_stage *p, int multiprocessors, cudaStream_t stream) {
    return p->source.data ? launch<true>(p, multiprocessors, stream) : launch<false>(p, multiprocessors, stream);
}
