/* edm/cuda: what its kernels share: lines and tiles. */
#ifndef DISTMAP_METHODS_EDM_CUDA_CUH
#define DISTMAP_METHODS_EDM_CUDA_CUH

#include "cuda/elements.cuh"
#define EDM_FUNCTION DM_DEVICE
#include "methods/edm/edm_cuda.h"

enum { EDM_MOST_BLOCKS = 1 << 20 };

/* ---- Lines ---- */

/* A line of the image: `at` of an element of it, and where its plane begins. */
struct edm_place {
    int64_t at[DM_NDIM];
    int64_t plane; /* linear index of the plane's first element */
    bool column;   /* it runs along y, else along x */
    int32_t line, length;
};

DM_DEVICE int64_t edm_lines(const struct edm_work *w, bool columns) {
    return w->planes * (columns ? w->width : w->height);
}

/* Line `i` of all planes' columns or rows. */
DM_DEVICE struct edm_place edm_line_place(const struct edm_work *w, int64_t i, bool columns) {
    const int32_t lines = columns ? w->width : w->height;
    const int64_t plane = i / lines;
    struct edm_place p;
    p.line = (int32_t)(i - plane * lines);
    p.length = columns ? w->height : w->width;
    p.column = columns;
    p.plane = plane * w->height * w->width;
    p.at[0] = plane / w->elements.shape[1];
    p.at[1] = plane - p.at[0] * w->elements.shape[1];
    p.at[2] = columns ? 0 : p.line;
    p.at[DM_X] = columns ? p.line : 0;
    return p;
}

/* Moves `at` to element k. */
DM_DEVICE void edm_line_move(struct edm_place *p, int32_t k) {
    if (p->column)
        p->at[2] = k;
    else
        p->at[DM_X] = k;
}

/* Where the line lies in an array between the steps: its first element, and how far apart elements are. */
DM_DEVICE int64_t edm_line_first(const struct edm_place *p, bool turned) {
    return p->plane + (p->column == turned ? (int64_t)p->line * p->length : p->line);
}

DM_DEVICE int64_t edm_line_apart(const struct edm_work *w, const struct edm_place *p, bool turned) {
    return p->column == turned ? 1 : p->column ? w->width : w->height;
}

/* ---- Tiles: EDM_TILE squared elements of a plane to a block of EDM_TILE x EDM_TILE_ROWS threads ---- */

enum { EDM_TILE_ROWS = 8 };

struct edm_tile {
    int64_t plane; /* linear index of the plane's first element */
    int64_t at[2]; /* t and z of the plane */
    int32_t y, x;  /* of its first element */
};

DM_DEVICE int64_t edm_tiles_across(int32_t n) { return ((int64_t)n + EDM_TILE - 1) / EDM_TILE; }

DM_DEVICE int64_t edm_tile_count(const struct edm_work *w) {
    return w->planes * edm_tiles_across(w->height) * edm_tiles_across(w->width);
}

DM_DEVICE struct edm_tile edm_tile_place(const struct edm_work *w, int64_t i) {
    const int64_t across = edm_tiles_across(w->width), down = edm_tiles_across(w->height);
    const int64_t plane = i / (across * down), inside = i - plane * across * down;
    struct edm_tile t;
    t.plane = plane * w->height * w->width;
    t.at[0] = plane / w->elements.shape[1];
    t.at[1] = plane - t.at[0] * w->elements.shape[1];
    t.y = (int32_t)(inside / across) * EDM_TILE;
    t.x = (int32_t)(inside % across) * EDM_TILE;
    return t;
}

static inline unsigned edm_tile_blocks(const struct edm_work *w) {
    const int64_t across = ((int64_t)w->width + EDM_TILE - 1) / EDM_TILE;
    const int64_t down = ((int64_t)w->height + EDM_TILE - 1) / EDM_TILE;
    return dm_blocks(w->planes * across * down, 1, EDM_MOST_BLOCKS);
}

#endif
