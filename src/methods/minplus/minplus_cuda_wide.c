/* minplus/cuda's second engine on the host: what it takes, its passes and their memory (minplus_cuda_wide.h).
 *
 * Packing as in the first engine; then one pass for each axis but x along which distances count, from the fastest to the slowest, so that
 * each lets the lowest coordinate win a tie. The last one fills the outputs.
 */
#include "core/scratch.h"
#include "methods/minplus/minplus_cuda_wide.h"
#include "methods/minplus/minplus_extent.h"

enum { MOST_PASSES = DM_NDIM, MOST_WIDTH = 65408, MOST_HEIGHT = 1 << 30, LEAST_ROWS = 512, BLOCKS = 8 };

static bool is_sampled(const distmap_plan *plan) { return plan->problem.input == DISTMAP_INPUT_SAMPLED; }

/* The axes that have passes; one without distances, if no axis has. */
static int passes_of(const distmap_plan *plan, int axes[MOST_PASSES]) {
    int count = 0;
    for (int a = is_sampled(plan) ? DM_X : DM_X - 1; a >= 0; a--)
        if (dm_axis_counts(plan, a))
            axes[count++] = a;
    if (count == 0)
        axes[count++] = DM_X - 1;
    return count;
}

/* Whether the rounding of FP64 is so small that winners cannot move back (minplus_cuda_wide.cu). */
static bool is_monotone(const distmap_plan *plan) {
    const mp_extent extent = mp_extent_of(plan);
    return extent.least >= extent.most * 0x1p-50;
}

const char *mw_refuses(const distmap_plan *plan) {
    const int64_t *shape = plan->shape, rows = shape[0] * shape[1] * shape[2];
    for (int a = 0; a < DM_NDIM; a++)
        if (dm_by_kind(plan) && dm_axis_counts(plan, a) && shape[a] > MOST_WIDTH)
            return "needs axes of at most 65,408 elements where the input is labels or the map is signed";
    if (plan->number == DM_F64 && !is_sampled(plan) && !is_monotone(plan))
        return "needs squared distances below 2^50 times the least squared pitch where the pitches have no unit";
    if (dm_axis_counts(plan, DM_X) && !is_sampled(plan) && shape[DM_X] > MOST_WIDTH)
        return "needs rows of at most 65,408 elements";
    if (shape[DM_X] > MOST_HEIGHT || shape[0] > MOST_HEIGHT || shape[1] > MOST_HEIGHT || shape[2] > MOST_HEIGHT)
        return "needs axes of at most 2^30 elements";
    if (rows * mc_divide_up(shape[DM_X], 32) > INT32_MAX) /* blocks of a grid */
        return "needs fewer than 2^31 rows of 32 elements";
    return NULL;
}

typedef struct mw_layout {
    dm_scratch scratch;
    mc_entry *entries;
    mc_entry *across; /* kinds, for one pass after another */
    uint32_t *along;
    void *value[2]; /* passes write them in turn */
    int64_t *site[2];
} mw_layout;

/* A pass along `axis` as a stage of the first engine, for packing. */
static mc_stage packed_stage(const distmap_plan *plan, const mw_layout *l, int axis) {
    const int64_t *shape = plan->shape;
    return (mc_stage){
        .planes = plan->elements / (shape[axis] * shape[DM_X]),
        .width = (int32_t)shape[DM_X],
        .height = (int32_t)shape[axis],
        .rows = (int32_t)shape[axis],
        .groups = (int32_t)mc_divide_up(shape[DM_X], MC_GROUP),
        .bands = (int32_t)mc_divide_up(shape[axis], 32),
        .entries = l->entries,
        .across = l->across,
        .along = axis == 2 ? l->along : NULL,
    };
}

static int64_t bands_entries(const mc_stage *s) { return s->planes * s->bands * s->groups * MC_GROUP; }

static mw_layout lay_out(const distmap_plan *plan, char *base) {
    mw_layout l = {.scratch = {.base = base, .unit = DM_CUDA_UNIT}};
    int axes[MOST_PASSES];
    const int64_t *shape = plan->shape, strips = mc_divide_up(shape[DM_X], MC_GROUP) * 4;
    const int between = passes_of(plan, axes) - !is_sampled(plan);
    if (!is_sampled(plan))
        l.entries = dm_take(&l.scratch, shape[0] * shape[1] * shape[2] * strips, sizeof(mc_entry));
    if (dm_by_kind(plan)) {
        int64_t most = 0;
        for (int a = 0; a < DM_X; a++) {
            const mc_stage stage = packed_stage(plan, &l, a);
            most = bands_entries(&stage) > most ? bands_entries(&stage) : most;
        }
        l.across = dm_take(&l.scratch, most, sizeof *l.across);
        l.along = dm_take(&l.scratch, shape[0] * shape[1] * shape[2] * strips, sizeof *l.along);
    }
    for (int i = 0; i < between && i < 2; i++) {
        l.value[i] = dm_take(&l.scratch, plan->elements, sizeof(uint64_t));
        l.site[i] = plan->wants_site ? dm_take(&l.scratch, plan->elements, sizeof(int64_t)) : NULL;
    }
    return l;
}

size_t mw_scratch_bytes(const distmap_plan *plan) { return lay_out(plan, NULL).scratch.used; }

/* Whether float32 distances are all that is wanted, and no element is looked at again for them. */
static bool is_plain(const distmap_plan *plan) {
    const distmap_outputs *want = &plan->problem.want;
    return want->distance == DISTMAP_FLOAT32 && !want->squared && !plan->wants_site && !plan->wants_mask &&
           !plan->problem.border && !dm_by_kind(plan);
}

