#include "recipe.h"

#include <math.h>
#include <string.h>

#include "../require.h"

#define PICK(r, list) ((list)[rng_range(r, 0, (int64_t)(sizeof(list) / sizeof *(list)) - 1)])

static bool is_float(distmap_dtype t) { return t == DISTMAP_FLOAT32 || t == DISTMAP_FLOAT64; }
static bool is_signed(distmap_dtype t) {
    return t == DISTMAP_INT8 || t == DISTMAP_INT16 || t == DISTMAP_INT32 || t == DISTMAP_INT64;
}
static uint64_t type_max(distmap_dtype t) {
    return t == DISTMAP_BOOL ? 1 : UINT64_MAX >> (64 - 8 * distmap_dtype_size(t) + is_signed(t));
}

/* ---- Geometry ---- */

static void make_spacing(distmap_problem *p, unsigned features, struct rng *r) {
    static const double integers[] = {0, 1, 2, 3, 5, 7, 1000, 1 << 20};
    /* Few have a unit together; each has one by itself. */
    static const double reals[] = {0.1, 0.3,  1.0 / 3, 0.7,  1e-3,    1e3, 3.14159265358979,
                                   0.5, 1.25, 1,       0.25, 0.1 * 3, 3e-5};
    static const double halves[] = {0.5, 1.25, 1, 2, 0.25, 0.75};
    /* As files and people write them, with a unit: per axis, slowest first. 0.7f is given as floats are. */
    static const double sets[][4] = {
        {2.5, 0.7, 0.7, 0.7},     {0.2, 0.065, 0.065, 0.065}, {0.65, 0.65, 0.65, 0.65}, {30, 30, 30, 30},
        {0.05, 0.05, 0.05, 0.05}, {0.29, 0.108, 0.108, 0.29}, {0.7421875, 2.5, 2.5, 5}, {2.5, 0.9765625, 0.9765625, 1},
        {0.7f, 2.5, 0.7f, 0.7},   {40e-9, 4e-9, 4e-9, 4e-9},  {1.1, 0.9, 1.3, 0.7},     {1000, 250, 250, 500}};
    const double *set = sets[rng_range(r, 0, (int64_t)(sizeof sets / sizeof *sets) - 1)];
    const double kind = rng_unit(r);
    const bool exact = kind<0.2, written = kind> 0.5;
    const bool same = rng_chance(r, features & VARY_REAL_SPACING ? 0.4 : 0.3);
    for (int a = 0; a < p->ndim; a++) {
        if (features & VARY_REAL_SPACING)
            p->spacing[a] = exact ? PICK(r, halves) : written ? set[a + 4 - p->ndim] : PICK(r, reals);
        else if (features & VARY_INTEGER_SPACING)
            p->spacing[a] = PICK(r, integers);
        if (same)
            p->spacing[a] = p->spacing[0];
    }
}

static bool spacing_is_exact(const distmap_problem *p) {
    for (int a = 0; a < p->ndim; a++)
        if (p->spacing[a] * 8 != floor(p->spacing[a] * 8) || p->spacing[a] > 2000)
            return false;
    return true;
}

/* The usual weights, the ends of what the rules allow, and large ones. */
static void make_metric(distmap_problem *p, unsigned features, struct rng *r) {
    static const int flat[][3] = {
        {1, 1},    {1, 2},    {2, 3},    {3, 4},       {5, 7},         {5, 7, 11},           {7, 10, 16},
        {1, 1, 2}, {4, 5, 8}, {2, 3, 5}, {10, 14, 22}, {65535, 65535}, {30000, 40000, 65000}};
    static const int solid[][3] = {
        {1, 1, 1}, {1, 2, 3}, {3, 4, 5}, {4, 6, 7}, {2, 3, 4}, {2, 3, 3}, {40000, 50000, 60000}};
    static const distmap_metric kinds[] = {DISTMAP_METRIC_CITYBLOCK, DISTMAP_METRIC_CHESSBOARD, DISTMAP_METRIC_CHAMFER,
                                           DISTMAP_METRIC_CHAMFER, DISTMAP_METRIC_CHAMFER};
    const int axes = p->axes ? __builtin_popcount(p->axes) : p->ndim;
    do
        p->metric = PICK(r, kinds);
    while (p->metric == DISTMAP_METRIC_CHAMFER && axes > 3);
    if (p->metric == DISTMAP_METRIC_CHAMFER)
        memcpy(p->chamfer, axes == 3 ? PICK(r, solid) : PICK(r, flat), sizeof p->chamfer);
    if (features & VARY_LIMIT && rng_chance(r, 0.5))
        p->limit = (double)rng_range(r, 1, 10) * (p->chamfer[0] ? p->chamfer[0] : 1);
}

