/* The passes: which pieces they take from where, what is done to them, where they go.
 *
 * In the scratch file a panel's squares lie in one piece, [slice][line of the panel], those of all panels one behind the other,
 * and behind them in the same way the sites, as indices in their slabs. With w the width of a panel along `cut`, an axis of
 * length n, a slice is
 *     outer x n x inner elements,    a panel's share of it    outer runs of w x inner.
 */
#include <stdlib.h>
#include <string.h>

#include "outofcore.h"

static int64_t inner_of(const struct dms_layout *l) {
    int64_t inner = 1;
    for (int a = l->cut + 1; a < l->ndim; a++)
        inner *= l->shape[a];
    return inner;
}

static struct dms_slab slab_of(const struct outofcore *o, int64_t item) { return o->layout.slabs[item]; }
static struct dms_slab panel_of(const struct outofcore *o, int64_t item) {
    return dms_share(o->layout.shape[o->layout.cut], o->layout.size, (int)item);
}

/* A panel's runs in `slices` slices, of elements of `size` bytes: in a row-major array of whole slices they are strided. */
static struct runs runs_of(const struct outofcore *o, struct dms_slab panel, int64_t slices, size_t size) {
    const int64_t inner = inner_of(&o->layout), n = o->layout.shape[o->layout.cut];
    return (struct runs){slices * (o->line / inner), (size_t)(panel.count * inner) * size, (size_t)(n * inner) * size};
}

int passes_watch(void *user, double fraction) {
    const struct outofcore *o = user;
    return progress_step(NULL, ((double)o->item + fraction) / (double)(o->items ? o->items : 1));
}

static distmap_status run_pass(struct outofcore *o, const char *name, int64_t first, struct pipeline pipeline) {
    pipeline.first = first;
    pipeline.end = o->items = o->layout.size;
    pipeline.user = o;
    progress_begin(o->options, name);
    const distmap_status status = pipeline_run(&pipeline);
    if (!status)
        progress_end();
    return status;
}

static distmap_status begin_item(struct outofcore *o, int64_t item) {
    o->item = item;
    return passes_watch(o, 0) ? distmap_error_set(DISTMAP_ERROR_CANCELLED, "interrupted") : DISTMAP_OK;
}

static distmap_status hold(char **memory, int64_t elements, size_t size) {
    *memory = malloc((size_t)elements * size + 1);
    return *memory ? DISTMAP_OK : distmap_error_set(DISTMAP_ERROR_MEMORY, "no memory for a slab");
}

static void let_go(struct outofcore *o) {
    for (int s = 0; s < PIPELINE_SLOTS; s++) {
        free(o->in[s]);
        o->in[s] = NULL;
        for (int r = 0; r < MAX_RESULTS; r++) {
            free(o->out[s][r]);
            o->out[s][r] = NULL;
        }
        dms_panel_free(&o->panel[s]);
    }
    dms_lines_free(&o->lines);
    distmap_plan_destroy(&o->job->work.plan);
}

/* ---- Pass 1: slabs ---- */

distmap_problem pass_slices(const struct outofcore *o, int64_t count) {
    distmap_problem p = o->normal;
    p.shape[0] = count;
    return o->one_pass ? p : dms_slices_of(&o->normal, o->samples, 0, count);
}

static distmap_status slab_fetch(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    const struct dms_slab slab = slab_of(o, item);
    return distmap_reader_read(o->job->source.reader, slab.first, slab.count, o->in[slot]);
}

static distmap_status slab_work(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    struct work *work = &o->job->work;
    const struct dms_slab slab = slab_of(o, item);
    const distmap_problem p = pass_slices(o, slab.count);
    o->flags[slot] = 0;
    o->largest[slot] = 0;
    TRY(begin_item(o, item));
    if (slab.count == 0)
        return DISTMAP_OK;
    if (!work->plan || slab.count != slab_of(o, item - 1).count) {
        distmap_plan_destroy(&work->plan);
        TRY(plan_make(o->options, work->context, &work->place, NULL, &p, &work->settings, &work->plan));
    }
    distmap_arrays arrays = {.input = distmap_view_make(o->in[slot], p.dtype, p.ndim, p.shape)};
    if (p.want.index)
        arrays.index = distmap_view_make(o->out[slot][1], p.want.index, p.ndim, p.shape);
    const distmap_dtype map = p.want.distance ? p.want.distance : p.want.squared;
    distmap_view *view = p.want.distance ? &arrays.distance : &arrays.squared;
    *view = distmap_view_make(o->out[slot][0], map, p.ndim, p.shape);
    TRY(distmap_plan_execute(work->plan, &arrays));
    TRY(distmap_plan_wait(work->plan));
    o->flags[slot] =
        distmap_plan_flags(work->plan) & (o->one_pass ? ~0u : DISTMAP_FLAG_NAN); /* sites may be elsewhere */
    o->largest[slot] = o->one_pass ? elements_largest(view) : 0;
    if (o->one_pass && p.want.index) /* the slab is a batch of its own */
        dms_indices_shift(o->out[slot][1], p.want.index, slab.count * o->slice, slab.first * o->slice);
    return DISTMAP_OK;
}

