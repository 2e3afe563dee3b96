/* libFuzzer target for problem validation: the input's first bytes become a problem, plan options and views, taken as they
 * are. Whatever they say, the answer is a status with a line of text, or a plan; a plan of a small problem is executed on
 * proper arrays and on views as the fuzzer bent them, through every method, and the methods must agree.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <distmap.h>

#include "fuzz_take.h"

static int64_t take_signed(struct source *s) { return (int64_t)take(s, 8); }

static double take_double(struct source *s) {
    const uint64_t kind = take(s, 1);
    if (kind < 128)
        return (double)(kind % 16) / (kind & 64 ? 8 : 1);
    const uint64_t bits = take(s, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Mostly valid, sometimes any value that the enumeration's type can hold. */
static int take_enum(struct source *s, int count) {
    const int value = (int)take(s, 1);
    return value < 250 ? value % count : (int)take(s, 4);
}

static int64_t take_length(struct source *s) {
    const int64_t value = (int64_t)take(s, 1);
    return value < 230 ? value % 20 : take_signed(s);
}

/* What distances alone have. */
static void forget_distances(distmap_problem *p) {
    memset(p->chamfer, 0, sizeof p->chamfer);
    p->metric = DISTMAP_METRIC_EUCLIDEAN;
    p->payload = DISTMAP_NONE;
    p->limit = 0;
}

static void take_skeleton(struct source *s, distmap_problem *p) {
    p->field = DISTMAP_FIELD_SKELETON;
    p->skeleton.pruning = (distmap_pruning)take_enum(s, 3);
    p->skeleton.gamma = take(s, 1) % 2 ? take_double(s) : 0;
    p->want = (distmap_outputs){.distance = p->want.distance, .mask = (distmap_dtype)take_enum(s, 4)};
    if (take(s, 1) % 16)
        forget_distances(p);
}

/* Balls that are not too large for the memory; mostly. */
static void take_morphology(struct source *s, distmap_problem *p) {
    const uint64_t kind = take(s, 1);
    p->field = DISTMAP_FIELD_MORPHOLOGY;
    p->morphology.step = (distmap_morphology_step)take_enum(s, 4);
    p->morphology.radius = kind % 8 == 7 ? take_double(s) : (double)(kind / 8) / 4;
    p->morphology.outside = take(s, 1) & 1;
    p->want = p->input == DISTMAP_INPUT_LABELS ? (distmap_outputs){.label = p->dtype}
                                               : (distmap_outputs){.mask = (distmap_dtype)take_enum(s, 4)};
    if (take(s, 1) % 16) {
        forget_distances(p);
        p->border = false;
    }
}

static void take_comparison(struct source *s, distmap_problem *p) {
    const uint64_t kind = take(s, 1);
    p->field = DISTMAP_FIELD_COMPARISON;
    p->comparison.other = (distmap_dtype)take_enum(s, 12);
    p->comparison.points = (distmap_points)(kind & 1);
    p->comparison.tolerance = kind % 8 == 7 ? take_double(s) : (double)(kind / 8) / 4;
    p->comparison.percentile_count = take_enum(s, 4);
    for (int i = 0; i < 4; i++)
        p->comparison.percentile[i] = (double)take(s, 1) / 2;
    if (take(s, 1) % 16) {
        forget_distances(p);
        p->want = (distmap_outputs){0};
        p->border = false;
        p->axes = 0;
    }
}

static void take_thickness(struct source *s, distmap_problem *p) {
    p->field = DISTMAP_FIELD_THICKNESS;
    if (take(s, 1) % 16) {
        forget_distances(p);
        p->want = (distmap_outputs){.distance = p->want.distance, .squared = p->want.squared};
    }
}

/* Edge strengths take nothing that distances alone have; mostly that is seen to. */
static void take_esf(struct source *s, distmap_problem *p) {
    p->field = (distmap_field)take_enum(s, 2);
    p->esf.rho = take_double(s);
    p->esf.dt = take_double(s);
    p->esf.steps = take_length(s);
    p->esf.tolerance = take_double(s);
    if (p->field != DISTMAP_FIELD_EDGE_STRENGTH || take(s, 1) % 16 == 0)
        return;
    p->want = (distmap_outputs){.strength = take(s, 1) % 2 ? DISTMAP_FLOAT32 : DISTMAP_FLOAT64};
    forget_distances(p);
    memset(p->spacing, 0, sizeof p->spacing);
    p->border = false;
    if (p->esf.steps)
        p->esf.tolerance = 0;
    else
        p->esf.dt = 0;
}

