/* What the header says of misuse: dead handles, a second use at the same time, the wrong order of destruction. Each is told by one
 * line, and does no harm. */
#include "api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* The thread sanitizer cannot start threads in a forked child. */
#if defined(__SANITIZE_THREAD__)
#define FORKS_THREADS 0
#elif defined(__has_feature)
#define FORKS_THREADS !__has_feature(thread_sanitizer)
#else
#define FORKS_THREADS 1
#endif

static uint8_t mask[PIXELS];
static float expected[PIXELS];

static int set_up(void **state) {
    (void)state;
    paint(mask, sizeof mask, 300, 5);
    return distmap_edt(mask, 2, small_shape, expected);
}

static void told(distmap_status got, const char *text, int line) {
    if (got != DISTMAP_ERROR_ARGUMENT || !strstr(distmap_error_text(), text) || strchr(distmap_error_text(), '\n'))
        fail_msg("line %d: status %s, text '%s'; want argument with '%s'", line, distmap_status_name(got),
                 distmap_error_text(), text);
}
#define TOLD(call, text) told(call, text, __LINE__)

static distmap_context *make_context(distmap_context_options options) {
    distmap_context *context = NULL;
    assert_int_equal(distmap_context_create(&options, &context), DISTMAP_OK);
    return context;
}

static distmap_plan *make_plan(distmap_context *context) {
    distmap_plan *plan = NULL;
    const distmap_problem p = small_problem();
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
    return plan;
}

static distmap_status execute(distmap_plan *plan, float *out) {
    const distmap_arrays a = small_arrays(mask, out);
    const distmap_status status = distmap_plan_execute(plan, &a);
    if (status == DISTMAP_OK)
        assert_memory_equal(out, expected, sizeof expected);
    return status;
}

/* ---- A second use at the same time ---- */

/* A progress function that stays in the execution until it is told to go on. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool inside, may_go;
};

static int stay(void *user, double fraction) {
    (void)fraction;
    struct gate *gate = user;
    pthread_mutex_lock(&gate->mutex);
    gate->inside = true;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->may_go)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
    return 0;
}

static void *execute_alone(void *plan) {
    static float out[PIXELS];
    return (void *)(intptr_t)execute(plan, out);
}

/* A thread that is in the middle of an execution, and how it is let go on. */
static pthread_t begin_inside(struct gate *gate, distmap_plan *plan) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, execute_alone, plan), 0);
    pthread_mutex_lock(&gate->mutex);
    while (!gate->inside)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
    return thread;
}

static distmap_status let_go(struct gate *gate, pthread_t thread) {
    void *status = NULL;
    pthread_mutex_lock(&gate->mutex);
    gate->may_go = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
    pthread_join(thread, &status);
    return (distmap_status)(intptr_t)status;
}

static void test_two_threads(void **state) {
    (void)state;
    static float out[PIXELS];
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false};
    distmap_context *context =
        make_context((distmap_context_options){.threads = 2, .progress = stay, .progress_user = &gate});
    distmap_plan *plan = make_plan(context), *other = make_plan(context), *same = plan;
    const pthread_t thread = begin_inside(&gate, plan);
    TOLD(execute(plan, out), "plan: its context is in use by another thread");
    TOLD(execute(other, out), "plan: its context is in use by another thread");
    TOLD(distmap_plan_wait(plan), "in use by another thread");
    TOLD(distmap_context_set_stream(context, NULL), "context is in use by another thread");
    distmap_plan_destroy(&same);
    assert_ptr_equal(same, plan); /* which is still there */
    assert_non_null(strstr(distmap_error_text(), "plan: it is in use"));
    assert_int_equal(distmap_context_threads(context), 2);
    assert_int_equal(let_go(&gate, thread), DISTMAP_OK);
    assert_int_equal(execute(other, out), DISTMAP_OK);
    distmap_plan_destroy(&other);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

struct within {
    distmap_plan *plan, *other;
    int calls;
};

static int call_back(void *user, double fraction) {
    (void)fraction;
    static float out[PIXELS];
    struct within *within = user;
    within->calls++;
    TOLD(execute(within->plan, out), "in use by an execution from which this call comes");
    TOLD(execute(within->other, out), "in use by an execution from which this call comes");
    distmap_plan *same = within->plan;
    distmap_plan_destroy(&same);
    assert_non_null(same);
    return 0;
}

static void test_from_within(void **state) {
    (void)state;
    static float out[PIXELS];
    struct within within = {0};
    distmap_context *context =
        make_context((distmap_context_options){.threads = 2, .progress = call_back, .progress_user = &within});
    within = (struct within){make_plan(context), make_plan(context), 0};
    assert_int_equal(execute(within.plan, out), DISTMAP_OK);
    assert_true(within.calls > 0);
    distmap_plan_destroy(&within.other);
    distmap_plan_destroy(&within.plan);
    distmap_context_destroy(&context);
}

enum { CREW = 4, TIMES = 2000 };

static atomic_int done;

static void *storm(void *plan) {
    static _Thread_local float out[PIXELS];
    for (int i = 0; i < TIMES; i++) {
        const distmap_status status = execute(plan, out);
        if (status == DISTMAP_OK)
            atomic_fetch_add(&done, 1);
        else
            TOLD(status, "in use by another thread");
    }
    return NULL;
}

