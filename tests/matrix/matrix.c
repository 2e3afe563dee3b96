/* matrix GROUP [options]: runs one group of cases, or those that the options choose (choice.h).
 *
 * DISTMAP_TEST_SEED repeats a run (it prints its seed), DISTMAP_TEST_SCALE multiplies the number of drawn cases.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../seed.h"
#include "choice.h"
#include "drawn.h"

struct group {
    const char *name;
    unsigned always, sometimes; /* features; each of `sometimes` with probability 1/3 */
    int drawn;                  /* cases of drawn shape; 0: every pattern on every shape of the list */
    int ndim_lo, ndim_hi;
    int64_t most;               /* elements of a drawn shape */
    const int64_t (*shapes)[4]; /* ends with a row of zeros; a zero ends a shape */
    int first, last;            /* patterns; last 0: all */
    bool whole;                 /* however few cases are wanted, so large a share of these is run: WHOLE */
    bool plain;                 /* every exact method is expected to take some of it, even one of planes alone */
};

static const int64_t shapes_1d[][4] = {{1}, {2}, {3}, {31}, {63}, {64}, {65}, {127}, {1000}, {4097}, {0}};
static const int64_t shapes_2d[][4] = {{1, 1},    {1, 7},   {9, 1},   {2, 3},     {7, 5},    {8, 8},    {31, 33},
                                       {63, 64},  {64, 65}, {65, 63}, {127, 128}, {129, 66}, {97, 101}, {16, 300},
                                       {300, 16}, {1, 257}, {257, 1}, {140, 190}, {0}};
static const int64_t shapes_3d[][4] = {{1, 1, 1},   {3, 4, 5},   {5, 1, 64},  {17, 16, 15}, {33, 31, 20},
                                       {2, 65, 63}, {40, 3, 70}, {64, 9, 33}, {1, 50, 51},  {70, 1, 20},
                                       {20, 65, 1}, {7, 7, 130}, {0}};
static const int64_t shapes_4d[][4] = {{2, 3, 4, 5},  {3, 1, 6, 17}, {5, 4, 7, 9},  {1, 8, 8, 64},
                                       {9, 2, 3, 65}, {4, 17, 5, 1}, {1, 1, 9, 40}, {0}};
static const int64_t shapes_wide[][4] = {{1, 70000}, {70000, 2}, {2, 46342}, {46341, 1},    {65535},       {65536},
                                         {65537, 1}, {3, 65536}, {1, 66000}, {66000, 1, 2}, {2, 1, 70000}, {100000},
                                         {1, 46272}, {2, 46272}, {40000, 3}, {600, 900},    {70, 80, 90},  {0}};
static const int64_t shapes_dense[][4] = {{140, 310}, {64, 700}, {700, 70}, {25, 30, 50}, {0}};

/* Sites so few that a GPU lists them, and images of enough tiles. */
static const int64_t shapes_sparse[][4] = {{170, 300}, {260, 140}, {300, 400}, {6, 150, 140}, {0}};

/* Wide enough for pixels that no near search settles, in planes of volumes and across them; rows that blocks share. */
static const int64_t shapes_deep[][4] = {{70, 3, 300}, {3, 140, 300}, {66, 66, 70}, {1000, 100}, {0}};

/* Volumes of many slices: up to a dozen of those that have a site, and more. */
static const int64_t shapes_slices[][4] = {{70, 6, 40},  {70, 6, 40},  {300, 5, 20},   {300, 5, 20},    {600, 3, 33},
                                           {40, 33, 35}, {90, 4, 300}, {2, 90, 4, 24}, {3, 130, 3, 70}, {0}};

static const int64_t shapes_metrics[][4] = {{7, 5}, {33, 31}, {1, 300}, {300, 2}, {65, 40}, {20, 140}, {6, 17, 9}, {0}};
static const int64_t shapes_metrics_wide[][4] = {{260, 1100}, {70000}, {70000, 2}, {0}};
/* Several strips and bands on a GPU. */
static const int64_t shapes_metrics_strips[][4] = {{36, 460}, {50, 300}, {0}};

