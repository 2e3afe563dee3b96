/* morphology [CASE]: balls by every method of the device, on every runner, to the byte what the header's words give: sets of
 * offsets within R are looked at one by one, in an image with enough of the outside around it that nothing is cut off.
 * DISTMAP_TEST_SEED and DISTMAP_TEST_SCALE are those of `matrix`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../require.h"
#include "drawn.h"

enum { CASES = 700, MOST = 700, MOST_OFFSETS = 3000 };

static long of_set;

struct job {
    distmap_problem problem;
    const void *data; /* the input, row-major */
    int64_t elements;
    int64_t (*offset)[4]; /* within R of the element */
    double *square;       /* and how far, squared */
    int offsets;
    int64_t reach[4]; /* the most that they have, along each axis */
    int64_t *wanted;  /* what each element must become */
    struct placed input, output;
    unsigned char *untouched; /* the input's memory, as it must be afterwards */
};

/* ---- The definition ---- */

/* Of an offset, in the unit of the pitches, which all here have. */
static uint64_t square_of(const struct exact_unit *unit, const int64_t offset[4]) {
    uint64_t sum = 0;
    for (int a = 0; a < DISTMAP_MAX_NDIM; a++)
        sum += unit->n[a] * unit->n[a] * (uint64_t)(offset[a] * offset[a]);
    return sum;
}

static bool is_measured(const distmap_problem *p, int axis) { return p->axes == 0 || p->axes >> axis & 1; }

/* Finds the offsets. False when they are too many. */
static bool find_offsets(struct job *j) {
    const distmap_problem *p = &j->problem;
    const struct exact_unit unit = exact_unit_of(p);
    int64_t bound[4] = {0}, at[4] = {0};
    for (int a = 0; a < p->ndim; a++) {
        const double w = exact_pitch(p->spacing[a]);
        bound[a] = is_measured(p, a) ? (int64_t)(p->morphology.radius / w) + 1 : 0;
        at[a] = -bound[a];
        if (bound[a] > 100)
            return false;
    }
    for (;;) {
        const uint64_t square = square_of(&unit, at);
        if (exact_distance(&unit, square, false) <= p->morphology.radius) {
            if (j->offsets == MOST_OFFSETS)
                return false;
            j->square[j->offsets] = (double)square;
            memcpy(j->offset[j->offsets++], at, sizeof at);
            for (int a = 0; a < p->ndim; a++)
                j->reach[a] = llabs(at[a]) > j->reach[a] ? llabs(at[a]) : j->reach[a];
        }
        int a = p->ndim - 1;
        for (; a >= 0 && ++at[a] > bound[a]; a--)
            at[a] = -bound[a];
        if (a < 0)
            return true;
    }
}

/* A mask of the image with `around` times the reach on either side. */
struct field {
    int64_t low[4], length[4], count;
    uint8_t *in;
};

static struct field field_make(const struct job *j, int around) {
    struct field f = {.count = 1};
    for (int a = 0; a < j->problem.ndim; a++) {
        f.low[a] = -around * j->reach[a];
        f.length[a] = j->problem.shape[a] + 2 * around * j->reach[a];
        f.count *= f.length[a];
    }
    f.in = calloc(1, (size_t)f.count);
    REQUIRE(f.in);
    return f;
}

static void place_in(const struct job *j, const struct field *f, int64_t i, int64_t at[4]) {
    for (int a = j->problem.ndim - 1; a >= 0; a--) {
        at[a] = i % f->length[a] + f->low[a];
        i /= f->length[a];
    }
}

/* Number of an element of the field, or -1 beyond it. */
static int64_t number_in(const struct job *j, const struct field *f, const int64_t at[4]) {
    int64_t i = 0;
    for (int a = 0; a < j->problem.ndim; a++) {
        if (at[a] < f->low[a] || at[a] >= f->low[a] + f->length[a])
            return -1;
        i = i * f->length[a] + at[a] - f->low[a];
    }
    return i;
}

/* to[p] = whether any, or all, of the elements within R of p are in `from`, which is a reach larger on all sides. */
static struct field step(const struct job *j, struct field from, int around, bool all) {
    const struct field to = field_make(j, around);
    for (int64_t i = 0; i < to.count; i++) {
        int64_t at[4] = {0};
        place_in(j, &to, i, at);
        to.in[i] = all;
        for (int k = 0; k < j->offsets && to.in[i] == all; k++) {
            int64_t q[4];
            for (int a = 0; a < 4; a++)
                q[a] = at[a] + j->offset[k][a];
            to.in[i] = from.in[number_in(j, &from, q)];
        }
    }
    free(from.in);
    return to;
}

static int64_t label_at(const struct job *j, int64_t i) {
    return (int64_t)oracle_element(j->data, j->problem.dtype, i);
}

