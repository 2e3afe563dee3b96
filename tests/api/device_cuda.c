/* The contracts of distmap.h about GPUs, on the emulation or on a real one (`make check-gpu`), where what the emulation's
 * environment asks for is left out. */
#include "api.h"

#include <cuda_runtime.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static uint8_t mask[PIXELS];
static float want[PIXELS], distance[PIXELS];
static void *device_mask, *device_distance;
static bool emulated;

static void check_text(distmap_status got, distmap_status status, const char *text, int line) {
    if (got != status || !strstr(distmap_error_text(), text) || strchr(distmap_error_text(), '\n'))
        fail_msg("line %d: status %s, text '%s'; want %s with '%s'", line, distmap_status_name(got),
                 distmap_error_text(), distmap_status_name(status), text);
}

#define REFUSE(call, status, text) check_text(call, DISTMAP_ERROR_##status, text, __LINE__)
#define ACCEPT(call) assert_int_equal(call, DISTMAP_OK)
#define CUDA(call) assert_int_equal(call, cudaSuccess)

static const distmap_context_options on_gpu = {.device = DISTMAP_DEVICE_CUDA, .threads = 2};

static distmap_context *open_gpu(void) {
    distmap_context *context = NULL;
    ACCEPT(distmap_context_create(&on_gpu, &context));
    return context;
}

static distmap_plan *plan_small(distmap_context *context, bool host_views) {
    const distmap_problem p = small_problem();
    distmap_plan *plan = NULL;
    ACCEPT(distmap_plan_create(context, &p, &(distmap_plan_options){.host_views = host_views}, &plan));
    return plan;
}

static distmap_view on_device(distmap_view view, void *data) {
    view.data = data;
    view.space = DISTMAP_SPACE_CUDA;
    return view;
}

static distmap_arrays device_arrays(void) {
    distmap_arrays a = small_arrays(mask, distance);
    a.input = on_device(a.input, device_mask);
    a.distance = on_device(a.distance, device_distance);
    return a;
}

/* ---- Devices and contexts ---- */

static void refuse_gpu(const char *text, int line) {
    distmap_context *context = (distmap_context *)&line;
    distmap_device_info info;
    assert_int_equal(distmap_device_count(DISTMAP_DEVICE_CUDA), 0);
    check_text(distmap_device_describe(DISTMAP_DEVICE_CUDA, 0, &info), DISTMAP_ERROR_DEVICE, text, line);
    check_text(distmap_context_create(&on_gpu, &context), DISTMAP_ERROR_DEVICE, text, line);
    assert_null(context);
}

static void test_probe(void **state) {
    (void)state;
    distmap_device_info info;
    assert_true(distmap_device_count(DISTMAP_DEVICE_CUDA) > 0);
    ACCEPT(distmap_device_describe(DISTMAP_DEVICE_CUDA, 0, &info));
    assert_true(info.memory_bytes > 0 && info.multiprocessors > 0 && info.capability[0] >= 7 && info.driver[0] > 0);
    if (!emulated)
        return;
    setenv("DISTMAP_EMULATION_DEVICES", "0", 1);
    refuse_gpu("finds no GPU", __LINE__);
    unsetenv("DISTMAP_EMULATION_DEVICES");
    setenv("DISTMAP_EMULATION_DRIVER", "0", 1);
    refuse_gpu("there is no NVIDIA driver", __LINE__);
    setenv("DISTMAP_EMULATION_DRIVER", "11040", 1);
    refuse_gpu("supports CUDA 11.4, this library needs", __LINE__);
    unsetenv("DISTMAP_EMULATION_DRIVER");
}

static void test_context(void **state) {
    (void)state;
    distmap_context *context = NULL;
    distmap_context_options options = on_gpu;
    options.ordinal = 99;
    REFUSE(distmap_context_create(&options, &context), ARGUMENT, "ordinal is 99");
    options.ordinal = -1;
    REFUSE(distmap_context_create(&options, &context), ARGUMENT, "ordinal is -1");
    context = open_gpu();
    assert_int_equal(strncmp(distmap_context_isa(context), "sm_", 3), 0);
    ACCEPT(distmap_context_set_stream(context, NULL));
    const distmap_problem p = small_problem();
    distmap_plan *plan = NULL;
    REFUSE(distmap_plan_create(context, &p, &(distmap_plan_options){.method = "brute/cpu"}, &plan), UNSUPPORTED,
           "this context is one of cuda");
    distmap_context_destroy(&context);
}