/* Samples may count a unit of the caller's. */
static void make_unit(distmap_problem *p, struct rng *r) {
    static const double units[] = {0.1, 0.65, 30, 0.005, 0.7f, 3};
    if (p->input == DISTMAP_INPUT_SAMPLED && exact_unit_of(p).integer && rng_chance(r, 0.4))
        p->unit = PICK(r, units);
}

static void make_geometry(distmap_problem *p, unsigned features, struct rng *r) {
    static const double limits[] = {
        0.5, 1, 1.5, 2, 3.7, 5, 10, 13, 20, 31.5, 64, 100, 300, 1e9, 1e200, 1.4142135623730951, 3.605551275463989};
    if (!(features & STEP_METRICS))
        make_spacing(p, features, r);
    if (features & VARY_AXES)
        p->axes = (unsigned)rng_range(r, 0, (1 << p->ndim) - 1);
    if (features & STEP_METRICS)
        make_metric(p, features, r);
    make_unit(p, r);
    if (features & VARY_LIMIT && p->limit == 0) {
        const struct exact_unit unit = exact_unit_of(p);
        p->limit = PICK(r, limits);
        if (unit.integer && !(features & STEP_METRICS) && rng_chance(r, 0.4)) { /* a distance of the map itself */
            uint64_t squared = 0;
            for (int a = 0; a < p->ndim; a++) {
                const uint64_t steps = (uint64_t)rng_range(r, 0, 6) * unit.n[a];
                squared += steps * steps;
            }
            p->limit = exact_distance(&unit, squared + !squared, rng_chance(r, 0.5));
        } else if (p->spacing[0] > 0 && rng_chance(r, 0.5)) {
            p->limit *= p->spacing[0];
        }
    }
    if (features & ONE_SLOW_AXIS && p->ndim > 1) {
        static const double most[] = {3, 20, 100, 255, 256, 1000, 30000, 46000};
        p->axes = 1u << rng_range(r, 0, p->ndim - 2);
        p->limit = PICK(r, most);
    }
    if (features & VARY_BORDER)
        p->border = true;
}

/* ---- Elements ---- */

static const distmap_dtype all_dtypes[] = {DISTMAP_BOOL,   DISTMAP_INT8,    DISTMAP_UINT8,  DISTMAP_INT16,
                                           DISTMAP_UINT16, DISTMAP_INT32,   DISTMAP_UINT32, DISTMAP_INT64,
                                           DISTMAP_UINT64, DISTMAP_FLOAT32, DISTMAP_FLOAT64};

static void put(void *data, distmap_dtype dtype, int64_t i, uint64_t integer, double real) {
    const size_t size = distmap_dtype_size(dtype);
    const float single = (float)real;
    const void *from = dtype == DISTMAP_FLOAT32   ? (const void *)&single
                       : dtype == DISTMAP_FLOAT64 ? (const void *)&real
                                                  : (const void *)&integer;
    memcpy((char *)data + (size_t)i * size, from, size);
}

enum { POOL = 32 };

