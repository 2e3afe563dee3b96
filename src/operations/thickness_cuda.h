/* Between thickness/cuda's host side and its kernels. */
#ifndef DISTMAP_OPERATIONS_THICKNESS_CUDA_H
#define DISTMAP_OPERATIONS_THICKNESS_CUDA_H

#include "cuda/runtime.h"
#include "operations/thickness.h"

struct th_job {
    th_volumes volumes;
    int64_t shape[DM_NDIM];
    dm_array distance, squared; /* the outputs */
    const void *squares;        /* R^2 of all volumes */
    void *largest;              /* what it grows to */
};

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t th_grow(const struct th_job *job, cudaStream_t stream);
cudaError_t th_store(const struct th_job *job, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