/* The plan serves whoever comes first, and is whole afterwards. */
static void test_storm(void **state) {
    (void)state;
    static float out[PIXELS];
    distmap_context *context = make_context((distmap_context_options){.threads = 2});
    distmap_plan *plan = make_plan(context);
    pthread_t threads[CREW];
    for (int i = 0; i < CREW; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, storm, plan), 0);
    for (int i = 0; i < CREW; i++)
        pthread_join(threads[i], NULL);
    assert_true(atomic_load(&done) > 0);
    assert_int_equal(execute(plan, out), DISTMAP_OK);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* A child of fork() has the context, but not the thread that was using it. */
static void test_fork_amid_an_execution(void **state) {
    (void)state;
    if (!FORKS_THREADS)
        skip();
    static float out[PIXELS];
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false};
    distmap_context *context =
        make_context((distmap_context_options){.threads = 2, .progress = stay, .progress_user = &gate});
    distmap_plan *plan = make_plan(context);
    const pthread_t thread = begin_inside(&gate, plan);
    pthread_mutex_lock(&gate.mutex); /* so that the child can unlock it */
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        gate.may_go = true;
        pthread_mutex_unlock(&gate.mutex);
        distmap_status status = execute(plan, out);
        distmap_plan_destroy(&plan);
        distmap_context_destroy(&context);
        _exit(status == DISTMAP_OK && !plan && !context ? 0 : 1);
    }
    pthread_mutex_unlock(&gate.mutex);
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    TOLD(execute(plan, out), "in use by another thread"); /* here it still is */
    assert_int_equal(let_go(&gate, thread), DISTMAP_OK);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* ---- Dead handles; memory that is kept, so that what is in it can be seen ---- */

struct keep {
    void *memory[32];
    int count, released;
};

static void *keep_allocate(void *user, size_t bytes, size_t alignment) {
    struct keep *keep = user;
    void *memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    assert_true(keep->count < 32);
    keep->memory[keep->count++] = memory;
    return memory;
}

static void keep_release(void *user, void *memory, size_t bytes) {
    (void)memory, (void)bytes;
    ((struct keep *)user)->released++;
}

static void free_kept(struct keep *keep) {
    assert_int_equal(keep->released, keep->count);
    for (int i = 0; i < keep->count; i++)
        free(keep->memory[i]);
}

static distmap_allocator keeping(struct keep *keep) { return (distmap_allocator){keep_allocate, keep_release, keep}; }

static void check_refused(distmap_plan *plan, const char *text) {
    static float out[PIXELS];
    const distmap_arrays a = small_arrays(mask, out);
    int64_t first, count;
    distmap_phase phase;
    distmap_description description;
    distmap_convergence convergence;
    distmap_agreement agreement;
    TOLD(distmap_plan_execute(plan, &a), text);
    TOLD(distmap_plan_execute_slabs(plan, &a), text);
    TOLD(distmap_plan_wait(plan), text);
    TOLD(distmap_plan_slab(plan, 0, &first, &count), text);
    TOLD(distmap_plan_phase_get(plan, 0, &phase), text);
    TOLD(distmap_plan_convergence(plan, &convergence), text);
    TOLD(distmap_plan_agreement(plan, &agreement), text);
    assert_int_equal(distmap_plan_flags(plan), 0);
    assert_int_equal(distmap_plan_phase_count(plan), 0);
    distmap_plan_describe(plan, &description);
}

static void test_dead_handles(void **state) {
    (void)state;
    struct keep keep = {.count = 0};
    distmap_context *context = make_context((distmap_context_options){.threads = 2, .allocator = keeping(&keep)});
    distmap_plan *plan = make_plan(context), *dead_plan = plan;
    distmap_plan_destroy(&plan);
    check_refused(dead_plan, "plan was destroyed");
    distmap_plan *again = dead_plan;
    const int released = keep.released;
    distmap_plan_destroy(&again);
    assert_int_equal(keep.released, released);
    distmap_context *dead = context;
    distmap_context_destroy(&context);
    const distmap_problem p = small_problem();
    size_t bytes;
    TOLD(distmap_plan_create(dead, &p, NULL, &plan), "context was destroyed");
    assert_null(plan);
    TOLD(distmap_scratch_bytes(dead, &p, NULL, &bytes), "context was destroyed");
    TOLD(distmap_context_set_stream(dead, NULL), "context was destroyed");
    assert_int_equal(distmap_context_threads(dead), 0);
    assert_string_equal(distmap_context_isa(dead), "");
    distmap_context_destroy(&dead);
    free_kept(&keep);
}

/* The context goes first: nothing is freed that its plans need, and everything at the end. */
static void test_wrong_order(void **state) {
    (void)state;
    struct keep keep = {.count = 0};
    distmap_context *context = make_context((distmap_context_options){.threads = 2, .allocator = keeping(&keep)});
    distmap_context *dead = context;
    distmap_plan *plan = make_plan(context), *other = make_plan(context);
    const int released = keep.released;
    distmap_context_destroy(&context);
    assert_null(context);
    assert_non_null(strstr(distmap_error_text(), "context: destroyed before 2 of its plans"));
    assert_int_equal(keep.released, released);
    check_refused(plan, "plan: its context was destroyed before it");
    TOLD(distmap_context_set_stream(dead, NULL), "context was destroyed");
    distmap_context_destroy(&dead); /* nor does that free it twice */
    distmap_plan_destroy(&plan);
    check_refused(other, "plan: its context was destroyed before it");
    distmap_plan_destroy(&other);
    assert_null(other);
    free_kept(&keep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_threads),  cmocka_unit_test(test_from_within),
        cmocka_unit_test(test_storm),        cmocka_unit_test(test_fork_amid_an_execution),
        cmocka_unit_test(test_dead_handles), cmocka_unit_test(test_wrong_order),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
