/* Several GPUs as one device: a *team*. team.c is its row of the device table, team_plan.c its plans.
 *
 * Each member is a context of its own. A plan of the team has a *part* for each member, a plan of that context for some of the
 * image's rows; the method says what parts exchange (dm_spread).
 */
#ifndef DISTMAP_CUDA_TEAM_H
#define DISTMAP_CUDA_TEAM_H

#include "cuda/runtime.h"

struct dm_team {
    int count;
    distmap_context *member[DISTMAP_MAX_GPUS];
    bool reaches[DISTMAP_MAX_GPUS][DISTMAP_MAX_GPUS]; /* [q][r]: kernels of q may use the memory of r */
};

extern const dm_device dm_device_cuda, dm_device_team;

size_t dm_team_scratch_bytes(const distmap_plan *plan);
distmap_status dm_team_reserve(distmap_plan *plan, void *scratch);
void dm_team_release(distmap_plan *plan);
distmap_status dm_team_slab(const distmap_plan *plan, int i, int64_t *first, int64_t *count);
distmap_status dm_team_execute(distmap_plan *plan, const dm_arrays *arrays);
distmap_status dm_team_execute_slabs(distmap_plan *plan, const distmap_arrays *slabs, size_t slabs_bytes);
distmap_status dm_team_wait(distmap_plan *plan);

#ifdef __cplusplus
extern "C" {
#endif
/* Kernels: enqueues a copy of `lines` runs of `bytes`, `pitch` bytes apart at both ends, all multiples of 8, to memory that may be
 * that of a GPU which the stream's own reaches. */
cudaError_t dm_team_copy(void *to, const void *from, size_t pitch, size_t bytes, int64_t lines, cudaStream_t stream);
#ifdef __cplusplus
}
#endif

#endif
