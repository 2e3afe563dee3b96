/* The steps themselves, and the memory for them. */
#include <stdlib.h>
#include <string.h>

#include "steps.h"

void steps_begin(struct steps *s, const struct options *options, struct work *work, const distmap_problem *problem) {
    s->options = options;
    s->work = work;
    s->normal = dms_normal_problem(problem);
    s->slice = element_count(s->normal.ndim - 1, s->normal.shape + 1);
    s->one_pass = !(s->normal.axes & 1);
    s->kinds = dms_kinds_of(&s->normal);
    s->kinds = s->kinds == DMS_LABELS ? DMS_CHANGES : s->kinds;
}

void steps_lay_out(struct steps *s, int parts) {
    dms_layout_make(&s->normal, parts, &s->layout);
    s->layout.kinds = s->kinds;
    s->layout.panels = 1;
    s->layout.width = dms_share(s->layout.shape[s->layout.cut], parts, 0).count;
    s->line = s->slice / s->layout.shape[s->layout.cut];
}

void steps_try_windows(struct steps *s) {
    s->windows = dms_takes_windows(s->work->context, &s->normal);
    s->one_pass |= s->windows;
}

/* Threads share the rows of a window by blocks of 64: slabs of many rows are whole pairs of these. */
static int64_t unit_of(const struct steps *s) {
    enum { PAIR = 128 };
    return s->windows ? PAIR : s->grain > 1 ? s->grain : 1;
}

int64_t steps_units(const struct steps *s) { return (s->layout.shape[0] + unit_of(s) - 1) / unit_of(s); }

struct dms_slab steps_slab_at(const struct steps *s, int64_t i) {
    const int64_t rows = s->layout.shape[0], unit = unit_of(s), units = steps_units(s);
    if (unit == 1 || units < s->layout.size)
        return dms_share(rows, s->layout.size, (int)i);
    struct dms_slab slab = dms_share(units, s->layout.size, (int)i);
    slab.first *= unit;
    slab.count = slab.first + slab.count * unit < rows ? slab.count * unit : rows - slab.first;
    return slab;
}

distmap_problem steps_slices(const struct steps *s, struct dms_slab slab) {
    distmap_problem p = s->normal;
    if (s->windows)
        p.window = (distmap_window){slab.first, slab.count};
    else
        p.shape[0] = slab.count;
    return s->one_pass ? p : dms_slices_of(&s->normal, s->samples, 0, slab.count);
}

/* ---- Memory ---- */

static distmap_dtype map_dtype(const distmap_outputs *want) { return want->distance ? want->distance : want->squared; }

/* Whether a slab tells the kinds of its elements, a byte for each. */
static bool tells_kinds(const struct steps *s) {
    return !s->one_pass && (s->kinds == DMS_CHANGES || s->kinds == DMS_SIDES);
}

bool steps_wants_edge(const struct steps *s) { return !s->one_pass && s->kinds == DMS_CHANGES; }

/* Scratch of the plan that finds the sides of so many places along an axis, or 0. Negative: the library refuses. */
static double sides_bytes(const struct steps *s, int axis, int64_t count) {
    const distmap_plan_options how = {.host_views = true};
    int64_t shape[DISTMAP_MAX_NDIM];
    size_t scratch = 0;
    memcpy(shape, s->normal.shape, sizeof shape);
    shape[axis] = count;
    const distmap_problem sides = dms_sides_of(&s->normal, shape);
    if (!s->one_pass && s->kinds == DMS_SIDES && distmap_scratch_bytes(s->work->context, &sides, &how, &scratch))
        return -1;
    return (double)scratch;
}

