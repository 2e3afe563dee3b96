/* The near search's steps beyond those that keep rows in registers.
 *
 * They are tried by segments, for a BLOCK of a strip's rows at a time and on one SIDE of it, towards higher rows or lower, unless
 * all rows that the segment has there are too far from all of the block's pixels for any of its steps. In smooth areas half of them
 * are. Rows and blocks are counted from the strip's border on that side. A segment's rows begin and end with eights, so the least of
 * an eight is found once, when the first segment comes to it. */
#ifndef DISTMAP_MINPLUS_CUDA_SEGMENTS_CUH
#define DISTMAP_MINPLUS_CUDA_SEGMENTS_CUH

#include "methods/minplus/minplus_cuda_tile.cuh"

enum {
    BLOCK = STRIP < 16 ? STRIP : 16,
    BLOCKS = STRIP / BLOCK,
    EIGHTS = (STRIP + SEGMENT) / 8, /* of a segment's rows, of the whole strip */
    OF_BLOCK = BLOCK / 8,           /* and as many more as a segment has */
};
static_assert(SEGMENT == 8 && OF_BLOCK <= 2 && BLOCKS <= 2, "a block and a segment have three eights at most");

template <int SIDE> DM_DEVICE int strip_row(int r) { return SIDE > 0 ? r : STRIP - 1 - r; }

/* Row r and `on` more. */
template <int SIDE> DM_DEVICE uint32_t row_on(const uint32_t *row0, int r, int on) {
    return row0[(strip_row<SIDE>(r) + SIDE * on) * PITCH];
}

/* The least of each eight of rows, on from MC_UNROLLED: all but the last, which is not in registers. f is as steps() has it. */
template <int SIDE> DM_DEVICE void first_eights(const uint32_t f[STRIP + 2 * MC_UNROLLED], uint32_t least[EIGHTS]) {
#pragma unroll
    for (int e = 0; e < EIGHTS - 1; e++) {
        uint32_t rows[8];
#pragma unroll
        for (int i = 0; i < 8; i++)
            rows[i] = f[MC_UNROLLED + strip_row<SIDE>(8 * e + i) + SIDE * MC_UNROLLED];
        least[e] = least_of(rows);
    }
}

/* The same of the last one of step k's segment. */
template <int SIDE> DM_DEVICE uint32_t last_eight(const uint32_t *row0, int k) {
    uint32_t rows[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        rows[i] = row_on<SIDE>(row0, STRIP + SEGMENT - 8 + i, k - 1);
    return least_of(rows);
}

/* The largest values of each block, blocks counted from row 0. */
DM_DEVICE void find_most(const uint32_t best[STRIP], uint32_t most[BLOCKS]) {
#pragma unroll
    for (int b = 0; b < BLOCKS; b++)
        most[b] = most_in<BLOCK>(best + b * BLOCK);
}

/* Steps k..k + SEGMENT - 1 of block b; k % 8 is 1. */
template <int SIDE>
DM_DEVICE void segment(const mc_stage &p, const uint32_t *row0, int b, int k, uint32_t best[STRIP]) {
    uint32_t f[BLOCK + SEGMENT - 1];
#pragma unroll
    for (int i = 0; i < BLOCK + SEGMENT - 1; i++)
        f[i] = row_on<SIDE>(row0, b * BLOCK + i + 1, k - 1);
#pragma unroll
    for (int c = 0; c < SEGMENT; c++) {
        const uint32_t cost = cost_of(p, k + c);
#pragma unroll
        for (int i = 0; i < BLOCK; i++) {
            uint32_t *to = best + strip_row<SIDE>(b * BLOCK + i);
            *to = mc_add_min(f[i + c], cost, *to);
        }
    }
}

/* The same of all blocks that can gain from it, and on to the next segment's eights. */
template <int SIDE>
DM_DEVICE void segments(const mc_stage &p, const uint32_t *row0, int k, const uint32_t most[BLOCKS],
                        uint32_t least[EIGHTS], uint32_t best[STRIP]) {
    const uint32_t cost = cost_of(p, k);
    least[EIGHTS - 1] = last_eight<SIDE>(row0, k);
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
        const uint32_t own = most[SIDE > 0 ? b : BLOCKS - 1 - b];
        const uint32_t *const of = least + b * OF_BLOCK;
        if (__any_sync(MC_WHOLE, mc_add_min(mc_min3(of[0], of[1], of[OF_BLOCK]), cost, own) != own))
            segment<SIDE>(p, row0, b, k, best);
    }
#pragma unroll
    for (int e = 0; e < EIGHTS - 1; e++)
        least[e] = least[e + 1];
}

#endif
