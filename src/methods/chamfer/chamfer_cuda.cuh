/* Device functions of chamfer/cuda's kernels: a row of a strip, in the registers of a warp. */
#ifndef DISTMAP_CHAMFER_CUDA_CUH
#define DISTMAP_CHAMFER_CUDA_CUH

#include "cuda/elements.cuh"
#include "methods/chamfer/chamfer_cuda.h"

#define CC_WHOLE 0xFFFFFFFFu /* all lanes of a warp */

/* A thread's columns of a row. T: uint32_t, or uint64_t for keys. */
template <class T> struct cc_row { T lane[CC_LANES]; };

/* A row and the one before it, in the direction of a sweep. */
template <class T> struct cc_rows { cc_row<T> one, two; };

template <class T> DM_DEVICE T cc_min(T a, T b) { return a < b ? a : b; }

template <class T> DM_DEVICE cc_row<T> cc_empty(const cc_stage &p) {
    cc_row<T> row;
#pragma unroll
    for (int k = 0; k < CC_LANES; k++)
        row.lane[k] = (T)p.cap;
    return row;
}

/* A strip's columns: `own` of them from `first` on, the others around; and this thread's. Multiples of CC_LANES. */
struct cc_strip {
    int64_t column; /* this thread's first */
    bool inside;    /* of memory, whose rows have whole words */
    bool own;
};

DM_DEVICE int cc_own(int rows, bool knights) { return CC_COLUMNS - 2 * rows * (knights ? 2 : 1); }

DM_DEVICE cc_strip cc_strip_at(const cc_stage &p, int64_t strip, int rows, bool knights) {
    const int own = cc_own(rows, knights);
    const int64_t first = strip * own, column = first - (CC_COLUMNS - own) / 2 + (int64_t)threadIdx.x * CC_LANES;
    cc_strip s = {column, column >= 0 && column < p.words * 32, false};
    s.own = s.inside && column >= first && column < first + own;
    return s;
}

/* ---- A row's own distances ---- */

DM_DEVICE void cc_put(const cc_stage &p, uint32_t *lane, uint32_t elements, int64_t, int64_t) {
    *lane = elements > p.reach ? (uint32_t)p.cap : elements * p.step;
}
DM_DEVICE void cc_put(const cc_stage &p, uint64_t *lane, uint32_t elements, int64_t y, int64_t site) {
    *lane = elements > p.reach ? p.cap : (uint64_t)(elements * p.step) << 32 | (uint64_t)(y * p.width + site);
}

/* R of row y: eight bits of a word, what lies beside them in it, and what lies beyond it. The left of two equals. */
template <class T> DM_DEVICE cc_row<T> cc_begin(const cc_stage &p, const cc_strip &s, int64_t plane, int64_t y) {
    if (!s.inside)
        return cc_empty<T>(p);
    const int64_t row_number = plane * p.height + y, at = row_number * p.words + s.column / 32;
    const uint32_t place = (uint32_t)(s.column % 32), bits = p.bits[at], before = bits & ((1u << place) - 1);
    const uint32_t mine = bits >> place, after = mine >> CC_LANES;
    /* From the columns just outside this thread's. */
    uint32_t left = before ? place + (uint32_t)__clz((int)before) - 32 : p.left[at] + place - 1;
    uint32_t right = after ? (uint32_t)__ffs((int)after) - 1 : p.right[at] + 31 - CC_LANES - place;
    uint32_t to_right[CC_LANES];
#pragma unroll
    for (int k = CC_LANES - 1; k >= 0; k--)
        to_right[k] = right = mine >> k & 1 ? 0 : right + 1;
    cc_row<T> row;
#pragma unroll
    for (int k = 0; k < CC_LANES; k++) {
        left = mine >> k & 1 ? 0 : left + 1;
        const bool leftwards = left <= to_right[k];
        cc_put(p, &row.lane[k], leftwards ? left : to_right[k], p.lanes ? row_number : y,
               s.column + k + (leftwards ? -(int64_t)left : (int64_t)to_right[k]));
    }
    return row;
}

/* ---- Rows at rest in shared memory, each thread's lanes a warp apart, so that no bank serves two ---- */

template <class T> DM_DEVICE void cc_rest(T *room, int y, const cc_row<T> &row) {
#pragma unroll
    for (int k = 0; k < CC_LANES; k++)
        room[(y * CC_LANES + k) * 32] = row.lane[k];
}

template <class T> DM_DEVICE cc_row<T> cc_resume(const T *room, int y) {
    cc_row<T> row;
#pragma unroll
    for (int k = 0; k < CC_LANES; k++)
        row.lane[k] = room[(y * CC_LANES + k) * 32];
    return row;
}

/* ---- A row from those before it ---- */

