/* comparison [CASE]: two drawn sets compared by every method of the device, on every runner: every number to the bit what the
 * header's words give for the oracle's distances, all of them sorted and added up in whole numbers.
 * DISTMAP_TEST_SEED and DISTMAP_TEST_SCALE are those of `matrix`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../require.h"
#include "drawn.h"

enum { CASES = 900, MOST = 1500 };

__extension__ typedef unsigned __int128 wide;

static long measured;

struct set {
    distmap_problem problem; /* of its own mask */
    void *data;              /* row-major */
    unsigned char *point;
    int64_t elements, points;
    struct placed placed;
    unsigned char *untouched; /* the mask's memory, as it must stay */
};

struct job {
    distmap_problem problem;
    int64_t elements;
    struct set set[2];
    distmap_agreement expected;
};

/* ---- The definition ---- */

static double pitch(const distmap_problem *p, int a) { return exact_pitch(p->spacing[a]); }

static void find_points(const struct job *j, struct set *s) {
    for (int64_t i = 0; i < j->elements; i++) {
        bool inside = true;
        int64_t step = 1;
        if (!oracle_offers(&s->problem, s->data, i))
            continue;
        s->elements++;
        for (int a = j->problem.ndim - 1; a >= 0; a--) {
            const int64_t at = i / step % j->problem.shape[a];
            inside &= at > 0 && oracle_offers(&s->problem, s->data, i - step);
            inside &= at < j->problem.shape[a] - 1 && oracle_offers(&s->problem, s->data, i + step);
            step *= j->problem.shape[a];
        }
        s->point[i] = j->problem.comparison.points == DISTMAP_POINTS_SET || !inside;
        s->points += s->point[i];
    }
}

/* Distances from the points of one set to the other's. */
struct distances {
    double *root;
    int64_t count;
    wide sum, squares;
};

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 2^-s, in which every distance is a whole number. */
static int place_of(const struct job *j) {
    double least = INFINITY;
    for (int a = 0; a < j->problem.ndim; a++)
        least = fmin(least, pitch(&j->problem, a));
    return 52 - ilogb(least);
}

static wide whole(double value, int place) {
    const double scaled = ldexp(value, place);
    REQUIRE(scaled == floor(scaled) && scaled < 0x1p126);
    return (wide)scaled;
}

static void measure(const struct job *j, const struct set *from, const struct set *to, struct distances *d,
                    distmap_directed *out) {
    distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = j->problem.ndim, .sites.rule = DISTMAP_SITES_NONZERO};
    memcpy(p.shape, j->problem.shape, sizeof p.shape);
    memcpy(p.spacing, j->problem.spacing, sizeof p.spacing);
    struct expected e = {.d2 = malloc((size_t)j->elements * sizeof *e.d2),
                         .d2f = malloc((size_t)j->elements * sizeof *e.d2f),
                         .index = malloc((size_t)j->elements * sizeof *e.index)};
    d->root = malloc((size_t)j->elements * sizeof *d->root);
    REQUIRE(e.d2 && e.d2f && e.index && d->root);
    oracle_compute(&p, to->point, &e);
    out->points = from->points;
    for (int64_t i = 0; to->points && i < j->elements; i++) {
        if (!from->point[i])
            continue;
        const double distance = oracle_distance(&p, &e, i, false);
        d->root[d->count++] = distance;
        d->sum += whole(distance, place_of(j));
        d->squares += e.integer ? (wide)e.d2[i] : whole(e.d2f[i], 2 * place_of(j) - 52);
        out->within += distance <= j->problem.comparison.tolerance;
    }
    qsort(d->root, (size_t)d->count, sizeof *d->root, ascending);
    measured += d->count;
    free(e.d2);
    free(e.d2f);
    free(e.index);
}

static double average(wide sum, int place, int64_t count) { return ldexp((double)sum, -place) / (double)count; }

static void set_means(const struct job *j, distmap_directed *out, wide sum, wide squares, int64_t count) {
    const struct exact_unit unit = exact_unit_of(&j->problem);
    out->mean = average(sum, place_of(j), count);
    out->rms = unit.integer ? sqrt(average(squares, 0, count)) * exact_distance(&unit, 1, false)
                            : sqrt(average(squares, 2 * place_of(j) - 52, count));
}

