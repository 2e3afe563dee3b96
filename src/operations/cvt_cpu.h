/* cvt/cpu: what its files share. */
#ifndef DISTMAP_CVT_CPU_H
#define DISTMAP_CVT_CPU_H

#include "operations/cvt.h"

enum { CV_ROWS = 64, CV_COLUMNS = 512 }; /* of a tile, a task's work */

/* The sums of a worker. */
typedef struct cv_part {
    uint64_t total;
    int64_t weighted;
    cv_wide square[CV_AXES];
} cv_part;

/* The work of one parallel region. */
typedef struct cv_region {
    cv_work *work;
    int grid;
} cv_region;

typedef struct cv_tile {
    int64_t from, to; /* rows, counted through z and y */
    int64_t x, count; /* columns */
} cv_tile;

size_t cv_tile_count(const cv_grid *g);
cv_tile cv_tile_at(const cv_grid *g, size_t index);

/* The workers' parts: to nothing, and all of them together. */
void cv_clear_parts(cv_work *w);
cv_part cv_sum_parts(const cv_work *w);

/* Columns [x, x + count) of a row. */
void cv_load_weights(const cv_work *w, int grid, int64_t row, int64_t x, int64_t count, uint64_t *to);

/* See cv_device. */
distmap_status cv_cpu_measure(cv_work *w, double share);
distmap_status cv_cpu_weights(cv_work *w, int grid, int64_t first, int64_t count, uint64_t *to);

#endif
