/* envelope/cpu: the separable distance transform by lower envelopes of parabolas, axis after axis.
 *
 *     out[x] = min over i of f[i] + w^2 (x - i)^2          along the last measured axis first, then the one before, ...
 *
 * core/hull.h has the one-dimensional step. Linear time per axis whatever the image; any input, dimension, spacing.
 * Ties: a step gives the lowest coordinate along its axis, and slower axes come later and so decide first, which is the
 * lowest linear index.
 *
 * Labels: an element of label L looks for the nearest other label. Along a line its candidates are the run of L that it lies
 * in, with f from the axes before (the distance to another label within that cross-section), and the one element beyond
 * each end of the run, itself of another label: f = 0 there. Whatever lies further out is farther than that end. So each run
 * has an envelope of its own, and the background is at distance 0 all along.
 *
 * Rows first, straight from the input. The slower axes go by tiles: LANES adjacent lines are read together, so that memory
 * is touched in contiguous pieces, and turned so that each line is contiguous for the step. The last step's results go
 * out at once. Memory: squared distance and site of each element between steps (none with a single step), and for each
 * thread one tile with its envelope.
 *
 * Source: P. Felzenszwalb and D. Huttenlocher, "Distance Transforms of Sampled Functions", Theory of Computing 8 (2012); A.
 * Meijster, J. Roerdink, W. Hesselink, "A General Algorithm for Computing Distance Transforms in Linear Time" (2000), for
 * envelopes at integer positions.
 */
#include "core/scratch.h"
#include "cpu/rows.h"
#include "core/hull.h"

enum {
    LANES = 16,
    PAD = 8, /* elements between a tile's lines, against power-of-two strides */
};

struct work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    char *squared; /* between steps, in the plan's number type; NULL with a single step */
    char *site;    /* the same: int32 or int64, see site_size */
    char *workers;
    int axis;  /* of this step */
    bool last; /* its results go out */
};

/* ---- Memory ---- */

static int slow_steps(const distmap_plan *plan) {
    int count = 0;
    for (int a = 0; a < DM_X; a++)
        count += dm_axis_counts(plan, a);
    return count;
}

static size_t site_size(const distmap_plan *plan) { return plan->elements <= INT32_MAX ? 4 : 8; }

static int64_t lanes(const distmap_plan *plan) { return plan->shape[DM_X] < LANES ? plan->shape[DM_X] : LANES; }

/* What a worker holds: lines of `pitch` elements, one row or run of a row as it comes and goes, one line's envelope. */
struct tile {
    union value *value;
    int64_t *site;  /* NULL when not wanted */
    int64_t *label; /* LABELS and signed maps only: kinds */
    uint8_t *ruled; /* MASK and LABELS: at distance 0 from itself, by the sites rule */
    void *run;      /* squared distances in the plan's number type */
    int64_t *run_site, *run_label;
    uint8_t *run_ruled;
    struct parabola *list;
};

/* Lays the tile out from `base`, NULL to measure only; returns the bytes. */
static size_t lay_out(const distmap_plan *plan, char *base, struct tile *t) {
    const size_t row = (size_t)plan->shape[DM_X];
    size_t line = row, elements = row;
    for (int a = 0; a < DM_X; a++) {
        if (!dm_axis_counts(plan, a))
            continue;
        const size_t n = (size_t)plan->shape[a], turned = (n + PAD) * (size_t)lanes(plan);
        line = n > line ? n : line;
        elements = turned > elements ? turned : elements;
    }
    const bool labels = dm_by_kind(plan), sites = plan->wants_site;
    const struct {
        size_t bytes;
        void **place;
    } parts[] = {
        {elements * sizeof(union value), (void **)&t->value},
        {sites ? elements * sizeof(int64_t) : 0, (void **)&t->site},
        {labels ? elements * sizeof(int64_t) : 0, (void **)&t->label},
        {elements, (void **)&t->ruled},
        {row * dm_number_size(plan->number), &t->run},
        {sites ? LANES * sizeof(int64_t) : 0, (void **)&t->run_site},
        {labels ? LANES * sizeof(int64_t) : 0, (void **)&t->run_label},
        {labels ? LANES : 0, (void **)&t->run_ruled},
        {(line + 2) * sizeof(struct parabola), (void **)&t->list},
    };
    size_t end = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].place = base && parts[i].bytes ? base + end : NULL;
        end += dm_round64(parts[i].bytes);
    }
    return end;
}

static size_t tile_bytes(const distmap_plan *plan) {
    struct tile unused;
    return lay_out(plan, NULL, &unused);
}

static size_t squared_bytes(const distmap_plan *plan) {
    return slow_steps(plan) ? dm_round64((size_t)plan->elements * dm_number_size(plan->number)) : 0;
}

static size_t site_bytes(const distmap_plan *plan) {
    return slow_steps(plan) && plan->wants_site ? dm_round64((size_t)plan->elements * site_size(plan)) : 0;
}

