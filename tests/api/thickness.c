/* Local thickness: the header's rules about it, its memory, and what follows from its definition. */
#include <math.h>
#include <time.h>

#include "refuse.h"

#include "../matrix/random.h"

#define THICKNESS p.field = DISTMAP_FIELD_THICKNESS

static void test_rules(void **state) {
    (void)state;
    ACCEPT(THICKNESS);
    ACCEPT(THICKNESS; p.shape[0] = 0);
    ACCEPT(THICKNESS; p.want.squared = DISTMAP_UINT32; p.border = true);
    ACCEPT(THICKNESS; p.dtype = DISTMAP_FLOAT32; p.sites.rule = DISTMAP_SITES_RANGE);
    ACCEPT(THICKNESS; p.spacing[0] = 1e-3; p.want.squared = DISTMAP_FLOAT32);
    REFUSE("needs a mask input", THICKNESS; p.input = DISTMAP_INPUT_LABELS);
    REFUSE("needs a mask input", THICKNESS; p.input = DISTMAP_INPUT_SAMPLED);
    REFUSE("one to three measured axes, not 4", THICKNESS; p.ndim = 4; p.shape[2] = p.shape[3] = 1);
    ACCEPT(THICKNESS; p.ndim = 4; p.shape[2] = p.shape[3] = 1; p.axes = 7);
    REFUSE("problem.metric", THICKNESS; p.metric = DISTMAP_METRIC_CITYBLOCK);
    REFUSE("problem.limit", THICKNESS; p.limit = 2);
    REFUSE("problem.sign", THICKNESS; p.sign = DISTMAP_SIGN_INSIDE);
    REFUSE("problem.skeleton", THICKNESS; p.skeleton.gamma = 1);
    REFUSE("problem.morphology", THICKNESS; p.morphology.radius = 1);
    REFUSE("two outputs, distance and squared", THICKNESS; p.want.index = DISTMAP_INT32);
    REFUSE("needs problem.field SKELETON or MORPHOLOGY", THICKNESS; p.want.mask = DISTMAP_BOOL);
    REFUSE("names no output", THICKNESS; p.want = (distmap_outputs){0});
    REFUSE("problem.want.distance", THICKNESS; p.want.distance = DISTMAP_UINT32);
    REFUSE("not integers", THICKNESS; p.want.squared = DISTMAP_UINT32; p.spacing[0] = 0.5);
}

static void test_too_large(void **state) {
    (void)state;
    distmap_problem p = small_problem();
    p.field = DISTMAP_FIELD_THICKNESS;
    p.shape[0] = p.shape[1] = 1 << 16;
    const distmap_plan_options options = {.method = "thickness/cpu"};
    refuse(&p, &options, DISTMAP_ERROR_UNSUPPORTED, "fewer than 2^32 elements", __LINE__);
    p.shape[1] -= 1;
    size_t bytes;
    assert_int_equal(distmap_scratch_bytes(context, &p, &options, &bytes), DISTMAP_OK);
}

/* The header's words about memory. */
static void test_memory(void **state) {
    (void)state;
    distmap_problem p = small_problem();
    p.ndim = 3;
    p.shape[0] = p.shape[1] = p.shape[2] = 256;
    size_t own, bytes;
    assert_int_equal(distmap_scratch_bytes(context, &p, NULL, &own), DISTMAP_OK);
    p.field = DISTMAP_FIELD_THICKNESS;
    assert_int_equal(distmap_scratch_bytes(context, &p, NULL, &bytes), DISTMAP_OK);
    const size_t elements = (size_t)1 << 24, least = 4 * elements, stated = 8 * elements + elements / 8;
    const size_t thread = 40000000;
    assert_in_range(bytes, stated, stated + (own > least ? own : least) + 2 * thread);
}

/* Pitches with a unit make squares whole. */
static void test_description(void **state) {
    (void)state;
    static const struct {
        double spacing[2];
        bool integer;
    } rows[] = {{{1, 1}, true}, {{0.5, 0.5}, true}, {{0.7, 1.4}, true}, {{1, 1.5}, true}, {{1, 1.2345678}, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        distmap_problem p = small_problem();
        distmap_description d;
        distmap_plan *plan;
        p.field = DISTMAP_FIELD_THICKNESS;
        memcpy(p.spacing, rows[i].spacing, sizeof rows[i].spacing);
        assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
        distmap_plan_describe(plan, &d);
        assert_int_equal(d.integer, rows[i].integer);
        assert_int_equal(d.squared_bits, rows[i].integer ? 32 : 64);
        distmap_plan_destroy(&plan);
    }
}

/* ---- What it does ---- */

enum { SIDE = 20, SIZE = SIDE * SIDE * SIDE };

static void compute(const uint8_t *mask, double spacing, bool border, float *thickness, float *distance) {
    distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 3, .shape = {SIDE, SIDE, SIDE}, .border = border};
    p.spacing[0] = p.spacing[1] = p.spacing[2] = spacing;
    p.want.distance = DISTMAP_FLOAT32;
    distmap_arrays arrays = {.input = distmap_view_make((void *)mask, DISTMAP_UINT8, 3, p.shape),
                             .distance = distmap_view_make(distance, DISTMAP_FLOAT32, 3, p.shape)};
    assert_int_equal(distmap_transform(&p, &arrays, NULL), DISTMAP_OK);
    p.field = DISTMAP_FIELD_THICKNESS;
    arrays.distance.data = thickness;
    assert_int_equal(distmap_transform(&p, &arrays, NULL), DISTMAP_OK);
}

/* At least twice the distance, which the largest ball of all attains; each value is twice some distance; a pitch scales it; what
 * is added to the shape makes nothing thinner. */
static void test_relations(void **state) {
    (void)state;
    static uint8_t mask[SIZE];
    static float thickness[SIZE], distance[SIZE], scaled[SIZE], more[SIZE];
    const uint64_t seed = (uint64_t)time(NULL);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (uint64_t run = 0; run < 20; run++) {
        struct rng r = {seed * 1000 + run};
        const double share = pow(10, -3 * rng_unit(&r));
        const bool border = rng_chance(&r, 0.5);
        for (int i = 0; i < SIZE; i++)
            mask[i] = rng_unit(&r) >= share;
        mask[0] = 0;
        compute(mask, 1, border, thickness, distance);
        compute(mask, 4, border, scaled, more);
        float most = 0, deepest = 0;
        bool is_one[4 * SIDE * SIDE] = {false};
        for (int i = 0; i < SIZE; i++) {
            most = fmaxf(most, thickness[i]);
            deepest = fmaxf(deepest, distance[i]);
            is_one[(int)lrintf(distance[i] * distance[i])] = true;
        }
        assert_true(most == 2 * deepest);
        for (int i = 0; i < SIZE; i++) {
            assert_true(thickness[i] >= 2 * distance[i] && (thickness[i] > 0) == mask[i]);
            assert_true(is_one[(int)lrintf(thickness[i] * thickness[i] / 4)]);
            assert_true(scaled[i] == 4 * thickness[i]);
        }
        for (int i = 0; i < SIZE; i++)
            mask[i] |= rng_chance(&r, 0.01);
        mask[0] = 0;
        compute(mask, 1, border, more, distance);
        for (int i = 0; i < SIZE; i++)
            assert_true(more[i] >= thickness[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),       cmocka_unit_test(test_too_large), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_description), cmocka_unit_test(test_relations),
    };
    return cmocka_run_group_tests(tests, open_two_threads, close_context);
}
