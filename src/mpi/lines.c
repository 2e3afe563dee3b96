/* Whole lines: from the squares that each slice found by itself to the image's outputs.
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
 * slice without sites, which the core transforms once, when the plan is made.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

double dmm_limit(const distmap_problem *p, distmap_dtype samples) {
    if (samples != DISTMAP_UINT32)
        return p->limit;
    double square = 0;
    for (int a = 0; a < p->ndim; a++) {
        const double length = (p->spacing[a] == 0 ? 1 : p->spacing[a]) * (double)p->shape[a];
        square += p->axes >> a & 1 ? length * length : 0;
    }
    /* What 32 bits hold: squares up to 2^32 - 2. */
    const double diagonal = fmin(ceil(sqrt(square)), nextafter(sqrt(4294967294.0), INFINITY));
    return p->limit > 0 && p->limit < diagonal ? p->limit : diagonal;
}

bool dmm_keeps_border(const distmap_problem *p, int axis) {
    return p->border && p->want.index && p->axes != 1u << axis;
}

size_t dmm_lines_bytes(const distmap_problem *p, distmap_dtype samples) {
    const size_t index = distmap_dtype_size(p->want.index), squared = distmap_dtype_size(p->want.squared);
    return distmap_dtype_size(samples) + distmap_dtype_size(p->want.distance) + squared + 2 * index;
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

static distmap_status plan_create(distmap_context *context, const distmap_problem *problem, struct dmm_lines *lines,
                                  distmap_plan **plan) {
    const distmap_plan_options options = {.host_views = true};
    distmap_description description;
    TRY(distmap_plan_create(context, problem, &options, plan));
    distmap_plan_describe(*plan, &description);
    lines->bytes += description.scratch_bytes;
    return DISTMAP_OK;
}

/* The plans for parts of this width. */
static distmap_status make_plans(distmap_context *context, int64_t width, int cut, distmap_dtype squared,
                                 struct dmm_lines *lines, struct dmm_finish *made) {
    distmap_problem problem = lines->problem;
    problem.shape[cut] = made->width = width;
    TRY(plan_create(context, &problem, lines, &made->finish));
    if (!lines->exact.data || !squared || squared == lines->samples)
        return DISTMAP_OK;
    problem.want = (distmap_outputs){.squared = squared};
    problem.payload = DISTMAP_NONE;
    return plan_create(context, &problem, lines, &made->squares);
}

/* One output of a slice without sites. */
static distmap_status draw_border(distmap_context *context, distmap_problem slice, distmap_outputs want,
                                  distmap_view *view, struct dmm_lines *lines) {
    static uint8_t no_site = 1;
    const distmap_plan_options options = {.host_views = true};
    slice.want = want;
    TRY(reserve(slice.shape, slice.ndim, want.distance ? want.distance : want.squared, view, &lines->bytes));
    distmap_view input = distmap_view_make(&no_site, DISTMAP_BOOL, slice.ndim, slice.shape);
    memset(input.strides, 0, sizeof input.strides);
    distmap_arrays arrays = {.input = input};
    *(want.distance ? &arrays.distance : &arrays.squared) = *view;
    distmap_plan *plan = NULL;
    distmap_status status = distmap_plan_create(context, &slice, &options, &plan);
    if (status == DISTMAP_OK)
        status = distmap_plan_execute(plan, &arrays);
    if (status == DISTMAP_OK)
        status = distmap_plan_wait(plan);
    distmap_plan_destroy(&plan);
    return status;
}

static distmap_status draw_borders(distmap_context *context, const distmap_problem *p, int axis,
                                   struct dmm_lines *lines) {
    distmap_problem slice = {.dtype = DISTMAP_BOOL, .ndim = p->ndim, .axes = p->axes & ~(1u << axis), .border = true};
    memcpy(slice.shape, p->shape, sizeof slice.shape);
    memcpy(slice.spacing, p->spacing, sizeof slice.spacing);
    slice.shape[axis] = 1;
    slice.limit = lines->problem.limit;
    TRY(draw_border(context, slice, (distmap_outputs){.squared = lines->samples}, &lines->border_exact, lines));
    if (p->want.distance)
        TRY(draw_border(context, slice, (distmap_outputs){.distance = p->want.distance}, &lines->border_distance,
                        lines));
    if (p->want.squared && p->want.squared != lines->samples)
        TRY(draw_border(context, slice, (distmap_outputs){.squared = p->want.squared}, &lines->border_squared, lines));
    return DISTMAP_OK;
}

distmap_status dmm_lines_make(distmap_context *context, const distmap_problem *p, const struct dmm_layout *l, int rank,
                              distmap_dtype samples, struct dmm_lines *lines) {
    const int64_t share = dmm_share(l->shape[l->cut], l->size, rank).count;
    lines->samples = samples;
    if (share == 0 || l->width == 0)
        return DISTMAP_OK;
    const int64_t width = share < l->width ? share : l->width, last = share - (share - 1) / width * width;
    const bool bordered = dmm_keeps_border(p, l->axis);
    lines->problem = (distmap_problem){.input = DISTMAP_INPUT_SAMPLED,
                                       .dtype = samples,
                                       .ndim = l->ndim,
                                       .axes = 1u << l->axis,
                                       .limit = dmm_limit(p, samples),
                                       .border = p->border,
                                       .payload = p->want.index,
                                       .want = p->want};
    int64_t *shape = lines->problem.shape;
    memcpy(shape, l->shape, sizeof lines->problem.shape);
    memcpy(lines->problem.spacing, p->spacing, sizeof p->spacing);
    shape[l->cut] = width;
    TRY(reserve(shape, l->ndim, samples, &lines->sample, &lines->bytes));
    TRY(reserve(shape, l->ndim, p->want.index, &lines->payload, &lines->bytes));
    TRY(reserve(shape, l->ndim, p->want.index, &lines->index, &lines->bytes));
    TRY(reserve(shape, l->ndim, p->want.distance, &lines->distance, &lines->bytes));
    TRY(reserve(shape, l->ndim, p->want.squared, &lines->squared, &lines->bytes));
    if (bordered) {
        lines->problem.want.squared = samples;
        if (p->want.squared == samples)
            lines->exact = lines->squared;
        else
            TRY(reserve(shape, l->ndim, samples, &lines->exact, &lines->bytes));
        TRY(draw_borders(context, p, l->axis, lines));
    }
    TRY(make_plans(context, width, l->cut, p->want.squared, lines, &lines->plans[0]));
    if (last != width)
        TRY(make_plans(context, last, l->cut, p->want.squared, lines, &lines->plans[1]));
    return DISTMAP_OK;
}

void dmm_lines_free(struct dmm_lines *lines) {
    for (int i = 0; i < 2; i++) {
        distmap_plan_destroy(&lines->plans[i].finish);
        distmap_plan_destroy(&lines->plans[i].squares);
    }
    if (lines->exact.data != lines->squared.data)
        free(lines->exact.data);
    const distmap_view *const views[] = {&lines->sample,          &lines->payload,       &lines->distance,
                                         &lines->squared,         &lines->index,         &lines->border_exact,
                                         &lines->border_distance, &lines->border_squared};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        free(views[i]->data);
    *lines = (struct dmm_lines){0};
}

/* ---- Finishing ---- */

void dmm_lines_shape(const struct dmm_layout *l, const struct dmm_box *part, struct dmm_lines *lines) {
    distmap_view *const views[] = {&lines->sample,  &lines->payload, &lines->distance,
                                   &lines->squared, &lines->index,   &lines->exact};
    int64_t shape[DISTMAP_MAX_NDIM] = {0};
    for (int a = 0; a < l->ndim; a++)
        shape[a] = part->hi[a] - part->lo[a];
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        if (views[i]->data)
            *views[i] = distmap_view_make(views[i]->data, views[i]->dtype, l->ndim, shape);
}

/* Payloads came as places in their slabs. */
#define DEFINE_SHIFT(T)                                             \
    static void shift_##T(T *site, int64_t count, int64_t shift) {  \
        for (int64_t i = 0; i < count; i++)                         \
            site[i] = site[i] < 0 ? site[i] : (T)(site[i] + shift); \
    }
