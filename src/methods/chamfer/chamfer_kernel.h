/* All kernels of chamfer/cpu for one instruction set. A chamfer_ISA.c defines CH_TABLE, the name of its table, and includes
 * this; CMake gives that file its compiler flags. */
#include <math.h>
#include <string.h>

#include "cpu/independent.h"
#include "cpu/simd.h"
#include "methods/chamfer/chamfer.h"

/* ---- u16 ---- */

#define LANE uint16_t
#define NAME(operation) operation##_u16
#include "methods/chamfer/kernel_lane.h"

static inline uint16_t at_u16(uint16_t lane, size_t index) { return (void)index, lane; }

/* row[8 g + k] = min(row[8 g + k], before[g] + (k + 1) step, after[g] + (8 - k) step) */
static void outside_u16(const uint16_t *before, const uint16_t *after, size_t groups, uint16_t step, uint16_t *row) {
    uint16_t rising[CH_UNIT], falling[CH_UNIT];
    for (int k = 0; k < CH_UNIT; k++) {
        rising[k] = (uint16_t)((k % CH_GROUP + 1) * step);
        falling[k] = (uint16_t)((CH_GROUP - k % CH_GROUP) * step);
    }
    const V16 rise = v16_load(rising), fall = v16_load(falling);
    for (size_t x = 0; x < CH_GROUP * groups; x += N16) {
        const V16 left = v16_add(v16_repeat8(before + x / CH_GROUP), rise);
        const V16 right = v16_add(v16_repeat8(after + x / CH_GROUP), fall);
        v16_store(row + x, v16_min(v16_load(row + x), v16_min(left, right)));
    }
}
#include "methods/chamfer/kernel_start.h"
#undef LANE
#undef NAME

/* ---- u32 ---- */

#define LANE uint32_t
#define NAME(operation) operation##_u32
#include "methods/chamfer/kernel_lane.h"

static inline uint32_t at_u32(uint32_t lane, size_t index) { return (void)index, lane; }

static void outside_u32(const uint32_t *before, const uint32_t *after, size_t groups, uint32_t step, uint32_t *row) {
    for (size_t g = 0; g < groups; g++)
        for (uint32_t k = 0; k < CH_GROUP; k++) {
            const uint32_t either = least_u32(before[g] + (k + 1) * step, after[g] + (CH_GROUP - k) * step);
            row[CH_GROUP * g + k] = least_u32(row[CH_GROUP * g + k], either);
        }
}
#include "methods/chamfer/kernel_start.h"
#undef LANE
#undef NAME

/* ---- Keys ---- */

#define LANE uint64_t
#define NAME(operation) operation##_key
#include "methods/chamfer/kernel_lane.h"

static inline uint64_t at_key(uint64_t lane, size_t index) { return lane + index; }

/* Of equally near sites the left one: the lower key. */
static void outside_key(const uint64_t *before, const uint64_t *after, size_t groups, uint64_t step, uint64_t *row) {
    for (size_t g = 0; g < groups; g++)
        for (uint64_t k = 0; k < CH_GROUP; k++) {
            const uint64_t either = least_key(before[g] + (k + 1) * step, after[g] + (CH_GROUP - k) * step);
            row[CH_GROUP * g + k] = least_key(row[CH_GROUP * g + k], either);
        }
}
#include "methods/chamfer/kernel_start.h"
#undef LANE
#undef NAME

/* ---- Out ---- */

static void put(void *to, const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += sizeof(V32))
        v32_stream((char *)to + i, v32_load((const char *)from + i));
}

static void settle(void) { stream_fence(); }

static inline F32 as_float(V32 lanes, V32 most) {
    return f32_blend(v32_lt(most, lanes), f32_set(INFINITY), f32_signed(lanes));
}

