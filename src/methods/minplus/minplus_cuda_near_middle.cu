/* minplus/cuda, the near search of planes of middle size, before the corner search: the same in tiles half as high, which do not go
 * as far: that takes less then. Less shared memory, and fewer registers, leave room for twice as many warps. */
#define MC_STRIP 16
#define MC_TILE_WIDE MC_STRIDE
#define MC_TILE_BYTES MC_LEAST_BYTES
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900 /* as many as the memory of a multiprocessor is for */
#define MC_TILES_AT_ONCE 6
#else
#define MC_TILES_AT_ONCE 8
#endif
#define MC_NEAR mc_near_middle
#include "methods/minplus/minplus_cuda_near.cu"
