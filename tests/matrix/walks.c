/* Bellman and Ford: while any walk can be made shorter by a step, make it so. The grid reaches beyond the shape on all
 * sides, so that detours would be found. Every step that the metric has is tried from every element, in one order and then in the
 * opposite one, which settles all walks after a few rounds. */
#include "walks.h"

#include "../require.h"
#include <string.h>

enum {
    MARGIN = 1, /* elements outside the shape that a walk may use */
    WALL = 2,   /* elements beyond them, out of bounds: as far as a step can go, so that none leaves memory or wraps */
    MAX_STEPS = 128,
};

struct steps {
    int count;
    int64_t offset[MAX_STEPS]; /* in elements of the grid */
    uint64_t cost[MAX_STEPS];
};

static bool is_measured(const distmap_problem *p, int a) { return p->axes == 0 || (p->axes >> a & 1); }

static uint64_t cost_of(const distmap_problem *p, const int *d, int measured) {
    int moved = 0, knights = 0;
    for (int a = 0; a < p->ndim; a++) {
        if (d[a] && !is_measured(p, a))
            return 0;
        moved += d[a] != 0;
        knights += d[a] == 2 || d[a] == -2;
    }
    const bool chamfer = p->metric == DISTMAP_METRIC_CHAMFER;
    if (knights)
        return knights == 1 && moved == 2 && chamfer && measured < 3 ? (uint64_t)p->chamfer[2] : 0;
    switch (p->metric) {
    case DISTMAP_METRIC_CITYBLOCK: return moved == 1;
    case DISTMAP_METRIC_CHESSBOARD: return moved > 0;
    default: return moved == 0 ? 0 : (uint64_t)p->chamfer[moved - 1];
    }
}

static struct steps list_steps(const distmap_problem *p, const struct walks *g) {
    struct steps steps = {0};
    int d[4] = {-2, -2, -2, -2}, measured = 0, all = 1;
    for (int a = 0; a < p->ndim; a++) {
        measured += is_measured(p, a);
        all *= 5;
    }
    for (int i = 0; i < all; i++) {
        const uint64_t cost = cost_of(p, d, measured);
        if (cost) {
            REQUIRE(steps.count < MAX_STEPS);
            for (int a = 0; a < p->ndim; a++)
                steps.offset[steps.count] += d[a] * g->pitch[a];
            steps.cost[steps.count++] = cost;
        }
        for (int a = 0; a < p->ndim && ++d[a] == 3; a++)
            d[a] = -2;
    }
    return steps;
}

/* Whether a step makes the walk to element i shorter. */
static bool relax(const struct walks *g, const struct steps *steps, const bool *inside, int64_t i) {
    uint64_t best = g->length[i];
    for (int k = 0; k < steps->count; k++) {
        const int64_t from = i - steps->offset[k];
        if (!inside[from] || g->length[from] == UINT64_MAX)
            continue;
        const uint64_t length = g->length[from] + steps->cost[k];
        best = length < best ? length : best;
    }
    const bool shorter = best < g->length[i];
    g->length[i] = best;
    return shorter;
}

struct walks walks_make(const distmap_problem *p) {
    struct walks g = {.ndim = p->ndim, .elements = 1};
    for (int a = p->ndim - 1; a >= 0; a--) {
        g.shape[a] = is_measured(p, a) ? p->shape[a] + 2 * (MARGIN + WALL) : 1;
        g.pitch[a] = g.elements;
        g.origin += is_measured(p, a) ? (MARGIN + WALL) * g.pitch[a] : 0;
        g.elements *= g.shape[a];
    }
    g.length = malloc((size_t)g.elements * sizeof *g.length);
    bool *inside = malloc((size_t)g.elements);
    REQUIRE(g.length && inside);
    for (int64_t i = 0; i < g.elements; i++) {
        inside[i] = true;
        g.length[i] = i == g.origin ? 0 : UINT64_MAX;
        for (int a = 0; a < p->ndim; a++) {
            const int64_t at = i / g.pitch[a] % g.shape[a];
            inside[i] &= !is_measured(p, a) || (at >= WALL && at < g.shape[a] - WALL);
        }
    }
    const struct steps steps = list_steps(p, &g);
    for (bool shorter = true; shorter;) {
        shorter = false;
        for (int64_t i = 0; i < g.elements; i++)
            shorter |= inside[i] && relax(&g, &steps, inside, i);
        for (int64_t i = g.elements - 1; i >= 0; i--)
            shorter |= inside[i] && relax(&g, &steps, inside, i);
    }
    free(inside);
    return g;
}

uint64_t walks_length(const struct walks *walks, const int64_t offset[4]) {
    int64_t at = walks->origin;
    for (int a = 0; a < walks->ndim; a++)
        at += (offset[a] < 0 ? -offset[a] : offset[a]) * walks->pitch[a];
    return walks->length[at];
}

void walks_free(struct walks *walks) {
    free(walks->length);
    walks->length = NULL;
}
