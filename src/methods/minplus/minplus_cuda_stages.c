/* minplus/cuda: stages and scratch memory (minplus_cuda_stages.h). */
#include "methods/minplus/minplus_cuda_stages.h"

/* The arrays that are zero when a stage begins. */
static void take_marks(mc_layout *l, mc_stage *s) {
    s->any_open = dm_take(&l->scratch, MC_MARKS * MC_PIECES, sizeof *s->any_open);
    s->left = dm_take(&l->scratch, 2 * s->planes * s->strips, sizeof *s->left);
    s->open = dm_take(&l->scratch, s->planes * s->strips * s->units, sizeof *s->open);
    if (s->few)
        s->open_rows = dm_take(&l->scratch, s->planes * s->strips, sizeof *s->open_rows);
    if (s->brackets && !s->mixed) {
        s->finished = dm_take(&l->scratch, s->planes * s->strips * s->units, sizeof *s->finished);
        s->shared = dm_take(&l->scratch, s->planes * s->strips * s->units, sizeof *s->shared);
    }
}

bool mc_can_store_outputs(const distmap_plan *plan) {
    const distmap_outputs *want = &plan->problem.want;
    const bool value = (!want->distance && !want->squared) || (want->distance == DISTMAP_FLOAT32 && !want->squared) ||
                       (want->squared == DISTMAP_UINT32 && !want->distance);
    const bool in_unit = plan->unit.is_one || (plan->unit.simple && !plan->problem.sign);
    return value && in_unit && !plan->problem.border && !want->coords && !want->label && !plan->wants_mask;
}

size_t mc_shared_bytes(const distmap_plan *plan) {
    static const size_t most[] = {[MC_ALL] = SIZE_MAX, [MC_LESS] = MC_LESS_BYTES, [MC_LEAST] = MC_LEAST_BYTES};
    const size_t offered = plan->context->cuda->shared_bytes, taken = most[plan->params[MC_SHARED_BYTES]];
    return offered < taken ? offered : taken;
}

/* The far search's shared memory: a part for each unit of a piece, and in the z stage as many values as fit. With less shared
 * memory blocks have fewer threads if not all values would fit, and pieces get smaller if necessary. */
static void set_column_room(mc_stage *s, bool z, size_t shared) {
    const size_t unit = 32 * sizeof(uint16_t), row = 32 * sizeof(int32_t), whole = (size_t)s->height * row;
    const size_t room = shared - (z ? MC_Z_STATIC : MC_STATIC_BYTES) - MC_UNIT_BYTES;
    const size_t most = MC_Z_THREADS / 16 * MC_TEAM_BYTES + (size_t)(s->part_units + 1) * unit + whole;
    s->column_threads = !z ? MC_PLANE_THREADS : shared >= MC_FULL_BYTES || most <= room ? MC_Z_THREADS : MC_Z_FEWER;
    const size_t teams = (size_t)s->column_threads / 16 * MC_TEAM_BYTES, units = (room - teams) / unit - 1;
    if ((size_t)s->part_units > units)
        s->part_units = (int32_t)units;
    const size_t bytes = teams + (size_t)(s->part_units + 1) * unit, fit = (room - bytes) / row;
    s->value_rows = !z ? 0 : fit < (size_t)s->height ? (int32_t)fit : s->height;
    s->column_bytes = (int32_t)(bytes + MC_UNIT_BYTES + (size_t)s->value_rows * row);
}

/* How the far search divides its work. */
static void set_columns(const distmap_plan *plan, mc_stage *s, bool z) {
    const struct dm_cuda *cuda = plan->context->cuda;
    const int64_t columns = s->planes * s->strips;
    s->parts = 1;
    if (columns < cuda->multiprocessors) /* each part costs a search of all rows for its ends */
        s->parts = (int32_t)(2 * cuda->multiprocessors / columns);
    s->part_units = (int32_t)mc_divide_up(s->units, s->parts);
    set_column_room(s, z, mc_shared_bytes(plan));
    s->parts = (int32_t)mc_divide_up(s->units, s->part_units);
    /* A multiple of the resident blocks, minus one, so that the stride is not that of strips; more if there is
     * enough work, so that blocks that finish early take more. */
    const int64_t least = 8 * (int64_t)cuda->multiprocessors, wanted = columns * s->spans / 64;
    s->resident = (int32_t)(wanted < least ? least : wanted < 4 * least ? wanted : 4 * least) - 1;
    const int64_t blocks = columns * s->parts, resident = 2 * (int64_t)cuda->multiprocessors;
    s->blocks = (int32_t)(blocks < resident ? blocks : resident);
    s->list_pitch = s->rows + 8; /* a step of the search */
}

