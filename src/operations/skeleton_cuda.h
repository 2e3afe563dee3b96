/* Between skeleton/cuda's host side and its kernel. */
#ifndef DISTMAP_OPERATIONS_SKELETON_CUDA_H
#define DISTMAP_OPERATIONS_SKELETON_CUDA_H

#include "cuda/elements.h"
#include "operations/skeleton.h"

struct sk_work {
    dm_elements elements;
    sk_rule rule;
    const void *index; /* every element's nearest site */
    bool wide;         /* int64, else int32 */
    /* For the filter: the rule in units of h^2, and whether float32 and 32 bits can take it. */
    float w2[SK_AXES], more, gamma2;
    bool filters;
};

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t sk_mark(const struct sk_work *work, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
