/* Windows: an image in windows of its rows has the bits of the image in one piece, by the plainest method that takes it; and the
 * header's rules. Images are drawn, tall ones too, whose columns pass what 16 bits count; sites of some lie in few rows alone, so that
 * most windows know of them by `before` and `after` only. On all instruction sets. */
#include "../matrix/random.h"
#include "../seed.h"
#include "refuse.h"

#include <math.h>

enum { MOST = 1 << 19 };

static struct rng rng;
static uint8_t mask[MOST];
static int32_t before[MOST], after[MOST];
static int64_t got[3][MOST], want[3][MOST]; /* distance, squared, index: in elements of up to 8 bytes */
static uint8_t *const got_bytes[] = {(uint8_t *)got[0], (uint8_t *)got[1], (uint8_t *)got[2]};

/* ---- Rules ---- */

static void test_rules(void **state) {
    (void)state;
    ACCEPT(p.window = (distmap_window){0, HEIGHT});
    ACCEPT(p.window = (distmap_window){HEIGHT - 1, 1}; p.want.index = DISTMAP_INT32; p.border = true);
    REFUSE("problem.window has 8 rows from 30 on", p.window = (distmap_window){30, 8});
    REFUSE("problem.window has 8 rows from -1 on", p.window = (distmap_window){-1, 8});
    REFUSE("problem.window has 0 rows from 1 on", p.window = (distmap_window){1, 0});
    REFUSE("problem.window has", p.window = (distmap_window){1, INT64_MAX});
    REFUSE("problem.window has", p.window = (distmap_window){INT64_MAX, 1});
    REFUSE("problem.window needs two axes", p.window.count = 1; p.axes = 2);
    REFUSE("problem.window needs two axes", p.window.count = 1; p.ndim = 3; p.shape[2] = 4);
    REFUSE("problem.window needs a mask", p.window.count = 1; p.input = DISTMAP_INPUT_LABELS);
    REFUSE("problem.window needs a mask", p.window.count = 1; p.sign = DISTMAP_SIGN_INSIDE);
    REFUSE("problem.window needs a mask", p.window.count = 1; p.metric = DISTMAP_METRIC_CITYBLOCK);
    REFUSE("problem.window gives", p.window.count = 1; p.want.coords = DISTMAP_INT32);
    REFUSE("problem.window gives", p.window.count = 1; p.want.label = DISTMAP_UINT8);
    REFUSE("problem.window gives", p.window.count = 1; p.limit = 2; p.want.within = DISTMAP_BOOL);
    REFUSE("problem.window", p = strength_problem(); p.window.count = 1);
    distmap_problem p = small_problem();
    p.window.count = 1;
    refuse(&p, &(distmap_plan_options){.method = "envelope/cpu"}, DISTMAP_ERROR_UNSUPPORTED, "needs the whole image",
           __LINE__);
    p.spacing[0] = 1.2345678;
    refuse(&p, NULL, DISTMAP_ERROR_UNSUPPORTED, "no method accepts", __LINE__);
}

static distmap_arrays window_arrays(const distmap_problem *p) {
    const int64_t *shape = p->shape, rows[] = {p->window.count, shape[1]};
    distmap_arrays a = {.input = distmap_view_make(mask + p->window.first * shape[1], DISTMAP_UINT8, 2, rows),
                        .before = distmap_view_make(before, DISTMAP_INT32, 1, shape + 1),
                        .after = distmap_view_make(after, DISTMAP_INT32, 1, shape + 1)};
    distmap_view *const views[] = {&a.distance, &a.squared, &a.index};
    const distmap_dtype types[] = {p->want.distance, p->want.squared, p->want.index};
    for (int i = 0; i < 3; i++)
        if (types[i])
            *views[i] = distmap_view_make(
                got_bytes[i] + (size_t)(p->window.first * shape[1]) * distmap_dtype_size(types[i]), types[i], 2, rows);
    return a;
}

