/* thickness/cpu: each ball raises what is in it, in the order of memory.
 *
 * Volume by volume. (1) A filter in vectors leaves out elements whose ball is within its neighbours', four of five. (2) Each ball
 * left is looked at: of its rows those that its best neighbour does not hold begin a list (thickness_rows.c); they are compared with
 * four neighbours in vectors, and those that are in none of their balls (thickness.h), a few or none, raise the elements in
 * them to its R^2. Neighbouring balls raise neighbouring elements, and balls are taken by tiles of a few rows and 64 elements,
 * plane after plane, whose surroundings stay in the cache; squares grow in 16 bits where these hold them. (3) What they have
 * grown to is stored. Each task does this for a slab of the volume, with the balls around it that reach it: tasks share nothing,
 * and the largest value is the same in any order, so threads change no bit.
 *
 * Cost: the inner plan; about 15 operations per element for the filter; per ball left some 200, and 40 for each row that is asked
 * or raised. Memory: squares, 4 bytes per element (8 beyond 32 bits); of one volume what they grow to, as much, its squares in
 * float32, where the inner plan was before, and a bit per element, in whole words for each row; for each worker rows of balls, at
 * most 12 bytes per element and 40 MB, but at least 80 kB and 32 bytes for each row of the volume.
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
enum { TASK_ROWS = 64, LINES = 5 };

/* ---- Scratch ---- */

/* Offsets along z and y, of either sign, in 32 bits. */
static th_packing packing_of(const th_volumes *v) {
    th_packing p = {.z = 1, .y = 1};
    while (p.z < v->length[TH_Z])
        p.z *= 2;
    for (p.shift = 1; p.y < v->length[TH_Y]; p.shift++)
        p.y *= 2;
    return p;
}

static const char *refuses(const distmap_plan *plan) {
    const char *reason = th_refuses(plan);
    if (reason)
        return reason;
    th_volumes v;
    th_inner(plan, &v);
    const th_packing p = packing_of(&v);
    return (int64_t)p.z * p.y > INT32_MAX / 4 ? "needs fewer than 2^27 rows along the last measured axis" : NULL;
}

