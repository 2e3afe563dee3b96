/* minplus/cuda, the production method on GPUs: the problems that it accepts, and its stages in order (minplus_cuda_stages.c has their
 * memory). minplus_cuda.h and the minplus_cuda_*.cu files describe the algorithm.
 *
 *   pack:   rows of elements into entries, 1/4 byte per pixel; labels and signed maps across rows as well, for each stage
 *   planes: every (y, x) plane: a near search, and for the open units a far search or, in planes of middle size and
 *           parts of large volumes, a corner search; small planes by one direct search
 *   z:      the same along z, from the planes' squared distances or, with sites, the offsets of their sites: 4 bytes per
 *           voxel; a bracket search instead of the corner search
 *   emit:   only for outputs other than float32 distances or uint32 squares, and indices: from squared distances, and
 *           sites, in memory, 4 bytes each per element
 *
 * The searches choose what to do on the device; the host only enqueues.
 *
 * With several GPUs each has some rows of every plane, and the entries of all rows: it packs its own, the others' are
 * exchanged, 1/4 byte per pixel, and all later stages solve only its own rows. Columns of z are whole on every GPU. So
 * there is one exchange, at the start, and the same passes as on one GPU decide ties. Planes are divided into pieces: while one is
 * searched, the next is copied.
 */
#include "methods/minplus/minplus_cuda_stages.h"
#include "methods/minplus/minplus_cuda_wide.h"

static const char *const direct_names[] = {"never", "small"}, *const bracket_names[] = {"never", "sized", "mixed"},
                         *const shared_names[] = {"all", "99", "64"},
                         *const number_names[] = {"sized", "wide", "mixed"};
static const distmap_param_info params[MC_PARAMS] = {
    [MC_DIRECT] = {"direct", MC_SMALL, MC_NEVER, MC_SMALL,
                   "small planes by one direct search, or by tiles as large planes are", direct_names},
    [MC_BRACKETS] = {"brackets", MC_SIZED, MC_NEVER, MC_MIXED,
                     "corner and bracket searches: never, by the image's size, or only for strips with deep units",
                     bracket_names},
    [MC_SHARED_BYTES] = {"shared", MC_ALL, MC_ALL, MC_LEAST,
                         "KiB of shared memory for a block: all that the GPU has, or as little as smaller GPUs have",
                         shared_names},
    [MC_NUMBERS] = {"numbers", MC_AS_SIZED, MC_AS_SIZED, MC_MIXED_NUMBERS,
                    "searches in 32 bits where the numbers fit, always in 64, or only the last ones in 64",
                    number_names},
};

/* ---- Accepted problems ---- */

/* The first engine, in 32 bits. */
static const char *refuses_narrow(const distmap_plan *plan) {
    if (plan->problem.input == DISTMAP_INPUT_SAMPLED)
        return "needs a mask or labels";
    if (dm_by_kind(plan) && plan->wants_site)
        return "needs outputs without sites where the input is labels or the map is signed";
    if (plan->number != DM_U32)
        return "needs pitches that are whole multiples of a unit, and squared distances that fit 32 bits in it";
    if (plan->wants_site && plan->elements > INT32_MAX)
        return "needs fewer than 2^31 elements for indices";
    if (plan->wants_site && mc_has_z(plan) && (plan->shape[2] > INT16_MAX || plan->shape[DM_X] > INT16_MAX))
        return "needs planes of at most 32,767 x 32,767 for indices in a volume";
    if (dm_axis_counts(plan, 0))
        return "needs at most three measured axes, the last ones";
    if (!plan->measured[DM_X] || plan->shape[DM_X] == 1 || (plan->shape[2] > 1 && !plan->measured[2]))
        return "needs the last two axes among the measured ones, and the last longer than 1";
    if (plan->max2 >= MC_NOTHING)
        return "needs squared distances below 2^31 - 1";
    if (plan->w2[DM_X] > 1 << 30 || plan->w2[2] > 1 << 30 || plan->w2[1] > 1 << 16)
        return "needs pitches of at most 256 times their unit along the slowest axis";
    const uint64_t factor = (uint64_t)mc_plane_factor(plan);
    if (plan->w2[DM_X] / factor > MC_WEIGHT || plan->w2[2] / factor > 1 << 16)
        return "needs pitches of at most 50 times their unit along the last axis and 256 times along the others";
    if (plan->shape[0] * plan->shape[1] * plan->shape[2] * mc_divide_up(plan->shape[DM_X], MC_GROUP) >
        INT32_MAX) /* blocks of a grid */
        return "needs fewer than 2^31 rows of 128 elements";
    return NULL;
}

