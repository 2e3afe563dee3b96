/* The memory order of the axes: the rules of distmap_problem.order; what a view's order is; that neither plans nor errors speak of
 * other axes than the caller's; and that distmap_transform() finds the order by itself. Bits are the matrix tests' matter. */
#include "refuse.h"

/* ---- Rules ---- */

static void set_order(distmap_problem *p, int a, int b, int c, int d) {
    const int order[] = {a, b, c, d};
    memcpy(p->order, order, sizeof order);
}

static distmap_problem volume(void) {
    return (distmap_problem){.dtype = DISTMAP_UINT8, .ndim = 3, .shape = {6, 20, 40}, .want.distance = DISTMAP_FLOAT32};
}

static void test_rules(void **state) {
    (void)state;
    REFUSE("problem.order[0] is 2, must be an axis, 0 to 1", set_order(&p, 2, 0, 0, 0));
    REFUSE("problem.order[1] is -1, must be an axis, 0 to 1", set_order(&p, 1, -1, 0, 0));
    REFUSE("problem.order names axis 1 twice", set_order(&p, 1, 1, 0, 0));
    REFUSE("problem.order[2] is 1, must stay zero beyond ndim 2", set_order(&p, 1, 0, 1, 0));
    REFUSE("problem.order[3] is -7, must stay zero", set_order(&p, 0, 0, 0, -7));
    REFUSE("problem.order names axis 0 twice", p = volume(); set_order(&p, 2, 0, 0, 0));
    REFUSE("problem.order names axis 0 twice", p = volume(); set_order(&p, 0, 0, 1, 0));
    REFUSE("problem.order[0] is 1, must be an axis, 0 to 0", p.ndim = 1; set_order(&p, 1, 0, 0, 0));
    /* Where it is passed over, too. */
    REFUSE("problem.order names axis 1 twice", p.want.index = DISTMAP_INT32; set_order(&p, 1, 1, 0, 0));
    REFUSE("problem.order", p = strength_problem(); set_order(&p, 1, 1, 0, 0));
    ACCEPT(set_order(&p, 1, 0, 0, 0));
    ACCEPT(set_order(&p, 0, 1, 0, 0));
    ACCEPT(p.ndim = 1; set_order(&p, 0, 0, 0, 0));
    ACCEPT(p = volume(); set_order(&p, 1, 2, 0, 0));
    ACCEPT(p = volume(); p.want.index = DISTMAP_INT32; set_order(&p, 2, 1, 0, 0));
    ACCEPT(p = strength_problem(); set_order(&p, 1, 0, 0, 0));
    ACCEPT(set_order(&p, 1, 0, 0, 0); p.window = (distmap_window){1, 5});
    ACCEPT(set_order(&p, 1, 0, 0, 0); p.shape[0] = 0);
}

/* What is wrong with a problem is told in the caller's axes, whatever the order. */
static void test_texts(void **state) {
    (void)state;
    static uint8_t mask[6 * 20 * 40];
    static float distance[6 * 20 * 40];
    REFUSE("problem.spacing[0]", p = volume(); set_order(&p, 2, 1, 0, 0); p.spacing[0] = -1);
    REFUSE("problem.shape[2]", p = volume(); set_order(&p, 2, 1, 0, 0); p.shape[2] = -1);
    distmap_problem p = volume();
    set_order(&p, 2, 1, 0, 0);
    const distmap_arrays good = {.input = distmap_view_make(mask, DISTMAP_UINT8, 3, p.shape),
                                 .distance = distmap_view_make(distance, DISTMAP_FLOAT32, 3, p.shape)};
#define TELL(text, ...)                                                                                  \
    do {                                                                                                 \
        distmap_arrays a = good;                                                                         \
        __VA_ARGS__;                                                                                     \
        check_text(distmap_arrays_check(context, &p, NULL, &a), DISTMAP_ERROR_ARGUMENT, text, __LINE__); \
    } while (0)
    assert_int_equal(distmap_arrays_check(context, &p, NULL, &good), DISTMAP_OK);
    TELL("arrays.input has shape[0] = 40, the problem says 6", a.input.shape[0] = 40; a.input.shape[2] = 6);
    TELL("arrays.distance has shape[1] = 21, the problem says 20", a.distance.shape[1] = 21);
    TELL("arrays.distance: strides[0] = 3202 is not", a.distance.strides[0] += 2);
    TELL("arrays.distance: its strides make", a.distance.strides[2] = 0);
#undef TELL
    distmap_plan *plan = NULL;
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
    int64_t first = -1, count = -1;
    assert_int_equal(distmap_plan_slab(plan, 0, &first, &count), DISTMAP_OK);
    assert_int_equal(first, 0);
    assert_int_equal(count, 20);
    distmap_plan_destroy(&plan);
}