/* What a slab and each panel have in common, between a slab in memory and the panels in an area of the scratch file. */
static distmap_status cross(const struct outofcore *o, struct dms_slab slab, char *memory, size_t size, int64_t area,
                            bool reads) {
    const struct ledger *ledger = &o->ledger;
    const int64_t inner = inner_of(&o->layout);
    for (int i = 0; i < o->layout.size; i++) {
        const struct dms_slab panel = panel_of(o, i);
        const struct runs runs = runs_of(o, panel, slab.count, size);
        const int64_t elements = panel.first * o->line * o->layout.shape[0] + slab.first * o->line * panel.count;
        char *first = memory + (size_t)(panel.first * inner) * size;
        const int64_t at = area + elements * (int64_t)size;
        if (panel.count)
            TRY(reads ? storage_deal(ledger->scratch_fd, ledger->scratch, at, first, &runs)
                      : storage_collect(ledger->scratch_fd, ledger->scratch, at, first, &runs));
    }
    return DISTMAP_OK;
}

static distmap_status slab_store(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    const struct dms_slab slab = slab_of(o, item);
    if (o->one_pass) {
        for (int r = 0; r < o->result_count; r++) {
            const struct result *result = &o->results[r];
            const size_t size = distmap_dtype_size(result->sink->info.dtype);
            if (result->in_order)
                TRY(distmap_writer_write(result->sink->writer, slab.count, o->out[slot][r]));
            else
                TRY(storage_write(result->fd, result->sink->path,
                                  result->offset + slab.first * o->slice * (int64_t)size, o->out[slot][r],
                                  (size_t)(slab.count * o->slice) * size));
        }
    } else {
        const distmap_dtype index = o->normal.want.index;
        TRY(cross(o, slab, o->out[slot][0], distmap_dtype_size(o->samples), 0, false));
        if (index)
            TRY(cross(o, slab, o->out[slot][1], distmap_dtype_size(index), o->payload_at, false));
    }
    return ledger_mark(&o->ledger, "slab", o->flags[slot], o->largest[slot]);
}

static distmap_status run_slabs(struct outofcore *o) {
    const int64_t elements = slab_of(o, 0).count * o->slice;
    const distmap_outputs *want = &o->normal.want;
    const distmap_dtype map = !o->one_pass ? o->samples : want->distance ? want->distance : want->squared;
    for (int s = 0; s < PIPELINE_SLOTS; s++) {
        TRY(hold(&o->in[s], elements, distmap_dtype_size(o->normal.dtype)));
        TRY(hold(&o->out[s][0], elements, distmap_dtype_size(map)));
        TRY(hold(&o->out[s][1], elements, distmap_dtype_size(want->index)));
    }
    const struct pipeline stages = {.fetch = slab_fetch, .work = slab_work, .store = slab_store};
    return run_pass(o, "slabs", o->ledger.slabs, stages);
}

/* ---- Pass 2: panels ---- */

static distmap_status panel_fetch(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    const struct ledger *ledger = &o->ledger;
    const struct dms_slab panel = panel_of(o, item);
    const int64_t first = panel.first * o->line * o->layout.shape[0],
                  count = panel.count * o->line * o->layout.shape[0];
    const int64_t size = (int64_t)distmap_dtype_size(o->samples),
                  index = (int64_t)distmap_dtype_size(o->normal.want.index);
    TRY(storage_read(ledger->scratch_fd, ledger->scratch, first * size, o->panel[slot].sample.data,
                     (size_t)(count * size)));
    return storage_read(ledger->scratch_fd, ledger->scratch, o->payload_at + first * index, o->panel[slot].payload.data,
                        (size_t)(count * index));
}

