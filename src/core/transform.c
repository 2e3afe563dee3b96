/* The one-call forms: context, plan, execute, destroy. */
#include "core/internal.h"

distmap_status distmap_transform(const distmap_problem *problem, const distmap_arrays *arrays, unsigned *flags) {
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    distmap_status status = distmap_context_create(NULL, &context);
    if (status == DISTMAP_OK)
        status = distmap_plan_create(context, problem, NULL, &plan);
    if (status == DISTMAP_OK)
        status = distmap_plan_execute(plan, arrays);
    if (flags)
        *flags = distmap_plan_flags(plan);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    return status;
}

distmap_status distmap_edt(const uint8_t *mask, int ndim, const int64_t *shape, float *distance) {
    if (!shape)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "shape is NULL");
    if (ndim < 1 || ndim > DISTMAP_MAX_NDIM)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "ndim is %d, must be 1 to %d", ndim, DISTMAP_MAX_NDIM);
    distmap_problem problem = {.dtype = DISTMAP_UINT8, .ndim = ndim, .want.distance = DISTMAP_FLOAT32};
    bool empty = false;
    for (int a = 0; a < ndim; a++) {
        problem.shape[a] = shape[a];
        empty |= shape[a] == 0;
    }
    if (!empty && (!mask || !distance))
        return dm_error(DISTMAP_ERROR_ARGUMENT, "%s is NULL", mask ? "distance" : "mask");
    const distmap_arrays arrays = {
        .input = distmap_view_make((void *)mask, DISTMAP_UINT8, ndim, shape),
        .distance = distmap_view_make(distance, DISTMAP_FLOAT32, ndim, shape),
    };
    return distmap_transform(&problem, &arrays, NULL);
}