/* The sides of the elements in `image`, of a slab or a panel of so many places along `axis`. */
static distmap_status find_sides(struct steps *s, int axis, int64_t count, void *image, uint8_t *sides, int slot) {
    const distmap_plan_options how = {.host_views = true};
    int64_t shape[DISTMAP_MAX_NDIM];
    memcpy(shape, s->normal.shape, sizeof shape);
    shape[axis] = count;
    const distmap_problem p = dms_sides_of(&s->normal, shape);
    if (s->sides_count != count)
        distmap_plan_destroy(&s->sides);
    if (!s->sides)
        TRY(distmap_plan_create(s->work->context, &p, &how, &s->sides));
    s->sides_count = count;
    const distmap_arrays arrays = {.input = distmap_view_make(image, p.dtype, p.ndim, shape),
                                   .within = distmap_view_make(sides, DISTMAP_UINT8, p.ndim, shape)};
    TRY(distmap_plan_execute(s->sides, &arrays));
    TRY(distmap_plan_wait(s->sides));
    s->flags[slot] |= distmap_plan_flags(s->sides) & DISTMAP_FLAG_NAN;
    return DISTMAP_OK;
}

double steps_slab_bytes(const struct steps *s, int64_t count) {
    const distmap_plan_options how = {.host_views = true};
    const distmap_problem slices = steps_slices(s, (struct dms_slab){0, count});
    const double columns = s->windows ? 2 * (double)s->slice * sizeof(int32_t) : 0;
    size_t scratch;
    if (distmap_scratch_bytes(s->work->context, &slices, &how, &scratch))
        return -1;
    const double sides = sides_bytes(s, 0, count);
    const size_t each = distmap_dtype_size(s->normal.dtype) + distmap_dtype_size(map_dtype(&slices.want)) +
                        distmap_dtype_size(slices.want.index) + tells_kinds(s);
    const double edge = steps_wants_edge(s) ? (double)s->slice * (double)distmap_dtype_size(s->normal.dtype) : 0;
    return sides < 0 ? sides
                     : PIPELINE_SLOTS * ((double)count * (double)s->slice * (double)each + columns) + (double)scratch +
                           edge + sides;
}

double steps_panel_bytes(const struct steps *s, int64_t width) {
    const size_t lines = dms_lines_estimate(s->work->context, &s->normal, &s->layout, width, s->samples);
    const double panel = (double)s->layout.shape[0] * (double)s->line * (double)width;
    const double sides = s->reads_image ? sides_bytes(s, s->layout.cut, width) : 0;
    const size_t each = dms_lines_bytes(&s->normal, &s->layout, s->samples) +
                        (s->reads_image ? distmap_dtype_size(s->normal.dtype) : 0);
    return lines && sides >= 0 ? PIPELINE_SLOTS * panel * (double)each + (double)lines + sides : -1;
}

distmap_status steps_hold(char **memory, int64_t elements, size_t size) {
    *memory = malloc((size_t)elements * size + 1);
    return *memory ? DISTMAP_OK : distmap_error_set(DISTMAP_ERROR_MEMORY, "no memory for a slab");
}

distmap_status steps_hold_slabs(struct steps *s, int64_t count) {
    const distmap_problem slices = steps_slices(s, (struct dms_slab){0, count});
    for (int slot = 0; slot < PIPELINE_SLOTS; slot++) {
        if (s->windows)
            TRY(steps_hold_columns(s, slot));
        if (tells_kinds(s))
            TRY(steps_hold((char **)&s->kind[slot], count * s->slice, 1));
        TRY(steps_hold(&s->in[slot], count * s->slice, distmap_dtype_size(s->normal.dtype)));
        TRY(steps_hold(&s->out[slot][0], count * s->slice, distmap_dtype_size(map_dtype(&slices.want))));
        TRY(steps_hold(&s->out[slot][1], count * s->slice, distmap_dtype_size(slices.want.index)));
    }
    return steps_wants_edge(s) ? steps_hold(&s->edge, s->slice, distmap_dtype_size(s->normal.dtype)) : DISTMAP_OK;
}

