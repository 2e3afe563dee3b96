/* distmap compare: how far two masks are from each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"

/* ---- What is told ---- */

static json_object *directed_json(const distmap_comparison *asked, const distmap_directed *d) {
    json_object *object = json_object_new_object(), *percentiles = json_object_new_array();
    json_object_object_add(object, "points", json_object_new_int64(d->points));
    json_object_object_add(object, "within", json_object_new_int64(d->within));
    json_object_object_add(object, "hausdorff", json_number(d->hausdorff));
    json_object_object_add(object, "mean", json_number(d->mean));
    json_object_object_add(object, "rms", json_number(d->rms));
    for (int i = 0; i < asked->percentile_count; i++) {
        json_object *one = json_object_new_object();
        json_object_object_add(one, "percent", json_object_new_double(asked->percentile[i]));
        json_object_object_add(one, "distance", json_number(d->percentile[i]));
        json_object_array_add(percentiles, one);
    }
    json_object_object_add(object, "percentiles", percentiles);
    return object;
}

static void give_json(const struct job *job, const struct options *options, const distmap_comparison *asked,
                      const distmap_agreement *found) {
    const distmap_problem *problem = &job->problem;
    json_object *object = json_object_new_object(), *spacing = json_object_new_array(),
                *elements = json_object_new_array(), *flags = json_object_new_object(),
                *times = json_object_new_object();
    for (int a = 0; a < problem->ndim; a++)
        json_object_array_add(spacing, json_decimal(problem->spacing[a]));
    for (int i = 0; i < 2; i++)
        json_object_array_add(elements, json_object_new_int64(found->elements[i]));
    json_object_object_add(flags, "empty", json_object_new_boolean(job->work.flags & DISTMAP_FLAG_NO_SITE));
    json_object_object_add(flags, "nan", json_object_new_boolean(job->work.flags & DISTMAP_FLAG_NAN));
    json_object_object_add(times, "read", json_number(job->source.seconds * 1e3));
    json_object_object_add(times, "compute", json_number(job->work.seconds * 1e3));

    json_object_object_add(object, "command", json_object_new_string(options->command->name));
    json_object_object_add(object, "input", json_object_new_string(options->input));
    json_object_object_add(object, "other", json_object_new_string(options->other));
    json_object_object_add(object, "preview", options->preview ? json_object_new_string(options->preview) : NULL);
    json_object_object_add(object, "shape", json_shape(problem->ndim, problem->shape));
    char axes[160];
    json_object_object_add(object, "axes", json_object_new_string(axes_text(job->source.info, axes)));
    json_object_object_add(object, "spacing", spacing);
    json_add_unit(object, problem);
    json_object_object_add(object, "unit", json_object_new_string(distmap_image_unit(job->source.info)));
    json_object_object_add(object, "points", json_object_new_string(points_names[asked->points]));
    json_object_object_add(object, "tolerance", json_decimal(asked->tolerance));
    json_object_object_add(object, "symmetric", directed_json(asked, &found->symmetric));
    json_object_object_add(object, "forward", directed_json(asked, &found->forward));
    json_object_object_add(object, "backward", directed_json(asked, &found->backward));
    json_object_object_add(object, "surface_dice", json_number(found->surface_dice));
    json_object_object_add(object, "elements", elements);
    json_object_object_add(object, "common", json_object_new_int64(found->common));
    json_object_object_add(object, "dice", json_number(found->dice));
    json_object_object_add(object, "jaccard", json_number(found->jaccard));
    json_add_work(object, &job->work);
    json_object_object_add(object, "flags", flags);
    json_object_object_add(object, "warnings", warnings_json());
    json_object_object_add(object, "ms", times);
    json_print(object);
}

static void print_row(const char *name, double forward, double backward, double symmetric) {
    printf("%-13s %12.6g %12.6g %12.6g\n", name, forward, backward, symmetric);
}

