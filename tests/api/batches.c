/* Problems of five to eight axes: each batch by itself, by brute force on the CPU, is what all of them together must give, whatever
 * their strides. DEVICE is what does them together; on a GPU the arrays are in host memory. */
#include <math.h>
#include <time.h>

#include "../matrix/random.h"
#include "api.h"

#ifndef DEVICE
#define DEVICE DISTMAP_DEVICE_CPU
#endif

enum { MOST = 2000, ROOM = 4 * MOST, CASES = DEVICE == DISTMAP_DEVICE_CPU ? 400 : 40 }; /* emulated ones take longer */

struct layout {
    int64_t stride[DISTMAP_MAX_AXES]; /* elements */
    int64_t first;
};

/* In C order or in any other one, now and then with gaps, or backwards. */
static struct layout draw_layout(const distmap_problem *p, struct rng *r) {
    struct layout l = {.first = 0};
    int order[DISTMAP_MAX_AXES];
    const bool c_order = rng_chance(r, 0.4);
    for (int a = 0; a < p->ndim; a++)
        order[a] = a;
    for (int a = p->ndim - 1; a > 0 && !c_order; a--) {
        const int b = (int)rng_range(r, 0, a), was = order[a];
        order[a] = order[b];
        order[b] = was;
    }
    int64_t next = 1;
    const int gap = rng_chance(r, 0.3) ? (int)rng_range(r, 0, p->ndim - 1) : -1;
    for (int i = p->ndim - 1; i >= 0; i--) {
        const int a = order[i];
        l.stride[a] = next;
        next *= p->shape[a] + (i == gap);
        if (rng_chance(r, 0.1)) {
            l.first += l.stride[a] * (p->shape[a] - 1);
            l.stride[a] = -l.stride[a];
        }
    }
    assert_true(next <= ROOM);
    return l;
}

static distmap_view view_of(void *data, distmap_dtype dtype, const distmap_problem *p, const struct layout *l) {
    const int64_t size = (int64_t)distmap_dtype_size(dtype);
    distmap_view view = {.data = (char *)data + l->first * size, .dtype = dtype, .ndim = p->ndim};
    for (int a = 0; a < p->ndim; a++) {
        view.shape[a] = p->shape[a];
        view.strides[a] = l->stride[a] * size;
    }
    return view;
}

static const char *at(const distmap_view *view, const int64_t place[DISTMAP_MAX_AXES]) {
    const char *p = view->data;
    for (int a = 0; a < view->ndim; a++)
        p += place[a] * view->strides[a];
    return p;
}

static int64_t integer_at(const distmap_view *view, const int64_t place[DISTMAP_MAX_AXES]) {
    const void *p = at(view, place);
    switch (view->dtype) {
    case DISTMAP_UINT8: return *(const uint8_t *)p;
    case DISTMAP_INT16: return *(const int16_t *)p;
    case DISTMAP_INT32: return *(const int32_t *)p;
    default: return *(const int64_t *)p;
    }
}

static bool is_measured(const distmap_problem *p, int a) { return p->axes >> a & 1; }

static int64_t elements_of(const distmap_problem *p) {
    int64_t elements = 1;
    for (int a = 0; a < p->ndim; a++)
        elements *= p->shape[a];
    return elements;
}

static distmap_problem draw_problem(struct rng *r) {
    static const double pitches[] = {0, 1, 2, 0.5, 0.7, 3};
    distmap_problem p = {.dtype = DISTMAP_UINT8};
    do {
        p.ndim = (int)rng_range(r, 5, 8);
        p.axes = 0;
        for (int wanted = (int)rng_range(r, 1, 4); __builtin_popcount(p.axes) < wanted;)
            p.axes |= 1u << rng_range(r, 0, p.ndim - 1);
        for (int a = 0; a < p.ndim; a++) {
            p.shape[a] = rng_range(r, 1, is_measured(&p, a) ? 9 : 4);
            p.spacing[a] = pitches[rng_range(r, 0, 5)];
        }
    } while (elements_of(&p) > MOST);
    if (rng_chance(r, 0.03))
        p.shape[rng_range(r, 0, p.ndim - 1)] = 0;
    p.input = rng_chance(r, 0.3) ? DISTMAP_INPUT_LABELS : DISTMAP_INPUT_MASK;
    p.border = rng_chance(r, 0.3);
    p.limit = rng_chance(r, 0.3) ? 2.5 : 0;
    p.want.distance = rng_chance(r, 0.8) ? DISTMAP_FLOAT32 : DISTMAP_NONE;
    p.want.index = rng_chance(r, 0.6) ? rng_chance(r, 0.5) ? DISTMAP_INT32 : DISTMAP_INT64 : DISTMAP_NONE;
    p.want.coords = rng_chance(r, 0.4) ? rng_chance(r, 0.5) ? DISTMAP_INT16 : DISTMAP_INT64 : DISTMAP_NONE;
    p.want.label = rng_chance(r, 0.3) ? DISTMAP_UINT8 : DISTMAP_NONE;
    if (!p.want.index && !p.want.coords && !p.want.label)
        p.want.distance = DISTMAP_FLOAT32;
    return p;
}