static void test_arrays(void **state) {
    (void)state;
    distmap_problem p = small_problem();
    p.window = (distmap_window){10, 5};
    distmap_arrays a = window_arrays(&p);
    for (int x = 0; x < WIDTH; x++)
        before[x] = after[x] = -1;
#define TELL(text, ...)                                                                                  \
    do {                                                                                                 \
        a = window_arrays(&p);                                                                           \
        __VA_ARGS__;                                                                                     \
        check_text(distmap_arrays_check(context, &p, NULL, &a), DISTMAP_ERROR_ARGUMENT, text, __LINE__); \
    } while (0)
    assert_int_equal(distmap_arrays_check(context, &p, NULL, &a), DISTMAP_OK);
    TELL("arrays.before is NULL", a.before.data = NULL);
    TELL("arrays.after has dtype none", a.after = (distmap_view){0});
    TELL("arrays.before has shape[0]", a.before.shape[0]++);
    TELL("arrays.input has shape[0] = 37, the problem says 5", a.input.shape[0] = HEIGHT);
    TELL("overlap", a.distance.data = a.after.data);
    TELL("arrays.before has row 10 for column 3", before[3] = 10);
    before[3] = 9;
    TELL("arrays.after has row 14 for column 52", after[52] = 14);
    TELL("arrays.after has row 37 for column 52", after[52] = 37);
    TELL("arrays.after has row -2 for column 52", after[52] = -2);
    after[52] = 15;
    assert_int_equal(distmap_arrays_check(context, &p, NULL, &a), DISTMAP_OK);
    p.window = (distmap_window){0};
    a = small_arrays(mask, (float *)got[0]);
    TELL("arrays.before is given", a = small_arrays(mask, (float *)got[0]); a.before.data = before);
}

/* ---- Bits ---- */

/* Sites here and there, and of some images in a few rows alone. */
static void draw_mask(int64_t height, int64_t width) {
    const double density = pow(10, -6 * rng_unit(&rng));
    const int64_t from = rng_chance(&rng, 0.5) ? rng_range(&rng, 0, height - 1) : 0;
    const int64_t to = from ? rng_range(&rng, from, height - 1) : height - 1;
    memset(mask, 1, sizeof mask);
    for (int64_t y = from; y <= to; y++)
        for (int64_t x = 0; x < width; x++)
            mask[y * width + x] = !rng_chance(&rng, density);
    if (rng_chance(&rng, 0.8))
        mask[rng_range(&rng, 0, height * width - 1)] = 0;
}

static void draw_problem(distmap_problem *p, int64_t height, int64_t width) {
    static const distmap_dtype distances[] = {DISTMAP_FLOAT32, DISTMAP_FLOAT32, DISTMAP_FLOAT64, DISTMAP_NONE},
                               squares[] = {DISTMAP_UINT64, DISTMAP_NONE, DISTMAP_FLOAT32, DISTMAP_UINT32},
                               indices[] = {DISTMAP_NONE, DISTMAP_INT32, DISTMAP_INT64};
    *p = (distmap_problem){.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {height, width}};
    const bool wide = height > 5000; /* squares may pass 32 bits */
    const int64_t kind = rng_range(&rng, 0, wide ? 2 : 3);
    p->want.distance = distances[kind];
    p->want.squared = squares[kind];
    p->want.index = indices[rng_range(&rng, 0, 2)];
    p->spacing[0] = (double)(rng_chance(&rng, 0.7) ? 1 : rng_range(&rng, 1, 9));
    p->spacing[1] = (double)(rng_chance(&rng, 0.7) ? 1 : rng_range(&rng, 1, 9));
    p->limit = rng_chance(&rng, 0.3) ? floor(pow(10, 5 * rng_unit(&rng))) : 0;
    p->border = rng_chance(&rng, 0.2);
    p->order[0] = rng_chance(&rng, 0.3); /* {1, 0}: passed over */
}

static unsigned execute(distmap_context *on, const distmap_problem *p, const char *method, const distmap_arrays *a) {
    distmap_plan *plan = NULL;
    check_text(distmap_plan_create(on, p, &(distmap_plan_options){.method = method}, &plan), DISTMAP_OK, "", __LINE__);
    check_text(distmap_plan_execute(plan, a), DISTMAP_OK, "", __LINE__);
    const unsigned flags = distmap_plan_flags(plan);
    distmap_plan_destroy(&plan);
    return flags;
}

