/* esf/cpu, kernel=blocked: several steps for each visit of a tile, while its values lie in the cache.
 *
 * A *pass* makes `depth` steps from one field memory to the other. A tile takes its values and as many elements more on
 * every side as the pass has steps, and makes the steps as if they were an image of their own: what is wrong at that
 * image's border comes one element nearer with each step, and stops outside the tile. So tiles are independent,
 * whatever thread has them, and each value comes of the same operations as without tiles.
 *
 * Within a tile the steps follow each other slab by slab, a *slab* being what lies at one place of the slowest axis
 * that counts (a row of an image, a plane of a volume): once slab j has come in, slab j - 1 makes step 1, slab j - 2
 * step 2, ...
 *
 *     v_t[j] = step(v_(t-1)[j - 1], v_(t-1)[j], v_(t-1)[j + 1])
 *
 * Rows go by fours: those of an image along j, those of a plane along i. The
 * first step reads field memory, or the mask, and the last one writes field memory, or the output.
 *
 * Tiles where nothing happens are passed over: v is 0 there and all around as long as the front has not come near, and
 * 1 where all is shape. Field memory then holds the right values from the pass before the last, if there was one.
 *
 * Memory: none for one pass, one value per element for two, else two; six slabs of an image, or three of a volume, for
 * each step and worker.
 */
#include "cpu/rows.h"
#include "methods/esf/esf_cpu.h"

/* Of a tile, halos aside: columns, rows of a slab, slabs; and the most steps to a pass. By the number of axes. */
typedef struct sizes {
    int64_t x, i, j;
    int most;
} sizes;
static const sizes tile_sizes[] = {
    [1] = {4064, 1, 1, 16},
    [2] = {2016, 1, 512, 16},
    [3] = {256, 48, 128, 8},
};

enum { AHEAD = 8 };           /* slabs that are asked for before they are read */
enum { MOVES = 1, FREE = 2 }; /* of a tile: some v is not 0; some element is not of the shape */

typedef struct span {
    int64_t first, end;
} span;

typedef struct blocked {
    const esf_job *job;
    sizes tile;
    int depth;
    int64_t passes, nj, ni; /* nj: along the slowest axis that counts; ni: rows of a slab */
    int64_t tiles, tj, ti, tx;
    int at_once, kept; /* slabs that come in together; of each step, those that later ones need */
    size_t row_pitch;  /* values, of a slab's rows */
    size_t slab;       /* bytes */
    size_t site_bytes;
    char *field[2];
    uint8_t *flags[2]; /* of each tile, before and after a pass */
    char *workers;
    size_t worker_bytes;
    /* The pass under way. */
    int64_t pass;
    int steps;
} blocked;

static int64_t parts(int64_t n, int64_t size) { return (n + size - 1) / size; }

static size_t lay_out(const esf_job *job, void *memory, blocked *b) {
    const esf_grid *g = &job->grid;
    const int64_t steps = job->plan->esf.steps, depth = job->plan->params[ESF_DEPTH];
    *b = (blocked){.job = job, .tile = tile_sizes[g->axes > 1 ? g->axes : 1], .at_once = g->axes > 2 ? 1 : ESF_ROWS};
    b->kept = b->at_once + 2;
    b->depth = (int)(depth < steps ? depth : steps);
    b->depth = b->depth < b->tile.most ? b->depth : b->tile.most;
    b->passes = parts(steps, b->depth);
    b->nj = g->axes > 2 ? g->nz : g->ny;
    b->ni = g->axes > 2 ? g->ny : 1;
    b->tj = parts(b->nj, b->tile.j);
    b->ti = parts(b->ni, b->tile.i);
    b->tx = parts(g->nx, b->tile.x);
    b->tiles = g->batches * b->tj * b->ti * b->tx;
    const int64_t columns = (g->nx < b->tile.x ? g->nx : b->tile.x) + 2 * b->depth;
    const int64_t rows = b->ni < b->tile.i + 2 * b->depth ? b->ni : b->tile.i + 2 * b->depth;
    b->row_pitch = (size_t)parts(columns, ESF_LINE) * ESF_LINE + ESF_LINE;
    b->slab = dm_round64(((size_t)rows * b->row_pitch + 2 * ESF_LINE) * g->size);
    b->site_bytes = dm_round64(b->row_pitch);
    b->worker_bytes = (size_t)b->kept * (size_t)(b->depth + 1) * b->slab + ESF_ROWS * b->site_bytes;

    dm_scratch walk = {.base = memory, .unit = DM_CPU_UNIT};
    const int64_t values = (int64_t)g->pitch * esf_grid_rows(g) + ESF_LINE;
    for (int i = 0; i < 2; i++) {
        b->field[i] = b->passes > i + 1 ? dm_take(&walk, values, g->size) : NULL;
        b->flags[i] = dm_take(&walk, b->tiles, 1);
    }
    b->workers = dm_take(&walk, job->plan->context->threads, b->worker_bytes);
    return walk.used;
}

