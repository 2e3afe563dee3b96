/* The emulated runtime API: errors, devices, kernels' attributes. */
#include "device.h"

#include <map>
#include <set>
#include <stdio.h>
#include <stdlib.h>

std::recursive_mutex device_mutex;

static thread_local int current_device; /* as in CUDA, each thread has its own, and its own last error */
static thread_local cudaError_t last_error;
static bool fault_pending, faulted;
static unsigned long long launches;
static std::map<const void *, int> shared_limits;
static std::set<std::pair<int, int>> peers; /* who may use whose memory */

unsigned long long device_knob(const char *name, unsigned long long fallback) {
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : fallback;
}

static int device_count(void) { return (int)device_knob("DISTMAP_EMULATION_DEVICES", 1); }
static size_t device_shared(void) { return device_knob("DISTMAP_EMULATION_SHARED", DEVICE_SHARED_OPTIN); }
static int driver_version(void) { return (int)device_knob("DISTMAP_EMULATION_DRIVER", CUDART_VERSION); }

cudaError_t device_result(cudaError_t error) {
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

cudaError_t device_ready(void) {
    device_seed();
    if (driver_version() < CUDART_VERSION)
        return cudaErrorInsufficientDriver;
    if (device_count() == 0)
        return cudaErrorNoDevice;
    faulted |= fault_pending;
    return faulted ? cudaErrorIllegalAddress : cudaSuccess;
}

bool device_launch_faults(void) {
    const bool faults = ++launches == device_knob("DISTMAP_EMULATION_FAULT", 0);
    fault_pending |= faults;
    return faults;
}

int device_current(void) { return current_device; }

/* ---- Drawn numbers: a counter, mixed (any good mixer will do); 0 where no seed is set ---- */

static uint64_t seed, drawn;

void device_seed(void) {
    const uint64_t wanted = device_knob("DISTMAP_EMULATION_SEED", 0);
    if (wanted != seed)
        seed = drawn = wanted;
}

uint32_t emulation_draw(void) {
    if (!seed)
        return 0;
    uint64_t x = drawn += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)((x ^ x >> 29) * 0x94d049bb133111ebu >> 32);
}

/* ---- Errors ---- */

