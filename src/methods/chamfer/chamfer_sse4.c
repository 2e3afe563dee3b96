/* chamfer/cpu's kernels for one instruction set; see chamfer_kernel.h. */
#define CH_TABLE dm_chamfer_sse4
#include "methods/chamfer/chamfer_kernel.h"
