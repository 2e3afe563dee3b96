/* The passes by way of squares: which pieces they take from where, what is done to them, where they go.
 *
 * In the scratch file a panel's squares lie in one piece, [slice][line of the panel], those of all panels one behind the other,
 * and behind them in the same way the sites, as indices in the image, and a byte for the kind of each element (labels, signed maps).
 * With w the width of a panel along `cut`, an axis of length n, a slice is
 *     outer x n x inner elements,    a panel's share of it    outer runs of w x inner.
 */
#include "outofcore.h"

static int64_t inner_of(const struct dms_layout *l) {
    int64_t inner = 1;
    for (int a = l->cut + 1; a < l->ndim; a++)
        inner *= l->shape[a];
    return inner;
}

static struct dms_slab panel_of(const struct outofcore *o, int64_t item) {
    return dms_share(o->steps.layout.shape[o->steps.layout.cut], o->steps.layout.size, (int)item);
}

/* A panel's runs in `slices` slices, of elements of `size` bytes: in a row-major array of whole slices they are strided. */
static struct runs runs_of(const struct outofcore *o, struct dms_slab panel, int64_t slices, size_t size) {
    const int64_t inner = inner_of(&o->steps.layout), n = o->steps.layout.shape[o->steps.layout.cut];
    return (struct runs){slices * (o->steps.line / inner), (size_t)(panel.count * inner) * size,
                         (size_t)(n * inner) * size};
}

distmap_status passes_run_one(struct outofcore *o, const char *name, int64_t first, struct pipeline pipeline) {
    pipeline.first = first;
    pipeline.end = o->steps.layout.size;
    pipeline.user = o;
    return steps_run(&o->steps, name, pipeline);
}

/* ---- Pass 1: slabs ---- */

/* At each slab once, though some are read again. A run that goes on has not seen what the one before has. */
static void look(struct outofcore *o, int64_t item, struct dms_slab slab, int slot, int64_t without_data) {
    if (item != o->looked || !warnings_heard(o->options))
        return;
    o->job->source.nodata_count += without_data;
    distmap_view view =
        distmap_view_make(o->steps.in[slot], o->steps.normal.dtype, o->steps.normal.ndim, o->steps.normal.shape);
    view.shape[0] = slab.count;
    o->looked++;
    if (o->steps.normal.input == DISTMAP_INPUT_MASK)
        o->sites += slab.count ? elements_count_sites(&view, &o->steps.normal.sites) : 0;
    if (slab.count && o->steps.normal.input == DISTMAP_INPUT_MASK && values_matter(o->options))
        values_look(&view, &o->seen);
}

distmap_status passes_fetch_slab(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    const struct dms_slab slab = steps_slab_at(&o->steps, item);
    TRY(distmap_reader_read(o->job->source.reader, slab.first, slab.count, o->steps.in[slot]));
    const int64_t found = ignored_take(o, o->steps.in[slot], slab.count, slot);
    look(o, item, slab, slot, found);
    return DISTMAP_OK;
}

distmap_status passes_work_slab(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    struct steps *s = &o->steps;
    const struct dms_slab slab = steps_slab_at(s, item);
    TRY(steps_slab(s, item, slot, slab));
    for (int r = 0; r < o->result_count && s->one_pass; r++) {
        const double largest =
            ignored_finish(o, s->out[slot][r], o->results[r].sink->info.dtype, slab.count, slot, r > 0);
        if (r == 0 && ignored_any(o))
            s->largest[slot] = largest;
    }
    return DISTMAP_OK;
}