static void set_all(const struct job *j, distmap_directed *out, double value) {
    out->hausdorff = out->mean = out->rms = value;
    for (int i = 0; i < j->problem.comparison.percentile_count; i++)
        out->percentile[i] = value;
}

/* numpy.percentile, of sorted values. */
static double percentile_of(const struct distances *d, double percent) {
    const double at = (double)(d->count - 1) * (percent / 100);
    const int64_t k = (int64_t)floor(at), next = k + 1 < d->count ? k + 1 : k;
    const double part = at - floor(at), rise = d->root[next] - d->root[k];
    return part >= 0.5 ? d->root[next] - rise * (1 - part) : d->root[k] + rise * part;
}

static void find_expected(struct job *j) {
    distmap_agreement *e = &j->expected;
    struct distances d[2] = {0};
    distmap_directed *const to[] = {&e->forward, &e->backward}, *both = &e->symmetric;
    const int percentiles = j->problem.comparison.percentile_count;
    for (int i = 0; i < 2; i++) {
        find_points(j, &j->set[i]);
        e->elements[i] = j->set[i].elements;
    }
    for (int64_t i = 0; i < j->elements; i++)
        e->common += oracle_offers(&j->set[0].problem, j->set[0].data, i) &&
                     oracle_offers(&j->set[1].problem, j->set[1].data, i);
    for (int i = 0; i < 2; i++) {
        measure(j, &j->set[i], &j->set[!i], &d[i], to[i]);
        if (d[i].count == 0) {
            set_all(j, to[i], j->set[i].points ? INFINITY : NAN);
            continue;
        }
        to[i]->hausdorff = d[i].root[d[i].count - 1];
        set_means(j, to[i], d[i].sum, d[i].squares, d[i].count);
        for (int q = 0; q < percentiles; q++)
            to[i]->percentile[q] = percentile_of(&d[i], j->problem.comparison.percentile[q]);
    }
    both->points = j->set[0].points + j->set[1].points;
    both->within = e->forward.within + e->backward.within;
    if (d[0].count && d[1].count) {
        set_means(j, both, d[0].sum + d[1].sum, d[0].squares + d[1].squares, both->points);
        both->hausdorff = fmax(e->forward.hausdorff, e->backward.hausdorff);
        for (int q = 0; q < percentiles; q++)
            both->percentile[q] = fmax(e->forward.percentile[q], e->backward.percentile[q]);
    } else {
        set_all(j, both, both->points ? INFINITY : NAN);
    }
    const double all = (double)(e->elements[0] + e->elements[1]), common = (double)e->common;
    e->surface_dice = both->points ? (double)both->within / (double)both->points : NAN;
    e->dice = all > 0 ? 2 * common / all : NAN;
    e->jaccard = all > 0 ? common / (all - common) : NAN;
    for (int i = 0; i < 2; i++)
        free(d[i].root);
}

/* ---- One run ---- */

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static const char *directed_differs(const distmap_directed *got, const distmap_directed *want) {
    if (got->points != want->points)
        return "other points";
    if (got->within != want->within)
        return "another count within the tolerance";
    if (!same(got->hausdorff, want->hausdorff))
        return "another Hausdorff distance";
    if (!same(got->mean, want->mean))
        return "another mean";
    if (!same(got->rms, want->rms))
        return "another root mean square";
    for (int i = 0; i < DISTMAP_MAX_PERCENTILES; i++)
        if (!same(got->percentile[i], want->percentile[i]))
            return "another percentile";
    return NULL;
}

static const char *agreement_differs(const distmap_agreement *got, const distmap_agreement *want) {
    const distmap_directed *const of[][2] = {
        {&got->forward, &want->forward}, {&got->backward, &want->backward}, {&got->symmetric, &want->symmetric}};
    if (got->elements[0] != want->elements[0] || got->elements[1] != want->elements[1] || got->common != want->common)
        return "other elements";
    for (int i = 0; i < 3; i++)
        if (directed_differs(of[i][0], of[i][1]))
            return directed_differs(of[i][0], of[i][1]);
    return same(got->surface_dice, want->surface_dice) && same(got->dice, want->dice) &&
                   same(got->jaccard, want->jaccard)
               ? NULL
               : "another overlap";
}

