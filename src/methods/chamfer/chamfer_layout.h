/* The shape of chamfer/cpu's work for a plan, and its memory. */
#ifndef DISTMAP_CHAMFER_LAYOUT_H
#define DISTMAP_CHAMFER_LAYOUT_H

#include "methods/chamfer/chamfer.h"

/* A *volume* is what one batch number names: rows along x, by the slow measured axes. */
typedef struct ch_layout {
    ch_lane lane;
    size_t lane_size;
    uint64_t cap;                      /* in lanes */
    uint64_t most;                     /* distances beyond it are none */
    bool fits;                         /* every distance that matters is below the lane's cap */
    int slow[DM_NDIM - 1], slow_count; /* measured axes longer than 1, x aside, fastest first */
    bool along;                        /* x is one, too */
    int64_t width, rows, volumes;      /* rows of a volume */
    size_t groups, pitch;              /* of a row in memory, in CH_GROUP and lanes */
    bool own_volumes;                  /* each worker solves whole volumes by itself; else all share one */
    int64_t halves, strips;            /* of a plane that all share: of its rows; parts of its columns */
    int64_t reach;                     /* columns that a step can cross */
} ch_layout;

/* One worker's buffers. */
typedef struct ch_worker {
    uint8_t *site, *pattern;
    char *before, *after;
    char *ring[3]; /* rows on their way through a band, by their first lane */
    char *lanes;   /* own volumes: theirs */
    void *squared; /* a finished row for dm_row_emit */
    int64_t *index;
} ch_worker;

typedef struct ch_memory {
    ch_worker *workers;
    char *near; /* see ch_start */
    char *none; /* a row of cap */
    char *lanes;
    char *carry[2][2][2]; /* strips: of each half, and of a band and the next, the two rows before it */
    uint64_t (*ends)[2];  /* strips: [rows][strips] lanes of the elements before and after */
} ch_memory;

enum { CH_BAND = 128 }; /* rows of a band that is solved in strips */

ch_layout ch_lay_out(const distmap_plan *plan);
/* Hands out the scratch that starts at `base`; NULL: only counts. Returns its size in bytes. */
size_t ch_walk_scratch(const distmap_plan *plan, const ch_layout *l, void *base, ch_memory *m);

/* Columns of a strip: its own, and with those that its rows depend on within a band. */
typedef struct ch_columns {
    int64_t first, end, from, to;
} ch_columns;
ch_columns ch_strip(const ch_layout *l, int64_t strip);

#endif
