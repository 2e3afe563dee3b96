/* distmap_writer: finds the codec by the name's ending, checks that it can hold the elements, keeps count of slices, or takes
 * boxes. How it ends stands in finish.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/codec.h"

static bool holds(const dm_codec *codec, const distmap_image_info *info, int64_t bytes) {
    return codec->info.writes && codec->holds >> info->dtype & 1 && info->ndim >= codec->min_ndim &&
           info->ndim <= codec->max_ndim && (bytes || codec->holds_empty);
}

/* By the file's name; `path` is for messages. */
static distmap_status choose(const char *path, const char *file, const distmap_image_info *info, int64_t bytes,
                             const dm_codec **chosen) {
    char writable[200] = "", instead[200] = "", dtypes[200] = "";
    for (size_t row = 0; dm_codecs[row]; row++) {
        const dm_codec *codec = dm_codecs[row];
        if (codec->info.writes)
            dm_append(writable, sizeof writable, " ", codec->info.endings);
        if (holds(codec, info, bytes))
            dm_append(instead, sizeof instead, " ", codec->info.endings);
    }
    *chosen = strcmp(path, "-") == 0 ? &dm_codec_npy : dm_codec_of_name(file);
    if (!*chosen)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: no format has this ending; one of %s is needed", path,
                                 writable);
    const dm_codec *codec = *chosen;
    if (!codec->info.writes)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: %s is read, not written; one of %s is needed", path,
                                 codec->info.name, writable);
    if (!(codec->holds >> info->dtype & 1)) {
        for (unsigned d = 0; d < 32; d++)
            if (codec->holds >> d & 1)
                dm_append(dtypes, sizeof dtypes, ", ", distmap_dtype_name((distmap_dtype)d));
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: %s cannot hold %s (it holds %s); %s can", path,
                                 codec->info.name, distmap_dtype_name(info->dtype), dtypes, instead);
    }
    if (info->ndim < codec->min_ndim || info->ndim > codec->max_ndim)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: %s holds %d to %d axes, not %d; %s can", path,
                                 codec->info.name, codec->min_ndim, codec->max_ndim, info->ndim, instead);
    if (!bytes && !codec->holds_empty)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: %s cannot hold an array without elements; %s can",
                                 path, codec->info.name, instead);
    return DISTMAP_OK;
}

static distmap_status check(const char *path, const distmap_image_info *info) {
    if (!path)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "path: must not be NULL");
    if (!info)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "info: must not be NULL");
    if (!distmap_dtype_size(info->dtype))
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "info->dtype: %d is not an element type", (int)info->dtype);
    if (info->ndim < 1 || info->ndim > DISTMAP_MAX_AXES)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "info->ndim: is %d, must be 1 to %d", info->ndim,
                                 DISTMAP_MAX_AXES);
    for (int a = 0; a < info->ndim; a++) {
        if (info->shape[a] < 0)
            return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "info->shape[%d]: is negative", a);
        if (info->chunk[a] < 0)
            return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "info->chunk[%d]: is negative", a);
        if (info->shard[a] < 0)
            return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "info->shard[%d]: is negative", a);
    }
    if (info->zarr_format && info->zarr_format != 2 && info->zarr_format != 3)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "info->zarr_format: is %d, must be 2, 3 or 0", info->zarr_format);
    char fault[200];
    if (dm_image_fault(info, fault, sizeof fault))
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "info: %s", fault);
    return DISTMAP_OK;
}

/* The format must have the requested layout. */
static distmap_status check_layout(const char *path, const dm_codec *codec, const distmap_image_info *info) {
    const char *fault = info->chunk_asked && !codec->info.chunked        ? "has no chunks whose shape can be chosen"
                        : info->shard_asked && !codec->holds_shards      ? "has no shards"
                        : info->zarr_format && !codec->holds_shards      ? "is not Zarr, so it has no Zarr version"
                        : info->shard_asked && info->zarr_format == 2    ? "of version 2 has no shards; version 3 has"
                                                                         : NULL;
    return fault ? distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: %s %s", path, codec->info.name, fault) : DISTMAP_OK;
}

static distmap_status not_shared(const char *path, const dm_codec *codec) {
    char endings[64] = "";
    for (size_t row = 0; dm_codecs[row]; row++)
        if (dm_codecs[row]->info.shares)
            dm_append(endings, sizeof endings, " ", dm_codecs[row]->info.endings);
    return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED,
                             "%s: several processes cannot write one %s file; one of %s is needed", path,
                             codec->info.name, endings);
}

