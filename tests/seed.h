/* What tests that draw their inputs take from the environment: DISTMAP_TEST_SEED, which repeats a run, and DISTMAP_TEST_SCALE, what
 * share of the drawn cases to run. */
#ifndef TESTS_SEED_H
#define TESTS_SEED_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "require.h"

/* The seed that is given, else a fresh one, above 0 and below 10^9 + 8. */
static inline uint64_t test_seed(void) {
    const char *given = getenv("DISTMAP_TEST_SEED");
    struct timespec now = {0}; /* the memory sanitizer does not see timespec_get() write */
    timespec_get(&now, TIME_UTC);
    return given ? strtoull(given, NULL, 0) : 1 + ((uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec) % 1000000007;
}

static inline double test_scale(void) {
    const char *given = getenv("DISTMAP_TEST_SCALE");
    const double scale = given ? strtod(given, NULL) : 1;
    REQUIRE(scale > 0);
    return scale;
}

/* So many of `cases`, at least 1. */
static inline int test_cases(int cases) { return 1 + (int)(cases * test_scale()); }

#endif
