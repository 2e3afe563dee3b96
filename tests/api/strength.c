/* Edge strengths: the header's rules about them, and how they relate to each other. */
#include <math.h>

#include "refuse.h"

#define ESF(...)                                             \
    p.want = (distmap_outputs){.strength = DISTMAP_FLOAT32}; \
    p.field = DISTMAP_FIELD_EDGE_STRENGTH;                   \
    p.esf = (distmap_esf) { __VA_ARGS__ }

static void test_rules(void **state) {
    (void)state;
    ACCEPT(ESF(.rho = 16, .steps = 50));
    ACCEPT(ESF(.rho = 16));
    ACCEPT(ESF(.rho = 1e-15));
    ACCEPT(ESF(.rho = 1e15); p.want.strength = DISTMAP_FLOAT64);
    ACCEPT(ESF(.rho = 1, .steps = 1); p.spacing[1] = 1; p.shape[0] = 0);
    ACCEPT(ESF(.rho = 1, .steps = 1); p.ndim = 3; p.shape[2] = 2);
    ACCEPT(ESF(.rho = 1, .steps = 1); p.ndim = 4; p.shape[2] = p.shape[3] = 2; p.axes = 7);
    REFUSE("problem.field is 99", p.field = (distmap_field)99);
    REFUSE("problem.esf has no meaning", p.esf.rho = 1);
    REFUSE("problem.esf has no meaning", p.esf.tolerance = 1);
    REFUSE("problem.want.strength", p.want.strength = DISTMAP_FLOAT32);
    REFUSE("needs a mask", ESF(.rho = 16); p.input = DISTMAP_INPUT_LABELS);
    REFUSE("one to three", ESF(.rho = 16); p.ndim = 4; p.shape[2] = p.shape[3] = 2);
    REFUSE("problem.metric", ESF(.rho = 16); p.metric = DISTMAP_METRIC_CITYBLOCK);
    REFUSE("problem.chamfer", ESF(.rho = 16); p.chamfer[1] = 1);
    REFUSE("problem.spacing[0]", ESF(.rho = 16); p.spacing[0] = 2);
    REFUSE("problem.limit", ESF(.rho = 16); p.limit = 3);
    REFUSE("problem.border", ESF(.rho = 16); p.border = true);
    REFUSE("one output", ESF(.rho = 16); p.want.distance = DISTMAP_FLOAT32);
    REFUSE("problem.want.strength", ESF(.rho = 16); p.want.strength = DISTMAP_NONE);
    REFUSE("problem.want.strength", ESF(.rho = 16); p.want.strength = DISTMAP_UINT8);
    const distmap_problem distances = small_problem(), strengths = strength_problem();
    refuse(&distances, &(distmap_plan_options){.method = "esf/cpu"}, DISTMAP_ERROR_UNSUPPORTED,
           "computes edge strengths", __LINE__);
    refuse(&strengths, &(distmap_plan_options){.method = "brute/cpu"}, DISTMAP_ERROR_UNSUPPORTED, "computes distances",
           __LINE__);
}

