/* skeleton [CASE]: integer medial axes by every method of the device, on every runner, to the bit what the header's words
 * give for the oracle's nearest sites: every pair of neighbours is looked at once and may mark both ends.
 * DISTMAP_TEST_SEED and DISTMAP_TEST_SCALE are those of `matrix`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../require.h"
#include "drawn.h"

enum { CASES = 500, MOST = 1500 };
/* Now and then an image that has a GPU's warps go far along its axes, of few sites, which an oracle can be asked for. */
enum { LARGE_EACH = 30, LARGE_LEAST = 100000, LARGE_MOST = 400000 };

static long marked;

struct job {
    distmap_problem problem;
    int64_t elements;
    int axes[3], n; /* measured */
    const struct expected *expected;
    unsigned char *on; /* what must be on the skeleton */
    struct placed input, mask, distance;
    unsigned char *untouched; /* the input's memory, as it must stay */
};

/* ---- The oracle ---- */

struct place {
    int64_t at[4], site[4]; /* of all the problem's axes; along batches' axes they agree */
    bool none, background;
};

static void split(const distmap_problem *p, int64_t i, int64_t at[4]) {
    for (int a = p->ndim - 1; a >= 0; a--) {
        at[a] = i % p->shape[a];
        i /= p->shape[a];
    }
}

/* In the unit of the pitches, where they have one. */
static double pitch(const struct job *j, int a) {
    const struct exact_unit *unit = &j->expected->unit;
    return unit->integer ? (double)unit->n[a] : exact_pitch(j->problem.spacing[a]);
}

/* The first of the nearest outside elements, all of them put in order. */
static void nearest_outside(const struct job *j, struct place *p) {
    double best = INFINITY;
    for (int k = 0; k < j->n; k++)
        for (int side = 0; side < 2; side++) {
            const int a = j->axes[k];
            int64_t foot[4];
            memcpy(foot, p->at, sizeof foot);
            foot[a] = side ? j->problem.shape[a] : -1;
            const double d = pitch(j, a) * (double)llabs(foot[a] - p->at[a]);
            int order = 0;
            for (int b = 0; b < j->problem.ndim && !order; b++)
                order = (foot[b] > p->site[b]) - (foot[b] < p->site[b]);
            if (d * d < best || (d * d == best && order < 0)) {
                best = d * d;
                memcpy(p->site, foot, sizeof foot);
            }
        }
}

static struct place place_of(const struct job *j, const int64_t at[4]) {
    const distmap_problem *p = &j->problem;
    struct place made = {.none = false};
    int64_t i = 0;
    bool inside = true;
    for (int a = 0; a < p->ndim; a++) {
        inside &= at[a] >= 0 && at[a] < p->shape[a];
        i = i * p->shape[a] + at[a];
    }
    memcpy(made.at, at, sizeof made.at);
    memcpy(made.site, at, sizeof made.site);
    if (!inside) {
        made.background = true;
        made.none = !p->border;
    } else if (j->expected->index[i] == DISTMAP_INDEX_NONE) {
        made.none = true;
    } else if (j->expected->index[i] == DISTMAP_INDEX_BORDER) {
        nearest_outside(j, &made);
    } else {
        split(p, j->expected->index[i], made.site);
        made.background = j->expected->index[i] == i;
    }
    return made;
}

/* T of the header's words. */
static double threshold(const struct job *j, const struct place *p, const struct place *q) {
    const distmap_skeleton *how = &j->problem.skeleton;
    const struct exact_unit *unit = &j->expected->unit;
    const double gamma = how->gamma / (unit->integer ? exact_distance(unit, 1, false) : 1);
    double s2 = 0, turn = 0, least = INFINITY;
    for (int k = 0; k < j->n; k++) {
        const int a = j->axes[k];
        const double w = pitch(j, a), s = (double)(p->at[a] - p->site[a] + q->at[a] - q->site[a]);
        s2 += w * w * (s * s);
        turn += w * w * ((double)(p->at[a] - q->at[a]) * (double)(p->site[a] - q->site[a]));
        least = fmin(least, w);
    }
    if (how->pruning == DISTMAP_PRUNING_CONSTANT)
        return gamma * gamma;
    if (how->pruning == DISTMAP_PRUNING_LINEAR)
        return how->gamma * how->gamma * s2;
    return least * sqrt(s2) + 2 * turn + (j->n == 3 ? 1.5 : 1.0) * (least * least);
}