/* Lane k + by of a row, |by| <= 2, given the neighbours' lanes beyond its ends. */
template <class T> DM_DEVICE T cc_beside(const cc_row<T> &row, const T before[2], const T after[2], int k) {
    return k < 0 ? before[k + 2] : k >= CC_LANES ? after[k - CC_LANES] : row.lane[k];
}

template <class T> DM_DEVICE void cc_neighbours(const cc_stage &p, const cc_row<T> &row, T before[2], T after[2]) {
    const int lane = (int)threadIdx.x;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const T left = __shfl_up_sync(CC_WHOLE, row.lane[CC_LANES - 2 + i], 1);
        const T right = __shfl_down_sync(CC_WHOLE, row.lane[i], 1);
        before[i] = lane > 0 ? left : (T)p.cap;
        after[i] = lane < 31 ? right : (T)p.cap;
    }
}

/* One step of a sweep: `row`, by itself so far, looks at those before it, and becomes the first of them. */
template <class T, bool KNIGHTS> DM_DEVICE void cc_look(const cc_stage &p, cc_row<T> row, cc_rows<T> *seen) {
    T before[2], after[2];
    cc_neighbours(p, seen->one, before, after);
    DM_UNROLL
    for (int k = 0; k < CC_LANES; k++) {
        const T side = cc_min(cc_beside(seen->one, before, after, k - 1), cc_beside(seen->one, before, after, k + 1));
        row.lane[k] = cc_min(row.lane[k], cc_min((T)(side + (T)p.diagonal), (T)(seen->one.lane[k] + (T)p.straight)));
    }
    if (KNIGHTS) {
        T farther_before[2], farther_after[2];
        cc_neighbours(p, seen->two, farther_before, farther_after);
        DM_UNROLL
        for (int k = 0; k < CC_LANES; k++) {
            const T near =
                cc_min(cc_beside(seen->one, before, after, k - 2), cc_beside(seen->one, before, after, k + 2));
            const T far = cc_min(cc_beside(seen->two, farther_before, farther_after, k - 1),
                                 cc_beside(seen->two, farther_before, farther_after, k + 1));
            row.lane[k] = cc_min(row.lane[k], (T)(cc_min(near, far) + (T)p.knight));
        }
        seen->two = seen->one;
    }
    seen->one = row;
}

/* ---- What leaves a band ---- */

template <class T>
DM_DEVICE T *cc_lanes(const cc_stage &p, void *rows, const cc_strip &s, int64_t plane, int64_t band) {
    return (T *)rows + (plane * p.bands + band) * p.kept * p.words * 32 + s.column;
}

/* band < 0 or beyond the last: nothing comes in. */
template <class T, bool KNIGHTS>
DM_DEVICE cc_rows<T> cc_load(const cc_stage &p, void *rows, const cc_strip &s, int64_t plane, int64_t band) {
    cc_rows<T> seen = {cc_empty<T>(p), cc_empty<T>(p)};
    if (!s.inside || band < 0 || band >= p.bands)
        return seen;
    const T *from = cc_lanes<T>(p, rows, s, plane, band);
#pragma unroll
    for (int k = 0; k < CC_LANES; k++) {
        seen.one.lane[k] = from[k];
        if (KNIGHTS)
            seen.two.lane[k] = from[p.words * 32 + k];
    }
    return seen;
}

template <class T, bool KNIGHTS>
DM_DEVICE void cc_store(const cc_stage &p, void *rows, const cc_strip &s, int64_t plane, int64_t band,
                        const cc_rows<T> &seen) {
    if (!s.own)
        return;
    T *to = cc_lanes<T>(p, rows, s, plane, band);
#pragma unroll
    for (int k = 0; k < CC_LANES; k++) {
        to[k] = seen.one.lane[k];
        if (KNIGHTS)
            to[p.words * 32 + k] = seen.two.lane[k];
    }
}

/* ---- Out ---- */

DM_DEVICE uint32_t cc_distance(uint32_t lane) { return lane; }
DM_DEVICE uint32_t cc_distance(uint64_t lane) { return (uint32_t)(lane >> 32); }
DM_DEVICE int64_t cc_site(uint32_t) { return 0; }
DM_DEVICE int64_t cc_site(uint64_t lane) { return (int64_t)(lane & UINT32_MAX); }

/* One element into all outputs; sites are counted from `start`. */
template <class T>
DM_DEVICE void cc_emit(const dm_elements &e, const cc_stage &p, const int64_t at[DM_NDIM], int64_t start, T lane,
                       unsigned *raised) {
    dm_value distance;
    const bool none = cc_distance(lane) > p.most;
    distance.u64 = none ? UINT64_MAX : cc_distance(lane);
    dm_element_emit(&e, at, distance, none ? DISTMAP_INDEX_NONE : start + cc_site(lane), raised);
}

#endif
