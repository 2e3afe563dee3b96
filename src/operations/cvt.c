/* Centroidal Voronoi diagrams: memory, and the flow from grid to grid and step to step. */
#include "operations/cvt.h"

#include "core/scratch.h"
#include "operations/inner.h"

enum { ROOM = 8 }; /* elements with weight for each point, on all but the image's own grid */
static const double GRIDS_SHARE = 0.05, EMIT_SHARE = 0.05, TRANSFORM_SHARE = 0.6, GATHER_SHARE = 0.35;

/* ---- Grids ---- */

static void set_grid(cv_grid *g, const int64_t shape[CV_AXES]) {
    g->elements = 1;
    for (int k = CV_AXES - 1; k >= 0; k--) {
        g->shape[k] = shape[k];
        g->linear[k] = g->elements;
        g->elements *= shape[k];
    }
}

/* As many as have room for the points if every element has weight. */
static void set_grids(const distmap_plan *plan, cv_work *w) {
    const int most = plan->problem.cvt.grids ? plan->problem.cvt.grids : DM_INNER;
    set_grid(&w->grid[0], plan->shape + DM_NDIM - CV_AXES);
    for (w->grids = 1; w->grids < most; w->grids++) {
        const cv_grid *finer = &w->grid[w->grids - 1];
        int64_t shape[CV_AXES];
        for (int k = 0; k < CV_AXES; k++)
            shape[k] = (finer->shape[k] + 1) / 2;
        set_grid(&w->grid[w->grids], shape);
        if (w->grid[w->grids].elements / ROOM < w->points)
            break;
    }
}

/* Nearest points on one of them. The spacing is the image's: lengths are compared with each other only. */
static distmap_problem inner_problem(const distmap_plan *plan, const cv_work *w, int grid) {
    distmap_problem inner = op_distances(plan);
    inner.dtype = DISTMAP_INT32;
    inner.sites.rule = DISTMAP_SITES_NONZERO;
    inner.want.index = w->wide ? DISTMAP_INT64 : DISTMAP_INT32;
    for (int a = 0; a < inner.ndim; a++)
        inner.shape[a] = w->grid[grid].shape[a + CV_AXES - inner.ndim];
    return inner;
}

/* ---- Memory ---- */

static size_t lay_out(const distmap_plan *plan, const cv_device *device, cv_work *w) {
    *w = (cv_work){.plan = (distmap_plan *)plan, .device = device, .points = plan->problem.cvt.points};
    w->omega = plan->problem.cvt.omega;
    w->wide = plan->elements > INT32_MAX;
    w->units.integer = plan->number != DM_F64;
    w->units.square = plan->unit.square_high;
    for (int k = 0; k < CV_AXES; k++) {
        w->units.w2[k] = plan->w2[k + DM_NDIM - CV_AXES];
        w->units.w2f[k] = plan->w2f[k + DM_NDIM - CV_AXES];
    }
    set_grids(plan, w);
    size_t most = 0;
    for (int g = 0; g < w->grids; g++) {
        const distmap_problem inner = inner_problem(plan, w, g);
        const size_t bytes = op_inner_bytes(plan, &inner);
        most = bytes > most ? bytes : most;
    }
    dm_scratch walk = {.base = plan->scratch, .unit = device->unit};
    dm_take(&walk, 1, most);
    for (int g = 1; g < w->grids; g++)
        w->grid[g].weight = dm_take(&walk, w->grid[g].elements, sizeof(uint64_t));
    w->stand = dm_take(&walk, plan->elements, sizeof *w->stand);
    w->index = dm_take(&walk, plan->elements, w->wide ? sizeof(int64_t) : sizeof(int32_t));
    w->place = dm_take(&walk, w->points, sizeof *w->place);
    w->sums = dm_take(&walk, w->points, sizeof *w->sums);
    w->target = dm_take(&walk, w->points, sizeof *w->target);
    w->own = dm_take(&walk, 1, device->own_bytes(w));
    return walk.used;
}

size_t cv_scratch_bytes(const distmap_plan *plan, const cv_device *device) {
    cv_work w;
    return lay_out(plan, device, &w);
}

