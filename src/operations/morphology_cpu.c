/* morphology/cpu: dilation, erosion, opening and closing by balls, made of the CPU's masks of what lies within a limit
 * (morphology.c). A step by a ball takes hardly longer than to read and write the image, whatever the radius. */
#include <string.h>

#include "operations/inner.h"
#include "operations/morphology.h"

static size_t scratch_bytes(const distmap_plan *plan) {
    const mo_steps steps = mo_steps_of(plan);
    char *mask[2];
    return mo_lay_out(plan, &steps, DM_CPU_UNIT, mask);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    const mo_steps steps = mo_steps_of(plan);
    char *mask[2];
    mo_lay_out(plan, &steps, DM_CPU_UNIT, mask);
    if (steps.frame)
        memset(mask[0], steps.frame_value, (size_t)steps.elements);
    for (int i = 0; i < steps.count; i++)
        TRY(mo_run_step(plan, &steps, i, arrays, mask));
    return DISTMAP_OK;
}

const dm_method dm_morphology_cpu = {
    .info =
        {
            .name = "morphology/cpu",
            .summary = "dilation, erosion, opening, closing by balls, from masks of what lies within the radius",
            .source = "Serra 1982, chapter 2; docs/notes/operations.md",
            .device = "cpu",
            .exact = true,
            .field = DISTMAP_FIELD_MORPHOLOGY,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = mo_prepare,
    .release = op_inner_release,
};
