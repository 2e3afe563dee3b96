/* The plans within an operation's plan: any public plans, made on the same context in the first part of the operation's
 * scratch, where they take turns, and executed with device views. Their interface is the public API; no operation
 * knows a method.
 *
 * An operation's row is that of a method: scratch_bytes() counts the most of op_inner_bytes() first, prepare() makes the inner
 * plans, run() executes them and goes on with their results, release() is op_inner_release. */
#ifndef DISTMAP_OPERATIONS_INNER_H
#define DISTMAP_OPERATIONS_INNER_H

#include "core/internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operation's problem as one of distances, without outputs and the operation's own members. */
distmap_problem op_distances(const distmap_plan *plan);

/* The same with pitches in the plan's unit, where it has one: squared distances are its integers then. */
distmap_problem op_counts(const distmap_plan *plan);

/* Scratch of a plan for `problem`; 0 where none can be made, which op_inner_make then explains. Once inner plans are made,
 * the most that one of them uses. */
size_t op_inner_bytes(const distmap_plan *plan, const distmap_problem *problem);

/* Makes the next of plan->inner at the beginning of plan->scratch. `share` is its part of the operation's work, for the
 * progress. */
distmap_status op_inner_make(distmap_plan *plan, const distmap_problem *problem, double share);
void op_inner_release(distmap_plan *plan);

/* Executes plan->inner[number]; then as much of the operation's progress is done, and on the CPU those of `flags` that it
 * met are the operation's. */
distmap_status op_inner_run(distmap_plan *plan, int number, const distmap_arrays *arrays, unsigned flags);

/* An array of the operation's plan as a public view. */
distmap_view op_view(const distmap_plan *plan, const dm_array *array);

/* A view of the plan's shape, row-major without gaps, of memory on its device. */
distmap_view op_dense(const distmap_plan *plan, void *data, distmap_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