static const char *run_plan(const struct drawn_job *d, const struct runner *runner, distmap_plan *plan) {
    struct job *j = d->more;
    const distmap_arrays arrays = {.input = runner_send(runner, &j->set[0].placed),
                                   .other = runner_send(runner, &j->set[1].placed)};
    distmap_agreement got;
    memset(&got, 0xAA, sizeof got);
    if (distmap_plan_execute(plan, &arrays) || distmap_plan_agreement(plan, &got))
        return distmap_error_text();
    for (int i = 0; i < 2; i++) {
        runner_fetch(runner, &j->set[i].placed);
        if (memcmp(j->set[i].untouched, j->set[i].placed.memory, j->set[i].placed.bytes) != 0)
            return "an input was changed";
    }
    const bool empty = !j->set[0].points || !j->set[1].points;
    if ((distmap_plan_flags(plan) & ~(unsigned)DISTMAP_FLAG_NAN) != (empty ? DISTMAP_FLAG_NO_SITE : 0))
        return "other flags";
    return agreement_differs(&got, &j->expected);
}

static void tell(const struct drawn_job *d) {
    const distmap_comparison *c = &d->problem->comparison;
    fprintf(stderr, "dtypes %s %s, sites %d, points %d, tolerance %.17g, percentiles",
            distmap_dtype_name(d->problem->dtype), distmap_dtype_name(c->other), (int)d->problem->sites.rule,
            (int)c->points, c->tolerance);
    for (int i = 0; i < c->percentile_count; i++)
        fprintf(stderr, " %g", c->percentile[i]);
}

/* ---- One case ---- */

static void draw_comparison(distmap_problem *p, struct rng *r) {
    static const double tolerances[] = {0, 0, 0.5, 1, 1, 1.4142135623730951, 2, 2.5, 3.605551275463989, 5, 1e9, 1e200};
    static const double percents[] = {95, 50, 0, 100, 99.9, 5, 25};
    distmap_comparison *c = &p->comparison;
    p->field = DISTMAP_FIELD_COMPARISON;
    p->want = (distmap_outputs){0};
    c->points = rng_chance(r, 0.6) ? DISTMAP_POINTS_SURFACE : DISTMAP_POINTS_SET;
    c->tolerance = tolerances[rng_range(r, 0, 11)];
    c->percentile_count = (int)rng_range(r, 1, rng_chance(r, 0.1) ? DISTMAP_MAX_PERCENTILES : 3);
    for (int i = 0; i < c->percentile_count; i++)
        c->percentile[i] = rng_chance(r, 0.5) ? percents[rng_range(r, 0, 6)] : 100 * rng_unit(r);
}

/* What B is of: something else, nothing, A itself, A moved on by some elements, or A with some elements changed. */
static void paint_other(const struct image *a, struct image *b, struct rng *r) {
    const int64_t kind = rng_range(r, 0, 9), by = rng_range(r, 1, 5);
    if (kind < 4) {
        corpus_paint((int)rng_range(r, 0, corpus_count - 1), b, r);
        return;
    }
    for (int64_t i = 0; i < b->elements; i++) {
        b->site[i] = kind == 4   ? 0
                     : kind == 5 ? a->site[i]
                     : kind < 8  ? a->site[(i + by) % b->elements]
                                 : a->site[i] ^ (unsigned char)rng_chance(r, 0.02);
    }
}

/* Some elements of a type; little end first. */
enum { SAMPLES = 8 };
static void make_samples(distmap_dtype dtype, const distmap_sites *sites, char *samples) {
    const double ends[] = {sites->lo, sites->hi}, near[] = {0, 1, -1, 3};
    for (int i = 0; i < SAMPLES; i++) {
        const double end = fabs(ends[i & 1]) < 30000 ? ends[i & 1] : 0, value = end + near[i / 2];
        const float single = (float)value;
        const int64_t whole = (int64_t)value;
        const size_t size = distmap_dtype_size(dtype);
        memcpy(samples + (size_t)i * size,
               dtype == DISTMAP_FLOAT32   ? (const void *)&single
               : dtype == DISTMAP_FLOAT64 ? (const void *)&value
                                          : &whole,
               size);
    }
}

