/* Detects misuse of contexts and plans.
 *
 * A word in each handle says that it is alive. A destroyed handle has another word, until its memory is reused. A context keeps its memory
 * as long as it has plans, in any order of destruction, so the check of a plan's context is always valid.
 *
 * `user` in the context names the thread that uses it, 0 none: one compare-and-exchange acquires it. A child of fork() inherits values of
 * threads that it does not have. Therefore the lowest bits count the forks that led to the process, and a value with another count means
 * no user. (Thread descriptors are far larger than 64 bytes, so the other bits distinguish them.)
 */
#define _POSIX_C_SOURCE 200809L
#include "core/use.h"

#include <stdlib.h>

enum { CONTEXT_LIVES = 0x64436f6e, CONTEXT_ENDED = 0x64436f2e, PLAN_LIVES = 0x64506c6e, PLAN_ENDED = 0x64506c2e };
enum { FORKS = 63 };

static atomic_uint forks;

static void forked(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }

static int fork_status;

static void watch_forks(void) { fork_status = pthread_atfork(NULL, NULL, forked); }

static uintptr_t my_mark(void) {
    return ((uintptr_t)pthread_self() & ~(uintptr_t)FORKS) |
           (atomic_load_explicit(&forks, memory_order_relaxed) & FORKS);
}

static bool is_of_this_process(uintptr_t mark) {
    return mark && (mark & FORKS) == (atomic_load_explicit(&forks, memory_order_relaxed) & FORKS);
}

/* ---- Words ---- */

distmap_status dm_context_check(const distmap_context *context) {
    if (!context)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context is NULL");
    if (atomic_load_explicit(&context->word, memory_order_relaxed) != CONTEXT_LIVES)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context was destroyed, or never created");
    return DISTMAP_OK;
}

bool dm_plan_lives(const distmap_plan *plan) {
    if (atomic_load_explicit(&plan->word, memory_order_relaxed) == PLAN_LIVES)
        return true;
    dm_error(DISTMAP_ERROR_ARGUMENT, "plan was destroyed, or never created");
    return false;
}

distmap_status dm_plan_check(const distmap_plan *plan) {
    if (!plan)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "plan is NULL");
    if (!dm_plan_lives(plan))
        return DISTMAP_ERROR_ARGUMENT;
    if (atomic_load_explicit(&plan->context->word, memory_order_relaxed) != CONTEXT_LIVES)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "plan: its context was destroyed before it");
    return DISTMAP_OK;
}

distmap_status dm_context_live(distmap_context *context) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    atomic_store(&context->holders, 1);
    atomic_store(&context->word, CONTEXT_LIVES);
    return fork_status ? dm_error(DISTMAP_ERROR_MEMORY, "cannot watch for forks") : DISTMAP_OK;
}

void dm_plan_live(distmap_plan *plan, distmap_context *context) {
    atomic_fetch_add(&context->holders, 1);
    atomic_store(&plan->word, PLAN_LIVES);
}

void dm_context_end(distmap_context *context) { atomic_store(&context->word, CONTEXT_ENDED); }

void dm_plan_end(distmap_plan *plan) { atomic_store(&plan->word, PLAN_ENDED); }

bool dm_context_let_go(distmap_context *context) { return atomic_fetch_sub(&context->holders, 1) == 1; }

/* ---- Marks ---- */

static distmap_status take(distmap_context *context, uintptr_t mine, const char *what) {
    uintptr_t user = 0;
    while (!atomic_compare_exchange_strong_explicit(&context->user, &user, mine, memory_order_acquire,
                                                    memory_order_relaxed))
        if (is_of_this_process(user))
            return dm_error(
                DISTMAP_ERROR_ARGUMENT,
                user == mine
                    ? "%s is in use by an execution from which this call comes (by a progress callback, or a task)"
                    : "%s is in use by another thread: a context serves one at a time",
                what);
    return DISTMAP_OK;
}

distmap_status dm_context_use_begin(distmap_context *context) {
    TRY(dm_context_check(context));
    return take(context, my_mark(), "context");
}

void dm_context_use_end(distmap_context *context) { atomic_store_explicit(&context->user, 0, memory_order_release); }

distmap_status dm_use_begin(distmap_plan *plan) {
    TRY(dm_plan_check(plan));
    const uintptr_t mine = my_mark();
    TRY(take(plan->context, mine, "plan: its context"));
    atomic_store_explicit(&plan->user, mine, memory_order_relaxed);
    return DISTMAP_OK;
}

void dm_use_end(distmap_plan *plan) {
    atomic_store_explicit(&plan->user, 0, memory_order_relaxed);
    dm_context_use_end(plan->context);
}

bool dm_plan_is_used(const distmap_plan *plan) {
    return is_of_this_process(atomic_load_explicit(&plan->user, memory_order_relaxed));
}
