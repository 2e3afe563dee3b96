/* distmap tune: searches the parameters with which methods are fastest on this device, and stores them. How it searches is
 * in search.c, where they are stored in tuned.c, who uses them in params.c.
 *
 * What can be tuned follows from the table of methods: every parameter of an exact method, whose results are the same
 * whatever its parameters are. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"

enum { USUAL_REPEATS = 7, QUICK_REPEATS = 3 };
static const double USUAL_PATIENCE = 0.3; /* seconds: short runs vary more, and can be repeated more often */

struct tune {
    const struct options *options;
    distmap_context *context;
    struct place place;
    struct search search; /* its address is the progress callback's */
    uint64_t seed;
    json_object *results;
    bool searched;
};

static bool is_tunable(const distmap_method_info *method) {
    bool any = false;
    for (size_t p = 0; p < method->param_count; p++)
        any = any || method->params[p].lowest < method->params[p].highest;
    return method->exact && any;
}

/* ---- What was found ---- */

static json_object *values_json(const distmap_method_info *method, const int64_t *values) {
    json_object *object = json_object_new_object();
    for (size_t p = 0; p < method->param_count; p++)
        json_object_object_add(object, method->params[p].name, param_json(&method->params[p], values[p]));
    return object;
}

static void print_found(const struct search *search, const char *shape) {
    printf("%-14s %-18s", search->method->name, shape);
    for (size_t p = 0; p < search->method->param_count; p++) {
        const distmap_param_info *info = &search->method->params[p];
        if (info->names)
            printf(" %s=%s", info->name, info->names[search->values[p] - info->lowest]);
        else
            printf(" %s=%" PRId64, info->name, search->values[p]);
    }
    printf("  %.4g ms, %.3gx as fast as the defaults\n", search->seconds * 1e3,
           search->default_seconds / search->seconds);
    fflush(stdout);
}

/* Stores what the search found, and tells it. */
static int keep(struct tune *tune) {
    const struct search *search = &tune->search;
    const distmap_problem *problem = search->problem;
    char shape[96];
    json_object *found = json_object_new_object();
    json_object_object_add(found, "shape", json_shape(problem->ndim, problem->shape));
    json_object_object_add(found, "params", values_json(search->method, search->values));
    json_object_object_add(found, "ms", json_object_new_double(search->seconds * 1e3));
    json_object_object_add(found, "default_ms", json_object_new_double(search->default_seconds * 1e3));
    json_object_object_add(found, "threads", json_object_new_int(distmap_context_threads(tune->context)));
    const int status = tuned_store(tune->options, &tune->place, search->method, problem, found);
    json_object_object_add(found, "method", json_object_new_string(search->method->name));
    json_object_array_add(tune->results, found);
    if (status == 0 && !tune->options->json && !tune->options->quiet)
        print_found(search, shape_text(problem->ndim, problem->shape, shape, sizeof shape));
    return status;
}

/* ---- One shape ---- */

static int tune_method(struct tune *tune, const distmap_method_info *method, const distmap_problem *problem,
                       const distmap_arrays *arrays, int runs) {
    const struct options *options = tune->options;
    tune->searched = true;
    tune->search = (struct search){
        .options = options,
        .context = tune->context,
        .method = method,
        .problem = problem,
        .arrays = arrays,
        .runs = runs,
        .repeats = options->repeat  ? options->repeat
                   : options->quick ? QUICK_REPEATS
                                    : USUAL_REPEATS,
        .patience = options->repeat || options->quick ? 0 : USUAL_PATIENCE,
    };
    const int status = search_run(&tune->search);
    return status ? status : keep(tune);
}

/* A method that was named along with the shape must take it; of all others those that do. */
static int tune_methods(struct tune *tune, const distmap_problem *problem, const distmap_arrays *arrays, int runs) {
    const struct options *options = tune->options;
    const bool asked = options->sizes.count || options->volumes.count;
    const distmap_method_info *method = distmap_method_find(options->method);
    int status = 0;
    if (method && (asked || method_accepts(tune->context, method->name, problem)))
        return tune_method(tune, method, problem, arrays, runs);
    const char *device = tune->place.device == DISTMAP_DEVICE_CUDA ? "cuda" : "cpu";
    for (size_t row = 0; !options->method && status == 0 && (method = distmap_method_get(row)); row++)
        if (strcmp(method->device, device) == 0 && is_tunable(method) &&
            method_accepts(tune->context, method->name, problem))
            status = tune_method(tune, method, problem, arrays, runs);
    return status;
}

