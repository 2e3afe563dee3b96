/* Checks what a problem says about edge strengths, and brings it into normal form: 1/rho^2, dt and a = 1 - dt c as a step
 * uses them, the tolerance.
 *
 * Stability: a step multiplies the wave of the highest frequency by 1 - dt (4n + 1/rho^2), whose magnitude must stay
 * below 1.
 */
#include <math.h>

#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

static const double LEAST_RHO = 1e-15, LARGEST_RHO = 1e15; /* so that 1/rho^2 is a number in float32 too */

static distmap_status check_plain(const distmap_problem *p, int axes) {
    distmap_outputs others = p->want;
    if (p->input != DISTMAP_INPUT_MASK)
        return bad("problem.field EDGE_STRENGTH needs a mask input");
    if (axes > 3)
        return bad("problem.field EDGE_STRENGTH takes one to three measured axes, not %d", axes);
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN || p->chamfer[0] || p->chamfer[1] || p->chamfer[2])
        return bad("problem.metric and problem.chamfer have no meaning for edge strengths, must stay zero");
    for (int a = 0; a < p->ndim; a++)
        if (p->spacing[a] != 0 && p->spacing[a] != 1)
            return bad("problem.spacing[%d] is %g, must be 1 for edge strengths", a, p->spacing[a]);
    if (p->limit != 0 || p->border)
        return bad("problem.limit and problem.border have no meaning for edge strengths, must stay zero");
    others.strength = DISTMAP_NONE;
    if (dm_wants_any(others))
        return bad("problem.want: edge strengths have one output, strength");
    if (p->want.strength != DISTMAP_FLOAT32 && p->want.strength != DISTMAP_FLOAT64)
        return bad("problem.want.strength must be float32 or float64");
    return DISTMAP_OK;
}

/* As float32 holds it, if that is the output's type. */
static double rounded(const distmap_problem *p, double x) {
    return p->want.strength == DISTMAP_FLOAT32 ? (double)(float)x : x;
}

/* Where rho is so small that the usual step is not stable, the one after which nothing is left of the value before, a = 0. */
static double default_step(int measured, double decay, double limit) {
    const double usual = 1.0 / (2 * measured + 1);
    return usual < limit ? usual : 1 / (2 * measured + decay);
}

static distmap_status set_steps(distmap_plan *plan, int measured) {
    const distmap_problem *p = &plan->problem;
    const double limit = 2 / (4 * measured + plan->esf.decay), given = p->esf.dt;
    if (p->esf.tolerance != 0)
        return bad("problem.esf.tolerance has no meaning for a number of steps, must stay zero");
    plan->esf.dt = rounded(p, given == 0 ? default_step(measured, plan->esf.decay, limit) : given);
    if (!(plan->esf.dt > 0 && plan->esf.dt < limit))
        return bad("problem.esf.dt is %g, must be positive and below the limit of stability 2/(%d + 1/rho^2) = %g",
                   given, 4 * measured, limit);
    plan->esf.a = rounded(p, 1 - plan->esf.dt * (2 * plan->esf.axes + plan->esf.decay));
    return DISTMAP_OK;
}

static distmap_status set_rest(distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    const bool single = p->want.strength == DISTMAP_FLOAT32;
    const double least = single ? 1e-6 : 1e-14, given = p->esf.tolerance;
    if (p->esf.dt != 0)
        return bad("problem.esf.dt has no meaning for the state at rest, must stay zero");
    if (given != 0 && !(given >= least && given < INFINITY))
        return bad("problem.esf.tolerance is %g, but %s reaches %g at best", given,
                   distmap_dtype_name(p->want.strength), least);
    plan->esf.tolerance = given != 0 ? given : single ? 1e-5 : 1e-10;
    return DISTMAP_OK;
}

distmap_status dm_strength_check(distmap_plan *plan) {
    distmap_problem *p = &plan->problem;
    int measured = 0;
    for (int n = 0; n < DM_NDIM; n++) {
        measured += plan->measured[n];
        plan->esf.axes += dm_axis_counts(plan, n);
    }
    TRY(check_plain(p, measured));
    for (int a = 0; a < p->ndim; a++)
        p->spacing[a] = 1;
    if (!(p->esf.rho >= LEAST_RHO && p->esf.rho <= LARGEST_RHO))
        return bad("problem.esf.rho is %g, must be positive: %g to %g", p->esf.rho, LEAST_RHO, LARGEST_RHO);
    if (p->esf.steps < 0)
        return bad("problem.esf.steps is %lld, must not be negative", (long long)p->esf.steps);
    plan->number = DM_F64;
    plan->esf.decay = 1 / (p->esf.rho * p->esf.rho);
    plan->esf.steps = p->esf.steps;
    return p->esf.steps ? set_steps(plan, measured) : set_rest(plan);
}
