/* What comes out at the edges: empty arrays, no sites, NaN, bad samples, widths, descriptions and tables. */
#include "../matrix/random.h"
#include "api.h"

#include <math.h>

static void test_empty_arrays(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        int64_t shape[3] = {4, 5, 6};
        shape[axis] = 0;
        float out = 7;
        uint8_t in = 1;
        assert_int_equal(distmap_edt(&in, 3, shape, &out), DISTMAP_OK);
        assert_int_equal(distmap_edt(NULL, 3, shape, NULL), DISTMAP_OK);
        assert_true(out == 7);
    }
}

/* Rule 3 in every dtype. */
static void test_no_site(void **state) {
    (void)state;
    const int64_t shape[1] = {3};
    uint8_t mask[3] = {1, 1, 1}, label[3] = {9, 9, 9};
    float f32[3];
    double f64[3];
    uint32_t u32[3];
    uint64_t u64[3];
    int16_t coord[3];
    int64_t index[3];
    distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 1, .shape = {3}};
    p.want = (distmap_outputs){.distance = DISTMAP_FLOAT32,
                               .squared = DISTMAP_UINT32,
                               .index = DISTMAP_INT64,
                               .coords = DISTMAP_INT16,
                               .label = DISTMAP_UINT8};
    distmap_arrays a = {
        .input = distmap_view_make(mask, DISTMAP_UINT8, 1, shape),
        .distance = distmap_view_make(f32, DISTMAP_FLOAT32, 1, shape),
        .squared = distmap_view_make(u32, DISTMAP_UINT32, 1, shape),
        .index = distmap_view_make(index, DISTMAP_INT64, 1, shape),
        .coords = {distmap_view_make(coord, DISTMAP_INT16, 1, shape)},
        .label = distmap_view_make(label, DISTMAP_UINT8, 1, shape),
    };
    unsigned flags = 0;
    assert_int_equal(distmap_transform(&p, &a, &flags), DISTMAP_OK);
    assert_int_equal(flags, DISTMAP_FLAG_NO_SITE);
    p.want = (distmap_outputs){.distance = DISTMAP_FLOAT64, .squared = DISTMAP_UINT64};
    const distmap_arrays b = {.input = a.input,
                              .distance = distmap_view_make(f64, DISTMAP_FLOAT64, 1, shape),
                              .squared = distmap_view_make(u64, DISTMAP_UINT64, 1, shape)};
    assert_int_equal(distmap_transform(&p, &b, NULL), DISTMAP_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(isinf(f32[i]) && f32[i] > 0 && isinf(f64[i]) && f64[i] > 0);
        assert_true(u32[i] == UINT32_MAX && u64[i] == UINT64_MAX);
        assert_true(index[i] == DISTMAP_INDEX_NONE && coord[i] == DISTMAP_INDEX_NONE && label[i] == 0);
    }
}

