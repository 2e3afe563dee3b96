/* edm: what the method accepts, on either device, and how it counts planes: a plane is (y, x), the axes z and t are
 * batches. */
#ifndef DISTMAP_METHODS_EDM_PROBLEM_H
#define DISTMAP_METHODS_EDM_PROBLEM_H

#include "core/planes.h"

static inline const char *edm_refuses(const distmap_plan *plan) {
    const char *why = dm_refuses_all_but_masks(plan);
    if (why)
        return why;
    for (int a = 0; a < DM_NDIM; a++) {
        if (plan->shape[a] > 1 && plan->measured[a] != (a >= 2))
            return "needs the last two axes, and no others, to be the measured ones";
        if (a >= 2 && plan->shape[a] > INT32_MAX)
            return "needs fewer than 2^31 elements along each axis";
    }
    return NULL;
}

/* The linear index of a plane's first element; of `at`, t and z count. */
static inline int64_t edm_plane_first(const distmap_plan *plan, const int64_t at[DM_NDIM]) {
    return at[0] * plan->linear[0] + at[1] * plan->linear[1];
}

/* The squared pitch along an axis; 1 along one that has a single element and is not measured. */
static inline int64_t edm_pitch2(const distmap_plan *plan, int axis) {
    return plan->measured[axis] ? (int64_t)plan->w2[axis] : 1;
}

#endif
