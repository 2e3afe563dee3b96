/* Comparing two sets: the inner plans. See comparison.h. */
#include "operations/comparison.h"

#include "operations/inner.h"

static bool of_surfaces(const distmap_plan *plan) { return plan->problem.comparison.points == DISTMAP_POINTS_SURFACE; }

static distmap_problem inner_problem(const distmap_plan *plan, int direction) {
    distmap_problem inner = op_counts(plan);
    inner.want.squared = plan->number == DM_U32   ? DISTMAP_UINT32
                         : plan->number == DM_U64 ? DISTMAP_UINT64
                                                  : DISTMAP_FLOAT64;
    if (of_surfaces(plan)) {
        inner.dtype = DISTMAP_UINT8;
        inner.sites = (distmap_sites){.rule = DISTMAP_SITES_NONZERO};
    } else if (direction == 0) {
        inner.dtype = plan->problem.comparison.other;
    }
    return inner;
}

co_memory co_lay_out(const distmap_plan *plan, int64_t piece, dm_scratch *walk) {
    co_memory memory = {.piece = piece, .pieces = (plan->elements + piece - 1) / piece};
    size_t most = 0;
    for (int direction = 0; direction < 2; direction++) {
        const distmap_problem inner = inner_problem(plan, direction);
        const size_t bytes = op_inner_bytes(plan, &inner);
        most = bytes > most ? bytes : most;
    }
    dm_take(walk, 1, most);
    memory.map = dm_take(walk, plan->elements, dm_number_size(plan->number));
    memory.mask = of_surfaces(plan) ? dm_take(walk, plan->elements, 1) : NULL;
    memory.count = dm_take(walk, memory.pieces, sizeof *memory.count);
    return memory;
}

distmap_status co_prepare(distmap_plan *plan) {
    for (int direction = 0; direction < 2; direction++) {
        const distmap_problem inner = inner_problem(plan, direction);
        TRY(op_inner_make(plan, &inner, 0.4));
    }
    return DISTMAP_OK;
}

distmap_status co_transform(distmap_plan *plan, int direction, const dm_arrays *arrays, const co_memory *memory) {
    const distmap_plan *inner = plan->inner[direction];
    const distmap_arrays views = {.input = of_surfaces(plan)
                                               ? op_dense(plan, memory->mask, DISTMAP_UINT8)
                                               : op_view(plan, direction == 0 ? &arrays->other : &arrays->input),
                                  .squared = op_dense(plan, memory->map, inner->problem.want.squared)};
    dm_phase(plan, "transform");
    return op_inner_run(plan, direction, &views, 0);
}
