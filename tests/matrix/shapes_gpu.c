/* shapes_gpu [COUNT [MOST [any|jumps|rings|holes|pitches|metrics|kinds [GPUS]]]]: COUNT drawn problems (40) of up to MOST elements
 * (10^8), beyond what an oracle can check: each exact method of the GPU, brute force aside, against the CPU, to the bit. With `jumps`
 * they are planes in which the nearest site of neighbours jumps from one end to the other, with `rings` those in which it moves faster
 * than they do, with `holes` tall ones, of several pitches, that have many sites but for some rows of none; with `pitches` volumes whose
 * slices lie far apart; with `metrics` planes of some height and width, of metrics other than the Euclidean; with `kinds` labels and
 * signed maps, of planes and volumes that are long along no axis. Of a method's parameters that are choices, each is drawn anew, for
 * `rings` several times, twice where DISTMAP_TEST_SCALE is small; `jumps`, `rings`, `holes` and `pitches` are computed again with the
 * first choices of all. GPUS: so many GPUs as one device, where the method takes the problem over several.
 *
 * DISTMAP_TEST_SEED repeats a run.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <distmap.h>

#include "../seed.h"
#include "random.h"

struct results {
    float *distance;
    int64_t *index;
};

/* Lengths are drawn by their logarithms, and the elements with them, so that long and flat shapes are all common. */
static int64_t draw_shape(struct rng *r, int64_t most, distmap_problem *p) {
    double left = log((double)most) * (0.5 + 0.5 * rng_unit(r));
    int64_t elements = 1;
    p->ndim = (int)rng_range(r, 1, 4);
    for (int a = 0; a < p->ndim; a++) {
        const double share = a == p->ndim - 1 ? left : left * 2 * rng_unit(r) / (p->ndim - a);
        p->shape[a] = (int64_t)exp(share < left ? share : left);
        left -= log((double)p->shape[a]);
        elements *= p->shape[a];
    }
    return elements;
}

static int64_t draw_plane(struct rng *r, int64_t most, distmap_problem *p) {
    p->ndim = 2;
    p->shape[0] = (int64_t)exp(log((double)most) * (0.3 + 0.4 * rng_unit(r)));
    p->shape[1] = most / p->shape[0];
    return p->shape[0] * p->shape[1];
}

static int64_t draw_block(struct rng *r, int64_t most, distmap_problem *p) {
    double left = log((double)most) * (0.8 + 0.2 * rng_unit(r));
    int64_t elements = 1;
    p->ndim = (int)rng_range(r, 2, 3);
    for (int a = 0; a < p->ndim; a++) {
        p->shape[a] = (int64_t)exp(left / (p->ndim - a) * (a < p->ndim - 1 ? 0.6 + 0.6 * rng_unit(r) : 1));
        left -= log((double)p->shape[a]);
        elements *= p->shape[a];
    }
    return elements;
}

static void draw_problem(struct rng *r, distmap_problem *p) {
    static const double pitches[] = {1, 2, 3, 0.5, 1.25};
    p->dtype = DISTMAP_UINT8;
    p->want.distance = DISTMAP_FLOAT32;
    p->want.index = rng_chance(r, 0.5) ? DISTMAP_INT64 : DISTMAP_NONE;
    p->border = rng_chance(r, 0.1);
    p->limit = rng_chance(r, 0.2) ? 1 + 100 * rng_unit(r) : 0;
    for (int a = 0; a < p->ndim; a++) {
        p->spacing[a] = rng_chance(r, 0.2) ? pitches[rng_range(r, 0, 4)] : 1;
        p->axes |= rng_chance(r, 0.9) ? 1u << a : 0;
    }
}

/* City-block, chessboard, or weights, small or large, of two kinds of steps or three. */
static void draw_metric(struct rng *r, distmap_problem *p) {
    int measured = 0;
    for (int axis = 0; axis < p->ndim; axis++) {
        measured += p->axes == 0 || p->axes >> axis & 1;
        p->spacing[axis] = 0;
    }
    p->metric = (distmap_metric)rng_range(r, DISTMAP_METRIC_CITYBLOCK, DISTMAP_METRIC_CHAMFER);
    if (measured > 3 || p->metric != DISTMAP_METRIC_CHAMFER) {
        p->metric = measured > 3 ? DISTMAP_METRIC_CITYBLOCK : p->metric;
        return;
    }
    const int a = (int)rng_range(r, 1, rng_chance(r, 0.8) ? 20 : 2000), b = (int)rng_range(r, a, 2 * a);
    const int knight = 3 * b > 4 * a ? (3 * b + 1) / 2 : 2 * a;
    p->chamfer[0] = a;
    p->chamfer[1] = b;
    if (measured == 3)
        p->chamfer[2] = (int)rng_range(r, b, 2 * b - a);
    else if (knight <= a + b && rng_chance(r, 0.5))
        p->chamfer[2] = (int)rng_range(r, knight, a + b);
}

