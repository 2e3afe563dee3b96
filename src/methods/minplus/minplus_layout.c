/* The dimensions of minplus/cpu's work, and its scratch: one function both counts and divides it. */
#include "methods/minplus/minplus_layout.h"

#include <math.h>

#include "core/scratch.h"

enum { SLACK = 64, SMALL_PLANE = 1 << 22 };

static int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

double mp_largest_squared(const distmap_plan *plan) {
    double most = 0;
    for (int a = 0; a < DM_NDIM; a++)
        most += (double)plan->w2[a] * pow((double)(dm_image_length(plan, a) - 1), 2);
    return most;
}

int mp_function_axis(const distmap_plan *plan) {
    int axis = -1, count = 0;
    for (int a = 0; a < DM_NDIM; a++)
        if (dm_axis_counts(plan, a))
            axis = a, count++;
    return plan->problem.input == DISTMAP_INPUT_SAMPLED && count == 1 && axis != DM_X ? axis : -1;
}

bool mp_real_planes(const distmap_plan *plan) {
    return plan->number == DM_F64 && plan->problem.input == DISTMAP_INPUT_MASK && !dm_by_kind(plan) &&
           !plan->wants_site && !plan->problem.window.count && plan->measured[DM_X] && plan->shape[DM_X] > 1 &&
           plan->shape[DM_X] <= MP_NO_COLUMN && (!plan->measured[2] || plan->rows <= MP_NO_COLUMN) &&
           !(dm_axis_counts(plan, 0) && dm_axis_counts(plan, 1));
}

static bool is_slow(const distmap_plan *plan, int axis) {
    return dm_axis_counts(plan, axis) && (axis < 2 || axis == mp_function_axis(plan));
}

/* Whether the arithmetic needs sites, which are then carried even if none is wanted. */
static bool needs_64_bits(const distmap_plan *plan) {
    return (plan->measured[2] && plan->rows > MP_NO_COLUMN) || mp_largest_squared(plan) >= MP_NONE;
}

static bool carries_sites(const distmap_plan *plan) { return plan->wants_site || needs_64_bits(plan); }

/* A tile fills half of a second-level cache of 1 MiB: 10 bytes per element, with sites 16 more. */
int mp_slow_columns(const distmap_plan *plan, int axis) {
    const int64_t columns =
        (carries_sites(plan) || plan->number == DM_F64 ? 1 << 15 : 1 << 16) / plan->shape[axis] / 64 * 64;
    return columns < 64 ? 64 : columns > 1024 ? 1024 : (int)columns;
}

/* The most steps of squared pitch w2 within a squared limit. */
static int64_t steps_within(int64_t limit2, uint64_t w2) { return (int64_t)sqrt((double)(limit2 / (int64_t)w2)); }

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

static mp_ball lay_ball(const distmap_plan *plan) {
    const distmap_outputs *want = &plan->problem.want;
    const uint64_t limit2 = plan->limit2 < plan->max2 ? plan->limit2 : plan->max2; /* nothing is farther than max2 */
    const bool z = dm_axis_counts(plan, 1), t = dm_axis_counts(plan, 0);
    mp_ball ball = {.axis = t ? 0 : 1, .w2 = 1};
    if (!plan->wants_mask || plan->number == DM_F64 || dm_by_kind(plan) || plan->wants_site || want->distance ||
        want->squared || limit2 >= 1 << 24 || (z && t))
        return ball;
    ball.on = true;
    ball.limit2 = (int32_t)limit2;
    ball.across = (uint16_t)min64(steps_within(ball.limit2, plan->w2[DM_X]), plan->shape[DM_X]);
    ball.down = (uint16_t)steps_within(ball.limit2, dm_axis_counts(plan, 2) ? plan->w2[2] : 1);
    if (!z && !t) {
        ball.pad = (size_t)round_up(ball.across / 2 + 2, 64);
        return ball;
    }
    const int64_t along = min64(steps_within(ball.limit2, plan->w2[ball.axis]), plan->shape[ball.axis]);
    ball.on = along < UINT8_MAX && !needs_64_bits(plan);
    ball.along = (uint16_t)along;
    ball.w2 = (int32_t)plan->w2[ball.axis];
    return ball;
}

