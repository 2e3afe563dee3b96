/* distmap bench: our own methods over size x density x pattern.
 *
 * Every line is the fastest of --repeat runs into warm outputs, beside the bandwidth of a plain copy by as many threads
 * measured in the same run: figures of different runs, or machines, do not compare, but shares of the copy do.
 */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"

enum { COPY_BYTES = 256 << 20, COPY_REPEATS = 5 };

/* ---- The copy ---- */

struct piece {
    char *to;
    const char *from;
    size_t bytes;
};

static void *copy_piece(void *user) {
    const struct piece *piece = user;
    memcpy(piece->to, piece->from, piece->bytes);
    return NULL;
}

/* Bytes read plus bytes written per second; 0 when it cannot be measured. */
static double copy_bandwidth(int threads) {
    char *from = malloc(COPY_BYTES), *to = malloc(COPY_BYTES);
    struct piece *pieces = calloc((size_t)threads, sizeof *pieces);
    pthread_t *workers = calloc((size_t)threads, sizeof *workers);
    double best = HUGE_VAL;
    if (from && to && pieces && workers) {
        memset(from, 1, COPY_BYTES);
        memset(to, 2, COPY_BYTES);
        for (int repeat = 0; repeat < COPY_REPEATS; repeat++) {
            const double began = seconds_now();
            int started = 0;
            for (; started < threads; started++) {
                const size_t low = (size_t)COPY_BYTES / (size_t)threads * (size_t)started;
                const size_t high =
                    started + 1 == threads ? COPY_BYTES : (size_t)COPY_BYTES / (size_t)threads * (size_t)(started + 1);
                pieces[started] = (struct piece){to + low, from + low, high - low};
                if (pthread_create(&workers[started], NULL, copy_piece, &pieces[started]))
                    break;
            }
            for (int i = 0; i < started; i++)
                pthread_join(workers[i], NULL);
            if (started == threads)
                best = fmin(best, seconds_now() - began);
        }
    }
    free(workers);
    free(pieces);
    free(to);
    free(from);
    return isfinite(best) ? 2.0 * COPY_BYTES / best : 0;
}

/* ---- One line ---- */

struct bench {
    const struct options *options;
    distmap_context *context;
    struct place place;
    const char *device;
    double copy; /* bytes per second */
    uint64_t seed;
    json_object *results;
    bool table;
};

struct line {
    const char *method, *pattern;
    double density; /* < 0: the pattern has its own */
    int ndim;
    int64_t shape[DISTMAP_MAX_NDIM];
};

static void give_line(const struct bench *bench, const struct line *line, const struct settings *settings,
                      double seconds, size_t scratch_bytes) {
    const double elements = (double)element_count(line->ndim, line->shape);
    const double bytes = elements * (bench->options->with_index ? 9 : 5); /* mask in, float32 and int32 out */
    const double ns = seconds * 1e9 / elements, share = bench->copy > 0 ? 100 * bytes / seconds / bench->copy : 0;
    char shape[96], pattern[64];
    shape_text(line->ndim, line->shape, shape, sizeof shape);
    snprintf(pattern, sizeof pattern, line->density < 0 ? "%s" : "%s %g", line->pattern, line->density);
    if (bench->table) {
        printf("%-14s %-18s %-16s %9.3f ms %8.3f ns/element %7.2f GB/s %5.1f%% of copy\n", line->method, shape, pattern,
               seconds * 1e3, ns, bytes / seconds * 1e-9, share);
        fflush(stdout);
    }
    json_object *row = json_object_new_object();
    json_object_object_add(row, "method", json_object_new_string(line->method));
    json_object_object_add(row, "params", settings_json(settings, distmap_method_find(line->method)));
    json_object_object_add(row, "shape", json_shape(line->ndim, line->shape));
    json_object_object_add(row, "pattern", json_object_new_string(line->pattern));
    json_object_object_add(row, "density", line->density < 0 ? NULL : json_object_new_double(line->density));
    json_object_object_add(row, "index", json_object_new_boolean(bench->options->with_index));
    json_object_object_add(row, "seconds", json_object_new_double(seconds));
    json_object_object_add(row, "ns_per_element", json_object_new_double(ns));
    json_object_object_add(row, "gb_per_s", json_object_new_double(bytes / seconds * 1e-9));
    json_object_object_add(row, "percent_of_copy", json_object_new_double(share));
    json_object_object_add(row, "scratch_bytes", json_object_new_int64((int64_t)scratch_bytes));
    json_object_array_add(bench->results, row);
}