distmap_status steps_hold_columns(struct steps *s, int slot) {
    char *memory = NULL;
    TRY(steps_hold(&memory, 2 * s->slice, sizeof(int32_t)));
    s->columns[slot] = (int32_t *)memory;
    return DISTMAP_OK;
}

distmap_status steps_hold_panels(struct steps *s, int64_t width) {
    for (int slot = 0; slot < PIPELINE_SLOTS; slot++) {
        TRY(dms_panel_reserve(&s->normal, &s->layout, width, s->samples, &s->panel[slot]));
        if (s->reads_image)
            TRY(steps_hold(&s->image[slot], width * s->line * s->layout.shape[0], distmap_dtype_size(s->normal.dtype)));
    }
    return DISTMAP_OK;
}

void steps_let_go(struct steps *s) {
    for (int slot = 0; slot < PIPELINE_SLOTS; slot++) {
        free(s->in[slot]);
        free(s->columns[slot]);
        free(s->kind[slot]);
        free(s->image[slot]);
        s->kind[slot] = NULL;
        s->image[slot] = NULL;
        s->in[slot] = NULL;
        s->columns[slot] = NULL;
        for (int r = 0; r < STEPS_OUTPUTS; r++) {
            free(s->out[slot][r]);
            s->out[slot][r] = NULL;
        }
        dms_panel_free(&s->panel[slot]);
    }
    free(s->edge);
    s->edge = NULL;
    dms_lines_free(&s->lines);
    distmap_plan_destroy(&s->sides);
    distmap_plan_destroy(&s->work->plan);
}

/* ---- Progress ---- */

int steps_watch(void *user, double fraction) {
    const struct steps *s = user;
    return progress_step(NULL, ((double)(s->item - s->first) + fraction) / (double)(s->items ? s->items : 1));
}

distmap_status steps_item(struct steps *s, int64_t item) {
    s->item = item;
    return steps_watch(s, 0) ? distmap_error_set(DISTMAP_ERROR_CANCELLED, "interrupted") : DISTMAP_OK;
}

distmap_status steps_run(struct steps *s, const char *name, struct pipeline pipeline) {
    s->first = s->item = pipeline.first;
    s->items = pipeline.end - pipeline.first;
    progress_begin(s->options, name);
    const distmap_status status = pipeline_run(&pipeline);
    if (!status)
        progress_end();
    return status;
}

/* ---- A slab ---- */

distmap_status steps_plan(struct steps *s, const distmap_problem *problem, struct dms_slab slab) {
    struct work *work = s->work;
    if (work->plan && slab.count == s->planned.count && (!problem->window.count || slab.first == s->planned.first))
        return DISTMAP_OK;
    distmap_plan_destroy(&work->plan);
    s->planned = slab;
    return plan_make(s->options, work->context, &work->place, NULL, problem, &work->settings, &work->plan);
}

/* The largest distance of a finished piece of the map; signed maps have two ends. */
static void look(struct steps *s, int slot, const distmap_view *map) {
    s->least[slot] = 0;
    if (!s->normal.sign) {
        s->largest[slot] = elements_largest(map);
        return;
    }
    elements_extent(map, &s->least[slot], &s->largest[slot]);
    if (s->least[slot] == 0 && s->largest[slot] == 0) /* no signed distance is 0 */
        s->largest[slot] = -1;
}

/* Tells panels about the kinds of a slab's elements. Slabs follow each other, for those of labels that change. */
static distmap_status find_kinds(struct steps *s, int slot, struct dms_slab slab,
                                 const int64_t shape[DISTMAP_MAX_NDIM]) {
    if (s->kinds == DMS_SIDES)
        return find_sides(s, 0, slab.count, s->in[slot], s->kind[slot], slot);
    const distmap_view labels = distmap_view_make(s->in[slot], s->normal.dtype, s->normal.ndim, shape);
    const size_t bytes = (size_t)s->slice * distmap_dtype_size(labels.dtype);
    dms_find_changes(&labels, slab.first ? s->edge : NULL, s->kind[slot]);
    memcpy(s->edge, s->in[slot] + (size_t)(slab.count - 1) * bytes, bytes);
    return DISTMAP_OK;
}

