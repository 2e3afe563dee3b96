/* Ball morphology: which steps make an operation. See morphology.h.
 *
 * A dilation is the core's `within` from the set, an erosion its `beyond` from all others; `border` says that the outside
 * counts as sites. So one step does where the sites rule can say what the others are; where it cannot (a value, a range,
 * floats, whose NaN belongs to neither side), the set is first written as a mask, by a ball of the element alone.
 *
 * Opening and closing are two steps. Only the image itself, not the infinite image, matters to the second step if what is outside
 * stays as it was: when background is eroded first, or set dilated first. Otherwise the ball's radius around the image
 * matters: the set is written into the middle of a larger mask whose frame is what lies outside, and from its middle in the
 * end. Farther out than that nothing reaches the image in two steps: what a larger mask would have there, the second step
 * does not see.
 *
 * Labels are opened by the same two steps: the erosion of each by all others, then the growth of what is left, where the
 * nearest one wins. No two ever meet: the ball of an element that is left holds its own label alone, so nothing of another
 * label, nor of the background, is within R of it.
 */
#include "operations/morphology.h"

#include <float.h>

#include "operations/inner.h"

/* ---- Steps ---- */

/* R as a limit: 0 is the element alone, which a length whose square is 0 is, too. */
static double limit_of(double radius) { return radius > 0 ? radius : DBL_MIN; }

static distmap_problem distances(const distmap_plan *plan) {
    distmap_problem p = op_distances(plan);
    p.limit = limit_of(plan->problem.morphology.radius);
    return p;
}

static mo_step *add(mo_steps *steps, mo_place from, mo_place to, const char *phase, distmap_problem problem) {
    mo_step *made = &steps->step[steps->count++];
    *made = (mo_step){.problem = problem, .from = from, .to = to, .phase = phase};
    for (int i = 0; i < 2; i++) {
        const mo_place place = i ? to : from;
        const int needed = place == MO_SECOND ? 2 : place == MO_FIRST;
        steps->masks = needed > steps->masks ? needed : steps->masks;
    }
    if (from != MO_INPUT) {
        made->problem.dtype = steps->kept;
        made->problem.sites = (distmap_sites){.rule = DISTMAP_SITES_NONZERO};
    }
    return made;
}

/* From a mask's nonzero elements, or the input's sites. Output types are the plan's where a step writes there. */
static void add_dilation(const distmap_plan *plan, mo_steps *steps, mo_place from, mo_place to, bool border) {
    mo_step *s = add(steps, from, to, "dilate", distances(plan));
    s->problem.border = border;
    s->problem.want.within = to == MO_OUTPUT ? plan->problem.want.mask : DISTMAP_UINT8;
}

static void add_erosion(const distmap_plan *plan, mo_steps *steps, mo_place from, mo_place to, bool border) {
    mo_step *s = add(steps, from, to, "erode", distances(plan));
    s->problem.border = border;
    s->problem.want.beyond = to == MO_OUTPUT ? plan->problem.want.mask : DISTMAP_UINT8;
    s->problem.sites.rule = s->problem.sites.rule == DISTMAP_SITES_ZERO ? DISTMAP_SITES_NONZERO : DISTMAP_SITES_ZERO;
}

/* The set as it is: elements that are no farther than nothing from it, along as few axes as methods like to have. */
static void add_copy(const distmap_plan *plan, mo_steps *steps, mo_place from, mo_place to) {
    mo_step *s = add(steps, from, to, "set", distances(plan));
    distmap_problem *p = &s->problem;
    p->limit = limit_of(0);
    p->axes = p->ndim > 1 ? 3u << (p->ndim - 2) : 1;
    for (int a = 0; a < p->ndim; a++) {
        p->spacing[a] = 1;
        p->shape[a] = plan->problem.shape[a];
    }
    p->want.within = to == MO_OUTPUT ? plan->problem.want.mask : DISTMAP_UINT8;
}

static bool has_others(const distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    return !dm_dtype_is_float(p->dtype) &&
           (p->sites.rule == DISTMAP_SITES_ZERO || p->sites.rule == DISTMAP_SITES_NONZERO);
}

static void add_label_erosion(const distmap_plan *plan, mo_steps *steps, mo_place to) {
    mo_step *s = add(steps, MO_INPUT, to, "erode", distances(plan));
    s->problem.border = !plan->problem.morphology.outside;
    s->problem.want.beyond = plan->problem.want.label;
}

static void add_label_growth(const distmap_plan *plan, mo_steps *steps, mo_place from) {
    mo_step *s = add(steps, from, MO_OUTPUT, "dilate", distances(plan));
    s->problem.input = DISTMAP_INPUT_MASK;
    s->problem.sites.rule = DISTMAP_SITES_NONZERO;
    s->problem.want.label = plan->problem.want.label;
}

static void label_steps(const distmap_plan *plan, mo_steps *steps) {
    switch (plan->problem.morphology.step) {
    case DISTMAP_MORPHOLOGY_ERODE: add_label_erosion(plan, steps, MO_OUTPUT); break;
    case DISTMAP_MORPHOLOGY_OPEN:
        add_label_erosion(plan, steps, MO_FIRST);
        add_label_growth(plan, steps, MO_FIRST);
        break;
    default: add_label_growth(plan, steps, MO_INPUT); break;
    }
}