/* The whole image; `got` becomes `want`. */
static unsigned compute_whole(distmap_context *on, const distmap_problem *p) {
    distmap_problem whole = *p;
    whole.window = (distmap_window){0, p->shape[0]};
    distmap_arrays a = window_arrays(&whole);
    a.before = a.after = (distmap_view){0};
    const unsigned flags = execute(on, p, p->shape[0] * p->shape[1] < 3000 ? "brute/cpu" : "envelope/cpu", &a);
    memcpy(want, got, sizeof want);
    return flags;
}

/* The image in windows of drawn heights. */
static unsigned compute_windows(distmap_context *on, distmap_problem p) {
    const int64_t height = p.shape[0], width = p.shape[1], most = rng_range(&rng, 1, height);
    unsigned flags = 0;
    for (int64_t first = 0; first < height; first += p.window.count) {
        const int64_t left = height - first, count = rng_range(&rng, (most + 1) / 2, most);
        p.window = (distmap_window){first, count < left ? count : left};
        for (int64_t x = 0; x < width; x++) {
            int64_t up = first - 1, down = first + p.window.count;
            while (up >= 0 && mask[up * width + x])
                up--;
            while (down < height && mask[down * width + x])
                down++;
            before[x] = (int32_t)up;
            after[x] = down < height ? (int32_t)down : -1;
        }
        const distmap_arrays a = window_arrays(&p);
        flags |= execute(on, &p, NULL, &a);
    }
    return flags;
}

static void check_image(int64_t height, int64_t width) {
    static const char *const sets[] = {"plain", "sse4", "avx2", "avx512", "neon"};
    distmap_problem p;
    draw_problem(&p, height, width);
    draw_mask(height, width);
    const char *set = sets[rng_range(&rng, 0, 4)];
    distmap_context *on = NULL;
    setenv("DISTMAP_ISA", set, 1);
    const distmap_context_options options = {.threads = (int)rng_range(&rng, 1, 3)};
    const distmap_status made = distmap_context_create(&options, &on); /* a set that this machine has not is refused */
    unsetenv("DISTMAP_ISA");
    if (made)
        assert_int_equal(distmap_context_create(&options, &on), DISTMAP_OK);
    memset(got, 0, sizeof got);
    const unsigned flags = compute_whole(on, &p);
    memset(got, 0, sizeof got);
    const unsigned told = compute_windows(on, p);
    const size_t n = (size_t)(height * width),
                 sizes[] = {distmap_dtype_size(p.want.distance), distmap_dtype_size(p.want.squared),
                            distmap_dtype_size(p.want.index)};
    for (int i = 0; i < 3; i++)
        for (size_t at = 0; at < n; at++)
            if (memcmp(got_bytes[i] + at * sizes[i], (const char *)want[i] + at * sizes[i], sizes[i]) != 0)
                fail_msg("%lld x %lld, spacing %g %g, limit %g, border %d, %s, %s: differs at row %zu, column %zu",
                         (long long)height, (long long)width, p.spacing[0], p.spacing[1], p.limit, p.border,
                         distmap_context_isa(on),
                         i == 0   ? "distance"
                         : i == 1 ? "squared"
                                  : "index",
                         at / (size_t)width, at % (size_t)width);
    assert_int_equal(told, flags);
    distmap_context_destroy(&on);
}

static void test_bits(void **state) {
    (void)state;
    for (int i = 0; i < test_cases(400); i++)
        check_image(rng_range(&rng, 1, 50), rng_range(&rng, 2, 50));
    for (int i = 0; i < test_cases(60); i++)
        check_image(rng_range(&rng, 100, 700), rng_range(&rng, 60, 700));
}

static void test_tall(void **state) {
    (void)state;
    for (int i = 0; i < test_cases(30); i++) {
        const int64_t height = rng_range(&rng, 20000, 131070);
        check_image(height, rng_range(&rng, 2, MOST / height));
    }
}

static int begin(void **state) {
    (void)state;
    rng.state = test_seed();
    printf("seed %llu (DISTMAP_TEST_SEED repeats it)\n", (unsigned long long)rng.state);
    return distmap_context_create(NULL, &context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_tall),
    };
    return cmocka_run_group_tests(tests, begin, close_context);
}
