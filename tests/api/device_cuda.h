/* What the tests of GPUs share: a small problem, with its arrays in host and in device memory, and a GPU to run it on; that may
 * be the emulation, or a real one (`make check-gpu`), where what the emulation's environment asks for is left out. */
#ifndef TESTS_API_DEVICE_CUDA_H
#define TESTS_API_DEVICE_CUDA_H

#include "api.h"

#include <cuda_runtime.h>

static uint8_t mask[PIXELS];
static float want[PIXELS], distance[PIXELS];
static void *device_mask, *device_distance;
static bool emulated;

static inline void check_text(distmap_status got, distmap_status status, const char *text, int line) {
    if (got != status || !strstr(distmap_error_text(), text) || strchr(distmap_error_text(), '\n'))
        fail_msg("line %d: status %s, text '%s'; want %s with '%s'", line, distmap_status_name(got),
                 distmap_error_text(), distmap_status_name(status), text);
}

#define REFUSE(call, status, text) check_text(call, DISTMAP_ERROR_##status, text, __LINE__)
#define ACCEPT(call) assert_int_equal(call, DISTMAP_OK)
#define CUDA(call) assert_int_equal(call, cudaSuccess)

static const distmap_context_options on_gpu = {.device = DISTMAP_DEVICE_CUDA, .threads = 2};

static inline distmap_context *open_gpu(void) {
    distmap_context *context = NULL;
    ACCEPT(distmap_context_create(&on_gpu, &context));
    return context;
}

static inline distmap_plan *plan_small(distmap_context *context, bool host_views) {
    const distmap_problem p = small_problem();
    distmap_plan *plan = NULL;
    ACCEPT(distmap_plan_create(context, &p, &(distmap_plan_options){.host_views = host_views}, &plan));
    return plan;
}

static inline distmap_view on_device(distmap_view view, void *data) {
    view.data = data;
    view.space = DISTMAP_SPACE_CUDA;
    return view;
}

static inline distmap_arrays device_arrays(void) {
    distmap_arrays a = small_arrays(mask, distance);
    a.input = on_device(a.input, device_mask);
    a.distance = on_device(a.distance, device_distance);
    return a;
}

static inline int set_up(void **state) {
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

#endif
