/* comparison/cpu: Hausdorff and other distances between two sets, from squared distances at one set's points.
 *
 * Tasks are pieces of 65,536 elements, looked at by runs within a row. An element is of the surface where not all of its
 * neighbours are of the set: the rows beside it are read again for that, where the row has any of the set at all. Points at
 * distance 0, most where sets overlap, are only counted. What A's
 * points are is written down while they are looked up, in the mask from which B's map was made: the map of A is made of it
 * next.
 *
 * Memory: the map, one byte per element more for surfaces, 16 KiB for each thread, and what the inner plan takes.
 *
 * 256^3 blobs of 1.1 million surface elements, two threads: 1.6 times what the two maps take; 37 times as fast as SciPy's erosions
 * and maps, 12 to 16 times as fast as SimpleITK's Hausdorff distance.
 */
#include <string.h>

#include "cpu/rows.h"
#include "operations/comparison.h"
#include "operations/inner.h"

enum { PIECE = 1 << 16, RUN = 4096 };

typedef struct job {
    distmap_plan *plan;
    const dm_arrays *arrays;
    co_memory memory;
    int direction;
    dm_distances *part;        /* of each worker */
    uint64_t (*both)[3];       /* of each worker: elements of A, of B, of both */
    uint64_t (*bins)[CO_BINS]; /* of each worker */
    /* A step of the selection: values whose digits above are these, or are above `least`. */
    int shift;
    uint64_t digits, least;
} job;

static job lay_out(const distmap_plan *plan, size_t *bytes) {
    job j = {0};
    dm_scratch walk = {.base = plan->scratch, .unit = DM_CPU_UNIT};
    const int workers = plan->context->threads;
    j.memory = co_lay_out(plan, PIECE, &walk);
    j.part = dm_take(&walk, workers, sizeof *j.part);
    j.both = dm_take(&walk, workers, sizeof *j.both);
    j.bins = dm_take(&walk, workers, sizeof *j.bins);
    *bytes = walk.used;
    return j;
}

static size_t scratch_bytes(const distmap_plan *plan) {
    size_t bytes;
    lay_out(plan, &bytes);
    return bytes;
}

/* ---- Points ---- */

/* Takes from inside[] what has a neighbour outside the set along axis a, other than x. */
static void look_beside(const job *j, const dm_array *set, const int64_t at[DM_NDIM], int a, int64_t n,
                        uint8_t *inside) {
    uint8_t row[RUN];
    for (int step = -1; step <= 1; step += 2) {
        int64_t beside[DM_NDIM];
        memcpy(beside, at, sizeof beside);
        beside[a] += step;
        if (beside[a] < 0 || beside[a] >= j->plan->shape[a]) {
            memset(inside, 0, (size_t)n);
            return;
        }
        dm_row_sites(j->plan, set, beside, n, row);
        for (int64_t i = 0; i < n; i++)
            inside[i] &= row[i];
    }
}

static bool has_any(const uint8_t *row, int64_t n) { return memchr(row, 1, (size_t)n); }

static uint32_t count_ones(const uint8_t *row, int64_t n) {
    uint32_t ones = 0;
    for (int64_t i = 0; i < n; i++)
        ones += row[i];
    return ones;
}

/* For a run: of_set[] marks the elements of the set, point[] those that are points. */
static void read_points(const job *j, const dm_array *set, const int64_t at[DM_NDIM], int64_t n, uint8_t *of_set,
                        uint8_t *point) {
    dm_row_sites(j->plan, set, at, n, of_set);
    memcpy(point, of_set, (size_t)n);
    if (j->plan->problem.comparison.points == DISTMAP_POINTS_SET || !has_any(of_set, n))
        return;
    uint8_t inside[RUN], end = 0;
    int64_t beyond[DM_NDIM];
    memcpy(beyond, at, sizeof beyond);
    memcpy(inside + 1, of_set, (size_t)(n - 1)); /* each element's neighbour before it */
    if (at[DM_X] > 0) {
        beyond[DM_X] = at[DM_X] - 1;
        dm_row_sites(j->plan, set, beyond, 1, &end);
    }
    inside[0] = end;
    end = 0;
    if (at[DM_X] + n < j->plan->shape[DM_X]) {
        beyond[DM_X] = at[DM_X] + n;
        dm_row_sites(j->plan, set, beyond, 1, &end);
    }
    for (int64_t i = 0; i < n - 1; i++)
        inside[i] &= of_set[i + 1];
    inside[n - 1] &= end;
    for (int a = 0; a < DM_X; a++)
        if (j->plan->measured[a])
            look_beside(j, set, at, a, n, inside);
    for (int64_t i = 0; i < n; i++)
        point[i] &= (uint8_t)!inside[i];
}

/* The run of a piece that begins at element i; its length. */
static int64_t run_at(const distmap_plan *plan, int64_t i, int64_t end, int64_t at[DM_NDIM]) {
    for (int a = DM_X; a >= 0; a--) {
        at[a] = i % plan->shape[a];
        i /= plan->shape[a];
    }
    int64_t n = plan->shape[DM_X] - at[DM_X];
    n = n < end ? n : end;
    return n < RUN ? n : RUN;
}

