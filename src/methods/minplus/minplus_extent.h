/* How far the numbers of a problem reach in FP64, on which the proofs of both devices rest. */
#ifndef DISTMAP_MINPLUS_EXTENT_H
#define DISTMAP_MINPLUS_EXTENT_H

#include <math.h>

#include "core/internal.h"

/* The largest squared distance over the axes that count, and their least squared pitch, infinite if none counts. */
typedef struct mp_extent {
    double most, least;
} mp_extent;

static inline mp_extent mp_extent_of(const distmap_plan *plan) {
    mp_extent made = {0, INFINITY};
    for (int a = 0; a < DM_NDIM; a++)
        if (dm_axis_counts(plan, a)) {
            const double far = (double)(plan->shape[a] - 1);
            made.most += plan->w2f[a] * (far * far);
            made.least = fmin(made.least, plan->w2f[a]);
        }
    return made;
}

#endif
