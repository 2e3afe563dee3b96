/* The emulated runtime API: textures. An object is the address of its description; what this cannot do is refused, and
 * so is what the device refuses: unaligned memory or rows, and sizes beyond its limits. */
#include "device.h"

#include <math.h>
#include <set>

enum : size_t {
    WIDEST = 131072,
    HIGHEST = 65000,
    HIGHEST_ARRAY = 65536,
    LONGEST = (size_t)1 << 27,
    WIDEST_PITCH = 2097120,
    ROW_UNIT = 32,
    MEMORY_UNIT = 512
};

struct cudaArray {
    float *memory;
    size_t width, height;
};

static std::set<cudaArray *> arrays;

static std::set<const cudaResourceDesc *> textures;

static bool is_float(const cudaChannelFormatDesc &c) {
    return c.x == 32 && !c.y && !c.z && !c.w && c.f == cudaChannelFormatKindFloat;
}

static bool is_known(const cudaResourceDesc *r, const cudaTextureDesc *t) {
    if (r->resType == cudaResourceTypeLinear) {
        const cudaChannelFormatDesc &c = r->res.linear.desc;
        return c.x == 32 && c.y == 32 && c.z == 32 && c.w == 32 && c.f == cudaChannelFormatKindSigned &&
               t->readMode == cudaReadModeElementType && !t->normalizedCoords;
    }
    const bool rows = r->resType == cudaResourceTypePitch2D && is_float(r->res.pitch2D.desc);
    return (rows || r->resType == cudaResourceTypeArray) && t->addressMode[0] == cudaAddressModeClamp &&
           t->addressMode[1] == cudaAddressModeClamp && t->filterMode == cudaFilterModePoint &&
           t->readMode == cudaReadModeElementType && !t->normalizedCoords;
}

static cudaError_t keep(cudaTextureObject_t *texture, const cudaResourceDesc *r) {
    const cudaResourceDesc *own = new cudaResourceDesc(*r);
    textures.insert(own);
    *texture = (cudaTextureObject_t)(uintptr_t)own;
    return cudaSuccess;
}

static cudaError_t create(cudaTextureObject_t *texture, const cudaResourceDesc *r, const cudaTextureDesc *t) {
    if (!texture || !r || !t)
        return cudaErrorInvalidValue;
    if (!is_known(r, t))
        return cudaErrorNotSupported;
    if (r->resType == cudaResourceTypeArray)
        return arrays.count(r->res.array.array) ? keep(texture, r) : cudaErrorInvalidValue;
    if (r->resType == cudaResourceTypeLinear) {
        const auto &line = r->res.linear;
        return !line.devPtr || (uintptr_t)line.devPtr % MEMORY_UNIT || line.sizeInBytes / 16 > LONGEST
                   ? cudaErrorInvalidValue
                   : keep(texture, r);
    }
    const auto &p = r->res.pitch2D;
    cudaPointerAttributes first, last;
    const char *memory = (const char *)p.devPtr;
    if (!memory || (uintptr_t)memory % MEMORY_UNIT || p.width == 0 || p.height == 0 || p.width > WIDEST ||
        p.height > HIGHEST || p.pitchInBytes > WIDEST_PITCH || p.pitchInBytes % ROW_UNIT ||
        p.pitchInBytes < p.width * sizeof(float))
        return cudaErrorInvalidValue;
    if (cudaPointerGetAttributes(&first, memory) != cudaSuccess ||
        cudaPointerGetAttributes(&last, memory + (p.height - 1) * p.pitchInBytes + p.width * sizeof(float) - 1) !=
            cudaSuccess ||
        first.type != cudaMemoryTypeDevice || last.type != cudaMemoryTypeDevice)
        return cudaErrorInvalidValue;
    return keep(texture, r);
}

static cudaError_t destroy(cudaTextureObject_t texture) {
    const cudaResourceDesc *own = (const cudaResourceDesc *)(uintptr_t)texture;
    if (!textures.erase(own))
        return cudaErrorInvalidValue;
    delete own;
    return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *how, const cudaResourceViewDesc *view) {
    DEVICE_CALL(view ? cudaErrorNotSupported : create(texture, resource, how));
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) { DEVICE_CALL(destroy(texture)); }

/* ---- Arrays ---- */

static cudaError_t make_array(cudaArray_t *array, const cudaChannelFormatDesc *c, size_t width, size_t height,
                              unsigned flags) {
    if (!array || !c || width == 0 || height == 0 || width > WIDEST || height > HIGHEST_ARRAY || flags)
        return cudaErrorInvalidValue;
    if (!is_float(*c))
        return cudaErrorNotSupported;
    cudaArray *const made = new cudaArray{NULL, width, height};
    const cudaError_t error = cudaMalloc((void **)&made->memory, width * height * sizeof(float));
    if (error != cudaSuccess) {
        delete made;
        return error;
    }
    arrays.insert(made);
    *array = made;
    return cudaSuccess;
}

static cudaError_t free_array(cudaArray_t array) {
    if (!arrays.erase(array))
        return cudaErrorInvalidValue;
    const cudaError_t error = cudaFree(array->memory);
    delete array;
    return error;
}

static cudaError_t copy_to(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                           size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    const size_t row = arrays.count(to) ? to->width * sizeof(float) : 0;
    if (!row || x + width > row || y + height > to->height)
        return cudaErrorInvalidValue;
    return cudaMemcpy2DAsync((char *)to->memory + y * row + x, row, from, pitch, width, height, kind, stream);
}

cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, size_t width, size_t height,
                            unsigned flags) {
    DEVICE_CALL(make_array(array, desc, width, height, flags));
}
cudaError_t cudaFreeArray(cudaArray_t array) { DEVICE_CALL(free_array(array)); }
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    DEVICE_CALL(copy_to(to, x, y, from, pitch, width, height, kind, stream));
}

/* ---- Fetches ---- */

/* Coordinates beyond the ends are replaced by the ends'. */
static size_t cell(float at, size_t n) {
    const float whole = floorf(at);
    return !(whole > 0) ? 0 : whole < (float)n ? (size_t)whole : n - 1;
}

float emulation_fetch(cudaTextureObject_t texture, float x, float y) {
    const cudaResourceDesc *r = (const cudaResourceDesc *)(uintptr_t)texture;
    const auto &p = r->res.pitch2D;
    if (r->resType == cudaResourceTypeArray) {
        const cudaArray *a = r->res.array.array;
        return a->memory[cell(y, a->height) * a->width + cell(x, a->width)];
    }
    return ((const float *)((const char *)p.devPtr + cell(y, p.height) * p.pitchInBytes))[cell(x, p.width)];
}

int4 emulation_fetch_linear(cudaTextureObject_t texture, int i) {
    const auto &p = ((const cudaResourceDesc *)(uintptr_t)texture)->res.linear;
    return i < 0 || (size_t)i >= p.sizeInBytes / sizeof(int4) ? int4{0, 0, 0, 0} : ((const int4 *)p.devPtr)[i];
}
