/* Whole lines: turns the squares of separate slices into the image's outputs.
 *
 * Along a line, out(z) = min over z' of f(z') + w^2 (z - z')^2: a plan of the core for a sampled function. FP64 squares are
 * minimised axis by axis from the last to the first (distmap.h), so that doing the slowest last gives their bits; and where the
 * lowest sample wins, which is in the lowest slice, the lowest site of that slice being its payload, ties are as they should
 * be.
 *
 * The limit. No distance in the image is larger than the length L of its diagonal, so that a limit of L changes nothing; but
 * given one, the core may compute in 32 bits.
 *
 * The border along the lines is the core's. Along the other axes it is at the same distance b from all elements of a line, so
 * that what the slices found with it would give the right squares; but not the right sites: where a site in a later slice is
 * as near, it must win, and would lose to the border of its own slice. So with an index the slices leave the border out, and
 * here it takes the elements to which it is strictly nearer than all else. b, and the outputs that belong to it, are those of a
 * slice without sites, which the core transforms once, when the plan is made. Signed maps do the same with or without an index, for
 * the elements outside the shape, for which alone the border is a site.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "slabs/slabs.h"

double dms_limit(const distmap_problem *problem, distmap_dtype samples) {
    if (samples != DISTMAP_UINT32 && problem->want.squared != DISTMAP_UINT32)
        return problem->limit;
    const distmap_problem p = dms_counted(problem);
    double square = 0;
    for (int a = 0; a < p.ndim; a++) {
        const double length = (p.spacing[a] == 0 ? 1 : p.spacing[a]) * (double)p.shape[a];
        square += p.axes >> a & 1 ? length * length : 0;
    }
    const double counted = fmin(ceil(sqrt(square)), dms_most_of_32_bits(p.unit)),
                 diagonal = p.unit > 0 ? counted * p.unit * DMS_ROOM : counted;
    return p.limit > 0 && p.limit < diagonal ? p.limit : diagonal;
}

bool dms_keeps_border(const distmap_problem *p, int axis) {
    return p->border && (p->want.index || p->sign) && p->axes != 1u << axis;
}

size_t dms_lines_bytes(const distmap_problem *p, const struct dms_layout *l, distmap_dtype samples) {
    const size_t index = distmap_dtype_size(p->want.index), squared = distmap_dtype_size(p->want.squared);
    return distmap_dtype_size(samples) + distmap_dtype_size(p->want.distance) + squared + 2 * index +
           distmap_dtype_size(dms_kinds_dtype(p, l->kinds));
}

/* Bytes of an element of a part that lines of two classes hold beside it. */
static size_t class_bytes(const distmap_problem *p, const struct dms_layout *l, distmap_dtype samples) {
    struct dms_layout other = *l;
    other.kinds = DMS_NO_KINDS;
    const bool exact = dms_keeps_border(p, l->axis) && p->want.squared != samples;
    return l->kinds == DMS_NO_KINDS ? 0
                                    : dms_lines_bytes(p, &other, samples) + (l->kinds == DMS_LABELS) +
                                          (exact ? distmap_dtype_size(samples) : 0);
}

/* ---- Making ---- */

static distmap_status reserve(const int64_t *shape, int ndim, distmap_dtype dtype, distmap_view *view, size_t *bytes) {
    if (!dtype)
        return DISTMAP_OK;
    *view = distmap_view_make(NULL, dtype, ndim, shape);
    size_t size = distmap_dtype_size(dtype);
    for (int a = 0; a < ndim; a++)
        size *= (size_t)shape[a];
    view->data = malloc(size ? size : 1);
    if (!view->data)
        return distmap_error_set(DISTMAP_ERROR_MEMORY, "no memory for %zu bytes of a panel", size);
    *bytes += size;
    return DISTMAP_OK;
}

/* The plans for parts of this width. */
static distmap_status make_plans(distmap_context *context, int64_t width, int cut, distmap_dtype squared,
                                 struct dms_lines *lines, struct dms_finish *made) {
    made->width = width;
    for (int which = 0; which <= lines->parted; which++) {
        distmap_problem problem = lines->problem;
        problem.shape[cut] = width;
        problem.border &= !which;
        TRY(dms_plan_make(context, &problem, &made->finish[which], &lines->bytes));
        if (!lines->bordered || !squared || squared == lines->samples)
            continue;
        /* With the distance, by whose type it is told what is within the limit. */
        problem.want = (distmap_outputs){.squared = squared, .distance = lines->problem.want.distance};
        problem.payload = DISTMAP_NONE;
        TRY(dms_plan_make(context, &problem, &made->squares[which], &lines->bytes));
    }
    return DISTMAP_OK;
}