static bool emit_u16(const void *from, size_t n, uint32_t most, bool stream, float *out) {
    const uint16_t *row = from;
    const V32 limit = v32_set((int32_t)most);
    size_t x = 0;
    bool none = false;
    for (; x < n && (uintptr_t)(out + x) % (sizeof(float) * N32); x++) {
        none |= row[x] > most;
        out[x] = row[x] > most ? (float)INFINITY : (float)row[x];
    }
    V16 largest = v16_set(0);
    for (; x + N16 <= n; x += N16) {
        const V16 lanes = v16_load(row + x);
        const F32 low = as_float(v16_low(lanes), limit), high = as_float(v16_high(lanes), limit);
        largest = v16_max(largest, lanes);
        if (stream) {
            f32_stream(out + x, low);
            f32_stream(out + x + N32, high);
        } else {
            f32_store(out + x, low);
            f32_store(out + x + N32, high);
        }
    }
    none |= v16_any_gt(largest, v16_set((uint16_t)most));
    for (; x < n; x++) {
        none |= row[x] > most;
        out[x] = row[x] > most ? (float)INFINITY : (float)row[x];
    }
    return none;
}

/* Lanes above INT32_MAX are there only if `most` is. */
static bool emit_u32(const void *from, size_t n, uint32_t most, bool stream, float *out) {
    const uint32_t *row = from;
    const V32 limit = v32_set((int32_t)most);
    M32 far = v32_lt(limit, limit);
    size_t x = 0;
    bool none = false;
    for (; x < n && (most > INT32_MAX || (uintptr_t)(out + x) % (sizeof(float) * N32)); x++) {
        none |= row[x] > most;
        out[x] = row[x] > most ? (float)INFINITY : (float)row[x];
    }
    for (; x + N32 <= n; x += N32) {
        const V32 lanes = v32_load(row + x);
        const F32 distances = as_float(lanes, limit);
        far = m32_or(far, v32_lt(limit, lanes));
        if (stream)
            f32_stream(out + x, distances);
        else
            f32_store(out + x, distances);
    }
    none |= m32_any(far);
    for (; x < n; x++) {
        none |= row[x] > most;
        out[x] = row[x] > most ? (float)INFINITY : (float)row[x];
    }
    return none;
}

/* Keys as float32 and int64: a few at a time, which go past the cache from a buffer. */
static bool emit_key(const void *from, size_t n, uint32_t most, bool stream, float *distance, int64_t *index) {
    enum { PIECE = 128 };
    const uint64_t *row = from;
    _Alignas(64) float distances[PIECE];
    _Alignas(64) int64_t indices[PIECE];
    uint64_t largest = 0;
    for (size_t x = 0; x < n; x += PIECE) {
        const size_t count = n - x < PIECE ? n - x : PIECE;
        for (size_t i = 0; i < count; i++) {
            const uint64_t key = row[x + i], length = key >> 32;
            largest = length > largest ? length : largest;
            distances[i] = length > most ? (float)INFINITY : (float)(uint32_t)length;
            indices[i] = length > most ? DISTMAP_INDEX_NONE : (int64_t)(key & UINT32_MAX);
        }
        if (stream && count == PIECE && (uintptr_t)(distance + x) % sizeof(V32) == 0)
            put(distance + x, distances, sizeof distances);
        else
            memcpy(distance + x, distances, count * sizeof *distances);
        if (stream && count == PIECE && (uintptr_t)(index + x) % sizeof(V32) == 0)
            put(index + x, indices, sizeof indices);
        else
            memcpy(index + x, indices, count * sizeof *indices);
    }
    return largest > most;
}

const ch_rows CH_TABLE[CH_LANES] = {
    [CH_U16] = {start_u16, straight_u16, diagonal_u16, knights_u16, put, settle, emit_u16, NULL},
    [CH_U32] = {start_u32, straight_u32, diagonal_u32, knights_u32, put, settle, emit_u32, NULL},
    [CH_KEY] = {start_key, straight_key, diagonal_key, knights_key, put, settle, NULL, emit_key},
};
