/* Timed plans on GPUs: phases by events, transfers apart, and execute that waits. */
#include "device_cuda.h"

static distmap_plan *plan_timed(distmap_context *context, const char *method, bool host_views) {
    const distmap_problem p = small_problem_of(distmap_method_find(method));
    distmap_plan *plan = NULL;
    const distmap_plan_options options = {.method = method, .timed = true, .host_views = host_views};
    ACCEPT(distmap_plan_create(context, &p, &options, &plan));
    return plan;
}

static double seconds_of(const distmap_plan *plan, distmap_phase_kind kind, size_t *count) {
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < distmap_plan_phase_count(plan); i++) {
        distmap_phase phase;
        ACCEPT(distmap_plan_phase_get(plan, i, &phase));
        assert_true(phase.name && phase.name[0] && phase.seconds >= 0);
        if (phase.kind == kind) {
            sum += phase.seconds;
            (*count)++;
        }
    }
    return sum;
}

/* Every method computes for some time; host views are transferred as well, device views are not. */
static void test_kinds(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    for (size_t row = 0; distmap_method_get(row); row++) {
        const distmap_method_info *info = distmap_method_get(row);
        if (strcmp(info->device, "cuda") != 0)
            continue;
        const distmap_arrays host = small_arrays_of(info, small_arrays(mask, distance));
        const distmap_arrays device = small_arrays_of(info, device_arrays());
        distmap_plan *plan = plan_timed(context, info->name, true);
        size_t count;
        for (int staged = 0; staged < 2; staged++) {
            ACCEPT(distmap_plan_execute(plan, staged ? &host : &device));
            assert_true(seconds_of(plan, DISTMAP_PHASE_COMPUTE, &count) > 0);
            assert_true(count > 0);
            const double transfers = seconds_of(plan, DISTMAP_PHASE_TRANSFER, &count);
            assert_int_equal(count, staged ? 2 : 0);
            assert_int_equal(transfers > 0, staged);
        }
        distmap_plan_destroy(&plan);
    }
    distmap_context_destroy(&context);
}

static void test_names(void **state) {
    (void)state;
    static const known_phases known[] = {
        {"edm/cuda", .names = {"step 1", "step 2"}},
        {"pba/cuda", .names = {"phase 1", "phase 2", "phase 3"}},
        {"psds/cuda", .names = {"row scans", "column scans", "search"}},
        {"minplus/cuda", .names = {"pack", "direct"}},
        {"esf/cuda", .names = {"load", "steps", "store"}},
        {"esf/cuda", .names = {"load", "steps", "store"}, .param = {"kernel", 1}},
        {"esf/cuda", .names = {"load", "steps", "store"}, .param = {"kernel", 2}},
        {"esf/cuda", .names = {"load", "pins", "cycles", "store"}, .at_rest = true},
        {"esf/cuda", .names = {"load", "sweeps", "store"}, .at_rest = true, .param = {"solver", 1}},
    };
    distmap_context *context = open_gpu();
    const distmap_arrays device = device_arrays();
    for (size_t row = 0; row < sizeof known / sizeof *known; row++)
        check_known_phases(context, &known[row], &device);
    distmap_context_destroy(&context);
}

/* Timed, execute itself tells what is wrong with device views. */
static void test_waits(void **state) {
    (void)state;
    distmap_context *context = open_gpu();
    distmap_plan *plan = NULL;
    static float samples[PIXELS];
    samples[3] = -1;
    void *device_samples;
    CUDA(cudaMalloc(&device_samples, sizeof samples));
    CUDA(cudaMemcpy(device_samples, samples, sizeof samples, cudaMemcpyHostToDevice));
    distmap_problem p = small_problem();
    p.input = DISTMAP_INPUT_SAMPLED;
    p.dtype = DISTMAP_FLOAT32;
    ACCEPT(distmap_plan_create(context, &p, &(distmap_plan_options){.timed = true}, &plan));
    distmap_arrays a = device_arrays();
    a.input = on_device(distmap_view_make(NULL, DISTMAP_FLOAT32, 2, small_shape), device_samples);
    REFUSE(distmap_plan_execute(plan, &a), VALUE, "a sample is negative");
    assert_int_equal(distmap_plan_phase_count(plan), 0);
    CUDA(cudaFree(device_samples));
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
}

/* Graphs need a real GPU. */
static void test_capture(void **state) {
    (void)state;
#ifdef EMULATION_CUDA_RUNTIME_API_H
    skip();
#else
    distmap_context_options options = on_gpu;
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    CUDA(cudaStreamCreate(&stream));
    options.stream = stream;
    distmap_context *context = NULL;
    ACCEPT(distmap_context_create(&options, &context));
    distmap_plan *plan = plan_timed(context, "minplus/cuda", false);
    const distmap_arrays device = device_arrays();
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    REFUSE(distmap_plan_execute(plan, &device), ARGUMENT, "timed");
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphDestroy(graph));
    ACCEPT(distmap_plan_execute(plan, &device));
    distmap_plan_destroy(&plan);
    distmap_context_destroy(&context);
    CUDA(cudaStreamDestroy(stream));
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_capture),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
