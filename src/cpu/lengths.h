/* Converts rows of squared distances to the values of floating-point outputs. */
#ifndef DISTMAP_CPU_LENGTHS_H
#define DISTMAP_CPU_LENGTHS_H

#include "core/internal.h"

typedef enum dm_length { DM_DISTANCE, DM_SQUARE } dm_length;

/* `count` squared distances of the plan's number type, "none" among them, as floats or doubles side by side: +inf for "none". */
void dm_lengths(const distmap_plan *plan, dm_length length, const void *squared, int64_t count, distmap_dtype dtype,
                void *out);

#endif
