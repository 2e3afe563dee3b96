/* eggers/cpu: the squared distance map by sufficient propagation.
 *
 * From a site, the element (a, b) away is reached in max(|a|, |b|) steps: min(|a|, |b|) diagonal ones first, then straight
 * ones. In step i a straight move along an axis of pitch w adds w^2 (2i - 1), a diagonal one both axes' terms: after n steps
 * each axis has the sum of the first odd numbers, its squared distance. So a front needs to know no coordinates, and an
 * element that was reached
 *
 *     by a straight move   passes on in that direction alone,
 *     by a diagonal move   passes on in that direction and in the two straight ones beside it,
 *
 * in the very next step, which is all that is sufficient: every element of the plane lies on one such path. An element that
 * is not improved passes nothing on. At first the sites at the edge of their region pass on in all directions.
 *
 * Exact: after step i every element has the least squared distance to the sites within i of it in each coordinate. For if
 * the path of a site s is stopped at p in step i - 1, another site r within i - 1 steps was nearer p, or as near. Along a
 * straight move the squared distance from s then grows by w^2 (2i - 1), and that from r by no more, since it is i - 1 behind
 * p at most in that direction; so r, or what stopped r, serves the next element as well, and its own path leads there or
 * had led there. Along a diagonal move both terms are bounded alike, and what remains to be shown of r is a straight move.
 *
 * An element is in a step's list once, with the values of the step before: improvements of this step wait for the next. A
 * frame of elements at distance 0 around the plane stops all fronts, so that moves need no test.
 *
 * Time: proportional to the improvements, about O(1) per element for scattered sites; each plane by one thread. Memory: 33
 * bytes per element: 8 for the map, and for each plane under way 8 and 16 for lists that may hold all of it, and a byte.
 *
 * Source: H. Eggers, "Two Fast Euclidean Distance Transformations in Z^2 Based on Sufficient Propagation", CVIU 69 (1998),
 * as used in the paper on erosions on GPUs (see erosion_cpu.c), table 1.
 */
#include <string.h>

#include "core/planes.h"
#include "cpu/rows.h"
#include "cpu/values.h"

/* Moves, anticlockwise; straight ones are even. */
enum { EAST = 1, NORTH = 4, WEST = 16, SOUTH = 64, MOVES = 8 };

struct entry {
    uint64_t value; /* of the step before */
    int64_t place;  /* in the framed map, times 256, and the moves to make */
};

struct work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    uint64_t *map; /* planes with their frames */
    char *slots;   /* lists of planes under way */
    char *rows;    /* a worker's row in the plan's width, or the sites rule's verdict on it */
};

/* ---- Memory ---- */

static int64_t framed_width(const distmap_plan *plan) { return plan->shape[DM_X] + 2; }
static int64_t framed_plane(const distmap_plan *plan) { return framed_width(plan) * (plan->shape[2] + 2); }

static size_t map_bytes(const distmap_plan *plan) {
    return dm_round64((size_t)(dm_plane_count(plan) * framed_plane(plan)) * sizeof(uint64_t));
}

struct lists {
    struct entry *now;
    int64_t *next;  /* places */
    uint8_t *moves; /* of what is in `next`; 0 elsewhere */
};

static size_t now_bytes(const distmap_plan *plan) {
    return dm_round64((size_t)dm_plane_elements(plan) * sizeof(struct entry));
}
static size_t next_bytes(const distmap_plan *plan) {
    return dm_round64((size_t)dm_plane_elements(plan) * sizeof(int64_t));
}
static size_t slot_bytes(const distmap_plan *plan) {
    return now_bytes(plan) + next_bytes(plan) + dm_round64((size_t)framed_plane(plan));
}

static struct lists lists_of(const struct work *w, size_t slot) {
    char *p = w->slots + slot * slot_bytes(w->plan), *next = p + now_bytes(w->plan);
    return (struct lists){(struct entry *)p, (int64_t *)next, (uint8_t *)(next + next_bytes(w->plan))};
}

static size_t row_bytes(const distmap_plan *plan) { return dm_round64((size_t)plan->shape[DM_X] * sizeof(uint64_t)); }

/* Planes that may be under way at once. */
static int64_t slot_count(const distmap_plan *plan) {
    const int64_t threads = plan->context->threads, planes = dm_plane_count(plan);
    return planes < threads ? planes : threads;
}

static size_t scratch_bytes(const distmap_plan *plan) {
    return map_bytes(plan) + (size_t)slot_count(plan) * slot_bytes(plan) +
           (size_t)plan->context->threads * row_bytes(plan);
}

static uint64_t *framed_row(const struct work *w, int64_t row) {
    const distmap_plan *plan = w->plan;
    const int64_t plane = row / plan->shape[2], y = row % plan->shape[2];
    return w->map + plane * framed_plane(plan) + (y + 1) * framed_width(plan) + 1;
}

/* ---- Stages ---- */

static void read_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    distmap_plan *plan = w->plan;
    uint8_t *sites = (uint8_t *)w->rows + (size_t)worker * row_bytes(plan);
    const int64_t n = plan->shape[DM_X];
    uint64_t *row = framed_row(w, (int64_t)index);
    int64_t at[DM_NDIM];
    dm_row_place(plan, (int64_t)index, at);
    dm_row_sites(plan, &w->arrays->input, at, n, sites);
    row[-1] = row[n] = 0;
    for (int64_t x = 0; x < n; x++)
        row[x] = sites[x] ? 0 : UINT64_MAX;
}

