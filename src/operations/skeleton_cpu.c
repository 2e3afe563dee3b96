/* skeleton/cpu: the integer medial axis from the coordinates of sites.
 *
 * Each row is compared with the next one along every measured axis. Vectors of 16-bit integers, or of float32 where pitches
 * differ, pass the few pairs of neighbours that may be on the skeleton (skeleton_kernel.h); the rule of skeleton.h decides
 * about those in FP64, so the bits do not depend on what is passed. Threads take bricks of rows, and compare pairs across
 * their faces for themselves.
 *
 * Cost: the inner plan with indices, then for each pair 14 (square root) or 6 operations per axis on 32 lanes of AVX-512, and
 * the rule for one pair in 20 to 60. Memory: the
 * indices, 4 bytes per element (8 beyond 2^31), and their coordinates, 2 for each measured axis (4 where one is longer than
 * 32767), beside the inner plan's.
 */
#include "operations/skeleton_cpu.h"

#include <stdlib.h>
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
static const double MOST_ANISOTROPY = 1e12, MOST_GAMMA2 = 1e30; /* which the filter's float32 can take, */
static const double MOST_BOUND = 20000, ROUNDING = 1e-9;        /* and 16-bit integers */
static const double INNER_SHARE = 0.6, SPLIT_SHARE = 0.1;

typedef struct work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    sk_rule rule;
    sk_edges edges; /* what is the same for all rows */
    const struct sk_kernels_of *kernels;
    void (*compare)(const sk_edges *edges); /* NULL: all pairs pass */
    char *index;                            /* linear ones of sites, int32 or int64 */
    char *plane[SK_AXES];                   /* their coordinates along the measured axes */
    size_t size;                            /* of a coordinate */
    uint8_t *worker_rows;
} work;

/* Rows of one task: pairs within it are compared once. */
typedef struct brick {
    const work *work;
    int64_t from[DM_X], to[DM_X]; /* along t, z and y */
    int64_t pitch[DM_X];          /* of marks, along z and y */
    uint8_t *marks;               /* 1 on the skeleton, else 0 */
    uint8_t *nobody;              /* of a row that is another task's */
    uint8_t *pairs;               /* which of a row passed, and the same as bits */
    uint64_t *passed;
} brick;

static size_t row_bytes(const distmap_plan *plan) { return dm_round64((size_t)plan->shape[DM_X]); }
static size_t worker_bytes(const distmap_plan *plan) {
    return (BRICK * BRICK + 2) * row_bytes(plan) + dm_round64(row_bytes(plan) / 8);
}

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

/* Element x of the row that begins with `element`, along the measured axes. */
static inline void load(const work *w, int axes, const int64_t row[DM_NDIM], int64_t element, int64_t x, sk_point *p) {
    for (int k = 0; k < axes; k++) {
        p->at[k] = row[w->rule.axis[k]] + (w->rule.axis[k] == DM_X ? x : 0);
        p->site[k] = coordinate(w, k, element + x);
    }
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
        sk_point p;
        load(w, w->rule.axes, row, first, x, &p);
        sk_leave(&w->rule, &p);
        for (int k = 0; k < w->rule.axes; k++) {
            if (w->size == 2)
                ((int16_t *)w->plane[k])[first + x] = (int16_t)p.site[k];
            else
                ((int32_t *)w->plane[k])[first + x] = (int32_t)p.site[k];
        }
    }
}

/* ---- Pairs of neighbours ---- */

/* Lengths are counted in the least pitch, so that float32 holds them. */
static void choose_filter(work *w, const sk_kernels *isa) {
    const sk_rule *r = &w->rule;
    const double h2 = r->pitch * r->pitch, gamma2 = r->gamma2 / h2;
    bool filters = true, screens = r->pruning != DISTMAP_PRUNING_LINEAR;
    w->edges = (sk_edges){.axes = r->axes, .pruning = r->pruning, .h2 = 1, .more = (float)(r->more / h2)};
    w->edges.gamma2 = (float)fmin(r->pruning == DISTMAP_PRUNING_LINEAR ? r->gamma2 : gamma2, MOST_GAMMA2);
    w->edges.bound = (uint16_t)(r->pruning == DISTMAP_PRUNING_SQUARE_ROOT
                                    ? floor(r->more / h2)
                                    : fmin(fmax(floor(gamma2 * (1 - ROUNDING)) + 1, 2), MOST_BOUND));
    for (int k = 0; k < r->axes; k++) {
        w->edges.w2[k] = (float)(r->w2[k] / h2);
        w->edges.slope[k] = r->axis[k] == DM_X;
        filters &= r->w2[k] / h2 <= MOST_ANISOTROPY;
        screens &= r->w2[k] == h2 && r->length[k] < SK_SCREEN;
    }
    w->compare = screens ? isa->screen : filters ? w->kernels->edges : NULL;
}

