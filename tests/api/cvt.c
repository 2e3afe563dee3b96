/* Centroidal Voronoi diagrams: the header's rules about them, the widths of their sums, and how good they are. */
#include <math.h>

#include "refuse.h"

#define CVT(...)                                                                     \
    p.want = (distmap_outputs){.sites = DISTMAP_INT32, .energies = DISTMAP_FLOAT64}; \
    p.field = DISTMAP_FIELD_CVT;                                                     \
    p.cvt = (distmap_cvt) { __VA_ARGS__ }

static void test_rules(void **state) {
    (void)state;
    ACCEPT(CVT(.points = 1));
    ACCEPT(CVT(.points = PIXELS, .steps = 3, .omega = 1.99, .seed = UINT64_MAX, .grids = 16));
    ACCEPT(CVT(.points = 300); p.dtype = DISTMAP_UINT32; p.want.label = DISTMAP_UINT16);
    ACCEPT(CVT(.points = 256); p.want.label = DISTMAP_UINT8; p.axes = 3);
    static const int64_t points[] = {0, -1, PIXELS + 1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        REFUSE("problem.cvt.points", CVT(.points = points[i]));
    REFUSE("problem.cvt.points", CVT(.points = INT32_MAX); p.shape[0] = p.shape[1] = 50000);
    REFUSE("problem.cvt.points", CVT(.points = 1); p.shape[1] = 0);
    REFUSE("problem.cvt.steps", CVT(.points = 2, .steps = -1));
    REFUSE("problem.cvt.steps", CVT(.points = 2, .steps = (1 << 20) + 1));
    static const double omegas[] = {2, -1, 2.5, -1e-300, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof omegas / sizeof *omegas; i++)
        REFUSE("problem.cvt.omega", CVT(.points = 2, .omega = omegas[i]));
    REFUSE("problem.cvt.grids", CVT(.points = 2, .grids = 17));
    REFUSE("problem.cvt.grids", CVT(.points = 2, .grids = -1));
    static const distmap_dtype dtypes[] = {DISTMAP_INT8, DISTMAP_INT32, DISTMAP_UINT64, DISTMAP_FLOAT32};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        REFUSE("scale others to integers", CVT(.points = 2); p.dtype = dtypes[i]);
    REFUSE("may pass 2^62", CVT(.points = 2); p.dtype = DISTMAP_UINT32; p.shape[0] = p.shape[1] = 40000);
    REFUSE("problem.ndim", CVT(.points = 2); p.ndim = 4; p.shape[2] = p.shape[3] = 1);
    REFUSE("problem.axes", CVT(.points = 2); p.axes = 1);
    REFUSE("problem.input", CVT(.points = 2); p.input = DISTMAP_INPUT_LABELS);
    REFUSE("problem.sites", CVT(.points = 2); p.sites.rule = DISTMAP_SITES_NONZERO);
    REFUSE("problem.metric", CVT(.points = 2); p.metric = DISTMAP_METRIC_CITYBLOCK);
    REFUSE("problem.limit", CVT(.points = 2); p.limit = 5);
    REFUSE("problem.border", CVT(.points = 2); p.border = true);
    REFUSE("problem.want.sites", CVT(.points = 2); p.want.sites = DISTMAP_INT16);
    REFUSE("problem.want.centroids", CVT(.points = 2); p.want.centroids = DISTMAP_FLOAT32);
    REFUSE("problem.want.energies", CVT(.points = 2); p.want.energies = DISTMAP_INT64);
    REFUSE("problem.want.label must be", CVT(.points = 2); p.want.label = DISTMAP_FLOAT32);
    REFUSE("problem.want.label is uint8", CVT(.points = 257); p.want.label = DISTMAP_UINT8);
    REFUSE("four outputs", CVT(.points = 2); p.want.distance = DISTMAP_FLOAT32);
    REFUSE("names no output", CVT(.points = 2); p.want = (distmap_outputs){.sites = DISTMAP_NONE});
    REFUSE("problem.cvt has no meaning", p.cvt.points = 1);
    REFUSE("problem.cvt has no meaning", p.cvt.seed = 1);
    REFUSE("problem.want.sites needs", p.want.sites = DISTMAP_INT32);
    REFUSE("problem.want.energies needs", p.want.energies = DISTMAP_FLOAT64);
    REFUSE("problem.morphology has no meaning", CVT(.points = 2); p.morphology.radius = 1);
}

/* Sites, and the energies of a plan for these weights. */
static distmap_status run(const distmap_problem *p, void *weights, int32_t *sites, double *energies) {
    const int64_t places[] = {p->cvt.points, p->ndim}, steps[] = {p->cvt.steps + 1};
    const distmap_arrays arrays = {.input = distmap_view_make(weights, p->dtype, p->ndim, p->shape),
                                   .sites = distmap_view_make(sites, DISTMAP_INT32, 2, places),
                                   .energies = distmap_view_make(energies, DISTMAP_FLOAT64, 1, steps)};
    distmap_plan *plan = NULL;
    assert_int_equal(distmap_plan_create(context, p, NULL, &plan), DISTMAP_OK);
    const distmap_status status = distmap_plan_execute(plan, &arrays);
    distmap_plan_destroy(&plan);
    return status;
}

static void test_views(void **state) {
    (void)state;
    distmap_problem p = small_problem();
    CVT(.points = 4, .steps = 2);
    uint8_t weights[PIXELS];
    int32_t sites[16];
    double energies[8];
    const int64_t places[] = {4, 2}, steps[] = {3}, fewer[] = {3, 2};
    const distmap_arrays good = {.input = distmap_view_make(weights, DISTMAP_UINT8, 2, small_shape),
                                 .sites = distmap_view_make(sites, DISTMAP_INT32, 2, places),
                                 .energies = distmap_view_make(energies, DISTMAP_FLOAT64, 1, steps)};
    distmap_plan *plan = NULL;
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
    distmap_arrays a = good;
    a.sites = distmap_view_make(sites, DISTMAP_INT32, 2, fewer);
    check_text(distmap_plan_execute(plan, &a), DISTMAP_ERROR_ARGUMENT, "arrays.sites has shape[0] = 3", __LINE__);
    a.sites = distmap_view_make(sites, DISTMAP_INT32, 1, places);
    check_text(distmap_plan_execute(plan, &a), DISTMAP_ERROR_ARGUMENT, "arrays.sites has ndim 1", __LINE__);
    a = good;
    a.energies = distmap_view_make(energies, DISTMAP_FLOAT64, 1, places);
    check_text(distmap_plan_execute(plan, &a), DISTMAP_ERROR_ARGUMENT, "arrays.energies has shape[0] = 4", __LINE__);
    a = good;
    a.energies.data = sites;
    check_text(distmap_plan_execute(plan, &a), DISTMAP_ERROR_ARGUMENT, "overlap in memory", __LINE__);
    a = good;
    a.sites = (distmap_view){0};
    check_text(distmap_plan_execute(plan, &a), DISTMAP_ERROR_ARGUMENT, "arrays.sites", __LINE__);
    distmap_plan_destroy(&plan);

    /* Found out when it runs, and before anything is written. */
    memset(weights, 0, sizeof weights);
    weights[5] = weights[7] = weights[900] = 255;
    memset(sites, 77, sizeof sites);
    check_text(run(&p, weights, sites, energies), DISTMAP_ERROR_ARGUMENT, "3 elements have a weight", __LINE__);
    memset(weights, 0, sizeof weights);
    check_text(run(&p, weights, sites, energies), DISTMAP_ERROR_ARGUMENT, "0 elements have a weight", __LINE__);
    for (size_t i = 0; i < sizeof sites; i++)
        assert_int_equal(((char *)sites)[i], 77);
}

/* Sums that leave 64 bits, and the one rounding at their end. */
static void test_widths(void **state) {
    (void)state;
    enum { LENGTH = (1 << 20) + 1 };
    uint32_t *weights = calloc(LENGTH, sizeof *weights);
    assert_non_null(weights);
    distmap_problem p = {.dtype = DISTMAP_UINT32, .ndim = 1, .shape = {LENGTH}};
    CVT(.points = 1);
    int32_t site = -1;
    double energy = 0;
    weights[0] = UINT32_MAX; /* where the site stands */
    weights[1] = (1 << 11) + 1;
    weights[LENGTH - 1] = 1 << 24;
    assert_int_equal(run(&p, weights, &site, &energy), DISTMAP_OK);
    assert_int_equal(site, 0);
    assert_true(energy == 0x1p64 + 0x1p12); /* 2^64 + 2^11 + 1: above the middle of two doubles */
    weights[1]--;
    assert_int_equal(run(&p, weights, &site, &energy), DISTMAP_OK);
    assert_true(energy == 0x1p64);

    for (int i = 0; i < 40000; i++)
        weights[i] = UINT32_MAX;
    p.shape[0] = 40000;
    check_text(run(&p, weights, &site, &energy), DISTMAP_ERROR_ARGUMENT, "must be below 2^62", __LINE__);
    p.shape[0] = 1 << 15;
    assert_int_equal(run(&p, weights, &site, &energy), DISTMAP_OK);
    p.spacing[0] = 1 << 20;
    p.shape[0] = 1 << 10;
    assert_int_equal(run(&p, weights, &site, &energy), DISTMAP_OK);
    free(weights);
}

/* Of even weight the best cells are hexagons (L. Fejes Toth): N of them on an area A have the energy 5 / (18 sqrt 3) A^2 / N.
 * Lloyd's steps end in a foam of such cells with faults, a few per cent above. */
static void test_quality(void **state) {
    (void)state;
    enum { SIDE = 600, POINTS = 900, STEPS = 60 };
    const double best = 5 / (18 * sqrt(3.0)) * SIDE * SIDE * ((double)SIDE * SIDE) / POINTS;
    uint8_t *weights = malloc(SIDE * SIDE);
    assert_non_null(weights);
    memset(weights, 1, SIDE * SIDE);
    static const double omegas[] = {1, 1.7};
    for (int i = 0; i < 2; i++) {
        distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {SIDE, SIDE}};
        CVT(.points = POINTS, .steps = STEPS, .omega = omegas[i], .seed = 7);
        static int32_t sites[POINTS][2];
        static double energies[STEPS + 1];
        assert_int_equal(run(&p, weights, sites[0], energies), DISTMAP_OK);
        for (int s = 0; s < STEPS; s++)
            assert_true(energies[s + 1] <= energies[s]);
        print_message("omega %g: %.4f times that of hexagons at the start on this grid, %.4f after %d steps\n",
                      omegas[i], energies[0] / best, energies[STEPS] / best, STEPS);
        assert_true(energies[STEPS] >= 0.99 * best && energies[STEPS] <= 1.06 * best);
    }
    free(weights);
}