static distmap_view *panel_result(struct dms_panel *panel, const struct result *result) {
    return result->is_index ? &panel->index : panel->distance.data ? &panel->distance : &panel->squared;
}

static distmap_status panel_work(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    const struct dms_layout *l = &o->layout;
    const int64_t width = panel_of(o, item).count;
    o->flags[slot] = 0;
    o->largest[slot] = 0;
    TRY(begin_item(o, item));
    if (width == 0)
        return DISTMAP_OK;
    if (o->lines.plans[0].width != width) {
        dms_lines_free(&o->lines);
        TRY(dms_lines_make(o->job->work.context, &o->normal, l, width, width, o->samples, &o->lines));
    }
    const struct dms_box part = dms_panel_part(l, 0, (int)item);
    dms_panel_shape(l, &part, &o->panel[slot]);
    TRY(dms_lines_finish(l, &part, &o->panel[slot], &o->lines));
    o->flags[slot] = o->lines.flags;
    o->largest[slot] = elements_largest(panel_result(&o->panel[slot], &o->results[0]));
    return DISTMAP_OK;
}

static distmap_status panel_store(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    const struct dms_slab panel = panel_of(o, item);
    for (int r = 0; r < o->result_count && panel.count; r++) {
        const struct result *result = &o->results[r];
        const size_t size = distmap_dtype_size(result->sink->info.dtype);
        const char *data = panel_result(&o->panel[slot], result)->data;
        const int64_t lines = o->line * o->layout.shape[0]; /* elements of a panel of width 1 */
        const struct runs runs = runs_of(o, panel, o->layout.shape[0], size);
        if (result->in_order)
            TRY(storage_write(result->fd, o->ledger.scratch, result->offset + panel.first * lines * (int64_t)size, data,
                              (size_t)(panel.count * lines) * size));
        else
            TRY(storage_scatter(result->fd, result->sink->path,
                                result->offset + panel.first * inner_of(&o->layout) * (int64_t)size, data, &runs));
    }
    return ledger_mark(&o->ledger, "panel", o->flags[slot], o->largest[slot]);
}

static distmap_status run_panels(struct outofcore *o) {
    for (int s = 0; s < PIPELINE_SLOTS; s++)
        TRY(dms_panel_reserve(&o->normal, &o->layout, o->layout.width, o->samples, &o->panel[s]));
    const struct pipeline stages = {.fetch = panel_fetch, .work = panel_work, .store = panel_store};
    return run_pass(o, "lines", o->ledger.panels, stages);
}

/* ---- Pass 3: in order ---- */

static distmap_status copy_fetch(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    return cross(o, slab_of(o, item), o->in[slot], distmap_dtype_size(o->copied->sink->info.dtype), o->copied->offset,
                 true);
}

/* What is to be stored must not be fetched anew. */
static distmap_status copy_work(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    char *fetched = o->in[slot];
    o->in[slot] = o->out[slot][0];
    o->out[slot][0] = fetched;
    return begin_item(o, item);
}

static distmap_status copy_store(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    return distmap_writer_write(o->copied->sink->writer, slab_of(o, item).count, o->out[slot][0]);
}

static distmap_status run_copy(struct outofcore *o) {
    const struct pipeline stages = {.fetch = copy_fetch, .work = copy_work, .store = copy_store};
    for (int s = 0; s < PIPELINE_SLOTS; s++) {
        const size_t size = distmap_dtype_size(o->copied->sink->info.dtype);
        TRY(hold(&o->in[s], slab_of(o, 0).count * o->slice, size));
        TRY(hold(&o->out[s][0], slab_of(o, 0).count * o->slice, size));
    }
    return run_pass(o, "writing", 0, stages);
}

/* ---- All of them ---- */

static distmap_status end_pass(struct outofcore *o, distmap_status status) {
    let_go(o);
    return status;
}

int passes_run(struct outofcore *o) {
    distmap_status status = end_pass(o, run_slabs(o));
    if (!status && !o->one_pass)
        status = end_pass(o, run_panels(o));
    for (int r = 0; r < o->result_count && !status && !o->one_pass; r++)
        if (o->results[r].in_order) {
            o->copied = &o->results[r];
            status = end_pass(o, run_copy(o));
        }
    return status ? fail_library() : 0;
}