static void test_numbers(void **state) {
    (void)state;
    static const double wrong[] = {0, -1, NAN, INFINITY, -INFINITY, 1e-16, 1e16};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        REFUSE("problem.esf.rho", ESF(.rho = wrong[i], .steps = 1));
        REFUSE("problem.esf.rho", ESF(.rho = wrong[i]));
    }
    REFUSE("problem.esf.steps", ESF(.rho = 16, .steps = -1));
    /* The limits: 2 / (4m + 1/rho^2). */
    ACCEPT(ESF(.rho = 2, .steps = 1, .dt = 0.2424));
    REFUSE("= 0.242424", ESF(.rho = 2, .steps = 1, .dt = 0.2425));
    REFUSE("2/(8 + 1/rho^2)", ESF(.rho = 2, .steps = 1, .dt = 2 / 8.25));
    REFUSE("2/(8 + 1/rho^2)", ESF(.rho = 2, .steps = 1, .dt = NAN));
    REFUSE("2/(8 + 1/rho^2)", ESF(.rho = 2, .steps = 1, .dt = -0.1));
    REFUSE("2/(8 + 1/rho^2)", ESF(.rho = 2, .steps = 1, .dt = INFINITY));
    ACCEPT(ESF(.rho = 0.5, .steps = 1));
    ACCEPT(ESF(.rho = 1e-15, .steps = 1));
    ACCEPT(ESF(.rho = 0.708, .steps = 1));
    REFUSE("problem.esf.dt is 0.2,", ESF(.rho = 0.7, .steps = 1, .dt = 0.2));
    REFUSE("2/(12 + 1/rho^2) = 0.163265", ESF(.rho = 2, .steps = 1, .dt = 0.2); p.ndim = 3; p.shape[2] = 2);
    REFUSE("2/(4 + 1/rho^2)", ESF(.rho = 2, .steps = 1, .dt = 0.48); p.axes = 2);
    REFUSE("problem.esf.tolerance", ESF(.rho = 16, .steps = 1, .tolerance = 1e-3));
    REFUSE("problem.esf.dt", ESF(.rho = 16, .dt = 0.1));
    ACCEPT(ESF(.rho = 16, .tolerance = 1e-6));
    REFUSE("float32 reaches 1e-06 at best", ESF(.rho = 16, .tolerance = 9e-7));
    ACCEPT(ESF(.rho = 16, .tolerance = 1e-14); p.want.strength = DISTMAP_FLOAT64);
    REFUSE("float64 reaches 1e-14 at best", ESF(.rho = 16, .tolerance = 9e-15); p.want.strength = DISTMAP_FLOAT64);
    REFUSE("problem.esf.tolerance", ESF(.rho = 16, .tolerance = NAN));
    REFUSE("problem.esf.tolerance", ESF(.rho = 16, .tolerance = -1));
    REFUSE("problem.esf.tolerance", ESF(.rho = 16, .tolerance = INFINITY));
}

/* ---- Relations ---- */

static uint8_t mask[PIXELS], other_mask[PIXELS];
static float one[PIXELS], other[PIXELS];

/* The shape is where the mask is 0. Returns the flags. */
static unsigned strengthen(const uint8_t *from, int64_t height, int64_t width, distmap_esf esf, float *to,
                           distmap_convergence *convergence) {
    const int64_t shape[2] = {height, width};
    distmap_problem p = strength_problem();
    memcpy(p.shape, shape, sizeof shape);
    p.esf = esf;
    const distmap_arrays a = {.input = distmap_view_make((void *)from, DISTMAP_UINT8, 2, shape),
                              .strength = distmap_view_make(to, DISTMAP_FLOAT32, 2, shape)};
    distmap_plan *plan = NULL;
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
    assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
    const unsigned flags = distmap_plan_flags(plan);
    if (convergence)
        assert_int_equal(distmap_plan_convergence(plan, convergence), DISTMAP_OK);
    distmap_plan_destroy(&plan);
    return flags;
}

static const distmap_esf steps = {.rho = 6, .steps = 70}, rest = {.rho = 6, .tolerance = 1e-6};
static const double apart = 2 * 36 * 1.5e-6; /* two states at rest: rho^2 (tolerance and rounding) each */

static void test_convergence(void **state) {
    (void)state;
    distmap_convergence c = {0};
    paint(mask, PIXELS, 40, 1);
    assert_int_equal(strengthen(mask, HEIGHT, WIDTH, steps, one, &c), 0);
    assert_true(c.iterations == 70 && isnan(c.residual));
    assert_int_equal(strengthen(mask, HEIGHT, WIDTH, rest, one, &c), 0);
    assert_true(c.iterations > 1 && c.iterations < 30 && c.residual > 0 && c.residual <= 1e-6);
    distmap_plan *plan = NULL;
    const distmap_problem p = small_problem();
    check_text(distmap_plan_convergence(NULL, &c), DISTMAP_ERROR_ARGUMENT, "plan is NULL", __LINE__);
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
    check_text(distmap_plan_convergence(plan, &c), DISTMAP_ERROR_ARGUMENT, "EDGE_STRENGTH", __LINE__);
    check_text(distmap_plan_convergence(plan, NULL), DISTMAP_ERROR_ARGUMENT, "convergence is NULL", __LINE__);
    distmap_plan_destroy(&plan);
}

