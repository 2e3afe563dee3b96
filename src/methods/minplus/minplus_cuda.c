/* minplus/cuda, the production method on GPUs: stages and device memory. What is computed stands in minplus_cuda.h and in
 * the minplus_cuda_*.cu files.
 *
 *   pack:   rows of elements into entries, 1/4 byte per pixel; labels and signed maps across rows as well, for each stage
 *   planes: every (y, x) plane: a near search, and a far search for what it leaves open, of planes of middle size by
 *           brackets; small ones by one direct search
 *   z:      the same along z, from the planes' squared distances or, with sites, the offsets of their sites: 4 bytes per
 *           voxel
 *   emit:   only for outputs other than float32 distances or uint32 squares, and indices: from squared distances, and
 *           sites, in memory, 4 bytes each per element
 *
 * The searches choose what to do on the device; the host only enqueues.
 */
#include "methods/minplus/minplus_cuda.h"

#include "core/scratch.h"

enum { DIRECT, BRACKETS, PARAMS, NEVER = 0, SMALL = 1, MIDDLE = 1 };

static const char *const direct_names[] = {"never", "small"}, *const bracket_names[] = {"never", "middle"};
static const distmap_param_info params[PARAMS] = {
    [DIRECT] = {"direct", SMALL, NEVER, SMALL, "small planes in one search, or in tiles as large ones are",
                direct_names},
    [BRACKETS] = {"brackets", MIDDLE, NEVER, MIDDLE,
                  "what tiles leave of planes of middle size span by span, or by strips", bracket_names},
};

static int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

static bool has_z(const distmap_plan *plan) { return dm_axis_counts(plan, 1); }

/* ---- What it accepts ---- */

static const char *refuses(const distmap_plan *plan) {
    if (plan->context->cuda->shared_bytes < MC_TILE_BYTES)
        return "needs a GPU with 107 KiB of shared memory to a block (compute capability 8.0, 8.7, 9.0 and others)";
    if (plan->problem.input == DISTMAP_INPUT_SAMPLED)
        return "needs a mask or labels";
    if (dm_by_kind(plan) && plan->wants_site)
        return "needs outputs of distances only where the input is labels or the map is signed";
    if (plan->number != DM_U32)
        return "needs integer spacing, and squared distances of 32 bits";
    if (plan->wants_site && plan->elements > INT32_MAX)
        return "needs fewer than 2^31 elements for indices";
    if (plan->wants_site && has_z(plan) && (plan->shape[2] > INT16_MAX || plan->shape[DM_X] > INT16_MAX))
        return "needs planes of at most 32,767 x 32,767 for indices in a volume";
    if (dm_axis_counts(plan, 0))
        return "needs at most three measured axes, the last ones";
    if (!plan->measured[DM_X] || plan->shape[DM_X] == 1 || (plan->shape[2] > 1 && !plan->measured[2]))
        return "needs the last two axes among the measured ones, and the last longer than 1";
    if (plan->w2[DM_X] > MC_WEIGHT || plan->w2[2] > 1 << 16 || plan->w2[1] > 1 << 16)
        return "needs spacings of at most 50 along the last axis and 256 along the others";
    if (plan->max2 >= MC_NOTHING)
        return "needs squared distances below 2^31 - 1";
    if (plan->elements / plan->shape[DM_X] * divide_up(plan->shape[DM_X], MC_GROUP) > INT32_MAX) /* blocks of a grid */
        return "needs fewer than 2^31 rows of 128 elements";
    return NULL;
}

/* ---- Memory ---- */

typedef struct layout {
    dm_scratch scratch;
    mc_stage planes, z;
    int64_t marks;           /* words of both stages' marks, which lie side by side, from planes.any_open on */
    int32_t *store;          /* what planes leave for z */
    int32_t *squared, *site; /* for emit */
} layout;

static void take_marks(layout *l, mc_stage *s) {
    s->any_open = dm_take(&l->scratch, 2, sizeof *s->any_open);
    s->open = dm_take(&l->scratch, s->planes * s->strips * s->units, sizeof *s->open);
}

/* One of float32 distances and uint32 squares, and indices, can be stored by the searches themselves. */
static bool is_direct(const distmap_plan *plan) {
    const distmap_outputs *want = &plan->problem.want;
    const bool value = (!want->distance && !want->squared) || (want->distance == DISTMAP_FLOAT32 && !want->squared) ||
                       (want->squared == DISTMAP_UINT32 && !want->distance);
    return value && !plan->problem.border && !want->coords && !want->label && !plan->wants_mask;
}

