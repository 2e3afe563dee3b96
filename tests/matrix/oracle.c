/* One loop over pairs. Where that would be too long, one over (element, row) instead: of a row's sites only the
 * nearest along the row can win, the left one on ties; small images take both ways and must agree.
 * (All this by the Euclidean metric. For the others, distances of all pairs are looked up in a table of shortest walks.) */
#include "oracle.h"
#include "walks.h"

#include "../require.h"
#include <math.h>
#include <stdlib.h>

_Static_assert(sizeof(long double) > sizeof(double), "the oracle needs a float of 64 bits of precision or more");

long double oracle_element(const void *data, distmap_dtype dtype, int64_t i) {
    switch (dtype) {
    case DISTMAP_BOOL: return ((const uint8_t *)data)[i] != 0;
    case DISTMAP_INT8: return ((const int8_t *)data)[i];
    case DISTMAP_UINT8: return ((const uint8_t *)data)[i];
    case DISTMAP_INT16: return ((const int16_t *)data)[i];
    case DISTMAP_UINT16: return ((const uint16_t *)data)[i];
    case DISTMAP_INT32: return ((const int32_t *)data)[i];
    case DISTMAP_UINT32: return ((const uint32_t *)data)[i];
    case DISTMAP_INT64: return ((const int64_t *)data)[i];
    case DISTMAP_UINT64: return ((const uint64_t *)data)[i];
    case DISTMAP_FLOAT32: return ((const float *)data)[i];
    case DISTMAP_FLOAT64: return ((const double *)data)[i];
    default: abort();
    }
}

int64_t oracle_elements(const distmap_problem *p) {
    int64_t count = 1;
    for (int a = 0; a < p->ndim; a++)
        count *= p->shape[a];
    return count;
}

static bool is_measured(const distmap_problem *p, int a) { return p->axes == 0 || (p->axes >> a & 1); }
static double pitch(const distmap_problem *p, int a) { return exact_pitch(p->spacing[a]); }

static bool is_float(distmap_dtype t) { return t == DISTMAP_FLOAT32 || t == DISTMAP_FLOAT64; }

static bool is_ruled(const distmap_sites *s, long double x) {
    switch (s->rule) {
    case DISTMAP_SITES_ZERO: return x == 0;
    case DISTMAP_SITES_NONZERO: return x < 0 || x > 0;
    case DISTMAP_SITES_VALUE: return x == (long double)s->lo;
    case DISTMAP_SITES_RANGE: return x >= (long double)s->lo && x <= (long double)s->hi;
    case DISTMAP_SITES_NONE: return false;
    }
    return false;
}

/* Labels and signed maps: an element's sites are those of another kind. */
static bool is_by_kind(const distmap_problem *p) { return p->input == DISTMAP_INPUT_LABELS || p->sign; }

static long double kind_of(const distmap_problem *p, const void *input, int64_t i) {
    const long double x = oracle_element(input, p->dtype, i);
    return p->sign ? is_ruled(&p->sites, x) : x;
}

/* At distance 0 from itself, although another kind is asked for. */
static bool is_background(const distmap_problem *p, const void *input, int64_t i) {
    return p->input == DISTMAP_INPUT_LABELS && oracle_is_ruled(p, input, i);
}

static long double largest_of(distmap_dtype t) {
    if (is_float(t))
        return INFINITY;
    if (t == DISTMAP_BOOL)
        return 1;
    const int bits = 8 * (int)distmap_dtype_size(t);
    const bool is_signed = t == DISTMAP_INT8 || t == DISTMAP_INT16 || t == DISTMAP_INT32 || t == DISTMAP_INT64;
    return ldexpl(1, bits - is_signed) - 1;
}

/* What element q brings along: 0 for sites, its value for samples; negative for nothing. */
static long double offer(const distmap_problem *p, const void *input, int64_t q) {
    const long double x = oracle_element(input, p->dtype, q);
    if (p->input == DISTMAP_INPUT_SAMPLED)
        return isnan(x) || x == largest_of(p->dtype) ? -1 : x;
    return is_by_kind(p) || is_ruled(&p->sites, x) ? 0 : -1;
}

bool oracle_offers(const distmap_problem *p, const void *input, int64_t i) { return offer(p, input, i) >= 0; }

