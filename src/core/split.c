/* Problems with five to eight axes, of which up to four are measured. The result of a batch depends on nothing outside it, so the
 * axes that are not measured can have any order.
 *
 * The plan's problem has the measured axes last, in their order, and before them as many of the longest other axes as fit into the normal
 * form. The remaining axes are *loops*: the method runs once for each of their places. Axes of length 1 that are not measured are left
 * out. If there are loops, and room for one axis, there is a second plan, `merged`, with all batches as one axis. It runs if the
 * strides of all arrays allow that, as those of arrays without gaps do; then there is one execution only. The two plans take turns in the
 * same scratch.
 *
 * Ties: the measured axes keep their order, so the lowest index of a batch is also the lowest one in the plan's problem. After the
 * method has run, indices count the plan's axes, and coordinates exist for measured axes only; both are converted afterwards.
 */
#include <string.h>

#include "core/internal.h"

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

static bool is_measured(const distmap_problem *p, int a) { return p->axes >> a & 1; }

/* ---- Making ---- */

static distmap_status check_given(distmap_problem *p) {
    TRY(dm_shape_check(p));
    TRY(dm_order_check(p));
    TRY(dm_spacing_check(p));
    if (p->axes == 0)
        p->axes = (1u << p->ndim) - 1;
    const int measured = __builtin_popcount(p->axes);
    if (measured > DM_NDIM)
        return bad("problem.axes measures %d axes, must be %d at most: the others are batches", measured, DM_NDIM);
    if (p->field != DISTMAP_FIELD_DISTANCE && p->field != DISTMAP_FIELD_SKELETON &&
        p->field != DISTMAP_FIELD_MORPHOLOGY && p->field != DISTMAP_FIELD_THICKNESS)
        return bad("problem.field: with more than %d axes it must be DISTANCE, SKELETON, MORPHOLOGY or THICKNESS",
                   DM_NDIM);
    if (p->window.first || p->window.count)
        return bad("problem.window needs two axes, both measured");
    int64_t elements = 1;
    for (int a = 0; a < p->ndim; a++) {
        elements *= p->shape[a];
        if (p->want.coords && (uint64_t)p->shape[a] > dm_dtype_max(p->want.coords) + 1)
            return bad("problem.want.coords is %s, too small for axis %d of %lld elements: use int32",
                       distmap_dtype_name(p->want.coords), a, (long long)p->shape[a]);
    }
    if (p->want.index == DISTMAP_INT32 && elements > (int64_t)INT32_MAX + 1 && !p->payload)
        return bad("problem.want.index is int32, too small for %lld elements: use int64", (long long)elements);
    return DISTMAP_OK;
}

/* The longest `room` batches stay in the plan's problem, in their order; the others are loops. */
static void choose_axes(dm_split *s, int room) {
    const distmap_problem *p = &s->given;
    bool stays[DISTMAP_MAX_AXES] = {false};
    for (int i = 0; i < room; i++) {
        int longest = -1;
        for (int a = 0; a < p->ndim; a++)
            if (!is_measured(p, a) && !stays[a] && p->shape[a] != 1 && (longest < 0 || p->shape[a] > p->shape[longest]))
                longest = a;
        if (longest >= 0)
            stays[longest] = true;
    }
    for (int a = 0; a < p->ndim; a++) {
        if (stays[a])
            s->axis[s->batches++] = a;
        else if (!is_measured(p, a) && p->shape[a] != 1)
            s->loop[s->loops++] = a;
    }
    for (int a = 0; a < p->ndim; a++)
        if (is_measured(p, a))
            s->axis[s->batches + s->measured++] = a;
}

static bool is_empty(const distmap_problem *p) {
    bool empty = false;
    for (int a = 0; a < p->ndim; a++)
        empty |= p->shape[a] == 0;
    return empty;
}

distmap_status dm_split_make(const distmap_problem *problem, dm_split *s, distmap_problem *part) {
    *s = (dm_split){.given = *problem};
    TRY(check_given(&s->given));
    choose_axes(s, DM_NDIM - __builtin_popcount(s->given.axes));
    *part = s->given;
    part->ndim = s->batches + s->measured;
    part->axes = ((1u << s->measured) - 1) << s->batches;
    memset(part->shape, 0, sizeof part->shape);
    memset(part->spacing, 0, sizeof part->spacing);
    memset(part->order, 0, sizeof part->order);
    for (int i = 0; i < part->ndim; i++) {
        part->shape[i] = s->given.shape[s->axis[i]];
        part->spacing[i] = problem->spacing[s->axis[i]]; /* not checked yet */
    }
    if (is_empty(&s->given))
        part->shape[0] = 0; /* whichever axis it is */
    return DISTMAP_OK;
}

