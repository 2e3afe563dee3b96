/* esf/cpu, the state at rest, solver=sor: successive over-relaxation of the two colours of a checkerboard, in turns.
 *
 *     v += omega r / (neighbours + 1/rho^2),    omega = 2 / (1 + sqrt(1 - mu^2)),    mu = 2n / (2n + 1/rho^2)
 *
 * mu is what Jacobi's iteration shrinks the slowest error by without a border and a shape, and omega the best for it:
 * 110 to 180 sweeps to a residual of 1e-5 at rho = 16, twice as many where rho is twice as large (esf_rest.c: a dozen
 * cycles, whatever rho is). It is the simple solver that the other is compared with. Errors shrink by omega - 1 a
 * sweep, in the end; but the nearer omega is to 2, the longer the rounding errors of many sweeps stay in the sum. So
 * after twice as many sweeps as that rate needs for the tolerance, omega is 1, which smooths what is left. Values are kept within [0, 1), where the solution lies, so that v = 1 stands
 * for the shape throughout.
 *
 * Memory: one value per element, and a row for each worker.
 *
 * Source: D. M. Young, "Iterative Solution of Large Linear Systems" (1971), chapters 5 and 6.
 */
#include <math.h>
#include <string.h>

#include "methods/esf/esf_cpu.h"

enum { LOOK_EVERY = 8, SMOOTHING = 1000, MOST_SWEEPS = 1000000 };

typedef struct sor {
    const esf_job *job;
    char *field;
    double *largest;  /* of each worker */
    char *worker_row; /* [threads][pitch] */
    double omega;
    int64_t rows, at_once;
    unsigned colour;
    enum { LOAD, RELAX, LOOK, EMIT } what;
} sor;

static size_t row_bytes(const esf_job *job) { return dm_round64((job->grid.pitch + ESF_LINE) * job->grid.size); }

static size_t lay_out(const esf_job *job, void *memory, sor *s) {
    const esf_grid *g = &job->grid;
    const int threads = job->plan->context->threads;
    dm_scratch walk = {.base = memory, .unit = DM_CPU_UNIT};
    s->field = dm_take(&walk, (int64_t)g->pitch * esf_grid_rows(g) + ESF_LINE, g->size);
    s->largest = dm_take(&walk, threads, sizeof *s->largest);
    s->worker_row = dm_take(&walk, threads, row_bytes(job));
    return walk.used;
}

size_t esf_sor_scratch(const esf_job *job) {
    sor s;
    return lay_out(job, NULL, &s);
}

/* A row's neighbours: itself beyond the border. */
static esf_stencil stencil_of(const sor *s, int64_t row) {
    const esf_grid *g = &s->job->grid;
    const int64_t y = row % g->ny, z = row / g->ny % g->nz;
    const size_t step = g->pitch * g->size;
    char *mid = s->field + ((size_t)row * g->pitch + ESF_LINE) * g->size;
    return (esf_stencil){
        .mid = mid,
        .up = y > 0 ? mid - step : mid,
        .down = y + 1 < g->ny ? mid + step : mid,
        .back = z > 0 ? mid - step * (size_t)g->ny : mid,
        .front = z + 1 < g->nz ? mid + step * (size_t)g->ny : mid,
        .n = (size_t)g->nx,
        .axes = g->axes,
        .degree = 2 + (y > 0) + (y + 1 < g->ny) + (z > 0) + (z + 1 < g->nz),
        .colour = (unsigned)(y + z + s->colour) & 1,
        .decay = s->job->plan->esf.decay,
    };
}

/* In place: the other colour alone is read, and the element itself. */
#define DEFINE_RELAX(T, below_one)                                                                    \
    static void relax_##T(const esf_stencil *p, double omega) {                                       \
        const T *up = p->up, *down = p->down, *back = p->back, *front = p->front;                     \
        T *row = (T *)p->mid;                                                                         \
        for (size_t x = p->colour; x < p->n; x += 2) {                                                \
            const T v = row[x], left = x > 0 ? row[x - 1] : v, right = x + 1 < p->n ? row[x + 1] : v; \
            if (v == 1)                                                                               \
                continue;                                                                             \
            T r = ((up[x] - v) + (down[x] - v)) + ((left - v) + (right - v));                         \
            r = (r + ((back[x] - v) + (front[x] - v))) - (T)p->decay * v;                             \
            const double next = v + omega * r / (p->degree - (x == 0) - (x + 1 == p->n) + p->decay);  \
            row[x] = next > 0 ? next < below_one ? (T)next : below_one : 0;                           \
        }                                                                                             \
    }
DEFINE_RELAX(float, 0x1.fffffep-1f)
DEFINE_RELAX(double, 0x1.fffffffffffffp-1)

static void row_task(const sor *s, int64_t row, int worker) {
    const esf_job *job = s->job;
    const size_t size = job->grid.size;
    const esf_stencil p = stencil_of(s, row);
    char *own = s->worker_row + (size_t)worker * row_bytes(job), *mid = (char *)p.mid;
    switch (s->what) {
    case LOAD: esf_load(job, row, 0, p.n, (uint8_t *)own, mid); break;
    case RELAX: (size == sizeof(float) ? relax_float : relax_double)(&p, s->omega); break;
    case LOOK:
        memcpy(mid - size, mid, size);
        memcpy(mid + p.n * size, mid + (p.n - 1) * size, size);
        s->largest[worker] = fmax(s->largest[worker], job->rows->residual(&p, own));
        break;
    case EMIT: esf_emit(job, row, 0, p.n, mid); break;
    }
}

static void task(void *arg, size_t index, int worker) {
    const sor *s = arg;
    const int64_t first = (int64_t)index * s->at_once;
    for (int64_t row = first; row < s->rows && row < first + s->at_once; row++)
        row_task(s, row, worker);
}

static distmap_status all_rows(sor *s, int what) {
    s->what = what;
    return dm_parallel(s->job->plan, (size_t)((s->rows + s->at_once - 1) / s->at_once), task, s, 0);
}

distmap_status esf_sor_run(const esf_job *job) {
    distmap_plan *plan = job->plan;
    sor s = {.job = job, .rows = esf_grid_rows(&job->grid), .at_once = 32768 / job->grid.nx + 1};
    dm_outcome *outcome = &plan->outcome;
    s.omega = esf_best_omega(2 * plan->esf.axes, plan->esf.decay);
    const double enough = fmin(esf_over_sweeps(s.omega, plan->esf.tolerance) + LOOK_EVERY, MOST_SWEEPS);
    lay_out(job, plan->scratch, &s);
    TRY(all_rows(&s, LOAD));
    dm_phase(plan, "sweeps");
    for (;;) {
        memset(s.largest, 0, (size_t)plan->context->threads * sizeof *s.largest);
        TRY(all_rows(&s, LOOK));
        outcome->residual = 0;
        for (int i = 0; i < plan->context->threads; i++)
            outcome->residual = fmax(outcome->residual, s.largest[i]);
        if (outcome->residual <= plan->esf.tolerance || (double)outcome->iterations > enough + SMOOTHING)
            break;
        if ((double)outcome->iterations > enough)
            s.omega = 1;
        for (int k = 0; k < LOOK_EVERY; k++, outcome->iterations++)
            for (s.colour = 0; s.colour < 2; s.colour++)
                TRY(all_rows(&s, RELAX));
    }
    dm_phase(plan, "store");
    return all_rows(&s, EMIT);
}
