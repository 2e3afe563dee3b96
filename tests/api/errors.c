/* Every rule of distmap.h about arguments: breaking it gives the right status and a line that names the argument, makes
 * nothing, and leaves outputs alone. */
#include "refuse.h"

#include <math.h>

/* ---- Problems ---- */

static void test_shapes(void **state) {
    (void)state;
    REFUSE("problem.ndim", p.ndim = 0);
    REFUSE("problem.ndim", p.ndim = 9);
    REFUSE("problem.ndim", p.ndim = -1);
    REFUSE("problem.shape[1]", p.shape[1] = -1);
    REFUSE("problem.shape[0]", p.shape[0] = INT64_MAX);
    REFUSE("problem.shape", p.ndim = 4; p.shape[0] = p.shape[1] = p.shape[2] = p.shape[3] = INT32_MAX);
    REFUSE("problem.axes", p.axes = 4);
    REFUSE("problem.axes", p.axes = 0x80000000u);
    ACCEPT(p.axes = 3);
    ACCEPT(p.shape[0] = 0);
    ACCEPT(p.ndim = 4; p.shape[0] = 0; p.shape[1] = p.shape[2] = 65536; p.shape[3] = 1000);
}

static void test_inputs(void **state) {
    (void)state;
    REFUSE("problem.dtype", p.dtype = DISTMAP_NONE);
    REFUSE("problem.dtype", p.dtype = (distmap_dtype)99);
    REFUSE("problem.input", p.input = (distmap_input)3);
    REFUSE("problem.dtype", p.input = DISTMAP_INPUT_LABELS; p.dtype = DISTMAP_FLOAT32);
    REFUSE("problem.sites", p.input = DISTMAP_INPUT_SAMPLED; p.sites.rule = DISTMAP_SITES_NONZERO);
    REFUSE("problem.payload", p.payload = DISTMAP_INT32; p.want.index = DISTMAP_INT32);
    REFUSE("problem.payload", p.input = DISTMAP_INPUT_SAMPLED; p.payload = DISTMAP_UINT8; p.want.index = DISTMAP_INT32);
    REFUSE("problem.payload", p.input = DISTMAP_INPUT_SAMPLED; p.payload = DISTMAP_INT32);
    ACCEPT(p.input = DISTMAP_INPUT_SAMPLED; p.payload = DISTMAP_INT32; p.want.index = DISTMAP_INT32);
    ACCEPT(p.input = DISTMAP_INPUT_LABELS; p.sites.rule = DISTMAP_SITES_NONE);
}

static void test_sites(void **state) {
    (void)state;
    REFUSE("problem.sites.rule", p.sites.rule = (distmap_sites_rule)77);
    REFUSE("problem.sites.rule", p.sites.rule = DISTMAP_SITES_NONE);
    REFUSE("problem.sites", p.sites = (distmap_sites){DISTMAP_SITES_VALUE, NAN, 0});
    REFUSE("problem.sites", p.sites = (distmap_sites){DISTMAP_SITES_RANGE, 2, 1});
    REFUSE("problem.sites", p.sites = (distmap_sites){DISTMAP_SITES_RANGE, 2, NAN});
    REFUSE("problem.sites", p.sites = (distmap_sites){DISTMAP_SITES_RANGE, NAN, 2});
    ACCEPT(p.sites = (distmap_sites){DISTMAP_SITES_RANGE, -INFINITY, INFINITY});
}

