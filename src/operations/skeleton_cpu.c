/* skeleton/cpu: the integer medial axis from the coordinates of sites.
 *
 * Each row is compared with those beside it along every measured axis. A filter in vectors of float32 passes the few
 * elements that may be on the skeleton (skeleton_kernel.h); the rule of skeleton.h decides about those in FP64, so the bits
 * do not depend on the filter. Rows are independent of each other: threads change nothing.
 *
 * Cost: the inner plan with indices, then about 25 operations of the filter per element and pair of neighbours. Memory: the
 * indices, 4 bytes per element (8 beyond 2^31), and their coordinates, 2 for each measured axis (4 where one is longer than
 * 32767), beside the inner plan's.
 */
#include "operations/skeleton_cpu.h"

#include <string.h>

#include "core/scratch.h"
#include "cpu/rows.h"
#include "operations/inner.h"

enum { BRICK = 8 }; /* rows of a task along y, and along z */
static const sk_kernels *const kernels[DM_ISA_COUNT] = {
    [DM_PLAIN] = &dm_skeleton_plain,
#if defined(__x86_64__)
    [DM_SSE4] = &dm_skeleton_sse4,
    [DM_AVX2] = &dm_skeleton_avx2,
    [DM_AVX512] = &dm_skeleton_avx512,
#elif defined(__aarch64__)
    [DM_NEON] = &dm_skeleton_neon,
#endif
};
static const double MOST_ANISOTROPY = 1e12, MOST_GAMMA2 = 1e30; /* which the filter's float32 can take */
static const double INNER_SHARE = 0.6, SPLIT_SHARE = 0.1;

typedef struct work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    sk_rule rule;
    sk_edges edges; /* what is the same for all rows */
    const struct sk_kernels_of *kernels;
    bool filters;
    char *index;          /* linear ones of sites, int32 or int64 */
    char *plane[SK_AXES]; /* their coordinates along the measured axes */
    size_t size;          /* of a coordinate */
    uint8_t *worker_rows;
} work;

/* Rows of one task: pairs within it are compared once. */
typedef struct brick {
    const work *work;
    int64_t from[DM_X], to[DM_X]; /* along t, z and y */
    int64_t pitch[DM_X];          /* of hits, along z and y */
    uint8_t *hits;                /* by which neighbours an element may be marked */
    uint8_t *other;               /* a row for what nobody asks */
} brick;

static size_t row_bytes(const distmap_plan *plan) { return dm_round64((size_t)plan->shape[DM_X]); }
static size_t worker_bytes(const distmap_plan *plan) { return (BRICK * BRICK + 1) * row_bytes(plan); }

static distmap_problem inner_problem(const distmap_plan *plan) {
    distmap_problem inner = op_distances(plan);
    inner.want.index = plan->elements <= INT32_MAX ? DISTMAP_INT32 : DISTMAP_INT64;
    return inner;
}

static size_t lay_out(const distmap_plan *plan, work *w) {
    const distmap_problem inner = inner_problem(plan);
    dm_scratch walk = {.base = plan->scratch, .unit = DM_CPU_UNIT};
    w->size = sk_is_narrow(plan) ? sizeof(int16_t) : sizeof(int32_t);
    w->rule = sk_rule_of(plan);
    dm_take(&walk, 1, op_inner_bytes(plan, &inner));
    w->index = dm_take(&walk, plan->elements, distmap_dtype_size(inner.want.index));
    for (int k = 0; k < w->rule.axes; k++)
        w->plane[k] = dm_take(&walk, plan->elements, w->size);
    w->worker_rows = dm_take(&walk, plan->context->threads, worker_bytes(plan));
    return walk.used;
}

static size_t scratch_bytes(const distmap_plan *plan) {
    work w;
    return lay_out(plan, &w);
}

static distmap_status prepare(distmap_plan *plan) {
    const distmap_problem inner = inner_problem(plan);
    return op_inner_make(plan, &inner, INNER_SHARE);
}

/* ---- Coordinates ---- */

static int64_t coordinate(const work *w, int k, int64_t element) {
    return w->size == 2 ? ((int16_t *)w->plane[k])[element] : ((int32_t *)w->plane[k])[element];
}

static sk_point load(const work *w, int64_t element, const int64_t at[SK_AXES]) {
    sk_point p;
    for (int k = 0; k < w->rule.axes; k++) {
        p.at[k] = at[k];
        p.site[k] = coordinate(w, k, element);
    }
    return p;
}

