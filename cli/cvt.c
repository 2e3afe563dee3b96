/* distmap cvt: points spread by an image's weights; stippling. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { FLOAT_MOST = 65535 }; /* what the largest of floats becomes */

/* The data besides the job's files. */
struct extra {
    distmap_view weights;
    int32_t *sites, *labels; /* labels: for the preview alone */
    double *centroids;
    double share; /* of the largest weight, on the average */
};

static void *allocate(const struct options *options, int64_t count, size_t size) {
    void *memory = malloc(count ? (size_t)count * size : 1);
    if (!memory)
        fail("%s: not enough memory for %lld elements", options->input, (long long)count);
    return memory;
}

/* ---- Weights ---- */

/* Element `i` in row-major order. */
static const char *address(const distmap_view *view, int64_t i) {
    const char *at = view->data;
    for (int a = view->ndim - 1; a >= 0; a--) {
        at += i % view->shape[a] * view->strides[a];
        i /= view->shape[a];
    }
    return at;
}

static distmap_dtype weight_dtype(const distmap_image_info *info) {
    switch (info->dtype) {
    case DISTMAP_BOOL:
    case DISTMAP_UINT8: return DISTMAP_UINT8;
    case DISTMAP_UINT16:
    case DISTMAP_FLOAT32:
    case DISTMAP_FLOAT64: return DISTMAP_UINT16;
    default: return DISTMAP_UINT32;
    }
}

/* The elements as unsigned integers. */
static int make_weights(const struct job *job, struct extra *extra, const struct options *options) {
    const distmap_view *view = &job->source.view;
    const bool real = view->dtype == DISTMAP_FLOAT32 || view->dtype == DISTMAP_FLOAT64;
    const int64_t count = element_count(view->ndim, view->shape);
    const size_t size = distmap_dtype_size(job->problem.dtype);
    struct statistics found = statistics_make();
    elements_count(view, &found);
    if (found.nans || (count && !(found.min >= 0 && found.max < HUGE_VAL)))
        return fail("%s: weights must be finite and not negative, but the file holds %s", options->input,
                    found.nans       ? "NaN"
                    : found.min >= 0 ? "infinity"
                                     : "negative values");
    if (!real && found.max > UINT32_MAX)
        return fail("%s: weights must be below 2^32, but the file holds %.17g", options->input, found.max);
    const double scale = real && found.max > 0 ? FLOAT_MOST / found.max : 1;
    char *weights = allocate(options, count, size);
    if (!weights)
        return EXIT_FAILED;
    extra->weights = distmap_view_make(weights, job->problem.dtype, view->ndim, view->shape);
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const double value = element_value(address(view, i), view->dtype);
        const bool ignored = job->source.ignored && job->source.ignored[i];
        const uint32_t weight = ignored ? 0 : (uint32_t)rint((options->invert ? found.max - value : value) * scale);
        sum += weight;
        memcpy(weights + (size_t)i * size, &weight, size);
    }
    extra->share = sum / fmax(found.max * scale, 1) / (double)count;
    return 0;
}

/* ---- Points as text ---- */

static void write_csv(FILE *file, const struct job *job, const struct extra *extra) {
    const int ndim = job->problem.ndim;
    const distmap_axis *axis = job->source.info->axis;
    for (int a = 0; a < ndim; a++)
        fprintf(file, "%s,", axis[a].name);
    for (int a = 0; a < ndim; a++)
        fprintf(file, "centroid_%s%c", axis[a].name, a < ndim - 1 ? ',' : '\n');
    for (int64_t i = 0; i < job->problem.cvt.points; i++) {
        for (int a = 0; a < ndim; a++)
            fprintf(file, "%d,", extra->sites[i * ndim + a]);
        for (int a = 0; a < ndim; a++)
            fprintf(file, "%.17g%c", extra->centroids[i * ndim + a], a < ndim - 1 ? ',' : '\n');
    }
}

/* In elements of the last axis, rows as high as they are. */
static void write_svg(FILE *file, const struct job *job, const struct extra *extra, double radius) {
    const distmap_problem *p = &job->problem;
    const double tall = p->spacing[0] / p->spacing[1], height = (double)p->shape[0] * tall;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%.6g\" viewBox=\"0 0 %lld %.6g\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<g>\n",
            (long long)p->shape[1], height, (long long)p->shape[1], height);
    for (int64_t i = 0; i < p->cvt.points; i++)
        fprintf(file, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.3g\"/>\n", extra->centroids[2 * i + 1] + 0.5,
                (extra->centroids[2 * i] + 0.5) * tall, radius);
    fprintf(file, "</g>\n</svg>\n");
}

static bool ends_in(const char *path, const char *ending) {
    const size_t length = strlen(path);
    return length > strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0;
}

static bool is_text(const struct options *options) {
    return ends_in(options->output, ".csv") || ends_in(options->output, ".svg");
}

static int write_text(struct job *job, const struct extra *extra, const struct options *options, double radius) {
    if (ends_in(options->output, ".csv"))
        write_csv(job->text.file, job, extra);
    else
        write_svg(job->text.file, job, extra, radius);
    return text_file_close(&job->text);
}

/* ---- The run ---- */

