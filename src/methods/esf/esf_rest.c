/* esf/cpu, the state at rest, solver=multigrid.
 *
 * On the finest level the equation of each element that is not of the shape is r = 0,
 *
 *     r = sum over neighbours q of (v_q - v) - v/rho^2
 *
 * Relaxing sets the elements of one colour of a checkerboard to what their neighbours ask for, then those of the other
 * colour (Gauss-Seidel); two such sweeps take away errors of short wavelength. What is left is smooth, and is sought
 * with half as many elements along each axis: the next level's e, from
 *
 *     sum over neighbours Q of (e_Q - e) - d e = f
 *
 * by the same means. e is interpolated linearly between the centres of its cells, P, and what remains is gathered with
 * the same weights, f = -P^T r, times 2^(2 - axes), by which an edge between cells stands for as much as one between
 * elements.
 *
 * The shape has no cells of its own: an element beside it is held by it as by a spring of strength 1 to 0, and such
 * springs are gathered as 1/rho^2 is, d' = P^T q, q = d / (1 + R d). With R = 0 the coarse equation is at least as
 * stiff as the finest one seen through P, for 1 = sum of weights and (sum w e)^2 <= sum w e^2: then corrections never
 * overshoot. But a spring that is one of few holds its cell by way of elements around it, which yield: R is that
 * resistance, ln 2 / (2 pi) = 0.11 for a doubling of lengths around a single element of the shape. By experiment (dots,
 * lines, blobs, mazes; rho from 4 to 1000) 0.2 does about best: 5 to 14 cycles in images to a residual of 1e-6, 5 to 21
 * in volumes, half of what R = 0 takes.
 *
 * Cells are made until 1/rho^2 weighs as much as an edge between them, or one is left; there four sweeps leave, of n
 * axes, at most (2n / (2n + 1))^8 of an error, 0.17 in images and 0.29 in volumes, no more than a cycle does. A cycle goes
 * down from the finest level to that one and up again; what remains is seen on the way down, after the sweeps, and ends
 * it.
 *
 * Memory: with 4 bytes to a value and sides that halve evenly 13.3 bytes per element of an image, 10.3 of a volume; for
 * each worker 15 slabs.
 *
 * Source: A. Brandt, "Multi-Level Adaptive Solutions to Boundary-Value Problems" (1977), for the idea; pins: this
 * project.
 */
#include <string.h>

#include "methods/esf/esf_levels.h"

enum { SWEEPS = 2, LAST_SWEEPS = 4, MOST_CYCLES = 100 };

static int64_t half(int64_t n, bool halved) { return halved ? (n + 1) / 2 : n; }

static void set_levels(esf_rest *rest) {
    const esf_grid *g = &rest->job->grid;
    const int64_t nj = g->axes > 2 ? g->nz : g->ny, ni = g->axes > 2 ? g->ny : 1;
    double decay = rest->job->plan->esf.decay;
    rest->level[0] = (esf_level){.nj = nj, .ni = ni, .nx = g->nx, .pitch = g->pitch};
    for (rest->levels = 1; rest->levels < ESF_LEVELS && decay < 1; rest->levels++, decay *= 4) {
        esf_level *l = &rest->level[rest->levels - 1];
        l->halve_j = l->nj > 1;
        l->halve_i = l->ni > 1;
        l->halve_x = l->nx > 1;
        if (!l->halve_j && !l->halve_i && !l->halve_x)
            break;
        l[1] = (esf_level){.nj = half(l->nj, l->halve_j), .ni = half(l->ni, l->halve_i), .nx = half(l->nx, l->halve_x)};
        l[1].pitch = ((size_t)l[1].nx + ESF_LINE - 1) / ESF_LINE * ESF_LINE + ESF_LINE;
    }
}

static size_t lay_out(const esf_job *job, void *memory, esf_rest *rest) {
    dm_scratch walk = {.base = memory, .unit = DM_CPU_UNIT};
    const int threads = job->plan->context->threads;
    const size_t size = job->grid.size;
    *rest = (esf_rest){.job = job};
    set_levels(rest);
    for (int i = 0; i < rest->levels; i++) {
        esf_level *l = &rest->level[i];
        const int64_t values = job->grid.batches * l->nj * l->ni * (int64_t)l->pitch + 2 * ESF_LINE;
        l->v[0] = dm_take(&walk, values, size);
        l->v[1] = dm_take(&walk, values, size);
        l->f = i ? dm_take(&walk, values, size) : NULL;
        l->d = i ? dm_take(&walk, values, size) : NULL;
    }
    rest->zeros_bytes = ((size_t)rest->level[0].ni * rest->level[0].pitch + 2 * ESF_LINE) * size;
    rest->zeros = dm_take(&walk, 1, rest->zeros_bytes);
    rest->largest = dm_take(&walk, threads, sizeof *rest->largest);
    for (int i = 0; i < rest->levels; i++) {
        const size_t bytes = esf_rest_worker_bytes(rest, &rest->level[i], i == rest->levels - 1 ? LAST_SWEEPS : SWEEPS);
        rest->worker_bytes = bytes > rest->worker_bytes ? bytes : rest->worker_bytes;
    }
    rest->workers = dm_take(&walk, threads, rest->worker_bytes);
    return walk.used;
}

