/* Where the points of a centroidal Voronoi diagram stand first: one for each N-th part of all weight, in linear order, at a
 * random place within that part. So every row, and every part of it, has its share of points within one or two, which Lloyd's
 * steps would take longest to bring about.
 *
 * One walk over a grid's weights, by one thread of the host for every device, since each choice waits for the one before:
 * an element takes one point at most, and what is due beyond goes to the next ones with weight. */
#include "operations/cvt.h"

enum { CHUNK = 4096 }; /* elements, and points, that are handed over at once: 80 KiB of the stack */

/* Output `number` of splitmix64. */
static uint64_t random_bits(uint64_t seed, uint64_t number) {
    uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The weight that must be passed for point `number`: of N <= S points, so that no part is empty. */
static uint64_t threshold(const cv_work *w, int64_t number) {
    const cv_wide s = w->found.total, n = (cv_wide)w->points;
    const uint64_t from = (uint64_t)((cv_wide)number * s / n), to = (uint64_t)(((cv_wide)number + 1) * s / n);
    return from + random_bits(w->plan->problem.cvt.seed, (uint64_t)number) % (to - from);
}

static cv_place place_of(const cv_grid *g, int64_t element) {
    cv_place p;
    for (int k = 0; k < CV_AXES; k++) {
        p.at[k] = (int32_t)(element / g->linear[k]);
        element %= g->linear[k];
    }
    return p;
}

distmap_status cv_start(cv_work *w, int grid) {
    const cv_grid *g = &w->grid[grid];
    uint64_t weight[CHUNK], sum = 0, next = threshold(w, 0);
    cv_place place[CHUNK];
    int64_t chosen = 0, put = 0, left = w->found.weighted[grid];
    for (int64_t first = 0; chosen < w->points; first += CHUNK) {
        const int64_t count = g->elements - first < CHUNK ? g->elements - first : CHUNK;
        TRY(w->device->weights(w, grid, first, count, weight));
        for (int64_t i = 0; i < count && chosen < w->points; i++) {
            if (weight[i] == 0)
                continue;
            sum += weight[i];
            if (sum > next || w->points - chosen == left) {
                place[chosen++ - put] = place_of(g, first + i);
                next = chosen < w->points ? threshold(w, chosen) : 0;
            }
            left--;
        }
        TRY(w->device->put(w, put, chosen - put, place));
        put = chosen;
    }
    return DISTMAP_OK;
}
