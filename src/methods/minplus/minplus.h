/* minplus/cpu: shared by its driver and its kernels.
 *
 * The transform runs in two kinds of stage. The *plane* stage solves every (y, x) plane: a vertical phase that finds
 * each pixel's nearest site within its column, then a min-plus search along the row. *Slow passes* then bring in the z
 * and t axes: the same search along a line of planes, vectors running across the elements of a plane.
 *
 * Squared distances between stages are i32 with `MP_NONE`; sites are u32 linear indices.
 */
#ifndef DISTMAP_MINPLUS_H
#define DISTMAP_MINPLUS_H

#include "core/internal.h"

enum {
    MP_NONE = INT32_MAX,
    MP_NO_COLUMN = 0xFFFF, /* a column distance of at least this, or none */
    MP_GROUP = 8,      /* elements of a row of turns that are processed at once */
    MP_BLOCK = 64,     /* rows between stored carries */
    MP_NEAR = 126,     /* widest near search along a row */
    MP_KEY_STEPS = 24, /* the most steps whose d2 fits a key */
    MP_KEY = 7,        /* bits below d2 in a key: 6 of vertical offset, 1 of side */
    MP_KEY_MOST = 510, /* largest d2 in a key, the largest key being "none" */
    MP_PAD = 192,      /* "none" values on either side of a padded row: MP_NEAR and a vector */
    MP_SLOW = 256,     /* squares of steps along a slow axis: u16 holds d2 up to 255^2 */
    /* Keys of a slow pass: bits below d2, k = 0 among them, steps, d2 of "none". */
    MP_SLOW_KEY = 6,
    MP_SLOW_KEY_ZERO = 32,
    MP_SLOW_KEY_STEPS = 31,
    MP_SLOW_KEY_MOST = 1023,
    MP_REAL_STEPS = 192, /* the most steps of a near search in FP64 */
    MP_REAL_PAD = 256,   /* these and a group of lanes */
};

#define MP_NO_SITE UINT32_MAX
#define MP_NO_OFFSET 0x80008000u /* dx = dy = -32768: its square saturates wherever it is used */

/* 4-byte elements in normal form, at any strides: the squared distances, or the sites, between stages. */
typedef struct mp_store {
    char *data;
    int64_t stride[DM_NDIM]; /* bytes */
} mp_store;

/* A candidate list for the far search: positions and values, twice for the pruning rounds, and tie keys. */
typedef struct mp_far {
    int32_t *p[2], *f[2], *key;
} mp_far;

/* A candidate of minplus_wide.c: value, position, first position that it wins. */
typedef struct mp_parabola {
    int64_t f, at, start;
} mp_parabola;

/* One worker's buffers. */
typedef struct mp_worker {
    uint16_t *below;                  /* [tile_rows][padded_width] distance to the nearest site at or below */
    uint16_t *boundary;               /* [MP_BLOCK / tile_rows][padded_width] the same below each sub-block */
    uint16_t *above;                  /* [padded_width] distance to the nearest site at or above, of the current row */
    uint16_t *padded;                 /* [MP_PAD + padded_width + MP_PAD] the row's values for the near search */
    uint16_t *keys_left, *keys_right; /* with sites: the same size, the row's keys */
    int32_t *d2;                      /* [padded_width] a row's results */
    uint32_t *found;                  /* [padded_width] and their sites, as linear indices */
    int32_t *squared;                 /* [padded_width] u32, for dm_row_emit and dm_lengths */
    int64_t *site;                    /* [padded_width] for dm_row_emit; or floats, from dm_lengths */
    uint8_t *open;                    /* [padded_width / 64] whether the near search left the group open */
    uint8_t *deep;                    /* [padded_width / 64] whether keys did not settle the group in the previous row */
    uint64_t *inside;  /* [words] sites of the row that lie between two others; of labels the background */
    int32_t *column;   /* [padded_width + slack] values of a row's columns */
    mp_far far;        /* [padded_width + slack] */
    uint8_t *bytes;    /* [padded_width] a row's sites, or its mask, where the array is not plain bytes */
    uint16_t *cost[2]; /* kernel_ball.h: [pad + padded_width + pad] */
    /* Labels and signed maps. */
    int64_t *kind[2];    /* [padded_width] labels of two rows to compare, or their sides as bits */
    uint16_t *turn;      /* [padded_width] distance to the next element of another kind within the row */
    uint16_t *cap;       /* [padded_width] its square, weighted and saturated: an upper bound of d2 */
    uint16_t *tile_turn; /* [n][lanes] such distances along the lines in work */
    /* A small plane's own bits and carries. */
    uint64_t *bits, *turns, *ground;
    uint16_t *up, *down;
    uint32_t *first_site, *last_site;
    /* Wide problems. */
    bool wide_row;          /* the row's results are its sites alone */
    mp_parabola *envelope;  /* [longest line] */
    uint64_t *wide_squared; /* [padded_width] */
    /* FP64: kernel_real_plane.h. */
    double *real;                  /* [MP_REAL_PAD + padded_width + MP_REAL_PAD] squares of the row's column distances */
    double *real_best, *real_from; /* [padded_width + slack], for tiles [n][columns]: results; rows alone: steps to the winners */
    double *real_tile;             /* [columns / lanes][n][lanes] the lines' values */
    double *real_list[4];          /* [longest line + slack] candidates of a far search, positions and values; its results */
    /* Slow pass. */
    uint16_t *tile;                /* [columns / lanes][n + 1][lanes]: the lines' values */
    uint16_t *tile_key;            /* [31 + n + 31][lanes]: keys of the lines in work */
    int32_t *tile_site;            /* the same of their sites */
    int32_t *tile_d2, *tile_found; /* [n][columns]: results */
    int32_t *line, *line_d2;       /* lanes lines of n, transposed */
    uint32_t *line_arg;
} mp_worker;