static void test_no_shape(void **state) {
    (void)state;
    const distmap_esf both[] = {steps, rest};
    memset(mask, 1, sizeof mask);
    for (int i = 0; i < 2; i++) {
        memset(one, 0x55, sizeof one);
        assert_int_equal(strengthen(mask, HEIGHT, WIDTH, both[i], one, NULL), DISTMAP_FLAG_NO_SITE);
        for (int k = 0; k < PIXELS; k++)
            assert_true(one[k] == 0);
    }
}

/* k steps reach k steps along axes and no farther, stay within [0, 1], and are nowhere below fewer steps. */
static void test_front(void **state) {
    (void)state;
    memset(mask, 1, sizeof mask);
    mask[17 * WIDTH + 20] = 0;
    memset(one, 0, sizeof one);
    for (int k = 1; k < 30; k++) {
        strengthen(mask, HEIGHT, WIDTH, (distmap_esf){.rho = 64, .steps = k}, other, NULL);
        for (int i = 0; i < PIXELS; i++) {
            const int away = abs(i / WIDTH - 17) + abs(i % WIDTH - 20);
            assert_true(other[i] >= one[i] && other[i] <= 1 && (other[i] > 0) == (away <= k));
        }
        memcpy(one, other, sizeof one);
    }
}

/* Where element k of the image lies in the flipped or transposed one. */
static int turned(int k, int turn) {
    const int y = k / WIDTH, x = k % WIDTH;
    return turn == 0 ? y * WIDTH + WIDTH - 1 - x : turn == 1 ? (HEIGHT - 1 - y) * WIDTH + x : x * HEIGHT + y;
}

/* Flips and transposes of the image are those of the result: to the bit after steps, whose sums of two know no order. */
static void test_symmetry(void **state) {
    (void)state;
    const distmap_esf both[] = {steps, rest};
    paint(mask, PIXELS, 60, 2);
    for (int i = 0; i < 2; i++)
        for (int turn = 0; turn < 3; turn++) {
            for (int k = 0; k < PIXELS; k++)
                other_mask[turned(k, turn)] = mask[k];
            strengthen(mask, HEIGHT, WIDTH, both[i], one, NULL);
            strengthen(other_mask, turn == 2 ? WIDTH : HEIGHT, turn == 2 ? HEIGHT : WIDTH, both[i], other, NULL);
            for (int k = 0; k < PIXELS; k++)
                assert_true(fabs(one[k] - other[turned(k, turn)]) <= (i == 0 ? 0 : apart));
        }
}

/* Nothing falls when rho grows, or the shape. */
static void test_monotony(void **state) {
    (void)state;
    paint(mask, PIXELS, 60, 3);
    for (int at_rest = 0; at_rest < 2; at_rest++) {
        memset(one, 0, sizeof one);
        for (double rho = 1.5; rho <= 6; rho *= 1.3) {
            const distmap_esf esf = {.rho = rho, .steps = at_rest ? 0 : 40, .tolerance = at_rest ? 1e-6 : 0};
            strengthen(mask, HEIGHT, WIDTH, esf, other, NULL);
            for (int k = 0; k < PIXELS; k++)
                assert_true(other[k] >= one[k] - (at_rest ? apart : 0));
            memcpy(one, other, sizeof one);
        }
    }
    memcpy(other_mask, mask, sizeof mask);
    memset(other_mask + 700, 0, 90);
    strengthen(mask, HEIGHT, WIDTH, steps, one, NULL);
    strengthen(other_mask, HEIGHT, WIDTH, steps, other, NULL);
    for (int k = 0; k < PIXELS; k++)
        assert_true(other[k] >= one[k]);
}

