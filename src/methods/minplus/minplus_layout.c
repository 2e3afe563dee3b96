/* The shape of minplus/cpu's work, and its scratch: one walk counts it, and the same walk hands it out. */
#include "methods/minplus/minplus_layout.h"

enum { SLACK = 64, SMALL_PLANE = 1 << 22 };

static int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

bool mp_slow_axis(const distmap_plan *plan, int axis) { return plan->measured[axis] && plan->shape[axis] > 1; }

double mp_largest_squared(const distmap_plan *plan) {
    double most = 0;
    for (int a = 0; a < DM_NDIM; a++)
        most += (double)plan->w2[a] * (double)(plan->shape[a] - 1) * (double)(plan->shape[a] - 1);
    return most;
}

/* Arithmetic that sites alone can do: they are carried even when none is wanted. */
static bool wide_numbers(const distmap_plan *plan) {
    return (plan->measured[2] && plan->shape[2] > MP_FAR16) || mp_largest_squared(plan) >= MP_NONE;
}

static bool carries_sites(const distmap_plan *plan) { return plan->wants_site || wide_numbers(plan); }

/* A tile fills half of a second-level cache of 1 MiB: 10 bytes per element, with sites 16 more. */
int mp_slow_columns(const distmap_plan *plan, int axis) {
    const int64_t columns = (carries_sites(plan) ? 1 << 15 : 1 << 16) / plan->shape[axis] / 64 * 64;
    return columns < 64 ? 64 : columns > 1024 ? 1024 : (int)columns;
}

mp_layout mp_lay_out(const distmap_plan *plan) {
    mp_layout l = {.width = plan->shape[3]};
    l.rows_only = !plan->measured[2];
    l.height = l.rows_only ? 1 : plan->shape[2];
    l.words = (size_t)round_up(l.width, 64) / 64;
    l.wide = l.words * 64;
    l.blocks = (l.height + MP_BLOCK - 1) / MP_BLOCK;
    l.planes = plan->elements / (l.width * l.height);
    l.own_planes = l.planes >= plan->context->threads && (int64_t)l.wide * l.height <= SMALL_PLANE;
    l.tile_rows = l.wide <= 4096 ? MP_BLOCK : l.wide <= 16384 ? 16 : 8;
    l.longest = 1;
    for (int a = 0; a < 2; a++)
        if (mp_slow_axis(plan, a)) {
            l.slow = true;
            l.longest = max64(l.longest, plan->shape[a]);
            const int columns = mp_slow_columns(plan, a);
            l.columns = columns > l.columns ? columns : l.columns;
        }
    const distmap_outputs *want = &plan->problem.want;
    l.tall = l.height > MP_FAR16;
    l.wide_numbers = wide_numbers(plan);
    l.sites = carries_sites(plan);
    l.offsets = plan->wants_site && !l.wide_numbers && l.width <= INT16_MAX && l.height <= INT16_MAX &&
                mp_slow_axis(plan, 0) != mp_slow_axis(plan, 1);
    const bool output = want->distance || want->squared, sites_alone = l.wide_numbers || l.offsets;
    l.d2_scratch = l.slow && !sites_alone && !output;
    l.site_scratch = l.slow && !want->index && (sites_alone ? !output : plan->wants_site);
    return l;
}

/* ---- Scratch: one walk that counts, or hands out ---- */

typedef struct bump {
    char *base; /* NULL: only count */
    size_t used;
} bump;

static void *take(bump *b, int64_t count, size_t size) {
    void *memory = b->base ? b->base + b->used : NULL;
    b->used += (size_t)round_up((int64_t)((size_t)count * size), 64);
    return memory;
}

static void take_plane(bump *b, const mp_layout *l, mp_worker *w) {
    w->bits = take(b, l->height * (int64_t)l->words, 8);
    w->up = take(b, l->blocks * (int64_t)l->wide, 2);
    w->down = take(b, l->blocks * (int64_t)l->wide, 2);
    w->first_site = take(b, l->tall ? (int64_t)l->wide : 0, 4);
    w->last_site = take(b, l->tall ? (int64_t)l->wide : 0, 4);
}

static void take_worker(bump *b, const distmap_plan *plan, const mp_layout *l, mp_worker *w) {
    const int64_t wide = (int64_t)l->wide, line = round_up(l->longest, 64) + 64;
    const int64_t row = max64(max64(wide, line), l->columns) + SLACK;
    w->below = take(b, l->tile_rows * wide, 2);
    w->boundary = take(b, MP_BLOCK / l->tile_rows * wide, 2);
    w->above = take(b, wide, 2);
    w->padded = take(b, wide + 2 * MP_PAD, 2);
    w->keys_left = take(b, l->sites ? wide + 2 * MP_PAD : 0, 2);
    w->keys_right = take(b, l->sites ? wide + 2 * MP_PAD : 0, 2);
    w->d2 = take(b, row, 4);
    w->found = take(b, row, 4);
    w->squared = take(b, row, 4);
    w->site = take(b, row, 8);
    w->open = take(b, wide / 64, 1);
    w->deep = take(b, wide / 64, 1);
    w->bytes = take(b, wide, 1);
    w->inside = take(b, (int64_t)l->words, 8);
    for (int i = 0; i < 2; i++) {
        w->far.p[i] = (int32_t *)take(b, row, 4);
        w->far.f[i] = (int32_t *)take(b, row, 4);
    }
    w->far.key = (int32_t *)take(b, row, 4);
    w->column = take(b, row, 4);
    w->envelope = take(b, l->wide_numbers ? row : 0, sizeof *w->envelope);
    w->wide_squared = take(b, l->wide_numbers ? row : 0, 8);
    if (l->own_planes)
        take_plane(b, l, w);
    if (!l->slow)
        return;
    int64_t tile = 0;
    for (int a = 0; a < 2; a++)
        if (mp_slow_axis(plan, a))
            tile = max64(tile, (plan->shape[a] + 1) * mp_slow_columns(plan, a));
    w->tile = take(b, tile, 2);
    w->tile_d2 = take(b, tile + SLACK, 4);
    w->line = take(b, 32 * line, 4);
    w->line_d2 = take(b, 32 * line + SLACK, 4);
    w->line_arg = take(b, 32 * line + SLACK, 4);
    if (l->sites) {
        w->tile_key = take(b, 32 * (line + 2 * MP_SLOW_KEY_STEPS), 2);
        w->tile_site = take(b, tile + SLACK, 4);
        w->tile_found = take(b, tile + SLACK, 4);
    }
}

size_t mp_walk_scratch(const distmap_plan *plan, const mp_layout *l, void *base, mp_scratch *s) {
    bump b = {.base = base};
    const int threads = plan->context->threads;
    s->workers = take(&b, threads, sizeof *s->workers);
    for (int i = 0; i < threads; i++) {
        mp_worker unused;
        take_worker(&b, plan, l, base ? &s->workers[i] : &unused);
    }
    if (!l->own_planes)
        take_plane(&b, l, &s->shared);
    if (l->d2_scratch)
        s->d2 = take(&b, plan->elements, 4);
    if (l->site_scratch)
        s->site = take(&b, plan->elements, 4);
    return b.used;
}