static void take_bands(mc_layout *l, const distmap_plan *plan, mc_stage *s) {
    if (!dm_by_kind(plan))
        return;
    const bool last = s == &l->z || !mc_has_z(plan);
    const int64_t count = s->planes * s->bands * s->groups * MC_GROUP;
    s->rim = 1;
    s->across = dm_take(&l->scratch, count, sizeof *s->across);
    if (s == &l->planes)
        s->along = dm_take(&l->scratch, s->planes * s->height * s->groups * 4, sizeof *s->along);
    if (plan->problem.input == DISTMAP_INPUT_LABELS && s == &l->planes)
        s->ground = dm_take(&l->scratch, count, sizeof *s->ground);
    if (plan->problem.sign && last && mc_can_store_outputs(plan))
        s->negative = dm_take(&l->scratch, count, sizeof *s->negative);
    s->surface = (float)plan->surface;
}

/* The cost of step k of keys, at most `most`. */
static uint32_t key_cost(const mc_stage *s, int64_t k, uint32_t most) {
    const int64_t cost = s->wy2 * k * k;
    return cost < most ? (uint32_t)cost : most;
}

/* The 16-bit keys of the near search with sites. The steps of a clamp use squares of at most the clamp, and costs of at most the rest of
 * MC_KEY_MOST, so no sum exceeds it. A clamped row gives at least the clamp plus the cost of the first of these steps. If that is
 * less than half of MC_KEY_MOST, as for large pitches, squares and costs have half each. */
static void set_keys(mc_stage *s) {
    enum { HALF = MC_KEY_MOST / 2 };
    static const uint8_t from[] = MC_KEY_FROM;
    uint32_t clamp[MC_KEY_CLAMPS];
    s->key_sure = MC_KEY_MOST;
    for (int c = 0; c < MC_KEY_CLAMPS; c++) {
        clamp[c] = MC_KEY_MOST - key_cost(s, from[c + 1] - 1, MC_KEY_MOST);
        const uint32_t least = clamp[c] + key_cost(s, from[c], MC_KEY_MOST);
        s->key_sure = least < s->key_sure ? least : s->key_sure;
    }
    const bool halves = s->key_sure < HALF;
    s->key_sure = halves ? HALF : s->key_sure;
    for (int c = 0, k = 0; c < MC_KEY_CLAMPS; c++) {
        clamp[c] = halves ? HALF : clamp[c];
        s->key_clamp[c] = clamp[c] * 0x00010001u;
        for (; k < from[c + 1]; k++) {
            const uint32_t cost = key_cost(s, k, MC_KEY_MOST - clamp[c]);
            s->key[0][k] = (cost << 6 | (uint32_t)(32 - k)) * 0x00010001u;
            s->key[1][k] = (cost << 6 | (uint32_t)(32 + k)) * 0x00010001u;
        }
    }
}

uint64_t mc_plane_factor(const distmap_plan *plan) {
    if (!mc_has_z(plan))
        return 1;
    return dm_common_divisor(plan->w2[DM_X], dm_axis_counts(plan, 2) ? plan->w2[2] : 0);
}

/* The largest squared distance of a stage, in its numbers. */
static int64_t largest(const distmap_plan *plan, const mc_stage *s, bool z) {
    const int64_t x = s->width - 1, y = s->rows - 1;
    return z ? (int64_t)plan->max2 : s->wx2 * x * x + (dm_axis_counts(plan, 2) ? s->wy2 * y * y : 0);
}