static void test_other_gpu(void **state) {
    (void)state;
    int count;
    if (emulated)
        setenv("DISTMAP_EMULATION_DEVICES", "2", 1);
    CUDA(cudaGetDeviceCount(&count));
    if (count < 2)
        skip();
    void *elsewhere;
    cudaStream_t stream;
    CUDA(cudaSetDevice(1));
    CUDA(cudaMalloc(&elsewhere, PIXELS));
    CUDA(cudaStreamCreate(&stream));
    /* The caller's current device is the caller's. */
    int current;
    distmap_context *context = open_gpu();
    distmap_plan *plan = plan_small(context, true);
    CUDA(cudaGetDevice(&current));
    assert_int_equal(current, 1);

    REFUSE(distmap_context_set_stream(context, stream), ARGUMENT, "stream is none of device cuda:0");
    distmap_arrays a = device_arrays();
    a.input.data = elsewhere;
    REFUSE(distmap_plan_execute(plan, &a), ARGUMENT, "arrays.input: space is CUDA, but its data lies in another GPU's");
    a = device_arrays();
    ACCEPT(distmap_plan_execute(plan, &a));
    ACCEPT(distmap_plan_wait(plan));
    CUDA(cudaGetDevice(&current));
    assert_int_equal(current, 1);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);

    const distmap_context_options there = {.device = DISTMAP_DEVICE_CUDA, .ordinal = 1, .stream = stream};
    ACCEPT(distmap_context_create(&there, &context));
    distmap_context_destroy(&context);
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(elsewhere));
    CUDA(cudaSetDevice(0));
    unsetenv("DISTMAP_EMULATION_DEVICES");
}

/* ---- Memory ---- */

static void test_views(void **state) {
    (void)state;
    distmap_context *context = open_gpu(), *cpu = NULL;
    distmap_plan *plan = plan_small(context, false), *staging = plan_small(context, true), *on_cpu = NULL;
    const distmap_problem p = small_problem();
    ACCEPT(distmap_context_create(NULL, &cpu));
    ACCEPT(distmap_plan_create(cpu, &p, NULL, &on_cpu));

    distmap_arrays a = small_arrays(mask, distance);
    REFUSE(distmap_plan_execute(plan, &a), ARGUMENT, "arrays.input lies in host memory: the plan's options must ask");
    a.input.space = DISTMAP_SPACE_CUDA;
    REFUSE(distmap_plan_execute(plan, &a), ARGUMENT, "arrays.input: space is CUDA, but its data lies in host memory");
    a = small_arrays(device_mask, distance);
    REFUSE(distmap_plan_execute(staging, &a), ARGUMENT, "arrays.input: space is HOST, but its data lies in a GPU's");
    a = device_arrays();
    REFUSE(distmap_plan_execute(on_cpu, &a), ARGUMENT, "arrays.input lies in a GPU's memory");
    a.distance.data = a.input.data;
    REFUSE(distmap_plan_execute(plan, &a), ARGUMENT, "overlap");

    distmap_plan_destroy(&on_cpu);
    distmap_plan_destroy(&staging);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&cpu);
    distmap_context_destroy(&context);
}

static void test_scratch(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    distmap_plan *plan = NULL;
    const distmap_problem p = small_problem();
    distmap_plan_options options = {.host_views = true};
    size_t alone = 0, staged = 0;
    ACCEPT(distmap_scratch_bytes(context, &p, NULL, &alone));
    ACCEPT(distmap_scratch_bytes(context, &p, &options, &staged));
    assert_true(staged >= alone + PIXELS * 5);
    char *memory;
    CUDA(cudaMalloc((void **)&memory, staged + 256));
    static char host[256] __attribute__((aligned(256)));
    options.scratch = memory;
    options.scratch_bytes = staged - 1;
    REFUSE(distmap_plan_create(context, &p, &options, &plan), ARGUMENT, "options.scratch_bytes");
    options.scratch_bytes = staged;
    options.scratch = memory + 64;
    REFUSE(distmap_plan_create(context, &p, &options, &plan), ARGUMENT, "not aligned to 256");
    options.scratch = host;
    REFUSE(distmap_plan_create(context, &p, &options, &plan), ARGUMENT, "not memory of device cuda:0");
    options.scratch = memory;
    ACCEPT(distmap_plan_create(context, &p, &options, &plan));
    memset(distance, 0, sizeof distance);
    const distmap_arrays a = small_arrays(mask, distance);
    ACCEPT(distmap_plan_execute(plan, &a));
    assert_memory_equal(distance, want, sizeof want);
    distmap_plan_destroy(&plan);
    CUDA(cudaFree(memory));
    distmap_context_destroy(&context);
}

