/* Patterns of sites for the benchmark: masks of any size, 0 at sites, as cheap to make as to read.
 *
 *   random    each element is a site with the probability given
 *   even      as many sites along every row at equal distances, rows shifted against each other by the golden ratio
 *   points    as many sites as the density says, to the one, each drawn from an equal share of the elements
 *   corner    the first element alone
 *   lattice   every 16th element along every axis
 *   diagonal  the main diagonal
 *   circle    a circle or sphere about the middle: every site is nearest somewhere near its centre
 *   parabola  a paraboloid opening along the first axis: every site is nearest to a whole line of elements
 *   blobs     a smooth random field below its middle: value noise of two scales, as real masks look
 *   regions   the same with cells that grow with the image: a few large regions
 *   objects   small discs or balls, scattered, in a background of sites
 *   strapwork outlines of interlaced straps, as on tiles: strapwork.c
 *
 * even, points, regions, objects and strapwork stand in for the images of the papers whose tables suites/ has.
 */
#include <math.h>
#include <string.h>
#include <sys/random.h>

#include "patterns.h"

enum { LATTICE = 16 };

uint64_t mix(uint64_t x) { /* splitmix64 (Steele, Lea, Flood 2014) */
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static void random_row(const grid *g, int64_t z, int64_t y, uint8_t *row) {
    const uint64_t first = (uint64_t)((z * g->ny + y) * g->nx);
    const uint64_t below = g->density >= 1 ? UINT64_MAX : (uint64_t)(g->density * 0x1p64);
    for (int64_t x = 0; x < g->nx; x++)
        row[x] = mix(g->seed ^ (first + (uint64_t)x)) < below ? 0 : NONSITE;
}

static void even_row(const grid *g, int64_t z, int64_t y, uint8_t *row) {
    const double shift = (double)y * 0.6180339887498949 + (double)z * 0.7548776662466927;
    for (int64_t x = 0; x < g->nx; x++) {
        const double place = (double)x * g->density + shift;
        row[x] = place - floor(place) < g->density ? 0 : NONSITE;
    }
}

static void points_row(const grid *g, int64_t z, int64_t y, uint8_t *row) {
    const double elements = (double)g->nz * (double)g->ny * (double)g->nx, points = round(g->density * elements);
    const double share = elements / points, first = (double)(z * g->ny + y) * (double)g->nx;
    memset(row, NONSITE, (size_t)g->nx);
    if (points < 1)
        return;
    for (double i = floor(first / share); i * share < first + (double)g->nx; i++) {
        const double drawn = (double)(mix(g->seed ^ (uint64_t)i) >> 11) * 0x1p-53;
        const double at = floor(i * share) + floor(drawn * (floor((i + 1) * share) - floor(i * share))) - first;
        if (i < points && at >= 0 && at < (double)g->nx)
            row[(int64_t)at] = 0;
    }
}

static void corner_row(const grid *g, int64_t z, int64_t y, uint8_t *row) {
    memset(row, NONSITE, (size_t)g->nx);
    if (z == 0 && y == 0)
        row[0] = 0;
}

static void lattice_row(const grid *g, int64_t z, int64_t y, uint8_t *row) {
    memset(row, NONSITE, (size_t)g->nx);
    if (z % LATTICE == 0 && y % LATTICE == 0)
        for (int64_t x = 0; x < g->nx; x += LATTICE)
            row[x] = 0;
}

static void diagonal_row(const grid *g, int64_t z, int64_t y, uint8_t *row) {
    memset(row, NONSITE, (size_t)g->nx);
    if ((!g->volume || z == y) && y < g->nx)
        row[y] = 0;
}

static void circle_row(const grid *g, int64_t z, int64_t y, uint8_t *row) {
    const double half = 0.5 * (double)(g->nx - 1), radius = half - 1;
    const double dy = (double)y - 0.5 * (double)(g->ny - 1), dz = (double)z - 0.5 * (double)(g->nz - 1);
    for (int64_t x = 0; x < g->nx; x++) {
        const double dx = (double)x - half;
        row[x] = fabs(sqrt(dz * dz + dy * dy + dx * dx) - radius) < 0.5 ? 0 : NONSITE;
    }
}

static void parabola_row(const grid *g, int64_t z, int64_t y, uint8_t *row) {
    const double size = (double)g->nx, parts = g->volume ? 2 : 1, first = (double)(g->volume ? z : y);
    const double rest = g->volume ? (double)(y * y) : 0;
    for (int64_t x = 0; x < g->nx; x++)
        row[x] = floor((rest + (double)(x * x)) / (size * parts)) == first ? 0 : NONSITE;
}

/* The value at corner `cx` of the cells along x, interpolated along y and z. */
static float corner_value(const grid *g, int64_t z, int64_t y, int64_t cx, int64_t cell) {
    const float tz = (float)(z % cell) / (float)cell, ty = (float)(y % cell) / (float)cell;
    const float sz = tz * tz * (3 - 2 * tz), sy = ty * ty * (3 - 2 * ty);
    float value = 0;
    for (int corner = 0; corner < 4; corner++) {
        const uint64_t cz = (uint64_t)(z / cell + corner / 2), cy = (uint64_t)(y / cell + corner % 2);
        const float noise = (float)(mix(g->seed ^ mix(cz << 42 ^ cy << 21 ^ (uint64_t)cx) ^ (uint64_t)cell) >> 40);
        value += noise * 0x1p-24f * (corner / 2 ? sz : 1 - sz) * (corner % 2 ? sy : 1 - sy);
    }
    return value;
}

enum { PIECE = 4096 }; /* of a row, made at a time */

/* One scale of value noise: random values at the corners of cells, smoothly interpolated. Adds columns x0 to x1 to `sum`. */
static void add_noise(const grid *g, int64_t z, int64_t y, int64_t x0, int64_t x1, int64_t cell, float weight,
                      float *sum) {
    float left, right = corner_value(g, z, y, x0 / cell, cell);
    for (int64_t first = x0 / cell * cell; first < x1; first += cell) {
        left = right;
        right = corner_value(g, z, y, first / cell + 1, cell);
        for (int64_t x = first > x0 ? first : x0; x < first + cell && x < x1; x++) {
            const float t = (float)(x - first) / (float)cell, s = t * t * (3 - 2 * t);
            sum[x - x0] += weight * ((1 - s) * left + s * right);
        }
    }
}

static void smooth_row(const grid *g, int64_t z, int64_t y, int64_t coarse, int64_t fine, uint8_t *row) {
    for (int64_t x0 = 0; x0 < g->nx; x0 += PIECE) {
        const int64_t x1 = x0 + PIECE < g->nx ? x0 + PIECE : g->nx;
        float sum[PIECE] = {0};
        add_noise(g, z, y, x0, x1, coarse, 0.7f, sum);
        add_noise(g, z, y, x0, x1, fine, 0.3f, sum);
        for (int64_t x = x0; x < x1; x++)
            row[x] = sum[x - x0] < 0.5f ? 0 : NONSITE;
    }
}

static void blobs_row(const grid *g, int64_t z, int64_t y, uint8_t *row) { smooth_row(g, z, y, 64, 24, row); }

static void regions_row(const grid *g, int64_t z, int64_t y, uint8_t *row) {
    const int64_t coarse = g->nx / 5 + 2;
    smooth_row(g, z, y, coarse, coarse / 3 + 1, row);
}

/* Each cell of the image has one, of a drawn place and radius, which may reach into the cells around. */
static void objects_row(const grid *g, int64_t z, int64_t y, uint8_t *row) {
    enum { CELL = 20 };
    static const double least = 1.5, most = 7.5;
    memset(row, 0, (size_t)g->nx);
    for (int64_t cz = g->volume ? z / CELL - 1 : 0; cz <= (g->volume ? z / CELL + 1 : 0); cz++)
        for (int64_t cy = y / CELL - 1; cy <= y / CELL + 1; cy++)
            for (int64_t cx = -1; cx <= g->nx / CELL + 1; cx++) {
                uint64_t draw =
                    mix(g->seed ^ mix((uint64_t)(cz + 1) << 42 ^ (uint64_t)(cy + 1) << 21 ^ (uint64_t)(cx + 1)));
                double part[4]; /* of the cell: z, y, x; of the radii */
                for (int i = 0; i < 4; i++, draw = mix(draw))
                    part[i] = (double)(draw >> 11) * 0x1p-53;
                const double radius = least + (most - least) * part[3];
                const double dz = g->volume ? (double)z - CELL * ((double)cz + part[0]) : 0;
                const double dy = (double)y - CELL * ((double)cy + part[1]), middle = CELL * ((double)cx + part[2]);
                const double half2 = radius * radius - dz * dz - dy * dy;
                if (half2 < 0)
                    continue;
                const double from = fmax(ceil(middle - sqrt(half2)), 0);
                const double to = fmin(floor(middle + sqrt(half2)), (double)(g->nx - 1));
                for (int64_t x = (int64_t)from; x <= (int64_t)to; x++)
                    row[x] = NONSITE;
            }
}

static const struct {
    const char *name;
    fill_row *fill;
    bool takes_density;
} patterns[] = {
    {"random", random_row, true},    {"even", even_row, true},          {"points", points_row, true},
    {"corner", corner_row, false},   {"lattice", lattice_row, false},   {"diagonal", diagonal_row, false},
    {"circle", circle_row, false},   {"parabola", parabola_row, false}, {"blobs", blobs_row, false},
    {"regions", regions_row, false}, {"objects", objects_row, false},   {"strapwork", strapwork_row, false},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

uint64_t pattern_seed(const struct options *options) {
    uint64_t seed = options->seed;
    if (!options->seed_given && getrandom(&seed, sizeof seed, 0) == sizeof seed)
        seed >>= 32; /* short enough to type */
    return seed;
}

const char *pattern_name(int row) { return row < PATTERNS ? patterns[row].name : NULL; }

static int find(const char *name) {
    int row = 0;
    while (row < PATTERNS && strcmp(patterns[row].name, name) != 0)
        row++;
    return row;
}

bool pattern_takes_density(const char *name) {
    const int row = find(name);
    return row < PATTERNS && patterns[row].takes_density;
}

struct filling {
    grid g;
    fill_row *fill;
    uint8_t *mask;
};

static void fill_one(void *arg, int64_t i) {
    const struct filling *f = arg;
    f->fill(&f->g, i / f->g.ny, i % f->g.ny, f->mask + i * f->g.nx);
}

bool pattern_fill(const char *name, double density, uint64_t seed, int ndim, const int64_t *shape, uint8_t *mask) {
    const int row = find(name);
    if (row == PATTERNS)
        return false;
    struct filling f = {.fill = patterns[row].fill, .mask = mask};
    f.g = (grid){.density = density,
                 .seed = mix(seed),
                 .nz = ndim == 3 ? shape[0] : 1,
                 .ny = shape[ndim - 2],
                 .nx = shape[ndim - 1],
                 .volume = ndim == 3};
    share_out(f.g.nz * f.g.ny, fill_one, &f);
    return true;
}
