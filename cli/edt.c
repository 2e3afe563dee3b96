/* distmap edt: an image's distance map. */
#include "cli.h"

static int compute(struct job *job, const struct options *options) {
    distmap_problem *problem = &job->problem;
    distmap_dtype dtype;
    int status;
    /* Everything that can be refused is refused before the input's elements are read. */
    if ((status = source_open(&job->source, options)) || (status = problem_make(options, job->source.info, problem)) ||
        (status = work_begin(&job->work, options)) ||
        (status = problem_want_distance(options, job->work.context, problem, &dtype)))
        return status;
    if (options->index)
        problem->want.index = index_dtype(problem);
    if ((status = job_begin(job, options, dtype, false)))
        return status;

    distmap_arrays arrays = {.input = job->source.view, .index = job->index.view};
    *(options->squared ? &arrays.squared : &arrays.distance) = job->map.view;
    const bool ignores = job->source.ignored;
    status = ignores && options->is_signed ? signed_run(job, options, &arrays)
             : ignores && options->labels  ? labels_run(job, options, &arrays)
                                           : work_run(&job->work, options, &arrays);
    if (status)
        return status;

    nodata_erase(&job->map.view, job->source.ignored, RESULT_DISTANCES);
    nodata_erase(&job->index.view, job->source.ignored, RESULT_INDICES);
    const bool told =
        options->json || options->preview || !options->quiet; /* else a pass over the result for nothing */
    if (told && options->is_signed)
        elements_extent(&job->map.view, &job->least, &job->largest);
    else
        job_take_largest(job, told ? elements_largest(&job->map.view) : 0);
    if (told && options->is_signed) /* no signed distance is 0 */
        job->nowhere = job->least == 0 && job->largest == 0;
    if ((status = preview_distances(&job->preview, &job->map.view, options->squared, job_farthest(job))))
        return status;
    fill_put(&job->map.view, &job->fill, NULL);
    return job_finish(job, options);
}

static int run(const struct options *options) {
    return options->memory ? outofcore_run(options) : job_run(options, compute);
}

const struct command command_edt = {
    .name = "edt",
    .bit = EDT,
    .arguments = "INPUT -o OUTPUT",
    .summary = "distance from every element to the nearest site",
    .about =
        "Writes the exact Euclidean distance from every element of an image or volume to the nearest site.\n"
        "Sites are the elements equal to 0, unless --sites or --threshold says otherwise: inside the objects of a\n"
        "mask, the map gives the distance to the background. Lengths are in the file's voxel size;\n"
        "--metric cityblock, chessboard and chamfer:A,B[,C] count steps, whatever the voxel size.\n"
        "Elements without a site get infinity, or the type's largest value. With --signed, sites get negative\n"
        "distances, to the nearest element that is not a site; --signed outside is negative inside the objects.",
    .example =
        "  distmap edt data/horse.png --channel luma -o horse.npy --threshold 128 --preview horse_distance.png\n",
    .run = run,
};
