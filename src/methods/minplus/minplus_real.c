/* minplus/cpu in FP64: pitches without a unit, sampled functions, and the integer problems that 16- and 32-bit lanes do not take.
 *
 *     out[x] = min over i of fma(w, (x - i)^2, f[i])       along the last measured axis first, then the one before, ...
 *
 * which is the formula of distmap.h, so that nothing is to be verified afterwards; integers below 2^53 are exact in it. Along each axis
 * the search of kernel_real.h tries the nearest candidates first. Lines that it leaves go through kernel_real_far.h, those of labels
 * through the lower envelope of core/hull.h, run by run.
 *
 *   rows       the input's values along x: of masks and labels the distance to the next site of the row, which takes two sweeps
 *   y, z, t    a pass each, where measured, through tiles of neighbouring lines
 *
 * Rows and the y pass of a plane that fits the cache are one task. Between passes there are 8 bytes per element, with sites 4 or 8 more.
 * The last pass writes the outputs.
 */
#include "methods/minplus/minplus_real.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/hull.h"
#include "core/scratch.h"
#include "cpu/rows.h"
#include "methods/minplus/minplus_extent.h"
#include "methods/minplus/minplus_layout.h"

enum {
    REACH = 192,     /* the most steps of a search */
    MOST_LANES = 64, /* of a group; columns of tiles are multiples of it */
    TILE = 1 << 15,  /* elements of a tile, at least MOST_LANES columns */
    CACHE = 1 << 19, /* elements of a plane that is solved at once */
    ROWS = 8,        /* of a task */
    SKIP = 7,        /* groups beside one that was not settled are solved line by line at once */
};

typedef struct real_worker {
    double *f, *e, *best, *from; /* tiles; f is also a row, with room before and behind it */
    int64_t *site, *found, *kind;
    uint8_t *ruled;
    double *run;       /* a row's results, in the plan's number type */
    union value *line; /* a line by itself, */
    int64_t *line_site, *line_kind;
    uint8_t *line_ruled;
    double *far[4];        /* candidates of a far search, positions and values, and its results */
    struct parabola *list; /* and its envelope */
} real_worker;

typedef struct real {
    distmap_plan *plan;
    const dm_arrays *arrays;
    const mp_kernels *kernels;
    double *squared; /* between passes */
    void *site;      /* the same: int32_t or int64_t */
    real_worker *workers;
    double *square;           /* k^2 */
    double most, limit;       /* results above `limit` are none; `most` is the next number above it */
    bool kinds, sites, plain; /* plain: distances as floats, one after another along rows, are all that is wanted */
    bool planes;              /* a task has whole planes */
    int axis;                 /* of this pass */
    bool last;
    int64_t inner, columns; /* elements that are contiguous within a step of the axis; of a tile */
} real;

/* ---- What it accepts ---- */

static double largest_sample(const distmap_plan *plan) {
    if (plan->problem.input != DISTMAP_INPUT_SAMPLED)
        return 0;
    const double most = (double)dm_dtype_max(plan->problem.dtype);
    return plan->limited && (double)plan->limit2 < most ? (double)plan->limit2 : most;
}

const char *mp_real_refuses(const distmap_plan *plan) {
    if (plan->problem.window.count)
        return "needs whole images where squared distances are FP64";
    const mp_extent extent = mp_extent_of(plan);
    if (plan->number != DM_F64 && extent.most + largest_sample(plan) >= 0x1p53)
        return "needs squared distances below 2^53";
    if (plan->number == DM_F64 && dm_by_kind(plan) && plan->wants_site && extent.most >= 0x1p50 * extent.least)
        return "needs squared distances below 2^50 times the least squared pitch for nearest sites of labels or of a "
               "signed map";
    return NULL;
}

/* ---- Memory ---- */

static bool narrow_sites(const distmap_plan *plan) { return plan->elements <= INT32_MAX; }