/* The problem with all batches as one axis; false if it is not needed, or has no room. */
static bool merged_problem(const distmap_plan *plan, distmap_problem *merged) {
    const dm_split *s = &plan->split;
    *merged = plan->problem;
    if (s->loops == 0 || s->batches == 0 || plan->elements == 0)
        return false;
    merged->ndim = 1 + s->measured;
    merged->axes = ((1u << s->measured) - 1) << 1;
    for (int i = 0; i < s->measured; i++) {
        merged->shape[1 + i] = plan->problem.shape[s->batches + i];
        merged->spacing[1 + i] = plan->problem.spacing[s->batches + i];
    }
    merged->shape[0] = 1;
    for (int a = 0; a < s->given.ndim; a++)
        if (!is_measured(&s->given, a) && (merged->shape[0] *= s->given.shape[a]) > INT32_MAX)
            return false;
    return true;
}

size_t dm_split_scratch_bytes(const distmap_plan *plan, const distmap_plan_options *options) {
    distmap_problem merged;
    size_t bytes;
    return merged_problem(plan, &merged) && distmap_scratch_bytes(plan->context, &merged, options, &bytes) == DISTMAP_OK
               ? bytes
               : 0;
}

distmap_status dm_split_merge(distmap_plan *plan, const distmap_plan_options *options) {
    distmap_problem merged;
    distmap_plan_options own = options ? *options : (distmap_plan_options){0};
    size_t bytes;
    own.scratch = plan->scratch;
    own.scratch_bytes = plan->scratch_bytes;
    /* If the method refuses so many elements at once, loops remain. */
    if (!merged_problem(plan, &merged) || distmap_scratch_bytes(plan->context, &merged, &own, &bytes) != DISTMAP_OK)
        return DISTMAP_OK;
    return distmap_plan_create(plan->context, &merged, &own, &plan->split.merged);
}

/* ---- Arrays ---- */

int dm_split_place(const dm_split *s, int a) {
    const int ndim = s->batches + s->measured;
    for (int i = 0; i < ndim; i++)
        if (s->axis[i] == a)
            return i + DM_NDIM - ndim;
    return -1;
}

struct bound {
    const distmap_view *view;
    dm_array *array;
};

enum { MOST_BOUND = 9 + DM_NDIM };

/* Lists the views that are not empty, each with its form for the method. */
static int bind(const dm_split *s, const distmap_arrays *views, dm_arrays *arrays, struct bound bound[MOST_BOUND]) {
    const struct bound all[] = {
        {&views->input, &arrays->input},     {&views->payload, &arrays->payload}, {&views->distance, &arrays->distance},
        {&views->squared, &arrays->squared}, {&views->index, &arrays->index},     {&views->label, &arrays->label},
        {&views->within, &arrays->within},   {&views->beyond, &arrays->beyond},   {&views->mask, &arrays->mask},
    };
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].array->data)
            bound[count++] = all[i];
    for (int i = 0; i < s->measured; i++) {
        const struct bound coords = {&views->coords[s->axis[s->batches + i]],
                                     &arrays->coords[DM_NDIM - s->measured + i]};
        if (coords.array->data)
            bound[count++] = coords;
    }
    return count;
}

/* The stride of the one axis that holds all batches; false if the batches do not have one stride. */
static bool merged_stride(const dm_split *s, const distmap_view *view, int64_t *stride) {
    int64_t next = 0;
    *stride = 0;
    for (int a = s->given.ndim - 1; a >= 0; a--) {
        if (is_measured(&s->given, a) || s->given.shape[a] == 1)
            continue;
        if (next == 0)
            *stride = view->strides[a];
        else if (view->strides[a] != next)
            return false;
        if (__builtin_mul_overflow(view->strides[a], s->given.shape[a], &next))
            return false;
        if (next == 0) /* stride 0: all have the same address */
            return false;
    }
    return true;
}

static bool merge(const dm_split *s, const struct bound *bound, int count) {
    int64_t stride;
    for (int i = 0; i < count; i++)
        if (!merged_stride(s, bound[i].view, &stride))
            return false;
    for (int i = 0; i < count; i++) {
        int64_t *to = bound[i].array->stride;
        merged_stride(s, bound[i].view, &stride);
        for (int n = 0; n < DM_NDIM - s->measured; n++)
            to[n] = 0;
        to[DM_NDIM - 1 - s->measured] = stride;
    }
    return true;
}

