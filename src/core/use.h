/* Detects misuse of contexts and plans: a handle that was destroyed or never created, a second use at the same
 * time, a context that is destroyed before its plans. */
#ifndef DISTMAP_CORE_USE_H
#define DISTMAP_CORE_USE_H

#include "core/internal.h"

/* The first check of a handle. */
distmap_status dm_context_check(const distmap_context *context);
distmap_status dm_plan_check(const distmap_plan *plan); /* also checks its context */
bool dm_plan_lives(const distmap_plan *plan);           /* does not check its context; sets the error text if false */

/* Start of a context's life, held by its owner; start of a plan's, which holds its context. */
distmap_status dm_context_live(distmap_context *context);
void dm_plan_live(distmap_plan *plan, distmap_context *context);
/* End of a life: the handle is an error from now on. */
void dm_context_end(distmap_context *context);
void dm_plan_end(distmap_plan *plan);
/* Whether nobody holds the context any more; dm_context_release() then frees it. */
bool dm_context_let_go(distmap_context *context);
void dm_context_release(distmap_context *context);

/* From begin to end only the calling thread uses the context, by this plan. An error if it is in use already, by another thread or by
 * this one (a call from a progress callback or a task). Each call costs at most one atomic exchange. */
distmap_status dm_use_begin(distmap_plan *plan);
void dm_use_end(distmap_plan *plan);
/* The same of a context by itself. */
distmap_status dm_context_use_begin(distmap_context *context);
void dm_context_use_end(distmap_context *context);
/* Whether the plan is being used. */
bool dm_plan_is_used(const distmap_plan *plan);

#endif
