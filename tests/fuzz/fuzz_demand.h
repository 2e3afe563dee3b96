/* A condition that must hold whatever the input is: the fuzzer takes the abort for a finding. */
#ifndef DISTMAP_TESTS_FUZZ_DEMAND_H
#define DISTMAP_TESTS_FUZZ_DEMAND_H

#include <stdlib.h>

#define DEMAND(condition) \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

#endif
