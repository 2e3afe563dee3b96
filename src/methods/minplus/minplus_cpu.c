/* minplus/cpu, the production method on the CPU: stages, scratch and threads. What is computed stands in minplus.h and in
 * the kernel_*.h files.
 *
 *   planes:  every (y, x) plane: bits and carries, then near and far searches along its rows
 *   z, t:    a slow pass each, where measured
 *
 * The last stage writes the outputs; before it, squared distances rest in an output's own memory (any 4- or 8-byte one
 * will do) and only where there is none in scratch; the sites likewise. Beyond that the scratch is the bits and carries,
 * 3/16 byte per pixel of the planes in work, and buffers per thread.
 *
 * The order x, y inside the plane stage, then z, t, with ties resolved to the lowest index in each, gives the lowest
 * linear index overall.
 */
#include <math.h>
#include <stdint.h>

#include "methods/minplus/minplus.h"

static const mp_kernels *const kernels[DM_ISA_COUNT] = {
    [DM_PLAIN] = &dm_minplus_plain,
#if defined(__x86_64__)
    [DM_SSE4] = &dm_minplus_sse4,
    [DM_AVX2] = &dm_minplus_avx2,
    [DM_AVX512] = &dm_minplus_avx512,
#elif defined(__aarch64__)
    [DM_NEON] = &dm_minplus_neon,
#endif
};

enum { SLACK = 64, SMALL_PLANE = 1 << 22 };

static int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- The shape of the work ---- */

typedef struct layout {
    int64_t width, height; /* of a plane */
    size_t words, wide;
    int64_t blocks, planes;
    bool rows_only;   /* y is a batch axis: planes are single rows */
    bool own_planes;  /* each worker solves whole planes by itself */
    int tile_rows;
    int64_t longest;  /* of the slow axes */
    int columns;      /* of a slow tile */
    bool slow;
    bool d2_scratch, site_scratch;
    bool wide_numbers, tall; /* see mp_job */
} layout;

static bool slow_axis(const distmap_plan *plan, int axis) { return plan->measured[axis] && plan->shape[axis] > 1; }

static int slow_columns(int64_t n) {
    const int64_t columns = (1 << 16) / n / 64 * 64;
    return columns < 64 ? 64 : columns > 1024 ? 1024 : (int)columns;
}

/* Of the measured axes; infinite where it leaves FP64's exact integers by far. */
static double largest_squared(const distmap_plan *plan) {
    double most = 0;
    for (int a = 0; a < DM_NDIM; a++)
        most += (double)plan->w2[a] * (double)(plan->shape[a] - 1) * (double)(plan->shape[a] - 1);
    return most;
}

