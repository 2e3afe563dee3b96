/* The emulated runtime API: textures. An object is the address of its description; what this cannot do is refused, and
 * so is what the device refuses: unaligned memory or rows, and sizes beyond its limits. */
#include "device.h"

#include <math.h>
#include <set>

enum : size_t { WIDEST = 131072, HIGHEST = 65000, WIDEST_PITCH = 2097120, ROW_UNIT = 32, MEMORY_UNIT = 512 };

static std::set<const cudaResourceDesc *> textures;

static bool is_known(const cudaResourceDesc *r, const cudaTextureDesc *t) {
    const cudaChannelFormatDesc &c = r->res.pitch2D.desc;
    return r->resType == cudaResourceTypePitch2D && c.x == 32 && !c.y && !c.z && !c.w &&
           c.f == cudaChannelFormatKindFloat && t->addressMode[0] == cudaAddressModeClamp &&
           t->addressMode[1] == cudaAddressModeClamp && t->filterMode == cudaFilterModePoint &&
           t->readMode == cudaReadModeElementType && !t->normalizedCoords;
}

static cudaError_t create(cudaTextureObject_t *texture, const cudaResourceDesc *r, const cudaTextureDesc *t) {
    if (!texture || !r || !t)
        return cudaErrorInvalidValue;
    if (!is_known(r, t))
        return cudaErrorNotSupported;
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
    const cudaResourceDesc *own = new cudaResourceDesc(*r);
    textures.insert(own);
    *texture = (cudaTextureObject_t)(uintptr_t)own;
    return cudaSuccess;
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

/* Coordinates beyond the ends are replaced by the ends'. */
static size_t cell(float at, size_t n) {
    const float whole = floorf(at);
    return !(whole > 0) ? 0 : whole < (float)n ? (size_t)whole : n - 1;
}

float emulation_fetch(cudaTextureObject_t texture, float x, float y) {
    const auto &p = ((const cudaResourceDesc *)(uintptr_t)texture)->res.pitch2D;
    return ((const float *)((const char *)p.devPtr + cell(y, p.height) * p.pitchInBytes))[cell(x, p.width)];
}
