/* cvt [CASE]: centroidal Voronoi diagrams by every method of the device, on every runner, to the bit what the header's words
 * give: every element is compared with every site, sums are made in 128 bits, energies element by element. That energies never
 * rise and that sites stay apart is looked at in what came out. DISTMAP_TEST_SEED and DISTMAP_TEST_SCALE are those of `matrix`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../require.h"
#include "drawn.h"

enum { CASES = 2500, MOST = 5000, MOST_WORK = 2000000, OUTPUTS = 4 };
static const char *const output_names[OUTPUTS] = {"sites", "centroids", "energies", "label"};

static long moved, met;

/* An image of weights, and what stands on it. */
struct field {
    int ndim;
    int64_t shape[4], elements;
    uint64_t *weight;
};

struct job {
    distmap_problem problem;
    bool refused;     /* too few elements have weight */
    int64_t *site;    /* N x ndim */
    double *centroid; /* N x ndim */
    double *energy;   /* steps + 1 */
    int64_t *label;   /* of each element */
    int64_t elements;
    struct placed input, output[OUTPUTS];
    unsigned char *untouched;
};

/* ---- The definition ---- */

static void place_of(const struct field *f, int64_t i, int64_t *at) {
    for (int a = f->ndim - 1; a >= 0; a--) {
        at[a] = i % f->shape[a];
        i /= f->shape[a];
    }
}

static int64_t number_of(const struct field *f, const int64_t *at) {
    int64_t i = 0;
    for (int a = 0; a < f->ndim; a++)
        i = i * f->shape[a] + at[a];
    return i;
}

static int64_t weighted(const struct field *f) {
    int64_t count = 0;
    for (int64_t i = 0; i < f->elements; i++)
        count += f->weight[i] > 0;
    return count;
}

static struct field halved(const struct field *f) {
    struct field h = {.ndim = f->ndim, .elements = 1};
    for (int a = 0; a < f->ndim; a++) {
        h.shape[a] = f->shape[a] / 2 + f->shape[a] % 2;
        h.elements *= h.shape[a];
    }
    h.weight = calloc((size_t)h.elements, sizeof *h.weight);
    REQUIRE(h.weight);
    for (int64_t i = 0; i < f->elements; i++) {
        int64_t at[4];
        place_of(f, i, at);
        for (int a = 0; a < f->ndim; a++)
            at[a] /= 2;
        h.weight[number_of(&h, at)] += f->weight[i];
    }
    return h;
}

/* The generator of the header's words, one output after another. */
static void start(const distmap_cvt *c, const struct field *f, int64_t *site) {
    struct rng r = {c->seed};
    unsigned __int128 all = 0, sum = 0;
    for (int64_t i = 0; i < f->elements; i++)
        all += f->weight[i];
    int64_t chosen = 0, left = weighted(f);
    unsigned __int128 from = 0, to = 0;
    uint64_t drawn = 0;
    for (int64_t i = 0, asked = -1; i < f->elements && chosen < c->points; i++) {
        if (asked != chosen) {
            asked = chosen;
            from = all * (unsigned)chosen / (unsigned)c->points;
            to = all * ((unsigned)chosen + 1) / (unsigned)c->points;
            drawn = rng_next(&r);
        }
        sum += f->weight[i];
        if (f->weight[i] == 0)
            continue;
        if (sum > from + drawn % (to - from) || c->points - chosen == left)
            place_of(f, i, site + f->ndim * chosen++);
        left--;
    }
    REQUIRE(chosen == c->points);
}

static double pitch(const distmap_problem *p, int axis) { return p->spacing[axis] == 0 ? 1 : p->spacing[axis]; }

/* Of each element the nearest site's number; of several that on the first element. Pitches here are exact. */
static void assign(const distmap_problem *p, const struct field *f, const int64_t *site, int64_t *label) {
    for (int64_t i = 0; i < f->elements; i++) {
        int64_t at[4], best_element = 0;
        double best = INFINITY;
        place_of(f, i, at);
        for (int64_t k = 0; k < p->cvt.points; k++) {
            const int64_t *s = site + f->ndim * k, element = number_of(f, s);
            double d = 0;
            for (int a = 0; a < f->ndim; a++)
                d += pitch(p, a) * pitch(p, a) * (double)((at[a] - s[a]) * (at[a] - s[a]));
            if (d < best || (d == best && element < best_element)) {
                best = d;
                best_element = element;
                label[i] = k;
            }
        }
    }
}

