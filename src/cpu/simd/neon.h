/* NEON of AArch64, little-endian: 8 lanes of u16, 4 of i32 and f32, 2 of f64; a mask is a vector of all-ones and all-zero lanes.
 * The architecture has no streaming stores of its own for vectors, so these are plain ones. The operations are told in
 * simd.h. */
#include <arm_neon.h>

#include "cpu/simd/chosen4.h"

enum { N16 = 8, N32 = 4, N64 = 2 };
typedef uint16x8_t V16;
typedef int32x4_t V32;
typedef float32x4_t F32;
typedef uint16x8_t M16;
typedef uint32x4_t M32;
typedef float64x2_t F64;
typedef uint64x2_t M64;

static inline V16 v16_load(const uint16_t *p) { return vld1q_u16(p); }
static inline void v16_store(uint16_t *p, V16 a) { vst1q_u16(p, a); }
static inline V16 v16_set(uint16_t a) { return vdupq_n_u16(a); }
static inline V16 v16_load_bytes(const uint8_t *p) { return vmovl_u8(vld1_u8(p)); }
static inline void v16_store_bytes(uint8_t *p, V16 a) { vst1_u8(p, vmovn_u16(a)); }
static inline V16 v16_add(V16 a, V16 b) { return vaddq_u16(a, b); }
static inline V16 v16_sub(V16 a, V16 b) { return vsubq_u16(a, b); }
static inline V16 v16_adds(V16 a, V16 b) { return vqaddq_u16(a, b); }
static inline V16 v16_mul(V16 a, V16 b) { return vmulq_u16(a, b); }
static inline V16 v16_min(V16 a, V16 b) { return vminq_u16(a, b); }
static inline V16 v16_max(V16 a, V16 b) { return vmaxq_u16(a, b); }
static inline V16 v16_and(V16 a, V16 b) { return vandq_u16(a, b); }
static inline M16 v16_le(V16 a, V16 b) { return vcleq_u16(a, b); }
static inline V16 v16_blend(M16 m, V16 a, V16 b) { return vbslq_u16(m, a, b); }
static inline bool v16_any_gt(V16 a, V16 b) { return vmaxvq_u16(vcgtq_u16(a, b)) != 0; }
static inline V16 v16_bits(const uint64_t *words, size_t lane, V16 a, V16 b) {
    const V16 select = {1, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7};
    return vbslq_u16(vtstq_u16(vdupq_n_u16(((const uint8_t *)words)[lane / 8]), select), a, b);
}
static inline V16 v16_repeat8(const uint16_t *p) { return v16_set(*p); }
static inline V32 v16_low(V16 a) { return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(a))); }
static inline V32 v16_high(V16 a) { return vreinterpretq_s32_u32(vmovl_high_u16(a)); }

/* By bytes, because these serve pointers to any 4-byte type. */
static inline V32 v32_load(const void *p) { return vreinterpretq_s32_u8(vld1q_u8(p)); }
static inline void v32_store(void *p, V32 a) { vst1q_u8(p, vreinterpretq_u8_s32(a)); }
static inline V32 v32_set(int32_t a) { return vdupq_n_s32(a); }
static inline V32 v32_iota(void) { return (V32){0, 1, 2, 3}; }
static inline V32 v32_add(V32 a, V32 b) { return vaddq_s32(a, b); }
static inline V32 v32_sub(V32 a, V32 b) { return vsubq_s32(a, b); }
static inline V32 v32_mul(V32 a, V32 b) { return vmulq_s32(a, b); }
static inline V32 v32_madd(V32 a, V32 b) {
    const int16x8_t x = vreinterpretq_s16_s32(a), y = vreinterpretq_s16_s32(b);
    return vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
}
static inline V32 v32_min(V32 a, V32 b) { return vminq_s32(a, b); }
static inline V32 v32_negative(V32 a) { return vshrq_n_s32(a, 31); }
static inline V32 v32_and(V32 a, V32 b) { return vandq_s32(a, b); }
static inline V32 v32_xor(V32 a, V32 b) { return veorq_s32(a, b); }
static inline V32 v32_shl(V32 a, int n) { return vshlq_s32(a, vdupq_n_s32(n)); }
static inline V32 v32_shr(V32 a, int n) {
    return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a), vdupq_n_s32(-n)));
}
static inline M32 v32_lt(V32 a, V32 b) { return vcltq_s32(a, b); }
static inline M32 v32_eq(V32 a, V32 b) { return vceqq_s32(a, b); }
static inline V32 v32_blend(M32 m, V32 a, V32 b) { return vbslq_s32(m, a, b); }
static inline V32 v32_gather(const void *base, V32 index) {
    const int32_t *p = base;
    return (V32){p[index[0]], p[index[1]], p[index[2]], p[index[3]]};
}
static inline V16 v32_narrow(V32 low, V32 high) {
    return vqmovn_high_u32(vqmovn_u32(vreinterpretq_u32_s32(low)), vreinterpretq_u32_s32(high));
}
static inline M32 m32_and(M32 a, M32 b) { return vandq_u32(a, b); }
static inline M32 m32_or(M32 a, M32 b) { return vorrq_u32(a, b); }
static inline M32 m32_not(M32 a) { return vmvnq_u32(a); }
static inline size_t m32_count(M32 m) { return vaddvq_u32(vshrq_n_u32(m, 31)); }
static inline bool m32_any(M32 m) { return vmaxvq_u32(m) != 0; }
static inline void v32_compress(int32_t *p, M32 m, V32 a) {
    const uint32x4_t select = {1, 2, 4, 8};
    const uint8_t *lanes = chosen_lanes[vaddvq_u32(vandq_u32(m, select))];
    vst1q_u8((uint8_t *)p, vqtbl1q_u8(vreinterpretq_u8_s32(a), vld1q_u8(lanes)));
}