/* The samples of a slice without sites: all "none". */
static distmap_status draw_border(distmap_context *context, const distmap_problem *slice, distmap_view *squared,
                                  distmap_view *distance, struct dms_lines *lines) {
    static const uint64_t no_integer = UINT64_MAX;
    static const double no_real = (double)INFINITY;
    const distmap_plan_options options = {.host_views = true};
    TRY(reserve(slice->shape, slice->ndim, slice->want.squared, squared, &lines->bytes));
    TRY(reserve(slice->shape, slice->ndim, slice->want.distance, distance, &lines->bytes));
    distmap_arrays arrays = {.squared = *squared, .distance = *distance};
    arrays.input = distmap_view_make(slice->dtype == DISTMAP_FLOAT64 ? (void *)&no_real : (void *)&no_integer,
                                     slice->dtype, slice->ndim, slice->shape);
    memset(arrays.input.strides, 0, sizeof arrays.input.strides);
    distmap_plan *plan = NULL;
    distmap_status status = distmap_plan_create(context, slice, &options, &plan);
    if (status == DISTMAP_OK)
        status = distmap_plan_execute(plan, &arrays);
    if (status == DISTMAP_OK)
        status = distmap_plan_wait(plan);
    distmap_plan_destroy(&plan);
    return status;
}

static distmap_status draw_borders(distmap_context *context, const distmap_problem *p, int axis,
                                   struct dms_lines *lines) {
    const distmap_problem counted = dms_counted(p);
    distmap_problem slice = {.input = DISTMAP_INPUT_SAMPLED,
                             .dtype = lines->samples,
                             .ndim = p->ndim,
                             .axes = p->axes & ~(1u << axis),
                             .border = true,
                             .limit = lines->problem.limit,
                             .unit = counted.unit,
                             .real = counted.real,
                             .want = {.squared = lines->samples, .distance = p->want.distance}};
    if (lines->samples == DISTMAP_UINT32) /* a border that is farther than 32 bits say is never the nearest */
        slice.limit = fmin(slice.limit, dms_most_of_32_bits(counted.unit) * (counted.unit > 0 ? counted.unit : 1));
    memcpy(slice.shape, p->shape, sizeof slice.shape);
    memcpy(slice.spacing, counted.spacing, sizeof slice.spacing);
    slice.shape[axis] = 1;
    TRY(draw_border(context, &slice, &lines->border_exact, &lines->border_distance, lines));
    distmap_view none = {0};
    slice.want = (distmap_outputs){.squared = p->want.squared};
    /* Values beyond the limit are dropped. */
    slice.limit = p->want.squared == DISTMAP_UINT32 ? dms_most_of_32_bits(0) : 0;
    return p->want.squared && p->want.squared != lines->samples
               ? draw_border(context, &slice, &lines->border_squared, &none, lines)
               : DISTMAP_OK;
}

enum { ALIGNMENT = 64 };

