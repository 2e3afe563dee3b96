/* minplus/cuda, the near search on GPUs with less shared memory: the same, but hard tiles do not go as far. So the memory of a
 * multiprocessor, 100 KiB where a block may have 99, is that of two blocks, where it would have one. */
#define MC_STRIP 32
#define MC_TILE_WIDE MC_LESS_WIDE
#define MC_TILE_BYTES MC_LEAST_BYTES
#define MC_NEAR mc_near_less
#include "methods/minplus/minplus_cuda_near.cu"

static_assert(2 * (TILE_BYTES + (1 << 10) + 512) <= 100 << 10,
              "a block takes 1 KiB beside what it is given, and less than 512 bytes beside its tile");