/* Values at which comparisons go wrong first: the types' ends, the rule's ends and their neighbours, 2^53 + 1, NaN. */
static void make_pool(const distmap_problem *p, void *pool, struct rng *r) {
    static const double reals[] = {0, -0.0, 1, -1, 0.5, 5e-324, -5e-324, INFINITY, -INFINITY, NAN, 1e30, 3.0000001};
    const uint64_t ends[] = {0,
                             1,
                             type_max(p->dtype),
                             type_max(p->dtype) + 1,
                             type_max(p->dtype) - 1,
                             (uint64_t)-1,
                             ((uint64_t)1 << 53) + 1,
                             (uint64_t)1 << 53};
    const double lo = fmin(fmax(p->sites.lo, -9e18), 9e18), hi = fmin(fmax(p->sites.hi, -9e18), 9e18);
    for (int i = 0; i < POOL; i++) {
        const uint64_t near = (uint64_t)((int64_t)(rng_chance(r, 0.5) ? lo : hi) + rng_range(r, -2, 2));
        const uint64_t integer = i < 8 ? ends[i] : i < 20 ? near : rng_next(r);
        const double real = i < 12   ? reals[i]
                            : i < 18 ? nextafter(rng_chance(r, 0.5) ? lo : hi, i % 2 ? INFINITY : -INFINITY)
                            : i < 24 ? (double)(int64_t)near
                                     : (double)rng_range(r, -100, 100);
        put(pool, p->dtype, i, is_float(p->dtype) ? 0 : integer, real);
    }
}

static void make_rule(distmap_problem *p, struct rng *r) {
    static const double edges[] = {0,
                                   1,
                                   -1,
                                   0.5,
                                   -0.5,
                                   3,
                                   100,
                                   127,
                                   128,
                                   255,
                                   255.5,
                                   256,
                                   -128,
                                   65535,
                                   2147483647,
                                   2147483648,
                                   4294967295,
                                   9007199254740992,
                                   9223372036854774784.0,
                                   9223372036854775808.0,
                                   18446744073709551615.0};
    p->sites.rule = (distmap_sites_rule)rng_range(
        r, DISTMAP_SITES_ZERO, p->input == DISTMAP_INPUT_LABELS ? DISTMAP_SITES_NONE : DISTMAP_SITES_RANGE);
    const double a = PICK(r, edges), b = PICK(r, edges);
    if (p->sites.rule == DISTMAP_SITES_VALUE)
        p->sites.lo = p->sites.hi = a;
    if (p->sites.rule == DISTMAP_SITES_RANGE) {
        p->sites.lo = rng_chance(r, 0.1) ? -INFINITY : fmin(a, b);
        p->sites.hi = rng_chance(r, 0.1) ? INFINITY : fmax(a, b);
    }
}

/* Site elements get values that the rule takes, others those that it does not, as far as the type has both. */
static void make_mask(struct test_case *c, const struct image *m, unsigned features, struct rng *r) {
    distmap_problem *p = &c->problem;
    const size_t size = distmap_dtype_size(p->dtype);
    _Alignas(8) char pool[POOL * 8];
    int sorted[2][POOL], count[2] = {0, 0};
    make_pool(p, pool, r);
    if (!(features & VARY_DTYPE))
        for (int i = 0; i < POOL; i++)
            pool[i] = i % 2 ? (char)rng_range(r, 1, 255) : 0;
    for (int i = 0; i < POOL; i++) {
        const bool site = oracle_is_ruled(p, pool, i);
        sorted[site][count[site]++] = i;
    }
    for (int64_t i = 0; i < m->elements; i++) {
        const int want = m->site[i], side = count[want] ? want : !want;
        const int pick = sorted[side][rng_range(r, 0, count[side] - 1)];
        memcpy((char *)c->input + (size_t)i * size, pool + (size_t)pick * size, size);
    }
}

