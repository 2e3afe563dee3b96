/* Patterns of sites, a row at a time. */
#ifndef DISTMAP_CLI_PATTERNS_H
#define DISTMAP_CLI_PATTERNS_H

#include "cli.h"

enum { NONSITE = 255 };

typedef struct grid {
    double density;
    uint64_t seed;
    int64_t nz, ny, nx; /* nz is 1 in 2-D */
    bool volume;
} grid;

/* Fills the row (z, y). */
typedef void fill_row(const grid *g, int64_t z, int64_t y, uint8_t *row);

fill_row strapwork_row;

uint64_t mix(uint64_t x); /* to any other number, as if drawn */

#endif
