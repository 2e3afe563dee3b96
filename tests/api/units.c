/* Pitches as whole numbers of a unit: what the header's examples are; every small squared distance as a limit of its own; and every
 * root that minplus/cpu finds by vectors, against brute/cpu, which has doubles. */
#include "../seed.h"
#include "api.h"

#include <math.h>
#include <string.h>

/* ---- The unit ---- */

static void test_unit(void **state) {
    (void)state;
    static const struct {
        int ndim;
        double pitch[3], unit;
        int64_t multiples[3];
    } rows[] = {{2, {0.65, 0.65}, 0.65, {1, 1}},
                {2, {30, 30}, 30, {1, 1}},
                {2, {0, 0}, 1, {1, 1}},
                {3, {2.5, 0.7, 0.7}, 0.1, {25, 7, 7}},
                {3, {2.5, 0.7f, 0.7f}, 0.1, {25, 7, 7}},
                {3, {0.2, 0.065, 0.065}, 0.005, {40, 13, 13}},
                {2, {0.29, 0.108}, 0.002, {145, 54}},
                {2, {0.7421875, 2.5}, 0.0390625, {19, 64}},
                {2, {2.5, 0.9765625}, 0.0078125, {320, 125}},
                {2, {25.4 / 300, 25.4 / 300}, 25.4 / 300, {1, 1}},
                {2, {0.1 * 3, 0.1 * 3}, 0.1 * 3, {1, 1}},
                {2, {0.1 * 3, 0.3}, 0, {0, 0}},
                {2, {1, 0.12345678}, 0, {0, 0}},
                {2, {1048576, 1}, 1, {1048576, 1}},
                {2, {1048577, 1}, 0, {0, 0}},
                {2, {1e-25, 1e-25}, 0, {0, 0}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        distmap_problem p = {
            .dtype = DISTMAP_UINT8, .ndim = rows[i].ndim, .shape = {9, 9, 9}, .want.distance = DISTMAP_FLOAT32};
        memcpy(p.spacing, rows[i].pitch, sizeof rows[i].pitch);
        double unit = -1, product;
        int64_t multiples[DISTMAP_MAX_AXES];
        assert_int_equal(distmap_problem_unit(&p, &unit, multiples), DISTMAP_OK);
        for (int a = 0; a < p.ndim && rows[i].unit > 0; a++) { /* the same decimals, whatever divides them */
            product = unit * (double)multiples[a];
            assert_true(fabs(product - (rows[i].pitch[a] == 0 ? 1 : rows[i].pitch[a])) < 1e-7 * product);
            assert_int_equal(multiples[a] * rows[i].multiples[0], rows[i].multiples[a] * multiples[0]);
        }
        assert_true((unit > 0) == (rows[i].unit > 0));
    }
    double unit;
    int64_t multiples[DISTMAP_MAX_AXES];
    const distmap_problem p = small_problem();
    assert_int_equal(distmap_problem_unit(&p, NULL, multiples), DISTMAP_ERROR_ARGUMENT);
    assert_int_equal(distmap_problem_unit(&p, &unit, NULL), DISTMAP_ERROR_ARGUMENT);
    assert_int_equal(distmap_problem_unit(NULL, &unit, multiples), DISTMAP_ERROR_ARGUMENT);
}

/* ---- Within R ---- */

enum { AROUND = 2, NEAR = 2 * AROUND + 1, MOST = 1000000 };

static distmap_context *context;

/* Samples N - 2 .. N + 2, each by itself, in a unit: distances as they are given out with this limit, 0 for none. */
static void distances(double unit, bool single, double limit, uint32_t n, double found[NEAR]) {
    distmap_problem p = {.input = DISTMAP_INPUT_SAMPLED,
                         .dtype = DISTMAP_UINT32,
                         .ndim = 2,
                         .shape = {NEAR, 1},
                         .axes = 2,
                         .unit = unit,
                         .limit = limit,
                         .want.distance = single ? DISTMAP_FLOAT32 : DISTMAP_FLOAT64};
    uint32_t samples[NEAR];
    float floats[NEAR];
    for (int i = 0; i < NEAR; i++)
        samples[i] = n + (uint32_t)i - AROUND;
    const distmap_arrays arrays = {.input = distmap_view_make(samples, DISTMAP_UINT32, 2, p.shape),
                                   .distance =
                                       distmap_view_make(single ? (void *)floats : found, p.want.distance, 2, p.shape)};
    distmap_plan *plan = NULL;
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
    assert_int_equal(distmap_plan_execute(plan, &arrays), DISTMAP_OK);
    distmap_plan_destroy(&plan);
    for (int i = 0; single && i < NEAR; i++)
        found[i] = (double)floats[i];
}

static void test_within(void **state) {
    (void)state;
    static const double units[] = {1, 0.65, 0.1};
    const double scale = test_scale();
    const uint32_t step = scale < 1 ? (uint32_t)(1 / scale) : 1, first = AROUND + (uint32_t)(test_seed() % step);
    assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = 1}, &context), DISTMAP_OK);
    for (int k = 0; k < 6; k++) {
        const double unit = units[k / 2];
        const bool single = k % 2;
        for (uint32_t n = first; n < MOST; n += step) {
            double all[NEAR], some[NEAR];
            distances(unit, single, 0, n, all);
            for (int less = 0; less < 2; less++) {
                const double limit = less ? nextafter(all[AROUND], 0) : all[AROUND];
                distances(unit, single, limit, n, some);
                for (int i = 0; i < NEAR; i++)
                    if (some[i] != (all[i] <= limit ? all[i] : (double)INFINITY))
                        fail_msg("N = %u of unit %g, limit %.17g: %u is at %.17g, got %.17g", n, unit, limit,
                                 n + (uint32_t)i - AROUND, all[i], some[i]);
            }
        }
    }
    distmap_context_destroy(&context);
}