static size_t scratch_bytes(const distmap_plan *plan) {
    return squared_bytes(plan) + site_bytes(plan) + (size_t)plan->context->threads * tile_bytes(plan);
}

/* ---- Values between the plan's number type and the step's ---- */

static void load_values(const distmap_plan *plan, const void *from, int64_t count, union value *to, int64_t stride) {
    switch (plan->number) {
    case DM_U32:
        for (int64_t i = 0; i < count; i++) {
            const uint32_t v = ((const uint32_t *)from)[i];
            to[i * stride].u64 = v == UINT32_MAX ? UINT64_MAX : v;
        }
        break;
    case DM_U64:
        for (int64_t i = 0; i < count; i++)
            to[i * stride].u64 = ((const uint64_t *)from)[i];
        break;
    case DM_F64:
        for (int64_t i = 0; i < count; i++)
            to[i * stride].f64 = ((const double *)from)[i];
        break;
    }
}

static void store_values(const distmap_plan *plan, const union value *from, int64_t stride, int64_t count, void *to) {
    switch (plan->number) {
    case DM_U32: /* "none" is all ones in both widths */
        for (int64_t i = 0; i < count; i++)
            ((uint32_t *)to)[i] = (uint32_t)from[i * stride].u64;
        break;
    case DM_U64:
        for (int64_t i = 0; i < count; i++)
            ((uint64_t *)to)[i] = from[i * stride].u64;
        break;
    case DM_F64:
        for (int64_t i = 0; i < count; i++)
            ((double *)to)[i] = from[i * stride].f64;
        break;
    }
}

static void load_sites(const struct work *w, int64_t linear, int64_t count, int64_t *to, int64_t stride) {
    for (int64_t i = 0; i < count; i++)
        to[i * stride] =
            site_size(w->plan) == 4 ? ((const int32_t *)w->site)[linear + i] : ((const int64_t *)w->site)[linear + i];
}

static void store_sites(const struct work *w, const int64_t *from, int64_t stride, int64_t count, int64_t linear) {
    for (int64_t i = 0; i < count; i++)
        if (site_size(w->plan) == 4)
            ((int32_t *)w->site)[linear + i] = (int32_t)from[i * stride];
        else
            ((int64_t *)w->site)[linear + i] = from[i * stride];
}

static char *squared_at(const struct work *w, int64_t linear) {
    return w->squared + (size_t)linear * dm_number_size(w->plan->number);
}

static int64_t linear_of(const distmap_plan *plan, const int64_t at[DM_NDIM]) {
    int64_t linear = 0;
    for (int a = 0; a < DM_NDIM; a++)
        linear += at[a] * plan->linear[a];
    return linear;
}

/* ---- One line ---- */

static inline void step_line(const struct work *w, const struct tile *t, int64_t first, int64_t linear, bool f64) {
    const distmap_plan *plan = w->plan;
    struct hull hull = {.list = t->list};
    if (f64)
        hull.w2.f64 = plan->w2f[w->axis];
    else
        hull.w2.u64 = plan->w2[w->axis];
    hull_line(hull, plan->shape[w->axis], t->value + first, t->site ? t->site + first : NULL,
              t->label ? t->label + first : NULL, t->ruled + first, linear, plan->linear[w->axis], f64);
}

static void step(const struct work *w, const struct tile *t, int64_t first, int64_t linear) {
    if (w->plan->number == DM_F64)
        step_line(w, t, first, linear, true);
    else
        step_line(w, t, first, linear, false);
}

/* ---- Rows ---- */

/* What the row offers by itself: the samples; 0 at the sites and at the labels' background. */
static void read_row(const struct work *w, const struct tile *t, const int64_t at[DM_NDIM], int64_t linear) {
    distmap_plan *plan = w->plan;
    const int64_t n = plan->shape[DM_X];
    const bool f64 = plan->number == DM_F64;
    if (plan->problem.input == DISTMAP_INPUT_SAMPLED) {
        dm_row_values(plan, &w->arrays->input, at, n, t->run);
        load_values(plan, t->run, n, t->value, 1);
    } else {
        if (t->label)
            dm_row_kinds(plan, &w->arrays->input, at, n, t->label, t->ruled);
        else
            dm_row_sites(plan, &w->arrays->input, at, n, t->ruled);
        for (int64_t x = 0; x < n; x++)
            if (f64)
                t->value[x].f64 = t->ruled[x] ? 0 : (double)INFINITY;
            else
                t->value[x].u64 = t->ruled[x] ? 0 : UINT64_MAX;
    }
    for (int64_t x = 0; t->site && x < n; x++)
        t->site[x] = is_none(t->value[x], f64) ? -1 : linear + x;
}

