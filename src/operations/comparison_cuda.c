/* comparison/cuda: the CPU's steps (comparison.h) as kernels, enqueued one after another; how many values there are, and how
 * large, stays on the device.
 *
 * Memory: the map, one byte per element more for surfaces, 256 KiB for histograms, and what the inner plan takes.
 */
#include "operations/comparison_cuda.h"
#include "operations/inner_cuda.h"

enum { PIECE = 4096 };

static struct co_work lay_out(const distmap_plan *plan, size_t *bytes) {
    dm_scratch walk = {.base = plan->scratch, .unit = DM_CUDA_UNIT};
    struct co_work work = {.memory = co_lay_out(plan, PIECE, &walk)};
    work.target = dm_take(&walk, DISTMAP_MAX_PERCENTILES, sizeof *work.target);
    work.bins = dm_take(&walk, DISTMAP_MAX_PERCENTILES, sizeof *work.bins);
    *bytes = walk.used;
    return work;
}

static size_t scratch_bytes(const distmap_plan *plan) {
    size_t bytes;
    lay_out(plan, &bytes);
    return bytes;
}

static void set_up(const distmap_plan *plan, const dm_arrays *arrays, struct co_work *work) {
    const distmap_comparison *c = &plan->problem.comparison;
    dm_arrays other = *arrays;
    other.input = arrays->other;
    work->set[0] = dm_elements_make(plan, arrays);
    work->set[1] = dm_elements_make(plan, &other);
    work->set[1].sites = dm_site_test_make(&plan->problem.sites, c->other);
    work->surfaces = c->points == DISTMAP_POINTS_SURFACE;
    work->comparison = plan->comparison;
    work->percentiles = c->percentile_count;
    for (int i = 0; i < c->percentile_count; i++)
        work->percentile[i] = c->percentile[i];
    work->compared = &plan->cuda->outcome->compared;
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    size_t bytes;
    struct co_work work = lay_out(plan, &bytes);
    set_up(plan, arrays, &work);
    TRY_CUDA(cuda, cudaMemsetAsync(work.bins, 0, DISTMAP_MAX_PERCENTILES * sizeof *work.bins, cuda->stream));
    if (work.surfaces) {
        dm_phase(plan, "surface");
        TRY_CUDA(cuda, co_mark(&work, cuda->stream));
    }
    for (work.direction = 0; work.direction < 2; work.direction++) {
        TRY(co_transform(plan, work.direction, arrays, &work.memory));
        dm_phase(plan, "look up");
        TRY_CUDA(cuda, co_look_up(&work, cuda->stream));
        dm_phase(plan, "percentiles");
        TRY_CUDA(cuda, co_select(&work, cuda->stream));
    }
    return DISTMAP_OK;
}

const dm_method dm_comparison_cuda = {
    .info =
        {
            .name = "comparison/cuda",
            .summary =
                "distances between two sets: Hausdorff, averages, percentiles, from squared distances at their points",
            .source = "Huttenlocher, Klanderman, Rucklidge 1993; docs/notes/operations.md",
            .device = "cuda",
            .exact = true,
            .field = DISTMAP_FIELD_COMPARISON,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = co_prepare,
    .release = op_inner_release,
};
