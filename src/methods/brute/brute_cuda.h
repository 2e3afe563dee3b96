/* Between brute/cuda's host side and its kernels. */
#ifndef DISTMAP_METHODS_BRUTE_CUDA_H
#define DISTMAP_METHODS_BRUTE_CUDA_H

#include "cuda/elements.h"

struct brute_candidate {
    int64_t linear; /* linear index */
    union {
        uint64_t u64;
        double f64;
    } f;
};

struct brute_work {
    dm_elements elements;
    int64_t batches, batch_elements;
    unsigned long long *count;          /* candidates of each batch */
    struct brute_candidate *candidates; /* batch b's start at b * batch_elements, in no order */
    struct brute_listed *listed;        /* sites=texture: the same memory; by the host in order */
    uint8_t *marks;                     /* list=host: a byte per element, 1 at sites */
};

enum { BRUTE_THREADS = 128 };

/* How kernel=texture lists the candidates: coordinates in the plan's four axes. */
struct brute_listed {
    int32_t at[DM_NDIM];
};

#ifdef __cplusplus
extern "C" {
#endif
/* Counts and collects the candidates; then searches. */
cudaError_t brute_collect(const struct brute_work *work, cudaStream_t stream);
cudaError_t brute_search(const struct brute_work *work, cudaStream_t stream);
/* sites=texture: marks the sites; lists them; searches by fetches from the texture over the list. */
cudaError_t brute_mark(const struct brute_work *work, cudaStream_t stream);
cudaError_t brute_list(const struct brute_work *work, cudaStream_t stream);
cudaError_t brute_search_texture(const struct brute_work *work, cudaTextureObject_t texture, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