static int slow_steps(const distmap_plan *plan) {
    int count = 0;
    for (int a = 0; a < DM_X; a++)
        count += dm_axis_counts(plan, a);
    return count;
}

static int64_t tile_columns(int64_t n) {
    const int64_t columns = TILE / n / MOST_LANES * MOST_LANES;
    return columns < MOST_LANES ? MOST_LANES : columns > 8 * MOST_LANES ? 8 * MOST_LANES : columns;
}

static void take_worker(dm_scratch *b, const distmap_plan *plan, real_worker *w) {
    const bool kinds = dm_by_kind(plan), sites = plan->wants_site;
    const int64_t row = plan->shape[DM_X];
    int64_t tile = row + 2 * REACH + MOST_LANES, longest = row, columns = 0;
    for (int a = 0; a < DM_X; a++)
        if (dm_axis_counts(plan, a)) {
            const int64_t n = plan->shape[a], across = tile_columns(n);
            tile = n * across > tile ? n * across : tile;
            longest = n > longest ? n : longest;
            columns = across > columns ? across : columns;
        }
    w->f = dm_take(b, tile, sizeof *w->f);
    w->e = dm_take(b, kinds ? MOST_LANES * longest : 0, sizeof *w->e);
    w->best = dm_take(b, tile, sizeof *w->best);
    w->from = dm_take(b, sites ? tile : 0, sizeof *w->from);
    w->site = dm_take(b, sites ? tile : 0, sizeof *w->site);
    w->found = dm_take(b, sites ? tile : 0, sizeof *w->found);
    w->kind = dm_take(b, kinds ? tile : 0, sizeof *w->kind);
    w->ruled = dm_take(b, tile, sizeof *w->ruled);
    w->run = dm_take(b, row > columns ? row : columns, sizeof *w->run);
    w->line = dm_take(b, longest, sizeof *w->line);
    w->line_site = dm_take(b, sites ? longest : 0, sizeof *w->line_site);
    w->line_kind = dm_take(b, kinds ? longest : 0, sizeof *w->line_kind);
    w->line_ruled = dm_take(b, longest, sizeof *w->line_ruled);
    w->list = dm_take(b, kinds ? longest + 2 : 0, sizeof *w->list);
    for (int i = 0; i < 4; i++)
        w->far[i] = dm_take(b, longest + MOST_LANES, sizeof *w->far[i]);
}

static size_t walk_scratch(const distmap_plan *plan, void *base, real *s) {
    dm_scratch b = {.base = base, .unit = DM_CPU_UNIT};
    const int threads = plan->context->threads;
    const bool slow = slow_steps(plan) > 0;
    s->workers = dm_take(&b, threads, sizeof *s->workers);
    for (int i = 0; i < threads; i++) {
        real_worker unused;
        take_worker(&b, plan, base ? &s->workers[i] : &unused);
    }
    s->square = dm_take(&b, REACH + 2, sizeof *s->square);
    s->squared = dm_take(&b, slow ? plan->elements : 0, sizeof *s->squared);
    s->site = dm_take(&b, slow && plan->wants_site ? plan->elements : 0, narrow_sites(plan) ? 4 : 8);
    return b.used;
}

size_t mp_real_scratch_bytes(const distmap_plan *plan) {
    real unused;
    return walk_scratch(plan, NULL, &unused);
}

static void load_sites(const real *s, int64_t linear, int64_t count, int64_t *to) {
    for (int64_t i = 0; i < count; i++)
        to[i] = narrow_sites(s->plan) ? ((const int32_t *)s->site)[linear + i] : ((const int64_t *)s->site)[linear + i];
}

static void store_sites(const real *s, const int64_t *from, int64_t count, int64_t linear) {
    for (int64_t i = 0; i < count; i++)
        if (narrow_sites(s->plan))
            ((int32_t *)s->site)[linear + i] = (int32_t)from[i];
        else
            ((int64_t *)s->site)[linear + i] = from[i];
}

/* ---- Places and outputs ---- */