/* ---- Every root of a vector's ---- */

enum { ROW = 1 << 16, ALL = 1 << 24 };

static void test_roots(void **state) {
    (void)state;
    static const double units[] = {0.65, 0.05, 0.9765625, 1.0 / 3};
    static uint32_t samples[2][ROW];
    static float found[2][2][ROW];
    const char *const methods[] = {"minplus/cpu", "brute/cpu"};
    assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = 1}, &context), DISTMAP_OK);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        distmap_problem p = {.input = DISTMAP_INPUT_SAMPLED,
                             .dtype = DISTMAP_UINT32,
                             .ndim = 2,
                             .shape = {2, ROW},
                             .axes = 1,
                             .unit = units[k],
                             .limit = 1e4 * units[k],
                             .want.distance = DISTMAP_FLOAT32};
        distmap_plan *plan[2] = {NULL, NULL};
        for (int m = 0; m < 2; m++)
            assert_int_equal(distmap_plan_create(context, &p, &(distmap_plan_options){.method = methods[m]}, &plan[m]),
                             DISTMAP_OK);
        for (uint32_t n = 0; n < ALL; n += ROW) {
            for (uint32_t i = 0; i < ROW; i++)
                samples[0][i] = n + i, samples[1][i] = UINT32_MAX;
            for (int m = 0; m < 2; m++) {
                const distmap_arrays arrays = {.input = distmap_view_make(samples, DISTMAP_UINT32, 2, p.shape),
                                               .distance = distmap_view_make(found[m], DISTMAP_FLOAT32, 2, p.shape)};
                assert_int_equal(distmap_plan_execute(plan[m], &arrays), DISTMAP_OK);
            }
            assert_memory_equal(found[0], found[1], sizeof found[0]);
        }
        distmap_plan_destroy(&plan[0]);
        distmap_plan_destroy(&plan[1]);
    }
    distmap_context_destroy(&context);
}

/* Roots of small squares in problems whose largest ones pass 32 bits, by every instruction set: some of these have roots of their own. */
static void test_wide_roots(void **state) {
    (void)state;
    static const char *const isas[] = {"plain", "sse4", "avx2", "avx512", "neon"}, *const methods[] = {"envelope/cpu",
                                                                                                       "minplus/cpu"};
    enum { HIGH = 100, WIDE = 63 };
    static uint8_t mask[HIGH][WIDE];
    static float found[2][HIGH][WIDE];
    uint32_t random = 12345;
    for (int i = 0; i < HIGH * WIDE; i++) {
        random = random * 1664525 + 1013904223;
        mask[i / WIDE][i % WIDE] = random >> 24 > 20;
    }
    const distmap_problem p = {.dtype = DISTMAP_UINT8,
                               .ndim = 2,
                               .shape = {HIGH, WIDE},
                               .spacing = {1, 0.001},
                               .want.distance = DISTMAP_FLOAT32};
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        setenv("DISTMAP_ISA", isas[i], 1);
        distmap_context *each = NULL;
        if (distmap_context_create(NULL, &each) != DISTMAP_OK)
            continue; /* of another architecture */
        for (int m = 0; m < 2; m++) {
            distmap_plan *plan = NULL;
            const distmap_arrays arrays = {.input = distmap_view_make(mask, DISTMAP_UINT8, 2, p.shape),
                                           .distance = distmap_view_make(found[m], DISTMAP_FLOAT32, 2, p.shape)};
            assert_int_equal(distmap_plan_create(each, &p, &(distmap_plan_options){.method = methods[m]}, &plan),
                             DISTMAP_OK);
            assert_int_equal(distmap_plan_execute(plan, &arrays), DISTMAP_OK);
            distmap_plan_destroy(&plan);
        }
        assert_memory_equal(found[0], found[1], sizeof found[0]);
        distmap_context_destroy(&each);
    }
    unsetenv("DISTMAP_ISA");
}

/* A limit beyond all squares, and beyond doubles that hold every whole number. */
static void test_far_limit(void **state) {
    (void)state;
    enum { N = 63 };
    static int8_t samples[N];
    static uint64_t squared[N];
    memset(samples, INT8_MAX, sizeof samples); /* none */
    const distmap_problem p = {.input = DISTMAP_INPUT_SAMPLED,
                               .dtype = DISTMAP_INT8,
                               .ndim = 1,
                               .shape = {N},
                               .spacing = {1048576},
                               .unit = 0.1,
                               .limit = 1e12,
                               .want.squared = DISTMAP_UINT64};
    const distmap_arrays arrays = {.input = distmap_view_make(samples, DISTMAP_INT8, 1, p.shape),
                                   .squared = distmap_view_make(squared, DISTMAP_UINT64, 1, p.shape)};
    for (int sites = 0; sites < 2; sites++) {
        samples[0] = sites ? 5 : INT8_MAX;
        assert_int_equal(distmap_transform(&p, &arrays, NULL), DISTMAP_OK);
        for (uint64_t i = 0; i < N; i++)
            assert_true(squared[i] == (sites ? 5 + (i << 40) * i : UINT64_MAX));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unit), cmocka_unit_test(test_within),
                                       cmocka_unit_test(test_roots), cmocka_unit_test(test_wide_roots),
                                       cmocka_unit_test(test_far_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