/* The pairs that passed. The count of axes is told as a constant. */
static inline __attribute__((always_inline)) void judge(const brick *b, int axes, const int64_t row[DM_NDIM], int k,
                                                        int64_t element, int64_t count, uint8_t *first,
                                                        uint8_t *second) {
    const work *w = b->work;
    const int64_t apart = w->plan->linear[w->rule.axis[k]];
    sk_rule rule = w->rule;
    rule.axes = axes;
    for (int64_t word = 0; word < (count + 63) / 64; word++)
        for (uint64_t bits = b->passed[word]; bits; bits &= bits - 1) {
            const int64_t x = 64 * word + __builtin_ctzll(bits);
            sk_point e, q;
            load(w, axes, row, element, x, &e);
            load(w, axes, row, element + apart, x, &q);
            q.at[k]++;
            const unsigned marked = sk_pair(&rule, &e, &q);
            first[x] |= marked & SK_FIRST;
            second[x] |= marked >> 1;
        }
}

/* Pairs along measured axis k: `count` elements from the beginning of row `row` on, of which `element` is the first, and
 * those next to them, are marked in `first` and `second`. */
static void mark_pairs(const brick *b, const int64_t row[DM_NDIM], int k, int64_t element, int64_t count,
                       uint8_t *first, uint8_t *second) {
    const work *w = b->work;
    const int64_t apart = w->plan->linear[w->rule.axis[k]];
    if (w->compare) {
        sk_edges edges = w->edges;
        for (int i = 0; i < w->rule.axes; i++) {
            edges.e[i] = w->plane[i] + element * (int64_t)w->size;
            edges.q[i] = (const char *)edges.e[i] + apart * (int64_t)w->size;
            edges.at[i] = (int32_t)row[w->rule.axis[i]];
        }
        edges.step[k] = 1;
        edges.n = (int32_t)count;
        edges.pairs = b->pairs;
        edges.passed = b->passed;
        w->compare(&edges);
    } else {
        memset(b->passed, 0xFF, (size_t)(count / 64 * 8));
        if (count % 64)
            b->passed[count / 64] = ((uint64_t)1 << count % 64) - 1;
    }
    switch (w->rule.axes) {
    case 1: judge(b, 1, row, k, element, count, first, second); break;
    case 2: judge(b, 2, row, k, element, count, first, second); break;
    default: judge(b, 3, row, k, element, count, first, second);
    }
}

/* Elements of a row beside elements outside the image, which are background. */
static void mark_beside_border(const work *w, const int64_t row[DM_NDIM], int k, int64_t element, uint8_t *marks) {
    const int axis = w->rule.axis[k];
    const int64_t nx = w->plan->shape[DM_X];
    for (int64_t x = 0; x < nx; x += axis == DM_X && nx > 1 ? nx - 1 : 1) {
        sk_point e;
        load(w, w->rule.axes, row, element, x, &e);
        for (int64_t outside = -1; outside <= w->rule.length[k]; outside += w->rule.length[k] + 1) {
            sk_point q = e;
            q.at[k] = outside;
            memcpy(q.site, q.at, sizeof q.site);
            if (llabs(outside - e.at[k]) == 1)
                marks[x] |= sk_pair(&w->rule, &e, &q) & SK_FIRST;
        }
    }
}

