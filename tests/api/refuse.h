/* Problems that a plan must refuse, with a line that holds a given text, or accept. */
#ifndef TESTS_API_REFUSE_H
#define TESTS_API_REFUSE_H

#include "api.h"

static distmap_context *context; /* of all tests of a program */

static inline int open_two_threads(void **state) {
    (void)state;
    return distmap_context_create(&(distmap_context_options){.threads = 2}, &context);
}

static int close_context(void **state) {
    (void)state;
    distmap_context_destroy(&context);
    return context != NULL;
}

static void check_text(distmap_status got, distmap_status want, const char *text, int line) {
    if (got != want || !strstr(distmap_error_text(), text) || strchr(distmap_error_text(), '\n'))
        fail_msg("line %d: status %s, text '%s'; want %s with '%s'", line, distmap_status_name(got),
                 distmap_error_text(), distmap_status_name(want), text);
}

static void refuse(const distmap_problem *p, const distmap_plan_options *options, distmap_status want, const char *text,
                   int line) {
    distmap_plan *plan = (distmap_plan *)&line; /* must come back NULL */
    check_text(distmap_plan_create(context, p, options, &plan), want, text, line);
    assert_null(plan);
    size_t bytes = 12345;
    check_text(distmap_scratch_bytes(context, p, options, &bytes), want, text, line);
    assert_int_equal(bytes, 12345);
}

#define REFUSE(text, ...)                                         \
    do {                                                          \
        distmap_problem p = small_problem();                      \
        __VA_ARGS__;                                              \
        refuse(&p, NULL, DISTMAP_ERROR_ARGUMENT, text, __LINE__); \
    } while (0)

#define ACCEPT(...)                                                                          \
    do {                                                                                     \
        distmap_problem p = small_problem();                                                 \
        __VA_ARGS__;                                                                         \
        distmap_plan *plan = NULL;                                                           \
        check_text(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK, "", __LINE__); \
        distmap_plan_destroy(&plan);                                                         \
        assert_null(plan);                                                                   \
    } while (0)

#endif
