/* The oracle: what the header promises, computed from its words by the tests' own code. */
#ifndef TESTS_MATRIX_ORACLE_H
#define TESTS_MATRIX_ORACLE_H

#include "exact.h"

struct expected {
    bool integer;           /* exact integers in d2; else FP64 in d2f */
    struct exact_unit unit; /* of these integers */
    uint64_t *d2;           /* valid where index is not -1; the distance itself where the metric is not the Euclidean */
    double *d2f;
    int64_t *index; /* linear index of the site; DISTMAP_INDEX_NONE, DISTMAP_INDEX_BORDER. The limit is left aside */
    unsigned flags;
};

/* Element i of row-major memory, exactly: the widest float holds every 64-bit integer and every double. */
long double oracle_element(const void *data, distmap_dtype dtype, int64_t i);

/* Whether the element brings anything along: a site, a label, a sample that is not "none". */
bool oracle_offers(const distmap_problem *problem, const void *input, int64_t i);
/* The sites rule alone, as labels' background uses it. */
bool oracle_is_ruled(const distmap_problem *problem, const void *input, int64_t i);

int64_t oracle_elements(const distmap_problem *problem);

/* `input` is row-major. Fills `e`, whose arrays hold one entry per element. */
void oracle_compute(const distmap_problem *problem, const void *input, struct expected *e);

/* Element i's distance and square as they are given out, without sign and limit, as float32 or float64; and whether it is beyond the
 * limit, by the type of `want.distance`. */
double oracle_distance(const distmap_problem *problem, const struct expected *e, int64_t i, bool single);
double oracle_square(const struct expected *e, int64_t i, bool single);
bool oracle_is_beyond(const distmap_problem *problem, const struct expected *e, int64_t i);

/* FP64: the distance from p to the site with linear index q, by the header's formula. */
double oracle_distance_f64(const distmap_problem *problem, const void *input, int64_t p, int64_t q);
/* Whether q may serve p at all: same batch, and a site, a sample or another label. */
bool oracle_serves(const distmap_problem *problem, const void *input, int64_t p, int64_t q);

/* Signed maps: what distances are shortened by, and on which side they are negative. */
double oracle_surface(const distmap_problem *problem);
bool oracle_is_negative(const distmap_problem *problem, const void *input, int64_t i);

#endif
