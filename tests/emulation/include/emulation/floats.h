/* CUDA emulation: floating point, correctly rounded where CUDA's is; build with -ffp-contract=off. */
#ifndef EMULATION_FLOATS_H
#define EMULATION_FLOATS_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "block.h"

template <class To, class From> To emulation_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
static inline int __float_as_int(float x) { return emulation_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return emulation_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return emulation_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return emulation_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return emulation_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return emulation_bits<double>(x); }

static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dsub_rn(double x, double y) { return x - y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __dsqrt_rn(double x) { return sqrt(x); }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

/* long double has 64 bits of precision or more, and so keeps a root's side of every halfway point of a float. */
static inline float __frsqrt_rn(float x) { return (float)(1.0L / sqrtl((long double)x)); }

/* Approximate on the device (2 ulp): here off by one, either way, where a seed is set, so that nothing relies on it. */
static inline float rsqrtf(float x) {
    const float root = __frsqrt_rn(x);
    const uint32_t drawn = emulation_draw() % 3;
    if (!(root > FLT_MIN && root < FLT_MAX) || drawn == 0)
        return root;
    return nextafterf(root, drawn == 1 ? 0.0f : FLT_MAX);
}

/* Approximate too (2 ulp), and a method may rely on its being the same for the same arguments: off by one, either way, as
 * a hash of the quotient says. */
static inline float __fdividef(float x, float y) {
    const float quotient = x / y;
    const uint32_t drawn = __float_as_uint(quotient) * 2654435761u >> 30;
    if (!(fabsf(quotient) > FLT_MIN && fabsf(quotient) < FLT_MAX) || drawn == 0)
        return quotient;
    return nextafterf(quotient, drawn == 1 ? -FLT_MAX : FLT_MAX);
}

static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __ll2float_rn(long long x) { return (float)x; }
static inline float __ull2float_rn(unsigned long long x) { return (float)x; }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }
static inline double __int2double_rn(int x) { return x; }
static inline double __uint2double_rn(unsigned x) { return x; }
static inline float __double2float_rn(double x) { return (float)x; }

/* To integers the device saturates; NaN gives 0 or the top bit alone. */
template <class To> To emulation_to_integer(double whole, double least, double beyond, To nan) {
    if (whole != whole)
        return nan;
    if (whole < least)
        return (To)least;
    return whole < beyond ? (To)whole : (To)((To)-1 < 0 ? (uint64_t)beyond - 1 : (uint64_t)-1);
}
#define EMULATION_TO_INTEGER(name, from, type, least, beyond, nan)                                                   \
    static inline type name##_rn(from x) { return emulation_to_integer<type>(rint(x), least, beyond, (type)(nan)); } \
    static inline type name##_rz(from x) { return emulation_to_integer<type>(trunc(x), least, beyond, (type)(nan)); }
#define EMULATION_TO_INTEGERS(from, nan)                                              \
    EMULATION_TO_INTEGER(__##from##2int, from, int, -0x1p31, 0x1p31, nan)             \
    EMULATION_TO_INTEGER(__##from##2uint, from, unsigned, 0.0, 0x1p32, nan)           \
    EMULATION_TO_INTEGER(__##from##2ll, from, long long, -0x1p63, 0x1p63, 1ull << 63) \
    EMULATION_TO_INTEGER(__##from##2ull, from, unsigned long long, 0.0, 0x1p64, 1ull << 63)
EMULATION_TO_INTEGERS(float, 0)
EMULATION_TO_INTEGERS(double, 1u << 31)
#undef EMULATION_TO_INTEGERS
#undef EMULATION_TO_INTEGER

#endif