/* ---- Sites ---- */

/* Whether the batches come before all measured axes: then all indices of a batch differ from the plan's by the same number. */
static bool batches_first(const dm_split *s) {
    int first = 0;
    while (first < s->given.ndim && !is_measured(&s->given, first))
        first++;
    return first == s->given.ndim - s->measured;
}

struct finish {
    distmap_plan *plan; /* the one that ran */
    const dm_split *split;
    const distmap_arrays *views;
    const dm_arrays *arrays;
    const int64_t *at;                       /* places along loops */
    int64_t linear[DISTMAP_MAX_AXES], batch; /* of the caller's axes; elements of a batch */
    bool shifts;
};

/* The position of a batch along the caller's axes. `of` is its position among the batches that ran together. */
static void batch_place(const struct finish *f, int64_t of, int64_t at[DISTMAP_MAX_AXES]) {
    const dm_split *s = f->split;
    const distmap_problem *p = &s->given;
    memset(at, 0, DISTMAP_MAX_AXES * sizeof *at);
    if (s->ran_merged) {
        for (int a = p->ndim - 1; a >= 0; a--)
            if (!is_measured(p, a)) {
                at[a] = of % p->shape[a];
                of /= p->shape[a];
            }
        return;
    }
    for (int i = s->batches - 1; i >= 0; i--) {
        at[s->axis[i]] = of % p->shape[s->axis[i]];
        of /= p->shape[s->axis[i]];
    }
    for (int i = 0; i < s->loops; i++)
        at[s->loop[i]] = f->at[i];
}

static int64_t load(const dm_array *array, const char *from) {
    switch (array->dtype) {
    case DISTMAP_INT16: return *(const int16_t *)(const void *)from;
    case DISTMAP_INT32: return *(const int32_t *)(const void *)from;
    default: return *(const int64_t *)(const void *)from;
    }
}

static void store(distmap_dtype dtype, char *to, int64_t value) {
    switch (dtype) {
    case DISTMAP_INT16: *(int16_t *)(void *)to = (int16_t)value; break;
    case DISTMAP_INT32: *(int32_t *)(void *)to = (int32_t)value; break;
    default: *(int64_t *)(void *)to = value; break;
    }
}

/* Converts an index of the plan's problem to the caller's. `own` and `theirs` are the indices of the batch's first element. */
static int64_t renumber(const struct finish *f, int64_t index, int64_t own, int64_t theirs) {
    const dm_split *s = f->split;
    if (f->shifts)
        return index - own + theirs;
    int64_t rest = index - own;
    for (int i = s->measured - 1; i >= 0; i--) {
        const int a = s->axis[s->batches + i];
        theirs += rest % s->given.shape[a] * f->linear[a];
        rest /= s->given.shape[a];
    }
    return theirs;
}

/* Converts the sites of one batch. */
static void finish_batch(void *arg, size_t number, int worker) {
    (void)worker;
    const struct finish *f = arg;
    const dm_split *s = f->split;
    const dm_array *index = &f->arrays->index, *known = &f->arrays->coords[DM_X];
    const int first = DM_NDIM - s->measured; /* the first measured axis in the normal form */
    int64_t place[DISTMAP_MAX_AXES], theirs = 0, at[DM_NDIM] = {0}, rest = (int64_t)number;
    batch_place(f, rest, place);
    for (int a = 0; a < s->given.ndim; a++)
        theirs += place[a] * f->linear[a];
    for (int n = first - 1; n >= 0; n--) {
        at[n] = rest % f->plan->shape[n];
        rest /= f->plan->shape[n];
    }
    for (int64_t e = 0; e < f->batch; e++) {
        rest = e;
        for (int n = DM_X; n >= first; n--) {
            at[n] = rest % f->plan->shape[n];
            rest /= f->plan->shape[n];
        }
        int64_t to_index = 0, to_known = 0;
        for (int n = 0; n < DM_NDIM; n++) {
            to_index += at[n] * index->stride[n];
            to_known += at[n] * known->stride[n];
        }
        if (index->data) {
            const int64_t site = load(index, index->data + to_index);
            if (site >= 0)
                store(index->dtype, index->data + to_index, renumber(f, site, (int64_t)number * f->batch, theirs));
        }
        if (!known->data)
            continue;
        const int64_t site = load(known, known->data + to_known);
        for (int a = 0; a < s->given.ndim; a++) {
            const distmap_view *view = &f->views->coords[a];
            if (is_measured(&s->given, a))
                continue;
            char *to = view->data;
            for (int b = 0; b < s->given.ndim; b++)
                to += view->strides[b] * (is_measured(&s->given, b) ? at[dm_split_place(s, b)] : place[b]);
            store(view->dtype, to, site < 0 ? site : place[a]);
        }
    }
}

