/* minplus/cpu in FP64: what the integer lanes do not take. */
#ifndef DISTMAP_MINPLUS_REAL_H
#define DISTMAP_MINPLUS_REAL_H

#include "methods/minplus/minplus.h"

const char *mp_real_refuses(const distmap_plan *plan);
size_t mp_real_scratch_bytes(const distmap_plan *plan);
distmap_status mp_real_run(distmap_plan *plan, const dm_arrays *arrays, const mp_kernels *kernels);

#endif