distmap_status steps_slab(struct steps *s, int64_t item, int slot, struct dms_slab slab) {
    struct work *work = s->work;
    const distmap_problem p = steps_slices(s, slab);
    int64_t shape[DISTMAP_MAX_NDIM];
    memcpy(shape, p.shape, sizeof shape);
    shape[0] = slab.count;
    s->flags[slot] = 0;
    s->largest[slot] = -1;
    s->least[slot] = 0;
    TRY(steps_item(s, item));
    if (slab.count == 0)
        return DISTMAP_OK;
    if (tells_kinds(s))
        TRY(find_kinds(s, slot, slab, shape));
    TRY(steps_plan(s, &p, slab));
    /* The slices of a signed map are labels of the sides. */
    void *image = s->kinds == DMS_SIDES && !s->one_pass ? (char *)s->kind[slot] : s->in[slot];
    distmap_arrays arrays = {.input = distmap_view_make(image, p.dtype, p.ndim, shape)};
    if (p.want.index)
        arrays.index = distmap_view_make(s->out[slot][1], p.want.index, p.ndim, shape);
    if (s->windows) {
        arrays.before = distmap_view_make(s->columns[slot], DISTMAP_INT32, 1, &s->slice);
        arrays.after = distmap_view_make(s->columns[slot] + s->slice, DISTMAP_INT32, 1, &s->slice);
    }
    distmap_view *view = p.want.distance ? &arrays.distance : &arrays.squared;
    *view = distmap_view_make(s->out[slot][0], map_dtype(&p.want), p.ndim, shape);
    TRY(distmap_plan_execute(work->plan, &arrays));
    TRY(distmap_plan_wait(work->plan));
    s->flags[slot] |=
        distmap_plan_flags(work->plan) & (s->one_pass ? ~0u : DISTMAP_FLAG_NAN); /* sites may be elsewhere */
    if (s->one_pass)
        look(s, slot, view);
    if (p.want.index && !s->windows) /* they count from the slab's first element */
        dms_indices_shift(s->out[slot][1], p.want.index, slab.count * s->slice, slab.first * s->slice);
    return DISTMAP_OK;
}

/* ---- A panel ---- */

distmap_view *steps_panel_result(struct dms_panel *panel, bool is_index) {
    return is_index ? &panel->index : panel->distance.data ? &panel->distance : &panel->squared;
}

distmap_status steps_panel(struct steps *s, int64_t item, int slot, struct dms_slab panel) {
    struct dms_slab all = {0, s->layout.shape[0]}; /* one slab: sites are those of the whole image */
    struct dms_layout l = s->layout;
    l.size = 1;
    l.slabs = &all;
    s->flags[slot] = 0;
    s->largest[slot] = -1;
    s->least[slot] = 0;
    TRY(steps_item(s, item));
    if (panel.count == 0)
        return DISTMAP_OK;
    if (s->lines.plans[0].width != panel.count) {
        dms_lines_free(&s->lines);
        TRY(dms_lines_make(s->work->context, &s->normal, &l, panel.count, panel.count, s->samples, &s->lines));
    }
    struct dms_box part = {0};
    memcpy(part.hi, l.shape, sizeof part.hi);
    part.lo[l.cut] = panel.first;
    part.hi[l.cut] = panel.first + panel.count;
    dms_panel_shape(&l, &part, &s->panel[slot]);
    if (s->reads_image)
        TRY(find_sides(s, l.cut, panel.count, s->image[slot], s->panel[slot].kind.data, slot));
    TRY(dms_lines_finish(&l, &part, &s->panel[slot], &s->lines));
    s->flags[slot] |= s->lines.flags;
    look(s, slot, steps_panel_result(&s->panel[slot], false));
    return DISTMAP_OK;
}
