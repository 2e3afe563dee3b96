/* Plans over several ranks: the slices' transform, then panels of whole lines, there and back; of planes windows (windows.c), where the
 * core takes them.
 *
 * Ranks of one machine have the parts of a panel in memory that they share (near.c), the others exchange messages.
 *
 * The squares of a slab's slices rest in an output with elements of their size, or else in scratch, and the sites in the index
 * output; the outputs of a panel are received where its squares were, which have left by then.
 *
 * Every stage ends with the ranks' agreement, before anyone waits for a message of another. Steps that can fail alone come
 * first: the datatypes of an exchange are made before the ranks agree that all have theirs.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

struct distmap_mpi_plan {
    MPI_Comm comm; /* a duplicate */
    int rank;
    distmap_context *context;
    distmap_problem given;    /* the slab's, in the caller's axes: what arrays are checked against */
    distmap_problem slices;   /* the slab's, along all axes but the slowest */
    distmap_plan *slice_plan; /* NULL: no slices */
    distmap_dtype samples;
    void *sample_memory; /* NULL: an output serves */
    /* Signed maps: what tells the sides of the slab's elements, and these; labels tell their kinds themselves. */
    distmap_plan *sides_plan;
    uint8_t *sides;
    struct dms_layout layout;
    struct dms_lines lines;
    bool by_windows; /* then this, and of what follows nothing: */
    struct dmm_windows windows;
    struct dmm_near near;
    struct dmm_exchange forth, back;
    size_t scratch_bytes;
    unsigned flags;
};

/* ---- The problem ---- */

static distmap_status check_threads(const distmap_context *context) {
    int provided;
    TRY_MPI(MPI_Query_thread(&provided));
    if (provided < MPI_THREAD_FUNNELED && distmap_context_threads(context) > 1)
        return bad("context has %d threads, but MPI was not initialised for any: call MPI_Init_thread() with "
                   "MPI_THREAD_FUNNELED",
                   distmap_context_threads(context));
    return DISTMAP_OK;
}

static distmap_status check_own(const distmap_context *context, const distmap_problem *problem,
                                const distmap_mpi_options *options, distmap_dtype *samples) {
    if (!context)
        return bad("context is NULL");
    if (!problem)
        return bad("problem is NULL");
    if (options->near_ranks < 0)
        return bad("options.near_ranks is %d, must be at least 0", options->near_ranks);
    if (options->reserved)
        return bad("options.reserved is %d, must stay zero", options->reserved);
    TRY(check_threads(context));
    TRY(dms_check_kind(problem, "over several ranks"));
    return dms_find_samples(context, problem, samples);
}

/* ---- Making a plan ---- */

distmap_status distmap_mpi_slab(int64_t n, int size, int rank, int64_t *first, int64_t *count) {
    if (n < 0)
        return bad("n is %lld, must be at least 0", (long long)n);
    if (size < 1 || rank < 0 || rank >= size)
        return bad("rank is %d of %d, must be 0 to size - 1", rank, size);
    if (!first || !count)
        return bad("%s is NULL", first ? "count" : "first");
    const struct dms_slab slab = dms_share(n, size, rank);
    *first = slab.first;
    *count = slab.count;
    return DISTMAP_OK;
}

/* Where the slices' squares rest: in one of these outputs, if its elements have their size. */
static distmap_view *resting_place(const distmap_mpi_plan *plan, distmap_view *distance, distmap_view *squared) {
    const size_t size = distmap_dtype_size(plan->samples);
    if (distmap_dtype_size(plan->given.want.squared) == size)
        return squared;
    return distmap_dtype_size(plan->given.want.distance) == size ? distance : NULL;
}

/* Makes the plans for this rank's parts of panels, with the widths of the first and of the last panel. */
static distmap_status make_lines(distmap_mpi_plan *plan, const distmap_problem *normal) {
    const struct dms_layout *l = &plan->layout;
    const int64_t share = dms_share(l->shape[l->cut], l->size, plan->rank).count;
    if (share == 0 || l->width == 0 || l->shape[l->axis] == 0)
        return DISTMAP_OK;
    const int64_t width = share < l->width ? share : l->width, last = share - (share - 1) / width * width;
    TRY(dms_lines_make(plan->context, normal, l, width, last, plan->samples, &plan->lines));
    plan->scratch_bytes += plan->lines.bytes;
    return DISTMAP_OK;
}

