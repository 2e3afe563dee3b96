/* AVX-512 (F, BW, DQ, VL): 32 lanes of u16, 16 of i32 and f32, 8 of f64. The operations are told in simd.h. */
#include <immintrin.h>
#include <string.h>

enum { N16 = 32, N32 = 16, N64 = 8 };
typedef __m512i V16;
typedef __m512i V32;
typedef __m512 F32;
typedef __mmask32 M16;
typedef __mmask16 M32;
typedef __m512d F64;
typedef __mmask8 M64;

static inline V16 v16_load(const uint16_t *p) { return _mm512_loadu_si512(p); }
static inline void v16_store(uint16_t *p, V16 a) { _mm512_storeu_si512(p, a); }
static inline V16 v16_set(uint16_t a) { return _mm512_set1_epi16((short)a); }
static inline V16 v16_load_bytes(const uint8_t *p) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
static inline void v16_store_bytes(uint8_t *p, V16 a) {
    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtepi16_epi8(a));
}
static inline V16 v16_add(V16 a, V16 b) { return _mm512_add_epi16(a, b); }
static inline V16 v16_sub(V16 a, V16 b) { return _mm512_sub_epi16(a, b); }
static inline V16 v16_adds(V16 a, V16 b) { return _mm512_adds_epu16(a, b); }
static inline V16 v16_mul(V16 a, V16 b) { return _mm512_mullo_epi16(a, b); }
static inline V16 v16_min(V16 a, V16 b) { return _mm512_min_epu16(a, b); }
static inline V16 v16_max(V16 a, V16 b) { return _mm512_max_epu16(a, b); }
static inline V16 v16_and(V16 a, V16 b) { return _mm512_and_si512(a, b); }
static inline M16 v16_le(V16 a, V16 b) { return _mm512_cmple_epu16_mask(a, b); }
static inline V16 v16_blend(M16 m, V16 a, V16 b) { return _mm512_mask_mov_epi16(b, m, a); }
static inline bool v16_any_gt(V16 a, V16 b) { return _mm512_cmpgt_epu16_mask(a, b) != 0; }
static inline V16 v16_bits(const uint64_t *words, size_t lane, V16 a, V16 b) {
    uint32_t bits;
    memcpy(&bits, (const char *)words + lane / 8, sizeof bits);
    return _mm512_mask_mov_epi16(b, bits, a);
}
static inline V16 v16_repeat8(const uint16_t *p) {
    const V16 from = _mm512_set_epi64(0x0003000300030003, 0x0003000300030003, 0x0002000200020002, 0x0002000200020002,
                                      0x0001000100010001, 0x0001000100010001, 0, 0);
    return _mm512_permutexvar_epi16(from, _mm512_castsi128_si512(_mm_loadl_epi64((const __m128i *)p)));
}
static inline V32 v16_low(V16 a) { return _mm512_cvtepu16_epi32(_mm512_castsi512_si256(a)); }
static inline V32 v16_high(V16 a) { return _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(a, 1)); }

static inline V32 v32_load(const void *p) { return _mm512_loadu_si512(p); }
static inline void v32_store(void *p, V32 a) { _mm512_storeu_si512(p, a); }
static inline V32 v32_set(int32_t a) { return _mm512_set1_epi32(a); }
static inline V32 v32_iota(void) { return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
static inline V32 v32_add(V32 a, V32 b) { return _mm512_add_epi32(a, b); }
static inline V32 v32_sub(V32 a, V32 b) { return _mm512_sub_epi32(a, b); }
static inline V32 v32_mul(V32 a, V32 b) { return _mm512_mullo_epi32(a, b); }
static inline V32 v32_madd(V32 a, V32 b) { return _mm512_madd_epi16(a, b); }
static inline V32 v32_min(V32 a, V32 b) { return _mm512_min_epi32(a, b); }
static inline V32 v32_negative(V32 a) { return _mm512_srai_epi32(a, 31); }
static inline V32 v32_and(V32 a, V32 b) { return _mm512_and_si512(a, b); }
static inline V32 v32_xor(V32 a, V32 b) { return _mm512_xor_si512(a, b); }
static inline V32 v32_shl(V32 a, int n) { return _mm512_sll_epi32(a, _mm_cvtsi32_si128(n)); }
static inline V32 v32_shr(V32 a, int n) { return _mm512_srl_epi32(a, _mm_cvtsi32_si128(n)); }
static inline M32 v32_lt(V32 a, V32 b) { return _mm512_cmplt_epi32_mask(a, b); }
static inline M32 v32_eq(V32 a, V32 b) { return _mm512_cmpeq_epi32_mask(a, b); }
static inline V32 v32_blend(M32 m, V32 a, V32 b) { return _mm512_mask_mov_epi32(b, m, a); }
static inline V32 v32_gather(const void *base, V32 index) { return _mm512_i32gather_epi32(index, base, 4); }
static inline V16 v32_narrow(V32 low, V32 high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtusepi32_epi16(low)), _mm512_cvtusepi32_epi16(high), 1);
}
static inline M32 m32_and(M32 a, M32 b) { return a & b; }
static inline M32 m32_or(M32 a, M32 b) { return a | b; }
static inline M32 m32_not(M32 a) { return (M32)~a; }
static inline size_t m32_count(M32 m) { return (size_t)__builtin_popcount(m); }
static inline bool m32_any(M32 m) { return m != 0; }
/* Not the storing form of the instruction, which is microcoded on some processors. */
static inline void v32_compress(int32_t *p, M32 m, V32 a) { v32_store(p, _mm512_maskz_compress_epi32(m, a)); }