/* Rows, columns and volumes beyond what near searches reach. */
static const int64_t shapes_labels[][4] = {{3, 700}, {600, 5}, {1, 2000}, {140, 150}, {20, 3, 140}, {150, 2, 30}, {0}};

static const double WHOLE = 0.15;

enum { EVERY = VARY_AXES | VARY_INTEGER_SPACING | VARY_LIMIT | VARY_BORDER | VARY_DTYPE | VARY_LAYOUT };

static const struct group groups[] = {
    {.name = "1d", .shapes = shapes_1d, .plain = true},
    {.name = "2d", .shapes = shapes_2d, .plain = true},
    {.name = "3d", .shapes = shapes_3d, .plain = true},
    {.name = "4d", .shapes = shapes_4d},
    {.name = "wide", .shapes = shapes_wide, .first = 2, .last = 8},
    {.name = "dense", .shapes = shapes_dense, .plain = true},
    {.name = "sparse",
     .sometimes = VARY_INTEGER_SPACING | VARY_LIMIT | VARY_BORDER,
     .shapes = shapes_sparse,
     .first = 6,
     .last = 10,
     .whole = true},
    {.name = "deep",
     .sometimes = VARY_INTEGER_SPACING | VARY_LIMIT,
     .shapes = shapes_deep,
     .first = 2,
     .last = 9,
     .whole = true},
    {.name = "slices",
     .sometimes = VARY_AXES | VARY_INTEGER_SPACING | VARY_LIMIT,
     .shapes = shapes_slices,
     .first = 29,
     .last = 30,
     .whole = true},
    {.name = "batches",
     .always = VARY_AXES,
     .sometimes = VARY_INTEGER_SPACING,
     .drawn = 250,
     .ndim_lo = 2,
     .ndim_hi = 4,
     .most = 3000},
    {.name = "spacing",
     .always = VARY_INTEGER_SPACING,
     .sometimes = VARY_LIMIT,
     .drawn = 250,
     .ndim_lo = 1,
     .ndim_hi = 4,
     .most = 5000},
    {.name = "real",
     .always = VARY_REAL_SPACING,
     .sometimes = VARY_LIMIT | VARY_BORDER,
     .drawn = 300,
     .ndim_lo = 1,
     .ndim_hi = 4,
     .most = 3000},
    /* Longer than the near searches in FP64 reach. */
    {.name = "reallines",
     .always = VARY_REAL_SPACING,
     .sometimes = VARY_LIMIT | VARY_BORDER | VARY_LAYOUT | SAMPLED_INPUT | LABELS_INPUT,
     .shapes = shapes_labels,
     .first = 2,
     .last = 14,
     .whole = true},
    /* Equal pitches put many sites at equal distance, and rounding makes most of those almost equal. */
    {.name = "ties", .always = VARY_REAL_SPACING, .drawn = 120, .ndim_lo = 2, .ndim_hi = 3, .most = 20000},
    {.name = "limits",
     .always = VARY_LIMIT,
     .sometimes = VARY_BORDER | VARY_AXES,
     .drawn = 250,
     .ndim_lo = 1,
     .ndim_hi = 4,
     .most = 8000},
    /* Masks are drawn where there is a limit. */
    {.name = "masks",
     .always = VARY_LIMIT,
     .sometimes = VARY_BORDER | VARY_AXES | VARY_INTEGER_SPACING | VARY_LAYOUT,
     .drawn = 400,
     .ndim_lo = 1,
     .ndim_hi = 4,
     .most = 6000},
    {.name = "masks2d", .always = VARY_LIMIT, .sometimes = VARY_BORDER, .shapes = shapes_2d},
    {.name = "masks3d", .always = VARY_LIMIT, .sometimes = VARY_BORDER, .shapes = shapes_3d},
    {.name = "maskswide", .always = VARY_LIMIT, .sometimes = VARY_BORDER, .shapes = shapes_wide, .first = 2, .last = 5},
    {.name = "border",
     .always = VARY_BORDER,
     .sometimes = VARY_INTEGER_SPACING | VARY_AXES,
     .drawn = 250,
     .ndim_lo = 1,
     .ndim_hi = 4,
     .most = 5000},
    {.name = "dtypes", .always = VARY_DTYPE, .drawn = 500, .ndim_lo = 1, .ndim_hi = 3, .most = 1500},
    {.name = "strides",
     .always = VARY_LAYOUT,
     .sometimes = VARY_DTYPE,
     .drawn = 300,
     .ndim_lo = 1,
     .ndim_hi = 4,
     .most = 3000},
    {.name = "volumes", .always = VARY_LAYOUT, .drawn = 200, .ndim_lo = 3, .ndim_hi = 4, .most = 3000},
    {.name = "labels",
     .always = LABELS_INPUT,
     .sometimes = EVERY | VARY_REAL_SPACING,
     .drawn = 400,
     .ndim_lo = 1,
     .ndim_hi = 4,
     .most = 1000},
    {.name = "labelslines", .always = LABELS_INPUT, .shapes = shapes_labels, .first = 2, .last = 14},
    {.name = "labelslarge",
     .always = LABELS_INPUT,
     .sometimes = VARY_INTEGER_SPACING | VARY_AXES | VARY_LIMIT | VARY_BORDER | VARY_LAYOUT,
     .drawn = 120,
     .ndim_lo = 2,
     .ndim_hi = 4,
     .most = 12000},
    {.name = "signed",
     .always = SIGNED_MAP,
     .sometimes = EVERY | VARY_REAL_SPACING,
     .drawn = 400,
     .ndim_lo = 1,
     .ndim_hi = 4,
     .most = 1500},
    {.name = "signedshapes", .always = SIGNED_MAP, .shapes = shapes_labels, .first = 2, .last = 8},
    {.name = "sampled",
     .always = SAMPLED_INPUT,
     .sometimes = EVERY | VARY_REAL_SPACING,
     .drawn = 500,
     .ndim_lo = 1,
     .ndim_hi = 4,
     .most = 1500},
    {.name = "functions",
     .always = SAMPLED_INPUT | ONE_SLOW_AXIS,
     .sometimes = VARY_INTEGER_SPACING | VARY_BORDER | VARY_LAYOUT,
     .drawn = 400,
     .ndim_lo = 2,
     .ndim_hi = 4,
     .most = 5000},
    {.name = "metrics2d", .always = STEP_METRICS, .shapes = shapes_metrics, .plain = true},
    {.name = "metricswide", .always = STEP_METRICS, .shapes = shapes_metrics_wide, .first = 2, .last = 9},
    {.name = "metricsstrips", .always = STEP_METRICS, .shapes = shapes_metrics_strips, .first = 2, .last = 9},
    {.name = "metrics",
     .always = STEP_METRICS,
     .sometimes = VARY_AXES | VARY_LIMIT | VARY_BORDER | VARY_DTYPE | VARY_LAYOUT,
     .drawn = 300,
     .ndim_lo = 1,
     .ndim_hi = 4,
     .most = 2500},
    {.name = "everything",
     .sometimes = EVERY | VARY_REAL_SPACING | SAMPLED_INPUT | LABELS_INPUT | SIGNED_MAP,
     .drawn = 600,
     .ndim_lo = 1,
     .ndim_hi = 4,
     .most = 2000},
};

