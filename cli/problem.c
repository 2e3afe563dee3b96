/* From options and a file's header to the problem, and from the problem to its plan. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- The problem ---- */

/* All pitches in the unit of the space axes. Steps are counted in elements, whatever their size, unless one is given. */
static int set_spacing(const struct options *options, const distmap_image_info *info, distmap_problem *problem) {
    const char *unit = distmap_image_unit(info);
    const bool in_steps =
        options->command->bit == ESF || (options->metric != DISTMAP_METRIC_EUCLIDEAN && options->spacing.count == 0);
    for (int a = 0; a < info->ndim; a++) {
        const distmap_axis *axis = &info->axis[a];
        const bool other = axis->type == DISTMAP_AXIS_SPACE && axis->pitch > 0 && *axis->unit;
        const double ratio = other ? distmap_unit_ratio(axis->unit, unit) : 1;
        if (!(ratio > 0))
            return fail("%s: its pitch along %s is in %s, along others in %s: give --spacing", options->input,
                        axis->name, axis->unit, unit);
        char decimal[40]; /* 40 nm are 0.04 um */
        snprintf(decimal, sizeof decimal, "%.15g", distmap_image_pitch(info, a) * ratio);
        problem->spacing[a] = in_steps ? 1 : ratio == 1 ? distmap_image_pitch(info, a) : strtod(decimal, NULL);
    }
    return 0;
}

/* A length in the unit of the pitches, as the decimal that it is there: 40 nm are 0.04 um. */
static int set_length(const struct options *options, const distmap_image_info *info, const char *option,
                      const char *unit, double *length) {
    const char *own = distmap_image_unit(info);
    char decimal[40];
    if (!*unit)
        return 0;
    if (options->metric != DISTMAP_METRIC_EUCLIDEAN)
        return fail("%s: this metric counts steps, so the length must have no unit, not %s", option, unit);
    if (!*own)
        return fail("%s: the length is in %s, but %s names no unit: give one by --spacing", option, unit, options->input);
    const double ratio = distmap_unit_ratio(unit, own);
    if (!(ratio > 0))
        return fail("%s: the length is in %s, but %s is in %s", option, unit, options->input, own);
    snprintf(decimal, sizeof decimal, "%.15g", *length * ratio);
    *length = ratio == 1 ? *length : strtod(decimal, NULL);
    return 0;
}

int problem_axes(const struct options *options, const char *option, const name_list *names,
                 const distmap_image_info *info, unsigned *axes) {
    char known[160];
    *axes = 0;
    for (int i = 0; i < names->count; i++) {
        const char *name = names->names[i];
        int axis = 0;
        while (axis < info->ndim &&
               !(strcmp(name, info->axis[axis].name) == 0 || (name[0] == '0' + axis && name[1] == '\0')))
            axis++;
        if (axis == info->ndim)
            return fail("%s: %s has no axis '%s'; it has %s, which are 0 to %d", option, options->input, name,
                        axes_text(info, known), info->ndim - 1);
        if (*axes & 1U << axis)
            return fail("%s: axis '%s' is named twice", option, name);
        *axes |= 1U << axis;
    }
    return 0;
}

/* Space alone, unless axes are named. */
static int set_axes(const struct options *options, const distmap_image_info *info, distmap_problem *problem) {
    if (options->axes.count)
        return problem_axes(options, "--axes", &options->axes, info, &problem->axes);
    unsigned space = 0;
    for (int a = 0; a < info->ndim; a++)
        space |= info->axis[a].type == DISTMAP_AXIS_SPACE ? 1U << a : 0;
    char names[160];
    if (!space)
        return fail("%s: none of its axes (%s) is spatial: name the axes to measure along by --axes", options->input,
                    axes_text(info, names));
    problem->axes = space == (1U << info->ndim) - 1 ? 0 : space;
    return 0;
}

/* For subcommands that take one image, not one for each time. */
static int check_single(const struct options *options, const distmap_image_info *info) {
    for (int a = 0; a < info->ndim; a++)
        if (info->axis[a].type != DISTMAP_AXIS_SPACE)
            return fail("%s: has %lld images along %s, but %s takes one: choose it by --time or --channel", options->input,
                        (long long)info->shape[a], info->axis[a].name, options->command->name);
    return 0;
}

static bool is_float(distmap_dtype dtype) { return dtype == DISTMAP_FLOAT32 || dtype == DISTMAP_FLOAT64; }

/* Foreground is what is >= T. The elements below T are a range too, up to the double before T; a 64-bit integer image can
 * hold values between those two only beyond 2^53. */