size_t esf_rest_scratch(const esf_job *job) {
    esf_rest rest;
    return lay_out(job, NULL, &rest);
}

/* ---- In and out ---- */

static void load_task(void *arg, size_t row, int worker) {
    const esf_rest *rest = arg;
    const size_t n = (size_t)rest->job->grid.nx, size = rest->job->grid.size;
    char *to = esf_level_row(rest, &rest->level[0], rest->level[0].v[0], 0, 0, (int64_t)row);
    uint8_t *site = (uint8_t *)rest->workers + (size_t)worker * rest->worker_bytes;
    esf_load(rest->job, (int64_t)row, 0, n, site, to);
    memcpy(to - size, to, size);
    memcpy(to + n * size, to + (n - 1) * size, size);
}

static void emit_task(void *arg, size_t row, int worker) {
    const esf_rest *rest = arg;
    (void)worker;
    esf_emit(rest->job, (int64_t)row, 0, (size_t)rest->job->grid.nx,
             esf_level_row(rest, &rest->level[0], (char *)rest->from, 0, 0, (int64_t)row));
}

/* ---- Cycles ---- */

static distmap_status pass(esf_rest *rest, int level, esf_stage stage, const char *from, char *to, double share) {
    const bool last = level == rest->levels - 1;
    rest->at = level;
    rest->stage = stage;
    rest->from = from;
    rest->to = to;
    rest->sweeps = last ? LAST_SWEEPS : SWEEPS;
    rest->coarser = !last && stage != ESF_UP;
    return esf_rest_pass(rest, share);
}

/* Down from level 1 and up again: its correction into v[0]. */
static distmap_status correct(esf_rest *rest, double share) {
    const int last = rest->levels - 1;
    for (int i = 1; i < last; i++)
        TRY(pass(rest, i, ESF_DOWN, NULL, rest->level[i].v[1], 0));
    TRY(pass(rest, last, ESF_DOWN, NULL, rest->level[last].v[0], 0));
    for (int i = last - 1; i >= 1; i--)
        TRY(pass(rest, i, ESF_UP, rest->level[i].v[1], rest->level[i].v[0], 0));
    return pass(rest, 0, ESF_UP, rest->level[0].v[1], rest->level[0].v[0], share);
}

static double largest_seen(esf_rest *rest) {
    double most = 0;
    for (int i = 0; i < rest->job->plan->context->threads; i++) {
        most = rest->largest[i] > most ? rest->largest[i] : most;
        rest->largest[i] = 0;
    }
    return most;
}

static distmap_status cycle_to_rest(esf_rest *rest, dm_outcome *outcome) {
    esf_level *finest = &rest->level[0];
    double share = 0.1;
    for (outcome->iterations = 1;; outcome->iterations++, share *= 0.9) {
        largest_seen(rest);
        TRY(pass(rest, 0, ESF_DOWN, finest->v[0], finest->v[1], 0.5 * share));
        outcome->residual = largest_seen(rest);
        if (outcome->residual <= rest->job->plan->esf.tolerance || outcome->iterations == MOST_CYCLES)
            return DISTMAP_OK;
        if (rest->levels > 1) {
            TRY(correct(rest, 0.5 * share));
        } else {
            char *swept = finest->v[1];
            finest->v[1] = finest->v[0];
            finest->v[0] = swept;
        }
    }
}

distmap_status esf_rest_run(const esf_job *job) {
    distmap_plan *plan = job->plan;
    const size_t rows = (size_t)esf_grid_rows(&job->grid);
    esf_rest rest;
    lay_out(job, plan->scratch, &rest);
    memset(rest.zeros, 0, rest.zeros_bytes);
    memset(rest.largest, 0, (size_t)plan->context->threads * sizeof *rest.largest);
    TRY(dm_parallel(plan, rows, load_task, &rest, 0));
    dm_phase(plan, "pins");
    for (int i = 0; i < rest.levels - 1; i++)
        TRY(pass(&rest, i, ESF_PINS, i == 0 ? rest.level[0].v[0] : NULL, NULL, 0));
    dm_phase(plan, "cycles");
    TRY(cycle_to_rest(&rest, &plan->outcome));
    dm_phase(plan, "store");
    rest.from = rest.level[0].v[1];
    return dm_parallel(plan, rows, emit_task, &rest, 0);
}
