/* skeleton/cuda: the integer medial axis from the coordinates of sites, by one kernel that asks every neighbour.
 *
 * Memory: 2 bytes per element and axis (4 where an axis is longer than 32767), and the inner plan's.
 */
#include "core/scratch.h"
#include "operations/inner_cuda.h"
#include "operations/skeleton_cuda.h"

static distmap_problem inner_problem(const distmap_plan *plan) {
    distmap_problem inner = op_distances(plan);
    inner.want.coords = sk_is_narrow(plan) ? DISTMAP_INT16 : DISTMAP_INT32;
    return inner;
}

static size_t lay_out(const distmap_plan *plan, char **planes) {
    const distmap_problem inner = inner_problem(plan);
    dm_scratch walk = {.base = plan->scratch, .unit = DM_CUDA_UNIT};
    dm_take(&walk, 1, op_inner_bytes(plan, &inner));
    *planes = dm_take(&walk, plan->elements * plan->problem.ndim, distmap_dtype_size(inner.want.coords));
    return walk.used;
}

static size_t scratch_bytes(const distmap_plan *plan) {
    char *planes;
    return lay_out(plan, &planes);
}

static distmap_status prepare(distmap_plan *plan) {
    const distmap_problem inner = inner_problem(plan);
    return op_inner_make(plan, &inner, 1);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct sk_work work = {.elements = dm_elements_make(plan, arrays), .rule = sk_rule_of(plan)};
    char *planes;
    lay_out(plan, &planes);
    const distmap_dtype dtype = plan->inner[0]->problem.want.coords;
    const int64_t bytes = plan->elements * (int64_t)distmap_dtype_size(dtype);
    distmap_arrays inner = {.input = op_view(plan, &arrays->input)};
    for (int a = 0; a < plan->problem.ndim; a++)
        inner.coords[a] = op_dense(plan, planes + a * bytes, dtype);
    work.narrow = dtype == DISTMAP_INT16;
    for (int k = 0; k < work.rule.axes; k++)
        work.plane[k] = inner.coords[work.rule.axis[k] - (DM_NDIM - plan->problem.ndim)].data;
    dm_phase(plan, "transform");
    TRY(op_inner_run(plan, 0, &inner, ~0u));
    TRY(op_inner_flags(plan, 0, ~0u));
    dm_phase(plan, "skeleton");
    TRY_CUDA(cuda, sk_mark(&work, cuda->stream));
    return DISTMAP_OK;
}

const dm_method dm_skeleton_cuda = {
    .info =
        {
            .name = "skeleton/cuda",
            .summary = "integer medial axis from the sites' coordinates, one kernel",
            .source = "Hesselink and Roerdink 2008",
            .device = "cuda",
            .exact = true,
            .field = DISTMAP_FIELD_SKELETON,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = prepare,
    .release = op_inner_release,
};