static int set_threshold(const struct options *options, const distmap_image_info *info, distmap_sites *sites) {
    const bool wide = info->dtype == DISTMAP_INT64 || info->dtype == DISTMAP_UINT64;
    if (wide && fabs(options->threshold) > 0x1p53)
        return fail("--threshold: %g is beyond 2^53, where a threshold of %s elements is not exact", options->threshold,
                    distmap_dtype_name(info->dtype));
    *sites = (distmap_sites){.rule = DISTMAP_SITES_RANGE, .lo = options->threshold, .hi = HUGE_VAL};
    if (!objects_are_sites(options)) {
        sites->lo = -HUGE_VAL;
        sites->hi = nextafter(options->threshold, -HUGE_VAL);
    }
    return 0;
}

/* Which side of the sites is positive; the library knows of sites alone. */
static distmap_sign sign_of(const struct options *options) {
    if (!options->is_signed)
        return DISTMAP_SIGN_NONE;
    const bool on_sites = options->positive == SIDE_INSIDE    ? objects_are_sites(options)
                          : options->positive == SIDE_OUTSIDE ? !objects_are_sites(options)
                                                              : false;
    return on_sites ? DISTMAP_SIGN_INSIDE : DISTMAP_SIGN_OUTSIDE;
}

int problem_make(const struct options *options, const distmap_image_info *info, distmap_problem *problem) {
    *problem = (distmap_problem){.dtype = info->dtype,
                                 .ndim = info->ndim,
                                 .sites = options->sites,
                                 .metric = options->metric,
                                 .limit = options->limit,
                                 .border = options->border,
                                 .sign = sign_of(options),
                                 .surface = options->surface};
    memcpy(problem->shape, info->shape, sizeof problem->shape);
    for (int a = 0; a < info->ndim; a++) /* the library says it too, but of no file */
        if (info->shape[a] > INT32_MAX)
            return fail("%s: its axis %s has %lld elements, more than 2^31 - 1", options->input, info->axis[a].name,
                        (long long)info->shape[a]);
    memcpy(problem->chamfer, options->chamfer, sizeof problem->chamfer);
    if (options->command->bit == ESF) {
        problem->field = DISTMAP_FIELD_EDGE_STRENGTH;
        problem->esf = options->esf;
    }
    if (options->command->bit == SKELETON) {
        problem->field = DISTMAP_FIELD_SKELETON;
        problem->skeleton = options->skeleton;
    }
    if (options->command->bit == THICKNESS)
        problem->field = DISTMAP_FIELD_THICKNESS;
    if (options->command->bit == MORPH) {
        problem->field = DISTMAP_FIELD_MORPHOLOGY;
        problem->morphology = options->morphology;
    }
    if (options->command->bit == COMPARE) {
        problem->field = DISTMAP_FIELD_COMPARISON;
        problem->comparison = options->comparison;
    }
    if (options->command->bit == CVT) {
        problem->field = DISTMAP_FIELD_CVT;
        problem->cvt = options->cvt;
        problem->cvt.seed = options->seed;
        const int refused = check_single(options, info);
        return refused ? refused : set_spacing(options, info, problem);
    }
    if (!options->sites_given && !sites_are_background(options))
        problem->sites.rule = DISTMAP_SITES_NONZERO;
    if (options->labels && is_float(info->dtype))
        return fail("--labels: labels are integers, but %s holds %s", options->input, distmap_dtype_name(info->dtype));
    if (options->labels && options->command->bit & (EDT | MORPH | PASS))
        problem->input = DISTMAP_INPUT_LABELS;
    /* A user can easily name the array of grey values of a file instead of that of the mask; few grey values are exactly 0. */
    const bool in_store = strcmp(info->format, "hdf5") == 0 || strcmp(info->format, "zarr") == 0;
    if (is_float(info->dtype) && (in_store || options->command->bit == PASS) && !options->sites_given &&
        !options->threshold_given)
        return fail("%s: holds %s, which is not a mask: name the sites by --threshold T or --sites",
                    options->input, distmap_dtype_name(info->dtype));
    int status = options->command->bit == COMPARE ? check_single(options, info) : 0;
    if (status == 0)
        status = set_spacing(options, info, problem);
    if (status == 0)
        status = set_length(options, info, "--limit", options->limit_unit, &problem->limit);
    if (status == 0)
        status = set_length(options, info, "--radius", options->radius_unit, &problem->morphology.radius);
    if (status == 0)
        status = set_length(options, info, "--tolerance", options->tolerance_unit, &problem->comparison.tolerance);
    if (status == 0)
        status = set_axes(options, info, problem);
    if (status == 0 && options->threshold_given)
        status = set_threshold(options, info, &problem->sites);
    if (status == 0)
        warn_of_header(options, info);
    return status;
}