/* Cells of one or of many labels, small or large, straight or slanted, with the painted sites as specks of one more. */
static void make_labels(struct test_case *c, const struct image *m, struct rng *r) {
    static const int64_t cells[] = {1, 2, 3, 5, 8, 13, 20, 40, 90, 200, 1000};
    static const int64_t counts[] = {1, 2, 3, 6, POOL - 1};
    const distmap_problem *p = &c->problem;
    const size_t size = distmap_dtype_size(p->dtype);
    _Alignas(8) char pool[POOL * 8];
    make_pool(p, pool, r);
    const int64_t cell = PICK(r, cells), kinds = PICK(r, counts), slant = rng_chance(r, 0.5) ? rng_range(r, 1, 3) : 0;
    const uint64_t salt = rng_next(r);
    int64_t at[4] = {0};
    int map[POOL];
    for (int k = 0; k < POOL; k++)
        map[k] = (int)rng_range(r, 0, POOL - 1);
    for (int64_t i = 0; i < m->elements; i++) {
        uint64_t key = salt;
        for (int a = 0; a < m->ndim; a++)
            key = rng_next(&(struct rng){key + (uint64_t)((at[a] + slant * at[(a + 1) % m->ndim] / 2) / cell)});
        const int pick = m->site[i] ? map[POOL - 1] : map[key % (uint64_t)kinds];
        memcpy((char *)c->input + (size_t)i * size, pool + (size_t)pick * size, size);
        for (int a = m->ndim - 1; a >= 0 && ++at[a] == m->shape[a]; a--)
            at[a] = 0;
    }
}

static bool is_integer(const distmap_problem *p) { return exact_unit_of(p).integer; }

static void make_samples(struct test_case *c, const struct image *m, struct rng *r) {
    distmap_problem *p = &c->problem;
    static const double scales[] = {0, 1, 4, 100, 5000, 1e6, 1e12};
    const double scale = PICK(r, scales);
    const uint64_t top = is_float(p->dtype) ? 0 : type_max(p->dtype), most = (uint64_t)1 << 61;
    const bool whole = rng_chance(r, 0.5), everywhere = rng_chance(r, 0.3), huge = rng_chance(r, 0.1);
    /* FP64 sums that are rounded make ties: of samples with fractions, and of integers beyond 2^53. */
    if (is_float(p->dtype) ? !(whole && scale < 1e9 && spacing_is_exact(p)) : huge && !is_integer(p))
        c->loose_ties = true;
    for (int64_t i = 0; i < m->elements; i++) {
        double real = rng_unit(r) * scale;
        if (whole)
            real = floor(real);
        uint64_t integer = (uint64_t)real;
        if (huge && rng_chance(r, 0.5))
            integer = most - (uint64_t)rng_range(r, 0, 3);
        integer = integer > top ? top : integer;
        if (!m->site[i] && !everywhere) {
            integer = top;
            real = rng_chance(r, 0.5) ? INFINITY : NAN;
        }
        put(c->input, p->dtype, i, integer, real);
    }
}

/* None, the input's, or any: it must not change a bit. */
static void make_order(distmap_problem *p, enum layout in, struct rng *r) {
    const int64_t kind = rng_range(r, 0, 2);
    if (kind == 0)
        return;
    for (int a = 0; a < p->ndim; a++) {
        const int other = (int)rng_range(r, 0, a);
        p->order[a] = p->order[other];
        p->order[other] = a;
    }
    if (kind == 1) {
        struct placed placed = layout_place(in, p->dtype, p->ndim, p->shape);
        distmap_view_order(&placed.view, p->order);
        free(placed.memory);
    }
}