/* Where element x of the row is, along the measured axes. */
static void place_of(const work *w, const int64_t row[DM_NDIM], int64_t x, int64_t at[SK_AXES]) {
    for (int k = 0; k < w->rule.axes; k++)
        at[k] = row[w->rule.axis[k]] + (w->rule.axis[k] == DM_X ? x : 0);
}

static void split_row(const work *w, const int64_t row[DM_NDIM], int64_t first) {
    const size_t index_size = distmap_dtype_size(w->plan->inner[0]->problem.want.index);
    sk_split split = {.index = w->index + first * (int64_t)index_size, .n = w->plan->shape[DM_X]};
    memcpy(split.shape, w->plan->shape, sizeof split.shape);
    for (int k = 0; k < w->rule.axes; k++)
        split.to[w->rule.axis[k]] = w->plane[k] + first * (int64_t)w->size;
    w->kernels->split[index_size > 4](&split);
    if (!w->rule.border)
        return;
    for (int64_t x = 0; x < w->plan->shape[DM_X]; x++) {
        if (coordinate(w, 0, first + x) != DISTMAP_INDEX_BORDER)
            continue;
        int64_t at[SK_AXES];
        place_of(w, row, x, at);
        sk_point p = load(w, first + x, at);
        sk_leave(&w->rule, &p);
        for (int k = 0; k < w->rule.axes; k++) {
            if (w->size == 2)
                ((int16_t *)w->plane[k])[first + x] = (int16_t)p.site[k];
            else
                ((int32_t *)w->plane[k])[first + x] = (int32_t)p.site[k];
        }
    }
}

/* ---- The filter ---- */

/* Lengths are counted in the least pitch, so that float32 holds them. */
static void set_filter(work *w) {
    const sk_rule *r = &w->rule;
    const double h2 = r->pitch * r->pitch;
    w->edges = (sk_edges){.axes = r->axes, .pruning = r->pruning, .h2 = 1};
    w->edges.gamma2 = (float)fmin(r->gamma2 / (r->pruning == DISTMAP_PRUNING_LINEAR ? 1 : h2), MOST_GAMMA2);
    w->edges.more = (float)(r->more / h2);
    w->filters = true;
    for (int k = 0; k < r->axes; k++) {
        w->edges.w2[k] = (float)(r->w2[k] / h2);
        w->edges.slope[k] = r->axis[k] == DM_X;
        w->filters &= r->w2[k] / h2 <= MOST_ANISOTROPY;
    }
}

/* Bits of an element whose neighbour before it, or behind it, along measured axis k may mark it. */
static uint8_t before_bit(int k) { return (uint8_t)(1 << 2 * k); }
static uint8_t behind_bit(int k) { return (uint8_t)(2 << 2 * k); }

/* Pairs along measured axis k: `count` elements from the beginning of row `row` on, of which `element` is the first, and
 * those behind them. */
static void compare(const brick *b, const int64_t row[DM_NDIM], int k, int64_t element, int64_t count, uint8_t *first,
                    uint8_t *second) {
    const work *w = b->work;
    const int64_t apart = w->plan->linear[w->rule.axis[k]];
    sk_edges edges = w->edges;
    for (int i = 0; i < w->rule.axes; i++) {
        edges.e[i] = w->plane[i] + element * (int64_t)w->size;
        edges.q[i] = (const char *)edges.e[i] + apart * (int64_t)w->size;
        edges.at[i] = (int32_t)row[w->rule.axis[i]];
    }
    edges.step[k] = 1;
    edges.n = (int32_t)count;
    edges.first = first;
    edges.second = second;
    edges.of_first = behind_bit(k);
    edges.of_second = before_bit(k);
    w->kernels->edges(&edges);
}

/* A row with itself. */
static void compare_within(const brick *b, const int64_t row[DM_NDIM], int k, int64_t element, uint8_t *hit) {
    const int64_t nx = b->work->plan->shape[DM_X];
    memset(b->other, 0, (size_t)nx);
    compare(b, row, k, element, nx - 1, hit, b->other);
    for (int64_t x = 1; x < nx; x++)
        hit[x] |= b->other[x - 1];
    if (b->work->rule.border) {
        hit[0] |= before_bit(k);
        hit[nx - 1] |= behind_bit(k);
    }
}

