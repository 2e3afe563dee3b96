/* Warnings: input that may not mean what it seems to mean, such as a mask with many values, a unit that is not a length, or no site.
 * Each is printed once, kept for --json, and with --strict ends the run before any output has its name. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"

enum { MOST = 16 };

static struct {
    const char *about;
    char text[600];
} warnings[MOST];
static int warning_count;

void warn(const struct options *options, const char *about, const char *format, ...) {
    char text[sizeof warnings->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!options->quiet || options->strict) {
        progress_end();
        fprintf(stderr, "distmap: %s\n", text);
    }
    if (warning_count == MOST)
        return;
    warnings[warning_count].about = about;
    strcpy(warnings[warning_count++].text, text);
}

int warnings_judge(const struct options *options) { return options->strict && warning_count ? EXIT_WARNED : 0; }

bool warnings_heard(const struct options *options) { return options->json || options->strict || !options->quiet; }

json_object *warnings_json(void) {
    json_object *array = json_object_new_array();
    for (int i = 0; i < warning_count; i++) {
        json_object *one = json_object_new_object();
        json_object_object_add(one, "about", json_object_new_string(warnings[i].about));
        json_object_object_add(one, "text", json_object_new_string(warnings[i].text));
        json_object_array_add(array, one);
    }
    return array;
}

/* ---- From the header ---- */

static bool is_angle(const char *unit) {
    static const char *const names[] = {"deg", "degree", "degrees", "rad", "radian", "arcmin", "arcsec"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(unit, names[i]) == 0)
            return true;
    return false;
}

void warn_of_header(const struct options *options, const distmap_image_info *info) {
    double least, most;
    char number[40];
    const bool measures =
        options->command->bit & (LENGTHS | COMPARE | PASS) && options->metric == DISTMAP_METRIC_EUCLIDEAN;
    if (measures && !options->spacing.count &&
        (info->world == DISTMAP_WORLD_GEOGRAPHIC || is_angle(distmap_image_unit(info))))
        warn(options, "geographic",
             "%s: its coordinates are longitudes and latitudes, so distances are in degrees, which are not lengths; "
             "project it "
             "first, or give --spacing",
             options->input);
    if (!options->threshold_given || info->dtype == DISTMAP_FLOAT32 || info->dtype == DISTMAP_FLOAT64)
        return;
    dtype_limits(info->dtype, &least, &most);
    number_text(options->threshold, number);
    if (options->threshold > most)
        warn(options, "threshold", "--threshold: %s is above every %s value: no element of %s reaches it", number,
             distmap_dtype_name(info->dtype), options->input);
    if (options->threshold < least)
        warn(options, "threshold", "--threshold: %s is below every %s value: every element of %s reaches it", number,
             distmap_dtype_name(info->dtype), options->input);
}

/* ---- From the elements ---- */

/* Whether an element is neither of the two that were seen; fills these in first. Runs of a block have no branch within. */
#define LOOK(TYPE)                                                                                          \
    do {                                                                                                    \
        TYPE value[3], skipped;                                                                             \
        memcpy(value, seen->value, sizeof value);                                                           \
        memcpy(&skipped, &seen->skipped, sizeof skipped);                                                   \
        for (int64_t i = 0; i < count && seen->count < 3;) {                                                \
            const int64_t end = i + BLOCK < count ? i + BLOCK : count;                                      \
            const TYPE a = value[0], b = value[seen->count > 1], c = seen->skips ? skipped : a;             \
            unsigned other = !seen->count;                                                                  \
            for (int64_t k = i; k < end; k++) {                                                             \
                const TYPE v = *(const TYPE *)(at + k * stride);                                            \
                other |= (unsigned)(v != a) & (unsigned)(v != b) & (unsigned)(v != c) & (unsigned)(v == v); \
            }                                                                                               \
            for (int64_t k = i; other && k < end && seen->count < 3; k++) {                                 \
                const TYPE v = *(const TYPE *)(at + k * stride);                                            \
                bool known = v != v || (seen->skips && v == skipped);                                       \
                for (int s = 0; s < seen->count; s++)                                                       \
                    known |= v == value[s];                                                                 \
                if (!known)                                                                                 \
                    value[seen->count++] = v;                                                               \
            }                                                                                               \
            i = end;                                                                                        \
        }                                                                                                   \
        memcpy(seen->value, value, sizeof value);                                                           \
    } while (0)

enum { BLOCK = 4096 };

static void look_at_run(const char *at, distmap_dtype dtype, int64_t stride, int64_t count, struct values_seen *seen) {
    switch (dtype) {
    case DISTMAP_INT8: LOOK(int8_t); break;
    case DISTMAP_UINT8: LOOK(uint8_t); break;
    case DISTMAP_INT16: LOOK(int16_t); break;
    case DISTMAP_UINT16: LOOK(uint16_t); break;
    case DISTMAP_INT32: LOOK(int32_t); break;
    case DISTMAP_UINT32: LOOK(uint32_t); break;
    case DISTMAP_INT64: LOOK(int64_t); break;
    case DISTMAP_UINT64: LOOK(uint64_t); break;
    case DISTMAP_FLOAT32: LOOK(float); break;
    case DISTMAP_FLOAT64: LOOK(double); break;
    default: break; /* bool has two values */
    }
}

void values_look(const distmap_view *view, struct values_seen *seen) {
    int order[DISTMAP_MAX_AXES];
    int64_t together = (int64_t)distmap_dtype_size(view->dtype), rows = 1;
    distmap_view_order(view, order); /* the values do not depend on it, the time does */
    int first = view->ndim;          /* axes from here on, in memory's order, are one run */
    while (first > 0 && view->strides[order[first - 1]] == together)
        together *= view->shape[order[--first]];
    const int last = order[view->ndim - 1];
    const bool whole = first < view->ndim;
    const int64_t run = whole ? together / (int64_t)distmap_dtype_size(view->dtype) : view->shape[last];
    const int outer = whole ? first : view->ndim - 1;
    for (int i = 0; i < outer; i++)
        rows *= view->shape[order[i]];
    for (int64_t row = 0; row < rows && run && seen->count < 3; row++) {
        const char *at = view->data;
        int64_t rest = row;
        for (int i = outer - 1; i >= 0; rest /= view->shape[order[i--]])
            at += rest % view->shape[order[i]] * view->strides[order[i]];
        look_at_run(at, view->dtype, whole ? (int64_t)distmap_dtype_size(view->dtype) : view->strides[last], run, seen);
    }
}

struct values_seen values_begin(const struct source *source, const struct options *options) {
    struct values_seen seen = {.skips = nodata_applies(source, options)};
    seen.skips = seen.skips && element_store(source->info->nodata, source->info->dtype, &seen.skipped);
    return seen;
}

bool values_matter(const struct options *options) {
    return warnings_heard(options) && !options->threshold_given && !options->sites_given && !options->labels;
}

void warn_of_values(const struct options *options, distmap_dtype dtype, const struct values_seen *seen) {
    if (seen->count < 3)
        return;
    const size_t size = distmap_dtype_size(dtype);
    const bool has_labels = options->command->bit & (EDT | MORPH | VORONOI);
    double values[3];
    char text[3][40];
    for (int i = 0; i < 3; i++) {
        values[i] = element_value((const char *)seen->value + (size_t)i * size, dtype);
        number_text(values[i], text[i]);
    }
    warn(options, "values",
         "%s: is read as a mask, but has more than two values (%s, %s, %s, ...): say what they mean by --threshold%s "
         "--sites%s",
         options->input, text[0], text[1], text[2], has_labels ? "," : " or", has_labels ? " or --labels" : "");
}
