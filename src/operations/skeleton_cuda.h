/* Between skeleton/cuda's host side and its kernel. */
#ifndef DISTMAP_OPERATIONS_SKELETON_CUDA_H
#define DISTMAP_OPERATIONS_SKELETON_CUDA_H

#include "cuda/elements.h"
#include "operations/skeleton.h"

struct sk_work {
    dm_elements elements;
    sk_rule rule;
    const void *plane[SK_AXES]; /* coordinates along the measured axes */
    bool narrow;                /* int16, else int32 */
};

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t sk_mark(const struct sk_work *work, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