DEFINE_SHIFT(int32_t)
DEFINE_SHIFT(int64_t)

static void shift_payload(const struct dmm_layout *l, const struct dmm_box *part, const distmap_view *payload) {
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
        const int64_t shift = dmm_index_shift(l, rank, at);
        if (payload->dtype == DISTMAP_INT32)
            shift_int32_t((int32_t *)payload->data + done, run, shift);
        else
            shift_int64_t((int64_t *)payload->data + done, run, shift);
        done += run;
    } while (dmm_box_next(part, l->axis + 1, at));
}

/* takes[i] = the border is nearer. Returns whether an element is left without anything. */
#define DEFINE_TAKE(T, none)                                                           \
    static bool take_##T(const T *border, T *squared, int64_t count, uint8_t *takes) { \
        bool left = false;                                                             \
        for (int64_t i = 0; i < count; i++) {                                          \
            takes[i] = border[i] < squared[i];                                         \
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

static bool take_block(struct dmm_lines *lines, int64_t from, int64_t to, int64_t count) {
    uint8_t takes[BLOCK];
    bool left = false;
    switch (lines->samples) {
    case DISTMAP_UINT32:
        left = take_uint32_t((uint32_t *)lines->border_exact.data + from, (uint32_t *)lines->exact.data + to, count,
                             takes);
        break;
    case DISTMAP_UINT64:
        left = take_uint64_t((uint64_t *)lines->border_exact.data + from, (uint64_t *)lines->exact.data + to, count,
                             takes);
        break;
    default:
        left = take_double((double *)lines->border_exact.data + from, (double *)lines->exact.data + to, count, takes);
        break;
    }
    take_output(&lines->border_distance, from, &lines->distance, to, count, takes);
    if (lines->border_squared.data)
        take_output(&lines->border_squared, from, &lines->squared, to, count, takes);
    for (int64_t i = 0; i < count; i++)
        if (takes[i] && lines->index.dtype == DISTMAP_INT32)
            ((int32_t *)lines->index.data)[to + i] = DISTMAP_INDEX_BORDER;
        else if (takes[i])
            ((int64_t *)lines->index.data)[to + i] = DISTMAP_INDEX_BORDER;
    return left;
}

static void take_border(const struct dmm_layout *l, const struct dmm_box *part, struct dmm_lines *lines) {
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
            left |= take_block(lines, from + done, to + done, run - done < BLOCK ? run - done : BLOCK);
        to += run;
    } while (dmm_box_next(part, x, at));
    lines->flags = left ? DISTMAP_FLAG_NO_SITE : 0;
}

