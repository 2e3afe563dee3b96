/* psds/cuda: the parallel shortest distance scan on the GPU, as its paper has it.
 *
 *   rows:    a block to a row, scanned from the left, then from the right, in tiles of as many elements as the block has
 *            threads: across, the distance to the nearest site of the row
 *   columns: a block to a column, likewise, down and up: above and below, the distances to the nearest row with a site
 *   search:  a block to a row, a thread to an element: psds_search.h
 *
 * See psds_cpu.c for the scan and why it is exact. `blocks` and `threads` are the paper's: with fewer blocks than lines they
 * take turns. It measures 6144 blocks of 768 threads, a block to each line of its image, and so are the defaults.
 *
 * Apart from the paper: the search of its step 5 writes U and D in place while other blocks still read them along the
 * columns, which is a race. Here steps 5 and 6, which takes the lesser of the two, are one kernel that writes to the
 * outputs alone. Its barriers stand in loops that end early for some of a block's threads where the width is not a multiple
 * of them; here all threads stay. Its infinities are floats, its distances exact up to 2^24 only; here both are 32-bit
 * integers.
 *
 * Memory: 12 bytes per element. Traffic: rows read the input and write 4 bytes per element twice, columns read 4 and write
 * 4 twice (a sector for each element, since neighbouring threads are a row apart), the search reads 12 and more, as the
 * rows go.
 *
 * Source: Zhu and Shyu, "Efficient Parallel Distance Transform in GPU", section 3.5, figures 12 and 13.
 */
#include "core/planes.h"
#include "methods/psds/psds_cuda.h"

enum { BLOCKS, THREADS };

static const distmap_param_info params[] = {
    [BLOCKS] = {"blocks", 0, 0, INT32_MAX, "blocks of a grid, at most; 0: one for each line", NULL},
    [THREADS] = {"threads", 768, 1, 1024, "threads of a block, at most: elements that are scanned together", NULL},
};

static size_t map_bytes(const distmap_plan *plan) { return dm_cuda_round((size_t)plan->elements * sizeof(uint32_t)); }

static size_t scratch_bytes(const distmap_plan *plan) { return 3 * map_bytes(plan); }

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    char *scratch = plan->scratch;
    const struct psds_work work = {
        .elements = dm_elements_make(plan, arrays),
        .across = (uint32_t *)scratch,
        .below = (uint32_t *)(scratch + map_bytes(plan)),
        .above = (uint32_t *)(scratch + 2 * map_bytes(plan)),
        .blocks = plan->params[BLOCKS],
        .threads = (unsigned)plan->params[THREADS],
        .scan_rows = dm_axis_counts(plan, DM_X),
        .scan_columns = dm_axis_counts(plan, 2),
        .sites = plan->wants_site,
    };
    dm_phase(plan, "row scans");
    TRY_CUDA(cuda, psds_rows(&work, cuda->stream));
    dm_phase(plan, "column scans");
    if (work.scan_columns)
        TRY_CUDA(cuda, psds_columns(&work, cuda->stream));
    dm_phase(plan, "search");
    TRY_CUDA(cuda, psds_search(&work, cuda->stream));
    return DISTMAP_OK;
}

const dm_method dm_psds_cuda = {
    .info =
        {
            .name = "psds/cuda",
            .summary = "parallel shortest distance scan: doubling scans of rows and columns, then a bounded search",
            .source = "Zhu and Shyu, Efficient Parallel Distance Transform in GPU, section 3.5",
            .device = "cuda",
            .exact = true,
            .params = params,
            .param_count = sizeof params / sizeof *params,
        },
    .refuses = dm_refuses_all_but_planes,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
