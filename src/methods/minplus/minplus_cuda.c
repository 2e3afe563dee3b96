/* minplus/cuda, the production method on GPUs: stages and device memory. What is computed stands in minplus_cuda.h and in
 * the minplus_cuda_*.cu files.
 *
 *   pack:   rows of elements into entries, 1/4 byte per pixel
 *   planes: every (y, x) plane: a near search, and a far search for what it leaves open; small ones by one direct search
 *   z:      the same along z, from the planes' squared distances or, with sites, the offsets of their sites: 4 bytes per
 *           voxel
 *   emit:   only for outputs other than float32 distances or uint32 squares, and indices: from squared distances, and
 *           sites, in memory, 4 bytes each per element
 *
 * The searches choose what to do on the device; the host only enqueues.
 *
 * Over several GPUs each has some rows of every plane, and the entries of all: packing fills in its own, what others packed is
 * exchanged, 1/4 byte per pixel, and all that follows is about its own rows alone. Columns of z are whole on every GPU. So
 * there is one exchange, at the start, and ties are decided by the same passes as on one GPU. Planes come in pieces: while one is
 * searched, the next is on its way.
 */
#include "methods/minplus/minplus_cuda.h"

#include "core/scratch.h"

enum { DIRECT, NEVER = 0, SMALL = 1, PIECES = 8 /* of a volume's planes, at most */ };

static const char *const direct_names[] = {"never", "small"};
static const distmap_param_info params[] = {
    [DIRECT] = {"direct", SMALL, NEVER, SMALL, "small planes in one search, or in tiles as large ones are",
                direct_names},
};

static int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

static bool has_z(const distmap_plan *plan) { return dm_axis_counts(plan, 1); }

/* ---- What it accepts ---- */

static const char *refuses(const distmap_plan *plan) {
    if (plan->context->cuda->shared_bytes < MC_TILE_BYTES)
        return "needs a GPU with 107 KiB of shared memory to a block (compute capability 8.0, 8.7, 9.0 and others)";
    if (plan->problem.input != DISTMAP_INPUT_MASK || plan->problem.sign)
        return "needs a mask input, and a map without sign";
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
    mc_entry *entries;       /* the first of the image's first row */
    int32_t *store;          /* what planes leave for z */
    int32_t *squared, *site; /* for emit */
} layout;

static void take_marks(layout *l, mc_stage *s) {
    s->any_open = dm_take(&l->scratch, 2 * PIECES, sizeof *s->any_open);
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
    s->list_pitch = s->rows + 8; /* a step of the search */
}

/* Rows along `axis`. */
static void set_stage(const distmap_plan *plan, mc_stage *s, int64_t planes, int axis) {
    const int64_t height = plan->shape[axis], rows = axis == 2 ? plan->rows : height;
    s->planes = planes;
    s->width = (int32_t)plan->shape[DM_X];
    s->height = (int32_t)height;
    s->low = axis == 2 ? -(int32_t)plan->first_row : 0;
    s->rows = (int32_t)rows;
    s->groups = (int32_t)divide_up(s->width, MC_GROUP);
    s->strips = (int32_t)divide_up(s->width, 32);
    s->units = (int32_t)divide_up(height, MC_UNIT);
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
    s->index_first = plan->first_row * plan->linear[2];
    s->wy2 = plan->measured[axis] && rows > 1 ? (int32_t)plan->w2[axis] : 1;
    for (int64_t k = 0; k <= MC_REACH + 1; k++) {
        const int64_t cost = s->wy2 * k * k;
        s->done[k] = (uint16_t)(cost < MC_SURE ? cost : MC_SURE - 1);
        if (k <= MC_REACH)
            s->cost[k] = (uint32_t)(cost < MC_SURE ? cost : MC_SURE) * 0x00010001u;
        for (int side = 0; side < 2 && k <= MC_KEYS; side++)
            s->key[side][k] =
                (uint32_t)((cost < MC_KEY_SURE ? cost : MC_KEY_SURE) << 6 | (side ? 32 + k : 32 - k)) * 0x00010001u;
    }
    while (1 << s->row_bits < rows)
        s->row_bits++;
    while (s->wx2 * s->clamp * s->clamp < MC_SURE)
        s->clamp++;
    set_columns(plan->context->cuda, s, axis == 1);
}