static distmap_status make_sides(distmap_mpi_plan *plan, const distmap_problem *normal, int64_t count,
                                 size_t elements) {
    int64_t shape[DISTMAP_MAX_NDIM];
    memcpy(shape, plan->layout.shape, sizeof shape);
    shape[plan->layout.axis] = count;
    const distmap_problem sides = dms_sides_of(normal, shape);
    plan->sides = malloc(elements);
    if (!plan->sides)
        return distmap_error_set(DISTMAP_ERROR_MEMORY, "no memory for %zu bytes of sides", elements);
    plan->scratch_bytes += elements;
    return dms_plan_make(plan->context, &sides, &plan->sides_plan, &plan->scratch_bytes);
}

static distmap_status make_own(distmap_mpi_plan *plan, const distmap_problem *normal, size_t panel_bytes) {
    struct dms_layout *l = &plan->layout;
    const int64_t count = l->slabs[plan->rank].count;
    distmap_view distance, squared;
    int64_t elements = count;
    for (int a = 0; a < l->ndim; a++)
        elements *= a == l->axis ? 1 : l->shape[a];
    plan->slices = dms_slices_of(normal, plan->samples, l->axis, count);
    if (elements > 0)
        TRY(dms_plan_make(plan->context, &plan->slices, &plan->slice_plan, &plan->scratch_bytes));
    if (elements > 0 && !resting_place(plan, &distance, &squared)) {
        const size_t bytes = (size_t)elements * distmap_dtype_size(plan->samples);
        plan->sample_memory = malloc(bytes);
        if (!plan->sample_memory)
            return distmap_error_set(DISTMAP_ERROR_MEMORY, "no memory for %zu bytes of squared distances", bytes);
        plan->scratch_bytes += bytes;
    }
    if (elements > 0 && l->kinds == DMS_SIDES)
        TRY(make_sides(plan, normal, count, (size_t)elements));
    dms_layout_panels(l, panel_bytes, dms_lines_bytes(&plan->given, l, plan->samples));
    TRY(make_lines(plan, normal));
    TRY(dmm_exchange_allocate(l->size, &plan->forth));
    return dmm_exchange_allocate(l->size, &plan->back);
}

/* Collective: who has which slices. */
static distmap_status gather_slabs(distmap_mpi_plan *plan, int64_t first, int64_t count) {
    const int64_t own[] = {first, count};
    TRY_MPI(MPI_Allgather(own, 2, MPI_INT64_T, plan->layout.slabs, 2, MPI_INT64_T, plan->comm));
    return dms_slabs_check(&plan->layout); /* the same everywhere */
}

static distmap_status make_all(distmap_mpi_plan *plan, const distmap_problem *problem, int64_t first, int64_t count,
                               const distmap_mpi_options *options) {
    static const distmap_problem nothing;
    distmap_status status = check_own(plan->context, problem, options, &plan->samples);
    status = dmm_same(plan->comm, status, problem ? problem : &nothing, options);
    if (status == DISTMAP_OK) {
        plan->given = *problem;
        dms_layout_make(problem, plan->layout.size, &plan->layout);
        plan->layout.slabs = calloc((size_t)plan->layout.size, sizeof *plan->layout.slabs);
        if (!plan->layout.slabs)
            status = distmap_error_set(DISTMAP_ERROR_MEMORY, "no memory for the slabs of %d ranks", plan->layout.size);
    }
    TRY(dmm_agree(plan->comm, status, NULL));
    TRY(gather_slabs(plan, first, count));
    plan->given.shape[plan->layout.axis] = count;
    const distmap_problem normal = dms_normal_problem(problem);
    status = dmm_windows_find(plan->comm, plan->context, &normal, &plan->by_windows);
    TRY(dmm_agree(plan->comm, status, NULL));
    if (plan->by_windows) {
        status = dmm_windows_make(plan->context, &normal, plan->layout.slabs[plan->rank], options->panel_bytes,
                                  &plan->windows);
        plan->scratch_bytes = plan->windows.bytes;
        TRY(dmm_agree(plan->comm, status, NULL));
        return dmm_agree(plan->comm, dmm_windows_reverse(plan->comm, &plan->windows), NULL);
    }
    status = make_own(plan, &normal, options->panel_bytes ? options->panel_bytes : (size_t)4 << 20);
    TRY(dmm_agree(plan->comm, status, NULL));
    status = dmm_near_find(plan->comm, plan->layout.size, options->near_ranks, &plan->near);
    TRY(dmm_agree(plan->comm, status, NULL));
    status = dmm_near_allocate(plan->comm, &plan->given, &plan->layout, plan->rank, plan->samples, &plan->near);
    plan->scratch_bytes += plan->near.bytes;
    return status;
}

