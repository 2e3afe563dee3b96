/* lz/cpu: the distance map by one-dimensional erosions with queues, of Lotufo and Zampirolli.
 *
 * An erosion by the structuring function b_i, which is -w^2 (2i - 1) one element to the east and to the west and 0 at its
 * origin,
 *
 *     f(x) = min(f(x), f(x - 1) + w^2 (2i - 1), f(x + 1) + w^2 (2i - 1)),
 *
 * for i = 1, 2, ... gives min over y of f(y) + w^2 (x - y)^2 in the end: steps 1, 2, ..., d together cost w^2 d^2, and no
 * other d of the steps cost less. Axis after axis this is the squared distance map.
 *
 * First axis: f is 0 or infinite, and two sequential passes do (core/sequential.h).
 *
 * Other axes: two queues for each line, of the elements that are to pass their value on to the east, and to the west; at
 * first all. In round i each of them offers f + w^2 (2i - 1) to its neighbour, which joins the next round's queue if that
 * is less than what it has. The eastern queue goes from east to west, so that nothing is passed on twice in a round, the
 * western one the other way round. Both end empty.
 *
 * Exact: an element that did not improve in round i - 1 need not offer in round i, for it offered as much or less, at lower
 * cost, when it last improved, and its neighbour is no worse since. An improvement from the west need not go back west,
 * where it came from. So each round leaves what the whole erosion would.
 *
 * Time: two passes, then for each further axis as many operations as improvements: from O(1) per element, where lines have
 * sites everywhere, to O(n) where one offer after another goes along the line. Any dimension. Memory: 4 bytes per element
 * (8 beyond 32-bit squares), and 16 lines and two queues per thread.
 *
 * Source: Lotufo and Zampirolli, "Fast Multidimensional Parallel Euclidean Distance Transform Based on Mathematical
 * Morphology" (2001), as used in the paper on erosions on GPUs (see erosion_cpu.c), section 3.2.
 */
#include "core/planes.h"
#include "core/sequential.h"
#include "cpu/rows.h"
#include "cpu/values.h"

enum {
    LANES = 16,
    PAD = 8, /* elements between lines, against power-of-two strides */
};

struct work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    void *map; /* squared distances so far, in the plan's width */
    char *workers;
    int axis;
    bool first; /* no other axis was done before */
};

/* ---- Memory ---- */

static int64_t longest(const distmap_plan *plan) {
    int64_t n = plan->shape[DM_X];
    for (int a = 0; a < DM_X; a++)
        if (dm_axis_counts(plan, a) && plan->shape[a] > n)
            n = plan->shape[a];
    return n;
}

static int64_t lanes_at(const distmap_plan *plan, int64_t x) {
    return plan->shape[DM_X] - x < LANES ? plan->shape[DM_X] - x : LANES;
}

static size_t map_bytes(const distmap_plan *plan) {
    return dm_round64((size_t)plan->elements * dm_number_size(plan->number));
}
static size_t lines_bytes(const distmap_plan *plan) {
    return dm_round64((size_t)(longest(plan) + PAD) * (size_t)lanes_at(plan, 0) * sizeof(uint64_t));
}
static size_t queue_bytes(const distmap_plan *plan) { return dm_round64((size_t)longest(plan) * sizeof(int32_t)); }

struct buffers {
    uint64_t *lines; /* LANES of them; or a row in the plan's width */
    int32_t *east, *west;
};

static size_t worker_bytes(const distmap_plan *plan) { return lines_bytes(plan) + 2 * queue_bytes(plan); }

static struct buffers buffers_of(const struct work *w, int worker) {
    char *p = w->workers + (size_t)worker * worker_bytes(w->plan);
    const size_t lines = lines_bytes(w->plan), queue = queue_bytes(w->plan);
    return (struct buffers){(uint64_t *)p, (int32_t *)(p + lines), (int32_t *)(p + lines + queue)};
}

static size_t scratch_bytes(const distmap_plan *plan) {
    return map_bytes(plan) + (size_t)plan->context->threads * worker_bytes(plan);
}

/* ---- One line ---- */

DM_SEQUENTIAL(sequential, static inline, uint64_t)

/* A queue's next round is written over the one that is read: it is never ahead. */
static void queues(uint64_t *f, int64_t n, uint64_t w2, const struct buffers *b) {
    int64_t east = 0, west = 0;
    for (int64_t x = n - 2; x >= 0; x--)
        b->east[east++] = (int32_t)x;
    for (int64_t x = 1; x < n; x++)
        b->west[west++] = (int32_t)x;
    for (uint64_t cost = w2; east + west > 0; cost += 2 * w2) {
        int64_t kept = 0;
        for (int64_t k = 0; k < east; k++) {
            const int32_t x = b->east[k];
            if (sequential_offer(f[x], cost, &f[x + 1]) && x + 2 < n)
                b->east[kept++] = x + 1;
        }
        east = kept;
        kept = 0;
        for (int64_t k = 0; k < west; k++) {
            const int32_t x = b->west[k];
            if (sequential_offer(f[x], cost, &f[x - 1]) && x > 1)
                b->west[kept++] = x - 1;
        }
        west = kept;
    }
}

