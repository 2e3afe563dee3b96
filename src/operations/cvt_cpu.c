/* cvt/cpu: centroidal Voronoi diagrams on the CPU.
 *
 * Tasks are tiles of rows. Within a row the elements of a cell follow each other: such a run is added up in registers, and goes
 * to a small cache of cells by its hash; what the cache gives up is added to the cells' sums in memory, atomically. So
 * memory sees a cell about once per tile. All are integers: the order does not matter.
 *
 * Cost of a step: the inner plan with indices, then about 1 ns per element. Moving is 20 ns per point, one after another where
 * they are bound for an element. Memory: see distmap_cvt; 150 bytes per thread.
 */
#include <string.h>

#include "operations/cvt.h"
#include "core/scratch.h"
#include "operations/inner.h"

enum { ROWS = 64, COLUMNS = 512, CACHE_BITS = 9, CACHE = 1 << CACHE_BITS, POINTS = 4096 };

/* What a worker adds up. */
typedef struct part {
    uint64_t total;
    int64_t weighted;
    cv_wide square[CV_AXES];
} part;

/* The work of one parallel region. */
typedef struct region {
    cv_work *work;
    int grid;
} region;

static size_t own_bytes(const cv_work *w) { return (size_t)w->plan->context->threads * sizeof(part); }

static void clear_parts(cv_work *w) { memset(w->own, 0, own_bytes(w)); }

static part sum_parts(const cv_work *w) {
    part all = {0};
    for (int t = 0; t < w->plan->context->threads; t++) {
        const part *p = (const part *)w->own + t;
        all.total += p->total;
        all.weighted += p->weighted;
        for (int k = 0; k < CV_AXES; k++)
            all.square[k] += p->square[k];
    }
    return all;
}

/* ---- Tiles ---- */

typedef struct tile {
    int64_t from, to; /* rows, counted through z and y */
    int64_t x, count; /* columns */
} tile;

static int64_t tiles_across(const cv_grid *g) { return (g->shape[2] + COLUMNS - 1) / COLUMNS; }

static size_t tile_count(const cv_grid *g) {
    const int64_t rows = g->shape[0] * g->shape[1];
    return (size_t)((rows + ROWS - 1) / ROWS * tiles_across(g));
}