static void place(const distmap_plan *plan, int64_t linear, int64_t at[DM_NDIM]) {
    for (int a = DM_X; a >= 0; a--) {
        at[a] = linear % plan->shape[a];
        linear /= plan->shape[a];
    }
}

/* Calls for each piece of [linear, linear + count) within a row: `at` is its first element, `done` the elements before it. */
#define EACH_PIECE(plan, linear, count, at, done, n)                                          \
    for (int64_t at[DM_NDIM], done = 0, n;                                                    \
         done < (count) && (place(plan, (linear) + done, at), true) &&                        \
         (n = (plan)->shape[DM_X] - at[DM_X], n = n < (count)-done ? n : (count)-done, true); \
         done += n)

/* A run of results within a row. Both arrays may be changed. */
static void emit(const real *s, real_worker *w, const int64_t at[DM_NDIM], int64_t n, double *squared, int64_t *site) {
    distmap_plan *plan = s->plan;
    if (s->plain) {
        float *out = (float *)(void *)dm_row_address(&s->arrays->distance, at);
        dm_flag(plan, s->kernels->real_roots(squared, n, s->limit, out) ? DISTMAP_FLAG_NO_SITE : 0);
        return;
    }
    if (plan->number == DM_U32)
        for (int64_t i = 0; i < n; i++)
            ((uint32_t *)w->run)[i] = squared[i] > s->limit ? UINT32_MAX : (uint32_t)squared[i];
    if (plan->number == DM_U64)
        for (int64_t i = 0; i < n; i++)
            ((uint64_t *)w->run)[i] = squared[i] > s->limit ? UINT64_MAX : (uint64_t)squared[i];
    dm_row_emit(plan, s->arrays, at, n, plan->number == DM_F64 ? squared : w->run, site);
}

/* ---- Rows ---- */

/* e, the distance to the next element that `stops`, and the squares of it; and where it is: *site may be NULL. */
static void row_distances(const real *s, const uint8_t *stops, int64_t n, int64_t linear, double *best, int64_t *site) {
    const double w2 = s->plan->w2f[DM_X];
    const int64_t none = INT64_MAX / 2;
    int64_t *before = (int64_t *)best, d = none;
    for (int64_t x = 0; x < n; x++) {
        d = stops[x] ? 0 : d + 1;
        before[x] = d;
    }
    d = none;
    for (int64_t x = n - 1; x >= 0; x--) {
        d = stops[x] ? 0 : d + 1;
        const int64_t lower = before[x], e = lower <= d ? lower : d;
        best[x] = e >= none ? (double)INFINITY : w2 * (double)(e * e);
        if (site)
            site[x] = e >= none ? -1 : linear + (lower <= d ? x - lower : x + d);
    }
}

/* The same to the next element of another kind. */
static void row_kinds(const real *s, const int64_t *kind, int64_t n, int64_t linear, double *best, int64_t *site) {
    const double w2 = s->plan->w2f[DM_X];
    for (int64_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && kind[to] == kind[from];)
            to++;
        for (int64_t x = from; x < to; x++) {
            const int64_t lower = from > 0 ? x - from + 1 : INT64_MAX, upper = to < n ? to - x : INT64_MAX;
            const int64_t e = lower <= upper ? lower : upper;
            best[x] = e == INT64_MAX ? (double)INFINITY : w2 * (double)(e * e);
            if (site)
                site[x] = e == INT64_MAX ? -1 : linear + (lower <= upper ? x - lower : x + upper);
        }
    }
}

/* A line by the lower envelope, from w->line and what belongs to it. */
static void envelope(const real *s, real_worker *w, int axis, int64_t linear) {
    const distmap_plan *plan = s->plan;
    const struct hull hull = {.list = w->list, .w2.f64 = plan->w2f[axis]};
    hull_line(hull, plan->shape[axis], w->line, s->sites ? w->line_site : NULL, s->kinds ? w->line_kind : NULL,
              w->line_ruled, linear, plan->linear[axis], true);
}

