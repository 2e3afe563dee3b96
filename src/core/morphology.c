/* Checks what a problem says about morphology. Metric, spacing and limit were brought into normal form before. */
#include <math.h>

#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

/* A little more than the quotient: what is within the radius is so when rounded. One element more does no harm. */
int64_t dm_morphology_around(const distmap_plan *plan, int axis) {
    const double steps = floor(plan->problem.morphology.radius / plan->problem.spacing[axis] * (1 + 0x1p-50));
    return !(plan->problem.axes >> axis & 1) ? 0 : steps < (double)INT32_MAX ? (int64_t)steps : INT32_MAX;
}

static distmap_status check_labels(const distmap_problem *p) {
    const distmap_morphology *m = &p->morphology;
    if (p->sites.rule != DISTMAP_SITES_ZERO)
        return bad("problem.sites has no meaning for the morphology of labels, whose background is 0: must stay zero");
    if (m->step == DISTMAP_MORPHOLOGY_CLOSE)
        return bad("problem.morphology.step of labels must not be CLOSE: closings of several may overlap");
    if (m->outside && m->step != DISTMAP_MORPHOLOGY_ERODE)
        return bad("problem.morphology.outside has no meaning where labels are dilated or opened, must stay false");
    if (!p->want.label || p->want.mask)
        return bad("problem.want: the morphology of labels has one output, label");
    return dm_element_check(p, p->want.label, "label");
}

static distmap_status check_mask(const distmap_problem *p) {
    if (!p->want.mask || p->want.label)
        return bad("problem.want: the morphology of masks has one output, mask");
    if (p->want.mask != DISTMAP_BOOL && p->want.mask != DISTMAP_UINT8)
        return bad("problem.want.mask must be bool or uint8");
    return DISTMAP_OK;
}

/* Opening and closing may work on the image with R around it. */
static distmap_status check_room(const distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    int64_t elements = 1;
    for (int a = 0; a < p->ndim; a++) {
        const int64_t length = p->shape[a] + 2 * dm_morphology_around(plan, a);
        if (length > INT32_MAX || __builtin_mul_overflow(elements, length, &elements) || elements > (int64_t)1 << 56)
            return bad(
                "problem.morphology.radius is %g: the image with that much around it is beyond 2^31 - 1 elements "
                "along an axis, or 2^56 in all",
                p->morphology.radius);
    }
    return DISTMAP_OK;
}

distmap_status dm_morphology_check(const distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    const distmap_outputs *w = &p->want;
    const distmap_morphology *m = &p->morphology;
    if (p->input == DISTMAP_INPUT_SAMPLED)
        return bad("problem.field MORPHOLOGY needs a mask or label input");
    if (p->metric != DISTMAP_METRIC_EUCLIDEAN)
        return bad("problem.metric must be EUCLIDEAN for morphology");
    if (plan->limited || p->border)
        return bad(
            "problem.limit and problem.border have no meaning for morphology, must stay zero: problem.morphology "
            "has radius and outside");
    if (m->step < DISTMAP_MORPHOLOGY_DILATE || m->step > DISTMAP_MORPHOLOGY_CLOSE)
        return bad("problem.morphology.step is %d, unknown", (int)m->step);
    if (!(m->radius >= 0) || isinf(m->radius))
        return bad("problem.morphology.radius is %g, must be finite and not negative", m->radius);
    distmap_outputs others = *w;
    others.mask = others.label = DISTMAP_NONE;
    if (dm_wants_any(others))
        return bad("problem.want: morphology has one output, mask, or label for labels");
    TRY(p->input == DISTMAP_INPUT_LABELS ? check_labels(p) : check_mask(p));
    const bool one = m->step == DISTMAP_MORPHOLOGY_DILATE || m->step == DISTMAP_MORPHOLOGY_ERODE;
    const bool within = (m->step == DISTMAP_MORPHOLOGY_OPEN) != m->outside; /* the image holds all that matters */
    return one || within ? DISTMAP_OK : check_room(plan);
}
