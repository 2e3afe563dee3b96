#include "corpus.h"

#include <math.h>

#define PATTERN(name) static bool name(const struct image *m, const int64_t *at, const uint64_t knob[4], struct rng *r)
#define UNUSED (void)m, (void)at, (void)knob, (void)r

/* Coordinates along the last two axes; y is 0 in 1-D. */
static int64_t x_of(const struct image *m, const int64_t *at) { return at[m->ndim - 1]; }
static int64_t y_of(const struct image *m, const int64_t *at) { return m->ndim > 1 ? at[m->ndim - 2] : 0; }
static int64_t height(const struct image *m) { return m->ndim > 1 ? m->shape[m->ndim - 2] : 1; }
static int64_t width(const struct image *m) { return m->shape[m->ndim - 1]; }

PATTERN(none) { return UNUSED, false; }
PATTERN(all) { return UNUSED, true; }

static bool is_corner(const struct image *m, const int64_t *at, uint64_t bits) {
    for (int a = 0; a < m->ndim; a++)
        if (at[a] != (bits >> a & 1 ? m->shape[a] - 1 : 0))
            return false;
    return true;
}
PATTERN(first_corner) { return UNUSED, is_corner(m, at, 0); }
PATTERN(last_corner) { return UNUSED, is_corner(m, at, 15); }
PATTERN(any_corner) { return UNUSED, is_corner(m, at, knob[0]); }
PATTERN(corners) {
    bool corner = true;
    for (int a = 0; a < m->ndim; a++)
        corner &= at[a] == 0 || at[a] == m->shape[a] - 1;
    return UNUSED, corner;
}
PATTERN(one_site) {
    bool here = true;
    for (int a = 0; a < m->ndim; a++)
        here &= at[a] == (int64_t)(knob[a] % (uint64_t)m->shape[a]);
    return UNUSED, here;
}
PATTERN(density_0001) { return UNUSED, rng_chance(r, 0.0001); }
PATTERN(density_001) { return UNUSED, rng_chance(r, 0.001); }
PATTERN(density_01) { return UNUSED, rng_chance(r, 0.01); }
PATTERN(density_1) { return UNUSED, rng_chance(r, 0.1); }
PATTERN(density_5) { return UNUSED, rng_chance(r, 0.5); }
PATTERN(density_9) { return UNUSED, rng_chance(r, 0.9); }
PATTERN(density_99) { return UNUSED, rng_chance(r, 0.99); }
PATTERN(checkerboard) {
    int64_t sum = 0;
    for (int a = 0; a < m->ndim; a++)
        sum += at[a];
    return UNUSED, sum % 2 == 0;
}
PATTERN(lattice) {
    bool on = true;
    const int64_t step = 2 + (int64_t)(knob[0] % 14);
    for (int a = 0; a < m->ndim; a++)
        on &= at[a] % step == (int64_t)(knob[1] >> (8 * a) & 255) % step;
    return UNUSED, on;
}
PATTERN(horizontal) { return UNUSED, y_of(m, at) == (int64_t)(knob[0] % (uint64_t)height(m)); }
PATTERN(vertical) { return UNUSED, x_of(m, at) == (int64_t)(knob[0] % (uint64_t)width(m)); }
PATTERN(diagonal) { return UNUSED, y_of(m, at) == x_of(m, at); }
PATTERN(antidiagonal) { return UNUSED, y_of(m, at) + x_of(m, at) == width(m) - 1; }
PATTERN(slope) { return UNUSED, 3 * y_of(m, at) == 2 * x_of(m, at) + (int64_t)(knob[0] % 3); }
PATTERN(circle) {
    double square = 0, radius = 1e9;
    for (int a = 0; a < m->ndim; a++) {
        const double d = (double)at[a] - (double)(m->shape[a] - 1) / 2;
        square += d * d;
        if (m->shape[a] > 2)
            radius = fmin(radius, (double)m->shape[a] / 2 - 1);
    }
    return UNUSED, fabs(sqrt(square) - radius) < 0.5;
}
/* x = y^2 / (2 p): from the axis every site is about as near as the next. */
PATTERN(parabola) {
    const int64_t y = y_of(m, at) - height(m) / 2, p = 4 + (int64_t)(knob[0] % 28);
    return UNUSED, x_of(m, at) == y * y / (2 * p);
}
/* Many sites equally far from an edge, and at its end one upon it that is nearer than all: their proximate points go at once. */
PATTERN(cliff) {
    const bool turned = knob[0] & 1;
    const int64_t along = turned ? y_of(m, at) : x_of(m, at), length = turned ? height(m) : width(m);
    const int64_t across = turned ? x_of(m, at) : y_of(m, at), depth = turned ? width(m) : height(m);
    return UNUSED, across == 0 ? along == length - 1 : across == depth - 1 && along < length - 2;
}
PATTERN(blobs) {
    double field = 0;
    for (int wave = 0; wave < 4; wave++) {
        double phase = (double)(knob[wave] & 1023);
        for (int a = 0; a < m->ndim; a++)
            phase += (double)at[a] * (((double)(knob[wave] >> (10 + 8 * a) & 255)) / 1000 - 0.12);
        field += sin(phase);
    }
    return UNUSED, field > 0.6;
}
PATTERN(half) { return UNUSED, x_of(m, at) >= width(m) / 2; }
PATTERN(frame) {
    bool edge = false;
    for (int a = 0; a < m->ndim; a++)
        edge |= at[a] == 0 || at[a] == m->shape[a] - 1;
    return UNUSED, edge;
}
PATTERN(stripes) { return UNUSED, (x_of(m, at) / (1 + (int64_t)(knob[0] % 40))) % 2 == 0 && rng_chance(r, 0.3); }
/* Dense above, empty below: far and near in one image. */
PATTERN(dense_above) { return UNUSED, y_of(m, at) * 4 < height(m) && rng_chance(r, 0.4); }
/* Along the axis before these, only some have a site: here and there, few or many, or some that follow one another. */
PATTERN(slices) {
    const int64_t z = (m->ndim > 2 ? at[m->ndim - 3] : y_of(m, at)) + (m->ndim > 3 ? 7 * at[0] : 0);
    const int64_t depth = m->ndim > 2 ? m->shape[m->ndim - 3] : height(m);
    const int64_t first = (int64_t)(knob[2] % (uint64_t)depth), count = 1 + (int64_t)(knob[3] % 24);
    if (knob[1] >> 8 & 1)
        return UNUSED, z >= first && z < first + count && rng_chance(r, 0.02);
    const uint64_t eighth = knob[z % 4] >> (z / 4 * 3 % 61) & 7;
    return UNUSED, eighth < (knob[0] & 7) && z % (1 + (int64_t)(knob[1] & 3)) == 0 && rng_chance(r, 0.02);
}

