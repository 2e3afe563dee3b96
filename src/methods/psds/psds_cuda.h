/* Between psds/cuda's host side and its kernels. */
#ifndef DISTMAP_METHODS_PSDS_CUDA_H
#define DISTMAP_METHODS_PSDS_CUDA_H

#include "cuda/elements.h"

struct psds_work {
    dm_elements elements;
    uint32_t *across, *below, *above; /* 4 bytes per element each; see psds_search.h */
    int64_t blocks;                   /* of a grid, at most; 0: one for each line */
    unsigned threads;                 /* of a block, at most */
    bool scan_rows, scan_columns;     /* distances along x, along y count */
    bool sites;                       /* wanted */
};

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t psds_rows(const struct psds_work *work, cudaStream_t stream);
cudaError_t psds_columns(const struct psds_work *work, cudaStream_t stream);
cudaError_t psds_search(const struct psds_work *work, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
