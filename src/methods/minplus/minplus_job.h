/* The set-up of an execution of minplus/cpu. */
#ifndef DISTMAP_MINPLUS_JOB_H
#define DISTMAP_MINPLUS_JOB_H

#include "methods/minplus/minplus_layout.h"

static inline uint16_t mp_saturate16(uint64_t v) { return v < 0xFFFF ? (uint16_t)v : 0xFFFF; }

/* Fills the job that all kernels share, and the padding of the workers' rows. Returns whether slow passes can treat the axes behind
 * theirs as one contiguous run. */
bool mp_job_set_up(mp_job *job, distmap_plan *plan, const dm_arrays *arrays, const mp_layout *l,
                   const mp_scratch *memory);

#endif
