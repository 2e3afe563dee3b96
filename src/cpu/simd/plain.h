/* Plain C: 8 lanes of u16, 4 of i32 and f32, 2 of f64, as small structs that a compiler may vectorise. The operations are told in
 * simd.h. */
#include <math.h>
#include <string.h>

enum { N16 = 8, N32 = 4, N64 = 2 };
typedef struct {
    uint16_t lane[N16];
} V16;
typedef struct {
    int32_t lane[N32];
} V32;
typedef struct {
    float lane[N32];
} F32;
typedef struct {
    uint16_t lane[N16];
} M16; /* 1 or 0 */
typedef struct {
    uint32_t lane[N32];
} M32;
typedef struct {
    double lane[N64];
} F64;
typedef struct {
    uint64_t lane[N64];
} M64;

#define LANES(type, n, expression)    \
    do {                              \
        type r;                       \
        for (int i = 0; i < (n); i++) \
            r.lane[i] = (expression); \
        return r;                     \
    } while (0)

/* Both are read before one is chosen, as vectors do it: lanes beyond the end of a row, whose values nothing uses, decide no branch. */
static inline uint16_t choose_u16(uint32_t m, uint16_t a, uint16_t b) { return m ? a : b; }
static inline int32_t choose_i32(uint32_t m, int32_t a, int32_t b) { return m ? a : b; }
static inline float choose_f32(uint32_t m, float a, float b) { return m ? a : b; }

static inline V16 v16_load(const uint16_t *p) {
    V16 r;
    memcpy(&r, p, sizeof r);
    return r;
}
static inline void v16_store(uint16_t *p, V16 a) { memcpy(p, &a, sizeof a); }
static inline V16 v16_set(uint16_t a) { LANES(V16, N16, a); }
static inline V16 v16_load_bytes(const uint8_t *p) { LANES(V16, N16, p[i]); }
static inline void v16_store_bytes(uint8_t *p, V16 a) {
    for (int i = 0; i < N16; i++)
        p[i] = (uint8_t)a.lane[i];
}
static inline V16 v16_add(V16 a, V16 b) { LANES(V16, N16, (uint16_t)(a.lane[i] + b.lane[i])); }
static inline V16 v16_sub(V16 a, V16 b) { LANES(V16, N16, (uint16_t)(a.lane[i] - b.lane[i])); }
static inline V16 v16_adds(V16 a, V16 b) {
    LANES(V16, N16, (uint16_t)(a.lane[i] + b.lane[i] > 0xFFFF ? 0xFFFF : a.lane[i] + b.lane[i]));
}
static inline V16 v16_mul(V16 a, V16 b) { LANES(V16, N16, (uint16_t)((uint32_t)a.lane[i] * b.lane[i])); }
static inline V16 v16_min(V16 a, V16 b) { LANES(V16, N16, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]); }
static inline V16 v16_max(V16 a, V16 b) { LANES(V16, N16, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]); }
static inline V16 v16_and(V16 a, V16 b) { LANES(V16, N16, a.lane[i] & b.lane[i]); }
static inline M16 v16_le(V16 a, V16 b) { LANES(M16, N16, a.lane[i] <= b.lane[i]); }
static inline V16 v16_blend(M16 m, V16 a, V16 b) { LANES(V16, N16, choose_u16(m.lane[i], a.lane[i], b.lane[i])); }
static inline bool v16_any_gt(V16 a, V16 b) {
    bool any = false;
    for (int i = 0; i < N16; i++)
        any |= a.lane[i] > b.lane[i];
    return any;
}
static inline V16 v16_bits(const uint64_t *words, size_t lane, V16 a, V16 b) {
    const unsigned bits = (unsigned)(words[lane / 64] >> (lane % 64));
    LANES(V16, N16, choose_u16(bits >> i & 1, a.lane[i], b.lane[i]));
}
static inline V16 v16_repeat8(const uint16_t *p) { return v16_set(*p); }
static inline V32 v16_low(V16 a) { LANES(V32, N32, a.lane[i]); }
static inline V32 v16_high(V16 a) { LANES(V32, N32, a.lane[i + N32]); }

