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

/* The data besides the job's files. */
struct extra {
    bool labels, by_pieces; /* by_pieces: how the preview shows its zones */
    uint32_t *numbers;      /* of the connected groups: the computation's input */
    distmap_view input;     /* that, or the file's elements */
    void *nearest;          /* indices for the preview alone */
    uint8_t *none;          /* 1 where there is no label */
};

static void *allocate(const struct options *options, const distmap_problem *problem, distmap_dtype dtype) {
    const size_t bytes = (size_t)element_count(problem->ndim, problem->shape) * distmap_dtype_size(dtype);
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        fail("%s: not enough memory for %zu bytes", options->input, bytes);
    return memory;
}

/* Numbers the groups; where one holds most sites, a preview by groups would show nothing, and goes by pieces. */
static int number_groups(struct job *job, struct extra *extra, const struct options *options, distmap_dtype dtype) {
    distmap_problem *problem = &job->problem;
    extra->numbers = allocate(options, problem, DISTMAP_UINT32);
    if (!extra->numbers)
        return EXIT_FAILED;
    progress_begin(options, "numbering");
    int status = components_number(&job->source.view, problem, extra->numbers, &job->components);
    if (status || (status = check_range(0, (double)job->components, dtype)))
        return status;
    progress_end();
    source_drop(&job->source);
    if (options->preview &&
        components_one_rules(extra->numbers, element_count(problem->ndim, problem->shape), job->components)) {
        extra->by_pieces = true;
        problem->want.index = index_dtype(problem);
        extra->nearest = options->index ? NULL : allocate(options, problem, problem->want.index);
        if (!options->index && !extra->nearest)
            return EXIT_FAILED;
    }
    extra->input = fit_numbers(extra->numbers, dtype, problem);
    problem->dtype = extra->input.dtype;
    problem->sites = (distmap_sites){.rule = DISTMAP_SITES_NONZERO};
    return 0;
}

static int compute(struct job *job, struct extra *extra, const struct options *options) {
    distmap_problem *problem = &job->problem;
    distmap_dtype dtype;
    int status;
    if ((status = source_open(&job->source, options)) || (status = problem_make(options, job->source.info, problem)) ||
        (status = work_begin(&job->work, options)))
        return status;
    extra->labels = takes_labels(options, problem);
    if ((status = choose_dtype(options, problem, extra->labels, &dtype)))
        return status;
    problem->want.label = dtype;
    problem->want.index = options->index ? index_dtype(problem) : DISTMAP_NONE;
    if ((status = job_open_outputs(job, options, dtype, true)) || (status = source_read(&job->source, options)) ||
        (status = nodata_apply(&job->source, options, problem)))
        return status;
    struct values_seen seen = values_begin(&job->source, options);
    extra->input = job->source.view;
    if (warnings_heard(options))
        job->sites = elements_count_sites(&job->source.view, &problem->sites);
    if (!extra->labels && values_matter(options) && !options->components)
        values_look(&job->source.view, &seen);
    warn_of_values(options, job->source.view.dtype, &seen);
    if ((!extra->labels && (status = number_groups(job, extra, options, dtype))) ||
        (status = work_plan(&job->work, options, problem)))
        return status;

    distmap_arrays arrays = {.input = extra->input, .label = job->map.view, .index = job->index.view};
    if (extra->nearest)
        arrays.index = distmap_view_make(extra->nearest, problem->want.index, problem->ndim, problem->shape);
    if ((status = work_run(&job->work, options, &arrays)))
        return status;
    nodata_erase(&job->map.view, job->source.ignored, RESULT_LABELS);
    nodata_erase(&arrays.index, job->source.ignored, RESULT_INDICES);
    const distmap_view by_label = {0};
    if ((status = preview_regions(&job->preview, &job->map.view, &extra->input,
                                  extra->by_pieces ? &arrays.index : &by_label)))
        return status;
    if (job->fill.written) { /* boundaries, which are 0 too, are no gaps */
        if (!(extra->none = allocate(options, problem, DISTMAP_UINT8)))
            return EXIT_FAILED;
        fill_look(&job->map.view, &job->fill, extra->none);
    }
    if (options->boundaries)
        boundaries_clear(&job->map.view, problem->axes);
    fill_put(&job->map.view, &job->fill, extra->none);
    return job_finish(job, options);
}

static int run(const struct options *options) {
    struct job job = {.largest = -1, .components = -1, .sites = -1};
    struct extra extra = {0};
    const int status = compute(&job, &extra, options);
    free(extra.none);
    free(extra.nearest);
    free(extra.numbers);
    job_close(&job);
    return status;
}

const struct command command_voronoi = {
    .name = "voronoi",
    .bit = VORONOI,
    .arguments = "INPUT -o OUTPUT",
    .summary = "which site is nearest to every element",
    .about =
        "Writes for every element which site is nearest. Sites are the elements that are not 0, unless\n"
        "--sites or --threshold says otherwise. OUT gets one of two things:\n"
        "  --labels      the input's value at the nearest site, so that labels grow until they meet;\n"
        "                the default for integer images with --sites nonzero or LO..HI\n"
        "  --components  the number 1, 2, ... of the nearest connected group of sites (diagonals connect), in\n"
        "                the order of the groups' first elements; the default in all other cases: masks,\n"
        "                --threshold, --sites zero or VALUE, floating-point images\n"
        "--boundaries writes 0 to the last element before each other region.\n"
        "Elements without a site, or nearer to the border with --border, get 0. Among several nearest sites the\n"
        "first in the file's order wins. In the preview regions have hashed colours, and sites are darker;\n"
        "if one group holds most sites, a coarse grid cuts it into pieces with regions of their own.",
    .example =
        "  distmap voronoi data/coins.png -o coins.npy --threshold 120 --index nearest.npy --preview regions.png\n",
    .run = run,
};
