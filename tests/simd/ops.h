/* The lane-wise operations of cpu/simd.h: each row is a name, the vector expression and what it means for one lane.
 *
 * ops.c is compiled once per instruction set and stores the vector expressions; simd.c, compiled plainly, compares. a, b,
 * c are u16 or i32 lanes, f and g floats, x, y, z doubles; masks show as what a blend by them takes.
 */
#ifndef TESTS_SIMD_OPS_H
#define TESTS_SIMD_OPS_H

#include <stdint.h>

enum { LANES = 128, ROOM = 32 }; /* tested at once; guard words before and after */

#define U16_ROWS(ROW)                                                    \
    ROW(v16_load, a, a)                                                  \
    ROW(v16_set, v16_set(0x8001), 0x8001)                                \
    ROW(v16_add, v16_add(a, b), a + b)                                   \
    ROW(v16_sub, v16_sub(a, b), (uint16_t)(a - b))                       \
    ROW(v16_adds, v16_adds(a, b), a + b > 0xFFFF ? 0xFFFF : a + b)       \
    ROW(v16_mul, v16_mul(a, b), (uint32_t)a *b)                          \
    ROW(v16_min, v16_min(a, b), a < b ? a : b)                           \
    ROW(v16_max, v16_max(a, b), a > b ? a : b)                           \
    ROW(v16_and, v16_and(a, b), a &b)                                    \
    ROW(v16_le, v16_blend(v16_le(a, b), a, c), a <= b ? a : c)           \
    ROW(v16_le_equal, v16_blend(v16_le(a, a), b, c), b)                  \
    ROW(v16_repeat8, v16_repeat8(in->a16 + lane / 8), in->a16[lane / 8]) \
    ROW(v16_bits, v16_bits(in->bits, lane, a, b), in->bits[lane / 64] >> lane % 64 & 1 ? a : b)

#define I32_ROWS(ROW)                                                                              \
    ROW(v32_load, a, a)                                                                            \
    ROW(v32_set, v32_set(-7654321), -7654321)                                                      \
    ROW(v32_iota, v32_add(v32_iota(), v32_set((int32_t)lane)), (int32_t)lane)                      \
    ROW(v32_add, v32_add(a, b), (uint32_t)a + (uint32_t)b)                                         \
    ROW(v32_sub, v32_sub(a, b), (uint32_t)a - (uint32_t)b)                                         \
    ROW(v32_mul, v32_mul(a, b), (uint32_t)a *(uint32_t)b)                                          \
    ROW(v32_min, v32_min(a, b), a < b ? a : b)                                                     \
    ROW(v32_negative, v32_negative(a), -(a < 0))                                                   \
    ROW(v32_and, v32_and(a, b), a &b)                                                              \
    ROW(v32_xor, v32_xor(a, b), a ^ b)                                                             \
    ROW(v32_shl, v32_shl(a, in->shift), (uint32_t)a << in->shift)                                  \
    ROW(v32_shr, v32_shr(a, in->shift), (uint32_t)a >> in->shift)                                  \
    ROW(v32_lt, v32_blend(v32_lt(a, b), a, c), a < b ? a : c)                                      \
    ROW(v32_lt_equal, v32_blend(v32_lt(a, a), b, c), c)                                            \
    ROW(v32_eq, v32_blend(v32_eq(v32_and(a, v32_set(1)), v32_set(0)), b, c), (a & 1) == 0 ? b : c) \
    ROW(m32_and, v32_blend(m32_and(v32_lt(a, b), v32_lt(b, c)), a, c), a < b && b < c ? a : c)     \
    ROW(m32_or, v32_blend(m32_or(v32_lt(a, b), v32_lt(b, c)), a, c), a < b || b < c ? a : c)       \
    ROW(m32_not, v32_blend(m32_not(v32_lt(a, b)), a, c), a < b ? c : a)                            \
    ROW(v32_gather, v32_gather(in->c, v32_and(a, v32_set(LANES - 1))), in->c[a & (LANES - 1)])     \
    ROW(f32_round, f32_round(f), (int32_t)lrintf(f))