static void test_geometry(void **state) {
    (void)state;
    REFUSE("problem.spacing[0]", p.spacing[0] = -1);
    REFUSE("problem.spacing[1]", p.spacing[1] = NAN);
    REFUSE("problem.spacing[1]", p.spacing[1] = INFINITY);
    REFUSE("problem.spacing[0]", p.spacing[0] = 1e-200);
    REFUSE("problem.spacing[0]", p.spacing[0] = 1e200);
    REFUSE("problem.spacing", p.shape[0] = 1 << 30; p.spacing[0] = 1 << 20; p.input = DISTMAP_INPUT_SAMPLED);
    REFUSE("problem.unit", p.unit = 0.5);
    REFUSE("problem.unit", p.input = DISTMAP_INPUT_SAMPLED; p.unit = -1);
    REFUSE("problem.unit", p.input = DISTMAP_INPUT_SAMPLED; p.unit = NAN);
    REFUSE("problem.unit", p.input = DISTMAP_INPUT_SAMPLED; p.unit = 1e-30);
    REFUSE("problem.unit", p.input = DISTMAP_INPUT_SAMPLED; p.unit = 0.5; p.spacing[0] = 0.5);
    REFUSE("problem.unit", p.input = DISTMAP_INPUT_SAMPLED; p.unit = 0.5; p.dtype = DISTMAP_FLOAT32);
    ACCEPT(p.input = DISTMAP_INPUT_SAMPLED; p.unit = 0.5);
    REFUSE("problem.spacing", p.shape[0] = 1 << 30; p.spacing[0] = 1e144);
    REFUSE("problem.limit", p.limit = -1);
    REFUSE("problem.limit", p.limit = NAN);
    ACCEPT(p.limit = INFINITY);
    ACCEPT(p.spacing[0] = 1 << 20);
    ACCEPT(p.spacing[0] = 0.1; p.spacing[1] = 1e10);
}

static void test_outputs(void **state) {
    (void)state;
    REFUSE("problem.want", p.want.distance = DISTMAP_NONE);
    REFUSE("problem.want.distance", p.want.distance = DISTMAP_INT32);
    REFUSE("problem.want.squared", p.want.squared = DISTMAP_INT32);
    REFUSE("problem.want.squared", p.want.squared = DISTMAP_UINT16);
    REFUSE("use float64", p.want.squared = DISTMAP_UINT32; p.spacing[0] = 0.5);
    REFUSE("use uint64", p.want.squared = DISTMAP_UINT32; p.shape[0] = 70000);
    REFUSE("problem.want.index", p.want.index = DISTMAP_UINT32);
    REFUSE("use int64", p.want.index = DISTMAP_INT32; p.shape[0] = p.shape[1] = 50000);
    REFUSE("use int64", p.input = DISTMAP_INPUT_SAMPLED; p.payload = DISTMAP_INT64; p.want.index = DISTMAP_INT32);
    REFUSE("problem.want.coords", p.want.coords = DISTMAP_UINT16);
    REFUSE("problem.want.coords", p.want.coords = DISTMAP_INT16; p.shape[1] = 32769);
    REFUSE("problem.want.coords", p.input = DISTMAP_INPUT_SAMPLED; p.payload = DISTMAP_INT32;
           p.want.index = DISTMAP_INT32; p.want.coords = DISTMAP_INT32);
    REFUSE("problem.want.label", p.want.label = DISTMAP_FLOAT32);
    REFUSE("problem.want.label", p.want.label = DISTMAP_INT8);
    REFUSE("problem.want.label", p.dtype = DISTMAP_INT8; p.want.label = DISTMAP_UINT64);
    REFUSE("problem.want.label", p.dtype = DISTMAP_UINT16; p.want.label = DISTMAP_UINT8);
    REFUSE("problem.want.label", p.dtype = DISTMAP_FLOAT32; p.want.label = DISTMAP_INT64);
    REFUSE("problem.want.label", p.input = DISTMAP_INPUT_SAMPLED; p.want.label = DISTMAP_UINT8);
    ACCEPT(p.want.coords = DISTMAP_INT16; p.shape[1] = 32768);
    ACCEPT(p.want.squared = DISTMAP_UINT32; p.shape[0] = 70000; p.limit = 1000);
    ACCEPT(p.want.label = DISTMAP_INT16);
    REFUSE("problem.want.within needs problem.limit", p.want.within = DISTMAP_UINT8);
    REFUSE("problem.want.beyond needs problem.limit", p.want.beyond = DISTMAP_UINT8);
    REFUSE("problem.want.within must be", p.want.within = DISTMAP_INT8; p.limit = 1);
    REFUSE("problem.want.beyond must be", p.want.beyond = DISTMAP_INT32; p.limit = 1);
    REFUSE("problem.want.beyond must be", p.input = DISTMAP_INPUT_LABELS; p.want.beyond = DISTMAP_FLOAT32; p.limit = 1);
    REFUSE("problem.want.beyond is bool", p.input = DISTMAP_INPUT_LABELS; p.want.beyond = DISTMAP_BOOL; p.limit = 1);
    ACCEPT(p.want = (distmap_outputs){.within = DISTMAP_BOOL}; p.limit = 0.1);
    ACCEPT(p.want = (distmap_outputs){.beyond = DISTMAP_UINT8}; p.limit = INFINITY);
    ACCEPT(p.input = DISTMAP_INPUT_LABELS; p.want = (distmap_outputs){.beyond = DISTMAP_INT16}; p.limit = 2);
}