/* How the far search divides its work, and what it asks for. */
static void set_columns(const struct dm_cuda *cuda, mc_stage *s, bool z) {
    const int64_t columns = s->planes * s->strips;
    s->parts = 1;
    if (columns < cuda->multiprocessors) /* each part costs a search of all rows for its ends */
        s->parts = (int32_t)(2 * cuda->multiprocessors / columns);
    s->part_units = (int32_t)divide_up(s->units, s->parts);
    s->parts = (int32_t)divide_up(s->units, s->part_units);
    const size_t teams = (z ? MC_Z_THREADS : MC_PLANE_THREADS) / 16;
    const size_t bytes = teams * MC_TEAM_BYTES + MC_UNIT_BYTES + (size_t)(s->part_units + 1) * 32 * sizeof(uint16_t);
    const size_t row = 32 * sizeof(int32_t), fit = (cuda->shared_bytes - MC_STATIC_BYTES - bytes) / row;
    s->value_rows = !z ? 0 : fit < (size_t)s->height ? (int32_t)fit : s->height;
    s->column_bytes = (int32_t)(bytes + (size_t)s->value_rows * row);
    const int64_t blocks = columns * s->parts, resident = 2 * (int64_t)cuda->multiprocessors;
    s->blocks = (int32_t)(blocks < resident ? blocks : resident);
    s->list_pitch = s->height + 8; /* a step of the search */
}

static void take_bands(layout *l, const distmap_plan *plan, mc_stage *s) {
    if (!dm_by_kind(plan))
        return;
    const bool last = s == &l->z || !has_z(plan);
    const int64_t count = s->planes * s->bands * s->groups * MC_GROUP;
    s->rim = 1;
    s->across = dm_take(&l->scratch, count, sizeof *s->across);
    if (s == &l->planes)
        s->along = dm_take(&l->scratch, s->planes * s->height * s->groups * 4, sizeof *s->along);
    if (plan->problem.input == DISTMAP_INPUT_LABELS && s == &l->planes)
        s->ground = dm_take(&l->scratch, count, sizeof *s->ground);
    if (plan->problem.sign && last && is_direct(plan))
        s->negative = dm_take(&l->scratch, count, sizeof *s->negative);
    s->surface = (float)plan->surface;
}

static void set_stage(const distmap_plan *plan, mc_stage *s, int64_t planes, int64_t height, int axis) {
    s->planes = planes;
    s->width = (int32_t)plan->shape[DM_X];
    s->height = (int32_t)height;
    s->groups = (int32_t)divide_up(s->width, MC_GROUP);
    s->strips = (int32_t)divide_up(s->width, 32);
    s->units = (int32_t)divide_up(height, MC_UNIT);
    s->bands = (int32_t)divide_up(height, 32);
    s->spans = (int32_t)divide_up(height, MC_SPAN);
    s->wx2 = (int32_t)plan->w2[DM_X];
    s->per_wx2 = 1.0f / (float)s->wx2;
    s->squared = true;
    s->most = MC_NOTHING - 1;
    s->nothing = MC_NOTHING;
    s->source_w2[0] = (int32_t)plan->w2[2];
    s->source_w2[1] = (int32_t)plan->w2[DM_X];
    s->linear[0] = plan->linear[0];
    s->linear[1] = plan->linear[axis == 2 ? 1 : 2];
    s->linear[2] = plan->linear[axis];
    s->wy2 = dm_axis_counts(plan, axis) ? (int32_t)plan->w2[axis] : 1;
    for (int64_t k = 0; k <= MC_REACH + 1; k++) {
        const int64_t cost = s->wy2 * k * k;
        s->done[k] = (uint16_t)(cost < MC_SURE ? cost : MC_SURE - 1);
        if (k <= MC_REACH)
            s->cost[k] = (uint32_t)(cost < MC_SURE ? cost : MC_SURE) * 0x00010001u;
        for (int side = 0; side < 2 && k <= MC_KEYS; side++)
            s->key[side][k] =
                (uint32_t)((cost < MC_KEY_SURE ? cost : MC_KEY_SURE) << 6 | (side ? 32 + k : 32 - k)) * 0x00010001u;
    }
    while (1 << s->row_bits < height)
        s->row_bits++;
    while (s->wx2 * s->clamp * s->clamp < MC_SURE)
        s->clamp++;
    set_columns(plan->context->cuda, s, axis == 1);
}

/* ---- Which searches ---- */

/* Whether the direct search can take the stage, its numbers being small enough (minplus_cuda_direct.cu), and takes less time
 * than the others, wherever sites are. */
