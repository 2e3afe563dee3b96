/* thickness/cpu: balls painted from the largest to the smallest, each element once.
 *
 * Volume by volume. (1) A filter in vectors leaves out elements whose ball is within its neighbours', four of five. (2) The
 * others are sorted by R^2, by digits. (3) Bits say which elements are still open. From the largest ball on, rows that larger
 * neighbours leave to a ball (thickness.h) are looked up there, and what is open gets the ball's value, and is closed. So the
 * outputs are written once, and balls of one size, which follow each other, share their rows' lengths. Each task does this for a
 * slab of the volume: tasks share nothing, and the largest value is the same in any order, so threads change no bit.
 *
 * Cost: the inner plan; about 26 operations per element for the filter; per ball left its rows, compared with three neighbours
 * in vectors, and the few needed ones bit by bit. Memory: the squares of all elements, 4 bytes each (8 beyond 32 bits); of one
 * volume 8 bytes per element (its balls, twice, while they are sorted), which the inner plan has used before, and a bit per
 * element, in whole words for each row; for each worker the rows of a ball, at most four times those of the volume.
 */
#include "operations/thickness_cpu.h"

#include "core/scratch.h"
#include "operations/inner.h"

static const th_kernels *const kernels[DM_ISA_COUNT] = {
    [DM_PLAIN] = &dm_thickness_plain,
#if defined(__x86_64__)
    [DM_SSE4] = &dm_thickness_sse4,
    [DM_AVX2] = &dm_thickness_avx2,
    [DM_AVX512] = &dm_thickness_avx512,
#elif defined(__aarch64__)
    [DM_NEON] = &dm_thickness_neon,
#endif
};
static const double INNER_SHARE = 0.25, SELECT_SHARE = 0.15, PAINT_SHARE = 0.6;
static const double MOST_ANISOTROPY = 1e12; /* which the filters' float32 can take */
enum { TASK_ROWS = 64, DIGIT = 11 };

/* ---- Scratch ---- */

static size_t lay_out(const distmap_plan *plan, th_work *w) {
    *w = (th_work){.plan = NULL};
    const distmap_problem inner = th_inner(plan, &w->v);
    const th_volumes *v = &w->v;
    dm_scratch walk = {.base = plan->scratch, .unit = DM_CPU_UNIT};
    const size_t list = dm_round64((size_t)v->elements * sizeof(uint32_t)), before = op_inner_bytes(plan, &inner);
    char *first = dm_take(&walk, 1, before > 2 * list ? before : 2 * list);
    w->list[0] = (uint32_t *)first;
    w->list[1] = plan->scratch ? (uint32_t *)(first + list) : NULL;
    w->all = dm_take(&walk, plan->elements, dm_number_size(v->number));
    w->words = (v->length[TH_LAST] + 63) / 64;
    w->bits = dm_take(&walk, v->rows * w->words, sizeof(uint64_t));
    w->workers = dm_take(&walk, plan->context->threads, sizeof(th_worker));
    const int64_t rows = th_padded((2 * v->length[TH_Z] - 1) * (2 * v->length[TH_Y] - 1));
    const int64_t kept = TH_STEPS * th_smaller(rows, TH_KEPT_ROWS);
    for (int i = 0; i < plan->context->threads; i++) {
        th_worker own = {.ball = {.count = 0}};
        own.ball.dz = dm_take(&walk, rows, sizeof *own.ball.dz);
        own.ball.dy = dm_take(&walk, rows, sizeof *own.ball.dy);
        own.ball.dx = dm_take(&walk, rows, sizeof *own.ball.dx);
        own.ball.far2 = dm_take(&walk, rows, sizeof *own.ball.far2);
        own.ball.needed = dm_take(&walk, rows, 1);
        own.reach = dm_take(&walk, th_larger(kept, TH_BEST * rows), sizeof *own.reach);
        own.lines = dm_take(&walk, 4 * v->length[TH_LAST], sizeof *own.lines);
        if (plan->scratch)
            w->workers[i] = own;
    }
    return walk.used;
}

static size_t scratch_bytes(const distmap_plan *plan) {
    th_work w;
    return lay_out(plan, &w);
}

static distmap_status prepare(distmap_plan *plan) {
    th_volumes v;
    const distmap_problem inner = th_inner(plan, &v);
    return op_inner_make(plan, &inner, INNER_SHARE);
}

static void set_filters(th_work *w) {
    const th_volumes *v = &w->v;
    double least = (double)INFINITY, most = 0, all = 0;
    for (int k = 0; k < TH_AXES; k++)
        if (v->axis[k] >= 0) {
            least = fmin(least, v->w2f[k]);
            most = fmax(most, v->w2f[k]);
            all += sqrt(v->w2f[k]);
        }
    w->filters = most / least <= MOST_ANISOTROPY;
    w->scale = (float)(1 / least);
    w->spread = (float)(all * all / least);
    w->grain = v->number == DM_F64 ? 0 : (float)(1 / least);
    for (int k = 0; k < TH_AXES; k++)
        w->w2[k] = (float)(v->w2f[k] / least);
}

/* ---- 1. Which balls are not within a neighbour's ---- */

/* The squares of the volume as float32, in the place of the second list. */
static void scale_task(void *arg, size_t index, int id) {
    const th_work *w = arg;
    const int64_t row_length = w->v.length[TH_LAST], from = (int64_t)index * TASK_ROWS * row_length;
    const int64_t to = th_smaller(from + TASK_ROWS * row_length, w->v.elements);
    float *scale = (float *)w->list[1];
    (void)id;
    switch (w->v.number) {
    case DM_U32:
        for (int64_t i = from; i < to; i++)
            scale[i] = (float)((const uint32_t *)w->squares)[i] * w->scale;
        break;
    case DM_U64:
        for (int64_t i = from; i < to; i++)
            scale[i] = (float)((const uint64_t *)w->squares)[i] * w->scale;
        break;
    case DM_F64:
        for (int64_t i = from; i < to; i++)
            scale[i] = (float)((const double *)w->squares)[i] * w->scale;
        break;
    }
}