static void row_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    distmap_plan *plan = w->plan;
    struct tile t;
    lay_out(plan, w->workers + (size_t)worker * tile_bytes(plan), &t);
    int64_t at[DM_NDIM] = {0};
    for (int a = DM_X - 1; a >= 0; a--) {
        at[a] = (int64_t)(index % (size_t)plan->shape[a]);
        index /= (size_t)plan->shape[a];
    }
    const int64_t linear = linear_of(plan, at), n = plan->shape[DM_X];
    read_row(w, &t, at, linear);
    if (atomic_load_explicit(&plan->failure, memory_order_relaxed) != DISTMAP_OK)
        return; /* bad samples break the bounds that the step counts on */
    if (dm_axis_counts(plan, DM_X))
        step(w, &t, 0, linear);
    if (w->last) {
        store_values(plan, t.value, 1, n, t.run);
        dm_row_emit(plan, w->arrays, at, n, t.run, t.site);
        return;
    }
    store_values(plan, t.value, 1, n, squared_at(w, linear));
    if (t.site)
        store_sites(w, t.site, 1, n, linear);
}

/* ---- Tiles of a slower axis ---- */

static void load_tile(const struct work *w, const struct tile *t, int64_t at[DM_NDIM], int64_t count, int64_t pitch) {
    distmap_plan *plan = w->plan;
    const int64_t n = plan->shape[w->axis];
    for (int64_t i = 0; i < n; i++) {
        at[w->axis] = i;
        const int64_t linear = linear_of(plan, at);
        load_values(plan, squared_at(w, linear), count, t->value + i, pitch);
        if (t->site)
            load_sites(w, linear, count, t->site + i, pitch);
        if (!t->label)
            continue;
        dm_row_kinds(plan, &w->arrays->input, at, count, t->run_label, t->run_ruled);
        for (int64_t lane = 0; lane < count; lane++) {
            t->label[lane * pitch + i] = t->run_label[lane];
            t->ruled[lane * pitch + i] = t->run_ruled[lane];
        }
    }
    at[w->axis] = 0;
}

static void store_tile(const struct work *w, const struct tile *t, int64_t at[DM_NDIM], int64_t count, int64_t pitch) {
    distmap_plan *plan = w->plan;
    const int64_t n = plan->shape[w->axis];
    for (int64_t i = 0; i < n; i++) {
        at[w->axis] = i;
        const int64_t linear = linear_of(plan, at);
        store_values(plan, t->value + i, pitch, count, w->last ? (char *)t->run : squared_at(w, linear));
        if (t->site && !w->last)
            store_sites(w, t->site + i, pitch, count, linear);
        for (int64_t lane = 0; t->site && w->last && lane < count; lane++)
            t->run_site[lane] = t->site[lane * pitch + i];
        if (w->last)
            dm_row_emit(plan, w->arrays, at, count, t->run, t->run_site);
    }
}

static size_t tiles_across(const distmap_plan *plan) {
    return (size_t)((plan->shape[DM_X] + lanes(plan) - 1) / lanes(plan));
}

static void tile_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    distmap_plan *plan = w->plan;
    struct tile t;
    lay_out(plan, w->workers + (size_t)worker * tile_bytes(plan), &t);
    int64_t at[DM_NDIM] = {0};
    at[DM_X] = (int64_t)(index % tiles_across(plan)) * lanes(plan);
    index /= tiles_across(plan);
    for (int a = DM_X - 1; a >= 0; a--) {
        if (a == w->axis)
            continue;
        at[a] = (int64_t)(index % (size_t)plan->shape[a]);
        index /= (size_t)plan->shape[a];
    }
    const int64_t left = plan->shape[DM_X] - at[DM_X], count = left < lanes(plan) ? left : lanes(plan);
    const int64_t pitch = plan->shape[w->axis] + PAD, linear = linear_of(plan, at);
    load_tile(w, &t, at, count, pitch);
    for (int64_t lane = 0; lane < count; lane++)
        step(w, &t, lane * pitch, linear + lane);
    store_tile(w, &t, at, count, pitch);
}

/* ---- The method ---- */

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    int steps = slow_steps(plan);
    const double share = 1.0 / (1 + steps);
    struct work w = {.plan = plan, .arrays = arrays, .axis = DM_X, .last = steps == 0};
    w.squared = plan->scratch;
    w.site = w.squared + squared_bytes(plan);
    w.workers = w.site + site_bytes(plan);
    const size_t lines = (size_t)(plan->elements / plan->shape[DM_X]);
    dm_phase(plan, dm_axis_names[DM_X]);
    TRY(dm_parallel(plan, lines, row_task, &w, share));
    for (w.axis = DM_X - 1; w.axis >= 0; w.axis--) {
        if (!dm_axis_counts(plan, w.axis))
            continue;
        w.last = --steps == 0;
        dm_phase(plan, dm_axis_names[w.axis]);
        TRY(dm_parallel(plan, lines / (size_t)plan->shape[w.axis] * tiles_across(plan), tile_task, &w, share));
    }
    return DISTMAP_OK;
}

const dm_method dm_envelope_cpu = {
    .info =
        {
            .name = "envelope/cpu",
            .summary = "lower envelopes of parabolas, axis by axis; any input, spacing and dimension in linear time",
            .source = "Felzenszwalb and Huttenlocher 2012, section 2; Meijster et al. 2000",
            .device = "cpu",
            .exact = true,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
};
