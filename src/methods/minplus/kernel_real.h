/* The search in FP64 lanes: out[i] = min over |k| <= K of fma(w, k^2, f[i + k]), for minplus_real.c.
 *
 * The value of a candidate is what the formula of distmap.h says, operation by operation: nothing is estimated. fma rounds once, and
 * rounding is monotone in f and in k^2. So with `least` the least f of a line, every candidate at k or farther has at least the value
 * fma(w, k^2, least), and the search ends when no result is above it. It is the same whether vectors run across lines that lie side by
 * side (the next candidate is a vector farther) or along a row (the next candidate is an element farther).
 *
 * A step takes two candidates for 2 N64 elements: 2 loads, 2 minima with a load, 2 fma, 2 minima, and 7 instructions that ask
 * whether to go on. Lines that are not settled after REAL_TRY steps although `reach` of them could not, or after `reach`, are left
 * to the caller.
 *
 * Ties: the lowest position wins, so that an element below i replaces an equal one, and one above does not.
 *
 * Labels: e, the distance to the next element of another kind, negative if that is below i, bounds the result by fma(w, e^2, 0); see
 * kernel_labels.h. That element is lower than all candidates between if it is below i, and higher if above, which decides ties. While
 * the search runs, the bound is a place higher, so that candidates equal to it are seen.
 */

enum { REAL_LANES = 2 * N64, REAL_TRY = 24 };

typedef struct real_group {
    F64 least[2], best[2], from[2];
} real_group;

/* Whether a candidate of this k^2 could still win; with `sites`, or be equal and lower. */
static inline ALWAYS bool real_open(const real_group *g, F64 w, double square, bool sites) {
    const F64 k2 = f64_set(square), finite = f64_set(DBL_MAX);
    const F64 low = f64_fma(w, k2, g->least[0]), high = f64_fma(w, k2, g->least[1]);
    return sites ? m64_any(m64_or(f64_le(low, f64_min(g->best[0], finite)), f64_le(high, f64_min(g->best[1], finite))))
                 : m64_any(m64_or(f64_lt(low, g->best[0]), f64_lt(high, g->best[1])));
}

/* The candidates k before and behind f, as far as the two flags say. */
static inline ALWAYS void real_step(real_group *g, const double *f, int64_t step, int64_t k, F64 w, double square,
                                    bool before, bool after, bool sites) {
    const F64 k2 = f64_set(square);
    for (int i = 0; i < 2; i++) {
        const double *at = f + i * N64;
        if (!sites && before && after) {
            g->best[i] = f64_min(g->best[i], f64_fma(w, k2, f64_min(f64_load(at - k * step), f64_load(at + k * step))));
            continue;
        }
        if (before) {
            const F64 v = f64_fma(w, k2, f64_load(at - k * step));
            if (sites)
                g->from[i] = f64_blend(f64_le(v, g->best[i]), f64_set((double)-k), g->from[i]);
            g->best[i] = f64_min(g->best[i], v);
        }
        if (after) {
            const F64 v = f64_fma(w, k2, f64_load(at + k * step));
            if (sites)
                g->from[i] = f64_blend(f64_lt(v, g->best[i]), f64_set((double)k), g->from[i]);
            g->best[i] = f64_min(g->best[i], v);
        }
    }
}

/* REAL_LANES elements at f, with `before` and `after` positions on either side; false if they are not settled. */
static inline ALWAYS bool real_search(const mp_real_lines *l, real_group *g, const double *f, int64_t step,
                                      int64_t before, int64_t after, bool sites) {
    const F64 w = f64_set(l->w2);
    const int64_t far = before > after ? before : after, reach = far < l->reach ? far : l->reach;
    const int64_t both = before < after ? before : after, pairs = both < reach ? both : reach;
    int64_t k = 1;
    for (; k <= pairs; k++) {
        if (!real_open(g, w, l->square[k], sites))
            return true;
        if (k == REAL_TRY && reach < far && real_open(g, w, l->square[reach + 1], sites))
            return false;
        real_step(g, f, step, k, w, l->square[k], true, true, sites);
    }
    for (; k <= reach; k++) {
        if (!real_open(g, w, l->square[k], sites))
            return true;
        if (k == REAL_TRY && reach < far && real_open(g, w, l->square[reach + 1], sites))
            return false;
        if (before > after)
            real_step(g, f, step, k, w, l->square[k], true, false, sites);
        else
            real_step(g, f, step, k, w, l->square[k], false, true, sites);
    }
    return reach == far || !real_open(g, w, l->square[k], sites);
}

