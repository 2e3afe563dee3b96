/* Labels and signed maps: the header's rules about signs, and relations on images too large for the definition, with one
 * thread and with several. The seed is printed and DISTMAP_TEST_SEED repeats it. */
#include "../seed.h"
#include "refuse.h"

#include <math.h>

static uint32_t seed;

static void test_rules(void **state) {
    (void)state;
    ACCEPT(p.sign = DISTMAP_SIGN_OUTSIDE);
    ACCEPT(p.sign = DISTMAP_SIGN_INSIDE; p.surface = DISTMAP_SURFACE_HALF; p.want.index = DISTMAP_INT32);
    ACCEPT(p.sign = DISTMAP_SIGN_INSIDE; p.border = true; p.limit = 3; p.want.squared = DISTMAP_FLOAT64);
    REFUSE("problem.sign", p.sign = (distmap_sign)3);
    REFUSE("problem.sign", p.sign = (distmap_sign)-1);
    REFUSE("problem.surface", p.sign = DISTMAP_SIGN_INSIDE; p.surface = (distmap_surface)2);
    REFUSE("without problem.sign", p.surface = DISTMAP_SURFACE_HALF);
    REFUSE("problem.sign needs a mask", p.sign = DISTMAP_SIGN_OUTSIDE; p.input = DISTMAP_INPUT_LABELS);
    REFUSE("problem.sign needs a mask", p.sign = DISTMAP_SIGN_OUTSIDE; p.input = DISTMAP_INPUT_SAMPLED);
    REFUSE("problem.sign needs the Eucl", p.sign = DISTMAP_SIGN_OUTSIDE; p.metric = DISTMAP_METRIC_CHESSBOARD);
    REFUSE("integers have no sign", p.sign = DISTMAP_SIGN_OUTSIDE; p.want.squared = DISTMAP_UINT32);
    REFUSE("problem.surface CENTRE", p.sign = DISTMAP_SIGN_OUTSIDE; p.surface = DISTMAP_SURFACE_HALF;
           p.want.squared = DISTMAP_FLOAT32);
    REFUSE("problem.sign", p = strength_problem(); p.sign = DISTMAP_SIGN_OUTSIDE);
    distmap_problem p = small_problem();
    p.sign = DISTMAP_SIGN_OUTSIDE;
    refuse(&p, &(distmap_plan_options){.method = "edm/cpu"}, DISTMAP_ERROR_UNSUPPORTED, "without sign", __LINE__);
    p.want.index = DISTMAP_INT32;
    p.spacing[0] = 1e9;
    refuse(&p, &(distmap_plan_options){.method = "minplus/cpu"}, DISTMAP_ERROR_UNSUPPORTED,
           "times the least squared pitch", __LINE__);
}

/* ---- Relations ---- */

enum { MOST = 80 * 60 * 70 };
static const int64_t image_shape[] = {350, 500}, volume_shape[] = {80, 60, 70}, thin_shape[] = {3, 20000};

static uint8_t mask[MOST];
static uint16_t label[MOST];
static float got[MOST], want[MOST], other[MOST];

static void compute(const char *method, distmap_problem p, int ndim, const int64_t *shape, const void *input,
                    float *out, int threads) {
    distmap_context *many = NULL;
    distmap_plan *plan = NULL;
    p.ndim = ndim;
    memcpy(p.shape, shape, (size_t)ndim * sizeof *shape);
    p.want.distance = DISTMAP_FLOAT32;
    const distmap_arrays arrays = {.input = distmap_view_make((void *)input, p.dtype, ndim, shape),
                                   .distance = distmap_view_make(out, DISTMAP_FLOAT32, ndim, shape)};
    assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = threads}, &many), DISTMAP_OK);
    assert_int_equal(distmap_plan_create(many, &p, &(distmap_plan_options){.method = method}, &plan), DISTMAP_OK);
    assert_int_equal(distmap_plan_execute(plan, &arrays), DISTMAP_OK);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&many);
}

static size_t count_of(int ndim, const int64_t *shape) {
    size_t count = 1;
    for (int a = 0; a < ndim; a++)
        count *= (size_t)shape[a];
    return count;
}

