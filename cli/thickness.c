/* distmap thickness: the local thickness of an image's shape. */
#include "cli.h"

static int compute(struct job *job, const struct options *options) {
    distmap_problem *problem = &job->problem;
    distmap_dtype dtype;
    int status;
    if ((status = source_open(&job->source, options)) || (status = problem_make(options, job->source.info, problem)) ||
        (status = work_begin(&job->work, options)) ||
        (status = problem_want_distance(options, job->work.context, problem, &dtype)) ||
        (status = job_begin(job, options, dtype, false)))
        return status;

    const distmap_arrays arrays = {.input = job->source.view, .distance = job->map.view};
    if ((status = work_run(&job->work, options, &arrays)))
        return status;
    nodata_erase(&job->map.view, job->source.ignored, RESULT_DISTANCES);
    const bool told = options->json || options->preview || !options->quiet; /* else a pass for nothing */
    job_take_largest(job, told ? elements_largest(&job->map.view) : 0);
    if ((status = preview_distances(&job->preview, &job->map.view, false, job_farthest(job))))
        return status;
    fill_put(&job->map.view, &job->fill, NULL);
    return job_finish(job, options);
}

static int run(const struct options *options) { return job_run(options, compute); }

const struct command command_thickness = {
    .name = "thickness",
    .bit = THICKNESS,
    .arguments = "INPUT -o OUTPUT",
    .summary = "local thickness of a shape",
    .about =
        "Writes for every element of a shape the diameter of the largest ball within the shape that holds the\n"
        "element, and 0 outside. The shape is the elements that are not 0, unless --sites or --threshold says\n"
        "otherwise. The radius of a ball is the distance from its centre, an element, to the nearest element outside\n"
        "the shape. All balls count, and no radius is rounded. Lengths are in the file's voxel size. Balls can extend\n"
        "beyond the image, unless --border says that it is background there. Without any background the thickness\n"
        "is infinite.",
    .example = "  distmap thickness data/horse.png --channel luma -o thick.npy --threshold 128 --sites nonzero --preview thick.png\n",
    .run = run,
};