static inline ALWAYS bool real_element(const mp_real_lines *l, const F64 least[2], const double *f, const double *e,
                                       int64_t step, int64_t before, int64_t after, double *best, double *from) {
    const F64 zero = f64_set(0), w = f64_set(l->w2), higher = f64_set(1 + DBL_EPSILON);
    const bool sites = from;
    real_group g = {.least = {least[0], least[1]}};
    F64 bound[2];
    for (int i = 0; i < 2; i++) {
        g.best[i] = f64_min(f64_load(f + i * N64), f64_set(l->most));
        g.from[i] = zero;
        if (!e)
            continue;
        const F64 turn = f64_load(e + i * N64);
        bound[i] = f64_fma(w, f64_mul(turn, turn), zero);
        g.best[i] = f64_min(g.best[i], sites ? f64_mul(bound[i], higher) : bound[i]);
    }
    const bool settled =
        sites ? real_search(l, &g, f, step, before, after, true) : real_search(l, &g, f, step, before, after, false);
    for (int i = 0; i < 2; i++) {
        if (e && sites) {
            const F64 turn = f64_load(e + i * N64), turned = f64_fma(f64_set(1), turn, f64_set(MP_REAL_TURN));
            const F64 if_below = f64_blend(f64_le(bound[i], g.best[i]), turned, g.from[i]);
            const F64 if_above = f64_blend(f64_lt(bound[i], g.best[i]), turned, g.from[i]);
            g.from[i] = f64_blend(f64_lt(turn, zero), if_below, if_above);
            g.best[i] = f64_min(g.best[i], bound[i]);
        }
        f64_store(best + i * N64, g.best[i]);
        if (sites)
            f64_store(from + i * N64, g.from[i]);
    }
    return settled;
}

/* REAL_LANES lines side by side; false if they are not all settled. */
static inline ALWAYS bool real_tile_as(const mp_real_lines *l, bool labels, bool sites) {
    F64 least[2] = {f64_load(l->f), f64_load(l->f + N64)};
    for (int64_t i = 1; i < l->n; i++)
        for (int j = 0; j < 2; j++)
            least[j] = f64_min(least[j], f64_load(l->f + i * REAL_LANES + j * N64));
    for (int64_t i = 0; i < l->n; i++)
        if (!real_element(l, least, l->f + i * REAL_LANES, labels ? l->e + i * REAL_LANES : NULL, REAL_LANES, i,
                          l->n - 1 - i, l->best + i * l->pitch, sites ? l->from + i * l->pitch : NULL))
            return false;
    return true;
}

static bool real_tile(const mp_real_lines *l) {
    if (l->from)
        return l->e ? real_tile_as(l, true, true) : real_tile_as(l, false, true);
    return l->e ? real_tile_as(l, true, false) : real_tile_as(l, false, false);
}

/* A row: l->f has +inf beyond its ends, as far as searches and vectors go. The last elements are computed with those before them. */
static inline ALWAYS bool real_row_as(const mp_real_lines *l, bool sites) {
    double lowest = l->f[0];
    for (int64_t x = 1; x < l->n; x++)
        lowest = l->f[x] < lowest ? l->f[x] : lowest;
    const F64 least[2] = {f64_set(lowest), f64_set(lowest)};
    for (int64_t x = 0; x < l->n; x += REAL_LANES) {
        const int64_t at = x + REAL_LANES <= l->n || l->n < REAL_LANES ? x : l->n - REAL_LANES;
        if (!real_element(l, least, l->f + at, NULL, 1, l->n - 1, l->n - 1, l->best + at, sites ? l->from + at : NULL))
            return false;
    }
    return true;
}

static bool real_row(const mp_real_lines *l) { return l->from ? real_row_as(l, true) : real_row_as(l, false); }

/* Distances of n squares as floats, +inf for those beyond `limit`; whether there are any. */
static bool real_roots(const double *squared, int64_t n, double limit, float *out) {
    const F64 most = f64_set(limit), none = f64_set((double)INFINITY);
    bool any = false;
    int64_t x = 0;
    for (; x + N64 <= n; x += N64) {
        const F64 v = f64_load(squared + x);
        const M64 beyond = f64_lt(most, v);
        any |= m64_any(beyond);
        f64_store_floats(out + x, f64_blend(beyond, none, f64_sqrt(v)));
    }
    for (; x < n; x++) {
        any |= squared[x] > limit;
        out[x] = squared[x] > limit ? (float)INFINITY : (float)sqrt(squared[x]);
    }
    return any;
}