size_t esf_blocked_scratch(const esf_job *job) {
    blocked b;
    return lay_out(job, NULL, &b);
}

/* ---- Tiles ---- */

typedef struct tile {
    const blocked *b;
    char *worker;                  /* its memory */
    int64_t index, batch, j, i, x; /* which */
    span own[3], all[3];           /* slabs, rows, columns: the tile's, and with the halo */
    bool moves;                    /* some v has been seen that is not 0 */
} tile;

static span widen(span s, int64_t by, int64_t n) {
    return (span){s.first > by ? s.first - by : 0, s.end + by < n ? s.end + by : n};
}

static tile tile_at(const blocked *b, int64_t index, int worker) {
    tile t = {.b = b, .worker = b->workers + (size_t)worker * b->worker_bytes, .index = index};
    t.x = index % b->tx;
    t.i = index / b->tx % b->ti;
    t.j = index / b->tx / b->ti % b->tj;
    t.batch = index / b->tx / b->ti / b->tj;
    const int64_t at[] = {t.j, t.i, t.x}, size[] = {b->tile.j, b->tile.i, b->tile.x},
                  n[] = {b->nj, b->ni, b->job->grid.nx};
    for (int k = 0; k < 3; k++) {
        t.own[k] = widen((span){at[k] * size[k], (at[k] + 1) * size[k]}, 0, n[k]);
        t.all[k] = widen(t.own[k], b->steps, n[k]);
    }
    return t;
}

static size_t width(span s) { return (size_t)(s.end - s.first); }

/* The row of the grid that is row i of slab j. */
static int64_t grid_row(const tile *t, int64_t j, int64_t i) { return (t->batch * t->b->nj + j) * t->b->ni + i; }

static char *field_row(const tile *t, char *field, int64_t j, int64_t i, int64_t x) {
    const esf_grid *g = &t->b->job->grid;
    return field + ((size_t)grid_row(t, j, i) * g->pitch + ESF_LINE + (size_t)x) * g->size;
}

/* The flags of a tile and of those around it, together. */
static unsigned flags_around(const tile *t, const uint8_t *flags) {
    const blocked *b = t->b;
    unsigned all = 0;
    for (int64_t j = t->j > 0 ? t->j - 1 : 0; j <= t->j + 1 && j < b->tj; j++)
        for (int64_t i = t->i > 0 ? t->i - 1 : 0; i <= t->i + 1 && i < b->ti; i++)
            for (int64_t x = t->x > 0 ? t->x - 1 : 0; x <= t->x + 1 && x < b->tx; x++)
                all |= flags[((t->batch * b->tj + j) * b->ti + i) * b->tx + x];
    return all;
}

/* ---- Rows of a worker's slabs ---- */

static uint8_t *site_row(const tile *t, int which) {
    return (uint8_t *)t->worker + t->b->worker_bytes - (size_t)(ESF_ROWS - which) * t->b->site_bytes;
}

static char *kept_row(const tile *t, int step, int64_t j, int64_t i) {
    const size_t number = (size_t)(t->b->kept * step + (int)(j % t->b->kept));
    return t->worker + number * t->b->slab +
           ((size_t)(i - t->all[1].first) * t->b->row_pitch + ESF_LINE) * t->b->job->grid.size;
}

/* Row i of slab j after so many steps, from column all[2].first on. */
static char *step_row(const tile *t, int step, int64_t j, int64_t i) {
    const blocked *b = t->b;
    return step == 0 && b->pass > 0 ? field_row(t, b->field[(b->pass - 1) % 2], j, i, t->all[2].first)
                                    : kept_row(t, step, j, i);
}

