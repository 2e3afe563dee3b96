#include "widen.h"

#include <string.h>

static void add(distmap_problem *p, int64_t length, double spacing, bool measured) {
    p->shape[p->ndim] = length;
    p->spacing[p->ndim] = spacing;
    p->axes |= (unsigned)measured << p->ndim++;
}

struct widened widen(const distmap_problem *problem, struct rng *r) {
    struct widened w = {.problem = *problem, .old = problem->ndim};
    distmap_problem *p = &w.problem;
    const unsigned axes = problem->axes ? problem->axes : (1u << problem->ndim) - 1;
    const int ndim = (int)rng_range(r, 5, DISTMAP_MAX_AXES);
    p->ndim = 0;
    p->axes = 0;
    memset(p->order, 0, sizeof p->order);
    int spare = ndim - problem->ndim;
    for (int a = 0; a < problem->ndim; a++) {
        const int64_t length = problem->shape[a];
        const bool measured = axes >> a & 1;
        for (; spare > 0 && rng_chance(r, 0.3); spare--)
            add(p, 1, 0, false);
        if (!measured && spare > 0 && length > 3) { /* a divisor, if there is one */
            int64_t part = 2;
            while (part * part < length && length % part)
                part++;
            if (length % part == 0) {
                add(p, part, 0, false);
                spare--;
            }
            add(p, length % part == 0 ? length / part : length, problem->spacing[a], false);
        } else {
            add(p, length, problem->spacing[a], measured);
        }
        w.to[a] = p->ndim - 1;
    }
    for (; spare > 0; spare--)
        add(p, 1, 0, false);
    return w;
}

void widen_view(const struct widened *w, distmap_view *view) {
    const distmap_problem *p = &w->problem;
    int64_t strides[DISTMAP_MAX_AXES];
    if (!view->ndim)
        return;
    int old = 0;
    for (int a = 0; a < p->ndim; a++) {
        const bool part = old < w->old && a + 1 == w->to[old] && p->shape[a] > 1 && p->shape[a] != view->shape[old] &&
                          p->shape[a] * p->shape[a + 1] == view->shape[old];
        if (old < w->old && a == w->to[old])
            strides[a] = view->strides[old++];
        else
            strides[a] = part ? view->strides[old] * p->shape[a + 1] : 3 * (int64_t)distmap_dtype_size(view->dtype);
    }
    view->ndim = p->ndim;
    memcpy(view->shape, p->shape, sizeof view->shape);
    memcpy(view->strides, strides, sizeof strides);
}
