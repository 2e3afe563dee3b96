/* The emulated runtime API: memory. Device memory is the host's, in allocations of exactly the size asked for, so that the
 * address sanitizer finds what goes past their end; between calls they are closed to the host (memory_open). Copies check
 * both ends against the table of allocations. */
#include "device.h"

#include <map>
#include <stdlib.h>
#include <string.h>

#ifdef EMULATION_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#endif

struct allocation {
    size_t bytes;
    int device;
    cudaMemoryType type; /* device, or pinned host */
};
static std::map<uintptr_t, allocation> allocations; /* by address */
static int open_count;

/* The allocation that memory points into, or end(). */
static std::map<uintptr_t, allocation>::iterator owner_of(const void *memory) {
    auto next = allocations.upper_bound((uintptr_t)memory);
    if (next == allocations.begin())
        return allocations.end();
    auto own = std::prev(next);
    return (uintptr_t)memory - own->first < own->second.bytes ? own : allocations.end();
}

static size_t in_use(int device) {
    size_t bytes = 0;
    for (const auto &row : allocations)
        if (row.second.type == cudaMemoryTypeDevice && row.second.device == device)
            bytes += row.second.bytes;
    return bytes;
}
static size_t capacity(void) { return device_knob("DISTMAP_EMULATION_MEMORY", 4ull << 30); }

memory_open::memory_open(int device) {
    if (open_count++ != 0)
        return;
    for (const auto &row : allocations)
        if (device == ALL_DEVICES || device_reaches(device, row.second.device))
            ASAN_UNPOISON_MEMORY_REGION((void *)row.first, row.second.bytes);
}
memory_open::~memory_open() {
    if (--open_count == 0)
        for (const auto &row : allocations)
            if (row.second.type == cudaMemoryTypeDevice)
                ASAN_POISON_MEMORY_REGION((void *)row.first, row.second.bytes);
}

static cudaError_t allocate(void **memory, size_t bytes, cudaMemoryType type) {
    if (!memory)
        return cudaErrorInvalidValue;
    *memory = NULL;
    if (bytes == 0)
        return cudaSuccess;
    const size_t used = type == cudaMemoryTypeDevice ? in_use(device_current()) : 0;
    if (type == cudaMemoryTypeDevice && (used > capacity() || bytes > capacity() - used))
        return cudaErrorMemoryAllocation;
    if (posix_memalign(memory, 256, bytes) != 0) {
        *memory = NULL;
        return cudaErrorMemoryAllocation;
    }
    memset(*memory, 0xa5 ^ (int)(emulation_draw() & 255), bytes);
    allocations[(uintptr_t)*memory] = {bytes, device_current(), type};
    if (type == cudaMemoryTypeDevice && open_count == 0)
        ASAN_POISON_MEMORY_REGION(*memory, bytes);
    return cudaSuccess;
}

static cudaError_t release(void *memory, cudaMemoryType type) {
    if (!memory)
        return cudaSuccess;
    const auto own = allocations.find((uintptr_t)memory);
    if (own == allocations.end() || own->second.type != type)
        return cudaErrorInvalidValue;
    ASAN_UNPOISON_MEMORY_REGION(memory, own->second.bytes);
    allocations.erase(own);
    free(memory);
    return cudaSuccess;
}

void memory_reset(void) {
    while (!allocations.empty())
        release((void *)allocations.begin()->first, allocations.begin()->second.type);
}

cudaError_t cudaMalloc(void **memory, size_t bytes) { DEVICE_CALL(allocate(memory, bytes, cudaMemoryTypeDevice)); }
cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream) {
    DEVICE_CALL(stream_check(stream, NULL) != cudaSuccess ? cudaErrorInvalidResourceHandle
                                                          : allocate(memory, bytes, cudaMemoryTypeDevice));
}
cudaError_t cudaFree(void *memory) { DEVICE_CALL(release(memory, cudaMemoryTypeDevice)); }
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) {
    DEVICE_CALL(stream_check(stream, NULL) != cudaSuccess ? cudaErrorInvalidResourceHandle
                                                          : release(memory, cudaMemoryTypeDevice));
}
cudaError_t cudaMallocHost(void **memory, size_t bytes) { DEVICE_CALL(allocate(memory, bytes, cudaMemoryTypeHost)); }
cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags) {
    DEVICE_CALL(flags > 7 ? cudaErrorInvalidValue : allocate(memory, bytes, cudaMemoryTypeHost));
}
cudaError_t cudaFreeHost(void *memory) { DEVICE_CALL(release(memory, cudaMemoryTypeHost)); }