static tile tile_at(const cv_grid *g, size_t index) {
    const int64_t rows = g->shape[0] * g->shape[1], across = tiles_across(g);
    tile t = {.from = (int64_t)index / across * ROWS, .x = (int64_t)index % across * COLUMNS};
    t.to = t.from + ROWS < rows ? t.from + ROWS : rows;
    t.count = g->shape[2] - t.x < COLUMNS ? g->shape[2] - t.x : COLUMNS;
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

/* Columns [x, x + count) of a row. */
static void load_weights(const cv_work *w, int grid, int64_t row, int64_t x, int64_t count, uint64_t *to) {
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
    const region *r = arg;
    const cv_grid *g = &r->work->grid[0];
    const tile t = tile_at(g, index);
    part *p = (part *)r->work->own + worker;
    uint64_t weight[COLUMNS];
    for (int64_t row = t.from; row < t.to; row++) {
        uint64_t sum = 0, first = 0, second = 0;
        load_weights(r->work, 0, row, t.x, t.count, weight);
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
    const region *r = arg;
    const cv_grid *g = &r->work->grid[r->grid], *finer = g - 1;
    const tile t = tile_at(g, index);
    const int64_t x = 2 * t.x, count = finer->shape[2] - x < 2 * t.count ? finer->shape[2] - x : 2 * t.count;
    part *p = (part *)r->work->own + worker;
    uint64_t weight[2 * COLUMNS];
    for (int64_t row = t.from; row < t.to; row++) {
        uint64_t *to = g->weight + row * g->shape[2] + t.x;
        memset(to, 0, (size_t)t.count * sizeof *to);
        for (int child = 0; child < 4; child++) {
            const int64_t z = row / g->shape[1] * 2 + child / 2, y = row % g->shape[1] * 2 + child % 2;
            if (z >= finer->shape[0] || y >= finer->shape[1])
                continue;
            load_weights(r->work, r->grid - 1, z * finer->shape[1] + y, x, count, weight);
            for (int64_t i = 0; i < count; i++)
                to[i / 2] += weight[i];
        }
        for (int64_t i = 0; i < t.count; i++)
            p->weighted += to[i] != 0;
    }
}

static distmap_status measure(cv_work *w, double share) {
    region r = {.work = w};
    clear_parts(w);
    TRY(dm_parallel(w->plan, tile_count(&w->grid[0]), measure_task, &r, share / 2));
    const part all = sum_parts(w);
    w->found.total = all.total;
    w->found.weighted[0] = all.weighted;
    memcpy(w->found.square, all.square, sizeof all.square);
    for (r.grid = 1; r.grid < w->grids; r.grid++) {
        clear_parts(w);
        TRY(dm_parallel(w->plan, tile_count(&w->grid[r.grid]), coarsen_task, &r, share / 2 / (w->grids - 1)));
        w->found.weighted[r.grid] = sum_parts(w).weighted;
    }
    return DISTMAP_OK;
}

static distmap_status weights(cv_work *w, int grid, int64_t first, int64_t count, uint64_t *to) {
    const int64_t nx = w->grid[grid].shape[2];
    while (count > 0) {
        const int64_t x = first % nx, run = nx - x < count ? nx - x : count;
        load_weights(w, grid, first / nx, x, run, to);
        first += run;
        to += run;
        count -= run;
    }
    return DISTMAP_OK;
}

/* ---- Places ---- */

static distmap_status put(cv_work *w, int64_t first, int64_t count, const cv_place *places) {
    memcpy(w->place + first, places, (size_t)count * sizeof *places);
    return DISTMAP_OK;
}

static void clear_task(void *arg, size_t index, int worker) {
    (void)worker;
    const region *r = arg;
    const cv_grid *g = &r->work->grid[r->grid];
    const tile t = tile_at(g, index);
    for (int64_t row = t.from; row < t.to; row++)
        memset(r->work->stand + row * g->shape[2] + t.x, 0, (size_t)t.count * sizeof *r->work->stand);
}

static distmap_status occupy(cv_work *w, int grid, double share) {
    const cv_grid *g = &w->grid[grid];
    region r = {.work = w, .grid = grid};
    TRY(dm_parallel(w->plan, tile_count(g), clear_task, &r, share));
    for (int64_t i = 0; i < w->points; i++)
        w->stand[cv_linear(g, &w->place[i])] = (int32_t)(i + 1);
    return DISTMAP_OK;
}

static distmap_status refine(cv_work *w) {
    for (int64_t i = 0; i < w->points; i++)
        for (int k = 0; k < CV_AXES; k++)
            w->place[i].at[k] *= 2;
    return DISTMAP_OK;
}

/* ---- Cells ---- */

typedef struct cached {
    int64_t site; /* linear index; -1: nothing */
    cv_sums sums;
} cached;

static void add(cv_sums *to, const cv_sums *from) {
    __atomic_fetch_add(&to->weight, from->weight, __ATOMIC_RELAXED);
    for (int k = 0; k < CV_AXES; k++)
        if (from->moment[k])
            __atomic_fetch_add(&to->moment[k], from->moment[k], __ATOMIC_RELAXED);
}

static void give_up(const cv_work *w, const cached *c) {
    if (c->site >= 0)
        add(&w->sums[w->stand[c->site] - 1], &c->sums);
}

static int64_t nearest(const cv_work *w, int64_t element) {
    return w->wide ? ((const int64_t *)w->index)[element] : ((const int32_t *)w->index)[element];
}

static void add_run(const cv_work *w, cached *cache, int64_t site, uint64_t sum, uint64_t moment,
                    const uint64_t at[CV_AXES]) {
    cached *c = &cache[(uint64_t)site * 0x9e3779b97f4a7c15u >> (64 - CACHE_BITS)];
    if (c->site != site) {
        give_up(w, c);
        *c = (cached){.site = site};
    }
    c->sums.weight += sum;
    c->sums.moment[0] += sum * at[0];
    c->sums.moment[1] += sum * at[1];
    c->sums.moment[2] += moment;
}

/* The runs of a row of a tile: `count` elements from `at` on. */
#define ADD_RUNS(T)                                                                                                  \
    static void add_runs_##T(const cv_work *w, cached *cache, const T *index, const uint64_t *weight, int64_t count, \
                             const uint64_t at[CV_AXES]) {                                                           \
        for (int64_t i = 0; i < count;) {                                                                            \
            const T site = index[i];                                                                                 \
            uint64_t sum = 0, moment = 0;                                                                            \
            do {                                                                                                     \
                sum += weight[i];                                                                                    \
                moment += weight[i] * (at[2] + (uint64_t)i);                                                         \
            } while (++i < count && index[i] == site);                                                               \
            add_run(w, cache, site, sum, moment, at);                                                                \
        }                                                                                                            \
    }
ADD_RUNS(int32_t)
ADD_RUNS(int64_t)

static void gather_task(void *arg, size_t index, int worker) {
    (void)worker;
    const region *r = arg;
    const cv_work *w = r->work;
    const cv_grid *g = &w->grid[r->grid];
    const tile t = tile_at(g, index);
    uint64_t weight[COLUMNS];
    cached cache[CACHE];
    for (int i = 0; i < CACHE; i++)
        cache[i].site = -1;
    for (int64_t row = t.from; row < t.to; row++) {
        const int64_t first = row * g->shape[2] + t.x;
        const uint64_t at[CV_AXES] = {(uint64_t)(row / g->shape[1]), (uint64_t)(row % g->shape[1]), (uint64_t)t.x};
        load_weights(w, r->grid, row, t.x, t.count, weight);
        if (w->wide)
            add_runs_int64_t(w, cache, (const int64_t *)w->index + first, weight, t.count, at);
        else
            add_runs_int32_t(w, cache, (const int32_t *)w->index + first, weight, t.count, at);
    }
    for (int i = 0; i < CACHE; i++)
        give_up(w, &cache[i]);
}

static distmap_status gather(cv_work *w, int grid, double share) {
    region r = {.work = w, .grid = grid};
    memset(w->sums, 0, (size_t)w->points * sizeof *w->sums);
    return dm_parallel(w->plan, tile_count(&w->grid[grid]), gather_task, &r, share);
}

/* ---- Moves ---- */

static size_t point_tasks(const cv_work *w) { return (size_t)((w->points + POINTS - 1) / POINTS); }
static int64_t task_end(const cv_work *w, size_t index) {
    const int64_t end = ((int64_t)index + 1) * POINTS;
    return end < w->points ? end : w->points;
}

static void advance_task(void *arg, size_t index, int worker) {
    const region *r = arg;
    const cv_work *w = r->work;
    const cv_grid *g = &w->grid[r->grid];
    part *p = (part *)w->own + worker;
    for (int64_t i = (int64_t)index * POINTS; i < task_end(w, index); i++) {
        const cv_sums *s = &w->sums[i];
        int64_t target = 0;
        for (int k = 0; k < CV_AXES; k++) {
            const int64_t at = w->place[i].at[k];
            p->square[k] += cv_taken(s->weight, s->moment[k], at);
            target += (at + cv_step(s->weight, s->moment[k], at, g->shape[k], w->omega)) * g->linear[k];
        }
        w->target[i] = w->stand[target] ? -1 : target; /* its own element among them */
    }
}

static void write_energies(const cv_work *w, int64_t step, int64_t last) {
    const dm_array *out = &w->arrays->energies;
    const part all = sum_parts(w);
    cv_wide q[CV_AXES];
    for (int k = 0; k < CV_AXES; k++)
        q[k] = w->found.square[k] - all.square[k];
    const double energy = cv_energy(&w->units, q);
    for (; out->data && step <= last; step++)
        *(double *)(out->data + step * out->stride[DM_X]) = energy;
}

/* In the order of their numbers: the first one there takes the element. */
static bool move_all(cv_work *w, const cv_grid *g) {
    bool any = false;
    for (int64_t i = 0; i < w->points; i++) {
        int64_t rest = w->target[i];
        if (rest < 0 || w->stand[rest])
            continue;
        any = true;
        w->stand[rest] = (int32_t)(i + 1);
        w->stand[cv_linear(g, &w->place[i])] = 0;
        for (int k = 0; k < CV_AXES; k++) {
            w->place[i].at[k] = (int32_t)(rest / g->linear[k]);
            rest %= g->linear[k];
        }
    }
    return any;
}

static distmap_status advance(cv_work *w, int grid, int64_t step, bool moves, bool *rest, double share) {
    region r = {.work = w, .grid = grid};
    clear_parts(w);
    TRY(dm_parallel(w->plan, point_tasks(w), advance_task, &r, share));
    *rest = moves && !move_all(w, &w->grid[grid]);
    if (grid == 0)
        write_energies(w, step, *rest ? w->plan->problem.cvt.steps : step);
    return DISTMAP_OK;
}

/* ---- Results ---- */

static void emit_points_task(void *arg, size_t index, int worker) {
    (void)worker;
    const cv_work *w = ((const region *)arg)->work;
    const dm_array *sites = &w->arrays->sites, *centroids = &w->arrays->centroids;
    const int ndim = w->plan->problem.ndim;
    for (int64_t i = (int64_t)index * POINTS; i < task_end(w, index); i++)
        for (int a = 0; a < ndim; a++) {
            const int k = a + CV_AXES - ndim;
            char *site = sites->data + i * sites->stride[2] + a * sites->stride[DM_X];
            if (sites->dtype == DISTMAP_INT32)
                *(int32_t *)site = w->place[i].at[k];
            else if (sites->dtype == DISTMAP_INT64)
                *(int64_t *)site = w->place[i].at[k];
            if (centroids->data)
                *(double *)(centroids->data + i * centroids->stride[2] + a * centroids->stride[DM_X]) =
                    cv_centroid(&w->sums[i], &w->place[i], k);
        }
}

static void emit_labels_task(void *arg, size_t index, int worker) {
    (void)worker;
    const cv_work *w = ((const region *)arg)->work;
    const cv_grid *g = &w->grid[0];
    const dm_array *out = &w->arrays->label;
    const tile t = tile_at(g, index);
    for (int64_t row = t.from; row < t.to; row++) {
        char *to = out->data + row / g->shape[1] * out->stride[1] + row % g->shape[1] * out->stride[2];
        for (int64_t x = t.x; x < t.x + t.count; x++) {
            const int32_t number = w->stand[nearest(w, row * g->shape[2] + x)] - 1;
            char *at = to + x * out->stride[DM_X];
            switch (distmap_dtype_size(out->dtype)) {
            case 1: *(uint8_t *)at = (uint8_t)number; break;
            case 2: *(uint16_t *)at = (uint16_t)number; break;
            case 4: *(uint32_t *)at = (uint32_t)number; break;
            default: *(uint64_t *)at = (uint64_t)number;
            }
        }
    }
}

static distmap_status emit(cv_work *w, double share) {
    region r = {.work = w};
    TRY(dm_parallel(w->plan, point_tasks(w), emit_points_task, &r, share / 2));
    if (!w->arrays->label.data)
        return DISTMAP_OK;
    return dm_parallel(w->plan, tile_count(&w->grid[0]), emit_labels_task, &r, share / 2);
}

/* ---- The row of the table ---- */

static const cv_device device = {
    .unit = DM_CPU_UNIT,
    .own_bytes = own_bytes,
    .measure = measure,
    .weights = weights,
    .put = put,
    .occupy = occupy,
    .gather = gather,
    .advance = advance,
    .refine = refine,
    .emit = emit,
};

static size_t scratch_bytes(const distmap_plan *plan) { return cv_scratch_bytes(plan, &device); }

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) { return cv_run(plan, arrays, &device); }

const dm_method dm_cvt_cpu = {
    .info =
        {
            .name = "cvt/cpu",
            .summary = "Lloyd's steps from coarse to fine, cells from nearest-site maps",
            .source = "Cao et al. 2010; Lloyd 1982",
            .device = "cpu",
            .exact = true,
            .field = DISTMAP_FIELD_CVT,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = cv_prepare,
    .release = op_inner_release,
};
