/* The problem of slices: along all axes but the slowest measured one. */
#include <math.h>
#include <string.h>

#include "slabs/slabs.h"

distmap_status dms_check_kind(const distmap_problem *p, const char *where) {
    static const distmap_outputs none;
    distmap_outputs others = p->want;
    others.distance = others.squared = others.index = DISTMAP_NONE;
    if (p->ndim > DISTMAP_MAX_NDIM)
        return bad("problem.ndim is %d, must be 1 to %d %s", p->ndim, DISTMAP_MAX_NDIM, where);
    if (p->field != DISTMAP_FIELD_DISTANCE)
        return bad("problem.field must be DISTANCE %s", where);
    if (p->input != DISTMAP_INPUT_MASK && p->input != DISTMAP_INPUT_LABELS)
        return bad("problem.input must be MASK or LABELS %s", where);
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN)
        return bad("problem.metric must be EUCLIDEAN %s", where);
    if (p->window.first != 0 || p->window.count != 0)
        return bad("problem.window must stay zero %s", where);
    if (memcmp(&others, &none, sizeof none) != 0)
        return bad("problem.want: only distance, squared and index are available %s", where);
    return DISTMAP_OK;
}

/* Whether 32 bits hold all that a part of the work sees: how far elements are from each other, and from the border along each measured
 * axis alone, of which one of a single element is a pitch away, whatever the others are. p->limit is counted in `unit`s. */
static bool fits_32_bits(const distmap_problem *p, double unit) {
    double square = 0, border = 0;
    for (int a = 0; a < p->ndim; a++) {
        const double pitch = p->spacing[a] == 0 ? 1 : p->spacing[a], last = (double)(p->shape[a] ? p->shape[a] - 1 : 0);
        if (p->axes && !(p->axes >> a & 1))
            continue;
        square += pitch * last * pitch * last;
        border = fmax(border, pitch * (floor(last / 2) + 1));
    }
    const double farthest = p->limit > 0 ? fmin(sqrt(square), p->limit) : sqrt(square);
    return farthest <= dms_most_of_32_bits(unit) && (!p->border || border <= dms_most_of_32_bits(unit));
}

distmap_status dms_find_samples(const distmap_context *context, const distmap_problem *problem,
                                distmap_dtype *samples) {
    static const distmap_dtype types[] = {DISTMAP_UINT32, DISTMAP_UINT64, DISTMAP_FLOAT64};
    const distmap_plan_options options = {.host_views = true};
    const distmap_problem distances = dms_without_sign(problem);
    distmap_problem p = dms_counted(&distances);
    size_t bytes;
    TRY(distmap_scratch_bytes(context, problem, &options, &bytes)); /* by all of the core's rules */
    const double unit = p.unit;
    p.limit = unit > 0 ? p.limit / unit : p.limit;
    p.unit = 0;
    distmap_status status = DISTMAP_OK;
    for (int i = !fits_32_bits(&p, unit); i < 3; i++) {
        p.want = (distmap_outputs){.squared = *samples = types[i]};
        status = distmap_scratch_bytes(context, &p, &options, &bytes);
        if (status == DISTMAP_OK)
            break;
    }
    return status;
}

distmap_problem dms_normal_problem(const distmap_problem *problem) {
    distmap_problem p = *problem;
    if (p.axes == 0)
        p.axes = (1u << p.ndim) - 1;
    if (p.ndim == 1) {
        p.ndim = 2;
        p.shape[1] = 1;
        p.spacing[1] = p.spacing[0];
    }
    for (int a = 0; a < p.ndim; a++)
        p.spacing[a] = p.spacing[a] == 0 ? 1 : p.spacing[a];
    return p;
}

/* A whole unit needs no care: the core counts squares in it by itself. */
distmap_problem dms_counted(const distmap_problem *problem) {
    distmap_problem p = *problem;
    double unit;
    int64_t multiples[DISTMAP_MAX_AXES];
    if (distmap_problem_unit(problem, &unit, multiples) != DISTMAP_OK)
        return p;
    p.real = unit == 0;
    if (unit == floor(unit))
        return p;
    for (int a = 0; a < p.ndim; a++)
        p.spacing[a] = multiples[a] ? (double)multiples[a] : 1;
    p.unit = unit;
    return p;
}

/* Where no other axis is measured, a limit below every pitch lets each element see itself alone. */
distmap_problem dms_slices_of(const distmap_problem *normal, distmap_dtype samples, int axis, int64_t count) {
    const distmap_problem distances = dms_without_sign(normal);
    distmap_problem p = dms_counted(&distances);
    const double unit = p.unit > 0 ? p.unit : 1, limit = normal->limit / unit * DMS_ROOM;
    p.unit = 0;
    p.limit = limit;
    p.axes &= ~(1u << axis);
    p.shape[axis] = count;
    p.want.distance = DISTMAP_NONE;
    p.want.squared = samples;
    p.border = normal->border && !dms_keeps_border(normal, axis);
    if (p.border)
        p.limit = dms_limit(normal, samples) / unit * DMS_ROOM;
    if (p.axes == 0) {
        p.axes = 1u << axis;
        p.limit = fmin(limit > 0 ? limit : INFINITY, p.spacing[axis] / 2);
    }
    return p;
}

distmap_status dms_plan_make(distmap_context *context, const distmap_problem *problem, distmap_plan **plan,
                             size_t *bytes) {
    const distmap_plan_options options = {.host_views = true};
    distmap_description description;
    TRY(distmap_plan_create(context, problem, &options, plan));
    distmap_plan_describe(*plan, &description);
    *bytes += description.scratch_bytes;
    return DISTMAP_OK;
}
