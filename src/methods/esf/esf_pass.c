/* esf/cpu, the state at rest: one pass over a level of the multigrid.
 *
 * A task has a block of slabs, and goes through it as through a pipeline: when slab j has come in, slab j - 1 is
 * relaxed in one colour, slab j - 2 in the other, and so on; three slabs of each stage are kept. Then what remains is
 * taken to the coarser level. A pass reads one field memory and writes another, so blocks are independent: a block
 * takes as many slabs more on either side as it has stages, as if they were a level of their own; what is wrong at its
 * border comes one slab nearer with each stage. Every value comes of the same operations, however many blocks there
 * are.
 */
#include <string.h>

#include "methods/esf/esf_levels.h"

static const double softness = 0.2; /* R of esf_rest.c */

typedef struct block {
    const esf_rest *rest;
    const esf_level *l;
    int64_t batch, first, end; /* its slabs */
    int64_t from, until;       /* and with those around */
    char *rings, *row, *cells; /* the worker's: slabs, a row of this level, a row of the next */
    size_t slab;               /* bytes */
    int stages;                /* before the last */
    double largest;
} block;

static size_t slab_bytes(const esf_rest *rest, const esf_level *l) {
    return dm_round64(((size_t)l->ni * l->pitch + 2 * ESF_LINE) * rest->job->grid.size);
}

static size_t row_bytes(const esf_rest *rest, const esf_level *l) {
    return dm_round64((l->pitch + 2 * ESF_LINE) * rest->job->grid.size);
}

size_t esf_rest_worker_bytes(const esf_rest *rest, const esf_level *l, int sweeps) {
    return 3 * (2 * (size_t)sweeps + 1) * slab_bytes(rest, l) + 2 * row_bytes(rest, &rest->level[0]);
}

/* ---- Rows of a stage ---- */

/* Row i of slab j after so many stages; stage 0 of a pass downwards is field memory itself. */
static char *stage_row(const block *b, int stage, int64_t j, int64_t i) {
    const size_t size = b->rest->job->grid.size, in_slab = ((size_t)i * b->l->pitch + ESF_LINE) * size;
    if (stage == 0 && b->rest->stage != ESF_UP)
        return b->rest->from ? esf_level_row(b->rest, b->l, (char *)b->rest->from, b->batch, j, i)
                             : b->rest->zeros + in_slab;
    return b->rings + (3 * (size_t)stage + (size_t)(j % 3)) * b->slab + in_slab;
}

static esf_stencil stencil_at(const block *b, int stage, int64_t j, int64_t i) {
    const esf_rest *rest = b->rest;
    const esf_level *l = b->l;
    const int axes = rest->job->grid.axes;
    const int64_t before = j > b->from ? j - 1 : j, after = j + 1 < b->until ? j + 1 : j;
    esf_stencil s = {
        .mid = stage_row(b, stage, j, i),
        .up = stage_row(b, stage, before, i),
        .down = stage_row(b, stage, after, i),
        .n = (size_t)l->nx,
        .axes = axes,
        .degree = 2 + (axes > 1 ? (j > 0) + (j + 1 < l->nj) : 0),
        .decay = rest->job->plan->esf.decay,
    };
    if (axes > 2) {
        s.back = s.up;
        s.front = s.down;
        s.up = stage_row(b, stage, j, i > 0 ? i - 1 : i);
        s.down = stage_row(b, stage, j, i + 1 < l->ni ? i + 1 : i);
        s.degree += (i > 0) + (i + 1 < l->ni);
    }
    if (l->d)
        s.d = esf_level_row(rest, l, l->d, b->batch, j, i);
    if (l->d)
        s.f = esf_level_row(rest, l, l->f, b->batch, j, i);
    return s;
}

/* ---- To the coarser level, and back ---- */

/* Where a slab or a row goes to or comes from, and by how much. */
typedef struct parts {
    int64_t at[2];
    double weight[2];
} parts;

