/* esf/cpu, kernel=serial, skipping and plain: each step is one pass over all values, from one field memory to the other.
 *
 * serial: the formula of distmap_esf element by element, on one thread, in the order of its words, with the mask read
 * again at each step. It is what the other kernels are compared with.
 *
 * skipping: the paper's serial program, which computes nothing where v is 1 and does not look at the mask: Keles 2016 takes
 * every v within 1e-5 of 1 for the shape. Here that is 1 alone, so that all kernels give the same bits. The difference is
 * none with rho up to 158: beside the shape v stays below 1 - 1/(4 rho^2 + 1) in an image, what an element tends to whose
 * four neighbours are all 1. (Where a < 0 the mask is read, as v = 1 does not stand for the shape: esf.h.)
 *
 * plain: rows by the vectorised row operation, on all threads.
 *
 * Memory: two values per element, and for each worker a row of the shape.
 */
#include "methods/esf/esf_cpu.h"

typedef struct sweep {
    const esf_job *job;
    char *now, *next; /* field memories */
    uint8_t *shape;   /* [threads][nx] */
    int64_t rows, at_once;
} sweep;

static size_t shape_bytes(const esf_job *job) { return dm_round64((size_t)job->grid.nx); }

static size_t lay_out(const esf_job *job, void *memory, sweep *s) {
    const esf_grid *g = &job->grid;
    dm_scratch walk = {.base = memory, .unit = DM_CPU_UNIT};
    const int64_t values = (int64_t)g->pitch * esf_grid_rows(g) + ESF_LINE;
    s->now = dm_take(&walk, values, g->size);
    s->next = dm_take(&walk, values, g->size);
    s->shape = dm_take(&walk, job->plan->context->threads, shape_bytes(job));
    return walk.used;
}

size_t esf_sweep_scratch(const esf_job *job) {
    sweep s;
    return lay_out(job, NULL, &s);
}

/* ---- Rows ---- */

static char *row_of(const sweep *s, char *memory, int64_t row) {
    const esf_grid *g = &s->job->grid;
    return memory + ((size_t)row * g->pitch + ESF_LINE) * g->size;
}

/* A neighbour of row `row` along an axis of n elements, `step` rows apart; at the border the row itself. */
static int64_t beside(int64_t row, int64_t n, int64_t step, int by) {
    const int64_t at = row / step % n + by;
    return at < 0 || at >= n ? row : row + by * step;
}

static esf_rows row_to_step(const sweep *s, int64_t row) {
    const esf_grid *g = &s->job->grid;
    return (esf_rows){
        .count = 1,
        .mid[0] = row_of(s, s->now, row),
        .up = row_of(s, s->now, beside(row, g->ny, 1, -1)),
        .down = row_of(s, s->now, beside(row, g->ny, 1, 1)),
        .back[0] = row_of(s, s->now, beside(row, g->nz, g->ny, -1)),
        .front[0] = row_of(s, s->now, beside(row, g->nz, g->ny, 1)),
        .to[0] = row_of(s, s->next, row),
        .n = (size_t)g->nx,
        .a = s->job->plan->esf.a,
        .dt = s->job->plan->esf.dt,
    };
}

static void load_row(const sweep *s, int64_t row, uint8_t *shape) {
    const esf_grid *g = &s->job->grid;
    char *to = row_of(s, s->now, row);
    esf_load(s->job, row, 0, (size_t)g->nx, shape, to);
    esf_seal(g, to, (size_t)g->nx);
}

/* ---- serial and skipping ---- */

#define DEFINE_SERIAL(T)                                                                                \
    static void serial_##T(const esf_rows *r, int axes) {                                               \
        const T *v = r->mid[0], *up = r->up, *down = r->down, *back = r->back[0], *front = r->front[0]; \
        const T a = (T)r->a, dt = (T)r->dt;                                                             \
        for (size_t x = 0; x < r->n; x++) {                                                             \
            const T left = v[x > 0 ? x - 1 : x], right = v[x + 1 < r->n ? x + 1 : x];                   \
            T s = left + right;                                                                         \
            if (axes > 1)                                                                               \
                s = (up[x] + down[x]) + s;                                                              \
            if (axes > 2)                                                                               \
                s = s + (back[x] + front[x]);                                                           \
            const T kept = a * v[x], gained = dt * s;                                                   \
            ((T *)r->to[0])[x] = r->shape[0][x] ? 1 : kept + gained;                                    \
        }                                                                                               \
    }