/* Rows along `axis`. */
static void set_stage(const distmap_plan *plan, mc_stage *s, int64_t planes, int axis) {
    const int64_t height = plan->shape[axis], rows = axis == 2 ? plan->rows : height;
    const uint64_t factor = axis == 2 ? mc_plane_factor(plan) : 1;
    s->planes = planes;
    s->width = (int32_t)plan->shape[DM_X];
    s->height = (int32_t)height;
    s->low = axis == 2 ? -(int32_t)plan->first_row : 0;
    s->rows = (int32_t)rows;
    s->groups = (int32_t)mc_divide_up(s->width, MC_GROUP);
    s->strips = (int32_t)mc_divide_up(s->width, 32);
    s->units = (int32_t)mc_divide_up(height, MC_UNIT);
    s->bands = (int32_t)mc_divide_up(height, 32);
    s->spans = (int32_t)mc_divide_up(height, MC_SPAN);
    s->by_strips = mc_divisor_of(s->strips);
    s->by_units = mc_divisor_of(s->units);
    s->by_spans = mc_divisor_of(s->spans);
    s->wx2 = (int32_t)(plan->w2[DM_X] / factor);
    s->squared = true;
    s->root_high = plan->unit.root_high, s->root_low = plan->unit.root_low, s->root_lower = plan->unit.root_lower;
    s->square_high = plan->unit.square_high, s->square_low = plan->unit.square_low;
    s->factor = (uint32_t)factor;
    s->most = MC_NOTHING - 1;
    s->nothing = MC_NOTHING;
    s->source_w2[0] = (int32_t)plan->w2[2];
    s->source_w2[1] = (int32_t)plan->w2[DM_X];
    s->linear[0] = plan->linear[0];
    s->linear[1] = plan->linear[axis == 2 ? 1 : 2];
    s->linear[2] = plan->linear[axis];
    s->index_first = plan->first_row * plan->linear[2];
    s->wy2 = plan->measured[axis] && rows > 1 ? (int32_t)(plan->w2[axis] / factor) : 1;
    s->per_wx2 = 1.0f / (float)s->wx2;
    s->apart[0] = sqrtf((float)s->wy2);
    s->apart[1] = sqrtf((float)plan->w2[DM_X]);
    s->large = largest(plan, s, axis == 1) >= DM_UNIT_EXACT_FLOAT;
    for (int64_t k = 0; k <= MC_REACH + 1; k++) {
        const int64_t cost = s->wy2 * k * k;
        s->done[k] = (uint16_t)(cost < MC_SURE ? cost : MC_SURE - 1);
        if (k <= MC_UNROLLED)
            s->cost[k] = (uint32_t)(cost < MC_SURE ? cost : MC_SURE) * 0x00010001u;
    }
    set_keys(s);
    for (int64_t i = 0; i < MC_FILL; i++) {
        const int64_t fall = 2 * s->wy2 * i;
        s->fall[i] = (uint32_t)(fall < MC_NONE ? fall : MC_NONE) * 0x00010001u;
    }
    while (1 << s->row_bits < rows)
        s->row_bits++;
    while (s->wx2 * s->clamp * s->clamp < MC_SURE)
        s->clamp++;
    set_columns(plan, s, axis == 1);
}

/* ---- Choice of the searches ---- */

bool mc_is_small(const distmap_plan *plan, const mc_stage *s) {
    enum { ROWS = MC_DIRECT_ROWS, MOST_ELEMENTS = 1 << 20, MOST_PAIRS = 1 << 30 }; /* of pixels and rows */
    const int64_t farthest = s->wy2 * ((int64_t)s->rows + ROWS) * (s->rows + ROWS);
    const int64_t largest = (int64_t)plan->max2 + farthest + (int64_t)s->wy2 * ROWS * ROWS;
    const bool fits = plan->wants_site ? largest << s->row_bits < 1 << 30 : largest < 1 << 24;
    return plan->params[MC_DIRECT] == MC_SMALL && fits && plan->elements <= MOST_ELEMENTS &&
           plan->elements * s->rows <= MOST_PAIRS && mc_shared_bytes(plan) >= MC_DIRECT_BYTES;
}

/* Whether a corner search in planes, or a bracket search along z whose points fit the shared memory, is possible: all rows must be on
 * this GPU. */
static bool has_brackets(const distmap_plan *plan, const mc_stage *s, bool z) {
    const bool fits = s->height <= MC_MOST_POINT_ROWS &&
                      MC_POINT_BYTES + (size_t)s->height * MC_POINT_ROW_BYTES <= mc_shared_bytes(plan);
    return plan->params[MC_BRACKETS] != MC_NEVER && s->rows == s->height && s->height >= MC_UNIT && !dm_by_kind(plan) &&
           !mc_is_small(plan, s) && (fits || !z);
}

/* Whether floats hold all their numbers exactly. The bracket search adds w MC_POINT_ROWS^2 to squared distances, also to those
 * of the rows of the last span beyond the plane (minplus_cuda_offers.cuh); the corner search adds less. */