struct image {
    uint8_t input[ROOM], label[ROOM];
    float distance[ROOM];
    int64_t index[ROOM], coords[DISTMAP_MAX_AXES][ROOM];
};

static distmap_arrays draw_arrays(const distmap_problem *p, struct image *m, struct rng *r) {
    const bool alike = rng_chance(r, 0.5);
    const struct layout first = draw_layout(p, r);
#define LAYOUT (alike ? first : draw_layout(p, r))
    struct layout l = LAYOUT;
    distmap_arrays arrays = {.input = view_of(m->input, DISTMAP_UINT8, p, &l)};
    const double density = rng_unit(r);
    for (int i = 0; i < ROOM; i++)
        m->input[i] = (uint8_t)(rng_chance(r, density) ? rng_range(r, 1, 2) : 0);
    if (p->want.distance)
        l = LAYOUT, arrays.distance = view_of(m->distance, p->want.distance, p, &l);
    if (p->want.index)
        l = LAYOUT, arrays.index = view_of(m->index, p->want.index, p, &l);
    if (p->want.label)
        l = LAYOUT, arrays.label = view_of(m->label, p->want.label, p, &l);
    for (int a = 0; a < p->ndim && p->want.coords; a++)
        l = LAYOUT, arrays.coords[a] = view_of(m->coords[a], p->want.coords, p, &l);
    return arrays;
}

/* The measured axes of one batch as a problem of their own. */
static distmap_problem batch_problem(const distmap_problem *p, int axes[DISTMAP_MAX_NDIM]) {
    distmap_problem own = *p;
    own.ndim = 0;
    own.axes = 0;
    memset(own.shape, 0, sizeof own.shape);
    memset(own.spacing, 0, sizeof own.spacing);
    for (int a = 0; a < p->ndim; a++)
        if (is_measured(p, a)) {
            axes[own.ndim] = a;
            own.shape[own.ndim] = p->shape[a];
            own.spacing[own.ndim++] = p->spacing[a];
        }
    own.want = (distmap_outputs){.distance = DISTMAP_FLOAT32, .index = DISTMAP_INT64};
    return own;
}

/* The element of a batch that `linear` counts, into the caller's axes. */
static void place_of(const distmap_problem *own, const int axes[DISTMAP_MAX_NDIM], int64_t linear, int64_t *place) {
    for (int i = own->ndim - 1; i >= 0; i--) {
        place[axes[i]] = linear % own->shape[i];
        linear /= own->shape[i];
    }
}

static void check_element(const distmap_problem *p, const distmap_arrays *got, const distmap_problem *own,
                          const int *axes, const int64_t *place, float distance, int64_t site, unsigned *flags) {
    int64_t nearest[DISTMAP_MAX_AXES], linear = 0;
    memcpy(nearest, place, sizeof nearest);
    if (site >= 0)
        place_of(own, axes, site, nearest);
    for (int a = 0; a < p->ndim; a++)
        linear = linear * p->shape[a] + nearest[a];
    if (site == DISTMAP_INDEX_NONE)
        *flags |= DISTMAP_FLAG_NO_SITE;
    if (p->want.distance)
        assert_memory_equal(at(&got->distance, place), &distance, sizeof distance);
    if (p->want.index)
        assert_int_equal(integer_at(&got->index, place), site < 0 ? site : linear);
    if (p->want.label)
        assert_int_equal(integer_at(&got->label, place), site < 0 ? 0 : integer_at(&got->input, nearest));
    for (int a = 0; a < p->ndim && p->want.coords; a++)
        assert_int_equal(integer_at(&got->coords[a], place), site < 0 ? site : nearest[a]);
}