/* Far from a wall on the left; nearer are two short pieces at the ends of a column. Between these all rows have a site, and win
 * for nobody on the right. */
static int64_t draw_jumps(struct rng *r, distmap_problem *p, uint8_t *mask) {
    const int64_t height = rng_range(r, 1180, 1230), width = rng_range(r, 680, 720), piece = rng_range(r, 30, 40);
    *p = (distmap_problem){.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {height, width}};
    p->want.distance = DISTMAP_FLOAT32;
    p->want.index = rng_chance(r, 0.7) ? DISTMAP_INT64 : DISTMAP_NONE;
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            mask[y * width + x] = x > 0 && (x != 400 || (y >= piece && y < height - piece));
    return height * width;
}

/* A circle's line, or its left half, which is larger, or areas with waves for rims: in the middle of each the nearest sites of a
 * column's pixels lie far apart, and nearly all rows have one. */
static int64_t draw_rings(struct rng *r, distmap_problem *p, uint8_t *mask) {
    const bool waves = rng_chance(r, 0.3), half = !waves && rng_chance(r, 0.6);
    const int64_t height = half ? rng_range(r, 1480, 1500) : rng_range(r, 730, 940);
    const int64_t width = half ? rng_range(r, 790, 820) : rng_range(r, 730, 940);
    const int64_t middle = half ? width - rng_range(r, 20, 60) : width / 2;
    const double radius = half ? 0.48 * (double)height : 0.45 * (double)(height < width ? height : width);
    const double length = 40 + 40 * rng_unit(r), start = 6.3 * rng_unit(r);
    *p = (distmap_problem){.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {height, width}};
    p->want.distance = DISTMAP_FLOAT32;
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            mask[y * width + x] =
                waves ? sin((double)x / length + start) + sin((double)y / length) + 0.3 * sin((double)(x + y) / 17) > 0
                      : fabs(hypot((double)(x - middle), (double)(y - height / 2)) - radius) >= 0.5;
    return height * width;
}

/* Many sites, but none in a few runs of rows, some of which reach farther than squared distances stay below 2^23. */
static int64_t draw_holes(struct rng *r, distmap_problem *p, uint8_t *mask) {
    static const double pitches[][2] = {{1, 1}, {3, 1}, {4, 1}, {5, 1}, {1, 2}};
    static const int64_t lengths[] = {200, 600, 1500, 2500, 4400};
    const int64_t height = rng_range(r, 4500, 7500), width = rng_range(r, 70, 160), kind = rng_range(r, 0, 4);
    *p = (distmap_problem){.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {height, width}};
    p->spacing[0] = pitches[kind][0], p->spacing[1] = pitches[kind][1];
    p->want.distance = DISTMAP_FLOAT32;
    p->want.index = rng_chance(r, 0.7) ? DISTMAP_INT64 : DISTMAP_NONE;
    const double density = 0.003 * pow(10, rng_unit(r));
    for (int64_t i = 0; i < height * width; i++)
        mask[i] = !rng_chance(r, density);
    for (int64_t left = rng_range(r, 1, 3); left > 0; left--) {
        const int64_t y = rng_range(r, 0, height - 1), length = lengths[rng_range(r, 0, 4)];
        memset(mask + y * width, 1, (size_t)((length < height - y ? length : height - y) * width));
    }
    mask[rng_range(r, 0, height * width - 1)] = 0;
    return height * width;
}

/* Volumes as they come from medicine and microscopy, whose slices lie farther apart than pixels: objects that go through some slices,
 * small or large, or few sites, here and there or in one part of the slices alone. */
static int64_t draw_pitches(struct rng *r, distmap_problem *p, uint8_t *mask) {
    static const double pitches[][2] = {{2.5, 0.7}, {0.2, 0.065}, {0.29, 0.108}, {6, 1}, {7, 0.04}, {1, 1}};
    const int64_t depth = rng_range(r, 60, 420), width = rng_range(r, 20, 100), kind = rng_range(r, 0, 5);
    const int64_t height = 1000000 / (depth * width) < 120 ? 1000000 / (depth * width) : 120, plane = height * width;
    *p = (distmap_problem){.dtype = DISTMAP_UINT8, .ndim = 3, .shape = {depth, height, width}};
    for (int a = 0; a < 3; a++)
        p->spacing[a] = pitches[kind][a > 0];
    p->want.distance = DISTMAP_FLOAT32;
    p->want.index = rng_chance(r, 0.2) ? DISTMAP_INT64 : DISTMAP_NONE;
    p->limit = rng_chance(r, 0.2) ? p->spacing[0] * (1 + 20 * rng_unit(r)) : 0;
    const double density = pow(10, -6 * rng_unit(r)), other = rng_chance(r, 0.5) ? 0.5 * rng_unit(r) : 0;
    const int64_t first = rng_chance(r, 0.3) ? rng_range(r, 0, depth - 1) : 0;
    for (int64_t i = 0; i < depth * plane; i++)
        if (other > 0 && i >= plane && !rng_chance(r, other * other))
            mask[i] = rng_chance(r, 0.5) ? mask[i - plane] : mask[i - 1];
        else
            mask[i] = i < first * plane || !rng_chance(r, density);
    mask[rng_range(r, 0, depth * plane - 1)] = 0;
    return depth * plane;
}