/* Flags are of the last execution, not of all so far. */
static void test_flags(void **state) {
    (void)state;
    const int64_t shape[1] = {4};
    float in[4] = {1, NAN, 0, 2}, out[4];
    const distmap_problem p = {.dtype = DISTMAP_FLOAT32, .ndim = 1, .shape = {4}, .want.distance = DISTMAP_FLOAT32};
    const distmap_arrays a = {.input = distmap_view_make(in, DISTMAP_FLOAT32, 1, shape),
                              .distance = distmap_view_make(out, DISTMAP_FLOAT32, 1, shape)};
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    assert_int_equal(distmap_context_create(NULL, &context), DISTMAP_OK);
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
    assert_int_equal(distmap_plan_flags(plan), 0);
    assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
    assert_int_equal(distmap_plan_flags(plan), DISTMAP_FLAG_NAN);
    assert_true(out[0] == 2 && out[1] == 1 && out[2] == 0 && out[3] == 1);
    in[2] = 5;
    assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
    assert_int_equal(distmap_plan_flags(plan), DISTMAP_FLAG_NAN | DISTMAP_FLAG_NO_SITE);
    in[1] = 0;
    assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
    assert_int_equal(distmap_plan_flags(plan), 0);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* ---- Bad samples ---- */

static distmap_status transform_samples(distmap_dtype dtype, void *in, distmap_dtype squared, void *out) {
    const int64_t shape[1] = {3};
    distmap_problem p = {
        .input = DISTMAP_INPUT_SAMPLED, .dtype = dtype, .ndim = 1, .shape = {3}, .want.squared = squared};
    const distmap_arrays a = {.input = distmap_view_make(in, dtype, 1, shape),
                              .squared = distmap_view_make(out, squared, 1, shape)};
    return distmap_transform(&p, &a, NULL);
}

static void test_bad_samples(void **state) {
    (void)state;
    uint64_t out[3];
    int8_t negative[3] = {0, -1, 5};
    assert_int_equal(transform_samples(DISTMAP_INT8, negative, DISTMAP_UINT64, out), DISTMAP_ERROR_VALUE);
    assert_non_null(strstr(distmap_error_text(), "arrays.input"));
    int64_t least[3] = {INT64_MIN, INT64_MIN, INT64_MIN};
    assert_int_equal(transform_samples(DISTMAP_INT64, least, DISTMAP_UINT64, out), DISTMAP_ERROR_VALUE);
    uint64_t large[3] = {0, ((uint64_t)1 << 61) + 1, 0};
    assert_int_equal(transform_samples(DISTMAP_UINT64, large, DISTMAP_UINT64, out), DISTMAP_ERROR_VALUE);
    large[1]--;
    assert_int_equal(transform_samples(DISTMAP_UINT64, large, DISTMAP_UINT64, out), DISTMAP_OK);
    assert_true(out[0] == 0 && out[1] == 1 && out[2] == 0);
    large[0] = large[1] = large[2] = UINT32_MAX - 1;
    assert_int_equal(transform_samples(DISTMAP_UINT64, large, DISTMAP_UINT32, out), DISTMAP_OK);
    large[0] = large[1] = large[2] = UINT32_MAX;
    assert_int_equal(transform_samples(DISTMAP_UINT64, large, DISTMAP_UINT32, out), DISTMAP_ERROR_VALUE);
    double reals[3] = {1, -1e-300, 1};
    assert_int_equal(transform_samples(DISTMAP_FLOAT64, reals, DISTMAP_FLOAT64, out), DISTMAP_ERROR_VALUE);
    reals[1] = -INFINITY;
    assert_int_equal(transform_samples(DISTMAP_FLOAT64, reals, DISTMAP_FLOAT64, out), DISTMAP_ERROR_VALUE);
    reals[1] = -0.0;
    assert_int_equal(transform_samples(DISTMAP_FLOAT64, reals, DISTMAP_FLOAT64, out), DISTMAP_OK);
    assert_false(signbit(((double *)out)[1]));
}

/* ---- Closed forms ---- */

static void test_known_values(void **state) {
    (void)state;
    const uint8_t mask[9] = {0, 1, 1, 1, 1, 1, 1, 1, 1};
    const int64_t shape[2] = {3, 3};
    float out[9];
    assert_int_equal(distmap_edt(mask, 2, shape, out), DISTMAP_OK);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            assert_true(out[3 * y + x] == sqrtf((float)(y * y + x * x)));
}

/* The width of squared distances changes exactly where the largest one needs it. */
static void test_widths(void **state) {
    (void)state;
    distmap_context *context = NULL;
    assert_int_equal(distmap_context_create(NULL, &context), DISTMAP_OK);
    const struct {
        int64_t length;
        double pitch;
        int bits;
        bool integer, border;
    } rows[] = {{65536, 1, 32, true, false}, {65537, 1, 64, true, false},     {65536, 2, 32, true, false},
                {100, 0.5, 32, true, false}, {100, 1048577, 32, true, false}, {100, 1e-25, 64, false, false},
                {1, 70000, 32, true, false}, {1, 70000, 32, true, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const distmap_problem p = {.dtype = DISTMAP_UINT8,
                                   .ndim = 1,
                                   .shape = {rows[i].length},
                                   .spacing = {rows[i].pitch},
                                   .border = rows[i].border,
                                   .want.distance = DISTMAP_FLOAT64};
        distmap_plan *plan = NULL;
        distmap_description d;
        assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
        distmap_plan_describe(plan, &d);
        assert_int_equal(d.squared_bits, rows[i].bits);
        assert_int_equal(d.integer, rows[i].integer);
        assert_int_equal(d.threads, distmap_context_threads(context));
        assert_string_equal(d.isa, distmap_context_isa(context));
        assert_non_null(distmap_method_find(d.method));
        distmap_plan_destroy(&plan);
    }
    distmap_context_destroy(&context);
}

/* Samples beyond 32 bits, in an image that is small, within a limit that is not. */
static void test_wide_samples(void **state) {
    (void)state;
    uint64_t samples[2] = {(uint64_t)1 << 40, ((uint64_t)1 << 40) + 9}, squared[2];
    const double limits[] = {0, 1 << 20, 3e8, 1e9, 1e200};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const distmap_problem p = {.input = DISTMAP_INPUT_SAMPLED,
                                   .dtype = DISTMAP_UINT64,
                                   .ndim = 1,
                                   .shape = {2},
                                   .limit = limits[i],
                                   .want.squared = DISTMAP_UINT64};
        const distmap_arrays a = {.input = distmap_view_make(samples, DISTMAP_UINT64, 1, p.shape),
                                  .squared = distmap_view_make(squared, DISTMAP_UINT64, 1, p.shape)};
        assert_int_equal(distmap_transform(&p, &a, NULL), DISTMAP_OK);
        assert_true(squared[0] == samples[0]);
        assert_true(squared[1] == (limits[i] == 1 << 20 ? UINT64_MAX : samples[0] + 1));
    }
}

/* A limit that is a distance holds it, and the next smaller one does not, also where squares pass 2^53. The pitch is the largest
 * of whole ones. */
static void test_large_limits(void **state) {
    (void)state;
    enum { LENGTH = 300 };
    uint8_t mask[LENGTH], within[LENGTH];
    memset(mask, 1, sizeof mask);
    mask[0] = 0;
    distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 1, .shape = {LENGTH}, .spacing = {(1 << 20) - 1}};
    p.want.within = DISTMAP_UINT8;
    const distmap_arrays a = {.input = distmap_view_make(mask, DISTMAP_UINT8, 1, p.shape),
                              .within = distmap_view_make(within, DISTMAP_UINT8, 1, p.shape)};
    for (int n = 1; n < LENGTH; n++)
        for (int below = 0; below < 2; below++) {
            const double distance = p.spacing[0] * n;
            p.limit = below ? nextafter(distance, 0) : distance;
            assert_int_equal(distmap_transform(&p, &a, NULL), DISTMAP_OK);
            for (int i = 0; i < LENGTH; i++)
                assert_int_equal(within[i], i <= n - below);
        }
}

