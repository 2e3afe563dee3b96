/* AVX2 with BMI2 and FMA: 16 lanes of u16, 8 of i32 and f32, 4 of f64; a mask is a vector of all-ones and all-zero lanes. The
 * operations are told in simd.h. */
#include <immintrin.h>
#include <string.h>

enum { N16 = 16, N32 = 8, N64 = 4 };
typedef __m256i V16;
typedef __m256i V32;
typedef __m256 F32;
typedef __m256i M16;
typedef __m256i M32;
typedef __m256d F64;
typedef __m256d M64;

static inline V16 v16_load(const uint16_t *p) { return _mm256_loadu_si256((const __m256i *)p); }
static inline void v16_store(uint16_t *p, V16 a) { _mm256_storeu_si256((__m256i *)p, a); }
static inline V16 v16_set(uint16_t a) { return _mm256_set1_epi16((short)a); }
static inline V16 v16_load_bytes(const uint8_t *p) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline void v16_store_bytes(uint8_t *p, V16 a) {
    const V16 low = _mm256_and_si256(a, _mm256_set1_epi16(0xFF));
    _mm_storeu_si128((__m128i *)(void *)p,
                     _mm_packus_epi16(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
}
static inline V16 v16_add(V16 a, V16 b) { return _mm256_add_epi16(a, b); }
static inline V16 v16_sub(V16 a, V16 b) { return _mm256_sub_epi16(a, b); }
static inline V16 v16_adds(V16 a, V16 b) { return _mm256_adds_epu16(a, b); }
static inline V16 v16_mul(V16 a, V16 b) { return _mm256_mullo_epi16(a, b); }
static inline V16 v16_min(V16 a, V16 b) { return _mm256_min_epu16(a, b); }
static inline V16 v16_max(V16 a, V16 b) { return _mm256_max_epu16(a, b); }
static inline V16 v16_and(V16 a, V16 b) { return _mm256_and_si256(a, b); }
/* There is no unsigned comparison. */
static inline M16 v16_le(V16 a, V16 b) { return _mm256_cmpeq_epi16(_mm256_min_epu16(a, b), a); }
static inline V16 v16_blend(M16 m, V16 a, V16 b) { return _mm256_blendv_epi8(b, a, m); }
static inline bool v16_any_gt(V16 a, V16 b) {
    const V16 excess = _mm256_subs_epu16(a, b);
    return !_mm256_testz_si256(excess, excess);
}
static inline V16 v16_bits(const uint64_t *words, size_t lane, V16 a, V16 b) {
    const V16 select = _mm256_setr_epi16(1, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 9,
                                         1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, (short)(1 << 15));
    short bits;
    memcpy(&bits, (const char *)words + lane / 8, sizeof bits);
    return v16_blend(_mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(bits), select), select), a, b);
}
static inline V16 v16_repeat8(const uint16_t *p) {
    return _mm256_set_m128i(_mm_set1_epi16((short)p[1]), _mm_set1_epi16((short)p[0]));
}
static inline V32 v16_low(V16 a) { return _mm256_cvtepu16_epi32(_mm256_castsi256_si128(a)); }
static inline V32 v16_high(V16 a) { return _mm256_cvtepu16_epi32(_mm256_extracti128_si256(a, 1)); }

static inline V32 v32_load(const void *p) { return _mm256_loadu_si256(p); }
static inline void v32_store(void *p, V32 a) { _mm256_storeu_si256(p, a); }
static inline V32 v32_set(int32_t a) { return _mm256_set1_epi32(a); }
static inline V32 v32_iota(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
static inline V32 v32_add(V32 a, V32 b) { return _mm256_add_epi32(a, b); }
static inline V32 v32_sub(V32 a, V32 b) { return _mm256_sub_epi32(a, b); }
static inline V32 v32_mul(V32 a, V32 b) { return _mm256_mullo_epi32(a, b); }
static inline V32 v32_madd(V32 a, V32 b) { return _mm256_madd_epi16(a, b); }
static inline V32 v32_min(V32 a, V32 b) { return _mm256_min_epi32(a, b); }
static inline V32 v32_negative(V32 a) { return _mm256_srai_epi32(a, 31); }
static inline V32 v32_and(V32 a, V32 b) { return _mm256_and_si256(a, b); }
static inline V32 v32_xor(V32 a, V32 b) { return _mm256_xor_si256(a, b); }
static inline V32 v32_shl(V32 a, int n) { return _mm256_sll_epi32(a, _mm_cvtsi32_si128(n)); }
static inline V32 v32_shr(V32 a, int n) { return _mm256_srl_epi32(a, _mm_cvtsi32_si128(n)); }
static inline M32 v32_lt(V32 a, V32 b) { return _mm256_cmpgt_epi32(b, a); }
static inline M32 v32_eq(V32 a, V32 b) { return _mm256_cmpeq_epi32(a, b); }
static inline V32 v32_blend(M32 m, V32 a, V32 b) { return _mm256_blendv_epi8(b, a, m); }
static inline V32 v32_gather(const void *base, V32 index) { return _mm256_i32gather_epi32(base, index, 4); }
/* The packing instruction reads i32, and works within halves: cap as u32 before it, put the quarters in order after. */
static inline V16 v32_narrow(V32 low, V32 high) {
    const V32 most = _mm256_set1_epi32(0xFFFF);
    const V16 mixed = _mm256_packus_epi32(_mm256_min_epu32(low, most), _mm256_min_epu32(high, most));
    return _mm256_permute4x64_epi64(mixed, _MM_SHUFFLE(3, 1, 2, 0));
}
static inline M32 m32_and(M32 a, M32 b) { return _mm256_and_si256(a, b); }
static inline M32 m32_or(M32 a, M32 b) { return _mm256_or_si256(a, b); }
static inline M32 m32_not(M32 a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }
static inline unsigned m32_bits(M32 m) { return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(m)); }
static inline size_t m32_count(M32 m) { return (size_t)__builtin_popcount(m32_bits(m)); }
static inline bool m32_any(M32 m) { return !_mm256_testz_si256(m, m); }