distmap_status dm_codec_choose(const char *path, const distmap_image_info *info, const dm_codec **codec) {
    TRY(check(path, info));
    int64_t bytes;
    TRY(dm_shape_bytes(path, info->ndim, info->shape, distmap_dtype_size(info->dtype), &bytes));
    char *file = strndup(path, distmap_path_file_bytes(path));
    if (!file)
        return dm_no_memory(path);
    const bool in_file = strlen(file) < strlen(path);
    const distmap_status found = choose(path, file, info, bytes, codec);
    free(file);
    TRY(found);
    TRY(dm_codec_allowed(*codec, path));
    if (in_file && !(*codec)->holds_datasets)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: a %s file is one image, it has no datasets", path,
                                 (*codec)->info.name);
    return DISTMAP_OK;
}

static distmap_status open_output(dm_output *output, const dm_codec *codec, const char *path, const char *part) {
    char *target = NULL;
    *output = (dm_output){.fd = -1, .lock = {.fd = -1}, .kept_fd = -1};
    if (!codec->is_folder)
        return dm_output_open(output, path, part);
    const distmap_status status = codec->target(path, &target);
    if (status)
        free(target);
    return status ? status : dm_output_open_folder(output, path, target, part);
}

static distmap_status create(const char *path, const char *part, bool shared, const distmap_image_info *info,
                             size_t info_bytes, const uint8_t (*palette)[3], distmap_writer **writer) {
    if (!writer)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "writer: must not be NULL");
    *writer = NULL;
    const dm_codec *codec;
    distmap_image_info room;
    DISTMAP_SIZED_TAKE(info, room);
    TRY(dm_codec_choose(path, info, &codec));
    if (palette && !codec->holds_palette)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: %s is not written with a palette; .png can", path,
                                 codec->info.name);
    TRY(check_layout(path, codec, info));
    if (shared && !codec->info.shares)
        return not_shared(path, codec);
    if (part && !shared && !codec->is_plain)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: elements do not lie in a %s file as they are", path,
                                 codec->info.name);
    if (palette && info->dtype != DISTMAP_UINT8)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "info->dtype: a picture by palette is uint8, not %s",
                                 distmap_dtype_name(info->dtype));
    distmap_writer *made = calloc(1, sizeof *made);
    if (!made)
        return dm_no_memory(path);
    made->beside = (dm_output){.fd = -1, .lock = {.fd = -1}, .kept_fd = -1};
    made->info = *info;
    const distmap_status chosen = dm_packing_choose(path, codec, &made->info);
    if (chosen) {
        free(made);
        return chosen;
    }
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        if (a >= info->ndim || !codec->info.chunked)
            made->info.chunk[a] = made->info.shard[a] = 0;
    dm_axes_name(&made->info);
    if (dm_image_own(&made->info, path)) {
        free(made);
        return DISTMAP_ERROR_MEMORY;
    }
    made->slice_elements = dm_slice_elements(info);
    made->slice_bytes = (size_t)made->slice_elements * distmap_dtype_size(info->dtype);
    made->palette = palette;
    made->placed = part != NULL;
    made->shared = shared;
    distmap_status status = open_output(&made->output, codec, path, part);
    if (!status && part && !made->output.target)
        status = distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: is not a regular file", path);
    if (!status) {
        made->codec = codec;
        status = codec->create(made);
    }
    made->palette = NULL;
    if (status)
        distmap_writer_abort(&made);
    *writer = made;
    return status;
}

distmap_status distmap_writer_open_sized(const char *path, const distmap_image_info *info, size_t info_bytes,
                                         distmap_writer **writer) {
    return create(path, NULL, false, info, info_bytes, NULL, writer);
}

distmap_status distmap_writer_open_palette_sized(const char *path, const distmap_image_info *info, size_t info_bytes,
                                                 const uint8_t palette[256][3], distmap_writer **writer) {
    if (!palette)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "palette: must not be NULL");
    return create(path, NULL, false, info, info_bytes, palette, writer);
}

distmap_status distmap_writer_open_part_sized(const char *path, const char *part, const distmap_image_info *info,
                                              size_t info_bytes, distmap_writer **writer) {
    if (!part)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "part: must not be NULL");
    return create(path, part, false, info, info_bytes, NULL, writer);
}

