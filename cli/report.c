/* The report at the end of a run: one line of text, or an object of JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"

const char *shape_text(int ndim, const int64_t *shape, char *text, size_t size) {
    size_t used = 0;
    for (int a = 0; a < ndim && used < size; a++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", a ? " x " : "", (long long)shape[a]);
    return text;
}

json_object *json_shape(int ndim, const int64_t *shape) {
    json_object *array = json_object_new_array();
    for (int a = 0; a < ndim; a++)
        json_object_array_add(array, json_object_new_int64(shape[a]));
    return array;
}

json_object *json_decimal(double value) {
    char text[40];
    number_text(value, text);
    if (!text[strcspn(text, ".en")]) /* as json-c has it: 2.0 */
        strcat(text, ".0");
    return json_object_new_double_s(value, text);
}

void json_add_unit(json_object *object, const distmap_problem *problem) {
    double unit = 0;
    int64_t multiples[DISTMAP_MAX_AXES];
    const bool has = distmap_problem_unit(problem, &unit, multiples) == DISTMAP_OK && unit > 0;
    json_object_object_add(object, "pitch_unit", has ? json_decimal(unit) : NULL);
    json_object_object_add(object, "multiples", has ? json_shape(problem->ndim, multiples) : NULL);
}

json_object *json_number(double value) { return isfinite(value) ? json_decimal(value) : NULL; }

void json_print(json_object *object) {
    const char *text =
        json_text(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);
    if (text)
        puts(text);
    json_object_put(object);
}

