/* erosion/cpu: the squared distance map by morphological erosions with small structuring functions that vary from step to
 * step.
 *
 *     kernel=2d      f <- min over the 3 x 3 neighbours y of f(y) - b_i(y - x),   i = 1, 2, ... until f is stable, where
 *                    -b_i is w^2 (2i - 1) for a step along an axis and the sum of both axes' for a diagonal one
 *     kernel=1d      the columns, until stable, by the one-dimensional b_i, eight of them added up to a function G_k
 *                    17 elements long (the paper's 1 x 16); then the rows likewise
 *     kernel=1d-lz   the columns by two sequential passes (core/sequential.h), then the rows by the G_k
 *
 * Exact: b_i is the sum of one function for each axis, so after n steps f(x) is the least, over all displacements (dx, dy)
 * of up to n steps along each axis, of f plus what the cheapest steps for them cost. Those are the first |dx| and the first
 * |dy|, at 1 + 3 + ... + (2 |dx| - 1) = dx^2, and so on: the squared distance, and never less. All diagonal steps come
 * first and the way stays in the rectangle between both ends, so images need no margin. A step that changes nothing leaves
 * nothing to do for later ones, which cost more. The paper bounds the steps by the diagonal's length; the longer side less
 * 1 is enough.
 *
 * The paper looks at all of the image in each step. Here a step looks at tiles, and at that part of a tile, where the step
 * before changed something, which leaves every result as it is: see erosion_tiles.h and erosion_kernel.h. `tile` and
 * `steps` say how much is eroded in the cache, for how many steps.
 *
 * Time: O(elements * largest distance), less where fronts are thin. Memory: two maps of 4 bytes per element (8 beyond 32-bit
 * squares), and two regions per thread.
 *
 * Source: the paper that measures 2D-GPU, 1D-GPU and 1D-LZ-GPU against Eggers-CPU and 1D-LZ-CPU: its algorithm 1, equations
 * 3 and 4, sections 2.1, 3.1 and 3.2. The b_i are those of Huang and Mitchell, "A Euclidean Distance Transform Using
 * Grayscale Morphology Decomposition" (1994).
 */
#include <string.h>

#include "core/sequential.h"
#include "cpu/rows.h"
#include "cpu/values.h"
#include "methods/erosion/erosion_tiles.h"

#define N uint32_t
#define NAME(x) x##_32
#include "methods/erosion/erosion_kernel.h"
#undef N
#undef NAME
#define N uint64_t
#define NAME(x) x##_64
#include "methods/erosion/erosion_kernel.h"
#undef N
#undef NAME

DM_SEQUENTIAL(column_32, static inline, uint32_t)
DM_SEQUENTIAL(column_64, static inline, uint64_t)

enum { KERNEL, TILE, STEPS };

static const distmap_param_info params[] = {
    [KERNEL] = {"kernel", EROSION_2D, EROSION_2D, EROSION_1D_LZ, EROSION_KERNEL_SUMMARY, erosion_kernels},
    [TILE] = {"tile", 64, 8, 256, "side of a tile", NULL},
    [STEPS] = {"steps", 16, 1, 64, "erosions of a tile at a time; with kernel=1d and 1d-lz, in eights", NULL},
};

struct work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    struct erosion_pass pass;
    int64_t round;
    char *map[2];        /* from, to */
    uint8_t *changed[2]; /* tiles, in the round before and in this one */
    char *workers;       /* their regions; or a row, and its sites */
};

/* ---- Memory ---- */

static struct erosion_pass pass_of(const distmap_plan *plan, enum erosion_axes axes) {
    const int64_t steps = plan->params[STEPS];
    return erosion_pass_make(plan, axes, plan->params[TILE], axes == EROSION_ALONG_BOTH ? steps : (steps + 7) / 8);
}

static size_t map_bytes(const distmap_plan *plan) {
    return dm_round64((size_t)plan->elements * dm_number_size(plan->number));
}

static int64_t most(const distmap_plan *plan, bool tiles) {
    int64_t result = 0;
    for (int axes = EROSION_ALONG_Y; axes <= EROSION_ALONG_BOTH; axes++) {
        const struct erosion_pass p = pass_of(plan, (enum erosion_axes)axes);
        const int64_t count = tiles ? p.count : p.area;
        if ((plan->params[KERNEL] == EROSION_2D) == (axes == EROSION_ALONG_BOTH) && count > result)
            result = count;
    }
    return result;
}

static size_t flag_bytes(const distmap_plan *plan) { return dm_round64((size_t)most(plan, true)); }

static size_t worker_bytes(const distmap_plan *plan) {
    const size_t regions = 2 * (size_t)most(plan, false) * dm_number_size(plan->number);
    const size_t row = (size_t)plan->shape[DM_X] * 8;
    return dm_round64(regions > row ? regions : row);
}

static size_t scratch_bytes(const distmap_plan *plan) {
    return 2 * map_bytes(plan) + 2 * flag_bytes(plan) + (size_t)plan->context->threads * worker_bytes(plan);
}