static void test_plan_options(void **state) {
    (void)state;
    const distmap_problem p = small_problem();
    static const distmap_param unknown = {"no-such-knob", 1}, nameless = {NULL, 1};
    static char memory[192] __attribute__((aligned(64)));
    refuse(&p, &(distmap_plan_options){.method = "no/such"}, DISTMAP_ERROR_ARGUMENT, "no/such", __LINE__);
    refuse(&p, &(distmap_plan_options){.param_count = 1}, DISTMAP_ERROR_ARGUMENT, "options.params", __LINE__);
    refuse(&p, &(distmap_plan_options){.params = &unknown, .param_count = 1}, DISTMAP_ERROR_ARGUMENT, "no-such-knob",
           __LINE__);
    refuse(&p, &(distmap_plan_options){.params = &nameless, .param_count = 1}, DISTMAP_ERROR_ARGUMENT, "options.params",
           __LINE__);
    for (size_t m = 0; distmap_method_get(m); m++) {
        const distmap_method_info *info = distmap_method_get(m);
        const bool here = strcmp(info->device, "cpu") == 0;
        if (!here)
            refuse(&p, &(distmap_plan_options){.method = info->name}, DISTMAP_ERROR_UNSUPPORTED,
                   "this context is for cpu", __LINE__);
        const distmap_problem takes = info->field == DISTMAP_FIELD_DISTANCE ? p : strength_problem();
        for (size_t k = 0; here && k < info->param_count; k++) {
            distmap_param beyond = {info->params[k].name, info->params[k].highest + 1};
            const distmap_plan_options options = {.method = info->name, .params = &beyond, .param_count = 1};
            refuse(&takes, &options, DISTMAP_ERROR_ARGUMENT, info->params[k].name, __LINE__);
            beyond.value = info->params[k].lowest - 1;
            refuse(&takes, &options, DISTMAP_ERROR_ARGUMENT, info->params[k].name, __LINE__);
        }
    }
    distmap_plan *plan;
    distmap_plan_options options = {.method = "brute/cpu", .scratch = memory + 1, .scratch_bytes = 1 << 30};
    check_text(distmap_plan_create(context, &p, &options, &plan), DISTMAP_ERROR_ARGUMENT, "options.scratch", __LINE__);
    options = (distmap_plan_options){.method = "brute/cpu", .scratch = memory, .scratch_bytes = 64};
    check_text(distmap_plan_create(context, &p, &options, &plan), DISTMAP_ERROR_ARGUMENT, "options.scratch_bytes",
               __LINE__);
}

static void test_nulls(void **state) {
    (void)state;
    const distmap_problem p = small_problem();
    distmap_plan *plan;
    size_t bytes;
    check_text(distmap_context_create(NULL, NULL), DISTMAP_ERROR_ARGUMENT, "context", __LINE__);
    check_text(distmap_plan_create(NULL, &p, NULL, &plan), DISTMAP_ERROR_ARGUMENT, "context", __LINE__);
    check_text(distmap_plan_create(context, NULL, NULL, &plan), DISTMAP_ERROR_ARGUMENT, "problem", __LINE__);
    check_text(distmap_plan_create(context, &p, NULL, NULL), DISTMAP_ERROR_ARGUMENT, "plan", __LINE__);
    check_text(distmap_scratch_bytes(context, &p, NULL, NULL), DISTMAP_ERROR_ARGUMENT, "bytes", __LINE__);
    check_text(distmap_scratch_bytes(NULL, &p, NULL, &bytes), DISTMAP_ERROR_ARGUMENT, "context", __LINE__);
    check_text(distmap_plan_execute(NULL, NULL), DISTMAP_ERROR_ARGUMENT, "plan", __LINE__);
    check_text(distmap_transform(NULL, NULL, NULL), DISTMAP_ERROR_ARGUMENT, "problem", __LINE__);
    check_text(distmap_edt(NULL, 2, small_shape, NULL), DISTMAP_ERROR_ARGUMENT, "mask", __LINE__);
    check_text(distmap_edt((const uint8_t *)"", 2, small_shape, NULL), DISTMAP_ERROR_ARGUMENT, "distance", __LINE__);
    check_text(distmap_edt((const uint8_t *)"", 2, NULL, NULL), DISTMAP_ERROR_ARGUMENT, "shape", __LINE__);
    check_text(distmap_edt((const uint8_t *)"", 9, small_shape, NULL), DISTMAP_ERROR_ARGUMENT, "ndim", __LINE__);
    distmap_plan_destroy(NULL);
    distmap_context_destroy(NULL);
    distmap_plan_describe(NULL, NULL);
    assert_int_equal(distmap_plan_flags(NULL), 0);
    assert_int_equal(distmap_context_threads(NULL), 0);
    assert_string_equal(distmap_context_isa(NULL), "");
    assert_null(distmap_dtype_name((distmap_dtype)99));
    assert_int_equal(distmap_dtype_from_name(NULL), DISTMAP_NONE);
    check_text(distmap_plan_wait(NULL), DISTMAP_ERROR_ARGUMENT, "plan", __LINE__);
    assert_null(distmap_view_make(NULL, DISTMAP_UINT8, 2, NULL).data);
}