static void print_table(const struct job *job, const distmap_comparison *asked, const distmap_agreement *found) {
    const distmap_directed *f = &found->forward, *b = &found->backward, *s = &found->symmetric;
    const char *unit = distmap_image_unit(job->source.info);
    char name[32];
    printf("%-13s %12s %12s %12s\n", *unit ? unit : "", "A to B", "B to A", "symmetric");
    print_row("Hausdorff", f->hausdorff, b->hausdorff, s->hausdorff);
    for (int i = 0; i < asked->percentile_count; i++) {
        snprintf(name, sizeof name, "%g%%", asked->percentile[i]);
        print_row(name, f->percentile[i], b->percentile[i], s->percentile[i]);
    }
    print_row("mean", f->mean, b->mean, s->mean);
    print_row("rms", f->rms, b->rms, s->rms);
    printf("%-13s %12lld %12lld %12lld\n", asked->points == DISTMAP_POINTS_SET ? "elements" : "on surface",
           (long long)f->points, (long long)b->points, (long long)s->points);
    snprintf(name, sizeof name, "within %g", asked->tolerance);
    printf("%-13s %12lld %12lld %12lld\n", name, (long long)f->within, (long long)b->within, (long long)s->within);
    printf("surface Dice %.6g, Dice %.6g, Jaccard %.6g\n", found->surface_dice, found->dice, found->jaccard);
}

/* ---- Masks ---- */

/* 1 at the elements of the mask, else 0; row-major without gaps. */
static void fill_mask(const distmap_view *view, const distmap_sites *sites, uint8_t *mask) {
    const int last = view->ndim - 1;
    const int64_t elements = element_count(view->ndim, view->shape), width = view->shape[last];
    for (int64_t first = 0; first < elements; first += width) {
        const char *at = view->data;
        int64_t row = first / width;
        for (int a = last - 1; a >= 0; row /= view->shape[a--])
            at += row % view->shape[a] * view->strides[a];
        elements_sites(at, view->dtype, view->strides[last], width, sites, mask + first);
    }
}

/* A file of bools is a mask already: where a threshold makes one of the other file, that is written down. */
static bool is_thresholded(const struct options *options, const struct source *source) {
    return options->threshold_given && source->info->dtype != DISTMAP_BOOL;
}

static int take_mask(struct source *source, const distmap_sites *sites) {
    uint8_t *mask = malloc((size_t)element_count(source->view.ndim, source->view.shape) + 1);
    if (!mask)
        return fail("%s: not enough memory", source->name);
    fill_mask(&source->view, sites, mask);
    source_drop(source);
    source->buffer = mask;
    source->view = distmap_view_make(mask, DISTMAP_UINT8, source->info->ndim, source->info->shape);
    return 0;
}

/* Elements without data in one of the two files are in neither mask. */
static void clear_ignored(struct source *a, struct source *b) {
    struct source *const both[] = {a, b};
    const int64_t elements = element_count(a->view.ndim, a->view.shape);
    for (int i = 0; i < 2; i++)
        for (int64_t k = 0; k < elements && both[i]->ignored; k++)
            if (both[i]->ignored[k])
                ((uint8_t *)a->view.data)[k] = ((uint8_t *)b->view.data)[k] = 0;
}

/* ---- The picture ---- */

/* 1 at the elements of a mask that are its points, else 0. In `mask` comes what is of the mask. */
static void find_points(const distmap_problem *problem, const distmap_view *view, uint8_t *mask, uint8_t *point) {
    const int last = problem->ndim - 1;
    const int64_t elements = element_count(problem->ndim, problem->shape);
    fill_mask(view, &problem->sites, mask);
    for (int64_t i = 0; i < elements; i++) {
        bool inside = problem->comparison.points == DISTMAP_POINTS_SURFACE && mask[i];
        int64_t step = 1;
        for (int a = last; a >= 0 && inside; step *= problem->shape[a--]) {
            const int64_t at = i / step % problem->shape[a];
            inside = at > 0 && at + 1 < problem->shape[a] && mask[i - step] && mask[i + step];
        }
        point[i] = mask[i] && !inside;
    }
}