/* B's elements, of any type: around the ends of the rule. Where none is of the kind that is wanted, any. */
static void make_other(struct job *j, const struct image *b, struct rng *r) {
    static const distmap_dtype dtypes[] = {DISTMAP_UINT8, DISTMAP_INT16, DISTMAP_INT32, DISTMAP_FLOAT32,
                                           DISTMAP_FLOAT64};
    struct set *s = &j->set[1];
    s->problem = j->set[0].problem;
    s->problem.dtype = dtypes[rng_range(r, 0, 4)];
    char samples[SAMPLES * 8];
    make_samples(s->problem.dtype, &s->problem.sites, samples);
    const size_t size = distmap_dtype_size(s->problem.dtype);
    s->data = calloc((size_t)j->elements, size);
    REQUIRE(s->data);
    for (int64_t i = 0; i < j->elements; i++) {
        int64_t from = rng_range(r, 0, SAMPLES - 1);
        for (int tries = 0; tries < SAMPLES && oracle_offers(&s->problem, samples, from) != b->site[i]; tries++)
            from = (from + 1) % SAMPLES;
        memcpy((char *)s->data + (size_t)i * size, samples + (size_t)from * size, size);
    }
}

static void run_case(int number, uint64_t seed, struct rng *r) {
    static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 40, 64, 65, 100, 129};
    struct image m = {0};
    drawn_shape(&m, lengths, sizeof lengths / sizeof *lengths, rng_chance(r, 0.05) ? 6 * MOST : MOST, r);
    const int pattern = (int)rng_range(r, 0, corpus_count - 1);
    const unsigned features = (rng_chance(r, 0.3)   ? VARY_INTEGER_SPACING
                               : rng_chance(r, 0.3) ? VARY_REAL_SPACING
                                                    : 0) |
                              VARY_LAYOUT | (rng_chance(r, 0.5) ? VARY_DTYPE : 0);
    struct test_case c = {.number = number};
    struct image other = m;
    m.site = malloc((size_t)m.elements);
    other.site = malloc((size_t)m.elements);
    REQUIRE(m.site && other.site);
    corpus_paint(pattern, &m, r);
    recipe_make(&c, &m, features, r);
    draw_comparison(&c.problem, r);
    paint_other(&m, &other, r);
    struct job j = {.problem = c.problem, .elements = m.elements, .set[0] = {.problem = c.problem, .data = c.input}};
    make_other(&j, &other, r);
    j.problem.comparison.other = j.set[1].problem.dtype;
    if (j.problem.comparison.other == j.problem.dtype && rng_chance(r, 0.5))
        j.problem.comparison.other = DISTMAP_NONE;
    for (int i = 0; i < 2; i++) {
        struct set *s = &j.set[i];
        s->point = calloc((size_t)m.elements, 1);
        s->placed =
            drawn_place(i ? (enum layout)rng_range(r, 0, LAYOUT_COUNT - 1) : c.in, s->problem.dtype, &m, s->data);
        s->untouched = malloc(s->placed.bytes);
        REQUIRE(s->point && s->untouched);
        memcpy(s->untouched, s->placed.memory, s->placed.bytes);
    }
    find_expected(&j);
    char name[DRAWN_NAME];
    drawn_name(name, sizeof name, "comparison", number, seed, pattern, &m);
    const struct drawn_job drawn = {name, number, &j.problem, run_plan, tell, &j};
    drawn_run(&drawn, DISTMAP_FIELD_COMPARISON);
    for (int i = 0; i < 2; i++) {
        runner_drop(&j.set[i].placed);
        free(j.set[i].untouched);
        free(j.set[i].point);
        free(j.set[i].data);
    }
    free(m.site);
    free(other.site);
}

int main(int argc, char **argv) {
    return drawn_main(argc, argv, "comparison", CASES, "distances", &measured, run_case);
}