static void select_row(const th_work *w, th_worker *own, int64_t row) {
    const int64_t ny = w->v.length[TH_Y], nx = w->v.length[TH_LAST], z = row / ny, y = row % ny;
    const float *scale = (const float *)w->list[1];
    th_select s = {.n = nx, .grain = w->grain};
    memcpy(s.w2, w->w2, sizeof s.w2);
    s.under = own->lines;
    s.twice = own->lines + nx;
    s.sum = own->lines + 2 * nx;
    s.best = own->lines + 3 * nx;
    for (int64_t dz = -1; dz <= 1; dz++)
        for (int64_t dy = -1; dy <= 1; dy++)
            if (z + dz >= 0 && z + dz < w->v.length[TH_Z] && y + dy >= 0 && y + dy < ny)
                s.beside[3 * (dz + 1) + dy + 1] = scale + (row + dz * ny + dy) * nx;
    if (w->filters)
        w->kernels->select(&s);
    uint64_t *bits = w->bits + row * w->words;
    for (int64_t x = 0; x < nx; x += 64) {
        uint64_t word = 0;
        for (int64_t i = x; i < th_smaller(nx, x + 64); i++)
            word |= (uint64_t)(s.beside[4][i] > 0 && !(w->filters && s.best[i] > 0)) << (i - x);
        bits[x / 64] = word;
    }
}

static void select_task(void *arg, size_t index, int id) {
    const th_work *w = arg;
    const int64_t from = (int64_t)index * TASK_ROWS;
    for (int64_t row = from; row < th_smaller(from + TASK_ROWS, w->v.rows); row++)
        select_row(w, &w->workers[id], row);
}

/* ---- 2. In the order of their size ---- */

/* Those that hold more than their centre. Returns the largest key. */
static uint64_t list_balls(th_work *w) {
    uint64_t most = 0;
    w->ball_count = 0;
    for (int64_t row = 0; row < w->v.rows; row++)
        for (int64_t i = 0; i < w->words; i++)
            for (uint64_t word = w->bits[row * w->words + i]; word; word &= word - 1) {
                const int64_t element = row * w->v.length[TH_LAST] + i * 64 + __builtin_ctzll(word);
                const uint64_t key = th_key(w->v.number, w->squares, element);
                if (key <= w->v.least)
                    continue;
                most = key > most ? key : most;
                w->list[0][w->ball_count++] = (uint32_t)element;
            }
    return most;
}

/* Least digit first, each digit falling; stable, so balls of one size stay in the order of memory. */
static void sort_balls(th_work *w, uint64_t most) {
    enum { VALUES = 1 << DIGIT };
    uint32_t *from = w->list[0], *to = w->list[1];
    for (int shift = 0; shift < 64 && most >> shift; shift += DIGIT) {
        uint32_t start[VALUES + 1] = {0};
        for (int64_t i = 0; i < w->ball_count; i++)
            start[VALUES - (th_key(w->v.number, w->squares, from[i]) >> shift) % VALUES]++;
        for (int digit = 1; digit <= VALUES; digit++)
            start[digit] += start[digit - 1];
        for (int64_t i = 0; i < w->ball_count; i++)
            to[start[VALUES - 1 - (th_key(w->v.number, w->squares, from[i]) >> shift) % VALUES]++] = from[i];
        uint32_t *const swap = from;
        from = to;
        to = swap;
    }
    w->balls = from;
}

/* ---- The row of the table ---- */

static distmap_status run_volume(th_work *w) {
    distmap_plan *plan = w->plan;
    const size_t row_tasks = (size_t)((w->v.rows + TASK_ROWS - 1) / TASK_ROWS);
    const double share = 1.0 / (double)w->v.count;
    w->squares = w->all + w->volume * w->v.elements * (int64_t)dm_number_size(w->v.number);
    const bool none = th_is_none(w->v.number, th_key(w->v.number, w->squares, 0)); /* then all are */
    uint64_t most = 0;
    w->ball_count = 0;
    if (!none) {
        dm_phase(plan, "select");
        TRY(dm_parallel(plan, row_tasks, scale_task, w, SELECT_SHARE / 2 * share));
        TRY(dm_parallel(plan, row_tasks, select_task, w, SELECT_SHARE / 2 * share));
        dm_phase(plan, "sort");
        most = list_balls(w);
        sort_balls(w, most);
    }
    dm_phase(plan, "paint");
    return th_paint(w, most, PAINT_SHARE * share);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    th_work w;
    lay_out(plan, &w);
    w.plan = plan;
    w.arrays = arrays;
    w.kernels = kernels[plan->context->isa];
    set_filters(&w);
    const distmap_arrays inner = {.input = op_view(plan, &arrays->input),
                                  .squared = th_squares_view(plan, &w.v, w.all)};
    dm_phase(plan, "transform");
    TRY(op_inner_run(plan, 0, &inner, ~0u));
    for (; w.volume < w.v.count; w.volume++)
        TRY(run_volume(&w));
    return DISTMAP_OK;
}

const dm_method dm_thickness_cpu = {
    .info =
        {
            .name = "thickness/cpu",
            .summary = "local thickness: balls from the largest to the smallest, less what larger neighbours cover",
            .source = "Hildebrand and Ruegsegger 1997; docs/internals.md",
            .device = "cpu",
            .exact = true,
            .field = DISTMAP_FIELD_THICKNESS,
        },
    .refuses = th_refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = prepare,
    .release = op_inner_release,
};
