/* erosion/cuda: the squared distance map by erosions in shared memory, with kernel=2d, 1d and 1d-lz. erosion_cpu.c says
 * what they compute and why it is exact, erosion_tiles.h how rounds go over tiles.
 *
 * A block holds a tile with its halo and a frame of "none" in shared memory, as the paper's 18 x 18 elements do for one
 * step of 16 x 16: `tile=16 steps=1` is its own configuration. With more steps to a round, for which the halo pays, a tile
 * is read and written less often. 1d: a step is a G_k, eight erosions, on 16 lines. 1d-lz: a thread to a column goes down
 * and up again; the paper does this on the CPU, which would need a round trip here.
 *
 * When it is stable, only the device knows. The host enqueues the rounds that are enough for the longest way in the image,
 * (longer side - 1) / steps, by eight less for the G_k. Each looks first whether the round before changed anything, and
 * leaves at once if not; a round that runs passes over the tiles around which nothing changed. A launch that leaves costs
 * about as much as an empty one, 2 us on an H200: 4 ms for the 2048 rounds of 8192^2 with four steps, even where
 * the first few do. (Blocks that stay and wait for each other would save that, but need a grid that is resident as a
 * whole, and could not be run by a test without a GPU.)
 *
 * Memory: two maps of 4 bytes per element (8 beyond 32-bit squares), two bytes per tile. Traffic of a round: each active
 * tile is read with its halo, once more without, and written.
 *
 * Source: as erosion_cpu.c.
 */
#include "methods/erosion/erosion_cuda.h"

enum { KERNEL, TILE, STEPS };

static const distmap_param_info params[] = {
    [KERNEL] = {"kernel", EROSION_2D, EROSION_2D, EROSION_1D_LZ, EROSION_KERNEL_SUMMARY, erosion_kernels},
    [TILE] = {"tile", 32, 8, 32, "side of a tile", NULL},
    [STEPS] = {"steps", 4, 1, 8, "structuring functions per launch", NULL},
};

/* ---- Memory ---- */

static struct erosion_pass pass_of(const distmap_plan *plan, enum erosion_axes axes) {
    return erosion_pass_make(plan, axes, plan->params[TILE], plan->params[STEPS], EROSION_AREA);
}

struct memory {
    char *map[2];
    uint8_t *changed[2];
    unsigned *any;
};

static size_t map_bytes(const distmap_plan *plan) {
    return dm_cuda_round((size_t)plan->elements * dm_number_size(plan->number));
}

static size_t flag_bytes(const distmap_plan *plan) {
    int64_t most = 0;
    for (int axes = EROSION_ALONG_Y; axes <= EROSION_ALONG_BOTH; axes++) {
        const int64_t count = pass_of(plan, (enum erosion_axes)axes).count;
        most = count > most ? count : most;
    }
    return dm_cuda_round((size_t)most);
}

static size_t scratch_bytes(const distmap_plan *plan) { return 2 * map_bytes(plan) + 2 * flag_bytes(plan) + 256; }

static struct memory memory_of(const distmap_plan *plan) {
    char *p = plan->scratch, *flags = p + 2 * map_bytes(plan);
    const size_t bytes = flag_bytes(plan);
    return (struct memory){.map = {p, p + map_bytes(plan)},
                           .changed = {(uint8_t *)flags, (uint8_t *)flags + bytes},
                           .any = (unsigned *)(flags + 2 * bytes)};
}

/* ---- The method ---- */

/* All rounds of a pass. The result is in map[0]. */
static distmap_status erode(const distmap_plan *plan, struct memory *m, enum erosion_axes axes) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct erosion_round r = {.pass = pass_of(plan, axes), .any = m->any, .wide = plan->number == DM_U64};
    TRY_CUDA(cuda, cudaMemsetAsync(m->any, 0, 256, cuda->stream));
    for (r.number = 0; r.number < r.pass.rounds; r.number++) {
        r.from = m->map[0];
        r.to = m->map[1];
        r.before = m->changed[0];
        r.changed = m->changed[1];
        TRY_CUDA(cuda, erosion_erode(&r, cuda->multiprocessors, cuda->stream));
        *m = (struct memory){{m->map[1], m->map[0]}, {m->changed[1], m->changed[0]}, m->any};
    }
    return DISTMAP_OK;
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const dm_elements elements = dm_elements_make(plan, arrays);
    struct memory m = memory_of(plan);
    dm_phase(plan, "read");
    TRY_CUDA(cuda, erosion_load(&elements, m.map[0], cuda->stream));
    dm_phase(plan, plan->params[KERNEL] == EROSION_2D ? "erosions" : "columns");
    if (plan->params[KERNEL] == EROSION_2D)
        TRY(erode(plan, &m, EROSION_ALONG_BOTH));
    if (plan->params[KERNEL] == EROSION_1D)
        TRY(erode(plan, &m, EROSION_ALONG_Y));
    if (plan->params[KERNEL] == EROSION_1D_LZ && dm_axis_counts(plan, 2))
        TRY_CUDA(cuda, erosion_columns(&elements, m.map[0], cuda->stream));
    if (plan->params[KERNEL] != EROSION_2D) {
        dm_phase(plan, "rows");
        TRY(erode(plan, &m, EROSION_ALONG_X));
    }
    dm_phase(plan, "emit");
    TRY_CUDA(cuda, erosion_emit(&elements, m.map[0], cuda->stream));
    return DISTMAP_OK;
}

const dm_method dm_erosion_cuda = {
    .info =
        {
            .name = "erosion/cuda",
            .summary = "erosions with small structuring functions that vary from step to step, until nothing changes",
            .source = "Huang and Mitchell 1994; decomposed for GPUs: 2D, 1D, 1D-LZ",
            .device = "cuda",
            .exact = true,
            .params = params,
            .param_count = sizeof params / sizeof *params,
        },
    .refuses = dm_refuses_all_but_plane_distances,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
