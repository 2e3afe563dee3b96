/* erosion/cuda: the squared distance map by erosions in shared memory, with kernel=2d, 1d and 1d-lz. erosion_cpu.c says
 * what they compute and why it is exact, erosion_tiles.h how rounds go over tiles.
 *
 * A block holds a tile with its halo and a frame of "none" in shared memory. With several steps to a round, for which the
 * halo pays, a tile is read and written less often. 1d: a step is a G_k, eight erosions, on 16 lines.
 *
 *             the paper                                                  here, by default
 *   tile      16, with a border of one: 18 x 18 elements                  32; in a pass along one axis 64 of 16 lines
 *   steps     1 to a launch                                               4; of the G_k 6
 *   split     both: 0, a 3 x 3 function; 1, a 1 x 3 and a 3 x 1 one       0
 *   skip      0: every launch erodes all of the image                     1: not where nothing around changed
 *   stop      host: it looks after each launch whether something changed  device: it enqueues as many as may be needed
 *   columns   cpu: 1d-lz does them there, one thread                      gpu: a thread to each
 *
 * With stop=device the host enqueues the rounds that are enough for the longest way in the image, (longer side - 1) /
 * steps, by eight less for the G_k. Each looks first whether the round before changed anything, and leaves at once if not.
 * A launch that leaves costs about as much as an empty one, 2 us on an H200: 4 ms for the 2048 rounds of 8192^2 with four
 * steps, even where the first few do. With stop=host each launch is followed by a round trip of one word. (Blocks that
 * stay and wait for each other would save both, but need a grid that is resident as a whole, and could not be run by a
 * test without a GPU.)
 *
 * stop=host and columns=cpu wait for the device, so they cannot be captured into a CUDA graph.
 *
 * Memory: two maps of 4 bytes per element (8 beyond 32-bit squares), two bytes per tile. Traffic of a round: each active
 * tile is read with its halo, once more without, and written.
 *
 * Source: as erosion_cpu.c.
 */
#include "methods/erosion/erosion_cuda.h"

#include "core/sequential.h"

enum { KERNEL, TILE, STEPS, SPLIT, SKIP, STOP, COLUMNS };
enum { BY_DEVICE, BY_HOST };
enum { ON_GPU, ON_CPU };

static const char *const stops[] = {"device", "host"}, *const places[] = {"gpu", "cpu"};

static const distmap_param_info params[] = {
    [KERNEL] = {"kernel", EROSION_2D, EROSION_2D, EROSION_1D_LZ, EROSION_KERNEL_SUMMARY, erosion_kernels},
    [TILE] = {"tile", 0, 0, 32, "side of a tile; 0: by the kernel and steps", NULL},
    [STEPS] = {"steps", 0, 0, 8, "structuring functions per launch; 0: by the kernel", NULL},
    [SPLIT] = {"split", 0, 0, 1, "1: a 3 x 3 function as a 3 x 1 and a 1 x 3 one", NULL},
    [SKIP] = {"skip", 1, 0, 1, "1: tiles around which nothing changed are passed over", NULL},
    [STOP] = {"stop", BY_DEVICE, BY_DEVICE, BY_HOST, "who ends the launches when nothing changes any more", stops},
    [COLUMNS] = {"columns", ON_GPU, ON_GPU, ON_CPU, "kernel=1d-lz: where columns are done", places},
};

DM_SEQUENTIAL(column_32, static inline, uint32_t)
DM_SEQUENTIAL(column_64, static inline, uint64_t)

/* ---- Memory ---- */

static struct erosion_pass pass_of(const distmap_plan *plan, enum erosion_axes axes) {
    const bool square = axes == EROSION_ALONG_BOTH && dm_axis_counts(plan, 2) && dm_axis_counts(plan, DM_X);
    const int64_t steps = plan->params[STEPS] ? plan->params[STEPS] : square ? 4 : 6;
    const int64_t by_kernel = square ? 32 : EROSION_LENGTH - 2 * EROSION_DEEP * steps;
    return erosion_pass_make(plan, axes, plan->params[TILE] ? plan->params[TILE] : by_kernel, steps);
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

static distmap_status refuse_graph(const distmap_plan *plan) {
    struct dm_cuda *cuda = plan->context->cuda;
    enum cudaStreamCaptureStatus capture;
    if (plan->params[STOP] != BY_HOST && (plan->params[KERNEL] != EROSION_1D_LZ || plan->params[COLUMNS] != ON_CPU))
        return DISTMAP_OK;
    TRY_CUDA(cuda, cudaStreamIsCapturing(cuda->stream, &capture));
    if (capture == cudaStreamCaptureStatusNone)
        return DISTMAP_OK;
    return dm_error(DISTMAP_ERROR_ARGUMENT,
                    "plan: erosion/cuda waits for the device with stop=host and with columns=cpu, "
                    "so it cannot be captured into a CUDA graph");
}

static distmap_status to_device(const distmap_plan *plan, const void *from, size_t bytes, void *to) {
    struct dm_cuda *cuda = plan->context->cuda;
    TRY_CUDA(cuda, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, cuda->stream));
    TRY_CUDA(cuda, cudaStreamSynchronize(cuda->stream));
    return DISTMAP_OK;
}