distmap_status distmap_mpi_plan_create_sized(MPI_Comm comm, distmap_context *context, const distmap_problem *problem,
                                             size_t problem_bytes, int64_t first, int64_t count,
                                             const distmap_mpi_options *options, size_t options_bytes,
                                             distmap_mpi_plan **plan) {
    static const distmap_mpi_options defaults;
    distmap_problem problem_room;
    distmap_mpi_options options_room;
    const void *known_problem = NULL, *known_options = NULL;
    int initialised, finalised;
    if (!plan)
        return bad("plan is NULL");
    *plan = NULL;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (!initialised || finalised)
        return bad("MPI is not initialised");
    if (comm == MPI_COMM_NULL)
        return bad("comm is MPI_COMM_NULL");
    MPI_Comm own;
    TRY_MPI(MPI_Comm_dup(comm, &own));
    distmap_status status = dmm_mpi_status(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    distmap_mpi_plan *self = calloc(1, sizeof *self);
    if (status == DISTMAP_OK && !self)
        status = distmap_error_set(DISTMAP_ERROR_MEMORY, "no memory for a plan");
    if (status == DISTMAP_OK)
        status =
            distmap_sized_take("problem", problem, problem_bytes, &problem_room, sizeof problem_room, &known_problem);
    if (status == DISTMAP_OK)
        status =
            distmap_sized_take("options", options, options_bytes, &options_room, sizeof options_room, &known_options);
    status = dmm_agree(own, status, NULL);
    if (status != DISTMAP_OK) {
        free(self);
        MPI_Comm_free(&own);
        return status;
    }
    self->comm = own;
    self->near = (struct dmm_near){.comm = MPI_COMM_NULL};
    self->windows = (struct dmm_windows){.reverse = MPI_COMM_NULL};
    self->context = context;
    MPI_Comm_rank(own, &self->rank);
    MPI_Comm_size(own, &self->layout.size);
    status = make_all(self, known_problem, first, count, known_options ? known_options : &defaults);
    if (status != DISTMAP_OK)
        distmap_mpi_plan_destroy(&self);
    *plan = self;
    return status;
}

void distmap_mpi_plan_destroy(distmap_mpi_plan **plan) {
    if (!plan || !*plan)
        return;
    distmap_mpi_plan *self = *plan;
    int finalised;
    MPI_Finalized(&finalised);
    dmm_near_free(self->layout.size, finalised, &self->near);
    dmm_windows_free(finalised, &self->windows);
    if (!finalised)
        MPI_Comm_free(&self->comm);
    distmap_plan_destroy(&self->slice_plan);
    distmap_plan_destroy(&self->sides_plan);
    free(self->sides);
    dms_lines_free(&self->lines);
    dmm_exchange_free(&self->forth);
    dmm_exchange_free(&self->back);
    free(self->sample_memory);
    free(self->layout.slabs);
    free(self);
    *plan = NULL;
}

/* ---- Executing ---- */

static distmap_status check_arrays(const distmap_mpi_plan *plan, const distmap_arrays *arrays) {
    const distmap_plan_options options = {.host_views = true};
    TRY(distmap_arrays_check(plan->context, &plan->given, &options, arrays));
    const struct {
        const char *name;
        const distmap_view *view;
    } views[] = {{"input", &arrays->input},
                 {"distance", &arrays->distance},
                 {"squared", &arrays->squared},
                 {"index", &arrays->index}};
    for (int i = 0; i < 4; i++)
        if (views[i].view->data && views[i].view->space != DISTMAP_SPACE_HOST)
            return bad("arrays.%s: space must be HOST over several ranks", views[i].name);
    return DISTMAP_OK;
}

/* The caller's views with the plan's number of axes. */
static distmap_view normal_view(const distmap_mpi_plan *plan, distmap_view view) {
    if (view.ndim == 1 && plan->layout.ndim == 2) {
        view.ndim = 2;
        view.shape[1] = 1;
        view.strides[1] = (int64_t)distmap_dtype_size(view.dtype);
    }
    return view;
}

struct run {
    distmap_view input, distance, squared, index; /* the caller's */
    distmap_view sample;                          /* the slices' squares */
    distmap_view kind;                            /* labels, sides; of a mask nothing */
    struct dmm_views slab_in, slab_out;
};

static void lay_out(const distmap_mpi_plan *plan, const distmap_arrays *arrays, struct run *run) {
    const struct dms_layout *l = &plan->layout;
    *run = (struct run){.input = normal_view(plan, arrays->input),
                        .distance = normal_view(plan, arrays->distance),
                        .squared = normal_view(plan, arrays->squared),
                        .index = normal_view(plan, arrays->index)};
    const distmap_view *place = resting_place(plan, &run->distance, &run->squared);
    run->sample = place ? *place : distmap_view_make(plan->sample_memory, plan->samples, l->ndim, plan->slices.shape);
    run->sample.dtype = plan->samples;
    if (l->kinds == DMS_LABELS)
        run->kind = run->input;
    else if (plan->sides)
        run->kind = distmap_view_make(plan->sides, DISTMAP_UINT8, l->ndim, plan->slices.shape);
    run->slab_in.origin[l->axis] = run->slab_out.origin[l->axis] =
        l->slabs[plan->rank].count ? l->slabs[plan->rank].first : 0;
    dmm_views_add(&run->slab_in, &run->sample);
    dmm_views_add(&run->slab_in, &run->index);
    dmm_views_add(&run->slab_in, &run->kind);
    dmm_views_add(&run->slab_out, &run->distance);
    dmm_views_add(&run->slab_out, &run->squared);
    dmm_views_add(&run->slab_out, &run->index);
}

static distmap_status transform_slices(distmap_mpi_plan *plan, const struct run *run) {
    if (!plan->slice_plan)
        return DISTMAP_OK;
    distmap_arrays arrays = {.input = run->input, .squared = run->sample, .index = run->index};
    if (plan->sides_plan) {
        const distmap_arrays sides = {.input = run->input, .within = run->kind};
        TRY(distmap_plan_execute(plan->sides_plan, &sides));
        TRY(distmap_plan_wait(plan->sides_plan));
        plan->flags |= distmap_plan_flags(plan->sides_plan) & DISTMAP_FLAG_NAN;
        arrays.input = run->kind;
    }
    TRY(distmap_plan_execute(plan->slice_plan, &arrays));
    TRY(distmap_plan_wait(plan->slice_plan));
    plan->flags |= distmap_plan_flags(plan->slice_plan) & DISTMAP_FLAG_NAN; /* sites may be in other slices */
    return DISTMAP_OK;
}

/* Collective: returns what the ranks agree on. *own is this rank's status, of what came before and of what came last. */
static distmap_status run_panel(distmap_mpi_plan *plan, struct run *run, int64_t panel, distmap_status *own) {
    const struct dms_layout *l = &plan->layout;
    struct dmm_near *near = &plan->near;
    const struct dms_box part = dms_panel_part(l, panel, plan->rank);
    struct dmm_views in, out;
    dmm_near_shape(l, panel, near);
    dmm_near_views(&near->panel[plan->rank], &part, &in, &out);
    if (*own == DISTMAP_OK)
        *own = dmm_exchange_make(l, plan->rank, near->is, panel, &run->slab_in, &in, false, &plan->forth);
    if (*own == DISTMAP_OK)
        *own = dmm_exchange_make(l, plan->rank, near->is, panel, &run->slab_out, &out, true, &plan->back);
    if (*own == DISTMAP_OK)
        dmm_near_put(l, plan->rank, panel, &run->slab_in, near);
    TRY(dmm_agree(plan->comm, *own, NULL));
    *own = near->all ? DISTMAP_OK : dmm_exchange_run(plan->comm, &plan->forth);
    dmm_near_sync();
    if (*own == DISTMAP_OK)
        *own = dms_lines_finish(l, &part, &near->panel[plan->rank], &plan->lines);
    plan->flags |= plan->lines.flags;
    dmm_near_sync();
    TRY(dmm_agree(plan->comm, *own, NULL));
    *own = near->all ? DISTMAP_OK : dmm_exchange_run(plan->comm, &plan->back);
    if (*own == DISTMAP_OK)
        dmm_near_take(l, plan->rank, panel, &run->slab_out, near);
    return DISTMAP_OK;
}

/* Collective. */
static distmap_status execute_windows(distmap_mpi_plan *plan, const distmap_arrays *arrays) {
    TRY(dmm_agree(plan->comm, dmm_windows_survey(&plan->windows, &arrays->input), NULL));
    TRY(dmm_agree(plan->comm, dmm_windows_scan(plan->comm, &plan->windows), NULL));
    return dmm_agree(plan->comm, dmm_windows_run(&plan->windows, arrays, &plan->flags), &plan->flags);
}

distmap_status distmap_mpi_plan_execute_sized(distmap_mpi_plan *plan, const distmap_arrays *given,
                                              size_t arrays_bytes) {
    if (!plan)
        return bad("plan is NULL");
    const struct dms_layout *l = &plan->layout;
    struct run run;
    distmap_arrays room;
    const void *known;
    plan->flags = 0;
    const distmap_status taken = distmap_sized_take("arrays", given, arrays_bytes, &room, sizeof room, &known);
    const distmap_arrays *arrays = known;
    TRY(dmm_agree(plan->comm, taken == DISTMAP_OK ? check_arrays(plan, arrays) : taken, NULL));
    if (plan->by_windows)
        return execute_windows(plan, arrays);
    lay_out(plan, arrays, &run);
    distmap_status own = transform_slices(plan, &run);
    for (int64_t panel = 0; panel < l->panels; panel++) {
        const distmap_status status = run_panel(plan, &run, panel, &own);
        dmm_exchange_clear(l->size, &plan->forth);
        dmm_exchange_clear(l->size, &plan->back);
        TRY(status);
    }
    return dmm_agree(plan->comm, own, &plan->flags);
}

/* ---- Telling ---- */

unsigned distmap_mpi_plan_flags(const distmap_mpi_plan *plan) { return plan ? plan->flags : 0; }

/* To other ranks, in an execution. */
static uint64_t bytes_sent(const distmap_mpi_plan *plan) {
    const struct dms_layout *l = &plan->layout;
    const distmap_outputs *want = &plan->given.want;
    if (plan->by_windows) { /* to the rank behind, and to that before */
        const int beside = (plan->rank > 0) + (plan->rank + 1 < l->size);
        return (uint64_t)beside * (uint64_t)plan->windows.width * sizeof(int32_t);
    }
    const uint64_t index = distmap_dtype_size(want->index);
    const uint64_t forth =
        distmap_dtype_size(plan->samples) + index + distmap_dtype_size(dms_kinds_dtype(&plan->given, l->kinds));
    const uint64_t back = distmap_dtype_size(want->distance) + distmap_dtype_size(want->squared) + index;
    uint64_t sent = 0;
    for (int64_t panel = 0; panel < l->panels; panel++)
        for (int r = 0; r < l->size; r++) {
            if (r == plan->rank)
                continue;
            const struct dms_box theirs = dms_box_in_slab(l, dms_panel_part(l, panel, r), plan->rank);
            const struct dms_box ours = dms_box_in_slab(l, dms_panel_part(l, panel, plan->rank), r);
            sent += (uint64_t)dms_box_elements(l, &theirs) * forth;
            sent += (uint64_t)dms_box_elements(l, &ours) * back;
        }
    return sent;
}

void distmap_mpi_plan_describe_sized(const distmap_mpi_plan *plan, distmap_mpi_description *description,
                                     size_t description_bytes) {
    if (!plan || !description)
        return;
    const struct dms_layout *l = &plan->layout;
    const distmap_mpi_description made = {.axis = l->axis,
                                          .cut = l->cut < plan->given.ndim ? l->cut : l->axis,
                                          .panels = l->panels,
                                          .samples = plan->by_windows ? DISTMAP_INT32 : plan->samples,
                                          .scratch_bytes = plan->scratch_bytes,
                                          .sent_bytes = bytes_sent(plan)};
    distmap_sized_fill("description", description, description_bytes, &made, sizeof made);
}
