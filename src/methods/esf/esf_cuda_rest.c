/* esf/cuda, the state at rest: levels, cycles and sweeps in their order. esf_rest.c and esf_sor.c say what they compute.
 *
 * When it is at rest, only the device knows. The host enqueues as many cycles as the tolerance may need; kernels look
 * first at the largest residual of the cycle before, and leave at once where it is small enough (ec_stop), about 2 us
 * for each. Iterations and residual are found by the last kernel, and fetched with the flags.
 *
 * Images go by tiles (esf_cuda_cycle.cu), two launches to a level and cycle; lines and volumes element by element
 * (esf_cuda_rest.cu), and over-relaxation too.
 *
 * Memory: with sides that halve evenly 13 1/3 bytes per element of an image, 10 2/7 of a volume; over-relaxation 8.
 */
#include "methods/esf/esf_cuda_rest.h"

#include <math.h>
#include <string.h>

#include "core/scratch.h"
#include "methods/esf/esf.h"

enum { LOOK_EVERY = 16, SMOOTHING_LOOKS = 8, MOST_SWEEPS = 1 << 16 };

static unsigned bits_of(double x) {
    const float single = (float)x;
    unsigned bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

/* ---- Memory ---- */

static int64_t half(int64_t n, bool halved) { return halved ? (n + 1) / 2 : n; }

static void set_levels(const distmap_plan *plan, const ec_stage *p, ec_rest *rest) {
    double decay = plan->esf.decay;
    const bool one = plan->params[EC_SOLVER] == EC_SOR;
    rest->level[0] = (ec_level){.axes = p->axes,
                                .batches = p->batches,
                                .nz = p->nz,
                                .ny = p->ny,
                                .nx = p->nx,
                                .pitch = p->pitch,
                                .decay = (float)decay};
    for (rest->levels = 1; rest->levels < EC_LEVELS && decay < 1 && !one; rest->levels++, decay *= 4) {
        ec_level *l = &rest->level[rest->levels - 1];
        l->halve_z = l->nz > 1;
        l->halve_y = l->ny > 1 && p->axes > 1;
        l->halve_x = l->nx > 1;
        if (!l->halve_z && !l->halve_y && !l->halve_x)
            break;
        l[1] = (ec_level){.axes = l->axes,
                          .batches = l->batches,
                          .nz = half(l->nz, l->halve_z),
                          .ny = half(l->ny, l->halve_y),
                          .nx = half(l->nx, l->halve_x)};
        l[1].pitch = (l[1].nx + 31) / 32 * 32;
    }
}

/* Cycles for the tolerance, about twice as many as the worst shapes took by experiment (esf_rest.c). */
static int64_t cycles_for(int axes, double tolerance) {
    const double digits = tolerance < 1 ? -log10(tolerance) : 0;
    return 4 + (int64_t)ceil((axes == 2 ? 3 : 5) * digits);
}

static double best_omega(const distmap_plan *plan) {
    return esf_best_omega(2 * (plan->esf.axes > 0 ? plan->esf.axes : 1), plan->esf.decay);
}

/* Looks after which the sweeps no longer over-relax; the next one found every rounding error that it left smoothed. */
static int64_t over_looks(const distmap_plan *plan) {
    const double sweeps = fmin(esf_over_sweeps(best_omega(plan), plan->esf.tolerance), MOST_SWEEPS);
    return (int64_t)sweeps / LOOK_EVERY + 1;
}

void ec_rest_lay_out(const distmap_plan *plan, const ec_stage *p, struct dm_scratch *walk, ec_rest *rest) {
    *rest = (ec_rest){.levels = 0};
    set_levels(plan, p, rest);
    for (int i = 0; i < rest->levels; i++) {
        ec_level *l = &rest->level[i];
        const int64_t values = l->batches * l->nz * l->ny * l->pitch;
        for (int k = 0; k < 2; k++)
            l->v[k] = i ? dm_take(walk, values, sizeof(float)) : p->field[k];
        l->f = i ? dm_take(walk, values, sizeof(float)) : NULL;
        l->d = i ? dm_take(walk, values, sizeof(float)) : NULL;
    }
    rest->looks = plan->params[EC_SOLVER] == EC_MULTIGRID ? cycles_for(p->axes, plan->esf.tolerance)
                                                          : over_looks(plan) + SMOOTHING_LOOKS;
    rest->largest = dm_take(walk, rest->looks, sizeof *rest->largest);
}

/* ---- Cycles ---- */

/* Everything that a cycle of lines or volumes does at a level. */
static distmap_status relax(const distmap_plan *plan, const ec_level *l, int sweeps, float omega, ec_stop stop) {
    struct dm_cuda *cuda = plan->context->cuda;
    for (int colour = 0; colour < 2 * sweeps; colour++)
        TRY_CUDA(cuda, ec_relax(l, colour & 1, omega, stop, cuda->stream));
    return DISTMAP_OK;
}

/* Whether a level is one of tiles: then it goes from v[0] to v[1] on the way down, and back on the way up. */
static bool is_tiled(const ec_rest *rest, int at) {
    const ec_level *l = &rest->level[at];
    return l->axes == 2 && l->nx > 1 && l->ny > 1 && rest->levels > 1;
}

static distmap_status down(const distmap_plan *plan, const ec_rest *rest, int at, unsigned *largest, ec_stop stop) {
    struct dm_cuda *cuda = plan->context->cuda;
    const ec_level *l = &rest->level[at];
    const bool last = at == rest->levels - 1;
    if (is_tiled(rest, at)) {
        TRY_CUDA(cuda, ec_down(l, last ? NULL : l + 1, largest, stop, cuda->stream));
        return DISTMAP_OK;
    }
    if (at) {
        const size_t bytes = (size_t)(l->batches * l->nz * l->ny * l->pitch) * sizeof(float);
        TRY_CUDA(cuda, cudaMemsetAsync(l->v[0], 0, bytes, cuda->stream));
    }
    TRY(relax(plan, l, last ? EC_LAST_SWEEPS : EC_SWEEPS, 1, stop));
    if (!last || largest)
        TRY_CUDA(cuda, ec_residual(l, largest, stop, cuda->stream));
    if (!last)
        TRY_CUDA(cuda, ec_coarser(l, l + 1, stop, cuda->stream));
    return DISTMAP_OK;
}

static distmap_status up(const distmap_plan *plan, const ec_rest *rest, int at, ec_stop stop) {
    struct dm_cuda *cuda = plan->context->cuda;
    const ec_level *l = &rest->level[at];
    if (is_tiled(rest, at)) {
        TRY_CUDA(cuda, ec_up(l, l + 1, stop, cuda->stream));
        return DISTMAP_OK;
    }
    TRY_CUDA(cuda, ec_finer(l, l + 1, stop, cuda->stream));
    return relax(plan, l, EC_SWEEPS, 1, stop);
}

static distmap_status cycle(const distmap_plan *plan, const ec_rest *rest, int64_t number) {
    const unsigned tolerance = bits_of(plan->esf.tolerance);
    const ec_stop before = {number ? rest->largest + number - 1 : NULL, tolerance},
                  now = {rest->largest + number, tolerance};
    TRY(down(plan, rest, 0, rest->largest + number, before));
    if (number == rest->looks - 1)
        return DISTMAP_OK; /* what was looked at is the result */
    for (int at = 1; at < rest->levels; at++)
        TRY(down(plan, rest, at, NULL, now));
    for (int at = rest->levels - 2; at >= 0; at--)
        TRY(up(plan, rest, at, now));
    return DISTMAP_OK;
}

static distmap_status cycle_to_rest(distmap_plan *plan, const ec_rest *rest) {
    struct dm_cuda *cuda = plan->context->cuda;
    dm_phase(plan, "pins");
    for (int at = 0; at < rest->levels - 1; at++)
        TRY_CUDA(cuda,
                 (is_tiled(rest, at) ? ec_pins_tiled : ec_pins)(&rest->level[at], &rest->level[at + 1], cuda->stream));
    dm_phase(plan, "cycles");
    for (int64_t number = 0; number < rest->looks; number++)
        TRY(cycle(plan, rest, number));
    TRY_CUDA(cuda, ec_judge(rest->largest, rest->looks, 1, 1, bits_of(plan->esf.tolerance), plan->cuda->outcome,
                            cuda->stream));
    return DISTMAP_OK;
}

/* ---- Over-relaxation ---- */

static distmap_status sweep_to_rest(distmap_plan *plan, const ec_rest *rest) {
    struct dm_cuda *cuda = plan->context->cuda;
    const unsigned tolerance = bits_of(plan->esf.tolerance);
    ec_level l = rest->level[0];
    l.v[1] = NULL;
    dm_phase(plan, "sweeps");
    for (int64_t look = 0; look < rest->looks; look++) {
        const ec_stop before = {look ? rest->largest + look - 1 : NULL, tolerance};
        TRY_CUDA(cuda, ec_residual(&l, rest->largest + look, before, cuda->stream));
        const ec_stop now = {rest->largest + look, tolerance};
        const float omega = look < over_looks(plan) ? (float)best_omega(plan) : 1;
        TRY(relax(plan, &l, look < rest->looks - 1 ? LOOK_EVERY : 0, omega, now));
    }
    TRY_CUDA(cuda, ec_judge(rest->largest, rest->looks, 0, LOOK_EVERY, tolerance, plan->cuda->outcome, cuda->stream));
    return DISTMAP_OK;
}

distmap_status ec_rest_run(distmap_plan *plan, const ec_rest *rest, const float **field) {
    struct dm_cuda *cuda = plan->context->cuda;
    TRY_CUDA(cuda, cudaMemsetAsync(rest->largest, 0, (size_t)rest->looks * sizeof *rest->largest, cuda->stream));
    *field = rest->level[0].v[is_tiled(rest, 0)];
    return plan->params[EC_SOLVER] == EC_SOR ? sweep_to_rest(plan, rest) : cycle_to_rest(plan, rest);
}
