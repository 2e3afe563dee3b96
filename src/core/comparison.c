/* Comparisons: checks what a problem says about one, and tells what an execution found. See comparison.h.
 *
 * The point of sums. A distance that is not 0 is at least the smallest pitch h, so that the last place of its double is at
 * least 2^(floor(log2 h) - 52): with that for the last place of the sum nothing is lost. The sum of all is below R N, R the image's
 * diagonal and N its elements, which must stay below 2^127; where it would not, the last places are cut off.
 */
#include "core/comparison.h"

#include <float.h>
#include <string.h>

#include "core/internal.h"
#include "core/use.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

/* ---- The problem ---- */

/* The exponent of the power of two that is the least above x > 0. */
static int exponent_above(double x) {
    int exponent = 0;
    frexp(x, &exponent);
    return exponent;
}

static void set_sums(distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    double pitch = INFINITY, extent2 = 1e-300;
    for (int a = 0; a < p->ndim; a++) {
        pitch = fmin(pitch, p->spacing[a]);
        extent2 += pow(p->spacing[a] * (double)p->shape[a], 2);
    }
    const int least = exponent_above(pitch) - 1, room = 127 - exponent_above((double)plan->elements + 1);
    const int of_roots = 52 - least, of_squares = 52 - 2 * least;
    const int most_roots = room - exponent_above(sqrt(extent2)), most_squares = room - exponent_above(extent2);
    plan->comparison.unit = plan->unit;
    plan->comparison.scale[0] = ldexp(1, of_roots < most_roots ? of_roots : most_roots);
    plan->comparison.scale[1] =
        plan->number != DM_F64 ? 1 : ldexp(1, of_squares < most_squares ? of_squares : most_squares);
}

static void set_tolerance(distmap_plan *plan) {
    uint64_t limit2;
    double limit2f;
    dm_square_limit(plan, plan->problem.comparison.tolerance, &limit2, &limit2f);
    limit2f = fmin(limit2f, DBL_MAX);
    if (plan->number == DM_F64)
        memcpy(&limit2, &limit2f, sizeof limit2);
    plan->comparison.within = limit2;
}

distmap_status dm_comparison_check(distmap_plan *plan) {
    distmap_problem *p = &plan->problem;
    distmap_comparison *c = &p->comparison;
    if (p->input != DISTMAP_INPUT_MASK)
        return bad("problem.field COMPARISON needs a mask input");
    if (p->axes != (1u << p->ndim) - 1)
        return bad("problem.axes must name all axes for comparisons, or stay zero: compare pairs one by one");
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN)
        return bad("problem.metric must be EUCLIDEAN for comparisons");
    if (plan->limited || p->border)
        return bad("problem.limit and problem.border have no meaning for comparisons, must stay zero");
    if (dm_wants_any(p->want))
        return bad("problem.want: comparisons have no outputs, see distmap_plan_agreement()");
    if (c->other == DISTMAP_NONE)
        c->other = p->dtype;
    if (distmap_dtype_size(c->other) == 0)
        return bad("problem.comparison.other is %d, must be a dtype, or NONE for that of the input", (int)c->other);
    if (c->points != DISTMAP_POINTS_SURFACE && c->points != DISTMAP_POINTS_SET)
        return bad("problem.comparison.points is %d, must be SURFACE or SET", (int)c->points);
    if (!(c->tolerance >= 0 && c->tolerance < INFINITY))
        return bad("problem.comparison.tolerance is %g, must be finite and not negative", c->tolerance);
    if (c->percentile_count < 0 || c->percentile_count > DISTMAP_MAX_PERCENTILES)
        return bad("problem.comparison.percentile_count is %d, must be 0 to %d", c->percentile_count,
                   DISTMAP_MAX_PERCENTILES);
    for (int i = 0; i < c->percentile_count; i++)
        if (!(c->percentile[i] >= 0 && c->percentile[i] <= 100))
            return bad("problem.comparison.percentile[%d] is %g, must be 0 to 100", i, c->percentile[i]);
    if (c->percentile_count == 0) {
        c->percentile_count = 1;
        c->percentile[0] = 95;
    }
    set_sums(plan);
    set_tolerance(plan);
    return DISTMAP_OK;
}