static double energy_of(const distmap_problem *p, const struct field *f, const int64_t *site, const int64_t *label) {
    unsigned __int128 q[4] = {0}, whole = 0;
    bool integer = true;
    for (int64_t i = 0; i < f->elements; i++) {
        int64_t at[4];
        place_of(f, i, at);
        for (int a = 0; a < f->ndim; a++) {
            const int64_t d = at[a] - site[f->ndim * label[i] + a];
            q[a] += (unsigned __int128)f->weight[i] * (uint64_t)(d * d);
        }
    }
    for (int a = 0; a < f->ndim; a++)
        integer &= pitch(p, a) == floor(pitch(p, a));
    double real = 0;
    for (int a = f->ndim - 1; a >= 0; a--) {
        whole += integer ? (unsigned __int128)(pitch(p, a) * pitch(p, a)) * q[a] : 0;
        real = fma(pitch(p, a) * pitch(p, a), (double)q[a], real);
    }
    return integer ? (double)whole : real;
}

struct cell {
    unsigned __int128 weight, moment[4];
};

static void sum_cells(const struct field *f, int64_t points, const int64_t *label, struct cell *cell) {
    memset(cell, 0, (size_t)points * sizeof *cell);
    for (int64_t i = 0; i < f->elements; i++) {
        int64_t at[4];
        place_of(f, i, at);
        cell[label[i]].weight += f->weight[i];
        for (int a = 0; a < f->ndim; a++)
            cell[label[i]].moment[a] += (unsigned __int128)f->weight[i] * (uint64_t)at[a];
    }
}

static unsigned __int128 apart(unsigned __int128 a, unsigned __int128 b) { return a > b ? a - b : b - a; }

/* Where a site goes along an axis: all elements that way are looked at. */
static int64_t go(const distmap_cvt *c, unsigned __int128 weight, unsigned __int128 moment, int64_t at,
                  int64_t length) {
    if (weight == 0)
        return at;
    const int64_t way = moment > weight * (uint64_t)at ? 1 : -1;
    const double u = (double)apart(moment, weight * (uint64_t)at) / (double)weight;
    double far = rint((c->omega == 0 ? 1 : c->omega) * u);
    int64_t to = at;
    if (c->omega != 0 && c->omega != 1) {
        for (; far > 0 && to + way >= 0 && to + way < length; far--)
            to += way;
        if (apart(moment, weight * (uint64_t)to) < apart(moment, weight * (uint64_t)at))
            return to;
    }
    to = at;
    for (int64_t x = at; x >= 0 && x < length; x += way)
        if (apart(moment, weight * (uint64_t)x) < apart(moment, weight * (uint64_t)to))
            to = x;
    return to;
}

static void step(const distmap_problem *p, const struct field *f, int64_t *site, const struct cell *cell) {
    const int64_t points = p->cvt.points;
    int64_t *to = malloc((size_t)(points * f->ndim) * sizeof *to);
    REQUIRE(to);
    for (int64_t k = 0; k < points; k++)
        for (int a = 0; a < f->ndim; a++)
            to[k * f->ndim + a] = go(&p->cvt, cell[k].weight, cell[k].moment[a], site[k * f->ndim + a], f->shape[a]);
    const size_t bytes = (size_t)f->ndim * sizeof *to;
    for (int64_t k = 0; k < points; k++) { /* those before it have gone already */
        bool free_to_go = true;
        for (int64_t other = 0; other < k; other++)
            free_to_go &= memcmp(site + other * f->ndim, to + k * f->ndim, bytes) != 0;
        met += !free_to_go;
        if (free_to_go) {
            moved += memcmp(site + k * f->ndim, to + k * f->ndim, bytes) != 0;
            memcpy(site + k * f->ndim, to + k * f->ndim, bytes);
        }
    }
    free(to);
}

