/* chamfer/cpu: city-block, chessboard and chamfer distances by sweeps, row-first: stages, scratch and threads. The sweeps
 * and why they are exact stand in chamfer_sweep.c, the vector code in the kernel_*.h files.
 *
 *   planes:  R of every row, then down, then up along the fastest slow axis
 *   slabs:   forwards and backwards along each axis slower than that, where measured
 *
 * The classic scan in two passes goes through the image in raster order, where each element waits for the one beside it.
 * Taking each row's own distances first, from a scan that costs little (kernel_start.h), leaves sweeps without any
 * dependency along the row. Linear time, whatever the image: some 30 vector operations for a vector of elements.
 *
 * Sites are carried with their distances. That keeps the tie rule: if s is the nearest site of the lowest index to p, it is
 * so to every element on a shortest walk from s to p, among the sites that the sweep has seen there: any other at the same
 * distance with a lower index would be as near to p, and lower.
 *
 * Memory: 2 bytes per element of a volume (all of a batch) where the largest distance fits, else 4; with sites 8. Buffers
 * for each worker.
 *
 * Source: A. Rosenfeld, J. Pfaltz, "Distance Functions on Digital Pictures", Pattern Recognition 1 (1968), for the two
 * passes; G. Borgefors, "Distance Transformations in Digital Images" (1986), for weights and 5 x 5 masks; X.-J. Zhu, S. J.
 * Shyu, "Efficient Parallel Distance Transform in GPU", section 2, which sets city-block, chessboard, 2-3, 3-4 and 5-7 side
 * by side. (Its scans print b for the axial step and a for the diagonal one, against its own definition, in which a is axial;
 * so does this file.) Row-first sweeps: this project.
 */
#include <string.h>

#include "methods/chamfer/chamfer_sweep.h"

static const ch_rows *const kernels[DM_ISA_COUNT] = {
    [DM_PLAIN] = dm_chamfer_plain,
#if defined(__x86_64__)
    [DM_SSE4] = dm_chamfer_sse4,
    [DM_AVX2] = dm_chamfer_avx2,
    [DM_AVX512] = dm_chamfer_avx512,
#elif defined(__aarch64__)
    [DM_NEON] = dm_chamfer_neon,
#endif
};

static size_t scratch_bytes(const distmap_plan *plan) {
    const ch_layout l = ch_lay_out(plan);
    ch_memory m = {0};
    return ch_walk_scratch(plan, &l, NULL, &m);
}

static const char *refuses(const distmap_plan *plan) {
    const ch_layout l = ch_lay_out(plan);
    if (!l.fits)
        return "needs distances, or a limit, below 2^32 minus the largest step";
    if (plan->wants_site && l.rows * l.width > (int64_t)UINT32_MAX)
        return "needs at most 2^32 - 1 elements in a batch for indices";
    return NULL;
}

/* ---- Constants ---- */

static void put_lane(const ch_layout *l, char *lanes, size_t i, uint64_t value) {
    const uint16_t u16 = (uint16_t)value;
    const uint32_t u32 = (uint32_t)value;
    memcpy(lanes + i * l->lane_size,
           l->lane == CH_U16   ? (void *)&u16
           : l->lane == CH_U32 ? (void *)&u32
                               : &value,
           l->lane_size);
}

static void fill_tables(const ch_job *job) {
    const ch_layout *l = job->layout;
    for (size_t x = 0; x < l->pitch; x++)
        put_lane(l, job->memory.none - CH_PAD * l->lane_size, x, l->cap);
    const uint64_t step = (uint64_t)job->plan->chamfer.step[1] << ch_lane_shift(l->lane);
    for (size_t pattern = 0; pattern < 256; pattern++)
        for (int k = 0; k < CH_GROUP; k++) {
            uint64_t nearest = l->cap;
            for (int site = 0; site < CH_GROUP; site++) {
                const uint64_t lane =
                    step * (uint64_t)(site > k ? site - k : k - site) + (l->lane == CH_KEY ? (uint64_t)site : 0);
                if (pattern >> site & 1 && lane < nearest)
                    nearest = lane;
            }
            put_lane(l, job->memory.near, pattern * CH_GROUP + (size_t)k, nearest);
        }
}

/* ---- Stages ---- */