void recipe_make(struct test_case *c, const struct image *m, unsigned features, struct rng *r) {
    distmap_problem *p = &c->problem;
    *p = (distmap_problem){.dtype = DISTMAP_UINT8, .ndim = m->ndim};
    memcpy(p->shape, m->shape, sizeof m->shape);
    p->input = features & SAMPLED_INPUT  ? DISTMAP_INPUT_SAMPLED
               : features & LABELS_INPUT ? DISTMAP_INPUT_LABELS
                                         : DISTMAP_INPUT_MASK;
    if (features & VARY_DTYPE)
        p->dtype = PICK(r, all_dtypes);
    if (features & ONE_SLOW_AXIS)
        p->dtype = DISTMAP_UINT32;
    if (p->input == DISTMAP_INPUT_LABELS && is_float(p->dtype))
        p->dtype = DISTMAP_UINT16;
    make_geometry(p, features, r);
    c->loose_ties = features & VARY_REAL_SPACING && !exact_unit_of(p).integer && !spacing_is_exact(p);
    if (features & VARY_LAYOUT) {
        c->in = (enum layout)rng_range(r, 0, LAYOUT_COUNT - 1);
        c->out = (enum layout)rng_range(r, 0, LAYOUT_COUNT - 1);
        c->turn = (int)rng_range(r, 0, LAYOUT_COUNT - 1);
    }
    make_order(p, c->in, r);
    c->input = malloc((size_t)m->elements * distmap_dtype_size(p->dtype) + 1);
    c->payload = NULL;
    REQUIRE(c->input);
    if (p->input != DISTMAP_INPUT_SAMPLED && features & VARY_DTYPE)
        make_rule(p, r);
    if (features & SIGNED_MAP && p->input == DISTMAP_INPUT_MASK && !(features & STEP_METRICS)) {
        p->sign = rng_chance(r, 0.5) ? DISTMAP_SIGN_OUTSIDE : DISTMAP_SIGN_INSIDE;
        p->surface = rng_chance(r, 0.5) ? DISTMAP_SURFACE_HALF : DISTMAP_SURFACE_CENTRE;
    }
    if (p->input == DISTMAP_INPUT_MASK)
        make_mask(c, m, features, r);
    else if (p->input == DISTMAP_INPUT_LABELS)
        make_labels(c, m, r);
    else
        make_samples(c, m, r);
    if (p->input == DISTMAP_INPUT_SAMPLED && !c->loose_ties && rng_chance(r, 0.4)) {
        p->payload = rng_chance(r, 0.5) ? DISTMAP_INT32 : DISTMAP_INT64;
        c->payload = malloc((size_t)m->elements * 8 + 1);
        REQUIRE(c->payload);
        for (int64_t i = 0; i < m->elements; i++)
            put(c->payload, p->payload, i, rng_next(r), 0);
    }
}

/* ---- Outputs ---- */

/* The narrowest type that surely holds squared distances exactly: the shape alone tells. */
static distmap_dtype exact_squares(const distmap_problem *p) {
    const struct exact_unit unit = exact_unit_of(p);
    const double one = p->unit > 0 || !unit.integer ? 1 : exact_square(&unit, 1, false);
    if (!unit.integer || one != floor(one))
        return DISTMAP_FLOAT64;
    double sum = p->input == DISTMAP_INPUT_SAMPLED ? 1e12 : 0;
    for (int a = 0; a < p->ndim; a++) {
        const double n = (double)p->shape[a];
        sum += (double)(unit.n[a] * unit.n[a]) * fmax(n - 1, p->border) * fmax(n - 1, p->border);
    }
    return sum * one < 4294967295.0 ? DISTMAP_UINT32 : sum * one < 0x1p63 ? DISTMAP_UINT64 : DISTMAP_FLOAT64;
}

/* Distances of the metrics that are made of steps: any type that surely holds them. */
static distmap_dtype whole_distances(const distmap_problem *p, struct rng *r) {
    static const distmap_dtype small[] = {DISTMAP_FLOAT32, DISTMAP_FLOAT64, DISTMAP_UINT16, DISTMAP_INT16,
                                          DISTMAP_INT32,   DISTMAP_UINT32,  DISTMAP_INT64,  DISTMAP_UINT64};
    int64_t most = p->border;
    for (int a = 0; a < p->ndim; a++)
        most += p->shape[a];
    most *= p->metric == DISTMAP_METRIC_CHAMFER ? p->chamfer[0] : 1;
    if (p->limit > 0 && p->limit < 100 && rng_chance(r, 0.5))
        return rng_chance(r, 0.5) ? DISTMAP_UINT8 : DISTMAP_INT8;
    return most < INT16_MAX ? PICK(r, small) : small[most < INT32_MAX ? rng_range(r, 4, 7) : rng_range(r, 6, 7)];
}