static int time_method(const struct bench *bench, const struct line *line, const distmap_arrays *arrays,
                       const distmap_problem *problem) {
    const struct options *options = bench->options;
    struct settings settings;
    distmap_plan *plan;
    if (plan_make(options, bench->context, &bench->place, line->method, problem, &settings, &plan))
        return fail_library();
    double best = HUGE_VAL;
    const int repeats = options->repeat ? options->repeat : 3;
    for (int repeat = 0; repeat < repeats; repeat++) {
        const double began = seconds_now();
        if (distmap_plan_execute(plan, arrays)) {
            distmap_plan_destroy(&plan);
            return fail_library();
        }
        best = fmin(best, seconds_now() - began);
    }
    distmap_description description;
    distmap_plan_describe(plan, &description);
    distmap_plan_destroy(&plan);
    give_line(bench, line, &settings, best, description.scratch_bytes);
    return 0;
}

/* ---- All methods on one mask, all masks of one shape ---- */

static int time_mask(const struct bench *bench, struct line *line, const distmap_arrays *arrays,
                     const distmap_problem *problem) {
    const name_list *methods = &bench->options->methods;
    const distmap_method_info *info;
    pattern_fill(line->pattern, line->density < 0 ? 0 : line->density, bench->seed, line->ndim, line->shape,
                 arrays->input.data);
    int status = 0;
    for (int i = 0; status == 0 && i < methods->count; i++) {
        line->method = methods->names[i];
        status = time_method(bench, line, arrays, problem);
    }
    for (size_t row = 0; status == 0 && methods->count == 0 && (info = distmap_method_get(row)); row++)
        if (info->exact && strcmp(info->device, bench->device) == 0 &&
            strncmp(info->name, "brute/", 6) != 0 && /* brute force takes quadratic time */
            method_accepts(bench->context, info->name, problem)) {
            line->method = info->name;
            status = time_method(bench, line, arrays, problem);
        }
    return status;
}

static int time_pattern(const struct bench *bench, struct line *line, const distmap_arrays *arrays,
                        const distmap_problem *problem) {
    static const double usual[] = {0.0001, 0.01, 0.5};
    const number_list *given = &bench->options->densities;
    const double *densities = given->count ? given->values : usual;
    const int count = !pattern_takes_density(line->pattern) ? 1 : given->count ? given->count : 3;
    int status = 0;
    for (int i = 0; status == 0 && i < count; i++) {
        line->density = pattern_takes_density(line->pattern) ? densities[i] : -1;
        status = time_mask(bench, line, arrays, problem);
    }
    return status;
}

static int time_shape(const struct bench *bench, int ndim, int64_t side) {
    struct line line = {.ndim = ndim, .shape = {side, side, side}};
    const name_list *patterns = &bench->options->patterns;
    const size_t elements = (size_t)element_count(ndim, line.shape);
    const bool with_index = bench->options->with_index;
    distmap_problem problem = {.dtype = DISTMAP_UINT8, .ndim = ndim, .shape = {side, side, side}};
    problem.want.distance = DISTMAP_FLOAT32;
    problem.want.index = with_index ? index_dtype(&problem) : DISTMAP_NONE;
    const size_t index_bytes = elements * distmap_dtype_size(problem.want.index);
    uint8_t *mask = malloc(elements);
    float *distance = malloc(elements * sizeof *distance);
    void *index = with_index ? malloc(index_bytes) : NULL;
    int status = 0;
    if (!mask || !distance || (with_index && !index)) {
        status = fail("not enough memory for side %lld", (long long)side);
        goto out;
    }
    memset(distance, 0, elements * sizeof *distance);
    if (with_index)
        memset(index, 0, index_bytes);
    distmap_arrays arrays = {.input = distmap_view_make(mask, DISTMAP_UINT8, ndim, line.shape),
                             .distance = distmap_view_make(distance, DISTMAP_FLOAT32, ndim, line.shape)};
    if (with_index)
        arrays.index = distmap_view_make(index, problem.want.index, ndim, line.shape);
    for (int i = 0; status == 0; i++) {
        line.pattern = patterns->count ? (i < patterns->count ? patterns->names[i] : NULL) : pattern_name(i);
        if (!line.pattern)
            break;
        status = time_pattern(bench, &line, &arrays, &problem);
    }
out:
    free(index);
    free(distance);
    free(mask);
    return status;
}

