/* Elements without data, out of core: a slab of the input gets their part as it is read. What is ignored is known while the slab is
 * in memory. Slabs that give the result have its distances taken away at once; where panels do, the result is written in order by the
 * pass that copies, which reads the input once more.
 */
#include <stdlib.h>

#include "outofcore.h"

static distmap_view view_of(const struct outofcore *o, void *data, distmap_dtype dtype, int64_t count) {
    distmap_view view = distmap_view_make(data, dtype, o->steps.normal.ndim, o->steps.normal.shape);
    view.shape[0] = count;
    return view;
}

static bool applies(const struct outofcore *o) { return nodata_applies(&o->job->source, o->options); }

bool ignored_any(const struct outofcore *o) { return nodata_ignores(&o->job->source, o->options); }

double ignored_bytes(const struct outofcore *o, int64_t count, bool copying) {
    const double slab = PIPELINE_SLOTS * (double)count * (double)o->steps.slice;
    return (applies(o) ? slab : 0) +
           (ignored_any(o) && copying ? slab * (double)distmap_dtype_size(o->steps.normal.dtype) : 0);
}

distmap_status ignored_hold(struct outofcore *o, bool copying) {
    const int64_t elements = steps_slab_at(&o->steps, 0).count * o->steps.slice;
    for (int slot = 0; slot < PIPELINE_SLOTS && applies(o); slot++) {
        TRY(steps_hold((char **)&o->ignored[slot], elements, 1));
        if (copying)
            TRY(steps_hold(&o->again[slot], elements, distmap_dtype_size(o->steps.normal.dtype)));
    }
    return DISTMAP_OK;
}

void ignored_let_go(struct outofcore *o) {
    for (int slot = 0; slot < PIPELINE_SLOTS; slot++) {
        free(o->ignored[slot]);
        free(o->again[slot]);
        o->ignored[slot] = NULL;
        o->again[slot] = NULL;
    }
}

int64_t ignored_take(struct outofcore *o, char *elements, int64_t count, int slot) {
    if (!applies(o) || !count)
        return 0;
    distmap_view view = view_of(o, elements, o->steps.normal.dtype, count);
    const int64_t found = nodata_find(&view, o->job->source.info->nodata, o->ignored[slot]);
    nodata_part(&o->job->source, o->options, &o->steps.normal, &view, o->ignored[slot],
                found); /* as nodata_check() saw */
    return found;
}

double ignored_finish(struct outofcore *o, char *elements, distmap_dtype dtype, int64_t count, int slot,
                      bool is_index) {
    const distmap_view view = view_of(o, elements, dtype, count);
    if (!count)
        return -1;
    nodata_erase(&view, ignored_any(o) ? o->ignored[slot] : NULL, is_index ? RESULT_INDICES : RESULT_DISTANCES);
    if (is_index)
        return -1;
    const double largest = ignored_any(o) ? elements_largest(&view) : -1;
    fill_put(&view, &o->job->fill, NULL);
    return largest;
}