/* ---- Tasks ---- */

static void read_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    distmap_plan *plan = w->plan;
    uint8_t *sites = (uint8_t *)w->workers + (size_t)worker * worker_bytes(plan);
    const int64_t n = plan->shape[DM_X];
    int64_t at[DM_NDIM];
    dm_row_place(plan, (int64_t)index, at);
    dm_row_sites(plan, &w->arrays->input, at, n, sites);
    for (int64_t x = 0; x < n; x++)
        dm_value_store(plan, w->map[0], (int64_t)index * n + x, sites[x] ? 0 : UINT64_MAX);
}

static void tile_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    void *regions = w->workers + (size_t)worker * worker_bytes(w->plan);
    const struct erosion_region r = erosion_region_of(&w->pass, (int64_t)index);
    bool changed = false;
    if (w->round == 0 || erosion_is_active(&w->pass, &r, (int64_t)index, w->changed[0]))
        changed = w->plan->number == DM_U32
                      ? round_32(&w->pass, &r, w->round, (uint32_t *)w->map[0], (uint32_t *)w->map[1], regions)
                      : round_64(&w->pass, &r, w->round, (uint64_t *)w->map[0], (uint64_t *)w->map[1], regions);
    w->changed[1][index] = changed;
}

static void column_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    const distmap_plan *plan = w->plan;
    const int64_t width = plan->shape[DM_X], height = plan->shape[2];
    const int64_t first = (int64_t)index / width * height * width + (int64_t)index % width;
    (void)worker;
    if (plan->number == DM_U32)
        column_32_line((uint32_t *)w->map[0] + first, height, width, (uint32_t)plan->w2[2]);
    else
        column_64_line((uint64_t *)w->map[0] + first, height, width, plan->w2[2]);
}

static void emit_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    distmap_plan *plan = w->plan;
    const int64_t n = plan->shape[DM_X];
    int64_t at[DM_NDIM];
    (void)worker;
    dm_row_place(plan, (int64_t)index, at);
    dm_row_emit(plan, w->arrays, at, n, w->map[0] + index * (size_t)n * dm_number_size(plan->number), NULL);
}

/* ---- The method ---- */

/* Rounds until no tile changes. The result is in map[0]. */
static distmap_status erode(struct work *w, enum erosion_axes axes, double share) {
    w->pass = pass_of(w->plan, axes);
    bool changed = true;
    for (w->round = 0; changed && w->round < w->pass.rounds; w->round++) {
        TRY(dm_parallel(w->plan, (size_t)w->pass.count, tile_task, w, share / (double)w->pass.rounds));
        char *const map = w->map[0];
        uint8_t *const flags = w->changed[0];
        w->map[0] = w->map[1];
        w->map[1] = map;
        w->changed[0] = w->changed[1];
        w->changed[1] = flags;
        changed = memchr(w->changed[0], true, (size_t)w->pass.count) != NULL;
    }
    return DISTMAP_OK;
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    char *p = plan->scratch;
    struct work w = {.plan = plan, .arrays = arrays, .map = {p, p + map_bytes(plan)}};
    p += 2 * map_bytes(plan);
    w.changed[0] = (uint8_t *)p;
    w.changed[1] = (uint8_t *)p + flag_bytes(plan);
    w.workers = p + 2 * flag_bytes(plan);
    const size_t rows = (size_t)(plan->elements / plan->shape[DM_X]);
    dm_phase(plan, "read");
    TRY(dm_parallel(plan, rows, read_task, &w, 0.1));
    dm_phase(plan, plan->params[KERNEL] == EROSION_2D ? "erosions" : "columns");
    if (plan->params[KERNEL] == EROSION_2D)
        TRY(erode(&w, EROSION_ALONG_BOTH, 0.8));
    if (plan->params[KERNEL] == EROSION_1D)
        TRY(erode(&w, EROSION_ALONG_Y, 0.4));
    if (plan->params[KERNEL] == EROSION_1D_LZ && dm_axis_counts(plan, 2))
        TRY(dm_parallel(plan, rows / (size_t)plan->shape[2] * (size_t)plan->shape[DM_X], column_task, &w, 0.4));
    if (plan->params[KERNEL] != EROSION_2D) {
        dm_phase(plan, "rows");
        TRY(erode(&w, EROSION_ALONG_X, 0.4));
    }
    dm_phase(plan, "emit");
    return dm_parallel(plan, rows, emit_task, &w, 1 - plan->progress_base);
}

const dm_method dm_erosion_cpu = {
    .info =
        {
            .name = "erosion/cpu",
            .summary = "erosions with small structuring functions that vary from step to step, until nothing changes",
            .source = "Huang and Mitchell 1994; decomposed for GPUs: 2D, 1D, 1D-LZ",
            .device = "cpu",
            .exact = true,
            .params = params,
            .param_count = sizeof params / sizeof *params,
        },
    .refuses = dm_refuses_all_but_plane_distances,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