/* A row with those beside it along `axis`: what the one before it in the brick told stands in `hit` already. */
static void compare_beside(const brick *b, const int64_t row[DM_NDIM], int k, int64_t element, uint8_t *hit) {
    const work *w = b->work;
    const int axis = w->rule.axis[k];
    const int64_t nx = w->plan->shape[DM_X], apart = w->plan->linear[axis];
    if (row[axis] == b->from[axis] && row[axis] > 0) {
        int64_t before[DM_NDIM];
        memcpy(before, row, sizeof before);
        before[axis]--;
        compare(b, before, k, element - apart, nx, b->other, hit);
    }
    if (row[axis] + 1 < b->to[axis])
        compare(b, row, k, element, nx, hit, hit + b->pitch[axis]);
    else if (row[axis] + 1 < w->plan->shape[axis])
        compare(b, row, k, element, nx, hit, b->other);
    if (!w->rule.border)
        return;
    const int outside =
        (row[axis] == 0 ? before_bit(k) : 0) | (row[axis] + 1 == w->plan->shape[axis] ? behind_bit(k) : 0);
    for (int64_t x = 0; outside && x < nx; x++)
        hit[x] |= (uint8_t)outside;
}

static void filter_row(const brick *b, const int64_t row[DM_NDIM], int64_t element, uint8_t *hit) {
    const sk_rule *r = &b->work->rule;
    if (!b->work->filters) {
        memset(hit, 0xFF, (size_t)b->work->plan->shape[DM_X]);
        return;
    }
    for (int k = 0; k < r->axes; k++)
        (r->axis[k] == DM_X ? compare_within : compare_beside)(b, row, k, element, hit);
}

/* ---- The rule ---- */

/* Whether e is on the skeleton because of the neighbour `step` along measured axis k. */
static bool is_marked_by(const work *w, const sk_point *e, int64_t element, int k, int64_t step) {
    int64_t at[SK_AXES];
    memcpy(at, e->at, sizeof at);
    at[k] += step;
    if (at[k] >= 0 && at[k] < w->rule.length[k]) {
        const sk_point q = load(w, element + step * w->plan->linear[w->rule.axis[k]], at);
        return sk_marks(&w->rule, e, &q);
    }
    sk_point q;
    memcpy(q.at, at, sizeof at);
    memcpy(q.site, at, sizeof at);
    return w->rule.border && sk_marks(&w->rule, e, &q);
}

static bool is_marked(const work *w, const sk_point *e, int64_t element, uint8_t hit) {
    bool outside = false, none = !w->rule.border;
    for (int k = 0; k < w->rule.axes; k++) {
        outside |= e->site[k] != e->at[k];
        none &= e->site[k] == DISTMAP_INDEX_NONE;
    }
    for (int k = 0; outside && !none && k < w->rule.axes; k++)
        if ((hit & before_bit(k) && is_marked_by(w, e, element, k, -1)) ||
            (hit & behind_bit(k) && is_marked_by(w, e, element, k, 1)))
            return true;
    return false;
}

static double distance_of(const distmap_plan *plan, const sk_rule *r, const sk_point *e, bool single) {
    uint64_t squared = 0;
    double real = 0;
    for (int k = r->axes - 1; k >= 0; k--) {
        const int64_t d = e->at[k] - e->site[k];
        squared += plan->w2[r->axis[k]] * (uint64_t)(d * d);
        real = fma(r->w2[k], (double)(d * d), real);
    }
    if (single)
        return sqrtf(plan->number == DM_F64 ? (float)real : (float)squared);
    return sqrt(plan->number == DM_F64 ? real : (double)squared);
}

static void clear_row(const dm_array *array, char *row, int64_t nx) {
    const int64_t size = (int64_t)distmap_dtype_size(array->dtype), stride = array->stride[DM_X];
    if (!array->data)
        return;
    if (stride == size || nx == 1)
        memset(row, 0, (size_t)(nx * size));
    else
        for (int64_t x = 0; x < nx; x++)
            memset(row + x * stride, 0, (size_t)size);
}

static void emit_row(const brick *b, const int64_t row[DM_NDIM], int64_t first, const uint8_t *hit) {
    const work *w = b->work;
    const int64_t nx = w->plan->shape[DM_X];
    const dm_array *mask = &w->arrays->mask, *out = &w->arrays->distance;
    char *mask_row = dm_row_address(mask, row), *out_row = dm_row_address(out, row);
    clear_row(mask, mask_row, nx);
    clear_row(out, out_row, nx);
    for (int64_t x = 0; x < nx; x++) {
        uint64_t eight;
        if (x + 8 <= nx && (memcpy(&eight, hit + x, 8), eight == 0)) {
            x += 7;
            continue;
        }
        if (!hit[x])
            continue;
        int64_t at[SK_AXES];
        place_of(w, row, x, at);
        const sk_point e = load(w, first + x, at);
        if (!is_marked(w, &e, first + x, hit[x]))
            continue;
        if (mask->data)
            *(uint8_t *)(mask_row + x * mask->stride[DM_X]) = 1;
        if (out->dtype == DISTMAP_FLOAT32)
            *(float *)(out_row + x * out->stride[DM_X]) = (float)distance_of(w->plan, &w->rule, &e, true);
        else if (out->dtype == DISTMAP_FLOAT64)
            *(double *)(out_row + x * out->stride[DM_X]) = distance_of(w->plan, &w->rule, &e, false);
    }
}

