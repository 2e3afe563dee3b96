/* distmap info: what a file holds. */
#include <stdio.h>

#include "cli.h"
#include "json.h"

/* The values of more elements are not read: a small file may claim 2^62 elements, all of them missing. */
enum { MOST_BITS = 36 };
static bool is_counted(const distmap_image_info *info) {
    return element_count(info->ndim, info->shape) <= (int64_t)1 << MOST_BITS;
}

static void visit(const distmap_view *band, void *user) { elements_count(band, user); }

static json_object *samples_json(const distmap_image_info *info) {
    json_object *samples = json_object_new_array();
    for (int s = 1; distmap_sample_name((distmap_sample)s); s++)
        if (info->samples >> s & 1)
            json_object_array_add(samples, json_object_new_string(distmap_sample_name((distmap_sample)s)));
    return samples;
}

static void print_json(const struct options *options, const distmap_image_info *info, const struct statistics *found) {
    const bool any = found->count > 0;
    json_object *object = json_object_new_object(), *spacing = json_object_new_array();
    for (int a = 0; a < info->ndim; a++)
        json_object_array_add(spacing, json_decimal(distmap_image_pitch(info, a)));
    json_object_object_add(object, "file", json_object_new_string(options->input));
    json_object_object_add(object, "format", json_object_new_string(info->format));
    json_object_object_add(object, "stored", json_object_new_string(info->stored));
    json_object_object_add(object, "dtype", json_object_new_string(distmap_dtype_name(info->dtype)));
    json_object_object_add(object, "shape", json_shape(info->ndim, info->shape));
    char axes[160];
    json_object_object_add(object, "axes", json_object_new_string(axes_text(info, axes)));
    json_object_object_add(object, "samples", samples_json(info));
    json_object_object_add(
        object, "sample",
        info->samples ? json_object_new_string(distmap_sample_name(info->sample ? info->sample : DISTMAP_SAMPLE_LUMA))
                      : NULL);
    json_object_object_add(object, "spacing", spacing);
    json_object_object_add(object, "unit", json_object_new_string(distmap_image_unit(info)));
    json_object *model = json_object_new_object();
    json_add_model(model, info);
    json_object_object_add(object, "image", model);
    json_object_object_add(object, "min", any ? json_number(found->min) : NULL);
    json_object_object_add(object, "max", any ? json_number(found->max) : NULL);
    json_object_object_add(object, "mean", any ? json_number(found->sum / (double)found->count) : NULL);
    json_object_object_add(object, "zeros", is_counted(info) ? json_object_new_int64(found->zeros) : NULL);
    json_object_object_add(object, "nans", is_counted(info) ? json_object_new_int64(found->nans) : NULL);
    json_print(object);
}

static void print_spacing(const distmap_image_info *info) {
    const char *unit = distmap_image_unit(info);
    char number[40];
    printf("spacing  ");
    for (int a = 0; a < info->ndim; a++)
        printf("%s%s", a ? " x " : "", number_text(distmap_image_pitch(info, a), number));
    printf("%s%s\n", *unit ? " " : "", unit);
}

static void print_text(const struct options *options, const distmap_image_info *info, const struct statistics *found) {
    char shape[200], axes[160];
    const int64_t elements = element_count(info->ndim, info->shape);
    const double share = elements ? 100.0 / (double)elements : 0;
    printf("file     %s\n", options->input);
    printf("format   %s (%s)\n", info->format, info->stored);
    printf("dtype    %s\n", distmap_dtype_name(info->dtype));
    printf("shape    %s, axes %s\n", shape_text(info->ndim, info->shape, shape, sizeof shape), axes_text(info, axes));
    print_spacing(info);
    char names[64];
    if (info->samples)
        printf("samples  %s; %s%s\n", sample_names(info, names),
               info->sample ? "this is " : "to be chosen by --channel; values are of ",
               info->sample ? distmap_sample_name(info->sample) : "luma");
    print_model(info);
    if (!is_counted(info)) {
        printf("values   not read: more than 2^%d elements\n", MOST_BITS);
        return;
    }
    if (found->count)
        printf("values   %.9g to %.9g, mean %.9g\n", found->min, found->max, found->sum / (double)found->count);
    printf("zeros    %lld of %lld (%.3g%%)\n", (long long)found->zeros, (long long)elements,
           (double)found->zeros * share);
    if (found->nans)
        printf("NaN      %lld\n", (long long)found->nans);
}

static int run(const struct options *options) {
    struct source source = {0};
    struct statistics found = statistics_make();
    int status = source_open(&source, options);
    if (status == 0 && is_counted(source.info))
        status = source_visit(&source, options, visit, &found);
    if (status == 0)
        (options->json ? print_json : print_text)(options, source.info, &found);
    source_close(&source);
    return status;
}

const struct command command_info = {
    .name = "info",
    .bit = INFO,
    .arguments = "FILE",
    .summary = "what a file contains: shape, axes, spacing, values",
    .about =
        "Prints what a file says about its image or volume: format, element type, shape with its axes (slowest first,\n"
        "the order of --spacing and --axes), type, pitch and unit of each axis, position in the world, the value for\n"
        "no data; and the range of values and the number of zeros.",
    .example = "  distmap info data/mni152_gray_matter.nii.gz\n",
    .run = run,
};