static void look_at_pair(const struct job *j, const struct place *p, const struct place *q, unsigned char *on_p,
                         unsigned char *on_q) {
    int64_t steps = 0;
    double d = 0, side = 0;
    if (p->none || q->none)
        return;
    for (int k = 0; k < j->n; k++) {
        const int a = j->axes[k];
        const double w = pitch(j, a), u = (double)(p->site[a] - q->site[a]);
        steps += llabs(p->site[a] - q->site[a]);
        d += w * w * (u * u);
        side += w * w * (u * (double)(p->site[a] + q->site[a] - p->at[a] - q->at[a]));
    }
    if (steps <= 1 || !(d > threshold(j, p, q)))
        return;
    if (side >= 0 && !p->background)
        *on_p = 1;
    if (side <= 0 && !q->background)
        *on_q = 1;
}

static void find_skeleton(const struct job *j) {
    unsigned char outside;
    for (int64_t i = 0; i < j->elements; i++)
        for (int k = 0; k < j->n; k++) {
            const int a = j->axes[k];
            int64_t at[4] = {0}, beside[4], step = 1;
            split(&j->problem, i, at);
            for (int b = a + 1; b < j->problem.ndim; b++)
                step *= j->problem.shape[b];
            memcpy(beside, at, sizeof beside);
            beside[a]++;
            const struct place p = place_of(j, at), next = place_of(j, beside);
            look_at_pair(j, &p, &next, &j->on[i], at[a] + 1 < j->problem.shape[a] ? &j->on[i + step] : &outside);
            if (at[a] == 0) {
                beside[a] = -1;
                const struct place before = place_of(j, beside);
                look_at_pair(j, &before, &p, &outside, &j->on[i]);
            }
        }
}

/* ---- One run ---- */

/* Whether an output holds the mask, or the distances. */
static bool output_is_right(const struct job *j, const struct placed *out, bool distances) {
    if (!distances)
        return layout_holds(out, j->elements, j->on, 1);
    const struct expected *e = j->expected;
    const size_t size = distmap_dtype_size(out->view.dtype);
    char *values = malloc((size_t)j->elements * size);
    REQUIRE(values);
    for (int64_t i = 0; i < j->elements; i++) {
        const float single = !j->on[i] ? 0 : (float)oracle_distance(&j->problem, e, i, true);
        const double wide = !j->on[i] ? 0 : oracle_distance(&j->problem, e, i, false);
        memcpy(values + (size_t)i * size, size == 4 ? (const void *)&single : &wide, size);
    }
    const bool right = layout_holds(out, j->elements, values, size);
    free(values);
    return right;
}

static const char *run_plan(const struct drawn_job *d, const struct runner *runner, distmap_plan *plan) {
    struct job *j = d->more;
    distmap_arrays arrays = {0};
    const distmap_outputs *want = &j->problem.want;
    const struct drawn_output outputs[] = {{want->mask ? &j->mask : NULL, &arrays.mask},
                                           {want->distance ? &j->distance : NULL, &arrays.distance}};
    const char *why = drawn_execute(runner, plan, &arrays, &j->input, j->untouched, outputs, 2, j->expected->flags);
    if (why)
        return why;
    if (want->mask && !output_is_right(j, &j->mask, false))
        return "another mask";
    return !want->distance || output_is_right(j, &j->distance, true) ? NULL : "other distances";
}

static void tell(const struct drawn_job *d) {
    fprintf(stderr, "border %d, pruning %d, gamma %g", d->problem->border, (int)d->problem->skeleton.pruning,
            d->problem->skeleton.gamma);
}

/* ---- One case ---- */

static void draw_skeleton(distmap_problem *p, struct rng *r) {
    static const double gammas[] = {0, 0.5, 0.7, 1, 1.5, 2, 5, 20};
    static const double halves[] = {0.5, 1.25, 1, 2, 0.75}; /* products of these are exact */
    while (__builtin_popcount(p->axes ? p->axes : (1u << p->ndim) - 1) > 3)
        p->axes = 1 + (unsigned)rng_range(r, 0, (1 << p->ndim) - 3);
    static const double written[] = {0.65, 1.3, 0.13, 2.6, 0.26};
    const double kind = rng_unit(r), *some = kind < 0.3 ? halves : written;
    for (int a = 0; kind < 0.5 && a < p->ndim; a++)
        p->spacing[a] = some[rng_range(r, 0, 4)];
    p->field = DISTMAP_FIELD_SKELETON;
    p->skeleton.pruning = (distmap_pruning)rng_range(r, 0, 2);
    if (p->skeleton.pruning != DISTMAP_PRUNING_SQUARE_ROOT)
        p->skeleton.gamma = gammas[rng_range(r, 0, 7)];
    const int64_t outputs = rng_range(r, 0, 3);
    p->want.mask = outputs != 1 ? rng_chance(r, 0.5) ? DISTMAP_BOOL : DISTMAP_UINT8 : DISTMAP_NONE;
    p->want.distance =
        outputs == 1 || outputs == 2 ? rng_chance(r, 0.5) ? DISTMAP_FLOAT32 : DISTMAP_FLOAT64 : DISTMAP_NONE;
}