static bool fits_floats(const distmap_plan *plan, const mc_stage *s, bool z) {
    const int64_t beyond = 2 * MC_SPAN * ((int64_t)s->height + MC_SPAN);
    return largest(plan, s, z) + s->wy2 * ((int64_t)MC_POINT_ROWS * MC_POINT_ROWS + beyond) < 1 << 24;
}

/* After the near search, planes of middle size use only the corner search. Large volumes use corners (planes) and brackets (z) for strips
 * with deep units, where they are faster. Other planes use corners for strips with few open rows. */
static void set_brackets(const distmap_plan *plan, mc_stage *s, bool z) {
    enum { MIDDLE_UNITS = 1 << 13, LARGE_UNITS = 1 << 16, PART_OF_FEW = 2 };
    const int64_t how = plan->params[MC_BRACKETS], units = s->planes * s->strips * s->units;
    const bool has = has_brackets(plan, s, z), floats = fits_floats(plan, s, z);
    const bool fits = has && !plan->wants_site && (floats || z);
    s->whole = z && !floats;
    s->mixed = fits && (how == MC_MIXED || (how == MC_SIZED && mc_has_z(plan) && units >= LARGE_UNITS));
    const bool alone = fits && how == MC_SIZED && !z && units <= MIDDLE_UNITS;
    s->brackets = s->mixed || alone;
    if (has && !z && !s->brackets && s->wy2 <= MC_CORNER_WEIGHT)
        s->few = s->height / PART_OF_FEW;
}

/* Corners for all strips, the far search for none. */
static void set_corners_only(const distmap_plan *plan, mc_stage *s) {
    if (plan->params[MC_BRACKETS] != MC_NEVER && s->height >= MC_UNIT && s->wy2 <= MC_CORNER_WEIGHT)
        s->few = s->height;
}

/* `planes_alone`: without the z stage, and of an image without z what comes before the far search. */
static mc_layout lay_out(const distmap_plan *plan, char *base, bool planes_alone) {
    mc_layout l = {.scratch = {.base = base, .unit = DM_CUDA_UNIT}};
    const int64_t *shape = plan->shape;
    const bool z = mc_has_z(plan), z_stage = z && !planes_alone, near_alone = planes_alone && !z;
    set_stage(plan, &l.planes, shape[0] * shape[1], 2);
    if (planes_alone)
        l.planes.factor = 1;
    if (near_alone)
        set_corners_only(plan, &l.planes);
    else
        set_brackets(plan, &l.planes, false);
    take_marks(&l, &l.planes);
    if (z_stage) {
        set_stage(plan, &l.z, shape[0] * shape[2], 1);
        set_brackets(plan, &l.z, true);
        take_marks(&l, &l.z);
    }
    l.marks = (int64_t)(l.scratch.used / sizeof(uint32_t));
    l.entries = dm_take(&l.scratch, l.planes.planes * l.planes.groups * l.planes.rows * 4, sizeof(mc_entry));
    l.planes.entries = l.entries ? l.entries - l.planes.low : NULL;
    take_bands(&l, plan, &l.planes);
    if (!near_alone && (!l.planes.brackets || l.planes.mixed))
        l.planes.list = dm_take(&l.scratch, l.planes.blocks * l.planes.list_pitch, sizeof(uint16_t));
    if (z_stage) {
        take_bands(&l, plan, &l.z);
        if (l.z.brackets)
            l.z.points = dm_take(&l.scratch, l.z.planes * l.z.strips * (l.z.spans + 1), sizeof *l.z.points);
        l.z.list = dm_take(&l.scratch, l.z.blocks * l.z.list_pitch, sizeof(uint16_t));
    }
    if (z) {
        l.store = dm_take(&l.scratch, plan->elements, sizeof *l.store);
        l.planes.alive = l.z.alive = dm_take(&l.scratch, l.planes.planes, sizeof *l.planes.alive);
    }
    if (!planes_alone && !mc_can_store_outputs(plan)) {
        l.squared = dm_take(&l.scratch, plan->elements, sizeof *l.squared);
        l.site = plan->wants_site ? dm_take(&l.scratch, plan->elements, sizeof *l.site) : NULL;
    }
    return l;
}

mc_layout mc_lay_out(const distmap_plan *plan, char *base) { return lay_out(plan, base, false); }

mc_layout mc_lay_out_planes(const distmap_plan *plan, char *base) { return lay_out(plan, base, true); }