static const struct {
    cudaError_t error;
    const char *name, *text;
} error_rows[] = {
#define ROW(error, text) \
    { error, #error, text }
    ROW(cudaSuccess, "no error"),
    ROW(cudaErrorInvalidValue, "invalid argument"),
    ROW(cudaErrorMemoryAllocation, "out of memory"),
    ROW(cudaErrorInitializationError, "initialization error"),
    ROW(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ROW(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ROW(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    ROW(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ROW(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ROW(cudaErrorInvalidDevice, "invalid device ordinal"),
    ROW(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    ROW(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    ROW(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ROW(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    ROW(cudaErrorNotReady, "device not ready"),
    ROW(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ROW(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ROW(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ROW(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    ROW(cudaErrorLaunchFailure, "unspecified launch failure"),
    ROW(cudaErrorNotSupported, "operation not supported"),
    ROW(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ROW(cudaErrorUnknown, "unknown error"),
#undef ROW
};

const char *cudaGetErrorName(cudaError_t error) {
    for (const auto &row : error_rows)
        if (row.error == error)
            return row.name;
    return "unrecognized error code";
}
const char *cudaGetErrorString(cudaError_t error) {
    for (const auto &row : error_rows)
        if (row.error == error)
            return row.text;
    return "unrecognized error code";
}

cudaError_t cudaPeekAtLastError(void) {
    device_lock lock(device_mutex);
    return faulted ? cudaErrorIllegalAddress : last_error;
}
cudaError_t cudaGetLastError(void) {
    const cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

/* ---- Devices ---- */

cudaError_t cudaDriverGetVersion(int *version) {
    if (!version)
        return device_result(cudaErrorInvalidValue);
    *version = driver_version();
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
    if (!version)
        return device_result(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
    if (count)
        *count = driver_version() < CUDART_VERSION ? 0 : device_count();
    DEVICE_CALL(count ? cudaSuccess : cudaErrorInvalidValue);
}

static bool is_device(int device) { return device >= 0 && device < device_count(); }

cudaError_t cudaSetDevice(int device) {
    DEVICE_CALL(is_device(device) ? (current_device = device, cudaSuccess) : cudaErrorInvalidDevice);
}
cudaError_t cudaGetDevice(int *device) {
    DEVICE_CALL(device ? (*device = current_device, cudaSuccess) : cudaErrorInvalidValue);
}
cudaError_t cudaDeviceSynchronize(void) { DEVICE_CALL(cudaSuccess); }

cudaError_t cudaDeviceReset(void) {
    device_lock lock(device_mutex);
    memory_reset();
    streams_reset();
    shared_limits.clear();
    peers.clear();
    fault_pending = faulted = false;
    launches = 0;
    current_device = 0;
    last_error = cudaSuccess;
    return cudaSuccess;
}

static cudaError_t can_access(int *can, int device, int peer) {
    if (!can)
        return cudaErrorInvalidValue;
    if (!is_device(device) || !is_device(peer))
        return cudaErrorInvalidDevice;
    *can = device != peer && device_knob("DISTMAP_EMULATION_PEERS", 1);
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) { DEVICE_CALL(can_access(can, device, peer)); }

static cudaError_t enable_access(int peer, unsigned flags) {
    int can;
    const cudaError_t error = flags ? cudaErrorInvalidValue : can_access(&can, current_device, peer);
    if (error != cudaSuccess)
        return error;
    if (!can)
        return cudaErrorPeerAccessUnsupported;
    return peers.insert({current_device, peer}).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) { DEVICE_CALL(enable_access(peer, flags)); }

bool device_reaches(int device, int memory) { return device == memory || peers.count({device, memory}); }

static cudaError_t properties_of(cudaDeviceProp *p, int device) {
    if (!p)
        return cudaErrorInvalidValue;
    if (!is_device(device))
        return cudaErrorInvalidDevice;
    *p = cudaDeviceProp();
    snprintf(p->name, sizeof p->name, "CUDA emulation %d", device);
    p->totalGlobalMem = device_knob("DISTMAP_EMULATION_MEMORY", 4ull << 30);
    p->sharedMemPerBlock = DEVICE_SHARED;
    p->sharedMemPerBlockOptin = device_shared();
    p->sharedMemPerMultiprocessor = device_shared() + DEVICE_SHARED_OWN;
    p->major = __CUDA_ARCH__ / 100;
    p->minor = __CUDA_ARCH__ / 10 % 10;
    p->multiProcessorCount = DEVICE_SMS;
    p->warpSize = warpSize;
    p->maxThreadsPerBlock = DEVICE_THREADS;
    p->maxThreadsPerMultiProcessor = DEVICE_THREADS_SM;
    p->l2CacheSize = 1 << 20;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = DEVICE_THREADS;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->memoryPoolsSupported = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    DEVICE_CALL(properties_of(properties, device));
}

static cudaError_t attribute_of(int *value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    const cudaError_t error = properties_of(&p, device);
    if (error != cudaSuccess || !value)
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrIntegrated: *value = p.integrated; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)p.sharedMemPerMultiprocessor; break;
    case cudaDevAttrPageableMemoryAccess: *value = p.pageableMemoryAccess; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    case cudaDevAttrMemoryPoolsSupported: *value = p.memoryPoolsSupported; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    DEVICE_CALL(attribute_of(value, attribute, device));
}

/* ---- Kernels ---- */

size_t function_shared(const void *kernel) {
    size_t limit = DEVICE_SHARED;
    for (const auto &row : shared_limits)
        if (!kernel || row.first == kernel)
            limit = max(limit, (size_t)row.second);
    return limit;
}

static cudaError_t set_attribute(const void *kernel, cudaFuncAttribute attribute, int value) {
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || value > (int)device_shared())
        return cudaErrorInvalidValue;
    shared_limits[kernel] = value;
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value) {
    DEVICE_CALL(set_attribute(kernel, attribute, value));
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel) {
    if (attributes) {
        *attributes = cudaFuncAttributes();
        attributes->maxThreadsPerBlock = DEVICE_THREADS;
        attributes->numRegs = 32;
        attributes->ptxVersion = attributes->binaryVersion = __CUDA_ARCH__ / 10;
        device_lock lock(device_mutex);
        attributes->maxDynamicSharedSizeBytes = (int)function_shared(kernel);
    }
    DEVICE_CALL(!attributes ? cudaErrorInvalidValue : !kernel ? cudaErrorInvalidDeviceFunction : cudaSuccess);
}

static cudaError_t occupancy(int *blocks, const void *kernel, int threads, size_t shared) {
    if (!blocks || threads <= 0)
        return cudaErrorInvalidValue;
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    const int by_threads = threads > DEVICE_THREADS ? 0 : DEVICE_THREADS_SM / ((threads + 31) / 32 * 32);
    const int by_shared = shared > function_shared(kernel)
                              ? 0
                              : (int)((device_shared() + DEVICE_SHARED_OWN) / (shared + DEVICE_SHARED_OWN));
    *blocks = min(min(by_threads, by_shared), DEVICE_BLOCKS_SM);
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads, size_t shared) {
    DEVICE_CALL(occupancy(blocks, kernel, threads, shared));
}