/* The same by a far search, without labels. */
static void far_line(const real *s, real_worker *w, int axis) {
    const int64_t n = s->plan->shape[axis];
    double *p = w->far[0], *f = w->far[1];
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++) {
        p[m] = (double)i, f[m] = w->line[i].f64;
        m += f[m] < (double)INFINITY;
    }
    if (m == 0)
        return;
    s->kernels->real_far(p, f, m, s->plan->w2f[axis], s->most, n, w->far[2], w->far[3]);
    int64_t *site = (int64_t *)w->far[0]; /* positions are needed no more once they are sites */
    for (int64_t c = 0; s->sites && c < m; c++)
        site[c] = w->line_site[(int64_t)p[c]];
    for (int64_t i = 0; i < n; i++) {
        w->line[i].f64 = w->far[2][i];
        if (s->sites)
            w->line_site[i] = site[(int64_t)w->far[3][i]];
    }
}

/* A line that the near search left. */
static void solve_line(const real *s, real_worker *w, int axis, int64_t linear) {
    if (s->kinds)
        envelope(s, w, axis, linear);
    else
        far_line(s, w, axis);
}

/* Samples, w->f + REACH, to w->best and w->found. */
static void search_row(const real *s, real_worker *w, int64_t linear) {
    const int64_t n = s->plan->shape[DM_X];
    double *f = w->f + REACH;
    for (int64_t i = 0; i < REACH; i++)
        f[-1 - i] = (double)INFINITY;
    for (int64_t i = 0; i < REACH + MOST_LANES; i++)
        f[n + i] = (double)INFINITY;
    const mp_real_lines l = {
        .w2 = s->plan->w2f[DM_X],
        .n = n,
        .reach = REACH < n - 1 ? REACH : n - 1,
        .square = s->square,
        .most = s->most,
        .f = f,
        .best = w->best,
        .from = s->sites ? w->from : NULL,
    };
    if (s->kernels->real_row(&l)) {
        for (int64_t x = 0; s->sites && x < n; x++)
            w->found[x] = w->best[x] < (double)INFINITY ? linear + x + (int64_t)w->from[x] : -1;
        return;
    }
    for (int64_t x = 0; x < n; x++) {
        w->line[x].f64 = f[x];
        if (s->sites)
            w->line_site[x] = linear + x;
    }
    solve_line(s, w, DM_X, linear);
    memcpy(w->best, w->line, (size_t)n * sizeof *w->best);
    if (s->sites)
        memcpy(w->found, w->line_site, (size_t)n * sizeof *w->found);
}

static double of_number(dm_number number, const void *values, int64_t i) {
    switch (number) {
    case DM_U32: return ((const uint32_t *)values)[i] == UINT32_MAX ? (double)INFINITY : ((const uint32_t *)values)[i];
    case DM_U64:
        return ((const uint64_t *)values)[i] == UINT64_MAX ? (double)INFINITY : (double)((const uint64_t *)values)[i];
    default: return ((const double *)values)[i];
    }
}

/* The row's elements by themselves, where distances do not run along it: 0 or nothing. */
static void row_alone(const real *s, const uint8_t *stops, int64_t n, int64_t linear, double *best, int64_t *site) {
    (void)s;
    for (int64_t x = 0; x < n; x++) {
        best[x] = stops[x] ? 0 : (double)INFINITY;
        if (site)
            site[x] = stops[x] ? linear + x : -1;
    }
}

