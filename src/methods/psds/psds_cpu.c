/* psds/cpu: the parallel shortest distance scan on CPU threads.
 *
 * 1. Rows: across(y, x), the distance to the nearest site of the same row, by a scan from the left and one from the right.
 * 2. Columns: below(y, x) and above(y, x), the distances to the nearest row with a site, by a scan upwards and one downwards
 *    over the elements with across < infinity.
 * 3. Search: each element goes through the rows with sites below and above it, nearest first, until the distance of the row
 *    alone reaches what was found (psds_search.h).
 *
 * A scan of n elements is that of Hillis and Steele with "minimum of what comes along" for its operator:
 *
 *     for s = 1, 2, 4, ... < n, for all i at once:    d[i] = min(d[i], d[i - s] + s)
 *
 * After the step s each element knows the nearest site within 2 s - 1 elements, so log2 n steps are exact. (The paper
 * prints "k >= 2^d" for the elements that take part in step s = 2^(d-1); k >= s is meant.) A line is scanned `tile`
 * elements at a time, the paper's threads of a block; the first element of a tile takes over from the one before it (the
 * paper's scan_fix). 16 columns are scanned together, so that memory is touched in contiguous pieces and a step is one loop
 * over all of them.
 *
 * Exact: see psds_search.h. Time: 2 log2(tile) operations per element and direction, and the search: as many steps as rows
 * with sites lie within the distance that is found; O(height) per element at worst. Memory: 12 bytes per element.
 *
 * Source: Zhu and Shyu, "Efficient Parallel Distance Transform in GPU", section 3.5.
 */
#include <string.h>

#include "core/planes.h"
#include "cpu/rows.h"
#include "methods/psds/psds_search.h"

enum { TILE, LANES = 16 };

static const distmap_param_info params[] = {
    [TILE] = {"tile", 768, 2, 4096, "elements of a line that are scanned together", NULL},
};

struct work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    uint32_t *across, *below, *above;
    char *workers;
};

/* ---- Memory ---- */

static size_t map_bytes(const distmap_plan *plan) { return dm_round64((size_t)plan->elements * sizeof(uint32_t)); }

static size_t tile_bytes(const distmap_plan *plan) {
    return dm_round64((size_t)plan->params[TILE] * LANES * sizeof(uint32_t));
}

static size_t row_bytes(const distmap_plan *plan, size_t element) {
    return dm_round64((size_t)plan->shape[DM_X] * element);
}

/* What a worker holds: two tiles to scan to and fro, and a finished row. */
struct buffers {
    uint32_t *tile[2];
    void *squared;
    int64_t *site;
};

static size_t worker_bytes(const distmap_plan *plan) {
    return 2 * tile_bytes(plan) + row_bytes(plan, 8) + (plan->wants_site ? row_bytes(plan, 8) : 0);
}

static struct buffers buffers_of(const struct work *w, int worker) {
    char *p = w->workers + (size_t)worker * worker_bytes(w->plan);
    struct buffers b = {.tile = {(uint32_t *)p, (uint32_t *)(p + tile_bytes(w->plan))}};
    p += 2 * tile_bytes(w->plan);
    b.squared = p;
    b.site = w->plan->wants_site ? (int64_t *)(p + row_bytes(w->plan, 8)) : NULL;
    return b;
}

static size_t scratch_bytes(const distmap_plan *plan) {
    return 3 * map_bytes(plan) + (size_t)plan->context->threads * worker_bytes(plan);
}

/* ---- The scan ---- */

/* Scans `count` elements of `lanes` interleaved lines, from the last to the first if `back`. Returns the tile with the
 * result; the other one holds rubbish. */
static const uint32_t *scan(const struct buffers *b, int64_t count, int64_t lanes, bool back) {
    uint32_t *in = b->tile[0], *out = b->tile[1];
    for (int64_t step = 1; step < count; step *= 2) {
        const int64_t apart = step * lanes, rest = (count - step) * lanes;
        uint32_t *const to = back ? out : out + apart;
        const uint32_t *const own = back ? in : in + apart, *const from = back ? in + apart : in;
        for (int64_t k = 0; k < rest; k++) {
            const uint32_t come = from[k] + (uint32_t)step;
            to[k] = own[k] < come ? own[k] : come;
        }
        memcpy(back ? out + rest : out, back ? in + rest : in, (size_t)apart * sizeof *in);
        uint32_t *const swap = in;
        in = out;
        out = swap;
    }
    return in;
}

/* Scans `lanes` neighbouring lines of n elements, `stride` apart, from `from` into `to`, tile by tile. `binary`: the
 * elements of `from` that are not nothing count as sites. */
