/* The plan of a pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pass.h"

static void add_axes(json_object *plan, const char *name, unsigned axes, int ndim) {
    json_object *list = json_object_new_array();
    for (int a = 0; a < ndim; a++)
        if (axes >> a & 1)
            json_object_array_add(list, json_object_new_int(a));
    json_object_object_add(plan, name, list);
}

static void add_text(json_object *plan, const char *name, const char *text) {
    json_object_object_add(plan, name, text ? json_object_new_string(text) : NULL);
}

/* The file, so that one that was changed meanwhile is another one. */
static void add_input(json_object *plan, const char *input, const struct source *source) {
    char file[PATH_MAX];
    const int bytes = (int)distmap_path_file_bytes(input);
    snprintf(file, sizeof file, "%.*s", bytes, input);
    char *found = realpath(file, NULL);
    add_text(plan, "input", found ? found : file);
    free(found);
    add_text(plan, "dataset", input[bytes] ? input + bytes + 1 : NULL);
    add_text(plan, "input_identity", source->identity);
}

/* The members of both kinds of passes. */
static void add_pass(json_object *plan, const struct pass *p) {
    const struct options *options = p->options;
    json_object *chunks = json_object_new_array();
    for (int a = 0; a < p->problem.ndim; a++)
        json_object_array_add(chunks, json_object_new_int64(p->map.info.chunk[a]));
    add_axes(plan, "axis", p->axes, p->problem.ndim);
    add_axes(plan, "left", p->last || p->steps.one_pass ? 0 : 1, p->problem.ndim);
    json_object_object_add(plan, "shards", json_object_new_int64(options->shards));
    json_object_object_add(plan, "chunks", chunks);
    add_text(plan, "output_dtype", distmap_dtype_name(p->map.info.dtype));
    add_text(plan, "index", options->index ? p->index_state.output : NULL);
    add_text(plan, "distmap", distmap_version());
}

/* By the numbers of distmap_sign and distmap_surface, and of what elements without data are. */
static const char *const signs[] = {"none", "outside", "inside", NULL}, *const surfaces[] = {"centre", "half", NULL},
                         *const parts[] = {"ignore", "site", "object", NULL};

json_object *plan_make_first(const struct pass *p) {
    const distmap_problem *problem = &p->problem;
    json_object *plan = json_object_new_object(), *spacing = json_object_new_array();
    char sites[96];
    add_input(plan, p->options->input, &p->source);
    json_object_object_add(plan, "time", json_object_new_int64(p->options->time));
    json_object_object_add(plan, "channel", json_object_new_int64(p->options->channel));
    add_text(plan, "sample", distmap_sample_name(p->source.info->sample));
    add_text(plan, "dtype", distmap_dtype_name(problem->dtype));
    json_object_object_add(plan, "shape", json_shape(problem->ndim, problem->shape));
    for (int a = 0; a < problem->ndim; a++)
        json_object_array_add(spacing, json_object_new_double(problem->spacing[a]));
    json_object_object_add(plan, "spacing", spacing);
    json_object *model = json_object_new_object();
    json_add_model(model, p->source.info);
    json_object_object_add(plan, "image", model);
    snprintf(sites, sizeof sites, "rule %d, %.17g to %.17g", (int)problem->sites.rule, problem->sites.lo,
             problem->sites.hi);
    add_text(plan, "sites", sites);
    json_object_object_add(plan, "by_bytes", json_object_new_boolean(p->options->verify));
    json_object_object_add(plan, "labels", json_object_new_boolean(problem->input == DISTMAP_INPUT_LABELS));
    add_text(plan, "sign", signs[problem->sign]);
    add_text(plan, "surface", surfaces[problem->surface]);
    const bool gaps = nodata_applies(&p->source, p->options);
    char value[40] = "";
    add_text(plan, "nodata", gaps ? parts[p->options->nodata] : NULL);
    add_text(plan, "nodata_value", gaps ? number_text(p->source.info->nodata, value) : NULL);
    json_object_object_add(plan, "limit", json_object_new_double(problem->limit));
    json_object_object_add(plan, "border", json_object_new_boolean(problem->border));
    add_axes(plan, "axes", p->steps.normal.axes, problem->ndim);
    add_pass(plan, p);
    return plan;
}

json_object *plan_make_last(const struct pass *p, json_object *first) {
    json_object *plan = json_object_new_object();
    add_input(plan, p->options->input, &p->source);
    json_object_object_add(plan, "first", json_object_get(first));
    json_object_object_add(plan, "squared", json_object_new_boolean(p->options->squared));
    char fill[40] = "";
    add_text(plan, "fill", p->fill.known ? number_text(p->fill.value, fill) : NULL);
    add_pass(plan, p);
    return plan;
}

/* ---- Reading ---- */