static distmap_problem take_problem(struct source *s) {
    distmap_problem p = {0};
    p.input = (distmap_input)take_enum(s, 3);
    p.dtype = (distmap_dtype)take_enum(s, 12);
    p.ndim = take_enum(s, 5);
    for (int a = 0; a < DISTMAP_MAX_NDIM; a++)
        p.shape[a] = take_length(s);
    p.axes = (unsigned)take_enum(s, 16);
    p.sites.rule = (distmap_sites_rule)take_enum(s, 5);
    p.sites.lo = take_double(s);
    p.sites.hi = take_double(s);
    for (int a = 0; a < DISTMAP_MAX_NDIM; a++)
        p.spacing[a] = take_double(s);
    p.limit = take_double(s);
    p.border = take(s, 1) & 1;
    p.payload = (distmap_dtype)(take(s, 1) % 8 == 0 ? take_enum(s, 12) : 0);
    distmap_dtype *const wants[] = {&p.want.distance, &p.want.squared, &p.want.index, &p.want.coords, &p.want.label};
    for (int i = 0; i < 5; i++)
        *wants[i] = (distmap_dtype)take_enum(s, 12);
    /* Weights that the rules allow, mostly; some as they come. */
    static const int weights[][3] = {{1, 2}, {3, 4}, {5, 7, 11}, {3, 4, 5}};
    const uint64_t steps = take(s, 1);
    if (steps % 4) {
        p.metric = (distmap_metric)take_enum(s, 4);
        memcpy(p.chamfer, weights[steps / 4 % 4], steps % 4 == 2 ? 0 : sizeof p.chamfer);
        for (int i = 0; i < 3 && steps >= 192; i++)
            p.chamfer[i] = take_enum(s, 16);
    }
    const uint64_t masks = take(s, 1);
    if (masks % 2)
        p.want.within = (distmap_dtype)(masks / 4 % 12);
    if (masks % 4 > 1)
        p.want.beyond = (distmap_dtype)(masks / 16 % 12);
    const uint64_t field = take(s, 1) % 9;
    if (field == 8)
        take_thickness(s, &p);
    else if (field > 5)
        take_esf(s, &p);
    else if (field > 3)
        take_skeleton(s, &p);
    else if (field > 1)
        take_morphology(s, &p);
    else if (field == 1)
        take_comparison(s, &p);
    if (take(s, 1) % 4 == 3) {
        p.sign = (distmap_sign)take_enum(s, 3);
        p.surface = (distmap_surface)take_enum(s, 2);
    }
    if (take(s, 1) % 4 == 3)
        for (int a = 0; a < DISTMAP_MAX_NDIM; a++)
            p.order[a] = take_enum(s, 4);
    return p;
}

static void demand_text(distmap_status status) {
    DEMAND(strcmp(distmap_status_name(status), "unknown") != 0);
    DEMAND(status == DISTMAP_OK || (*distmap_error_text() && !strchr(distmap_error_text(), '\n')));
}

/* ---- Arrays ---- */

enum { VIEWS = 13, VALUES = 6, INDEX = 6, MOST = 1024 }; /* elements of a problem that is executed */

struct arrays {
    distmap_arrays arrays;
    void *memory[VIEWS];
    size_t bytes[VIEWS];
};

static distmap_view *view_of(distmap_arrays *a, int i) {
    distmap_view *const views[VIEWS] = {&a->input,     &a->payload,  &a->distance,  &a->squared,   &a->within,
                                        &a->beyond,    &a->index,    &a->coords[0], &a->coords[1], &a->coords[2],
                                        &a->coords[3], &a->strength, &a->mask};
    return views[i];
}

static distmap_dtype dtype_of(const distmap_problem *p, int i) {
    const distmap_dtype dtypes[] = {p->dtype,       p->payload,     p->want.distance, p->want.squared,
                                    p->want.within, p->want.beyond, p->want.index};
    if (i >= VIEWS - 2)
        return i == VIEWS - 1 ? p->want.mask : p->want.strength;
    return i <= INDEX ? dtypes[i] : i - INDEX - 1 < p->ndim ? p->want.coords : DISTMAP_NONE;
}

static void place(const distmap_problem *p, size_t elements, struct arrays *a) {
    memset(a, 0, sizeof *a);
    for (int i = 0; i < VIEWS; i++) {
        const distmap_dtype dtype = dtype_of(p, i);
        if (dtype == DISTMAP_NONE)
            continue;
        a->bytes[i] = elements * distmap_dtype_size(dtype);
        a->memory[i] = calloc(1, a->bytes[i] + 1);
        DEMAND(a->memory[i]);
        *view_of(&a->arrays, i) = distmap_view_make(a->memory[i], dtype, p->ndim, p->shape);
    }
}

static void release(struct arrays *a) {
    for (int i = 0; i < VIEWS; i++)
        free(a->memory[i]);
}

