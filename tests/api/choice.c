/* Every kind of Euclidean problem of the header: without a name a plan on the CPU takes minplus/cpu, except where the table below says
 * why not. All combinations of input, sites, type, outputs, pitches, axes, sign, border, limit and shape are planned, none is executed.
 */
#define _DEFAULT_SOURCE
#include <math.h>
#include <sys/mman.h>

#include "api.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

/* Plans reserve memory for images of any size: here addresses alone. */
static void *allocate(void *user, size_t bytes, size_t alignment) {
    (void)user, (void)alignment;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void release(void *user, void *memory, size_t bytes) {
    (void)user;
    munmap(memory, bytes);
}

/* ---- What minplus/cpu leaves to the next method ---- */

static bool by_kind(const distmap_problem *p) { return p->input == DISTMAP_INPUT_LABELS || p->sign; }

static bool wants_site(const distmap_problem *p) { return p->want.index || p->want.label || p->want.coords; }

static bool counts(const distmap_problem *p, int a) { return (p->axes == 0 || p->axes >> a & 1) && p->shape[a] > 1; }

/* The largest squared distance across the image; in the unit, if there is one (*unit 0: there is none). */
static double largest_squared(const distmap_problem *p, double *unit) {
    int64_t multiples[DISTMAP_MAX_AXES];
    double most = 0;
    assert_int_equal(distmap_problem_unit(p, unit, multiples), DISTMAP_OK);
    for (int a = 0; a < p->ndim; a++)
        if (counts(p, a)) {
            const double pitch = *unit > 0 ? (double)multiples[a] : p->spacing[a] == 0 ? 1 : p->spacing[a];
            most += pow(pitch * (double)(p->shape[a] - 1), 2);
        }
    return most;
}

static bool beyond_doubles(const distmap_problem *p) {
    double unit, most = largest_squared(p, &unit);
    if (p->input == DISTMAP_INPUT_SAMPLED) {
        const double bits = 8 * (double)distmap_dtype_size(p->dtype),
                     limit = p->limit > 0 ? floor(p->limit * p->limit) : INFINITY;
        most += fmin(exp2(bits) - 1, limit);
    }
    return unit > 0 && most >= 0x1p53;
}

static bool unequal_pitches(const distmap_problem *p) {
    double unit, least = INFINITY;
    for (int a = 0; a < p->ndim; a++)
        if (counts(p, a))
            least = fmin(least, p->spacing[a] == 0 ? 1 : p->spacing[a]);
    const double most = largest_squared(p, &unit);
    return by_kind(p) && wants_site(p) && unit == 0 && most >= 0x1p50 * least * least;
}

static const struct {
    bool (*applies)(const distmap_problem *p);
    const char *reason;
} exceptions[] = {
    {beyond_doubles, "integers from 2^53 on are not exact in FP64 lanes"},
    {unequal_pitches,
     "a boundary and what lies behind it may round to the same value, so that its site could be of the same label"},
};

/* ---- The walk ---- */

static const struct {
    distmap_input input;
    distmap_sites_rule rule;
    distmap_sign sign;
} inputs[] = {
    {DISTMAP_INPUT_MASK, DISTMAP_SITES_ZERO, DISTMAP_SIGN_NONE},
    {DISTMAP_INPUT_MASK, DISTMAP_SITES_NONZERO, DISTMAP_SIGN_OUTSIDE},
    {DISTMAP_INPUT_LABELS, DISTMAP_SITES_ZERO, DISTMAP_SIGN_NONE},
    {DISTMAP_INPUT_LABELS, DISTMAP_SITES_NONE, DISTMAP_SIGN_NONE},
    {DISTMAP_INPUT_SAMPLED, DISTMAP_SITES_ZERO, DISTMAP_SIGN_NONE},
};

static const distmap_dtype dtypes[] = {DISTMAP_UINT8, DISTMAP_UINT32, DISTMAP_UINT64, DISTMAP_FLOAT32, DISTMAP_FLOAT64};

static const distmap_outputs outputs[] = {
    {.distance = DISTMAP_FLOAT32}, {.distance = DISTMAP_FLOAT64, .squared = DISTMAP_FLOAT64},
    {.index = DISTMAP_INT64},      {.distance = DISTMAP_FLOAT32, .index = DISTMAP_INT64, .coords = DISTMAP_INT64},
    {.within = DISTMAP_UINT8},
};

static const double pitches[][DISTMAP_MAX_NDIM] = {
    {1, 1, 1, 1},
    {2.5, 0.7, 0.7, 0.7},
    {30, 30, 30, 30},
    {5000, 1, 1, 3},               /* multiples beyond 4096 */
    {1.4142135623730951, 1, 1, 1}, /* no unit */
    {1, 0.123456789, 3, 0.5},
    {1, 1e8, 1, 1},
    {1e-3, 1000, 1e-3, 1e-3},
};

static const struct {
    int ndim;
    int64_t shape[DISTMAP_MAX_NDIM];
} shapes[] = {
    {1, {1000}},
    {1, {1}},
    {1, {70000}},
    {1, {(int64_t)1 << 25}},
    {2, {300, 400}},
    {2, {400, 1}},
    {2, {1, 400}},
    {2, {70000, 30}},
    {2, {140000, 30}},
    {2, {60000, 60000}},
    {2, {100000, 50000}},
    {3, {30, 40, 50}},
    {3, {30, 40, 1}},
    {3, {30, 1, 50}},
    {3, {2000, 2000, 2000}},
    {3, {70000, 20, 20}},
    {4, {5, 30, 40, 50}},
    {4, {300, 300, 300, 300}},
};

static distmap_context *context;
static int walked, left_over[COUNT(exceptions)];

static void check(const distmap_problem *p) {
    distmap_plan *plan = NULL;
    if (distmap_plan_create(context, p, NULL, &plan) == DISTMAP_ERROR_ARGUMENT)
        return; /* no problem of the header, such as an integer type too small for its squares */
    if (!plan)
        fail_msg("%s", distmap_error_text());
    distmap_description d;
    distmap_plan_describe(plan, &d);
    int exception = 0;
    while (exception < COUNT(exceptions) && !exceptions[exception].applies(p))
        exception++;
    const bool by_minplus = strcmp(d.method, "minplus/cpu") == 0;
    if (by_minplus != (exception == COUNT(exceptions)))
        fail_msg("%s for input %d rule %d sign %d %s, %d axes %lldx%lldx%lldx%lld measured 0x%x, pitches %g %g %g %g, "
                 "limit %g border %d, "
                 "index %d within %d; exception: %s",
                 d.method, (int)p->input, (int)p->sites.rule, (int)p->sign, distmap_dtype_name(p->dtype), p->ndim,
                 (long long)p->shape[0], (long long)p->shape[1], (long long)p->shape[2], (long long)p->shape[3],
                 p->axes, p->spacing[0], p->spacing[1], p->spacing[2], p->spacing[3], p->limit, p->border,
                 (int)p->want.index, (int)p->want.within,
                 exception < COUNT(exceptions) ? exceptions[exception].reason : "none");
    walked++;
    if (!by_minplus)
        left_over[exception]++;
    distmap_plan_destroy(&plan);
}

/* The axes that are measured: all, or any of them. */
static void walk_axes(distmap_problem *p) {
    for (unsigned axes = 0; axes < 1u << p->ndim; axes++)
        for (int more = 0; more < 8; more++) {
            p->axes = axes;
            p->limit = more & 1 ? 20 : 0;
            p->border = more & 2;
            p->real = more & 4;
            check(p);
        }
}

static void test_every_problem(void **state) {
    (void)state;
    distmap_problem p;
    for (int i = 0; i < COUNT(inputs); i++)
        for (int t = 0; t < COUNT(dtypes); t++)
            for (int o = 0; o < COUNT(outputs); o++)
                for (int w = 0; w < COUNT(pitches); w++)
                    for (int s = 0; s < COUNT(shapes); s++) {
                        p = (distmap_problem){.input = inputs[i].input,
                                              .sites.rule = inputs[i].rule,
                                              .sign = inputs[i].sign,
                                              .dtype = dtypes[t],
                                              .want = outputs[o],
                                              .ndim = shapes[s].ndim};
                        memcpy(p.shape, shapes[s].shape, sizeof shapes[s].shape);
                        memcpy(p.spacing, pitches[w], (size_t)p.ndim * sizeof *p.spacing);
                        walk_axes(&p);
                    }
    print_message("%d problems", walked);
    for (int e = 0; e < COUNT(exceptions); e++) {
        print_message(", %d because %s", left_over[e], exceptions[e].reason);
        assert_true(left_over[e] > 0);
    }
    print_message("\n");
    assert_true(walked > 100000);
}

int main(void) {
    const distmap_context_options options = {.threads = 2, .allocator = {allocate, release, NULL}};
    assert_int_equal(distmap_context_create(&options, &context), DISTMAP_OK);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_problem)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    distmap_context_destroy(&context);
    return failed;
}