/* Only masks are wanted, and kernel_ball.h computes them: L, and the most steps within it. */
typedef struct mp_ball {
    bool on;
    int32_t limit2;  /* L, below 2^24 */
    uint16_t across; /* along x, no more than the width */
    uint16_t down;   /* along y */
    uint16_t along;  /* along the slow axis, no more than it has elements, below 255 */
    int axis;        /* the slow axis, */
    int32_t w2;      /* and its squared pitch */
    size_t pad;      /* on either side of a row's costs; 0 in volumes */
} mp_ball;

/* The problem as the kernels see it. */
typedef struct mp_job {
    distmap_plan *plan;
    const dm_arrays *arrays;
    int64_t width, height;
    int64_t rows, first_row; /* of the image's plane, of which a window has `height`, from this one on */
    size_t words, padded_width; /* of a row: 64-bit words, elements rounded up to 64 */
    int tile_rows;           /* rows of a block done at once; divides MP_BLOCK */
    int64_t blocks;
    int32_t wx2, wy2;                /* squared pitches of planes, less their common factor in volumes: */
    int32_t factor;                  /* the planes' squared distances are multiplied by it between stages */
    uint16_t near_y, near_x;         /* largest g with wy2 g^2 <= 65534, and the same along x */
    uint16_t near_cost[MP_NEAR + 2]; /* wx2 k^2, with sites doubled; saturated */
    int near_steps;                  /* near_cost is below 65535 up to here, at most MP_NEAR */
    uint16_t near_most;              /* largest value that near_steps can settle */
    uint16_t cap16;                  /* values of at least this need not be exact (limit) */
    uint16_t edge[MP_BLOCK];         /* for the last 64 lanes of a row: 0xFFFF, or 0 beyond the image's width */
    uint16_t near_cap;               /* the same for the near search; none with sites */
    uint16_t key_y, key_cost[MP_KEY_STEPS + 2]; /* the same for keys */
    int key_steps;
    int32_t most;                    /* results above this are "none": the limit, or MP_NONE - 1; */
    int32_t plane_most;              /* the same before `factor` */
    bool labels;                     /* sites are the elements of another kind (kernel_labels.h): another label, */
    bool sides;                      /* or the other side of a signed map */
    uint64_t *turns[2];              /* turns along t and z where these count, for all rows: [rows][words] */
    uint16_t (*near_turn)[MP_GROUP]; /* [256] for every pattern of turns among eight elements: e within the pattern */
    bool sites;                      /* indices are wanted, or carried between stages */
    bool offsets;       /* between stages a u32 holds dy << 16 | dx (16 bits each), which gives both site and d2 */
    bool needs_64_bits;  /* minplus_wide.c: squared distances may pass 2^31 - 1 */
    bool function;      /* one slow pass from the input, samples in u32, to the outputs */
    bool real;          /* squared distances are FP64: between stages a u32 holds k << 16 | g, columns and rows to the site */
    double real_most, real_limit; /* results above real_limit are none; real_most is the next number */
    double real_square[MP_REAL_STEPS + 2], real_cost[MP_REAL_STEPS + 2]; /* k^2, and wx k^2 rounded */
    bool payload_sites; /* the payload is the store of sites, and is written unchanged */
    bool tall;          /* the image's planes have rows beyond the u16 counters */
    bool stream;        /* outputs are too large for the cache */
    bool all_floats;    /* floats hold every squared distance: they are below 2^24 */
    bool emit_general;  /* final rows go through dm_row_emit; else straight to float32, uint32 and index memory */
    bool last_is_plane; /* no slow pass follows: rows are final */
    mp_store d2_store, site_store; /* else rows are stored here */
    mp_ball ball;
    const dm_array *costs; /* volumes' masks: the output in which costs are stored between stages */
    uint8_t *alive; /* [t][z] volumes whose z is measured: whether the plane has a site; NULL: not needed */
    mp_worker *workers;
} mp_job;

