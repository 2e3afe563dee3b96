/* skeleton/cuda: bricks of the measured axes, each a warp's, and where their elements are.
 *
 * A lane has a column of the last measured axis, and four rows of the one before in registers; a warp goes from step to step along
 * the slowest one. So a step is a piece of a line, four rows of an image, a plane of four rows in a volume. The last lane, and the
 * row behind the last one, have what is beside the brick. */
#ifndef DISTMAP_OPERATIONS_SKELETON_CUDA_BRICK_CUH
#define DISTMAP_OPERATIONS_SKELETON_CUDA_BRICK_CUH

#include "cuda/elements.cuh"
#include "operations/skeleton_cuda.h"

enum { LANES = 32, COLUMNS = LANES - 1 };

/* The rows of a step, and those that are read for it. */
template <int AXES> static __host__ __device__ constexpr int rows() { return AXES == 1 ? 1 : 4; }
template <int AXES> static __device__ constexpr int held() { return AXES == 1 ? 1 : rows<AXES>() + 1; }

/* What a step has of axis k. */
template <int AXES> static __host__ __device__ constexpr int side(int k) {
    return k == AXES - 1 ? COLUMNS : k == AXES - 2 ? rows<AXES>() : 1;
}

/* T is the type of indices. Pairs are counted by their first element, which with a border may be outside, at -1. */
template <int AXES, typename T> struct brick {
    T base;        /* the first element of the batch; */
    T first[AXES]; /* where the brick's first pairs are in it, slowest axis first */
    int steps;
};

/* Divides by n, and returns the rest. 32-bit division is several times faster where it does. */
DM_DEVICE int64_t divide_off(uint64_t *number, int64_t n) {
    const uint64_t by = (uint64_t)n, whole = *number;
    *number = (whole | by) <= UINT32_MAX ? (uint32_t)whole / (uint32_t)by : whole / by;
    return (int64_t)(whole - *number * by);
}

template <int AXES, typename T>
DM_DEVICE brick<AXES, T> find_brick(const sk_work &w, uint64_t number, char **mask, char **distance) {
    const dm_elements *p = &w.elements;
    brick<AXES, T> b;
#pragma unroll
    for (int k = AXES - 1; k >= 0; k--)
        b.first[k] = (T)(divide_off(&number, w.bricks[k]) * (side<AXES>(k) * (k == 0 ? w.steps : 1))) - w.rule.border;
    const int64_t left = (w.rule.length[0] - b.first[0] + side<AXES>(0) - 1) / side<AXES>(0);
    b.steps = left < w.steps ? (int)left : w.steps;
    int64_t at[DM_NDIM] = {};
    for (int n = DM_X; n >= 0; n--)
        if (!p->measured[n])
            at[n] = divide_off(&number, p->shape[n]);
    b.base = 0;
    for (int n = 0; n < DM_NDIM; n++)
        b.base += (T)(at[n] * p->linear[n]);
    *mask = p->arrays.mask.data ? dm_element_address(&p->arrays.mask, at) : nullptr;
    *distance = p->arrays.distance.data ? dm_element_address(&p->arrays.distance, at) : nullptr;
    return b;
}

/* The element of a row, step and lane. */
template <int AXES, typename T>
DM_DEVICE void find_place(const brick<AXES, T> &b, int step, int row, int lane, T at[AXES]) {
#pragma unroll
    for (int k = 0; k < AXES; k++)
        at[k] = b.first[k] + (k == AXES - 1 ? lane : k == AXES - 2 ? row : 0) + (k == 0 ? step * side<AXES>(k) : 0);
}

DM_DEVICE int64_t between(int64_t at, int64_t last) { return at < 0 ? 0 : at < last ? at : last; }
DM_DEVICE int32_t between(int32_t at, int32_t last) { return min(max(at, 0), last); }

/* A lane's part of a step; of a volume's, the part of all planes. */
template <int AXES, typename T> struct part {
    T element[held<AXES>()]; /* where in the first plane the rows' elements are */
    unsigned pairs;          /* which are the lane's to look at: bit k rows + row, of those along axis k */
};

/* Elements outside have their neighbours' indices, so that no pair across the image's faces seems apart. */
template <int AXES, typename T> DM_DEVICE part<AXES, T> find_part(const sk_work &w, const brick<AXES, T> &b, int step) {
    constexpr int ROWS = rows<AXES>();
    constexpr unsigned all = (1u << AXES * ROWS) - 1, each = all / ((1u << ROWS) - 1);
    const int lane = threadIdx.x % LANES;
    part<AXES, T> p;
    T at[AXES];
    find_place<AXES, T>(b, step, 0, lane, at);
    const T length = (T)w.rule.length[AXES - 1];
    p.pairs = lane < COLUMNS && at[AXES - 1] < length ? all : 0;
    const T first = b.base + between(at[AXES - 1], length - 1) * (T)w.linear[AXES - 1];
    if constexpr (AXES == 1) {
        p.element[0] = first;
    } else {
        const T along = (T)w.rule.length[AXES - 2], left = along - at[AXES - 2];
#pragma unroll
        for (int row = 0; row <= ROWS; row++)
            p.element[row] = first + between(at[AXES - 2] + row, along - 1) * (T)w.linear[AXES - 2];
        p.pairs &= left < ROWS ? ((1u << (int)left) - 1) * each : all;
    }
    return p;
}

template <int AXES, typename T> DM_DEVICE bool is_inside(const sk_work &w, const T at[AXES]) {
    bool is = true;
#pragma unroll
    for (int k = 0; k < AXES; k++)
        is = is && at[k] >= 0 && at[k] < (T)w.rule.length[k];
    return is;
}

/* Its number in the batch. */
template <int AXES, typename T> DM_DEVICE T linear(const sk_work &w, const T at[AXES]) {
    T element = 0;
#pragma unroll
    for (int k = 0; k < AXES; k++)
        element += at[k] * (T)w.linear[k];
    return element;
}

DM_DEVICE uint32_t divide(const sk_divider &by, uint32_t i) { return (uint32_t)((uint64_t)i * by.factor >> by.shift); }

/* Where a batch's element is. NEXT: elements along the last axis are one after another. */
template <int AXES, typename T, bool NEXT> DM_DEVICE void split(const sk_work &w, T element, T at[AXES]) {
#pragma unroll
    for (int k = 0; k < AXES; k++) {
        at[k] = NEXT && k == AXES - 1          ? element
                : sizeof(T) == sizeof(int64_t) ? element / (T)w.linear[k]
                                               : (T)divide(w.gap[k], (uint32_t)element);
        element += at[k] * (T)w.back[k];
    }
}

#endif
