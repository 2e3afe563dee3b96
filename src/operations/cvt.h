/* Centroidal Voronoi diagrams: shared by CPU and GPU. The flow (cvt.c), the start (cvt_start.c) and the arithmetic below are
 * the same for all devices; the functions over elements and points are a table, one for each device.
 *
 * Why the energy never increases. Let V be the cell of a site s, W > 0 its weight, c its centroid. For any position x
 *
 *     sum over V of w |p - x|^2 = sum over V of w |p - c|^2 + W |x - c|^2
 *
 * so with the same cells moving s to x reduces the energy if x is nearer to c than s is, and then computing the new cells reduces it
 * again or leaves it. |x - c|^2 is a sum over the axes, which are therefore decided one by one: cv_step() moves nearer to c along an
 * axis, by integers, or not at all.
 *
 * Why sites stay apart. Let s go to x, |x - c| < |s - c|. All of V is as near to s as to any other site q, which says that it lies
 * in a half-space; c is there too, so |s - c| <= |q - c|. So x is not q: no site moves to the position of another one, and only two
 * that move to the same element can meet. The lower number moves, the other stays. (If spacing is not exact in FP64, cells
 * may be wrong by rounding. Elements with a site are no targets, so sites stay apart there as well.)
 *
 * Energies come from the cells' sums: with T = sum of w p^2 over all elements, along each axis,
 *
 *     Q = sum of w (p - s)^2 = T - sum over the sites of s (2 P - W s),    P = sum over V of w p,
 *
 * in integers of 128 bits, which may wrap on the way. Bounds: S is all weight, n the longest side. S n < 2^62 is asked for, so W, P
 * and 2 |P - W s| fit 64 bits; S n^2 < 2^93 since n < 2^31. */
#ifndef DISTMAP_OPERATIONS_CVT_H
#define DISTMAP_OPERATIONS_CVT_H

#include <math.h>

#include "core/internal.h"

enum { CV_AXES = 3 }; /* z, y, x: axes 1 to 3 of the normal form */

__extension__ typedef unsigned __int128 cv_wide;

typedef struct cv_grid {
    int64_t shape[CV_AXES], linear[CV_AXES], elements;
    uint64_t *weight; /* row-major; NULL for the image, whose elements are the input's */
} cv_grid;

typedef struct cv_place {
    int32_t at[CV_AXES];
} cv_place;

/* The sums of a cell. */
typedef struct cv_sums {
    uint64_t weight, moment[CV_AXES]; /* W, and P along each axis */
} cv_sums;

/* How FP64 makes an energy of Q. */
typedef struct cv_units {
    bool integer;
    double square;        /* u^2; 1 where the numbers are FP64 */
    uint64_t w2[CV_AXES]; /* squared pitches, in it */
    double w2f[CV_AXES];
} cv_units;

/* Properties of the image before the start. */
typedef struct cv_found {
    uint64_t total;             /* S */
    int64_t weighted[DM_INNER]; /* elements with weight, on each grid */
    cv_wide square[CV_AXES];    /* T */
} cv_found;

typedef struct cv_work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    const struct cv_device *device;
    cv_grid grid[DM_INNER]; /* the image, then ever coarser ones */
    int grids;
    int64_t points;
    double omega;
    cv_units units;
    cv_found found;
    bool wide;       /* indices are int64, else int32 */
    int32_t *stand;  /* on the grid at work: 1 + number of the point that stands on an element, else 0 */
    void *index;     /* and of each element the nearest of these, as linear indices */
    cv_place *place; /* of each point */
    cv_sums *sums;
    int64_t *target; /* the element that it is bound for; -1: none */
    void *own;       /* the device's */
} cv_work;

