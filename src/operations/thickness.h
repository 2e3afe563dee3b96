/* Local thickness: what the CPU's and the GPU's rows share.
 *
 * R^2(c) is the squared distance of c to the nearest site, and the ball of c holds the elements p with |p - c|^2 < R^2(c).
 * Wanted is, for every p, the largest R^2 of a ball that holds it.
 *
 * *A ball need only be looked at where its larger neighbours' balls are not.* Let c' be any element with R^2(c') > R^2(c).
 * An element in both balls gets at least R^2(c') from elsewhere: from c' itself, or, by the same argument again, from
 * a larger one; that ends, since R^2 rises each time. So c leaves its ball's common part with c' alone. And of neighbours that are
 * as large one may be taken for larger, say the earlier one in memory: then what rises each time is R^2, or the place. Of 26
 * neighbours in a volume some ten are larger, unless c is a summit, and together they hold nearly all: what is left are a few
 * elements at the tip that points away from the thick parts, and mostly nothing.
 *
 * Everything is exact: a ball is rows along x, and |p - c|^2, in whole numbers or by the one formula of FP64, does not fall
 * where |x| rises; so a row of a ball is an interval about c's own column, and the interval is in another ball if its two
 * ends are.
 *
 * Numbers. Where the pitches have a unit, squares are integers of its square. (So 3.2, 3.2, 3.2 gives what 1, 1, 1 does, times
 * 3.2, and elements that lie just on a ball's surface are not thrown to either side by rounding.) In memory the squares are of
 * the inner plan's type, and everywhere else their *keys*: integers as they are,
 * FP64 by its bits, which are in the same order, being positive.
 *
 * Volumes. The measured axes are brought to the end, in their order: a dense volume [z][y][x] for each batch, missing axes
 * of length 1.
 *
 * Source: T. Hildebrand, P. Ruegsegger, "A new method for the model-independent assessment of thickness in three-dimensional
 * images", Journal of Microscopy 185(1), 1997. */
#ifndef DISTMAP_OPERATIONS_THICKNESS_H
#define DISTMAP_OPERATIONS_THICKNESS_H

#include <math.h>
#include <string.h>

#include "core/internal.h"

enum { TH_AXES = 3, TH_Z = 0, TH_Y = 1, TH_LAST = 2 };

typedef struct th_volumes {
    int64_t length[TH_AXES]; /* z, y, x */
    int64_t rows, elements;  /* of one volume */
    int64_t count;           /* batches */
    int axis[TH_AXES];       /* their numbers in the normal form; -1: missing */
    int batch[DM_NDIM];      /* those of the others, slowest first */
    int batches;             /* how many these are */
    dm_number number;        /* how squares are stored */
    uint64_t w2[TH_AXES];    /* squared pitches, as in the plan */
    double w2f[TH_AXES];
    dm_unit unit;   /* as in the plan */
    uint64_t least; /* key of the least squared pitch: a ball no larger holds its centre alone */
} th_volumes;

/* The key of a stored square. */
DM_ANYWHERE uint64_t th_key(dm_number number, const void *squares, int64_t i) {
    return number == DM_U32 ? ((const uint32_t *)squares)[i] : ((const uint64_t *)squares)[i];
}

DM_ANYWHERE double th_real(dm_number number, uint64_t key) {
    double real;
    if (number != DM_F64)
        return (double)key;
    memcpy(&real, &key, sizeof real);
    return real;
}

/* Whether the element at this offset (of whatever sign) is in a ball. */
DM_ANYWHERE bool th_holds(const th_volumes *v, uint64_t key, int64_t dz, int64_t dy, int64_t dx) {
    if (v->number != DM_F64)
        return v->w2[0] * (uint64_t)(dz * dz) + v->w2[1] * (uint64_t)(dy * dy) + v->w2[2] * (uint64_t)(dx * dx) < key;
    const double x2 = v->w2f[2] * (double)(dx * dx);
    return fma(v->w2f[0], (double)(dz * dz), fma(v->w2f[1], (double)(dy * dy), x2)) < th_real(DM_F64, key);
}

/* The largest |dx| in a ball's row, at most what the volume has; -1: the row is not in the ball. A guess, put right. */
DM_ANYWHERE int64_t th_reach(const th_volumes *v, uint64_t key, int64_t dz, int64_t dy) {
    if (!th_holds(v, key, dz, dy, 0))
        return -1;
    const double rest = th_real(v->number, key) - v->w2f[0] * (double)(dz * dz) - v->w2f[1] * (double)(dy * dy);
    const double steps = rest > 0 ? sqrt(rest / v->w2f[2]) : 0;
    const int64_t most = v->length[TH_LAST] - 1;
    int64_t dx = steps < (double)most ? (int64_t)steps : most;
    while (!th_holds(v, key, dz, dy, dx))
        dx--;
    while (dx < most && th_holds(v, key, dz, dy, dx + 1))
        dx++;
    return dx;
}

/* The largest |d| along one axis of a ball, at most what the volume has. */
DM_ANYWHERE int64_t th_extent(const th_volumes *v, uint64_t key, int axis) {
    const double steps = sqrt(th_real(v->number, key) / v->w2f[axis]) + 1;
    const int64_t most = v->length[axis] - 1;
    return steps < (double)most ? (int64_t)steps : most;
}

/* Whether it is the key of an element without a site. */
DM_ANYWHERE bool th_is_none(dm_number number, uint64_t key) {
    return number == DM_F64 ? !(th_real(DM_F64, key) < (double)INFINITY)
                            : key == (number == DM_U32 ? UINT32_MAX : UINT64_MAX);
}

/* The value of an output for a square, as the bits of its type. */
DM_ANYWHERE uint64_t th_ink_of(const th_volumes *v, distmap_dtype dtype, uint64_t key, bool thickness) {
    const bool none = th_is_none(v->number, key);
    const bool real = v->number == DM_F64;
    if (dtype == DISTMAP_UINT32 || dtype == DISTMAP_UINT64)
        return none ? UINT64_MAX : key * v->unit.whole;
    const double square = th_real(v->number, key);
    uint64_t bits = 0;
    if (dtype == DISTMAP_FLOAT32) {
        const float value = none        ? (float)INFINITY
                            : thickness ? 2 * (real ? (float)sqrt(square) : dm_unit_distancef(&v->unit, key))
                            : real      ? (float)square
                                        : dm_unit_squaref(&v->unit, key);
        memcpy(&bits, &value, sizeof value);
    } else {
        const double value = none        ? (double)INFINITY
                             : thickness ? 2 * (real ? sqrt(square) : dm_unit_distance(&v->unit, key))
                             : real      ? square
                                         : dm_unit_square(&v->unit, key);
        memcpy(&bits, &value, sizeof value);
    }
    return bits;
}

#ifdef __cplusplus
extern "C" {
#endif
/* The problem of the squares R^2, and the volumes that it gives. */
distmap_problem th_inner(const distmap_plan *plan, th_volumes *volumes);

/* A view of all squares, as volumes, in the axes of the problem. */
distmap_view th_squares_view(const distmap_plan *plan, const th_volumes *volumes, void *squares);

/* Bytes from element (0, 0, 0, 0) of an array to the first one of a volume. */
int64_t th_offset(const distmap_plan *plan, const th_volumes *volumes, const dm_array *array, int64_t volume);

/* Why the problem is not taken. */
const char *th_refuses(const distmap_plan *plan);
#ifdef __cplusplus
}
#endif
#endif
