/* Shared by cvt/cuda's kernels: the loop over all things, weights, sums of 128 bits. */
#ifndef DISTMAP_OPERATIONS_CVT_CUDA_CUH
#define DISTMAP_OPERATIONS_CVT_CUDA_CUH

#include "cuda/launch.h"
#include "operations/cvt_cuda.h"

enum { CV_THREADS = 256, CV_MOST_BLOCKS = 1 << 14 };

static inline unsigned cv_blocks(int64_t count) { return count ? dm_blocks(count, CV_THREADS, CV_MOST_BLOCKS) : 1; }

/* For every i below `count`, a thread each, in turns. */
#define CV_EACH(i, count) \
    for (int64_t i = (int64_t)blockIdx.x * CV_THREADS + threadIdx.x; i < (count); i += (int64_t)gridDim.x * CV_THREADS)

DM_DEVICE void cv_add(uint64_t *to, uint64_t value) { atomicAdd((unsigned long long *)to, (unsigned long long)value); }

DM_DEVICE uint64_t cv_warp_sum(uint64_t value) {
#pragma unroll
    for (int bits = 16; bits; bits >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, bits);
    return value;
}

/* By all threads of a warp together. */
DM_DEVICE void cv_add_wide(cv_limbs *to, cv_wide value) {
#pragma unroll
    for (int bits = 16; bits; bits >>= 1)
        value += (cv_wide)__shfl_xor_sync(0xffffffffu, (uint64_t)(value >> 64), bits) << 64 |
                 __shfl_xor_sync(0xffffffffu, (uint64_t)value, bits);
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < CV_LIMBS; k++)
            cv_add(&to->part[k], (uint32_t)(value >> 32 * k));
}

DM_DEVICE cv_wide cv_wide_of(const cv_limbs *limbs) {
    cv_wide sum = 0;
    for (int k = 0; k < CV_LIMBS; k++)
        sum += (cv_wide)limbs->part[k] << 32 * k;
    return sum;
}

DM_DEVICE void cv_split(const cv_grid *g, int64_t element, int64_t at[CV_AXES]) {
    const uint64_t i = (uint64_t)element, ny = (uint64_t)g->shape[1], nx = (uint64_t)g->shape[2];
    const uint64_t row = i <= UINT32_MAX && nx <= UINT32_MAX ? (uint32_t)i / (uint32_t)nx : i / nx;
    const uint64_t z = row <= UINT32_MAX && ny <= UINT32_MAX ? (uint32_t)row / (uint32_t)ny : row / ny;
    at[0] = (int64_t)z;
    at[1] = (int64_t)(row - z * ny);
    at[2] = (int64_t)(i - row * nx);
}

DM_DEVICE char *cv_address(const dm_array *array, const int64_t at[CV_AXES]) {
    return array->data + at[0] * array->stride[1] + at[1] * array->stride[2] + at[2] * array->stride[DM_X];
}

/* In the image, or in a coarser grid. */
DM_DEVICE uint64_t cv_weight(const cv_grid *g, const dm_array *input, const int64_t at[CV_AXES]) {
    if (g->weight)
        return g->weight[at[0] * g->linear[0] + at[1] * g->linear[1] + at[2]];
    const char *p = cv_address(input, at);
    switch (input->dtype) {
    case DISTMAP_BOOL: return *(const uint8_t *)p != 0;
    case DISTMAP_UINT8: return *(const uint8_t *)p;
    case DISTMAP_UINT16: return *(const uint16_t *)p;
    default: return *(const uint32_t *)p;
    }
}

DM_DEVICE int64_t cv_nearest(const cv_args &a, int64_t element) {
    return a.wide ? ((const int64_t *)a.index)[element] : ((const int32_t *)a.index)[element];
}

#endif
