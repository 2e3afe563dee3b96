/* minplus/cpu, the production method on the CPU: the problems that it accepts, its stages and threads. minplus.h and the kernel_*.h files
 * describe the algorithm, minplus_layout.c the scratch, minplus_job.c the set-up of an execution.
 *
 *   planes:  every (y, x) plane: bits and carries, then near and far searches along its rows
 *   z, t:    a slow pass each, where measured
 *
 * or, for a function sampled along one axis, a slow pass alone.
 *
 * The last stage writes the outputs. Before it, squared distances are stored in the memory of an output (of any 4- or 8-byte type), or
 * in scratch if there is none; sites likewise. The rest of the scratch is bits and carries,
 * 3/16 byte per pixel of the planes in work, and buffers per thread.
 *
 * The order x, y inside the plane stage, then z, t, with ties resolved to the lowest index in each, gives the lowest
 * linear index overall.
 */
#include <math.h>
#include <stdint.h>

#include "methods/minplus/minplus_job.h"
#include "methods/minplus/minplus_real.h"

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

static const char *refuses_lanes(const distmap_plan *plan);

static size_t scratch_bytes(const distmap_plan *plan) {
    if (refuses_lanes(plan))
        return mp_real_scratch_bytes(plan);
    const mp_layout l = mp_lay_out(plan);
    mp_scratch s = {0};
    return mp_walk_scratch(plan, &l, NULL, &s);
}

/* ---- What it accepts ---- */

/* Labels and signed maps: 16-bit counters along every axis, and no sites. */
static const char *refuses_kinds(const distmap_plan *plan) {
    if (plan->wants_site)
        return "needs outputs without sites where the input is labels or the map is signed";
    for (int a = 0; a < DM_NDIM; a++)
        if (dm_axis_counts(plan, a) && plan->shape[a] > MP_NO_COLUMN)
            return "needs axes of at most 65,535 elements where the input is labels or the map is signed";
    if (mp_largest_squared(plan) >= MP_NONE)
        return "needs squared distances below 2^31 - 1 where the input is labels or the map is signed";
    return NULL;
}

/* Functions along one axis: a single slow pass, with values that a limit keeps below 2^31. */
static const char *refuses_functions(const distmap_plan *plan) {
    const int axis = mp_function_axis(plan);
    if (plan->problem.dtype != DISTMAP_UINT32 || axis < 0)
        return "needs a mask, labels, or samples in uint32 along one axis that is not the last";
    if (!plan->limited || (double)plan->limit2 + mp_largest_squared(plan) >= MP_NONE)
        return "needs a limit where the input is sampled, and with it squared distances below 2^31 - 1";
    if (plan->w2[axis] > 1 << 24)
        return "needs pitches of at most 4096 times their unit";
    if (plan->wants_site && plan->elements >= (int64_t)UINT32_MAX)
        return "needs fewer than 2^32 - 1 elements for indices";
    return NULL;
}

/* Integer lanes of 16 and 32 bits take most problems; FP64 lanes take the others. */
static const char *refuses_lanes(const distmap_plan *plan) {
    if (mp_real_planes(plan))
        return NULL;
    if (plan->number == DM_F64)
        return "needs pitches that are whole multiples of a unit";
    if (plan->problem.input == DISTMAP_INPUT_SAMPLED)
        return refuses_functions(plan);
    if (!plan->measured[DM_X] || plan->shape[DM_X] == 1)
        return "needs the last axis among the measured ones, and longer than 1";
    for (int a = 0; a < DM_NDIM; a++) {
        if (dm_axis_counts(plan, a) && plan->w2[a] > 1 << 24)
            return "needs pitches of at most 4096 times their unit";
        if (plan->shape[a] > 1 << 24 && plan->measured[a])
            return "needs axes of at most 2^24 elements";
    }
    if (plan->measured[2] && plan->rows > 2 * MP_NO_COLUMN)
        return "needs at most 131,070 rows in a plane";
    if (dm_by_kind(plan))
        return refuses_kinds(plan);
    const double most = mp_largest_squared(plan);
    if (most >= 0x1p43)
        return "needs squared distances below 2^43";
    if ((plan->wants_site || most >= MP_NONE || (plan->measured[2] && plan->rows > MP_NO_COLUMN)) &&
        dm_image_elements(plan) >= (int64_t)UINT32_MAX)
        return "needs fewer than 2^32 - 1 elements for indices, or for squared distances beyond 2^31";
    return NULL;
}

static const char *refuses(const distmap_plan *plan) { return refuses_lanes(plan) ? mp_real_refuses(plan) : NULL; }

/* ---- Stages ---- */

typedef struct stage {
    const mp_job *job;
    const mp_kernels *kernels;
    const mp_layout *layout;
    mp_plane plane;
    /* Slow pass. */
    mp_pass pass;
    int64_t tiles; /* per inner run */
} stage;

static uint16_t saturate_key(uint64_t v) {
    return (uint16_t)((v < MP_SLOW_KEY_MOST ? v : MP_SLOW_KEY_MOST) << MP_SLOW_KEY);
}