static void scan_lines(const struct work *w, const struct buffers *b, const uint32_t *from, uint32_t *to, int64_t n,
                       int64_t stride, int64_t lanes, bool binary, bool back) {
    const int64_t tile = w->plan->params[TILE];
    for (int64_t done = 0; done < n; done += tile) {
        const int64_t count = n - done < tile ? n - done : tile, first = back ? n - done - count : done;
        for (int64_t i = 0; i < count; i++)
            for (int64_t lane = 0; lane < lanes; lane++) {
                const uint32_t v = from[(first + i) * stride + lane];
                b->tile[0][i * lanes + lane] = binary && v < PSDS_NOTHING ? 0 : v;
            }
        const int64_t before = back ? first + count : first - 1;
        uint32_t *const entry = b->tile[0] + (back ? (count - 1) * lanes : 0);
        for (int64_t lane = 0; done > 0 && lane < lanes; lane++) {
            const uint32_t come = to[before * stride + lane] + 1;
            entry[lane] = entry[lane] < come ? entry[lane] : come;
        }
        const uint32_t *scanned = scan(b, count, lanes, back);
        for (int64_t i = 0; i < count; i++)
            memcpy(to + (first + i) * stride, scanned + i * lanes, (size_t)lanes * sizeof *to);
    }
}

/* ---- Stages ---- */

static void row_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    distmap_plan *plan = w->plan;
    const struct buffers b = buffers_of(w, worker);
    const int64_t n = plan->shape[DM_X];
    uint32_t *row = w->across + (int64_t)index * n;
    uint8_t *sites = b.squared; /* not in use yet, and large enough */
    int64_t at[DM_NDIM];
    dm_row_place(plan, (int64_t)index, at);
    dm_row_sites(plan, &w->arrays->input, at, n, sites);
    for (int64_t x = 0; x < n; x++)
        row[x] = sites[x] ? 0 : PSDS_NOTHING;
    if (!dm_axis_counts(plan, DM_X))
        return;
    scan_lines(w, &b, row, row, n, 1, 1, false, false);
    scan_lines(w, &b, row, row, n, 1, 1, false, true);
}

static int64_t groups(const distmap_plan *plan) { return (plan->shape[DM_X] + LANES - 1) / LANES; }

static void column_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    const distmap_plan *plan = w->plan;
    const struct buffers b = buffers_of(w, worker);
    const int64_t width = plan->shape[DM_X], height = plan->shape[2];
    const int64_t x = (int64_t)index % groups(plan) * LANES, lanes = width - x < LANES ? width - x : LANES;
    const int64_t first = (int64_t)index / groups(plan) * dm_plane_elements(plan) + x;
    scan_lines(w, &b, w->across + first, w->above + first, height, width, lanes, true, false);
    scan_lines(w, &b, w->across + first, w->below + first, height, width, lanes, true, true);
}

PSDS_NEAREST(nearest, static inline)
PSDS_SEARCH(search, static inline, uint64_t)

static void search_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    distmap_plan *plan = w->plan;
    const struct buffers b = buffers_of(w, worker);
    const int64_t width = plan->shape[DM_X], y = (int64_t)index % plan->shape[2];
    const int64_t plane = ((int64_t)index - y) * width;
    int64_t at[DM_NDIM], row;
    for (int64_t x = 0; x < width; x++) {
        const int64_t column = plane + x;
        const uint64_t d2 = search(w->across + column, w->below + column, w->above + column, width, y, plan->shape[2],
                                   dm_axis_counts(plan, 2), plan->w2[DM_X], plan->w2[2], &row);
        if (plan->number == DM_U32) /* "none" is all ones in both widths */
            ((uint32_t *)b.squared)[x] = (uint32_t)d2;
        else
            ((uint64_t *)b.squared)[x] = d2;
        if (b.site)
            b.site[x] =
                row < 0 ? DISTMAP_INDEX_NONE : plane + row * width + nearest(w->across + plane + row * width, x);
    }
    dm_row_place(plan, (int64_t)index, at);
    dm_row_emit(plan, w->arrays, at, width, b.squared, b.site);
}

/* ---- The method ---- */

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    char *p = plan->scratch;
    struct work w = {.plan = plan, .arrays = arrays, .across = (uint32_t *)p};
    w.below = (uint32_t *)(p + map_bytes(plan));
    w.above = (uint32_t *)(p + 2 * map_bytes(plan));
    w.workers = p + 3 * map_bytes(plan);
    const size_t rows = (size_t)(plan->elements / plan->shape[DM_X]);
    dm_phase(plan, "row scans");
    TRY(dm_parallel(plan, rows, row_task, &w, 0.2));
    dm_phase(plan, "column scans");
    if (dm_axis_counts(plan, 2))
        TRY(dm_parallel(plan, (size_t)(dm_plane_count(plan) * groups(plan)), column_task, &w, 0.3));
    dm_phase(plan, "search");
    return dm_parallel(plan, rows, search_task, &w, 1 - plan->progress_base);
}

const dm_method dm_psds_cpu = {
    .info =
        {
            .name = "psds/cpu",
            .summary = "parallel shortest distance scan: doubling scans of rows and columns, then a bounded search",
            .source = "Zhu and Shyu, Efficient Parallel Distance Transform in GPU, section 3.5",
            .device = "cpu",
            .exact = true,
            .params = params,
            .param_count = sizeof params / sizeof *params,
        },
    .refuses = dm_refuses_all_but_planes,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