static int64_t piece_length(const job *j, size_t index) {
    const int64_t left = j->plan->elements - (int64_t)index * PIECE;
    return left < PIECE ? left : PIECE;
}

static const dm_array *set_from(const job *j) { return j->direction ? &j->arrays->other : &j->arrays->input; }

/* The first map is of B: its surface into the mask. */
static void mark_piece(void *arg, size_t index, int worker) {
    const job *j = arg;
    const int64_t length = piece_length(j, index), first = (int64_t)index * PIECE;
    uint8_t of_set[RUN];
    int64_t at[DM_NDIM], n;
    (void)worker;
    for (int64_t i = 0; i < length; i += n) {
        n = run_at(j->plan, first + i, length - i, at);
        read_points(j, &j->arrays->other, at, n, of_set, j->memory.mask + first + i);
    }
}

/* ---- Values at points ---- */

static void count_both(const job *j, const int64_t at[DM_NDIM], int64_t n, const uint8_t *of_a, uint64_t both[3]) {
    uint8_t of_b[RUN];
    uint32_t a = 0, b = 0, common = 0; /* of a run */
    dm_row_sites(j->plan, &j->arrays->other, at, n, of_b);
    for (int64_t i = 0; i < n; i++) {
        a += of_a[i];
        b += of_b[i];
        common += of_a[i] & of_b[i];
    }
    both[0] += a;
    both[1] += b;
    both[2] += common;
}

/* Where the points of the run are that are not at distance 0: hit[i] = 1. */
#define MARK_HITS(T)                \
    for (int64_t i = 0; i < n; i++) \
    hit[i] = point[i] & (uint8_t)(((const T *)values)[i] != 0)

/* Moves the values of hits, found eight at a time, to the beginning of the piece, where `kept` have come to; how many there are
 * then. */
#define KEEP(T)                                  \
    for (int64_t x = i; x < n && x < i + 8; x++) \
        if (hit[x])                              \
    ((T *)(void *)piece)[kept++] = ((const T *)values)[x]
static int64_t keep(dm_number number, char *piece, const void *values, int64_t n, const uint8_t *point, int64_t kept) {
    uint8_t hit[RUN + 8];
    memset(hit + n, 0, 8);
    if (number == DM_U32)
        MARK_HITS(uint32_t);
    else
        MARK_HITS(uint64_t);
    for (int64_t i = 0; i < n; i += 8) {
        uint64_t any;
        memcpy(&any, hit + i, sizeof any);
        if (!any)
            continue;
        if (number == DM_U32) {
            KEEP(uint32_t);
        } else {
            KEEP(uint64_t);
        }
    }
    return kept;
}

static uint64_t key_at(const job *j, const char *piece, int64_t i) {
    return j->plan->number == DM_U32 ? ((const uint32_t *)piece)[i] : ((const uint64_t *)piece)[i];
}

static char *piece_at(const job *j, size_t index) {
    return j->memory.map + index * PIECE * dm_number_size(j->plan->number);
}

static void look_up_piece(void *arg, size_t index, int worker) {
    const job *j = arg;
    const int64_t length = piece_length(j, index), first = (int64_t)index * PIECE;
    const int64_t size = (int64_t)dm_number_size(j->plan->number);
    char *piece = piece_at(j, index);
    dm_distances *part = &j->part[worker];
    uint8_t of_set[RUN], point[RUN];
    int64_t at[DM_NDIM], n, kept = 0, points = 0;
    for (int64_t i = 0; i < length; i += n) {
        n = run_at(j->plan, first + i, length - i, at);
        read_points(j, set_from(j), at, n, of_set, point);
        if (j->direction == 0)
            count_both(j, at, n, of_set, j->both[worker]);
        if (j->memory.mask && j->direction == 0)
            memcpy(j->memory.mask + first + i, point, (size_t)n);
        if (!has_any(point, n))
            continue;
        points += count_ones(point, n);
        kept = keep(j->plan->number, piece, piece + i * size, n, point, kept);
    }
    for (int64_t i = 0; i < kept; i++)
        co_add(&j->plan->comparison, j->plan->number, key_at(j, piece, i), part);
    part->points += (uint64_t)(points - kept);
    part->within += (uint64_t)(points - kept);
    j->memory.count[index] = (uint32_t)kept;
}

static dm_distances sum_of_parts(const job *j) {
    dm_distances all = {0};
    for (int t = 0; t < j->plan->context->threads; t++) {
        const dm_distances *d = &j->part[t];
        all.points += d->points;
        all.within += d->within;
        all.largest = d->largest > all.largest ? d->largest : all.largest;
        dm_wide_add(all.sum, d->sum[0], d->sum[1]);
        dm_wide_add(all.squares, d->squares[0], d->squares[1]);
    }
    return all;
}