bool oracle_is_ruled(const distmap_problem *p, const void *input, int64_t i) {
    return is_ruled(&p->sites, oracle_element(input, p->dtype, i));
}

static void coords_of(const distmap_problem *p, int64_t linear, int64_t *at) {
    for (int a = p->ndim - 1; a >= 0; a--) {
        at[a] = linear % p->shape[a];
        linear /= p->shape[a];
    }
}

/* ---- One pair ---- */

static const struct walks *walks; /* of the problem in work, */
static struct exact_unit unit;    /* and its unit */
static double pitch2[4];          /* without one, its squared pitches */

static void set_pitches(const distmap_problem *p) {
    unit = exact_unit_of(p);
    for (int a = 0; a < p->ndim; a++)
        pitch2[a] = pitch(p, a) * pitch(p, a);
}

static uint64_t distance_integer(const distmap_problem *p, const int64_t *u, const int64_t *v, long double f) {
    uint64_t sum = (uint64_t)f;
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN) {
        int64_t offset[4];
        for (int a = 0; a < p->ndim; a++)
            offset[a] = u[a] - v[a];
        return walks_length(walks, offset);
    }
    for (int a = 0; a < p->ndim; a++) {
        const uint64_t w = unit.n[a], d = (uint64_t)(u[a] > v[a] ? u[a] - v[a] : v[a] - u[a]);
        sum += w * w * d * d;
    }
    return sum;
}

static double distance_f64(const distmap_problem *p, const int64_t *u, const int64_t *v, long double f) {
    double sum = (double)f;
    for (int a = p->ndim - 1; a >= 0; a--) {
        const double d = (double)(u[a] - v[a]);
        if (is_measured(p, a))
            sum = fma(pitch2[a], d * d, sum);
    }
    return sum;
}

double oracle_distance_f64(const distmap_problem *p, const void *input, int64_t from, int64_t to) {
    int64_t u[4], v[4];
    set_pitches(p);
    coords_of(p, from, u);
    coords_of(p, to, v);
    return distance_f64(p, u, v, offer(p, input, to));
}

bool oracle_serves(const distmap_problem *p, const void *input, int64_t from, int64_t to) {
    if (to < 0 || to >= oracle_elements(p) || offer(p, input, to) < 0)
        return false;
    int64_t u[4], v[4];
    coords_of(p, from, u);
    coords_of(p, to, v);
    for (int a = 0; a < p->ndim; a++)
        if (!is_measured(p, a) && u[a] != v[a])
            return false;
    if (!is_by_kind(p))
        return true;
    return is_background(p, input, from) ? from == to : kind_of(p, input, from) != kind_of(p, input, to);
}

struct best {
    uint64_t d2;
    double d2f;
    int64_t index;
};

/* Takes q for p when strictly nearer, so that the first of equals stays. */
static void try_site(const distmap_problem *p, bool integer, const int64_t *u, const int64_t *v, int64_t q,
                     long double f, struct best *best) {
    if (integer) {
        const uint64_t d2 = distance_integer(p, u, v, f);
        if (best->index < 0 || d2 < best->d2)
            *best = (struct best){.d2 = d2, .index = q};
    } else {
        const double d2f = distance_f64(p, u, v, f);
        if (d2f < (double)INFINITY && (best->index < 0 || d2f < best->d2f))
            *best = (struct best){.d2f = d2f, .index = q};
    }
}

/* ---- All pairs ---- */

struct site {
    int64_t at[4], linear;
    long double f, kind;
};

static void by_pairs(const distmap_problem *p, const void *input, bool integer, struct best *best) {
    const int64_t n = oracle_elements(p);
    struct site *sites = malloc((size_t)n * sizeof *sites + 1);
    REQUIRE(sites);
    int64_t count = 0;
    for (int64_t q = 0; q < n; q++) {
        struct site s = {.linear = q, .f = offer(p, input, q), .kind = kind_of(p, input, q)};
        coords_of(p, q, s.at);
        if (s.f >= 0)
            sites[count++] = s;
    }
    const bool by_kind = is_by_kind(p);
    for (int64_t i = 0; i < n; i++) {
        int64_t u[4];
        coords_of(p, i, u);
        const long double mine = kind_of(p, input, i);
        const bool background = is_background(p, input, i);
        best[i] = (struct best){.index = -1};
        for (int64_t k = 0; k < count; k++) {
            const struct site *s = &sites[k];
            bool serves = !by_kind || (background ? s->linear == i : s->kind != mine);
            for (int a = 0; a < p->ndim; a++)
                serves &= is_measured(p, a) || u[a] == s->at[a];
            if (serves)
                try_site(p, integer, u, s->at, s->linear, s->f, &best[i]);
        }
    }
    free(sites);
}

