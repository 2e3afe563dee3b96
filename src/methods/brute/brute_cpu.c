/* brute/cpu: the definition itself, and the oracle that every other method is tested against.
 *
 *     squared(p) = min over candidates q of p's batch of f(q) + |p - q|^2,    the first such q in linear order
 *
 * or, where the metric is not the Euclidean, the length of the shortest walk from q to p in place of |p - q|^2.
 * Candidates are the sites (f = 0), the samples that offer something, or, for labels, all elements, of which p looks at
 * those with another label. FP64 nests as distmap.h says, fma(w0^2, d0^2, ... fma(wn^2, dn^2, f)); taking one minimum over
 * all q gives the same value as taking it axis by axis, because fma rounds monotonically in its last argument.
 *
 * Time O(elements * candidates). Nothing here is clever on purpose.
 */
#include <math.h>
#include <string.h>

#include "core/scratch.h"
#include "cpu/rows.h"

struct candidate {
    int32_t at[DM_NDIM];
    int64_t label;  /* LABELS and signed maps only: its kind */
    int64_t linear; /* linear index */
    union {
        uint64_t u64;
        double f64;
    } f;
};

struct work {
    distmap_plan *plan;
    const dm_arrays *arrays;
    size_t *first;                /* batch b has candidates [first[b], first[b + 1]) */
    struct candidate *candidates; /* by batch, then in linear order */
    char *rows;                   /* per worker: see row_bytes */
};

static size_t batches(const distmap_plan *plan) {
    size_t count = 1;
    for (int a = 0; a < DM_NDIM; a++)
        count *= plan->measured[a] ? 1 : (size_t)plan->shape[a];
    return count;
}

static size_t batch_of(const distmap_plan *plan, const int64_t at[DM_NDIM]) {
    size_t batch = 0;
    for (int a = 0; a < DM_NDIM; a++)
        if (!plan->measured[a])
            batch = batch * (size_t)plan->shape[a] + (size_t)at[a];
    return batch;
}

/* One row's buffers: squared, site, label (8 bytes each) and the sites rule's verdict (1 byte). */
static size_t row_bytes(const distmap_plan *plan) { return dm_round64((size_t)plan->shape[DM_X] * 25); }

struct row {
    void *squared;
    int64_t *site, *label;
    uint8_t *ruled;
};

static struct row row_of(const struct work *w, int worker) {
    const size_t n = (size_t)w->plan->shape[DM_X];
    char *p = w->rows + (size_t)worker * row_bytes(w->plan);
    return (struct row){p, (int64_t *)(p + 8 * n), (int64_t *)(p + 16 * n), (uint8_t *)(p + 24 * n)};
}

static size_t scratch_bytes(const distmap_plan *plan) {
    return dm_round64((batches(plan) + 1) * sizeof(size_t)) +
           dm_round64((size_t)plan->elements * sizeof(struct candidate)) +
           (size_t)plan->context->threads * row_bytes(plan);
}

static void row_position(const distmap_plan *plan, size_t row, int64_t at[DM_NDIM]) {
    at[DM_X] = 0;
    for (int a = DM_X - 1; a >= 0; a--) {
        at[a] = (int64_t)(row % (size_t)plan->shape[a]);
        row /= (size_t)plan->shape[a];
    }
}

static size_t row_count(const distmap_plan *plan) { return (size_t)(plan->elements / plan->shape[DM_X]); }

/* ---- Reading ---- */

static void read_row(const struct work *w, const int64_t at[DM_NDIM], const struct row *row) {
    distmap_plan *plan = w->plan;
    const int64_t n = plan->shape[DM_X];
    if (plan->problem.input == DISTMAP_INPUT_SAMPLED)
        dm_row_values(plan, &w->arrays->input, at, n, row->squared);
    else if (dm_by_kind(plan))
        dm_row_kinds(plan, &w->arrays->input, at, n, row->label, row->ruled);
    else
        dm_row_sites(plan, &w->arrays->input, at, n, row->ruled);
}

/* Element x of a row that was read, as a candidate. False when it offers nothing. */
static bool as_candidate(const distmap_plan *plan, const int64_t at[DM_NDIM], int64_t x, const struct row *row,
                         struct candidate *made) {
    *made = (struct candidate){.at = {(int32_t)at[0], (int32_t)at[1], (int32_t)at[2], (int32_t)x}};
    for (int a = 0; a < DM_NDIM; a++)
        made->linear += made->at[a] * plan->linear[a];
    if (dm_by_kind(plan)) {
        made->label = row->label[x];
        return true;
    }
    if (plan->problem.input == DISTMAP_INPUT_MASK)
        return row->ruled[x];
    switch (plan->number) {
    case DM_U32: made->f.u64 = ((uint32_t *)row->squared)[x]; return made->f.u64 != UINT32_MAX;
    case DM_U64: made->f.u64 = ((uint64_t *)row->squared)[x]; return made->f.u64 != UINT64_MAX;
    default: made->f.f64 = ((double *)row->squared)[x]; return made->f.f64 < (double)INFINITY;
    }
}

/* Counts first, then fills, so that each batch's candidates lie together whichever axes are batches. `first` holds
 * each batch's count one place late, then its start, then, moved along by filling, its end: the next one's start. */
