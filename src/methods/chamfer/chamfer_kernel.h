/* All kernels of chamfer/cpu for one instruction set. A chamfer_ISA.c defines CH_TABLE, the name of its table, and includes
 * this; CMake gives that file its compiler flags. */
#include <math.h>
#include <string.h>

#include "cpu/simd.h"
#include "methods/chamfer/chamfer.h"

/* ---- u16 ---- */

#define LANE uint16_t
#define WIDER uint32_t
#define NAME(operation) operation##_u16
#include "methods/chamfer/kernel_lane.h"

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
#undef WIDER
#undef NAME

/* ---- u32 ---- */

#define LANE uint32_t
#define WIDER uint64_t
#define NAME(operation) operation##_u32
#include "methods/chamfer/kernel_lane.h"

static void outside_u32(const uint32_t *before, const uint32_t *after, size_t groups, uint32_t step, uint32_t *row) {
    for (size_t g = 0; g < groups; g++)
        for (uint32_t k = 0; k < CH_GROUP; k++) {
            const uint32_t either = least_u32(before[g] + (k + 1) * step, after[g] + (CH_GROUP - k) * step);
            row[CH_GROUP * g + k] = least_u32(row[CH_GROUP * g + k], either);
        }
}
#include "methods/chamfer/kernel_start.h"
#undef LANE
#undef WIDER
#undef NAME

/* ---- Keys ---- */

#define LANE uint64_t
#define NAME(operation) operation##_key
#include "methods/chamfer/kernel_lane.h"
#undef LANE
#undef NAME

/* The nearest site of the row, the left one of two: the lower key. */
static void start_key(const ch_start *s, void *to) {
    uint64_t *row = to, carry = s->left;
    const size_t n = CH_GROUP * s->groups;
    pad_key(row, n, s->cap);
    for (size_t x = 0; x < n; x++) {
        carry = s->site[x] ? s->index + x : s->along ? least_key(carry + s->step, s->cap) : s->cap;
        row[x] = carry;
    }
    carry = s->right;
    for (size_t x = n; s->along && x-- > 0;)
        row[x] = carry = least_key(least_key(carry + s->step, s->cap), row[x]);
}

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

static bool emit_u32(const void *from, size_t n, uint32_t most, bool stream, float *out) {
    const uint32_t *row = from;
    (void)stream;
    bool none = false;
    for (size_t x = 0; x < n; x++) {
        none |= row[x] > most;
        out[x] = row[x] > most ? (float)INFINITY : (float)row[x];
    }
    return none;
}

const ch_rows CH_TABLE[CH_LANES] = {
    [CH_U16] = {start_u16, straight_u16, diagonal_u16, knights_u16, put, settle, emit_u16},
    [CH_U32] = {start_u32, straight_u32, diagonal_u32, knights_u32, put, settle, emit_u32},
    [CH_KEY] = {start_key, straight_key, diagonal_key, knights_key, put, settle, NULL},
};
