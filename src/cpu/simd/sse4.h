/* SSE4.2 with POPCNT: 8 lanes of u16, 4 of i32 and f32, 2 of f64; a mask is a vector of all-ones and all-zero lanes. The operations
 * are told in simd.h. */
#include <math.h>
#include <nmmintrin.h>

#include "cpu/simd/chosen4.h"

enum { N16 = 8, N32 = 4, N64 = 2 };
typedef __m128i V16;
typedef __m128i V32;
typedef __m128 F32;
typedef __m128i M16;
typedef __m128i M32;
typedef __m128d F64;
typedef __m128d M64;

static inline V16 v16_load(const uint16_t *p) { return _mm_loadu_si128((const __m128i *)p); }
static inline void v16_store(uint16_t *p, V16 a) { _mm_storeu_si128((__m128i *)p, a); }
static inline V16 v16_set(uint16_t a) { return _mm_set1_epi16((short)a); }
static inline V16 v16_load_bytes(const uint8_t *p) {
    return _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
static inline void v16_store_bytes(uint8_t *p, V16 a) {
    const V16 low = _mm_and_si128(a, _mm_set1_epi16(0xFF));
    _mm_storel_epi64((__m128i *)(void *)p, _mm_packus_epi16(low, low));
}
static inline V16 v16_add(V16 a, V16 b) { return _mm_add_epi16(a, b); }
static inline V16 v16_sub(V16 a, V16 b) { return _mm_sub_epi16(a, b); }
static inline V16 v16_adds(V16 a, V16 b) { return _mm_adds_epu16(a, b); }
static inline V16 v16_mul(V16 a, V16 b) { return _mm_mullo_epi16(a, b); }
static inline V16 v16_min(V16 a, V16 b) { return _mm_min_epu16(a, b); }
static inline V16 v16_max(V16 a, V16 b) { return _mm_max_epu16(a, b); }
static inline V16 v16_and(V16 a, V16 b) { return _mm_and_si128(a, b); }
/* There is no unsigned comparison. */
static inline M16 v16_le(V16 a, V16 b) { return _mm_cmpeq_epi16(_mm_min_epu16(a, b), a); }
static inline V16 v16_blend(M16 m, V16 a, V16 b) { return _mm_blendv_epi8(b, a, m); }
static inline bool v16_any_gt(V16 a, V16 b) {
    const V16 excess = _mm_subs_epu16(a, b);
    return !_mm_testz_si128(excess, excess);
}
static inline V16 v16_bits(const uint64_t *words, size_t lane, V16 a, V16 b) {
    const V16 select = _mm_setr_epi16(1, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7);
    const V16 bits = _mm_set1_epi16(((const uint8_t *)words)[lane / 8]);
    return v16_blend(_mm_cmpeq_epi16(_mm_and_si128(bits, select), select), a, b);
}
static inline V16 v16_repeat8(const uint16_t *p) { return v16_set(*p); }
static inline V32 v16_low(V16 a) { return _mm_cvtepu16_epi32(a); }
static inline V32 v16_high(V16 a) { return _mm_unpackhi_epi16(a, _mm_setzero_si128()); }

static inline V32 v32_load(const void *p) { return _mm_loadu_si128(p); }
static inline void v32_store(void *p, V32 a) { _mm_storeu_si128(p, a); }
static inline V32 v32_set(int32_t a) { return _mm_set1_epi32(a); }
static inline V32 v32_iota(void) { return _mm_setr_epi32(0, 1, 2, 3); }
static inline V32 v32_add(V32 a, V32 b) { return _mm_add_epi32(a, b); }
static inline V32 v32_sub(V32 a, V32 b) { return _mm_sub_epi32(a, b); }
static inline V32 v32_mul(V32 a, V32 b) { return _mm_mullo_epi32(a, b); }
static inline V32 v32_madd(V32 a, V32 b) { return _mm_madd_epi16(a, b); }
static inline V32 v32_min(V32 a, V32 b) { return _mm_min_epi32(a, b); }
static inline V32 v32_negative(V32 a) { return _mm_srai_epi32(a, 31); }
static inline V32 v32_and(V32 a, V32 b) { return _mm_and_si128(a, b); }
static inline V32 v32_xor(V32 a, V32 b) { return _mm_xor_si128(a, b); }
static inline V32 v32_shl(V32 a, int n) { return _mm_sll_epi32(a, _mm_cvtsi32_si128(n)); }
static inline V32 v32_shr(V32 a, int n) { return _mm_srl_epi32(a, _mm_cvtsi32_si128(n)); }
static inline M32 v32_lt(V32 a, V32 b) { return _mm_cmplt_epi32(a, b); }
static inline M32 v32_eq(V32 a, V32 b) { return _mm_cmpeq_epi32(a, b); }
static inline V32 v32_blend(M32 m, V32 a, V32 b) { return _mm_blendv_epi8(b, a, m); }
static inline V32 v32_gather(const void *base, V32 index) {
    const int32_t *p = base;
    return _mm_setr_epi32(p[_mm_extract_epi32(index, 0)], p[_mm_extract_epi32(index, 1)],
                          p[_mm_extract_epi32(index, 2)], p[_mm_extract_epi32(index, 3)]);
}
/* The packing instruction reads i32: cap as u32 before it. */
static inline V16 v32_narrow(V32 low, V32 high) {
    const V32 most = _mm_set1_epi32(0xFFFF);
    return _mm_packus_epi32(_mm_min_epu32(low, most), _mm_min_epu32(high, most));
}
static inline M32 m32_and(M32 a, M32 b) { return _mm_and_si128(a, b); }
static inline M32 m32_or(M32 a, M32 b) { return _mm_or_si128(a, b); }
static inline M32 m32_not(M32 a) { return _mm_xor_si128(a, _mm_set1_epi32(-1)); }
static inline unsigned m32_bits(M32 m) { return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(m)); }
static inline size_t m32_count(M32 m) { return (size_t)__builtin_popcount(m32_bits(m)); }
static inline bool m32_any(M32 m) { return !_mm_testz_si128(m, m); }
static inline void v32_compress(int32_t *p, M32 m, V32 a) {
    v32_store(p, _mm_shuffle_epi8(a, v32_load(chosen_lanes[m32_bits(m)])));
}

