/* From the runtime's errors to ours, and the GPU that is current while we work.
 *
 * Most errors concern one call and are cleared. A fault in a kernel (an illegal address, say) is sticky: every later call
 * of the process fails alike, whatever we do. A harmless call on a stream of our own tells them apart.
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "cuda/runtime.h"

distmap_status dm_cuda_error(struct dm_cuda *cuda, cudaError_t error, const char *call) {
    (void)cudaGetLastError();
    if (cuda && cuda->side) {
        const cudaError_t after = cudaStreamQuery(cuda->side);
        cuda->lost |= after != cudaSuccess && after != cudaErrorNotReady;
        (void)cudaGetLastError();
    }
    const int length = (int)strcspn(call, "(");
    return dm_error(error == cudaErrorMemoryAllocation ? DISTMAP_ERROR_MEMORY : DISTMAP_ERROR_DEVICE,
                    "device cuda:%d: %.*s: %s (%s)%s", cuda ? cuda->ordinal : 0, length, call,
                    cudaGetErrorString(error), cudaGetErrorName(error),
                    cuda && cuda->lost ? "; this context is lost, and so is CUDA for this process" : "");
}

distmap_status dm_cuda_enter(const distmap_context *context, int *previous) {
    struct dm_cuda *cuda = context->cuda;
    if (cuda->owner != getpid())
        return dm_error(DISTMAP_ERROR_DEVICE,
                        "device cuda:%d: the context was made before a fork, and CUDA does not survive one",
                        cuda->ordinal);
    if (cuda->lost)
        return dm_error(DISTMAP_ERROR_DEVICE, "device cuda:%d: the context is lost by an earlier failure",
                        cuda->ordinal);
    TRY_CUDA(cuda, cudaGetDevice(previous));
    if (*previous == cuda->ordinal)
        return DISTMAP_OK;
    TRY_CUDA(cuda, cudaSetDevice(cuda->ordinal));
    return DISTMAP_OK;
}

void dm_cuda_leave(int previous) {
    int current;
    if (cudaGetDevice(&current) == cudaSuccess && current != previous)
        (void)cudaSetDevice(previous);
}
