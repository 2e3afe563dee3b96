/* The unit of integer squared distances, and the one rounding between them and an output.
 *
 * Where the measured pitches are whole multiples n_a of a decimal unit u = c 10^e, squared distances are kept as the integers
 * N = sum n_a^2 d_a^2, and outputs are u sqrt(N) or u^2 N, rounded once to the output's type: to the nearest value, ties to
 * even. With u = 1 these are the root of N and N itself.
 *
 * Candidates come from u, u^2 and roots as sums of two doubles, with an error below 2^-100; for float32 one double, with an error below
 * 2^-51, suffices. So the candidate is the result unless the value is that near to the middle between two neighbours. There, about
 * once in 2^26 values, an exact comparison with the middle decides: M 2^k is the middle in whole numbers, and
 *
 *     u^2 N > M^2 2^2k   or   u^2 N > M 2^k
 *
 * is a comparison of integers below 2^320, when negative powers of ten and two are moved to the other side.
 *
 * A unit is `simple` where, in lowest terms, at most 5^9 divides it (nine decimal places) and c is below 2^32: then u^2 N, N below
 * 2^32, is at least 2^-97 of itself away from the square of a middle between floats, unless it is that.
 *
 * For host and device alike, to the bit: nothing here is contracted (-ffp-contract=off, --fmad=false).
 */
#ifndef DISTMAP_CORE_UNIT_H
#define DISTMAP_CORE_UNIT_H

#include <math.h>
#include <string.h>

#include "core/metric.h"

typedef struct dm_unit {
    bool is_one, simple;
    double high, low;               /* u = high + low, to 2^-100 */
    double square_high, square_low; /* u^2 likewise */
    float root_high, root_low;      /* u^2 likewise, to 2^-47, where floats hold what comes of them; else 0 */
    float root_lower;               /* root_high + root_lower is u^2 (1 - 5/4 2^-24): its multiples, rounded, are below u^2's */
    uint32_t exact_below; /* float(u^2 N) is u^2 N for N below this: sqrtf of it is the distance. 2^24 for the unit 1 */
    uint64_t whole;       /* u^2 where that is a whole number below 2^63, else 0: integer outputs are N times that */
    uint64_t coefficient; /* c, below 2^57 */
    int exponent;         /* e */
} dm_unit;

enum { DM_UNIT_EXACT_FLOAT = 1 << 24 }; /* N below this are floats */

/* ---- Exact comparison ---- */

enum { DM_LIMBS = 10 }; /* of 32 bits, lowest first */

typedef struct dm_long {
    uint32_t limb[DM_LIMBS];
} dm_long;

DM_ANYWHERE void dm_long_times(dm_long *x, uint64_t by) {
    uint64_t low = 0, before = 0; /* by = high 2^32 + low: two rows of the product at once */
    uint32_t last = 0;
    for (int i = 0; i < DM_LIMBS; i++) {
        const uint32_t limb = x->limb[i];
        low += (uint64_t)limb * (uint32_t)by;
        before += (uint64_t)last * (uint32_t)(by >> 32);
        const uint64_t sum = (low & UINT32_MAX) + (before & UINT32_MAX);
        x->limb[i] = (uint32_t)sum;
        low = (low >> 32) + (sum >> 32);
        before >>= 32;
        last = limb;
    }
}

DM_ANYWHERE void dm_long_shift(dm_long *x, int bits) {
    const int limbs = bits / 32, rest = bits % 32;
    for (int i = DM_LIMBS - 1; i >= 0; i--) {
        const uint64_t high = i >= limbs ? x->limb[i - limbs] : 0, low = i > limbs ? x->limb[i - limbs - 1] : 0;
        x->limb[i] = (uint32_t)((high << 32 | low) >> (32 - rest));
    }
}

DM_ANYWHERE int dm_long_compare(const dm_long *a, const dm_long *b) {
    for (int i = DM_LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] > b->limb[i] ? 1 : -1;
    return 0;
}

DM_ANYWHERE uint64_t dm_power_of_5(int n) {
    uint64_t power = 1;
    for (int i = 0; i < n; i++)
        power *= 5;
    return power;
}

/* The sign of u sqrt(N) - M 2^k, of u^2 N - M 2^k where `square`. Both are within a factor of two of each other, which bounds what
 * the shift leaves. */
DM_ANYWHERE int dm_unit_compare(const dm_unit *u, uint64_t n, bool square, uint64_t m, int k) {
    dm_long value = {{(uint32_t)n, (uint32_t)(n >> 32)}}, middle = {{(uint32_t)m, (uint32_t)(m >> 32)}};
    const int e = u->exponent;
    const uint64_t fives = dm_power_of_5(e < 0 ? -e : e);
    dm_long *const with_fives = e < 0 ? &middle : &value;
    for (int i = 0; i < 2; i++) {
        dm_long_times(&value, u->coefficient);
        dm_long_times(with_fives, fives);
    }
    if (!square)
        dm_long_times(&middle, m);
    const int twos = 2 * e - (square ? k : 2 * k);
    dm_long_shift(twos > 0 ? &value : &middle, twos > 0 ? twos : -twos);
    return dm_long_compare(&value, &middle);
}

/* The neighbour of r > 0, or r, to which the value rounds: r = R 2^k with R of `bits` bits, at most one place off. Pairs of
 * neighbours meet in (2 R +- 1) 2^(k - 1); below a power of two they are twice as near. */
