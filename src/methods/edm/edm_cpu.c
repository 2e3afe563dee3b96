/* edm/cpu: Euclidean distance map by proximate points, the two-step method, on the CPU's threads.
 *
 *   step 1: along every row, the distance to the nearest site of that row, by a sweep to the right and one to the left
 *   step 2: along every column, the proximate points of those distances (edm_stack.h), and from their intervals every
 *           element's nearest site
 *
 * Access mode HV-HV, the paper's best on CPUs: both steps read along memory (H), and write across it (V), so step 1's
 * results lie transposed between the two. Ties fall to the lowest linear index: the left site in step 1, the upper
 * point in step 2, which comes last and so decides first.
 *
 * For k processors the paper gives each n/k lines. Here lines are handed out LANES at a time to whoever is free, and
 * LANES of them are written side by side: whole cache lines, instead of one value in each of n pages.
 *
 * Time O(elements) whatever the image. Memory: 4 bytes per element, and per thread LANES rows or columns.
 *
 * Source: D. Man, K. Uda, Y. Ito, K. Nakano, "Accelerating Computation of Euclidean Distance Map using the GPU with
 * Efficient Memory Access", IJPEDS 2011, section 3 (theorem 3.1 and corollary 3.2); access modes in section 5.1.
 */
#include "cpu/rows.h"
#include "methods/edm/edm_problem.h"
#include "methods/edm/edm_stack.h"

enum { LANES = 16 };

struct work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    int32_t *offset; /* [plane][x][y]: from the element to the nearest site of its row */
    char *workers;
    int32_t width, height;
};

/* ---- Memory ---- */

/* What a worker holds: in step 1 a row of sites and LANES rows of offsets, in step 2 a stack and LANES columns of
 * results. */
struct tile {
    uint8_t *site;
    int32_t *row;
    struct edm_point *stack;
    void *squared; /* [y][lane], in the plan's number type */
    int64_t *index;
};

/* Lays the tile out from `base`, NULL to measure only; returns the bytes. The steps use the same memory. */
static size_t lay_out(const distmap_plan *plan, char *base, struct tile *t) {
    const size_t width = (size_t)plan->shape[DM_X], height = (size_t)plan->shape[2];
    const size_t sites = dm_round64(width), rows = LANES * width * sizeof(int32_t);
    const size_t stack = dm_round64(height * sizeof(struct edm_point));
    const size_t squared = dm_round64(LANES * height * dm_number_size(plan->number));
    const size_t index = plan->wants_site ? LANES * height * sizeof(int64_t) : 0;
    if (base)
        *t = (struct tile){(uint8_t *)base, (int32_t *)(base + sites), (struct edm_point *)base, base + stack,
                           index ? (int64_t *)(base + stack + squared) : NULL};
    const size_t one = sites + rows, two = stack + squared + index;
    return dm_round64(one > two ? one : two);
}

static size_t tile_bytes(const distmap_plan *plan) { return lay_out(plan, NULL, NULL); }

static size_t offset_bytes(const distmap_plan *plan) { return dm_round64((size_t)plan->elements * sizeof(int32_t)); }

static size_t scratch_bytes(const distmap_plan *plan) {
    return offset_bytes(plan) + (size_t)plan->context->threads * tile_bytes(plan);
}

static struct tile worker_tile(const struct work *w, int worker) {
    struct tile t;
    lay_out(w->plan, w->workers + (size_t)worker * tile_bytes(w->plan), &t);
    return t;
}

/* ---- Steps ---- */

static size_t groups(int32_t lines) { return ((size_t)lines + LANES - 1) / LANES; }

/* Task `index` is a plane's LANES lines, of `lines`: sets the plane's coordinates and the first of them, returns how
 * many. */
static int32_t locate(const distmap_plan *plan, size_t index, int32_t lines, int64_t at[DM_NDIM], int32_t *first) {
    const int64_t plane = (int64_t)(index / groups(lines));
    at[0] = plane / plan->shape[1];
    at[1] = plane % plan->shape[1];
    *first = (int32_t)(index % groups(lines)) * LANES;
    return lines - *first < LANES ? lines - *first : LANES;
}

static void sweep_row(const uint8_t *site, int32_t width, int32_t *row) {
    int32_t last = -1;
    for (int32_t x = 0; x < width; x++) {
        last = site[x] ? x : last;
        row[x] = last < 0 ? EDM_NONE : last - x;
    }
    last = -1;
    for (int32_t x = width - 1; x >= 0; x--) {
        last = site[x] ? x : last;
        if (last >= 0 && (row[x] == EDM_NONE || last - x < -row[x])) /* the left one wins */
            row[x] = last - x;
    }
}