distmap_status dmm_lines_finish(const struct dmm_layout *l, const struct dmm_box *part, struct dmm_lines *lines) {
    lines->flags = 0;
    if (dmm_box_elements(l, part) == 0)
        return DISTMAP_OK;
    const int64_t width = part->hi[l->cut] - part->lo[l->cut];
    const struct dmm_finish *plans = &lines->plans[width != lines->plans[0].width];
    const bool bordered = lines->exact.data;
    if (lines->payload.data)
        shift_payload(l, part, &lines->payload);
    distmap_arrays arrays = {.input = lines->sample, .payload = lines->payload, .distance = lines->distance};
    arrays.squared = bordered ? lines->exact : lines->squared;
    arrays.index = lines->index;
    TRY(distmap_plan_execute(plans->finish, &arrays));
    TRY(distmap_plan_wait(plans->finish));
    lines->flags = distmap_plan_flags(plans->finish) & DISTMAP_FLAG_NO_SITE;
    if (plans->squares) {
        arrays = (distmap_arrays){.input = lines->sample, .squared = lines->squared};
        TRY(distmap_plan_execute(plans->squares, &arrays));
        TRY(distmap_plan_wait(plans->squares));
    }
    if (bordered)
        take_border(l, part, lines);
    return DISTMAP_OK;
}