/* ---- Element by row ---- */

static void by_rows(const distmap_problem *p, const void *input, bool integer, struct best *best) {
    const int64_t n = oracle_elements(p), width = p->shape[p->ndim - 1];
    int64_t *nearest = malloc((size_t)n * sizeof *nearest); /* x of the row's nearest site, -1: none */
    REQUIRE(nearest);
    for (int64_t row = 0; row < n; row += width) {
        int64_t left = -1;
        for (int64_t x = 0; x < width; x++)
            nearest[row + x] = left = offer(p, input, row + x) >= 0 ? x : left;
        int64_t right = -1;
        for (int64_t x = width - 1; x >= 0; x--) {
            right = nearest[row + x] == x ? x : right;
            const int64_t l = nearest[row + x];
            if (l < 0 || (right >= 0 && right - x < x - l))
                nearest[row + x] = right;
        }
    }
    for (int64_t i = 0; i < n; i++)
        best[i] = (struct best){.index = -1};
    for (int64_t row = 0; row < n; row += width) {
        int64_t u[4] = {0}, v[4];
        coords_of(p, row, v);
        for (int64_t i = 0; i < n; i++) {
            const int64_t x = nearest[row + u[p->ndim - 1]];
            bool serves = x >= 0;
            for (int a = 0; a < p->ndim - 1; a++)
                serves &= is_measured(p, a) || u[a] == v[a];
            v[p->ndim - 1] = x;
            if (serves)
                try_site(p, integer, u, v, row + x, 0, &best[i]);
            for (int a = p->ndim - 1; a >= 0 && ++u[a] == p->shape[a]; a--)
                u[a] = 0;
        }
    }
    free(nearest);
}

/* The same of labels and signed maps: of a row's elements the nearest one of another kind along the row is looked for, to
 * the left first. */
static void kinds_by_rows(const distmap_problem *p, const void *input, bool integer, struct best *best) {
    const int64_t n = oracle_elements(p), width = p->shape[p->ndim - 1];
    long double *kind = malloc((size_t)n * sizeof *kind);
    REQUIRE(kind);
    for (int64_t i = 0; i < n; i++)
        kind[i] = kind_of(p, input, i);
    for (int64_t i = 0; i < n; i++) {
        int64_t u[4], v[4] = {0};
        coords_of(p, i, u);
        best[i] = (struct best){.index = -1};
        if (is_background(p, input, i)) {
            try_site(p, integer, u, u, i, 0, &best[i]);
            continue;
        }
        const int64_t x = u[p->ndim - 1];
        for (int64_t row = 0; row < n; row += width) {
            coords_of(p, row, v);
            bool serves = true;
            for (int a = 0; a < p->ndim - 1; a++)
                serves &= is_measured(p, a) || u[a] == v[a];
            int64_t found = -1;
            for (int64_t d = 0; serves && found < 0 && (d <= x || x + d < width); d++)
                if (d <= x && kind[row + x - d] != kind[i])
                    found = x - d;
                else if (x + d < width && kind[row + x + d] != kind[i])
                    found = x + d;
            v[p->ndim - 1] = found;
            if (found >= 0)
                try_site(p, integer, u, v, row + found, 0, &best[i]);
        }
    }
    free(kind);
}

/* ---- Border, limit, rounding ---- */

