/* thickness [CASE]: local thickness by every method of the device, on every runner, to the bit what the header's words give:
 * for each element all elements of its batch are asked whether their ball holds it, their radii being the oracle's distances.
 * DISTMAP_TEST_SEED and DISTMAP_TEST_SCALE are those of `matrix`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../require.h"
#include "drawn.h"

enum { CASES = 500, MOST = 2500 };

static long grown;

struct job {
    distmap_problem problem;
    int64_t elements;
    const struct expected *radii;
    int64_t *largest; /* for each element the centre of the largest ball that holds it */
    struct placed input, distance, squared;
    unsigned char *untouched; /* the input's memory, as it must stay */
};

/* ---- The definition ---- */

static bool is_measured(const distmap_problem *p, int axis) { return p->axes == 0 || p->axes >> axis & 1; }
static double pitch(const distmap_problem *p, int axis) { return exact_pitch(p->spacing[axis]); }

static void split(const distmap_problem *p, int64_t i, int64_t at[4]) {
    for (int a = p->ndim - 1; a >= 0; a--) {
        at[a] = i % p->shape[a];
        i /= p->shape[a];
    }
}

static bool is_larger(const struct expected *r, int64_t a, int64_t b) {
    return r->integer ? r->d2[a] > r->d2[b] : r->d2f[a] > r->d2f[b];
}

/* Whether the ball of c holds p, both of one batch. */
static bool holds(const struct job *j, int64_t c, const int64_t at_c[4], const int64_t at_p[4]) {
    const distmap_problem *q = &j->problem;
    uint64_t whole = 0;
    double real = 0;
    for (int a = q->ndim - 1; a >= 0; a--) {
        const int64_t d = at_c[a] - at_p[a];
        const uint64_t n = j->radii->unit.n[a];
        if (!is_measured(q, a) && d)
            return false;
        whole += n * n * (uint64_t)(d * d);
        if (!j->radii->integer)
            real = fma(pitch(q, a) * pitch(q, a), (double)(d * d), real);
    }
    return j->radii->integer ? whole < j->radii->d2[c] : real < j->radii->d2f[c];
}

static bool has_none(const struct job *j, int64_t i) { return j->radii->index[i] == DISTMAP_INDEX_NONE; }

static void find_largest(const struct job *j) {
    for (int64_t p = 0; p < j->elements; p++)
        j->largest[p] = p;
    for (int64_t c = 0; c < j->elements; c++) {
        int64_t at_c[4], at_p[4];
        split(&j->problem, c, at_c);
        for (int64_t p = 0; p < j->elements && !has_none(j, c); p++) {
            split(&j->problem, p, at_p);
            if (!has_none(j, p) && is_larger(j->radii, c, j->largest[p]) && holds(j, c, at_c, at_p))
                j->largest[p] = c;
        }
    }
}

/* ---- One run ---- */

/* What an output must hold for the element, in `value`. */
static void wanted_value(const struct job *j, int64_t i, distmap_dtype dtype, bool thickness, void *value) {
    const int64_t c = j->largest[i];
    const bool none = has_none(j, i);
    const struct expected *e = j->radii;
    const float single = none        ? INFINITY
                         : thickness ? 2 * (float)oracle_distance(&j->problem, e, c, true)
                                     : (float)oracle_square(e, c, true);
    const double wide = none        ? (double)INFINITY
                        : thickness ? 2 * oracle_distance(&j->problem, e, c, false)
                                    : oracle_square(e, c, false);
    const uint64_t u64 = none ? UINT64_MAX : e->integer ? e->d2[c] * (uint64_t)exact_square(&e->unit, 1, false) : 0;
    const uint32_t u32 = (uint32_t)u64;
    switch (dtype) {
    case DISTMAP_FLOAT32: memcpy(value, &single, 4); break;
    case DISTMAP_FLOAT64: memcpy(value, &wide, 8); break;
    case DISTMAP_UINT32: memcpy(value, &u32, 4); break;
    default: memcpy(value, &u64, 8); break;
    }
}

static bool output_is_right(const struct job *j, const struct placed *out, bool thickness) {
    const size_t size = distmap_dtype_size(out->view.dtype);
    char *values = malloc((size_t)j->elements * size);
    REQUIRE(values);
    for (int64_t i = 0; i < j->elements; i++)
        wanted_value(j, i, out->view.dtype, thickness, values + (size_t)i * size);
    const bool right = layout_holds(out, j->elements, values, size);
    free(values);
    return right;
}

static const char *run_plan(const struct drawn_job *d, const struct runner *runner, distmap_plan *plan) {
    struct job *j = d->more;
    distmap_arrays arrays = {0};
    const distmap_outputs *want = &j->problem.want;
    const struct drawn_output outputs[] = {{want->distance ? &j->distance : NULL, &arrays.distance},
                                           {want->squared ? &j->squared : NULL, &arrays.squared}};
    const char *why = drawn_execute(runner, plan, &arrays, &j->input, j->untouched, outputs, 2, j->radii->flags);
    if (why)
        return why;
    if (want->distance && !output_is_right(j, &j->distance, true))
        return "another thickness";
    return !want->squared || output_is_right(j, &j->squared, false) ? NULL : "other squares";
}

static void tell(const struct drawn_job *d) {
    const distmap_problem *p = d->problem;
    fprintf(stderr, "border %d, axes 0x%x, spacing %g %g %g %g, outputs %s %s", p->border, p->axes, p->spacing[0],
            p->spacing[1], p->spacing[2], p->spacing[3], distmap_dtype_name(p->want.distance),
            distmap_dtype_name(p->want.squared));
}

