/* Whether a result is right.
 *
 * Euclidean distances must be what the production method gives, to the bit. Of edge strengths the production method is but
 * another kernel of the one that is timed, so after steps the first result of an image is kept, the serial kernel's
 * wherever that runs, and all later ones, the production method's among them, must equal it.
 *
 * At rest methods agree within the tolerance alone. So the residual r that distmap.h defines is evaluated at every
 * element, in FP64, and must be within the tolerance and what float32's rounding may hide of it. After steps it tells how
 * far they are from rest.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cell.h"

static const double hidden = 5e-7; /* distmap.h */

/* ---- Large buffers, by all processors ---- */

enum { PART = 1 << 20 };

struct buffers {
    unsigned char *a;
    const unsigned char *b;
    size_t bytes;
    atomic_bool differ;
};

static size_t part_bytes(const struct buffers *w, int64_t i) {
    const size_t left = w->bytes - (size_t)i * PART;
    return left < PART ? left : PART;
}

static void poison_part(void *arg, int64_t i) {
    const struct buffers *w = arg;
    memset(w->a + i * PART, 0xa5, part_bytes(w, i));
}

static void compare_part(void *arg, int64_t i) {
    struct buffers *w = arg;
    if (memcmp(w->a + i * PART, w->b + i * PART, part_bytes(w, i)) != 0)
        w->differ = true;
}

static int64_t parts(size_t bytes) { return (int64_t)((bytes + PART - 1) / PART); }

void cell_poison(const struct suite *s, void *buffer) {
    struct buffers w = {.a = buffer, .bytes = (size_t)s->elements * 4};
    share_out(parts(w.bytes), poison_part, &w);
}

bool cell_agrees(const struct suite *s, void *with) {
    struct buffers w = {.a = with, .b = s->reference, .bytes = (size_t)s->elements * 4};
    share_out(parts(w.bytes), compare_part, &w);
    return !w.differ;
}

/* ---- Edge strengths after steps ---- */

static bool is_first(const struct suite *s, const struct suite_cell *cell) {
    const distmap_esf *a = &s->first_esf, *b = &cell->esf;
    return !*s->first_by || a->rho != b->rho || a->dt != b->dt || a->steps != b->steps;
}

static bool steps_agree(struct suite *s, const struct suite_cell *cell, struct outcome *o) {
    if (is_first(s, cell)) {
        memcpy(s->first, s->result, (size_t)s->elements * 4);
        s->first_esf = cell->esf;
        snprintf(s->first_by, sizeof s->first_by, "%s %s", cell->method, cell->params);
        o->checked_against = o->production;
        return cell_agrees(s, s->first);
    }
    o->checked_against = s->first_by;
    return cell_agrees(s, s->first) && cell_agrees(s, s->result);
}

/* ---- The residual of edge strengths ---- */

struct residual {
    const struct suite *s;
    double decay; /* 1/rho^2 */
    _Atomic double largest;
};

/* The residual at element x of a row of n; infinite if v is invalid: not 1 on the shape, or outside [0, 1]. */
static double residual_at(const struct residual *w, const float *up, const float *mid, const float *down,
                          const uint8_t *mask, int64_t x, int64_t n) {
    const double v = mid[x];
    if (mask[x] == 0)
        return v == 1 ? 0 : INFINITY;
    if (!(v >= 0 && v <= 1))
        return INFINITY;
    const double left = mid[x > 0 ? x - 1 : x], right = mid[x + 1 < n ? x + 1 : x];
    return fabs(((up[x] - v) + (down[x] - v)) + ((left - v) + (right - v)) - w->decay * v);
}

static void residual_of_row(void *arg, int64_t y) {
    struct residual *w = arg;
    const int64_t ny = w->s->problem.shape[0], nx = w->s->problem.shape[1];
    const float *mid = (const float *)w->s->result + y * nx;
    const float *up = y > 0 ? mid - nx : mid, *down = y + 1 < ny ? mid + nx : mid;
    double largest = 0;
    for (int64_t x = 0; x < nx; x++)
        largest = fmax(largest, residual_at(w, up, mid, down, w->s->mask + y * nx, x, nx));
    double seen = w->largest;
    while (seen < largest && !atomic_compare_exchange_weak(&w->largest, &seen, largest))
        ;
}

static double largest_residual(const struct suite *s, double rho) {
    struct residual w = {.s = s, .decay = 1 / (rho * rho)};
    share_out(s->problem.shape[0], residual_of_row, &w);
    return w.largest;
}

bool cell_strengths_right(struct suite *s, const struct suite_cell *cell, struct outcome *o) {
    o->residual = largest_residual(s, cell->esf.rho);
    if (cell->esf.steps)
        return steps_agree(s, cell, o);
    o->checked_against = "residual";
    return o->residual <= cell->esf.tolerance + hidden;
}
