/* distmap voronoi: which site is nearest, told as the site's label, its group's number, and its index. */
#include <stdlib.h>

#include "cli.h"

/* Whether OUT gets the input's values (labels) or numbers of connected groups. An integer image whose sites may have
 * different values is taken to be labelled; elsewhere all sites look alike, and only numbering tells them apart. */
static bool takes_labels(const struct options *options, const distmap_problem *problem) {
    if (options->labels || options->components)
        return options->labels;
    const bool varied = problem->sites.rule == DISTMAP_SITES_NONZERO || problem->sites.rule == DISTMAP_SITES_RANGE;
    return varied && !options->threshold_given && problem->dtype != DISTMAP_BOOL && problem->dtype != DISTMAP_FLOAT32 &&
           problem->dtype != DISTMAP_FLOAT64;
}

/* The narrowest type that holds least to most. */
static distmap_dtype narrowest(double least, double most) {
    static const distmap_dtype choices[] = {DISTMAP_UINT8,  DISTMAP_INT16, DISTMAP_UINT16, DISTMAP_INT32,
                                            DISTMAP_UINT32, DISTMAP_INT64, DISTMAP_UINT64};
    enum { LAST = sizeof choices / sizeof *choices - 1 };
    double lowest, highest;
    for (int i = 0; i < LAST; i++) {
        dtype_limits(choices[i], &lowest, &highest);
        if (least >= lowest && most <= highest)
            return choices[i];
    }
    return choices[LAST];
}

static int check_range(double least, double most, distmap_dtype dtype) {
    double lowest, highest;
    dtype_limits(dtype, &lowest, &highest);
    if (least >= lowest && most <= highest)
        return 0;
    return fail("--dtype: %s cannot hold labels from %.0f to %.0f; %s would do", distmap_dtype_name(dtype), least, most,
                distmap_dtype_name(narrowest(least, most)));
}

static int choose_dtype(const struct options *options, const distmap_problem *problem, bool labels,
                        distmap_dtype *dtype) {
    *dtype = options->dtype ? options->dtype : labels ? problem->dtype : DISTMAP_INT32;
    if (*dtype == DISTMAP_FLOAT32 || *dtype == DISTMAP_FLOAT64)
        return fail("--dtype: %s cannot hold labels; any integer type would do", distmap_dtype_name(*dtype));
    if (!labels)
        return 0; /* how many groups there are is not known yet */
    double least, most;
    dtype_limits(problem->dtype, &least, &most);
    return check_range(least, most, *dtype);
}

/* Numbers as wide as OUT's elements, or 32 bits where those are wider; in place, as they only get narrower. */
static distmap_view fit_numbers(uint32_t *numbers, distmap_dtype dtype, const distmap_problem *problem) {
    const int64_t elements = element_count(problem->ndim, problem->shape);
    const size_t size = distmap_dtype_size(dtype);
    for (int64_t i = 0; size == 1 && i < elements; i++)
        ((uint8_t *)numbers)[i] = (uint8_t)numbers[i];
    for (int64_t i = 0; size == 2 && i < elements; i++)
        ((uint16_t *)numbers)[i] = (uint16_t)numbers[i];
    return distmap_view_make(numbers, size == 8 ? DISTMAP_UINT32 : dtype, problem->ndim, problem->shape);
}

/* Labels lie in the input's elements; numbers of groups are made into *numbers, which becomes the input. */
static int prepare_input(const struct options *options, struct source *source, distmap_problem *problem, bool labels,
                         distmap_dtype dtype, uint32_t **numbers, distmap_view *input, int64_t *components) {
    *input = source->view;
    if (labels)
        return 0;
    const int64_t elements = element_count(problem->ndim, problem->shape);
    *numbers = malloc(elements ? (size_t)elements * sizeof **numbers : 1);
    if (!*numbers)
        return fail("%s: not enough memory to number its groups", options->input);
    int status = components_number(input, problem, *numbers, components);
    if (status || (status = check_range(0, (double)*components, dtype)))
        return status;
    *input = fit_numbers(*numbers, dtype, problem);
    problem->dtype = input->dtype;
    problem->sites = (distmap_sites){.rule = DISTMAP_SITES_NONZERO};
    return 0;
}

static int compute(const struct options *options, struct report *report, struct source *source,
                   distmap_problem *problem, struct work *work, struct sink *map, struct sink *index,
                   struct preview *preview, uint32_t **numbers) {
    distmap_dtype dtype;
    distmap_view input;
    int status;
    if ((status = source_open(source, options)) || (status = problem_make(options, source->info, problem)) ||
        (status = work_begin(work, options)))
        return status;
    const bool labels = takes_labels(options, problem);
    if ((status = choose_dtype(options, problem, labels, &dtype)))
        return status;
    problem->want.label = dtype;
    problem->want.index = options->index ? index_dtype(problem) : DISTMAP_NONE;
    if ((status = sink_open(map, options->output, problem, source->info, dtype)) ||
        (options->index && (status = sink_open(index, options->index, problem, source->info, problem->want.index))) ||
        (status = preview_open(preview, options, problem, source->info, true)) ||
        (status = source_read(source, options)) ||
        (status = prepare_input(options, source, problem, labels, dtype, numbers, &input, &report->components)) ||
        (status = work_plan(work, options, problem)))
        return status;

    const distmap_arrays arrays = {.input = input, .label = map->view, .index = index->view};
    if ((status = work_run(work, options, &arrays)))
        return status;

    const double began = seconds_now();
    if ((status = sink_write(map, options)) || (status = sink_write(index, options)) ||
        (status = preview_regions(preview, &map->view, &input)) ||
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
    uint32_t *numbers = NULL;
    struct report report = {.source = &source,
                            .problem = &problem,
                            .work = &work,
                            .map = &map,
                            .index = &index,
                            .preview = &preview,
                            .largest = -1,
                            .components = -1};
    const int status = compute(options, &report, &source, &problem, &work, &map, &index, &preview, &numbers);
    free(numbers);
    preview_close(&preview);
    sink_close(&index);
    sink_close(&map);
    work_end(&work);
    source_close(&source);
    return status;
}

const struct command command_voronoi = {
    .name = "voronoi",
    .bit = VORONOI,
    .arguments = "INPUT -o OUTPUT",
    .summary = "which site is nearest to every element",
    .about = "Writes for every element what its nearest site is. Sites are the elements that are not 0, unless\n"
             "--sites or --threshold says otherwise. OUT gets one of two things:\n"
             "  --labels      the input's value at the nearest site, so that labels grow until they meet;\n"
             "                the default for integer images with --sites nonzero or LO..HI\n"
             "  --components  the number 1, 2, ... of the nearest connected group of sites (diagonals connect), in\n"
             "                the order of the groups' first elements; the default for all else: masks, --threshold,\n"
             "                --sites zero or VALUE, floating-point images\n"
             "Elements without a site, or nearer to the border with --border, get 0. Of several nearest sites the\n"
             "first in the file's order counts. In the preview regions have hashed colours, sites are darker.",
    .example =
        "  distmap voronoi data/coins.png -o coins.npy --threshold 120 --index nearest.npy --preview regions.png\n",
    .run = run,
};
