/* Which instruction set to use: the best that the processor has, capped by the environment variable DISTMAP_ISA. */
#ifndef DISTMAP_CPU_ISA_H
#define DISTMAP_CPU_ISA_H

#include "core/internal.h"

/* The best set that is compiled in, that the processor and system support, and that DISTMAP_ISA (plain, sse4, avx2,
 * avx512, neon; unset: no cap) allows. An unknown name there is an error. */
distmap_status dm_isa_choose(dm_isa *isa);
const char *dm_isa_name(dm_isa isa);

#endif
