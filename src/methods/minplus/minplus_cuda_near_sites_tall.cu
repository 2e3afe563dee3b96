/* minplus/cuda, the near search with sites of planes: the same in tiles twice as high and half as wide, which have fewer rows around
 * them for each pixel. (In the z stage rows are read from memory, and wide ones take less.) */
#define MC_DOWN 8
#define MC_WORDS 2
#define MC_TILE_BYTES MC_LESS_BYTES
#define MC_PLANES_ALONE
#define MC_NEAR mc_near_sites_tall
#include "methods/minplus/minplus_cuda_near_sites.cu"