static mp_plane plane_at(const stage *s, int64_t index, const mp_worker *memory) {
    const int64_t *shape = s->job->plan->shape;
    mp_plane plane = {
        .bits = memory->bits,
        .turns = memory->turns,
        .ground = memory->ground,
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

/* Whether the plane has a site; stored in job->alive. Without job->alive every plane is solved. */
static bool find_alive(const mp_job *job, const mp_plane *plane, int64_t index) {
    if (!job->alive)
        return true;
    const size_t words = (size_t)job->height * job->words;
    size_t i = 0;
    while (i < words && !plane->bits[i])
        i++;
    job->alive[index] = i < words;
    return i < words;
}

static void own_plane_task(void *arg, size_t index, int worker) {
    const stage *s = arg;
    mp_worker *w = &s->job->workers[worker];
    const mp_plane plane = plane_at(s, (int64_t)index, w);
    for (int64_t b = 0; b < s->job->blocks; b++)
        s->kernels->pack_block(s->job, &plane, b, w);
    if (!find_alive(s->job, &plane, (int64_t)index))
        return;
    mp_window_enter(s->job, &plane);
    s->kernels->carry(s->job, &plane, 0, s->job->padded_width);
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
    s->kernels->carry(s->job, &s->plane, first, end < s->job->padded_width ? end : s->job->padded_width);
}

static void solve_task(void *arg, size_t block, int worker) {
    const stage *s = arg;
    s->kernels->solve_block(s->job, &s->plane, (int64_t)block, &s->job->workers[worker]);
}

static distmap_status run_planes(stage *s, const mp_worker *shared, double share) {
    const mp_layout *l = s->layout;
    distmap_plan *plan = s->job->plan;
    if (l->own_planes) {
        dm_phase(plan, "planes");
        return dm_parallel(plan, (size_t)l->planes, own_plane_task, s, share);
    }
    const double each = share / (double)l->planes;
    for (int64_t i = 0; i < l->planes; i++) {
        s->plane = plane_at(s, i, shared);
        dm_phase(plan, "pack");
        TRY(dm_parallel(plan, (size_t)l->blocks, pack_task, s, 0.2 * each));
        const bool alive = find_alive(s->job, &s->plane, i);
        dm_phase(plan, "carry");
        mp_window_enter(s->job, &s->plane);
        const size_t parts = (l->padded_width + CARRY_COLUMNS - 1) / CARRY_COLUMNS;
        TRY(dm_parallel(plan, alive ? parts : 0, carry_task, s, 0.0));
        dm_phase(plan, "near and far");
        TRY(dm_parallel(plan, alive ? (size_t)l->blocks : 0, solve_task, s, 0.8 * each));
    }
    return DISTMAP_OK;
}

static void slow_task(void *arg, size_t index, int worker) {
    const stage *s = arg;
    const mp_job *job = s->job;
    const int64_t first = (int64_t)index % s->tiles * s->pass.columns;
    const int64_t left = s->pass.inner - first;
    int64_t at[DM_NDIM] = {0}, run = (int64_t)index / s->tiles;
    /* The position of the run of lines: the axes that are neither the pass's nor in the inner run. */
    const bool merged = s->pass.inner == job->plan->linear[s->pass.axis];
    for (int a = (merged ? s->pass.axis : DM_X) - 1; a >= 0; a--)
        if (a != s->pass.axis) {
            at[a] = run % job->plan->shape[a];
            run /= job->plan->shape[a];
        }
    const int count = left < s->pass.columns ? (int)left : s->pass.columns;
    mp_worker *w = &job->workers[worker];
    if (job->ball.on)
        s->kernels->ball_tile(job, &s->pass, at, first, count, w);
    else
        s->kernels->slow_tile(job, &s->pass, at, first, count, w);
}

static distmap_status run_slow(stage *s, int axis, bool last, bool merge, double share) {
    const distmap_plan *plan = s->job->plan;
    s->pass = (mp_pass){
        .axis = axis,
        .n = plan->shape[axis],
        .w2 = (int32_t)plan->w2[axis],
        .inner = merge ? plan->linear[axis] : plan->shape[DM_X],
        .columns = mp_slow_columns(plan, axis),
        .near = s->job->real ? 0 : (uint16_t)sqrt(0xFFFE / (double)plan->w2[axis]),
        .last = last,
        .alive = axis == 1 ? s->job->alive : NULL,
    };
    for (int k = 0; k <= MP_SLOW; k++)
        s->pass.cost[k] = mp_saturate16(plan->w2[axis] * (uint64_t)(k * k));
    for (int k = 0; k < MP_SLOW_KEY_STEPS + 2; k++)
        s->pass.key_cost[k] = saturate_key(plan->w2[axis] * (uint64_t)(k * k));
    s->tiles = (s->pass.inner + s->pass.columns - 1) / s->pass.columns;
    dm_phase(s->job->plan, dm_axis_names[axis]);
    const int64_t runs = plan->elements / (s->pass.n * s->pass.inner);
    return dm_parallel(s->job->plan, (size_t)(runs * s->tiles), slow_task, s, share);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    if (refuses_lanes(plan))
        return mp_real_run(plan, arrays, kernels[plan->context->isa]);
    const mp_layout l = mp_lay_out(plan);
    if (mp_self_alone(plan, &l.ball))
        return mp_self_run(plan, arrays);
    mp_scratch memory = {0};
    mp_walk_scratch(plan, &l, plan->scratch, &memory);
    mp_job job;
    const bool merge = mp_job_set_up(&job, plan, arrays, &l, &memory);
    stage s = {.job = &job, .kernels = kernels[plan->context->isa], .layout = &l};
    if (job.function)
        return run_slow(&s, l.function, true, merge, 1.0);
    const bool z = dm_axis_counts(plan, 1), t = dm_axis_counts(plan, 0);
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
            .summary =
                "bounded min-plus searches: bit-packed columns, 16-bit lanes and a monotone search beyond; FP64 lanes",
            .source = "this project; docs/internals.md",
            .device = "cpu",
            .exact = true,
        },
    .refuses = refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
    .windows = true,
};
