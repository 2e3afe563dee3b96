#include "check.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "../require.h"
#include "choice.h"
#include "runner.h"
#include "widen.h"

/* Seconds of processor time: a method that takes longer for a case runs it once, not on all runners; and one that has taken
 * so long in all goes on with one case of four. Not so the one that a case is given to by default. */
static const double LONG_RUN = 0.05, PATIENCE = 4;

enum { MAX_METHODS = 32, MAX_PARAMS = 8, MAX_OUTPUTS = 10, SHOWN_FAILURES = 12 };

static struct {
    const char *group;
    uint64_t seed;
    struct runner runner[MAX_RUNNERS];
    int runners;
    long ran[MAX_METHODS], refused[MAX_METHODS];
    double taken[MAX_METHODS];
    int failures;
} state;

void check_open(const char *group, uint64_t seed) {
    state.group = group;
    state.seed = seed;
    state.runners = runner_open(state.runner);
    REQUIRE(state.runners >= 2);
}

void check_close(void) { runner_close(state.runner, state.runners); }

/* ---- What the oracle wants in memory ---- */

enum kind { DISTANCE, SQUARED, INDEX, COORDS, LABEL, WITHIN, BEYOND };

struct output {
    enum kind kind;
    int axis; /* COORDS */
    const char *name;
    struct placed placed;
    unsigned char *wanted; /* what placed.memory must become */
};

struct job {
    const struct test_case *test;
    const struct expected *expected;
    distmap_problem problem;
    struct placed input, payload;
    struct output outputs[MAX_OUTPUTS];
    int count;
    int64_t elements;
    int64_t *within; /* the oracle's sites, where they are within the limit */
    int64_t *index;  /* the sites to go by: these, or with loose ties equally good ones */
    unsigned flags;
};

static int64_t coordinate(const distmap_problem *p, int64_t linear, int axis) {
    for (int a = p->ndim - 1; a > axis; a--)
        linear /= p->shape[a];
    return linear % p->shape[axis];
}

