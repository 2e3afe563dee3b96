/* Comparisons of two sets: exact sums and ranks, for CPU and GPU alike, to the bit.
 *
 * Distances are added up as numbers of 128 bits with a fixed point, which holds every one of them exactly: so sums are exact,
 * and do not depend on the order in which threads come. Squared distances are kept, sorted and selected as 64-bit *keys*: the
 * integers themselves, or the bits of FP64 numbers, which are in the same order as long as nothing is negative. */
#ifndef DISTMAP_CORE_COMPARISON_H
#define DISTMAP_CORE_COMPARISON_H

#include <math.h>

#include "core/unit.h"

/* distmap_comparison in normal form. */
typedef struct dm_comparison {
    dm_unit unit;    /* of keys that are integers */
    double scale[2]; /* the last place of sums of distances, and of squares, is 1/scale: powers of two */
    uint64_t within; /* keys up to this one are within the tolerance */
} dm_comparison;

/* The results of one direction. */
typedef struct dm_distances {
    uint64_t points, within;
    uint64_t largest;                           /* key */
    uint64_t sum[2], squares[2];                /* 128 bits, low half first */
    uint64_t order[DISTMAP_MAX_PERCENTILES][2]; /* keys: the order statistics k and k + 1 of each percentile */
} dm_distances;

/* The results of an execution. */
typedef struct dm_compared {
    dm_distances directed[2];
    uint64_t elements[2], common;
} dm_compared;

/* The distance that a key stands for. */
DM_ANYWHERE double dm_key_distance(const dm_comparison *c, bool real, uint64_t key) {
    double square;
    if (!real)
        return dm_unit_distance(&c->unit, key);
    memcpy(&square, &key, sizeof square);
    return sqrt(square);
}

DM_ANYWHERE void dm_wide_add(uint64_t sum[2], uint64_t low, uint64_t high) {
    sum[0] += low;
    sum[1] += high + (sum[0] < low);
}

/* 0 <= value < 2^127, as 128 bits; the fraction is cut off. */
DM_ANYWHERE void dm_wide_of(double value, uint64_t wide[2]) {
    const double high = floor(value * 0x1p-64);
    wide[0] = (uint64_t)(value - high * 0x1p64);
    wide[1] = (uint64_t)high;
}

/* k of a percentile of n > 0 values; *part is f (see distmap.h). */
DM_ANYWHERE uint64_t dm_rank(uint64_t n, double percent, double *part) {
    const double at = (double)(n - 1) * (percent / 100), whole = floor(at);
    *part = at - whole;
    return (uint64_t)whole < n ? (uint64_t)whole : n - 1;
}

#endif
