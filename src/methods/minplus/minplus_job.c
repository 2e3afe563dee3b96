/* The set-up of an execution of minplus/cpu: the job with its tables of costs, the stores between stages, and the padding
 * of the workers' rows. */
#include "methods/minplus/minplus_job.h"

#include <float.h>
#include <math.h>
#include <string.h>

static bool contiguous(const int64_t stride[DM_NDIM], const distmap_plan *plan, int64_t size) {
    for (int a = 0; a < DM_NDIM; a++)
        if (plan->shape[a] > 1 && stride[a] != plan->linear[a] * size)
            return false;
    return true;
}

static bool array_contiguous(const dm_array *a, const distmap_plan *plan) {
    return !a->data || contiguous(a->stride, plan, (int64_t)distmap_dtype_size(a->dtype));
}

static mp_store array_store(const dm_array *a) {
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

/* Planes of volumes are solved with the smallest whole pitches of the same ratio: 1, 1 for 40, 13, 13. So 16 bits hold longer
 * distances. */
static void set_pitches(mp_job *job) {
    const distmap_plan *plan = job->plan;
    if (job->real) {
        job->wx2 = job->wy2 = job->factor = 1;
        return;
    }
    job->wx2 = dm_axis_counts(plan, 3) ? (int32_t)plan->w2[3] : 1;
    job->wy2 = dm_axis_counts(plan, 2) ? (int32_t)plan->w2[2] : 1;
    const bool through = job->last_is_plane || job->ball.on || job->needs_64_bits || job->function;
    const uint64_t wx2 = (uint64_t)job->wx2, wy2 = dm_axis_counts(plan, 2) ? (uint64_t)job->wy2 : 0;
    job->factor = through ? 1 : (int32_t)dm_common_divisor(wx2, wy2);
    job->wx2 /= job->factor;
    job->wy2 /= dm_axis_counts(plan, 2) ? job->factor : 1;
}

static void set_arithmetic(mp_job *job) {
    const distmap_plan *plan = job->plan;
    set_pitches(job);
    job->most = plan->limited && plan->limit2 < MP_NONE - 1 ? (int32_t)plan->limit2 : MP_NONE - 1;
    job->plane_most = job->most < MP_NONE - 1 ? job->most / job->factor : MP_NONE - 1;
    job->cap16 = mp_saturate16((uint64_t)job->most + 1);
    const int most = job->sites ? 0x7FFE : 0xFFFE;
    job->near_y = (uint16_t)sqrt(most / job->wy2);
    job->near_x = (uint16_t)sqrt(most / job->wx2);
    job->near_cap = job->sites ? 0xFFFF : mp_saturate16((uint64_t)job->plane_most + 1);
    for (int k = 0; k < MP_NEAR + 2; k++) {
        const uint64_t cost = (uint64_t)job->wx2 * (uint64_t)(k * k);
        job->near_cost[k] = mp_saturate16(job->sites ? 2 * cost : cost);
        if (k <= MP_NEAR && cost <= (uint64_t)most)
            job->near_steps = k;
    }
    job->key_y = (uint16_t)sqrt(MP_KEY_MOST / job->wy2);
    for (int k = 0; k < MP_KEY_STEPS + 2; k++) {
        const uint64_t cost = (uint64_t)job->wx2 * (uint64_t)(k * k);
        job->key_cost[k] = mp_saturate16(cost << MP_KEY);
        if (k <= MP_KEY_STEPS && cost <= MP_KEY_MOST)
            job->key_steps = k;
    }
    job->near_most = job->near_cost[job->near_steps];
    for (size_t i = 0; i < MP_BLOCK; i++)
        job->edge[i] = job->padded_width - MP_BLOCK + i < (size_t)job->width ? 0xFFFF : 0;
}

static void set_real(mp_job *job) {
    const distmap_plan *plan = job->plan;
    job->real_limit = plan->limited ? fmin(plan->limit2f, DBL_MAX) : DBL_MAX;
    job->real_most = nextafter(job->real_limit, (double)INFINITY);
    for (int k = 0; k < MP_REAL_STEPS + 2; k++) {
        job->real_square[k] = (double)(k * k);
        job->real_cost[k] = plan->w2f[DM_X] * job->real_square[k];
    }
    for (int i = 0; i < plan->context->threads; i++)
        for (size_t x = 0; x < MP_REAL_PAD; x++) {
            double *row = job->workers[i].real;
            row[x] = row[MP_REAL_PAD + job->padded_width + x] = (double)INFINITY;
        }
}

/* e within each pattern of turns, from the lowest turn and from the pattern without it. */
static void set_turns(mp_job *job) {
    for (int k = 0; k < MP_GROUP; k++)
        job->near_turn[0][k] = MP_NO_COLUMN;
    for (unsigned pattern = 1; pattern < 256; pattern++) {
        const int turn = __builtin_ctz(pattern);
        for (int k = 0; k < MP_GROUP; k++) {
            const uint16_t by_it = (uint16_t)(turn <= k ? k - turn + 1 : turn - k);
            const uint16_t by_others = job->near_turn[pattern & (pattern - 1)][k];
            job->near_turn[pattern][k] = by_it < by_others ? by_it : by_others;
        }
    }
}

static void set_outputs(mp_job *job) {
    const distmap_plan *plan = job->plan;
    const dm_arrays *out = job->arrays;
    const distmap_outputs *want = &plan->problem.want;
    const bool plain_distance =
        !want->distance || (want->distance == DISTMAP_FLOAT32 && out->distance.stride[DM_X] == 4);
    const bool plain_squared =
        !want->squared || (want->squared == DISTMAP_UINT32 && plan->unit.whole == 1 && out->squared.stride[DM_X] == 4);
    const bool plain_index = !want->index || out->index.stride[DM_X] == (int64_t)distmap_dtype_size(want->index);
    const bool plain_masks =
        (!want->within || out->within.stride[DM_X] == 1) &&
        (!want->beyond || (out->beyond.stride[DM_X] == 1 && plan->problem.input == DISTMAP_INPUT_MASK));
    job->all_floats = (plan->limited && plan->limit2 < DM_UNIT_EXACT_FLOAT) ||
                      (plan->problem.input != DISTMAP_INPUT_SAMPLED && plan->max2 < DM_UNIT_EXACT_FLOAT);
    job->payload_sites = plan->problem.payload == DISTMAP_INT32 && want->index == DISTMAP_INT32;
    job->emit_general = plan->problem.border || !plain_squared || want->coords || want->label || !plain_distance ||
                        !plain_index || !plain_masks || (plan->problem.payload && !job->payload_sites);
    job->payload_sites &= !job->emit_general;
    job->stream = plan->elements > 1 << 21;
}

/* The padding of a row for kernel_ball.h: no sites, or the border beside the row. */
static void set_ball_pads(const mp_job *job, mp_worker *w) {
    const size_t pad = job->ball.pad;
    for (int i = 0; i < 2 && pad > 0; i++) {
        memset(w->cost[i], 0xFF, pad * sizeof *w->cost[i]);
        memset(w->cost[i] + pad + job->padded_width, 0xFF, pad * sizeof *w->cost[i]);
        if (job->plan->problem.border)
            w->cost[i][pad - 1] = w->cost[i][pad + job->padded_width] = 0;
    }
}

/* Chooses the memory for results between stages. Returns whether slow passes can treat the axes behind theirs as one contiguous run. */
static bool set_stores(mp_job *job, const mp_layout *l, const mp_scratch *memory) {
    const distmap_plan *plan = job->plan;
    const dm_arrays *arrays = job->arrays;
    /* Turns are stored row by row, each row in whole words. */
    bool merge = (l->ball.on || !job->emit_general) && !l->needs_64_bits && !(l->labels && l->width % 64) &&
                 array_contiguous(&arrays->within, plan) && array_contiguous(&arrays->beyond, plan) &&
                 array_contiguous(&arrays->distance, plan) && array_contiguous(&arrays->squared, plan) &&
                 array_contiguous(&arrays->index, plan);
    if (plan->problem.sign) /* emitted by the input, too */
        merge = merge && contiguous(arrays->input.stride, plan, (int64_t)distmap_dtype_size(arrays->input.dtype));
    job->costs = arrays->within.data ? &arrays->within : &arrays->beyond;
    if (job->function) {
        job->d2_store = array_store(&arrays->input);
        merge = merge && contiguous(job->d2_store.stride, plan, 4);
        if (job->payload_sites) {
            job->site_store = array_store(&arrays->payload);
            merge = merge && contiguous(job->site_store.stride, plan, 4);
        }
    } else if (l->slow && !l->ball.on) {
        const dm_array *d2_output = arrays->distance.data ? &arrays->distance : &arrays->squared;
        const dm_array *site_output = arrays->index.data ? &arrays->index : d2_output;
        if (!l->needs_64_bits && !l->offsets) {
            job->d2_store = l->d2_scratch ? scratch_store(memory->d2, plan) : array_store(d2_output);
            merge = merge && contiguous(job->d2_store.stride, plan, 4);
        }
        if (job->sites) {
            job->site_store = l->site_scratch ? scratch_store(memory->site, plan) : array_store(site_output);
            merge = merge && contiguous(job->site_store.stride, plan, 4);
        }
    }
    return merge;
}

/* Fills the padding beyond the ends of the workers' rows. */
static void set_rims(const mp_job *job, const mp_layout *l) {
    for (int i = 0; i < job->plan->context->threads; i++) {
        set_ball_pads(job, &job->workers[i]);
        if (l->labels)
            memset(job->workers[i].inside, 0, l->words * sizeof *job->workers[i].inside);
        for (size_t x = 0; x < MP_PAD; x++) {
            mp_worker *w = &job->workers[i];
            w->padded[x] = w->padded[MP_PAD + l->padded_width + x] = 0xFFFF;
            if (job->sites) {
                w->keys_left[x] = w->keys_left[MP_PAD + l->padded_width + x] = 0xFFFF;
                w->keys_right[x] = w->keys_right[MP_PAD + l->padded_width + x] = 0xFFFF;
            }
        }
    }
}

bool mp_job_set_up(mp_job *job, distmap_plan *plan, const dm_arrays *arrays, const mp_layout *l,
                   const mp_scratch *memory) {
    *job = (mp_job){
        .plan = plan,
        .arrays = arrays,
        .width = l->width,
        .height = l->height,
        .rows = l->rows,
        .first_row = plan->first_row,
        .words = l->words,
        .padded_width = l->padded_width,
        .tile_rows = l->tile_rows,
        .blocks = l->blocks,
        .labels = l->labels,
        .sides = l->sides,
        .turns = {memory->turns[0], memory->turns[1]},
        .near_turn = memory->near_turn,
        .sites = l->sites,
        .needs_64_bits = l->needs_64_bits,
        .offsets = l->offsets,
        .function = l->function >= 0,
        .tall = l->tall,
        .real = l->real,
        .last_is_plane = !l->slow,
        .ball = l->ball,
        .alive = memory->alive,
        .workers = memory->workers,
    };
    set_arithmetic(job);
    set_outputs(job);
    if (job->labels)
        set_turns(job);
    set_rims(job, l);
    if (job->real)
        set_real(job);
    return set_stores(job, l, memory);
}