size_t dms_panel_lay(const distmap_problem *p, const struct dms_layout *l, int64_t width, distmap_dtype samples,
                     void *memory, struct dms_panel *panel) {
    *panel = (struct dms_panel){.memory = memory};
    const struct {
        distmap_view *view;
        distmap_dtype dtype;
    } arrays[] = {{&panel->sample, samples},          {&panel->payload, p->want.index},
                  {&panel->index, p->want.index},     {&panel->distance, p->want.distance},
                  {&panel->squared, p->want.squared}, {&panel->kind, dms_kinds_dtype(p, l->kinds)}};
    int64_t shape[DISTMAP_MAX_NDIM];
    size_t elements = 1, used = 0;
    memcpy(shape, l->shape, sizeof shape);
    shape[l->cut] = width;
    for (int a = 0; a < l->ndim; a++)
        elements *= (size_t)shape[a];
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (!arrays[i].dtype)
            continue;
        *arrays[i].view = distmap_view_make(memory ? (char *)memory + used : NULL, arrays[i].dtype, l->ndim, shape);
        used += (elements * distmap_dtype_size(arrays[i].dtype) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return used;
}

distmap_status dms_panel_reserve(const distmap_problem *p, const struct dms_layout *l, int64_t width,
                                 distmap_dtype samples, struct dms_panel *panel) {
    const size_t bytes = dms_panel_lay(p, l, width, samples, NULL, panel);
    void *memory = malloc(bytes + 1);
    if (!memory)
        return distmap_error_set(DISTMAP_ERROR_MEMORY, "no memory for %zu bytes of a panel", bytes);
    dms_panel_lay(p, l, width, samples, memory, panel);
    return DISTMAP_OK;
}

/* The finishing problem for parts of this width. */
static distmap_problem lines_problem(const distmap_problem *p, const struct dms_layout *l, int64_t width,
                                     distmap_dtype samples) {
    distmap_problem problem = {.input = DISTMAP_INPUT_SAMPLED,
                               .dtype = samples,
                               .ndim = l->ndim,
                               .axes = 1u << l->axis,
                               .limit = dms_limit(p, samples),
                               .border = p->border,
                               .payload = p->want.index,
                               .want = p->want};
    const distmap_problem counted = dms_counted(p);
    memcpy(problem.shape, l->shape, sizeof problem.shape);
    memcpy(problem.spacing, counted.spacing, sizeof problem.spacing);
    problem.unit = counted.unit;
    problem.real = counted.real;
    problem.shape[l->cut] = width;
    if (dms_keeps_border(p, l->axis))
        problem.want.squared = samples;
    return problem;
}

/* The arrays of class 1. */
static distmap_status reserve_classes(const distmap_problem *p, const struct dms_layout *l, int64_t width,
                                      struct dms_lines *lines) {
    const distmap_dtype samples = lines->samples;
    struct dms_layout other = *l;
    distmap_view classes = {0};
    other.kinds = DMS_NO_KINDS;
    lines->bytes += dms_panel_lay(p, &other, width, samples, NULL, &lines->other);
    TRY(dms_panel_reserve(p, &other, width, samples, &lines->other));
    if (lines->exact.data)
        TRY(reserve(lines->problem.shape, l->ndim, samples, &lines->other_exact, &lines->bytes));
    if (l->kinds == DMS_LABELS)
        TRY(reserve(lines->problem.shape, l->ndim, DISTMAP_UINT8, &classes, &lines->bytes));
    lines->classes = classes.data;
    return DISTMAP_OK;
}

distmap_status dms_lines_make(distmap_context *context, const distmap_problem *p, const struct dms_layout *l,
                              int64_t width, int64_t last, distmap_dtype samples, struct dms_lines *lines) {
    lines->samples = samples;
    lines->whole = *p;
    lines->bordered = dms_keeps_border(p, l->axis);
    lines->parted = p->border && p->sign;
    lines->problem = lines_problem(p, l, width, samples);
    if (lines->bordered && p->want.squared != samples)
        TRY(reserve(lines->problem.shape, l->ndim, samples, &lines->exact, &lines->bytes));
    TRY(dms_find_surface(context, p, &lines->surface));
    if (lines->bordered)
        TRY(draw_borders(context, p, l->axis, lines));
    if (l->kinds != DMS_NO_KINDS)
        TRY(reserve_classes(p, l, width, lines));
    TRY(make_plans(context, width, l->cut, p->want.squared, lines, &lines->plans[0]));
    if (last != width)
        TRY(make_plans(context, last, l->cut, p->want.squared, lines, &lines->plans[1]));
    return DISTMAP_OK;
}

size_t dms_lines_estimate(const distmap_context *context, const distmap_problem *p, const struct dms_layout *l,
                          int64_t width, distmap_dtype samples) {
    const distmap_plan_options options = {.host_views = true};
    const distmap_problem problem = lines_problem(p, l, width, samples);
    size_t bytes = 0, part = 1, slice = 1;
    for (int which = 0; which <= (p->border && p->sign); which++) {
        distmap_problem one = problem;
        size_t scratch = 0, squares = 0;
        one.border &= !which;
        if (distmap_scratch_bytes(context, &one, &options, &scratch) != DISTMAP_OK)
            return 0;
        one.want = (distmap_outputs){.squared = p->want.squared, .distance = p->want.distance};
        one.payload = DISTMAP_NONE;
        if (dms_keeps_border(p, l->axis) && p->want.squared && p->want.squared != samples &&
            distmap_scratch_bytes(context, &one, &options, &squares) != DISTMAP_OK)
            return 0;
        bytes += scratch + squares;
    }
    for (int a = 0; a < l->ndim; a++) {
        part *= (size_t)problem.shape[a];
        slice *= a == l->axis ? 1 : (size_t)l->shape[a];
    }
    bytes += part * class_bytes(p, l, samples);
    if (!dms_keeps_border(p, l->axis))
        return bytes + 1;
    const size_t exact = distmap_dtype_size(samples);
    const size_t each = exact + distmap_dtype_size(p->want.distance) + distmap_dtype_size(p->want.squared);
    return bytes + part * exact + slice * each;
}

void dms_panel_free(struct dms_panel *panel) {
    free(panel->memory);
    *panel = (struct dms_panel){0};
}

void dms_lines_free(struct dms_lines *lines) {
    for (int i = 0; i < 2; i++)
        for (int which = 0; which < 2; which++) {
            distmap_plan_destroy(&lines->plans[i].finish[which]);
            distmap_plan_destroy(&lines->plans[i].squares[which]);
        }
    dms_panel_free(&lines->other);
    free(lines->other_exact.data);
    free(lines->classes);
    free(lines->exact.data);
    free(lines->border_exact.data);
    free(lines->border_distance.data);
    free(lines->border_squared.data);
    *lines = (struct dms_lines){0};
}

/* ---- Finishing ---- */

static void shape_view(const struct dms_layout *l, const struct dms_box *part, distmap_view *view) {
    int64_t shape[DISTMAP_MAX_NDIM] = {0};
    for (int a = 0; a < l->ndim; a++)
        shape[a] = part->hi[a] - part->lo[a];
    if (view->data)
        *view = distmap_view_make(view->data, view->dtype, l->ndim, shape);
}

void dms_panel_shape(const struct dms_layout *l, const struct dms_box *part, struct dms_panel *panel) {
    distmap_view *const views[] = {&panel->sample,  &panel->payload, &panel->distance,
                                   &panel->squared, &panel->index,   &panel->kind};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        shape_view(l, part, views[i]);
}

/* Payloads came as places in their slabs. */
static void shift_payload(const struct dms_layout *l, const struct dms_box *part, const distmap_view *payload) {
    int64_t run = 1, done = 0, at[DISTMAP_MAX_NDIM];
    for (int a = l->axis + 1; a < l->ndim; a++)
        run *= part->hi[a] - part->lo[a];
    memcpy(at, part->lo, sizeof at);
    int rank = 0;
    do {
        if (at[l->axis] == 0)
            rank = 0;
        while (l->slabs[rank].count == 0 || at[l->axis] >= l->slabs[rank].first + l->slabs[rank].count)
            rank++;
        dms_indices_shift((char *)payload->data + done * (int64_t)distmap_dtype_size(payload->dtype), payload->dtype,
                          run, dms_index_shift(l, rank, at));
        done += run;
    } while (dms_box_next(part, l->axis + 1, at));
}

/* takes[i] = the border is nearer, if it was 0. Returns whether an element is left without anything. */
#define DEFINE_TAKE(T, none)                                                           \
    static bool take_##T(const T *border, T *squared, int64_t count, uint8_t *takes) { \
        bool left = false;                                                             \
        for (int64_t i = 0; i < count; i++) {                                          \
            takes[i] = !takes[i] && border[i] < squared[i];                            \
            squared[i] = takes[i] ? border[i] : squared[i];                            \
            left |= squared[i] == (none);                                              \
        }                                                                              \
        return left;                                                                   \
    }
