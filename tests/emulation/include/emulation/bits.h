/* CUDA emulation: integer intrinsics on whole words, min and max. */
#ifndef EMULATION_BITS_H
#define EMULATION_BITS_H

#include <stdint.h>
#include <stdlib.h> /* abs */

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }

static inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long reversed = 0;
    for (int bit = 0; bit < 64; bit++)
        reversed |= (x >> bit & 1) << (63 - bit);
    return reversed;
}
static inline unsigned __brev(unsigned x) { return (unsigned)(__brevll(x) >> 32); }

/* Four bytes of y:x, chosen by the low three bits of each nibble of s. (The fourth bit, which PTX's prmt takes to repeat
 * the sign, is masked off by nvcc.) */
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    const uint64_t bytes = (uint64_t)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(bytes >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
    return result;
}

/* hi:lo shifted, its high or low word; the shift modulo 32, or (c) at most 32. */
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
    return (unsigned)((((uint64_t)hi << 32 | lo) << (shift & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
    return (unsigned)(((uint64_t)hi << 32 | lo) >> (shift & 31));
}
static inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
    return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
static inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
    return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

static inline int __mulhi(int x, int y) { return (int)((int64_t)x * y >> 32); }
static inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((uint64_t)x * y >> 32); }
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    __extension__ typedef unsigned __int128 wide;
    return (unsigned long long)((wide)x * y >> 64);
}
static inline unsigned __sad(int x, int y, unsigned z) { return z + (x > y ? (unsigned)x - y : (unsigned)y - x); }
static inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }

/* ---- Dot products: a's four bytes, or two halves, times bytes of b (the low or the high two), plus c ---- */

template <class Wide, class Narrow, class T> T emulation_dot(T a, T b, T c, int offset) {
    unsigned sum = (unsigned)c;
    for (int i = 0; i < (int)(4 / sizeof(Wide)); i++)
        sum += (unsigned)((Wide)((unsigned)a >> 8 * sizeof(Wide) * i) * (Narrow)((unsigned)b >> 8 * (i + offset)));
    return (T)sum;
}
static inline int __dp4a(int a, int b, int c) { return emulation_dot<int8_t, int8_t>(a, b, c, 0); }
static inline int __dp2a_lo(int a, int b, int c) { return emulation_dot<int16_t, int8_t>(a, b, c, 0); }
static inline int __dp2a_hi(int a, int b, int c) { return emulation_dot<int16_t, int8_t>(a, b, c, 2); }
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    return emulation_dot<uint8_t, uint8_t>(a, b, c, 0);
}
static inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
    return emulation_dot<uint16_t, uint8_t>(a, b, c, 0);
}
static inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
    return emulation_dot<uint16_t, uint8_t>(a, b, c, 2);
}

/* ---- min and max, with CUDA's mixtures of types ---- */

#define EMULATION_MIN_MAX(result, A, B)                                                          \
    static inline result min(A a, B b) { return (result)a < (result)b ? (result)a : (result)b; } \
    static inline result max(A a, B b) { return (result)a > (result)b ? (result)a : (result)b; }
#define EMULATION_MIN_MAX_MIXED(result, A, B) \
    EMULATION_MIN_MAX(result, A, B) EMULATION_MIN_MAX(result, B, A) EMULATION_MIN_MAX(result, B, B)
EMULATION_MIN_MAX(int, int, int)
EMULATION_MIN_MAX_MIXED(unsigned, int, unsigned)
EMULATION_MIN_MAX(long, long, long)
EMULATION_MIN_MAX_MIXED(unsigned long, long, unsigned long)
EMULATION_MIN_MAX(long long, long long, long long)
EMULATION_MIN_MAX_MIXED(unsigned long long, long long, unsigned long long)
static inline float min(float a, float b) { return __builtin_fminf(a, b); }
static inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
static inline double min(double a, double b) { return __builtin_fmin(a, b); }
static inline double max(double a, double b) { return __builtin_fmax(a, b); }
#undef EMULATION_MIN_MAX_MIXED
#undef EMULATION_MIN_MAX

#endif
