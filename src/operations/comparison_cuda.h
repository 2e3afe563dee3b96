/* Between comparison/cuda's host side and its kernels. */
#ifndef DISTMAP_OPERATIONS_COMPARISON_CUDA_H
#define DISTMAP_OPERATIONS_COMPARISON_CUDA_H

#include "cuda/elements.h"
#include "operations/comparison.h"

/* A percentile under selection. */
typedef struct co_target {
    uint64_t digits; /* of its value, those found so far */
    uint64_t rank;   /* of its value among those with these digits */
    uint64_t alike;  /* in the last digit's bin */
} co_target;

struct co_work {
    dm_elements set[2]; /* A and B, each the input of its own */
    bool surfaces;
    int direction;
    co_memory memory;
    dm_comparison comparison;
    double percentile[DISTMAP_MAX_PERCENTILES];
    int percentiles;
    co_target *target;                   /* DISTMAP_MAX_PERCENTILES */
    unsigned long long (*bins)[CO_BINS]; /* for each; zero between passes */
    dm_compared *compared;               /* the outcome */
};

#ifdef __cplusplus
extern "C" {
#endif
/* B's surface into the mask. */
cudaError_t co_mark(const struct co_work *work, cudaStream_t stream);
/* The values of the points of set[direction], out of the other's map; and if that is A, its points into the mask. */
cudaError_t co_look_up(const struct co_work *work, cudaStream_t stream);
/* The order statistics of all percentiles. */
cudaError_t co_select(const struct co_work *work, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
