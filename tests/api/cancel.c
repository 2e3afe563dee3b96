/* Rule 10: whoever asks to stop is not kept waiting, by any method, on an image that takes some of them minutes. */
#define _GNU_SOURCE /* the thread's own clock: others may keep this machine busy */
#include "api.h"

#include <pthread.h>
#include <time.h>

enum { SIDE = 2000 };
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 20 }; /* than what users run */
#else
enum { SLOWER = 1 };
#endif
/* Seconds: the wish to stop comes; the longest wait for it to be asked for. */
static const double BEGUN = 0.05, BOUND = 0.5 * SLOWER;

static double processor_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct watch {
    double began, last, longest;
};

static int watch(void *user, double fraction) {
    (void)fraction;
    struct watch *w = user;
    const double now = processor_seconds();
    w->longest = now - w->last > w->longest ? now - w->last : w->longest;
    w->last = now;
    return now - w->began > BEGUN;
}

/* A disc, and around it nothing: fronts go far, balls are large, and half of the elements are sites. */
static void paint_disc(uint8_t *mask) {
    for (int64_t y = 0; y < SIDE; y++)
        for (int64_t x = 0; x < SIDE; x++) {
            const int64_t dx = x - SIDE / 2, dy = y - SIDE / 2;
            mask[y * SIDE + x] = dx * dx + dy * dy < SIDE * SIDE / 5;
        }
}

static void widen(distmap_view *view, const distmap_view *small) {
    static const int64_t shape[2] = {SIDE, SIDE};
    if (small->data)
        *view = distmap_view_make(small->data, small->dtype, 2, shape);
}

static void test_no_method_keeps_one_waiting(void **state) {
    (void)state;
    uint8_t *mask = malloc((size_t)SIDE * SIDE);
    float *out = malloc((size_t)SIDE * SIDE * sizeof *out);
    assert_true(mask && out);
    paint_disc(mask);
    for (size_t m = cpu_method(0); distmap_method_get(m); m = cpu_method(m + 1)) {
        const distmap_method_info *info = distmap_method_get(m);
        struct watch w = {0};
        distmap_problem p = small_problem_of(info);
        p.shape[0] = p.shape[1] = SIDE;
        const distmap_arrays small = small_arrays_of(info, small_arrays(mask, out));
        distmap_arrays a = {0};
        widen(&a.input, &small.input);
        widen(&a.distance, &small.distance);
        widen(&a.strength, &small.strength);
        widen(&a.mask, &small.mask);
        widen(&a.other, &small.other);
        widen(&a.label, &small.label);
        distmap_context *context = NULL;
        distmap_plan *plan = NULL;
        const distmap_context_options options = {.threads = 1, .progress = watch, .progress_user = &w};
        assert_int_equal(distmap_context_create(&options, &context), DISTMAP_OK);
        assert_int_equal(distmap_plan_create(context, &p, &(distmap_plan_options){.method = info->name}, &plan),
                         DISTMAP_OK);
        w.began = w.last = processor_seconds();
        const distmap_status status = distmap_plan_execute(plan, &a);
        watch(&w, 1);
        if ((status != DISTMAP_OK && status != DISTMAP_ERROR_CANCELLED) || w.longest > BOUND)
            fail_msg("%s: status %s; it did not ask for %.2f s", info->name, distmap_status_name(status), w.longest);
        distmap_plan_destroy(&plan);
        distmap_context_destroy(&context);
    }
    free(out);
    free(mask);
}

/* The thread that calls asks, too, while it waits for tasks of others. */
static int stop_when_long(void *user, double fraction) {
    (void)fraction;
    int *calls = user;
    return ++*calls >= 10;
}

static void test_waiting_for_others(void **state) {
    (void)state;
    uint8_t *mask = calloc((size_t)SIDE * SIDE, 1);
    float *out = malloc((size_t)SIDE * SIDE * sizeof *out);
    assert_true(mask && out);
    int calls = 0;
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    const distmap_context_options options = {.threads = 2, .progress = stop_when_long, .progress_user = &calls};
    assert_int_equal(distmap_context_create(&options, &context), DISTMAP_OK);
    /* Two rows of all: brute force has a task for each. */
    distmap_problem p = small_problem();
    p.shape[0] = 2;
    p.shape[1] = SIDE * SIDE / 2;
    const int64_t shape[2] = {p.shape[0], p.shape[1]};
    const distmap_arrays a = {.input = distmap_view_make(mask, DISTMAP_UINT8, 2, shape),
                              .distance = distmap_view_make(out, DISTMAP_FLOAT32, 2, shape)};
    assert_int_equal(distmap_plan_create(context, &p, &(distmap_plan_options){.method = "brute/cpu"}, &plan),
                     DISTMAP_OK);
    assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_ERROR_CANCELLED);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    free(out);
    free(mask);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_method_keeps_one_waiting),
        cmocka_unit_test(test_waiting_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