/* What becomes of a set, the elements with that label or, with label 0, the sites, gets `value`. */
static void find_set(const struct job *j, int64_t label, int64_t value) {
    const distmap_problem *p = &j->problem;
    const bool twice = p->morphology.step >= DISTMAP_MORPHOLOGY_OPEN;
    const bool erodes_first =
        p->morphology.step == DISTMAP_MORPHOLOGY_ERODE || p->morphology.step == DISTMAP_MORPHOLOGY_OPEN;
    const struct field image = field_make(j, 0);
    struct field set = field_make(j, twice ? 2 : 1);
    for (int64_t i = 0; i < set.count; i++) {
        int64_t at[4] = {0};
        place_in(j, &set, i, at);
        const int64_t inside = number_in(j, &image, at);
        set.in[i] = inside < 0 ? p->morphology.outside
                    : label    ? label_at(j, inside) == label
                               : oracle_is_ruled(p, j->data, inside);
    }
    free(image.in);
    set = step(j, set, twice ? 1 : 0, erodes_first);
    if (twice)
        set = step(j, set, 0, !erodes_first);
    for (int64_t i = 0; i < j->elements; i++)
        if (set.in[i])
            j->wanted[i] = value;
    free(set.in);
}

static void find_mask(const struct job *j) {
    memset(j->wanted, 0, (size_t)j->elements * sizeof *j->wanted);
    find_set(j, 0, 1);
}

/* Each label's by itself, once. */
static void find_openings(const struct job *j) {
    memset(j->wanted, 0, (size_t)j->elements * sizeof *j->wanted);
    for (int64_t i = 0; i < j->elements; i++) {
        bool first = label_at(j, i) != 0;
        for (int64_t k = 0; k < i && first; k++)
            first = label_at(j, k) != label_at(j, i);
        if (first)
            find_set(j, label_at(j, i), label_at(j, i));
    }
}

static void find_labels(const struct job *j) {
    const distmap_problem *p = &j->problem;
    const bool erodes = p->morphology.step == DISTMAP_MORPHOLOGY_ERODE;
    const struct field image = field_make(j, 0);
    for (int64_t i = 0; i < j->elements; i++) {
        int64_t at[4] = {0}, nearest = -1;
        double best = INFINITY;
        bool other = false;
        place_in(j, &image, i, at);
        for (int k = 0; k < j->offsets; k++) {
            int64_t q[4];
            for (int a = 0; a < 4; a++)
                q[a] = at[a] + j->offset[k][a];
            const int64_t found = number_in(j, &image, q);
            if (found < 0) {
                other |= !p->morphology.outside;
                continue;
            }
            other |= label_at(j, found) != label_at(j, i);
            const double d = j->square[k];
            if (label_at(j, found) != 0 && (d < best || (d == best && found < nearest))) {
                best = d;
                nearest = found;
            }
        }
        j->wanted[i] = erodes ? other ? 0 : label_at(j, i) : nearest < 0 ? 0 : label_at(j, nearest);
    }
    free(image.in);
}

/* ---- One run ---- */

static const char *run_plan(const struct drawn_job *d, const struct runner *runner, distmap_plan *plan) {
    struct job *j = d->more;
    const bool labels = j->problem.input == DISTMAP_INPUT_LABELS;
    layout_poison(&j->output);
    distmap_arrays arrays = {.input = runner_send(runner, &j->input)};
    *(labels ? &arrays.label : &arrays.mask) = runner_send(runner, &j->output);
    if (distmap_plan_execute(plan, &arrays) || distmap_plan_wait(plan))
        return distmap_error_text();
    runner_fetch(runner, &j->input);
    runner_fetch(runner, &j->output);
    if (memcmp(j->untouched, j->input.memory, j->input.bytes) != 0)
        return "the input was changed";
    if (distmap_plan_flags(plan) & ~(unsigned)DISTMAP_FLAG_NAN)
        return "other flags";
    return layout_holds(&j->output, j->elements, j->wanted, sizeof *j->wanted) ? NULL : "another result";
}

static void tell(const struct drawn_job *d) {
    const distmap_problem *p = d->problem;
    fprintf(stderr, "input %d dtype %s, sites %d, step %d, radius %.17g, outside %d", (int)p->input,
            distmap_dtype_name(p->dtype), (int)p->sites.rule, (int)p->morphology.step, p->morphology.radius,
            p->morphology.outside);
}

/* ---- One case ---- */

