/* CUDA emulation: warp collectives. All of them are made of one exchange: every lane of the mask gives a value and gets
 * those of all lanes. Values of lanes outside the mask, undefined in CUDA, are a pattern here. */
#ifndef EMULATION_WARP_H
#define EMULATION_WARP_H

#include <string.h>

#include "block.h"

/* The 32 values given; valid until the lane's next exchange. `what` names the function: all lanes must call the same. */
const uint64_t *emulation_exchange(const char *what, unsigned mask, uint64_t value, emulation_site site);
/* The lanes that have not ended; their own lane's number, and whether lane i is in the mask and in the block. */
unsigned __activemask(void);
unsigned emulation_lane(void);
unsigned emulation_present(unsigned mask);

static inline void __syncwarp(unsigned mask = 0xffffffffu, EMULATION_SITE) {
    emulation_exchange("__syncwarp", mask, 0, EMULATION_HERE);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate, EMULATION_SITE) {
    const uint64_t *values = emulation_exchange("__ballot_sync", mask, predicate != 0, EMULATION_HERE);
    unsigned votes = 0;
    for (unsigned lane = 0, present = emulation_present(mask); lane < 32; lane++)
        votes |= (present >> lane & 1 & (unsigned)values[lane]) << lane;
    return votes;
}
static inline int __any_sync(unsigned mask, int predicate, EMULATION_SITE) {
    return __ballot_sync(mask, predicate, file, line) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, EMULATION_SITE) {
    return __ballot_sync(mask, predicate, file, line) == emulation_present(mask);
}

/* ---- Shuffles of 32- and 64-bit numbers; width, a power of two, splits the warp into groups ---- */

template <class T> uint64_t emulation_pack(T value) {
    static_assert(__is_trivially_copyable(T) && (sizeof(T) == 4 || sizeof(T) == 8), "32 or 64 bits");
    uint64_t word = 0;
    memcpy(&word, &value, sizeof value);
    return word;
}
template <class T> T emulation_unpack(uint64_t word) {
    T value;
    memcpy(&value, &word, sizeof value);
    return value;
}

template <class T> T emulation_shuffle(const char *what, unsigned mask, T value, int lane, emulation_site site) {
    return emulation_unpack<T>(emulation_exchange(what, mask, emulation_pack(value), site)[lane]);
}

template <class T> T __shfl_sync(unsigned mask, T value, int from, int width = 32, EMULATION_SITE) {
    const int lane = (int)emulation_lane();
    return emulation_shuffle("__shfl_sync", mask, value, (lane & -width) | (from & (width - 1)), EMULATION_HERE);
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATION_SITE) {
    const int lane = (int)emulation_lane(), from = lane - (int)(delta & 31);
    return emulation_shuffle("__shfl_up_sync", mask, value, from < (lane & -width) ? lane : from, EMULATION_HERE);
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATION_SITE) {
    const int lane = (int)emulation_lane(), from = lane + (int)(delta & 31);
    return emulation_shuffle("__shfl_down_sync", mask, value, from > (lane | (width - 1)) ? lane : from,
                             EMULATION_HERE);
}
/* Reaches lanes of its own group and of those before it. */
template <class T> T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, EMULATION_SITE) {
    const int lane = (int)emulation_lane(), from = lane ^ (bits & 31);
    return emulation_shuffle("__shfl_xor_sync", mask, value, from > (lane | (width - 1)) ? lane : from, EMULATION_HERE);
}

template <class T> unsigned __match_any_sync(unsigned mask, T value, EMULATION_SITE) {
    const uint64_t own = emulation_pack(value),
                   *values = emulation_exchange("__match_any_sync", mask, own, EMULATION_HERE);
    unsigned same = 0;
    for (unsigned lane = 0, present = emulation_present(mask); lane < 32; lane++)
        same |= (present >> lane & (values[lane] == own)) << lane;
    return same;
}

/* ---- Reductions ---- */

template <class T, class F> T emulation_reduce(const char *what, unsigned mask, T value, emulation_site site, F join) {
    const uint64_t *values = emulation_exchange(what, mask, emulation_pack(value), site);
    const unsigned present = emulation_present(mask), first = (unsigned)__builtin_ctz(present);
    T result = emulation_unpack<T>(values[first]);
    for (unsigned lane = first + 1; lane < 32; lane++)
        if (present >> lane & 1)
            result = join(result, emulation_unpack<T>(values[lane]));
    return result;
}
#define EMULATION_REDUCE(name, type, expression)                                    \
    static inline type name(unsigned mask, type value, EMULATION_SITE) {            \
        return emulation_reduce(#name, mask, value, EMULATION_HERE,                 \
                                [](type a, type b) { return (type)(expression); }); \
    }
EMULATION_REDUCE(__reduce_add_sync, unsigned, a + b)
EMULATION_REDUCE(__reduce_add_sync, int, (unsigned)a + (unsigned)b)
EMULATION_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
EMULATION_REDUCE(__reduce_min_sync, int, a < b ? a : b)
EMULATION_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
EMULATION_REDUCE(__reduce_max_sync, int, a > b ? a : b)
EMULATION_REDUCE(__reduce_and_sync, unsigned, a &b)
EMULATION_REDUCE(__reduce_or_sync, unsigned, a | b)
EMULATION_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef EMULATION_REDUCE

#endif
