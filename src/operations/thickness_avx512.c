/* The kernels of thickness/cpu for one instruction set; see thickness_kernel.h. */
#define TH_TABLE dm_thickness_avx512
#include "operations/thickness_kernel.h"
