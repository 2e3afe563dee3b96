/* Between erosion/cuda's host side and its kernels. */
#ifndef DISTMAP_METHODS_EROSION_CUDA_H
#define DISTMAP_METHODS_EROSION_CUDA_H

#include "cuda/elements.h"
#include "methods/erosion/erosion_tiles.h"

/* A region of a pass along one axis may be so long. With its frame it is the largest there is, and two of them take 45,056
 * bytes of shared memory where values have 64 bits. */
enum { EROSION_THREADS = 128, EROSION_LENGTH = 160 };

/* One round of a pass. */
struct erosion_round {
    struct erosion_pass pass;
    int64_t number;
    const void *from; /* maps of squared distances, in the plan's width */
    void *to;
    const uint8_t *before; /* tiles that changed in the round before */
    uint8_t *changed;      /* in this one */
    unsigned *any;         /* three words: round r sets word r mod 3 if a tile changed, and clears the next one */
    bool wide;             /* 64 bits */
    bool split;            /* functions of both axes in two, along y and along x */
    bool skip;             /* tiles around which nothing changed in the round before */
};

#ifdef __cplusplus
extern "C" {
#endif
/* The map: 0 at the sites, else none. */
cudaError_t erosion_load(const dm_elements *elements, void *map, cudaStream_t stream);
cudaError_t erosion_erode(const struct erosion_round *round, int multiprocessors, cudaStream_t stream);
/* Every column of the map, in place, from 0 and none to squared distances along it. */
cudaError_t erosion_columns(const dm_elements *elements, void *map, cudaStream_t stream);
cudaError_t erosion_emit(const dm_elements *elements, const void *map, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