/* All batches, one after another, by brute force. The flags that all of them raise. */
static unsigned check_all(distmap_context *context, const distmap_problem *p, const distmap_arrays *got) {
    static uint8_t input[MOST];
    static float distance[MOST];
    static int64_t index[MOST];
    int axes[DISTMAP_MAX_NDIM];
    unsigned flags = 0;
    const distmap_problem own = batch_problem(p, axes);
    const int64_t each = elements_of(&own), batches = elements_of(p) / (each ? each : 1);
    distmap_plan *plan = NULL;
    assert_int_equal(distmap_plan_create(context, &own, &(distmap_plan_options){.method = "brute/cpu"}, &plan),
                     DISTMAP_OK);
    for (int64_t batch = 0; batch < batches; batch++) {
        int64_t place[DISTMAP_MAX_AXES] = {0}, rest = batch;
        for (int a = p->ndim - 1; a >= 0; a--)
            if (!is_measured(p, a)) {
                place[a] = rest % p->shape[a];
                rest /= p->shape[a];
            }
        for (int64_t e = 0; e < each; e++) {
            place_of(&own, axes, e, place);
            input[e] = (uint8_t)integer_at(&got->input, place);
        }
        const distmap_arrays views = {.input = distmap_view_make(input, DISTMAP_UINT8, own.ndim, own.shape),
                                      .distance = distmap_view_make(distance, DISTMAP_FLOAT32, own.ndim, own.shape),
                                      .index = distmap_view_make(index, DISTMAP_INT64, own.ndim, own.shape)};
        assert_int_equal(distmap_plan_execute(plan, &views), DISTMAP_OK);
        for (int64_t e = 0; e < each; e++) {
            place_of(&own, axes, e, place);
            check_element(p, got, &own, axes, place, distance[e], index[e], &flags);
        }
    }
    distmap_plan_destroy(&plan);
    return flags;
}

static double last_fraction;
static int watch(void *user, double fraction) {
    (void)user;
    assert_true(fraction >= last_fraction && fraction <= 1);
    last_fraction = fraction;
    return 0;
}

static void test_drawn(void **state) {
    (void)state;
    static struct image m;
    const char *given = getenv("DISTMAP_TEST_SEED");
    struct rng r = {given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL)};
    distmap_context *context = NULL, *cpu = NULL;
    print_message("DISTMAP_TEST_SEED=%llu\n", (unsigned long long)r.state);
    const distmap_context_options where = {.device = DEVICE, .threads = 2, .progress = watch};
    assert_int_equal(distmap_context_create(&where, &context), DISTMAP_OK);
    assert_int_equal(distmap_context_create(&(distmap_context_options){.threads = 1}, &cpu), DISTMAP_OK);
    for (int i = 0; i < CASES; i++) {
        const distmap_problem p = draw_problem(&r);
        const distmap_plan_options how = {.host_views = true, .timed = rng_chance(&r, 0.3)};
        const distmap_arrays arrays = draw_arrays(&p, &m, &r);
        distmap_plan *plan = NULL;
        size_t bytes;
        assert_int_equal(distmap_scratch_bytes(context, &p, &how, &bytes), DISTMAP_OK);
        const distmap_status made = distmap_plan_create(context, &p, &how, &plan);
        if (made != DISTMAP_OK)
            fail_msg("%s", distmap_error_text());
        for (int run = 0; run < 2; run++) {
            last_fraction = 0;
            memset(m.distance, 0x55, sizeof m.distance);
            memset(m.index, 0x55, sizeof m.index);
            memset(m.coords, 0x55, sizeof m.coords);
            if (distmap_plan_execute(plan, &arrays) != DISTMAP_OK)
                fail_msg("%s", distmap_error_text());
            assert_int_equal(distmap_plan_flags(plan), check_all(cpu, &p, &arrays));
        }
        if (how.timed && elements_of(&p)) {
            const size_t phases = distmap_plan_phase_count(plan);
            for (size_t a = 0; a < phases; a++)
                for (size_t b = 0; b < a; b++) {
                    distmap_phase one, other;
                    assert_int_equal(distmap_plan_phase_get(plan, a, &one), DISTMAP_OK);
                    assert_int_equal(distmap_plan_phase_get(plan, b, &other), DISTMAP_OK);
                    assert_true(one.kind != other.kind || strcmp(one.name, other.name) != 0);
                }
            assert_true(phases > 0);
        }
        distmap_plan_destroy(&plan);
    }
    distmap_context_destroy(&context);
    distmap_context_destroy(&cpu);
}