/* Opening and closing with R around the image. */
static void framed_steps(const distmap_plan *plan, mo_steps *steps) {
    const distmap_morphology *m = &plan->problem.morphology;
    steps->frame = true;
    steps->frame_value = m->outside;
    add_copy(plan, steps, MO_INPUT, MO_FIRST);
    if (m->step == DISTMAP_MORPHOLOGY_OPEN) {
        add_erosion(plan, steps, MO_FIRST, MO_SECOND, false);
        add_dilation(plan, steps, MO_SECOND, MO_FIRST, false);
    } else {
        add_dilation(plan, steps, MO_FIRST, MO_SECOND, false);
        add_erosion(plan, steps, MO_SECOND, MO_FIRST, false);
    }
    add_copy(plan, steps, MO_FIRST, MO_OUTPUT);
    steps->elements = 1;
    for (int a = 0; a < plan->problem.ndim; a++) {
        steps->around[a] = dm_morphology_around(plan, a);
        steps->shape[a] += 2 * steps->around[a];
        steps->elements *= steps->shape[a];
        for (int i = 1; i < 3; i++)
            steps->step[i].problem.shape[a] = steps->shape[a];
    }
}

static void plain_steps(const distmap_plan *plan, mo_steps *steps) {
    const distmap_morphology *m = &plan->problem.morphology;
    switch (m->step) {
    case DISTMAP_MORPHOLOGY_DILATE: add_dilation(plan, steps, MO_INPUT, MO_OUTPUT, m->outside); break;
    case DISTMAP_MORPHOLOGY_CLOSE:
        add_dilation(plan, steps, MO_INPUT, MO_FIRST, true);
        add_erosion(plan, steps, MO_FIRST, MO_OUTPUT, false);
        break;
    case DISTMAP_MORPHOLOGY_ERODE:
        if (!has_others(plan))
            add_copy(plan, steps, MO_INPUT, MO_FIRST);
        add_erosion(plan, steps, has_others(plan) ? MO_INPUT : MO_FIRST, MO_OUTPUT, !m->outside);
        break;
    case DISTMAP_MORPHOLOGY_OPEN: /* the output serves as a mask before it is one */
        if (!has_others(plan))
            add_copy(plan, steps, MO_INPUT, MO_OUTPUT);
        add_erosion(plan, steps, has_others(plan) ? MO_INPUT : MO_OUTPUT, MO_FIRST, true);
        add_dilation(plan, steps, MO_FIRST, MO_OUTPUT, false);
        break;
    }
}

mo_steps mo_steps_of(const distmap_plan *plan) {
    const distmap_problem *p = &plan->problem;
    const distmap_morphology *m = &p->morphology;
    const bool labels = p->input == DISTMAP_INPUT_LABELS;
    mo_steps steps = {.elements = plan->elements, .kept = labels ? p->want.label : DISTMAP_UINT8};
    for (int a = 0; a < p->ndim; a++)
        steps.shape[a] = p->shape[a];
    if (labels)
        label_steps(plan, &steps);
    else if ((m->step == DISTMAP_MORPHOLOGY_OPEN && m->outside) || (m->step == DISTMAP_MORPHOLOGY_CLOSE && !m->outside))
        framed_steps(plan, &steps);
    else
        plain_steps(plan, &steps);
    return steps;
}

/* ---- Scratch and plans ---- */

size_t mo_lay_out(const distmap_plan *plan, const mo_steps *steps, size_t unit, char *mask[2]) {
    dm_scratch walk = {.base = plan->scratch, .unit = unit};
    size_t most = 0;
    for (int i = 0; i < steps->count; i++) {
        const size_t bytes = op_inner_bytes(plan, &steps->step[i].problem);
        most = bytes > most ? bytes : most;
    }
    dm_take(&walk, 1, most);
    for (int i = 0; i < 2; i++)
        mask[i] = dm_take(&walk, i < steps->masks ? steps->elements : 0, distmap_dtype_size(steps->kept));
    return walk.used;
}

distmap_status mo_prepare(distmap_plan *plan) {
    const mo_steps steps = mo_steps_of(plan);
    for (int i = 0; i < steps.count; i++)
        TRY(op_inner_make(plan, &steps.step[i].problem, 1.0 / steps.count));
    return DISTMAP_OK;
}

/* ---- A step ---- */

/* A mask, or labels, of the scratch; `middle`: what of it the image is. */
static distmap_view mask_view(const distmap_plan *plan, const mo_steps *steps, char *mask, bool middle) {
    const distmap_problem *p = &plan->problem;
    distmap_view view = distmap_view_make(mask, steps->kept, p->ndim, steps->shape);
    view.space = plan->context->device->space;
    for (int a = 0; middle && a < p->ndim; a++) {
        view.data = (char *)view.data + steps->around[a] * view.strides[a];
        view.shape[a] = p->shape[a];
    }
    return view;
}

static distmap_view view_of(const distmap_plan *plan, const mo_steps *steps, mo_place place, bool middle,
                            const dm_arrays *arrays, char *const mask[2]) {
    if (place == MO_INPUT)
        return op_view(plan, &arrays->input);
    if (place == MO_OUTPUT)
        return op_view(plan, plan->problem.want.mask ? &arrays->mask : &arrays->label);
    return mask_view(plan, steps, mask[place - MO_FIRST], middle);
}

distmap_status mo_run_step(distmap_plan *plan, const mo_steps *steps, int i, const dm_arrays *arrays,
                           char *const mask[2]) {
    const mo_step *s = &steps->step[i];
    const distmap_outputs *want = &s->problem.want;
    const bool middle = s->from == MO_INPUT || s->to == MO_OUTPUT; /* of larger masks: steps from and to the image */
    distmap_arrays inner = {.input = view_of(plan, steps, s->from, middle, arrays, mask)};
    *(want->within   ? &inner.within
      : want->beyond ? &inner.beyond
                     : &inner.label) = view_of(plan, steps, s->to, middle, arrays, mask);
    inner.input.dtype = s->problem.dtype; /* the output, a bool or uint8, as it is read again */
    dm_phase(plan, s->phase);
    return op_inner_run(plan, i, &inner, DISTMAP_FLAG_NAN);
}
