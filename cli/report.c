/* What a run says when it is done: one line for a person, an object for a program. */
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

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

json_object *json_number(double value) { return isfinite(value) ? json_object_new_double(value) : NULL; }

void json_print(json_object *object) {
    puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                                    JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(object);
}

static json_object *path_or_null(const char *path) { return path ? json_object_new_string(path) : NULL; }

static void give_json(const struct report *report, const struct options *options) {
    const distmap_problem *problem = report->problem;
    const distmap_description *description = &report->work->description;
    json_object *object = json_object_new_object(), *spacing = json_object_new_array(),
                *flags = json_object_new_object(), *times = json_object_new_object();
    for (int a = 0; a < problem->ndim; a++)
        json_object_array_add(spacing, json_object_new_double(problem->spacing[a]));
    json_object_object_add(flags, "no_site", json_object_new_boolean(report->work->flags & DISTMAP_FLAG_NO_SITE));
    json_object_object_add(flags, "nan", json_object_new_boolean(report->work->flags & DISTMAP_FLAG_NAN));
    json_object_object_add(times, "read", json_number(report->source->seconds * 1e3));
    json_object_object_add(times, "compute", json_number(report->work->seconds * 1e3));
    json_object_object_add(times, "write", json_number(report->write_seconds * 1e3));

    json_object_object_add(object, "command", json_object_new_string(options->command->name));
    json_object_object_add(object, "input", json_object_new_string(options->input));
    json_object_object_add(object, "output", json_object_new_string(options->output));
    json_object_object_add(object, "index", path_or_null(options->index));
    json_object_object_add(object, "preview", path_or_null(options->preview));
    json_object_object_add(object, "shape", json_shape(problem->ndim, problem->shape));
    json_object_object_add(object, "axes", json_object_new_string(report->source->info->axes));
    json_object_object_add(object, "spacing", spacing);
    json_object_object_add(object, "unit", json_object_new_string(report->source->info->unit));
    json_object_object_add(object, "dtype", json_object_new_string(distmap_dtype_name(report->map->info.dtype)));
    if (report->largest >= 0)
        json_object_object_add(object, "max", json_number(report->largest));
    if (report->components >= 0)
        json_object_object_add(object, "components", json_object_new_int64(report->components));
    json_object_object_add(object, "method", json_object_new_string(description->method));
    json_object_object_add(object, "isa", json_object_new_string(description->isa));
    json_object_object_add(object, "threads", json_object_new_int(description->threads));
    json_object_object_add(object, "scratch_bytes", json_object_new_int64((int64_t)description->scratch_bytes));
    json_object_object_add(object, "flags", flags);
    json_object_object_add(object, "ms", times);
    json_print(object);
}

void report_give(const struct report *report, const struct options *options) {
    work_warn(report->work, options, options->input);
    if (options->json)
        give_json(report, options);
    const distmap_description *description = &report->work->description;
    char shape[96], found[64] = "";
    shape_text(report->problem->ndim, report->problem->shape, shape, sizeof shape);
    const char *unit = report->source->info->unit;
    if (report->largest >= 0)
        snprintf(found, sizeof found, ", max %g%s%s%s", report->largest, *unit ? " " : "", unit,
                 options->squared && *unit ? "^2" : "");
    if (report->components >= 0)
        snprintf(found, sizeof found, ", %lld component%s", (long long)report->components,
                 report->components == 1 ? "" : "s");
    say(options, "%s: %s %s%s, %.3g ms (%s, %s, %d thread%s)", options->output, shape,
        distmap_dtype_name(report->map->info.dtype), found, report->work->seconds * 1e3, description->method,
        description->isa, description->threads, description->threads == 1 ? "" : "s");
    if (options->index)
        say(options, "%s: %s %s", options->index, shape, distmap_dtype_name(report->index->info.dtype));
    if (options->preview && report->largest >= 0)
        say(options, "%s: %d x %d, viridis from 0 to %g, iso-lines every %g%s%s", options->preview,
            report->preview->width, report->preview->height, options->squared ? sqrt(report->largest) : report->largest,
            report->preview->iso_step, *unit ? " " : "", unit);
    else if (options->preview)
        say(options, "%s: %d x %d", options->preview, report->preview->width, report->preview->height);
}
