/* esf: what the parts of the edge strength function share. distmap_esf (distmap.h) says what is computed.
 *
 * The grid. Axes are put in an order of their own, [batches][z][y][x] with the n axes that count last: so x always
 * counts, and one code does for every choice of axes. Field memory holds one value per element in that order, rows
 * padded to `pitch` values with room for one more element on either side.
 *
 * The shape needs no memory of its own as long as a >= 0 in v' = a v + dt s: rounded operations never fall when an
 * argument rises, v starts at 0 beside the shape and is nowhere below that after one step; so it never falls from step
 * to step, and a v that has reached 1 stays 1, as the shape does. v = 1 may then stand for the shape. Where a < 0 the
 * shape is read again.
 */
#ifndef DISTMAP_ESF_H
#define DISTMAP_ESF_H

#include <math.h>

#include "core/internal.h"

enum { ESF_LINE = 16 }; /* values: rows begin at multiples of it, a cache line of float32 */

typedef struct esf_grid {
    int axes;               /* n, those that count */
    int from[DM_NDIM];      /* the plan's axis at each place */
    int64_t shape[DM_NDIM]; /* at each place */
    int64_t batches, nz, ny, nx;
    size_t pitch; /* values from row to row of field memory */
    size_t size;  /* bytes of a value */
} esf_grid;

static inline esf_grid esf_grid_make(const distmap_plan *plan) {
    esf_grid g = {.axes = plan->esf.axes, .batches = 1};
    int batch = 0, counting = DM_NDIM - g.axes;
    for (int a = 0; a < DM_NDIM; a++) {
        const int place = dm_axis_counts(plan, a) ? counting++ : batch++;
        g.from[place] = a;
        g.shape[place] = plan->shape[a];
    }
    for (int place = 0; place < DM_NDIM - g.axes; place++)
        g.batches *= g.shape[place];
    g.nz = g.axes > 2 ? g.shape[1] : 1;
    g.ny = g.axes > 1 ? g.shape[2] : 1;
    g.nx = g.axes > 0 ? g.shape[DM_X] : 1;
    g.pitch = ((size_t)g.nx + ESF_LINE - 1) / ESF_LINE * ESF_LINE + ESF_LINE;
    g.size = distmap_dtype_size(plan->problem.want.strength);
    return g;
}

static inline int64_t esf_grid_rows(const esf_grid *g) { return g->batches * g->nz * g->ny; }

/* The array with its axes in the grid's order. */
static inline dm_array esf_grid_turn(const esf_grid *g, const dm_array *array) {
    dm_array turned = *array;
    for (int place = 0; place < DM_NDIM; place++)
        turned.stride[place] = array->stride[g->from[place]];
    return turned;
}

/* The best omega of over-relaxation for elements with so many neighbours, at least 1 (esf_sor.c). 1 - mu is found
 * from 1/rho^2, `decay`: where rho is large mu itself is next to 1. */
static inline double esf_best_omega(double neighbours, double decay) {
    const double all = neighbours + decay, mu = neighbours / all;
    return 2 / (1 + sqrt(fmin(decay / all * (1 + mu), 1)));
}

/* After so many sweeps omega is 1 (esf_sor.c). */
static inline double esf_over_sweeps(double omega, double tolerance) {
    return 2 * log(tolerance) / (omega > 1 ? log(omega - 1) : -INFINITY);
}

/* The place of element x of row `row`, counted through all batches. */
static inline void esf_grid_place(const esf_grid *g, int64_t row, int64_t x, int64_t at[DM_NDIM]) {
    const bool alone = g->axes == 0; /* every element is a batch, and a row */
    at[DM_X] = x;
    for (int place = alone ? DM_X : DM_X - 1; place >= 0; place--) {
        at[place] = row % g->shape[place];
        row /= g->shape[place];
    }
}

#endif
