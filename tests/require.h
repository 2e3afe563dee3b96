/* A check that no build type removes, for what a test itself relies on. */
#ifndef TESTS_REQUIRE_H
#define TESTS_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition)                                                          \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(2);                                                                \
        }                                                                           \
    } while (0)

#endif