/* An element of the input as 64 bits. */
static uint64_t integer_element(const struct job *j, int64_t i) {
    const long double x = oracle_element(j->test->input, j->problem.dtype, i);
    return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

/* The integer that an element of any other output than DISTANCE and SQUARED must hold, as 64 bits. */
static uint64_t wanted_integer(const struct job *j, const struct output *o, int64_t i) {
    const int64_t site = j->index[i];
    const bool none = site == DISTMAP_INDEX_NONE;
    if (o->kind == WITHIN)
        return !none;
    if (o->kind == BEYOND)
        return !none ? 0 : j->problem.input == DISTMAP_INPUT_LABELS ? integer_element(j, i) : 1;
    if (o->kind == LABEL)
        return site < 0 ? 0 : integer_element(j, site);
    if (site < 0)
        return (uint64_t)site;
    if (o->kind == COORDS)
        return (uint64_t)coordinate(&j->problem, site, o->axis);
    return j->problem.payload ? (uint64_t)(int64_t)oracle_element(j->test->payload, j->problem.payload, site)
                              : (uint64_t)site;
}

static bool is_signed(distmap_dtype t) {
    return t == DISTMAP_INT8 || t == DISTMAP_INT16 || t == DISTMAP_INT32 || t == DISTMAP_INT64;
}

static void put_wanted(const struct job *j, const struct output *o, int64_t i, unsigned char *at) {
    const struct expected *e = j->expected;
    const distmap_dtype dtype = o->placed.view.dtype;
    const bool none = j->index[i] == DISTMAP_INDEX_NONE;
    if (o->kind != DISTANCE && o->kind != SQUARED) {
        const uint64_t bits = wanted_integer(j, o, i);
        memcpy(at, &bits, distmap_dtype_size(dtype)); /* the low bytes come first on every machine that we build for */
        return;
    }
    const bool single = dtype == DISTMAP_FLOAT32;
    if (dtype != DISTMAP_FLOAT32 && dtype != DISTMAP_FLOAT64) {
        const int spare = 64 - 8 * (int)distmap_dtype_size(dtype) + is_signed(dtype);
        const bool counted = o->kind == DISTANCE || j->problem.unit > 0; /* else integers are in the caller's unit */
        const uint64_t value = counted ? e->d2[i] : e->d2[i] * (uint64_t)exact_square(&e->unit, 1, false);
        const uint64_t bits = none ? UINT64_MAX >> spare : value;
        memcpy(at, &bits, distmap_dtype_size(dtype));
        return;
    }
    double v = none                  ? (double)INFINITY
               : o->kind == DISTANCE ? oracle_distance(&j->problem, e, i, single)
                                     : oracle_square(e, i, single);
    const bool negative = oracle_is_negative(&j->problem, j->test->input, i);
    if (single) {
        float f = (float)v - (float)oracle_surface(&j->problem);
        f = negative ? -f : f;
        memcpy(at, &f, sizeof f);
    } else {
        v -= oracle_surface(&j->problem);
        v = negative ? -v : v;
        memcpy(at, &v, sizeof v);
    }
}

static void fill_wanted(struct job *j) {
    for (int k = 0; k < j->count; k++) {
        struct output *o = &j->outputs[k];
        layout_poison(&o->placed);
        memcpy(o->wanted, o->placed.memory, o->placed.bytes);
        for (int64_t i = 0; i < j->elements; i++)
            put_wanted(j, o, i, o->wanted + layout_offset(&o->placed, i));
    }
}

/* ---- Failures ---- */

struct run {
    const char *method;
    const struct runner *runner;
    distmap_param params[MAX_PARAMS]; /* drawn anew for each run */
    size_t param_count;
    const struct widened *wide; /* the problem with more axes, in place of the drawn one; NULL: as it is */
};

static bool fail(const struct job *j, const struct run *r) {
    if (++state.failures > SHOWN_FAILURES)
        return false;
    const distmap_problem *p = &j->problem;
    fprintf(stderr, "FAILED %s\n", j->test->name);
    choice_print_command(state.group, j->test->number, state.seed, r->method, r->runner->context, r->params,
                         r->param_count);
    fprintf(
        stderr, "  method %s, isa %s, %d threads; input %d dtype %s, sites %d [%g, %g], axes 0x%x, spacing",
        r->method, distmap_context_isa(r->runner->context), distmap_context_threads(r->runner->context),
        (int)p->input, distmap_dtype_name(p->dtype), (int)p->sites.rule, p->sites.lo, p->sites.hi, p->axes);
    for (int a = 0; a < p->ndim; a++)
        fprintf(stderr, " %.17g", p->spacing[a]);
    for (int a = 0; r->wide && a < r->wide->problem.ndim; a++)
        fprintf(stderr, "%s%" PRId64, a ? "x" : ", as ", r->wide->problem.shape[a]);
    if (p->unit > 0)
        fprintf(stderr, ", unit %.17g", p->unit);
    fprintf(stderr, ", order {%d, %d, %d, %d}", p->order[0], p->order[1], p->order[2], p->order[3]);
    fprintf(stderr, ", metric %d {%d, %d, %d}", (int)p->metric, p->chamfer[0], p->chamfer[1], p->chamfer[2]);
    if (p->sign)
        fprintf(stderr, ", sign %d, surface %d", (int)p->sign, (int)p->surface);
    fprintf(
        stderr,
        ", limit %.17g, border %d, payload %s, layouts %s %s + %d; want d %s, d2 %s, i %s, c %s, l %s, w %s, b %s\n  ",
        p->limit, p->border, distmap_dtype_name(p->payload), layout_names[j->test->in], layout_names[j->test->out],
        j->test->turn, distmap_dtype_name(p->want.distance), distmap_dtype_name(p->want.squared),
        distmap_dtype_name(p->want.index), distmap_dtype_name(p->want.coords), distmap_dtype_name(p->want.label),
        distmap_dtype_name(p->want.within), distmap_dtype_name(p->want.beyond));
    for (size_t k = 0; k < r->param_count; k++)
        fprintf(stderr, "%s %" PRId64 "%s", r->params[k].name, r->params[k].value,
                k + 1 < r->param_count ? ", " : "\n  ");
    return true;
}

static void fail_place(const struct job *j, const struct run *r, const struct output *o) {
    if (!fail(j, r))
        return;
    const size_t size = distmap_dtype_size(o->placed.view.dtype);
    for (int64_t i = 0; i < j->elements; i++) {
        const size_t at = layout_offset(&o->placed, i);
        if (memcmp(o->wanted + at, o->placed.memory + at, size) == 0)
            continue;
        long double got, want; /* copies, because memory at odd places may not be aligned for its type */
        unsigned char element[8] __attribute__((aligned(8)));
        memcpy(element, o->placed.memory + at, size);
        got = oracle_element(element, o->placed.view.dtype, 0);
        memcpy(element, o->wanted + at, size);
        want = oracle_element(element, o->placed.view.dtype, 0);
        fprintf(stderr, "%s at (", o->name);
        for (int a = 0; a < j->problem.ndim; a++)
            fprintf(stderr, "%s%" PRId64, a ? ", " : "", coordinate(&j->problem, i, a));
        fprintf(stderr, "): got %.20Lg, want %.20Lg; the oracle's site %" PRId64 "\n", got, want, j->index[i]);
        return;
    }
    fprintf(stderr, "%s: memory outside the array was changed\n", o->name);
}

/* ---- One run ---- */

static distmap_arrays arrays_of(struct job *j, const struct run *r) {
    distmap_arrays arrays = {.input = runner_send(r->runner, &j->input)};
    if (j->problem.payload)
        arrays.payload = runner_send(r->runner, &j->payload);
    for (int k = 0; k < j->count; k++) {
        struct output *o = &j->outputs[k];
        distmap_view *const views[] = {&arrays.distance, &arrays.squared, &arrays.index, &arrays.coords[o->axis],
                                       &arrays.label,    &arrays.within,  &arrays.beyond};
        *views[o->kind] = runner_send(r->runner, &o->placed);
    }
    return arrays;
}

/* With loose ties another site is as good when it may serve and lies at the very same distance. */
static bool adopt_sites(struct job *j, const struct run *r) {
    const struct output *index = NULL;
    for (int k = 0; k < j->count; k++)
        if (j->outputs[k].kind == INDEX)
            index = &j->outputs[k];
    memcpy(j->index, j->within, (size_t)j->elements * sizeof *j->index);
    for (int64_t i = 0; index && i < j->elements; i++) {
        int64_t got;
        REQUIRE(index->placed.view.dtype == DISTMAP_INT64);
        memcpy(&got, index->placed.memory + layout_offset(&index->placed, i), sizeof got);
        if (got == j->index[i] || j->index[i] < 0)
            continue;
        if (!oracle_serves(&j->problem, j->test->input, i, got) ||
            oracle_distance_f64(&j->problem, j->test->input, i, got) != j->expected->d2f[i]) {
            if (fail(j, r))
                fprintf(stderr,
                        "index at element %" PRId64 ": got %" PRId64
                        ", which is not at the least distance; want %" PRId64 "\n",
                        i, got, j->index[i]);
            return false;
        }
        j->index[i] = got;
    }
    for (int k = 0; k < j->count; k++)
        for (int64_t i = 0; i < j->elements; i++)
            put_wanted(j, &j->outputs[k], i, j->outputs[k].wanted + layout_offset(&j->outputs[k].placed, i));
    return true;
}

static bool execute(struct job *j, const struct run *r, distmap_plan *plan, const unsigned char *input) {
    for (int k = 0; k < j->count; k++)
        layout_poison(&j->outputs[k].placed);
    distmap_arrays arrays = arrays_of(j, r);
    if (r->wide) {
        distmap_view *const views[] = {&arrays.input, &arrays.payload, &arrays.distance, &arrays.squared,
                                       &arrays.index, &arrays.label,   &arrays.within,   &arrays.beyond};
        for (size_t i = 0; i < sizeof views / sizeof *views; i++)
            widen_view(r->wide, views[i]);
    }
    if (distmap_plan_execute(plan, &arrays) != DISTMAP_OK || distmap_plan_wait(plan) != DISTMAP_OK) {
        if (fail(j, r))
            fprintf(stderr, "execute: %s\n", distmap_error_text());
        return false;
    }
    runner_fetch(r->runner, &j->input);
    for (int k = 0; k < j->count; k++)
        runner_fetch(r->runner, &j->outputs[k].placed);
    if (j->test->loose_ties && !adopt_sites(j, r))
        return false;
    for (int k = 0; k < j->count; k++) {
        const struct output *o = &j->outputs[k];
        if (memcmp(o->wanted, o->placed.memory, o->placed.bytes) != 0) {
            fail_place(j, r, o);
            return false;
        }
    }
    if (memcmp(input, j->input.memory, j->input.bytes) != 0) {
        if (fail(j, r))
            fprintf(stderr, "the input was changed\n");
        return false;
    }
    if (distmap_plan_flags(plan) != j->flags) {
        if (fail(j, r))
            fprintf(stderr, "flags: got %u, want %u\n", distmap_plan_flags(plan), j->flags);
        return false;
    }
    return true;
}

/* A method's parameters are part of what must not change the result: choices are drawn evenly, numbers are the default, an
 * end of the range, or small. The same case draws the same. */
static void draw_params(const struct job *j, size_t method, int which, struct run *r) {
    const distmap_method_info *info = distmap_method_get(method);
    const distmap_outputs *want = &j->problem.want;
    struct rng rng = {(uint64_t)j->test->number * 1000003 + method * 1009 + (uint64_t)which * 101 +
                      (uint64_t)want->distance * 11 + (uint64_t)want->squared * 5 + (uint64_t)want->index +
                      (uint64_t)want->within * 17 + (uint64_t)want->beyond * 23};
    REQUIRE(info->param_count <= MAX_PARAMS);
    r->param_count = info->param_count;
    for (size_t k = 0; k < info->param_count; k++) {
        const distmap_param_info *q = &info->params[k];
        const int64_t few = q->highest - q->lowest < 9 ? q->highest : q->lowest + 9;
        const int64_t ends[] = {q->fallback, q->lowest, q->highest, rng_range(&rng, q->lowest, few)};
        r->params[k] =
            (distmap_param){q->name, q->names ? rng_range(&rng, q->lowest, q->highest) : ends[rng_range(&rng, 0, 3)]};
    }
    choice_set_params(info, r->params);
}

/* Returns the seconds of processor time that an execution took. */
static double run_method(struct job *j, size_t method, int which, const unsigned char *input) {
    struct run r = {.method = distmap_method_get(method)->name, .runner = &state.runner[which]};
    draw_params(j, method, which, &r);
    const distmap_plan_options options = {
        .method = r.method,
        .params = r.params,
        .param_count = r.param_count,
        .host_views = !r.runner->device_views,
    };
    distmap_plan *plan = NULL;
    struct rng rng = {(uint64_t)j->test->number * 1000033 + method * 7 + (uint64_t)which};
    const struct widened wide = widen(&j->problem, &rng);
    if (!j->problem.want.coords && !(j->problem.want.index && r.runner->device_views) && rng_chance(&rng, 0.25))
        r.wide = &wide;
    const distmap_status status =
        distmap_plan_create(r.runner->context, r.wide ? &wide.problem : &j->problem, &options, &plan);
    if (status == DISTMAP_ERROR_UNSUPPORTED) {
        state.refused[method]++;
        return 0;
    }
    if (status != DISTMAP_OK) {
        if (fail(j, &r))
            fprintf(stderr, "plan: %s\n", distmap_error_text());
        return 0;
    }
    state.ran[method]++;
    distmap_description description;
    distmap_plan_describe(plan, &description);
    bool same = description.integer == j->expected->integer;
    for (int a = 0; a < j->problem.ndim && same && description.integer && !j->problem.metric; a++) {
        const bool measured = j->problem.axes == 0 || (j->problem.axes >> a & 1);
        same = !measured || (uint64_t)description.multiples[r.wide ? wide.to[a] : a] == j->expected->unit.n[a];
    }
    if (!same && fail(j, &r))
        fprintf(stderr, "arithmetic: integer is %d, multiples of %.17g or other than expected\n", description.integer,
                description.unit);
    const clock_t start = clock();
    const bool good = execute(j, &r, plan, input);
    const double taken = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (good && j->test->number % state.runners == which && taken < LONG_RUN)
        execute(j, &r, plan, input); /* nothing may be left behind in the plan */
    distmap_plan_destroy(&plan);
    state.taken[method] += taken;
    return taken;
}

/* ---- One case ---- */

static void add_output(struct job *j, enum kind kind, int axis, const char *name, distmap_dtype dtype) {
    if (!dtype)
        return;
    REQUIRE(j->count < MAX_OUTPUTS);
    struct output *o = &j->outputs[j->count];
    const enum layout layout = (enum layout)(((int)j->test->out + j->count++ * j->test->turn) % LAYOUT_COUNT);
    *o = (struct output){kind, axis, name, layout_place(layout, dtype, j->problem.ndim, j->problem.shape), NULL};
    o->wanted = malloc(o->placed.bytes);
    REQUIRE(o->wanted);
}

static struct placed place_copy(const struct test_case *c, int turns, distmap_dtype dtype, const void *from,
                                int64_t elements) {
    const enum layout layout = (enum layout)(((int)c->in + turns * c->turn) % LAYOUT_COUNT);
    struct placed placed = layout_place(layout, dtype, c->problem.ndim, c->problem.shape);
    layout_fill(&placed, elements, from, distmap_dtype_size(dtype));
    return placed;
}

void check_case(const struct test_case *c, const struct expected *e, const distmap_outputs *want) {
    static const char *const axes[] = {"coords[0]", "coords[1]", "coords[2]", "coords[3]"};
    struct job j = {.test = c, .expected = e, .problem = c->problem, .elements = oracle_elements(&c->problem)};
    j.problem.want = *want;
    j.input = place_copy(c, 0, c->problem.dtype, c->input, j.elements);
    if (j.problem.payload)
        j.payload = place_copy(c, 1, c->problem.payload, c->payload, j.elements);
    add_output(&j, DISTANCE, 0, "distance", want->distance);
    add_output(&j, SQUARED, 0, "squared", want->squared);
    add_output(&j, INDEX, 0, "index", want->index);
    for (int a = 0; a < j.problem.ndim; a++)
        add_output(&j, COORDS, a, axes[a], want->coords);
    add_output(&j, LABEL, 0, "label", want->label);
    add_output(&j, WITHIN, 0, "within", want->within);
    add_output(&j, BEYOND, 0, "beyond", want->beyond);
    j.index = malloc((size_t)j.elements * sizeof *j.index + 1);
    j.within = malloc((size_t)j.elements * sizeof *j.within + 1);
    unsigned char *input = malloc(j.input.bytes);
    REQUIRE(j.index && j.within && input);
    j.flags = e->flags;
    for (int64_t i = 0; i < j.elements; i++) {
        const bool beyond = oracle_is_beyond(&j.problem, e, i);
        j.within[i] = j.index[i] = beyond ? DISTMAP_INDEX_NONE : e->index[i];
        j.flags |= beyond ? DISTMAP_FLAG_NO_SITE : 0;
    }
    memcpy(input, j.input.memory, j.input.bytes);
    fill_wanted(&j);

    bool by_default = true; /* until a method has taken the case */
    for (size_t m = 0; distmap_method_get(m); m++) {
        REQUIRE(m < MAX_METHODS);
        const long ran = state.ran[m];
        const distmap_method_info *info = distmap_method_get(m);
        /* The definition takes elements times sites: once is enough where that is long. */
        const bool slow = strncmp(info->name, "brute/", 6) == 0 && j.elements > 300;
        const bool takes = info->metrics ? info->metrics >> j.problem.metric & 1 : !j.problem.metric;
        if (info->field != j.problem.field || !takes || !info->exact || strcmp(info->device, runner_device) != 0 ||
            (slow && j.elements > 6000) || !choice_takes_method(info->name))
            continue;
        if (!choice_is_partial() && !by_default && state.taken[m] > PATIENCE && c->number % 4 != 0)
            continue;
        for (int i = 0; i < state.runners; i++) {
            const int which = (c->number + i) % state.runners;
            if (!choice_takes_context(state.runner[which].context))
                continue;
            if ((run_method(&j, m, which, input) > LONG_RUN && !by_default) || slow)
                break;
        }
        by_default = by_default && state.ran[m] == ran;
    }
    for (int k = 0; k < j.count; k++) {
        runner_drop(&j.outputs[k].placed);
        free(j.outputs[k].wanted);
    }
    runner_drop(&j.input);
    runner_drop(&j.payload);
    free(j.index);
    free(j.within);
    free(input);
}

long check_ran(void) {
    long ran = 0;
    for (size_t m = 0; m < MAX_METHODS; m++)
        ran += state.ran[m];
    return ran;
}

int check_report(bool all_run) {
    for (size_t m = 0; distmap_method_get(m); m++) {
        const distmap_method_info *info = distmap_method_get(m);
        printf("  %-16s ran %ld, does not take %ld\n", info->name, state.ran[m], state.refused[m]);
        if (all_run && info->exact && state.ran[m] + state.refused[m] > 0 && state.ran[m] == 0) {
            fprintf(stderr, "FAILED %s took none of the plain cases\n", info->name);
            state.failures++;
        }
    }
    if (check_ran() == 0) {
        fprintf(stderr, "FAILED nothing ran\n");
        state.failures++;
    }
    if (state.failures)
        fprintf(stderr, "%d failures\n", state.failures);
    return state.failures;
}