mp_layout mp_lay_out(const distmap_plan *plan) {
    mp_layout l = {.width = plan->shape[3]};
    l.function = mp_function_axis(plan);
    l.rows_only = !plan->measured[2] || l.function >= 0;
    l.height = l.rows_only ? 1 : plan->shape[2];
    l.rows = l.rows_only ? 1 : plan->rows;
    l.words = (size_t)round_up(l.width, 64) / 64;
    l.padded_width = l.words * 64;
    l.blocks = (l.height + MP_BLOCK - 1) / MP_BLOCK;
    l.planes = plan->elements / (l.width * l.height);
    l.own_planes = l.planes >= plan->context->threads && (int64_t)l.padded_width * l.height <= SMALL_PLANE;
    l.tile_rows = l.padded_width <= 4096 ? MP_BLOCK : l.padded_width <= 16384 ? 16 : 8;
    l.longest = 1;
    for (int a = 0; a < DM_X; a++)
        if (is_slow(plan, a)) {
            l.slow = true;
            l.longest = max64(l.longest, plan->shape[a]);
            const int columns = mp_slow_columns(plan, a);
            l.columns = columns > l.columns ? columns : l.columns;
        }
    const distmap_outputs *want = &plan->problem.want;
    if (l.function >= 0) {
        l.sites = plan->wants_site;
        return l;
    }
    l.ball = lay_ball(plan);
    if (l.ball.on)
        return l;
    l.tall = l.rows > MP_NO_COLUMN;
    l.needs_64_bits = needs_64_bits(plan);
    l.sites = carries_sites(plan);
    l.sides = plan->problem.sign;
    l.labels = dm_by_kind(plan);
    l.ground = l.labels && !l.sides && plan->problem.sites.rule != DISTMAP_SITES_NONE;
    l.offsets = plan->wants_site && !l.needs_64_bits && l.width <= INT16_MAX && l.height <= INT16_MAX &&
                dm_axis_counts(plan, 0) != dm_axis_counts(plan, 1);
    const bool output = want->distance || want->squared, sites_alone = l.needs_64_bits || l.offsets;
    l.real = plan->number == DM_F64;
    l.alive = dm_axis_counts(plan, 1) && !l.rows_only && !l.labels && !l.needs_64_bits;
    l.d2_scratch = l.slow && !sites_alone && !output;
    l.site_scratch = l.slow && !want->index && (sites_alone ? !output : plan->wants_site);
    return l;
}

/* ---- Scratch: one function counts, or divides ---- */

static void take_plane(dm_scratch *b, const mp_layout *l, mp_worker *w) {
    w->bits = dm_take(b, l->height * (int64_t)l->words, 8);
    w->turns = l->labels ? dm_take(b, l->height * (int64_t)l->words, 8) : NULL;
    w->ground = l->ground ? dm_take(b, l->height * (int64_t)l->words, 8) : NULL;
    w->up = dm_take(b, l->blocks * (int64_t)l->padded_width, 2);
    w->down = dm_take(b, l->blocks * (int64_t)l->padded_width, 2);
    w->first_site = dm_take(b, l->tall ? (int64_t)l->padded_width : 0, 4);
    w->last_site = dm_take(b, l->tall ? (int64_t)l->padded_width : 0, 4);
}

