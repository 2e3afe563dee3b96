/* Comparisons: the header's rules about them, their memory, and how they relate to each other and to distance maps, on images
 * of many pieces and long rows, with one thread and with several. The seed is printed and DISTMAP_TEST_SEED repeats it. */
#include "../seed.h"
#include "refuse.h"

#include <math.h>

static uint32_t seed;

#define COMPARE(...)                    \
    p.want = (distmap_outputs){0};      \
    p.field = DISTMAP_FIELD_COMPARISON; \
    p.comparison = (distmap_comparison) { __VA_ARGS__ }

static void test_rules(void **state) {
    (void)state;
    ACCEPT(COMPARE(0));
    ACCEPT(COMPARE(.points = DISTMAP_POINTS_SET, .tolerance = 1e300, .other = DISTMAP_FLOAT64));
    ACCEPT(COMPARE(.percentile_count = 3, .percentile = {0, 50, 100}); p.shape[1] = 0);
    ACCEPT(COMPARE(0); p.dtype = DISTMAP_FLOAT32; p.sites = (distmap_sites){DISTMAP_SITES_RANGE, 1, 2});
    ACCEPT(COMPARE(0); p.spacing[0] = 0.1; p.axes = 3);
    ACCEPT(COMPARE(0); p.spacing[0] = 0.25; p.spacing[1] = 1 << 20);
    ACCEPT(COMPARE(0); p.spacing[0] = 1024; p.spacing[1] = 0.25; p.shape[0] = 1 << 20; p.shape[1] = 1);
    static const double wrong[] = {-1, -1e-300, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        REFUSE("problem.comparison.tolerance", COMPARE(.tolerance = wrong[i]));
        REFUSE("problem.comparison.percentile[1]", COMPARE(.percentile_count = 2, .percentile = {50, wrong[i]}));
    }
    REFUSE("problem.comparison.percentile[0] is 100", COMPARE(.percentile_count = 1, .percentile = {100.001}));
    REFUSE("problem.comparison.percentile_count", COMPARE(.percentile_count = -1));
    REFUSE("problem.comparison.percentile_count", COMPARE(.percentile_count = DISTMAP_MAX_PERCENTILES + 1));
    REFUSE("problem.comparison.points", COMPARE(.points = (distmap_points)2));
    REFUSE("problem.comparison.other", COMPARE(.other = (distmap_dtype)99));
    REFUSE("problem.comparison has no meaning", p.comparison.tolerance = 1);
    REFUSE("problem.comparison has no meaning", p.comparison.other = DISTMAP_UINT8);
    REFUSE("needs a mask input", COMPARE(0); p.input = DISTMAP_INPUT_LABELS);
    REFUSE("problem.axes", COMPARE(0); p.axes = 1);
    REFUSE("problem.metric", COMPARE(0); p.metric = DISTMAP_METRIC_CITYBLOCK);
    REFUSE("problem.limit", COMPARE(0); p.limit = 2);
    REFUSE("problem.border", COMPARE(0); p.border = true);
    REFUSE("no outputs", COMPARE(0); p.want.distance = DISTMAP_FLOAT32);
    REFUSE("problem.sign", COMPARE(0); p.sign = DISTMAP_SIGN_INSIDE);
}

/* ---- Plans and views ---- */

static distmap_problem comparison(int ndim, const int64_t *shape, distmap_comparison c) {
    distmap_problem p = {.dtype = DISTMAP_UINT8,
                         .ndim = ndim,
                         .sites = {.rule = DISTMAP_SITES_NONZERO},
                         .field = DISTMAP_FIELD_COMPARISON,
                         .comparison = c};
    memcpy(p.shape, shape, (size_t)ndim * sizeof *shape);
    return p;
}

static void test_views(void **state) {
    (void)state;
    static uint8_t mask[PIXELS];
    distmap_plan *plan = NULL;
    distmap_agreement a;
    const distmap_problem p = comparison(2, small_shape, (distmap_comparison){0});
    const distmap_view view = distmap_view_make(mask, DISTMAP_UINT8, 2, small_shape);
    check_text(distmap_plan_agreement(NULL, &a), DISTMAP_ERROR_ARGUMENT, "plan is NULL", __LINE__);
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
    check_text(distmap_plan_agreement(plan, NULL), DISTMAP_ERROR_ARGUMENT, "agreement is NULL", __LINE__);
    check_text(distmap_plan_execute(plan, &(distmap_arrays){.input = view}), DISTMAP_ERROR_ARGUMENT, "arrays.other",
               __LINE__);
    assert_int_equal(distmap_plan_execute(plan, &(distmap_arrays){.input = view, .other = view}), DISTMAP_OK);
    distmap_plan_destroy(&plan);

    const distmap_problem distances = small_problem();
    float out[PIXELS];
    distmap_arrays arrays = small_arrays(mask, out);
    assert_int_equal(distmap_plan_create(context, &distances, NULL, &plan), DISTMAP_OK);
    check_text(distmap_plan_agreement(plan, &a), DISTMAP_ERROR_ARGUMENT, "not COMPARISON", __LINE__);
    arrays.other = view;
    check_text(distmap_plan_execute(plan, &arrays), DISTMAP_ERROR_ARGUMENT, "arrays.other is given", __LINE__);
    distmap_plan_destroy(&plan);
}

