/* Timed plans: which phase an execution is in, and how long each took.
 *
 * Phases follow each other without gaps, so they add up to the whole execution. Only the device knows when one ends: its
 * `phase` is called at every change, and once with -1 at the end, and fills in the seconds.
 */
#include <string.h>

#include "core/internal.h"
#include "core/use.h"

const char *const dm_axis_names[DM_NDIM] = {"t", "z", "y", "x"};

static int find_or_add(dm_phases *p, const char *name, distmap_phase_kind kind) {
    for (int i = 0; i < p->count; i++)
        if (p->phase[i].kind == kind && strcmp(p->phase[i].name, name) == 0)
            return i;
    if (p->count == DM_MAX_PHASES)
        return p->count - 1;
    p->phase[p->count] = (distmap_phase){.name = name, .kind = kind};
    return p->count++;
}

static void enter(distmap_plan *plan, int phase) {
    const distmap_status status = plan->context->device->phase(plan, phase);
    if (status != DISTMAP_OK)
        dm_fail(plan, status);
}

void dm_phase_begin(distmap_plan *plan, const char *name, distmap_phase_kind kind) {
    dm_phases *p = &plan->phases;
    const bool renames = p->unnamed && kind == DISTMAP_PHASE_COMPUTE;
    p->unnamed = false;
    if (renames)
        p->phase[p->count - 1].name = name;
    else
        enter(plan, find_or_add(p, name, kind));
}

void dm_phases_start(distmap_plan *plan) { plan->phases = (dm_phases){.on = plan->timed, .current = -1}; }

/* A further run of an execution starts with the same state as the first one. */
static const char *first_name(const distmap_plan *plan) {
    for (int i = 0; i < plan->phases.count && plan->goes_on; i++)
        if (plan->phases.phase[i].kind == DISTMAP_PHASE_COMPUTE)
            return plan->phases.phase[i].name;
    return "compute";
}

distmap_status dm_phases_run(distmap_plan *plan, const dm_arrays *arrays) {
    dm_phase(plan, first_name(plan));
    plan->phases.unnamed = plan->phases.on && !plan->goes_on;
    return plan->method->run(plan, arrays);
}

distmap_status dm_phases_stop(distmap_plan *plan, distmap_status status) {
    if (plan->phases.on) {
        enter(plan, -1);
        plan->phases.on = false;
        if (status == DISTMAP_OK)
            status = (distmap_status)atomic_load(&plan->failure);
    }
    if (status != DISTMAP_OK)
        plan->phases.count = 0;
    return status;
}

size_t distmap_plan_phase_count(const distmap_plan *plan) {
    return dm_plan_check(plan) == DISTMAP_OK ? (size_t)dm_plan_ran(plan)->phases.count : 0;
}

distmap_status distmap_plan_phase_get_sized(const distmap_plan *plan, size_t i, distmap_phase *phase,
                                            size_t phase_bytes) {
    TRY(dm_plan_check(plan));
    const dm_phases *phases = &dm_plan_ran(plan)->phases;
    if (i >= (size_t)phases->count)
        return dm_error(DISTMAP_ERROR_ARGUMENT, "i is %zu, the plan's last execute has %d phases%s", i, phases->count,
                        plan->timed ? "" : ": the plan is not timed");
    return distmap_sized_fill("phase", phase, phase_bytes, &phases->phase[i], sizeof *phase);
}