static inline F32 f32_set(float a) { return vdupq_n_f32(a); }
static inline F32 f32_signed(V32 a) { return vcvtq_f32_s32(a); }
static inline V32 f32_round(F32 a) { return vcvtnq_s32_f32(a); }
static inline F32 f32_add(F32 a, F32 b) { return vaddq_f32(a, b); }
static inline F32 f32_sub(F32 a, F32 b) { return vsubq_f32(a, b); }
static inline F32 f32_mul(F32 a, F32 b) { return vmulq_f32(a, b); }
#define SIMD_FUSED
static inline F32 f32_fma(F32 a, F32 b, F32 c) { return vfmaq_f32(c, a, b); }
static inline F32 f32_fms(F32 a, F32 b, F32 c) { return vfmaq_f32(vnegq_f32(c), a, b); }
static inline V32 f32_bits(F32 a) { return vreinterpretq_s32_f32(a); }
static inline F32 f32_of_bits(V32 a) { return vreinterpretq_f32_s32(a); }
static inline F32 f32_abs(F32 a) { return vabsq_f32(a); }
static inline F32 f32_sqrt(F32 a) { return vsqrtq_f32(a); }
static inline M32 f32_lt(F32 a, F32 b) { return vcltq_f32(a, b); }
static inline F32 f32_blend(M32 m, F32 a, F32 b) { return vbslq_f32(m, a, b); }
static inline F32 f32_load(const float *p) { return vld1q_f32(p); }
static inline void f32_store(float *p, F32 a) { vst1q_f32(p, a); }
static inline void f32_stream(float *p, F32 a) { vst1q_f32(p, a); }
static inline void v32_stream(void *p, V32 a) { v32_store(p, a); }
static inline void stream_fence(void) {}

static inline F64 f64_set(double a) { return vdupq_n_f64(a); }
static inline F64 f64_load(const double *p) { return vld1q_f64(p); }
static inline void f64_store(double *p, F64 a) { vst1q_f64(p, a); }
static inline void f64_store_floats(float *p, F64 a) { vst1_f32(p, vcvt_f32_f64(a)); }
static inline F64 f64_low(V32 a) { return vcvtq_f64_s64(vmovl_s32(vget_low_s32(a))); }
static inline F64 f64_high(V32 a) { return vcvtq_f64_s64(vmovl_high_s32(a)); }
static inline V32 f64_narrow(F64 low, F64 high) {
    return vcombine_s32(vmovn_s64(vcvtnq_s64_f64(low)), vmovn_s64(vcvtnq_s64_f64(high)));
}
static inline F64 f64_sub(F64 a, F64 b) { return vsubq_f64(a, b); }
static inline F64 f64_mul(F64 a, F64 b) { return vmulq_f64(a, b); }
static inline F64 f64_fma(F64 a, F64 b, F64 c) { return vfmaq_f64(c, a, b); }
static inline F64 f64_min(F64 a, F64 b) { return vminq_f64(a, b); }
static inline F64 f64_sqrt(F64 a) { return vsqrtq_f64(a); }
static inline M64 f64_lt(F64 a, F64 b) { return vcltq_f64(a, b); }
static inline M64 f64_le(F64 a, F64 b) { return vcleq_f64(a, b); }
static inline F64 f64_blend(M64 m, F64 a, F64 b) { return vbslq_f64(m, a, b); }
static inline M64 m64_or(M64 a, M64 b) { return vorrq_u64(a, b); }
static inline bool m64_any(M64 m) { return vmaxvq_u32(vreinterpretq_u32_u64(m)) != 0; }

/* One bit per byte of p[0..63] that equals `value`: a weight per byte of eight, summed pairwise thrice. */
static inline uint64_t bytes_equal(const uint8_t *p, uint8_t value) {
    const uint8x16_t v = vdupq_n_u8(value), weight = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    uint8x16_t equal[4];
    for (int i = 0; i < 4; i++)
        equal[i] = vandq_u8(vceqq_u8(vld1q_u8(p + 16 * i), v), weight);
    const uint8x16_t nibbles = vpaddq_u8(vpaddq_u8(equal[0], equal[1]), vpaddq_u8(equal[2], equal[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(nibbles, nibbles)), 0);
}
