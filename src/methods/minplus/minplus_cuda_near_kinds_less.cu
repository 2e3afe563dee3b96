/* minplus/cuda, the near search of labels and signed maps on GPUs with less shared memory (minplus_cuda_near_less.cu). */
#define MC_STRIP 32
#define MC_KINDS 1
#define MC_TILE_WIDE MC_LESS_WIDE
#define MC_TILE_BYTES MC_LEAST_BYTES
#define MC_NEAR mc_near_kinds_less
#include "methods/minplus/minplus_cuda_near.cu"