static void apply_border(const distmap_problem *p, bool integer, int64_t i, struct best *best) {
    int64_t u[4], v[4] = {0};
    coords_of(p, i, u);
    for (int a = 0; a < p->ndim; a++) {
        if (!is_measured(p, a))
            continue;
        for (int side = 0; side < 2; side++) {
            for (int b = 0; b < p->ndim; b++)
                v[b] = u[b];
            v[a] = side ? p->shape[a] : -1;
            const uint64_t d2 = integer ? distance_integer(p, u, v, 0) : 0;
            const double d2f = integer ? 0 : distance_f64(p, u, v, 0);
            if (best->index == -1 || (integer ? d2 < best->d2 : d2f < best->d2f))
                *best = (struct best){.d2 = d2, .d2f = d2f, .index = DISTMAP_INDEX_BORDER};
        }
    }
}

double oracle_distance(const distmap_problem *p, const struct expected *e, int64_t i, bool single) {
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN)
        return single ? (double)(float)e->d2[i] : (double)e->d2[i];
    if (e->integer)
        return exact_distance(&e->unit, e->d2[i], single);
    return single ? (double)(float)sqrt(e->d2f[i]) : sqrt(e->d2f[i]);
}

double oracle_square(const struct expected *e, int64_t i, bool single) {
    if (e->integer)
        return exact_square(&e->unit, e->d2[i], single);
    return single ? (double)(float)e->d2f[i] : e->d2f[i];
}

bool oracle_is_beyond(const distmap_problem *p, const struct expected *e, int64_t i) {
    if (!(p->limit > 0) || e->index[i] == DISTMAP_INDEX_NONE)
        return false;
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN)
        return (double)e->d2[i] > p->limit;
    return oracle_distance(p, e, i, p->want.distance == DISTMAP_FLOAT32) > p->limit;
}

void oracle_compute(const distmap_problem *p, const void *input, struct expected *e) {
    const int64_t n = oracle_elements(p);
    struct best *best = malloc((size_t)n * sizeof *best + 1), *other = malloc((size_t)n * sizeof *other + 1);
    REQUIRE(best && other);
    set_pitches(p);
    e->unit = unit;
    e->integer = unit.integer;
    e->flags = 0;
    int64_t sites = 0;
    for (int64_t i = 0; i < n; i++) {
        sites += offer(p, input, i) >= 0;
        if (isnan(oracle_element(input, p->dtype, i)))
            e->flags |= DISTMAP_FLAG_NAN;
    }
    const bool euclidean = p->metric == DISTMAP_METRIC_EUCLIDEAN;
    struct walks table = {0};
    if (!euclidean && n > 0)
        table = walks_make(p);
    walks = &table;
    const bool by_row = euclidean && p->input != DISTMAP_INPUT_SAMPLED && is_measured(p, p->ndim - 1);
    void (*const rows)(const distmap_problem *, const void *, bool, struct best *) =
        is_by_kind(p) ? kinds_by_rows : by_rows;
    const int64_t pairs = n * sites, meetings = n > 0 ? n * (n / p->shape[p->ndim - 1]) : 0;
    if (!by_row || pairs < 3000000 || pairs < meetings)
        by_pairs(p, input, e->integer, best);
    else
        rows(p, input, e->integer, best);
    if (by_row && e->integer && pairs < 3000000 && meetings < 3000000) {
        rows(p, input, e->integer, other);
        for (int64_t i = 0; i < n; i++)
            REQUIRE(best[i].index == other[i].index && best[i].d2 == other[i].d2);
    }
    for (int64_t i = 0; i < n; i++) {
        if (p->border && !(p->sign && oracle_is_ruled(p, input, i))) /* outside is of the shape */
            apply_border(p, e->integer, i, &best[i]);
        e->d2[i] = best[i].d2;
        e->d2f[i] = best[i].d2f;
        e->index[i] = best[i].index;
        if (best[i].index == -1)
            e->flags |= DISTMAP_FLAG_NO_SITE;
    }
    walks_free(&table);
    free(best);
    free(other);
}

/* ---- Signed maps ---- */

double oracle_surface(const distmap_problem *p) {
    double least = INFINITY;
    for (int a = 0; a < p->ndim; a++)
        if (is_measured(p, a))
            least = fmin(least, pitch(p, a));
    return p->surface == DISTMAP_SURFACE_HALF ? least / 2 : 0;
}

bool oracle_is_negative(const distmap_problem *p, const void *input, int64_t i) {
    return p->sign && oracle_is_ruled(p, input, i) == (p->sign == DISTMAP_SIGN_OUTSIDE);
}