static cudaError_t info(size_t *free_bytes, size_t *total_bytes) {
    if (!free_bytes || !total_bytes)
        return cudaErrorInvalidValue;
    const size_t used = in_use(device_current());
    *total_bytes = capacity();
    *free_bytes = used < *total_bytes ? *total_bytes - used : 0;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) { DEVICE_CALL(info(free_bytes, total_bytes)); }

static cudaError_t attributes_of(cudaPointerAttributes *attributes, const void *memory) {
    if (!attributes)
        return cudaErrorInvalidValue;
    const auto own = owner_of(memory);
    void *address = (void *)memory;
    if (own == allocations.end())
        *attributes = {cudaMemoryTypeUnregistered, -2, NULL, address};
    else if (own->second.type == cudaMemoryTypeDevice)
        *attributes = {cudaMemoryTypeDevice, own->second.device, address, NULL};
    else
        *attributes = {cudaMemoryTypeHost, own->second.device, address, address};
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory) {
    DEVICE_CALL(attributes_of(attributes, memory));
}

/* ---- Copies ---- */

/* Whether `bytes` at memory may be a copy's end of that kind: all of it in one allocation of the device, or none of it. */
static bool fits(const void *memory, size_t bytes, bool device) {
    const auto own = owner_of(memory);
    if (own != allocations.end() && bytes > own->second.bytes - ((uintptr_t)memory - own->first))
        return false;
    return device == (own != allocations.end() && own->second.type == cudaMemoryTypeDevice);
}

static cudaError_t copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                        cudaMemcpyKind kind, cudaStream_t stream) {
    if (stream_check(stream, NULL) != cudaSuccess)
        return cudaErrorInvalidResourceHandle;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (height > 1 && (width > to_pitch || width > from_pitch))
        return cudaErrorInvalidValue;
    if (width == 0 || height == 0)
        return cudaSuccess;
    const auto device_at = [&](const void *memory) {
        const auto own = owner_of(memory);
        return own != allocations.end() && own->second.type == cudaMemoryTypeDevice;
    };
    const bool guess = kind == cudaMemcpyDefault;
    const bool to_device = guess ? device_at(to) : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device =
        guess ? device_at(from) : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (!to || !from || !fits(to, (height - 1) * to_pitch + width, to_device) ||
        !fits(from, (height - 1) * from_pitch + width, from_device))
        return cudaErrorInvalidValue;
    memory_open opened;
    for (size_t y = 0; y < height; y++)
        memmove((char *)to + y * to_pitch, (const char *)from + y * from_pitch, width);
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    DEVICE_CALL(copy(to, bytes, from, bytes, bytes, 1, kind, NULL));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    DEVICE_CALL(copy(to, bytes, from, bytes, bytes, 1, kind, stream));
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
    DEVICE_CALL(copy(to, to_pitch, from, from_pitch, width, height, kind, NULL));
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    DEVICE_CALL(copy(to, to_pitch, from, from_pitch, width, height, kind, stream));
}

/* Of rows alone, between the memories of two devices, which are named. */
static cudaError_t copy_between(const cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
    if (!p || p->srcArray || p->dstArray || p->extent.depth != 1)
        return cudaErrorInvalidValue;
    if (stream_check(stream, NULL) != cudaSuccess)
        return cudaErrorInvalidResourceHandle;
    const auto from = owner_of(p->srcPtr.ptr), to = owner_of(p->dstPtr.ptr);
    if (from == allocations.end() || from->second.device != p->srcDevice || to == allocations.end() ||
        to->second.device != p->dstDevice)
        return cudaErrorInvalidValue;
    return copy(p->dstPtr.ptr, p->dstPtr.pitch, p->srcPtr.ptr, p->srcPtr.pitch, p->extent.width, p->extent.height,
                cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *parms, cudaStream_t stream) {
    DEVICE_CALL(copy_between(parms, stream));
}

static cudaError_t fill(void *memory, int value, size_t bytes, cudaStream_t stream) {
    if (stream_check(stream, NULL) != cudaSuccess)
        return cudaErrorInvalidResourceHandle;
    if (bytes == 0)
        return cudaSuccess;
    if (!fits(memory, bytes, true))
        return cudaErrorInvalidValue;
    memory_open opened;
    memset(memory, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemset(void *memory, int value, size_t bytes) { DEVICE_CALL(fill(memory, value, bytes, NULL)); }
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
    DEVICE_CALL(fill(memory, value, bytes, stream));
}
