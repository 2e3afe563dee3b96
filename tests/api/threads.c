/* Threads, progress, cancelling, forks: the same bytes whoever computes them. */
#include "api.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* The thread sanitizer cannot start threads in a forked child; everything else can, and is tested so. */
#if defined(__SANITIZE_THREAD__)
#define FORKS_THREADS 0
#elif defined(__has_feature)
#define FORKS_THREADS !__has_feature(thread_sanitizer)
#else
#define FORKS_THREADS 1
#endif

enum { SIDE = 300 };
static const int64_t big_shape[2] = {SIDE, SIDE};
static uint8_t mask[SIDE * SIDE];
static float expected[SIDE * SIDE], distance[SIDE * SIDE];

static distmap_problem big_problem(void) {
    return (distmap_problem){
        .dtype = DISTMAP_UINT8, .ndim = 2, .shape = {SIDE, SIDE}, .want.distance = DISTMAP_FLOAT32};
}

static distmap_arrays big_arrays(float *out) {
    return (distmap_arrays){.input = distmap_view_make(mask, DISTMAP_UINT8, 2, big_shape),
                            .distance = distmap_view_make(out, DISTMAP_FLOAT32, 2, big_shape)};
}

static int set_up(void **state) {
    (void)state;
    paint(mask, sizeof mask, 3000, 5);
    return distmap_edt(mask, 2, big_shape, expected);
}

/* One execution on `context` with each method that takes it, brute force aside, into `out`. Returns the first failure. */
static distmap_status compute(distmap_context *context, float *out) {
    const distmap_problem p = big_problem();
    const distmap_arrays a = big_arrays(out);
    for (size_t m = cpu_method(0); distmap_method_get(m); m = cpu_method(m + 1)) {
        distmap_plan *plan = NULL;
        const distmap_plan_options options = {.method = distmap_method_get(m)->name};
        if (strncmp(options.method, "brute/", 6) == 0)
            continue;
        distmap_status status = distmap_plan_create(context, &p, &options, &plan);
        if (status == DISTMAP_ERROR_UNSUPPORTED)
            continue;
        memset(out, 0x77, sizeof expected);
        if (status == DISTMAP_OK)
            status = distmap_plan_execute(plan, &a);
        distmap_plan_destroy(&plan);
        if (status == DISTMAP_OK && memcmp(out, expected, sizeof expected) != 0)
            status = (distmap_status)99;
        if (status != DISTMAP_OK)
            return status;
    }
    return DISTMAP_OK;
}

/* ---- Thread counts ---- */

static void test_thread_counts(void **state) {
    (void)state;
    const int counts[] = {0, 1, 2, 3, 7, 64};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        distmap_context *context = NULL;
        assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = counts[i]}, &context),
                         DISTMAP_OK);
        if (counts[i])
            assert_int_equal(distmap_context_threads(context), counts[i]);
        else
            assert_true(distmap_context_threads(context) >= 1);
        assert_int_equal(compute(context, distance), DISTMAP_OK);
        distmap_context_destroy(&context);
    }
}

/* ---- The caller's executor: backwards, and on as many threads as workers ---- */

struct crew {
    int calls;
    distmap_task *task;
    void *arg;
    size_t count;
};

static void run_backwards(void *user, size_t count, distmap_task *task, void *arg) {
    ((struct crew *)user)->calls++;
    for (size_t i = count; i-- > 0;)
        task(arg, i, (int)(i % 3));
}

struct seat {
    const struct crew *crew;
    int worker;
};

static void *run_seat(void *arg) {
    const struct seat *seat = arg;
    for (size_t i = (size_t)seat->worker; i < seat->crew->count; i += 3)
        seat->crew->task(seat->crew->arg, i, seat->worker);
    return NULL;
}

static void run_on_threads(void *user, size_t count, distmap_task *task, void *arg) {
    struct crew *crew = user;
    *crew = (struct crew){crew->calls + 1, task, arg, count};
    struct seat seats[3];
    pthread_t threads[3];
    for (int w = 0; w < 3; w++) {
        seats[w] = (struct seat){crew, w};
        assert_int_equal(pthread_create(&threads[w], NULL, run_seat, &seats[w]), 0);
    }
    for (int w = 0; w < 3; w++)
        pthread_join(threads[w], NULL);
}

static void test_executor(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        struct crew crew = {0};
        distmap_context *context = NULL;
        const distmap_context_options options = {.threads = 1,
                                                 .executor = {3, kind ? run_on_threads : run_backwards, &crew}};
        assert_int_equal(distmap_context_create(&options, &context), DISTMAP_OK);
        assert_int_equal(distmap_context_threads(context), 3);
        assert_int_equal(compute(context, distance), DISTMAP_OK);
        assert_true(crew.calls > 0);
        distmap_context_destroy(&context);
    }
}

/* ---- Progress and cancel ---- */

