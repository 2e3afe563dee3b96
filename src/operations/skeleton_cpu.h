/* Shared by skeleton/cpu and its filters for each instruction set. */
#ifndef DISTMAP_OPERATIONS_SKELETON_CPU_H
#define DISTMAP_OPERATIONS_SKELETON_CPU_H

#include "operations/skeleton.h"

enum { SK_SCREEN = 16384 }; /* axes are shorter for kernel_screen.h */

/* The sites of `n` elements from their linear indices to coordinates along the measured axes; a negative index is each of
 * its own coordinates. */
typedef struct sk_split {
    const void *index; /* int32, or int64 with `wide` */
    bool wide;
    int64_t n;
    int64_t shape[DM_NDIM];
    void *to[DM_NDIM]; /* int16 or int32; NULL: not measured */
} sk_split;

/* A row of pairs of neighbours, e and q: q follows e along the axis whose `step` is 1. */
typedef struct sk_edges {
    const void *e[SK_AXES], *q[SK_AXES]; /* coordinates of their sites */
    int32_t at[SK_AXES];                 /* of the first e */
    int32_t slope[SK_AXES];              /* 1 along the row's axis, else 0 */
    int32_t step[SK_AXES];
    int32_t n;
    int axes;
    distmap_pruning pruning;
    float w2[SK_AXES], gamma2, h2, more;
    uint16_t bound; /* of kernel_screen.h */
    /* Where e or q may be on the skeleton because of the other, a bit is set; and before that a byte, of a row of whole 64s. */
    uint64_t *passed;
    uint8_t *pairs;
} sk_edges;

typedef struct sk_kernels {
    struct sk_kernels_of {
        void (*split[2])(const sk_split *split); /* int32 indices, int64 ones */
        void (*edges)(const sk_edges *edges);
    } narrow, wide;                        /* coordinates in int16, in int32 */
    void (*screen)(const sk_edges *edges); /* in place of narrow.edges, where kernel_screen.h says */
} sk_kernels;

extern const sk_kernels dm_skeleton_plain, dm_skeleton_sse4, dm_skeleton_avx2, dm_skeleton_avx512, dm_skeleton_neon;

#endif
