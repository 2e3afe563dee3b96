/* Slabs that give the result: windows of a plane, and slices whose axis is not measured. The result is written slab after slab, so
 * that formats which want their slices in order get them so.
 */
#include "outofcore.h"

static distmap_status fetch(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    if (o->steps.windows)
        TRY(windows_fetch_columns(o, item, slot));
    return passes_fetch_slab(o, item, slot);
}

static distmap_status store(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    const struct dms_slab slab = steps_slab_at(&o->steps, item);
    for (int r = 0; r < o->result_count; r++) {
        const struct result *result = &o->results[r];
        const int64_t bytes = o->steps.slice * (int64_t)distmap_dtype_size(result->sink->info.dtype);
        if (result->in_order)
            TRY(distmap_writer_write(result->sink->writer, slab.count, o->steps.out[slot][r]));
        else
            TRY(storage_write(result->fd, result->sink->path, result->offset + slab.first * bytes,
                              o->steps.out[slot][r], (size_t)(slab.count * bytes)));
    }
    return ledger_mark(&o->ledger, "panel", o->steps.flags[slot], o->steps.largest[slot], o->steps.least[slot]);
}

distmap_status direct_run(struct outofcore *o) {
    const struct pipeline stages = {.fetch = fetch, .work = passes_work_slab, .store = store};
    TRY(steps_hold_slabs(&o->steps, steps_slab_at(&o->steps, 0).count));
    TRY(ignored_hold(o, false));
    return passes_run_one(o, "slabs", o->ledger.panels, stages);
}
