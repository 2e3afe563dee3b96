/* minplus/cuda, on the host: its stages as a plan has them, and what lies where in its scratch memory. */
#ifndef DISTMAP_MINPLUS_CUDA_STAGES_H
#define DISTMAP_MINPLUS_CUDA_STAGES_H

#include "core/scratch.h"
#include "methods/minplus/minplus_cuda.h"

enum { MC_DIRECT, MC_BRACKETS, MC_SHARED_BYTES, MC_PARAMS };     /* parameters, */
enum { MC_NEVER = 0, MC_SMALL = 1, MC_SIZED = 1, MC_MIXED = 2 }; /* and their values */
enum { MC_ALL = 0, MC_LESS = 1, MC_LEAST = 2 };
enum { MC_PIECES = 8 }; /* of a volume's planes over several GPUs, at most */

typedef struct mc_layout {
    dm_scratch scratch;
    mc_stage planes, z;
    int64_t marks;           /* words of both stages' marks, which lie side by side, from planes.any_open on */
    mc_entry *entries;       /* the first of the image's first row */
    int32_t *store;          /* what planes leave for z */
    int32_t *squared, *site; /* for emit */
} mc_layout;

static inline bool mc_has_z(const distmap_plan *plan) { return dm_axis_counts(plan, 1); }

static inline int64_t mc_divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* Planes of volumes are solved by the smallest whole pitches that are as theirs, squared pitches less this common factor, and their
 * squares are multiplied by it when they are stored: so short lanes hold longer distances. 1 elsewhere. */
int32_t mc_plane_factor(const distmap_plan *plan);

/* One of float32 distances and uint32 squares, and indices, can be stored by the searches themselves. */
bool mc_is_direct(const distmap_plan *plan);

/* Whether the direct search takes the stage, its numbers being small enough (minplus_cuda_direct.cu), and takes less time than
 * the others, wherever sites are. */
bool mc_is_small(const distmap_plan *plan, const mc_stage *s);

/* Shared memory that blocks may have: all that the GPU offers, or less. */
size_t mc_shared_bytes(const distmap_plan *plan);

/* In the scratch memory from `base` on, which may be NULL. What stages read and write outside of it is not set. */
mc_layout mc_lay_out(const distmap_plan *plan, char *base);

#endif
