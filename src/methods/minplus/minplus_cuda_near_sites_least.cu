/* minplus/cuda, the near search with sites on GPUs with the least shared memory, of planes and volumes: tall tiles, which have less
 * of it than wide ones, and do not go as far. */
#define MC_DOWN 8
#define MC_WORDS 2
#define MC_TILE_WIDE MC_LEAST_WIDE
#define MC_TILE_BYTES MC_LEAST_BYTES
#define MC_NEAR mc_near_sites_least
#include "methods/minplus/minplus_cuda_near_sites.cu"