/* ---- One case ---- */

static void draw_thickness(distmap_problem *p, struct rng *r) {
    static const double quarters[] = {0.5, 1.25, 1, 2, 0.75}, odd[] = {0.7, 3.2, 1e-3, 12.34, 1e9, 1.0 / 3};
    static const distmap_dtype squares[] = {DISTMAP_UINT64, DISTMAP_UINT32, DISTMAP_FLOAT32, DISTMAP_FLOAT64};
    while (__builtin_popcount(p->axes ? p->axes : (1u << p->ndim) - 1) > 3)
        p->axes = 1 + (unsigned)rng_range(r, 0, (1 << p->ndim) - 3);
    const int64_t spacing = rng_range(r, 0, 9);
    const double one = odd[rng_range(r, 0, 5)];
    for (int a = 0; a < p->ndim; a++) {
        if (spacing == 0)
            p->spacing[a] = quarters[rng_range(r, 0, 4)];
        else if (spacing == 1)
            p->spacing[a] = one;
        else if (spacing == 2)
            p->spacing[a] = one * (double)(1 << rng_range(r, 0, 2));
        else if (spacing == 3)
            p->spacing[a] = 0.3 + rng_unit(r);
    }
    if (spacing == 4 && rng_chance(r, 0.3)) /* beyond what filters take */
        p->spacing[0] = 1e7;
    bool whole = true;
    for (int a = 0; a < p->ndim; a++)
        whole &= pitch(p, a) == floor(pitch(p, a)) && pitch(p, a) <= 1 << 20;
    whole = whole && exact_unit_of(p).integer;
    p->field = DISTMAP_FIELD_THICKNESS;
    const int64_t outputs = rng_range(r, 0, 3);
    p->want.distance = outputs != 1 ? rng_chance(r, 0.5) ? DISTMAP_FLOAT32 : DISTMAP_FLOAT64 : DISTMAP_NONE;
    p->want.squared =
        outputs == 1 || outputs == 2 ? squares[whole ? rng_range(r, 0, 3) : rng_range(r, 2, 3)] : DISTMAP_NONE;
    if (p->want.squared == DISTMAP_UINT32) /* it must hold the largest possible value */
        for (int a = 0; a < p->ndim; a++)
            if (pitch(p, a) > 100)
                p->want.squared = DISTMAP_UINT64;
}

static void run_case(int number, uint64_t seed, struct rng *r) {
    static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 11, 13, 15, 16, 17, 31, 33, 47, 63, 64, 65, 100, 129, 200};
    struct image m = {0};
    drawn_shape(&m, lengths, sizeof lengths / sizeof *lengths, MOST, r);
    const int pattern = (int)rng_range(r, 0, corpus_count - 1);
    const unsigned features = (rng_chance(r, 0.5) ? VARY_AXES : 0) | (rng_chance(r, 0.3) ? VARY_BORDER : 0) |
                              (rng_chance(r, 0.3) ? VARY_INTEGER_SPACING : 0) | VARY_LAYOUT |
                              (rng_chance(r, 0.5) ? VARY_DTYPE : 0);
    struct test_case c = {.number = number};
    m.site = malloc((size_t)m.elements);
    REQUIRE(m.site);
    corpus_paint(pattern, &m, r);
    recipe_make(&c, &m, features, r);
    draw_thickness(&c.problem, r);
    struct expected e = {.d2 = malloc((size_t)m.elements * sizeof *e.d2),
                         .d2f = malloc((size_t)m.elements * sizeof *e.d2f),
                         .index = malloc((size_t)m.elements * sizeof *e.index)};
    REQUIRE(e.d2 && e.d2f && e.index);
    struct job j = {.problem = c.problem,
                    .elements = m.elements,
                    .radii = &e,
                    .largest = malloc((size_t)m.elements * sizeof *j.largest)};
    REQUIRE(j.largest);
    oracle_compute(&j.problem, c.input, &e);
    find_largest(&j);
    for (int64_t i = 0; i < m.elements; i++)
        grown += j.largest[i] != i;
    const distmap_outputs *want = &c.problem.want;
    j.input = drawn_place(c.in, c.problem.dtype, &m, c.input);
    j.distance = layout_place(c.out, want->distance ? want->distance : DISTMAP_FLOAT32, m.ndim, m.shape);
    j.squared = layout_place(c.out, want->squared ? want->squared : DISTMAP_FLOAT32, m.ndim, m.shape);
    j.untouched = malloc(j.input.bytes);
    REQUIRE(j.untouched);
    memcpy(j.untouched, j.input.memory, j.input.bytes);
    char name[DRAWN_NAME];
    drawn_name(name, sizeof name, "thickness", number, seed, pattern, &m);
    const struct drawn_job drawn = {name, number, &j.problem, run_plan, tell, &j};
    drawn_run(&drawn, DISTMAP_FIELD_THICKNESS);
    runner_drop(&j.input);
    runner_drop(&j.distance);
    runner_drop(&j.squared);
    free(j.untouched);
    free(j.largest);
    free(e.d2);
    free(e.d2f);
    free(e.index);
    free(c.input);
    free(m.site);
}

int main(int argc, char **argv) {
    return drawn_main(argc, argv, "thickness", CASES, "elements in larger balls than their own", &grown, run_case);
}