static void take_worker(dm_scratch *b, const distmap_plan *plan, const mp_layout *l, mp_worker *w) {
    const int64_t wide = (int64_t)l->padded_width, line = round_up(l->longest, 64) + 64;
    const int64_t row = max64(max64(wide, line), l->columns) + SLACK;
    w->below = dm_take(b, l->tile_rows * wide, 2);
    w->boundary = dm_take(b, MP_BLOCK / l->tile_rows * wide, 2);
    w->above = dm_take(b, wide, 2);
    w->padded = dm_take(b, wide + 2 * MP_PAD, 2);
    w->keys_left = dm_take(b, l->sites ? wide + 2 * MP_PAD : 0, 2);
    w->keys_right = dm_take(b, l->sites ? wide + 2 * MP_PAD : 0, 2);
    w->d2 = dm_take(b, row, 4);
    w->found = dm_take(b, row, 4);
    w->squared = dm_take(b, row, 4);
    w->site = dm_take(b, row, 8);
    w->open = dm_take(b, wide / 64, 1);
    w->deep = dm_take(b, wide / 64, 1);
    w->bytes = dm_take(b, row, 1);
    for (int i = 0; i < 2; i++)
        w->cost[i] = dm_take(b, l->ball.pad > 0 ? wide + 2 * (int64_t)l->ball.pad : 0, 2);
    if (l->labels) {
        w->turn = dm_take(b, wide, 2);
        w->cap = dm_take(b, wide, 2);
        for (int i = 0; i < 2; i++)
            w->kind[i] = dm_take(b, wide, 8);
        w->tile_turn = dm_take(b, l->slow ? 32 * l->longest : 0, 2);
    }
    w->inside = dm_take(b, (int64_t)l->words, 8);
    for (int i = 0; i < 2; i++) {
        w->far.p[i] = (int32_t *)dm_take(b, row, 4);
        w->far.f[i] = (int32_t *)dm_take(b, row, 4);
    }
    w->far.key = (int32_t *)dm_take(b, row, 4);
    w->column = dm_take(b, row, 4);
    w->envelope = dm_take(b, l->needs_64_bits ? row : 0, sizeof *w->envelope);
    w->wide_squared = dm_take(b, l->needs_64_bits || plan->number == DM_U64 ? row : 0, 8);
    if (l->own_planes)
        take_plane(b, l, w);
    int64_t tile = 0;
    for (int a = 0; a < DM_X; a++)
        if (is_slow(plan, a))
            tile = max64(tile, (plan->shape[a] + 1) * mp_slow_columns(plan, a));
    if (l->real) {
        w->real = dm_take(b, wide + 2 * MP_REAL_PAD, 8);
        w->real_best = dm_take(b, max64(wide, tile) + SLACK, 8);
        w->real_from = dm_take(b, wide + SLACK, 8);
        w->real_tile = dm_take(b, tile, 8);
        for (int i = 0; i < 4; i++)
            w->real_list[i] = dm_take(b, row, 8);
    }
    if (!l->slow || l->real)
        return;
    w->tile = dm_take(b, tile, 2);
    w->tile_d2 = dm_take(b, tile + SLACK, 4);
    w->line = dm_take(b, 32 * line, 4);
    w->line_d2 = dm_take(b, 32 * line + SLACK, 4);
    w->line_arg = dm_take(b, 32 * line + SLACK, 4);
    if (l->sites) {
        w->tile_key = dm_take(b, 32 * (line + 2 * MP_SLOW_KEY_STEPS), 2);
        w->tile_site = dm_take(b, tile + SLACK, 4);
        w->tile_found = dm_take(b, tile + SLACK, 4);
    }
}

size_t mp_walk_scratch(const distmap_plan *plan, const mp_layout *l, void *base, mp_scratch *s) {
    dm_scratch b = {.base = base, .unit = DM_CPU_UNIT};
    const int threads = plan->context->threads;
    s->workers = dm_take(&b, threads, sizeof *s->workers);
    for (int i = 0; i < threads; i++) {
        mp_worker unused;
        take_worker(&b, plan, l, base ? &s->workers[i] : &unused);
    }
    if (!l->own_planes)
        take_plane(&b, l, &s->shared);
    for (int a = 0; a < 2; a++)
        s->turns[a] =
            l->labels && dm_axis_counts(plan, a) ? dm_take(&b, plan->elements / l->width * (int64_t)l->words, 8) : NULL;
    s->near_turn = l->labels ? dm_take(&b, 256, sizeof *s->near_turn) : NULL;
    s->alive = l->alive ? dm_take(&b, l->planes, 1) : NULL;
    if (l->d2_scratch)
        s->d2 = dm_take(&b, plan->elements, 4);
    if (l->site_scratch)
        s->site = dm_take(&b, plan->elements, 4);
    return b.used;
}