static inline V32 v32_load(const void *p) {
    V32 r;
    memcpy(&r, p, sizeof r);
    return r;
}
static inline void v32_store(void *p, V32 a) { memcpy(p, &a, sizeof a); }
static inline V32 v32_set(int32_t a) { LANES(V32, N32, a); }
static inline V32 v32_iota(void) { LANES(V32, N32, i); }
static inline V32 v32_add(V32 a, V32 b) { LANES(V32, N32, (int32_t)((uint32_t)a.lane[i] + (uint32_t)b.lane[i])); }
static inline V32 v32_sub(V32 a, V32 b) { LANES(V32, N32, (int32_t)((uint32_t)a.lane[i] - (uint32_t)b.lane[i])); }
static inline V32 v32_mul(V32 a, V32 b) { LANES(V32, N32, (int32_t)((uint32_t)a.lane[i] * (uint32_t)b.lane[i])); }
static inline V32 v32_madd(V32 a, V32 b) {
    LANES(V32, N32,
          (int32_t)((uint32_t)((int16_t)a.lane[i] * (int16_t)b.lane[i]) +
                    (uint32_t)((int16_t)(a.lane[i] >> 16) * (int16_t)(b.lane[i] >> 16))));
}
static inline V32 v32_min(V32 a, V32 b) { LANES(V32, N32, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]); }
static inline V32 v32_negative(V32 a) { LANES(V32, N32, -(a.lane[i] < 0)); } /* -1 or 0 */
static inline V32 v32_and(V32 a, V32 b) { LANES(V32, N32, a.lane[i] & b.lane[i]); }
static inline V32 v32_xor(V32 a, V32 b) { LANES(V32, N32, a.lane[i] ^ b.lane[i]); }
static inline V32 v32_shl(V32 a, int n) { LANES(V32, N32, (int32_t)((uint32_t)a.lane[i] << n)); }
static inline V32 v32_shr(V32 a, int n) { LANES(V32, N32, (int32_t)((uint32_t)a.lane[i] >> n)); }
static inline M32 v32_lt(V32 a, V32 b) { LANES(M32, N32, a.lane[i] < b.lane[i]); }
static inline M32 v32_eq(V32 a, V32 b) { LANES(M32, N32, a.lane[i] == b.lane[i]); }
static inline V32 v32_blend(M32 m, V32 a, V32 b) { LANES(V32, N32, choose_i32(m.lane[i], a.lane[i], b.lane[i])); }
static inline V32 v32_gather(const void *base, V32 index) { LANES(V32, N32, ((const int32_t *)base)[index.lane[i]]); }
static inline V16 v32_narrow(V32 low, V32 high) {
    V16 r;
    for (int i = 0; i < N16; i++) {
        const uint32_t a = (uint32_t)(i < N32 ? low.lane[i] : high.lane[i - N32]);
        r.lane[i] = a > 0xFFFF ? 0xFFFF : (uint16_t)a;
    }
    return r;
}
static inline M32 m32_and(M32 a, M32 b) { LANES(M32, N32, a.lane[i] & b.lane[i]); }
static inline M32 m32_or(M32 a, M32 b) { LANES(M32, N32, a.lane[i] | b.lane[i]); }
static inline M32 m32_not(M32 a) { LANES(M32, N32, !a.lane[i]); }
static inline size_t m32_count(M32 m) { return m.lane[0] + m.lane[1] + m.lane[2] + m.lane[3]; }
static inline bool m32_any(M32 m) { return m32_count(m) != 0; }
static inline void v32_compress(int32_t *p, M32 m, V32 a) {
    for (int i = 0; i < N32; i++) {
        *p = a.lane[i];
        p += m.lane[i];
    }
}

