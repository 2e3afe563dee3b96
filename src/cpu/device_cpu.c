/* The CPU as a row of the device table: host memory by the context's allocator; execute returns when all is done. */
#define _POSIX_C_SOURCE 200809L /* the monotonic clock */
#include <stdio.h>
#include <time.h>

#include "core/internal.h"
#include "cpu/isa.h"

static int count(void) { return 1; }

static distmap_status describe(int ordinal, distmap_device_info *info) {
    (void)ordinal;
    snprintf(info->name, sizeof info->name, "cpu");
    return DISTMAP_OK;
}

static distmap_status open_context(distmap_context *context, const distmap_context_options *options) {
    (void)context;
    if (options->ordinal != 0)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: ordinal is %d, must be 0 on the CPU",
                        options->ordinal);
    if (options->stream)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "context options: stream must be NULL on the CPU");
    return DISTMAP_OK;
}

static void close_context(distmap_context *context) { (void)context; }

static const char *isa(const distmap_context *context) { return dm_isa_name(context->isa); }

static size_t scratch_bytes(const distmap_plan *plan) { return plan->method->scratch_bytes(plan); }

static distmap_status reserve(distmap_plan *plan, void *scratch) {
    if ((uintptr_t)scratch % 64)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "options.scratch is not aligned to 64 bytes");
    plan->scratch = scratch;
    if (!scratch && plan->scratch_bytes) {
        plan->scratch = dm_allocate(plan->context, plan->scratch_bytes);
        plan->owns_scratch = plan->scratch;
        if (!plan->scratch)
            return DISTMAP_ERROR_MEMORY;
    }
    return plan->elements && plan->method->prepare ? plan->method->prepare(plan) : DISTMAP_OK;
}

static void release(distmap_plan *plan) {
    if (plan->method->release)
        plan->method->release(plan);
    if (plan->owns_scratch)
        dm_release(plan->context, plan->scratch, plan->scratch_bytes);
}

static distmap_status check_view(const distmap_plan *plan, const char *name, const distmap_view *view) {
    (void)plan;
    if (view->space != DISTMAP_SPACE_HOST)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "arrays.%s lies in a GPU's memory, but this context is one of the CPU",
                        name);
    return DISTMAP_OK;
}

static distmap_status execute(distmap_plan *plan, const dm_arrays *arrays) {
    return dm_phases_stop(plan, dm_phases_run(plan, arrays));
}

static distmap_status wait(distmap_plan *plan) { return (distmap_status)atomic_load(&plan->failure); }

static distmap_status phase(distmap_plan *plan, int number) {
    dm_phases *p = &plan->phases;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (p->current >= 0)
        p->phase[p->current].seconds += seconds - p->begun;
    p->current = number;
    p->begun = seconds;
    return DISTMAP_OK;
}

const dm_device dm_device_cpu = {
    .device = DISTMAP_DEVICE_CPU,
    .name = "cpu",
    .space = DISTMAP_SPACE_HOST,
    .count = count,
    .describe = describe,
    .open = open_context,
    .close = close_context,
    .isa = isa,
    .scratch_bytes = scratch_bytes,
    .reserve = reserve,
    .release = release,
    .check_view = check_view,
    .execute = execute,
    .wait = wait,
    .phase = phase,
};