/* The first process makes the whole file, so that boxes can come in any order. */
distmap_status distmap_writer_open_shared_sized(const char *path, const char *part, const distmap_image_info *info,
                                                size_t info_bytes, distmap_writer **writer) {
    if (!part)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "part: must not be NULL");
    TRY(create(path, part, true, info, info_bytes, NULL, writer));
    distmap_writer *w = *writer;
    const int64_t bytes = w->raw_offset + w->info.shape[0] * (int64_t)w->slice_bytes;
    if (w->raw_offset &&
        (ftruncate(w->output.fd, bytes) || (fallocate(w->output.fd, 0, 0, bytes) && errno != EOPNOTSUPP))) {
        w->output.error = errno;
        const distmap_status status = dm_output_failed(&w->output);
        distmap_writer_leave(writer);
        return status;
    }
    return DISTMAP_OK;
}

const distmap_image_info *distmap_writer_info(const distmap_writer *writer) { return writer ? &writer->info : NULL; }

distmap_status distmap_writer_put(distmap_writer *writer, const int64_t *first, const int64_t *count,
                                  const void *elements) {
    if (!writer || !writer->shared)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "writer: must be a shared one");
    const distmap_image_info *info = &writer->info;
    dm_box box;
    TRY(dm_box_take(info, first, count, &box));
    if (dm_box_empty(&box))
        return DISTMAP_OK;
    for (int a = 0; a < info->ndim; a++) {
        const int64_t end = first[a] + count[a];
        if (info->chunk[a] && (first[a] % info->chunk[a] || (end % info->chunk[a] && end < info->shape[a])))
            return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "first, count: %lld + %lld of axis %d cut a chunk of %lld",
                                     (long long)first[a], (long long)count[a], a, (long long)info->chunk[a]);
    }
    if (!elements)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "elements: must not be NULL");
    return writer->codec->put(writer, &box, elements);
}

/* A folder's files are more than its descriptor: all of the file system. */
distmap_status distmap_writer_sync(distmap_writer *writer) {
    if (!writer)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "writer: must not be NULL");
    if (writer->codec->is_folder ? syncfs(writer->output.fd) : fsync(writer->output.fd)) {
        writer->output.error = errno;
        return dm_output_failed(&writer->output);
    }
    return DISTMAP_OK;
}

int distmap_writer_descriptor(const distmap_writer *writer, int64_t *offset) {
    if (!writer || !writer->placed || !offset)
        return -1;
    *offset = writer->raw_offset;
    return writer->output.fd;
}

distmap_status distmap_writer_write(distmap_writer *writer, int64_t count, const void *slices) {
    if (!writer)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "writer: must not be NULL");
    const int64_t left = writer->info.shape[0] - writer->done;
    if (count < 0 || count > left || writer->map || writer->placed)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: count: %lld slices are too many, %lld are left",
                                 writer->output.name, (long long)count,
                                 (long long)(writer->map || writer->placed ? 0 : left));
    if (count && writer->slice_bytes) {
        if (!slices)
            return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "slices: must not be NULL");
        TRY(writer->codec->write(writer, count, slices));
    }
    writer->done += count;
    return DISTMAP_OK;
}

distmap_view distmap_writer_map(distmap_writer *writer) {
    const distmap_view none = {0};
    if (!writer || !writer->raw_offset || writer->done || writer->placed || !writer->output.target ||
        writer->info.ndim > DISTMAP_MAX_NDIM)
        return none;
    const distmap_image_info *info = &writer->info;
    if (!writer->map) {
        const size_t bytes = (size_t)writer->raw_offset + (size_t)info->shape[0] * writer->slice_bytes;
        if (posix_fallocate(writer->output.fd, 0, (off_t)bytes))
            return none;
        void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, writer->output.fd, 0);
        if (map == MAP_FAILED)
            return none;
        writer->map = map;
        writer->map_bytes = bytes;
    }
    return distmap_view_make((char *)writer->map + writer->raw_offset, info->dtype, info->ndim, info->shape);
}

void dm_writer_release(distmap_writer *writer) {
    if (writer->state)
        writer->codec->discard(writer);
    writer->state = NULL;
    if (writer->map)
        munmap(writer->map, writer->map_bytes);
    writer->map = NULL;
}

static void give_up(distmap_writer **writer, void (*end)(dm_output *output)) {
    distmap_writer *w = *writer;
    dm_writer_release(w);
    end(&w->beside);
    end(&w->output);
    dm_image_disown(&w->info);
    free(w);
    *writer = NULL;
}

void distmap_writer_abort(distmap_writer **writer) {
    if (!writer || !*writer)
        return;
    if ((*writer)->shared) {
        distmap_writer_leave(writer);
        return;
    }
    (*writer)->output.abandoned = (*writer)->beside.abandoned = true;
    give_up(writer, dm_output_abort);
}

void distmap_writer_leave(distmap_writer **writer) {
    if (writer && *writer)
        give_up(writer, dm_output_leave);
}
