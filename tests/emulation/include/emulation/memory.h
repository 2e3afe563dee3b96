/* CUDA emulation: atomics, and loads and stores with cache hints. Threads switch at barriers only, so an atomic is the
 * plain operation. */
#ifndef EMULATION_MEMORY_H
#define EMULATION_MEMORY_H

/* Each gives the value before. */
#define EMULATION_ATOMIC(name, type, expression)         \
    static inline type name(type *address, type value) { \
        const type old = *address;                       \
        *address = (type)(expression);                   \
        return old;                                      \
    }
#define EMULATION_ATOMICS(type, wide)                                       \
    EMULATION_ATOMIC(atomicAdd, type, (wide)old + (wide)value)              \
    EMULATION_ATOMIC(atomicMin, type, value < old ? value : old)            \
    EMULATION_ATOMIC(atomicMax, type, value > old ? value : old)            \
    EMULATION_ATOMIC(atomicAnd, type, old &value)                           \
    EMULATION_ATOMIC(atomicOr, type, old | value)                           \
    EMULATION_ATOMIC(atomicXor, type, old ^ value)                          \
    EMULATION_ATOMIC(atomicExch, type, value)                               \
    static inline type atomicCAS(type *address, type compare, type value) { \
        const type old = *address;                                          \
        if (old == compare)                                                 \
            *address = value;                                               \
        return old;                                                         \
    }
EMULATION_ATOMICS(int, unsigned)
EMULATION_ATOMICS(unsigned, unsigned)
EMULATION_ATOMICS(unsigned long long, unsigned long long)
EMULATION_ATOMIC(atomicSub, int, (unsigned)old - (unsigned)value)
EMULATION_ATOMIC(atomicSub, unsigned, old - value)
EMULATION_ATOMIC(atomicAdd, float, old + value)
EMULATION_ATOMIC(atomicAdd, double, old + value)
EMULATION_ATOMIC(atomicExch, float, value)
#undef EMULATION_ATOMICS
#undef EMULATION_ATOMIC

#define EMULATION_LOAD(name) \
    template <class T> T name(const T *address) { return *address; }
EMULATION_LOAD(__ldg)
EMULATION_LOAD(__ldca)
EMULATION_LOAD(__ldcg)
EMULATION_LOAD(__ldcs)
EMULATION_LOAD(__ldcv)
EMULATION_LOAD(__ldlu)
#undef EMULATION_LOAD

template <class T> struct emulation_same { typedef T type; }; /* converts the value to what the address points to */
#define EMULATION_STORE(name) \
    template <class T> void name(T *address, typename emulation_same<T>::type value) { *address = value; }
EMULATION_STORE(__stwb)
EMULATION_STORE(__stcg)
EMULATION_STORE(__stcs)
EMULATION_STORE(__stwt)
#undef EMULATION_STORE

#endif
