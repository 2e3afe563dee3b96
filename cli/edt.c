/* distmap edt: an image's distance map. */
#include "cli.h"

static int compute(const struct options *options, struct report *report, struct source *source,
                   distmap_problem *problem, struct work *work, struct sink *map, struct sink *index,
                   struct preview *preview) {
    distmap_dtype dtype;
    int status;
    /* Everything that can be refused is refused before the input's elements are read. */
    if ((status = source_open(source, options)) || (status = problem_make(options, source->info, problem)) ||
        (status = work_begin(work, options)) ||
        (status = problem_want_distance(options, work->context, problem, &dtype)))
        return status;
    if (options->index)
        problem->want.index = index_dtype(problem);
    if ((status = work_plan(work, options, problem)) ||
        (status = sink_open(map, options->output, problem, source->info, dtype)) ||
        (options->index && (status = sink_open(index, options->index, problem, source->info, problem->want.index))) ||
        (status = preview_open(preview, options, problem, source->info, false)) ||
        (status = source_read(source, options)))
        return status;

    distmap_arrays arrays = {.input = source->view, .index = index->view};
    *(options->squared ? &arrays.squared : &arrays.distance) = map->view;
    if ((status = work_run(work, options, &arrays)))
        return status;

    const double began = seconds_now();
    const bool told =
        options->json || options->preview || !options->quiet; /* else a pass over the result for nothing */
    report->largest = told ? elements_largest(&map->view) : 0;
    if ((status = sink_write(map, options)) || (status = sink_write(index, options)) ||
        (status = preview_distances(preview, &map->view, options->squared, report->largest)) ||
        (status = sinks_commit((struct sink *const[]){map, index, &preview->sink}, 3)))
        return status;
    report->write_seconds = seconds_now() - began;
    report_give(report, options);
    return 0;
}

static int run(const struct options *options) {
    struct source source = {0};
    distmap_problem problem;
    struct work work = {0};
    struct sink map = {0}, index = {0};
    struct preview preview = {0};
    struct report report = {.source = &source,
                            .problem = &problem,
                            .work = &work,
                            .map = &map,
                            .index = &index,
                            .preview = &preview,
                            .components = -1};
    const int status = compute(options, &report, &source, &problem, &work, &map, &index, &preview);
    preview_close(&preview);
    sink_close(&index);
    sink_close(&map);
    work_end(&work);
    source_close(&source);
    return status;
}

const struct command command_edt = {
    .name = "edt",
    .bit = EDT,
    .arguments = "INPUT -o OUTPUT",
    .summary = "distance from every element to the nearest site",
    .about = "Writes the exact Euclidean distance from every element of an image or volume to the nearest site.\n"
             "Sites are the elements equal to 0, unless --sites or --threshold says otherwise; so the map of a\n"
             "mask is, inside its objects, the distance to the background. Lengths are in the file's voxel size.\n"
             "Elements without a site get infinity, or the type's largest value.",
    .example = "  distmap edt data/horse.png -o horse.npy --threshold 128 --preview horse_distance.png\n",
    .run = run,
};
