/* The input file: opened, then either mapped as it lies or read band by band into the one buffer that holds it. */
#include <stdlib.h>

#include "cli.h"

enum { BAND_BYTES = 8 << 20 };

int64_t element_count(int ndim, const int64_t *shape) {
    int64_t count = 1;
    for (int a = 0; a < ndim; a++)
        count *= shape[a];
    return count;
}

int source_open(struct source *source, const struct options *options) {
    *source = (struct source){.name = options->input};
    const double began = seconds_now();
    if (distmap_reader_open(options->input, &source->reader))
        return fail_library();
    source->info = distmap_reader_info(source->reader);
    source->seconds = seconds_now() - began;
    return 0;
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
    const int64_t slice_bytes =
        element_count(info->ndim - 1, info->shape + 1) * (int64_t)distmap_dtype_size(info->dtype);
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
            distmap_view view = distmap_view_make(place, info->dtype, info->ndim, info->shape);
            view.shape[0] = count;
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

void source_drop(struct source *source) {
    free(source->buffer);
    source->buffer = NULL;
    source->view.data = NULL;
}

void source_close(struct source *source) {
    source_drop(source);
    distmap_reader_close(&source->reader);
    *source = (struct source){0};
}
