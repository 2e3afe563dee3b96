/* The input file: opened, then either mapped as it lies or read band by band into the one buffer that holds it. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { BAND_BYTES = 8 << 20 };

int64_t element_count(int ndim, const int64_t *shape) {
    int64_t count = 1;
    for (int a = 0; a < ndim; a++)
        if (shape[a] == 0) /* the others can be so long that their product is beyond 64 bits */
            return 0;
    for (int a = 0; a < ndim; a++)
        count *= shape[a];
    return count;
}

/* ---- What of the file is taken ---- */

static int select_place(struct source *source, const char *option, distmap_axis_type type, int64_t place) {
    const distmap_image_info *info = distmap_reader_info(source->reader);
    if (place < 0)
        return 0;
    for (int a = 0; a < info->ndim; a++)
        if (info->axis[a].type == type) {
            if (place >= info->shape[a])
                return fail("%s: %s has only %lld along %s, counted from 0", option, source->name, (long long)info->shape[a],
                            info->axis[a].name);
            return distmap_reader_select(source->reader, a, place) ? fail_library() : 0;
        }
    char names[160];
    return fail("%s: %s has no such axis; it has %s", option, source->name, axes_text(info, names));
}

/* For pictures whose elements have several samples. Only info accepts one without a choice. */
static int select_sample(struct source *source, const struct options *options) {
    const distmap_image_info *info = distmap_reader_info(source->reader);
    char names[64] = "";
    if (options->sample)
        return distmap_reader_sample(source->reader, options->sample) ? fail_library() : 0;
    if (!info->samples || info->sample || options->command->bit == INFO)
        return 0;
    sample_names(info, names);
    return fail("%s: its elements have several samples: choose one by --channel (%s)", source->name, names);
}

const char *sample_names(const distmap_image_info *info, char names[64]) {
    *names = '\0';
    for (int s = 1; distmap_sample_name((distmap_sample)s); s++)
        if (info->samples >> s & 1)
            snprintf(names + strlen(names), 64 - strlen(names), "%s%s", *names ? ", " : "",
                     distmap_sample_name((distmap_sample)s));
    return names;
}

static int fit_axes(struct source *source) {
    const distmap_image_info *info = distmap_reader_info(source->reader);
    for (int a = info->ndim - 1; a >= 0 && info->ndim > DISTMAP_MAX_NDIM; a--)
        if (info->axis[a].type != DISTMAP_AXIS_SPACE && info->shape[a] == 1 &&
            distmap_reader_select(source->reader, a, 0))
            return fail_library();
    char names[160];
    return info->ndim <= DISTMAP_MAX_NDIM
               ? 0
               : fail("%s: has %d axes (%s), but at most %d are supported: choose by --time or --channel", source->name,
                      info->ndim, axes_text(info, names), DISTMAP_MAX_NDIM);
}

/* ---- --spacing ---- */

static bool in_space(const distmap_image_info *info, int axis) { return info->axis[axis].type == DISTMAP_AXIS_SPACE; }

static int axis_named(const distmap_image_info *info, const char *name) {
    for (int a = 0; a < info->ndim; a++)
        if (strcmp(info->axis[a].name, name) == 0)
            return a;
    return -1;
}

/* A list in order is of all axes, or of those of space; one value is of all those. */
static int respace(struct source *source, const pitch_list *given) {
    distmap_image_info *info = &source->model;
    char names[160];
    int of_space = 0, next = 0;
    for (int a = 0; a < info->ndim; a++)
        of_space += in_space(info, a);
    const bool by_name = *given->names[0], by_space = given->count == of_space || given->count == 1;
    if (!by_name && !by_space && given->count != info->ndim)
        return fail("--spacing: %d values given, but %s has %d axes (%s); give one per axis or one for all",
                    given->count, source->name, info->ndim, axes_text(info, names));
    for (int i = 0; by_name && i < given->count; i++) {
        const int a = axis_named(info, given->names[i]);
        if (a < 0)
            return fail("--spacing: %s has no axis '%s'; it has %s", source->name, given->names[i],
                        axes_text(info, names));
        distmap_image_set_pitch(info, a, given->values[i]);
        if (*given->unit)
            strcpy(info->axis[a].unit, given->unit);
    }
    for (int a = 0; !by_name && a < info->ndim; a++)
        if (in_space(info, a) || !by_space) {
            distmap_image_set_pitch(info, a, given->values[given->count == 1 ? 0 : next++]);
            if (*given->unit && in_space(info, a))
                strcpy(info->axis[a].unit, given->unit);
        }
    source->respaced = true;
    return 0;
}

