/* Every operation of cpu/simd.h over LANES lanes. CMake compiles this once per instruction set, with OP_TABLE the name of
 * its table and the flags of that set's kernels. */
#include "ops.h"

#include <math.h>
#include <string.h>

#include "cpu/simd.h"

#ifndef SIMD_FUSED /* nothing is to be tested then */
static F32 lanes_fma(F32 a, F32 b, F32 c, float sign) {
    float x[N32], y[N32], z[N32];
    f32_store(x, a), f32_store(y, b), f32_store(z, c);
    for (int i = 0; i < N32; i++)
        x[i] = fmaf(x[i], y[i], sign * z[i]);
    return f32_load(x);
}
#define f32_fma(a, b, c) lanes_fma(a, b, c, 1)
#define f32_fms(a, b, c) lanes_fma(a, b, c, -1)
#define f32_bits(a) (a)
#define f32_of_bits(a) (a)
#endif

#define UNUSED (void)a, (void)b, (void)c

#define ROW16(name, vector, scalar)                                                                             \
    static void run_##name(const struct input *in, struct output *out, unsigned lanes16) {                      \
        uint16_t *to = (uint16_t *)(out->words + ROOM) + 1;                                                     \
        (void)lanes16;                                                                                          \
        for (size_t lane = 0; lane < LANES; lane += N16) {                                                      \
            const V16 a = v16_load(in->a16 + lane), b = v16_load(in->b16 + lane), c = v16_load(in->c16 + lane); \
            UNUSED;                                                                                             \
            v16_store(to + lane, vector);                                                                       \
        }                                                                                                       \
    }
#define ROW32(store, type, name, vector)                                                                  \
    static void run_##name(const struct input *in, struct output *out, unsigned lanes16) {                \
        type *to = (type *)(out->words + ROOM + 1);                                                       \
        (void)lanes16;                                                                                    \
        for (size_t lane = 0; lane < LANES; lane += N32) {                                                \
            const V32 a = v32_load(in->a + lane), b = v32_load(in->b + lane), c = v32_load(in->c + lane); \
            F32 f, g;                                                                                     \
            memcpy(&f, in->f + lane, sizeof f);                                                           \
            memcpy(&g, in->g + lane, sizeof g);                                                           \
            UNUSED, (void)f, (void)g;                                                                     \
            store(to + lane, vector);                                                                     \
        }                                                                                                 \
    }
#define ROW64(name, vector, scalar)                                                                       \
    static void run_##name(const struct input *in, struct output *out, unsigned lanes16) {                \
        double *to = (double *)(out->words + ROOM);                                                       \
        (void)lanes16;                                                                                    \
        for (size_t lane = 0; lane < LANES / 2; lane += N64) {                                            \
            const F64 x = f64_load(in->x + lane), y = f64_load(in->y + lane), z = f64_load(in->z + lane); \
            (void)x, (void)y, (void)z;                                                                    \
            f64_store(to + lane, vector);                                                                 \
        }                                                                                                 \
    }
#define ROW_I32(name, vector, scalar) ROW32(v32_store, int32_t, name, vector)
#define ROW_F32(name, vector, scalar) ROW32(f32_store, float, name, vector)
U16_ROWS(ROW16)
I32_ROWS(ROW_I32)
F32_ROWS(ROW_F32)
F64_ROWS(ROW64)

#define ACROSS(name) static void run_##name(const struct input *in, struct output *out, unsigned lanes16)
#define STEP(lanes)                   \
    size_t lane = ((void)lanes16, 0); \
    lane < LANES;                     \
    lane += (lanes)

ACROSS(v16_low_high) {
    uint32_t *to = out->words + ROOM + 1;
    for (STEP(N16)) {
        const V16 a = v16_load(in->a16 + lane);
        v32_store(to + lane, v16_low(a));
        v32_store(to + lane + N32, v16_high(a));
    }
}

ACROSS(v16_load_bytes) {
    uint16_t *to = (uint16_t *)(out->words + ROOM) + 1;
    for (STEP(N16))
        v16_store(to + lane, v16_load_bytes(in->bytes + lane));
}

ACROSS(v16_store_bytes) {
    uint8_t *to = (uint8_t *)(out->words + ROOM) + 1;
    for (STEP(N16))
        v16_store_bytes(to + lane, v16_load(in->a16 + lane));
}

ACROSS(v32_narrow) {
    uint16_t *to = (uint16_t *)(out->words + ROOM) + 1;
    for (STEP(N16))
        v16_store(to + lane, v32_narrow(v32_load(in->a + lane), v32_load(in->a + lane + N32)));
}

ACROSS(v16_any_gt) {
    for (STEP(N16))
        out->words[ROOM + lane] = v16_any_gt(v16_load(in->a16 + lane), v16_load(in->b16 + lane));
}

ACROSS(m32_any) {
    for (STEP(N32)) /* rarely true */
        out->words[ROOM + lane] = m32_any(v32_eq(v32_and(v32_load(in->a + lane), v32_set(15)), v32_set(3)));
}

ACROSS(m64_any) {
    for (size_t lane = ((void)lanes16, 0); lane < LANES / 2; lane += N64)
        out->words[ROOM + lane] = m64_any(f64_lt(f64_load(in->x + lane), f64_load(in->y + lane)));
}

ACROSS(f64_store_floats) {
    float *to = (float *)(out->words + ROOM + 1);
    for (size_t lane = ((void)lanes16, 0); lane < LANES / 2; lane += N64)
        f64_store_floats(to + lane, f64_load(in->x + lane));
}

ACROSS(f64_low_high) {
    double *to = (double *)(out->words + ROOM);
    for (size_t lane = ((void)lanes16, 0); lane < LANES / 2; lane += N32) {
        f64_store(to + lane, f64_low(v32_load(in->a + lane)));
        f64_store(to + lane + N64, f64_high(v32_load(in->a + lane)));
    }
}

ACROSS(f64_narrow) {
    const F64 most = f64_set(0x1p30);
    for (size_t lane = ((void)lanes16, 0); lane < LANES / 2; lane += N32)
        v32_store(out->words + ROOM + 1 + lane,
                  f64_narrow(f64_min(f64_load(in->x + lane), most), f64_min(f64_load(in->x + lane + N64), most)));
}

ACROSS(v32_compress) {
    int32_t packed[LANES + N32];
    size_t n = 0;
    for (STEP(N32)) {
        const V32 a = v32_load(in->a + lane);
        const M32 keep = v32_lt(a, v32_load(in->b + lane));
        v32_compress(packed + n, keep, a);
        n += m32_count(keep);
    }
    memcpy(out->words + ROOM, packed, n * sizeof *packed);
}

ACROSS(v32_stream) {
    for (STEP(N32))
        v32_stream(out->words + ROOM + lane, v32_load(in->a + lane));
    stream_fence();
}

ACROSS(f32_stream) {
    for (STEP(N32))
        f32_stream((float *)(out->words + ROOM) + lane, f32_signed(v32_load(in->a + lane)));
    stream_fence();
}

ACROSS(bytes_equal) {
    for (STEP(64)) {
        const uint64_t bits = bytes_equal(in->bytes + lane, in->bytes[lane]);
        memcpy(out->words + ROOM + lane / 32, &bits, sizeof bits);
    }
}

#define LIST(name, ...) {#name, run_##name},
const struct op_table OP_TABLE = {N16, {U16_ROWS(LIST) I32_ROWS(LIST) F32_ROWS(LIST) F64_ROWS(LIST) ACROSS_ROWS(LIST)}};