/* Row `mask` lists, a byte each, the lanes whose bits are set. A table, because the bit extraction that would compute a
 * row is microcoded on some of the processors that have AVX2 and no more. */
#define LANE(mask, i) ((mask) >> (i)&1 ? (uint64_t)(i) << 8 * __builtin_popcount((mask) & ((1u << (i)) - 1)) : 0)
#define ROW(m) (LANE(m, 0) | LANE(m, 1) | LANE(m, 2) | LANE(m, 3) | LANE(m, 4) | LANE(m, 5) | LANE(m, 6) | LANE(m, 7))
#define ROWS4(m) ROW(m), ROW(m + 1u), ROW(m + 2u), ROW(m + 3u)
#define ROWS16(m) ROWS4(m), ROWS4(m + 4u), ROWS4(m + 8u), ROWS4(m + 12u)
#define ROWS64(m) ROWS16(m), ROWS16(m + 16u), ROWS16(m + 32u), ROWS16(m + 48u)
static const uint64_t chosen_lanes[256] = {ROWS64(0u), ROWS64(64u), ROWS64(128u), ROWS64(192u)};
#undef LANE
#undef ROW
#undef ROWS4
#undef ROWS16
#undef ROWS64

static inline void v32_compress(int32_t *p, M32 m, V32 a) {
    const __m128i lanes = _mm_loadl_epi64((const __m128i *)&chosen_lanes[m32_bits(m)]);
    v32_store(p, _mm256_permutevar8x32_epi32(a, _mm256_cvtepu8_epi32(lanes)));
}

static inline F32 f32_set(float a) { return _mm256_set1_ps(a); }
static inline F32 f32_signed(V32 a) { return _mm256_cvtepi32_ps(a); }
static inline V32 f32_round(F32 a) { return _mm256_cvtps_epi32(a); }
static inline F32 f32_add(F32 a, F32 b) { return _mm256_add_ps(a, b); }
static inline F32 f32_sub(F32 a, F32 b) { return _mm256_sub_ps(a, b); }
static inline F32 f32_mul(F32 a, F32 b) { return _mm256_mul_ps(a, b); }
#define SIMD_FUSED
static inline F32 f32_fma(F32 a, F32 b, F32 c) { return _mm256_fmadd_ps(a, b, c); }
static inline F32 f32_fms(F32 a, F32 b, F32 c) { return _mm256_fmsub_ps(a, b, c); }
static inline V32 f32_bits(F32 a) { return _mm256_castps_si256(a); }
static inline F32 f32_of_bits(V32 a) { return _mm256_castsi256_ps(a); }
static inline F32 f32_abs(F32 a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
static inline F32 f32_sqrt(F32 a) { return _mm256_sqrt_ps(a); }
static inline M32 f32_lt(F32 a, F32 b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
static inline F32 f32_blend(M32 m, F32 a, F32 b) { return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(m)); }
static inline F32 f32_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void f32_store(float *p, F32 a) { _mm256_storeu_ps(p, a); }
static inline void f32_stream(float *p, F32 a) { _mm256_stream_ps(p, a); }
static inline void v32_stream(void *p, V32 a) { _mm256_stream_si256(p, a); }
static inline void stream_fence(void) { _mm_sfence(); }

static inline F64 f64_set(double a) { return _mm256_set1_pd(a); }
static inline F64 f64_load(const double *p) { return _mm256_loadu_pd(p); }
static inline void f64_store(double *p, F64 a) { _mm256_storeu_pd(p, a); }
static inline void f64_store_floats(float *p, F64 a) { _mm_storeu_ps(p, _mm256_cvtpd_ps(a)); }
static inline F64 f64_low(V32 a) { return _mm256_cvtepi32_pd(_mm256_castsi256_si128(a)); }
static inline F64 f64_high(V32 a) { return _mm256_cvtepi32_pd(_mm256_extracti128_si256(a, 1)); }
static inline V32 f64_narrow(F64 low, F64 high) {
    return _mm256_set_m128i(_mm256_cvtpd_epi32(high), _mm256_cvtpd_epi32(low));
}
static inline F64 f64_sub(F64 a, F64 b) { return _mm256_sub_pd(a, b); }
static inline F64 f64_mul(F64 a, F64 b) { return _mm256_mul_pd(a, b); }
static inline F64 f64_fma(F64 a, F64 b, F64 c) { return _mm256_fmadd_pd(a, b, c); }
static inline F64 f64_min(F64 a, F64 b) { return _mm256_min_pd(a, b); }
static inline F64 f64_sqrt(F64 a) { return _mm256_sqrt_pd(a); }
static inline M64 f64_lt(F64 a, F64 b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
static inline M64 f64_le(F64 a, F64 b) { return _mm256_cmp_pd(a, b, _CMP_LE_OQ); }
static inline F64 f64_blend(M64 m, F64 a, F64 b) { return _mm256_blendv_pd(b, a, m); }
static inline M64 m64_or(M64 a, M64 b) { return _mm256_or_pd(a, b); }
static inline bool m64_any(M64 m) { return _mm256_movemask_pd(m) != 0; }

/* One bit per byte of p[0..63] that equals `value`. */
static inline uint64_t bytes_equal(const uint8_t *p, uint8_t value) {
    const __m256i v = _mm256_set1_epi8((char)value);
    const uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v32_load(p), v));
    const uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v32_load(p + 32), v));
    return (uint64_t)high << 32 | low;
}
