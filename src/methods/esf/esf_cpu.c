/* esf/cpu: the edge strength function on the CPU: choice of the kernel, the mask in, values out.
 *
 *   kernel=blocked   explicit steps, several at a time where the values lie in the cache (esf_blocked.c)
 *   kernel=plain     one vectorised pass over memory for each step; kernel=serial, the formula as it stands;
 *                    kernel=skipping, the same where v is not 1, as the paper's (esf_sweep.c)
 *   solver=multigrid the state at rest (esf_rest.c); solver=sor, by over-relaxation (esf_sor.c)
 *
 * Source: S. Tari, J. Shah, H. Pien, "Extraction of Shape Skeletons from Grayscale Images", Computer Vision and Image
 * Understanding 66 (1997); H. Y. Keles, "Acceleration of the Edge Strength Function on GPU Using CUDA" (2016), equation
 * 3. Its pseudocode updates v in place, where neighbouring tiles race, and takes for the shape what is within 1e-5 of
 * 1, which v comes to be elsewhere too; here a step reads one memory and writes another, and the shape is told exactly
 * (esf.h).
 */
#include <string.h>

#include "cpu/rows.h"
#include "methods/esf/esf_cpu.h"

static const esf_kernels *const kernels[DM_ISA_COUNT] = {
    [DM_PLAIN] = dm_esf_plain,
#if defined(__x86_64__)
    [DM_SSE4] = dm_esf_sse4,
    [DM_AVX2] = dm_esf_avx2,
    [DM_AVX512] = dm_esf_avx512,
#elif defined(__aarch64__)
    [DM_NEON] = dm_esf_neon,
#endif
};

/* ---- In and out ---- */

void esf_load(const esf_job *job, int64_t row, int64_t x, size_t n, uint8_t *site, void *to) {
    int64_t at[DM_NDIM];
    esf_grid_place(&job->grid, row, x, at);
    dm_row_sites(job->plan, &job->input, at, (int64_t)n, site);
    if (to)
        job->rows->from_sites(site, n, to);
}

void esf_emit(const esf_job *job, int64_t row, int64_t x, size_t n, const void *from) {
    int64_t at[DM_NDIM];
    esf_grid_place(&job->grid, row, x, at);
    job->rows->emit(from, n, dm_row_address(&job->strength, at), job->strength.stride[DM_X]);
}

/* ---- Batches without a shape ---- */

enum { RUN = 4096 };

static bool has_shape(const esf_job *job, int64_t batch) {
    const int64_t rows = job->grid.nz * job->grid.ny, nx = job->grid.nx;
    uint8_t site[RUN];
    for (int64_t row = batch * rows; row < (batch + 1) * rows && dm_is_wanted(job->plan); row++)
        for (int64_t x = 0; x < nx; x += RUN) {
            const size_t n = (size_t)(nx - x < RUN ? nx - x : RUN);
            esf_load(job, row, x, n, site, NULL);
            if (memchr(site, 1, n))
                return true;
        }
    return false;
}

static int64_t batches_at_once(const esf_grid *g) { return RUN / (g->nz * g->ny * g->nx) + 1; }

static void look_for_shapes(void *arg, size_t index, int worker) {
    const esf_job *job = arg;
    (void)worker;
    const int64_t some = batches_at_once(&job->grid), first = (int64_t)index * some;
    for (int64_t batch = first; batch < first + some && batch < job->grid.batches; batch++)
        if (!has_shape(job, batch))
            dm_flag(job->plan, DISTMAP_FLAG_NO_SITE);
}

/* ---- The method ---- */

static esf_job job_make(distmap_plan *plan) {
    return (esf_job){
        .plan = plan,
        .grid = esf_grid_make(plan),
        .rows = &kernels[plan->context->isa][plan->problem.want.strength == DISTMAP_FLOAT32 ? ESF_F32 : ESF_F64],
        .by_value = plan->esf.a >= 0,
    };
}

static size_t scratch_bytes(const distmap_plan *plan) {
    const esf_job job = job_make((distmap_plan *)plan);
    if (plan->esf.steps)
        return plan->params[ESF_KERNEL] == ESF_BLOCKED ? esf_blocked_scratch(&job) : esf_sweep_scratch(&job);
    return plan->params[ESF_SOLVER] == ESF_SOR ? esf_sor_scratch(&job) : esf_rest_scratch(&job);
}

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    const int64_t *params = plan->params;
    esf_job job = job_make(plan);
    job.input = esf_grid_turn(&job.grid, &arrays->input);
    job.strength = esf_grid_turn(&job.grid, &arrays->strength);
    const int64_t some = batches_at_once(&job.grid);
    dm_phase(plan, "load");
    TRY(dm_parallel(plan, (size_t)((job.grid.batches + some - 1) / some), look_for_shapes, &job, 0));
    if (plan->esf.steps)
        return params[ESF_KERNEL] == ESF_BLOCKED ? esf_blocked_run(&job) : esf_sweep_run(&job);
    TRY(params[ESF_SOLVER] == ESF_SOR ? esf_sor_run(&job) : esf_rest_run(&job));
    dm_flag(plan, plan->outcome.residual > plan->esf.tolerance ? DISTMAP_FLAG_UNREST : 0);
    return DISTMAP_OK;
}

static const char *const kernel_names[] = {"blocked", "plain", "serial", "skipping"};
static const char *const solver_names[] = {"multigrid", "sor"};
static const distmap_param_info params[] = {
    [ESF_KERNEL] = {"kernel", ESF_BLOCKED, ESF_BLOCKED, ESF_SKIPPING, "how steps are made", kernel_names},
    [ESF_DEPTH] = {"depth", 16, 1, 16, "kernel=blocked: steps for each visit of a tile", NULL},
    [ESF_SOLVER] = {"solver", ESF_MULTIGRID, ESF_MULTIGRID, ESF_SOR, "solver of the state at rest", solver_names},
};

const dm_method dm_esf_cpu = {
    .info =
        {
            .name = "esf/cpu",
            .summary = "edge strengths: several explicit steps to a visit of a tile in the cache; at rest, multigrid",
            .source = "Tari, Shah and Pien 1997; Keles 2016; tiles and multigrid: this project",
            .device = "cpu",
            .exact = true,
            .params = params,
            .param_count = sizeof params / sizeof *params,
            .field = DISTMAP_FIELD_EDGE_STRENGTH,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
};