static inline F32 f32_set(float a) { LANES(F32, N32, a); }
static inline F32 f32_signed(V32 a) { LANES(F32, N32, (float)a.lane[i]); }
static inline V32 f32_round(F32 a) { LANES(V32, N32, (int32_t)lrintf(a.lane[i])); }
static inline F32 f32_add(F32 a, F32 b) { LANES(F32, N32, a.lane[i] + b.lane[i]); }
static inline F32 f32_sub(F32 a, F32 b) { LANES(F32, N32, a.lane[i] - b.lane[i]); }
static inline F32 f32_mul(F32 a, F32 b) { LANES(F32, N32, a.lane[i] * b.lane[i]); }
static inline F32 f32_abs(F32 a) { LANES(F32, N32, fabsf(a.lane[i])); }
static inline F32 f32_sqrt(F32 a) { LANES(F32, N32, sqrtf(a.lane[i])); }
static inline M32 f32_lt(F32 a, F32 b) { LANES(M32, N32, a.lane[i] < b.lane[i]); }
static inline F32 f32_blend(M32 m, F32 a, F32 b) { LANES(F32, N32, choose_f32(m.lane[i], a.lane[i], b.lane[i])); }
static inline F32 f32_load(const float *p) {
    F32 r;
    memcpy(&r, p, sizeof r);
    return r;
}
static inline void f32_store(float *p, F32 a) { memcpy(p, &a, sizeof a); }
static inline void f32_stream(float *p, F32 a) { memcpy(p, &a, sizeof a); }
static inline void v32_stream(void *p, V32 a) { memcpy(p, &a, sizeof a); }
static inline void stream_fence(void) {}

static inline double choose_f64(uint64_t m, double a, double b) { return m ? a : b; }

static inline F64 f64_set(double a) { LANES(F64, N64, a); }
static inline F64 f64_load(const double *p) {
    F64 r;
    memcpy(&r, p, sizeof r);
    return r;
}
static inline void f64_store(double *p, F64 a) { memcpy(p, &a, sizeof a); }
static inline void f64_store_floats(float *p, F64 a) {
    for (int i = 0; i < N64; i++)
        p[i] = (float)a.lane[i];
}
static inline F64 f64_low(V32 a) { LANES(F64, N64, a.lane[i]); }
static inline F64 f64_high(V32 a) { LANES(F64, N64, a.lane[i + N64]); }
static inline V32 f64_narrow(F64 low, F64 high) {
    LANES(V32, N32, (int32_t)lrint(i < N64 ? low.lane[i] : high.lane[i - N64]));
}
static inline F64 f64_sub(F64 a, F64 b) { LANES(F64, N64, a.lane[i] - b.lane[i]); }
static inline F64 f64_mul(F64 a, F64 b) { LANES(F64, N64, a.lane[i] * b.lane[i]); }
static inline F64 f64_fma(F64 a, F64 b, F64 c) { LANES(F64, N64, fma(a.lane[i], b.lane[i], c.lane[i])); }
static inline F64 f64_min(F64 a, F64 b) { LANES(F64, N64, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]); }
static inline F64 f64_sqrt(F64 a) { LANES(F64, N64, sqrt(a.lane[i])); }
static inline M64 f64_lt(F64 a, F64 b) { LANES(M64, N64, a.lane[i] < b.lane[i]); }
static inline M64 f64_le(F64 a, F64 b) { LANES(M64, N64, a.lane[i] <= b.lane[i]); }
static inline F64 f64_blend(M64 m, F64 a, F64 b) { LANES(F64, N64, choose_f64(m.lane[i], a.lane[i], b.lane[i])); }
static inline M64 m64_or(M64 a, M64 b) { LANES(M64, N64, a.lane[i] | b.lane[i]); }
static inline bool m64_any(M64 m) { return (m.lane[0] | m.lane[1]) != 0; }

static inline uint64_t bytes_equal(const uint8_t *p, uint8_t value) {
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++)
        bits |= (uint64_t)(p[i] == value) << i;
    return bits;
}
#undef LANES