/* Some of the sites on a circle about an element, which are all as near to it: the first one is nearest. */
static void test_sites_on_circles(void **state) {
    (void)state;
    enum { TALL = 1150, NARROW = 70, REACH = 90, SITES = 48 };
    static const int64_t squares[] = {3250, 4225, 5525, 8125};
    static uint8_t mask[TALL][NARROW];
    static int64_t index[TALL][NARROW];
    distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {TALL, NARROW}, .want.index = DISTMAP_INT64};
    const distmap_arrays a = {.input = distmap_view_make(mask, DISTMAP_UINT8, 2, p.shape),
                              .index = distmap_view_make(index, DISTMAP_INT64, 2, p.shape)};
    struct rng r = {1};
    for (int image = 0; image < 40; image++) {
        const int64_t y0 = rng_range(&r, REACH, TALL - 1 - REACH), square = squares[image % 4];
        const int64_t x0 = image % 8 < 4 ? NARROW - 1 : rng_range(&r, 0, NARROW - 1);
        int64_t sites[SITES][2], count = 0;
        memset(mask, 1, sizeof mask);
        for (int64_t y = y0 - REACH; y <= y0 + REACH; y++)
            for (int64_t x = 0; x < NARROW; x++)
                if ((y - y0) * (y - y0) + (x - x0) * (x - x0) == square && rng_chance(&r, 0.3)) {
                    mask[y][x] = 0;
                    sites[count][0] = y, sites[count++][1] = x;
                }
        assert_int_equal(distmap_transform(&p, &a, NULL), DISTMAP_OK);
        for (int64_t y = 0; y < TALL; y++)
            for (int64_t x = 0; x < NARROW; x++) {
                int64_t least = INT64_MAX, nearest = -1;
                for (int64_t i = 0; i < count; i++) {
                    const int64_t dy = y - sites[i][0], dx = x - sites[i][1], d2 = dy * dy + dx * dx;
                    nearest = d2 < least ? sites[i][0] * NARROW + sites[i][1] : nearest; /* they are in order */
                    least = d2 < least ? d2 : least;
                }
                assert_int_equal(index[y][x], nearest);
            }
    }
}