static void find(struct job *j, const struct field *image) {
    const distmap_problem *p = &j->problem;
    const int64_t points = p->cvt.points;
    struct field grid[16] = {*image};
    struct cell *cell = malloc((size_t)points * sizeof *cell);
    REQUIRE(cell);
    int top = 0;
    while (top + 1 < (p->cvt.grids ? p->cvt.grids : 16)) {
        grid[top + 1] = halved(&grid[top]);
        if (weighted(&grid[top + 1]) < 8 * points) {
            free(grid[top + 1].weight);
            break;
        }
        top++;
    }
    start(&p->cvt, &grid[top], j->site);
    for (int g = top; g >= 0; g--) {
        for (int64_t s = 0; s <= p->cvt.steps; s++) {
            assign(p, &grid[g], j->site, j->label);
            sum_cells(&grid[g], points, j->label, cell);
            if (g == 0)
                j->energy[s] = energy_of(p, &grid[g], j->site, j->label);
            if (s < p->cvt.steps)
                step(p, &grid[g], j->site, cell);
        }
        if (g == 0)
            break;
        for (int64_t i = 0; i < points * p->ndim; i++)
            j->site[i] *= 2;
        free(grid[g].weight);
    }
    for (int64_t i = 0; i < points * p->ndim; i++) {
        const struct cell *c = &cell[i / p->ndim];
        j->centroid[i] = c->weight ? (double)c->moment[i % p->ndim] / (double)c->weight : (double)j->site[i];
    }
    free(cell);
}

/* ---- One run ---- */

static distmap_dtype wanted(const distmap_problem *p, int output) {
    const distmap_dtype types[OUTPUTS] = {p->want.sites, p->want.centroids, p->want.energies, p->want.label};
    return types[output];
}

static int64_t length_of(const struct job *j, int output) {
    const distmap_problem *p = &j->problem;
    const int64_t lengths[OUTPUTS] = {p->cvt.points * p->ndim, p->cvt.points * p->ndim, p->cvt.steps + 1, j->elements};
    return lengths[output];
}

static bool output_is_right(const struct job *j, int output) {
    const void *values[OUTPUTS] = {j->site, j->centroid, j->energy, j->label};
    return layout_holds(&j->output[output], j->refused ? 0 : length_of(j, output), values[output], 8);
}

static const char *check_properties(const struct job *j) {
    for (int64_t s = 0; s < j->problem.cvt.steps; s++)
        if (j->energy[s + 1] > j->energy[s])
            return "the energy rises";
    const int ndim = j->problem.ndim;
    for (int64_t i = 0; i < j->problem.cvt.points; i++)
        for (int64_t k = 0; k < i; k++)
            if (memcmp(j->site + i * ndim, j->site + k * ndim, (size_t)ndim * sizeof *j->site) == 0)
                return "two sites stand on one element";
    return NULL;
}

static const char *run_plan(const struct drawn_job *d, const struct runner *runner, distmap_plan *plan) {
    struct job *j = d->more;
    distmap_arrays arrays = {.input = runner_send(runner, &j->input)};
    distmap_view *const views[OUTPUTS] = {&arrays.sites, &arrays.centroids, &arrays.energies, &arrays.label};
    for (int k = 0; k < OUTPUTS; k++)
        if (wanted(&j->problem, k)) {
            layout_poison(&j->output[k]);
            *views[k] = runner_send(runner, &j->output[k]);
        }
    distmap_status status = distmap_plan_execute(plan, &arrays);
    status = status ? status : distmap_plan_wait(plan);
    if (j->refused && (status != DISTMAP_ERROR_ARGUMENT || !strstr(distmap_error_text(), "have a weight")))
        return "too few weights, but not refused";
    if (!j->refused && status)
        return distmap_error_text();
    runner_fetch(runner, &j->input);
    if (memcmp(j->untouched, j->input.memory, j->input.bytes) != 0)
        return "the input was changed";
    if (!j->refused && distmap_plan_flags(plan) != 0)
        return "flags";
    for (int k = 0; k < OUTPUTS; k++)
        if (wanted(&j->problem, k)) {
            runner_fetch(runner, &j->output[k]);
            if (!output_is_right(j, k))
                return output_names[k];
        }
    return j->refused ? NULL : check_properties(j);
}