static void test_memory(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    distmap_plan *plan = NULL;
    distmap_problem p = small_problem();
    p.ndim = 3;
    p.shape[0] = p.shape[1] = p.shape[2] = 1 << 15; /* beyond every GPU */
    REFUSE(distmap_plan_create(context, &p, NULL, &plan), MEMORY, "bytes of device memory, but device cuda:0 has");
    assert_null(plan);
    plan = plan_small(context, true);
    if (emulated)
        setenv("DISTMAP_EMULATION_MEMORY", "1", 1); /* from here on nothing can be allocated */
    const distmap_arrays a = small_arrays(mask, distance), b = device_arrays();
    for (int i = 0; i < 2; i++) {
        ACCEPT(distmap_plan_execute(plan, &a));
        ACCEPT(distmap_plan_execute(plan, &b));
        ACCEPT(distmap_plan_wait(plan));
    }
    unsetenv("DISTMAP_EMULATION_MEMORY");
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* ---- Execute ---- */

/* Every mixture of spaces, plain and page-locked host memory. */
static void test_spaces(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    distmap_plan *plan = plan_small(context, true);
    float *locked;
    CUDA(cudaMallocHost((void **)&locked, sizeof want));
    for (int kind = 0; kind < 6; kind++) {
        distmap_arrays a = small_arrays(mask, kind % 3 == 2 ? locked : distance);
        memset(a.distance.data, 0, sizeof want);
        if (kind >= 3)
            a.input = device_arrays().input;
        if (kind % 3 == 1) {
            CUDA(cudaMemset(device_distance, 0, sizeof want));
            a.distance = device_arrays().distance;
        }
        ACCEPT(distmap_plan_execute(plan, &a));
        ACCEPT(distmap_plan_wait(plan));
        if (kind % 3 == 1)
            CUDA(cudaMemcpy(distance, device_distance, sizeof want, cudaMemcpyDeviceToHost));
        assert_memory_equal(kind % 3 == 2 ? locked : distance, want, sizeof want);
        assert_int_equal(distmap_plan_flags(plan), 0);
    }
    CUDA(cudaFreeHost(locked));
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* Arrays of many slots of staging memory, in strides. */
static void test_staging(void **state) {
    (void)state;
    enum { SIDE = 1500, STEP = 2 };
    const int64_t shape[2] = {SIDE, SIDE};
    uint8_t *big = malloc((size_t)SIDE * SIDE * STEP);
    double *out[2];
    assert_non_null(big);
    paint(big, (size_t)SIDE * SIDE * STEP, 3000, 5);
    distmap_problem p = {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {SIDE, SIDE}, .want.distance = DISTMAP_FLOAT64};
    distmap_arrays a = {.input = distmap_view_make(big, DISTMAP_UINT8, 2, shape)};
    a.input.strides[0] *= STEP;
    a.input.strides[1] *= STEP;
    for (int gpu = 0; gpu < 2; gpu++) {
        distmap_context *context = NULL;
        distmap_plan *plan = NULL;
        out[gpu] = malloc((size_t)SIDE * SIDE * sizeof **out);
        assert_non_null(out[gpu]);
        a.distance = distmap_view_make(out[gpu], DISTMAP_FLOAT64, 2, shape);
        ACCEPT(distmap_context_create(gpu ? &on_gpu : NULL, &context));
        ACCEPT(distmap_plan_create(context, &p, &(distmap_plan_options){.host_views = true}, &plan));
        ACCEPT(distmap_plan_execute(plan, &a));
        distmap_plan_destroy(&plan);
        distmap_context_destroy(&context);
    }
    assert_memory_equal(out[0], out[1], (size_t)SIDE * SIDE * sizeof **out);
    free(out[0]);
    free(out[1]);
    free(big);
}

static void test_flags(void **state) {
    (void)state;
    static uint8_t full[PIXELS];
    memset(full, 1, sizeof full);
    distmap_context *context = open_gpu();
    distmap_plan *plan = plan_small(context, true);
    assert_int_equal(distmap_plan_flags(plan), 0);
    const distmap_arrays without = small_arrays(full, distance), with = device_arrays();
    ACCEPT(distmap_plan_execute(plan, &without));
    assert_true(isinf(distance[0]));
    assert_int_equal(distmap_plan_flags(plan), DISTMAP_FLAG_NO_SITE);
    ACCEPT(distmap_plan_execute(plan, &with));
    assert_int_equal(distmap_plan_flags(plan), 0);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

static void test_values(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    distmap_plan *plan = NULL;
    static float samples[PIXELS];
    void *device_samples;
    CUDA(cudaMalloc(&device_samples, sizeof samples));
    distmap_problem p = small_problem();
    p.input = DISTMAP_INPUT_SAMPLED;
    p.dtype = DISTMAP_FLOAT32;
    ACCEPT(distmap_plan_create(context, &p, &(distmap_plan_options){.host_views = true}, &plan));
    for (int bad = 1; bad >= 0; bad--) {
        samples[7] = bad ? -1 : 1;
        distmap_arrays a = {.input = distmap_view_make(samples, DISTMAP_FLOAT32, 2, small_shape),
                            .distance = distmap_view_make(distance, DISTMAP_FLOAT32, 2, small_shape)};
        CUDA(cudaMemcpy(device_samples, samples, sizeof samples, cudaMemcpyHostToDevice));
        const distmap_status status = bad ? DISTMAP_ERROR_VALUE : DISTMAP_OK;
        check_text(distmap_plan_execute(plan, &a), status, bad ? "a sample is negative" : "", __LINE__);
        check_text(distmap_plan_wait(plan), status, "", __LINE__);
        a.input = on_device(a.input, device_samples);
        a.distance = on_device(a.distance, device_distance);
        ACCEPT(distmap_plan_execute(plan, &a));
        check_text(distmap_plan_wait(plan), status, bad ? "a sample is negative" : "", __LINE__);
    }
    CUDA(cudaFree(device_samples));
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

static int stop_at_once(void *user, double fraction) {
    *(double *)user = fraction;
    return 1;
}

static void test_cancel(void **state) {
    (void)state;
    double fraction = -1;
    distmap_context_options options = on_gpu;
    options.progress = stop_at_once;
    options.progress_user = &fraction;
    distmap_context *context = NULL;
    ACCEPT(distmap_context_create(&options, &context));
    distmap_plan *plan = plan_small(context, true);
    const distmap_arrays a = small_arrays(mask, distance);
    REFUSE(distmap_plan_execute(plan, &a), CANCELLED, "cancelled");
    assert_true(fraction > 0 && fraction <= 1);
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* ---- Faults ---- */

static void test_fault(void **state) {
    (void)state;
    if (!emulated)
        skip();
    distmap_context *context = open_gpu();
    distmap_plan *plan = plan_small(context, true), *other = NULL;
    const distmap_problem p = small_problem();
    distmap_arrays a = small_arrays(mask, distance);
    CUDA(cudaDeviceSynchronize());
    for (int staged = 0; staged < 2; staged++) {
        char launch[16] = "1";
        setenv("DISTMAP_EMULATION_FAULT", launch, 1);
        CUDA(cudaDeviceReset());
        distmap_plan_destroy(&plan);
        distmap_context_destroy(&context);
        CUDA(cudaMalloc(&device_mask, PIXELS));
        CUDA(cudaMalloc(&device_distance, sizeof want));
        context = open_gpu();
        plan = plan_small(context, true);
        a = staged ? small_arrays(mask, distance) : device_arrays();
        distmap_status status = distmap_plan_execute(plan, &a);
        if (status == DISTMAP_OK)
            status = distmap_plan_wait(plan);
        check_text(status, DISTMAP_ERROR_DEVICE, "this context is lost", __LINE__);
        REFUSE(distmap_plan_execute(plan, &a), DEVICE, "");
        REFUSE(distmap_plan_create(context, &p, NULL, &other), DEVICE, "lost");
        REFUSE(distmap_context_set_stream(context, NULL), DEVICE, "lost");
        assert_null(other);
        assert_int_equal(distmap_plan_flags(plan), 0);
    }
    unsetenv("DISTMAP_EMULATION_FAULT");
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    CUDA(cudaDeviceReset());
    CUDA(cudaMalloc(&device_mask, PIXELS));
    CUDA(cudaMalloc(&device_distance, sizeof want));
    CUDA(cudaMemcpy(device_mask, mask, sizeof mask, cudaMemcpyHostToDevice));
}

static void test_fork(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    distmap_plan *plan = plan_small(context, true);
    const distmap_arrays a = small_arrays(mask, distance);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const bool told =
            distmap_plan_execute(plan, &a) == DISTMAP_ERROR_DEVICE && strstr(distmap_error_text(), "before a fork");
        distmap_plan_destroy(&plan);
        distmap_context_destroy(&context);
        _exit(told ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ACCEPT(distmap_plan_execute(plan, &a));
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

static int set_up(void **state) {
    (void)state;
    distmap_device_info info;
    paint(mask, PIXELS, 40, 9);
    if (distmap_edt(mask, 2, small_shape, want) != DISTMAP_OK ||
        distmap_device_describe(DISTMAP_DEVICE_CUDA, 0, &info) != DISTMAP_OK) {
        fprintf(stderr, "%s\n", distmap_error_text());
        return 1;
    }
    emulated = strstr(info.name, "emulation");
    return cudaMalloc(&device_mask, PIXELS) != cudaSuccess ||
           cudaMalloc(&device_distance, sizeof want) != cudaSuccess ||
           cudaMemcpy(device_mask, mask, PIXELS, cudaMemcpyHostToDevice) != cudaSuccess;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe),  cmocka_unit_test(test_context), cmocka_unit_test(test_other_gpu),
        cmocka_unit_test(test_views),  cmocka_unit_test(test_scratch), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_spaces), cmocka_unit_test(test_staging), cmocka_unit_test(test_flags),
        cmocka_unit_test(test_values), cmocka_unit_test(test_cancel),  cmocka_unit_test(test_fork),
        cmocka_unit_test(test_fault),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
