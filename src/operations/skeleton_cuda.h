/* Between skeleton/cuda's host side and its kernel. */
#ifndef DISTMAP_OPERATIONS_SKELETON_CUDA_H
#define DISTMAP_OPERATIONS_SKELETON_CUDA_H

#include "cuda/elements.h"
#include "operations/skeleton.h"

/* Division of numbers below 2^31 by n >= 1: i / n = i factor >> shift. With 2^l >= n > 2^(l - 1), shift = 31 + l and
 * factor = floor(2^shift / n) + 1, factor n is beyond 2^shift by at most n <= 2^l, which i < 2^31 makes less than 2^shift. */
typedef struct sk_divider {
    uint32_t factor;
    int shift;
} sk_divider;

#define SK_SLACK 1e-5 /* of the look at pairs: more than the roundings of float32 take */

struct sk_work {
    dm_elements elements;
    sk_rule rule;
    const void *index; /* every element's nearest site, int64 where `wide`, else int32 */
    bool wide;
    int64_t linear[SK_AXES], back[SK_AXES]; /* elements from one to the next along a measured axis; less than 0: back */
    sk_divider gap[SK_AXES];                /* not wide: division by `linear` */
    bool plain;                             /* no border, and elements along the last axis are one after another */
    int steps;                              /* of a brick */
    int64_t bricks[SK_AXES];                /* along a measured axis */
    /* The look at pairs: whether float32 can take it, whether all pitches are h; and the rule in units of h^2. */
    bool filters, equal;
    float w2[SK_AXES];                  /* squared pitches */
    float less[SK_AXES], least, gamma2; /* SQUARE_ROOT: w2 + C; CONSTANT: gamma^2; LINEAR: gamma^2; else 0 */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Tells `steps` and `bricks` itself. */
cudaError_t sk_mark(struct sk_work *work, int multiprocessors, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
