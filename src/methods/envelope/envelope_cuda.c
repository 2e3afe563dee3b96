/* envelope/cuda: lower envelopes of parabolas axis after axis, a thread to a line. It takes whatever envelope/cpu takes, and
 * is there for the problems that faster methods refuse.
 *
 * A kernel reads the input into values (what each element offers by itself) and sites; one per measured axis turns every
 * line into its envelope, in place, with the one-dimensional step of core/hull.h; a last one writes the outputs. See
 * envelope_cpu.c for why axis after axis is right, for ties and for labels.
 *
 * Memory: per element 8 bytes, 16 with sites; and lists of parabolas for as many lines as are under way, 1 GiB at most
 * unless lines are very long.
 */
#include "methods/envelope/envelope_cuda.h"

/* ---- Memory ---- */

/* A list holds every element of a line and one beyond each end (labels). */
static size_t list_bytes(const distmap_plan *plan, int axis) {
    return (size_t)(plan->shape[axis] + 2) * ENVELOPE_PARABOLA_BYTES;
}

/* Lines under way at once: all of them, or as many as memory is spent on, or as a large GPU has threads. */
static int64_t lines_at_once(const distmap_plan *plan, int axis) {
    const int64_t budget = (int64_t)1 << 30, fewest = 1024, most = 1 << 18;
    const int64_t lines = plan->elements / plan->shape[axis], fit = budget / (int64_t)list_bytes(plan, axis);
    const int64_t count = fit < fewest ? fewest : fit > most ? most : fit;
    return count < lines ? count : lines;
}

static size_t lists_bytes(const distmap_plan *plan) {
    size_t largest = 0;
    for (int a = 0; a < DM_NDIM; a++) {
        const size_t bytes = dm_axis_counts(plan, a) ? (size_t)lines_at_once(plan, a) * list_bytes(plan, a) : 0;
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

static size_t value_bytes(const distmap_plan *plan) { return dm_cuda_round((size_t)plan->elements * 8); }

static size_t site_bytes(const distmap_plan *plan) { return plan->wants_site ? value_bytes(plan) : 0; }

static size_t scratch_bytes(const distmap_plan *plan) {
    return value_bytes(plan) + site_bytes(plan) + lists_bytes(plan);
}

/* ---- The method ---- */

static distmap_status run(distmap_plan *plan, const dm_arrays *arrays) {
    struct dm_cuda *cuda = plan->context->cuda;
    char *scratch = plan->scratch;
    const struct envelope_work work = {
        .elements = dm_elements_make(plan, arrays),
        .value = scratch,
        .site = plan->wants_site ? (int64_t *)(scratch + value_bytes(plan)) : NULL,
        .lists = scratch + value_bytes(plan) + site_bytes(plan),
    };
    dm_phase(plan, "read");
    TRY_CUDA(cuda, envelope_load(&work, cuda->stream));
    for (int axis = DM_X; axis >= 0; axis--)
        if (dm_axis_counts(plan, axis)) {
            dm_phase(plan, dm_axis_names[axis]);
            TRY_CUDA(cuda, envelope_step(&work, axis, lines_at_once(plan, axis), cuda->stream));
        }
    dm_phase(plan, "emit");
    TRY_CUDA(cuda, envelope_emit(&work, cuda->stream));
    return DISTMAP_OK;
}

const dm_method dm_envelope_cuda = {
    .info =
        {
            .name = "envelope/cuda",
            .summary =
                "lower envelopes of parabolas, axis by axis, a thread to a line; any input, spacing and dimension",
            .source = "Felzenszwalb and Huttenlocher 2012, section 2; Meijster et al. 2000",
            .device = "cuda",
            .exact = true,
        },
    .scratch_bytes = scratch_bytes,
    .run = run,
};