static distmap_status to_host(const distmap_plan *plan, const void *from, size_t bytes, void *to) {
    struct dm_cuda *cuda = plan->context->cuda;
    TRY_CUDA(cuda, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, cuda->stream));
    TRY_CUDA(cuda, cudaStreamSynchronize(cuda->stream));
    return DISTMAP_OK;
}

/* All rounds of a pass. The result is in map[0]. */
static distmap_status erode(const distmap_plan *plan, struct memory *m, enum erosion_axes axes) {
    struct dm_cuda *cuda = plan->context->cuda;
    struct erosion_round r = {.pass = pass_of(plan, axes),
                              .any = m->any,
                              .wide = plan->number == DM_U64,
                              .split = plan->params[SPLIT] != 0,
                              .skip = plan->params[SKIP] != 0};
    unsigned any = 1;
    TRY_CUDA(cuda, cudaMemsetAsync(m->any, 0, 256, cuda->stream));
    for (r.number = 0; r.number < r.pass.rounds && any; r.number++) {
        r.from = m->map[0];
        r.to = m->map[1];
        r.before = m->changed[0];
        r.changed = m->changed[1];
        TRY_CUDA(cuda, erosion_erode(&r, cuda->multiprocessors, cuda->stream));
        *m = (struct memory){{m->map[1], m->map[0]}, {m->changed[1], m->changed[0]}, m->any};
        if (plan->params[STOP] == BY_HOST)
            TRY(to_host(plan, m->any + r.number % 3, sizeof any, &any));
    }
    return DISTMAP_OK;
}

/* Column by column, one thread. */
static void pass_columns(const distmap_plan *plan, void *map) {
    const int64_t width = plan->shape[DM_X], height = plan->shape[2], planes = dm_plane_count(plan);
    for (int64_t i = 0; i < planes * width; i++) {
        const int64_t first = i / width * height * width + i % width;
        if (plan->number == DM_U32)
            column_32_line((uint32_t *)map + first, height, width, (uint32_t)plan->w2[2]);
        else
            column_64_line((uint64_t *)map + first, height, width, plan->w2[2]);
    }
}

/* The columns of 1d-lz by the CPU, on a copy of the map. */
static distmap_status columns_by_cpu(distmap_plan *plan, void *map) {
    const size_t bytes = (size_t)plan->elements * dm_number_size(plan->number);
    void *copy = dm_allocate(plan->context, bytes);
    if (!copy)
        return DISTMAP_ERROR_MEMORY;
    dm_phase(plan, "columns, copies");
    distmap_status status = to_host(plan, map, bytes, copy);
    if (status == DISTMAP_OK) {
        dm_phase(plan, "columns");
        pass_columns(plan, copy);
        dm_phase(plan, "columns, copies");
        status = to_device(plan, copy, bytes, map);
    }
    dm_release(plan->context, copy, bytes);
    return status;
}

static distmap_status columns(distmap_plan *plan, const dm_elements *elements, void *map) {
    struct dm_cuda *cuda = plan->context->cuda;
    if (plan->params[COLUMNS] == ON_CPU)
        return columns_by_cpu(plan, map);
    TRY_CUDA(cuda, erosion_columns(elements, map, cuda->stream));
    return DISTMAP_OK;
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const dm_elements elements = dm_elements_make(plan, arrays);
    struct memory m = memory_of(plan);
    TRY(refuse_graph(plan));
    dm_phase(plan, "read");
    TRY_CUDA(cuda, erosion_load(&elements, m.map[0], cuda->stream));
    dm_phase(plan, plan->params[KERNEL] == EROSION_2D ? "erosions" : "columns");
    if (plan->params[KERNEL] == EROSION_2D)
        TRY(erode(plan, &m, EROSION_ALONG_BOTH));
    if (plan->params[KERNEL] == EROSION_1D)
        TRY(erode(plan, &m, EROSION_ALONG_Y));
    if (plan->params[KERNEL] == EROSION_1D_LZ && dm_axis_counts(plan, 2))
        TRY(columns(plan, &elements, m.map[0]));
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