static inline F32 f32_set(float a) { return _mm512_set1_ps(a); }
static inline F32 f32_signed(V32 a) { return _mm512_cvtepi32_ps(a); }
static inline V32 f32_round(F32 a) { return _mm512_cvtps_epi32(a); }
static inline F32 f32_add(F32 a, F32 b) { return _mm512_add_ps(a, b); }
static inline F32 f32_sub(F32 a, F32 b) { return _mm512_sub_ps(a, b); }
static inline F32 f32_mul(F32 a, F32 b) { return _mm512_mul_ps(a, b); }
#define SIMD_FUSED
static inline F32 f32_fma(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a, b, c); }
static inline F32 f32_fms(F32 a, F32 b, F32 c) { return _mm512_fmsub_ps(a, b, c); }
static inline V32 f32_bits(F32 a) { return _mm512_castps_si512(a); }
static inline F32 f32_of_bits(V32 a) { return _mm512_castsi512_ps(a); }
static inline F32 f32_abs(F32 a) { return _mm512_abs_ps(a); }
static inline F32 f32_sqrt(F32 a) { return _mm512_sqrt_ps(a); }
static inline M32 f32_lt(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline F32 f32_blend(M32 m, F32 a, F32 b) { return _mm512_mask_mov_ps(b, m, a); }
static inline F32 f32_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void f32_store(float *p, F32 a) { _mm512_storeu_ps(p, a); }
static inline void f32_stream(float *p, F32 a) { _mm512_stream_ps(p, a); }
static inline void v32_stream(void *p, V32 a) { _mm512_stream_si512(p, a); }
static inline void stream_fence(void) { _mm_sfence(); }

static inline F64 f64_set(double a) { return _mm512_set1_pd(a); }
static inline F64 f64_load(const double *p) { return _mm512_loadu_pd(p); }
static inline void f64_store(double *p, F64 a) { _mm512_storeu_pd(p, a); }
static inline void f64_store_floats(float *p, F64 a) { _mm256_storeu_ps(p, _mm512_cvtpd_ps(a)); }
static inline F64 f64_low(V32 a) { return _mm512_cvtepi32_pd(_mm512_castsi512_si256(a)); }
static inline F64 f64_high(V32 a) { return _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(a, 1)); }
static inline V32 f64_narrow(F64 low, F64 high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtpd_epi32(low)), _mm512_cvtpd_epi32(high), 1);
}
static inline F64 f64_sub(F64 a, F64 b) { return _mm512_sub_pd(a, b); }
static inline F64 f64_mul(F64 a, F64 b) { return _mm512_mul_pd(a, b); }
static inline F64 f64_fma(F64 a, F64 b, F64 c) { return _mm512_fmadd_pd(a, b, c); }
static inline F64 f64_min(F64 a, F64 b) { return _mm512_min_pd(a, b); }
static inline F64 f64_sqrt(F64 a) { return _mm512_sqrt_pd(a); }
static inline M64 f64_lt(F64 a, F64 b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
static inline M64 f64_le(F64 a, F64 b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
static inline F64 f64_blend(M64 m, F64 a, F64 b) { return _mm512_mask_mov_pd(b, m, a); }
static inline M64 m64_or(M64 a, M64 b) { return (M64)(a | b); }
static inline bool m64_any(M64 m) { return m != 0; }

/* One bit per byte of p[0..63] that equals `value`. */
static inline uint64_t bytes_equal(const uint8_t *p, uint8_t value) {
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8((char)value));
}