/* A's points by their distances to B's. */
static int paint(struct job *job, const distmap_view *a, const distmap_view *b, double farthest) {
    const distmap_problem *p = &job->problem;
    const size_t elements = (size_t)element_count(p->ndim, p->shape);
    uint8_t *bytes = malloc(3 * elements), *a_points = bytes, *b_points = bytes + elements,
            *mask = bytes + 2 * elements;
    float *distances = malloc(elements * sizeof *distances);
    distmap_problem map = {.dtype = DISTMAP_UINT8, .ndim = p->ndim, .want = {.distance = DISTMAP_FLOAT32}};
    distmap_plan *plan = NULL;
    int status = 0;
    if (!bytes || !distances) {
        status = fail("%s: not enough memory", job->preview.sink.path);
        goto done;
    }
    find_points(p, a, mask, a_points);
    find_points(p, b, mask, b_points);
    map.sites.rule = DISTMAP_SITES_NONZERO;
    memcpy(map.shape, p->shape, sizeof map.shape);
    memcpy(map.spacing, p->spacing, sizeof map.spacing);
    distmap_arrays arrays = {.input = distmap_view_make(b_points, DISTMAP_UINT8, p->ndim, p->shape),
                             .distance = distmap_view_make(distances, DISTMAP_FLOAT32, p->ndim, p->shape)};
    if (distmap_plan_create(job->work.context, &map, &(distmap_plan_options){.host_views = true}, &plan) ||
        distmap_plan_execute(plan, &arrays)) {
        status = fail_library();
        goto done;
    }
    const distmap_view points = distmap_view_make(a_points, DISTMAP_UINT8, p->ndim, p->shape),
                       other = distmap_view_make(mask, DISTMAP_UINT8, p->ndim, p->shape);
    job->problem.sites = map.sites; /* of what is shown, all masks by now */
    status = preview_points(&job->preview, &points, &arrays.distance, &other, farthest);
done:
    distmap_plan_destroy(&plan);
    free(distances);
    free(bytes);
    return status;
}

/* ---- The run ---- */

static int check_alike(const struct options *options, const distmap_image_info *a, const distmap_image_info *b) {
    char text[320];
    if (a->ndim != b->ndim || memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) != 0) {
        char of_a[96], of_b[96];
        return fail("%s is %s, but %s is %s: masks must be of one shape", options->other,
                    shape_text(b->ndim, b->shape, of_b, sizeof of_b), options->input,
                    shape_text(a->ndim, a->shape, of_a, sizeof of_a));
    }
    if (options->ignore_grid || distmap_image_same_grid(a, b, text, sizeof text))
        return 0;
    return fail("%s is not on the grid of %s: %s; --ignore-grid compares element by element", options->other,
                options->input, text);
}

/* Whether it is a mask. */
static int look(const struct options *options, const struct source *source) {
    struct values_seen seen = values_begin(source, options);
    if (values_matter(options))
        values_look(&source->view, &seen);
    warn_of_values(options, source->view.dtype, &seen);
    return 0;
}

