/* chamfer/cuda: city-block, chessboard and chamfer distances on GPUs: planes in bands, and slabs of planes.
 *
 * The sweeps are those of chamfer/cpu (see chamfer_sweep.c for why they are exact): with R a row's own distances,
 *
 *     down   D[y] = min(R[y], D[y - 1] + a, D[y - 1][x +- 1] + b)          up likewise, from D
 *
 * and knight's steps from two rows. A sweep goes through 16 rows at a time, a band, in registers: a warp holds a strip of 512
 * columns, 16 to a thread, in 16-bit lanes (chamfer_cuda_pairs.cuh; where weights are too large, or with sites, 256 in lanes of
 * 32 or 64 bits), and asks its neighbours by shuffles, nothing else. Walks go sideways by one column a row (knights: two), so
 * all columns but 16 (32) at either end are the warp's own and come out right.
 *
 *   pack     rows into bits, with the distance to the nearest site on either side of every 32: 3/8 byte per element
 *   alone    each band by itself, from R alone: what leaves it downwards and upwards
 *   carry    what leaves each band in truth: what comes from the band before, carried through 16 empty rows, or its own
 *   finish   each band once more, from what truly comes in on either side, and out
 *
 * Carrying through empty rows is right because a walk that enters a band takes steps along rows before anything else, in the
 * row of its site: below it steps go down alone. That is the only part with a chain from band to band; it touches one row in
 * 16, twelve bands to a launch.
 *
 * Axes slower than planes take a launch for each slab and direction, over lanes that then rest in memory.
 *
 * Sites go with their distances as keys, as on the CPU.
 *
 * Memory: 3/8 byte per element, and for each band four rows of lanes: 1 byte per element, with sites 2, with knights twice
 * that; in volumes 4 more, with sites 8. Each element is read once and its bits twice.
 *
 * Source: the bands and their exact overlap are this project's; for the metrics see chamfer_cpu.c.
 */
#include "methods/chamfer/chamfer_cuda.h"

#include "core/scratch.h"

static int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

static uint64_t dearest(const dm_chamfer *c) {
    uint64_t most = c->knight;
    for (int n = 1; n <= DM_NDIM; n++)
        most = c->step[n] > most ? c->step[n] : most;
    return most;
}

/* Of the distances that matter. */
static uint64_t largest(const distmap_plan *plan) {
    return plan->limited && plan->limit2 < plan->max2 ? plan->limit2 : plan->max2;
}

static bool has_slabs(const distmap_plan *plan) { return dm_axis_counts(plan, 0) || dm_axis_counts(plan, 1); }

static const char *refuses(const distmap_plan *plan) {
    if (!plan->measured[DM_X])
        return "needs the last axis among the measured ones";
    if (has_slabs(plan) && plan->chamfer.knight)
        return "needs the last two axes to be the measured ones for knight's steps";
    if (largest(plan) >= UINT32_MAX - dearest(&plan->chamfer))
        return "needs distances, or a limit, below 2^32 minus the largest step";
    if (plan->wants_site && has_slabs(plan) && plan->elements > (int64_t)UINT32_MAX)
        return "needs at most 2^32 - 1 elements for indices of volumes";
    if (plan->wants_site && plan->shape[DM_X] * (plan->measured[2] ? plan->shape[2] : 1) > (int64_t)UINT32_MAX)
        return "needs planes of at most 2^32 - 1 elements for indices";
    return NULL;
}

/* ---- Memory ---- */