DM_ANYWHERE_SELDOM double dm_unit_settle(const dm_unit *u, uint64_t n, bool square, double r, int bits) {
    int k;
    const uint64_t whole = (uint64_t)ldexp(frexp(r, &k), bits);
    k -= bits;
    const int above = dm_unit_compare(u, n, square, 2 * whole + 1, k - 1);
    if (above > 0 || (above == 0 && whole & 1))
        return ldexp((double)(whole + 1), k);
    const bool edge = whole == (uint64_t)1 << (bits - 1);
    const int below = edge ? dm_unit_compare(u, n, square, 4 * whole - 1, k - 2)
                           : dm_unit_compare(u, n, square, 2 * whole - 1, k - 1);
    if (below < 0 || (below == 0 && whole & 1))
        return edge ? ldexp((double)(2 * whole - 1), k - 1) : ldexp((double)(whole - 1), k);
    return r;
}

/* ---- Sums of two doubles ---- */

/* a b = the result + *error, exactly, but for numbers near the ends of the range. */
DM_ANYWHERE double dm_product(double a, double b, double *error) {
    const double product = a * b;
#if defined(__CUDA_ARCH__) || defined(__FMA__) || defined(__aarch64__)
    *error = fma(a, b, -product);
#else /* Dekker: halves of 26 bits, whose products are exact */
    const double cut = 134217729.0, ca = cut * a, cb = cut * b;
    const double a1 = ca - (ca - a), a2 = a - a1, b1 = cb - (cb - b), b2 = b - b1;
    *error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
#endif
    return product;
}

/* N as a sum. */
DM_ANYWHERE double dm_number_split(uint64_t n, double *low) {
    const double high = (double)n;
    const uint64_t whole = high < 0x1p64 ? (uint64_t)high : 0; /* 2^64 is 0, as differences have it */
    *low = n >> 53 ? (double)(int64_t)(n - whole) : 0;
    return high;
}

/* u sqrt(N), or u^2 N, as a sum. */
DM_ANYWHERE double dm_unit_value(const dm_unit *u, uint64_t n, bool square, double *low) {
    double number_low, error;
    const double number = dm_number_split(n, &number_low);
    if (square) {
        const double high = dm_product(u->square_high, number, &error);
        *low = error + (u->square_low * number + u->square_high * number_low);
        return high;
    }
    const double root = sqrt(number), squared = dm_product(root, root, &error);
    const double root_low = ((number - squared - error) + number_low) / (2 * root);
    const double high = dm_product(u->high, root, &error);
    *low = error + (u->high * root_low + u->low * root);
    return high;
}

/* ---- To doubles and floats ---- */

/* Whether the sum of a rounded double r and the rest, which is right to 2^-100 of it, may belong to a neighbour of r. */
DM_ANYWHERE bool dm_is_near_middle(double r, double rest) {
    uint64_t bits;
    memcpy(&bits, &r, sizeof bits);
    const bool edge = !(bits & (((uint64_t)1 << 52) - 1));
    bits = (bits & (uint64_t)0x7FF << 52) - ((uint64_t)53 << 52); /* half of the last place */
    double half;
    memcpy(&half, &bits, sizeof half);
    return fabs(rest) > half * (edge ? 0.49 : 1 - 0x1p-40);
}

DM_ANYWHERE_SELDOM double dm_unit_double(const dm_unit *u, uint64_t n, bool square) {
    if (n == 0)
        return 0;
    double low;
    const double high = dm_unit_value(u, n, square, &low), r = high + low;
    return dm_is_near_middle(r, low - (r - high)) ? dm_unit_settle(u, n, square, r, 53) : r;
}

/* Whether the float nearest to a double that is right to four of its last places is not surely the value's: floats have 29 bits
 * less, of which half is the middle. */
DM_ANYWHERE bool dm_is_between_floats(double r) {
    enum { MIDDLE = 1 << 28, ERROR = 4 };
    uint64_t bits;
    memcpy(&bits, &r, sizeof bits);
    return (uint32_t)(bits & (2 * MIDDLE - 1)) - (MIDDLE - ERROR) <= 2 * ERROR;
}

/* A double that is right to four of its last places: what is beyond the nearest float's neighbours is settled. */
DM_ANYWHERE float dm_unit_float_of(const dm_unit *u, uint64_t n, bool square, double r) {
    const float nearest = (float)r;
    if (!dm_is_between_floats(r) || n == 0 || !(nearest < (float)INFINITY))
        return nearest;
    return (float)dm_unit_settle(u, n, square, (double)nearest, 24);
}

DM_ANYWHERE_SELDOM float dm_unit_float(const dm_unit *u, uint64_t n, bool square) {
    const double number = (double)n;
    return dm_unit_float_of(u, n, square, square ? u->square_high * number : u->high * sqrt(number));
}

/* ---- Outputs ---- */

/* The simple cases come first, so that compilers inline them; with the unit 1 nearly all values are simple. */
DM_ANYWHERE double dm_unit_distance(const dm_unit *u, uint64_t n) {
    return u->is_one && !(n >> 53) ? sqrt((double)n) : dm_unit_double(u, n, false);
}
DM_ANYWHERE float dm_unit_distancef(const dm_unit *u, uint64_t n) {
    return u->is_one && n < DM_UNIT_EXACT_FLOAT ? sqrtf((float)n) : dm_unit_float(u, n, false);
}
DM_ANYWHERE double dm_unit_square(const dm_unit *u, uint64_t n) {
    return u->is_one ? (double)n : dm_unit_double(u, n, true);
}
DM_ANYWHERE float dm_unit_squaref(const dm_unit *u, uint64_t n) {
    return u->is_one ? (float)n : dm_unit_float(u, n, true);
}

#endif