DEFINE_SERIAL(float)
DEFINE_SERIAL(double)

#define DEFINE_SKIPPING(T)                                                                              \
    static void skipping_##T(const esf_rows *r, int axes) {                                             \
        const T *v = r->mid[0], *up = r->up, *down = r->down, *back = r->back[0], *front = r->front[0]; \
        const T a = (T)r->a, dt = (T)r->dt;                                                             \
        T *to = r->to[0];                                                                               \
        for (size_t x = 0; x < r->n; x++) {                                                             \
            if (v[x] == 1) {                                                                            \
                to[x] = 1;                                                                              \
                continue;                                                                               \
            }                                                                                           \
            T s = v[x > 0 ? x - 1 : x] + v[x + 1 < r->n ? x + 1 : x];                                   \
            if (axes > 1)                                                                               \
                s = (up[x] + down[x]) + s;                                                              \
            if (axes > 2)                                                                               \
                s = s + (back[x] + front[x]);                                                           \
            const T kept = a * v[x], gained = dt * s;                                                   \
            to[x] = kept + gained;                                                                      \
        }                                                                                               \
    }
DEFINE_SKIPPING(float)
DEFINE_SKIPPING(double)

static void serial_row(const sweep *s, int64_t row) {
    const esf_grid *g = &s->job->grid;
    esf_rows r = row_to_step(s, row);
    if (s->job->plan->params[ESF_KERNEL] == ESF_SKIPPING && s->job->by_value) {
        (g->size == sizeof(float) ? skipping_float : skipping_double)(&r, g->axes);
        return;
    }
    r.shape[0] = s->shape;
    esf_load(s->job, row, 0, r.n, s->shape, NULL);
    (g->size == sizeof(float) ? serial_float : serial_double)(&r, g->axes);
}

/* ---- Tasks: some rows each ---- */

static void load_task(void *arg, size_t index, int worker) {
    const sweep *s = arg;
    for (int64_t row = (int64_t)index * s->at_once; row < s->rows && row < (int64_t)(index + 1) * s->at_once; row++)
        load_row(s, row, s->shape + (size_t)worker * shape_bytes(s->job));
}

static void plain_task(void *arg, size_t index, int worker) {
    const sweep *s = arg;
    for (int64_t row = (int64_t)index * s->at_once; row < s->rows && row < (int64_t)(index + 1) * s->at_once; row++) {
        esf_rows r = row_to_step(s, row);
        uint8_t *shape = s->shape + (size_t)worker * shape_bytes(s->job);
        if (!s->job->by_value) {
            esf_load(s->job, row, 0, r.n, shape, NULL);
            r.shape[0] = shape;
        }
        s->job->rows->step(&r, s->job->grid.axes);
        esf_seal(&s->job->grid, r.to[0], r.n);
    }
}

static void serial_task(void *arg, size_t index, int worker) {
    const sweep *s = arg;
    (void)index, (void)worker;
    for (int64_t row = 0; row < s->rows && dm_is_wanted(s->job->plan); row++)
        serial_row(s, row);
}

static void emit_task(void *arg, size_t index, int worker) {
    const sweep *s = arg;
    (void)worker;
    for (int64_t row = (int64_t)index * s->at_once; row < s->rows && row < (int64_t)(index + 1) * s->at_once; row++)
        esf_emit(s->job, row, 0, (size_t)s->job->grid.nx, row_of(s, s->now, row));
}

distmap_status esf_sweep_run(const esf_job *job) {
    distmap_plan *plan = job->plan;
    const bool serial = plan->params[ESF_KERNEL] != ESF_PLAIN;
    const int64_t steps = plan->esf.steps;
    const double share = 1 / ((double)steps + 2);
    sweep s = {.job = job, .rows = esf_grid_rows(&job->grid)};
    lay_out(job, plan->scratch, &s);
    s.at_once = 32768 / job->grid.nx + 1;
    const size_t tasks = (size_t)((s.rows + s.at_once - 1) / s.at_once);
    TRY(dm_parallel(plan, tasks, load_task, &s, share));
    dm_phase(plan, "steps");
    for (int64_t step = 0; step < steps; step++) {
        TRY(serial ? dm_parallel(plan, 1, serial_task, &s, share) : dm_parallel(plan, tasks, plain_task, &s, share));
        char *made = s.next;
        s.next = s.now;
        s.now = made;
    }
    dm_phase(plan, "store");
    return dm_parallel(plan, tasks, emit_task, &s, share);
}