typedef struct stage {
    const ch_job *job;
    int64_t volume;
    int64_t turn, bands; /* a plane shared: bands of each half, and which of them on its way */
    bool second;
    int axis, back;
    int64_t outer, at; /* slabs */
    bool finish;
} stage;

static char *lanes_of(const ch_job *job, const ch_worker *w) {
    return job->layout->own_volumes ? w->lanes : job->memory.lanes;
}

static void solve_plane(const ch_job *job, ch_worker *w, int64_t volume, int64_t plane) {
    ch_band band = ch_whole(job, volume, plane);
    band.in_place = job->layout->slow_count > 1;
    ch_sweep_first(job, w, lanes_of(job, w), &band);
    band.way = -1;
    ch_sweep_second(job, w, lanes_of(job, w), &band);
}

static void plane_task(void *arg, size_t index, int worker) {
    const stage *s = arg;
    solve_plane(s->job, &s->job->memory.workers[worker], s->volume, (int64_t)index);
}

static void slab_task(void *arg, size_t index, int worker) {
    const stage *s = arg;
    ch_worker *w = &s->job->memory.workers[worker];
    ch_slab_row(s->job, w, lanes_of(s->job, w), s->volume, s->axis, s->outer, s->at, (int64_t)index, s->back,
                s->finish);
}

static void ends_task(void *arg, size_t index, int worker) {
    const stage *s = arg;
    ch_find_ends(s->job, &s->job->memory.workers[worker], s->volume, (int64_t)index);
}

static void strip_task(void *arg, size_t index, int worker) {
    const stage *s = arg;
    const ch_job *job = s->job;
    const ch_layout *l = job->layout;
    const int64_t half = (int64_t)index / l->strips, strip = (int64_t)index % l->strips;
    const int64_t top = half * l->rows / l->halves, rows = (half + 1) * l->rows / l->halves - top;
    const bool down = (half == 0) != s->second;
    const int64_t number = down ? s->turn : s->bands - 1 - s->turn;
    ch_band band = ch_whole(job, s->volume, 0);
    band.first = top + rows * number / s->bands;
    band.end = top + rows * (number + 1) / s->bands;
    band.way = down ? 1 : -1;
    if (l->strips > 1) {
        band.strip = (int)strip;
        band.columns = ch_strip(l, strip);
    }
    if (s->second && s->turn > 0)
        band.beyond = job->memory.carry[half][s->turn % 2];
    if (s->second && s->turn + 1 < s->bands)
        band.leave = job->memory.carry[half][(s->turn + 1) % 2];
    (s->second ? ch_sweep_second : ch_sweep_first)(job, &job->memory.workers[worker], job->memory.lanes, &band);
}

/* ---- A volume by all workers ---- */

/* A plane alone, by halves and strips. Bands of the halves have more than two rows each, unless they have one band. */
static distmap_status share_plane(stage *s, double share) {
    const ch_layout *l = s->job->layout;
    distmap_plan *plan = s->job->plan;
    const int64_t highest = (l->rows + l->halves - 1) / l->halves;
    s->bands = l->strips > 1 ? (highest + CH_BAND - 1) / CH_BAND : 1;
    dm_phase(plan, "ends");
    if (l->strips > 1)
        TRY(dm_parallel(plan, (size_t)l->rows, ends_task, s, 0.1 * share));
    for (int64_t turn = 0; turn < 2 * s->bands; turn++) {
        s->second = turn >= s->bands;
        s->turn = turn % s->bands;
        dm_phase(plan, s->second ? "second way" : "first way");
        TRY(dm_parallel(plan, (size_t)(l->halves * l->strips), strip_task, s, 0.9 * share / (double)(2 * s->bands)));
    }
    return DISTMAP_OK;
}

/* All rows of one slab, by all workers or by this one. */
static distmap_status slab(stage *s, int64_t rows, ch_worker *own, double share) {
    if (!own)
        return dm_parallel(s->job->plan, (size_t)rows, slab_task, s, share);
    for (int64_t row = 0; row < rows; row++)
        slab_task(s, (size_t)row, (int)(own - s->job->memory.workers));
    return DISTMAP_OK;
}

