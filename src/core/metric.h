/* Metrics other than the Euclidean: lengths of shortest paths on the grid, by the costs of their steps.
 *
 *     step[n]   along n axes at once;   city-block {0, 1, 2, 3, 4}, chessboard {0, 1, 1, 1, 1}, chamfer {0, a, b, c}
 *     knight    two along one axis and one along another, where two axes are measured; 0: there is none
 *
 * With the components of an offset sorted, d0 >= d1 >= d2 >= d3 >= 0, the shortest path takes d3 steps along all four axes, d2 -
 * d3 along three, ...; with knight's steps, as many of them as do not go back:
 *
 *     length = sum over n of step[n] (d[n - 1] - d[n])
 *     knight   step[1] (d0 - 2 d1) + knight d1 where d0 >= 2 d1,   else knight (d0 - d1) + step[2] (2 d1 - d0)
 *
 * Each is linear on a cone of offsets, and the rules of distmap_problem.chamfer say that it is convex across the cones'
 * borders: then it is a norm, no path is shorter than the norm of its offset, and these steps reach it.
 * (For steps along n axes convex means that the increments step[n] - step[n - 1] never increase; none is negative.)
 */
#ifndef DISTMAP_CORE_METRIC_H
#define DISTMAP_CORE_METRIC_H

#include "distmap.h"

#ifdef __CUDACC__
#define DM_ANYWHERE static __host__ __device__ inline
#define DM_ANYWHERE_SELDOM static __host__ __device__ __noinline__
#else
#define DM_ANYWHERE static inline
#define DM_ANYWHERE_SELDOM static __attribute__((noinline, unused))
#endif

/* distmap_method_info.metrics */
enum { DM_STEP_METRICS = 1 << DISTMAP_METRIC_CITYBLOCK | 1 << DISTMAP_METRIC_CHESSBOARD | 1 << DISTMAP_METRIC_CHAMFER };
enum { DM_EVERY_METRIC = 1 << DISTMAP_METRIC_EUCLIDEAN | DM_STEP_METRICS };

typedef struct dm_chamfer {
    uint32_t step[DISTMAP_MAX_NDIM + 1]; /* step[0] = 0; all zero for the Euclidean metric */
    uint32_t knight;
} dm_chamfer;

DM_ANYWHERE bool dm_is_euclidean(const dm_chamfer *chamfer) { return chamfer->step[1] == 0; }

/* The length of the shortest walk by `offset`, components >= 0. Sorted by a network of five exchanges. */
DM_ANYWHERE uint64_t dm_chamfer_length(const dm_chamfer *chamfer, const uint64_t offset[DISTMAP_MAX_NDIM]) {
    const int low[] = {0, 2, 0, 1, 1}, high[] = {1, 3, 2, 3, 2};
    uint64_t d[] = {offset[0], offset[1], offset[2], offset[3]};
    for (int i = 0; i < 5; i++) {
        const uint64_t a = d[low[i]], b = d[high[i]];
        d[low[i]] = a > b ? a : b;
        d[high[i]] = a > b ? b : a;
    }
    if (chamfer->knight && d[0] >= 2 * d[1])
        return chamfer->step[1] * (d[0] - 2 * d[1]) + chamfer->knight * d[1];
    if (chamfer->knight)
        return chamfer->knight * (d[0] - d[1]) + chamfer->step[2] * (2 * d[1] - d[0]);
    uint64_t sum = chamfer->step[4] * d[3];
    for (int i = 0; i < 3; i++)
        sum += chamfer->step[i + 1] * (d[i] - d[i + 1]);
    return sum;
}

#endif
