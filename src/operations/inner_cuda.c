/* See inner_cuda.h. */
#include "operations/inner_cuda.h"

distmap_status op_inner_flags(distmap_plan *plan, int number, unsigned flags) {
    struct dm_cuda *cuda = plan->context->cuda;
    const distmap_plan *inner = plan->inner[number];
    TRY_CUDA(cuda, op_pass_flags(&inner->cuda->outcome->flags, &plan->cuda->outcome->flags, flags, cuda->stream));
    return DISTMAP_OK;
}
