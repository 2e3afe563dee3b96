/* NVIDIA GPUs as a row of the device table.
 *
 * The runtime is linked in statically and looks for the driver (libcuda.so.1) when it is first called, so the library loads
 * on any machine, and each way in which there is no GPU to use has a text of its own.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "cuda/team.h"

/* The lowest compute capability that kernels are compiled for. */
enum { LOWEST_MAJOR = 7, LOWEST_MINOR = 5 };

static void split_version(int version, int pair[2]) {
    pair[0] = version / 1000;
    pair[1] = version % 1000 / 10;
}

static int count(void) {
    int found = 0, driver = 0, ours = 0, d[2], r[2];
    const cudaError_t error = cudaGetDeviceCount(&found);
    if (error == cudaSuccess && found > 0)
        return found;
    (void)cudaGetLastError();
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&ours);
    split_version(driver, d);
    split_version(ours, r);
    if (driver == 0)
        dm_error(DISTMAP_ERROR_DEVICE, "device cuda: there is no NVIDIA driver (libcuda.so.1 cannot be loaded)");
    else if (error == cudaErrorInsufficientDriver)
        dm_error(DISTMAP_ERROR_DEVICE, "device cuda: the NVIDIA driver supports CUDA %d.%d, this library needs %d.%d",
                 d[0], d[1], r[0], r[1]);
    else if (error == cudaSuccess || error == cudaErrorNoDevice)
        dm_error(DISTMAP_ERROR_DEVICE,
                 "device cuda: the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES may hide it)");
    else
        dm_error(DISTMAP_ERROR_DEVICE, "device cuda: %s (%s)", cudaGetErrorString(error), cudaGetErrorName(error));
    return 0;
}

static distmap_status describe(int ordinal, distmap_device_info *info) {
    struct cudaDeviceProp properties;
    int driver, runtime;
    TRY_CUDA(NULL, cudaGetDeviceProperties(&properties, ordinal));
    TRY_CUDA(NULL, cudaDriverGetVersion(&driver));
    TRY_CUDA(NULL, cudaRuntimeGetVersion(&runtime));
    snprintf(info->name, sizeof info->name, "%s", properties.name);
    info->memory_bytes = properties.totalGlobalMem;
    info->shared_bytes = properties.sharedMemPerBlockOptin;
    info->multiprocessors = properties.multiProcessorCount;
    info->capability[0] = properties.major;
    info->capability[1] = properties.minor;
    split_version(driver, info->driver);
    split_version(runtime, info->runtime);
    return DISTMAP_OK;
}

/* An event of this GPU can be recorded on this GPU's streams alone. */
static distmap_status take_stream(struct dm_cuda *cuda, void *stream) {
    const cudaError_t error = cudaEventRecord(cuda->probe, (cudaStream_t)stream);
    if (error == cudaErrorInvalidResourceHandle || error == cudaErrorInvalidValue) {
        (void)cudaGetLastError();
        return dm_error(DISTMAP_ERROR_ARGUMENT, "stream is none of device cuda:%d", cuda->ordinal);
    }
    TRY_CUDA(cuda, error);
    cuda->stream = (cudaStream_t)stream;
    return DISTMAP_OK;
}

static distmap_status set_stream(distmap_context *context, void *stream) {
    int previous;
    TRY(dm_cuda_enter(context, &previous));
    const distmap_status status = take_stream(context->cuda, stream);
    dm_cuda_leave(previous);
    return status;
}

static distmap_status set_up(struct dm_cuda *cuda, void *stream) {
    distmap_device_info info;
    TRY(describe(cuda->ordinal, &info));
    if (info.capability[0] * 10 + info.capability[1] < LOWEST_MAJOR * 10 + LOWEST_MINOR)
        return dm_error(DISTMAP_ERROR_DEVICE, "device cuda:%d: %s has compute capability %d.%d, %d.%d is needed",
                        cuda->ordinal, info.name, info.capability[0], info.capability[1], LOWEST_MAJOR, LOWEST_MINOR);
    cuda->multiprocessors = info.multiprocessors;
    snprintf(cuda->isa, sizeof cuda->isa, "sm_%d%d", info.capability[0], info.capability[1]);
    cuda->shared_bytes = info.shared_bytes;
    TRY_CUDA(cuda, cudaStreamCreateWithFlags(&cuda->side, cudaStreamNonBlocking));
    TRY_CUDA(cuda, cudaEventCreateWithFlags(&cuda->probe, cudaEventDisableTiming));
    TRY_CUDA(cuda, cudaMallocHost((void **)&cuda->outcome, sizeof *cuda->outcome));
    return take_stream(cuda, stream);
}

static distmap_status open_context(distmap_context *context, const distmap_context_options *options) {
    const int found = count(), ordinal = options->ordinal;
    if (found == 0)
        return DISTMAP_ERROR_DEVICE;
    if (ordinal < 0 || ordinal >= found)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: ordinal is %d, must be 0 to %d", ordinal, found - 1);
    context->cuda = dm_allocate(context, sizeof *context->cuda);
    if (!context->cuda)
        return DISTMAP_ERROR_MEMORY;
    *context->cuda = (struct dm_cuda){.ordinal = ordinal, .owner = getpid()};
    int previous;
    TRY(dm_cuda_enter(context, &previous));
    const distmap_status status = set_up(context->cuda, options->stream);
    dm_cuda_leave(previous);
    return status;
}

static void close_context(distmap_context *context) {
    struct dm_cuda *cuda = context->cuda;
    int previous;
    if (!cuda)
        return;
    if (cuda->side && cuda->owner == getpid() && cudaGetDevice(&previous) == cudaSuccess &&
        cudaSetDevice(cuda->ordinal) == cudaSuccess) {
        if (cuda->outcome)
            (void)cudaFreeHost(cuda->outcome);
        if (cuda->probe)
            (void)cudaEventDestroy(cuda->probe);
        (void)cudaStreamDestroy(cuda->side);
        dm_cuda_leave(previous);
    }
    dm_release(context, cuda, sizeof *cuda);
}

static const char *isa(const distmap_context *context) { return context->cuda->isa; }

const dm_device dm_device_cuda = {
    .device = DISTMAP_DEVICE_CUDA,
    .name = "cuda",
    .space = DISTMAP_SPACE_CUDA,
    .count = count,
    .describe = describe,
    .open = open_context,
    .close = close_context,
    .set_stream = set_stream,
    .isa = isa,
    .scratch_bytes = dm_cuda_scratch_bytes,
    .reserve = dm_cuda_reserve,
    .release = dm_cuda_release,
    .check_view = dm_cuda_check_view,
    .execute = dm_cuda_execute,
    .wait = dm_cuda_wait,
    .phase = dm_cuda_phase,
    .several = &dm_device_team,
};
