/* thickness/cuda: every element's ball raises what is in it, in no order: the result is a maximum.
 *
 * Memory: the squares, and what they grow to, 4 bytes per element each (8 beyond 32 bits), and the inner plan's.
 */
#include "operations/thickness_cuda.h"

#include "core/scratch.h"
#include "operations/inner_cuda.h"

static size_t lay_out(const distmap_plan *plan, struct th_job *job) {
    const distmap_problem inner = th_inner(plan, &job->volumes);
    const size_t size = dm_number_size(job->volumes.number);
    dm_scratch walk = {.base = plan->scratch, .unit = DM_CUDA_UNIT};
    dm_take(&walk, 1, op_inner_bytes(plan, &inner));
    job->squares = dm_take(&walk, plan->elements, size);
    job->largest = dm_take(&walk, plan->elements, size);
    return walk.used;
}

static size_t scratch_bytes(const distmap_plan *plan) {
    struct th_job job;
    return lay_out(plan, &job);
}

static distmap_status prepare(distmap_plan *plan) {
    th_volumes volumes;
    const distmap_problem inner = th_inner(plan, &volumes);
    return op_inner_make(plan, &inner, 1);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct th_job job = {.distance = arrays->distance, .squared = arrays->squared};
    lay_out(plan, &job);
    memcpy(job.shape, plan->shape, sizeof job.shape);
    const size_t bytes = (size_t)plan->elements * dm_number_size(job.volumes.number);
    const distmap_arrays inner = {.input = op_view(plan, &arrays->input),
                                  .squared = th_squares_view(plan, &job.volumes, (void *)job.squares)};
    dm_phase(plan, "transform");
    TRY(op_inner_run(plan, 0, &inner, ~0u));
    TRY(op_inner_flags(plan, 0, ~0u));
    dm_phase(plan, "grow");
    TRY_CUDA(cuda, cudaMemcpyAsync(job.largest, job.squares, bytes, cudaMemcpyDeviceToDevice, cuda->stream));
    TRY_CUDA(cuda, th_grow(&job, cuda->stream));
    dm_phase(plan, "store");
    TRY_CUDA(cuda, th_store(&job, cuda->stream));
    return DISTMAP_OK;
}

const dm_method dm_thickness_cuda = {
    .info =
        {
            .name = "thickness/cuda",
            .summary = "local thickness: a warp to a ball, less what larger neighbours cover",
            .source = "Hildebrand and Ruegsegger 1997; docs/notes/operations.md",
            .device = "cuda",
            .exact = true,
            .field = DISTMAP_FIELD_THICKNESS,
        },
    .refuses = th_refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = prepare,
    .release = op_inner_release,
};
