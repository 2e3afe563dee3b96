/* chamfer/cuda: what its host side and its kernels share. See chamfer_cuda.c. */
#ifndef DISTMAP_CHAMFER_CUDA_H
#define DISTMAP_CHAMFER_CUDA_H

#include "cuda/elements.h"

enum {
    CC_BAND = 16,    /* rows of a band */
    CC_LANES = 8,    /* neighbouring columns of a thread, and lanes */
    CC_PAIRS = 8,    /* the same of 16-bit lanes, which lie in pairs */
    CC_AT_ONCE = 12, /* bands that a launch carries distances through; with knights half as many, with sites too */
};

/* 16-bit lanes end here, which says "this far or farther". All of a band's strip is nearer to each other than so many steps,
 * whatever the direction: 512 columns and 16 rows, and what is beside them. */
#define CC_PAIR_CAP 0x8000u
#define CC_PAIR_STEPS 600u

#define CC_NO_SITE 0x80000000u /* elements to a site that is not there; more than rows can have */

/* A stage, by value to kernels. Rows are numbered through all planes. A *lane* is an element's distance so far, u32, or with
 * sites a u64 key, distance << 32 | index in the plane, or where there are slabs in all; none exceeds `cap`, and
 * sums with it do not overflow. */
typedef struct cc_stage {
    int64_t planes, height, width;
    int64_t bands, words;   /* of a plane; of a row, 32 elements each */
    uint32_t *bits;         /* [row][word] bit i: element i is a site */
    uint32_t *left, *right; /* the same: elements from a word's first to the last site before it, and from its last to
                                 the first site after it */
    void *own[2],
        *carry[2]; /* [plane][band][kept][word * 32] lanes, downwards and upwards: of a band's last row in that
                                 direction, and with knights of the one before; from its own sites, and from all so far */
    int kept;      /* 1, with knights 2 */
    bool keys;
    uint64_t cap, straight, diagonal, knight; /* in lanes */
    bool roomy;                               /* CC_BAND steps of any kind fit above the cap */
    uint64_t steps[DM_NDIM + 1];              /* the same of a step along so many axes */
    void *lanes;                              /* [row][word * 32] what planes leave for slabs; NULL: they are the end */
    uint32_t step, reach;                     /* of one element; elements that it can take without passing cap */
    uint32_t most;                            /* distances beyond it are none */
    bool quick;                               /* float32 distances are all that is wanted */
    bool pairs;                               /* a band's distances fit 16 bits, less the least of them */
} cc_stage;

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cc_pack(const dm_elements *e, const cc_stage *p, cudaStream_t stream);
/* Every band by itself: `own`. */
cudaError_t cc_alone(const cc_stage *p, cudaStream_t stream);
cudaError_t cc_alone_in_pairs(const cc_stage *p, cudaStream_t stream);
/* `carry` of cc_at_once bands from number `first` on in each direction, from that of the one before. */
cudaError_t cc_carry(const cc_stage *p, int64_t first, cudaStream_t stream);
/* Every band from what is carried into it, and out, or into `lanes`. */
cudaError_t cc_finish(const dm_elements *e, const cc_stage *p, cudaStream_t stream);
cudaError_t cc_finish_in_pairs(const dm_elements *e, const cc_stage *p, cudaStream_t stream);
/* The slabs at `place` along axis 0 or 1 look at those at place - back, unless that is 0; `finish`: they go out. */
cudaError_t cc_slab(const dm_elements *e, const cc_stage *p, int axis, int64_t place, int back, bool finish,
                    cudaStream_t stream);
#ifdef __cplusplus
}
#endif

/* Bands that cc_carry takes at once. */
static inline int64_t cc_at_once(const cc_stage *p) { return CC_AT_ONCE / p->kept / (p->keys ? 2 : 1); }

/* A warp's strip has so many columns more on either side: what a walk can cross within a band. */
static inline int64_t cc_around(const cc_stage *p) { return CC_BAND * p->kept; }

#endif
