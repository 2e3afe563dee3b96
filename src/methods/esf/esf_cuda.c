/* esf/cuda: the edge strength function on GPUs: choice of the kernel, memory, passes in their order.
 *
 *   kernel=blocked   explicit steps, several to each visit of a tile in registers (esf_cuda_blocked.cu; volumes:
 *                    esf_cuda_volume.cu)
 *   kernel=shared    one step to a launch, tiles with apron in shared memory; kernel=texture, the same by fetches from a
 *                    texture over a CUDA array, to which all values are copied before: the paper's two
 *                    (esf_cuda_step.cu). kernel=linear has the texture over rows in linear memory instead
 *
 * esf_cpu.c names the sources. The mask becomes bits, one per element, once; what the front has not reached is passed
 * over by blocked, as in esf_blocked.c. The state at rest: esf_cuda_rest.c.
 *
 * Memory: 8 1/8 bytes per element, with kernel=linear 12 1/8. With kernel=texture a CUDA array besides, 4 bytes per
 * element, which no scratch can hold: the plan owns it.
 */
#include "methods/esf/esf_cuda_rest.h"

#include "core/scratch.h"
#include "methods/esf/esf.h"

enum {
    LONGEST = 1 << 30,
    TEXTURE_WIDTH = 131072,
    TEXTURE_ROWS = 65000,
    ARRAY_ROWS = 65536,
    TEXTURE_UNIT = 512 /* of a texture over linear memory */
};

typedef struct layout {
    ec_stage stage;
    ec_tiles tiles;
    float *texture; /* kernel=linear: where the texture's values lie */
    ec_rest rest;
    size_t used;
} layout;

static ec_stage stage_make(const distmap_plan *plan, const esf_grid *g) {
    ec_stage p = {
        .axes = g->axes,
        .batches = g->batches,
        .nz = g->nz,
        .ny = g->ny,
        .nx = g->nx,
        .rows = esf_grid_rows(g),
        .batch_rows = g->nz * g->ny,
        .pitch = (g->nx + 31) / 32 * 32,
        .a = (float)plan->esf.a,
        .dt = (float)plan->esf.dt,
    };
    if (p.axes < 2) {
        p.ny = p.rows;
        p.batches = 1;
    }
    return p;
}

static layout lay_out(const distmap_plan *plan, void *memory) {
    const esf_grid g = esf_grid_make(plan);
    const int64_t steps = plan->esf.steps, depth = plan->params[EC_DEPTH];
    layout l = {.stage = stage_make(plan, &g)};
    ec_stage *p = &l.stage;
    dm_scratch walk = {.base = memory, .unit = DM_CUDA_UNIT};
    p->bits = dm_take(&walk, p->rows * p->pitch / 32, sizeof *p->bits);
    p->shaped = dm_take(&walk, p->rows / p->batch_rows, sizeof *p->shaped);
    for (int i = 0; i < 2; i++)
        p->field[i] = dm_take(&walk, p->rows * p->pitch, sizeof(float));
    if (!steps) {
        ec_rest_lay_out(plan, p, &walk, &l.rest);
    } else if (plan->params[EC_KERNEL] == EC_BLOCKED) {
        const int most = (int)(depth < steps ? depth : steps);
        if (p->axes > 2)
            ec_volume_tiles(p, most, &l.tiles);
        else
            ec_plane_tiles(p, most, plan->context->cuda->multiprocessors, &l.tiles);
        for (int i = 0; i < 2; i++)
            l.tiles.flags[i] = dm_take(&walk, l.tiles.count, 1);
    } else if (plan->params[EC_KERNEL] == EC_LINEAR) {
        walk.used += (TEXTURE_UNIT - ((uintptr_t)walk.base + walk.used) % TEXTURE_UNIT) % TEXTURE_UNIT;
        l.texture = dm_take(&walk, p->rows * p->pitch, sizeof(float));
    }
    l.used = walk.used;
    return l;
}

static size_t scratch_bytes(const distmap_plan *plan) { return lay_out(plan, NULL).used + TEXTURE_UNIT; }

