/* distmap esf: the edge strength function of an image's shape. */
#include "cli.h"

static int choose_dtype(const struct options *options, distmap_dtype *dtype) {
    *dtype = options->dtype ? options->dtype : DISTMAP_FLOAT32;
    if (*dtype == DISTMAP_FLOAT32 || *dtype == DISTMAP_FLOAT64)
        return 0;
    return fail("--dtype: edge strengths are float32 or float64, not %s", distmap_dtype_name(*dtype));
}

static int compute(struct job *job, const struct options *options) {
    distmap_problem *problem = &job->problem;
    distmap_dtype dtype;
    int status;
    if ((status = source_open(&job->source, options)) || (status = problem_make(options, job->source.info, problem)) ||
        (status = choose_dtype(options, &dtype)) || (status = work_begin(&job->work, options)))
        return status;
    problem->want.strength = dtype;
    if ((status = job_begin(job, options, dtype, false)))
        return status;

    const distmap_arrays arrays = {.input = job->source.view, .strength = job->map.view};
    if ((status = work_run(&job->work, options, &arrays)))
        return status;
    if (distmap_plan_convergence(job->work.plan, &job->convergence))
        return fail_library();
    nodata_erase(&job->map.view, job->source.ignored, RESULT_MARKS);
    if ((status = preview_strengths(&job->preview, &job->map.view)))
        return status;
    fill_put(&job->map.view, &job->fill, job->source.ignored);
    return job_finish(job, options);
}

static int run(const struct options *options) { return job_run(options, compute); }

const struct command command_esf = {
    .name = "esf",
    .bit = ESF,
    .arguments = "INPUT -o OUTPUT --rho R (--steps N | --steady)",
    .summary = "edge strength function of a shape, a smoothed distance",
    .about =
        "Writes the edge strength function v of a shape: 1 on the shape, decreasing over lengths of about R elements,\n"
        "by dv/dt = (Laplacian - 1/R^2) v. Its level curves get smoother the farther they are from the shape.\n"
        "The shape is the elements that are not 0, unless --sites or --threshold says otherwise (for a drawing in\n"
        "black on white use --threshold 128 --sites zero). Either N explicit steps are computed, as in the paper, or\n"
        "the state at rest. Lengths are in elements, whatever the voxel size.",
    .example = "  distmap esf data/horse.png --channel luma -o horse.npy --threshold 128 --rho 16 --steady --preview horse_esf.png\n",
    .run = run,
};