static void load_slab(const tile *t, int64_t j) {
    const blocked *b = t->b;
    const size_t n = width(t->all[2]), size = b->job->grid.size;
    for (int64_t i = t->all[1].first; i < t->all[1].end; i++) {
        if (b->pass == 0) {
            esf_load(b->job, grid_row(t, j, i), t->all[2].first, n, site_row(t, 0), kept_row(t, 0, j, i));
            esf_seal(&b->job->grid, kept_row(t, 0, j, i), n);
        } else if (j + AHEAD < t->all[0].end) { /* no processor foresees the way from row to row of a tile */
            const char *ahead = step_row(t, 0, j + AHEAD, i);
            for (size_t at = 0; at < n * size; at += 64)
                __builtin_prefetch(ahead + at);
        }
    }
}

/* ---- Out ---- */

/* Where the last step of a pass may write a row's own columns at once; NULL: to the worker's memory first. */
static char *goal_row(const tile *t, int64_t j, int64_t i) {
    const blocked *b = t->b;
    if (b->pass < b->passes - 1)
        return field_row(t, b->field[b->pass % 2], j, i, t->own[2].first);
    const dm_array *out = &b->job->strength;
    if (out->stride[DM_X] != (int64_t)b->job->grid.size)
        return NULL;
    int64_t at[DM_NDIM];
    esf_grid_place(&b->job->grid, grid_row(t, j, i), t->own[2].first, at);
    return dm_row_address(out, at);
}

/* A row's own columns are made, at `row`. */
static void put_row(tile *t, int64_t j, int64_t i, char *row) {
    const blocked *b = t->b;
    const size_t n = width(t->own[2]), size = b->job->grid.size;
    t->moves = t->moves || !b->job->rows->is_zero(row, n);
    if (b->pass == b->passes - 1) {
        if (!goal_row(t, j, i))
            esf_emit(b->job, grid_row(t, j, i), t->own[2].first, n, row);
        return;
    }
    if (t->own[2].first == 0)
        memcpy(row - size, row, size);
    if (t->own[2].end == b->job->grid.nx)
        memcpy(row + n * size, row + (n - 1) * size, size);
}

/* A tile of one value, where that has to be written. */
static void put_resting(tile *t, bool shape) {
    const size_t n = width(t->own[2]);
    if (t->b->pass >= 2 && t->b->pass < t->b->passes - 1)
        return;
    memset(site_row(t, 0), shape, n);
    for (int64_t j = t->own[0].first; j < t->own[0].end; j++)
        for (int64_t i = t->own[1].first; i < t->own[1].end; i++) {
            char *goal = goal_row(t, j, i), *row = goal ? goal : kept_row(t, 0, j, i);
            t->b->job->rows->from_sites(site_row(t, 0), n, row);
            put_row(t, j, i, row);
        }
}

/* ---- Steps ---- */

static int64_t clamp(int64_t at, span s) { return at < s.first ? s.first : at >= s.end ? s.end - 1 : at; }

static bool is_own(const tile *t, int64_t j, int64_t i) {
    return j >= t->own[0].first && j < t->own[0].end && i >= t->own[1].first && i < t->own[1].end;
}

/* One step of `count` rows, from row i of slab j on: along slabs in an image, within one in a volume. */
static void step_rows(tile *t, int step, int64_t j, int64_t i, int count) {
    const blocked *b = t->b;
    const bool volume = b->job->grid.axes > 2, last = step == b->steps;
    const size_t size = b->job->grid.size, halo = last ? (size_t)(t->own[2].first - t->all[2].first) * size : 0;
    const int64_t lj = volume ? j : j + count - 1, li = volume ? i + count - 1 : i; /* the last of them */
    esf_rows r = {.count = count, .a = b->job->plan->esf.a, .dt = b->job->plan->esf.dt};
    r.n = width(last ? t->own[2] : t->all[2]);
    if (step > 1 && !last) /* whole vectors; what is beyond the row is not used */
        r.n = (r.n + ESF_LINE - 1) / ESF_LINE * ESF_LINE;
    r.up = step_row(t, step - 1, volume ? j : clamp(j - 1, t->all[0]), volume ? clamp(i - 1, t->all[1]) : i) + halo;
    r.down = step_row(t, step - 1, volume ? j : clamp(lj + 1, t->all[0]), volume ? clamp(li + 1, t->all[1]) : i) + halo;
    for (int k = 0; k < count; k++) {
        const int64_t jk = volume ? j : j + k, ik = volume ? i + k : i;
        char *goal = last && is_own(t, jk, ik) ? goal_row(t, jk, ik) : NULL;
        r.mid[k] = step_row(t, step - 1, jk, ik) + halo;
        r.back[k] = volume ? step_row(t, step - 1, clamp(j - 1, t->all[0]), ik) + halo : NULL;
        r.front[k] = volume ? step_row(t, step - 1, clamp(j + 1, t->all[0]), ik) + halo : NULL;
        r.to[k] = goal ? goal : kept_row(t, step, jk, ik) + halo;
        if (!b->job->by_value) {
            esf_load(b->job, grid_row(t, jk, ik), last ? t->own[2].first : t->all[2].first,
                     width(last ? t->own[2] : t->all[2]), site_row(t, k), NULL);
            r.shape[k] = site_row(t, k);
        }
    }
    b->job->rows->step(&r, b->job->grid.axes);
    for (int k = 0; k < count; k++)
        if (!last)
            esf_seal(&b->job->grid, r.to[k], width(t->all[2]));
        else if (is_own(t, volume ? j : j + k, volume ? i + k : i))
            put_row(t, volume ? j : j + k, volume ? i + k : i, r.to[k]);
}