static int tune_shape(struct tune *tune, int ndim, int64_t side) {
    static const number_list usual = {3, {0.0001, 0.01, 0.5}}, quick = {1, {0.01}};
    const struct options *options = tune->options;
    const number_list *densities = options->densities.count ? &options->densities : options->quick ? &quick : &usual;
    distmap_problem problem = {.dtype = DISTMAP_UINT8, .ndim = ndim, .shape = {side, side, side}};
    problem.want.distance = DISTMAP_FLOAT32;
    const size_t elements = (size_t)element_count(ndim, problem.shape);
    distmap_arrays arrays[MAX_LIST] = {0};
    uint8_t *masks = malloc(elements * (size_t)densities->count);
    float *distance = calloc(elements, sizeof *distance);
    int status = 0;
    if (!masks || !distance) {
        status = fail("not enough memory for side %lld", (long long)side);
        goto out;
    }
    for (int i = 0; i < densities->count; i++) {
        uint8_t *mask = masks + elements * (size_t)i;
        pattern_fill("random", densities->values[i], tune->seed, ndim, problem.shape, mask);
        arrays[i].input = distmap_view_make(mask, DISTMAP_UINT8, ndim, problem.shape);
        arrays[i].distance = distmap_view_make(distance, DISTMAP_FLOAT32, ndim, problem.shape);
    }
    status = tune_methods(tune, &problem, arrays, densities->count);
out:
    free(distance);
    free(masks);
    return status;
}

static int tune_sides(struct tune *tune, int ndim, const number_list *given, const number_list *usual) {
    const number_list *sides = given->count ? given : usual;
    int status = 0;
    for (int i = 0; status == 0 && i < sides->count; i++)
        status = tune_shape(tune, ndim, (int64_t)sides->values[i]);
    return status;
}

/* Naming sizes of one kind asks for that kind alone. */
static int tune_shapes(struct tune *tune) {
    static const number_list sizes = {2, {1024, 4096}}, volumes = {1, {256}}, quick = {1, {1024}}, none = {0, {0}};
    const struct options *options = tune->options;
    const bool images = options->sizes.count || !options->volumes.count;
    int status = 0;
    if (images)
        status = tune_sides(tune, 2, &options->sizes, options->quick ? &quick : &sizes);
    if (status == 0)
        status = tune_sides(tune, 3, &options->volumes, options->sizes.count || options->quick ? &none : &volumes);
    return status;
}

/* ---- The command ---- */

static int check(const struct options *options) {
    const distmap_method_info *method = distmap_method_find(options->method);
    if (method && !is_tunable(method))
        return usage("--method: %s has no parameters to tune", method->name);
    for (int i = 0; i < options->param_count; i++) {
        const distmap_param *param = &options->params[i];
        const distmap_param_info *info = param_find(method, param->name);
        if (!info)
            return usage("--param: %s has no parameter '%s'", method->name, param->name);
        if (param->value < info->lowest || param->value > info->highest)
            return usage("--param: %s is %" PRId64 ", must be %" PRId64 " to %" PRId64, param->name, param->value,
                         info->lowest, info->highest);
    }
    return tuned_check();
}

static void print_json(const struct tune *tune, const char *path) {
    json_object *object = json_object_new_object();
    json_object_object_add(object, "file", json_object_new_string(path));
    json_object_object_add(object, "device", json_object_new_string(tune->place.model));
    json_object_object_add(object, "version", json_object_new_string(distmap_version()));
    json_object_object_add(object, "seed", json_object_new_int64((int64_t)tune->seed));
    json_object_object_add(object, "results", json_object_get(tune->results));
    json_print(object);
}

static int run(const struct options *options) {
    struct tune tune = {.options = options, .seed = pattern_seed(options)};
    char path[PATH_MAX];
    int status = check(options);
    if (status || (status = place_open(options, search_watch, &tune.search, &tune.place, &tune.context)))
        return status;
    signals_catch();
    tune.results = json_object_new_array();
    say(options, "seed %" PRIu64 ", %s", tune.seed, tune.place.model);
    status = tune_shapes(&tune);
    if (status == 0 && !tune.searched)
        status = fail("there is nothing to tune: no method with parameters accepts these shapes");
    if (status == 0 && tuned_path(path)) {
        say(options, "stored in %s", path);
        if (options->json)
            print_json(&tune, path);
    }
    json_object_put(tune.results);
    distmap_context_destroy(&tune.context);
    return status;
}

const struct command command_tune = {
    .name = "tune",
    .bit = TUNE,
    .arguments = "",
    .summary = "search the fastest parameters of methods on this device",
    .about =
        "Searches the parameters with which methods run fastest on this device, on random masks, and stores them in\n"
        "$XDG_CACHE_HOME/distmap/tuned.json, or ~/.cache/distmap/tuned.json. Then edt, voronoi and bench use them for\n"
        "problems with as many axes and at most about 16 times as many or as few elements, unless --param or\n"
        "--no-tuned says otherwise. Results do not depend on parameters.\n"
        "The search tries one parameter at a time, over its choices or powers of two, and keeps a value that gains at\n"
        "least 2%. Each shape is stored when it is done: Ctrl-C loses only the current one.",
    .example = "  distmap tune --method psds/cpu --sizes 128 --quick\n",
    .run = run,
};
