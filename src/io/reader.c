/* distmap_reader: finds the codec by the file's first bytes, checks arguments, hands over. */
#include <stdlib.h>
#include <string.h>

#include "io/codec.h"

static const dm_codec *recognise(const uint8_t *head, size_t bytes) {
    for (size_t row = 0; dm_codecs[row]; row++)
        if (dm_codecs[row]->sniff && dm_codecs[row]->sniff(head, bytes))
            return dm_codecs[row];
    return NULL;
}

static distmap_status unknown_format(const dm_input *input) {
    char names[200] = "";
    for (size_t row = 0; dm_codecs[row]; row++)
        if (dm_codecs[row]->sniff)
            dm_append(names, sizeof names, " ", dm_codecs[row]->info.name);
    return dm_broken(input, "has no supported format (%s)", names);
}

static distmap_status find_codec(distmap_reader *reader) {
    uint8_t head[DM_SNIFF_BYTES];
    size_t got;
    TRY(dm_input_next(&reader->input, head, sizeof head, &got));
    dm_input_seek(&reader->input, 0);
    reader->codec = recognise(head, got);
    if (!reader->codec)
        return unknown_format(&reader->input);
    const dm_input *input = &reader->input;
    if (!reader->codec->by_name || input->dataset || dm_ends_with_any(input->file, reader->codec->info.endings))
        return DISTMAP_OK;
    return dm_unsupported(input, "is %s, which is read only where the name says so: by its ending (%s), or FILE:/DATASET",
                          reader->codec->info.name, reader->codec->info.endings);
}

static distmap_status find_folder_codec(distmap_reader *reader) {
    for (size_t row = 0; dm_codecs[row] && !reader->codec; row++)
        if (dm_codecs[row]->sniff_folder && dm_codecs[row]->sniff_folder(reader->input.fd))
            reader->codec = dm_codecs[row];
    return reader->codec ? DISTMAP_OK
                         : distmap_error_set(DISTMAP_ERROR_IO, "%s: is a folder, not a file", reader->input.name);
}

static distmap_status open_codec(distmap_reader *reader) {
    TRY(reader->input.is_folder ? find_folder_codec(reader) : find_codec(reader));
    if (reader->input.dataset && !reader->codec->holds_datasets)
        return dm_unsupported(&reader->input, "%s is one image: there is no %s in it", reader->codec->info.name,
                              reader->input.dataset);
    TRY(dm_codec_allowed(reader->codec, reader->input.name));
    reader->info.format = reader->codec->info.name;
    TRY(reader->codec->open(reader));

    const distmap_image_info *info = &reader->info;
    int64_t bytes;
    TRY(dm_shape_bytes(reader->input.name, info->ndim, info->shape, distmap_dtype_size(info->dtype), &bytes));
    reader->slice_elements = dm_slice_elements(info);
    reader->slice_bytes = (size_t)reader->slice_elements * distmap_dtype_size(info->dtype);
    dm_axes_name(&reader->info);
    if (!*info->packing)
        dm_packing_take(&reader->info, "none");
    char fault[200];
    if (dm_image_fault(info, fault, sizeof fault))
        return dm_broken(&reader->input, "%s", fault);
    reader->shown = *info;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        reader->selected[a] = -1;
    return DISTMAP_OK;
}

distmap_status distmap_reader_open(const char *path, distmap_reader **reader) {
    if (!reader)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "reader: must not be NULL");
    *reader = NULL;
    if (!path)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "path: must not be NULL");
    distmap_reader *made = calloc(1, sizeof *made);
    if (!made)
        return dm_no_memory(path);
    distmap_status status = dm_input_open(&made->input, path);
    if (!status)
        status = open_codec(made);
    if (status)
        distmap_reader_close(&made);
    *reader = made;
    return status;
}

const distmap_image_info *distmap_reader_info(const distmap_reader *reader) { return reader ? &reader->shown : NULL; }

distmap_status distmap_reader_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    if (!reader)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "reader: must not be NULL");
    const int64_t slices = reader->shown.shape[0];
    if (first < 0 || count < 0 || first > slices || count > slices - first)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT,
                                 "first, count: slices %lld + %lld are not within the file's %lld", (long long)first,
                                 (long long)count, (long long)slices);
    if (!count || !reader->slice_bytes)
        return DISTMAP_OK;
    if (!out)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "out: must not be NULL");
    if (!reader->selects)
        return reader->codec->read(reader, first, count, out);
    const dm_box box = dm_box_of_slices(&reader->shown, first, count);
    return dm_box_empty(&box) ? DISTMAP_OK : dm_select_read(reader, &box, out);
}

distmap_status distmap_reader_read_box(distmap_reader *reader, const int64_t *first, const int64_t *count, void *out) {
    if (!reader)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "reader: must not be NULL");
    if (!reader->codec->read_box || reader->raw.fortran)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: %s is read by whole slices, not by boxes",
                                 reader->input.name, reader->raw.fortran ? "Fortran order" : reader->info.format);
    dm_box box;
    TRY(dm_box_take(&reader->shown, first, count, &box));
    if (dm_box_empty(&box))
        return DISTMAP_OK;
    if (!out)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "out: must not be NULL");
    return reader->selects ? dm_select_read(reader, &box, out) : reader->codec->read_box(reader, &box, out);
}

distmap_view distmap_reader_map(distmap_reader *reader) { return reader ? dm_raw_map(reader) : (distmap_view){0}; }

void distmap_reader_close(distmap_reader **reader) {
    if (!reader || !*reader)
        return;
    if ((*reader)->codec && (*reader)->codec->close)
        (*reader)->codec->close(*reader);
    dm_input_close(&(*reader)->input);
    for (int i = 0; i < (*reader)->info.native_count; i++)
        free((void *)(*reader)->native[i].data);
    free((*reader)->native);
    free((*reader)->held);
    free(*reader);
    *reader = NULL;
}