/* A method that takes the problem only as it is given takes it with any order. */
static void test_named_methods(void **state) {
    (void)state;
    distmap_problem p = volume();
    for (size_t m = 0; distmap_method_get(m); m++) {
        const distmap_method_info *info = distmap_method_get(m);
        for (p.axes = 0; p.axes < 8; p.axes++) {
            const distmap_plan_options options = {.method = info->name};
            size_t bytes;
            set_order(&p, 0, 0, 0, 0);
            const distmap_status given = distmap_scratch_bytes(context, &p, &options, &bytes);
            set_order(&p, 2, 1, 0, 0);
            assert_int_equal(distmap_scratch_bytes(context, &p, &options, &bytes), given);
        }
    }
}

/* ---- Orders of views ---- */

static void check_order(distmap_view v, int ndim, int a, int b, int c, int d) {
    const int want[] = {a, b, c, d};
    int got[DISTMAP_MAX_AXES] = {7, 7, 7, 7, 7, 7, 7, 7};
    v.ndim = ndim;
    distmap_view_order(&v, got);
    assert_memory_equal(got, want, sizeof want);
}

static void test_views(void **state) {
    (void)state;
    const int64_t shape[] = {3, 4, 5, 6}, thin[] = {3, 4, 1, 6}, lone[] = {256, 256, 1};
    distmap_view v = distmap_view_make(NULL, DISTMAP_UINT8, 4, shape);
    check_order(v, 4, 0, 1, 2, 3);
    check_order(v, 1, 0, 0, 0, 0);
    check_order(v, 0, 0, 0, 0, 0);
    check_order(v, 9, 0, 0, 0, 0);
    check_order((distmap_view){.shape = {5, 6, 7}, .strides = {1, 5, 30}}, 3, 2, 1, 0, 0);
    check_order((distmap_view){.shape = {5, 6, 7}, .strides = {-1, 5, -30}}, 3, 2, 1, 0, 0);
    check_order((distmap_view){.shape = {5, 6, 7}, .strides = {42, 1, 6}}, 3, 0, 2, 1, 0);
    check_order((distmap_view){.shape = {5, 6, 7}, .strides = {1, INT64_MIN, 8}}, 3, 1, 2, 0, 0);
    check_order((distmap_view){.shape = {5, 6, 7}, .strides = {4, 4, 4}}, 3, 0, 1, 2, 0); /* equal: as numbered */
    check_order((distmap_view){.shape = {5, 6, 7}, .strides = {7, 0, 1}}, 3, 1, 0, 2, 0); /* the same for all */
    check_order(distmap_view_make(NULL, DISTMAP_UINT8, 4, thin), 4, 2, 0, 1, 3);
    check_order((distmap_view){.shape = {lone[0], lone[1], 1}, .strides = {1, 256, 65536}}, 3, 2, 1, 0, 0);
    int order[DISTMAP_MAX_AXES] = {1, 2, 3, 4, 5, 6, 7, 8};
    distmap_view_order(NULL, order);
    assert_int_equal(order[0] | order[1] | order[2] | order[3], 0);
}

/* ---- One call ---- */

/* distmap_transform() in an order that it finds, or is told, gives what the same image gives in C order. */
static void test_transform(void **state) {
    (void)state;
    enum { A = 9, B = 31, C = 45, ALL = A * B * C };
    static uint8_t plain[ALL], turned[ALL];
    static float want[ALL], got[ALL];
    const int64_t shape[] = {A, B, C};
    const int64_t strides[] = {1, A, A * B};
    for (int i = 0; i < ALL; i++) {
        plain[i] = (uint8_t)((uint32_t)i * 2654435761u >> 24 != 0);
        turned[i / (B * C) + i / C % B * A + i % C * (A * B)] = plain[i];
    }
    assert_int_equal(distmap_edt(plain, 3, shape, want), DISTMAP_OK);
    for (int told = 0; told < 3; told++) {
        distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 3, .shape = {A, B, C}, .want.distance = DISTMAP_FLOAT32};
        distmap_arrays a = {.input = distmap_view_make(turned, DISTMAP_UINT8, 3, shape),
                            .distance = distmap_view_make(got, DISTMAP_FLOAT32, 3, shape)};
        memcpy(a.input.strides, strides, sizeof strides);
        if (told)
            set_order(&p, told, 3 - told, 0, 0);
        memset(got, 0xA5, sizeof got);
        assert_int_equal(distmap_transform(&p, &a, NULL), DISTMAP_OK);
        assert_memory_equal(got, want, sizeof want);
        if (told)
            set_order(&p, told, told, 0, 0);
        else
            a.input.ndim = 2;
        check_text(distmap_transform(&p, &a, NULL), DISTMAP_ERROR_ARGUMENT,
                   told ? "problem.order names axis" : "arrays.input has ndim 2", __LINE__);
    }
    check_text(distmap_transform(NULL, NULL, NULL), DISTMAP_ERROR_ARGUMENT, "problem is NULL", __LINE__);
    const distmap_problem p = small_problem();
    check_text(distmap_transform(&p, NULL, NULL), DISTMAP_ERROR_ARGUMENT, "arrays is NULL", __LINE__);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules), cmocka_unit_test(test_texts),     cmocka_unit_test(test_named_methods),
        cmocka_unit_test(test_views), cmocka_unit_test(test_transform),
    };
    return cmocka_run_group_tests(tests, open_two_threads, close_context);
}