static int pattern_of(const char *name) {
    int i = 0;
    while (i < corpus_count && strcmp(corpus_patterns[i].name, name) != 0)
        i++;
    REQUIRE(i < corpus_count);
    return i;
}

static void large_shape(struct image *m, struct rng *r) {
    do {
        m->ndim = (int)rng_range(r, 1, 3);
        m->elements = 1;
        for (int a = 0; a < m->ndim; a++) {
            m->shape[a] = (int64_t)(pow(LARGE_MOST, 1.0 / m->ndim) * (0.5 + 1.5 * rng_unit(r)));
            m->elements *= m->shape[a];
        }
    } while (m->elements < LARGE_LEAST || m->elements > LARGE_MOST);
}

static void run_case(int number, uint64_t seed, struct rng *r) {
    static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 40, 64, 65, 100, 129};
    struct image m = {0};
    const bool large = number % LARGE_EACH == LARGE_EACH / 2;
    if (large)
        large_shape(&m, r);
    else
        drawn_shape(&m, lengths, sizeof lengths / sizeof *lengths, MOST, r);
    const int pattern = large ? pattern_of("density_0001") : (int)rng_range(r, 0, corpus_count - 1);
    const unsigned features = (rng_chance(r, 0.5) ? VARY_AXES : 0) | (rng_chance(r, 0.3) ? VARY_BORDER : 0) |
                              (!large && rng_chance(r, 0.3) ? VARY_INTEGER_SPACING : 0) | VARY_LAYOUT |
                              (rng_chance(r, 0.5) ? VARY_DTYPE : 0);
    struct test_case c = {.number = number};
    m.site = malloc((size_t)m.elements);
    REQUIRE(m.site);
    corpus_paint(pattern, &m, r);
    if (!large && rng_chance(r, 0.2)) /* whole slices of sites, and thin layers between them */
        for (int64_t i = 0; i < m.elements; i++)
            m.site[i] = i / (m.elements / m.shape[0]) % 3 != 1;
    recipe_make(&c, &m, features, r);
    draw_skeleton(&c.problem, r);
    struct expected e = {.d2 = malloc((size_t)m.elements * sizeof *e.d2),
                         .d2f = malloc((size_t)m.elements * sizeof *e.d2f),
                         .index = malloc((size_t)m.elements * sizeof *e.index)};
    REQUIRE(e.d2 && e.d2f && e.index);
    oracle_compute(&c.problem, c.input, &e);
    struct job j = {.problem = c.problem, .elements = m.elements, .expected = &e, .on = calloc(1, (size_t)m.elements)};
    REQUIRE(j.on);
    for (int a = 0; a < m.ndim; a++)
        if (c.problem.axes == 0 || c.problem.axes >> a & 1)
            j.axes[j.n++] = a;
    find_skeleton(&j);
    for (int64_t i = 0; i < m.elements; i++)
        marked += j.on[i];
    const distmap_outputs *want = &c.problem.want;
    j.input = drawn_place(c.in, c.problem.dtype, &m, c.input);
    j.mask = layout_place(c.out, want->mask ? want->mask : DISTMAP_UINT8, m.ndim, m.shape);
    j.distance = layout_place(c.out, want->distance ? want->distance : DISTMAP_FLOAT32, m.ndim, m.shape);
    j.untouched = malloc(j.input.bytes);
    REQUIRE(j.untouched);
    memcpy(j.untouched, j.input.memory, j.input.bytes);
    char name[DRAWN_NAME];
    drawn_name(name, sizeof name, "skeleton", number, seed, pattern, &m);
    const struct drawn_job drawn = {name, number, &j.problem, run_plan, tell, &j};
    drawn_run(&drawn, DISTMAP_FIELD_SKELETON);
    runner_drop(&j.input);
    runner_drop(&j.mask);
    runner_drop(&j.distance);
    free(j.untouched);
    free(j.on);
    free(e.d2);
    free(e.d2f);
    free(e.index);
    free(c.input);
    free(m.site);
}

int main(int argc, char **argv) {
    return drawn_main(argc, argv, "skeleton", CASES, "elements on skeletons", &marked, run_case);
}
