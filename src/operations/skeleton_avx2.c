/* skeleton/cpu's filter for one instruction set; see skeleton_kernel.h. */
#define SK_TABLE dm_skeleton_avx2
#include "operations/skeleton_kernel.h"
