/* Shared by thickness/cpu and its vector loops for each instruction set. Squares are float32 where balls are chosen, in units of
 * the least squared pitch; there all is cautious by TH_SLACK, so that no bit of a result depends on it. */
#ifndef DISTMAP_OPERATIONS_THICKNESS_CPU_H
#define DISTMAP_OPERATIONS_THICKNESS_CPU_H

#include "operations/thickness.h"

/* A row of squares and those beside it: beside[3 * (dz + 1) + dy + 1], NULL outside the image. */
typedef struct th_select {
    const float *beside[9];
    int64_t n;
    float w2[TH_AXES];
    float grain;                              /* what the squares of elements in a ball are at least below R^2 */
    float *under, *twice, *sum, *best, *most; /* lines to work on; before and behind `most` is room for one more */
    uint8_t *left;                            /* a line of whole words */
    uint64_t *bits;                           /* the result: balls that are left */
} th_select;

/* Rows of a ball of one size, runs along x of dx elements on either side of its own column: those that its best neighbour may not
 * hold. TH_PAD more may be read behind them. */
typedef struct th_rows {
    int64_t count;
    const uint32_t *place; /* dz and dy, see th_packing */
    const int32_t *dx;
    const int32_t *extent; /* of the ball along z, y, x */
} th_rows;

/* place = (dz + z) << shift | (dy + y) */
typedef struct th_packing {
    int shift;
    int32_t z, y;
} th_packing;

enum { TH_PAD = 16, TH_BEST = 4, TH_BLOCK = 16, TH_PART = 1024 /* rows of large balls */ };
#define TH_SLACK 0x1p-18f /* some 60 roundings of float32 */

/* The 27 elements around a ball's centre, itself among them, and those TH_BEST of the larger ones that take most of the ball:
 * best[0] first. */
enum { TH_NEAR = 32, TH_CENTRE = 13 };
typedef struct th_near {
    float r2[TH_NEAR];     /* z, y, x; 0 outside the image */
    float weight[TH_NEAR]; /* 1 / distance; 0 for the centre, and beyond 27 */
    float tie[TH_NEAR];    /* the worth of one that is as large; 0: it is not taken for larger */
    int count, best[TH_BEST];
} th_near;

/* The target of a ball around `at`: in a volume the rows from..to of z and y, and no element at `end` or beyond. */
typedef struct th_canvas {
    char *squares; /* of the volume */
    int64_t length[TH_AXES];
    float w2[TH_AXES];
    th_packing packing;
    int64_t from[TH_LAST], to[TH_LAST], end;
    int64_t at[TH_AXES];
} th_canvas;

/* Squares grow in the narrowest of these types that holds them. */
typedef enum th_width { TH_16, TH_32, TH_64, TH_WIDTHS } th_width;

/* Rows of a ball, all or those of one class, by the bucket of their distance from the neighbour. */
enum { TH_BUCKETS = 64 };
typedef struct th_list {
    int64_t first, count;
    int32_t kind, uses, extent[TH_AXES];
    float top, per_unit, least; /* bucket of a distance: (top - distance) per_unit; none below `least` */
    int32_t end[TH_BUCKETS];    /* of each bucket's rows */
} th_list;

typedef struct th_kernels {
    /* Which balls of the row are not within those of their neighbours. */
    void (*select)(const th_select *row);
    void (*choose)(th_near *near);
    /* The bucket of each row for the list's class; TH_BUCKETS: any larger neighbour holds it. */
    void (*sort)(const th_rows *rows, const th_packing *packing, const float w2[TH_AXES], const th_list *list,
                 int32_t *bucket);
    /* Raises what rows of the ball hold to at least `key`, but for rows within the chosen neighbours' balls, which are taken to be
     * `slack` smaller. */
    void (*paint[TH_WIDTHS])(const th_canvas *canvas, const th_rows *rows, const th_near *near, float slack,
                             uint64_t key);
} th_kernels;

extern const th_kernels dm_thickness_plain, dm_thickness_sse4, dm_thickness_avx2, dm_thickness_avx512,
    dm_thickness_neon;

/* Where the i-th of the 27 lies. */
static inline int th_step(int i, int axis) {
    return axis == TH_Z ? i / 9 - 1 : axis == TH_Y ? i / 3 % 3 - 1 : i % 3 - 1;
}

/* Along which axes the best neighbour is apart, a bit for each; 0: there is none. Rows are listed for a neighbour behind the centre
 * along these, and turned round for one before it. */
enum { TH_CLASSES = 8 };
static inline int th_class_of(const th_near *near) {
    if (!near->count)
        return 0;
    const int i = near->best[0];
    return (th_step(i, 0) != 0) | (th_step(i, 1) != 0) << 1 | (th_step(i, 2) != 0) << 2;
}

/* The rows that a worker has at hand, by the ball's key and the neighbour's class. When there is no more room all are forgotten. */
typedef struct th_lists {
    uint64_t *key; /* 0: free */
    th_list *list;
    uint32_t *place; /* the rows of all */
    int32_t *dx;
    int64_t rows, room; /* used, and in all */
    int count, bits;    /* lists; 2^bits have a place, of which half are used */
} th_lists;

typedef struct th_worker {
    th_lists lists;
    float *lines; /* for the filter */
    uint8_t *left;
    float most; /* the largest square met */
} th_worker;

typedef struct th_work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    const th_kernels *kernels;
    th_volumes v;
    th_packing packing;
    float scale, w2[TH_AXES]; /* squares in units of the least squared pitch */
    float grain, spread;      /* of the filters: see th_select, and the square of a step along all axes at once */
    bool filters;
    char *all;      /* squares */
    char *squares;  /* of the volume, */
    int64_t volume; /* which is this */
    char *largest;  /* what they grow to, */
    th_width width; /* in this type */
    bool ties;      /* float32 tells which squares are equal */
    float *scaled;  /* the volume's squares for the filters */
    uint64_t *bits; /* balls to look at */
    int64_t words;  /* of a row of bits */
    th_worker *workers;
    int slab_axis;
    int64_t slabs, slab_length, around; /* how far balls reach along it */
} th_work;

static inline int64_t th_smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t th_larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The rows of a ball of this key that are to be looked at, the neighbours being taken to be `slack` smaller (thickness_rows.c). */
void th_lists_clear(th_lists *lists);
th_lists th_lists_for(const th_volumes *v); /* without memory */
th_rows th_rows_of(const th_work *w, th_lists *lists, uint64_t key, const th_near *near, float slack);

/* Lets the balls of a volume raise its squares, and stores the outputs. */
distmap_status th_paint(th_work *w, double share);

#endif