static int open_outputs(struct job *job, const struct options *options) {
    const distmap_image_info list = {
        .dtype = DISTMAP_INT32, .ndim = 2, .shape = {job->problem.cvt.points, job->problem.ndim}};
    int status =
        is_text(options) ? text_file_open(&job->text, options->output)
                         : sink_open(&job->map, options, options->output, &list, DISTMAP_INT32, DISTMAP_KIND_UNKNOWN, NULL);
    if (status == 0 && options->index)
        status = fill_choose(&job->fill, options, &job->source, DISTMAP_INT32, RESULT_MARKS);
    if (status == 0 && options->index)
        status =
            sink_open(&job->index, options, options->index, job->source.info, DISTMAP_INT32, DISTMAP_KIND_LABELS, &job->fill);
    return status ? status : preview_open(&job->preview, options, &job->problem, job->source.info, false);
}

static int compute(struct job *job, struct extra *extra, const struct options *options) {
    distmap_problem *problem = &job->problem;
    int status;
    if ((status = source_open(&job->source, options)) || (status = problem_make(options, job->source.info, problem)))
        return status;
    if (problem->ndim != 2 && ends_in(options->output, ".svg"))
        return fail("-o %s: %s has %d axes, but a drawing needs 2", options->output, options->input, problem->ndim);
    problem->dtype = weight_dtype(job->source.info);
    problem->want =
        (distmap_outputs){.sites = DISTMAP_INT32, .centroids = DISTMAP_FLOAT64, .energies = DISTMAP_FLOAT64};
    if (options->index || options->preview)
        problem->want.label = DISTMAP_INT32;
    if ((status = work_begin(&job->work, options)) || (status = work_plan(&job->work, options, problem)) ||
        (status = open_outputs(job, options)) || (status = source_read(&job->source, options)) ||
        (status = nodata_apply(&job->source, options, problem)) || (status = make_weights(job, extra, options)))
        return status;
    const int64_t lists[] = {problem->cvt.points, problem->ndim}, steps[] = {problem->cvt.steps + 1};
    extra->sites = allocate(options, lists[0] * lists[1], sizeof *extra->sites);
    extra->centroids = allocate(options, lists[0] * lists[1], sizeof *extra->centroids);
    job->energies = allocate(options, steps[0], sizeof *job->energies);
    if (!extra->sites || !extra->centroids || !job->energies)
        return EXIT_FAILED;
    distmap_arrays arrays = {.input = extra->weights,
                             .sites = distmap_view_make(extra->sites, DISTMAP_INT32, 2, lists),
                             .centroids = distmap_view_make(extra->centroids, DISTMAP_FLOAT64, 2, lists),
                             .energies = distmap_view_make(job->energies, DISTMAP_FLOAT64, 1, steps),
                             .label = job->index.view};
    if (problem->want.label && !options->index) {
        extra->labels = allocate(options, element_count(problem->ndim, problem->shape), sizeof *extra->labels);
        if (!extra->labels)
            return EXIT_FAILED;
        arrays.label = distmap_view_make(extra->labels, DISTMAP_INT32, problem->ndim, problem->shape);
    }
    if ((status = work_run(&job->work, options, &arrays)))
        return status;

    /* Discs, or in a volume balls, that cover half as much as the weights do of their largest: so they seldom touch. */
    const double each = 0.5 * extra->share * (double)element_count(problem->ndim, problem->shape) / (double)lists[0];
    const double radius = options->dot        ? options->dot
                          : problem->ndim > 2 ? cbrt(each * 0.75 / M_PI)
                          : problem->ndim > 1 ? sqrt(each / M_PI)
                                              : each / 2;
    if ((status = preview_dots(&job->preview, &arrays.label, extra->centroids, radius)))
        return status;
    if (options->index)
        fill_put(&job->index.view, &job->fill, job->source.ignored);
    if (job->map.path)
        memcpy(job->map.view.data, extra->sites, (size_t)(lists[0] * lists[1]) * sizeof *extra->sites);
    else if ((status = write_text(job, extra, options, radius)))
        return status;
    return job_finish(job, options);
}

static int run(const struct options *options) {
    struct job job = {.largest = -1, .components = -1, .sites = -1};
    struct extra extra = {0};
    const int status = compute(&job, &extra, options);
    free(extra.labels);
    free(extra.sites);
    free(extra.centroids);
    free(extra.weights.data);
    free(job.energies);
    job_close(&job);
    return status;
}

const struct command command_cvt = {
    .name = "cvt",
    .bit = CVT,
    .arguments = "INPUT -o OUTPUT --points N",
    .summary = "points spread by weights: centroidal Voronoi diagrams, stippling",
    .about =
        "Spreads N points over an image or volume: each point is at the centroid of the elements nearest to it, with\n"
        "the image's values as weights. There are many points where values are large or, with --invert, where they\n"
        "are small. Points are at elements. Lloyd's steps, on coarse grids first, reduce the energy, the sum of weight\n"
        "times squared distance to the nearest point, which is printed after each step. OUT gets\n"
        "  .npy  N x 2 (x 3) int32: the elements of the points, slowest axis first\n"
        "  .csv  these, and the centroids of the cells, in elements\n"
        "  .svg  dots at the centroids: stippling\n"
        "Floating-point weights are scaled, the largest to 65535, and rounded. The preview shows the dots.",
    .example = "  distmap cvt data/coins.png -o coins.svg --points 10000 --invert --preview stipples.png\n",
    .run = run,
};