static bool is_small(const distmap_plan *plan, const mc_stage *s) {
    enum { ROWS = MC_DIRECT_ROWS, MOST_ELEMENTS = 1 << 19, MOST_PAIRS = 1 << 28 }; /* of pixels and rows */
    const int64_t farthest = s->wy2 * ((int64_t)s->height + ROWS) * (s->height + ROWS);
    const int64_t largest = (int64_t)plan->max2 + farthest + (int64_t)s->wy2 * ROWS * ROWS;
    const bool fits = plan->wants_site ? largest << s->row_bits < 1 << 30 : largest < 1 << 24;
    return plan->params[DIRECT] == SMALL && fits && plan->elements <= MOST_ELEMENTS &&
           plan->elements * s->height <= MOST_PAIRS;
}

/* The same of the bracket search, for what the near search leaves of planes. It adds w MC_POINT_ROWS^2 to squared distances, also
 * to those of the rows that the last span has beyond the plane (minplus_cuda_offers.cuh). */
static bool is_middle(const distmap_plan *plan, const mc_stage *s) {
    enum { MOST_UNITS = 1 << 13 };
    const int64_t beyond = 2 * MC_SPAN * ((int64_t)s->height + MC_SPAN);
    const int64_t largest = (int64_t)plan->max2 + s->wy2 * ((int64_t)MC_POINT_ROWS * MC_POINT_ROWS + beyond);
    return plan->params[BRACKETS] == MIDDLE && s->height >= MC_UNIT && !plan->wants_site && !dm_by_kind(plan) &&
           s->planes * s->strips * s->units <= MOST_UNITS && largest < 1 << 24;
}

static layout lay_out(const distmap_plan *plan, char *base) {
    layout l = {.scratch = {.base = base, .unit = DM_CUDA_UNIT}};
    const int64_t *shape = plan->shape;
    set_stage(plan, &l.planes, shape[0] * shape[1], shape[2], 2);
    take_marks(&l, &l.planes);
    if (has_z(plan)) {
        set_stage(plan, &l.z, shape[0] * shape[2], shape[1], 1);
        take_marks(&l, &l.z);
    }
    l.marks = (int64_t)(l.scratch.used / sizeof(uint32_t));
    l.planes.entries = dm_take(&l.scratch, l.planes.planes * l.planes.groups * l.planes.height * 4, sizeof(mc_entry));
    take_bands(&l, plan, &l.planes);
    l.planes.list = dm_take(&l.scratch, l.planes.blocks * l.planes.list_pitch, sizeof(uint16_t));
    if (!is_small(plan, &l.planes) && is_middle(plan, &l.planes))
        l.planes.points =
            dm_take(&l.scratch, l.planes.planes * l.planes.strips * (l.planes.spans + 1), sizeof *l.planes.points);
    if (has_z(plan)) {
        take_bands(&l, plan, &l.z);
        l.z.list = dm_take(&l.scratch, l.z.blocks * l.z.list_pitch, sizeof(uint16_t));
        l.store = dm_take(&l.scratch, plan->elements, sizeof *l.store);
        l.planes.alive = l.z.alive = dm_take(&l.scratch, l.planes.planes, sizeof *l.planes.alive);
    }
    if (!is_direct(plan)) {
        l.squared = dm_take(&l.scratch, plan->elements, sizeof *l.squared);
        l.site = plan->wants_site ? dm_take(&l.scratch, plan->elements, sizeof *l.site) : NULL;
    }
    return l;
}

static size_t scratch_bytes(const distmap_plan *plan) { return lay_out(plan, NULL).scratch.used; }

/* ---- The method ---- */

/* Rows of planes of (y, x), planes by (t, z); of (z, x), planes by (t, y). */
static mc_rows stage_rows(const distmap_plan *plan, bool z, char *data, const int64_t stride[DM_NDIM]) {
    const int inner = z ? 2 : 1, row = z ? 1 : 2;
    return (mc_rows){data, plan->shape[inner], {stride[0], stride[inner], stride[row], stride[DM_X]}};
}

/* The same of 4-byte elements in linear order. */
static mc_rows linear_rows(const distmap_plan *plan, bool z, int32_t *data) {
    const int64_t *linear = plan->linear;
    const int64_t stride[DM_NDIM] = {linear[0] * 4, linear[1] * 4, linear[2] * 4, 4};
    return stage_rows(plan, z, (char *)data, stride);
}

