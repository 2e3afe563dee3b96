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

#include "operations/cvt_cpu.h"
#include "core/scratch.h"
#include "operations/inner.h"

enum { CACHE_BITS = 9, CACHE = 1 << CACHE_BITS, POINTS = 4096 };

static size_t own_bytes(const cv_work *w) { return (size_t)w->plan->context->threads * sizeof(cv_part); }

/* ---- Places ---- */

static distmap_status put(cv_work *w, int64_t first, int64_t count, const cv_place *places) {
    memcpy(w->place + first, places, (size_t)count * sizeof *places);
    return DISTMAP_OK;
}

static void clear_task(void *arg, size_t index, int worker) {
    (void)worker;
    const cv_region *r = arg;
    const cv_grid *g = &r->work->grid[r->grid];
    const cv_tile t = cv_tile_at(g, index);
    for (int64_t row = t.from; row < t.to; row++)
        memset(r->work->stand + row * g->shape[2] + t.x, 0, (size_t)t.count * sizeof *r->work->stand);
}

static distmap_status occupy(cv_work *w, int grid, double share) {
    const cv_grid *g = &w->grid[grid];
    cv_region r = {.work = w, .grid = grid};
    TRY(dm_parallel(w->plan, cv_tile_count(g), clear_task, &r, share));
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
    const cv_region *r = arg;
    const cv_work *w = r->work;
    const cv_grid *g = &w->grid[r->grid];
    const cv_tile t = cv_tile_at(g, index);
    uint64_t weight[CV_COLUMNS];
    cached cache[CACHE];
    for (int i = 0; i < CACHE; i++)
        cache[i].site = -1;
    for (int64_t row = t.from; row < t.to; row++) {
        const int64_t first = row * g->shape[2] + t.x;
        const uint64_t at[CV_AXES] = {(uint64_t)(row / g->shape[1]), (uint64_t)(row % g->shape[1]), (uint64_t)t.x};
        cv_load_weights(w, r->grid, row, t.x, t.count, weight);
        if (w->wide)
            add_runs_int64_t(w, cache, (const int64_t *)w->index + first, weight, t.count, at);
        else
            add_runs_int32_t(w, cache, (const int32_t *)w->index + first, weight, t.count, at);
    }
    for (int i = 0; i < CACHE; i++)
        give_up(w, &cache[i]);
}

static distmap_status gather(cv_work *w, int grid, double share) {
    cv_region r = {.work = w, .grid = grid};
    memset(w->sums, 0, (size_t)w->points * sizeof *w->sums);
    return dm_parallel(w->plan, cv_tile_count(&w->grid[grid]), gather_task, &r, share);
}

/* ---- Moves ---- */

static size_t point_tasks(const cv_work *w) { return (size_t)((w->points + POINTS - 1) / POINTS); }
static int64_t task_end(const cv_work *w, size_t index) {
    const int64_t end = ((int64_t)index + 1) * POINTS;
    return end < w->points ? end : w->points;
}

static void advance_task(void *arg, size_t index, int worker) {
    const cv_region *r = arg;
    const cv_work *w = r->work;
    const cv_grid *g = &w->grid[r->grid];
    cv_part *p = (cv_part *)w->own + worker;
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
    const cv_part all = cv_sum_parts(w);
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
    cv_region r = {.work = w, .grid = grid};
    cv_clear_parts(w);
    TRY(dm_parallel(w->plan, point_tasks(w), advance_task, &r, share));
    *rest = moves && !move_all(w, &w->grid[grid]);
    if (grid == 0)
        write_energies(w, step, *rest ? w->plan->problem.cvt.steps : step);
    return DISTMAP_OK;
}

/* ---- Results ---- */

static void emit_points_task(void *arg, size_t index, int worker) {
    (void)worker;
    const cv_work *w = ((const cv_region *)arg)->work;
    const dm_array *sites = &w->arrays->sites, *centroids = &w->arrays->centroids;
    const int ndim = w->plan->problem.ndim;
    for (int64_t i = (int64_t)index * POINTS; i < task_end(w, index); i++)
        for (int a = 0; a < ndim; a++) {
            const int k = a + CV_AXES - ndim;
            char *site = sites->data ? sites->data + i * sites->stride[2] + a * sites->stride[DM_X] : NULL;
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
    const cv_work *w = ((const cv_region *)arg)->work;
    const cv_grid *g = &w->grid[0];
    const dm_array *out = &w->arrays->label;
    const cv_tile t = cv_tile_at(g, index);
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
    cv_region r = {.work = w};
    TRY(dm_parallel(w->plan, point_tasks(w), emit_points_task, &r, share / 2));
    if (!w->arrays->label.data)
        return DISTMAP_OK;
    return dm_parallel(w->plan, cv_tile_count(&w->grid[0]), emit_labels_task, &r, share / 2);
}

/* ---- The row of the table ---- */

static const cv_device device = {
    .unit = DM_CPU_UNIT,
    .own_bytes = own_bytes,
    .measure = cv_cpu_measure,
    .weights = cv_cpu_weights,
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