/* The header's words about memory. */
static void test_memory(void **state) {
    (void)state;
    enum { SIDE = 1024, POINTS = 100 };
    distmap_problem inner = {.dtype = DISTMAP_INT32, .ndim = 2, .shape = {SIDE, SIDE}, .want.index = DISTMAP_INT32};
    size_t own, bytes;
    assert_int_equal(distmap_scratch_bytes(context, &inner, NULL, &own), DISTMAP_OK);
    distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {SIDE, SIDE}};
    CVT(.points = POINTS, .steps = 2);
    assert_int_equal(distmap_scratch_bytes(context, &p, NULL, &bytes), DISTMAP_OK);
    const double stated = (double)own + (8 + 8.0 / 3) * SIDE * SIDE + 52.0 * POINTS;
    assert_in_range(bytes, (size_t)(0.95 * stated), (size_t)(1.05 * stated));
}

static int stop_at(void *user, double fraction) {
    double *last = user;
    assert_true(fraction >= *last && fraction <= 1);
    *last = fraction;
    return fraction > 0.5;
}

static void test_cancel(void **state) {
    (void)state;
    double last = 0;
    distmap_context *own = NULL;
    assert_int_equal(distmap_context_create(
                         &(distmap_context_options){.threads = 1, .progress = stop_at, .progress_user = &last}, &own),
                     DISTMAP_OK);
    distmap_context *before = context;
    context = own;
    uint8_t weights[PIXELS];
    int32_t sites[100];
    double energies[11];
    paint(weights, PIXELS, 3, 5);
    distmap_problem p = small_problem();
    CVT(.points = 50, .steps = 10);
    assert_int_equal(run(&p, weights, sites, energies), DISTMAP_ERROR_CANCELLED);
    assert_true(last > 0.5);
    context = before;
    distmap_context_destroy(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),   cmocka_unit_test(test_views),  cmocka_unit_test(test_widths),
        cmocka_unit_test(test_quality), cmocka_unit_test(test_memory), cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, open_two_threads, close_context);
}