/* ---- Tables ---- */

static void test_methods(void **state) {
    (void)state;
    size_t count = 0;
    for (; distmap_method_get(count); count++) {
        const distmap_method_info *info = distmap_method_get(count);
        assert_ptr_equal(distmap_method_find(info->name), info);
        assert_true(info->summary && *info->summary && info->source && *info->source);
        assert_true(strcmp(info->device, "cpu") == 0 || strcmp(info->device, "cuda") == 0);
        assert_string_equal(strchr(info->name, '/') + 1, info->device);
        for (size_t k = 0; k < info->param_count; k++) {
            const distmap_param_info *q = &info->params[k];
            assert_true(q->lowest <= q->fallback && q->fallback <= q->highest && q->summary && *q->summary);
        }
    }
    assert_true(count >= 3);
    assert_null(distmap_method_get(count + 1));
    assert_null(distmap_method_find("minplus"));
    assert_null(distmap_method_find(NULL));
}

static void test_dtypes(void **state) {
    (void)state;
    const size_t sizes[] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    for (int t = DISTMAP_NONE; t <= DISTMAP_FLOAT64; t++) {
        assert_int_equal(distmap_dtype_size((distmap_dtype)t), sizes[t]);
        if (t)
            assert_int_equal(distmap_dtype_from_name(distmap_dtype_name((distmap_dtype)t)), t);
    }
    assert_string_equal(distmap_dtype_name(DISTMAP_NONE), "none");
    assert_int_equal(distmap_dtype_from_name("none"), DISTMAP_NONE);
    assert_int_equal(distmap_dtype_from_name("uint"), DISTMAP_NONE);
    assert_int_equal(distmap_dtype_size((distmap_dtype)-1), 0);
    assert_string_equal(distmap_version(), DISTMAP_VERSION);
    for (int s = DISTMAP_OK; s <= DISTMAP_ERROR_FORMAT; s++)
        assert_string_not_equal(distmap_status_name((distmap_status)s), "unknown");
    assert_string_equal(distmap_status_name((distmap_status)100), "unknown");
    const int64_t shape[3] = {2, 3, 4};
    const distmap_view v = distmap_view_make(NULL, DISTMAP_INT16, 3, shape);
    assert_true(v.strides[0] == 24 && v.strides[1] == 8 && v.strides[2] == 2 && v.ndim == 3 && v.shape[1] == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_arrays),     cmocka_unit_test(test_no_site),      cmocka_unit_test(test_flags),
        cmocka_unit_test(test_bad_samples),      cmocka_unit_test(test_known_values), cmocka_unit_test(test_widths),
        cmocka_unit_test(test_wide_samples),     cmocka_unit_test(test_large_limits), cmocka_unit_test(test_methods),
        cmocka_unit_test(test_sites_on_circles), cmocka_unit_test(test_dtypes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