static void line(const struct work *w, const struct buffers *b, uint64_t *f) {
    const uint64_t w2 = w->plan->w2[w->axis];
    if (w->first)
        sequential_line(f, w->plan->shape[w->axis], 1, w2);
    else
        queues(f, w->plan->shape[w->axis], w2, b);
}

/* ---- Stages ---- */

static void read_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    distmap_plan *plan = w->plan;
    const int64_t n = plan->shape[DM_X];
    uint8_t *sites = (uint8_t *)buffers_of(w, worker).lines;
    int64_t at[DM_NDIM];
    dm_row_place(plan, (int64_t)index, at);
    dm_row_sites(plan, &w->arrays->input, at, n, sites);
    for (int64_t x = 0; x < n; x++)
        dm_value_store(plan, w->map, (int64_t)index * n + x, sites[x] ? 0 : UINT64_MAX);
}

static int64_t groups(const distmap_plan *plan) { return (plan->shape[DM_X] + LANES - 1) / LANES; }

/* Neighbouring lines of a slower axis, read together and turned. */
static void lines_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    const distmap_plan *plan = w->plan;
    const struct buffers b = buffers_of(w, worker);
    const int64_t n = plan->shape[w->axis], stride = plan->linear[w->axis], pitch = n + PAD;
    const int64_t x = (int64_t)index % groups(plan) * LANES, lanes = lanes_at(plan, x);
    const int64_t rest = (int64_t)index / groups(plan), rows = stride / plan->shape[DM_X]; /* to the next of the axis */
    const int64_t first = (rest / rows * n * rows + rest % rows) * plan->shape[DM_X] + x;
    for (int64_t i = 0; i < n; i++)
        for (int64_t lane = 0; lane < lanes; lane++)
            b.lines[lane * pitch + i] = dm_value_load(plan, w->map, first + i * stride + lane);
    for (int64_t lane = 0; lane < lanes; lane++)
        line(w, &b, b.lines + lane * pitch);
    for (int64_t i = 0; i < n; i++)
        for (int64_t lane = 0; lane < lanes; lane++)
            dm_value_store(plan, w->map, first + i * stride + lane, b.lines[lane * pitch + i]);
}

static void row_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    distmap_plan *plan = w->plan;
    const struct buffers b = buffers_of(w, worker);
    const int64_t n = plan->shape[DM_X], first = (int64_t)index * n;
    int64_t at[DM_NDIM];
    for (int64_t x = 0; x < n; x++)
        b.lines[x] = dm_value_load(plan, w->map, first + x);
    if (dm_axis_counts(plan, DM_X))
        line(w, &b, b.lines);
    for (int64_t x = 0; x < n; x++)
        dm_value_store(plan, w->map, first + x, b.lines[x]);
    dm_row_place(plan, (int64_t)index, at);
    dm_row_emit(plan, w->arrays, at, n, (char *)w->map + (size_t)first * dm_number_size(plan->number), NULL);
}

/* ---- The method ---- */

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct work w = {.plan = plan, .arrays = arrays, .map = plan->scratch, .first = true};
    w.workers = (char *)plan->scratch + map_bytes(plan);
    const size_t rows = (size_t)(plan->elements / plan->shape[DM_X]);
    dm_phase(plan, "read");
    TRY(dm_parallel(plan, rows, read_task, &w, 0.1));
    for (w.axis = DM_X - 1; w.axis >= 0; w.axis--) {
        if (!dm_axis_counts(plan, w.axis))
            continue;
        dm_phase(plan, w.first ? "sequential" : "queues");
        TRY(dm_parallel(plan, rows / (size_t)plan->shape[w.axis] * (size_t)groups(plan), lines_task, &w, 0.2));
        w.first = false;
    }
    dm_phase(plan, w.first ? "sequential" : "queues");
    w.axis = DM_X;
    return dm_parallel(plan, rows, row_task, &w, 1 - plan->progress_base);
}

static const char *refuses(const distmap_plan *plan) {
    const char *why = dm_refuses_sites(plan);
    return why ? why : dm_refuses_all_but_masks(plan);
}

const dm_method dm_lz_cpu = {
    .info =
        {
            .name = "lz/cpu",
            .summary = "one axis sequentially, the others by one-dimensional erosions with queues",
            .source = "Lotufo and Zampirolli 2001",
            .device = "cpu",
            .exact = true,
        },
    .refuses = refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
