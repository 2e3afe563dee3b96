/* skeleton/cuda: the integer medial axis from the indices of sites, by one kernel that asks every pair of neighbours.
 *
 * Memory: indices, 4 bytes per element (8 from 2^31 - 64 elements on), and the inner plan's. */
#include "core/scratch.h"
#include "operations/inner_cuda.h"
#include "operations/skeleton_cuda.h"

/* Elements beside the image are counted in the indices' type, too. */
static distmap_problem inner_problem(const distmap_plan *plan) {
    const int64_t beside = 64;
    distmap_problem inner = op_distances(plan);
    inner.want.index = plan->elements <= INT32_MAX - beside ? DISTMAP_INT32 : DISTMAP_INT64;
    return inner;
}

static size_t lay_out(const distmap_plan *plan, void **index) {
    const distmap_problem inner = inner_problem(plan);
    dm_scratch walk = {.base = plan->scratch, .unit = DM_CUDA_UNIT};
    dm_take(&walk, 1, op_inner_bytes(plan, &inner));
    *index = dm_take(&walk, plan->elements, distmap_dtype_size(inner.want.index));
    return walk.used;
}

static size_t scratch_bytes(const distmap_plan *plan) {
    void *index;
    return lay_out(plan, &index);
}

static distmap_status prepare(distmap_plan *plan) {
    const distmap_problem inner = inner_problem(plan);
    return op_inner_make(plan, &inner, 1);
}

static sk_divider divider_of(uint32_t n) {
    int shift = 31;
    while ((uint64_t)1 << (shift - 31) < n)
        shift++;
    return (sk_divider){(uint32_t)(((uint64_t)1 << shift) / n + 1), shift};
}

static struct sk_work work_of(const distmap_plan *plan, const dm_arrays *arrays) {
    const double most_anisotropy = 1e12; /* which float32 can take, */
    const int64_t most_length = 1 << 22; /* and differences and sums of offsets without rounding */
    struct sk_work w = {
        .elements = dm_elements_make(plan, arrays), .rule = sk_rule_of(plan), .filters = true, .equal = true};
    const sk_rule *r = &w.rule;
    const double h2 = r->pitch * r->pitch;
    for (int k = 0; k < r->axes; k++) {
        w.w2[k] = (float)(r->w2[k] / h2);
        w.less[k] = (float)((r->w2[k] + r->more) / h2 * (1 - SK_SLACK));
        w.filters &= r->w2[k] / h2 <= most_anisotropy && r->length[k] <= most_length;
        w.equal &= w.w2[k] == 1;
        w.linear[k] = plan->linear[r->axis[k]];
        w.back[k] = -w.linear[k];
    }
    w.plain = !r->border && w.linear[r->axes - 1] == 1;
    w.least = r->pruning == DISTMAP_PRUNING_CONSTANT ? (float)(r->gamma2 / h2) : 0;
    w.gamma2 = r->pruning == DISTMAP_PRUNING_LINEAR ? (float)r->gamma2 : 0;
    return w;
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct sk_work work = work_of(plan, arrays);
    void *index;
    lay_out(plan, &index);
    const distmap_outputs *want = &plan->inner[0]->problem.want;
    const distmap_arrays inner = {.input = op_view(plan, &arrays->input), .index = op_dense(plan, index, want->index)};
    work.index = index;
    work.wide = want->index == DISTMAP_INT64;
    for (int k = 0; k < work.rule.axes && !work.wide; k++)
        work.gap[k] = divider_of((uint32_t)work.linear[k]);
    dm_phase(plan, "transform");
    TRY(op_inner_run(plan, 0, &inner, ~0u));
    TRY(op_inner_flags(plan, 0, ~0u));
    dm_phase(plan, "skeleton");
    TRY_CUDA(cuda, sk_mark(&work, cuda->multiprocessors, cuda->stream));
    return DISTMAP_OK;
}

const dm_method dm_skeleton_cuda = {
    .info =
        {
            .name = "skeleton/cuda",
            .summary = "integer medial axis from the sites' indices, one kernel",
            .source = "Hesselink and Roerdink 2008",
            .device = "cuda",
            .exact = true,
            .field = DISTMAP_FIELD_SKELETON,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = prepare,
    .release = op_inner_release,
};
