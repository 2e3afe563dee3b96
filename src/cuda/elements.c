/* The kernels' argument from a plan and its arrays. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cuda/elements.h"

dm_elements dm_elements_make(const distmap_plan *plan, const dm_arrays *arrays) {
    dm_elements e = {
        .arrays = *arrays,
        .elements = plan->elements,
        .limit2 = plan->limited ? plan->limit2 : UINT64_MAX - 1,
        .limit2f = plan->limited ? fmin(plan->limit2f, DBL_MAX) : DBL_MAX,
        .sites = dm_site_test_make(&plan->problem.sites, plan->problem.dtype),
        .sample_none = dm_dtype_max(plan->problem.dtype),
        .distance_none = dm_dtype_max(plan->problem.want.distance),
        .chamfer = plan->chamfer,
        .unit = plan->unit,
        .number = plan->number,
        .input = plan->problem.input,
        .border = plan->problem.border,
        .by_kind = dm_by_kind(plan),
        .sign = plan->problem.sign,
        .surface = plan->surface,
        .flags = &plan->cuda->outcome->flags,
    };
    memcpy(e.shape, plan->shape, sizeof e.shape);
    memcpy(e.linear, plan->linear, sizeof e.linear);
    memcpy(e.w2, plan->w2, sizeof e.w2);
    memcpy(e.w2f, plan->w2f, sizeof e.w2f);
    memcpy(e.measured, plan->measured, sizeof e.measured);
    return e;
}
