#include "exact.h"

#include "../require.h"
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

/* ---- Decimals ---- */

struct decimal {
    unsigned long digits;
    int exponent, count;
};

/* x printed with so many digits. */
static struct decimal printed(double x, int digits, char text[40]) {
    struct decimal d = {.count = digits};
    snprintf(text, 40, "%.*e", digits - 1, x);
    for (const char *p = text; *p != 'e'; p++)
        if (*p != '.')
            d.digits = d.digits * 10 + (unsigned long)(*p - '0');
    d.exponent = atoi(strchr(text, 'e') + 1) - (digits - 1);
    return d;
}

static struct decimal decimal_of(double x) {
    char text[40];
    struct decimal d = {0}, f = {0};
    int digits = 0;
    do
        d = printed(x, ++digits, text);
    while (strtod(text, NULL) != x);
    if ((double)(float)x != x)
        return d;
    digits = 0;
    do
        f = printed(x, ++digits, text);
    while (strtof(text, NULL) != (float)x);
    return f.count < d.count ? f : d;
}

double exact_pitch(double pitch) {
    if (pitch == 0)
        return 1;
    const struct decimal d = decimal_of(pitch);
    char text[40];
    snprintf(text, sizeof text, "%lue%d", d.digits, d.exponent);
    return strtod(text, NULL);
}

/* ---- The unit ---- */

static unsigned long divisor(unsigned long a, unsigned long b) { return b ? divisor(b, a % b) : a; }

static bool is_measured(const distmap_problem *p, int a) { return p->axes == 0 || (p->axes >> a & 1); }

/* Fills n, c and e from pitches; whether that can be. */
static bool find_unit(const distmap_problem *p, struct exact_unit *unit) {
    struct decimal d[DISTMAP_MAX_NDIM] = {{0}};
    int least = 1000;
    for (int a = 0; a < p->ndim; a++)
        if (is_measured(p, a)) {
            d[a] = decimal_of(p->spacing[a] == 0 ? 1 : p->spacing[a]);
            least = d[a].exponent < least ? d[a].exponent : least;
        }
    unit->c = 0;
    for (int a = 0; a < p->ndim; a++)
        for (; d[a].digits && d[a].exponent > least; d[a].exponent--)
            if (__builtin_mul_overflow(d[a].digits, 10, &d[a].digits))
                return false;
    for (int a = 0; a < p->ndim; a++)
        unit->c = divisor(d[a].digits, unit->c);
    bool fits = true;
    for (int a = 0; a < p->ndim; a++) {
        unit->n[a] = d[a].digits / unit->c;
        fits = fits && unit->n[a] <= 1 << 20;
    }
    unit->e = least;
    return fits;
}

struct exact_unit exact_unit_of(const distmap_problem *p) {
    struct exact_unit unit = {.integer = true, .c = 1};
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN)
        return unit;
    if (p->input == DISTMAP_INPUT_SAMPLED) {
        unit.integer = p->dtype != DISTMAP_FLOAT32 && p->dtype != DISTMAP_FLOAT64;
        for (int a = 0; a < p->ndim; a++) {
            const double pitch = p->spacing[a] == 0 ? 1 : p->spacing[a];
            unit.integer = unit.integer && (!is_measured(p, a) || (pitch == floor(pitch) && pitch <= 1 << 20));
            unit.n[a] = (uint64_t)pitch;
        }
        if (p->unit > 0) {
            const struct decimal d = decimal_of(p->unit);
            unit.c = d.digits, unit.e = d.exponent;
        }
        return unit;
    }
    unit.integer = find_unit(p, &unit);
    long double most = 0;
    for (int a = 0; a < p->ndim; a++)
        most += is_measured(p, a)
                    ? powl((long double)unit.n[a] * (long double)(p->shape[a] > 0 ? p->shape[a] - 1 : 0), 2)
                    : 0;
    unit.integer = unit.integer && most <= 0x1p61L;
    return unit;
}

/* ---- Rounding ---- */

enum {
    PRECISION = 500
}; /* every operation but roots that are no whole numbers is exact, or far more exact than needed */

/* c^times n 10^(e times), or the same of sqrt(n). Division comes last: where the result has few digits, it is exact. */
static double rounded(const struct exact_unit *unit, uint64_t n, bool root, int times, bool single) {
    static mpfr_t value, power;
    static bool made;
    if (!made)
        mpfr_inits2(PRECISION, value, power, (mpfr_ptr)0);
    made = true;
    mpfr_set_ui(value, n, MPFR_RNDN);
    if (root)
        mpfr_sqrt(value, value, MPFR_RNDN);
    for (int i = 0; i < times; i++)
        mpfr_mul_ui(value, value, unit->c, MPFR_RNDN);
    mpfr_ui_pow_ui(power, 10, (unsigned long)(abs(unit->e) * times), MPFR_RNDN);
    if (unit->e < 0)
        mpfr_div(value, value, power, MPFR_RNDN);
    else
        mpfr_mul(value, value, power, MPFR_RNDN);
    return single ? (double)mpfr_get_flt(value, MPFR_RNDN) : mpfr_get_d(value, MPFR_RNDN);
}

double exact_distance(const struct exact_unit *unit, uint64_t n, bool single) {
    return rounded(unit, n, true, 1, single);
}
double exact_square(const struct exact_unit *unit, uint64_t n, bool single) {
    return rounded(unit, n, false, 2, single);
}