static layout lay_out(const distmap_plan *plan, char *base) {
    layout l = {.scratch = {.base = base, .unit = DM_CUDA_UNIT}};
    const int64_t *shape = plan->shape;
    set_stage(plan, &l.planes, shape[0] * shape[1], 2);
    take_marks(&l, &l.planes);
    if (has_z(plan)) {
        set_stage(plan, &l.z, shape[0] * shape[2], 1);
        take_marks(&l, &l.z);
    }
    l.marks = (int64_t)(l.scratch.used / sizeof(uint32_t));
    l.entries = dm_take(&l.scratch, l.planes.planes * l.planes.groups * l.planes.rows * 4, sizeof(mc_entry));
    l.planes.entries = l.entries ? l.entries - l.planes.low : NULL;
    l.planes.list = dm_take(&l.scratch, l.planes.blocks * l.planes.list_pitch, sizeof(uint16_t));
    if (has_z(plan)) {
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
    int64_t stride[DM_NDIM];
    dm_pitches(plan, stride);
    for (int a = 0; a < DM_NDIM; a++)
        stride[a] *= 4;
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

/* Whether the direct search can take the stage, its numbers being small enough (minplus_cuda_direct.cu), and takes less time
 * than the others, wherever sites are. */
static bool is_small(const distmap_plan *plan, const mc_stage *s) {
    enum { ROWS = MC_DIRECT_ROWS, MOST_ELEMENTS = 1 << 19, MOST_PAIRS = 1 << 28 }; /* of pixels and rows */
    const int64_t farthest = s->wy2 * ((int64_t)s->rows + ROWS) * (s->rows + ROWS);
    const int64_t largest = (int64_t)plan->max2 + farthest + (int64_t)s->wy2 * ROWS * ROWS;
    const bool fits = plan->wants_site ? largest << s->row_bits < 1 << 30 : largest < 1 << 24;
    return plan->params[DIRECT] == SMALL && fits && plan->elements <= MOST_ELEMENTS &&
           plan->elements * s->rows <= MOST_PAIRS;
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
    else if (small)
        TRY_CUDA(cuda, mc_near_small(stage, cuda->stream));
    else
        TRY_CUDA(cuda, mc_near(stage, cuda->stream));
    dm_phase(plan, z ? "far, z" : "far");
    TRY_CUDA(cuda, mc_far(stage, cuda->stream));
    return DISTMAP_OK;
}

/* Stages with all that they read and write. */
static layout set_all(const distmap_plan *plan, const dm_arrays *arrays) {
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
    return l;
}

static distmap_status pack(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const dm_elements elements = dm_elements_make(plan, arrays);
    const layout l = set_all(plan, arrays);
    dm_phase(plan, "pack");
    if (has_z(plan))
        TRY_CUDA(cuda, cudaMemsetAsync(l.planes.alive, 0, (size_t)l.planes.planes, cuda->stream));
    TRY_CUDA(cuda, mc_pack(&elements, &l.planes, l.marks, cuda->stream));
    return DISTMAP_OK;
}

/* When all planes are done: z, and what is left to emit. */
static distmap_status finish(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const layout l = set_all(plan, arrays);
    if (has_z(plan))
        TRY(search(plan, &l.z, true));
    if (!is_direct(plan)) {
        const dm_elements elements = dm_elements_make(plan, arrays);
        dm_phase(plan, "emit");
        TRY_CUDA(cuda, mc_emit(&elements, l.squared, l.site, cuda->multiprocessors, cuda->stream));
    }
    return DISTMAP_OK;
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    TRY(pack(plan, arrays));
    const layout l = set_all(plan, arrays);
    TRY(search(plan, &l.planes, false));
    return finish(plan, arrays);
}

/* ---- Over several GPUs ---- */

static const char *refuses_several(const distmap_plan *plan) {
    return is_direct(plan)
               ? NULL
               : "needs one GPU for other outputs than float32 distances, uint32 squared distances and indices, "
                 "and for a border";
}

static int pieces(const distmap_plan *plan) {
    return plan->shape[0] > 1 ? 1 : plan->shape[1] < PIECES ? (int)plan->shape[1] : PIECES;
}

/* The planes of a piece as a stage. */
static mc_stage piece_of(const distmap_plan *plan, const mc_stage *all, int piece) {
    const int64_t from = all->planes * piece / pieces(plan), to = all->planes * (piece + 1) / pieces(plan);
    mc_stage s = *all;
    s.planes = to - from;
    s.entries += from * s.groups * 4 * s.rows;
    s.alive = s.alive ? s.alive + from : NULL;
    s.target.data = s.target.data ? s.target.data + from * s.target.stride[1] : NULL;
    s.site.data = s.site.data ? s.site.data + from * s.site.stride[1] : NULL;
    s.index_first += from * s.linear[1];
    s.any_open += 2 * piece;
    s.open += from * s.strips * s.units;
    const int64_t blocks = s.planes * s.strips * s.parts;
    s.blocks = blocks < s.blocks ? (int32_t)blocks : s.blocks;
    return s;
}

static dm_exchange exchange(const distmap_plan *plan, int piece) {
    const layout l = lay_out(plan, plan->scratch);
    const mc_stage s = piece_of(plan, &l.planes, piece);
    return (dm_exchange){(char *)(s.entries + s.low), (size_t)s.rows * sizeof(mc_entry), sizeof(mc_entry),
                         s.planes * s.groups * 4};
}

static distmap_status solve(distmap_plan *plan, const dm_arrays *arrays, int piece) {
    struct dm_cuda *cuda = plan->context->cuda;
    const layout l = set_all(plan, arrays);
    const mc_stage s = piece_of(plan, &l.planes, piece);
    if (has_z(plan))
        TRY_CUDA(cuda, mc_find_alive(&s, cuda->stream));
    TRY(search(plan, &s, false));
    return piece == pieces(plan) - 1 ? finish(plan, arrays) : DISTMAP_OK;
}

static const dm_spread several = {
    .refuses = refuses_several,
    .pieces = pieces,
    .begin = pack,
    .exchange = exchange,
    .solve = solve,
};

const dm_method dm_minplus_cuda = {
    .info =
        {
            .name = "minplus/cuda",
            .summary = "bit-packed rows, then bounded min-plus searches in 16-bit lanes and a monotone search beyond",
            .source = "this project; docs/internals.md",
            .device = "cuda",
            .exact = true,
            .params = params,
            .param_count = 1,
        },
    .refuses = refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
    .spread = &several,
};