/* Labels, or a signed map: each element is as one of those before it, along a row or across, but for some. */
static void draw_kinds(struct rng *r, distmap_problem *p, uint8_t *mask, int64_t elements, double some) {
    const int64_t across = p->shape[p->ndim - 1] * (p->ndim > 2 && rng_chance(r, 0.5) ? p->shape[p->ndim - 2] : 1);
    const bool sign = rng_chance(r, 0.4);
    p->want.index = DISTMAP_NONE;
    p->sign = sign ? (rng_chance(r, 0.5) ? DISTMAP_SIGN_INSIDE : DISTMAP_SIGN_OUTSIDE) : DISTMAP_SIGN_NONE;
    p->input = sign ? DISTMAP_INPUT_MASK : DISTMAP_INPUT_LABELS;
    const int first = sign || rng_chance(r, 0.5) ? 0 : 1; /* with a background, or without */
    for (int64_t i = 0; i < elements; i++) {
        if (i == 0 || rng_chance(r, some))
            mask[i] = (uint8_t)rng_range(r, first, first + 2);
        else
            mask[i] = mask[i >= across && rng_chance(r, 0.6) ? i - across : i - 1];
    }
}

enum { MAX_CHOICES = 8 };

/* Drawn, or the first of each: of minplus/cuda that leaves everything to the general searches. */
static size_t draw_choices(struct rng *r, const distmap_method_info *info, bool first,
                           distmap_param choices[MAX_CHOICES]) {
    size_t count = 0;
    for (size_t k = 0; k < info->param_count; k++)
        if (info->params[k].names) {
            const distmap_param_info *q = &info->params[k];
            REQUIRE(count < MAX_CHOICES);
            choices[count++] = (distmap_param){q->name, first ? q->lowest : rng_range(r, q->lowest, q->highest)};
        }
    return count;
}

static bool has_choices(const distmap_method_info *info) {
    for (size_t k = 0; k < info->param_count; k++)
        if (info->params[k].names)
            return true;
    return false;
}

static void compute(distmap_context *context, const distmap_plan_options *options, const distmap_problem *p,
                    uint8_t *mask, const struct results *out) {
    distmap_plan *plan = NULL;
    distmap_arrays a = {.input = distmap_view_make(mask, p->dtype, p->ndim, p->shape),
                        .distance = distmap_view_make(out->distance, p->want.distance, p->ndim, p->shape)};
    if (p->want.index)
        a.index = distmap_view_make(out->index, p->want.index, p->ndim, p->shape);
    distmap_status status = distmap_plan_create(context, p, options, &plan);
    if (status == DISTMAP_OK)
        status = distmap_plan_execute(plan, &a);
    if (status != DISTMAP_OK) {
        fprintf(stderr, "FAILED: %s\n", distmap_error_text());
        exit(1);
    }
    distmap_plan_destroy(&plan);
}

static bool same(const char *what, const char *method, const void *want, void *got, size_t size, int64_t elements) {
    for (int64_t i = 0; i < elements; i++)
        if (memcmp((const char *)want + (size_t)i * size, (char *)got + (size_t)i * size, size) != 0) {
            fprintf(stderr, "FAILED %s: %s differs at element %" PRId64 "\n", method, what, i);
            return false;
        }
    memset(got, 0xA5, (size_t)elements * size);
    return true;
}

/* Whether a method gives what is wanted, where it takes the problem. */
static bool check_method(struct rng *r, distmap_context *gpu, const distmap_method_info *info, bool first,
                         const distmap_problem *p, uint8_t *mask, int64_t elements, const struct results *want,
                         const struct results *got) {
    distmap_param choices[MAX_CHOICES];
    const distmap_plan_options options = {.method = info->name,
                                          .params = choices,
                                          .param_count = draw_choices(r, info, first, choices),
                                          .host_views = true};
    size_t scratch;
    if (distmap_scratch_bytes(gpu, p, &options, &scratch) != DISTMAP_OK)
        return true;
    compute(gpu, &options, p, mask, got);
    bool equal = same("distance", info->name, want->distance, got->distance, sizeof *got->distance, elements);
    if (p->want.index)
        equal &= same("index", info->name, want->index, got->index, sizeof *got->index, elements);
    for (size_t k = 0; k < options.param_count && !equal; k++)
        fprintf(stderr, "  with %s %" PRId64 "\n", choices[k].name, choices[k].value);
    return equal;
}

