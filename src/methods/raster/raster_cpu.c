/* raster/cpu: city-block, chessboard and chamfer distances by the classic scan: through the image in raster order and back, one
 * thread, whatever the context has.
 *
 *     forward    f(p) = min(f(p), f(p - s) + c(s)) over the steps s that lead on in raster order, from the first element
 *     backward   the same over the steps -s, from the last element
 *
 * chamfer/cpu is what this became here: row-first, in vectors, on all threads. This one is the sequential program that
 * papers compare with, and a check that shares no code with the other.
 *
 * Exact: a shortest walk from a site (core/metric.h) has steps of one cone, all of the same sign along each axis. Those that
 * lead on in raster order may come first; so the walk stays in the box between both ends, the first pass finds its first
 * part, and the second pass the rest.
 *
 * Time: two passes, with half of the neighbours in each: 4 in an image, 8 with knight's steps, 13 in a volume. Memory: 4 bytes
 * per element (8 where a distance needs it), and a frame of "none" around every image of a batch.
 *
 * Source: A. Rosenfeld, J. Pfaltz, "Distance Functions on Digital Pictures", Pattern Recognition 1 (1968); G. Borgefors,
 * "Distance Transformations in Digital Images" (1986) for weights and larger masks.
 */
#include "core/planes.h"
#include "cpu/rows.h"

enum { MOST_STEPS = 40 }; /* half of the 80 neighbours in four axes */

/* The steps of the forward pass. */
struct steps {
    int count;
    int64_t back[MOST_STEPS]; /* how far before the element the step begins, in elements of the map */
    uint64_t cost[MOST_STEPS];
};

struct work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    int64_t frame[DM_NDIM]; /* elements of "none" on either side */
    int64_t pitch[DM_NDIM]; /* of the map, in elements */
    int64_t count;          /* of elements of the map */
    struct steps steps;
    char *map;
    uint8_t *sites; /* a row's */
};

/* ---- The map and its steps ---- */

static void lay_out(const distmap_plan *plan, struct work *w) {
    w->count = 1;
    for (int a = DM_X; a >= 0; a--) {
        w->frame[a] = dm_axis_counts(plan, a) ? (plan->chamfer.knight ? 2 : 1) : 0;
        w->pitch[a] = w->count;
        w->count *= plan->shape[a] + 2 * w->frame[a];
    }
}

static void add_step(struct work *w, const int64_t step[DM_NDIM], uint64_t cost) {
    int64_t back = 0;
    for (int a = 0; a < DM_NDIM; a++) {
        if (step[a] && !dm_axis_counts(w->plan, a))
            return;
        back += step[a] * w->pitch[a];
    }
    w->steps.back[w->steps.count] = back;
    w->steps.cost[w->steps.count++] = cost;
}

/* Steps of `reach` along an axis at most; those that lead on are those of which the first component that is not 0 is above 0. */
static void find_steps(struct work *w) {
    const dm_chamfer *c = &w->plan->chamfer;
    const int64_t reach = c->knight ? 2 : 1, across = 2 * reach + 1, all = across * across * across * across;
    for (int64_t i = all / 2 + 1; i < all; i++) { /* from the one after (0, 0, 0, 0) on, in raster order */
        int64_t step[DM_NDIM], left = i, sum = 0, largest = 0;
        for (int a = DM_X; a >= 0; a--) {
            step[a] = left % across - reach;
            left /= across;
            const int64_t length = step[a] < 0 ? -step[a] : step[a];
            sum += length;
            largest = length > largest ? length : largest;
        }
        if (largest == 1)
            add_step(w, step, c->step[sum]);
        else if (largest == 2 && sum == 3)
            add_step(w, step, c->knight);
    }
}

/* ---- The passes ---- */

/* Arguments: the functions' common name, the type of values. Steps from before (way 1) or after an element (way -1). */
#define PASSES(name, N)                                                                                               \
    static inline __attribute__((always_inline)) void name##_steps(N *f, int64_t n, int way, const struct steps *all, \
                                                                   int count) {                                       \
        for (int64_t i = 0; i < n; i++) {                                                                             \
            N *const own = way > 0 ? f + i : f + (n - 1 - i);                                                         \
            N least = *own;                                                                                           \
            for (int k = 0; k < count; k++) {                                                                         \
                const N cost = (N)all->cost[k], from = own[-way * all->back[k]];                                      \
                if (least > cost && from < least - cost) /* none is never below that */                               \
                    least = from + cost;                                                                              \
            }                                                                                                         \
            *own = least;                                                                                             \
        }                                                                                                             \
    }                                                                                                                 \
    static void name(N *f, int64_t n, int way, const struct steps *all) {                                             \
        if (all->count == 4)                                                                                          \
            way > 0 ? name##_steps(f, n, 1, all, 4) : name##_steps(f, n, -1, all, 4);                                 \
        else                                                                                                          \
            way > 0 ? name##_steps(f, n, 1, all, all->count) : name##_steps(f, n, -1, all, all->count);               \
    }

