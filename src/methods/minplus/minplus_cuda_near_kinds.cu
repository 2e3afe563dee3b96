/* minplus/cuda, the near search of labels and signed maps: the same from caps (minplus_cuda_kinds.cuh). */
#define MC_STRIP 32
#define MC_KINDS 1
#define MC_NEAR mc_near_kinds
#include "methods/minplus/minplus_cuda_near.cu"
