/* A problem and its arrays as kernels see them: one argument, by value. The device functions that read elements and write
 * results by it are in elements.cuh. */
#ifndef DISTMAP_CUDA_ELEMENTS_H
#define DISTMAP_CUDA_ELEMENTS_H

#include "cuda/runtime.h"

/* Raised beside DISTMAP_FLAG_*: a sample or a result that execute answers with DISTMAP_ERROR_VALUE. */
#define DM_RAISED_VALUE 0x80000000u

typedef struct dm_elements {
    dm_arrays arrays; /* in device memory */
    int64_t shape[DM_NDIM], linear[DM_NDIM], elements;
    dm_chamfer chamfer;   /* as in the plan */
    dm_unit unit;         /* as in the plan */
    uint64_t w2[DM_NDIM]; /* as in the plan */
    double w2f[DM_NDIM];
    uint64_t limit2; /* beyond this: none. Without a limit the largest finite value */
    double limit2f;
    dm_site_test sites;
    uint64_t sample_none;   /* integer samples: the type's largest value offers nothing */
    uint64_t distance_none; /* integer distances: the type's largest value */
    dm_number number;
    distmap_input input;
    bool measured[DM_NDIM];
    bool border;
    bool by_kind;      /* LABELS, or a signed map */
    distmap_sign sign; /* as in the problem */
    double surface;    /* as in the plan */
    unsigned *flags;   /* device */
} dm_elements;

#ifdef __cplusplus
extern "C"
#endif
    dm_elements
    dm_elements_make(const distmap_plan *plan, const dm_arrays *arrays);

#endif