int source_open(struct source *source, const struct options *options) {
    *source = (struct source){.name = options->input, .by_bytes = options->verify};
    const double began = seconds_now();
    int status;
    if (distmap_reader_open(options->input, &source->reader))
        return fail_library();
    if (options->verify && (status = source_identify(source)))
        return status;
    if ((status = select_place(source, "--time", DISTMAP_AXIS_TIME, options->time)) ||
        (status = select_place(source, "--channel", DISTMAP_AXIS_CHANNEL, options->channel)) ||
        (status = select_sample(source, options)) || (options->command->bit != INFO && (status = fit_axes(source))))
        return status;
    source->model = *distmap_reader_info(source->reader);
    source->info = &source->model;
    if (options->nodata_value_given) {
        source->model.has_nodata = true;
        source->model.nodata = options->nodata_value;
    }
    if (options->nodata_given && !source->model.has_nodata && options->command->bit != COMPARE)
        return fail("--nodata: %s names no value for no data: give it by --nodata-value", source->name);
    source->seconds = seconds_now() - began;
    return options->spacing.count ? respace(source, &options->spacing) : 0;
}

/* Slices to read at a time: of a format in chunks whole rows of them, so that each is unpacked once. */
static int64_t band_of(const distmap_image_info *info, int64_t slice_bytes) {
    const int64_t chunk = info->chunk[0] ? info->chunk[0] : 1, fit = BAND_BYTES / slice_bytes / chunk;
    return (fit > 1 ? fit : 1) * chunk;
}

/* Reads slices [from, from + slices) by bands, each behind the last one (`step` true) or all into the same place, and shows each to
 * `visit`. */
static int read_bands(struct source *source, const struct options *options, int64_t from, int64_t slices, bool step,
                      void (*visit)(const distmap_view *band, void *user), void *user) {
    const distmap_image_info *info = source->info;
    const int64_t elements = element_count(info->ndim - 1, info->shape + 1),
                  slice_bytes = elements * (int64_t)distmap_dtype_size(info->dtype);
    if (slices == 0 || slice_bytes == 0)
        return 0;
    const int64_t band = band_of(info, slice_bytes);
    const size_t bytes = (size_t)((step || band > slices ? slices : band) * slice_bytes);
    source->buffer = malloc(bytes);
    if (!source->buffer)
        return fail("%s: not enough memory for its %zu bytes", source->name, bytes);

    progress_begin(options, "reading");
    for (int64_t first = 0; first < slices; first += band) {
        const int64_t count = first + band < slices ? band : slices - first;
        char *place = (char *)source->buffer + (step ? first * slice_bytes : 0);
        if (progress_step(NULL, (double)first / (double)slices))
            return fail("interrupted");
        if (distmap_reader_read(source->reader, from + first, count, place))
            return fail_library();
        if (visit) {
            distmap_view view = info->ndim <= DISTMAP_MAX_NDIM
                                    ? distmap_view_make(place, info->dtype, info->ndim, info->shape)
                                    : distmap_view_make(place, info->dtype, 1, &elements);
            view.shape[0] = info->ndim <= DISTMAP_MAX_NDIM ? count : count * elements;
            visit(&view, user);
        }
    }
    progress_end();
    return 0;
}

int source_read_slices(struct source *source, const struct options *options, int64_t first, int64_t count) {
    const double began = seconds_now();
    int status = 0;
    source->view = distmap_reader_map(source->reader);
    if (source->view.data) {
        source->view.data = (char *)source->view.data + first * source->view.strides[0];
    } else {
        status = read_bands(source, options, first, count, true, NULL, NULL);
        source->view = distmap_view_make(source->buffer, source->info->dtype, source->info->ndim, source->info->shape);
    }
    source->view.shape[0] = count;
    source->seconds += seconds_now() - began;
    return status;
}

int source_read(struct source *source, const struct options *options) {
    return source_read_slices(source, options, 0, source->info->shape[0]);
}

int source_visit(struct source *source, const struct options *options,
                 void (*visit)(const distmap_view *band, void *user), void *user) {
    const distmap_view whole = distmap_reader_map(source->reader);
    if (!whole.data)
        return read_bands(source, options, 0, source->info->shape[0], false, visit, user);
    visit(&whole, user);
    return 0;
}

static distmap_status identity_of(const struct source *source, char text[DISTMAP_IDENTITY_BYTES]) {
    return (source->by_bytes ? distmap_reader_digest : distmap_reader_identity)(source->reader, text);
}

int source_identify(struct source *source) {
    if (*source->identity)
        return 0;
    return identity_of(source, source->identity) ? fail_library() : 0;
}

int source_check_identity(const struct source *source) {
    char now[DISTMAP_IDENTITY_BYTES];
    if (identity_of(source, now))
        return fail_library();
    return strcmp(source->identity, now) == 0
               ? 0
               : fail("%s: changed while it was read: %s before, %s now", source->name, source->identity, now);
}

void source_drop(struct source *source) {
    free(source->buffer);
    source->buffer = NULL;
    source->view.data = NULL;
}

void source_close(struct source *source) {
    source_drop(source);
    free(source->ignored);
    distmap_reader_close(&source->reader);
    *source = (struct source){0};
}