static size_t field_bytes(const ec_stage *p) { return (size_t)(p->rows * p->pitch) * sizeof(float); }

/* The elements with axes in the grid's order. */
static dm_elements elements_turned(const distmap_plan *plan, const esf_grid *g, const dm_arrays *arrays) {
    dm_arrays turned = *arrays;
    turned.input = esf_grid_turn(g, &arrays->input);
    turned.strength = esf_grid_turn(g, &arrays->strength);
    dm_elements e = dm_elements_make(plan, &turned);
    for (int place = 0; place < DM_NDIM; place++)
        e.shape[place] = g->shape[place];
    return e;
}

/* ---- Explicit steps ---- */

static distmap_status step_blocked(distmap_plan *plan, layout *l, const float **found) {
    struct dm_cuda *cuda = plan->context->cuda;
    TRY_CUDA(cuda, ec_survey(&l->stage, &l->tiles, cuda->stream));
    dm_phase(plan, "steps");
    int pass = 0;
    for (int64_t left = plan->esf.steps; left > 0; left -= l->tiles.depth, pass++) {
        const int steps = (int)(left < l->tiles.depth ? left : l->tiles.depth);
        TRY_CUDA(cuda, (l->stage.axes > 2 ? ec_steps_volume : ec_steps_plane)(&l->stage, &l->tiles, pass, steps,
                                                                              cuda->stream));
    }
    *found = l->stage.field[pass % 2];
    return DISTMAP_OK;
}

/* All values to where the texture has them. */
static distmap_status copy_values(distmap_plan *plan, const layout *l, const float *from) {
    struct dm_cuda *cuda = plan->context->cuda;
    const ec_stage *p = &l->stage;
    if (plan->params[EC_KERNEL] == EC_LINEAR)
        TRY_CUDA(cuda, cudaMemcpyAsync(l->texture, from, field_bytes(p), cudaMemcpyDeviceToDevice, cuda->stream));
    else
        TRY_CUDA(cuda, cudaMemcpy2DToArrayAsync(plan->cuda->array, 0, 0, from, (size_t)p->pitch * sizeof(float),
                                                (size_t)p->nx * sizeof(float), (size_t)p->rows,
                                                cudaMemcpyDeviceToDevice, cuda->stream));
    return DISTMAP_OK;
}

static distmap_status step_singly(distmap_plan *plan, layout *l, const float **found) {
    struct dm_cuda *cuda = plan->context->cuda;
    dm_phase(plan, "steps");
    for (int64_t step = 0; step < plan->esf.steps; step++) {
        const float *from = l->stage.field[step % 2];
        float *to = l->stage.field[(step + 1) % 2];
        if (plan->params[EC_KERNEL] == EC_SHARED) {
            TRY_CUDA(cuda, ec_shared(&l->stage, from, to, cuda->stream));
        } else {
            TRY(copy_values(plan, l, from));
            TRY_CUDA(cuda, ec_texture(&l->stage, plan->cuda->texture, to, cuda->stream));
        }
    }
    *found = l->stage.field[plan->esf.steps % 2];
    return DISTMAP_OK;
}

/* ---- The method ---- */

static const char *const kernel_names[] = {"blocked", "shared", "texture", "linear"};

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    const esf_grid grid = esf_grid_make(plan);
    const dm_elements elements = elements_turned(plan, &grid, arrays);
    layout l = lay_out(plan, plan->scratch);
    const float *found = NULL;
    dm_phase(plan, "load");
    TRY_CUDA(cuda, ec_load(&elements, &l.stage, cuda->stream));
    if (!plan->esf.steps)
        TRY(ec_rest_run(plan, &l.rest, &found));
    else if (plan->params[EC_KERNEL] == EC_BLOCKED)
        TRY(step_blocked(plan, &l, &found));
    else
        TRY(step_singly(plan, &l, &found));
    dm_phase(plan, "store");
    TRY_CUDA(cuda, ec_emit(&elements, &l.stage, found, cuda->stream));
    return DISTMAP_OK;
}

