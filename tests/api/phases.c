/* Timed plans on the CPU: every method divides its time into phases that add up, and only when asked to. */
#include "api.h"

#include <time.h>

#define REFUSED(call, text)                                  \
    do {                                                     \
        assert_int_equal(call, DISTMAP_ERROR_ARGUMENT);      \
        assert_non_null(strstr(distmap_error_text(), text)); \
    } while (0)

enum { TURNS = 20 };

static uint8_t mask[PIXELS];
static float distance[PIXELS];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The phases have names of their own and together take no more than execute did. Returns their share of it. */
static double check_phases(distmap_plan *plan, const char *method, double wall) {
    double sum = 0;
    const size_t count = distmap_plan_phase_count(plan);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        distmap_phase phase, other;
        assert_int_equal(distmap_plan_phase_get(plan, i, &phase), DISTMAP_OK);
        assert_true(phase.name && phase.name[0]);
        assert_int_equal(phase.kind, DISTMAP_PHASE_COMPUTE);
        assert_true(phase.seconds >= 0);
        sum += phase.seconds;
        for (size_t k = 0; k < i; k++) {
            assert_int_equal(distmap_plan_phase_get(plan, k, &other), DISTMAP_OK);
            assert_string_not_equal(phase.name, other.name);
        }
    }
    if (!(sum > 0 && sum <= wall))
        fail_msg("%s: phases take %g s of %g s", method, sum, wall);
    return sum / wall;
}

static void test_every_method(void **state) {
    (void)state;
    paint(mask, PIXELS, 20, 1);
    distmap_context *context = NULL;
    assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = 2}, &context), DISTMAP_OK);
    for (size_t row = cpu_method(0); distmap_method_get(row); row = cpu_method(row + 1)) {
        const distmap_method_info *info = distmap_method_get(row);
        const distmap_problem p = small_problem_of(info);
        const distmap_arrays a = small_arrays_of(info, small_arrays(mask, distance));
        distmap_plan *plan = NULL;
        assert_int_equal(
            distmap_plan_create(context, &p, &(distmap_plan_options){.method = info->name, .timed = true}, &plan),
            DISTMAP_OK);
        assert_int_equal(distmap_plan_phase_count(plan), 0);
        double most = 0;
        for (int turn = 0; turn < TURNS; turn++) {
            const double begin = now();
            assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
            const double share = check_phases(plan, info->name, now() - begin);
            most = share > most ? share : most;
        }
        if (most < 0.5)
            fail_msg("%s: phases leave out all but %g of the time", info->name, most);
        distmap_plan_destroy(&plan);
    }
    distmap_context_destroy(&context);
}

static void test_names(void **state) {
    (void)state;
    static const known_phases known[] = {
        {"edm/cpu", .names = {"step 1", "step 2"}},
        {"psds/cpu", .names = {"row scans", "column scans", "search"}},
        {"erosion/cpu", .names = {"read", "erosions", "emit"}},
        {"lz/cpu", .names = {"read", "sequential", "queues"}},
        {"brute/cpu", .names = {"collect", "search"}},
        {"esf/cpu", .names = {"load", "steps"}},
        {"esf/cpu", .names = {"load", "steps", "store"}, .param = {"kernel", 1}},
        {"esf/cpu", .names = {"load", "steps", "store"}, .param = {"kernel", 2}},
        {"esf/cpu", .names = {"load", "pins", "cycles", "store"}, .at_rest = true},
        {"esf/cpu", .names = {"load", "sweeps", "store"}, .at_rest = true, .param = {"solver", 1}},
    };
    distmap_context *context = NULL;
    assert_int_equal(distmap_context_create(NULL, &context), DISTMAP_OK);
    const distmap_arrays a = small_arrays(mask, distance);
    for (size_t row = 0; row < sizeof known / sizeof *known; row++)
        check_known_phases(context, &known[row], &a);
    distmap_context_destroy(&context);
}

static int stop_at_once(void *user, double fraction) {
    (void)user;
    (void)fraction;
    return 1;
}

static void test_none(void **state) {
    (void)state;
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    distmap_phase phase;
    distmap_problem p = small_problem();
    distmap_arrays a = small_arrays(mask, distance);
    assert_int_equal(distmap_context_create(NULL, &context), DISTMAP_OK);
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
    assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
    assert_int_equal(distmap_plan_phase_count(plan), 0);
    REFUSED(distmap_plan_phase_get(plan, 0, &phase), "not timed");
    distmap_plan_destroy(&plan);

    assert_int_equal(distmap_plan_create(context, &p, &(distmap_plan_options){.timed = true}, &plan), DISTMAP_OK);
    assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
    REFUSED(distmap_plan_phase_get(plan, distmap_plan_phase_count(plan), &phase), "i is");
    REFUSED(distmap_plan_phase_get(plan, 0, NULL), "phase is NULL");
    REFUSED(distmap_plan_phase_get(NULL, 0, &phase), "plan is NULL");
    assert_int_equal(distmap_plan_phase_count(NULL), 0);
    distmap_plan_destroy(&plan);

    p.shape[0] = 0;
    a.input.shape[0] = a.distance.shape[0] = 0;
    assert_int_equal(distmap_plan_create(context, &p, &(distmap_plan_options){.timed = true}, &plan), DISTMAP_OK);
    assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_OK);
    assert_int_equal(distmap_plan_phase_count(plan), 0);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* An execution that fails has no phases, not those of the one before. */
static void test_failure(void **state) {
    (void)state;
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    const distmap_problem p = small_problem();
    const distmap_arrays a = small_arrays(mask, distance);
    assert_int_equal(distmap_context_create(&(distmap_context_options){.progress = stop_at_once}, &context),
                     DISTMAP_OK);
    assert_int_equal(distmap_plan_create(context, &p, &(distmap_plan_options){.timed = true}, &plan), DISTMAP_OK);
    assert_int_equal(distmap_plan_execute(plan, &a), DISTMAP_ERROR_CANCELLED);
    assert_int_equal(distmap_plan_phase_count(plan), 0);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_method),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
