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

/* The rows of a ball of one size: its own offsets, and D2 of their ends. A multiple of TH_PAD, the last ones of which may be none:
 * below any D2. */
typedef struct th_ball {
    int64_t count;
    const int32_t *dz, *dy, *dx; /* dx: of the end, >= 0 */
    const float *far2;
} th_ball;

enum { TH_PAD = 16, TH_BEST = 4, TH_BLOCK = 16, TH_PART = 1024 /* rows of large balls */ };
#define TH_SLACK 0x1p-18f /* some 60 roundings of float32 */

/* The 27 elements around a ball's centre, itself among them, and those TH_BEST of the larger ones that take most of the ball:
 * best[0] first. */
enum { TH_NEAR = 32, TH_CENTRE = 13 };
typedef struct th_near {
    float r2[TH_NEAR];     /* z, y, x; 0 outside the image */
    float weight[TH_NEAR]; /* 1 / distance; 0 for the centre, and beyond 27 */
    int count, best[TH_BEST];
} th_near;

/* What a ball about `at` is painted into: of a volume the rows from..to of z and y, and no element at `end` or beyond. */
typedef struct th_canvas {
    char *squares; /* of the volume */
    const int64_t *length;
    const float *w2;
    int64_t from[TH_LAST], to[TH_LAST], end;
    int64_t at[TH_AXES];
} th_canvas;

typedef struct th_kernels {
    /* best[x] > 0: the ball of x is within those of its neighbours. */
    void (*select)(const th_select *row);
    void (*choose)(th_near *near);
    /* Raises what rows of the ball hold to at least `key`, those that are in none of the chosen neighbours' balls, which are
     * taken to be `slack` smaller. Squares of 32 bits, of 64. */
    void (*paint[2])(const th_canvas *canvas, const th_ball *ball, const th_near *near, float slack, uint64_t key);
} th_kernels;

extern const th_kernels dm_thickness_plain, dm_thickness_sse4, dm_thickness_avx2, dm_thickness_avx512,
    dm_thickness_neon;

/* The balls that a worker has at hand, by their key. When there is no more room all are forgotten. */
enum { TH_SLOTS = 4096, TH_MOST_BALLS = TH_SLOTS / 2 };
typedef struct th_balls {
    struct th_slot {
        uint64_t key; /* 0: free */
        int64_t first, count;
    } * slot;
    int32_t *dz, *dy, *dx; /* the rows of all */
    float *far2;
    int64_t rows, room; /* used, and in all */
    int count;
} th_balls;

typedef struct th_worker {
    th_balls balls;
    float *lines; /* four, for the filter */
    float most;   /* the largest square met */
} th_worker;

typedef struct th_work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    const th_kernels *kernels;
    th_volumes v;
    float scale, w2[TH_AXES]; /* squares in units of the least squared pitch */
    float grain, spread;      /* of the filters: see th_select, and the square of a step along all axes at once */
    bool filters;
    char *all, *all_largest; /* squares, and what they grow to */
    char *squares, *largest; /* of the volume */
    int64_t volume;          /* which */
    float *scaled;           /* the volume's squares for the filters */
    uint64_t *bits;          /* balls to look at */
    int64_t words;           /* of a row of bits */
    th_worker *workers;
    int slab_axis;
    int64_t slabs, slab_length, around; /* how far balls reach along it */
} th_work;

static inline int64_t th_smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t th_larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t th_padded(int64_t rows) { return (rows + TH_PAD - 1) / TH_PAD * TH_PAD; }

/* Lets the balls of a volume raise its squares, and stores the outputs. */
distmap_status th_paint(th_work *w, double share);

#endif
