/* Misuse of contexts and plans, told rather than suffered: a handle that is none or was destroyed, a second use at the same
 * time, a context that is destroyed before its plans. */
#ifndef DISTMAP_CORE_USE_H
#define DISTMAP_CORE_USE_H

#include "core/internal.h"

/* A handle's first check; an error says what it is instead. */
distmap_status dm_context_check(const distmap_context *context);
distmap_status dm_plan_check(const distmap_plan *plan); /* of its context, too */
bool dm_plan_lives(const distmap_plan *plan);           /* whatever became of that; else the error text is set */

/* The context begins to live, held by its owner; so do plans on it, each of which holds it. */
distmap_status dm_context_live(distmap_context *context);
void dm_plan_live(distmap_plan *plan, distmap_context *context);
/* Ends a life: the handle is refused from now on. */
void dm_context_end(distmap_context *context);
void dm_plan_end(distmap_plan *plan);
/* Whether nobody holds the context any more; dm_context_release() then frees it. */
bool dm_context_let_go(distmap_context *context);
void dm_context_release(distmap_context *context);

/* The calling thread alone uses the context by this plan until the end. An error where it is in use, by another thread or by this
 * one, which then calls from within (a progress callback, a task). Each costs one atomic exchange at most. */
distmap_status dm_use_begin(distmap_plan *plan);
void dm_use_end(distmap_plan *plan);
/* The same of a context by itself. */
distmap_status dm_context_use_begin(distmap_context *context);
void dm_context_use_end(distmap_context *context);
/* Whether the plan is being used. */
bool dm_plan_is_used(const distmap_plan *plan);

#endif
