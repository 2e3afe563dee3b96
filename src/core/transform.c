/* The one-call forms: context, plan, execute, destroy. */
#include <string.h>

#include "core/internal.h"

/* Where the problem says nothing of its axes' order in memory: that of its first output of its shape, else of the input. (256^3
 * masks, uint8 in C order and float32 in Fortran's: 256 ms in the output's order, 716 in the input's.) */
static void find_order(distmap_problem *problem, const distmap_arrays *arrays) {
    static const int none[DISTMAP_MAX_AXES];
    const distmap_view *const views[] = {&arrays->distance, &arrays->squared, &arrays->mask, &arrays->label,
                                         &arrays->within,   &arrays->beyond,  &arrays->input};
    size_t first = 0;
    while (first + 1 < sizeof views / sizeof *views && !views[first]->data)
        first++;
    if (memcmp(problem->order, none, sizeof none) == 0 && views[first]->ndim == problem->ndim)
        distmap_view_order(views[first], problem->order);
}

distmap_status distmap_transform_sized(const distmap_problem *problem, size_t problem_bytes,
                                       const distmap_arrays *arrays, size_t arrays_bytes, unsigned *flags) {
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    distmap_problem problem_room, ordered;
    distmap_arrays arrays_room;
    DISTMAP_SIZED_TAKE(problem, problem_room);
    DISTMAP_SIZED_TAKE(arrays, arrays_room);
    if (problem && arrays) {
        ordered = *problem;
        find_order(&ordered, arrays);
        problem = &ordered;
    }
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