/* kernel=texture and linear: a texture over an array of its own or a piece of the scratch, a row for each of the grid. */
static distmap_status prepare(distmap_plan *plan) {
    const bool in_array = plan->params[EC_KERNEL] == EC_TEXTURE;
    if ((!in_array && plan->params[EC_KERNEL] != EC_LINEAR) || !plan->esf.steps)
        return DISTMAP_OK;
    const layout l = lay_out(plan, plan->scratch);
    const int most = in_array ? ARRAY_ROWS : TEXTURE_ROWS;
    const struct cudaChannelFormatDesc floats = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    if (l.stage.nx > TEXTURE_WIDTH || l.stage.rows > most)
        return dm_error(DISTMAP_ERROR_UNSUPPORTED,
                        "method esf/cuda needs at most %d rows of at most %d elements for kernel=%s", most,
                        TEXTURE_WIDTH, kernel_names[plan->params[EC_KERNEL]]);
    struct cudaResourceDesc resource = {.resType = in_array ? cudaResourceTypeArray : cudaResourceTypePitch2D};
    if (in_array) {
        TRY_CUDA(plan->context->cuda, cudaMallocArray(&plan->cuda->array, &floats, (size_t)l.stage.nx,
                                                      (size_t)l.stage.rows, cudaArrayDefault));
        resource.res.array.array = plan->cuda->array;
    } else {
        resource.res.pitch2D.devPtr = l.texture;
        resource.res.pitch2D.desc = floats;
        resource.res.pitch2D.width = (size_t)l.stage.nx;
        resource.res.pitch2D.height = (size_t)l.stage.rows;
        resource.res.pitch2D.pitchInBytes = (size_t)l.stage.pitch * sizeof(float);
    }
    const struct cudaTextureDesc how = {
        .addressMode = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp},
        .filterMode = cudaFilterModePoint,
        .readMode = cudaReadModeElementType};
    TRY_CUDA(plan->context->cuda, cudaCreateTextureObject(&plan->cuda->texture, &resource, &how, NULL));
    return DISTMAP_OK;
}

static void release(distmap_plan *plan) {
    if (!plan->cuda->texture && !plan->cuda->array)
        return;
    if (plan->cuda->pending)
        (void)cudaEventSynchronize(plan->cuda->done);
    if (plan->cuda->texture)
        (void)cudaDestroyTextureObject(plan->cuda->texture);
    if (plan->cuda->array)
        (void)cudaFreeArray(plan->cuda->array);
}

static const char *refuses(const distmap_plan *plan) {
    if (plan->problem.want.strength != DISTMAP_FLOAT32)
        return "needs strength to be float32";
    for (int a = 0; a < DM_NDIM; a++)
        if (dm_axis_counts(plan, a) && plan->shape[a] > LONGEST)
            return "needs measured axes of at most 2^30 elements";
    return NULL;
}

static const char *const solver_names[] = {"multigrid", "sor"};
static const distmap_param_info params[] = {
    [EC_KERNEL] = {"kernel", EC_BLOCKED, EC_BLOCKED, EC_LINEAR, "how steps are made", kernel_names},
    [EC_DEPTH] = {"depth", 8, 1, 8, "kernel=blocked: steps for each visit of a tile", NULL},
    [EC_SOLVER] = {"solver", EC_MULTIGRID, EC_MULTIGRID, EC_SOR, "solver of the state at rest", solver_names},
};

const dm_method dm_esf_cuda = {
    .info =
        {
            .name = "esf/cuda",
            .summary = "edge strengths: explicit steps, several to each visit of a tile in registers",
            .source = "Tari, Shah and Pien 1997; Keles 2016, sections 2.1 and 2.2; tiles: this project",
            .device = "cuda",
            .exact = true,
            .params = params,
            .param_count = sizeof params / sizeof *params,
            .field = DISTMAP_FIELD_EDGE_STRENGTH,
        },
    .refuses = refuses,
    .scratch_bytes = scratch_bytes,
    .run = run,
    .prepare = prepare,
    .release = release,
};