static void tell(const struct drawn_job *d) {
    const distmap_cvt *c = &d->problem->cvt;
    fprintf(stderr, "dtype %s, points %lld, steps %lld, omega %g, grids %d", distmap_dtype_name(d->problem->dtype),
            (long long)c->points, (long long)c->steps, c->omega, c->grids);
}

/* ---- One case ---- */

static void draw_weights(struct field *f, const struct image *m, distmap_dtype dtype, struct rng *r) {
    static const uint64_t most[] = {1, 1, 3, 255, 255, 65535, UINT32_MAX};
    const uint64_t type_most = dtype == DISTMAP_BOOL     ? 1
                               : dtype == DISTMAP_UINT8  ? UINT8_MAX
                               : dtype == DISTMAP_UINT16 ? UINT16_MAX
                                                         : UINT32_MAX;
    const uint64_t cap = most[rng_range(r, 0, 6)], highest = cap < type_most ? cap : type_most;
    const int kind = (int)rng_range(r, 0, 4);
    const double heavy = 0.02 + rng_unit(r) / 2; /* few elements have nearly all weight: sites are drawn together */
    for (int64_t i = 0; i < f->elements; i++)
        f->weight[i] = kind == 0                  ? highest
                       : kind == 1 && !m->site[i] ? 0
                       : kind == 2 && !m->site[i] ? 1
                       : kind == 4                ? rng_chance(r, heavy) ? highest : rng_chance(r, 0.5)
                                                  : rng_next(r) % (highest + 1);
}

static void draw_cvt(distmap_problem *p, int64_t elements, struct rng *r) {
    static const double omegas[] = {0, 0, 1, 1, 0.3, 0.9, 1.3, 1.5, 1.8, 1.99};
    static const double halves[] = {0.5, 1.25, 1, 2, 0.75};
    static const int64_t points[] = {1, 2, 5, 13, 30, 60, 100, 200, 400};
    static const distmap_dtype labels[] = {DISTMAP_UINT8, DISTMAP_INT16, DISTMAP_UINT16, DISTMAP_INT32, DISTMAP_INT64};
    const int64_t spacing = rng_range(r, 0, 5);
    for (int a = 0; a < p->ndim; a++)
        p->spacing[a] = spacing == 0 ? halves[rng_range(r, 0, 4)] : spacing == 1 ? (double)rng_range(r, 1, 5) : 0;
    p->field = DISTMAP_FIELD_CVT;
    p->cvt.omega = omegas[rng_range(r, 0, 9)];
    p->cvt.seed = rng_next(r) >> rng_range(r, 0, 63);
    p->cvt.grids = rng_chance(r, 0.6) ? 0 : (int)rng_range(r, 1, 4);
    p->cvt.steps = rng_range(r, 0, 6);
    do
        p->cvt.points = rng_chance(r, 0.1) ? rng_range(r, 1, elements) : points[rng_range(r, 0, 8)];
    while (p->cvt.points > elements || p->cvt.points * elements > MOST_WORK);
    const int64_t outputs = rng_range(r, 1, 15);
    p->want.sites = outputs & 1 ? rng_chance(r, 0.5) ? DISTMAP_INT32 : DISTMAP_INT64 : DISTMAP_NONE;
    p->want.centroids = outputs & 2 ? DISTMAP_FLOAT64 : DISTMAP_NONE;
    p->want.energies = outputs & 4 ? DISTMAP_FLOAT64 : DISTMAP_NONE;
    p->want.label = outputs & 8 ? labels[rng_range(r, p->cvt.points > UINT8_MAX ? 1 : 0, 4)] : DISTMAP_NONE;
}

/* The weights as elements of the dtype; a bool's byte may be any but 0. */
static void *elements_of(const struct field *f, distmap_dtype dtype, struct rng *r) {
    const size_t size = distmap_dtype_size(dtype);
    unsigned char *data = malloc((size_t)f->elements * size);
    REQUIRE(data);
    for (int64_t i = 0; i < f->elements; i++) {
        uint64_t value = f->weight[i];
        if (dtype == DISTMAP_BOOL && value)
            value = (uint64_t)rng_range(r, 1, 255);
        memcpy(data + (size_t)i * size, &value, size);
    }
    return data;
}

