/* brute/cuda: the definition itself, on the GPU: the oracle for sizes where the CPU's takes too long.
 *
 *     squared(p) = min over candidates q of p's batch of f(q) + |p - q|^2,    of equal ones the q with the lowest index
 *
 * One kernel collects the candidates (sites, samples that offer something, or all elements of a label image), in any order;
 * one compares every element with every candidate of its batch. See brute_cpu.c for why FP64 agrees with the others.
 *
 * Time O(elements * candidates). Memory: 16 bytes per element.
 */
#include "methods/brute/brute_cuda.h"

static int64_t batches(const distmap_plan *plan) {
    int64_t count = 1;
    for (int a = 0; a < DM_NDIM; a++)
        count *= plan->measured[a] ? 1 : plan->shape[a];
    return count;
}

static size_t count_bytes(const distmap_plan *plan) {
    return dm_cuda_round((size_t)batches(plan) * sizeof(unsigned long long));
}

static size_t scratch_bytes(const distmap_plan *plan) {
    return count_bytes(plan) + (size_t)plan->elements * sizeof(struct brute_candidate);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const struct brute_work work = {
        .elements = dm_elements_make(plan, arrays),
        .batches = batches(plan),
        .batch_elements = plan->elements / batches(plan),
        .count = plan->scratch,
        .candidates = (struct brute_candidate *)((char *)plan->scratch + count_bytes(plan)),
    };
    dm_phase(plan, "collect");
    TRY_CUDA(cuda, cudaMemsetAsync(work.count, 0, count_bytes(plan), cuda->stream));
    TRY_CUDA(cuda, brute_collect(&work, cuda->stream));
    dm_phase(plan, "search");
    TRY_CUDA(cuda, brute_search(&work, cuda->stream));
    return DISTMAP_OK;
}

const dm_method dm_brute_cuda = {
    .info =
        {
            .name = "brute/cuda",
            .summary = "every element against every site: the definition, for checking the others",
            .source = "the definition of the distance map",
            .device = "cuda",
            .exact = true,
            .metrics = DM_EVERY_METRIC,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
};
