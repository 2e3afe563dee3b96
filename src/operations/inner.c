/* See inner.h. */
#include "operations/inner.h"

distmap_problem op_distances(const distmap_plan *plan) {
    distmap_problem distances = plan->problem;
    distances.field = DISTMAP_FIELD_DISTANCE;
    distances.skeleton = (distmap_skeleton){0};
    distances.morphology = (distmap_morphology){0};
    distances.comparison = (distmap_comparison){0};
    distances.cvt = (distmap_cvt){0};
    distances.want = (distmap_outputs){0};
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        distances.order[a] = 0; /* its views have the order of this plan */
    return distances;
}

distmap_problem op_counts(const distmap_plan *plan) {
    distmap_problem counts = op_distances(plan);
    for (int a = 0; a < counts.ndim && plan->number != DM_F64; a++) {
        const uint64_t multiple = plan->multiple[a + DM_NDIM - counts.ndim];
        counts.spacing[a] = multiple ? (double)multiple : 1;
    }
    return counts;
}

size_t op_inner_bytes(const distmap_plan *plan, const distmap_problem *problem) {
    size_t bytes, most = 0;
    if (!plan->inner[0])
        return distmap_scratch_bytes(plan->context, problem, NULL, &bytes) == DISTMAP_OK ? bytes : 0;
    for (int i = 0; i < DM_INNER && plan->inner[i]; i++)
        most = plan->inner[i]->scratch_bytes > most ? plan->inner[i]->scratch_bytes : most;
    return most;
}

distmap_status op_inner_make(distmap_plan *plan, const distmap_problem *problem, double share) {
    const distmap_plan_options options = {.scratch = plan->scratch, .scratch_bytes = plan->scratch_bytes};
    int next = 0;
    while (plan->inner[next])
        next++;
    TRY(distmap_plan_create(plan->context, problem, &options, &plan->inner[next]));
    plan->inner[next]->progress_span = share;
    return DISTMAP_OK;
}

void op_inner_release(distmap_plan *plan) {
    for (int i = 0; i < DM_INNER; i++)
        distmap_plan_destroy(&plan->inner[i]);
}

distmap_status op_inner_run(distmap_plan *plan, int number, const distmap_arrays *arrays, unsigned flags) {
    distmap_plan *inner = plan->inner[number];
    const double share = inner->progress_span; /* of this plan's own */
    inner->progress_from = plan->progress_from + plan->progress_span * plan->progress_base;
    inner->progress_span = share * plan->progress_span;
    const distmap_status status = dm_plan_execute(inner, arrays);
    inner->progress_span = share;
    plan->progress_base += share;
    dm_flag(plan, atomic_load(&inner->flags) & flags);
    return status;
}

distmap_view op_view(const distmap_plan *plan, const dm_array *array) {
    const distmap_problem *p = &plan->problem;
    distmap_view view = {.data = array->data, .dtype = array->dtype, .ndim = p->ndim, .space = array->space};
    for (int a = 0; a < p->ndim; a++) {
        view.shape[a] = p->shape[a];
        view.strides[a] = array->stride[a + DM_NDIM - p->ndim];
    }
    return view;
}

distmap_view op_dense(const distmap_plan *plan, void *data, distmap_dtype dtype) {
    distmap_view view = distmap_view_make(data, dtype, plan->problem.ndim, plan->problem.shape);
    view.space = plan->context->device->space;
    return view;
}
