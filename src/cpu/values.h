/* Integer squared distances in the plan's width, 32 or 64 bits, as methods read and write them in 64. "None" is all ones in
 * both.
 */
#ifndef DISTMAP_CPU_VALUES_H
#define DISTMAP_CPU_VALUES_H

#include "core/internal.h"

static inline uint64_t dm_value_load(const distmap_plan *plan, const void *map, int64_t i) {
    if (plan->number == DM_U64)
        return ((const uint64_t *)map)[i];
    const uint32_t v = ((const uint32_t *)map)[i];
    return v == UINT32_MAX ? UINT64_MAX : v;
}

static inline void dm_value_store(const distmap_plan *plan, void *map, int64_t i, uint64_t v) {
    if (plan->number == DM_U64)
        ((uint64_t *)map)[i] = v;
    else
        ((uint32_t *)map)[i] = (uint32_t)v;
}

#endif
