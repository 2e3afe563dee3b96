/* Samples so large that the rounding of FP64 loses squared offsets in part, or altogether: lines and planes by every default method against
 * the formula of distmap.h. DEVICE is what computes; on a GPU the arrays are in host memory. */
#include <math.h>
#include <time.h>

#include "../matrix/random.h"
#include "api.h"

#ifndef DEVICE
#define DEVICE DISTMAP_DEVICE_CPU
#endif

enum { LENGTH = 300, WIDTHS = 3, CASES = 60 };

static double squared_at(const double *f, const distmap_problem *p, int64_t x, int64_t y) {
    const double wx = p->spacing[1] * p->spacing[1], wy = p->spacing[0] * p->spacing[0];
    double least = INFINITY;
    for (int64_t j = 0; j < p->shape[0]; j++)
        for (int64_t i = 0; i < p->shape[1]; i++) {
            const double along = fma(wx, (double)((x - i) * (x - i)), f[j * p->shape[1] + i]);
            least = fmin(least, fma(wy, (double)((y - j) * (y - j)), along));
        }
    return least;
}

static void large_samples(void **state) {
    (void)state;
    const uint64_t seed = (uint64_t)time(NULL);
    struct rng r = {seed};
    printf("seed %llu\n", (unsigned long long)seed);
    distmap_context *context = NULL;
    assert_int_equal(distmap_context_create(&(distmap_context_options){.device = DEVICE}, &context), DISTMAP_OK);
    static double f[LENGTH * WIDTHS], got[LENGTH * WIDTHS];
    for (int c = 0; c < CASES; c++) {
        const bool turned = rng_chance(&r, 0.5);
        const int64_t across = rng_range(&r, 1, WIDTHS);
        distmap_problem p = {.input = DISTMAP_INPUT_SAMPLED,
                             .dtype = DISTMAP_FLOAT64,
                             .ndim = 2,
                             .shape = {turned ? across : LENGTH, turned ? LENGTH : across},
                             .want.squared = DISTMAP_FLOAT64};
        static const double pitches[] = {1, 0.3, 0.7123457, 2.5};
        for (int a = 0; a < 2; a++)
            p.spacing[a] = pitches[rng_range(&r, 0, 3)];
        const int64_t count = across * LENGTH;
        const double level = ldexp(1, (int)rng_range(&r, 48, 62));
        for (int64_t i = 0; i < count; i++)
            f[i] = level * (1 + (double)rng_range(&r, 0, 3) * 0x1p-52);
        distmap_plan *plan = NULL;
        assert_int_equal(distmap_plan_create(context, &p, &(distmap_plan_options){.host_views = true}, &plan),
                         DISTMAP_OK);
        const distmap_arrays arrays = {.input = distmap_view_make(f, DISTMAP_FLOAT64, 2, p.shape),
                                       .squared = distmap_view_make(got, DISTMAP_FLOAT64, 2, p.shape)};
        assert_int_equal(distmap_plan_execute(plan, &arrays), DISTMAP_OK);
        assert_int_equal(distmap_plan_wait(plan), DISTMAP_OK);
        distmap_plan_destroy(&plan);
        for (int64_t i = 0; i < count; i++) {
            const double want = squared_at(f, &p, i % p.shape[1], i / p.shape[1]);
            if (got[i] != want)
                fail_msg("case %d, element %lld: got %.17g, want %.17g", c, (long long)i, got[i], want);
        }
    }
    distmap_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