/* All that differs. On a GPU these enqueue, except for measure, weights and emit, which wait. */
typedef struct cv_device {
    size_t unit;                                         /* of scratch */
    size_t (*own_bytes)(const cv_work *w);               /* of scratch for w->own */
    distmap_status (*measure)(cv_work *w, double share); /* makes the coarser grids, fills found */
    /* Weights [first, first + count) of a grid, to the host. */
    distmap_status (*weights)(cv_work *w, int grid, int64_t first, int64_t count, uint64_t *to);
    /* Places of the points from `first` on, from the host. */
    distmap_status (*put)(cv_work *w, int64_t first, int64_t count, const cv_place *places);
    /* Points begin to stand on a grid: all of `stand`. */
    distmap_status (*occupy)(cv_work *w, int grid, double share);
    /* From `index` the cells' sums. */
    distmap_status (*gather)(cv_work *w, int grid, double share);
    /* From them the energy (of step number `step` on the image's own grid), and where `moves`, new places. *rest may be set where
     * none moved: all later steps have that energy. */
    distmap_status (*advance)(cv_work *w, int grid, int64_t step, bool moves, bool *rest, double share);
    /* Doubles all coordinates. */
    distmap_status (*refine)(cv_work *w);
    distmap_status (*emit)(cv_work *w, double share);
} cv_device;

/* ---- The arithmetic ---- */

/* How far a site goes along an axis of `length` elements. */
DM_ANYWHERE int64_t cv_step(uint64_t weight, uint64_t moment, int64_t at, int64_t length, double omega) {
    const uint64_t here = weight * (uint64_t)at;
    const bool up = moment > here;
    const uint64_t off = up ? moment - here : here - moment,
                   room = (uint64_t)(up ? length - 1 - at : at); /* off: W |u| */
    if (off == 0)                                                /* also where there is no weight */
        return 0;
    uint64_t steps = (2 * off + weight - 1) / (2 * weight);
    if (omega != 1) {
        const double far = rint(omega * ((double)off / (double)weight));
        const uint64_t over = far < (double)room ? (uint64_t)far : room;
        if (over > 0 && weight * over < 2 * off) /* |W over - off| < off */
            steps = over;
    }
    return up ? (int64_t)steps : -(int64_t)steps;
}

/* The part of T that a site removes along an axis: s (2 P - W s), modulo 2^128. */
DM_ANYWHERE cv_wide cv_taken(uint64_t weight, uint64_t moment, int64_t at) {
    return (cv_wide)(uint64_t)at * (2 * (cv_wide)moment - (cv_wide)weight * (uint64_t)at);
}

/* Rounded once: of the 64 leading bits the last one tells whether there are more. */
DM_ANYWHERE double cv_double(cv_wide x) {
    int shift = 0;
    bool more = false;
    for (; x >> 64; x >>= 1, shift++)
        more |= (bool)(x & 1);
    return ldexp((double)((uint64_t)x | (uint64_t)more), shift);
}

DM_ANYWHERE double cv_energy(const cv_units *u, const cv_wide q[CV_AXES]) {
    if (u->integer)
        return cv_double(u->w2[0] * q[0] + u->w2[1] * q[1] + u->w2[2] * q[2]) * u->square;
    return fma(u->w2f[0], cv_double(q[0]), fma(u->w2f[1], cv_double(q[1]), u->w2f[2] * cv_double(q[2])));
}

DM_ANYWHERE double cv_centroid(const cv_sums *s, const cv_place *p, int k) {
    return s->weight ? (double)s->moment[k] / (double)s->weight : (double)p->at[k];
}

DM_ANYWHERE int64_t cv_linear(const cv_grid *g, const cv_place *p) {
    return p->at[0] * g->linear[0] + p->at[1] * g->linear[1] + p->at[2] * g->linear[2];
}

#ifdef __cplusplus
extern "C" {
#endif
/* ---- The flow: a method's members (cvt.c) ---- */

size_t cv_scratch_bytes(const distmap_plan *plan, const cv_device *device);
distmap_status cv_prepare(distmap_plan *plan);
distmap_status cv_run(distmap_plan *plan, const dm_arrays *arrays, const cv_device *device);

/* Where the points stand first, on that grid (cvt_start.c). */
distmap_status cv_start(cv_work *w, int grid);

#ifdef __cplusplus
}
#endif
#endif
