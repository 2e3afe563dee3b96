/* The sites that windows need from each other: a survey of all slabs finds the first and the last site of each slab and column; then a
 * forward and a backward sweep over these find the last site before each slab and column, and the first one after it.
 *
 * In the scratch file are, for each slab, four rows of int32, one number per column, -1 where there is no site:
 *     its first sites, its last sites, the last ones before it, the first ones after it.
 */
#include "outofcore.h"

enum { FIRST, LAST, BEFORE, AFTER, ROWS };

static int64_t row_bytes(const struct outofcore *o) { return o->steps.slice * (int64_t)sizeof(int32_t); }

static distmap_status move(const struct outofcore *o, int64_t slab, int row, int count, int32_t *memory, bool writes) {
    const struct ledger *l = &o->ledger;
    const int64_t at = (slab * ROWS + row) * row_bytes(o);
    const size_t bytes = (size_t)(count * row_bytes(o));
    return writes ? storage_write(l->scratch_fd, l->scratch, at, memory, bytes)
                  : storage_read(l->scratch_fd, l->scratch, at, memory, bytes);
}

int64_t windows_bytes(const struct outofcore *o) { return o->steps.layout.size * ROWS * row_bytes(o); }

/* ---- The survey ---- */

double windows_survey_bytes(const struct outofcore *o, int64_t rows) {
    const distmap_plan_options how = {.host_views = true};
    const distmap_problem p = dms_survey_of(&o->steps.normal, rows);
    size_t scratch;
    if (distmap_scratch_bytes(o->job->work.context, &p, &how, &scratch))
        return -1;
    const double each = (double)(distmap_dtype_size(p.dtype) + 1), columns = 2 * (double)row_bytes(o);
    return PIPELINE_SLOTS * ((double)rows * (double)o->steps.slice * each + columns) + (double)scratch;
}

static distmap_status survey_work(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    struct steps *s = &o->steps;
    const struct dms_slab slab = steps_slab_at(s, item);
    const int64_t width = s->slice;
    const distmap_problem p = dms_survey_of(&s->normal, slab.count);
    uint8_t *sites = (uint8_t *)s->out[slot][0];
    TRY(steps_item(s, item));
    TRY(steps_plan(s, &p, slab));
    const distmap_arrays arrays = {.input = distmap_view_make(s->in[slot], p.dtype, 2, p.shape),
                                   .within = distmap_view_make(sites, DISTMAP_UINT8, 2, p.shape)};
    TRY(distmap_plan_execute(s->work->plan, &arrays));
    TRY(distmap_plan_wait(s->work->plan));
    dms_survey_begin(s->columns[slot], 2 * width);
    dms_survey_rows(sites, slab, width, false, s->columns[slot]);
    dms_survey_rows(sites, slab, width, true, s->columns[slot] + width);
    return DISTMAP_OK;
}

static distmap_status survey_store(void *user, int64_t item, int slot) {
    struct outofcore *o = user;
    TRY(move(o, item, FIRST, 2, o->steps.columns[slot], true));
    return ledger_mark(&o->ledger, "slab", 0, -1, 0);
}

/* ---- From slab to slab ---- */

/* Row `to` of each slab, in this order, from row `from` of the slabs before. `row` and `known` have room for a row each. */
static distmap_status pass_on(const struct outofcore *o, int64_t first, int64_t step, int from, int to, int32_t *row,
                              int32_t *known) {
    const int64_t width = o->steps.slice, slabs = o->steps.layout.size;
    dms_survey_begin(known, width);
    for (int64_t slab = first; slab >= 0 && slab < slabs; slab += step) {
        TRY(move(o, slab, to, 1, known, true));
        TRY(move(o, slab, from, 1, row, false));
        dms_survey_merge(known, row, width);
    }
    return DISTMAP_OK;
}

distmap_status windows_survey(struct outofcore *o) {
    struct steps *s = &o->steps;
    const struct pipeline stages = {.fetch = passes_fetch_slab, .work = survey_work, .store = survey_store};
    const int64_t elements = steps_slab_at(s, 0).count * s->slice;
    for (int slot = 0; slot < PIPELINE_SLOTS; slot++) {
        TRY(steps_hold(&s->in[slot], elements, distmap_dtype_size(s->normal.dtype)));
        TRY(steps_hold(&s->out[slot][0], elements, 1));
        TRY(steps_hold_columns(s, slot));
    }
    TRY(ignored_hold(o, false));
    TRY(passes_run_one(o, "columns", o->ledger.slabs, stages));
    TRY(pass_on(o, 0, 1, LAST, BEFORE, s->columns[0], s->columns[1]));
    return pass_on(o, s->layout.size - 1, -1, FIRST, AFTER, s->columns[0], s->columns[1]);
}

distmap_status windows_fetch_columns(struct outofcore *o, int64_t item, int slot) {
    return move(o, item, BEFORE, 2, o->steps.columns[slot], false);
}