static void solve_row(const real *s, real_worker *w, int64_t row) {
    distmap_plan *plan = s->plan;
    const dm_array *in = &s->arrays->input;
    const int64_t n = plan->shape[DM_X], linear = row * n;
    const bool along = dm_axis_counts(plan, DM_X);
    int64_t at[DM_NDIM], *site = s->sites ? w->found : NULL;
    place(plan, linear, at);
    double *best = s->last ? w->best : s->squared + linear;
    if (plan->problem.input == DISTMAP_INPUT_SAMPLED) {
        dm_row_values(plan, in, at, n, w->run);
        if (atomic_load_explicit(&plan->failure, memory_order_relaxed) != DISTMAP_OK)
            return; /* bad samples break the bounds that the search counts on */
        for (int64_t x = 0; x < n; x++)
            w->f[REACH + x] = of_number(plan->number, w->run, x);
        if (along) {
            search_row(s, w, linear);
        } else {
            memcpy(w->best, w->f + REACH, (size_t)n * sizeof *w->best);
            for (int64_t x = 0; site && x < n; x++)
                site[x] = w->best[x] < (double)INFINITY ? linear + x : -1;
        }
        if (best != w->best)
            memcpy(best, w->best, (size_t)n * sizeof *best);
    } else if (s->kinds) {
        dm_row_kinds(plan, in, at, n, w->kind, w->ruled);
        if (along)
            row_kinds(s, w->kind, n, linear, best, site);
        else
            row_alone(s, w->ruled, n, linear, best, site);
        for (int64_t x = 0; along && x < n; x++)
            if (w->ruled[x]) {
                best[x] = 0;
                if (site)
                    site[x] = linear + x;
            }
    } else {
        dm_row_sites(plan, in, at, n, w->ruled);
        (along ? row_distances : row_alone)(s, w->ruled, n, linear, best, site);
    }
    if (s->last)
        emit(s, w, at, n, best, site);
    else if (site)
        store_sites(s, site, n, linear);
}

/* ---- Tiles of a pass ---- */

/* w->e of a group of lines, from w->kind at column c. */
static void line_turns(const real *s, real_worker *w, int64_t c) {
    const int64_t n = s->plan->shape[s->axis];
    const int lanes = s->kernels->real_lanes;
    double d[MOST_LANES];
    for (int j = 0; j < lanes; j++)
        d[j] = (double)INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const int64_t *here = w->kind + i * s->columns + c, *lower = i > 0 ? here - s->columns : here;
        for (int j = 0; j < lanes; j++) {
            d[j] = here[j] == lower[j] ? d[j] + 1 : 1;
            w->e[i * lanes + j] = -d[j];
        }
    }
    for (int j = 0; j < lanes; j++)
        d[j] = (double)INFINITY;
    for (int64_t i = n - 1; i >= 0; i--) {
        const int64_t *here = w->kind + i * s->columns + c, *upper = i < n - 1 ? here + s->columns : here;
        for (int j = 0; j < lanes; j++) {
            d[j] = here[j] == upper[j] ? d[j] + 1 : 1;
            w->e[i * lanes + j] = d[j] < -w->e[i * lanes + j] ? d[j] : w->e[i * lanes + j];
        }
    }
}

/* Lines [c, c + lanes) of a tile that starts at `linear`, of which `count` exist, one by one. */
static void single_lines(const real *s, real_worker *w, const double *f, int64_t c, int64_t count, int64_t linear) {
    const int64_t n = s->plan->shape[s->axis], columns = s->columns;
    const int lanes = s->kernels->real_lanes;
    for (int64_t j = 0; j < lanes && c + j < count; j++) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t k = i * columns + c + j;
            w->line[i].f64 = f[i * lanes + j];
            w->line_ruled[i] = w->ruled[k];
            if (s->sites)
                w->line_site[i] = w->site[k];
            if (s->kinds)
                w->line_kind[i] = w->kind[k];
        }
        solve_line(s, w, s->axis, linear + c + j);
        for (int64_t i = 0; i < n; i++) {
            const int64_t k = i * columns + c + j;
            w->best[k] = w->line[i].f64;
            if (s->sites)
                w->found[k] = w->line_site[i];
        }
    }
}

