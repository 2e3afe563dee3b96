/* Checks what a problem says about centroidal Voronoi diagrams. Metric, spacing and limit were brought into normal form before. */
#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

enum { MOST_STEPS = 1 << 20 };

static distmap_status check_input(const distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    if (p->input != DISTMAP_INPUT_MASK)
        return bad("problem.input must be MASK, which CVT reads as weights");
    if (p->dtype != DISTMAP_BOOL && p->dtype != DISTMAP_UINT8 && p->dtype != DISTMAP_UINT16 &&
        p->dtype != DISTMAP_UINT32)
        return bad("problem.dtype is %s, weights are bool, uint8, uint16 or uint32: scale others to integers",
                   distmap_dtype_name(p->dtype));
    if (p->sites.rule != DISTMAP_SITES_ZERO)
        return bad("problem.sites has no meaning for CVT, must stay zero");
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN)
        return bad("problem.metric must be EUCLIDEAN for CVT");
    if (plan->limited || p->border)
        return bad("problem.limit and problem.border have no meaning for CVT, must stay zero");
    if (p->ndim > 3)
        return bad("problem.ndim is %d, CVT takes one to three axes", p->ndim);
    if (p->axes != (1u << p->ndim) - 1)
        return bad("problem.axes is 0x%x, CVT measures along all axes: must be 0", p->axes);
    if ((uint64_t)plan->elements > ((uint64_t)1 << 62) / dm_dtype_max(p->dtype))
        return bad("problem.dtype is %s: the sum of so many elements' weights may pass 2^62",
                   distmap_dtype_name(p->dtype));
    return DISTMAP_OK;
}

static distmap_status check_outputs(const distmap_problem *p) {
    const distmap_outputs *w = &p->want;
    distmap_outputs others = *w;
    others.sites = others.centroids = others.energies = others.label = DISTMAP_NONE;
    if (dm_wants_any(others))
        return bad("problem.want: CVT has four outputs, sites, centroids, energies and label");
    if (!dm_wants_any(*w))
        return bad("problem.want names no output");
    if (w->sites && w->sites != DISTMAP_INT32 && w->sites != DISTMAP_INT64)
        return bad("problem.want.sites must be int32 or int64");
    if (w->centroids && w->centroids != DISTMAP_FLOAT64)
        return bad("problem.want.centroids must be float64");
    if (w->energies && w->energies != DISTMAP_FLOAT64)
        return bad("problem.want.energies must be float64");
    if (w->label && (!distmap_dtype_size(w->label) || dm_dtype_is_float(w->label)))
        return bad("problem.want.label must be an integer type");
    if (w->label && dm_dtype_max(w->label) < (uint64_t)p->cvt.points - 1)
        return bad("problem.want.label is %s, too small for the numbers of %lld points", distmap_dtype_name(w->label),
                   (long long)p->cvt.points);
    return DISTMAP_OK;
}

distmap_status dm_cvt_check(distmap_plan *plan) {
    distmap_cvt *c = &plan->problem.cvt;
    TRY(check_input(plan));
    if (c->points < 1 || c->points > plan->elements || c->points >= INT32_MAX)
        return bad("problem.cvt.points is %lld, must be 1 to the number of elements, %lld, and below 2^31 - 1",
                   (long long)c->points, (long long)plan->elements);
    if (c->steps < 0 || c->steps > MOST_STEPS)
        return bad("problem.cvt.steps is %lld, must be 0 to 2^20", (long long)c->steps);
    if (c->omega != 0 && !(c->omega > 0 && c->omega < 2))
        return bad("problem.cvt.omega is %g, must be above 0 and below 2, or 0 for 1", c->omega);
    if (c->omega == 0)
        c->omega = 1;
    if (c->grids < 0 || c->grids > DM_INNER)
        return bad("problem.cvt.grids is %d, must be 1 to %d, or 0 for %d", c->grids, (int)DM_INNER, (int)DM_INNER);
    return check_outputs(&plan->problem);
}