/* The masks of what lies within the limit and beyond it: neither, one or both. */
static void draw_masks(const distmap_problem *p, struct rng *r, distmap_outputs *w) {
    if (!(p->limit > 0))
        return;
    if (rng_chance(r, 0.5))
        w->within = rng_chance(r, 0.5) ? DISTMAP_BOOL : DISTMAP_UINT8;
    if (rng_chance(r, 0.5))
        w->beyond = rng_chance(r, 0.5) ? DISTMAP_BOOL : DISTMAP_UINT8;
    if (w->beyond && p->input == DISTMAP_INPUT_LABELS)
        w->beyond = p->dtype == DISTMAP_UINT64 || rng_chance(r, 0.5) ? p->dtype : DISTMAP_INT64;
}

distmap_outputs recipe_outputs(const struct test_case *c, int number, struct rng *r) {
    const distmap_problem *p = &c->problem;
    const distmap_dtype exact = exact_squares(p);
    const distmap_dtype index = c->loose_ties || p->payload == DISTMAP_INT64 ? DISTMAP_INT64 : DISTMAP_INT32;
    const bool coords = !p->payload, labels = p->input != DISTMAP_INPUT_SAMPLED && !is_float(p->dtype);
    const bool steps = p->metric != DISTMAP_METRIC_EUCLIDEAN;
    static const distmap_dtype roots[] = {DISTMAP_NONE, DISTMAP_FLOAT32, DISTMAP_FLOAT64};
    bool narrow = true;
    for (int a = 0; a < p->ndim; a++)
        narrow &= p->shape[a] <= 32768;
    distmap_outputs w = {0};
    if (number == 0 && !p->payload) {
        if (rng_chance(r, 0.7))
            draw_masks(p, r, &w);
        if (!w.within && !w.beyond) {
            w.distance = DISTMAP_FLOAT32;
            w.index = rng_chance(r, 0.5) ? index : DISTMAP_NONE;
        }
        return w;
    }
    if (number == 1 || p->payload) {
        w = (distmap_outputs){
            .squared = exact, .index = index, .coords = coords ? narrow ? DISTMAP_INT16 : DISTMAP_INT32 : DISTMAP_NONE};
        w.label = labels ? p->dtype : DISTMAP_NONE;
        if (p->payload && rng_chance(r, 0.5)) {
            w.squared = DISTMAP_NONE;
            w.distance = DISTMAP_FLOAT32;
        }
        if (steps || p->sign) {
            w.squared = DISTMAP_NONE;
            w.distance = steps ? whole_distances(p, r) : PICK(r, roots);
        }
        return w;
    }
    const distmap_dtype squares[] = {DISTMAP_NONE, DISTMAP_FLOAT32, DISTMAP_FLOAT64, exact,
                                     exact == DISTMAP_FLOAT64 ? DISTMAP_FLOAT32 : DISTMAP_UINT64};
    w.distance = PICK(r, roots);
    w.squared = PICK(r, squares);
    if (steps) {
        w.squared = DISTMAP_NONE;
        w.distance = whole_distances(p, r);
    }
    if (p->sign && (p->surface || !is_float(w.squared)))
        w.squared = DISTMAP_NONE;
    if (rng_chance(r, 0.5)) {
        w.index = rng_chance(r, 0.5) ? DISTMAP_INT64 : index;
        w.coords = !coords || rng_chance(r, 0.3) ? DISTMAP_NONE : rng_chance(r, 0.5) ? DISTMAP_INT64 : DISTMAP_INT32;
        w.label = !labels || rng_chance(r, 0.3) ? DISTMAP_NONE
                  : p->dtype == DISTMAP_UINT64  ? DISTMAP_UINT64
                                                : DISTMAP_INT64;
    }
    draw_masks(p, r, &w);
    if (!w.distance && !w.squared && !w.index && !w.within && !w.beyond)
        w.squared = p->sign ? DISTMAP_NONE : exact, w.distance = p->sign ? DISTMAP_FLOAT64 : DISTMAP_NONE;
    return w;
}
