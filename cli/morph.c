/* distmap morph: dilation, erosion, opening and closing by balls. */
#include "cli.h"

/* A mask is bool unless --dtype says uint8, or elements may be left out, which takes a third value; labels keep their type. */
static int choose_dtype(const struct options *options, const struct source *source, distmap_problem *problem,
                        distmap_dtype *dtype) {
    const distmap_dtype mask = nodata_ignores(source, options) ? DISTMAP_UINT8 : DISTMAP_BOOL;
    *dtype = options->dtype ? options->dtype : options->labels ? problem->dtype : mask;
    if (options->labels) {
        problem->want.label = *dtype;
        return 0;
    }
    problem->want.mask = *dtype;
    if (*dtype == DISTMAP_BOOL || *dtype == DISTMAP_UINT8)
        return nodata_check_mask(source, options, *dtype);
    return fail("--dtype: masks are bool or uint8, not %s", distmap_dtype_name(*dtype));
}

static int compute(struct job *job, const struct options *options) {
    distmap_problem *problem = &job->problem;
    distmap_dtype dtype;
    int status;
    if ((status = source_open(&job->source, options)) || (status = problem_make(options, job->source.info, problem)) ||
        (status = choose_dtype(options, &job->source, problem, &dtype)) || (status = work_begin(&job->work, options)) ||
        (status = job_begin(job, options, dtype, true)))
        return status;

    distmap_arrays arrays = {.input = job->source.view};
    *(options->labels ? &arrays.label : &arrays.mask) = job->map.view;
    const bool shrinks = options->labels && options->morphology.step != DISTMAP_MORPHOLOGY_DILATE;
    status =
        shrinks && job->source.ignored ? labels_shrink(job, options, &arrays) : work_run(&job->work, options, &arrays);
    if (status)
        return status;
    nodata_erase(&job->map.view, job->source.ignored, RESULT_MARKS);
    if (options->labels) /* in the picture what has a label in the input is darker, as what is of the set is */
        problem->sites.rule = DISTMAP_SITES_NONZERO;
    if ((status = preview_sets(&job->preview, &job->map.view, &job->source.view)))
        return status;
    fill_put(&job->map.view, &job->fill, job->source.ignored);
    return job_finish(job, options);
}

static int run(const struct options *options) { return job_run(options, compute); }

const struct command command_morph = {
    .name = "morph",
    .bit = MORPH,
    .arguments = "INPUT -o OUTPUT --op dilate|erode|open|close --radius R",
    .summary = "dilation, erosion, opening, closing by balls",
    .about =
        "Writes the result of a ball of radius R on a set: dilate adds every element within R of the set; erode keeps\n"
        "the elements with no other element within R; open keeps the union of the balls within the set; close adds\n"
        "the elements that no ball outside the set covers. The set is the elements that are not 0, unless --sites or\n"
        "--threshold says otherwise. Lengths are in the file's voxel size; an element at distance R is within R. The\n"
        "image is part of an infinite one; its outside is not in the set or, with --outside set, is in it.\n"
        "With --labels each label grows (the nearest one wins), shrinks, or is opened by itself.\n"
        "In the preview the elements that were in the set, or had a label, are darker, and those that were removed\n"
        "are dark.",
    .example =
        "  distmap morph data/coins.png -o coins.png --threshold 120 --op open --radius 6.5 --preview opened.png\n",
    .run = run,
};
