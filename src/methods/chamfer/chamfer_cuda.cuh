/* Device functions of chamfer/cuda's kernels: a row of a strip, in the registers of a warp. */
#ifndef DISTMAP_CHAMFER_CUDA_CUH
#define DISTMAP_CHAMFER_CUDA_CUH

#include "cuda/elements.cuh"
#include "methods/chamfer/chamfer_cuda.h"

#define CC_WHOLE 0xFFFFFFFFu /* all lanes of a warp */

/* A thread's columns of a row. T: uint32_t, or uint64_t for keys. Moved 16 bytes at a time: columns are multiples of CC_LANES. */
template <class T> struct __align__(16) cc_row { T lane[CC_LANES]; };

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

/* A strip is a warp's, LANES columns to a thread: `own` ones from `first` on, the others around. */
struct cc_strip {
    int64_t first, column; /* its first own one; this thread's first one. Multiples of 16, or of LANES */
    bool inside;           /* of memory, whose rows have whole words */
    bool own;
};

template <int LANES> DM_DEVICE cc_strip cc_strip_at(const cc_stage &p, int64_t strip, bool knights) {
    const int around = CC_BAND * (knights ? 2 : 1), own = 32 * LANES - 2 * around;
    const int64_t first = strip * own, column = first - around + (int64_t)threadIdx.x * LANES;
    cc_strip s = {first, column, column >= 0 && column < p.words * 32, false};
    s.own = s.inside && column >= first && column < first + own;
    return s;
}

/* The next digit of a number with digits below `base`. 32-bit division is several times faster where it does. */
DM_DEVICE int64_t cc_take(int64_t *number, int64_t base) {
    const bool narrow = (uint64_t)(*number | base) <= UINT32_MAX;
    const int64_t rest = narrow ? (uint32_t)*number / (uint32_t)base : *number / base, digit = *number - rest * base;
    *number = rest;
    return digit;
}

/* ---- A row's own distances ---- */

DM_DEVICE void cc_put(const cc_stage &p, uint32_t *lane, uint32_t elements, int64_t, int64_t) {
    *lane = elements > p.reach ? (uint32_t)p.cap : elements * p.step;
}
DM_DEVICE void cc_put(const cc_stage &p, uint64_t *lane, uint32_t elements, int64_t y, int64_t site) {
    *lane = elements > p.reach ? p.cap : (uint64_t)(elements * p.step) << 32 | (uint64_t)(y * p.width + site);
}

/* What LANES neighbouring columns are told: which of them are sites, and how many elements it is from the columns just
 * outside to the nearest site on that side. */
struct cc_sight {
    uint32_t bits, left, right;
};

/* From the word that they are in, at `place`, and what it is told. */
template <int LANES> DM_DEVICE cc_sight cc_sight_of(uint32_t word, uint32_t left, uint32_t right, uint32_t place) {
    const uint32_t before = word & ((1u << place) - 1), mine = word >> place, after = mine >> LANES;
    const cc_sight seen = {mine & ((1u << LANES) - 1),
                           before ? place + (uint32_t)__clz((int)before) - 32 : left + place - 1,
                           after ? (uint32_t)__ffs((int)after) - 1 : right + 31 - LANES - place};
    return seen;
}

/* R of row y. The left one of two equally near sites. */
template <class T> DM_DEVICE cc_row<T> cc_begin(const cc_stage &p, const cc_strip &s, int64_t plane, int64_t y) {
    if (!s.inside)
        return cc_empty<T>(p);
    const int64_t row_number = plane * p.height + y, at = row_number * p.words + s.column / 32;
    const cc_sight seen = cc_sight_of<CC_LANES>(p.bits[at], p.left[at], p.right[at], (uint32_t)(s.column % 32));
    uint32_t left = seen.left, right = seen.right;
    uint32_t to_right[CC_LANES];
#pragma unroll
    for (int k = CC_LANES - 1; k >= 0; k--)
        to_right[k] = right = seen.bits >> k & 1 ? 0 : right + 1;
    cc_row<T> row;
#pragma unroll
    for (int k = 0; k < CC_LANES; k++) {
        left = seen.bits >> k & 1 ? 0 : left + 1;
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
    const int lane = (int)threadIdx.x % 32;
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

template <class T, bool KNIGHTS> DM_DEVICE void cc_join(const cc_rows<T> &other, cc_rows<T> *rows) {
#pragma unroll
    for (int k = 0; k < CC_LANES; k++) {
        rows->one.lane[k] = cc_min(rows->one.lane[k], other.one.lane[k]);
        if (KNIGHTS)
            rows->two.lane[k] = cc_min(rows->two.lane[k], other.two.lane[k]);
    }
}

/* ---- What leaves a band ---- */

template <class T>
DM_DEVICE T *cc_lanes(const cc_stage &p, void *rows, const cc_strip &s, int64_t plane, int64_t band) {
    return (T *)rows + (plane * p.bands + band) * p.kept * p.words * 32 + s.column;
}

/* From memory; NULL: nothing comes in. */
template <class T, bool KNIGHTS> DM_DEVICE cc_rows<T> cc_read(const cc_stage &p, const T *from) {
    cc_rows<T> seen = {cc_empty<T>(p), cc_empty<T>(p)};
    if (from)
        seen.one = *(const cc_row<T> *)from;
    if (from && KNIGHTS)
        seen.two = *(const cc_row<T> *)(from + p.words * 32);
    return seen;
}

template <class T, bool KNIGHTS> DM_DEVICE void cc_write(const cc_stage &p, T *to, const cc_rows<T> &seen) {
    *(cc_row<T> *)to = seen.one;
    if (KNIGHTS)
        *(cc_row<T> *)(to + p.words * 32) = seen.two;
}

/* Of a band; before the first or after the last there is none. */
template <class T, bool KNIGHTS>
DM_DEVICE cc_rows<T> cc_load(const cc_stage &p, void *rows, const cc_strip &s, int64_t plane, int64_t band) {
    const bool some = s.inside && band >= 0 && band < p.bands;
    return cc_read<T, KNIGHTS>(p, some ? cc_lanes<T>(p, rows, s, plane, band) : NULL);
}

template <class T, bool KNIGHTS>
DM_DEVICE void cc_store(const cc_stage &p, void *rows, const cc_strip &s, int64_t plane, int64_t band,
                        const cc_rows<T> &seen) {
    if (s.own)
        cc_write<T, KNIGHTS>(p, cc_lanes<T>(p, rows, s, plane, band), seen);
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

/* ---- Launches ---- */

/* Calls LAUNCH(lane type, knights) as the stage says. */
#define CC_BY_LANE(p, LAUNCH)           \
    do {                                \
        if ((p)->keys && (p)->kept > 1) \
            LAUNCH(uint64_t, true);     \
        else if ((p)->keys)             \
            LAUNCH(uint64_t, false);    \
        else if ((p)->kept > 1)         \
            LAUNCH(uint32_t, true);     \
        else                            \
            LAUNCH(uint32_t, false);    \
    } while (0)

#endif
