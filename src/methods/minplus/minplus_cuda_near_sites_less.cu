/* minplus/cuda, the near search with sites of volumes on GPUs with less shared memory: the same, but hard strips do not go as far. */
#define MC_TILE_WIDE MC_LESS_SITES
#define MC_TILE_BYTES MC_LESS_BYTES
#define MC_NEAR mc_near_sites_less
#include "methods/minplus/minplus_cuda_near_sites.cu"
