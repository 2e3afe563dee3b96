/* Ball morphology as steps, each of which is one inner plan from a mask, or the input, to a mask, or the output. What the
 * CPU's and the GPU's rows share. */
#ifndef DISTMAP_OPERATIONS_MORPHOLOGY_H
#define DISTMAP_OPERATIONS_MORPHOLOGY_H

#include "core/internal.h"
#include "core/scratch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a step reads, or writes: the plan's own arrays, or one of two masks in the scratch. */
typedef enum mo_place { MO_INPUT, MO_OUTPUT, MO_FIRST, MO_SECOND } mo_place;

typedef struct mo_step {
    distmap_problem problem;
    mo_place from, to;
    const char *phase;
} mo_step;

typedef struct mo_steps {
    mo_step step[DM_INNER];
    int count;
    /* The masks, or labels, in the scratch: how many, their type, that of outputs read again too, their shape in the
     * problem's axes, and how much of that lies around the image. */
    int masks;
    distmap_dtype kept;
    int64_t shape[DISTMAP_MAX_NDIM], around[DISTMAP_MAX_NDIM], elements;
    bool frame;          /* what is around the image in the first one is written before all else, */
    uint8_t frame_value; /* as this */
} mo_steps;

mo_steps mo_steps_of(const distmap_plan *plan);

/* The scratch of all steps, and where its masks lie (NULL base: only counts). */
size_t mo_lay_out(const distmap_plan *plan, const mo_steps *steps, size_t unit, char *mask[2]);

distmap_status mo_prepare(distmap_plan *plan);

/* Executes step number i. */
distmap_status mo_run_step(distmap_plan *plan, const mo_steps *steps, int i, const dm_arrays *arrays,
                           char *const mask[2]);

#ifdef __cplusplus
}
#endif
#endif