#define ROW(name) \
    { #name, name }
const struct pattern corpus_patterns[] = {
    ROW(none),      ROW(all),          ROW(first_corner), ROW(last_corner), ROW(any_corner),  ROW(corners),
    ROW(one_site),  ROW(density_0001), ROW(density_001),  ROW(density_01),  ROW(density_1),   ROW(density_5),
    ROW(density_9), ROW(density_99),   ROW(checkerboard), ROW(lattice),     ROW(horizontal),  ROW(vertical),
    ROW(diagonal),  ROW(antidiagonal), ROW(slope),        ROW(circle),      ROW(parabola),    ROW(cliff),
    ROW(blobs),     ROW(half),         ROW(frame),        ROW(stripes),     ROW(dense_above), ROW(slices),
};
const int corpus_count = sizeof corpus_patterns / sizeof *corpus_patterns;

void corpus_paint(int pattern, struct image *m, struct rng *r) {
    const uint64_t knob[4] = {rng_next(r), rng_next(r), rng_next(r), rng_next(r)};
    int64_t at[4] = {0};
    for (int64_t i = 0; i < m->elements; i++) {
        m->site[i] = corpus_patterns[pattern].is_site(m, at, knob, r);
        for (int a = m->ndim - 1; a >= 0 && ++at[a] == m->shape[a]; a--)
            at[a] = 0;
    }
}