static layout lay_out(const distmap_plan *plan) {
    layout l = {.width = plan->shape[3]};
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
        if (slow_axis(plan, a)) {
            l.slow = true;
            l.longest = max64(l.longest, plan->shape[a]);
            const int columns = slow_columns(plan->shape[a]);
            l.columns = columns > l.columns ? columns : l.columns;
        }
    const distmap_outputs *want = &plan->problem.want;
    l.tall = l.height > MP_FAR16;
    l.wide_numbers = l.tall || largest_squared(plan) >= MP_NONE;
    const bool output = want->distance || want->squared;
    l.d2_scratch = l.slow && !l.wide_numbers && !output;
    l.site_scratch = l.slow && !want->index && (l.wide_numbers ? !output : plan->wants_site);
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

static void take_plane(bump *b, const layout *l, mp_worker *w) {
    w->bits = take(b, l->height * (int64_t)l->words, 8);
    w->up = take(b, l->blocks * (int64_t)l->wide, 2);
    w->down = take(b, l->blocks * (int64_t)l->wide, 2);
    w->first_site = take(b, l->tall ? (int64_t)l->wide : 0, 4);
    w->last_site = take(b, l->tall ? (int64_t)l->wide : 0, 4);
}

static void take_worker(bump *b, const distmap_plan *plan, const layout *l, mp_worker *w) {
    const int64_t wide = (int64_t)l->wide, line = round_up(l->longest, 64) + 64;
    const int64_t row = max64(max64(wide, line), l->columns) + SLACK;
    w->below = take(b, l->tile_rows * wide, 2);
    w->boundary = take(b, MP_BLOCK / l->tile_rows * wide, 2);
    w->above = take(b, wide, 2);
    w->padded = take(b, wide + 2 * MP_PAD, 2);
    w->d2 = take(b, row, 4);
    w->found = take(b, row, 4);
    w->squared = take(b, row, 4);
    w->site = take(b, row, 8);
    w->open = take(b, wide / 64, 1);
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
        if (slow_axis(plan, a))
            tile = max64(tile, (plan->shape[a] + 1) * slow_columns(plan->shape[a]));
    w->tile = take(b, tile, 2);
    w->tile_d2 = take(b, tile + SLACK, 4);
    w->line = take(b, 32 * line, 4);
    w->line_d2 = take(b, 32 * line + SLACK, 4);
    w->line_arg = take(b, 32 * line + SLACK, 4);
    if (plan->wants_site || l->wide_numbers) {
        w->tile_site = take(b, tile + SLACK, 4);
        w->tile_found = take(b, tile + SLACK, 4);
    }
}

typedef struct scratch {
    mp_worker *workers;
    mp_worker shared; /* bits and carries of the plane that all workers share */
    void *d2, *site;
} scratch;

static size_t walk_scratch(const distmap_plan *plan, const layout *l, void *base, scratch *s) {
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

static size_t scratch_bytes(const distmap_plan *plan) {
    const layout l = lay_out(plan);
    scratch s = {0};
    return walk_scratch(plan, &l, NULL, &s);
}

/* ---- What it accepts ---- */

static const char *refuses(const distmap_plan *plan) {
    if (plan->problem.input != DISTMAP_INPUT_MASK)
        return "needs a mask input";
    if (plan->number == DM_F64)
        return "needs integer spacing";
    if (!plan->measured[DM_X] || plan->shape[DM_X] == 1)
        return "needs the last axis among the measured ones, and longer than 1";
    for (int a = 0; a < DM_NDIM; a++) {
        if (plan->measured[a] && plan->shape[a] > 1 && plan->w2[a] > 1 << 24)
            return "needs a spacing of at most 4096";
        if (plan->shape[a] > 1 << 24 && plan->measured[a])
            return "needs axes of at most 2^24 elements";
    }
    if (plan->measured[2] && plan->shape[2] > 2 * MP_FAR16)
        return "needs at most 131,070 rows in a plane";
    const double most = largest_squared(plan);
    if (most >= 0x1p43)
        return "needs squared distances below 2^43";
    if ((plan->wants_site || most >= MP_NONE || (plan->measured[2] && plan->shape[2] > MP_FAR16)) && plan->elements >= (int64_t)UINT32_MAX)
        return "needs fewer than 2^32 - 1 elements for indices, or for squared distances beyond 2^31";
    return NULL;
}

/* ---- The job ---- */

static bool contiguous(const int64_t stride[DM_NDIM], const distmap_plan *plan, int64_t size) {
    for (int a = 0; a < DM_NDIM; a++)
        if (plan->shape[a] > 1 && stride[a] != plan->linear[a] * size)
            return false;
    return true;
}

static mp_store output_store(const dm_array *a) {
    mp_store store = {.data = a->data};
    for (int i = 0; i < DM_NDIM; i++)
        store.stride[i] = a->stride[i];
    return store;
}

static mp_store scratch_store(void *memory, const distmap_plan *plan) {
    mp_store store = {.data = memory};
    for (int i = 0; i < DM_NDIM; i++)
        store.stride[i] = plan->linear[i] * 4;
    return store;
}

static uint16_t saturate16(uint64_t v) { return v < 0xFFFF ? (uint16_t)v : 0xFFFF; }

static void set_arithmetic(mp_job *job) {
    const distmap_plan *plan = job->plan;
    job->wx2 = (int32_t)plan->w2[3];
    job->wy2 = plan->measured[2] && plan->shape[2] > 1 ? (int32_t)plan->w2[2] : 1;
    job->most = plan->limited && plan->limit2 < MP_NONE - 1 ? (int32_t)plan->limit2 : MP_NONE - 1;
    job->cap16 = saturate16((uint64_t)job->most + 1);
    const int most = job->sites ? 0x7FFE : 0xFFFE;
    job->near_y = (uint16_t)sqrt(most / job->wy2);
    job->near_cap = job->sites ? 0xFFFF : job->cap16;
    for (int k = 0; k < MP_NEAR + 2; k++) {
        const uint64_t cost = (uint64_t)job->wx2 * (uint64_t)(k * k);
        job->near_cost[k] = saturate16(job->sites ? 2 * cost : cost);
        if (k <= MP_NEAR && cost <= (uint64_t)most)
            job->near_steps = k;
    }
    job->near_most = job->near_cost[job->near_steps];
    for (size_t i = 0; i < MP_BLOCK; i++)
        job->edge[i] = job->wide - MP_BLOCK + i < (size_t)job->width ? 0xFFFF : 0;
}

static void set_outputs(mp_job *job) {
    const distmap_plan *plan = job->plan;
    const dm_arrays *out = job->arrays;
    const distmap_outputs *want = &plan->problem.want;
    const bool plain_distance = !want->distance || (want->distance == DISTMAP_FLOAT32 && out->distance.stride[DM_X] == 4);
    const bool plain_index =
        !want->index || out->index.stride[DM_X] == (int64_t)distmap_dtype_size(want->index);
    job->emit_general = plan->problem.border || want->squared || want->coords || want->label || !plain_distance || !plain_index;
    job->stream = plan->elements > 1 << 21;
}

/* ---- Stages ---- */

typedef struct stage {
    const mp_job *job;
    const mp_kernels *kernels;
    const layout *layout;
    mp_plane plane;
    /* Slow pass. */
    mp_pass pass;
    int64_t tiles; /* per inner run */
} stage;

static mp_plane plane_at(const stage *s, int64_t index, const mp_worker *memory) {
    const int64_t *shape = s->job->plan->shape;
    mp_plane plane = {
        .bits = memory->bits,
        .up = memory->up,
        .down = memory->down,
        .first_site = memory->first_site,
        .last_site = memory->last_site,
    };
    if (s->layout->rows_only) {
        plane.y = index % shape[2];
        index /= shape[2];
    }
    plane.z = index % shape[1];
    plane.t = index / shape[1];
    return plane;
}

static void own_plane_task(void *arg, size_t index, int worker) {
    const stage *s = arg;
    mp_worker *w = &s->job->workers[worker];
    const mp_plane plane = plane_at(s, (int64_t)index, w);
    for (int64_t b = 0; b < s->job->blocks; b++)
        s->kernels->pack_block(s->job, &plane, b, w);
    s->kernels->carry(s->job, &plane, 0, s->job->wide);
    for (int64_t b = 0; b < s->job->blocks; b++)
        s->kernels->solve_block(s->job, &plane, b, w);
}

static void pack_task(void *arg, size_t block, int worker) {
    const stage *s = arg;
    s->kernels->pack_block(s->job, &s->plane, (int64_t)block, &s->job->workers[worker]);
}

enum { CARRY_COLUMNS = 512 };

static void carry_task(void *arg, size_t part, int worker) {
    (void)worker;
    const stage *s = arg;
    const size_t first = part * CARRY_COLUMNS, end = first + CARRY_COLUMNS;
    s->kernels->carry(s->job, &s->plane, first, end < s->job->wide ? end : s->job->wide);
}

static void solve_task(void *arg, size_t block, int worker) {
    const stage *s = arg;
    s->kernels->solve_block(s->job, &s->plane, (int64_t)block, &s->job->workers[worker]);
}

static distmap_status run_planes(stage *s, const mp_worker *shared, double share) {
    const layout *l = s->layout;
    distmap_plan *plan = s->job->plan;
    if (l->own_planes)
        return dm_parallel(plan, (size_t)l->planes, own_plane_task, s, share);
    const double each = share / (double)l->planes;
    for (int64_t i = 0; i < l->planes; i++) {
        s->plane = plane_at(s, i, shared);
        TRY(dm_parallel(plan, (size_t)l->blocks, pack_task, s, 0.2 * each));
        TRY(dm_parallel(plan, (l->wide + CARRY_COLUMNS - 1) / CARRY_COLUMNS, carry_task, s, 0.0));
        TRY(dm_parallel(plan, (size_t)l->blocks, solve_task, s, 0.8 * each));
    }
    return DISTMAP_OK;
}

static void slow_task(void *arg, size_t index, int worker) {
    const stage *s = arg;
    const mp_job *job = s->job;
    const int64_t first = (int64_t)index % s->tiles * s->pass.columns;
    const int64_t left = s->pass.inner - first;
    int64_t at[DM_NDIM] = {0}, run = (int64_t)index / s->tiles;
    /* Which run of lines: the axes that are neither the pass's nor inside the inner run. */
    const bool merged = s->pass.inner == job->plan->linear[s->pass.axis];
    for (int a = (merged ? s->pass.axis : DM_X) - 1; a >= 0; a--)
        if (a != s->pass.axis) {
            at[a] = run % job->plan->shape[a];
            run /= job->plan->shape[a];
        }
    s->kernels->slow_tile(job, &s->pass, at, first, left < s->pass.columns ? (int)left : s->pass.columns,
                          &job->workers[worker]);
}

static distmap_status run_slow(stage *s, int axis, bool last, bool merge, double share) {
    const distmap_plan *plan = s->job->plan;
    s->pass = (mp_pass){
        .axis = axis,
        .n = plan->shape[axis],
        .w2 = (int32_t)plan->w2[axis],
        .inner = merge ? plan->linear[axis] : plan->shape[DM_X],
        .columns = slow_columns(plan->shape[axis]),
        .last = last,
    };
    for (int k = 0; k < MP_SLOW; k++)
        s->pass.cost[k] = saturate16(plan->w2[axis] * (uint64_t)(k * k));
    s->tiles = (s->pass.inner + s->pass.columns - 1) / s->pass.columns;
    const int64_t runs = plan->elements / (s->pass.n * s->pass.inner);
    return dm_parallel(s->job->plan, (size_t)(runs * s->tiles), slow_task, s, share);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    const layout l = lay_out(plan);
    scratch memory = {0};
    walk_scratch(plan, &l, plan->scratch, &memory);
    mp_job job = {
        .plan = plan,
        .arrays = arrays,
        .width = l.width,
        .height = l.height,
        .words = l.words,
        .wide = l.wide,
        .tile_rows = l.tile_rows,
        .blocks = l.blocks,
        .sites = plan->wants_site || l.wide_numbers,
        .wide_numbers = l.wide_numbers,
        .tall = l.tall,
        .last_is_plane = !l.slow,
        .workers = memory.workers,
    };
    set_arithmetic(&job);
    set_outputs(&job);
    bool merge = !job.emit_general && !l.wide_numbers;
    if (l.slow) {
        const dm_array *d2_output = arrays->distance.data ? &arrays->distance : &arrays->squared;
        const dm_array *site_output = arrays->index.data ? &arrays->index : d2_output;
        if (!l.wide_numbers) {
            job.d2_store = l.d2_scratch ? scratch_store(memory.d2, plan) : output_store(d2_output);
            merge = merge && contiguous(job.d2_store.stride, plan, 4);
        }
        if (job.sites) {
            job.site_store = l.site_scratch ? scratch_store(memory.site, plan) : output_store(site_output);
            merge = merge && contiguous(job.site_store.stride, plan, 4);
        }
    }
    for (int i = 0; i < plan->context->threads; i++)
        for (size_t x = 0; x < MP_PAD; x++) {
            mp_worker *w = &job.workers[i];
            w->padded[x] = w->padded[MP_PAD + l.wide + x] = 0xFFFF;
        }

    stage s = {.job = &job, .kernels = kernels[plan->context->isa], .layout = &l};
    const bool z = slow_axis(plan, 1), t = slow_axis(plan, 0);
    const double slow_share = z && t ? 0.3 : 0.4;
    TRY(run_planes(&s, &memory.shared, 1.0 - slow_share * (z + t)));
    if (z)
        TRY(run_slow(&s, 1, !t, merge, slow_share));
    if (t)
        TRY(run_slow(&s, 0, true, merge, slow_share));
    return DISTMAP_OK;
}

const dm_method dm_minplus_cpu = {
    .info =
        {
            .name = "minplus/cpu",
            .summary = "bit-packed columns, then bounded min-plus searches in 16-bit lanes and a monotone search beyond",
            .source = "this project; docs/internals.md",
            .device = "cpu",
            .exact = true,
        },
    .refuses = refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