static const char *refuses(const distmap_plan *plan) {
    if (plan->context->cuda->shared_bytes < MC_LEAST_BYTES)
        return "needs a GPU with 64 KiB of shared memory for a block, as from compute capability 7.5 on";
    return refuses_narrow(plan) ? mw_refuses(plan) : NULL;
}

/* Whether the first engine can solve the planes of a problem that it refuses; of an image without z, what is near. */
static bool fits_planes(const distmap_plan *plan) {
    const int64_t x = plan->shape[DM_X] - 1, y = plan->shape[2] - 1;
    if (plan->problem.input != DISTMAP_INPUT_MASK || plan->problem.sign || plan->number == DM_F64 ||
        dm_axis_counts(plan, 0) || !dm_axis_counts(plan, DM_X) || !dm_axis_counts(plan, 2))
        return false;
    const uint64_t factor = mc_plane_factor(plan), wx2 = plan->w2[DM_X] / factor, wy2 = plan->w2[2] / factor;
    if (wx2 > MC_WEIGHT || wy2 > 1 << 16)
        return false;
    if (!mc_has_z(plan))
        return mc_can_store_outputs(plan) && plan->problem.want.distance;
    return wx2 * (uint64_t)(x * x) + wy2 * (uint64_t)(y * y) < MC_NOTHING &&
           (!plan->wants_site || (x < INT16_MAX && y < INT16_MAX));
}

/* Which engine solves an accepted problem: the first one; the first one before the second one; the second one. */
typedef enum engines { NARROW, NARROW_THEN_WIDE, WIDE } engines;

static engines engines_of(const distmap_plan *plan) {
    const int64_t wanted = plan->params[MC_NUMBERS];
    if (!refuses_narrow(plan) && (wanted == MC_AS_SIZED || mw_refuses(plan)))
        return NARROW;
    return wanted != MC_WIDE_NUMBERS && fits_planes(plan) ? NARROW_THEN_WIDE : WIDE;
}

/* Packing is the first kernel (except with kinds), and reads no element that could raise a flag, which only a NaN does. */
static bool cleans(const distmap_plan *plan) {
    return plan->problem.input == DISTMAP_INPUT_MASK && !plan->problem.sign &&
           !dm_dtype_is_float(plan->problem.dtype) && !plan->split.loops;
}

static dm_outcome *outcome_to_clean(const distmap_plan *plan) { return cleans(plan) ? plan->cuda->outcome : NULL; }

static size_t scratch_bytes(const distmap_plan *plan) {
    switch (engines_of(plan)) {
    case NARROW: return mc_lay_out(plan, NULL).scratch.used;
    case NARROW_THEN_WIDE: return mc_lay_out_planes(plan, NULL).scratch.used;
    default: return mw_scratch_bytes(plan);
    }
}

/* ---- The method ---- */

/* Rows of planes of (y, x), planes by (t, z); of (z, x), planes by (t, y). */
static mc_rows stage_rows(const distmap_plan *plan, bool z, char *data, const int64_t stride[DM_NDIM]) {
    const int inner = z ? 2 : 1, row = z ? 1 : 2;
    return (mc_rows){data, mc_divisor_of(plan->shape[inner]), {stride[0], stride[inner], stride[row], stride[DM_X]}};
}

/* The same of 4-byte elements in linear order. */
static mc_rows linear_rows(const distmap_plan *plan, bool z, int32_t *data) {
    int64_t stride[DM_NDIM];
    dm_pitches(plan, stride);
    for (int a = 0; a < DM_NDIM; a++)
        stride[a] *= 4;
    return stage_rows(plan, z, (char *)data, stride);
}