static void step1_task(void *arg, size_t task, int worker) {
    const struct work *w = arg;
    const struct tile t = worker_tile(w, worker);
    int64_t at[DM_NDIM] = {0};
    int32_t y;
    const int32_t lanes = locate(w->plan, task, w->height, at, &y);
    for (int32_t lane = 0; lane < lanes; lane++) {
        at[2] = y + lane;
        dm_row_sites(w->plan, &w->arrays->input, at, w->width, t.site);
        sweep_row(t.site, w->width, t.row + (size_t)lane * (size_t)w->width);
    }
    int32_t *to = w->offset + edm_plane_first(w->plan, at) + y;
    for (int32_t x = 0; x < w->width; x++, to += w->height)
        for (int32_t lane = 0; lane < lanes; lane++)
            to[lane] = t.row[(size_t)lane * (size_t)w->width + (size_t)x];
}

/* Reads a column of offsets and leaves its proximate points on the stack; how many. A point that leaves it costs no
 * division. */
static int32_t push_all(const struct edm_rule *rule, const int32_t *offset, int32_t length, struct edm_point *stack) {
    int32_t count = 0;
    for (int32_t j = 0; j < length; j++) {
        if (offset[j] == EDM_NONE)
            continue;
        int64_t start = 0;
        for (; count > 0; count--) {
            const struct edm_pair pair = edm_compare(rule, stack[count - 1], j, offset[j]);
            if (edm_takes(&pair, stack[count - 1].start))
                continue;
            start = edm_start(&pair);
            break;
        }
        if (start < length)
            stack[count++] = (struct edm_point){j, (int32_t)start, offset[j]};
    }
    return count;
}

/* Column x of the plane whose elements start at `first`, into lane `lane` of the tile. */
static void solve_column(const struct work *w, const struct tile *t, int64_t first, int32_t x, size_t lane) {
    const bool narrow = w->plan->number == DM_U32;
    const struct edm_rule rule = {.v = edm_pitch2(w->plan, DM_X), .w = edm_pitch2(w->plan, 2)};
    const int32_t count = push_all(&rule, w->offset + first + (int64_t)x * w->height, w->height, t->stack);
    const struct edm_point *point = t->stack;
    for (int32_t y = 0, left = count; y < w->height; y++) {
        const size_t place = (size_t)y * LANES + lane;
        if (left > 1 && y >= point[1].start) {
            point++;
            left--;
        }
        const uint64_t squared = count ? edm_squared(&rule, point, y) : UINT64_MAX;
        if (narrow)
            ((uint32_t *)t->squared)[place] = (uint32_t)squared; /* "none" is all ones in both widths */
        else
            ((uint64_t *)t->squared)[place] = squared;
        if (t->index)
            t->index[place] = count ? first + (int64_t)point->at * w->width + x + point->offset : DISTMAP_INDEX_NONE;
    }
}

static void step2_task(void *arg, size_t task, int worker) {
    const struct work *w = arg;
    const struct tile t = worker_tile(w, worker);
    int64_t at[DM_NDIM] = {0};
    int32_t x;
    const int32_t lanes = locate(w->plan, task, w->width, at, &x);
    const int64_t first = edm_plane_first(w->plan, at);
    for (int32_t lane = 0; lane < lanes; lane++)
        solve_column(w, &t, first, x + lane, (size_t)lane);
    at[DM_X] = x;
    for (at[2] = 0; at[2] < w->height; at[2]++) {
        const size_t place = (size_t)at[2] * LANES;
        dm_row_emit(w->plan, w->arrays, at, lanes, (char *)t.squared + place * dm_number_size(w->plan->number),
                    t.index ? t.index + place : NULL);
    }
}

/* ---- The method ---- */

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct work w = {
        .plan = plan,
        .arrays = arrays,
        .offset = plan->scratch,
        .workers = (char *)plan->scratch + offset_bytes(plan),
        .width = (int32_t)plan->shape[DM_X],
        .height = (int32_t)plan->shape[2],
    };
    const size_t planes = (size_t)dm_plane_count(plan);
    dm_phase(plan, "step 1");
    TRY(dm_parallel(plan, planes * groups(w.height), step1_task, &w, 0.35));
    dm_phase(plan, "step 2");
    return dm_parallel(plan, planes * groups(w.width), step2_task, &w, 0.65);
}

const dm_method dm_edm_cpu = {
    .info =
        {
            .name = "edm/cpu",
            .summary = "two steps in a plane: distances along rows, then proximate points along columns, by a stack",
            .source = "Man, Uda, Ito, Nakano 2011, section 3, access mode HV-HV",
            .device = "cpu",
            .exact = true,
        },
    .refuses = edm_refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