/* One step of slabs [first, end), few of them. */
static void step_slabs(tile *t, int step, int64_t first, int64_t end) {
    const span within = step == t->b->steps ? t->own[0] : t->all[0], rows = step == t->b->steps ? t->own[1] : t->all[1];
    const bool volume = t->b->job->grid.axes > 2;
    first = first < within.first ? within.first : first;
    end = end > within.end ? within.end : end;
    for (int64_t j = first, count; j < end; j += volume ? 1 : count) {
        count = end - j >= ESF_ROWS ? ESF_ROWS : 1;
        for (int64_t i = rows.first, some; i < rows.end; i += some) {
            some = rows.end - i >= ESF_ROWS ? ESF_ROWS : 1;
            step_rows(t, step, j, i, (int)(volume ? some : count));
        }
    }
}

/* ---- Tasks ---- */

static void survey_task(void *arg, size_t index, int worker) {
    const blocked *b = arg;
    const tile t = tile_at(b, (int64_t)index, worker);
    const size_t n = width(t.own[2]);
    unsigned flags = 0;
    for (int64_t j = t.own[0].first; j < t.own[0].end; j++)
        for (int64_t i = t.own[1].first; i < t.own[1].end; i++) {
            esf_load(b->job, grid_row(&t, j, i), t.own[2].first, n, site_row(&t, 0), NULL);
            flags |= (memchr(site_row(&t, 0), 1, n) ? MOVES : 0) | (memchr(site_row(&t, 0), 0, n) ? FREE : 0);
        }
    b->flags[0][index] = (uint8_t)flags;
}

static void pass_task(void *arg, size_t index, int worker) {
    const blocked *b = arg;
    tile t = tile_at(b, (int64_t)index, worker);
    const uint8_t *before = b->flags[b->pass % 2];
    uint8_t *after = &b->flags[(b->pass + 1) % 2][index];
    const unsigned around = flags_around(&t, before);
    t.moves = before[index] & MOVES;
    if (around != (MOVES | FREE)) {
        put_resting(&t, !(around & FREE));
    } else {
        const int64_t more = b->at_once;
        for (int64_t j = t.all[0].first; j < t.all[0].end + b->steps; j += more) {
            for (int64_t k = j; k < j + more && k < t.all[0].end; k++)
                load_slab(&t, k);
            for (int step = 1; step <= b->steps; step++)
                step_slabs(&t, step, j - step, j - step + more);
        }
    }
    *after = (uint8_t)(before[index] | (t.moves ? MOVES : 0));
}

distmap_status esf_blocked_run(const esf_job *job) {
    distmap_plan *plan = job->plan;
    blocked b;
    lay_out(job, plan->scratch, &b);
    memset(b.workers, 0, (size_t)plan->context->threads * b.worker_bytes);
    TRY(dm_parallel(plan, (size_t)b.tiles, survey_task, &b, 0));
    dm_phase(plan, "steps"); /* the last pass writes the output */
    for (int64_t left = plan->esf.steps; left > 0; left -= b.steps, b.pass++) {
        b.steps = (int)(left < b.depth ? left : b.depth);
        TRY(dm_parallel(plan, (size_t)b.tiles, pass_task, &b, (double)b.steps / (double)plan->esf.steps));
    }
    return DISTMAP_OK;
}