/* ---- Its outputs ---- */

static distmap_dtype *wanted(const struct options *options, distmap_problem *problem) {
    return options->squared ? &problem->want.squared : &problem->want.distance;
}

/* Whether the library takes this dtype for the distances of this problem. */
static bool holds(const struct options *options, const distmap_context *context, distmap_problem problem,
                  distmap_dtype dtype) {
    size_t bytes;
    *wanted(options, &problem) = dtype;
    return distmap_scratch_bytes(context, &problem, NULL, &bytes) == DISTMAP_OK;
}

int problem_want_distance(const struct options *options, const distmap_context *context, distmap_problem *problem,
                          distmap_dtype *dtype) {
    static const distmap_dtype of_euclidean[] = {DISTMAP_FLOAT32, DISTMAP_FLOAT64, DISTMAP_NONE};
    static const distmap_dtype of_squared[] = {DISTMAP_UINT32, DISTMAP_UINT64, DISTMAP_FLOAT64, DISTMAP_FLOAT32,
                                               DISTMAP_NONE};
    static const distmap_dtype of_steps[] = {DISTMAP_UINT32,  DISTMAP_UINT64,  DISTMAP_UINT16,
                                             DISTMAP_FLOAT32, DISTMAP_FLOAT64, DISTMAP_NONE};
    const bool euclidean = options->metric == DISTMAP_METRIC_EUCLIDEAN;
    const distmap_dtype *choices = !euclidean ? of_steps : options->squared ? of_squared : of_euclidean;
    distmap_dtype *want = wanted(options, problem);

    /* The possible types, best first; the first is the default. */
    char names[128] = "";
    distmap_dtype first = DISTMAP_NONE;
    bool good = false;
    for (const distmap_dtype *choice = choices; *choice; choice++)
        if (holds(options, context, *problem, *choice)) {
            first = first ? first : *choice;
            good = good || *choice == options->dtype;
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "",
                     distmap_dtype_name(*choice));
        }
    if (!first) { /* the problem itself is refused: say why */
        size_t bytes;
        *want = choices[0];
        distmap_scratch_bytes(context, problem, NULL, &bytes);
        return fail_library();
    }
    if (options->dtype && !good)
        return fail("--dtype: %s cannot hold the %s distances of %s; these would do: %s",
                    distmap_dtype_name(options->dtype), options->metric_name ? options->metric_name : "euclidean",
                    options->input, names);
    *dtype = *want = options->dtype ? options->dtype : first;
    return 0;
}

distmap_dtype index_dtype(const distmap_problem *problem) {
    return element_count(problem->ndim, problem->shape) <= INT32_MAX ? DISTMAP_INT32 : DISTMAP_INT64;
}

/* ---- The work ---- */

int work_begin(struct work *work, const struct options *options) {
    *work = (struct work){0};
    return place_open(options, progress_step, NULL, &work->place, &work->context);
}

/* Whether the GPU was our own choice, so that the CPU may step in where it does not do. */
static bool may_step_in(const struct work *work, const struct options *options, distmap_status status) {
    return work->place.device == DISTMAP_DEVICE_CUDA && !options->device_given && !options->method &&
           (status == DISTMAP_ERROR_MEMORY || status == DISTMAP_ERROR_DEVICE || status == DISTMAP_ERROR_UNSUPPORTED);
}

int work_plan(struct work *work, const struct options *options, const distmap_problem *problem) {
    distmap_status status =
        plan_make(options, work->context, &work->place, options->method, problem, &work->settings, &work->plan);
    if (may_step_in(work, options, status)) {
        distmap_context_destroy(&work->context);
        status = place_open_on(options, DISTMAP_DEVICE_CPU, progress_step, NULL, &work->place, &work->context);
        if (status == DISTMAP_OK)
            status = plan_make(options, work->context, &work->place, NULL, problem, &work->settings, &work->plan);
    }
    if (status != DISTMAP_OK)
        return fail_library();
    distmap_plan_describe(work->plan, &work->description);
    return 0;
}

int work_run(struct work *work, const struct options *options, const distmap_arrays *arrays) {
    progress_begin(options, "computing");
    const double began = seconds_now();
    if (distmap_plan_execute(work->plan, arrays))
        return fail_library();
    work->seconds = seconds_now() - began;
    work->flags = distmap_plan_flags(work->plan);
    progress_end();
    return 0;
}

void work_end(struct work *work) {
    distmap_plan_destroy(&work->plan);
    distmap_context_destroy(&work->context);
}
