/* cvt/cpu: tiles, and the weights in them: read from the input or a coarser grid, added up, and made into coarser grids. */
#include <string.h>

#include "operations/cvt_cpu.h"

/* ---- Parts ---- */

void cv_clear_parts(cv_work *w) { memset(w->own, 0, (size_t)w->plan->context->threads * sizeof(cv_part)); }

cv_part cv_sum_parts(const cv_work *w) {
    cv_part all = {0};
    for (int t = 0; t < w->plan->context->threads; t++) {
        const cv_part *p = (const cv_part *)w->own + t;
        all.total += p->total;
        all.weighted += p->weighted;
        for (int k = 0; k < CV_AXES; k++)
            all.square[k] += p->square[k];
    }
    return all;
}

/* ---- Tiles ---- */

static int64_t tiles_across(const cv_grid *g) { return (g->shape[2] + CV_COLUMNS - 1) / CV_COLUMNS; }

size_t cv_tile_count(const cv_grid *g) {
    const int64_t rows = g->shape[0] * g->shape[1];
    return (size_t)((rows + CV_ROWS - 1) / CV_ROWS * tiles_across(g));
}

cv_tile cv_tile_at(const cv_grid *g, size_t index) {
    const int64_t rows = g->shape[0] * g->shape[1], across = tiles_across(g);
    cv_tile t = {.from = (int64_t)index / across * CV_ROWS, .x = (int64_t)index % across * CV_COLUMNS};
    t.to = t.from + CV_ROWS < rows ? t.from + CV_ROWS : rows;
    t.count = g->shape[2] - t.x < CV_COLUMNS ? g->shape[2] - t.x : CV_COLUMNS;
    return t;
}

/* ---- Weights ---- */

/* Where elements lie without gaps compilers make vectors of this. */
#define LOAD(T)                                      \
    if (stride == sizeof(T))                         \
        for (int64_t i = 0; i < count; i++)          \
            to[i] = ((const T *)from)[i];            \
    else                                             \
        for (int64_t i = 0; i < count; i++)          \
            to[i] = *(const T *)(from + i * stride); \
    break

void cv_load_weights(const cv_work *w, int grid, int64_t row, int64_t x, int64_t count, uint64_t *to) {
    const cv_grid *g = &w->grid[grid];
    if (grid > 0) {
        memcpy(to, g->weight + row * g->shape[2] + x, (size_t)count * sizeof *to);
        return;
    }
    const dm_array *in = &w->arrays->input;
    const int64_t stride = in->stride[DM_X];
    const char *from = in->data + row / g->shape[1] * in->stride[1] + row % g->shape[1] * in->stride[2] + x * stride;
    switch (in->dtype) {
    case DISTMAP_BOOL:
        for (int64_t i = 0; i < count; i++)
            to[i] = *(const uint8_t *)(from + i * stride) != 0;
        break;
    case DISTMAP_UINT8: LOAD(uint8_t);
    case DISTMAP_UINT16: LOAD(uint16_t);
    default: LOAD(uint32_t);
    }
}

/* Sums of 512 elements of 32 bits times d^2 fit 64 bits, d being counted from the tile's first column. */
static void measure_task(void *arg, size_t index, int worker) {
    const cv_region *r = arg;
    const cv_grid *g = &r->work->grid[0];
    const cv_tile t = cv_tile_at(g, index);
    cv_part *p = (cv_part *)r->work->own + worker;
    uint64_t weight[CV_COLUMNS];
    for (int64_t row = t.from; row < t.to; row++) {
        uint64_t sum = 0, first = 0, second = 0;
        cv_load_weights(r->work, 0, row, t.x, t.count, weight);
        for (int64_t i = 0; i < t.count; i++) {
            const uint64_t d = (uint64_t)i;
            p->weighted += weight[i] != 0;
            sum += weight[i];
            first += weight[i] * d;
            second += weight[i] * d * d;
        }
        const cv_wide z = (cv_wide)(row / g->shape[1]), y = (cv_wide)(row % g->shape[1]), x = (cv_wide)t.x;
        p->total += sum;
        p->square[0] += z * z * sum;
        p->square[1] += y * y * sum;
        p->square[2] += x * x * sum + 2 * x * first + second;
    }
}

/* A coarser grid from the one before. */
static void coarsen_task(void *arg, size_t index, int worker) {
    const cv_region *r = arg;
    const cv_grid *g = &r->work->grid[r->grid], *finer = g - 1;
    const cv_tile t = cv_tile_at(g, index);
    const int64_t x = 2 * t.x, count = finer->shape[2] - x < 2 * t.count ? finer->shape[2] - x : 2 * t.count;
    cv_part *p = (cv_part *)r->work->own + worker;
    uint64_t weight[2 * CV_COLUMNS];
    for (int64_t row = t.from; row < t.to; row++) {
        uint64_t *to = g->weight + row * g->shape[2] + t.x;
        memset(to, 0, (size_t)t.count * sizeof *to);
        for (int child = 0; child < 4; child++) {
            const int64_t z = row / g->shape[1] * 2 + child / 2, y = row % g->shape[1] * 2 + child % 2;
            if (z >= finer->shape[0] || y >= finer->shape[1])
                continue;
            cv_load_weights(r->work, r->grid - 1, z * finer->shape[1] + y, x, count, weight);
            for (int64_t i = 0; i < count; i++)
                to[i / 2] += weight[i];
        }
        for (int64_t i = 0; i < t.count; i++)
            p->weighted += to[i] != 0;
    }
}

distmap_status cv_cpu_measure(cv_work *w, double share) {
    cv_region r = {.work = w};
    cv_clear_parts(w);
    TRY(dm_parallel(w->plan, cv_tile_count(&w->grid[0]), measure_task, &r, share / 2));
    const cv_part all = cv_sum_parts(w);
    w->found.total = all.total;
    w->found.weighted[0] = all.weighted;
    memcpy(w->found.square, all.square, sizeof all.square);
    for (r.grid = 1; r.grid < w->grids; r.grid++) {
        cv_clear_parts(w);
        TRY(dm_parallel(w->plan, cv_tile_count(&w->grid[r.grid]), coarsen_task, &r, share / 2 / (w->grids - 1)));
        w->found.weighted[r.grid] = cv_sum_parts(w).weighted;
    }
    return DISTMAP_OK;
}

distmap_status cv_cpu_weights(cv_work *w, int grid, int64_t first, int64_t count, uint64_t *to) {
    const int64_t nx = w->grid[grid].shape[2];
    while (count > 0) {
        const int64_t x = first % nx, run = nx - x < count ? nx - x : count;
        cv_load_weights(w, grid, first / nx, x, run, to);
        first += run;
        to += run;
        count -= run;
    }
    return DISTMAP_OK;
}
