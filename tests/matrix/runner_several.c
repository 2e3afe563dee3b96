/* Several GPUs as one device: of seven emulated ones, or of those that there are, teams of several sizes and orders, with 1 and 2
 * threads. Views lie in host memory. */
#include <stdio.h>
#include <stdlib.h>

#include "../require.h"
#include "runner.h"

const char *const runner_device = "cuda";

int runner_open(struct runner *runners) {
    static const struct {
        int count, ordinals[7];
    } teams[] = {{2, {1, 0}}, {3, {0, 2, 1}}, {4, {3, 2, 1, 0}}, {7, {0, 1, 2, 3, 4, 5, 6}}};
    setenv("DISTMAP_EMULATION_DEVICES", "7", 0);
    const int found = distmap_device_count(DISTMAP_DEVICE_CUDA);
    int count = 0;
    if (found < 2) {
        printf("SKIPPED: %d GPUs are not several\n", found);
        exit(0);
    }
    for (size_t i = 0; i < sizeof teams / sizeof *teams && teams[i].count <= found; i++)
        for (int threads = 1; threads <= 2; threads++) {
            const distmap_context_options options = {.device = DISTMAP_DEVICE_CUDA,
                                                     .ordinals = teams[i].ordinals,
                                                     .ordinal_count = teams[i].count,
                                                     .threads = threads};
            REQUIRE(distmap_context_create(&options, &runners[count++].context) == DISTMAP_OK);
        }
    return count;
}
