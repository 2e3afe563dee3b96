/* edm/cuda: the two-step method on the GPU, in the paper's five access modes.
 *
 *   step 1: the distance from each element to the nearest site of its line (a row or a column), by a sweep in either
 *           direction
 *   step 2: for each line across those, its proximate points (edm_stack.h), and from their intervals each element's nearest
 *           site
 *
 * A mode names how the threads read and write in the two steps: down columns (V, coalesced) or along rows (H, a row apart).
 *
 *     mode      step 1 is along   reads  writes          step 2 reads  writes      coalesced
 *     vv-hh     columns           V      V               H             H           step 1
 *     hh-vv     rows              H      H               V             V           step 2
 *     vh-vh     columns           V      H, turned       V             H           what is read
 *     hv-hv     rows              H      V, turned       H             V           what is written
 *     vtv-vtv   columns           V      V, then turned  V             V, turned   all but the stacks
 *                                        in tiles                      in tiles
 *
 * Others would turn the result or give both steps the same direction (section 5.1). Stacks lie side by side, element k of
 * neighbouring ones together, and are coalesced as long as threads agree.
 *
 * The paper keeps distances in between; here they have a sign that tells on which side the site lies, which gives the
 * Voronoi map with the distance map and needs no memory of its own. Where rows come last (vv-hh, vh-vh, vtv-vtv) ties
 * are decided by the stack, see there; where columns do, by the order of the steps.
 *
 * Time O(height + width) for as many threads as the image has lines: so few that what counts is how long each of them waits.
 * Hence all modes read ahead, by pieces, and keep the top of the stack at hand (edm_cuda_stack.cuh). Memory: 12 bytes per
 * element, 16 in mode vtv-vtv, and with a side above 65,536 8 more.
 *
 * Source: D. Man, K. Uda, Y. Ito, K. Nakano, "Accelerating Computation of Euclidean Distance Map using the GPU with
 * Efficient Memory Access", IJPEDS 2011, sections 5 and 6.
 */
#include "methods/edm/edm_cuda.h"
#include "methods/edm/edm_problem.h"

enum mode { VV_HH, HH_VV, VH_VH, HV_HV, VTV_VTV };

static const char *const mode_names[] = {"vv-hh", "hh-vv", "vh-vh", "hv-hv", "vtv-vtv"};
static const distmap_param_info params[] = {
    {"mode", VTV_VTV, VV_HH, VTV_VTV, "how steps 1 and 2 read and write: v down columns, h along rows, t by tiles",
     mode_names},
    {"pad", 1, 0, 1, "mode=vtv-vtv: elements more in each row of a tile, against conflicts of banks", NULL},
};

/* Step 1's sweeps are done when stacks begin, so `before` has their memory; and in mode vtv-vtv `after` that of `point`. */
static size_t array_bytes(const distmap_plan *plan) { return dm_cuda_round((size_t)plan->elements * sizeof(int32_t)); }

/* Points have two places on the line, and an offset. */
static bool is_narrow(const distmap_plan *plan) { return plan->shape[2] <= 65536 && plan->shape[DM_X] <= 65536; }

static size_t stack_bytes(const distmap_plan *plan) {
    return dm_cuda_round((size_t)plan->elements * (is_narrow(plan) ? 8 : 16));
}

static size_t scratch_bytes(const distmap_plan *plan) {
    return stack_bytes(plan) + array_bytes(plan) * (plan->params[0] == VTV_VTV ? 2 : 1);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const enum mode mode = (enum mode)plan->params[0];
    const bool columns_first = mode != HH_VV && mode != HV_HV;
    char *scratch = plan->scratch;
    struct edm_work work = {
        .elements = dm_elements_make(plan, arrays),
        .planes = dm_plane_count(plan),
        .height = (int32_t)plan->shape[2],
        .width = (int32_t)plan->shape[DM_X],
        .columns_first = columns_first,
        .turned = mode != VV_HH && mode != HH_VV,
        .tiles = mode == VTV_VTV,
        .padded = plan->params[1] != 0,
        .rule = {.v = edm_pitch2(plan, columns_first ? 2 : DM_X),
                 .w = edm_pitch2(plan, columns_first ? DM_X : 2),
                 .by_row = columns_first},
        .stack = scratch,
        .narrow = is_narrow(plan),
        .offset = (int32_t *)(scratch + stack_bytes(plan)),
    };
    work.before = work.turned ? (int32_t *)scratch : work.offset;
    if (work.tiles)
        work.after = work.point = (int32_t *)(scratch + stack_bytes(plan) + array_bytes(plan));
    dm_phase(plan, "step 1");
    TRY_CUDA(cuda, edm_step1(&work, cuda->stream));
    dm_phase(plan, "step 2");
    TRY_CUDA(cuda, edm_step2(&work, cuda->stream));
    return DISTMAP_OK;
}

const dm_method dm_edm_cuda = {
    .info =
        {
            .name = "edm/cuda",
            .summary = "two steps in a plane, a thread to a line: distances along lines, then proximate points across",
            .source = "Man, Uda, Ito, Nakano 2011, sections 5 and 6",
            .device = "cuda",
            .exact = true,
            .params = params,
            .param_count = sizeof params / sizeof *params,
        },
    .refuses = edm_refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
