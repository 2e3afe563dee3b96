/* The contracts of distmap.h about GPUs: which there are, what belongs to which, and memory. */
#include "device_cuda.h"

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
           "this context is for cuda");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe), cmocka_unit_test(test_context), cmocka_unit_test(test_other_gpu),
        cmocka_unit_test(test_views), cmocka_unit_test(test_scratch), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
