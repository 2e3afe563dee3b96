/* Between envelope/cuda's host side and its kernels. */
#ifndef DISTMAP_METHODS_ENVELOPE_CUDA_H
#define DISTMAP_METHODS_ENVELOPE_CUDA_H

#include "cuda/elements.h"

enum { ENVELOPE_THREADS = 128, ENVELOPE_PARABOLA_BYTES = 32 };

struct envelope_work {
    dm_elements elements;
    void *value;   /* 8 bytes per element: what its squared distance is so far */
    int64_t *site; /* the same: its site; NULL when not wanted */
    void *lists;   /* of parabolas, interleaved: one for each line that is under way */
};

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t envelope_load(const struct envelope_work *work, cudaStream_t stream);
/* `lines` at a time. */
cudaError_t envelope_step(const struct envelope_work *work, int axis, int64_t lines, cudaStream_t stream);
cudaError_t envelope_emit(const struct envelope_work *work, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
