/* A selection: what a file holds at one place of some of its axes, presented as an image without them.
 *
 * A box of what is presented is one of the file, with length 1 along the selected axes, and has the same elements in the same order.
 * Formats that are read by boxes read it; of others the slices of the slowest axis that it meets are read whole, one at a time, and the
 * last one is held, so that reading in rising order unpacks each once.
 */
#include <stdlib.h>
#include <string.h>

#include "io/codec.h"

distmap_status distmap_reader_select(distmap_reader *reader, int axis, int64_t place) {
    if (!reader)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "reader: must not be NULL");
    const distmap_image_info *shown = &reader->shown;
    if (axis < 0 || axis >= shown->ndim || shown->ndim == 1)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "axis: %d is none of %d, of which one must be left", axis,
                                 shown->ndim);
    if (place < 0 || place >= shown->shape[axis])
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: index %lld of axis %s: the axis has %lld, counted from 0",
                                 reader->input.name, (long long)place, shown->axis[axis].name,
                                 (long long)shown->shape[axis]);
    int a = 0;
    for (int free = -1; a < reader->info.ndim; a++)
        if (reader->selected[a] < 0 && ++free == axis)
            break;
    reader->selected[a] = place;
    reader->selects = true;
    dm_image_drop_axis(&reader->shown, axis, place);
    if (!reader->codec->read_box && !reader->raw.is)
        reader->shown.held_bytes = reader->info.held_bytes + reader->slice_bytes;
    return DISTMAP_OK;
}

/* The same elements as a box of the file. */
static dm_box file_box(const distmap_reader *reader, const dm_box *box) {
    const int lead = DISTMAP_MAX_AXES - reader->info.ndim;
    dm_box whole = {{0}, {0}};
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        whole.count[a] = 1;
    int from = DISTMAP_MAX_AXES - reader->shown.ndim;
    for (int a = 0; a < reader->info.ndim; a++) {
        const bool free = reader->selected[a] < 0;
        whole.first[lead + a] = free ? box->first[from] : reader->selected[a];
        whole.count[lead + a] = free ? box->count[from++] : 1;
    }
    return whole;
}

static distmap_status hold(distmap_reader *reader, int64_t slice) {
    if (reader->held && reader->held_slice == slice)
        return DISTMAP_OK;
    if (!reader->held && !(reader->held = malloc(reader->slice_bytes)))
        return dm_no_memory(reader->input.name);
    reader->held_slice = -1;
    TRY(reader->codec->read(reader, slice, 1, reader->held));
    reader->held_slice = slice;
    return DISTMAP_OK;
}

struct copy {
    const char *from;
    char *to;
    int64_t size;
};

static distmap_status copy_run(void *user, int64_t from, int64_t to, int64_t run) {
    const struct copy *c = user;
    memcpy(c->to + to * c->size, c->from + from * c->size, (size_t)(run * c->size));
    return DISTMAP_OK;
}

distmap_status dm_select_read(distmap_reader *reader, const dm_box *box, void *out) {
    dm_box whole = file_box(reader, box);
    if (reader->codec->read_box && !reader->raw.fortran)
        return reader->codec->read_box(reader, &whole, out);
    const int slowest = DISTMAP_MAX_AXES - reader->info.ndim;
    const int64_t first = whole.first[slowest], end = first + whole.count[slowest];
    distmap_image_info slice = reader->info;
    slice.shape[0] = whole.count[slowest] = 1;
    whole.first[slowest] = 0;
    struct copy copy = {.to = out, .size = (int64_t)distmap_dtype_size(reader->info.dtype)};
    const int64_t bytes = copy.size * dm_box_elements(&whole);
    for (int64_t i = first; i < end; i++, copy.to += bytes) {
        TRY(hold(reader, i));
        copy.from = reader->held;
        TRY(dm_box_runs(&slice, &whole, copy_run, &copy));
    }
    return DISTMAP_OK;
}

distmap_view dm_select_view(const distmap_reader *reader, char *data, const int64_t strides[DISTMAP_MAX_AXES]) {
    const distmap_image_info *shown = &reader->shown;
    if (shown->ndim > DISTMAP_MAX_NDIM)
        return (distmap_view){0};
    distmap_view view = distmap_view_make(data, shown->dtype, shown->ndim, shown->shape);
    int to = 0;
    for (int a = 0; a < reader->info.ndim; a++)
        if (reader->selected[a] < 0)
            view.strides[to++] = strides[a];
        else
            data += strides[a] * reader->selected[a];
    view.data = data;
    return view;
}

/* ---- Samples ---- */

static const char *const sample_names[] = {"open", "index", "luma", "red", "green", "blue", "alpha"};
enum { SAMPLES = sizeof sample_names / sizeof *sample_names };

const char *distmap_sample_name(distmap_sample sample) {
    return (unsigned)sample < SAMPLES ? sample_names[sample] : NULL;
}

distmap_status distmap_reader_sample(distmap_reader *reader, distmap_sample sample) {
    if (!reader)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "reader: must not be NULL");
    if (sample == DISTMAP_SAMPLE_OPEN || (unsigned)sample >= SAMPLES)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "sample: %d is not a sample", (int)sample);
    if (!reader->info.samples && sample == DISTMAP_SAMPLE_LUMA)
        return DISTMAP_OK;
    char names[64] = "";
    for (int s = 1; s < SAMPLES; s++)
        if (reader->info.samples >> s & 1)
            dm_append(names, sizeof names, ", ", sample_names[s]);
    if (!(reader->info.samples >> sample & 1))
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: its elements have no %s%s%s", reader->input.name,
                                 sample_names[sample], *names ? "; they have " : ": they are numbers", names);
    reader->info.sample = reader->shown.sample = sample;
    reader->held_slice = -1;
    return reader->codec->sample ? reader->codec->sample(reader) : DISTMAP_OK;
}