DEFINE_TAKE(uint32_t, UINT32_MAX)
DEFINE_TAKE(uint64_t, UINT64_MAX)
DEFINE_TAKE(double, (double)INFINITY)

static void take_output(const distmap_view *border, int64_t from, const distmap_view *view, int64_t to, int64_t count,
                        const uint8_t *takes) {
    const size_t size = distmap_dtype_size(view->dtype);
    for (int64_t i = 0; view->data && i < count; i++)
        if (takes[i])
            memcpy((char *)view->data + (size_t)(to + i) * size, (char *)border->data + (size_t)(from + i) * size,
                   size);
}

enum { BLOCK = 512 };

static bool take_block(const struct dms_lines *lines, const struct dms_panel *panel, const distmap_view *exact,
                       const uint8_t *classes, int64_t from, int64_t to, int64_t count) {
    uint8_t takes[BLOCK] = {0};
    if (classes)
        memcpy(takes, classes + to, (size_t)count);
    bool left = false;
    switch (lines->samples) {
    case DISTMAP_UINT32:
        left = take_uint32_t((uint32_t *)lines->border_exact.data + from, (uint32_t *)exact->data + to, count, takes);
        break;
    case DISTMAP_UINT64:
        left = take_uint64_t((uint64_t *)lines->border_exact.data + from, (uint64_t *)exact->data + to, count, takes);
        break;
    default:
        left = take_double((double *)lines->border_exact.data + from, (double *)exact->data + to, count, takes);
        break;
    }
    take_output(&lines->border_distance, from, &panel->distance, to, count, takes);
    if (lines->border_squared.data)
        take_output(&lines->border_squared, from, &panel->squared, to, count, takes);
    for (int64_t i = 0; i < count && panel->index.data; i++)
        if (takes[i] && panel->index.dtype == DISTMAP_INT32)
            ((int32_t *)panel->index.data)[to + i] = DISTMAP_INDEX_BORDER;
        else if (takes[i])
            ((int64_t *)panel->index.data)[to + i] = DISTMAP_INDEX_BORDER;
    return left;
}