/* The header's words about memory, beside what one map takes. */
static void test_memory(void **state) {
    (void)state;
    enum { SIDE = 128, SIZE = SIDE * SIDE * SIDE };
    static const int64_t shape[] = {SIDE, SIDE, SIDE};
    static const double spacings[] = {1, 0.25, 1.2345678};
    for (int s = 0; s < 3; s++)
        for (int points = 0; points < 2; points++) {
            distmap_problem p = comparison(3, shape, (distmap_comparison){.points = (distmap_points)points});
            distmap_problem map = {.dtype = DISTMAP_UINT8, .ndim = 3, .shape = {SIDE, SIDE, SIDE}};
            size_t bytes, own;
            p.spacing[1] = spacings[s];
            map.spacing[1] = s == 2 ? spacings[s] : 1;
            map.want.squared = s == 2 ? DISTMAP_FLOAT64 : DISTMAP_UINT32;
            assert_int_equal(distmap_scratch_bytes(context, &p, NULL, &bytes), DISTMAP_OK);
            assert_int_equal(distmap_scratch_bytes(context, &map, NULL, &own), DISTMAP_OK);
            const size_t least = own + (size_t)SIZE * ((s == 2 ? 8 : 4) + (points == DISTMAP_POINTS_SURFACE));
            assert_in_range(bytes, least, least + 100000);
        }
}

/* ---- Relations ---- */

enum { MOST = 80 * 90 * 70 };
static uint8_t a_mask[MOST], b_mask[MOST], c_mask[MOST], shell[MOST];
static uint64_t map[MOST];

static size_t count_of(const distmap_problem *p) {
    size_t count = 1;
    for (int a = 0; a < p->ndim; a++)
        count *= (size_t)p->shape[a];
    return count;
}

static distmap_agreement compare(distmap_problem p, const uint8_t *a, const uint8_t *b, int threads) {
    distmap_context *many = NULL;
    distmap_plan *plan = NULL;
    distmap_agreement made;
    const distmap_arrays arrays = {.input = distmap_view_make((void *)a, DISTMAP_UINT8, p.ndim, p.shape),
                                   .other = distmap_view_make((void *)b, DISTMAP_UINT8, p.ndim, p.shape)};
    assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = threads}, &many), DISTMAP_OK);
    assert_int_equal(distmap_plan_create(many, &p, NULL, &plan), DISTMAP_OK);
    assert_int_equal(distmap_plan_execute(plan, &arrays), DISTMAP_OK);
    assert_int_equal(distmap_plan_agreement(plan, &made), DISTMAP_OK);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&many);
    return made;
}

static void find_shell(const distmap_problem *p, const uint8_t *mask, uint8_t *to) {
    const int64_t n = (int64_t)count_of(p);
    for (int64_t i = 0; i < n; i++) {
        int64_t step = 1;
        bool inside = true;
        for (int a = p->ndim - 1; a >= 0; step *= p->shape[a--]) {
            const int64_t at = i / step % p->shape[a];
            inside = inside && at > 0 && mask[i - step] && at < p->shape[a] - 1 && mask[i + step];
        }
        to[i] = mask[i] && (p->comparison.points == DISTMAP_POINTS_SET || !inside);
    }
}

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* One direction, from a map that the library gives of the other set's points. */
static void check_directed(const distmap_problem *p, const uint8_t *from, const uint8_t *to,
                           const distmap_directed *got) {
    const size_t n = count_of(p);
    distmap_problem distances = {.dtype = DISTMAP_UINT8,
                                 .ndim = p->ndim,
                                 .sites = {.rule = DISTMAP_SITES_NONZERO},
                                 .want = {.squared = DISTMAP_UINT64}};
    memcpy(distances.shape, p->shape, sizeof p->shape);
    find_shell(p, to, shell);
    const distmap_arrays arrays = {.input = distmap_view_make(shell, DISTMAP_UINT8, p->ndim, p->shape),
                                   .squared = distmap_view_make(map, DISTMAP_UINT64, p->ndim, p->shape)};
    assert_int_equal(distmap_transform(&distances, &arrays, NULL), DISTMAP_OK);
    find_shell(p, from, shell);
    size_t points = 0, within = 0;
    double squares = 0;
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (shell[i]) {
            within += map[i] <= 9;
            squares += (double)map[i];
            sum += sqrtl((long double)map[i]);
            map[points++] = map[i];
        }
    assert_int_equal(got->points, points);
    assert_int_equal(got->within, within);
    if (points == 0)
        return;
    qsort(map, points, sizeof *map, ascending);
    assert_true(got->hausdorff == sqrt((double)map[points - 1]));
    assert_true(got->rms == sqrt(squares / (double)points));
    assert_true(fabs(got->mean - (double)(sum / (long double)points)) <= 1e-15 * got->mean);
    for (int i = 0; i < p->comparison.percentile_count; i++) {
        const double at = (double)(points - 1) * (p->comparison.percentile[i] / 100);
        const size_t k = (size_t)at, next = k + 1 < points ? k + 1 : k;
        const double part = at - (double)k, low = sqrt((double)map[k]), high = sqrt((double)map[next]);
        assert_true(got->percentile[i] == (part >= 0.5 ? high - (high - low) * (1 - part) : low + (high - low) * part));
    }
}