static parts parts_of(int64_t at, int64_t n, bool halved) {
    if (!halved)
        return (parts){{at, at}, {1, 0}};
    const int64_t cells = (n + 1) / 2, own = at / 2;
    int64_t beside = at % 2 ? own + 1 : own - 1;
    beside = beside < 0 || beside >= cells ? own : beside;
    return (parts){{own, beside}, {0.75, 0.25}};
}

static int64_t cells_of(int64_t n, bool halved) { return halved ? (n + 1) / 2 : n; }

/* Scales the equation of cells twice as long so that the weight of an edge stays 1: 2^(2 - number of halved axes). */
static double edge_scale(const esf_level *l) {
    const int halved = l->halve_j + l->halve_i + l->halve_x;
    return halved == 0 ? 4 : halved == 1 ? 2 : halved == 2 ? 1 : 0.5;
}

/* A row of slab j to the cells of this block. */
static void put_coarser(const block *b, int64_t j, int64_t i, char *row) {
    const esf_rest *rest = b->rest;
    const esf_level *l = b->l, *next = l + 1;
    const parts slabs = parts_of(j, l->nj, l->halve_j), rows = parts_of(i, l->ni, l->halve_i);
    const int64_t first = cells_of(b->first, l->halve_j), end = cells_of(b->end, l->halve_j);
    const double scale = edge_scale(l);
    char *cells = row;
    if (l->halve_x) {
        cells = b->cells;
        rest->job->rows->coarser(row, (size_t)l->nx, cells);
    }
    for (int s = 0; s < 2; s++)
        for (int r = 0; r < 2; r++) {
            const double weight = slabs.weight[s] * rows.weight[r];
            if (weight > 0 && slabs.at[s] >= first && slabs.at[s] < end)
                rest->job->rows->add(rest->stage == ESF_PINS ? weight * scale : -weight * scale, cells,
                                     (size_t)next->nx,
                                     esf_level_row(rest, next, rest->stage == ESF_PINS ? next->d : next->f, b->batch,
                                                   slabs.at[s], rows.at[r]));
        }
}

static void clear_coarser(const block *b) {
    const esf_rest *rest = b->rest;
    const esf_level *next = b->l + 1;
    for (int64_t j = cells_of(b->first, b->l->halve_j); j < cells_of(b->end, b->l->halve_j); j++)
        for (int64_t i = 0; i < next->ni; i++)
            memset(esf_level_row(rest, next, rest->stage == ESF_PINS ? next->d : next->f, b->batch, j, i), 0,
                   (size_t)next->nx * rest->job->grid.size);
}

/* Row i of slab j with its correction. */
static void get_finer(const block *b, int64_t j, int64_t i) {
    const esf_rest *rest = b->rest;
    const esf_level *l = b->l, *next = l + 1;
    const parts slabs = parts_of(j, l->nj, l->halve_j), rows = parts_of(i, l->ni, l->halve_i);
    memset(b->cells, 0, (size_t)next->nx * rest->job->grid.size);
    for (int s = 0; s < 2; s++)
        for (int r = 0; r < 2; r++)
            if (slabs.weight[s] * rows.weight[r] > 0)
                rest->job->rows->add(slabs.weight[s] * rows.weight[r],
                                     esf_level_row(rest, next, next->v[0], b->batch, slabs.at[s], rows.at[r]),
                                     (size_t)next->nx, b->cells);
    rest->job->rows->finer(esf_level_row(rest, l, (char *)rest->from, b->batch, j, i), (size_t)l->nx, b->cells,
                           l->halve_x, !l->d, stage_row(b, 0, j, i));
}

/* ---- The pipeline ---- */

static void relax_slab(const block *b, int stage, int64_t j) {
    for (int64_t i = 0; i < b->l->ni; i++) {
        esf_stencil s = stencil_at(b, stage - 1, j, i);
        s.colour = (unsigned)(j + i + stage - 1) & 1;
        b->rest->job->rows->relax(&s, stage_row(b, stage, j, i));
    }
}

