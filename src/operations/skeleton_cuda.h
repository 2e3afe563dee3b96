/* Between skeleton/cuda's host side and its kernel. */
#ifndef DISTMAP_OPERATIONS_SKELETON_CUDA_H
#define DISTMAP_OPERATIONS_SKELETON_CUDA_H

#include "cuda/elements.h"
#include "operations/skeleton.h"

/* Division of numbers below 2^31 by n >= 1: i / n = i factor >> shift. With 2^l >= n > 2^(l - 1), shift = 31 + l and
 * factor = floor(2^shift / n) + 1, factor n is beyond 2^shift by at most n <= 2^l, which i < 2^31 makes less than 2^shift. */
typedef struct sk_divider {
    uint32_t n, factor;
    int shift;
} sk_divider;

struct sk_work {
    dm_elements elements;
    sk_rule rule;
    const void *index; /* every element's nearest site */
    bool wide;         /* int64, else int32 */
    sk_divider length[SK_AXES],
        gap[SK_AXES]; /* not wide: elements along a measured axis; in linear order, of others behind it */
    /* For the look at pairs: the rule in units of h^2, and whether float32 can take it. */
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