/* ---- Tasks ---- */

static int64_t bricks_along(const distmap_plan *plan, int axis) {
    return axis == 1 || axis == 2 ? (plan->shape[axis] + BRICK - 1) / BRICK : plan->shape[axis];
}

static brick brick_at(const work *w, size_t index, int worker) {
    const distmap_plan *plan = w->plan;
    int64_t at = (int64_t)index;
    brick b = {.work = w, .from = {0}, .to = {0}};
    for (int axis = 2; axis >= 0; axis--) {
        const int64_t length = axis ? BRICK : 1, count = bricks_along(plan, axis);
        b.from[axis] = at % count * length;
        b.to[axis] = b.from[axis] + length < plan->shape[axis] ? b.from[axis] + length : plan->shape[axis];
        at /= count;
    }
    b.pitch[2] = (int64_t)row_bytes(plan);
    b.pitch[1] = b.pitch[2] * (b.to[2] - b.from[2]);
    b.hits = w->worker_rows + (size_t)worker * worker_bytes(plan);
    b.other = b.hits + BRICK * BRICK * row_bytes(plan);
    return b;
}

static int64_t first_of_row(const distmap_plan *plan, const int64_t row[DM_NDIM]) {
    return row[0] * plan->linear[0] + row[1] * plan->linear[1] + row[2] * plan->linear[2];
}

static void split_task(void *arg, size_t index, int worker) {
    const work *w = arg;
    const brick b = brick_at(w, index, worker);
    for (int64_t z = b.from[1]; z < b.to[1]; z++)
        for (int64_t y = b.from[2]; y < b.to[2]; y++) {
            const int64_t row[DM_NDIM] = {b.from[0], z, y, 0};
            split_row(w, row, first_of_row(w->plan, row));
        }
}

static void mark_task(void *arg, size_t index, int worker) {
    const work *w = arg;
    const brick b = brick_at(w, index, worker);
    memset(b.hits, 0, (size_t)((b.to[1] - b.from[1]) * b.pitch[1]));
    for (int64_t z = b.from[1]; z < b.to[1]; z++)
        for (int64_t y = b.from[2]; y < b.to[2]; y++) {
            const int64_t row[DM_NDIM] = {b.from[0], z, y, 0}, first = first_of_row(w->plan, row);
            uint8_t *hit = b.hits + (z - b.from[1]) * b.pitch[1] + (y - b.from[2]) * b.pitch[2];
            filter_row(&b, row, first, hit);
            emit_row(&b, row, first, hit);
        }
}

/* ---- The row of the table ---- */

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    const sk_kernels *isa = kernels[plan->context->isa];
    work w = {.plan = plan, .arrays = arrays, .kernels = sk_is_narrow(plan) ? &isa->narrow : &isa->wide};
    const size_t tasks = (size_t)(bricks_along(plan, 0) * bricks_along(plan, 1) * bricks_along(plan, 2));
    lay_out(plan, &w);
    set_filter(&w);
    const distmap_arrays inner = {.input = op_view(plan, &arrays->input),
                                  .index = op_dense(plan, w.index, plan->inner[0]->problem.want.index)};
    dm_phase(plan, "transform");
    TRY(op_inner_run(plan, 0, &inner, ~0u));
    dm_phase(plan, "skeleton");
    TRY(dm_parallel(plan, tasks, split_task, &w, SPLIT_SHARE));
    return dm_parallel(plan, tasks, mark_task, &w, 1 - plan->progress_base);
}

const dm_method dm_skeleton_cpu = {
    .info =
        {
            .name = "skeleton/cpu",
            .summary = "integer medial axis from the sites' coordinates, filtered in vectors",
            .source = "Hesselink and Roerdink 2008",
            .device = "cpu",
            .exact = true,
            .field = DISTMAP_FIELD_SKELETON,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = prepare,
    .release = op_inner_release,
};
