/* Inner plans on the GPU: their flags lie in device memory, which the next one in the same scratch would write over. */
#ifndef DISTMAP_OPERATIONS_INNER_CUDA_H
#define DISTMAP_OPERATIONS_INNER_CUDA_H

#include "cuda/runtime.h"
#include "operations/inner.h"

#ifdef __cplusplus
extern "C" {
#endif
/* Raises those of `flags` of plan->inner[number], which was enqueued, in the operation's own outcome. */
distmap_status op_inner_flags(distmap_plan *plan, int number, unsigned flags);

/* Raises those of `flags` at `to` that are raised at `from`, both in device memory. */
cudaError_t op_pass_flags(const unsigned *from, unsigned *to, unsigned flags, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