/* Marks what pairs of a row with itself, and with those beside it, tell of it and of the brick's later rows. */
static void mark_row(const brick *b, const int64_t row[DM_NDIM], int64_t element, uint8_t *marks) {
    const work *w = b->work;
    const int64_t nx = w->plan->shape[DM_X];
    for (int k = 0; k < w->rule.axes; k++) {
        const int axis = w->rule.axis[k];
        const bool at_end = row[axis] + 1 == w->plan->shape[axis];
        if (axis == DM_X) {
            mark_pairs(b, row, k, element, nx - 1, marks, marks + 1);
        } else {
            if (row[axis] == b->from[axis] && row[axis] > 0) {
                int64_t before[DM_NDIM];
                memcpy(before, row, sizeof before);
                before[axis]--;
                mark_pairs(b, before, k, element - w->plan->linear[axis], nx, b->nobody, marks);
            }
            if (!at_end)
                mark_pairs(b, row, k, element, nx, marks,
                           row[axis] + 1 < b->to[axis] ? marks + b->pitch[axis] : b->nobody);
        }
        if (w->rule.border && (axis == DM_X || at_end || row[axis] == 0))
            mark_beside_border(w, row, k, element, marks);
    }
}

/* ---- Results ---- */

static double distance_of(const distmap_plan *plan, const sk_rule *r, const sk_point *e, bool single) {
    uint64_t squared = 0;
    double real = 0;
    for (int k = r->axes - 1; k >= 0; k--) {
        const int64_t d = e->at[k] - e->site[k];
        squared += plan->w2[r->axis[k]] * (uint64_t)(d * d);
        real = fma(r->w2[k], (double)(d * d), real);
    }
    if (plan->number == DM_F64)
        return single ? (double)(float)sqrt(real) : sqrt(real);
    return single ? (double)dm_unit_distancef(&plan->unit, squared) : dm_unit_distance(&plan->unit, squared);
}

static void emit_mask(const dm_array *mask, char *row, const uint8_t *marks, int64_t nx) {
    const int64_t stride = mask->stride[DM_X];
    if (stride == 1)
        memcpy(row, marks, (size_t)nx);
    else
        for (int64_t x = 0; x < nx; x++)
            row[x * stride] = (char)marks[x];
}

static void emit_distance(const work *w, const dm_array *out, char *out_row, const int64_t row[DM_NDIM],
                          int64_t element, const uint8_t *marks) {
    const int64_t nx = w->plan->shape[DM_X], stride = out->stride[DM_X];
    for (int64_t x = 0; x < nx; x++) {
        double d = 0;
        if (marks[x]) {
            sk_point e;
            load(w, w->rule.axes, row, element, x, &e);
            d = distance_of(w->plan, &w->rule, &e, out->dtype == DISTMAP_FLOAT32);
        }
        if (out->dtype == DISTMAP_FLOAT32)
            *(float *)(out_row + x * stride) = (float)d;
        else
            *(double *)(out_row + x * stride) = d;
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
    b.marks = w->worker_rows + (size_t)worker * worker_bytes(plan);
    b.nobody = b.marks + BRICK * BRICK * row_bytes(plan);
    b.pairs = b.nobody + row_bytes(plan);
    b.passed = (uint64_t *)(void *)(b.pairs + row_bytes(plan));
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
    const dm_array *mask = &w->arrays->mask, *out = &w->arrays->distance;
    const brick b = brick_at(w, index, worker);
    memset(b.marks, 0, (size_t)((b.to[1] - b.from[1]) * b.pitch[1]));
    for (int64_t z = b.from[1]; z < b.to[1]; z++)
        for (int64_t y = b.from[2]; y < b.to[2]; y++) {
            const int64_t row[DM_NDIM] = {b.from[0], z, y, 0}, element = first_of_row(w->plan, row);
            uint8_t *marks = b.marks + (z - b.from[1]) * b.pitch[1] + (y - b.from[2]) * b.pitch[2];
            mark_row(&b, row, element, marks);
            if (mask->data)
                emit_mask(mask, dm_row_address(mask, row), marks, w->plan->shape[DM_X]);
            if (out->data)
                emit_distance(w, out, dm_row_address(out, row), row, element, marks);
        }
}

/* ---- The row of the table ---- */

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    const sk_kernels *isa = kernels[plan->context->isa];
    work w = {.plan = plan, .arrays = arrays, .kernels = sk_is_narrow(plan) ? &isa->narrow : &isa->wide};
    const size_t tasks = (size_t)(bricks_along(plan, 0) * bricks_along(plan, 1) * bricks_along(plan, 2));
    lay_out(plan, &w);
    choose_filter(&w, isa);
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
