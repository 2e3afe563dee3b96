/* Ball morphology: the header's rules about it, its memory, and how the operations relate to each other. */
#include <math.h>
#include <time.h>

#include "refuse.h"

#include "../matrix/random.h"

#define BALL(...)                                      \
    p.want = (distmap_outputs){.mask = DISTMAP_UINT8}; \
    p.field = DISTMAP_FIELD_MORPHOLOGY;                \
    p.morphology = (distmap_morphology) { __VA_ARGS__ }

#define LABELS(...)                 \
    BALL(__VA_ARGS__);              \
    p.input = DISTMAP_INPUT_LABELS; \
    p.want = (distmap_outputs) { .label = DISTMAP_UINT8 }

static void test_rules(void **state) {
    (void)state;
    ACCEPT(BALL(.radius = 2));
    ACCEPT(BALL(.radius = 0); p.shape[0] = 0);
    ACCEPT(BALL(.radius = 1e300));
    ACCEPT(BALL(.radius = 3.7, .step = DISTMAP_MORPHOLOGY_CLOSE, .outside = true); p.want.mask = DISTMAP_BOOL);
    ACCEPT(BALL(.radius = 1); p.dtype = DISTMAP_FLOAT32; p.sites.rule = DISTMAP_SITES_RANGE);
    ACCEPT(LABELS(.radius = 2, .step = DISTMAP_MORPHOLOGY_ERODE, .outside = true));
    static const double wrong[] = {-1, -1e-300, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        REFUSE("problem.morphology.radius", BALL(.radius = wrong[i]));
    REFUSE("with that much around it", BALL(.radius = 1e10, .step = DISTMAP_MORPHOLOGY_CLOSE));
    REFUSE("with that much around it", BALL(.radius = 1e9, .step = DISTMAP_MORPHOLOGY_OPEN, .outside = true);
           p.ndim = 3; p.shape[2] = 1);
    ACCEPT(BALL(.radius = 1e10, .step = DISTMAP_MORPHOLOGY_OPEN));
    REFUSE("problem.morphology.step", BALL(.step = (distmap_morphology_step)4));
    REFUSE("problem.morphology has no meaning", p.morphology.radius = 1);
    REFUSE("problem.morphology has no meaning", p.morphology.outside = true);
    REFUSE("problem.want.mask", p.want.mask = DISTMAP_UINT8);
    REFUSE("one output, mask", BALL(.radius = 2); p.want.distance = DISTMAP_FLOAT32);
    REFUSE("one output, mask", BALL(.radius = 2); p.want = (distmap_outputs){.label = DISTMAP_UINT8});
    REFUSE("problem.want.mask", BALL(.radius = 2); p.want.mask = DISTMAP_INT16);
    REFUSE("mask or label input", BALL(.radius = 2); p.input = DISTMAP_INPUT_SAMPLED);
    REFUSE("problem.metric", BALL(.radius = 2); p.metric = DISTMAP_METRIC_CITYBLOCK);
    REFUSE("problem.limit", BALL(.radius = 2); p.limit = 2);
    REFUSE("problem.border", BALL(.radius = 2); p.border = true);
    REFUSE("labels need an integer type", LABELS(.radius = 2); p.dtype = DISTMAP_FLOAT32);
    REFUSE("problem.want.label is uint8", LABELS(.radius = 2); p.dtype = DISTMAP_UINT16);
    REFUSE("one output, label", LABELS(.radius = 2); p.want.mask = DISTMAP_UINT8);
    REFUSE("must not be CLOSE", LABELS(.radius = 2, .step = DISTMAP_MORPHOLOGY_CLOSE));
    REFUSE("dilated or opened", LABELS(.radius = 2, .step = DISTMAP_MORPHOLOGY_OPEN, .outside = true));
    REFUSE("problem.sites", LABELS(.radius = 2); p.sites.rule = DISTMAP_SITES_NONE);
    REFUSE("problem.morphology.outside", LABELS(.radius = 2, .outside = true));
}

/* ---- What they do ---- */

enum { W = 37, H = 29, SIZE = W * H };

static distmap_problem ball(distmap_morphology_step step, double radius, bool outside) {
    return (distmap_problem){.dtype = DISTMAP_UINT8,
                             .ndim = 2,
                             .shape = {H, W},
                             .sites = {.rule = DISTMAP_SITES_NONZERO},
                             .want = {.mask = DISTMAP_UINT8},
                             .field = DISTMAP_FIELD_MORPHOLOGY,
                             .morphology = {.step = step, .radius = radius, .outside = outside}};
}

static void apply(distmap_morphology_step step, double radius, bool outside, const uint8_t *in, uint8_t *out) {
    const distmap_problem p = ball(step, radius, outside);
    const distmap_arrays arrays = {.input = distmap_view_make((void *)in, DISTMAP_UINT8, 2, p.shape),
                                   .mask = distmap_view_make(out, DISTMAP_UINT8, 2, p.shape)};
    unsigned flags = 99;
    assert_int_equal(distmap_transform(&p, &arrays, &flags), DISTMAP_OK);
    assert_int_equal(flags, 0);
}

/* Opening and closing are idempotent, and dual as erosion and dilation are; one is smaller, the other larger. */
static void test_relations(void **state) {
    (void)state;
    uint8_t set[SIZE], others[SIZE], first[SIZE], second[SIZE];
    const uint64_t seed = (uint64_t)time(NULL);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (uint64_t run = 0; run < 60; run++) {
        struct rng r = {seed * 1000 + run};
        const double share = rng_unit(&r), radius = 0.3 + 5 * rng_unit(&r);
        const bool outside = rng_chance(&r, 0.5);
        for (int i = 0; i < SIZE; i++)
            others[i] = !(set[i] = rng_unit(&r) < share * share);
        for (int step = 0; step < 4; step++) {
            apply((distmap_morphology_step)step, radius, outside, set, first);
            apply((distmap_morphology_step)(step ^ 1), radius, !outside, others, second);
            for (int i = 0; i < SIZE; i++) {
                assert_int_equal(first[i], !second[i]);
                assert_true(step == DISTMAP_MORPHOLOGY_ERODE || step == DISTMAP_MORPHOLOGY_OPEN ? first[i] <= set[i]
                                                                                                : first[i] >= set[i]);
            }
            if (step >= DISTMAP_MORPHOLOGY_OPEN) {
                apply((distmap_morphology_step)step, radius, outside, first, second);
                assert_memory_equal(first, second, SIZE);
            }
        }
    }
}

/* The header's words about memory: a byte per element at most, and what one plan of masks alone takes. */
static void test_memory(void **state) {
    (void)state;
    enum { SIDE = 1024 };
    distmap_problem masks = {
        .dtype = DISTMAP_UINT8, .ndim = 2, .shape = {SIDE, SIDE}, .limit = 5, .want = {.within = DISTMAP_UINT8}};
    size_t own, bytes;
    assert_int_equal(distmap_scratch_bytes(context, &masks, NULL, &own), DISTMAP_OK);
    static const int per_element[] = {0, 0, 1, 2};
    for (int step = 0; step < 4; step++) {
        distmap_problem p = ball((distmap_morphology_step)step, 5, false);
        p.shape[0] = p.shape[1] = SIDE;
        assert_int_equal(distmap_scratch_bytes(context, &p, NULL, &bytes), DISTMAP_OK);
        assert_in_range(bytes, own + (size_t)(per_element[step] * SIDE * SIDE),
                        own + own / 4 + (size_t)(per_element[step] * (SIDE + 10) * (SIDE + 10)));
    }
}

/* The border is a pitch away along an axis of one element, too, however long the others' pitches are. */
static void test_border_beside_one_row(void **state) {
    (void)state;
    static const uint8_t mask[7] = {[6] = 1};
    for (int reaches = 0; reaches < 2; reaches++)
        for (size_t k = 0; distmap_method_get(k); k++) {
            const distmap_problem p = {.dtype = DISTMAP_UINT8,
                                       .ndim = 2,
                                       .shape = {1, 7},
                                       .spacing = {reaches ? 1 : 2, 3},
                                       .sites = {.rule = DISTMAP_SITES_NONZERO},
                                       .border = true,
                                       .limit = 1.5,
                                       .want = {.within = DISTMAP_UINT8, .beyond = DISTMAP_UINT8}};
            const distmap_plan_options options = {.method = distmap_method_get(k)->name};
            distmap_plan *plan;
            if (distmap_plan_create(context, &p, &options, &plan) != DISTMAP_OK)
                continue;
            uint8_t within[7], beyond[7];
            const distmap_arrays arrays = {
                .input = distmap_view_make((void *)(uintptr_t)mask, DISTMAP_UINT8, 2, p.shape),
                .within = distmap_view_make(within, DISTMAP_UINT8, 2, p.shape),
                .beyond = distmap_view_make(beyond, DISTMAP_UINT8, 2, p.shape),
            };
            assert_int_equal(distmap_plan_execute(plan, &arrays), DISTMAP_OK);
            for (int x = 0; x < 7; x++) {
                assert_int_equal(within[x], reaches || mask[x]);
                assert_int_equal(beyond[x], !within[x]);
            }
            distmap_plan_destroy(&plan);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_relations),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_border_beside_one_row),
    };
    return cmocka_run_group_tests(tests, open_two_threads, close_context);
}