/* Whether the plan's indices are the caller's. */
static bool index_is_theirs(const dm_split *s) { return s->given.payload || (s->ran_merged && batches_first(s)); }

static distmap_status check_sites_space(const dm_split *s, const dm_arrays *arrays) {
    if (arrays->index.data && arrays->index.space != DISTMAP_SPACE_HOST && !index_is_theirs(s))
        return dm_error(
            DISTMAP_ERROR_UNSUPPORTED,
            "arrays.index lies in a GPU's memory: with more than %d axes the batches must come before the measured axes "
            "and be adjacent in memory, in all arrays",
            DM_NDIM);
    for (int n = 0; n < DM_NDIM; n++)
        if (arrays->coords[n].data && arrays->coords[n].space != DISTMAP_SPACE_HOST)
            return dm_error(DISTMAP_ERROR_UNSUPPORTED,
                            "arrays.coords lie in a GPU's memory: with more than %d axes they must be in host memory",
                            DM_NDIM);
    return DISTMAP_OK;
}

static distmap_status finish_sites(distmap_plan *ran, const dm_split *s, const distmap_arrays *views,
                                   const dm_arrays *arrays, const int64_t *at) {
    struct finish f = {ran, s, views, arrays, at, .batch = 1, .shifts = batches_first(s)};
    dm_arrays own = *arrays;
    if (index_is_theirs(s))
        own.index.data = NULL;
    if (!own.index.data && !own.coords[DM_X].data)
        return DISTMAP_OK;
    int64_t linear = 1;
    for (int a = s->given.ndim - 1; a >= 0; a--) {
        f.linear[a] = linear;
        linear *= s->given.shape[a];
        f.batch *= is_measured(&s->given, a) ? s->given.shape[a] : 1;
    }
    f.arrays = &own;
    return dm_parallel(ran, (size_t)(ran->elements / f.batch), finish_batch, &f, 0);
}

/* ---- Executing ---- */

static distmap_status run(distmap_plan *plan, const dm_split *s, const distmap_arrays *views, const dm_arrays *arrays,
                          const int64_t *at) {
    TRY(plan->context->device->execute(plan, arrays));
    return finish_sites(plan, s, views, arrays, at);
}

static distmap_status run_loops(distmap_plan *plan, const distmap_arrays *views, const dm_arrays *arrays) {
    const dm_split *s = &plan->split;
    int64_t at[DM_LOOPS] = {0}, runs = 1;
    struct bound bound[MOST_BOUND];
    dm_arrays part = *arrays;
    const int count = bind(s, views, &part, bound);
    for (int i = 0; i < s->loops; i++)
        runs *= s->given.shape[s->loop[i]];
    for (int64_t done = 0; done < runs; done++) {
        int64_t rest = done;
        for (int i = s->loops - 1; i >= 0; i--) {
            at[i] = rest % s->given.shape[s->loop[i]];
            rest /= s->given.shape[s->loop[i]];
        }
        for (int b = 0; b < count; b++) {
            bound[b].array->data = bound[b].view->data;
            for (int i = 0; i < s->loops; i++)
                bound[b].array->data += at[i] * bound[b].view->strides[s->loop[i]];
        }
        plan->goes_on = done > 0;
        plan->progress_base = plan->progress_told = 0;
        plan->progress_from = (double)done / (double)runs;
        plan->progress_span = 1 / (double)runs;
        plan->phases.on = plan->timed;
        TRY(run(plan, s, views, &part, at));
    }
    return DISTMAP_OK;
}

distmap_status dm_split_execute(distmap_plan *plan, const distmap_arrays *views, const dm_arrays *arrays) {
    dm_split *s = &plan->split;
    struct bound bound[MOST_BOUND];
    dm_arrays whole = *arrays;
    s->ran_merged = s->merged && merge(s, bound, bind(s, views, &whole, bound));
    TRY(check_sites_space(s, arrays));
    if (!s->ran_merged)
        return run_loops(plan, views, arrays);
    dm_execution_start(s->merged);
    return run(s->merged, s, views, &whole, NULL);
}
