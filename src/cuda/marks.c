/* Timed plans on a GPU: an event on the stream where each phase begins, and one where the last ends. */
#include "cuda/runtime.h"

distmap_status dm_marks_make(distmap_plan *plan) {
    struct dm_cuda *cuda = plan->context->cuda;
    for (int i = 0; i < DM_MAX_MARKS; i++)
        TRY_CUDA(cuda, cudaEventCreateWithFlags(&plan->cuda->mark[i], cudaEventDefault));
    return DISTMAP_OK;
}

void dm_marks_release(distmap_plan *plan) {
    for (int i = 0; i < DM_MAX_MARKS; i++)
        if (plan->cuda->mark[i])
            (void)cudaEventDestroy(plan->cuda->mark[i]);
}

distmap_status dm_cuda_phase(distmap_plan *plan, int number) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct dm_cuda_plan *own = plan->cuda;
    if (own->marks == DM_MAX_MARKS - 1 && number >= 0)
        return DISTMAP_OK;
    own->marked[own->marks] = number;
    TRY_CUDA(cuda, cudaEventRecord(own->mark[own->marks++], cuda->stream));
    return DISTMAP_OK;
}

distmap_status dm_marks_read(distmap_plan *plan) {
    struct dm_cuda *cuda = plan->context->cuda;
    const struct dm_cuda_plan *own = plan->cuda;
    for (int i = 0; i + 1 < own->marks; i++) {
        float milliseconds;
        TRY_CUDA(cuda, cudaEventElapsedTime(&milliseconds, own->mark[i], own->mark[i + 1]));
        plan->phases.phase[own->marked[i]].seconds += 1e-3 * (double)milliseconds;
    }
    return DISTMAP_OK;
}
