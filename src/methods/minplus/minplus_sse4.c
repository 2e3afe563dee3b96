/* minplus/cpu's kernels for one instruction set; see minplus_kernel.h. */
#define MP_TABLE dm_minplus_sse4
#include "methods/minplus/minplus_kernel.h"
