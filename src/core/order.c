/* The memory order of the axes: the normal form has the axes in memory order, if that changes no result.
 *
 * Rows are runs along the last axis, and everything is fastest if they are contiguous. So a problem whose arrays have
 * another order (Fortran order in every NIfTI file) is solved as that of the transposed image: dm_order_take() permutes the members of
 * a plan that refer to axes, and views follow (arrays.c). The results are the same unless they depend on which axis comes first:
 *
 *  - integer distances are minima of exact sums, for any order of the passes. FP64 rounds from the last axis to the
 *    first, so the order does not change there;
 *  - among several nearest sites the lowest index wins, in the order of the caller's axes. So it does not change if sites are wanted;
 *  - masks within a radius, local thickness and comparisons are computed from such distances, by rules without a
 *    first axis. Skeletons, growing labels and Voronoi diagrams depend on sites, edge strengths on rounded sums;
 *  - windows and slabs are rows of the image as given.
 */
#include <string.h>

#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

enum { SHORT_ROW = 8 }; /* elements */

/* The distance of neighbours in memory. Axes without neighbours, or with equal elements, can be anywhere: they go outermost. */
static uint64_t pitch_of(const distmap_view *v, int a) {
    const int64_t s = v->strides[a];
    return v->shape[a] <= 1 || s == 0 ? UINT64_MAX : s < 0 ? 0 - (uint64_t)s : (uint64_t)s;
}

void distmap_view_order(const distmap_view *view, int order[DISTMAP_MAX_AXES]) {
    memset(order, 0, DISTMAP_MAX_AXES * sizeof *order);
    if (!view || view->ndim < 1 || view->ndim > DISTMAP_MAX_AXES)
        return;
    for (int a = 0; a < view->ndim; a++) {
        int at = a;
        for (; at > 0 && pitch_of(view, order[at - 1]) < pitch_of(view, a); at--)
            order[at] = order[at - 1];
        order[at] = a;
    }
}

/* No permutation of two axes and more is all zeros; of one axis there is one alone. */
static bool is_given(const distmap_problem *p) {
    bool given = false;
    for (int i = 0; i < p->ndim; i++)
        given |= p->order[i] != 0;
    return given;
}

distmap_status dm_order_check(const distmap_problem *p) {
    unsigned seen = 0;
    for (int i = 0; i < DISTMAP_MAX_AXES; i++) {
        if (i >= p->ndim && p->order[i] != 0)
            return bad("problem.order[%d] is %d, must stay zero beyond ndim %d", i, p->order[i], p->ndim);
        if (p->order[i] < 0 || p->order[i] >= p->ndim)
            return bad("problem.order[%d] is %d, must be an axis, 0 to %d", i, p->order[i], p->ndim - 1);
        if (i < p->ndim && is_given(p) && seen >> p->order[i] & 1)
            return bad("problem.order names axis %d twice: it names every axis once, or stays zero", p->order[i]);
        seen |= 1u << p->order[i];
    }
    return DISTMAP_OK;
}

/* Whether a field's results, in integers and without sites, are the same whatever the order. */
static bool is_of_distances(const distmap_problem *p) {
    switch (p->field) {
    case DISTMAP_FIELD_DISTANCE:
    case DISTMAP_FIELD_COMPARISON:
    case DISTMAP_FIELD_THICKNESS: return !p->want.label;
    case DISTMAP_FIELD_MORPHOLOGY: return !p->want.label || p->morphology.step != DISTMAP_MORPHOLOGY_DILATE;
    default: return false;
    }
}

bool dm_order_counts(const distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    return is_given(p) && is_of_distances(p) && plan->number != DM_F64 && !p->want.index && !p->want.coords &&
           !p->window.count && !plan->context->device->execute_slabs;
}

/* The order to use. Rows of a few elements, such as the channels of an image, cost more than larger strides: such axes at the
 * end go outermost. (2048 x 2048 x 4 elements, on the CPU: as a batch 86 ms instead of 390, as a volume 99 instead of 266; of 16
 * 109 instead of 161, and 152 instead of 102.) */
static void find_order(const distmap_problem *p, int order[DISTMAP_MAX_AXES]) {
    int last = p->ndim - 1;
    while (last > 0 && p->shape[p->order[last]] <= SHORT_ROW)
        last--;
    for (int i = 0; i < p->ndim; i++)
        order[(i + p->ndim - 1 - last) % p->ndim] = p->order[i];
}

void dm_order_take(distmap_plan *plan) {
    int order[DISTMAP_MAX_AXES];
    distmap_problem *p = &plan->problem;
    const distmap_plan given = *plan;
    find_order(p, order);
    p->axes = 0;
    for (int i = 0; i < p->ndim; i++) {
        const int a = order[i], to = i + DM_NDIM - p->ndim, from = a + DM_NDIM - p->ndim;
        p->shape[i] = given.problem.shape[a];
        p->spacing[i] = given.problem.spacing[a];
        p->axes |= (given.problem.axes >> a & 1) << i;
        p->order[i] = 0;
        plan->place[a] = i;
        plan->shape[to] = given.shape[from];
        plan->measured[to] = given.measured[from];
        plan->multiple[to] = given.multiple[from];
        plan->w2[to] = given.w2[from];
        plan->w2f[to] = given.w2f[from];
    }
    dm_pitches(plan, plan->linear);
    plan->rows = plan->shape[2];
}