static size_t lay_out(const distmap_plan *plan, th_work *w) {
    *w = (th_work){.plan = NULL};
    const distmap_problem inner = th_inner(plan, &w->v);
    const th_volumes *v = &w->v;
    w->packing = packing_of(v);
    dm_scratch walk = {.base = plan->scratch, .unit = DM_CPU_UNIT};
    const size_t scaled = (size_t)v->elements * sizeof *w->scaled, before = op_inner_bytes(plan, &inner);
    w->scaled = dm_take(&walk, 1, before > scaled ? before : scaled);
    w->all = dm_take(&walk, plan->elements, dm_number_size(v->number));
    w->largest = dm_take(&walk, v->elements, dm_number_size(v->number));
    w->words = (v->length[TH_LAST] + 63) / 64;
    w->bits = dm_take(&walk, v->rows * w->words, sizeof *w->bits);
    w->workers = dm_take(&walk, plan->context->threads, sizeof *w->workers);
    for (int i = 0; i < plan->context->threads; i++) {
        th_worker own = {.lists = th_lists_for(v)};
        th_lists *l = &own.lists;
        l->key = dm_take(&walk, (int64_t)1 << l->bits, sizeof *l->key);
        l->list = dm_take(&walk, (int64_t)1 << l->bits, sizeof *l->list);
        l->place = dm_take(&walk, l->room, sizeof *l->place);
        l->dx = dm_take(&walk, l->room, sizeof *l->dx);
        own.lines = dm_take(&walk, LINES * (v->length[TH_LAST] + 2), sizeof *own.lines);
        own.left = dm_take(&walk, w->words, 64);
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

/* The squares of the volume as float32. */
static void scale_task(void *arg, size_t index, int id) {
    const th_work *w = arg;
    const int64_t row_length = w->v.length[TH_LAST], from = (int64_t)index * TASK_ROWS * row_length;
    const int64_t to = th_smaller(from + TASK_ROWS * row_length, w->v.elements);
    float *scaled = w->scaled, most = w->workers[id].most;
    switch (w->v.number) {
    case DM_U32:
        for (int64_t i = from; i < to; i++)
            scaled[i] = (float)((const uint32_t *)w->squares)[i] * w->scale;
        break;
    case DM_U64:
        for (int64_t i = from; i < to; i++)
            scaled[i] = (float)((const uint64_t *)w->squares)[i] * w->scale;
        break;
    case DM_F64:
        for (int64_t i = from; i < to; i++)
            scaled[i] = (float)((const double *)w->squares)[i] * w->scale;
        break;
    }
    for (int64_t i = from; i < to; i++)
        most = scaled[i] > most ? scaled[i] : most;
    w->workers[id].most = most;
}

/* In the narrowest type, a little more being taken for the largest square than float32 says. */
static void choose_width(th_work *w) {
    float most = 0;
    for (int i = 0; i < w->plan->context->threads; i++)
        most = w->workers[i].most > most ? w->workers[i].most : most;
    const bool whole = w->v.number != DM_F64;
    w->width = whole && (double)most * (1 + 1e-6) / w->scale < UINT16_MAX ? TH_16
               : w->v.number == DM_U32                                    ? TH_32
                                                                          : TH_64;
    w->ties = whole && w->scale == 1 && most < 1 << 24;
}

/* The result starts as a copy of the squares. */
static void start_row(const th_work *w, int64_t row) {
    const int64_t n = w->v.length[TH_LAST], first = row * n, size = (int64_t)dm_number_size(w->v.number);
    if (w->width != TH_16) {
        memcpy(w->largest + first * size, w->squares + first * size, (size_t)(n * size));
        return;
    }
    uint16_t *to = (uint16_t *)(void *)w->largest + first;
    for (int64_t x = 0; x < n; x++)
        to[x] = (uint16_t)th_key(w->v.number, w->squares, first + x);
}

static void select_row(const th_work *w, th_worker *own, int64_t row) {
    const int64_t ny = w->v.length[TH_Y], nx = w->v.length[TH_LAST], z = row / ny, y = row % ny;
    th_select s = {.n = nx, .grain = w->grain, .left = own->left, .bits = w->bits + row * w->words};
    float **const lines[LINES] = {&s.under, &s.twice, &s.sum, &s.best, &s.most};
    memcpy(s.w2, w->w2, sizeof s.w2);
    for (int i = 0; i < LINES; i++)
        *lines[i] = own->lines + i * (nx + 2) + 1;
    for (int64_t dz = -1; dz <= 1; dz++)
        for (int64_t dy = -1; dy <= 1; dy++)
            if (z + dz >= 0 && z + dz < w->v.length[TH_Z] && y + dy >= 0 && y + dy < ny)
                s.beside[3 * (dz + 1) + dy + 1] = w->scaled + (row + dz * ny + dy) * nx;
    if (w->filters) {
        w->kernels->select(&s);
        return;
    }
    memset(s.bits, 0, (size_t)w->words * sizeof *s.bits);
    for (int64_t x = 0; x < nx; x++)
        s.bits[x / 64] |= (uint64_t)(s.beside[4][x] > 0) << x % 64;
}

static void select_task(void *arg, size_t index, int id) {
    const th_work *w = arg;
    const int64_t from = (int64_t)index * TASK_ROWS;
    for (int64_t row = from; row < th_smaller(from + TASK_ROWS, w->v.rows); row++) {
        start_row(w, row);
        select_row(w, &w->workers[id], row);
    }
}

/* ---- The row of the table ---- */

static distmap_status run_volume(th_work *w) {
    distmap_plan *plan = w->plan;
    const size_t row_tasks = (size_t)((w->v.rows + TASK_ROWS - 1) / TASK_ROWS);
    const double share = 1.0 / (double)w->v.count;
    w->squares = w->all + w->volume * w->v.elements * (int64_t)dm_number_size(w->v.number);
    const bool none = th_is_none(w->v.number, th_key(w->v.number, w->squares, 0)); /* then all are */
    for (int i = 0; i < plan->context->threads; i++)
        w->workers[i].most = 0;
    dm_phase(plan, "select");
    TRY(dm_parallel(plan, row_tasks, scale_task, w, SELECT_SHARE / 2 * share));
    choose_width(w);
    TRY(dm_parallel(plan, row_tasks, select_task, w, SELECT_SHARE / 2 * share));
    if (none)
        memset(w->bits, 0, (size_t)(w->v.rows * w->words) * sizeof *w->bits);
    dm_phase(plan, "paint");
    return th_paint(w, PAINT_SHARE * share);
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
    for (int i = 0; i < plan->context->threads; i++)
        th_lists_clear(&w.workers[i].lists);
    for (; w.volume < w.v.count; w.volume++)
        TRY(run_volume(&w));
    return DISTMAP_OK;
}

const dm_method dm_thickness_cpu = {
    .info =
        {
            .name = "thickness/cpu",
            .summary = "local thickness: each ball raises what is in it, but for what its larger neighbours hold",
            .source = "Hildebrand and Ruegsegger 1997; docs/notes/operations.md",
            .device = "cpu",
            .exact = true,
            .field = DISTMAP_FIELD_THICKNESS,
        },
    .refuses = refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = prepare,
    .release = op_inner_release,
};