distmap_status cv_prepare(distmap_plan *plan) {
    cv_work w = {.points = plan->problem.cvt.points, .wide = plan->elements > INT32_MAX};
    set_grids(plan, &w);
    for (int g = 0; g < w.grids; g++) {
        const distmap_problem inner = inner_problem(plan, &w, g);
        TRY(op_inner_make(plan, &inner, 0));
    }
    return DISTMAP_OK;
}

/* ---- The flow ---- */

#define bad(...) dm_error(DISTMAP_ERROR_ARGUMENT, __VA_ARGS__)

static distmap_status check_found(const cv_work *w) {
    const cv_found *f = &w->found;
    int64_t longest = 1;
    double diagonal2 = 0;
    for (int k = 0; k < CV_AXES; k++) {
        const double n = (double)w->grid[0].shape[k];
        longest = w->grid[0].shape[k] > longest ? w->grid[0].shape[k] : longest;
        diagonal2 += w->units.w2f[k] * n * n;
    }
    if (f->weighted[0] < w->points)
        return bad("arrays.input: %lld elements have a weight, fewer than problem.cvt.points, %lld",
                   (long long)f->weighted[0], (long long)w->points);
    if ((cv_wide)f->total * (uint64_t)longest >= (uint64_t)1 << 62)
        return bad("arrays.input: the sum of its weights, %llu, times the longest side, %lld, must be below 2^62",
                   (unsigned long long)f->total, (long long)longest);
    if (w->units.integer && (double)f->total * diagonal2 >= 0x1p126)
        return bad("problem.spacing: energies would pass 2^126; scale the pitches down");
    return DISTMAP_OK;
}

static distmap_status transform(cv_work *w, int grid, double share) {
    const distmap_plan *inner = w->plan->inner[grid];
    distmap_arrays arrays = {
        .input = distmap_view_make(w->stand, DISTMAP_INT32, inner->problem.ndim, inner->problem.shape),
        .index = distmap_view_make(w->index, inner->problem.want.index, inner->problem.ndim, inner->problem.shape)};
    arrays.input.space = arrays.index.space = w->plan->context->device->space;
    w->plan->inner[grid]->progress_span = share;
    return op_inner_run(w->plan, grid, &arrays, 0);
}

static distmap_status run_grid(cv_work *w, int grid, double share) {
    const int64_t steps = w->plan->problem.cvt.steps;
    const double each = share / (double)(steps + 2), end = w->plan->progress_base + share;
    bool rest = false;
    dm_phase(w->plan, "move");
    TRY(w->device->occupy(w, grid, each));
    for (int64_t step = 0; step <= steps && !rest; step++) {
        dm_phase(w->plan, "transform");
        TRY(transform(w, grid, each * TRANSFORM_SHARE));
        dm_phase(w->plan, "cells");
        TRY(w->device->gather(w, grid, each * GATHER_SHARE));
        dm_phase(w->plan, "move");
        TRY(w->device->advance(w, grid, step, step < steps, &rest, each * (1 - TRANSFORM_SHARE - GATHER_SHARE)));
    }
    w->plan->progress_base = end;
    return DISTMAP_OK;
}

distmap_status cv_run(distmap_plan *plan, const dm_arrays *arrays, const cv_device *device) {
    cv_work w;
    lay_out(plan, device, &w);
    w.arrays = arrays;
    dm_phase(plan, "grids");
    TRY(device->measure(&w, GRIDS_SHARE));
    TRY(check_found(&w));
    int grid = w.grids - 1;
    while (grid > 0 && w.found.weighted[grid] / ROOM < w.points)
        grid--;
    dm_phase(plan, "start");
    TRY(cv_start(&w, grid));
    double all = 0;
    for (int g = 0; g <= grid; g++)
        all += (double)w.grid[g].elements;
    for (; grid >= 0; grid--) {
        TRY(run_grid(&w, grid, (1 - GRIDS_SHARE - EMIT_SHARE) * (double)w.grid[grid].elements / all));
        if (grid > 0)
            TRY(device->refine(&w));
    }
    dm_phase(plan, "results");
    return device->emit(&w, EMIT_SHARE);
}