static void check_image(int ndim, const int64_t *shape, unsigned every, int period) {
    for (int points = 0; points < 2; points++) {
        const distmap_problem p = comparison(ndim, shape,
                                             (distmap_comparison){.points = (distmap_points)points,
                                                                  .tolerance = 3,
                                                                  .percentile_count = 4,
                                                                  .percentile = {95, 50, 0.01, 99.999}});
        const size_t n = count_of(&p);
        paint(a_mask, n, every, seed + every);
        paint(b_mask, n, every, seed + every + 1);
        paint(c_mask, n, 2 * every, seed + every + 2);
        for (size_t i = 0; period && i < n; i++) { /* wide stripes with holes, and with something between them */
            a_mask[i] = (i / (size_t)period % 3 != 0) == a_mask[i];
            b_mask[i] = ((i + 7) / (size_t)period % 3 != 0) == b_mask[i];
        }
        const distmap_agreement one = compare(p, a_mask, b_mask, 1);
        check_directed(&p, a_mask, b_mask, &one.forward);
        check_directed(&p, b_mask, a_mask, &one.backward);
        for (int threads = 2; threads <= 5; threads++) {
            const distmap_agreement many = compare(p, a_mask, b_mask, threads);
            assert_memory_equal(&one, &many, sizeof one);
        }
        const distmap_agreement turned = compare(p, b_mask, a_mask, 2), self = compare(p, a_mask, a_mask, 2);
        assert_memory_equal(&one.forward, &turned.backward, sizeof one.forward);
        assert_memory_equal(&one.symmetric, &turned.symmetric, sizeof one.symmetric);
        assert_true(self.symmetric.hausdorff == 0 && self.symmetric.mean == 0 && self.symmetric.rms == 0);
        assert_true(self.dice == 1 && self.jaccard == 1 && self.surface_dice == 1);
        const distmap_agreement on = compare(p, b_mask, c_mask, 2), all = compare(p, a_mask, c_mask, 2);
        assert_true(all.symmetric.hausdorff <= (one.symmetric.hausdorff + on.symmetric.hausdorff) * (1 + 1e-15));
        assert_true(all.forward.hausdorff <= (one.forward.hausdorff + on.forward.hausdorff) * (1 + 1e-15));
    }
}

static void test_relations(void **state) {
    (void)state;
    static const int64_t image[] = {700, 500}, volume[] = {80, 90, 70}, line[] = {500000}, thin[] = {100000, 5},
                         wide[] = {5, 100000};
    for (int k = 0; k < 3; k++) {
        const unsigned every = (const unsigned[]){3, 300, 50000}[k];
        const int period = (const int[]){0, 900, 20000}[k];
        check_image(1, line, every, period);
        check_image(2, image, every, period);
        check_image(2, thin, every, period);
        check_image(2, wide, every, period);
        check_image(3, volume, every, period);
    }
}

static void test_empty(void **state) {
    (void)state;
    distmap_problem p = comparison(2, small_shape, (distmap_comparison){0});
    paint(a_mask, PIXELS, 3, seed);
    memset(b_mask, 0, PIXELS);
    const distmap_agreement one = compare(p, a_mask, b_mask, 2), none = compare(p, b_mask, b_mask, 2);
    assert_true(isinf(one.forward.hausdorff) && isnan(one.backward.mean) && isinf(one.symmetric.percentile[0]));
    assert_true(one.surface_dice == 0 && one.dice == 0 && one.jaccard == 0);
    assert_true(isnan(none.forward.hausdorff) && isnan(none.symmetric.rms) && isnan(none.symmetric.percentile[0]));
    assert_true(isnan(none.surface_dice) && isnan(none.dice) && isnan(none.jaccard));
    p.shape[0] = 0;
    const distmap_agreement nothing = compare(p, a_mask, b_mask, 2);
    assert_true(isnan(nothing.symmetric.hausdorff) && nothing.symmetric.points == 0);
}

int main(void) {
    seed = (uint32_t)test_seed();
    print_message("seed %u\n", seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),     cmocka_unit_test(test_views), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_relations), cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, open_two_threads, close_context);
}