struct watch {
    pthread_t caller;
    int calls, cancel_at; /* asks to stop at that call, counted from 1 */
    double last;
    bool fell, outside, elsewhere;
};

static int watch(void *user, double fraction) {
    struct watch *w = user;
    w->calls++;
    w->fell |= fraction < w->last;
    w->outside |= !(fraction >= 0 && fraction <= 1);
    w->elsewhere |= !pthread_equal(pthread_self(), w->caller);
    w->last = fraction;
    return w->cancel_at && w->calls >= w->cancel_at;
}

static void test_progress(void **state) {
    (void)state;
    for (int threads = 1; threads <= 2; threads++)
        for (size_t m = cpu_method(0); distmap_method_get(m); m = cpu_method(m + 1))
            for (int cancel_at = 0; cancel_at < 3; cancel_at++) {
                struct watch w = {.caller = pthread_self(), .cancel_at = cancel_at};
                distmap_context *context = NULL;
                distmap_plan *plan = NULL;
                const distmap_context_options options = {.threads = threads, .progress = watch, .progress_user = &w};
                const distmap_problem p = big_problem();
                const distmap_arrays a = big_arrays(distance);
                const distmap_plan_options method = {.method = distmap_method_get(m)->name};
                assert_int_equal(distmap_context_create(&options, &context), DISTMAP_OK);
                const distmap_status made = distmap_plan_create(context, &p, &method, &plan);
                if (made == DISTMAP_ERROR_UNSUPPORTED) {
                    distmap_context_destroy(&context);
                    continue;
                }
                assert_int_equal(made, DISTMAP_OK);
                const distmap_status status = distmap_plan_execute(plan, &a);
                assert_false(w.fell || w.outside || w.elsewhere);
                if (threads == 1)
                    assert_true(w.calls > 0);
                if (threads == 1 && cancel_at == 0)
                    assert_true(w.last > 0.99);
                if (w.cancel_at && w.calls >= w.cancel_at) {
                    assert_int_equal(status, DISTMAP_ERROR_CANCELLED);
                    assert_non_null(strstr(distmap_error_text(), "cancelled"));
                    assert_int_equal(w.calls, w.cancel_at);
                    /* The plan is as good as new. */
                    w = (struct watch){.caller = pthread_self()};
                    assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
                } else {
                    assert_int_equal(status, DISTMAP_OK);
                }
                assert_memory_equal(distance, expected, sizeof expected);
                distmap_plan_destroy(&plan);
                distmap_context_destroy(&context);
            }
}

/* ---- Forks ---- */

static void test_fork(void **state) {
    (void)state;
    if (!FORKS_THREADS)
        skip();
    distmap_context *context = NULL;
    assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = 2}, &context), DISTMAP_OK);
    assert_int_equal(compute(context, distance), DISTMAP_OK);
    for (int uses = 0; uses < 3; uses++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(60); /* a hang becomes a signal */
            distmap_status status = DISTMAP_OK;
            for (int i = 0; i < uses && status == DISTMAP_OK; i++)
                status = compute(context, distance);
            distmap_context_destroy(&context);
            _exit(status == DISTMAP_OK && !context ? 0 : 1);
        }
        int result = 0;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    }
    assert_int_equal(compute(context, distance), DISTMAP_OK);
    distmap_context_destroy(&context);
}

/* ---- Contexts beside each other ---- */

static void *compute_alone(void *arg) {
    float *out = arg;
    distmap_context *context = NULL;
    intptr_t status = distmap_context_create(&(distmap_context_options){.threads = 2}, &context);
    for (int i = 0; i < 3 && status == DISTMAP_OK; i++)
        status = compute(context, out);
    distmap_context_destroy(&context);
    return (void *)status;
}

static void *fail_alone(void *arg) {
    (void)arg;
    distmap_context_create(&(distmap_context_options){.threads = -5}, &(distmap_context *){NULL});
    return (void *)(intptr_t)(strstr(distmap_error_text(), "threads") == NULL);
}

static void test_concurrent_contexts(void **state) {
    (void)state;
    static float outs[3][SIDE * SIDE];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compute_alone, outs[i]), 0);
    for (int i = 0; i < 3; i++) {
        void *status = NULL;
        pthread_join(threads[i], &status);
        assert_int_equal((intptr_t)status, DISTMAP_OK);
    }
    /* Error texts belong to their threads. */
    pthread_t other;
    void *wrong = NULL;
    assert_int_equal(distmap_plan_execute(NULL, NULL), DISTMAP_ERROR_ARGUMENT);
    assert_int_equal(pthread_create(&other, NULL, fail_alone, NULL), 0);
    pthread_join(other, &wrong);
    assert_null(wrong);
    assert_string_equal(distmap_error_text(), "plan is NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread_counts),
        cmocka_unit_test(test_executor),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_concurrent_contexts),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