/* ---- Memory, and stopping ---- */

/* The caller's scratch, exactly as large as stated and full of rubbish, gives what the plan's own does. */
static void test_scratch(void **state) {
    (void)state;
    enum { GUARD = 256 };
    const distmap_esf both[] = {steps, rest};
    const distmap_param params[] = {{"kernel", 0}, {"kernel", 1}, {"kernel", 2}, {"solver", 0}, {"solver", 1}};
    paint(mask, PIXELS, 60, 4);
    for (int i = 0; i < 10; i++) {
        distmap_problem p = strength_problem();
        p.esf = both[i / 5];
        distmap_arrays a = small_arrays(mask, other);
        a.strength = a.distance;
        a.distance = (distmap_view){0};
        distmap_plan_options options = {.method = "esf/cpu", .params = &params[i % 5], .param_count = 1};
        distmap_plan *plan = NULL;
        size_t bytes = 0;
        assert_int_equal(distmap_scratch_bytes(context, &p, &options, &bytes), DISTMAP_OK);
        assert_int_equal(distmap_plan_create(context, &p, &options, &plan), DISTMAP_OK);
        assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
        memcpy(one, other, sizeof one);
        distmap_plan_destroy(&plan);

        const size_t all = (bytes + 63) / 64 * 64 + 2 * GUARD;
        unsigned char *memory = aligned_alloc(64, all);
        assert_non_null(memory);
        memset(memory, 0xe7, all);
        options.scratch = memory + GUARD;
        options.scratch_bytes = bytes;
        assert_int_equal(distmap_plan_create(context, &p, &options, &plan), DISTMAP_OK);
        for (int run = 0; run < 2; run++) {
            assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
            assert_memory_equal(one, other, sizeof one);
            memset(options.scratch, 0xff, bytes); /* NaN, as floats */
        }
        distmap_plan_destroy(&plan);
        for (size_t k = 0; k < all; k++)
            if (k < GUARD || k >= GUARD + bytes)
                assert_int_equal(memory[k], 0xe7);
        free(memory);
    }
}

static int stop(void *user, double fraction) {
    double *last = user;
    assert_true(fraction >= *last && fraction <= 1);
    *last = fraction;
    return fraction > 0.2;
}

static void test_cancel(void **state) {
    (void)state;
    const distmap_esf both[] = {steps, rest};
    for (int i = 0; i < 2; i++) {
        double last = 0;
        distmap_context *own = NULL;
        distmap_plan *plan = NULL;
        const distmap_context_options options = {.threads = 2, .progress = stop, .progress_user = &last};
        distmap_problem p = strength_problem();
        p.esf = both[i];
        distmap_arrays a = small_arrays(mask, other);
        a.strength = a.distance;
        a.distance = (distmap_view){0};
        assert_int_equal(distmap_context_create(&options, &own), DISTMAP_OK);
        assert_int_equal(distmap_plan_create(own, &p, NULL, &plan), DISTMAP_OK);
        assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_ERROR_CANCELLED);
        distmap_convergence convergence;
        assert_int_equal(distmap_plan_convergence(plan, &convergence), DISTMAP_ERROR_CANCELLED);
        distmap_plan_destroy(&plan);
        distmap_context_destroy(&own);
    }
}

static int set_up(void **state) {
    (void)state;
    return distmap_context_create(NULL, &context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),    cmocka_unit_test(test_numbers), cmocka_unit_test(test_convergence),
        cmocka_unit_test(test_no_shape), cmocka_unit_test(test_front),   cmocka_unit_test(test_symmetry),
        cmocka_unit_test(test_monotony), cmocka_unit_test(test_scratch), cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, set_up, close_context);
}