/* ---- Contexts ---- */

static void *never_allocate(void *user, size_t bytes, size_t alignment) {
    return (void)user, (void)bytes, (void)alignment, NULL;
}
static void run_nothing(void *user, size_t count, distmap_task *task, void *arg) {
    (void)user, (void)count, (void)task, (void)arg;
}

static void test_context_options(void **state) {
    (void)state;
    static const struct {
        distmap_context_options options;
        distmap_status status;
        const char *text;
    } rows[] = {
        {{.threads = -1}, DISTMAP_ERROR_ARGUMENT, "threads"},
        {{.threads = 1025}, DISTMAP_ERROR_ARGUMENT, "threads"},
        {{.device = (distmap_device)7}, DISTMAP_ERROR_ARGUMENT, "device"},
        {{.ordinal = 1}, DISTMAP_ERROR_ARGUMENT, "ordinal"},
        {{.ordinal = -1}, DISTMAP_ERROR_ARGUMENT, "ordinal"},
        {{.stream = &context}, DISTMAP_ERROR_ARGUMENT, "stream"},
        {{.executor = {.run = run_nothing}}, DISTMAP_ERROR_ARGUMENT, "executor.workers"},
        {{.allocator = {.allocate = never_allocate}}, DISTMAP_ERROR_ARGUMENT, "allocator"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        distmap_context *made = (distmap_context *)&made;
        check_text(distmap_context_create(&rows[i].options, &made), rows[i].status, rows[i].text, (int)i);
        assert_null(made);
    }
    distmap_context *made = NULL;
    setenv("DISTMAP_ISA", "mmx", 1);
    check_text(distmap_context_create(NULL, &made), DISTMAP_ERROR_ARGUMENT, "DISTMAP_ISA", __LINE__);
    unsetenv("DISTMAP_ISA");
    check_text(distmap_context_set_stream(NULL, NULL), DISTMAP_ERROR_ARGUMENT, "context", __LINE__);
    check_text(distmap_context_set_stream(context, NULL), DISTMAP_ERROR_UNSUPPORTED, "cpu has no streams", __LINE__);
}

static void test_devices(void **state) {
    (void)state;
    distmap_device_info info = {.memory_bytes = 1};
    assert_int_equal(distmap_device_count(DISTMAP_DEVICE_CPU), 1);
    assert_int_equal(distmap_device_describe(DISTMAP_DEVICE_CPU, 0, &info), DISTMAP_OK);
    assert_string_equal(info.name, "cpu");
    assert_int_equal(info.memory_bytes, 0);
    assert_int_equal(distmap_device_count((distmap_device)7), 0);
    check_text(distmap_device_describe((distmap_device)7, 0, &info), DISTMAP_ERROR_ARGUMENT, "device", __LINE__);
    check_text(distmap_device_describe(DISTMAP_DEVICE_CPU, 0, NULL), DISTMAP_ERROR_ARGUMENT, "info", __LINE__);
    check_text(distmap_device_describe(DISTMAP_DEVICE_CPU, 1, &info), DISTMAP_ERROR_ARGUMENT, "ordinal", __LINE__);
    check_text(distmap_device_describe(DISTMAP_DEVICE_CPU, -1, &info), DISTMAP_ERROR_ARGUMENT, "ordinal", __LINE__);
    if (distmap_device_count(DISTMAP_DEVICE_CUDA) > 0)
        return;
    distmap_context *made = (distmap_context *)&made;
    check_text(distmap_device_describe(DISTMAP_DEVICE_CUDA, 0, &info), DISTMAP_ERROR_DEVICE, "cuda", __LINE__);
    check_text(distmap_context_create(&(distmap_context_options){.device = DISTMAP_DEVICE_CUDA}, &made),
               DISTMAP_ERROR_DEVICE, "cuda", __LINE__);
    assert_null(made);
}

/* ---- Views ---- */

static uint8_t mask[PIXELS + 8];
static float distance[4 * PIXELS], untouched[4 * PIXELS];
static int32_t planes[2][PIXELS];

static void refuse_arrays(distmap_plan *plan, const distmap_arrays *arrays, const char *text, int line) {
    memset(distance, 0x5a, sizeof distance);
    memcpy(untouched, distance, sizeof distance);
    check_text(distmap_plan_execute(plan, arrays), DISTMAP_ERROR_ARGUMENT, text, line);
    assert_memory_equal(distance, untouched, sizeof distance);
    const distmap_problem p = small_problem(); /* the plan's */
    check_text(distmap_arrays_check(context, &p, NULL, arrays), DISTMAP_ERROR_ARGUMENT, text, line);
}

#define REFUSE_ARRAYS(text, ...)                         \
    do {                                                 \
        distmap_arrays a = small_arrays(mask, distance); \
        __VA_ARGS__;                                     \
        refuse_arrays(plan, &a, text, __LINE__);         \
    } while (0)

static void test_views(void **state) {
    (void)state;
    const distmap_problem p = small_problem();
    distmap_plan *plan = NULL;
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
    refuse_arrays(plan, NULL, "arrays", __LINE__);
    REFUSE_ARRAYS("arrays.input is NULL", a.input.data = NULL);
    REFUSE_ARRAYS("arrays.distance is NULL", a.distance.data = NULL);
    REFUSE_ARRAYS("arrays.input has dtype", a.input.dtype = DISTMAP_INT8);
    REFUSE_ARRAYS("arrays.input has dtype", a.input.dtype = (distmap_dtype)1234);
    REFUSE_ARRAYS("arrays.distance has dtype", a.distance.dtype = DISTMAP_FLOAT64);
    REFUSE_ARRAYS("arrays.input has ndim", a.input.ndim = 1);
    REFUSE_ARRAYS("arrays.distance has shape[1]", a.distance.shape[1] = WIDTH + 1);
    REFUSE_ARRAYS("arrays.input has shape[0]", a.input.shape[0] = -HEIGHT);
    REFUSE_ARRAYS("arrays.distance: data is not aligned", a.distance.data = (char *)distance + 2);
    REFUSE_ARRAYS("arrays.distance: strides[0]", a.distance.strides[0] = 4 * WIDTH + 2);
    REFUSE_ARRAYS("arrays.distance: its strides make elements overlap", a.distance.strides[0] = 4);
    REFUSE_ARRAYS("arrays.distance: its strides make elements overlap", a.distance.strides[1] = 0);
    REFUSE_ARRAYS("arrays.input: strides", a.input.strides[0] = INT64_MAX / 2);
    REFUSE_ARRAYS("arrays.input: strides", a.input.strides[0] = INT64_MIN);
    REFUSE_ARRAYS("arrays.input: strides reach", a.input.strides[0] = INT64_MIN / (HEIGHT - 1));
    REFUSE_ARRAYS("arrays.distance: strides reach", a.distance.data = (void *)(UINTPTR_MAX - 63));
    REFUSE_ARRAYS("arrays.input: space", a.input.space = (distmap_space)2);
    REFUSE_ARRAYS("arrays.distance lies in a GPU's memory", a.distance.space = DISTMAP_SPACE_CUDA);
    REFUSE_ARRAYS("arrays.squared is given", a.squared = a.distance);
    REFUSE_ARRAYS("arrays.payload is given", a.payload = a.input);
    REFUSE_ARRAYS("arrays.coords[3] is given", a.coords[3] = a.distance);
    REFUSE_ARRAYS("arrays.input and arrays.distance overlap", a.input.data = (char *)distance + 100);
    const distmap_arrays right = small_arrays(mask, distance);
    memcpy(distance, untouched, sizeof distance);
    assert_int_equal(distmap_arrays_check(context, &p, NULL, &right), DISTMAP_OK);
    assert_memory_equal(distance, untouched, sizeof distance);
    check_text(distmap_arrays_check(NULL, &p, NULL, &right), DISTMAP_ERROR_ARGUMENT, "context is NULL", __LINE__);
    check_text(distmap_arrays_check(context, NULL, NULL, &right), DISTMAP_ERROR_ARGUMENT, "problem is NULL", __LINE__);
    distmap_plan_destroy(&plan);
}

static void test_overlapping_outputs(void **state) {
    (void)state;
    distmap_problem p = small_problem();
    p.want = (distmap_outputs){.coords = DISTMAP_INT32};
    distmap_plan *plan = NULL;
    assert_int_equal(distmap_plan_create(context, &p, NULL, &plan), DISTMAP_OK);
    distmap_arrays a = {.input = distmap_view_make(mask, DISTMAP_UINT8, 2, small_shape)};
    a.coords[0] = a.coords[1] = distmap_view_make(planes, DISTMAP_INT32, 2, small_shape);
    a.coords[1].data = (int32_t *)planes + WIDTH;
    check_text(distmap_plan_execute(plan, &a), DISTMAP_ERROR_ARGUMENT, "arrays.coords[0] and arrays.coords[1] overlap",
               __LINE__);

    /* Planes that take turns do not overlap, though their spans do: by rows, then by elements. */
    for (int axis = 0; axis < 2; axis++) {
        a.coords[axis].data = (int32_t *)planes + axis * WIDTH;
        a.coords[axis].strides[0] = 8 * WIDTH;
    }
    check_text(distmap_plan_execute(plan, &a), DISTMAP_OK, "", __LINE__);
    a.coords[1].data = (int32_t *)planes + WIDTH - 1;
    check_text(distmap_plan_execute(plan, &a), DISTMAP_ERROR_ARGUMENT, "overlap", __LINE__);
    for (int axis = 0; axis < 2; axis++) {
        a.coords[axis].data = (int32_t *)planes + axis;
        a.coords[axis].strides[0] = 8 * WIDTH;
        a.coords[axis].strides[1] = 8;
    }
    check_text(distmap_plan_execute(plan, &a), DISTMAP_OK, "", __LINE__);
    a.coords[1].data = planes;
    check_text(distmap_plan_execute(plan, &a), DISTMAP_ERROR_ARGUMENT, "overlap", __LINE__);
    distmap_plan_destroy(&plan);
}

/* An input may repeat its memory. */
static void test_zero_strides(void **state) {
    (void)state;
    const distmap_problem p = small_problem();
    distmap_arrays a = small_arrays(mask, distance);
    mask[0] = 1;
    mask[1] = 0;
    a.input.strides[0] = 0;
    assert_int_equal(distmap_transform(&p, &a, NULL), DISTMAP_OK);
    for (int i = 0; i < PIXELS; i++)
        assert_true(distance[i] == distance[i % WIDTH]);
    a.input.strides[1] = 0;
    unsigned flags = 0;
    assert_int_equal(distmap_transform(&p, &a, &flags), DISTMAP_OK);
    assert_int_equal(flags, DISTMAP_FLAG_NO_SITE);
    for (int i = 0; i < PIXELS; i++)
        assert_true(isinf(distance[i]));
}

static int open_context(void **state) {
    (void)state;
    memset(mask, 1, sizeof mask);
    mask[PIXELS / 2] = 0;
    return distmap_context_create(&(distmap_context_options){.threads = 1}, &context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),       cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_sites),        cmocka_unit_test(test_geometry),
        cmocka_unit_test(test_outputs),      cmocka_unit_test(test_plan_options),
        cmocka_unit_test(test_nulls),        cmocka_unit_test(test_context_options),
        cmocka_unit_test(test_views),        cmocka_unit_test(test_overlapping_outputs),
        cmocka_unit_test(test_zero_strides), cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
