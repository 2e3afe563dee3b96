/* morphology/cuda: the same steps as on the CPU (morphology.c), enqueued one after another. */
#include "operations/inner_cuda.h"
#include "operations/morphology.h"

static size_t scratch_bytes(const distmap_plan *plan) {
    const mo_steps steps = mo_steps_of(plan);
    char *mask[2];
    return mo_lay_out(plan, &steps, DM_CUDA_UNIT, mask);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const mo_steps steps = mo_steps_of(plan);
    char *mask[2];
    mo_lay_out(plan, &steps, DM_CUDA_UNIT, mask);
    if (steps.frame)
        TRY_CUDA(cuda, cudaMemsetAsync(mask[0], steps.frame_value, (size_t)steps.elements, cuda->stream));
    for (int i = 0; i < steps.count; i++) {
        TRY(mo_run_step(plan, &steps, i, arrays, mask));
        TRY(op_inner_flags(plan, i, DISTMAP_FLAG_NAN));
    }
    return DISTMAP_OK;
}

const dm_method dm_morphology_cuda = {
    .info =
        {
            .name = "morphology/cuda",
            .summary = "dilation, erosion, opening, closing by balls, from masks of what lies within the radius",
            .source = "Serra 1982, chapter 2; docs/notes/operations.md",
            .device = "cuda",
            .exact = true,
            .field = DISTMAP_FIELD_MORPHOLOGY,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = mo_prepare,
    .release = op_inner_release,
};