static int time_sides(const struct bench *bench, int ndim, const number_list *given, const double *usual,
                      int usual_count) {
    const int count = given->count ? given->count : usual_count;
    int status = 0;
    for (int i = 0; status == 0 && i < count; i++)
        status = time_shape(bench, ndim, (int64_t)(given->count ? given->values[i] : usual[i]));
    return status;
}

/* ---- The report ---- */

static json_object *whole_report(const struct bench *bench) {
    json_object *object = json_object_new_object();
    json_add_machine(object);
    json_object_object_add(object, "isa", json_object_new_string(distmap_context_isa(bench->context)));
    json_object_object_add(object, "threads", json_object_new_int(distmap_context_threads(bench->context)));
    json_object_object_add(object, "seed", json_object_new_int64((int64_t)bench->seed));
    json_object_object_add(object, "copy_gb_per_s", json_object_new_double(bench->copy * 1e-9));
    json_object_object_add(object, "results", json_object_get(bench->results));
    return object;
}

static int check_names(const struct options *options) {
    for (int i = 0; i < options->methods.count; i++)
        if (!distmap_method_find(options->methods.names[i]))
            return usage("--methods: there is no method '%s'; 'distmap methods' lists them", options->methods.names[i]);
    for (int i = 0; i < options->patterns.count; i++) {
        int row = 0;
        while (pattern_name(row) && strcmp(pattern_name(row), options->patterns.names[i]) != 0)
            row++;
        if (!pattern_name(row))
            return usage("--patterns: there is no pattern '%s'", options->patterns.names[i]);
    }
    if (options->param_count && options->methods.count != 1)
        return usage("--param needs --methods with one name: parameters belong to one method");
    return 0;
}

static int run(const struct options *options) {
    static const double usual_sizes[] = {1024, 4096}, usual_volumes[] = {128};
    struct text_file text = {0};
    struct bench bench = {.options = options, .table = !options->json && !options->quiet};
    if (options->suite)
        return suite_run(options);
    int status = check_names(options);
    if (status || (options->output && (status = text_file_open(&text, options->output))))
        return status;
    bench.device = options->device == DISTMAP_DEVICE_CUDA ? "cuda" : "cpu";
    if (place_open_on(options, options->device, NULL, NULL, &bench.place, &bench.context)) {
        text_file_drop(&text);
        return fail_library();
    }
    bench.seed = pattern_seed(options);
    const int threads = distmap_context_threads(bench.context);
    bench.copy = copy_bandwidth(threads);
    bench.results = json_object_new_array();
    say(options, "seed %" PRIu64 ", %d thread%s, %s, copy %.2f GB/s", bench.seed, threads, threads == 1 ? "" : "s",
        distmap_context_isa(bench.context), bench.copy * 1e-9);

    /* Naming sizes of one kind asks for that kind alone. */
    const bool images = options->sizes.count || !options->volumes.count;
    const bool volumes = options->volumes.count || !options->sizes.count;
    if (images)
        status = time_sides(&bench, 2, &options->sizes, usual_sizes, 2);
    if (status == 0 && volumes)
        status = time_sides(&bench, 3, &options->volumes, usual_volumes, 1);
    if (status == 0 && (options->json || options->output)) {
        json_object *report = whole_report(&bench);
        if (options->output) {
            json_put(report, text.file);
            status = text_file_finish(&text, options->no_sync);
        }
        if (options->json)
            json_print(report);
        else
            json_object_put(report);
    }
    json_object_put(bench.results);
    text_file_drop(&text);
    distmap_context_destroy(&bench.context);
    return status;
}

const struct command command_bench = {
    .name = "bench",
    .bit = BENCH,
    .arguments = "",
    .summary = "time the methods over sizes, densities and patterns",
    .about =
        "Times the methods: the fastest of a few runs into warm outputs (from a mask to float32 distances), as\n"
        "time per element, bytes per second, and fraction of the bandwidth of a plain copy in the same run.\n"
        "With --suite, repeats the tables of a paper on this machine, with the production method beside each cell.",
    .example = "  distmap bench --sizes 512 --densities 0.01 --patterns random,blobs -o bench.json\n"
               "  distmap bench --suite man-edm --quick\n",
    .run = run,
};
