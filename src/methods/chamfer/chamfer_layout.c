/* The shape of chamfer/cpu's work, and its scratch: one walk counts it, and the same walk hands it out. */
#include "methods/chamfer/chamfer_layout.h"

#include "core/scratch.h"

enum { NARROWEST = 512 }; /* columns of a strip, at least */

static size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

static void choose_lane(const distmap_plan *plan, ch_layout *l) {
    const dm_chamfer *c = &plan->chamfer;
    uint64_t dearest = CH_GROUP * c->step[1];
    for (int n = 2; n <= DM_NDIM; n++)
        dearest = c->step[n] > dearest ? c->step[n] : dearest;
    dearest = c->knight > dearest ? c->knight : dearest;
    const uint64_t largest = plan->limited && plan->limit2 < plan->max2 ? plan->limit2 : plan->max2;
    const bool narrow = !plan->wants_site && dearest + largest < UINT16_MAX;
    l->lane = plan->wants_site ? CH_KEY : narrow ? CH_U16 : CH_U32;
    l->lane_size = ch_lane_size(l->lane);
    const bool positive = dearest + largest < INT32_MAX; /* as signed numbers, which not all vectors can do without */
    const uint64_t cap = (narrow ? UINT16_MAX : positive ? INT32_MAX : UINT32_MAX) - dearest;
    l->fits = largest < cap;
    l->most = plan->limited && plan->limit2 < cap ? plan->limit2 : cap - 1;
    l->cap = cap << ch_lane_shift(l->lane);
}

ch_layout ch_lay_out(const distmap_plan *plan) {
    ch_layout l = {.width = plan->shape[DM_X], .rows = 1, .volumes = 1};
    choose_lane(plan, &l);
    l.along = plan->measured[DM_X];
    for (int a = DM_X - 1; a >= 0; a--) {
        const bool slow = dm_axis_counts(plan, a);
        if (slow)
            l.slow[l.slow_count++] = a;
        *(slow ? &l.rows : &l.volumes) *= plan->shape[a];
    }
    l.groups = round_up((size_t)l.width, CH_UNIT) / CH_GROUP;
    l.pitch = l.groups * CH_GROUP + 2 * CH_PAD;
    const int threads = plan->context->threads;
    l.own_volumes = threads == 1 || l.volumes >= threads || l.slow_count == 0;
    l.reach = plan->chamfer.knight ? 2 : 1;
    if (!l.own_volumes && l.slow_count == 1) {
        l.halves = threads % 2 ? 1 : 2;
        const int64_t most = l.width / NARROWEST, wanted = threads / l.halves;
        l.strips = most < 1 ? 1 : most < wanted ? most : wanted;
    }
    return l;
}

ch_columns ch_strip(const ch_layout *l, int64_t strip) {
    const int64_t units = (int64_t)l->groups * CH_GROUP / CH_UNIT, overlap = l->reach * CH_BAND;
    ch_columns c = {units * strip / l->strips * CH_UNIT, units * (strip + 1) / l->strips * CH_UNIT, 0, 0};
    c.end = c.end < l->width ? c.end : l->width;
    c.from = c.first > overlap ? c.first - overlap : 0;
    c.to = c.end < l->width - overlap ? c.end + overlap : l->width;
    return c;
}

/* ---- Scratch ---- */

/* By its first lane. */
static char *take_row(dm_scratch *b, const ch_layout *l) {
    char *row = dm_take(b, (int64_t)l->pitch, l->lane_size);
    return row ? row + CH_PAD * l->lane_size : NULL;
}

static void take_worker(dm_scratch *b, const ch_layout *l, ch_worker *w) {
    const int64_t n = (int64_t)l->groups * CH_GROUP;
    w->site = dm_take(b, n, 1);
    w->pattern = dm_take(b, (int64_t)l->groups, 1);
    w->before = dm_take(b, (int64_t)l->groups, l->lane_size);
    w->after = dm_take(b, (int64_t)l->groups, l->lane_size);
    for (int i = 0; i < 3; i++)
        w->ring[i] = take_row(b, l);
    w->lanes = l->own_volumes ? dm_take(b, l->rows * (int64_t)l->pitch, l->lane_size) : NULL;
    w->squared = dm_take(b, n, 8);
    w->index = dm_take(b, n, 8);
}

size_t ch_walk_scratch(const distmap_plan *plan, const ch_layout *l, void *base, ch_memory *m) {
    dm_scratch b = {.base = base, .unit = DM_CPU_UNIT};
    const int threads = plan->context->threads;
    m->workers = dm_take(&b, threads, sizeof *m->workers);
    for (int i = 0; i < threads; i++) {
        ch_worker unused;
        take_worker(&b, l, base ? &m->workers[i] : &unused);
    }
    m->near = dm_take(&b, 256 * CH_GROUP, l->lane_size);
    m->none = take_row(&b, l);
    if (l->own_volumes)
        return b.used;
    m->lanes = dm_take(&b, l->rows * (int64_t)l->pitch, l->lane_size);
    for (int i = 0; i < 8; i++)
        m->carry[i / 4][i / 2 % 2][i % 2] = take_row(&b, l);
    m->ends = dm_take(&b, l->rows * l->strips, sizeof *m->ends);
    return b.used;
}