#define F32_ROWS(ROW)                                         \
    ROW(f32_set, f32_set(-0.1f), -0.1f)                       \
    ROW(f32_signed, f32_signed(a), (float)a)                  \
    ROW(f32_add, f32_add(f, g), f + g)                        \
    ROW(f32_sub, f32_sub(f, g), f - g)                        \
    ROW(f32_mul, f32_mul(f, g), f *g)                         \
    ROW(f32_abs, f32_abs(f), fabsf(f))                        \
    ROW(f32_sqrt, f32_sqrt(f32_abs(f)), sqrtf(fabsf(f)))      \
    ROW(f32_fma, f32_fma(f, g, f), fmaf(f, g, f))             \
    ROW(f32_fms, f32_fms(f, g, g), fmaf(f, g, -g))            \
    ROW(f32_bits, f32_of_bits(f32_bits(f)), f)                \
    ROW(f32_lt, f32_blend(f32_lt(f, g), f, g), f < g ? f : g) \
    ROW(f32_lt_nan, f32_blend(f32_lt(f32_sqrt(f), g), f, g), sqrtf(f) < g ? f : g)

/* x, y and z are doubles. */
#define F64_ROWS(ROW)                                                                              \
    ROW(f64_set, f64_set(-0.1), -0.1)                                                              \
    ROW(f64_sub, f64_sub(f64_min(x, f64_set(9)), f64_min(y, f64_set(9))), fmin(x, 9) - fmin(y, 9)) \
    ROW(f64_mul, f64_mul(x, y), x *y)                                                              \
    ROW(f64_fma, f64_fma(x, y, z), fma(x, y, z))                                                   \
    ROW(f64_min, f64_min(x, y), x < y ? x : y)                                                     \
    ROW(f64_sqrt, f64_sqrt(f64_mul(x, x)), sqrt(x *x))                                             \
    ROW(f64_lt, f64_blend(f64_lt(x, y), x, z), x < y ? x : z)                                      \
    ROW(f64_le, f64_blend(f64_le(x, y), x, z), x <= y ? x : z)                                     \
    ROW(f64_le_equal, f64_blend(f64_le(x, x), y, z), y)                                            \
    ROW(m64_or, f64_blend(m64_or(f64_lt(x, y), f64_lt(y, z)), x, z), x < y || y < z ? x : z)

/* Operations across lanes, as functions of ops.c and simd.c. */
#define ACROSS_ROWS(ROW)  \
    ROW(v16_low_high)     \
    ROW(v16_load_bytes)   \
    ROW(v16_store_bytes)  \
    ROW(v32_narrow)       \
    ROW(v16_any_gt)       \
    ROW(m32_any)          \
    ROW(m64_any)          \
    ROW(f64_store_floats) \
    ROW(f64_low_high)     \
    ROW(f64_narrow)       \
    ROW(v32_compress)     \
    ROW(v32_stream)       \
    ROW(f32_stream)       \
    ROW(bytes_equal)

/* Arrays of LANES elements, at addresses that are multiples of the element's size only. */
struct input {
    const uint16_t *a16, *b16, *c16;
    const int32_t *a, *b, *c;
    const float *f, *g;
    const double *x, *y, *z; /* LANES / 2 */
    const uint64_t *bits;
    const uint8_t *bytes; /* LANES rounded to 64 */
    int shift;
};

/* Lanes of any type go to words + ROOM, or one word beyond for stores that take any alignment. */
struct output {
    _Alignas(64) uint32_t words[LANES + 2 * ROOM];
};

typedef void op_function(const struct input *in, struct output *out, unsigned lanes16);

struct op {
    const char *name;
    op_function *run;
};

/* One instruction set's operations, in the order of the lists; `lanes16` is its N16. */
struct op_table {
    unsigned lanes16;
    struct op ops[80];
};

#endif