static cc_stage lay_out(const distmap_plan *plan, char *base, size_t *used) {
    const dm_chamfer *c = &plan->chamfer;
    const bool roomy = largest(plan) < CC_NO_SITE;
    const uint64_t cap = roomy ? CC_NO_SITE : UINT32_MAX - dearest(c);
    const int shift = plan->wants_site ? 32 : 0;
    cc_stage p = {
        .width = plan->shape[DM_X],
        .height = plan->measured[2] ? plan->shape[2] : 1,
        .words = divide_up(plan->shape[DM_X], 32),
        .kept = c->knight ? 2 : 1,
        .keys = plan->wants_site,
        .cap = cap << shift,
        .roomy = roomy,
        .straight = (uint64_t)c->step[1] << shift,
        .diagonal = (uint64_t)c->step[2] << shift,
        .knight = (uint64_t)c->knight << shift,
        .step = c->step[1],
        .reach = cap / c->step[1] < CC_NO_SITE ? (uint32_t)(cap / c->step[1]) : CC_NO_SITE - 1,
        .most = (uint32_t)(plan->limited && plan->limit2 < cap ? plan->limit2 : cap - 1),
        .quick = plan->problem.want.distance == DISTMAP_FLOAT32 && !plan->wants_site && !plan->wants_mask &&
                 !plan->problem.border,
    };
    p.pairs = roomy && !p.keys && p.step * CC_PAIR_STEPS < CC_PAIR_CAP;
    for (int n = 1; n <= DM_NDIM; n++)
        p.steps[n] = (uint64_t)c->step[n] << shift;
    p.planes = plan->elements / (p.width * p.height);
    p.bands = divide_up(p.height, CC_BAND);
    dm_scratch l = {.base = base, .unit = DM_CUDA_UNIT};
    const int64_t words = p.planes * p.height * p.words;
    p.bits = dm_take(&l, words, sizeof *p.bits);
    p.left = dm_take(&l, words, sizeof *p.left);
    p.right = dm_take(&l, words, sizeof *p.right);
    const size_t size = p.keys ? sizeof(uint64_t) : sizeof(uint32_t);
    const int64_t lanes = p.bands > 1 ? p.planes * p.bands * p.kept * p.words * 32 : 0;
    for (int way = 0; way < 2; way++) {
        p.own[way] = dm_take(&l, lanes, size);
        p.carry[way] = dm_take(&l, lanes, size);
    }
    if (has_slabs(plan))
        p.lanes = dm_take(&l, words * 32, size);
    *used = l.used;
    return p;
}

static size_t scratch_bytes(const distmap_plan *plan) {
    size_t used;
    lay_out(plan, NULL, &used);
    return used;
}

/* There and back; the last axis's way back gives them out. */
static distmap_status sweep_slabs(distmap_plan *plan, const dm_elements *elements, const cc_stage *p, int axis) {
    struct dm_cuda *cuda = plan->context->cuda;
    const int64_t n = plan->shape[axis];
    const bool last = axis == 0 || !dm_axis_counts(plan, 0);
    for (int64_t place = 1; place < n; place++)
        TRY_CUDA(cuda, cc_slab(elements, p, axis, place, 1, false, cuda->stream));
    for (int64_t place = n - 1; place >= 0; place--)
        TRY_CUDA(cuda, cc_slab(elements, p, axis, place, place < n - 1 ? -1 : 0, last, cuda->stream));
    return DISTMAP_OK;
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const dm_elements elements = dm_elements_make(plan, arrays);
    size_t used;
    const cc_stage p = lay_out(plan, plan->scratch, &used);
    dm_phase(plan, "pack");
    TRY_CUDA(cuda, cc_pack(&elements, &p, cuda->stream));
    dm_phase(plan, "alone");
    if (p.bands > 1)
        TRY_CUDA(cuda, (p.pairs ? cc_alone_in_pairs : cc_alone)(&p, cuda->stream));
    dm_phase(plan, "carry");
    for (int64_t band = 0; band < p.bands - 1; band += cc_at_once(&p))
        TRY_CUDA(cuda, cc_carry(&p, band, cuda->stream));
    dm_phase(plan, "finish");
    TRY_CUDA(cuda, (p.pairs ? cc_finish_in_pairs : cc_finish)(&elements, &p, cuda->stream));
    for (int axis = 1; axis >= 0; axis--)
        if (dm_axis_counts(plan, axis)) {
            dm_phase(plan, "slabs");
            TRY(sweep_slabs(plan, &elements, &p, axis));
        }
    return DISTMAP_OK;
}

const dm_method dm_chamfer_cuda = {
    .info =
        {
            .name = "chamfer/cuda",
            .summary =
                "city-block, chessboard and chamfer distances: sweeps through bands in registers, volumes by slabs",
            .source = "Rosenfeld and Pfaltz 1968; Borgefors 1986; bands: this project",
            .device = "cuda",
            .exact = true,
            .metrics = DM_STEP_METRICS,
        },
    .refuses = refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