static void draw_morphology(distmap_problem *p, struct rng *r) {
    static const double radii[] = {0, 0.5, 1, 1, 1.4142135623730951, 2, 2, 2.5, 3, 3.605551275463989, 5, 7.3, 11};
    static const double halves[] = {0.5, 1.25, 1, 2, 0.75}; /* products of these are exact */
    static const double written[] = {0.65, 1.3, 0.7, 2.5, 0.7f};
    const double kind = rng_unit(r), *some = kind < 0.2 ? halves : written;
    double least = INFINITY;
    for (int a = 0; kind < 0.5 && a < p->ndim; a++)
        p->spacing[a] = some[rng_range(r, 0, 4)];
    for (int a = 0; a < p->ndim; a++)
        least = fmin(least, exact_pitch(p->spacing[a]));
    const bool labels = p->input == DISTMAP_INPUT_LABELS;
    p->field = DISTMAP_FIELD_MORPHOLOGY;
    p->morphology.step = (distmap_morphology_step)rng_range(r, 0, labels ? 2 : 3);
    p->morphology.radius = radii[rng_range(r, 0, 12)] * least;
    if (rng_chance(r, 0.3)) { /* a distance of the map itself */
        const struct exact_unit unit = exact_unit_of(p);
        int64_t offset[DISTMAP_MAX_NDIM] = {0};
        for (int a = 0; a < p->ndim; a++)
            offset[a] = is_measured(p, a) ? rng_range(r, 0, 2) : 0;
        p->morphology.radius = exact_distance(&unit, square_of(&unit, offset), false);
    }
    p->morphology.outside = rng_chance(r, 0.4) && !(labels && p->morphology.step != DISTMAP_MORPHOLOGY_ERODE);
    if (labels)
        p->want.label = p->dtype == DISTMAP_UINT64 || rng_chance(r, 0.5) ? p->dtype : DISTMAP_INT64;
    else
        p->want.mask = rng_chance(r, 0.5) ? DISTMAP_BOOL : DISTMAP_UINT8;
}

static void run_case(int number, uint64_t seed, struct rng *r) {
    static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 40, 64, 65, 100};
    struct image m = {0};
    drawn_shape(&m, lengths, sizeof lengths / sizeof *lengths, MOST, r);
    const int pattern = (int)rng_range(r, 0, corpus_count - 1);
    const bool labels = rng_chance(r, 0.25);
    const unsigned features = (rng_chance(r, 0.3) ? VARY_AXES : 0) | (rng_chance(r, 0.3) ? VARY_INTEGER_SPACING : 0) |
                              VARY_LAYOUT | (rng_chance(r, 0.5) && !labels ? VARY_DTYPE : 0) |
                              (labels ? LABELS_INPUT : 0);
    struct test_case c = {.number = number};
    m.site = malloc((size_t)m.elements);
    REQUIRE(m.site);
    corpus_paint(pattern, &m, r);
    recipe_make(&c, &m, features, r);
    if (labels && rng_chance(r, 0.5)) /* specks with much background, where several are equally near */
        for (int64_t i = 0; i < m.elements; i++) {
            const size_t size = distmap_dtype_size(c.problem.dtype);
            memset((char *)c.input + (size_t)i * size, 0, rng_chance(r, 0.85) ? size : 0);
        }
    draw_morphology(&c.problem, r);
    struct job j = {.problem = c.problem,
                    .data = c.input,
                    .elements = m.elements,
                    .offset = malloc(MOST_OFFSETS * sizeof *j.offset),
                    .square = malloc(MOST_OFFSETS * sizeof *j.square),
                    .wanted = malloc((size_t)m.elements * sizeof *j.wanted)};
    REQUIRE(j.offset && j.square && j.wanted);
    while (!find_offsets(&j)) {
        j.problem.morphology.radius /= 2;
        j.offsets = 0;
        memset(j.reach, 0, sizeof j.reach);
    }
    if (!labels)
        find_mask(&j);
    else if (j.problem.morphology.step == DISTMAP_MORPHOLOGY_OPEN)
        find_openings(&j);
    else
        find_labels(&j);
    for (int64_t i = 0; i < m.elements; i++)
        of_set += j.wanted[i] != 0;
    j.input = drawn_place(c.in, c.problem.dtype, &m, c.input);
    j.output = layout_place(c.out, labels ? c.problem.want.label : c.problem.want.mask, m.ndim, m.shape);
    j.untouched = malloc(j.input.bytes);
    REQUIRE(j.untouched);
    memcpy(j.untouched, j.input.memory, j.input.bytes);
    char name[DRAWN_NAME];
    drawn_name(name, sizeof name, "morphology", number, seed, pattern, &m);
    const struct drawn_job drawn = {name, number, &j.problem, run_plan, tell, &j};
    drawn_run(&drawn, DISTMAP_FIELD_MORPHOLOGY);
    runner_drop(&j.input);
    runner_drop(&j.output);
    free(j.untouched);
    free(j.offset);
    free(j.square);
    free(j.wanted);
    free(c.input);
    free(m.site);
}

int main(int argc, char **argv) {
    return drawn_main(argc, argv, "morphology", CASES, "elements left", &of_set, run_case);
}