/* A signed map is the distance to the shape less that to all else, of which one is 0 everywhere. */
static void check_signed(int ndim, const int64_t *shape, unsigned every) {
    const size_t n = count_of(ndim, shape);
    paint(mask, n, every, seed + every);
    distmap_problem p = {.dtype = DISTMAP_UINT8};
    compute(NULL, p, ndim, shape, mask, want, 2);
    p.sites.rule = DISTMAP_SITES_NONZERO;
    compute(NULL, p, ndim, shape, mask, other, 2);
    for (int threads = 1; threads <= 3; threads++) {
        p = (distmap_problem){.dtype = DISTMAP_UINT8, .sign = DISTMAP_SIGN_OUTSIDE};
        compute("minplus/cpu", p, ndim, shape, mask, got, threads);
        for (size_t i = 0; i < n; i++)
            assert_true(got[i] == want[i] - other[i]);
        p.sign = DISTMAP_SIGN_INSIDE;
        p.surface = DISTMAP_SURFACE_HALF;
        compute("minplus/cpu", p, ndim, shape, mask, got, threads);
        for (size_t i = 0; i < n; i++)
            assert_true(got[i] == (mask[i] ? 0.5f - want[i] : other[i] - 0.5f));
    }
}

static void test_signed(void **state) {
    (void)state;
    static const unsigned densities[] = {2, 30, 3000, 100000};
    for (size_t d = 0; d < sizeof densities / sizeof *densities; d++) {
        check_signed(2, image_shape, densities[d]);
        check_signed(2, thin_shape, densities[d]);
        check_signed(3, volume_shape, densities[d]);
    }
}

/* Regions of the nearest of some points, as labels; with gaps between them as background. Two methods, which have nothing in
 * common, agree. */
static void check_labels(int ndim, const int64_t *shape, unsigned every, bool gaps) {
    const size_t n = count_of(ndim, shape);
    distmap_problem p = {.dtype = DISTMAP_UINT16, .ndim = ndim, .sites.rule = DISTMAP_SITES_NONZERO};
    memcpy(p.shape, shape, (size_t)ndim * sizeof *shape);
    p.want = (distmap_outputs){.distance = DISTMAP_FLOAT32, .label = DISTMAP_UINT16};
    paint(mask, n, every, seed + every);
    static uint16_t points[MOST];
    for (size_t i = 0; i < n; i++)
        points[i] = mask[i] ? 0 : (uint16_t)(1 + i % 60000);
    const distmap_arrays arrays = {.input = distmap_view_make(points, DISTMAP_UINT16, ndim, shape),
                                   .distance = distmap_view_make(want, DISTMAP_FLOAT32, ndim, shape),
                                   .label = distmap_view_make(label, DISTMAP_UINT16, ndim, shape)};
    assert_int_equal(distmap_transform(&p, &arrays, NULL), DISTMAP_OK);
    for (size_t i = 0; gaps && i < n; i++)
        label[i] = want[i] > 9 ? 0 : label[i];
    p = (distmap_problem){.dtype = DISTMAP_UINT16, .input = DISTMAP_INPUT_LABELS};
    compute("envelope/cpu", p, ndim, shape, label, want, 2);
    for (int threads = 1; threads <= 3; threads++) {
        compute("minplus/cpu", p, ndim, shape, label, got, threads);
        assert_memory_equal(got, want, n * sizeof *got);
    }
}

static void test_labels(void **state) {
    (void)state;
    static const unsigned densities[] = {5, 300, 20000, 100000};
    for (size_t d = 0; d < sizeof densities / sizeof *densities; d++)
        for (int gaps = 0; gaps < 2; gaps++) {
            check_labels(2, image_shape, densities[d], gaps);
            check_labels(2, thin_shape, densities[d], gaps);
            check_labels(3, volume_shape, densities[d], gaps);
        }
}

static int open_context(void **state) {
    (void)state;
    return distmap_context_create(NULL, &context) != DISTMAP_OK;
}

int main(void) {
    seed = (uint32_t)test_seed();
    print_message("seed %u\n", seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_signed),
        cmocka_unit_test(test_labels),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
