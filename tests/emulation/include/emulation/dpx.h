/* CUDA emulation: the DPX functions: min, max, of two or three, of a sum (which wraps), with a floor of zero (relu), with
 * the winner told (vib), on 32-bit numbers and on two halves. */
#ifndef EMULATION_DPX_H
#define EMULATION_DPX_H

#include <stdint.h>

/* One function of three numbers on every lane of type T; 32-bit numbers are one lane. */
template <class T, class F> unsigned emulation_lanes3(unsigned a, unsigned b, unsigned c, F lane) {
    const int bits = 8 * (int)sizeof(T);
    unsigned result = 0;
    for (int shift = 0; shift < 32; shift += bits) {
        const T value = lane((T)(a >> shift), (T)(b >> shift), (T)(c >> shift));
        result |= ((unsigned)value & 0xffffffffu >> (32 - bits)) << shift;
    }
    return result;
}

#define EMULATION_DPX3(name, word, T, expression)                                        \
    static inline word name(word a, word b, word c) {                                    \
        return (word)emulation_lanes3<T>((unsigned)a, (unsigned)b, (unsigned)c,          \
                                         [](T x, T y, T z) { return (T)(expression); }); \
    }
#define EMULATION_DPX2(name, word, T, expression)                                                                   \
    static inline word name(word a, word b) {                                                                       \
        return (word)emulation_lanes3<T>((unsigned)a, (unsigned)b, 0, [](T x, T y, T) { return (T)(expression); }); \
    }
#define EMULATION_LEAST(x, y) ((x) < (y) ? (x) : (y))
#define EMULATION_MOST(x, y) ((x) > (y) ? (x) : (y))
#define EMULATION_SUM(T) ((T)((unsigned)x + (unsigned)y))

#define EMULATION_DPX(type, word, T)                                                    \
    EMULATION_DPX3(__vimin3_##type, word, T, EMULATION_LEAST(EMULATION_LEAST(x, y), z)) \
    EMULATION_DPX3(__vimax3_##type, word, T, EMULATION_MOST(EMULATION_MOST(x, y), z))   \
    EMULATION_DPX3(__viaddmin_##type, word, T, EMULATION_LEAST(EMULATION_SUM(T), z))    \
    EMULATION_DPX3(__viaddmax_##type, word, T, EMULATION_MOST(EMULATION_SUM(T), z))
#define EMULATION_DPX_RELU(type, word, T)                                                                         \
    EMULATION_DPX2(__vimin_##type##_relu, word, T, EMULATION_MOST(EMULATION_LEAST(x, y), 0))                      \
    EMULATION_DPX2(__vimax_##type##_relu, word, T, EMULATION_MOST(EMULATION_MOST(x, y), 0))                       \
    EMULATION_DPX3(__vimin3_##type##_relu, word, T, EMULATION_MOST(EMULATION_LEAST(EMULATION_LEAST(x, y), z), 0)) \
    EMULATION_DPX3(__vimax3_##type##_relu, word, T, EMULATION_MOST(EMULATION_MOST(EMULATION_MOST(x, y), z), 0))   \
    EMULATION_DPX3(__viaddmin_##type##_relu, word, T, EMULATION_MOST(EMULATION_LEAST(EMULATION_SUM(T), z), 0))    \
    EMULATION_DPX3(__viaddmax_##type##_relu, word, T, EMULATION_MOST(EMULATION_MOST(EMULATION_SUM(T), z), 0))
EMULATION_DPX(s32, int, int32_t)
EMULATION_DPX(u32, unsigned, uint32_t)
EMULATION_DPX(s16x2, unsigned, int16_t)
EMULATION_DPX(u16x2, unsigned, uint16_t)
EMULATION_DPX_RELU(s32, int, int32_t)
EMULATION_DPX_RELU(s16x2, unsigned, int16_t)

/* The predicate says that a won, or that they are equal. */
#define EMULATION_DPX_WINNER(type, T)                            \
    static inline T __vibmin_##type(T a, T b, bool *predicate) { \
        *predicate = a <= b;                                     \
        return EMULATION_LEAST(a, b);                            \
    }                                                            \
    static inline T __vibmax_##type(T a, T b, bool *predicate) { \
        *predicate = a >= b;                                     \
        return EMULATION_MOST(a, b);                             \
    }
#define EMULATION_DPX_WINNERS(name, T, operator, choice)                                  \
    static inline unsigned name(unsigned a, unsigned b, bool *high, bool *low) {          \
        *high = (T)(a >> 16) operator(T)(b >> 16);                                        \
        *low = (T)a operator(T) b;                                                        \
        return emulation_lanes3<T>(a, b, 0, [](T x, T y, T) { return (T)choice(x, y); }); \
    }
EMULATION_DPX_WINNER(s32, int)
EMULATION_DPX_WINNER(u32, unsigned)
EMULATION_DPX_WINNERS(__vibmin_s16x2, int16_t, <=, EMULATION_LEAST)
EMULATION_DPX_WINNERS(__vibmin_u16x2, uint16_t, <=, EMULATION_LEAST)
EMULATION_DPX_WINNERS(__vibmax_s16x2, int16_t, >=, EMULATION_MOST)
EMULATION_DPX_WINNERS(__vibmax_u16x2, uint16_t, >=, EMULATION_MOST)

#undef EMULATION_DPX_WINNERS
#undef EMULATION_DPX_WINNER
#undef EMULATION_DPX_RELU
#undef EMULATION_DPX
#undef EMULATION_SUM
#undef EMULATION_MOST
#undef EMULATION_LEAST
#undef EMULATION_DPX2
#undef EMULATION_DPX3

#endif
