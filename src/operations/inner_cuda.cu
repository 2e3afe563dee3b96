/* The kernel of inner_cuda.c. */
#include "cuda/launch.h"
#include "operations/inner_cuda.h"

/* One thread. Reads and writes a word. */
static __global__ void pass_flags(const unsigned *from, unsigned *to, unsigned flags) { *to |= *from & flags; }

cudaError_t op_pass_flags(const unsigned *from, unsigned *to, unsigned flags, cudaStream_t stream) {
    DM_LAUNCH(pass_flags, 1, 1, 0, stream, from, to, flags);
    return cudaGetLastError();
}
