/* Reading Zarr: the folder's array, or that which its group stands for; then boxes of it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/ome_zarr.h"
#include "io/zarr.h"

static distmap_status take_form(distmap_reader *reader, dm_zarr_array *array, const dm_zarr_folder *folder) {
    distmap_image_info *info = &reader->info;
    const dm_zarr *form = &array->form;
    int64_t chunk[DISTMAP_MAX_AXES];
    char text[64];
    TRY(dm_zarr_parse(&reader->input, folder->metadata, &array->form));
    info->dtype = form->dtype;
    info->ndim = form->ndim;
    info->held_bytes = dm_zarr_array_prepare(array);
    dm_packing_take(info, dm_zarr_packing(&form->pipeline));
    dm_zarr_smallest_chunk(form, chunk);
    snprintf(info->stored, sizeof info->stored, "chunks ");
    for (int a = 0; a < info->ndim; a++) {
        info->shape[a] = form->shape[DISTMAP_MAX_AXES - info->ndim + a];
        info->chunk[a] = chunk[DISTMAP_MAX_AXES - info->ndim + a];
        snprintf(text, sizeof text, a ? "x%lld" : "%lld", (long long)info->chunk[a]);
        dm_append(info->stored, sizeof info->stored, "", text);
    }
    for (int a = 0; form->pipeline.shard && a < info->ndim; a++) {
        info->shard[a] = form->chunk[DISTMAP_MAX_AXES - info->ndim + a];
        snprintf(text, sizeof text, a ? "x%lld" : " in shards %lld",
                 (long long)form->chunk[DISTMAP_MAX_AXES - info->ndim + a]);
        dm_append(info->stored, sizeof info->stored, "", text);
    }
    dm_zarr_take_attributes(folder->attributes, form, info);
    return DISTMAP_OK;
}

static distmap_status take_image(distmap_reader *reader, const dm_zarr *form, const dm_zarr_folder *image) {
    dm_ome ome;
    TRY(dm_ome_parse(&reader->input, image->attributes, image->path, &ome));
    if (ome.ndim != form->ndim)
        return dm_broken(&reader->input, "its multiscales tell of %d axes, but the array has %d", ome.ndim, form->ndim);
    return dm_ome_to_info(&reader->input, &ome, &reader->info);
}

static distmap_status open_array(distmap_reader *reader, dm_zarr_array *array, dm_zarr_folder *folder,
                                 dm_zarr_folder *image) {
    const dm_input *input = &reader->input;
    TRY(dm_zarr_folder_open(input, fcntl(input->fd, F_DUPFD_CLOEXEC, 3), folder));
    if (folder->node == DM_ZARR_ARRAY)
        TRY(dm_zarr_find_image(input, folder, image));
    else
        TRY(dm_zarr_choose_array(input, folder, image));
    TRY(take_form(reader, array, folder));
    if (image->attributes)
        TRY(take_image(reader, &array->form, image));
    array->folder = folder->fd;
    folder->fd = -1;
    return DISTMAP_OK;
}

static distmap_status zarr_open(distmap_reader *reader) {
    dm_zarr_folder folder = {.fd = -1}, image = {.fd = -1};
    dm_zarr_array *array = reader->state = calloc(1, sizeof *array);
    if (!array)
        return dm_no_memory(reader->input.name);
    array->input = &reader->input;
    array->folder = -1;
    const distmap_status status = open_array(reader, array, &folder, &image);
    dm_zarr_folder_close(&image);
    dm_zarr_folder_close(&folder);
    return status;
}

static distmap_status zarr_read_box(distmap_reader *reader, const dm_box *box, void *out) {
    dm_zarr_array *array = reader->state;
    const dm_zarr_target target = dm_zarr_target_make(box, out, array->form.size);
    return dm_zarr_array_read(array, &target);
}

static distmap_status zarr_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    const dm_box box = dm_box_of_slices(&reader->info, first, count);
    return zarr_read_box(reader, &box, out);
}

static void zarr_close(distmap_reader *reader) {
    dm_zarr_array *array = reader->state;
    if (!array)
        return;
    if (array->folder >= 0)
        close(array->folder);
    dm_zarr_array_free(array);
    free(array);
}

/* In a group of version 2 it is blosc. */
static const char *packings(const char *path) {
    (void)path;
    return "zstd blosc deflate none";
}

const dm_codec dm_codec_zarr = {
    .info = {.name = "zarr",
             .endings = ".zarr",
             .reads = true,
             .writes = true,
             .summary = "versions 2 and 3, OME-Zarr: a folder of chunks, arrays in groups",
             .shares = true,
             .chunked = true},
    .sniff_folder = dm_zarr_is_node,
    .open = zarr_open,
    .read = zarr_read,
    .read_box = zarr_read_box,
    .close = zarr_close,
    .holds = (1u << (DISTMAP_FLOAT64 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 1,
    .max_ndim = DISTMAP_MAX_AXES,
    .holds_empty = true,
    .holds_shards = true,
    .is_folder = true,
    .target = dm_zarr_place,
    .packings = packings,
    .create = dm_zarr_create,
    .write = dm_zarr_write,
    .put = dm_zarr_put,
    .finish = dm_zarr_finish,
    .home = dm_zarr_home,
    .arrive = dm_zarr_arrive,
    .take = dm_zarr_take,
    .discard = dm_zarr_discard,
};