/* A plane being solved: its position, and the result of the vertical phase. */
typedef struct mp_plane {
    int64_t t, z, y;     /* y: of its first row */
    uint64_t *bits;      /* [height][words] sites; for labels the turns along y */
    uint64_t *turns;     /* the same along x; labels only */
    uint64_t *ground;    /* the background of labels; NULL where there is none */
    uint16_t *up, *down; /* [blocks][padded_width]: distance from the row before / after the block to the nearest site in that row or
                             beyond; 0xFFFF none */
    uint32_t *first_site, *last_site; /* tall planes: [padded_width] rows (the image's) of each column's first and last site, or
                                         MP_NO_SITE */
} mp_plane;

/* A slow pass: lines along `axis`, `columns` neighbouring elements at a time. */
typedef struct mp_pass {
    int axis;
    int64_t n;     /* length of the axis */
    int32_t w2;    /* squared pitch */
    int64_t inner; /* contiguous elements within one step of the axis */
    int columns;   /* of a tile; a multiple of 64 */
    uint16_t near; /* largest k with w2 k^2 <= 65534 */
    bool last;
    const uint8_t *alive; /* z: [t][n] whether a plane has a site; planes without are not stored. NULL: all are */
    uint16_t cost[MP_SLOW + 1];               /* w2 k^2, saturated: the last one is */
    uint16_t key_cost[MP_SLOW_KEY_STEPS + 2]; /* the same for keys */
} mp_pass;

/* ---- minplus_window.c ---- */

/* The carries that enter a plane, in the first row of `up` and the last one of `down`. */
void mp_window_enter(const mp_job *job, const mp_plane *plane);

/* In first_site (end 0) or last_site (end 1): column x, which has no site within the plane. */
uint32_t mp_window_site(const mp_job *job, int64_t x, int end);

/* ---- minplus_wide.c ---- */

/* The squared distance of an element from a site. */
uint64_t mp_wide_squared(const distmap_plan *plan, uint32_t site, const int64_t at[DM_NDIM]);

/* w->found for pixels [first, last) of the image's row y by the candidates of columns [from, to). */
void mp_wide_row(const mp_job *job, mp_worker *w, const mp_plane *plane, const uint16_t *below, int64_t y,
                 uint32_t start, int64_t first, int64_t last, int64_t from, int64_t to);

/* One line of a slow pass: sites of the line's elements, in and out. `lane` is its place; the pass's axis is ignored. */
void mp_wide_line(const mp_job *job, const mp_pass *pass, const int64_t lane[DM_NDIM], const int32_t *sites,
                  size_t site_pitch, mp_worker *w, int32_t *found, size_t found_pitch);

/* A final run of a row, by its sites alone. */
void mp_wide_emit(const mp_job *job, mp_worker *w, const int64_t at[DM_NDIM], const uint32_t *site, size_t n);

/* ---- minplus_real.c ---- */

/* Lines of a search in FP64: lines side by side, as many as a group has, or one row (kernel_real.h). */
typedef struct mp_real_lines {
    double w2;
    int64_t n, reach;     /* positions; the most steps that are tried */
    const double *square; /* k^2 for k up to reach + 1 */
    double most;          /* an upper bound of all results */
    const double *f, *e;  /* values; labels: distance to the next element of another kind, negative if that is lower; else NULL */
    double *best, *from;  /* results, and with sites the winners' positions relative to the element's; else NULL */
    int64_t pitch;        /* of results, from one position to the next */
} mp_real_lines;

#define MP_REAL_TURN 0x1p40 /* added to `from` where it leads to the element of another kind, not to what that has found */

/* The kernels of one instruction set. */
typedef struct mp_kernels {
    void (*pack_block)(const mp_job *job, const mp_plane *plane, int64_t block, mp_worker *w);
    void (*carry)(const mp_job *job, const mp_plane *plane, size_t first, size_t last); /* multiples of 64 */
    void (*solve_block)(const mp_job *job, const mp_plane *plane, int64_t block, mp_worker *w);
    void (*slow_tile)(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first, int count,
                      mp_worker *w);
    void (*ball_tile)(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first, int count,
                      mp_worker *w);
    int real_lanes; /* lines in a group */
    bool (*real_tile)(const mp_real_lines *l);
    bool (*real_row)(const mp_real_lines *l);
    /* The best of m candidates (p, f) for all n positions: values, at most `most`, and numbers of candidates; room for a group more. */
    void (*real_far)(const double *p, const double *f, int64_t m, double w2, double most, int64_t n, double *best, double *from);
    bool (*real_roots)(const double *squared, int64_t n, double limit, float *out);
} mp_kernels;

extern const mp_kernels dm_minplus_plain, dm_minplus_sse4, dm_minplus_avx2, dm_minplus_avx512, dm_minplus_neon;

#endif
