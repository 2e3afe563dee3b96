/* distmap skeleton: the Euclidean skeleton of an image's shape. */
#include <string.h>

#include "cli.h"

/* OUT holds marks, or distances where there are marks. */
static int choose_dtype(const struct options *options, const struct source *source, distmap_outputs *want,
                        distmap_dtype *dtype) {
    *dtype = options->dtype ? options->dtype : DISTMAP_UINT8;
    if (*dtype == DISTMAP_BOOL || *dtype == DISTMAP_UINT8)
        want->mask = *dtype;
    else if (*dtype == DISTMAP_FLOAT32 || *dtype == DISTMAP_FLOAT64)
        want->distance = *dtype;
    else
        return fail("--dtype: a skeleton is uint8 or bool, its distances are float32 or float64, not %s",
                    distmap_dtype_name(*dtype));
    return nodata_check_mask(source, options, *dtype);
}

static int64_t count_marks(const distmap_view *view) {
    const int64_t elements = element_count(view->ndim, view->shape);
    const size_t size = distmap_dtype_size(view->dtype);
    int64_t count = 0;
    for (int64_t i = 0; i < elements; i++) {
        uint64_t bits = 0; /* no mark is 0, or 0.0 */
        memcpy(&bits, (const char *)view->data + (size_t)i * size, size);
        count += bits != 0;
    }
    return count;
}

static int compute(struct job *job, const struct options *options) {
    distmap_problem *problem = &job->problem;
    distmap_dtype dtype;
    int status;
    if ((status = source_open(&job->source, options)) || (status = problem_make(options, job->source.info, problem)) ||
        (status = choose_dtype(options, &job->source, &problem->want, &dtype)) ||
        (status = work_begin(&job->work, options)) || (status = job_begin(job, options, dtype, false)))
        return status;

    distmap_arrays arrays = {.input = job->source.view};
    *(problem->want.mask ? &arrays.mask : &arrays.distance) = job->map.view;
    if ((status = work_run(&job->work, options, &arrays)))
        return status;
    nodata_erase(&job->map.view, job->source.ignored, RESULT_MARKS);
    if (options->json || !options->quiet) /* else a pass over the result for nothing */
        job->marked = count_marks(&job->map.view);
    if ((status = preview_marks(&job->preview, &job->map.view, &job->source.view)))
        return status;
    fill_put(&job->map.view, &job->fill, job->source.ignored);
    return job_finish(job, options);
}

static int run(const struct options *options) { return job_run(options, compute); }

const struct command command_skeleton = {
    .name = "skeleton",
    .bit = SKELETON,
    .arguments = "INPUT -o OUTPUT",
    .summary = "Euclidean skeleton of a shape",
    .about =
        "Writes the Euclidean skeleton of a shape, its integer medial axis: the elements that are equally near to\n"
        "two parts of the background. The shape is the elements that are not 0, unless --sites or --threshold\n"
        "says otherwise. A rule prunes the branches that come only from the corners of pixels. The default rule\n"
        "needs no number; --pruning linear removes branches that span less than an angle at the background,\n"
        "constant those whose two nearest background elements are within G of each other.\n"
        "Lengths are in the file's voxel size.",
    .example = "  distmap skeleton data/horse.png --channel luma -o bones.npy --threshold 128 --sites nonzero "
               "--preview bones.png\n",
    .run = run,
};
