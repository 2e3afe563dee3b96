/* CUDA emulation: intrinsics on the two halves or the four bytes of a word, __v...2 and __v...4. Each is a row with what
 * it does to one lane: x and y, in int, from lanes of type T, whose result is cut to T. Comparisons give 1 (vset) or all
 * ones (vcmp). */
#ifndef EMULATION_SIMD_H
#define EMULATION_SIMD_H

#include <stdint.h>

template <class T, class F> unsigned emulation_lanes(unsigned a, unsigned b, F lane) {
    const int bits = 8 * (int)sizeof(T);
    const unsigned mask = (1u << bits) - 1;
    unsigned result = 0;
    for (int shift = 0; shift < 32; shift += bits)
        result |= ((unsigned)lane((int)(T)(a >> shift), (int)(T)(b >> shift)) & mask) << shift;
    return result;
}

/* value, brought between T's least and largest value */
template <class T> int emulation_clamp(int value) {
    const int least = (T)-1 < 0 ? -(1 << (8 * sizeof(T) - 1)) : 0, largest = least + (1 << 8 * sizeof(T)) - 1;
    return value < least ? least : value > largest ? largest : value;
}

#define EMULATION_SIMD_ROW(name, lane_type, expression)    \
    static inline unsigned name(unsigned a, unsigned b) {  \
        typedef lane_type T;                               \
        return emulation_lanes<T>(a, b, [](int x, int y) { \
            (void)y;                                       \
            return (int)(expression);                      \
        });                                                \
    }
#define EMULATION_SIMD_ROW1(name, lane_type, expression)                               \
    static inline unsigned name(unsigned a) {                                          \
        typedef lane_type T;                                                           \
        return emulation_lanes<T>(a, 0, [](int x, int) { return (int)(expression); }); \
    }
#define EMULATION_UNSIGNED(name, expression)          \
    EMULATION_SIMD_ROW(name##2, uint16_t, expression) \
    EMULATION_SIMD_ROW(name##4, uint8_t, expression)
#define EMULATION_SIGNED(name, expression)           \
    EMULATION_SIMD_ROW(name##2, int16_t, expression) \
    EMULATION_SIMD_ROW(name##4, int8_t, expression)
#define EMULATION_SIGNED1(name, expression)           \
    EMULATION_SIMD_ROW1(name##2, int16_t, expression) \
    EMULATION_SIMD_ROW1(name##4, int8_t, expression)

EMULATION_UNSIGNED(__vadd, x + y)
EMULATION_UNSIGNED(__vsub, x - y)
EMULATION_UNSIGNED(__vaddus, emulation_clamp<T>(x + y))
EMULATION_UNSIGNED(__vsubus, emulation_clamp<T>(x - y))
EMULATION_SIGNED(__vaddss, emulation_clamp<T>(x + y))
EMULATION_SIGNED(__vsubss, emulation_clamp<T>(x - y))
EMULATION_UNSIGNED(__vminu, x < y ? x : y)
EMULATION_UNSIGNED(__vmaxu, x > y ? x : y)
EMULATION_SIGNED(__vmins, x < y ? x : y)
EMULATION_SIGNED(__vmaxs, x > y ? x : y)
EMULATION_UNSIGNED(__vabsdiffu, x > y ? x - y : y - x)
EMULATION_SIGNED(__vabsdiffs, x > y ? x - y : y - x)
EMULATION_UNSIGNED(__vavgu, (x + y + 1) >> 1)
EMULATION_UNSIGNED(__vhaddu, (x + y) >> 1)
EMULATION_SIGNED1(__vneg, -x)
EMULATION_SIGNED1(__vnegss, emulation_clamp<T>(-x))
EMULATION_SIGNED1(__vabs, x < 0 ? -x : x)
EMULATION_SIGNED1(__vabsss, emulation_clamp<T>(x < 0 ? -x : x))

#define EMULATION_COMPARE(which, name, operator) \
    EMULATION_##which(__vset##name, x operator y) EMULATION_##which(__vcmp##name, (x operator y) ? -1 : 0)
EMULATION_COMPARE(UNSIGNED, eq, ==)
EMULATION_COMPARE(UNSIGNED, ne, !=)
EMULATION_COMPARE(UNSIGNED, ltu, <)
EMULATION_COMPARE(UNSIGNED, leu, <=)
EMULATION_COMPARE(UNSIGNED, gtu, >)
EMULATION_COMPARE(UNSIGNED, geu, >=)
EMULATION_COMPARE(SIGNED, lts, <)
EMULATION_COMPARE(SIGNED, les, <=)
EMULATION_COMPARE(SIGNED, gts, >)
EMULATION_COMPARE(SIGNED, ges, >=)
#undef EMULATION_COMPARE

/* The sum of all lanes' differences. */
static inline unsigned __vsadu2(unsigned a, unsigned b) {
    const unsigned d = __vabsdiffu2(a, b);
    return (d & 0xffff) + (d >> 16);
}
static inline unsigned __vsadu4(unsigned a, unsigned b) {
    const unsigned d = __vabsdiffu4(a, b);
    return (d & 255) + (d >> 8 & 255) + (d >> 16 & 255) + (d >> 24);
}

#undef EMULATION_SIGNED1
#undef EMULATION_SIGNED
#undef EMULATION_UNSIGNED
#undef EMULATION_SIMD_ROW1
#undef EMULATION_SIMD_ROW

#endif