static void run_case(int number, uint64_t seed, struct rng *r) {
    static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 40, 64, 65, 100, 1030, 2999};
    static const distmap_dtype dtypes[] = {DISTMAP_BOOL, DISTMAP_UINT8, DISTMAP_UINT16, DISTMAP_UINT32};
    struct image m = {0};
    do
        drawn_shape(&m, lengths, sizeof lengths / sizeof *lengths, MOST, r);
    while (m.ndim > 3);
    const bool meeting =
        number % 50 == 0; /* two sites are bound for one element, which chance hardly ever brings about */
    if (meeting)
        m = (struct image){.ndim = 1, .shape = {5}, .elements = 5};
    const int pattern = (int)rng_range(r, 0, corpus_count - 1);
    m.site = malloc((size_t)m.elements);
    REQUIRE(m.site);
    corpus_paint(pattern, &m, r);
    struct field image = {.ndim = m.ndim, .elements = m.elements};
    memcpy(image.shape, m.shape, sizeof image.shape);
    image.weight = malloc((size_t)m.elements * sizeof *image.weight);
    REQUIRE(image.weight);
    struct job j = {.elements = m.elements};
    distmap_problem *p = &j.problem;
    *p = (distmap_problem){.dtype = dtypes[rng_range(r, 0, 3)], .ndim = m.ndim};
    memcpy(p->shape, m.shape, sizeof m.shape);
    draw_weights(&image, &m, p->dtype, r);
    draw_cvt(p, m.elements, r);
    if (meeting) {
        memcpy(image.weight, (const uint64_t[]){1, 0, 20, 20, 3}, 5 * sizeof *image.weight);
        p->dtype = DISTMAP_UINT8;
        p->cvt = (distmap_cvt){.points = 2, .steps = 3, .omega = 1.8, .seed = 10};
    }
    const size_t places = (size_t)(p->cvt.points * p->ndim);
    j.site = malloc(places * sizeof *j.site);
    j.centroid = malloc(places * sizeof *j.centroid);
    j.energy = malloc((size_t)(p->cvt.steps + 1) * sizeof *j.energy);
    j.label = malloc((size_t)m.elements * sizeof *j.label);
    REQUIRE(j.site && j.centroid && j.energy && j.label);
    j.refused = weighted(&image) < p->cvt.points;
    if (!j.refused)
        find(&j, &image);
    void *data = elements_of(&image, p->dtype, r);
    j.input = drawn_place((enum layout)rng_range(r, 0, LAYOUT_COUNT - 1), p->dtype, &m, data);
    for (int k = 0; k < OUTPUTS; k++) {
        const int64_t small[2] = {k < 2 ? p->cvt.points : p->cvt.steps + 1, p->ndim};
        const distmap_dtype dtype = wanted(p, k) ? wanted(p, k) : DISTMAP_FLOAT64;
        j.output[k] = layout_place((enum layout)rng_range(r, 0, LAYOUT_COUNT - 1), dtype,
                                   k < 2   ? 2
                                   : k < 3 ? 1
                                           : m.ndim,
                                   k < 3 ? small : m.shape);
    }
    j.untouched = malloc(j.input.bytes);
    REQUIRE(j.untouched);
    memcpy(j.untouched, j.input.memory, j.input.bytes);
    char name[DRAWN_NAME];
    drawn_name(name, sizeof name, "cvt", number, seed, pattern, &m);
    const struct drawn_job drawn = {name, number, p, run_plan, tell, &j};
    drawn_run(&drawn, DISTMAP_FIELD_CVT);
    runner_drop(&j.input);
    for (int k = 0; k < OUTPUTS; k++)
        runner_drop(&j.output[k]);
    free(j.untouched);
    free(data);
    free(j.site);
    free(j.centroid);
    free(j.energy);
    free(j.label);
    free(image.weight);
    free(m.site);
}

int main(int argc, char **argv) {
    const int status = drawn_main(argc, argv, "cvt", CASES, "moves", &moved, run_case);
    printf("%ld moves to elements that were taken\n", met);
    return status;
}
