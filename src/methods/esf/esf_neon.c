/* esf/cpu's kernels for one instruction set; see esf_kernel.h. */
#define ESF_TABLE dm_esf_neon
#include "methods/esf/esf_kernel.h"
