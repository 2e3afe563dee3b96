/* minplus/cuda, the near search of small images: the same in tiles a quarter as high, for four times as many blocks. More rows
 * around them are spread for each pixel, but no block has to do much, and hard ones are spread over more multiprocessors. */
#define MC_STRIP 8
#define MC_TILE_BYTES MC_LEAST_BYTES
#define MC_NEAR mc_near_small
#include "methods/minplus/minplus_cuda_near.cu"