/* Slow axis after slow axis; the last one's way back gives the rows out. */
static distmap_status slabs(stage *s, ch_worker *own, double share) {
    const ch_layout *l = s->job->layout;
    const int64_t *shape = s->job->plan->shape;
    int64_t inner = shape[l->slow[0]];
    for (s->axis = 1; s->axis < l->slow_count; s->axis++) {
        const int64_t n = shape[l->slow[s->axis]], outer = l->rows / (inner * n);
        const bool last = s->axis == l->slow_count - 1;
        const double each = share / (double)((l->slow_count - 1) * 2 * n * outer);
        for (s->outer = 0; s->outer < outer; s->outer++)
            for (int64_t turn = 1; turn < 2 * n; turn++) {
                s->at = turn < n ? turn : 2 * n - 1 - turn;
                s->back = turn < n ? -1 : turn == n ? 0 : 1;
                s->finish = last && turn >= n;
                TRY(slab(s, inner, own, each));
            }
        inner *= n;
    }
    return DISTMAP_OK;
}

static distmap_status share_volume(stage *s, double share) {
    const ch_layout *l = s->job->layout;
    if (l->slow_count == 1)
        return share_plane(s, share);
    const size_t planes = (size_t)(l->rows / s->job->plan->shape[l->slow[0]]);
    dm_phase(s->job->plan, "planes");
    TRY(dm_parallel(s->job->plan, planes, plane_task, s, 0.5 * share));
    dm_phase(s->job->plan, "slabs");
    return slabs(s, NULL, 0.5 * share);
}

/* ---- A volume by one worker ---- */

static void volume_task(void *arg, size_t index, int worker) {
    const stage *shared = arg;
    const ch_job *job = shared->job;
    const ch_layout *l = job->layout;
    ch_worker *w = &job->memory.workers[worker];
    if (l->slow_count == 0) {
        const ch_columns whole = {0, l->width, 0, l->width};
        ch_begin(job, w, (int64_t)index, 0, &whole, NULL, w->ring[0]);
        ch_finish(job, w, (int64_t)index, 0, 0, l->width, w->ring[0]);
        return;
    }
    const int64_t planes = l->rows / job->plan->shape[l->slow[0]];
    for (int64_t plane = 0; plane < planes; plane++)
        solve_plane(job, w, (int64_t)index, plane);
    stage own = {.job = job, .volume = (int64_t)index};
    slabs(&own, w, 0);
}

static bool lies_together(const ch_layout *l, const dm_array *array) {
    return array->stride[DM_X] == (int64_t)distmap_dtype_size(array->dtype) || l->width == 1;
}

static bool is_quick(const distmap_plan *plan, const dm_arrays *arrays, const ch_layout *l) {
    const distmap_outputs *want = &plan->problem.want;
    if (want->distance != DISTMAP_FLOAT32 || plan->wants_mask || plan->problem.border ||
        !lies_together(l, &arrays->distance))
        return false;
    return !plan->wants_site || (want->index == DISTMAP_INT64 && !want->coords && !want->label &&
                                 !arrays->payload.data && l->volumes == 1 && lies_together(l, &arrays->index));
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    const ch_layout l = ch_lay_out(plan);
    ch_job job = {
        .plan = plan,
        .arrays = arrays,
        .rows = &kernels[plan->context->isa][l.lane],
        .layout = &l,
        .quick = is_quick(plan, arrays, &l),
        .stream = plan->elements > 1 << 21,
    };
    ch_walk_scratch(plan, &l, plan->scratch, &job.memory);
    fill_tables(&job);
    stage s = {.job = &job};
    if (l.own_volumes)
        return dm_parallel(plan, (size_t)l.volumes, volume_task, &s, 1.0);
    for (s.volume = 0; s.volume < l.volumes; s.volume++)
        TRY(share_volume(&s, 1.0 / (double)l.volumes));
    return DISTMAP_OK;
}

const dm_method dm_chamfer_cpu = {
    .info =
        {
            .name = "chamfer/cpu",
            .summary =
                "city-block, chessboard and chamfer distances: row scans, then sweeps down and up, in 16-bit lanes",
            .source = "Rosenfeld and Pfaltz 1968; Borgefors 1986; row-first sweeps: this project",
            .device = "cpu",
            .exact = true,
            .metrics = DM_STEP_METRICS,
        },
    .refuses = refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
