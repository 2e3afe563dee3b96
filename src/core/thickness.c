/* Checks what a problem says about local thickness. Metric, spacing and limit were brought into normal form before; outputs
 * are those of distances, and checked as such. */
#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

distmap_status dm_thickness_check(const distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    int measured = 0;
    for (int n = 0; n < DM_NDIM; n++)
        measured += plan->measured[n];
    if (p->input != DISTMAP_INPUT_MASK)
        return bad("problem.field THICKNESS needs a mask input");
    if (measured > 3)
        return bad("problem.field THICKNESS takes one to three measured axes, not %d", measured);
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN)
        return bad("problem.metric must be EUCLIDEAN for local thickness");
    if (plan->limited)
        return bad("problem.limit has no meaning for local thickness, must stay zero");
    distmap_outputs others = p->want;
    others.distance = others.squared = DISTMAP_NONE;
    if (dm_wants_any(others))
        return bad("problem.want: local thickness has two outputs, distance and squared");
    return DISTMAP_OK;
}