/* Copies the intersections of a slab in memory and each panel in an area of the scratch file. */
static distmap_status cross(const struct outofcore *o, struct dms_slab slab, char *memory, size_t size, int64_t area,
                            bool reads) {
    const struct ledger *ledger = &o->ledger;
    const int64_t inner = inner_of(&o->steps.layout);
    for (int i = 0; i < o->steps.layout.size; i++) {
        const struct dms_slab panel = panel_of(o, i);
        const struct runs runs = runs_of(o, panel, slab.count, size);
        const int64_t elements =
            panel.first * o->steps.line * o->steps.layout.shape[0] + slab.first * o->steps.line * panel.count;
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
    const struct dms_slab slab = steps_slab_at(&o->steps, item);
    const distmap_dtype index = o->steps.normal.want.index;
    TRY(cross(o, slab, o->steps.out[slot][0], distmap_dtype_size(o->steps.samples), 0, false));
    if (index)
        TRY(cross(o, slab, o->steps.out[slot][1], distmap_dtype_size(index), o->payload_at, false));
    if (o->steps.kind[slot])
        TRY(cross(o, slab, (char *)o->steps.kind[slot], 1, o->kinds_at, false));
    return ledger_mark(&o->ledger, "slab", o->steps.flags[slot], o->steps.largest[slot], o->steps.least[slot]);
}

/* A run that goes on needs the last slice that the one before has done. */
static distmap_status fetch_edge(struct outofcore *o) {
    struct steps *s = &o->steps;
    const int64_t first = o->ledger.slabs < s->layout.size ? steps_slab_at(s, o->ledger.slabs).first : 0;
    if (!steps_wants_edge(s) || !first)
        return DISTMAP_OK;
    TRY(distmap_reader_read(o->job->source.reader, first - 1, 1, s->edge));
    ignored_take(o, s->edge, 1, 0);
    return DISTMAP_OK;
}

static distmap_status run_slabs(struct outofcore *o) {
    const struct pipeline stages = {.fetch = passes_fetch_slab, .work = passes_work_slab, .store = slab_store};
    TRY(steps_hold_slabs(&o->steps, steps_slab_at(&o->steps, 0).count));
    TRY(ignored_hold(o, false));
    TRY(fetch_edge(o));
    return passes_run_one(o, "slabs", o->ledger.slabs, stages);
}

/* ---- Pass 2: panels ---- */

static distmap_status panel_fetch(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    const struct ledger *ledger = &o->ledger;
    const struct dms_slab panel = panel_of(o, item);
    const int64_t first = panel.first * o->steps.line * o->steps.layout.shape[0],
                  count = panel.count * o->steps.line * o->steps.layout.shape[0];
    const int64_t size = (int64_t)distmap_dtype_size(o->steps.samples),
                  index = (int64_t)distmap_dtype_size(o->steps.normal.want.index);
    TRY(storage_read(ledger->scratch_fd, ledger->scratch, first * size, o->steps.panel[slot].sample.data,
                     (size_t)(count * size)));
    if (o->steps.kinds != DMS_NO_KINDS)
        TRY(storage_read(ledger->scratch_fd, ledger->scratch, o->kinds_at + first, o->steps.panel[slot].kind.data,
                         (size_t)count));
    return storage_read(ledger->scratch_fd, ledger->scratch, o->payload_at + first * index,
                        o->steps.panel[slot].payload.data, (size_t)(count * index));
}

static distmap_status panel_work(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    const struct dms_slab panel = panel_of(o, item);
    TRY(steps_panel(&o->steps, item, slot, panel));
    if (panel.count && !ignored_any(o)) /* else where a slab is together */
        fill_put(steps_panel_result(&o->steps.panel[slot], false), &o->job->fill, NULL);
    return DISTMAP_OK;
}

static distmap_status panel_store(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    const struct dms_slab panel = panel_of(o, item);
    for (int r = 0; r < o->result_count && panel.count; r++) {
        const struct result *result = &o->results[r];
        const size_t size = distmap_dtype_size(result->sink->info.dtype);
        const char *data = steps_panel_result(&o->steps.panel[slot], result->is_index)->data;
        const int64_t lines = o->steps.line * o->steps.layout.shape[0]; /* elements of a panel of width 1 */
        const struct runs runs = runs_of(o, panel, o->steps.layout.shape[0], size);
        if (result->in_order)
            TRY(storage_write(result->fd, o->ledger.scratch, result->offset + panel.first * lines * (int64_t)size, data,
                              (size_t)(panel.count * lines) * size));
        else
            TRY(storage_scatter(result->fd, result->sink->path,
                                result->offset + panel.first * inner_of(&o->steps.layout) * (int64_t)size, data,
                                &runs));
    }
    return ledger_mark(&o->ledger, "panel", o->steps.flags[slot], o->steps.largest[slot], o->steps.least[slot]);
}

static distmap_status run_panels(struct outofcore *o) {
    const struct pipeline stages = {.fetch = panel_fetch, .work = panel_work, .store = panel_store};
    TRY(steps_hold_panels(&o->steps, o->steps.layout.width));
    return passes_run_one(o, "lines", o->ledger.panels, stages);
}

/* ---- Pass 3: in order ---- */

static distmap_status copy_fetch(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    const struct dms_slab slab = steps_slab_at(&o->steps, item);
    if (ignored_any(o)) {
        TRY(distmap_reader_read(o->job->source.reader, slab.first, slab.count, o->again[slot]));
        ignored_take(o, o->again[slot], slab.count, slot);
    }
    return cross(o, slab, o->steps.in[slot], distmap_dtype_size(o->copied->sink->info.dtype), o->copied->offset, true);
}

/* What is to be stored must not be fetched anew. */
static distmap_status copy_work(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    char *fetched = o->steps.in[slot];
    o->steps.in[slot] = o->steps.out[slot][0];
    o->steps.out[slot][0] = fetched;
    if (ignored_any(o)) {
        const double largest = ignored_finish(o, fetched, o->copied->sink->info.dtype,
                                              steps_slab_at(&o->steps, item).count, slot, o->copied->is_index);
        o->copied_largest = largest > o->copied_largest ? largest : o->copied_largest;
    }
    return steps_item(&o->steps, item);
}

static distmap_status copy_store(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    return distmap_writer_write(o->copied->sink->writer, steps_slab_at(&o->steps, item).count, o->steps.out[slot][0]);
}

static distmap_status run_copy(struct outofcore *o) {
    const struct pipeline stages = {.fetch = copy_fetch, .work = copy_work, .store = copy_store};
    for (int s = 0; s < PIPELINE_SLOTS; s++) {
        const size_t size = distmap_dtype_size(o->copied->sink->info.dtype);
        TRY(steps_hold(&o->steps.in[s], steps_slab_at(&o->steps, 0).count * o->steps.slice, size));
        TRY(steps_hold(&o->steps.out[s][0], steps_slab_at(&o->steps, 0).count * o->steps.slice, size));
    }
    if (ignored_any(o))
        TRY(ignored_hold(o, true));
    return passes_run_one(o, "writing", 0, stages);
}

/* ---- All of them ---- */

static distmap_status end_pass(struct outofcore *o, distmap_status status) {
    steps_let_go(&o->steps);
    ignored_let_go(o);
    return status;
}

int passes_run(struct outofcore *o) {
    distmap_status status = DISTMAP_OK;
    if (o->steps.one_pass) {
        if (o->steps.windows)
            status = end_pass(o, windows_survey(o));
        if (!status)
            status = end_pass(o, direct_run(o));
        return status ? fail_library() : 0;
    }
    status = end_pass(o, run_slabs(o));
    if (!status)
        status = end_pass(o, run_panels(o));
    for (int r = 0; r < o->result_count && !status; r++)
        if (o->results[r].in_order) {
            o->copied = &o->results[r];
            status = end_pass(o, run_copy(o));
        }
    return status ? fail_library() : 0;
}
