/* What thickness/cpu and its vector loops for each instruction set share. Squares are float32 here, in units of the least
 * squared pitch; where they decide they are cautious by TH_SLACK, so that no bit of a result depends on them. */
#ifndef DISTMAP_OPERATIONS_THICKNESS_CPU_H
#define DISTMAP_OPERATIONS_THICKNESS_CPU_H

#include "operations/thickness.h"

/* A row of squares and those beside it: beside[3 * (dz + 1) + dy + 1], NULL outside the image. */
typedef struct th_select {
    const float *beside[9];
    int64_t n;
    float w2[TH_AXES];
    float grain;                       /* what the squares of elements in a ball are at least below R^2 */
    float *under, *twice, *sum, *best; /* lines to work on, and the result */
} th_select;

/* The rows of a ball of one size: its own offsets, and D2 of their ends. Padded with rows that need nothing. */
typedef struct th_ball {
    int64_t count;
    int32_t *dz, *dy, *dx; /* dx: of the end, >= 0 */
    float *far2;
    uint8_t *needed;
} th_ball;

enum { TH_PAD = 16, TH_BEST = 3 };
#define TH_SLACK 0x1p-18f /* some 60 roundings of float32 */

/* The 27 elements around a ball's centre, itself among them, and those TH_BEST of the larger ones that take most of the ball:
 * best[0] first. */
enum { TH_NEAR = 32, TH_CENTRE = 13 };
typedef struct th_near {
    float r2[TH_NEAR];     /* z, y, x; 0 outside the image */
    float weight[TH_NEAR]; /* 1 / distance; 0 for the centre, and beyond 27 */
    int count, best[TH_BEST];
} th_near;

typedef struct th_kernels {
    /* best[x] > 0: the ball of x is within those of its neighbours. */
    void (*select)(const th_select *row);
    void (*choose)(th_near *near);
    /* reach[k] = the largest D2 of an element of row k from the neighbour `step` (z, y, |x|). */
    void (*measure)(const th_ball *ball, const float w2[TH_AXES], const int step[TH_AXES], float *reach);
    /* needed[k] = whether the row is in none of the neighbours' balls. */
    void (*compare)(const th_ball *ball, const float *const reach[TH_BEST], const float within[TH_BEST]);
} th_kernels;

extern const th_kernels dm_thickness_plain, dm_thickness_sse4, dm_thickness_avx2, dm_thickness_avx512,
    dm_thickness_neon;

enum { TH_STEPS = 18 };       /* neighbours, |x| standing for both signs */
enum { TH_KEPT_ROWS = 4096 }; /* balls of no more rows have all neighbours' reaches at hand */

/* What a worker has. */
typedef struct th_worker {
    th_ball ball;
    uint64_t key; /* R^2 of `ball` */
    float *reach;
    bool made[TH_STEPS];
    float *lines; /* four, for the filter */
} th_worker;

typedef struct th_work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    const th_kernels *kernels;
    th_volumes v;
    float scale, w2[TH_AXES]; /* squares in units of the least squared pitch */
    float grain, spread;      /* of the filters: see th_select, and the square of a step along all axes at once */
    bool filters;
    char *all;      /* squares */
    char *squares;  /* of the volume */
    int64_t volume; /* which */
    uint32_t *list[2];
    uint64_t *bits;
    int64_t words; /* of a row of bits */
    th_worker *workers;
    const uint32_t *balls; /* the list, in order */
    int64_t ball_count, slabs, slab_length;
    int slab_axis;
} th_work;

static inline int64_t th_smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t th_larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t th_padded(int64_t rows) { return (rows + TH_PAD - 1) / TH_PAD * TH_PAD; }

/* A key as a square of the filters. */
static inline float th_scaled(const th_work *w, uint64_t key) { return (float)th_real(w->v.number, key) * w->scale; }

/* Paints the outputs of the volume with `balls`, of which the largest has the key `most`; 0: there is none. */
distmap_status th_paint(th_work *w, uint64_t most, double share);

#endif