/* One element on either side is there to be read. */
static void finish_slab(block *b, int64_t j) {
    const esf_rest *rest = b->rest;
    const size_t size = rest->job->grid.size;
    for (int64_t i = 0; rest->to && i < b->l->ni && j >= b->first && j < b->end; i++)
        memcpy(esf_level_row(rest, b->l, rest->to, b->batch, j, i) - size, stage_row(b, b->stages, j, i) - size,
               ((size_t)b->l->nx + 2) * size);
}

static void coarsen_slab(block *b, int64_t j) {
    const esf_kernels *rows = b->rest->job->rows;
    for (int64_t i = 0; i < b->l->ni; i++) {
        const esf_stencil s = stencil_at(b, b->stages, j, i);
        if (b->rest->stage == ESF_PINS) {
            rows->pins(&s, softness, b->row);
        } else {
            const double largest = rows->residual(&s, b->row);
            b->largest = largest > b->largest ? largest : b->largest;
        }
        if (b->rest->coarser)
            put_coarser(b, j, i, b->row);
    }
}

static void run_block(block *b) {
    const esf_rest *rest = b->rest;
    const int64_t halo = b->stages + (rest->stage == ESF_UP ? 0 : 2);
    b->from = b->first > halo ? b->first - halo : 0;
    b->until = b->end + halo < b->l->nj ? b->end + halo : b->l->nj;
    if (rest->coarser)
        clear_coarser(b);
    for (int64_t j = b->from; j <= b->until + b->stages && dm_is_wanted(rest->job->plan); j++) {
        for (int64_t i = 0; rest->stage == ESF_UP && j < b->until && i < b->l->ni; i++)
            get_finer(b, j, i);
        for (int stage = 1; stage <= b->stages; stage++)
            if (j - stage >= b->from && j - stage < b->until)
                relax_slab(b, stage, j - stage);
        const int64_t done = j - b->stages, last = done - 1; /* what remains takes the slab after it, too */
        if (done >= b->from && done < b->until)
            finish_slab(b, done);
        if (rest->stage != ESF_UP && last >= b->first - 1 && last >= 0 && last <= b->end && last < b->l->nj)
            coarsen_slab(b, last);
    }
}

static int64_t blocks_of_batch(const esf_rest *rest) {
    return (rest->level[rest->at].nj + rest->block - 1) / rest->block;
}

static void pass_task(void *arg, size_t index, int worker) {
    const esf_rest *rest = arg;
    const esf_level *l = &rest->level[rest->at];
    const int64_t blocks = blocks_of_batch(rest);
    block b = {.rest = rest, .l = l, .batch = (int64_t)index / blocks, .slab = slab_bytes(rest, l)};
    b.first = (int64_t)index % blocks * rest->block;
    b.end = b.first + rest->block < l->nj ? b.first + rest->block : l->nj;
    b.stages = rest->stage == ESF_PINS ? 0 : 2 * rest->sweeps;
    b.rings = rest->workers + (size_t)worker * rest->worker_bytes;
    const size_t rows_at = rest->worker_bytes - 2 * row_bytes(rest, &rest->level[0]);
    b.row = b.rings + rows_at + ESF_LINE * rest->job->grid.size;
    b.cells = b.row + row_bytes(rest, &rest->level[0]);
    run_block(&b);
    if (b.largest > rest->largest[worker])
        rest->largest[worker] = b.largest;
}

distmap_status esf_rest_pass(esf_rest *rest, double share) {
    const esf_level *l = &rest->level[rest->at];
    const int threads = rest->job->plan->context->threads;
    /* All of a batch by one worker where there are enough of them; else blocks that are long beside what they read twice. */
    rest->block = l->nj + l->nj % 2;
    if (rest->job->grid.batches < threads) {
        const int64_t fair = (l->nj + threads - 1) / threads, least = 16;
        rest->block = fair > least ? fair + fair % 2 : least;
    }
    return dm_parallel(rest->job->plan, (size_t)(rest->job->grid.batches * blocks_of_batch(rest)), pass_task, rest,
                       share);
}
