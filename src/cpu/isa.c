/* Instruction sets: what is compiled in (DM_HAVE_*), what the processor has, what DISTMAP_ISA allows. */
#include "cpu/isa.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[DM_ISA_COUNT] = {
    [DM_PLAIN] = "plain", [DM_SSE4] = "sse4", [DM_NEON] = "neon", [DM_AVX2] = "avx2", [DM_AVX512] = "avx512",
};

const char *dm_isa_name(dm_isa isa) { return names[isa]; }

static dm_isa best(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("bmi2"))
        return DM_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        return DM_AVX2;
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"))
        return DM_SSE4;
#elif defined(__aarch64__)
    return DM_NEON;
#endif
    return DM_PLAIN;
}

/* Whether this architecture can have the set at all: names of other ones stand for the next lower set. */
static bool is_native(dm_isa isa) {
#if defined(__x86_64__)
    return isa != DM_NEON;
#else
    return isa == DM_PLAIN || isa == DM_NEON;
#endif
}

distmap_status dm_isa_choose(dm_isa *isa) {
    *isa = best();
    const char *cap = getenv("DISTMAP_ISA");
    if (!cap || !*cap)
        return DISTMAP_OK;
    for (dm_isa i = DM_PLAIN; i < DM_ISA_COUNT; i++)
        if (strcmp(cap, names[i]) == 0) {
            if (i < *isa)
                *isa = i;
            while (!is_native(*isa))
                --*isa;
            return DISTMAP_OK;
        }
    return dm_error(DISTMAP_ERROR_ARGUMENT,
                    "environment: DISTMAP_ISA is '%s', must be plain, sse4, avx2, avx512 or neon", cap);
}
