/* skeleton/cuda: tiles of the measured axes, what a block has of one in shared memory, and where its elements are. */
#ifndef DISTMAP_OPERATIONS_SKELETON_CUDA_TILE_CUH
#define DISTMAP_OPERATIONS_SKELETON_CUDA_TILE_CUH

#include "cuda/elements.cuh"
#include "operations/skeleton_cuda.h"

enum { THREADS = 256, TILE = 2048, LIST = 1024 };

/* A tile's sides, slowest axis first; the box is one element larger on each side. */
template <int AXES> static __device__ constexpr int side(int k) {
    return AXES == 1 ? TILE : k == AXES - 1 ? (AXES == 2 ? 64 : 32) : AXES == 2 ? 32 : 8;
}
template <int AXES> static __device__ constexpr int box_step(int k) {
    int step = 1;
    for (int i = AXES - 1; i > k; i--)
        step *= side<AXES>(i) + 2;
    return step;
}
template <int AXES> static __device__ constexpr int box() { return (side<AXES>(0) + 2) * box_step<AXES>(0); }

/* Where a tile is: its first element, and along the measured axes by their own numbers. */
template <int AXES> struct corner {
    int64_t first[AXES], element;
    int count[AXES];          /* elements of the tile that are of the image; */
    int low[AXES], end[AXES]; /* the same of the box, */
    int from[AXES], to[AXES]; /* and those that are in pairs; counted from the tile's first one */
    char *mask, *distance;    /* of the first element */
};

template <int AXES> struct tile {
    float offset[AXES][box<AXES>()];
    uint8_t mark[box<AXES>()];
    uint16_t list[LIST]; /* of pairs: 4 e + k, e counted in the box */
    int passed;
    corner<AXES> place; /* each stage has a copy in registers */
};

DM_DEVICE uint32_t divide(const sk_divider &by, uint32_t i) { return (uint32_t)((uint64_t)i * by.factor >> by.shift); }

/* Where element `index` lies along the measured axes. In linear order axes are divided off from the last one on, and what lies
 * between them. T is the type of indices. */
template <int AXES, typename T> DM_DEVICE void place_along(const sk_work &w, T index, T place[AXES]) {
    uint32_t rest = (uint32_t)index;
#pragma unroll
    for (int k = AXES - 1; k >= 0; k--) {
        if (sizeof(T) == sizeof(int64_t)) {
            place[k] = index / (T)w.elements.linear[w.rule.axis[k]] % (T)w.rule.length[k];
            continue;
        }
        if (w.gap[k].n > 1)
            rest = divide(w.gap[k], rest);
        const uint32_t slower = divide(w.length[k], rest);
        place[k] = (T)(rest - slower * w.length[k].n);
        rest = slower;
    }
}

/* Divides by n, and returns the rest. 32-bit division is several times faster where it does. */
DM_DEVICE int64_t divide_off(uint64_t *number, int64_t n) {
    const uint64_t by = (uint64_t)n, whole = *number;
    *number = (whole | by) <= UINT32_MAX ? (uint32_t)whole / (uint32_t)by : whole / by;
    return (int64_t)(whole - *number * by);
}

/* By one thread: where tile `number` is. */
template <int AXES> DM_DEVICE void find_tile(const sk_work &w, uint64_t number, corner<AXES> *c) {
    const dm_elements *p = &w.elements;
    int64_t at[DM_NDIM];
    for (int k = AXES - 1; k >= 0; k--) {
        const int64_t length = w.rule.length[k], along = (length + side<AXES>(k) - 1) / side<AXES>(k);
        const int64_t first = divide_off(&number, along) * side<AXES>(k), left = length - first;
        at[w.rule.axis[k]] = c->first[k] = first;
        c->count[k] = left < side<AXES>(k) ? (int)left : side<AXES>(k);
        c->low[k] = first > 0 ? -1 : 0;
        c->end[k] = left > side<AXES>(k) ? c->count[k] + 1 : c->count[k];
        c->from[k] = w.rule.border ? -1 : c->low[k];
        c->to[k] = w.rule.border ? c->count[k] + 1 : c->end[k];
    }
    c->element = 0;
    for (int n = DM_X; n >= 0; n--) {
        if (!p->measured[n])
            at[n] = divide_off(&number, p->shape[n]);
        c->element += at[n] * p->linear[n];
    }
    c->mask = p->arrays.mask.data ? dm_element_address(&p->arrays.mask, at) : nullptr;
    c->distance = p->arrays.distance.data ? dm_element_address(&p->arrays.distance, at) : nullptr;
}

template <int AXES> DM_DEVICE bool is_inside(const corner<AXES> &c, const int local[AXES]) {
    bool is = true;
#pragma unroll
    for (int k = 0; k < AXES; k++)
        is = is && local[k] >= c.low[k] && local[k] < c.end[k];
    return is;
}

template <int AXES, typename T> DM_DEVICE T element_at(const sk_work &w, const corner<AXES> &c, const int local[AXES]) {
    T element = (T)c.element;
#pragma unroll
    for (int k = 0; k < AXES; k++)
        element += (T)local[k] * (T)w.elements.linear[w.rule.axis[k]];
    return element;
}

/* Element b of the box. */
template <int AXES> DM_DEVICE void split_box(int b, int local[AXES]) {
#pragma unroll
    for (int k = AXES - 1; k >= 0; k--) {
        local[k] = b % (side<AXES>(k) + 2) - 1;
        b /= side<AXES>(k) + 2;
    }
}

/* A tile's threads take whole rows of the slowest axis together, a thread every STRIDE-th. */
template <int AXES> static __device__ constexpr int stride() { return THREADS / (TILE / side<AXES>(0)); }

/* Counted in the tile, where sides are powers of two and axis `without` is left out. */
template <int AXES> DM_DEVICE void split_tile(int i, int without, int local[AXES]) {
#pragma unroll
    for (int k = AXES - 1; k >= 0; k--)
        if (k != without) {
            local[k] = i % side<AXES>(k);
            i /= side<AXES>(k);
        }
}

template <int AXES> DM_DEVICE int in_box(const int local[AXES]) {
    int b = 0;
#pragma unroll
    for (int k = 0; k < AXES; k++)
        b += (local[k] + 1) * box_step<AXES>(k);
    return b;
}

template <int AXES> DM_DEVICE bool is_counted(const corner<AXES> &c, const int local[AXES]) {
    bool is = true;
#pragma unroll
    for (int k = 0; k < AXES; k++)
        is = is && local[k] < c.count[k];
    return is;
}

#endif
