/* Shared by methods for planes: a problem as a stack of separate planes (y, x); t and z are batches, or of length 1.
 */
#ifndef DISTMAP_CORE_PLANES_H
#define DISTMAP_CORE_PLANES_H

#include "core/internal.h"
#include "core/scratch.h"

static inline int64_t dm_plane_count(const distmap_plan *plan) { return plan->shape[0] * plan->shape[1]; }
static inline int64_t dm_plane_elements(const distmap_plan *plan) { return plan->shape[2] * plan->shape[DM_X]; }

/* Coordinates of the first element of row `row`, counted through all planes. */
static inline void dm_row_place(const distmap_plan *plan, int64_t row, int64_t at[DM_NDIM]) {
    at[DM_X] = 0;
    for (int a = DM_X - 1; a >= 0; a--) {
        at[a] = row % plan->shape[a];
        row /= plan->shape[a];
    }
}

/* Why a method for plain distance maps of masks does not accept the problem; NULL if it does. */
static inline const char *dm_refuses_all_but_masks(const distmap_plan *plan) {
    if (plan->problem.input != DISTMAP_INPUT_MASK || plan->problem.sign)
        return "needs a mask input, and a map without sign";
    if (plan->number == DM_F64)
        return "needs pitches that are whole multiples of a unit";
    if (plan->limited || plan->problem.border)
        return "needs a problem without limit and border";
    return NULL;
}

/* The same for a method that computes only squared distances. */
static inline const char *dm_refuses_sites(const distmap_plan *plan) {
    return plan->wants_site ? "needs outputs of distances only: it does not know the sites" : NULL;
}

/* The same for a method that solves only planes. */
static inline const char *dm_refuses_all_but_planes(const distmap_plan *plan) {
    if (dm_axis_counts(plan, 0) || dm_axis_counts(plan, 1))
        return "needs planes: no other axis than the last two measured";
    return dm_refuses_all_but_masks(plan);
}

/* The same for a method that solves only planes and computes only squared distances. */
static inline const char *dm_refuses_all_but_plane_distances(const distmap_plan *plan) {
    const char *why = dm_refuses_sites(plan);
    return why ? why : dm_refuses_all_but_planes(plan);
}

#endif