/* ---- Order statistics ---- */

static void count_digits(void *arg, size_t index, int worker) {
    const job *j = arg;
    const char *piece = piece_at(j, index);
    uint64_t *bins = j->bins[worker];
    for (int64_t i = 0; i < j->memory.count[index]; i++) {
        const uint64_t digits = key_at(j, piece, i) >> j->shift;
        if (digits >> CO_DIGIT == j->digits)
            bins[digits & (CO_BINS - 1)]++;
    }
}

/* The least value above j->least, in the worker's first bin. */
static void find_next(void *arg, size_t index, int worker) {
    const job *j = arg;
    const char *piece = piece_at(j, index);
    uint64_t *next = &j->bins[worker][0];
    for (int64_t i = 0; i < j->memory.count[index]; i++) {
        const uint64_t key = key_at(j, piece, i);
        *next = key > j->least && key < *next ? key : *next;
    }
}

/* The values of ranks `rank` and rank + 1, where there is one; the first `zeros` are 0, and have not been kept. */
static distmap_status select_order(job *j, uint64_t largest, uint64_t zeros, uint64_t rank, uint64_t order[2]) {
    const int workers = j->plan->context->threads;
    const size_t pieces = (size_t)j->memory.pieces;
    const bool is_zero = rank < zeros;
    uint64_t alike = zeros;
    j->digits = 0;
    rank -= is_zero ? 0 : zeros;
    for (j->shift = is_zero ? -1 : co_first_shift(largest); j->shift >= 0; j->shift -= CO_DIGIT) {
        memset(j->bins, 0, (size_t)workers * sizeof *j->bins);
        TRY(dm_parallel(j->plan, pieces, count_digits, j, 0));
        uint64_t digit = 0;
        for (;; digit++) {
            alike = 0;
            for (int t = 0; t < workers; t++)
                alike += j->bins[t][digit];
            if (rank < alike || digit == CO_BINS - 1)
                break;
            rank -= alike;
        }
        j->digits = j->digits << CO_DIGIT | digit;
    }
    order[0] = order[1] = j->least = j->digits;
    if (rank + 1 < alike || order[0] == largest)
        return DISTMAP_OK;
    for (int t = 0; t < workers; t++)
        j->bins[t][0] = UINT64_MAX;
    TRY(dm_parallel(j->plan, pieces, find_next, j, 0));
    order[1] = UINT64_MAX;
    for (int t = 0; t < workers; t++)
        order[1] = j->bins[t][0] < order[1] ? j->bins[t][0] : order[1];
    return DISTMAP_OK;
}

/* ---- The operation ---- */

static distmap_status measure(job *j) {
    distmap_plan *plan = j->plan;
    dm_distances *d = &plan->outcome.compared.directed[j->direction];
    TRY(co_transform(plan, j->direction, j->arrays, &j->memory));
    dm_phase(plan, "look up");
    memset(j->part, 0, (size_t)plan->context->threads * sizeof *j->part);
    TRY(dm_parallel(plan, (size_t)j->memory.pieces, look_up_piece, j, 0.08));
    *d = sum_of_parts(j);
    uint64_t zeros = d->points;
    for (int64_t i = 0; i < j->memory.pieces; i++)
        zeros -= j->memory.count[i];
    dm_phase(plan, "percentiles");
    for (int i = 0; d->points && i < plan->problem.comparison.percentile_count; i++) {
        double part;
        TRY(select_order(j, d->largest, zeros, dm_rank(d->points, plan->problem.comparison.percentile[i], &part),
                         d->order[i]));
    }
    return DISTMAP_OK;
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    size_t bytes;
    job j = lay_out(plan, &bytes);
    dm_compared *compared = &plan->outcome.compared;
    j.plan = plan;
    j.arrays = arrays;
    memset(j.both, 0, (size_t)plan->context->threads * sizeof *j.both);
    if (j.memory.mask) {
        dm_phase(plan, "surface");
        TRY(dm_parallel(plan, (size_t)j.memory.pieces, mark_piece, &j, 0.04));
    }
    for (j.direction = 0; j.direction < 2; j.direction++)
        TRY(measure(&j));
    for (int t = 0; t < plan->context->threads; t++) {
        compared->elements[0] += j.both[t][0];
        compared->elements[1] += j.both[t][1];
        compared->common += j.both[t][2];
    }
    if (!compared->elements[0] || !compared->elements[1])
        dm_flag(plan, DISTMAP_FLAG_NO_SITE);
    return DISTMAP_OK;
}

const dm_method dm_comparison_cpu = {
    .info =
        {
            .name = "comparison/cpu",
            .summary =
                "distances between two sets: Hausdorff, averages, percentiles, from squared distances at their points",
            .source = "Huttenlocher, Klanderman, Rucklidge 1993; docs/notes/operations.md",
            .device = "cpu",
            .exact = true,
            .field = DISTMAP_FIELD_COMPARISON,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = co_prepare,
    .release = op_inner_release,
};