static int compute_with(struct job *job, struct source *other, const struct options *options) {
    distmap_problem *problem = &job->problem;
    distmap_agreement found;
    int status;
    distmap_problem of_other_problem;
    struct options of_other = *options; /* of the other file, as if it were the input */
    of_other.input = options->other;
    of_other.threshold = options->other_threshold;
    if ((status = source_open(&job->source, options)) || (status = source_open(other, &of_other)) ||
        (status = check_alike(options, job->source.info, other->info)) ||
        (status = problem_make(options, job->source.info, problem)) ||
        (status = problem_make(&of_other, other->info, &of_other_problem)))
        return status;
    const bool gaps = job->source.info->has_nodata || other->info->has_nodata,
               is_mask = gaps || is_thresholded(options, &job->source),
               other_is_mask = gaps || is_thresholded(options, other);
    if (options->nodata_given && !gaps)
        return fail("--nodata: neither file names a value for no data: give it by --nodata-value");
    const distmap_problem rules[] = {*problem, of_other_problem};
    problem->comparison.other = other_is_mask ? DISTMAP_UINT8 : other->info->dtype;
    problem->dtype = is_mask ? DISTMAP_UINT8 : problem->dtype;
    if (options->threshold_given || gaps)
        problem->sites = (distmap_sites){.rule = DISTMAP_SITES_NONZERO};
    if (problem->comparison.percentile_count == 0) {
        problem->comparison.percentile_count = 1;
        problem->comparison.percentile[0] = 95;
    }
    if ((status = work_begin(&job->work, options)) || (status = work_plan(&job->work, options, problem)) ||
        (status = preview_open(&job->preview, options, problem, job->source.info, false)) ||
        (status = source_read(&job->source, options)) || (status = source_read(other, &of_other)) ||
        (status = nodata_apply(&job->source, options, &rules[0])) ||
        (status = nodata_apply(other, &of_other, &rules[1])) || (status = look(options, &job->source)) ||
        (status = look(&of_other, other)) || (is_mask && (status = take_mask(&job->source, &rules[0].sites))) ||
        (other_is_mask && (status = take_mask(other, &rules[1].sites))))
        return status;
    if (gaps)
        clear_ignored(&job->source, other);
    job->source.seconds += other->seconds;
    const distmap_arrays arrays = {.input = job->source.view, .other = other->view};
    if ((status = work_run(&job->work, options, &arrays)))
        return status;
    if (distmap_plan_agreement(job->work.plan, &found))
        return fail_library();
    if ((status = job_judge(job, options)))
        return status;
    if (options->preview && ((status = paint(job, &job->source.view, &other->view, found.forward.hausdorff)) ||
                             (status = sinks_commit((struct sink *const[]){&job->preview.sink}, 1, options->no_sync))))
        return status;
    if (options->json)
        give_json(job, options, &problem->comparison, &found);
    else
        print_table(job, &problem->comparison, &found);
    char shape[96], took[32];
    const char *unit = distmap_image_unit(job->source.info);
    const distmap_description *description = &job->work.description;
    say(options, "%s, %s: %s, %s (%s, %s, %d thread%s)", options->input, options->other,
        shape_text(problem->ndim, problem->shape, shape, sizeof shape), time_text(job->work.seconds, took, sizeof took),
        description->method, description->isa, description->threads, description->threads == 1 ? "" : "s");
    if (options->preview)
        say(options, "%s: %d x %d, blue to yellow: 0 to %g%s%s", options->preview, job->preview.width,
            job->preview.height, found.forward.hausdorff, *unit ? " " : "", unit);
    return 0;
}

static int compute(struct job *job, const struct options *options) {
    struct source other = {0};
    const int status = compute_with(job, &other, options);
    source_close(&other);
    return status;
}

static int run(const struct options *options) { return job_run(options, compute); }

const struct command command_compare = {
    .name = "compare",
    .bit = COMPARE,
    .arguments = "A B",
    .summary = "how far two masks are from each other: Hausdorff and surface distances",
    .about =
        "Compares two masks of one shape: the elements that are not 0, unless --sites or --threshold says otherwise.\n"
        "Measures from each surface element of A to the nearest one of B, and from B to A, and prints for both\n"
        "directions the largest distance (the Hausdorff distance), percentiles, mean, root mean square, the number of\n"
        "distances, and how many are within a tolerance. Then it prints the surface Dice coefficient, which is the\n"
        "fraction of these, and the Dice and Jaccard coefficients of the volumes. The symmetric largest distance and\n"
        "percentiles are the larger of the two directions, the symmetric averages are over both. An element is on the\n"
        "surface if a neighbour along an axis is not in the mask or is outside the image. Lengths are in the voxel\n"
        "size of A. If one mask is empty, distances are inf; if both are, nan (null with --json). A file of bools is\n"
        "read as a mask, whatever the threshold is for the other file. In the preview the surface of A is coloured\n"
        "from blue to yellow by its distance to that of B, which is violet.",
    .example =
        "  distmap compare data/coins.png data/coins.png --threshold 120,140 --tolerance 1 --preview coins.png\n",
    .run = run,
};