/* ---- The results ---- */

__extension__ typedef unsigned __int128 wide;

static double number_of(wide sum, double scale) { return (double)sum / scale; }

static wide wide_from(const uint64_t sum[2]) { return (wide)sum[1] << 64 | sum[0]; }

static double distance_of(const distmap_plan *plan, uint64_t key) {
    return dm_key_distance(&plan->comparison, plan->number == DM_F64, key);
}

/* Between a and b as numpy.percentile interpolates. */
static double between(double a, double b, double part) {
    return part >= 0.5 ? b - (b - a) * (1 - part) : a + (b - a) * part;
}

static void set_means(const distmap_plan *plan, distmap_directed *to, wide sum, wide squares) {
    const dm_comparison *c = &plan->comparison;
    const double points = (double)to->points;
    to->mean = number_of(sum, c->scale[0]) / points;
    to->rms = sqrt(number_of(squares, c->scale[1]) / points) * (plan->number == DM_F64 ? 1 : c->unit.high);
}

/* All distances alike, where there is no point to measure from, or to. */
static void set_all(const distmap_plan *plan, distmap_directed *to, double value) {
    to->hausdorff = to->mean = to->rms = value;
    for (int i = 0; i < plan->problem.comparison.percentile_count; i++)
        to->percentile[i] = value;
}

static distmap_directed directed_of(const distmap_plan *plan, int direction) {
    const dm_distances *d = &plan->outcome.compared.directed[direction];
    distmap_directed made = {.points = (int64_t)d->points, .within = (int64_t)d->within};
    if (!d->points || !plan->outcome.compared.directed[!direction].points) {
        set_all(plan, &made, d->points ? INFINITY : NAN);
        return made;
    }
    made.hausdorff = distance_of(plan, d->largest);
    set_means(plan, &made, wide_from(d->sum), wide_from(d->squares));
    for (int i = 0; i < plan->problem.comparison.percentile_count; i++) {
        double part;
        dm_rank(d->points, plan->problem.comparison.percentile[i], &part);
        made.percentile[i] = between(distance_of(plan, d->order[i][0]), distance_of(plan, d->order[i][1]), part);
    }
    return made;
}

static distmap_directed symmetric_of(const distmap_plan *plan, const distmap_directed *a, const distmap_directed *b) {
    const dm_distances *d = plan->outcome.compared.directed;
    distmap_directed made = {.points = a->points + b->points, .within = a->within + b->within};
    if (!a->points || !b->points) {
        set_all(plan, &made, made.points ? INFINITY : NAN);
        return made;
    }
    made.hausdorff = fmax(a->hausdorff, b->hausdorff);
    set_means(plan, &made, wide_from(d[0].sum) + wide_from(d[1].sum),
              wide_from(d[0].squares) + wide_from(d[1].squares));
    for (int i = 0; i < plan->problem.comparison.percentile_count; i++)
        made.percentile[i] = fmax(a->percentile[i], b->percentile[i]);
    return made;
}

distmap_status distmap_plan_agreement_sized(distmap_plan *plan, distmap_agreement *agreement, size_t agreement_bytes) {
    TRY(dm_plan_check(plan));
    if (!agreement)
        return bad("agreement is NULL");
    if (plan->problem.field != DISTMAP_FIELD_COMPARISON)
        return bad("plan: its problem's field is not COMPARISON");
    TRY(distmap_plan_wait(plan));
    const dm_compared *c = &plan->outcome.compared;
    distmap_agreement made = {.elements = {(int64_t)c->elements[0], (int64_t)c->elements[1]},
                              .common = (int64_t)c->common};
    made.forward = directed_of(plan, 0);
    made.backward = directed_of(plan, 1);
    made.symmetric = symmetric_of(plan, &made.forward, &made.backward);
    made.surface_dice = (double)made.symmetric.within / (double)made.symmetric.points;
    const double both = (double)c->elements[0] + (double)c->elements[1], common = (double)c->common;
    made.dice = 2 * common / both;
    made.jaccard = common / (both - common);
    return distmap_sized_fill("agreement", agreement, agreement_bytes, &made, sizeof made);
}