/* Where the last stage's results go. */
static void set_outputs(const distmap_plan *plan, const dm_arrays *arrays, const layout *l, mc_stage *last) {
    const bool z = last == &l->z;
    if (!is_direct(plan)) {
        last->target = linear_rows(plan, z, l->squared);
        if (plan->wants_site) {
            last->sites = MC_SITES_INT32;
            last->site = linear_rows(plan, z, l->site);
        }
        return;
    }
    const dm_array *out = plan->problem.want.distance ? &arrays->distance : &arrays->squared;
    last->target = stage_rows(plan, z, out->data, out->stride);
    last->squared = !plan->problem.want.distance;
    last->nothing = UINT32_MAX;
    if (plan->wants_site) {
        last->sites = plan->problem.want.index == DISTMAP_INT32 ? MC_SITES_INT32 : MC_SITES_INT64;
        last->site = stage_rows(plan, z, arrays->index.data, arrays->index.stride);
    }
    if (plan->limited && plan->limit2 < last->most)
        last->most = (uint32_t)plan->limit2;
    last->flags = &plan->cuda->outcome->flags;
}

static distmap_status search(distmap_plan *plan, const mc_stage *stage, bool z) {
    struct dm_cuda *cuda = plan->context->cuda;
    if (is_small(plan, stage)) {
        dm_phase(plan, z ? "direct, z" : "direct");
        TRY_CUDA(cuda, mc_direct(stage, cuda->stream));
        return DISTMAP_OK;
    }
    const bool small = stage->planes * stage->groups * divide_up(stage->height, MC_TILE_ROWS) < cuda->multiprocessors;
    dm_phase(plan, z ? "near, z" : "near");
    if (stage->sites != MC_SITES_NONE)
        TRY_CUDA(cuda, mc_near_sites(stage, cuda->stream));
    else if (stage->across)
        TRY_CUDA(cuda, mc_near_kinds(stage, cuda->stream));
    else if (small)
        TRY_CUDA(cuda, mc_near_small(stage, cuda->stream));
    else
        TRY_CUDA(cuda, mc_near(stage, cuda->stream));
    if (stage->points) {
        dm_phase(plan, "points");
        TRY_CUDA(cuda, mc_points(stage, cuda->stream));
        dm_phase(plan, "spans");
        TRY_CUDA(cuda, mc_spans(stage, cuda->stream));
        return DISTMAP_OK;
    }
    dm_phase(plan, z ? "far, z" : "far");
    TRY_CUDA(cuda, mc_far(stage, cuda->stream));
    return DISTMAP_OK;
}

static distmap_status pack_kinds(distmap_plan *plan, const dm_arrays *arrays, const dm_elements *elements,
                                 const mc_stage *stage, bool z) {
    struct dm_cuda *cuda = plan->context->cuda;
    if (!stage->across)
        return DISTMAP_OK;
    dm_phase(plan, z ? "pack, z" : "pack");
    const mc_rows input = stage_rows(plan, z, arrays->input.data, arrays->input.stride);
    TRY_CUDA(cuda, mc_pack_kinds(elements, stage, &input, cuda->stream));
    return DISTMAP_OK;
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const dm_elements elements = dm_elements_make(plan, arrays);
    layout l = lay_out(plan, plan->scratch);
    if (has_z(plan)) {
        const mc_rows store = linear_rows(plan, false, l.store);
        if (plan->wants_site) {
            l.planes.sites = MC_SITES_OFFSET;
            l.planes.site = store;
        } else {
            l.planes.target = store;
        }
        l.z.source = linear_rows(plan, true, l.store);
    }
    set_outputs(plan, arrays, &l, has_z(plan) ? &l.z : &l.planes);

    dm_phase(plan, "pack");
    if (has_z(plan))
        TRY_CUDA(cuda, cudaMemsetAsync(l.planes.alive, 0, (size_t)l.planes.planes, cuda->stream));
    TRY(pack_kinds(plan, arrays, &elements, &l.planes, false));
    TRY_CUDA(cuda, mc_pack(&elements, &l.planes, l.marks, cuda->stream));
    TRY(search(plan, &l.planes, false));
    if (has_z(plan)) {
        TRY(pack_kinds(plan, arrays, &elements, &l.z, true));
        TRY(search(plan, &l.z, true));
    }
    if (!is_direct(plan)) {
        dm_phase(plan, "emit");
        TRY_CUDA(cuda, mc_emit(&elements, l.squared, l.site, cuda->multiprocessors, cuda->stream));
    }
    return DISTMAP_OK;
}

const dm_method dm_minplus_cuda = {
    .info =
        {
            .name = "minplus/cuda",
            .summary = "bit-packed rows, then bounded min-plus searches in 16-bit lanes and a monotone search beyond",
            .source = "this project; docs/internals.md",
            .device = "cuda",
            .exact = true,
            .params = params,
            .param_count = PARAMS,
        },
    .refuses = refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