static inline F32 f32_set(float a) { return _mm_set1_ps(a); }
static inline F32 f32_signed(V32 a) { return _mm_cvtepi32_ps(a); }
static inline V32 f32_round(F32 a) { return _mm_cvtps_epi32(a); }
static inline F32 f32_add(F32 a, F32 b) { return _mm_add_ps(a, b); }
static inline F32 f32_sub(F32 a, F32 b) { return _mm_sub_ps(a, b); }
static inline F32 f32_mul(F32 a, F32 b) { return _mm_mul_ps(a, b); }
static inline F32 f32_abs(F32 a) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), a); }
static inline F32 f32_sqrt(F32 a) { return _mm_sqrt_ps(a); }
static inline M32 f32_lt(F32 a, F32 b) { return _mm_castps_si128(_mm_cmplt_ps(a, b)); }
static inline F32 f32_blend(M32 m, F32 a, F32 b) { return _mm_blendv_ps(b, a, _mm_castsi128_ps(m)); }
static inline F32 f32_load(const float *p) { return _mm_loadu_ps(p); }
static inline void f32_store(float *p, F32 a) { _mm_storeu_ps(p, a); }
static inline void f32_stream(float *p, F32 a) { _mm_stream_ps(p, a); }
static inline void v32_stream(void *p, V32 a) { _mm_stream_si128(p, a); }
static inline void stream_fence(void) { _mm_sfence(); }

static inline F64 f64_set(double a) { return _mm_set1_pd(a); }
static inline F64 f64_load(const double *p) { return _mm_loadu_pd(p); }
static inline void f64_store(double *p, F64 a) { _mm_storeu_pd(p, a); }
static inline void f64_store_floats(float *p, F64 a) {
    _mm_storel_epi64((__m128i *)(void *)p, _mm_castps_si128(_mm_cvtpd_ps(a)));
}
static inline F64 f64_low(V32 a) { return _mm_cvtepi32_pd(a); }
static inline F64 f64_high(V32 a) { return _mm_cvtepi32_pd(_mm_unpackhi_epi64(a, a)); }
static inline V32 f64_narrow(F64 low, F64 high) {
    return _mm_unpacklo_epi64(_mm_cvtpd_epi32(low), _mm_cvtpd_epi32(high));
}
static inline F64 f64_sub(F64 a, F64 b) { return _mm_sub_pd(a, b); }
static inline F64 f64_mul(F64 a, F64 b) { return _mm_mul_pd(a, b); }
/* There is no fused instruction: the C library's function, lane by lane. */
static inline F64 f64_fma(F64 a, F64 b, F64 c) {
    double x[N64], y[N64], z[N64];
    f64_store(x, a), f64_store(y, b), f64_store(z, c);
    for (int i = 0; i < N64; i++)
        x[i] = fma(x[i], y[i], z[i]);
    return f64_load(x);
}
static inline F64 f64_min(F64 a, F64 b) { return _mm_min_pd(a, b); }
static inline F64 f64_sqrt(F64 a) { return _mm_sqrt_pd(a); }
static inline M64 f64_lt(F64 a, F64 b) { return _mm_cmplt_pd(a, b); }
static inline M64 f64_le(F64 a, F64 b) { return _mm_cmple_pd(a, b); }
static inline F64 f64_blend(M64 m, F64 a, F64 b) { return _mm_blendv_pd(b, a, m); }
static inline M64 m64_or(M64 a, M64 b) { return _mm_or_pd(a, b); }
static inline bool m64_any(M64 m) { return _mm_movemask_pd(m) != 0; }

/* One bit per byte of p[0..63] that equals `value`. */
static inline uint64_t bytes_equal(const uint8_t *p, uint8_t value) {
    const __m128i v = _mm_set1_epi8((char)value);
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v32_load(p + 16 * i), v)) << 16 * i;
    return bits;
}