static void collect(struct work *w) {
    distmap_plan *plan = w->plan;
    const struct row row = row_of(w, 0);
    const size_t count = batches(plan);
    struct candidate c;
    int64_t at[DM_NDIM];
    memset(w->first, 0, (count + 1) * sizeof *w->first);
    for (int fill = 0; fill < 2; fill++) {
        for (size_t r = 0; r < row_count(plan) && dm_is_wanted(plan); r++) {
            row_position(plan, r, at);
            read_row(w, at, &row);
            for (; at[DM_X] < plan->shape[DM_X]; at[DM_X]++) {
                if (!as_candidate(plan, at, at[DM_X], &row, &c))
                    continue;
                if (fill)
                    w->candidates[w->first[batch_of(plan, at)]++] = c;
                else
                    w->first[batch_of(plan, at) + 1]++;
            }
        }
        for (size_t b = 0; !fill && b < count; b++)
            w->first[b + 1] += w->first[b];
    }
    memmove(w->first + 1, w->first, count * sizeof *w->first);
    w->first[0] = 0;
}

/* ---- Searching ---- */

enum { MANY = 1 << 20 }; /* looks at candidates: some milliseconds */

static uint64_t squared_offset(const distmap_plan *plan, const int32_t p[DM_NDIM], const int32_t q[DM_NDIM]) {
    uint64_t offset[DM_NDIM], d2 = 0;
    for (int a = 0; a < DM_NDIM; a++) {
        const int64_t d = (int64_t)p[a] - q[a];
        offset[a] = (uint64_t)(d < 0 ? -d : d);
        d2 += plan->w2[a] * (offset[a] * offset[a]);
    }
    return dm_is_euclidean(&plan->chamfer) ? d2 : dm_chamfer_length(&plan->chamfer, offset);
}

static int64_t search_integer(const struct work *w, const struct candidate *p, size_t from, size_t to, bool labels,
                              uint64_t *squared) {
    uint64_t best = UINT64_MAX;
    int64_t site = DISTMAP_INDEX_NONE;
    for (size_t c = from; c < to; c++) {
        const struct candidate *q = &w->candidates[c];
        if (labels && q->label == p->label)
            continue;
        const uint64_t d2 = q->f.u64 + squared_offset(w->plan, p->at, q->at);
        if (d2 < best) {
            best = d2;
            site = q->linear;
        }
    }
    *squared = best;
    return site;
}

static int64_t search_f64(const struct work *w, const struct candidate *p, size_t from, size_t to, bool labels,
                          double *squared) {
    const double *w2 = w->plan->w2f;
    double best = INFINITY;
    int64_t site = DISTMAP_INDEX_NONE;
    for (size_t c = from; c < to; c++) {
        const struct candidate *q = &w->candidates[c];
        if (labels && q->label == p->label)
            continue;
        double d2 = q->f.f64;
        for (int a = DM_X; a >= 0; a--) {
            const int64_t d = p->at[a] - q->at[a];
            if (d)
                d2 = fma(w2[a], (double)(d * d), d2);
        }
        if (d2 < best) {
            best = d2;
            site = q->linear;
        }
    }
    *squared = best;
    return site;
}

static void search_row(void *arg, size_t index, int worker) {
    struct work *w = arg;
    distmap_plan *plan = w->plan;
    const struct row row = row_of(w, worker);
    const bool labels = dm_by_kind(plan);
    int64_t at[DM_NDIM];
    size_t looks = 0;
    row_position(plan, index, at);
    if (labels)
        read_row(w, at, &row);
    for (; at[DM_X] < plan->shape[DM_X]; at[DM_X]++) {
        const int64_t x = at[DM_X];
        struct candidate p = {.at = {(int32_t)at[0], (int32_t)at[1], (int32_t)at[2], (int32_t)x}};
        const size_t batch = batch_of(plan, at);
        size_t from = w->first[batch], to = w->first[batch + 1];
        bool other = labels;
        looks += to - from;
        if (looks > MANY && !dm_is_wanted(plan))
            return;
        looks = looks > MANY ? 0 : looks;
        if (labels && row.ruled[x]) { /* background: its own and only candidate */
            size_t self = from;
            while (memcmp(w->candidates[self].at, p.at, sizeof p.at) != 0)
                self++;
            from = self;
            to = self + 1;
            other = false;
        }
        p.label = labels ? row.label[x] : 0;
        if (plan->number == DM_F64) {
            row.site[x] = search_f64(w, &p, from, to, other, (double *)row.squared + x);
        } else {
            uint64_t squared;
            row.site[x] = search_integer(w, &p, from, to, other, &squared);
            if (plan->number == DM_U32)
                ((uint32_t *)row.squared)[x] = squared == UINT64_MAX ? UINT32_MAX : (uint32_t)squared;
            else
                ((uint64_t *)row.squared)[x] = squared;
        }
    }
    at[DM_X] = 0;
    dm_row_emit(plan, w->arrays, at, plan->shape[DM_X], row.squared, plan->wants_site ? row.site : NULL);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    char *p = plan->scratch;
    struct work work = {.plan = plan, .arrays = arrays, .first = (size_t *)p};
    p += dm_round64((batches(plan) + 1) * sizeof(size_t));
    work.candidates = (struct candidate *)p;
    p += dm_round64((size_t)plan->elements * sizeof(struct candidate));
    work.rows = p;
    dm_phase(plan, "collect");
    collect(&work);
    if (!dm_is_wanted(plan)) /* then not all were collected */
        return (distmap_status)atomic_load(&plan->failure);
    dm_phase(plan, "search");
    return dm_parallel(plan, row_count(plan), search_row, &work, 1.0);
}

const dm_method dm_brute_cpu = {
    .info =
        {
            .name = "brute/cpu",
            .summary = "every element against every site: the definition, for checking the others",
            .source = "the definition of the distance map",
            .device = "cpu",
            .exact = true,
            .metrics = DM_EVERY_METRIC,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
};