void json_put(json_object *object, FILE *file) {
    const char *text = json_text(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
    if (text)
        fprintf(file, "%s\n", text);
}

static json_object *path_or_null(const char *path) { return path ? json_object_new_string(path) : NULL; }

static const char *metric_name(const struct options *options) {
    return options->metric_name ? options->metric_name : "euclidean";
}

/* Steps have no unit. */
static const char *unit_of(const struct job *job) {
    return job->problem.metric == DISTMAP_METRIC_EUCLIDEAN && job->problem.field != DISTMAP_FIELD_EDGE_STRENGTH
               ? distmap_image_unit(job->source.info)
               : "";
}

void json_add_work(json_object *object, const struct work *work) {
    const distmap_description *description = &work->description;
    const distmap_method_info *method = distmap_method_find(description->method);
    json_object_object_add(object, "method", json_object_new_string(description->method));
    json_object_object_add(object, "device", json_object_new_string(method->device));
    json_object_object_add(object, "isa", json_object_new_string(description->isa));
    json_object_object_add(object, "threads", json_object_new_int(description->threads));
    json_object_object_add(object, "params", settings_json(&work->settings, method));
    json_object_object_add(object, "scratch_bytes", json_object_new_int64((int64_t)description->scratch_bytes));
}

static void give_json(const struct job *job, const struct options *options) {
    const distmap_problem *problem = &job->problem;
    json_object *object = json_object_new_object(), *spacing = json_object_new_array(),
                *flags = json_object_new_object(), *times = json_object_new_object();
    for (int a = 0; a < problem->ndim; a++)
        json_object_array_add(spacing, json_decimal(problem->spacing[a]));
    json_object_object_add(flags, "no_site", json_object_new_boolean(job->work.flags & DISTMAP_FLAG_NO_SITE));
    json_object_object_add(flags, "nan", json_object_new_boolean(job->work.flags & DISTMAP_FLAG_NAN));
    json_object_object_add(times, "read", json_number(job->source.seconds * 1e3));
    json_object_object_add(times, "compute", json_number(job->work.seconds * 1e3));
    json_object_object_add(times, "write", json_number(job->write_seconds * 1e3));

    json_object_object_add(object, "command", json_object_new_string(options->command->name));
    json_object_object_add(object, "input", json_object_new_string(options->input));
    json_object_object_add(object, "output", json_object_new_string(options->output));
    json_object_object_add(object, "index", path_or_null(options->index));
    json_object_object_add(object, "preview", path_or_null(options->preview));
    if (options->command->bit == EDT)
        json_object_object_add(object, "metric", json_object_new_string(metric_name(options)));
    json_object_object_add(object, "shape", json_shape(problem->ndim, problem->shape));
    char axes[160];
    json_object_object_add(object, "axes", json_object_new_string(axes_text(job->source.info, axes)));
    json_object_object_add(object, "spacing", spacing);
    json_add_unit(object, problem);
    json_object_object_add(object, "unit", json_object_new_string(unit_of(job)));
    if (options->command->bit != CVT)
        json_add_meaning(object, job, options);
    json_object_object_add(object, "dtype", json_object_new_string(distmap_dtype_name(job->map.info.dtype)));
    if (job->largest >= 0)
        json_object_object_add(object, "max", job->nowhere ? NULL : json_number(job->largest));
    if (problem->sign)
        json_object_object_add(object, "min", job->nowhere ? NULL : json_number(job->least));
    if (options->command->bit == MORPH) {
        json_object_object_add(object, "radius", json_decimal(problem->morphology.radius));
        json_object_object_add(object, "outside", json_object_new_boolean(problem->morphology.outside));
    }
    if (options->command->bit == ESF) {
        json_object_object_add(object, "rho", json_object_new_double(problem->esf.rho));
        json_object_object_add(object, "iterations", json_object_new_int64(job->convergence.iterations));
        json_object_object_add(object, "residual", json_number(job->convergence.residual));
        json_object_object_add(flags, "unrest", json_object_new_boolean(job->work.flags & DISTMAP_FLAG_UNREST));
    }
    if (options->command->bit == SKELETON) {
        json_object_object_add(object, "pruning", json_object_new_string(pruning_names[problem->skeleton.pruning]));
        json_object_object_add(object, "gamma", json_decimal(problem->skeleton.gamma));
        json_object_object_add(object, "marked", json_object_new_int64(job->marked));
    }
    if (options->command->bit == CVT) {
        json_object *energies = json_object_new_array();
        for (int64_t step = 0; step <= problem->cvt.steps; step++)
            json_object_array_add(energies, json_number(job->energies[step]));
        json_object_object_add(object, "points", json_object_new_int64(problem->cvt.points));
        json_object_object_add(object, "omega", json_object_new_double(problem->cvt.omega ? problem->cvt.omega : 1));
        json_object_object_add(object, "seed", json_object_new_int64((int64_t)problem->cvt.seed));
        json_object_object_add(object, "energies", energies);
    }
    if (job->components >= 0)
        json_object_object_add(object, "components", json_object_new_int64(job->components));
    json_add_work(object, &job->work);
    if (job->out_of_core.parts) {
        json_object *memory = json_object_new_object();
        json_object_object_add(memory, "limit", json_object_new_int64(job->out_of_core.limit));
        json_object_object_add(memory, "peak", json_object_new_int64(job->out_of_core.peak));
        json_object_object_add(memory, "slabs", json_object_new_int(job->out_of_core.parts));
        json_object_object_add(object, "memory", memory);
    }
    if (job->ranks)
        json_object_object_add(object, "ranks", json_object_new_int(job->ranks));
    json_object_object_add(object, "flags", flags);
    json_object_object_add(object, "warnings", warnings_json());
    json_object_object_add(object, "ms", times);
    json_print(object);
}

const char *time_text(double seconds, char *text, size_t size) {
    snprintf(text, size, seconds < 1 ? "%.3g ms" : "%.3f s", seconds < 1 ? seconds * 1e3 : seconds);
    return text;
}

void report_give(const struct job *job, const struct options *options) {
    if (options->json)
        give_json(job, options);
    const distmap_description *description = &job->work.description;
    char shape[96], least[32] = "", found[96] = "", what[256], took[32];
    shape_text(job->problem.ndim, job->problem.shape, shape, sizeof shape);
    const char *unit = unit_of(job);
    if (job->problem.sign)
        snprintf(least, sizeof least, ", min %g", job->least);
    if (job->nowhere)
        snprintf(found, sizeof found, ", no distance at all");
    else if (job->largest >= 0)
        snprintf(found, sizeof found, "%s, max %g%s%s%s", least, job->largest, *unit ? " " : "", unit,
                 options->squared && *unit ? "^2" : "");
    if (job->components >= 0)
        snprintf(found, sizeof found, ", %lld component%s", (long long)job->components,
                 job->components == 1 ? "" : "s");
    if (options->command->bit == SKELETON)
        snprintf(found, sizeof found, ", %lld on the skeleton", (long long)job->marked);
    if (options->command->bit == ESF && options->steady)
        snprintf(found, sizeof found, ", residual %.2g", job->convergence.residual);
    snprintf(what, sizeof what, "%s %s%s", shape, distmap_dtype_name(job->map.info.dtype), found);
    if (options->command->bit == CVT) {
        for (int64_t step = 0; step <= job->problem.cvt.steps; step++)
            say(options, "step %lld: energy %.9g", (long long)step, job->energies[step]);
        snprintf(what, sizeof what, "%lld points in %s", (long long)job->problem.cvt.points, shape);
        if (job->source.nodata_count)
            snprintf(what + strlen(what), sizeof what - strlen(what), ", %lld elements of no weight for want of data",
                     (long long)job->source.nodata_count);
    }
    say(options, "%s: %s, %s (%s, %s, %d thread%s)", options->output, what,
        time_text(job->work.seconds, took, sizeof took), description->method, description->isa, description->threads,
        description->threads == 1 ? "" : "s");
    if (options->command->bit != CVT)
        report_meaning(job, options);
    if (options->index)
        say(options, "%s: %s %s", options->index, shape, distmap_dtype_name(job->index.info.dtype));
    if (job->out_of_core.parts)
        say(options, "%d slabs, at most %lld of %lld MiB of memory", job->out_of_core.parts,
            (long long)(job->out_of_core.peak >> 20), (long long)(job->out_of_core.limit >> 20));
    if (job->ranks)
        say(options, "%d rank%s", job->ranks, job->ranks == 1 ? "" : "s");
    const double farthest = options->squared ? sqrt(job_farthest(job)) : job_farthest(job);
    if (options->preview && job->problem.sign)
        say(options, "%s: %d x %d, red below 0 and blue above it, up to %g, iso-lines every %g%s%s", options->preview,
            job->preview.width, job->preview.height, farthest, job->preview.iso_step, *unit ? " " : "", unit);
    else if (options->preview && options->command->bit == THICKNESS)
        say(options, "%s: %d x %d, viridis from 0 to %g%s%s", options->preview, job->preview.width, job->preview.height,
            farthest, *unit ? " " : "", unit);
    else if (options->preview && job->largest >= 0)
        say(options, "%s: %d x %d, viridis from 0 to %g, iso-lines every %g%s%s", options->preview, job->preview.width,
            job->preview.height, farthest, job->preview.iso_step, *unit ? " " : "", unit);
    else if (options->preview && options->command->bit == ESF)
        say(options, "%s: %d x %d, viridis from 0 to 1, level curves every %g", options->preview, job->preview.width,
            job->preview.height, job->preview.iso_step);
    else if (options->preview)
        say(options, "%s: %d x %d", options->preview, job->preview.width, job->preview.height);
}
