/* The CPU: each instruction set that this machine has, with 1 and 2 threads. Views lie in host memory (runner_host.c). */
#include <stdlib.h>
#include <string.h>

#include "../require.h"
#include "runner.h"

const char *const runner_device = "cpu";

int runner_open(struct runner *runners) {
    static const char *const isas[] = {"plain", "sse4", "avx2", "avx512", "neon"};
    int count = 0;
    const char *set = getenv("DISTMAP_ISA"); /* the choice of the program's user (choice.h), put back at the end */
    char *const before = set ? strdup(set) : NULL;
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        for (int threads = 1; threads <= 2; threads++) {
            setenv("DISTMAP_ISA", isas[i], 1);
            distmap_context *made;
            REQUIRE(distmap_context_create(&(distmap_context_options){.threads = threads}, &made) == DISTMAP_OK);
            if (strcmp(distmap_context_isa(made), isas[i]) == 0)
                runners[count++].context = made;
            else
                distmap_context_destroy(&made);
        }
    if (before)
        setenv("DISTMAP_ISA", before, 1);
    else
        unsetenv("DISTMAP_ISA");
    free(before);
    return count;
}
