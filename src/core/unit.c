/* From pitches, as people write them, to whole numbers times a unit.
 *
 * A pitch stands for the shortest decimal that reads back as it: m 10^e with the fewest digits m. Where the pitch is exactly a
 * float32, as headers of files and getters of libraries give them, that is the shortest one that reads back as that float32, if it
 * is shorter: 0.7f, whose double is 0.699999988079071, stands for 0.7.
 *
 * With the least e of all measured pitches for all, the greatest common divisor c of their m makes them whole multiples
 * n = m / c of u = c 10^e. Pitches 2.5, 0.7, 0.7 are 25, 7 and 7 times 0.1.
 */
#include "core/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/internal.h"

enum { EASY_DIGITS = 15, MOST_DIGITS = 17, MOST_POWER = 22 }; /* doubles hold powers of ten up to 10^22 */
static const double least_unit = 1e-18, most_unit = 1e18;

typedef struct decimal {
    uint64_t digits; /* 0: there is none in range */
    int exponent;
} decimal;

static double power_of_10(int n) {
    double power = 1;
    for (int i = 0; i < n; i++)
        power *= 10; /* exact up to 22 */
    return power;
}

/* digits 10^exponent, rounded once: where both factors are doubles by one operation, else as text, which has no decimal point that a
 * locale could change. */
static double value_of(decimal d) {
    if (d.digits >> 53) {
        char text[48];
        snprintf(text, sizeof text, "%" PRIu64 "e%d", d.digits, d.exponent);
        return strtod(text, NULL);
    }
    const double power = power_of_10(abs(d.exponent));
    return d.exponent < 0 ? (double)d.digits / power : (double)d.digits * power;
}

/* x > 0 to so many digits. */
static decimal digits_of(double x, int digits) {
    char text[48];
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    decimal d = {0};
    const char *at = text;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            d.digits = d.digits * 10 + (uint64_t)(*at - '0');
    d.exponent = atoi(at + 1) - (digits - 1);
    return d;
}

static bool reads_back(decimal d, double x, bool single) {
    return abs(d.exponent) <= MOST_POWER && (single ? (float)value_of(d) == (float)x : value_of(d) == x);
}

/* The decimal with the fewest digits that reads back as x > 0, as a double or, `single`, as a float. Few digits are found without
 * text: 10 times as many of them are tried each time, as many as are whole. */
static decimal shortest(double x, bool single) {
    const int first = (int)floor(log10(x));
    for (int digits = 1; digits <= EASY_DIGITS; digits++) {
        const int exponent = first + 1 - digits;
        if (abs(exponent) > MOST_POWER)
            continue;
        const double power = power_of_10(abs(exponent));
        const decimal d = {(uint64_t)rint(exponent < 0 ? x * power : x / power), exponent};
        if (d.digits && reads_back(d, x, single))
            return d;
    }
    for (int digits = EASY_DIGITS; !single && digits <= MOST_DIGITS; digits++) {
        const decimal d = digits_of(x, digits);
        if (reads_back(d, x, false))
            return d;
    }
    return (decimal){0};
}

static decimal decimal_of(double pitch) {
    const decimal d = shortest(pitch, false);
    if ((double)(float)pitch != pitch)
        return d;
    const decimal f = shortest(pitch, true);
    return f.digits && (!d.digits || f.exponent > d.exponent) ? f : d;
}

/* What u, u^2 and sqrt are made from; false where u is out of range. */
static bool set_unit(decimal d, dm_unit *u) {
    const double high = value_of(d);
    if (!(high >= least_unit && high <= most_unit))
        return false;
    *u = (dm_unit){.high = high, .coefficient = d.digits, .exponent = d.exponent, .is_one = high == 1};
    double rest_of_digits;
    const double power = power_of_10(abs(d.exponent)), digits = dm_number_split(d.digits, &rest_of_digits);
    u->low = d.exponent < 0 ? (fma(-high, power, digits) + rest_of_digits) / power
                            : fma(digits, power, -high) + rest_of_digits * power;
    const double square = high * high, rest = fma(high, high, -square) + 2 * high * u->low;
    u->square_high = square + rest;
    u->square_low = rest - (u->square_high - square);
    if (high > 0x1p-30 && high < 0x1p30) {
        u->root_high = (float)u->square_high;
        u->root_low = (float)(u->square_high - (double)u->root_high);
        u->root_lower = u->root_low - u->root_high * 0x1.4p-24f;
    }
    int fives = -d.exponent; /* in the denominator */
    for (uint64_t c = d.digits; fives > 0 && c % 5 == 0; c /= 5)
        fives--;
    u->simple = u->root_high > 0 && fives <= 9 && fives > -9 && d.digits >> 32 == 0;
    if (u->root_high > 0 && u->square_low == 0 && u->root_low == 0) {
        int exponent;
        uint32_t odd = (uint32_t)ldexp(frexp(u->square_high, &exponent), 24); /* u^2 but for powers of two */
        while (odd % 2 == 0)
            odd /= 2;
        u->exact_below = (DM_UNIT_EXACT_FLOAT - 1) / odd + 1;
    }
    if (high == floor(high) && u->low == 0 && high < 0x1p31)
        u->whole = (uint64_t)high * (uint64_t)high;
    return true;
}

void dm_unit_set_one(dm_unit *unit) { set_unit((decimal){1, 0}, unit); }

double dm_pitch_meant(double pitch) {
    const decimal d = decimal_of(pitch);
    return d.digits ? value_of(d) : pitch;
}

bool dm_unit_find(const double *pitch, unsigned axes, uint64_t n[DISTMAP_MAX_AXES], dm_unit *unit) {
    decimal part[DISTMAP_MAX_AXES] = {{0}};
    int least = MOST_POWER;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        if (!(axes >> a & 1))
            continue;
        const bool whole = pitch[a] == floor(pitch[a]) && pitch[a] < 0x1p53; /* as most are: no search for digits */
        part[a] = whole ? (decimal){(uint64_t)pitch[a], 0} : decimal_of(pitch[a]);
        if (!part[a].digits)
            return false;
        least = part[a].exponent < least ? part[a].exponent : least;
    }
    uint64_t divisor = 0;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        for (; part[a].digits && part[a].exponent > least; part[a].exponent--)
            if (__builtin_mul_overflow(part[a].digits, 10, &part[a].digits))
                return false;
        divisor = dm_common_divisor(part[a].digits, divisor);
    }
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        n[a] = divisor ? part[a].digits / divisor : 0;
        if (n[a] > DM_MOST_MULTIPLE)
            return false;
    }
    return set_unit((decimal){divisor, least}, unit);
}