/* Lengths drawn so that odd, power-of-two and one-element axes are all common. */
static void draw_shape(const struct group *g, struct image *m, struct rng *r) {
    static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200};
    m->ndim = (int)rng_range(r, g->ndim_lo, g->ndim_hi);
    do {
        m->elements = 1;
        for (int a = 0; a < m->ndim; a++) {
            m->shape[a] = lengths[rng_range(r, 0, sizeof lengths / sizeof *lengths - 1)];
            m->elements *= m->shape[a];
        }
    } while (m->elements > g->most);
}

static void run_case(const struct group *g, struct image *m, int pattern, unsigned features, int number, uint64_t seed,
                     struct rng *r) {
    struct test_case c = {.number = number};
    m->site = malloc((size_t)m->elements);
    REQUIRE(m->site);
    corpus_paint(pattern, m, r);
    recipe_make(&c, m, features, r);
    drawn_name(c.name, sizeof c.name, g->name, number, seed, pattern, m);
    struct expected e;
    e.d2 = malloc((size_t)m->elements * sizeof *e.d2);
    e.d2f = malloc((size_t)m->elements * sizeof *e.d2f);
    e.index = malloc((size_t)m->elements * sizeof *e.index);
    REQUIRE(e.d2 && e.d2f && e.index);
    oracle_compute(&c.problem, c.input, &e);
    for (int k = 0; k < 3; k++) {
        const distmap_outputs want = recipe_outputs(&c, k, r);
        check_case(&c, &e, &want);
    }
    free(e.d2);
    free(e.d2f);
    free(e.index);
    free(c.input);
    free(c.payload);
    free(m->site);
}

