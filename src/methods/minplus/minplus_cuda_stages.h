/* minplus/cuda, on the host: the stages of a plan, and the layout of its scratch memory. */
#ifndef DISTMAP_MINPLUS_CUDA_STAGES_H
#define DISTMAP_MINPLUS_CUDA_STAGES_H

#include "core/scratch.h"
#include "methods/minplus/minplus_cuda.h"

enum { MC_DIRECT, MC_BRACKETS, MC_SHARED_BYTES, MC_NUMBERS, MC_PARAMS }; /* parameters, */
enum { MC_NEVER = 0, MC_SMALL = 1, MC_SIZED = 1, MC_MIXED = 2 };         /* and their values */
enum { MC_ALL = 0, MC_LESS = 1, MC_LEAST = 2 };
enum { MC_AS_SIZED = 0, MC_WIDE_NUMBERS = 1, MC_MIXED_NUMBERS = 2 };
enum { MC_PIECES = 8 }; /* of a volume's planes over several GPUs, at most */

typedef struct mc_layout {
    dm_scratch scratch;
    mc_stage planes, z;
    int64_t marks;           /* words of both stages' counters, which are contiguous, from planes.any_open on */
    mc_entry *entries;       /* the first of the image's first row */
    int32_t *store;          /* results of the planes, for z */
    int32_t *squared, *site; /* for emit */
} mc_layout;

static inline bool mc_has_z(const distmap_plan *plan) { return dm_axis_counts(plan, 1); }

static inline int64_t mc_divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* Planes of volumes are solved with the smallest whole pitches of the same ratio: their squared pitches are divided by this common
 * factor, and squares multiplied by it when they are stored. So short lanes hold longer distances. 1 in other problems. */
uint64_t mc_plane_factor(const distmap_plan *plan);

/* Whether the searches can store the outputs themselves: float32 distances or uint32 squares, and indices. */
bool mc_can_store_outputs(const distmap_plan *plan);

/* Whether the direct search solves the stage: its numbers are small enough (minplus_cuda_direct.cu), and it is faster than
 * the others for any sites. */
bool mc_is_small(const distmap_plan *plan, const mc_stage *s);

/* The shared memory of a block: all that the GPU has, or less by parameter. */
size_t mc_shared_bytes(const distmap_plan *plan);

/* The layout in the scratch memory from `base` on, which may be NULL. Inputs and outputs outside the scratch are not set. */
mc_layout mc_lay_out(const distmap_plan *plan, char *base);

/* The same without the z stage, for problems whose other numbers the second engine takes (minplus_cuda_wide.h): the planes of a volume; or
 * of images without z the searches before the far search. */
mc_layout mc_lay_out_planes(const distmap_plan *plan, char *base);

#endif
