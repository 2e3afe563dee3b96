/* Checks what a problem says about skeletons. Metric, spacing and limit were brought into normal form before. */
#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

distmap_status dm_skeleton_check(const distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    const distmap_outputs *w = &p->want;
    const distmap_skeleton *s = &p->skeleton;
    int measured = 0;
    for (int n = 0; n < DM_NDIM; n++)
        measured += plan->measured[n];
    if (p->input != DISTMAP_INPUT_MASK)
        return bad("problem.field SKELETON needs a mask input");
    if (measured > 3)
        return bad("problem.field SKELETON takes one to three measured axes, not %d", measured);
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN)
        return bad("problem.metric must be EUCLIDEAN for skeletons");
    if (plan->limited)
        return bad("problem.limit has no meaning for skeletons, must stay zero");
    distmap_outputs others = *w;
    others.mask = others.distance = DISTMAP_NONE;
    if (dm_wants_any(others))
        return bad("problem.want: skeletons have two outputs, mask and distance");
    if (!dm_wants_any(*w))
        return bad("problem.want names no output");
    if (w->mask && w->mask != DISTMAP_BOOL && w->mask != DISTMAP_UINT8)
        return bad("problem.want.mask must be bool or uint8");
    if (w->distance && w->distance != DISTMAP_FLOAT32 && w->distance != DISTMAP_FLOAT64)
        return bad("problem.want.distance must be float32 or float64");
    if (s->pruning < DISTMAP_PRUNING_SQUARE_ROOT || s->pruning > DISTMAP_PRUNING_CONSTANT)
        return bad("problem.skeleton.pruning is %d, unknown", (int)s->pruning);
    if (s->pruning == DISTMAP_PRUNING_SQUARE_ROOT && s->gamma != 0)
        return bad("problem.skeleton.gamma has no meaning for SQUARE_ROOT pruning, must stay zero");
    if (!(s->gamma >= 0 && s->gamma <= 1e15))
        return bad("problem.skeleton.gamma is %g, must be 0 to 1e15", s->gamma);
    return DISTMAP_OK;
}
