/* Between cvt/cuda's host side and its kernels. */
#ifndef DISTMAP_OPERATIONS_CVT_CUDA_H
#define DISTMAP_OPERATIONS_CVT_CUDA_H

#include "cuda/runtime.h"
#include "operations/cvt.h"

enum { CV_CHUNK = 4096, CV_LIMBS = 4 };

/* A sum of 128 bits that many threads add to: four parts of 32, each in a word of 64, which 2^32 addends do not fill. */
typedef struct cv_limbs {
    uint64_t part[CV_LIMBS];
} cv_limbs;

/* The results of kernels, in device memory; zeroed first. */
typedef struct cv_totals {
    uint64_t total, weighted[DM_INNER];
    cv_limbs square[CV_AXES];
} cv_totals;

/* cv_work's `own`, on the host while it runs; what its members point to is on the device. */
typedef struct cv_own {
    cv_totals *totals;
    uint64_t *chunk;                     /* CV_CHUNK weights */
    cv_limbs *taken;                     /* of each step, along each axis */
    dm_array sites, centroids, energies; /* what kernels write to: the caller's, or if that is on the host: */
    void *dense_sites, *dense_centroids, *dense_energies; /* row-major; NULL without host views */
} cv_own;

/* Kernels' argument. */
typedef struct cv_args {
    cv_grid grid, finer; /* the one at work; the one before it */
    dm_array input, label;
    cv_own own;
    int32_t *stand;
    void *index;
    cv_place *place;
    cv_sums *sums;
    int64_t *target;
    int64_t points, first, count, step, steps;
    cv_units units;
    double omega;
    int number, ndim; /* of the grid; of the problem */
    bool wide, moves;
} cv_args;

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cv_launch_measure(const cv_args *args, cudaStream_t stream);
cudaError_t cv_launch_coarsen(const cv_args *args, cudaStream_t stream);
cudaError_t cv_launch_weights(const cv_args *args, cudaStream_t stream);
cudaError_t cv_launch_occupy(const cv_args *args, cudaStream_t stream);
cudaError_t cv_launch_gather(const cv_args *args, cudaStream_t stream);
cudaError_t cv_launch_advance(const cv_args *args, cudaStream_t stream);
cudaError_t cv_launch_refine(const cv_args *args, cudaStream_t stream);
cudaError_t cv_launch_emit(const cv_args *args, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
