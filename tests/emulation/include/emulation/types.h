/* CUDA emulation: qualifiers, dim3 and the vector types, for C and C++. */
#ifndef EMULATION_TYPES_H
#define EMULATION_TYPES_H

#define __host__
#define __device__
#define __global__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))

/* Blocks run one after another, so one copy of a static shared variable does. Under ASan it is a plain static with guards
 * around it; elsewhere it lies in a section of its own, which is overwritten at the start of every block: each build finds
 * one of the two mistakes. */
#if defined(__SANITIZE_ADDRESS__)
#define EMULATION_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATION_ASAN 1
#endif
#endif
#ifdef EMULATION_ASAN
#define __shared__ static
#else
#define __shared__ static __attribute__((section("emulation_shared")))
#endif

/* Alignments are the device's: a wide access at a narrow address is found by UBSan. */
#define EMULATION_VECTORS(base, type, align1, align2, align4)              \
    typedef struct base##1 {                                               \
        type x;                                                            \
    }                                                                      \
    __attribute__((aligned(align1))) base##1;                              \
    typedef struct base##2 {                                               \
        type x, y;                                                         \
    }                                                                      \
    __attribute__((aligned(align2))) base##2;                              \
    typedef struct base##3 {                                               \
        type x, y, z;                                                      \
    }                                                                      \
    __attribute__((aligned(align1))) base##3;                              \
    typedef struct base##4 {                                               \
        type x, y, z, w;                                                   \
    }                                                                      \
    __attribute__((aligned(align4))) base##4;                              \
    static inline base##1 make_##base##1(type x) {                         \
        base##1 vector = {x};                                              \
        return vector;                                                     \
    }                                                                      \
    static inline base##2 make_##base##2(type x, type y) {                 \
        base##2 vector = {x, y};                                           \
        return vector;                                                     \
    }                                                                      \
    static inline base##3 make_##base##3(type x, type y, type z) {         \
        base##3 vector = {x, y, z};                                        \
        return vector;                                                     \
    }                                                                      \
    static inline base##4 make_##base##4(type x, type y, type z, type w) { \
        base##4 vector = {x, y, z, w};                                     \
        return vector;                                                     \
    }

EMULATION_VECTORS(char, signed char, 1, 2, 4)
EMULATION_VECTORS(uchar, unsigned char, 1, 2, 4)
EMULATION_VECTORS(short, short, 2, 4, 8)
EMULATION_VECTORS(ushort, unsigned short, 2, 4, 8)
EMULATION_VECTORS(int, int, 4, 8, 16)
EMULATION_VECTORS(uint, unsigned, 4, 8, 16)
EMULATION_VECTORS(longlong, long long, 8, 16, 16)
EMULATION_VECTORS(ulonglong, unsigned long long, 8, 16, 16)
EMULATION_VECTORS(float, float, 4, 8, 16)
EMULATION_VECTORS(double, double, 8, 16, 16)
#undef EMULATION_VECTORS

typedef struct dim3 {
    unsigned x, y, z;
#ifdef __cplusplus
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
#endif
} dim3;

#endif
