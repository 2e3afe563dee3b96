/* Device functions of esf/cuda's solvers for the state at rest. */
#ifndef DISTMAP_ESF_CUDA_REST_CUH
#define DISTMAP_ESF_CUDA_REST_CUH

#include "methods/esf/esf_cuda.cuh"
#include "methods/esf/esf_cuda_rest.h"

#define EC_SOFTNESS 0.2f /* R of esf_rest.c */

DM_DEVICE bool ec_stopped(const ec_stop &stop) { return stop.largest && *stop.largest <= stop.tolerance; }

#define EC_BELOW_ONE 0x1.fffffep-1f /* the largest value below 1 */

/* Within [0, 1), where the solution lies beside the shape, which v = 1 stands for. Sweeps are held too: far from the shape their
 * roundings come below 0. */
DM_DEVICE float ec_held(float v) { return fminf(fmaxf(v, 0.0f), EC_BELOW_ONE); }

/* The largest of all threads' magnitudes, to *largest: of such floats the bits have the same order. All threads of a
 * warp. */
DM_DEVICE void ec_largest(float own, unsigned *largest) {
    unsigned most = __float_as_uint(own);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const unsigned other = __shfl_xor_sync(EC_WHOLE, most, step);
        most = other > most ? other : most;
    }
    if (threadIdx.x % 32 == 0 && most > *(volatile unsigned *)largest)
        atomicMax(largest, most);
}

/* ---- From level to level: cells are twice as long, and values go linearly between their centres ---- */

/* What a cell gathers along an axis of n elements: from four of them, 1/4, 3/4, 3/4, 1/4, those beyond the border
 * replaced by their mirror images, and none where the last cell has one element only. */
struct ec_parts {
    int64_t first;
    float weight[4]; /* 0: not there */
};
DM_DEVICE ec_parts ec_parts_of(int64_t cell, int64_t n, bool halved) {
    const int64_t at = 2 * cell;
    if (!halved)
        return ec_parts{cell, {1, 0, 0, 0}};
    const bool second = at + 1 < n, after = at + 2 < n;
    return ec_parts{at - 1,
                    {cell > 0 ? 0.25f : 0, cell > 0 ? 0.75f : 1, second ? after ? 0.75f : 1 : 0, after ? 0.25f : 0}};
}

/* The cells that an element takes from. */
struct ec_pair {
    int64_t at[2];
    float weight[2];
};
DM_DEVICE ec_pair ec_pair_of(int64_t at, int64_t n, bool halved) {
    if (!halved)
        return ec_pair{{at, at}, {1, 0}};
    const int64_t cells = (n + 1) / 2, own = at / 2;
    const int64_t beside = at % 2 ? own + 1 : own - 1;
    return ec_pair{{own, beside < 0 || beside >= cells ? own : beside}, {0.75f, 0.25f}};
}

/* Scales the equation of cells so that the weight of an edge stays 1: 2^(2 - number of halved axes). */
static inline float ec_edge_scale(const ec_level *l) {
    const int halved = l->halve_z + l->halve_y + l->halve_x;
    return halved == 0 ? 4.0f : halved == 1 ? 2.0f : halved == 2 ? 1.0f : 0.5f;
}

#endif