/* Executes one method; the outputs stay in `a`. */
static distmap_status execute(distmap_context *context, const distmap_problem *p, const char *method,
                              struct arrays *a) {
    const distmap_plan_options options = {.method = method};
    distmap_plan *plan = NULL;
    distmap_status status = distmap_plan_create(context, p, &options, &plan);
    if (status == DISTMAP_OK)
        status = distmap_plan_execute(plan, &a->arrays);
    demand_text(status);
    distmap_plan_destroy(&plan);
    return status;
}

/* FP64 ties may be told apart differently: only values are compared there. */
static int compared_views(const distmap_problem *p) {
    for (int a = 0; a < p->ndim; a++)
        if (p->spacing[a] != (double)(int64_t)(p->spacing[a] * (p->spacing[a] < 1e6)))
            return p->field == DISTMAP_FIELD_SKELETON ? VIEWS : VALUES;
    return p->input == DISTMAP_INPUT_SAMPLED && (p->dtype == DISTMAP_FLOAT32 || p->dtype == DISTMAP_FLOAT64) ? VALUES
                                                                                                             : VIEWS;
}

static void execute_all(distmap_context *context, const distmap_problem *p, size_t elements, struct source *s) {
    struct arrays first, next;
    place(p, elements, &first);
    place(p, elements, &next);
    for (int i = 0; i < 2; i++)
        for (size_t b = 0; b < first.bytes[i]; b++)
            ((uint8_t *)first.memory[i])[b] = ((uint8_t *)next.memory[i])[b] = (uint8_t)take(s, 1);
    static const char *const judges[] = {"brute/cpu",      "esf/cpu",        "skeleton/cpu",
                                         "morphology/cpu", "comparison/cpu", "thickness/cpu"};
    const distmap_status want = execute(context, p, judges[p->field], &first);
    for (size_t m = 0; distmap_method_get(m); m++) {
        const distmap_status got = execute(context, p, distmap_method_get(m)->name, &next);
        if (got == DISTMAP_ERROR_UNSUPPORTED)
            continue;
        DEMAND(got == want);
        for (int i = 2; got == DISTMAP_OK && i < compared_views(p); i++)
            DEMAND(first.bytes[i] == 0 || memcmp(first.memory[i], next.memory[i], first.bytes[i]) == 0);
    }
    release(&first);
    release(&next);
}

/* Views bent at random. They are only checked, for a view may be right about memory that is not there: the plan belongs to
 * a problem with the same views and one output more, which is missing and stops it last. */
static void check_bent_views(distmap_context *context, distmap_problem p, size_t elements, struct source *s) {
    if (p.want.label != DISTMAP_NONE)
        return;
    if (p.input == DISTMAP_INPUT_SAMPLED || p.dtype == DISTMAP_FLOAT32 || p.dtype == DISTMAP_FLOAT64 || elements == 0)
        return;
    p.want.label = p.dtype;
    struct arrays bent;
    distmap_plan *plan = NULL;
    if (distmap_plan_create(context, &p, NULL, &plan) != DISTMAP_OK)
        return;
    place(&p, elements, &bent);
    for (int k = 0; k < 4; k++) {
        distmap_view *v = view_of(&bent.arrays, (int)(take(s, 1) % VIEWS));
        switch (take(s, 1) % 6) {
        case 0: v->strides[take(s, 1) % 4] = take_signed(s); break;
        case 1: v->data = (void *)(uintptr_t)take(s, 8); break;
        case 2: v->shape[take(s, 1) % 4] = take_length(s); break;
        case 3: v->ndim = take_enum(s, 5); break;
        case 4: v->dtype = (distmap_dtype)take_enum(s, 12); break;
        default: v->strides[take(s, 1) % 4] = (int64_t)(take(s, 1) % 64) - 32; break;
        }
    }
    const distmap_status status = distmap_plan_execute(plan, &bent.arrays);
    DEMAND(status == DISTMAP_ERROR_ARGUMENT);
    demand_text(status);
    distmap_plan_destroy(&plan);
    release(&bent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static distmap_context *context;
    if (!context)
        DEMAND(distmap_context_create(&(distmap_context_options){.threads = 1}, &context) == DISTMAP_OK);
    struct source s = {data, size};
    const distmap_problem p = take_problem(&s);
    size_t bytes = 0;
    const distmap_status status = distmap_scratch_bytes(context, &p, NULL, &bytes);
    demand_text(status);
    if (status != DISTMAP_OK)
        return 0;
    size_t elements = 1;
    for (int a = 0; a < p.ndim; a++)
        elements = p.shape[a] && elements > MOST ? MOST + 1 : elements * (size_t)p.shape[a];
    if (elements > MOST || bytes > (size_t)1 << 28 || p.esf.steps > MOST)
        return 0;
    check_bent_views(context, p, elements, &s);
    if (p.want.label == DISTMAP_NONE)
        execute_all(context, &p, elements, &s);
    return 0;
}
