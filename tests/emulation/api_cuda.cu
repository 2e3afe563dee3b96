/* The emulated runtime API from a host's side: memory and its limits, copies and their checks, streams, events, errors of
 * launches, and what the environment can ask for. Only of the emulation: a device has no such knobs. */
#include "check_cuda.h"

#include <stdint.h>

static __global__ void nothing(void) {}
static __global__ void touch(int *p) { p[threadIdx.x] = (int)threadIdx.x; }
static __global__ void use_shared(unsigned char *out, unsigned bytes) {
    DM_DYNAMIC_SHARED(unsigned char, buffer);
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x)
        buffer[i] = (unsigned char)i;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x)
        out[i] = buffer[bytes - 1 - i];
}

static void check_memory(void) {
    char host[100], back[100], *device = NULL, *pinned = NULL;
    size_t free_bytes, total;
    cudaPointerAttributes at;
    for (int i = 0; i < 100; i++)
        host[i] = (char)check_draw();
    setenv("DISTMAP_EMULATION_MEMORY", "1000", 1);
    CUDA(cudaMalloc(&device, 600));
    CHECK_CUDA(cudaMalloc((void **)&pinned, 401), cudaErrorMemoryAllocation);
    CHECK(pinned == NULL, "a failed allocation gives no pointer");
    CHECK_CUDA(cudaGetLastError(), cudaErrorMemoryAllocation);
    CHECK_CUDA(cudaGetLastError(), cudaSuccess);
    CUDA(cudaMallocHost(&pinned, 5000));
    CUDA(cudaMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes == 400 && total == 1000, "%zu of %zu are free", free_bytes, total);

    CUDA(cudaMemcpyAsync(device + 500, host, 100, cudaMemcpyHostToDevice, NULL));
    CUDA(cudaMemcpy(pinned, device + 500, 100, cudaMemcpyDefault));
    CHECK(memcmp(pinned, host, 100) == 0, "to the device and back");
    CHECK_CUDA(cudaMemcpy(device + 501, host, 100, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_CUDA(cudaMemcpy(back, host, 100, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_CUDA(cudaMemcpy(back, host, 100, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    CHECK_CUDA(cudaMemcpy(device, device + 8, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_CUDA(cudaMemset(host, 0, 8), cudaErrorInvalidValue);
    CUDA(cudaMemset(device, 7, 600));
    CUDA(cudaMemcpy2DAsync(device + 3, 50, host, 10, 10, 10, cudaMemcpyHostToDevice, NULL));
    CUDA(cudaMemcpy2DAsync(back, 10, device + 3, 50, 10, 10, cudaMemcpyDeviceToHost, NULL));
    CHECK(memcmp(back, host, 100) == 0, "a pitched copy");
    CHECK_CUDA(cudaMemcpy2DAsync(device + 141, 50, host, 10, 10, 10, cudaMemcpyHostToDevice, NULL),
               cudaErrorInvalidValue);
    CUDA(cudaMemcpy(back, device + 13, 40, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 40; i++)
        CHECK(back[i] == 7, "between the rows of a pitched copy");

    CUDA(cudaPointerGetAttributes(&at, device + 599));
    CHECK(at.type == cudaMemoryTypeDevice && at.device == 0, "device memory is known");
    CUDA(cudaPointerGetAttributes(&at, device + 600));
    CHECK(at.type == cudaMemoryTypeUnregistered, "what follows is not");
    CUDA(cudaPointerGetAttributes(&at, pinned));
    CHECK(at.type == cudaMemoryTypeHost, "pinned memory is known");
    CHECK_CUDA(cudaFree(device + 1), cudaErrorInvalidValue);
    CHECK_CUDA(cudaFreeHost(device), cudaErrorInvalidValue);
    CUDA(cudaFree(device));
    CHECK_CUDA(cudaFree(device), cudaErrorInvalidValue);
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFree(NULL));
    unsetenv("DISTMAP_EMULATION_MEMORY");
    (void)cudaGetLastError();
}

static void check_launches(void) {
    unsigned char *out, host[60000];
    CUDA(cudaMalloc(&out, sizeof host));
    const struct {
        dim3 grid, block;
        cudaError_t expected;
    } shapes[] = {
        {1, 1024, cudaSuccess},
        {1, 1025, cudaErrorInvalidConfiguration},
        {1, dim3(32, 33), cudaErrorInvalidConfiguration},
        {1, dim3(1, 1, 65), cudaErrorInvalidConfiguration},
        {0, 32, cudaErrorInvalidConfiguration},
        {1, 0, cudaErrorInvalidConfiguration},
        {dim3(1, 65535), 1, cudaSuccess},
        {dim3(1, 65536), 1, cudaErrorInvalidConfiguration},
        {dim3(1, 1, 65536), 1, cudaErrorInvalidConfiguration},
    };
    for (const auto &shape : shapes) {
        DM_LAUNCH(nothing, shape.grid, shape.block, 0, NULL);
        CHECK_CUDA(cudaGetLastError(), shape.expected);
    }
    DM_LAUNCH(use_shared, 1, 100, 48 << 10, NULL, out, 48 << 10);
    CHECK_CUDA(cudaGetLastError(), cudaSuccess);
    DM_LAUNCH(use_shared, 1, 100, sizeof host, NULL, out, sizeof host);
    CHECK_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK_CUDA(cudaFuncSetAttribute(use_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, (227 << 10) + 1),
               cudaErrorInvalidValue);
    (void)cudaGetLastError();
    CUDA(cudaFuncSetAttribute(use_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof host));
    DM_LAUNCH(use_shared, 1, 100, sizeof host, NULL, out, sizeof host);
    check_to_host(host, out, sizeof host);
    for (size_t i = 0; i < sizeof host; i++)
        CHECK(host[i] == (unsigned char)(sizeof host - 1 - i), "shared memory at %zu", i);
    int blocks = 0;
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use_shared, 256, sizeof host));
    CHECK(blocks == 3, "%d blocks of 60,000 bytes in 228 KB", blocks);
    setenv("DISTMAP_EMULATION_SHARED", "60000", 1);
    int shared = 0;
    CUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK(shared == 60000, "%d bytes of shared memory to a block", shared);
    CHECK_CUDA(cudaFuncSetAttribute(use_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60001),
               cudaErrorInvalidValue);
    (void)cudaGetLastError();
    CUDA(cudaFuncSetAttribute(use_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use_shared, 256, 60000));
    CHECK(blocks == 1, "%d blocks of 60,000 bytes in 61,024", blocks);
    unsetenv("DISTMAP_EMULATION_SHARED");
    CUDA(cudaFree(out));
}

static void set_flag(void *flag) { *(int *)flag = 1; }

static void check_streams(void) {
    cudaStream_t stream, other;
    cudaEvent_t event, later, untimed;
    cudaStreamCaptureStatus capture;
    int flag = 0, device = -1;
    float milliseconds = -1;
    setenv("DISTMAP_EMULATION_DEVICES", "2", 1);
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventCreate(&later));
    CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    CUDA(cudaSetDevice(1));
    CUDA(cudaStreamCreate(&other));
    CUDA(cudaSetDevice(0));
    CHECK_CUDA(cudaSetDevice(2), cudaErrorInvalidDevice);
    CUDA(cudaStreamGetDevice(other, &device));
    CHECK(device == 1, "the stream is of device %d", device);
    CHECK_CUDA(cudaEventRecord(event, other), cudaErrorInvalidResourceHandle);
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, event, later), cudaErrorInvalidResourceHandle);
    CUDA(cudaEventRecord(event, stream));
    CUDA(cudaEventRecord(later, stream));
    CUDA(cudaEventRecord(untimed, stream));
    CUDA(cudaStreamWaitEvent(other, event, 0));
    CUDA(cudaEventQuery(event));
    CUDA(cudaEventSynchronize(event));
    CUDA(cudaEventElapsedTime(&milliseconds, event, later));
    CHECK(milliseconds >= 0, "%f ms", milliseconds);
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, event, untimed), cudaErrorInvalidResourceHandle);
    CUDA(cudaLaunchHostFunc(stream, set_flag, &flag));
    CHECK(flag == 1, "the host function was called");
    CUDA(cudaStreamIsCapturing(stream, &capture));
    CHECK(capture == cudaStreamCaptureStatusNone, "no capture");
    CHECK_CUDA(cudaStreamSynchronize((cudaStream_t)&flag), cudaErrorInvalidResourceHandle);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaStreamDestroy(stream));
    CHECK_CUDA(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
    CUDA(cudaStreamDestroy(other));
    CUDA(cudaEventDestroy(event));
    CUDA(cudaEventDestroy(later));
    CUDA(cudaEventDestroy(untimed));
    unsetenv("DISTMAP_EMULATION_DEVICES");
    (void)cudaGetLastError();
}

/* Copies between devices name both, and access is to be had once. */
static void check_peers(void) {
    char host[60], back[60] = {0}, *memory[2];
    int can = -1;
    for (int i = 0; i < 60; i++)
        host[i] = (char)check_draw();
    setenv("DISTMAP_EMULATION_DEVICES", "2", 1);
    for (int device = 0; device < 2; device++) {
        CUDA(cudaSetDevice(device));
        CUDA(cudaMalloc(&memory[device], sizeof host));
        CUDA(cudaMemset(memory[device], 0, sizeof host));
    }
    CUDA(cudaMemcpy(memory[0], host, sizeof host, cudaMemcpyHostToDevice));
    cudaMemcpy3DPeerParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(memory[0] + 2, 10, 10, 5);
    copy.dstPtr = make_cudaPitchedPtr(memory[1] + 2, 10, 10, 5);
    copy.extent = make_cudaExtent(3, 6, 1);
    copy.dstDevice = 1;
    CUDA(cudaMemcpy3DPeerAsync(&copy, NULL));
    CUDA(cudaMemcpy(back, memory[1], sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 60; i++)
        CHECK(back[i] == (i % 10 >= 2 && i % 10 < 5 ? host[i] : 0), "byte %d", i);
    copy.srcDevice = 1;
    CHECK_CUDA(cudaMemcpy3DPeerAsync(&copy, NULL), cudaErrorInvalidValue);
    copy.srcDevice = 0;
    copy.extent.height = 7;
    CHECK_CUDA(cudaMemcpy3DPeerAsync(&copy, NULL), cudaErrorInvalidValue);
    CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1, "devices may read each other's memory");
    CHECK_CUDA(cudaDeviceCanAccessPeer(&can, 0, 2), cudaErrorInvalidDevice);
    CUDA(cudaDeviceEnablePeerAccess(0, 0));
    CHECK_CUDA(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
    CHECK_CUDA(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessUnsupported);
    setenv("DISTMAP_EMULATION_PEERS", "0", 1);
    CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 0, "they may not");
    for (int device = 0; device < 2; device++)
        CUDA(cudaFree(memory[device]));
    CUDA(cudaSetDevice(0));
    unsetenv("DISTMAP_EMULATION_PEERS");
    unsetenv("DISTMAP_EMULATION_DEVICES");
    (void)cudaGetLastError();
}

static void check_absence(void) {
    int count = -1, version = -1;
    setenv("DISTMAP_EMULATION_DEVICES", "0", 1);
    CHECK_CUDA(cudaGetDeviceCount(&count), cudaErrorNoDevice);
    CHECK(count == 0, "%d devices", count);
    DM_LAUNCH(nothing, 1, 1, 0, NULL);
    CHECK_CUDA(cudaGetLastError(), cudaErrorNoDevice);
    unsetenv("DISTMAP_EMULATION_DEVICES");
    setenv("DISTMAP_EMULATION_DRIVER", "12080", 1);
    CHECK_CUDA(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
    CUDA(cudaDriverGetVersion(&version));
    CHECK(version == 12080, "driver %d", version);
    unsetenv("DISTMAP_EMULATION_DRIVER");
    (void)cudaGetLastError();
    CUDA(cudaGetDeviceCount(&count));
    CHECK(count == 1, "%d devices", count);
}

/* The third launch faults; the error is met by what comes after, stays, and goes with a reset. */
static void check_fault(void) {
    int *device, host[4] = {-1, -1, -1, -1};
    CUDA(cudaDeviceReset());
    CUDA(cudaMalloc(&device, sizeof host));
    CUDA(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    setenv("DISTMAP_EMULATION_FAULT", "3", 1);
    DM_LAUNCH(nothing, 1, 1, 0, NULL);
    DM_LAUNCH(nothing, 1, 1, 0, NULL);
    CUDA(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    DM_LAUNCH(touch, 1, 4, 0, NULL, device);
    CHECK_CUDA(cudaGetLastError(), cudaSuccess);
    CHECK_CUDA(cudaStreamSynchronize(NULL), cudaErrorIllegalAddress);
    CHECK_CUDA(cudaGetLastError(), cudaErrorIllegalAddress);
    CHECK_CUDA(cudaGetLastError(), cudaErrorIllegalAddress);
    CHECK_CUDA(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress);
    CHECK_CUDA(cudaFree(device), cudaErrorIllegalAddress);
    CUDA(cudaDeviceReset());
    unsetenv("DISTMAP_EMULATION_FAULT");
    CUDA(cudaMalloc(&device, sizeof host));
    DM_LAUNCH(touch, 1, 4, 0, NULL, device);
    check_to_host(host, device, 4);
    CHECK(host[3] == 3, "the device works again");
    CUDA(cudaFree(device));
}

static __global__ void fetch(cudaTextureObject_t texture, float *out) {
    const float x = (float)(threadIdx.x % 8), y = (float)(threadIdx.x / 8);
    out[threadIdx.x] = tex2D<float>(texture, x - 1.5f, y - 0.5f);
}

/* Rows of five floats, eight apart: ends are replicated, and what devices refuse is refused. */
static void check_textures(void) {
    float host[32], got[40], *memory, *out;
    cudaTextureObject_t texture = 0;
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    for (int i = 0; i < 32; i++)
        host[i] = (float)i;
    CUDA(cudaMalloc(&memory, 512 + sizeof host));
    CUDA(cudaMalloc(&out, sizeof got));
    float *aligned = (float *)(((uintptr_t)memory + 511) / 512 * 512);
    CUDA(cudaMemcpy(aligned, host, sizeof host, cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = aligned;
    resource.res.pitch2D.desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    resource.res.pitch2D.width = 5;
    resource.res.pitch2D.height = 4;
    resource.res.pitch2D.pitchInBytes = 32;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    CUDA(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    DM_LAUNCH(fetch, 1, 40, 0, NULL, texture, out);
    check_to_host(got, out, 40);
    for (int i = 0; i < 40; i++) {
        const int x = i % 8 - 2, y = i / 8 - 1, column = x < 0 ? 0 : x > 4 ? 4 : x, row = y < 0 ? 0 : y;
        CHECK(got[i] == (float)(row * 8 + column), "fetch %d gives %g", i, (double)got[i]);
    }
    CUDA(cudaDestroyTextureObject(texture));
    CHECK_CUDA(cudaDestroyTextureObject(texture), cudaErrorInvalidValue);
    resource.res.pitch2D.devPtr = aligned + 4;
    CHECK_CUDA(cudaCreateTextureObject(&texture, &resource, &how, NULL), cudaErrorInvalidValue);
    resource.res.pitch2D.devPtr = aligned;
    resource.res.pitch2D.height = 65001;
    CHECK_CUDA(cudaCreateTextureObject(&texture, &resource, &how, NULL), cudaErrorInvalidValue);
    CUDA(cudaFree(memory));
    CUDA(cudaFree(out));
    (void)cudaGetLastError();
}

int main(void) {
    check_begin();
    check_memory();
    check_launches();
    check_textures();
    check_streams();
    check_peers();
    check_absence();
    check_fault();
    return check_end();
}