/* Sets the outputs of the last stage. */
static void set_outputs(const distmap_plan *plan, const dm_arrays *arrays, const mc_layout *l, mc_stage *last) {
    const bool z = last == &l->z;
    if (!mc_can_store_outputs(plan)) {
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
    last->in_unit = !last->squared && !plan->unit.is_one;
    last->factor = (uint32_t)plan->unit.whole;
    last->nothing = UINT32_MAX;
    if (plan->wants_site) {
        last->sites = plan->problem.want.index == DISTMAP_INT32 ? MC_SITES_INT32 : MC_SITES_INT64;
        last->site = stage_rows(plan, z, arrays->index.data, arrays->index.stride);
    }
    if (plan->limited && plan->limit2 < last->most)
        last->most = (uint32_t)plan->limit2;
    last->flags = &plan->cuda->outcome->flags;
}

/* Whether at most an eighth of the rows of tall tiles is empty: they then save more surrounding rows. */
static bool fills_tall(const mc_stage *stage) {
    const int64_t rows = mc_divide_up(stage->height, MC_TALL_ROWS) * MC_TALL_ROWS;
    return (rows - stage->height) * 8 <= stage->height;
}

/* Whether 16-bit lanes overflow within the near search's steps, along z or in planes. */
static bool ends_early(const mc_stage *stage) {
    const int32_t along = stage->source_w2[0] > stage->source_w2[1] ? stage->source_w2[0] : stage->source_w2[1];
    return (int64_t)(along > stage->wy2 ? along : stage->wy2) * MC_REACH * MC_REACH > MC_SURE;
}

typedef cudaError_t near_search(const mc_stage *p, cudaStream_t stream);

/* The near search of a stage: by its outputs, its size, and the shared memory of the GPU. */
static near_search *near_of(const distmap_plan *plan, const mc_stage *stage) {
    const size_t shared = mc_shared_bytes(plan);
    const bool full = shared >= MC_FULL_BYTES, least = shared < MC_LESS_BYTES;
    if (stage->sites != MC_SITES_NONE && least)
        return mc_near_sites_least;
    if (stage->sites != MC_SITES_NONE && !mc_has_z(plan) && fills_tall(stage))
        return mc_near_sites_tall;
    if (stage->sites != MC_SITES_NONE)
        return full ? mc_near_sites : mc_near_sites_less;
    if (stage->across)
        return full ? mc_near_kinds : mc_near_kinds_less;
    if (stage->source.data && ends_early(stage))
        return mc_near_whole;
    if (stage->planes * stage->groups * mc_divide_up(stage->height, MC_TILE_ROWS) <
        plan->context->cuda->multiprocessors)
        return mc_near_small;
    if (stage->brackets && !stage->mixed)
        return mc_near_middle;
    return full ? mc_near : mc_near_less;
}

/* The searches before the far search. */
static distmap_status search_near(distmap_plan *plan, const mc_stage *stage, bool z) {
    struct dm_cuda *cuda = plan->context->cuda;
    dm_phase(plan, z ? "near, z" : "near");
    TRY_CUDA(cuda, near_of(plan, stage)(stage, cuda->stream));
    if ((stage->brackets || stage->few) && !z) {
        dm_phase(plan, "corners");
        TRY_CUDA(cuda, mc_corners(stage, cuda->stream));
    } else if (stage->brackets) {
        dm_phase(plan, "points, z");
        TRY_CUDA(cuda, mc_points(stage, cuda->stream));
        dm_phase(plan, "spans, z");
        TRY_CUDA(cuda, mc_spans(stage, cuda->stream));
    }
    return DISTMAP_OK;
}

static distmap_status search(distmap_plan *plan, const mc_stage *stage, bool z) {
    struct dm_cuda *cuda = plan->context->cuda;
    if (mc_is_small(plan, stage)) {
        dm_phase(plan, z ? "direct, z" : "direct");
        TRY_CUDA(cuda, mc_direct(stage, cuda->stream));
        return DISTMAP_OK;
    }
    TRY(search_near(plan, stage, z));
    if (!stage->brackets || stage->mixed) {
        dm_phase(plan, z ? "far, z" : "far");
        TRY_CUDA(cuda, mc_far(stage, cuda->stream));
    }
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

/* Results of a volume's planes. */
static void set_store(const distmap_plan *plan, mc_layout *l) {
    const mc_rows store = linear_rows(plan, false, l->store);
    if (plan->wants_site) {
        l->planes.sites = MC_SITES_OFFSET;
        l->planes.site = store;
    } else {
        l->planes.target = store;
    }
}

/* The stages with all their inputs and outputs. */
static mc_layout set_all(const distmap_plan *plan, const dm_arrays *arrays) {
    mc_layout l = mc_lay_out(plan, plan->scratch);
    if (mc_has_z(plan)) {
        set_store(plan, &l);
        l.z.source = linear_rows(plan, true, l.store);
    }
    set_outputs(plan, arrays, &l, mc_has_z(plan) ? &l.z : &l.planes);
    return l;
}

static distmap_status pack_planes(distmap_plan *plan, const dm_arrays *arrays, const dm_elements *elements,
                                  const mc_layout *l) {
    struct dm_cuda *cuda = plan->context->cuda;
    dm_phase(plan, "pack");
    if (mc_has_z(plan))
        TRY_CUDA(cuda, cudaMemsetAsync(l->planes.alive, 0, (size_t)l->planes.planes, cuda->stream));
    TRY(pack_kinds(plan, arrays, elements, &l->planes, false));
    TRY_CUDA(cuda, mc_pack(elements, &l->planes, l->marks, outcome_to_clean(plan), cuda->stream));
    return DISTMAP_OK;
}

static distmap_status pack(distmap_plan *plan, const dm_arrays *arrays) {
    const dm_elements elements = dm_elements_make(plan, arrays);
    const mc_layout l = set_all(plan, arrays);
    return pack_planes(plan, arrays, &elements, &l);
}

/* When all planes are finished: the z stage, and emit. */
static distmap_status finish(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const dm_elements elements = dm_elements_make(plan, arrays);
    const mc_layout l = set_all(plan, arrays);
    if (mc_has_z(plan)) {
        TRY(pack_kinds(plan, arrays, &elements, &l.z, true));
        TRY(search(plan, &l.z, true));
    }
    if (!mc_can_store_outputs(plan)) {
        dm_phase(plan, "emit");
        TRY_CUDA(cuda, mc_emit(&elements, l.squared, l.site, cuda->multiprocessors, cuda->stream));
    }
    return DISTMAP_OK;
}

/* Planes by the first engine; then by the second one z, or what is left of images without z. */
static distmap_status run_both(distmap_plan *plan, const dm_arrays *arrays) {
    const dm_elements elements = dm_elements_make(plan, arrays);
    mc_layout l = mc_lay_out_planes(plan, plan->scratch);
    if (mc_has_z(plan))
        set_store(plan, &l);
    else
        set_outputs(plan, arrays, &l, &l.planes);
    TRY(pack_planes(plan, arrays, &elements, &l));
    TRY(mc_has_z(plan) ? search(plan, &l.planes, false) : search_near(plan, &l.planes, false));
    return mw_finish(plan, &elements, &l);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    switch (engines_of(plan)) {
    case NARROW_THEN_WIDE: return run_both(plan, arrays);
    case WIDE: return mw_run(plan, arrays, outcome_to_clean(plan));
    default: break;
    }
    TRY(pack(plan, arrays));
    const mc_layout l = set_all(plan, arrays);
    TRY(search(plan, &l.planes, false));
    return finish(plan, arrays);
}

/* ---- Over several GPUs ---- */

static const char *refuses_several(const distmap_plan *plan) {
    if (engines_of(plan) != NARROW)
        return "needs one GPU for squared distances of 2^31 or more, and for pitches without a unit";
    if (dm_by_kind(plan))
        return "needs one GPU for labels and signed maps";
    return mc_can_store_outputs(plan)
               ? NULL
               : "needs one GPU for other outputs than float32 distances, uint32 squared distances and indices, "
                 "and for a border";
}

static int pieces(const distmap_plan *plan) {
    return plan->shape[0] > 1 ? 1 : plan->shape[1] < MC_PIECES ? (int)plan->shape[1] : MC_PIECES;
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
    s.any_open += MC_MARKS * piece;
    s.left += 2 * from * s.strips;
    s.open_rows = s.open_rows ? s.open_rows + from * s.strips : NULL;
    s.open += from * s.strips * s.units;
    s.finished = s.finished ? s.finished + from * s.strips * s.units : NULL;
    s.shared = s.shared ? s.shared + from * s.strips * s.units : NULL;
    const int64_t blocks = s.planes * s.strips * s.parts;
    s.blocks = blocks < s.blocks ? (int32_t)blocks : s.blocks;
    return s;
}

static dm_exchange exchange(const distmap_plan *plan, int piece) {
    const mc_layout l = mc_lay_out(plan, plan->scratch);
    const mc_stage s = piece_of(plan, &l.planes, piece);
    return (dm_exchange){(char *)(s.entries + s.low), (size_t)s.rows * sizeof(mc_entry), sizeof(mc_entry),
                         s.planes * s.groups * 4};
}

static distmap_status solve(distmap_plan *plan, const dm_arrays *arrays, int piece) {
    struct dm_cuda *cuda = plan->context->cuda;
    const mc_layout l = set_all(plan, arrays);
    const mc_stage s = piece_of(plan, &l.planes, piece);
    if (mc_has_z(plan))
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
            .param_count = MC_PARAMS,
        },
    .refuses = refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
    .cleans = cleans,
    .spread = &several,
};