static json_object *member(json_object *plan, const char *name) {
    json_object *found = NULL;
    json_object_object_get_ex(plan, name, &found);
    return found;
}

bool plan_is_unfinished(json_object *plan) {
    json_object *left = member(plan, "left");
    return json_object_is_type(left, json_type_array) && json_object_array_length(left) > 0;
}

static const char *text_of(json_object *plan, const char *name) {
    json_object *text = member(plan, name);
    return json_object_is_type(text, json_type_string) ? json_object_get_string(text) : "";
}

bool plan_nodata(json_object *plan, double *value) {
    const char *text = text_of(plan, "nodata_value");
    if (*text)
        *value = strtod(text, NULL);
    return *text;
}

/* The number of a name in a list; 0 if it is not there. */
static int number_of(const char *const *names, const char *name) {
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return 0;
}

bool plan_source(json_object *plan, struct options *options, char input[PLAN_INPUT], const char **identity) {
    const bool kinds = json_object_get_boolean(member(plan, "labels")) || number_of(signs, text_of(plan, "sign"));
    if (strcmp(text_of(plan, "nodata"), "ignore") != 0 && !kinds)
        return false;
    const char *dataset = text_of(plan, "dataset");
    snprintf(input, PLAN_INPUT, "%s%s%s", text_of(plan, "input"), *dataset ? ":" : "", dataset);
    *identity = text_of(plan, "input_identity");
    options->verify = json_object_get_boolean(member(plan, "by_bytes"));
    options->nodata = number_of(parts, text_of(plan, "nodata"));
    options->time = json_object_get_int64(member(plan, "time"));
    options->channel = json_object_get_int64(member(plan, "channel"));
    options->nodata_value_given = plan_nodata(plan, &options->nodata_value);
    for (int s = 1; distmap_sample_name((distmap_sample)s); s++)
        if (strcmp(text_of(plan, "sample"), distmap_sample_name((distmap_sample)s)) == 0)
            options->sample = (distmap_sample)s;
    return true;
}

void plan_model(json_object *plan, distmap_image_info *info) { model_from_json(member(plan, "image"), info); }

int plan_problem(const char *file, json_object *plan, distmap_problem *p, distmap_dtype *samples) {
    json_object *shape = member(plan, "shape"), *spacing = member(plan, "spacing"), *axes = member(plan, "axes");
    *p = (distmap_problem){.dtype = distmap_dtype_from_name(text_of(plan, "dtype")),
                           .limit = json_object_get_double(member(plan, "limit")),
                           .border = json_object_get_boolean(member(plan, "border")),
                           .sign = (distmap_sign)number_of(signs, text_of(plan, "sign")),
                           .surface = (distmap_surface)number_of(surfaces, text_of(plan, "surface"))};
    int rule = 0;
    if (json_object_get_boolean(member(plan, "labels")))
        p->input = DISTMAP_INPUT_LABELS;
    if (sscanf(text_of(plan, "sites"), "rule %d, %lg to %lg", &rule, &p->sites.lo, &p->sites.hi) == 3)
        p->sites.rule = (distmap_sites_rule)rule;
    *samples = distmap_dtype_from_name(text_of(plan, "output_dtype"));
    const size_t ndim = json_object_is_type(shape, json_type_array) ? json_object_array_length(shape) : 0;
    if (!p->dtype || !*samples || ndim < 2 || ndim > DISTMAP_MAX_NDIM || !json_object_is_type(axes, json_type_array) ||
        !json_object_is_type(spacing, json_type_array) || json_object_array_length(spacing) != ndim)
        return fail("%s.pass/plan.json: is not the plan of a pass", file);
    p->ndim = (int)ndim;
    for (size_t a = 0; a < ndim; a++) {
        p->shape[a] = json_object_get_int64(json_object_array_get_idx(shape, a));
        p->spacing[a] = json_object_get_double(json_object_array_get_idx(spacing, a));
    }
    for (size_t i = 0; i < json_object_array_length(axes); i++) {
        const int axis = json_object_get_int(json_object_array_get_idx(axes, i));
        p->axes |= axis >= 0 && axis < DISTMAP_MAX_NDIM ? 1U << axis : 0;
    }
    return 0;
}

static int tell_difference(const char *folder, const char *name, json_object *there, json_object *here) {
    const int style = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
    return fail("%s: belongs to another run, whose %s is %s, not %s; remove the folder to start again", folder, name,
                json_object_to_json_string_ext(there, style), json_object_to_json_string_ext(here, style));
}

int plan_compare(const char *folder, json_object *there, json_object *here) {
    json_object_object_foreach(here, name, value) {
        json_object *other = member(there, name);
        if (json_object_equal(value, other))
            continue;
        if (json_object_is_type(value, json_type_object) && json_object_is_type(other, json_type_object))
            return plan_compare(folder, other, value);
        return tell_difference(folder, name, other, value);
    }
    return 0;
}