/* Elements of class 1 are left out, where classes are given. */
static void take_border(const struct dms_layout *l, const struct dms_box *part, const struct dms_panel *panel,
                        const distmap_view *exact, const uint8_t *classes, struct dms_lines *lines) {
    const int x = l->ndim - 1; /* never the slabs' axis, since another measured one comes after that */
    const int64_t run = part->hi[x] - part->lo[x];
    int64_t to = 0, at[DISTMAP_MAX_NDIM];
    bool left = false;
    memcpy(at, part->lo, sizeof at);
    do {
        int64_t from = 0;
        for (int a = 0; a < l->ndim; a++)
            from = a == l->axis ? from : from * l->shape[a] + at[a];
        for (int64_t done = 0; done < run; done += BLOCK)
            left |= take_block(lines, panel, exact, classes, from + done, to + done,
                               run - done < BLOCK ? run - done : BLOCK);
        to += run;
    } while (dms_box_next(part, x, at));
    lines->flags = left ? DISTMAP_FLAG_NO_SITE : 0;
}

/* The lines of one class, or of masks: from the panel's samples and payloads to its outputs. */
static distmap_status finish_class(const struct dms_finish *plans, int which, const struct dms_panel *panel,
                                   const distmap_view *exact, struct dms_lines *lines) {
    distmap_plan *finish = plans->finish[which], *squares = plans->squares[which];
    distmap_arrays arrays = {.input = panel->sample, .payload = panel->payload, .distance = panel->distance};
    arrays.squared = *exact;
    arrays.index = panel->index;
    TRY(distmap_plan_execute(finish, &arrays));
    TRY(distmap_plan_wait(finish));
    lines->flags |= distmap_plan_flags(finish) & DISTMAP_FLAG_NO_SITE;
    if (!squares)
        return DISTMAP_OK;
    arrays = (distmap_arrays){.input = panel->sample, .squared = panel->squared, .distance = panel->distance};
    TRY(distmap_plan_execute(squares, &arrays));
    return distmap_plan_wait(squares);
}

/* Labels and signed maps: elements of class 0, then those of class 1. */
static distmap_status finish_classes(const struct dms_layout *l, const struct dms_box *part,
                                     const struct dms_finish *plans, struct dms_panel *panel, const distmap_view *exact,
                                     const uint8_t *classes, struct dms_lines *lines) {
    const int second = lines->parted;
    const distmap_view *other_exact = lines->other_exact.data ? &lines->other_exact : &lines->other.squared;
    dms_panel_shape(l, part, &lines->other);
    shape_view(l, part, &lines->other_exact);
    dms_classes_divide(l, part, classes, panel, &lines->other);
    TRY(finish_class(plans, 0, panel, exact, lines));
    TRY(finish_class(plans, second, &lines->other, other_exact, lines));
    dms_classes_join(classes, &panel->distance, &lines->other.distance);
    dms_classes_join(classes, &panel->squared, &lines->other.squared);
    dms_classes_join(classes, &panel->index, &lines->other.index);
    if (lines->exact.data)
        dms_classes_join(classes, &lines->exact, &lines->other_exact);
    return DISTMAP_OK;
}

distmap_status dms_lines_finish(const struct dms_layout *l, const struct dms_box *part, struct dms_panel *panel,
                                struct dms_lines *lines) {
    lines->flags = 0;
    if (dms_box_elements(l, part) == 0)
        return DISTMAP_OK;
    const int64_t width = part->hi[l->cut] - part->lo[l->cut];
    const struct dms_finish *plans = &lines->plans[width != lines->plans[0].width];
    uint8_t *classes = lines->classes ? lines->classes : panel->kind.data;
    if (panel->payload.data)
        shift_payload(l, part, &panel->payload);
    shape_view(l, part, &lines->exact);
    const distmap_view *exact = lines->exact.data ? &lines->exact : &panel->squared;
    if (l->kinds != DMS_NO_KINDS && dms_find_classes(l, &panel->kind, classes))
        TRY(finish_classes(l, part, plans, panel, exact, classes, lines));
    else
        TRY(finish_class(plans, 0, panel, exact, lines));
    if (lines->bordered)
        take_border(l, part, panel, exact, lines->parted ? classes : NULL, lines);
    if (lines->whole.sign) {
        dms_sign(&lines->whole, lines->surface, classes, &panel->distance);
        dms_sign(&lines->whole, lines->surface, classes, &panel->squared);
    }
    return DISTMAP_OK;
}
