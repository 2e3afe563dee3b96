/* edm/cuda: what its host side and its kernels share.
 *
 * A *line* of step 1 or 2 is a column or a row of a plane; a thread has a line to itself, and its neighbours have the
 * neighbouring ones. So threads that go down columns (V) touch neighbouring elements at the same time, which memory
 * serves together (*coalesced*), and threads that go along rows (H) touch elements a row apart. An array between the
 * steps lies as the image does, or *turned*, [x][y], where rows and columns have changed parts.
 */
#ifndef DISTMAP_METHODS_EDM_CUDA_H
#define DISTMAP_METHODS_EDM_CUDA_H

#include "cuda/elements.h"
#include "methods/edm/edm_stack.h"

enum { EDM_THREADS = 64, EDM_TILE = 32 };

struct edm_work {
    dm_elements elements;
    int64_t planes;
    int32_t height, width;
    bool columns_first;   /* step 1 goes along columns and step 2 along rows, else the other way round */
    bool turned;          /* `offset` is */
    bool tiles;           /* VTV: results are turned by a kernel of its own each, through shared memory */
    bool padded;          /* rows of tiles in shared memory have an element more */
    struct edm_rule rule; /* v: squared pitch along step 1's lines, w: along step 2's */
    int32_t *before;      /* as the image lies: offset to the nearest site at or before the element on step 1's line */
    int32_t *after;       /* VTV: the same at or after it */
    int32_t *offset;      /* the nearer of the two */
    void *stack;          /* [k][plane][line]: k-th point from the bottom, of 8 or 16 bytes */
    bool narrow;          /* of 8 */
    int32_t *point;       /* VTV, turned: the proximate point of each element, below 0: none */
};

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t edm_step1(const struct edm_work *work, cudaStream_t stream);
cudaError_t edm_step2(const struct edm_work *work, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