/* w->found from w->from, for the columns of a group. */
static void find_sites(const real *s, real_worker *w, int64_t c, int64_t linear) {
    const int64_t n = s->plan->shape[s->axis], step = s->plan->linear[s->axis];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = c; j < c + s->kernels->real_lanes; j++) {
            const int64_t k = i * s->columns + j;
            const double from = w->from[k];
            if (!(w->best[k] < (double)INFINITY))
                w->found[k] = -1;
            else if (from > MP_REAL_TURN / 2)
                w->found[k] = linear + j + (i + (int64_t)(from - MP_REAL_TURN)) * step;
            else
                w->found[k] = w->site[k + (int64_t)from * s->columns];
        }
}

static void load_tile(const real *s, real_worker *w, int64_t linear, int64_t count) {
    distmap_plan *plan = s->plan;
    const int64_t n = plan->shape[s->axis], step = plan->linear[s->axis];
    const int lanes = s->kernels->real_lanes;
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = linear + i * step;
        for (int64_t c = 0; c < count; c += lanes) {
            double *to = w->f + (c * n + i * lanes);
            const int64_t some = count - c < lanes ? count - c : lanes;
            memcpy(to, s->squared + from + c, (size_t)some * sizeof *to);
            for (int64_t j = some; j < lanes; j++)
                to[j] = 0; /* settled at once */
        }
        const int64_t whole = (count + lanes - 1) / lanes * lanes, rest = (whole - count) * (int64_t)sizeof(int64_t);
        if (s->sites) {
            load_sites(s, from, count, w->site + i * s->columns);
            memset(w->site + i * s->columns + count, 0, (size_t)rest);
        }
        if (s->kinds) {
            memset(w->kind + i * s->columns + count, 0, (size_t)rest);
            EACH_PIECE(plan, from, count, at, done, some)
            dm_row_kinds(plan, &s->arrays->input, at, some, w->kind + i * s->columns + done,
                         w->ruled + i * s->columns + done);
        }
    }
}

static void store_tile(const real *s, real_worker *w, int64_t linear, int64_t count) {
    const distmap_plan *plan = s->plan;
    const int64_t n = plan->shape[s->axis], step = plan->linear[s->axis];
    for (int64_t i = 0; i < n; i++) {
        const int64_t to = linear + i * step;
        double *best = w->best + i * s->columns;
        int64_t *site = s->sites ? w->found + i * s->columns : NULL;
        if (s->last) {
            EACH_PIECE(plan, to, count, at, done, some)
            emit(s, w, at, some, best + done, site ? site + done : NULL);
            continue;
        }
        memcpy(s->squared + to, best, (size_t)count * sizeof *best);
        if (site)
            store_sites(s, site, count, to);
    }
}

/* Tile number `index` of the pass's run of lines that begins at `start`. */
static void solve_tile(const real *s, real_worker *w, int64_t start, int64_t index) {
    const distmap_plan *plan = s->plan;
    const int64_t n = plan->shape[s->axis], first = index * s->columns, linear = start + first;
    const int64_t count = s->inner - first < s->columns ? s->inner - first : s->columns;
    const int lanes = s->kernels->real_lanes;
    load_tile(s, w, linear, count);
    mp_real_lines l = {
        .w2 = plan->w2f[s->axis],
        .n = n,
        .reach = REACH < n - 1 ? REACH : n - 1,
        .square = s->square,
        .most = s->most,
        .e = s->kinds ? w->e : NULL,
        .pitch = s->columns,
    };
    int skip = 0;
    for (int64_t c = 0; c < count; c += lanes) {
        l.f = w->f + c * n;
        l.best = w->best + c;
        l.from = s->sites ? w->from + c : NULL;
        bool settled = false;
        if (!skip) {
            if (s->kinds)
                line_turns(s, w, c);
            settled = s->kernels->real_tile(&l);
        }
        if (!settled) {
            skip = skip ? skip - 1 : SKIP;
            single_lines(s, w, l.f, c, count, linear);
        } else if (s->sites) {
            find_sites(s, w, c, linear);
        }
    }
    store_tile(s, w, linear, count);
}

/* ---- Tasks ---- */

