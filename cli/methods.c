/* distmap methods: the method table. */
#include <stdio.h>

#include "cli.h"
#include "json.h"

static json_object *names_json(const distmap_param_info *param) {
    json_object *names = json_object_new_array();
    for (int64_t value = param->lowest; value <= param->highest; value++)
        json_object_array_add(names, json_object_new_string(param->names[value - param->lowest]));
    return names;
}

static json_object *metrics_json(unsigned metrics) {
    static const char *const known[] = {"euclidean", "cityblock", "chessboard", "chamfer"};
    json_object *names = json_object_new_array();
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if ((metrics ? metrics : 1u << DISTMAP_METRIC_EUCLIDEAN) >> i & 1)
            json_object_array_add(names, json_object_new_string(known[i]));
    return names;
}

static const char *const field_names[] = {"distance",   "edge strength", "skeleton",          "morphology",
                                          "comparison", "thickness",     "centroidal Voronoi"};

static json_object *method_json(const distmap_method_info *info) {
    json_object *object = json_object_new_object(), *params = json_object_new_array();
    for (size_t i = 0; i < info->param_count; i++) {
        const distmap_param_info *param = &info->params[i];
        json_object *row = json_object_new_object();
        json_object_object_add(row, "name", json_object_new_string(param->name));
        json_object_object_add(row, "default", json_object_new_int64(param->fallback));
        json_object_object_add(row, "lowest", json_object_new_int64(param->lowest));
        json_object_object_add(row, "highest", json_object_new_int64(param->highest));
        json_object_object_add(row, "summary", json_object_new_string(param->summary));
        if (param->names)
            json_object_object_add(row, "names", names_json(param));
        json_object_array_add(params, row);
    }
    json_object_object_add(object, "name", json_object_new_string(info->name));
    json_object_object_add(object, "summary", json_object_new_string(info->summary));
    json_object_object_add(object, "source", json_object_new_string(info->source));
    json_object_object_add(object, "device", json_object_new_string(info->device));
    json_object_object_add(object, "field", json_object_new_string(field_names[info->field]));
    if (info->field == DISTMAP_FIELD_DISTANCE)
        json_object_object_add(object, "metrics", metrics_json(info->metrics));
    json_object_object_add(object, "exact", json_object_new_boolean(info->exact));
    json_object_object_add(object, "params", params);
    return object;
}

static void method_print(const distmap_method_info *info) {
    printf("%-14s %s, %s, %s\n%14s %s\n%14s Source: %s\n", info->name, info->device, field_names[info->field],
           info->exact ? "exact" : "not exact", "", info->summary, "", info->source);
    for (size_t i = 0; i < info->param_count; i++) {
        const distmap_param_info *param = &info->params[i];
        printf("%14s --param %s=", "", param->name);
        if (!param->names) {
            printf("%lld  %s (%lld to %lld)\n", (long long)param->fallback, param->summary, (long long)param->lowest,
                   (long long)param->highest);
            continue;
        }
        printf("%s  %s (", param->names[param->fallback - param->lowest], param->summary);
        for (int64_t value = param->lowest; value <= param->highest; value++)
            printf("%s%s", value > param->lowest ? ", " : "", param->names[value - param->lowest]);
        printf(")\n");
    }
}

static int run(const struct options *options) {
    const distmap_method_info *info;
    json_object *list = options->json ? json_object_new_array() : NULL;
    for (size_t row = 0; (info = distmap_method_get(row)); row++)
        if (list)
            json_object_array_add(list, method_json(info));
        else
            method_print(info);
    if (list)
        json_print(list);
    return 0;
}

const struct command command_methods = {
    .name = "methods",
    .bit = METHODS,
    .arguments = "",
    .summary = "the methods, fastest first, and their parameters",
    .about =
        "Lists the methods, fastest first. The first exact one that accepts a problem is used, unless --method\n"
        "names another. --method NAME --param K=V sets a parameter.",
    .example = "  distmap methods --json\n",
    .run = run,
};