/* What a step's moves do. */
struct moves {
    int64_t apart[MOVES];  /* places from an element to the next */
    uint8_t passed[MOVES]; /* moves to make by who was reached by this one */
    uint8_t all;           /* that the plane allows */
};

static struct moves make_moves(const distmap_plan *plan) {
    const int64_t down = framed_width(plan);
    const bool across = dm_axis_counts(plan, DM_X), along = dm_axis_counts(plan, 2);
    struct moves m = {.apart = {1, 1 - down, -down, -1 - down, -1, down - 1, down, down + 1}};
    m.all = across && along ? 255 : across ? EAST | WEST : along ? NORTH | SOUTH : 0;
    for (int k = 0; k < MOVES; k++) {
        const int beside = k % 2 ? 1 << (k - 1) | 1 << (k + 1) % MOVES : 0;
        m.passed[k] = (uint8_t)(1 << k | beside);
    }
    return m;
}

/* The sites that have a neighbour to pass on to. */
static int64_t first_list(const struct work *w, const uint64_t *plane, const struct moves *m, const struct lists *l) {
    const distmap_plan *plan = w->plan;
    int64_t count = 0;
    for (int64_t y = 1; y <= plan->shape[2] && dm_is_wanted(w->plan); y++)
        for (int64_t x = 1; x <= plan->shape[DM_X]; x++) {
            const int64_t place = y * framed_width(plan) + x;
            bool edge = false;
            for (int k = 0; plane[place] == 0 && k < MOVES; k++)
                edge |= (m->all >> k & 1) != 0 && plane[place + m->apart[k]] != 0;
            if (edge) {
                l->next[count++] = place;
                l->moves[place] = m->all;
            }
        }
    return count;
}

static void plane_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    const distmap_plan *plan = w->plan;
    const int64_t size = framed_plane(plan), width = framed_width(plan);
    uint64_t *plane = w->map + (int64_t)index * size;
    const struct lists l = lists_of(w, slot_count(plan) == dm_plane_count(plan) ? index : (size_t)worker);
    memset(plane, 0, (size_t)width * sizeof *plane);
    memset(plane + size - width, 0, (size_t)width * sizeof *plane);
    memset(l.moves, 0, (size_t)size);

    const struct moves m = make_moves(plan);
    int64_t count = first_list(w, plane, &m, &l);
    for (uint64_t odd = 1; count > 0 && dm_is_wanted(w->plan); odd += 2) {
        const uint64_t x2 = plan->w2[DM_X] * odd, y2 = plan->w2[2] * odd;
        const uint64_t cost[MOVES] = {x2, x2 + y2, y2, x2 + y2, x2, x2 + y2, y2, x2 + y2};
        for (int64_t i = 0; i < count; i++) {
            const int64_t place = l.next[i];
            l.now[i] = (struct entry){plane[place], place * 256 + l.moves[place]};
            l.moves[place] = 0;
        }
        const int64_t now = count;
        count = 0;
        for (int64_t i = 0; i < now; i++) {
            const int64_t place = l.now[i].place / 256;
            for (unsigned left = l.now[i].place & 255; left != 0; left &= left - 1) {
                const int k = __builtin_ctz(left);
                const int64_t to = place + m.apart[k];
                const uint64_t value = l.now[i].value + cost[k];
                if (value >= plane[to])
                    continue;
                plane[to] = value;
                if (l.moves[to] == 0)
                    l.next[count++] = to;
                l.moves[to] = m.passed[k];
            }
        }
    }
}

static void emit_task(void *arg, size_t index, int worker) {
    const struct work *w = arg;
    distmap_plan *plan = w->plan;
    void *out = w->rows + (size_t)worker * row_bytes(plan);
    const int64_t n = plan->shape[DM_X];
    const uint64_t *row = framed_row(w, (int64_t)index);
    int64_t at[DM_NDIM];
    for (int64_t x = 0; x < n; x++)
        dm_value_store(plan, out, x, row[x]);
    dm_row_place(plan, (int64_t)index, at);
    dm_row_emit(plan, w->arrays, at, n, out, NULL);
}

/* ---- The method ---- */

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct work w = {.plan = plan, .arrays = arrays, .map = plan->scratch};
    w.slots = (char *)plan->scratch + map_bytes(plan);
    w.rows = w.slots + (size_t)slot_count(plan) * slot_bytes(plan);
    const size_t rows = (size_t)(plan->elements / plan->shape[DM_X]);
    dm_phase(plan, "read");
    TRY(dm_parallel(plan, rows, read_task, &w, 0.2));
    dm_phase(plan, "propagation");
    TRY(dm_parallel(plan, (size_t)dm_plane_count(plan), plane_task, &w, 0.6));
    dm_phase(plan, "emit");
    return dm_parallel(plan, rows, emit_task, &w, 1 - plan->progress_base);
}

const dm_method dm_eggers_cpu = {
    .info =
        {
            .name = "eggers/cpu",
            .summary = "sufficient propagation: fronts of squared distances, each passed on in one direction or three",
            .source = "Eggers 1998",
            .device = "cpu",
            .exact = true,
        },
    .refuses = dm_refuses_all_but_plane_distances,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
