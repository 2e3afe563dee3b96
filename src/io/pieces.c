/* One file by several processes: what distmap/io.h says of pieces, for any format whose row has them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/codec.h"

static distmap_status written_whole(const char *path, const dm_codec *codec) {
    char names[64] = "";
    for (size_t row = 0; dm_codecs[row]; row++)
        if (dm_codecs[row]->pack)
            dm_append(names, sizeof names, " ", dm_codecs[row]->info.endings);
    return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED,
                             "%s: one %s file is not written by several processes; %s can be", path, codec->info.name,
                             names);
}

distmap_status distmap_pieces_depth_sized(const char *path, const distmap_image_info *info, size_t info_bytes,
                                          int64_t *depth) {
    const dm_codec *codec;
    distmap_image_info room;
    if (!depth)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "depth: must not be NULL");
    DISTMAP_SIZED_TAKE(info, room);
    TRY(dm_codec_choose(path, info, &codec));
    if (!codec->pack)
        return written_whole(path, codec);
    *depth = codec->depth(info);
    return DISTMAP_OK;
}

distmap_status dm_pieces_reserve(distmap_pieces *pieces, int64_t count) {
    pieces->bytes = calloc((size_t)count, sizeof *pieces->bytes);
    pieces->data = calloc((size_t)count, sizeof *pieces->data);
    if (!pieces->bytes || !pieces->data)
        return dm_no_memory(pieces->name);
    pieces->count = count;
    return DISTMAP_OK;
}

distmap_status distmap_pieces_pack_sized(const char *path, const distmap_image_info *info, size_t info_bytes,
                                         int64_t first, int64_t count, const void *slices, distmap_pieces **pieces) {
    const dm_codec *codec;
    distmap_image_info room;
    int64_t depth;
    if (!pieces)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "pieces: must not be NULL");
    *pieces = NULL;
    DISTMAP_SIZED_TAKE(info, room);
    TRY(distmap_pieces_depth(path, info, &depth));
    TRY(dm_codec_choose(path, info, &codec));
    const int64_t slices_all = info->shape[0];
    if (first < 0 || count < 0 || first > slices_all || count > slices_all - first)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT,
                                 "first, count: slices %lld + %lld are not within the image's %lld", (long long)first,
                                 (long long)count, (long long)slices_all);
    if (count && (first % depth || (count % depth && first + count < slices_all)))
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT,
                                 "first, count: slices %lld + %lld are not whole pieces, which have %lld slices",
                                 (long long)first, (long long)count, (long long)depth);
    const bool empty = !count || !dm_slice_elements(info);
    if (!empty && !slices)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "slices: must not be NULL");
    distmap_pieces *made = calloc(1, sizeof *made);
    distmap_status status = made && (made->name = strdup(path)) ? DISTMAP_OK : dm_no_memory(path);
    if (!status && !empty)
        status = codec->pack(info, count, slices, made);
    if (status)
        distmap_pieces_free(&made);
    *pieces = made;
    return status;
}

const uint64_t *distmap_pieces_bytes(const distmap_pieces *pieces, int64_t *count) {
    if (count)
        *count = pieces ? pieces->count : 0;
    return pieces ? pieces->bytes : NULL;
}

distmap_status distmap_writer_place(distmap_writer *writer, int64_t count, const uint64_t *bytes, int64_t *offsets) {
    if (!writer)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "writer: must not be NULL");
    const char *name = writer->output.name;
    if (!writer->codec->place)
        return written_whole(name, writer->codec);
    if (!writer->output.target)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: is not a regular file", name);
    if (writer->done || writer->map || writer->placed)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: something was written to it already", name);
    if (count < 0 || (count && (!bytes || !offsets)))
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: count, bytes, offsets: lists of %lld pieces are needed",
                                 name, (long long)count);
    TRY(writer->codec->place(writer, count, bytes, offsets));
    writer->placed = true;
    return DISTMAP_OK;
}

const char *distmap_writer_part(const distmap_writer *writer) { return writer ? writer->output.temp : NULL; }

/* The descriptor is closed here, so that what a network's file system has to say at the end is heard. */
distmap_status distmap_pieces_put(const distmap_pieces *pieces, const char *part, const int64_t *offsets) {
    if (!pieces || !part)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: must not be NULL", pieces ? "part" : "pieces");
    if (!pieces->count)
        return DISTMAP_OK;
    if (!offsets)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "offsets: must not be NULL");
    dm_output output = {.name = pieces->name, .fd = open(part, O_WRONLY | O_CLOEXEC)};
    if (output.fd < 0)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot open %s, where it grows: %s", output.name, part,
                                 strerror(errno));
    distmap_status status = DISTMAP_OK;
    for (int64_t i = 0; i < pieces->count && !status; i++)
        status = dm_output_write_at(&output, offsets[i], pieces->data[i], pieces->bytes[i]);
    if (close(output.fd) && !status) {
        output.error = errno;
        status = dm_output_failed(&output);
    }
    return status;
}

void dm_pieces_clear(distmap_pieces *pieces) {
    for (int64_t i = 0; i < pieces->count && !pieces->lent; i++)
        free(pieces->data[i]);
    free(pieces->data);
    free(pieces->bytes);
    *pieces = (distmap_pieces){.name = pieces->name};
}

void distmap_pieces_free(distmap_pieces **pieces) {
    if (!pieces || !*pieces)
        return;
    dm_pieces_clear(*pieces);
    free((*pieces)->name);
    free(*pieces);
    *pieces = NULL;
}