/* Runs a case, unless the share of the group's cases that is wanted leaves it out. */
static void run_number(const struct group *g, uint64_t seed, double share, int number, int patterns) {
    struct rng r = {seed * 1000003 + (uint64_t)number};
    for (const char *c = g->name; *c; c++)
        r.state = rng_next(&r) + (uint64_t)*c;
    if (!g->drawn && !rng_chance(&r, share))
        return;
    struct image m = {0};
    unsigned features = g->always;
    int pattern = (int)rng_range(&r, 0, corpus_count - 1);
    if (g->drawn) {
        draw_shape(g, &m, &r);
    } else {
        const int64_t *shape = g->shapes[number / patterns];
        pattern = g->first + number % patterns;
        m.elements = 1;
        for (; m.ndim < 4 && shape[m.ndim]; m.ndim++)
            m.elements *= m.shape[m.ndim] = shape[m.ndim];
    }
    for (unsigned bit = 1; bit <= SIGNED_MAP; bit <<= 1)
        if (g->sometimes & bit && rng_chance(&r, 1.0 / 3))
            features |= bit;
    run_case(g, &m, pattern, features, number, seed, &r);
}

static void run_group(const struct group *g, uint64_t seed, double scale) {
    int shapes = 0;
    while (g->shapes && g->shapes[shapes][0])
        shapes++;
    const int patterns = (g->last ? g->last : corpus_count) - g->first;
    const int count = g->drawn ? drawn_count(g->drawn) : shapes * patterns;
    const double share = choice_is_one_case() ? 1 : g->whole ? fmax(scale, WHOLE) : scale;
    choice_check_case(g->name, count);
    for (int number = 0; number < count; number++)
        if (choice_takes_case(number))
            run_number(g, seed, share, number, patterns);
    /* However small the share, something runs. */
    const int all = g->drawn > count ? g->drawn : count;
    for (int i = 0; i < all && !check_ran() && !choice_is_partial(); i++)
        run_number(g, seed, 1, (int)((seed + (uint64_t)i) % (uint64_t)all), patterns);
}

int main(int argc, char **argv) {
    const char *name = choice_read(argc, argv, "GROUP [--case N] [--method NAME] [--isa NAME] [--threads N] [--param NAME=VALUE]...");
    const uint64_t seed = test_seed();
    const double scale = drawn_scale();
    for (size_t i = 0; name && i < sizeof groups / sizeof *groups; i++) {
        const struct group *g = &groups[i];
        if (strcmp(g->name, name) != 0)
            continue;
        printf("matrix %s, seed %" PRIu64 ", scale %g\n", g->name, seed, scale);
        drawn_order(seed);
        check_open(g->name, seed);
        run_group(g, seed, scale);
        const int failures = check_report(g->plain && !choice_is_partial() && scale >= 1);
        check_close();
        return failures != 0;
    }
    fprintf(stderr, "matrix: %s; groups:", name ? "no such group" : "a group is needed");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        fprintf(stderr, " %s", groups[i].name);
    fprintf(stderr, "\n");
    return 2;
}
