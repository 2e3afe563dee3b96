/* The header's rule for pitches and rounding, by other means than the library's: decimals as text, roots by MPFR. */
#ifndef TESTS_MATRIX_EXACT_H
#define TESTS_MATRIX_EXACT_H

#include <distmap.h>

/* The unit c 10^e of a problem's measured pitches, and how many of it each is. */
struct exact_unit {
    bool integer; /* there is one: squared distances are integers times its square */
    uint64_t n[DISTMAP_MAX_NDIM];
    unsigned long c;
    int e;
};
struct exact_unit exact_unit_of(const distmap_problem *problem);

/* The double nearest to the decimal that a pitch stands for. */
double exact_pitch(double pitch);

/* u sqrt(n), or u^2 n, rounded once to float32 (exactly a double then) or to float64. */
double exact_distance(const struct exact_unit *unit, uint64_t n, bool single);
double exact_square(const struct exact_unit *unit, uint64_t n, bool single);

#endif