int main(int argc, char **argv) {
    const int count = argc > 1 ? atoi(argv[1]) : 40;
    const char *kind = argc > 3 ? argv[3] : "";
    const bool jumps = strcmp(kind, "jumps") == 0, rings = strcmp(kind, "rings") == 0,
               holes = strcmp(kind, "holes") == 0, pitches = strcmp(kind, "pitches") == 0,
               metrics = strcmp(kind, "metrics") == 0, kinds = strcmp(kind, "kinds") == 0;
    const bool made = jumps || rings || holes || pitches; /* whole problems */
    const int64_t most = made ? 1500 * 820 : argc > 2 ? atoll(argv[2]) : 100000000;
    const uint64_t seed = test_seed();
    const int gpus = argc > 4 ? atoi(argv[4]) : 0;
    static const int ordinals[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const distmap_context_options where = {
        .device = DISTMAP_DEVICE_CUDA, .ordinals = gpus ? ordinals : NULL, .ordinal_count = gpus};
    struct rng r = {seed};
    distmap_context *cpu = NULL, *gpu = NULL;
    printf("shapes, seed %" PRIu64 "\n", seed);
    uint8_t *mask = malloc((size_t)most);
    struct results want = {malloc((size_t)most * 4), malloc((size_t)most * 8)};
    struct results got = {malloc((size_t)most * 4), malloc((size_t)most * 8)};
    REQUIRE(gpus >= 0 && gpus <= 8 && most > 0 && mask && want.distance && want.index && got.distance && got.index);
    REQUIRE(distmap_context_create(NULL, &cpu) == DISTMAP_OK);
    if (distmap_context_create(&where, &gpu) != DISTMAP_OK) {
        fprintf(stderr, "%s\n", distmap_error_text());
        return 1;
    }
    bool good = true;
    for (int n = 0; n < count; n++) {
        distmap_problem p = {0};
        const int64_t elements = jumps     ? draw_jumps(&r, &p, mask)
                                 : rings   ? draw_rings(&r, &p, mask)
                                 : holes   ? draw_holes(&r, &p, mask)
                                 : pitches ? draw_pitches(&r, &p, mask)
                                 : metrics ? draw_plane(&r, most, &p)
                                 : kinds   ? draw_block(&r, most, &p)
                                           : draw_shape(&r, most, &p);
        const double density = pow((double)elements, -rng_unit(&r)); /* from all to about one */
        if (!made) {
            draw_problem(&r, &p);
            if (!kinds && (metrics || rng_chance(&r, 0.4)))
                draw_metric(&r, &p);
            if (kinds)
                draw_kinds(&r, &p, mask, elements, density);
            for (int64_t i = 0; i < elements && !kinds; i++)
                mask[i] = !rng_chance(&r, density);
        }
        printf("%2d:", n);
        for (int a = 0; a < p.ndim; a++)
            printf("%s%" PRId64 " (%g)", a ? " x " : " ", p.shape[a], p.spacing[a]);
        printf(", axes 0x%x, metric %d {%d, %d, %d}, density %.2g, limit %g%s%s%s\n", p.axes, p.metric, p.chamfer[0],
               p.chamfer[1], p.chamfer[2], density, p.limit, p.border ? ", border" : "", p.want.index ? ", index" : "",
               p.sign                            ? ", signed"
               : p.input == DISTMAP_INPUT_LABELS ? ", labels"
                                                 : "");
        fflush(stdout);
        compute(cpu, NULL, &p, mask, &want);
        const distmap_method_info *info;
        for (size_t m = 0; (info = distmap_method_get(m)); m++) {
            if (strcmp(info->device, "cuda") != 0 || !info->exact || strncmp(info->name, "brute/", 6) == 0)
                continue;
            const int turns = !has_choices(info) ? 1 : rings ? 1 + test_cases(3) : made ? 2 : 1;
            for (int turn = 0; turn < turns; turn++)
                good &= check_method(&r, gpu, info, turn == 1, &p, mask, elements, &want, &got);
        }
    }
    distmap_context_destroy(&gpu);
    distmap_context_destroy(&cpu);
    free(mask);
    free(want.distance);
    free(want.index);
    free(got.distance);
    free(got.index);
    printf("%s\n", good ? "all the same" : "differences");
    return !good;
}
