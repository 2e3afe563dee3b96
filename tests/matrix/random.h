/* Reproducible random numbers: splitmix64. */
#ifndef TESTS_MATRIX_RANDOM_H
#define TESTS_MATRIX_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double rng_unit(struct rng *r) { return (double)(rng_next(r) >> 11) * 0x1p-53; } /* [0, 1) */
static inline int64_t rng_range(struct rng *r, int64_t lo, int64_t hi) {                       /* [lo, hi] */
    return lo + (int64_t)(rng_next(r) % (uint64_t)(hi - lo + 1));
}
static inline bool rng_chance(struct rng *r, double p) { return rng_unit(r) < p; }

#endif
