/* The context: device, threads, allocator, progress; and parallel regions on its threads. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/internal.h"
#include "core/use.h"
#include "cpu/isa.h"
#include "cpu/pool.h"

static void *default_allocate(void *user, size_t bytes, size_t alignment) {
    (void)user;
    void *memory = NULL;
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void default_release(void *user, void *memory, size_t bytes) {
    (void)user, (void)bytes;
    free(memory);
}

void *dm_allocate(const distmap_context *context, size_t bytes) {
    void *memory = context->allocator.allocate(context->allocator.user, bytes ? bytes : 1, 64);
    if (!memory)
        dm_error(DISTMAP_ERROR_MEMORY, "cannot allocate %zu bytes", bytes);
    return memory;
}

void dm_release(const distmap_context *context, void *memory, size_t bytes) {
    if (memory)
        context->allocator.release(context->allocator.user, memory, bytes ? bytes : 1);
}

static distmap_status check_options(const distmap_context_options *options) {
    if (options->threads < 0 || options->threads > 1024)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: threads is %d, must be 0 (all) to 1024",
                        options->threads);
    if (options->executor.run && (options->executor.workers < 1 || options->executor.workers > 1024))
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: executor.workers is %d, must be 1 to 1024",
                        options->executor.workers);
    if (!options->allocator.allocate != !options->allocator.release)
        return dm_error(DISTMAP_ERROR_ARGUMENT,
                        "context options: allocator needs both allocate and release, or neither");
    return DISTMAP_OK;
}

/* Several devices as one: a device of another row. */
static distmap_status take_several(const distmap_context_options *options, const dm_device **device) {
    if (options->ordinal_count < 0)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: ordinal_count is %d, must be at least 0",
                        options->ordinal_count);
    if (!options->ordinals)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: ordinals is NULL, but ordinal_count is %d",
                        options->ordinal_count);
    if (!(*device)->several)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: there is one device %s, and no ordinals of it",
                        (*device)->name);
    *device = (*device)->several;
    return DISTMAP_OK;
}

distmap_status distmap_context_create_sized(const distmap_context_options *options, size_t options_bytes,
                                            distmap_context **context) {
    if (!context)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context is NULL");
    *context = NULL;
    static const distmap_context_options defaults;
    distmap_context_options room;
    DISTMAP_SIZED_TAKE(options, room);
    if (!options)
        options = &defaults;
    TRY(check_options(options));

    distmap_context made = {
        .allocator = options->allocator,
        .executor = options->executor,
        .progress = options->progress,
        .progress_user = options->progress_user,
    };
    TRY(dm_device_find(options->device, &made.device));
    if (options->ordinal_count)
        TRY(take_several(options, &made.device));
    TRY(dm_isa_choose(&made.isa));
    if (!made.allocator.allocate)
        made.allocator = (distmap_allocator){default_allocate, default_release, NULL};
    if (made.executor.run)
        made.threads = made.executor.workers;
    else
        made.threads = options->threads ? options->threads : dm_pool_processors();

    distmap_context *self = dm_allocate(&made, sizeof *self);
    if (!self)
        return DISTMAP_ERROR_MEMORY;
    *self = made;
    distmap_status status = dm_context_live(self);
    if (status == DISTMAP_OK && !self->executor.run && self->threads > 1) {
        status = dm_pool_create(self, self->threads, &self->pool);
        if (status == DISTMAP_OK)
            self->executor = (distmap_executor){self->threads, dm_pool_run, self->pool};
    }
    if (status == DISTMAP_OK)
        status = self->device->open(self, options);
    if (status != DISTMAP_OK)
        distmap_context_destroy(&self);
    *context = self;
    return status;
}

void dm_context_release(distmap_context *context) {
    if (!dm_context_let_go(context))
        return;
    context->device->close(context);
    const distmap_context copy = *context;
    dm_pool_destroy(&copy, &context->pool);
    dm_release(&copy, context, sizeof *context);
}

void distmap_context_destroy(distmap_context **context) {
    if (!context || !*context || dm_context_check(*context) != DISTMAP_OK)
        return;
    const int plans = atomic_load(&(*context)->holders) - 1;
    if (plans > 0)
        dm_error(DISTMAP_ERROR_ARGUMENT, "context: it is destroyed before %d of its plans, which do nothing any more",
                 plans);
    dm_context_end(*context);
    dm_context_release(*context);
    *context = NULL;
}

int distmap_context_threads(const distmap_context *context) {
    return dm_context_check(context) == DISTMAP_OK ? context->threads : 0;
}

const char *distmap_context_isa(const distmap_context *context) {
    return dm_context_check(context) == DISTMAP_OK ? context->device->isa(context) : "";
}

distmap_status distmap_context_set_stream(distmap_context *context, void *stream) {
    TRY(dm_context_use_begin(context));
    const distmap_status status =
        context->device->set_stream
            ? context->device->set_stream(context, stream)
            : dm_error(DISTMAP_ERROR_UNSUPPORTED, "context: the device %s has no streams", context->device->name);
    dm_context_use_end(context);
    return status;
}

/* ---- Parallel regions ---- */

struct region {
    distmap_plan *plan;
    distmap_task *task;
    void *arg;
    size_t count;
    atomic_size_t done;
    double share;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool has_failed(distmap_plan *plan) {
    return atomic_load_explicit(&plan->failure, memory_order_relaxed) != DISTMAP_OK;
}

static void report(distmap_plan *plan, double fraction) {
    const distmap_context *context = plan->context;
    if (!context->progress || !pthread_equal(pthread_self(), plan->caller))
        return;
    plan->progress_told = fmax(plan->progress_told, fmin(fraction, 1.0));
    plan->progress_at = now();
    if (context->progress(context->progress_user, plan->progress_from + plan->progress_span * plan->progress_told))
        dm_fail(plan, DISTMAP_ERROR_CANCELLED);
}

bool dm_is_wanted(distmap_plan *plan) {
    static const double SELDOM = 0.02;
    if (plan->context->progress && !has_failed(plan) && pthread_equal(pthread_self(), plan->caller) &&
        now() - plan->progress_at > SELDOM)
        report(plan, plan->progress_base);
    return !has_failed(plan);
}

/* While the caller waits for tasks of others. */
static void ask(void *plan) { (void)dm_is_wanted(plan); }

static void region_step(void *arg, size_t index, int worker) {
    struct region *region = arg;
    if (has_failed(region->plan))
        return;
    region->task(region->arg, index, worker);
    const size_t done = 1 + atomic_fetch_add_explicit(&region->done, 1, memory_order_relaxed);
    report(region->plan, region->plan->progress_base + region->share * (double)done / (double)region->count);
}

distmap_status dm_parallel(distmap_plan *plan, size_t count, distmap_task *task, void *arg, double share) {
    const distmap_context *context = plan->context;
    struct region region = {plan, task, arg, count, 0, share};
    if (context->pool && count > 1)
        dm_pool_run_asking(context->pool, count, region_step, &region, context->progress ? ask : NULL, plan);
    else if (context->executor.run && count > 1)
        context->executor.run(context->executor.user, count, region_step, &region);
    else
        for (size_t i = 0; i < count; i++)
            region_step(&region, i, 0);
    plan->progress_base += share;
    return (distmap_status)atomic_load(&plan->failure);
}

void dm_fail(distmap_plan *plan, distmap_status status) {
    int expected = DISTMAP_OK;
    atomic_compare_exchange_strong(&plan->failure, &expected, (int)status);
}
