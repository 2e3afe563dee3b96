/* A GPU, or its emulation: views in device memory on a stream of our own, and host views on the default stream. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "../require.h"
#include "runner.h"

const char *const runner_device = "cuda";

static cudaStream_t stream;

int runner_open(struct runner *runners) {
    distmap_device_info info;
    if (distmap_device_describe(DISTMAP_DEVICE_CUDA, 0, &info) != DISTMAP_OK) {
        fprintf(stderr, "%s\n", distmap_error_text());
        exit(1);
    }
    printf("on %s\n", info.name);
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    distmap_context_options options = {.device = DISTMAP_DEVICE_CUDA, .stream = stream};
    REQUIRE(distmap_context_create(&options, &runners[0].context) == DISTMAP_OK);
    runners[0].device_views = true;
    options.stream = NULL;
    REQUIRE(distmap_context_create(&options, &runners[1].context) == DISTMAP_OK);
    return 2;
}

void runner_close(struct runner *runners, int count) {
    for (int i = 0; i < count; i++)
        distmap_context_destroy(&runners[i].context);
    REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

distmap_view runner_send(const struct runner *runner, struct placed *placed) {
    distmap_view view = placed->view;
    if (!runner->device_views)
        return view;
    if (!placed->device)
        REQUIRE(cudaMalloc(&placed->device, placed->bytes) == cudaSuccess);
    REQUIRE(cudaMemcpyAsync(placed->device, placed->memory, placed->bytes, cudaMemcpyHostToDevice, stream) ==
            cudaSuccess);
    view.data = (char *)placed->device + ((unsigned char *)view.data - placed->memory);
    view.space = DISTMAP_SPACE_CUDA;
    return view;
}

void runner_fetch(const struct runner *runner, struct placed *placed) {
    if (!runner->device_views)
        return;
    REQUIRE(cudaMemcpyAsync(placed->memory, placed->device, placed->bytes, cudaMemcpyDeviceToHost, stream) ==
            cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
}

void runner_drop(struct placed *placed) {
    REQUIRE(cudaFree(placed->device) == cudaSuccess);
    free(placed->memory);
    placed->device = placed->memory = NULL;
}