/* Enough blocks for the GPU, but not so small parts that most of the time goes to their first and last rows. */
static void set_parts(const distmap_plan *plan, mw_stage *s) {
    const int64_t columns = mw_columns(s) * s->strips, wanted = BLOCKS * (int64_t)plan->context->cuda->multiprocessors;
    const int64_t most = mc_divide_up(s->height, LEAST_ROWS), asked = mc_divide_up(wanted, columns);
    const int64_t rows = mc_divide_up(mc_divide_up(s->height, asked < most ? asked : most), MW_KNOT) * MW_KNOT;
    s->part_rows = (int32_t)(rows < MW_MOST_ROWS ? rows : MW_MOST_ROWS);
    s->parts = (int32_t)mc_divide_up(s->height, s->part_rows);
}

/* The other two of four axes, the slower one first. */
static void set_others(int axis, int lanes, int other[2]) {
    other[0] = axis > 0 && lanes > 0 ? 0 : 1;
    other[1] = DM_NDIM * (DM_NDIM - 1) / 2 - axis - lanes - other[0];
}

static mw_stage stage_of(const distmap_plan *plan, const dm_elements *elements, const mc_entry *entries, int axis) {
    const int64_t *shape = plan->shape, strips = mc_divide_up(shape[DM_X], MC_GROUP) * 4;
    const int lanes = axis < DM_X ? DM_X : shape[2] > 1 ? 2 : shape[1] > 1 ? 1 : 0;
    mw_stage s = {
        .elements = *elements,
        .axis = axis,
        .lanes = lanes,
        .counts = dm_axis_counts(plan, axis),
        .along_x = dm_axis_counts(plan, DM_X),
        .height = (int32_t)shape[axis],
        .strips = (int32_t)mc_divide_up(shape[lanes], 32),
        .entries = entries,
        .entry_step = {shape[1] * strips * shape[2], strips * shape[2], 1, shape[2]},
        .bands = (int32_t)mc_divide_up(shape[axis], 32),
        .strips_packed = (int32_t)strips,
        .sites = plan->wants_site,
        .plain = is_plain(plan),
    };
    set_others(axis, lanes, s.other);
    set_parts(plan, &s);
    return s;
}

/* Kinds: rims across the rows of a pass. Those along rows come with the pass along y, which packing needs. */
static distmap_status pack_across(distmap_plan *plan, const dm_arrays *arrays, const dm_elements *elements,
                                  const mw_layout *l, int axis) {
    if (!dm_by_kind(plan))
        return DISTMAP_OK;
    const int64_t *stride = arrays->input.stride;
    int other[2];
    set_others(axis, DM_X, other);
    const mc_rows rows = {arrays->input.data,
                          mc_divisor_of(plan->shape[other[1]]),
                          {stride[other[0]], stride[other[1]], stride[axis], stride[DM_X]}};
    const mc_stage stage = packed_stage(plan, l, axis);
    TRY_CUDA(plan->context->cuda, mc_pack_kinds(elements, &stage, &rows, plan->context->cuda->stream));
    return DISTMAP_OK;
}

static distmap_status pack(distmap_plan *plan, const dm_arrays *arrays, const dm_elements *elements, const mw_layout *l,
                           dm_outcome *outcome) {
    const mc_stage stage = packed_stage(plan, l, 2);
    TRY(pack_across(plan, arrays, elements, l, 2));
    TRY_CUDA(plan->context->cuda, mc_pack(elements, &stage, 0, outcome, plan->context->cuda->stream));
    return DISTMAP_OK;
}

distmap_status mw_run(distmap_plan *plan, const dm_arrays *arrays, dm_outcome *outcome) {
    const dm_elements elements = dm_elements_make(plan, arrays);
    const mw_layout l = lay_out(plan, plan->scratch);
    int axes[MOST_PASSES];
    const int count = passes_of(plan, axes);
    if (is_sampled(plan)) {
        dm_phase(plan, "read");
        const mw_stage samples = {
            .elements = elements, .to_value = l.value[0], .to_site = l.site[0], .sites = plan->wants_site};
        TRY_CUDA(plan->context->cuda, mw_load(&samples, plan->context->cuda->stream));
    } else {
        dm_phase(plan, "pack");
        TRY(pack(plan, arrays, &elements, &l, outcome));
    }
    for (int i = 0; i < count; i++) {
        const int from = is_sampled(plan) ? i : i - 1; /* -1: entries; others: values, in turn */
        mw_stage s = stage_of(plan, &elements, from < 0 ? l.entries : NULL, axes[i]);
        s.across = l.across;
        if (from >= 0) {
            s.value = l.value[from % 2];
            s.site = l.site[from % 2];
        }
        s.last = i == count - 1;
        if (!s.last) {
            s.to_value = l.value[(from + 1) % 2];
            s.to_site = l.site[(from + 1) % 2];
        }
        dm_phase(plan, dm_axis_names[axes[i]]);
        if (axes[i] != 2) /* else packing has done it */
            TRY(pack_across(plan, arrays, &elements, &l, axes[i]));
        TRY_CUDA(plan->context->cuda, mw_search(&s, plan->context->cuda->stream));
    }
    return DISTMAP_OK;
}

distmap_status mw_finish(distmap_plan *plan, const dm_elements *elements, const mc_layout *l) {
    const int axis = mc_has_z(plan) ? 1 : 2;
    mw_stage s = stage_of(plan, elements, l->entries, axis);
    s.last = true;
    if (mc_has_z(plan)) {
        s.entries = NULL;
        s.value = l->store;
        s.alive = l->planes.alive;
        s.factor = mc_plane_factor(plan);
    } else {
        s.open = l->planes.open;
        s.units = l->planes.units;
    }
    dm_phase(plan, dm_axis_names[axis]);
    TRY_CUDA(plan->context->cuda, mw_search(&s, plan->context->cuda->stream));
    return DISTMAP_OK;
}