PASSES(pass_32, uint32_t)
PASSES(pass_64, uint64_t)

static int64_t row_count(const distmap_plan *plan) { return plan->elements / plan->shape[DM_X]; }

/* A row in the map. */
static void *row_at(const struct work *w, const int64_t at[DM_NDIM]) {
    int64_t place = 0;
    for (int a = 0; a < DM_NDIM; a++)
        place += (at[a] + w->frame[a]) * w->pitch[a];
    return w->map + (size_t)place * dm_number_size(w->plan->number);
}

/* Rows in raster order (way 1) or from the last to the first, until nobody wants them any more. */
static distmap_status go(struct work *w, int way) {
    const int64_t rows = row_count(w->plan), n = w->plan->shape[DM_X];
    for (int64_t i = 0; i < rows; i++) {
        int64_t at[DM_NDIM];
        if (!dm_is_wanted(w->plan))
            return (distmap_status)atomic_load(&w->plan->failure);
        dm_row_place(w->plan, way > 0 ? i : rows - 1 - i, at);
        if (w->plan->number == DM_U32)
            pass_32(row_at(w, at), n, way, &w->steps);
        else
            pass_64(row_at(w, at), n, way, &w->steps);
    }
    return DISTMAP_OK;
}

/* ---- The method ---- */

static distmap_status read_rows(struct work *w) {
    const int64_t rows = row_count(w->plan), n = w->plan->shape[DM_X];
    memset(w->map, 0xff, (size_t)w->count * dm_number_size(w->plan->number));
    for (int64_t i = 0; i < rows; i++) {
        int64_t at[DM_NDIM];
        if (!dm_is_wanted(w->plan))
            return (distmap_status)atomic_load(&w->plan->failure);
        dm_row_place(w->plan, i, at);
        dm_row_sites(w->plan, &w->arrays->input, at, n, w->sites);
        void *const row = row_at(w, at);
        for (int64_t x = 0; x < n; x++) {
            if (w->sites[x] && w->plan->number == DM_U32)
                ((uint32_t *)row)[x] = 0;
            else if (w->sites[x])
                ((uint64_t *)row)[x] = 0;
        }
    }
    return DISTMAP_OK;
}

static void emit_rows(struct work *w) {
    const int64_t rows = row_count(w->plan);
    for (int64_t i = 0; i < rows; i++) {
        int64_t at[DM_NDIM];
        dm_row_place(w->plan, i, at);
        dm_row_emit(w->plan, w->arrays, at, w->plan->shape[DM_X], row_at(w, at), NULL);
    }
}

static size_t map_bytes(const distmap_plan *plan, const struct work *w) {
    return dm_round64((size_t)w->count * dm_number_size(plan->number));
}

static size_t scratch_bytes(const distmap_plan *plan) {
    struct work w = {0};
    lay_out(plan, &w);
    return map_bytes(plan, &w) + dm_round64((size_t)plan->shape[DM_X]);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct work w = {.plan = plan, .arrays = arrays, .map = plan->scratch};
    lay_out(plan, &w);
    find_steps(&w);
    w.sites = (uint8_t *)w.map + map_bytes(plan, &w);
    dm_phase(plan, "read");
    TRY(read_rows(&w));
    dm_phase(plan, "forward");
    TRY(go(&w, 1));
    dm_phase(plan, "backward");
    TRY(go(&w, -1));
    dm_phase(plan, "emit");
    emit_rows(&w);
    return DISTMAP_OK;
}

const dm_method dm_raster_cpu = {
    .info =
        {
            .name = "raster/cpu",
            .summary = "the classic scan in two passes: raster order and back, one thread",
            .source = "Rosenfeld and Pfaltz 1968; Borgefors 1986",
            .metrics = DM_STEP_METRICS,
            .device = "cpu",
            .exact = true,
        },
    .refuses = dm_refuses_sites,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