/* Operations go by batches too: here the dilation of one element in each. */
static void test_operations(void **state) {
    (void)state;
    enum { N = 6, SIDE = 7 };
    static uint8_t mask[N][2][2][SIDE][SIDE], grown[N][2][2][SIDE][SIDE];
    const int64_t shape[] = {N, 2, 2, SIDE, SIDE};
    const distmap_problem p = {.dtype = DISTMAP_UINT8,
                               .ndim = 5,
                               .shape = {N, 2, 2, SIDE, SIDE},
                               .axes = 3u << 3,
                               .sites.rule = DISTMAP_SITES_NONZERO,
                               .want.mask = DISTMAP_UINT8,
                               .field = DISTMAP_FIELD_MORPHOLOGY,
                               .morphology = {.step = DISTMAP_MORPHOLOGY_DILATE, .radius = 1}};
    const distmap_arrays arrays = {.input = distmap_view_make(mask, DISTMAP_UINT8, 5, shape),
                                   .mask = distmap_view_make(grown, DISTMAP_UINT8, 5, shape)};
    distmap_context *context = NULL;
    distmap_plan *plan = NULL;
    mask[3][1][0][2][4] = 1;
    assert_int_equal(distmap_context_create(&(distmap_context_options){.device = DEVICE}, &context), DISTMAP_OK);
    assert_int_equal(distmap_plan_create(context, &p, &(distmap_plan_options){.host_views = true}, &plan), DISTMAP_OK);
    assert_int_equal(distmap_plan_execute(plan, &arrays), DISTMAP_OK);
    int set = 0;
    for (size_t i = 0; i < sizeof grown; i++)
        set += ((const uint8_t *)grown)[i];
    assert_int_equal(set, 5);
    assert_int_equal(grown[3][1][0][2][5] + grown[3][1][0][1][4], 2);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

static void refuse(distmap_context *context, distmap_problem p, const char *part) {
    distmap_plan *plan = NULL;
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_ERROR_ARGUMENT);
    if (!strstr(distmap_error_text(), part))
        fail_msg("'%s' is not in '%s'", part, distmap_error_text());
}

static void test_refused(void **state) {
    (void)state;
    distmap_context *context = NULL;
    distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 5, .shape = {2, 2, 2, 2, 2}, .want.distance = DISTMAP_FLOAT32};
    assert_int_equal(distmap_context_create(NULL, &context), DISTMAP_OK);
    refuse(context, p, "problem.axes measures 5 axes, must be 4 at most");
    p.axes = 1u << 5;
    refuse(context, p, "problem.axes is 0x20, names an axis beyond ndim 5");
    p.axes = 3;
    p.shape[4] = -1;
    refuse(context, p, "problem.shape[4] is -1");
    p.shape[4] = 40000;
    p.want.coords = DISTMAP_INT16;
    refuse(context, p, "problem.want.coords is int16, too small for axis 4");
    p.want.coords = DISTMAP_NONE;
    p.want.index = DISTMAP_INT32;
    p.shape[3] = 40000;
    refuse(context, p, "problem.want.index is int32, too small for");
    p.want.index = DISTMAP_NONE;
    p.shape[3] = 2;
    p.spacing[4] = -1;
    refuse(context, p, "problem.spacing[4] is -1");
    p.spacing[4] = 0;
    p.order[4] = 5;
    refuse(context, p, "problem.order names axis 0 twice");
    p.order[4] = 0;
    p.window.count = 1;
    refuse(context, p, "problem.window");
    p.window.count = 0;
    p.field = DISTMAP_FIELD_EDGE_STRENGTH;
    refuse(context, p, "problem.field: with more than 4 axes");
    p.ndim = 9;
    refuse(context, p, "problem.ndim is 9, must be 1 to 8");
    distmap_context_destroy(&context);
}

/* Pitches of all axes are told, by the caller's numbers. */
static void test_unit(void **state) {
    (void)state;
    const distmap_problem p = {.dtype = DISTMAP_UINT8,
                               .ndim = 6,
                               .shape = {3, 2, 4, 2, 5, 6},
                               .spacing = {2.5, 1, 0.7, 1, 9, 0.7},
                               .axes = 1u << 0 | 1u << 2 | 1u << 5,
                               .want.distance = DISTMAP_FLOAT32};
    const int64_t want[DISTMAP_MAX_AXES] = {25, 0, 7, 0, 0, 7};
    int64_t multiples[DISTMAP_MAX_AXES];
    double unit;
    assert_int_equal(distmap_problem_unit(&p, &unit, multiples), DISTMAP_OK);
    assert_float_equal(unit, 0.1, 0);
    assert_memory_equal(multiples, want, sizeof want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drawn),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