static int64_t tiles_of(const real *s) { return (s->inner + s->columns - 1) / s->columns; }

static void set_pass(real *s, int axis, bool last) {
    s->axis = axis;
    s->last = last;
    s->inner = s->plan->linear[axis];
    s->columns = tile_columns(s->plan->shape[axis]);
}

static void rows_task(void *arg, size_t index, int worker) {
    const real *s = arg;
    const int64_t rows = s->plan->elements / s->plan->shape[DM_X], first = (int64_t)index * ROWS;
    for (int64_t row = first; row < first + ROWS && row < rows; row++)
        solve_row(s, &s->workers[worker], row);
}

static void tile_task(void *arg, size_t index, int worker) {
    const real *s = arg;
    const int64_t tiles = tiles_of(s), run = (int64_t)index / tiles;
    solve_tile(s, &s->workers[worker], run * s->inner * s->plan->shape[s->axis], (int64_t)index % tiles);
}

/* The rows of a plane and its pass along y. */
static void plane_task(void *arg, size_t index, int worker) {
    const real *s = arg;
    real rows = *s;
    rows.last = false;
    const int64_t height = s->plan->shape[2];
    for (int64_t y = 0; y < height; y++)
        solve_row(&rows, &s->workers[worker], (int64_t)index * height + y);
    for (int64_t tile = 0; tile < tiles_of(s); tile++)
        solve_tile(s, &s->workers[worker], (int64_t)index * height * s->inner, tile);
}

static void set_up(real *s) {
    const distmap_plan *plan = s->plan;
    const distmap_outputs *want = &plan->problem.want;
    s->kinds = dm_by_kind(plan);
    s->sites = plan->wants_site;
    s->limit = DBL_MAX;
    if (plan->limited && plan->number == DM_F64)
        s->limit = fmin(plan->limit2f, DBL_MAX);
    else if (plan->limited && plan->limit2 < (uint64_t)1 << 53) /* no square is larger */
        s->limit = (double)plan->limit2;
    s->most = nextafter(s->limit, (double)INFINITY);
    s->plain = want->distance == DISTMAP_FLOAT32 && !want->squared && !plan->wants_mask && !s->sites &&
               !plan->problem.border && !plan->problem.sign && plan->number == DM_F64 &&
               s->arrays->distance.stride[DM_X] == 4;
    for (int k = 0; k < REACH + 2; k++)
        s->square[k] = (double)(k * k);
    const int64_t plane = plan->shape[2] * plan->shape[DM_X];
    s->planes = dm_axis_counts(plan, 2) && plane <= CACHE && plan->elements / plane >= plan->context->threads;
}

distmap_status mp_real_run(distmap_plan *plan, const dm_arrays *arrays, const mp_kernels *kernels) {
    real s = {.plan = plan, .arrays = arrays, .kernels = kernels};
    walk_scratch(plan, plan->scratch, &s);
    set_up(&s);
    int left = slow_steps(plan);
    const double share = 1.0 / (1 + left);
    const int64_t rows = plan->elements / plan->shape[DM_X];
    if (s.planes) {
        dm_phase(plan, "planes");
        set_pass(&s, 2, --left == 0);
        TRY(dm_parallel(plan, (size_t)(rows / plan->shape[2]), plane_task, &s, 2 * share));
    } else {
        dm_phase(plan, "rows");
        s.last = left == 0;
        TRY(dm_parallel(plan, (size_t)((rows + ROWS - 1) / ROWS), rows_task, &s, share));
    }
    for (int axis = s.planes ? 1 : 2; axis >= 0; axis--) {
        if (!dm_axis_counts(plan, axis))
            continue;
        dm_phase(plan, dm_axis_names[axis]);
        set_pass(&s, axis, --left == 0);
        const int64_t runs = plan->elements / (s.inner * plan->shape[axis]);
        TRY(dm_parallel(plan, (size_t)(runs * tiles_of(&s)), tile_task, &s, share));
    }
    return DISTMAP_OK;
}
