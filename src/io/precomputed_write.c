/* Writing precomputed volumes of one scale: `info` first, then chunks as they are, by several threads, each into a file that takes its name when
 * it is whole. Channels are together in a chunk, so that several are gathered before any is written.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/convert.h"
#include "io/precomputed.h"
#include "io/threads.h"

typedef struct state {
    dm_precomputed volume;
    int folder; /* the scale's */
    dm_rows rows;
    int workers;
    char *chunk[DM_ZARR_WORKERS];
} state;

distmap_status dm_precomputed_place(const char *path, char **target) {
    *target = NULL;
    if (!dm_ends_with(path, ".precomputed"))
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED,
                                 "%s: a precomputed volume is written whole, as NAME.precomputed", path);
    *target = strdup(path);
    return *target ? DISTMAP_OK : dm_no_memory(path);
}

static void choose_chunk(distmap_writer *writer) {
    distmap_image_info *info = &writer->info;
    int64_t chosen[DISTMAP_MAX_AXES];
    dm_chunk_choose(info, chosen);
    for (int a = 0; a < info->ndim; a++) {
        info->chunk[a] = info->chunk[a] ? info->chunk[a] : chosen[a];
        if (info->chunk[a] > info->shape[a] || info->axis[a].type == DISTMAP_AXIS_CHANNEL)
            info->chunk[a] = info->shape[a];
    }
}

/* Another process may have made the volume: then it must be the same. */
static distmap_status store_info(const distmap_writer *writer, json_object *info, const char *text) {
    const dm_input folder = {.name = writer->output.name};
    json_object *there = NULL;
    TRY(dm_zarr_load(&folder, writer->output.fd, "info", &there));
    const bool same = there && json_object_equal(there, info), other = there && !same;
    json_object_put(there);
    if (other)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: %s holds another volume", writer->output.name,
                                 writer->output.temp);
    return same ? DISTMAP_OK : dm_zarr_store(writer->output.name, writer->output.fd, "info", text, strlen(text),
                         writer->shared);
}

static distmap_status make_volume(distmap_writer *writer, state *s) {
    const dm_input messages = {.name = writer->output.name};
    char *text = dm_precomputed_text(&writer->info);
    json_object *info = text ? dm_json_own(text) : NULL;
    distmap_status status =
        info ? dm_precomputed_parse(&messages, info, NULL, &s->volume) : dm_no_memory(messages.name);
    if (!status)
        status = store_info(writer, info, text);
    json_object_put(info);
    free(text);
    TRY(status);
    if (mkdirat(writer->output.fd, s->volume.key, 0777) && errno != EEXIST)
        s->folder = -1;
    else
        s->folder = dm_zarr_open_below(writer->output.fd, s->volume.key);
    if (s->folder >= 0)
        return DISTMAP_OK;
    writer->output.error = errno;
    return dm_output_failed(&writer->output);
}

distmap_status dm_precomputed_create(distmap_writer *writer) {
    state *s = writer->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(writer->output.name);
    s->folder = -1;
    if (!dm_axes_follow(&writer->info, "czyx") || dm_space_axes(&writer->info, (int[DISTMAP_MAX_AXES]){0}) != 3)
        return dm_axes_refused(writer, "(c) z y x");
    bool in_lengths = true;
    for (int a = 0; a < writer->info.ndim; a++)
        if (writer->info.axis[a].type == DISTMAP_AXIS_SPACE)
            in_lengths &= distmap_unit_ratio(*writer->info.axis[a].unit ? writer->info.axis[a].unit
                                                                        : distmap_image_unit(&writer->info),
                                             "nm") > 0;
    if (!in_lengths)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED,
                                 "%s: precomputed holds pitches in nm, and the image's are in no unit of length",
                                 writer->output.name);
    choose_chunk(writer);
    TRY(make_volume(writer, s));
    if (writer->shared) /* chunks that a killed process had not finished */
        dm_temporary_sweep(s->folder);
    s->rows = (dm_rows){.row = writer->info.chunk[0]};
    const size_t bytes = dm_precomputed_chunk_bytes(&s->volume);
    s->workers = dm_precomputed_workers(bytes);
    for (int w = 0; w < s->workers; w++)
        if (!(s->chunk[w] = malloc(bytes)))
            return dm_no_memory(writer->output.name);
    return DISTMAP_OK;
}

struct writing {
    distmap_writer *writer;
    const dm_zarr_target *elements;
};

static distmap_status write_chunk(void *user, int worker, int64_t part) {
    const struct writing *w = user;
    state *s = w->writer->state;
    const dm_precomputed *v = &s->volume;
    int64_t at[DISTMAP_MAX_AXES], shape[DISTMAP_MAX_AXES];
    char name[DM_PRECOMPUTED_NAME];
    dm_zarr_target_place(w->elements, v->chunk, part, at);
    const size_t bytes = dm_precomputed_chunk(v, at, shape, name);
    const dm_zarr_target cut = dm_zarr_target_cut(w->elements, v->chunk, at);
    dm_zarr_copy(&cut, shape, v->bytes, s->chunk[worker], true);
    if (DM_HOST_BIG)
        dm_swap(s->chunk[worker], bytes / v->bytes, v->bytes);
    return dm_zarr_store(w->writer->output.name, s->folder, name, s->chunk[worker], bytes, false);
}

distmap_status dm_precomputed_put(distmap_writer *writer, const dm_box *box, const void *elements) {
    const state *s = writer->state;
    const dm_zarr_target target = dm_zarr_target_make(box, elements, s->volume.bytes);
    struct writing writing = {writer, &target};
    const distmap_status status =
        dm_threads_each(dm_zarr_target_chunks(&target, s->volume.chunk), s->workers, write_chunk, &writing);
    if (status && !writer->output.error)
        writer->output.error = EIO; /* so that it does not take its name */
    return status;
}

distmap_status dm_precomputed_write(distmap_writer *writer, int64_t count, const void *slices) {
    state *s = writer->state;
    return dm_rows_write(writer, &s->rows, count, slices, dm_precomputed_put);
}

distmap_status dm_precomputed_finish(distmap_writer *writer) {
    state *s = writer->state;
    return dm_rows_end(writer, &s->rows, dm_precomputed_put);
}

void dm_precomputed_discard(distmap_writer *writer) {
    state *s = writer->state;
    if (!s)
        return;
    if (s->folder >= 0)
        close(s->folder);
    for (int w = 0; w < DM_ZARR_WORKERS; w++)
        free(s->chunk[w]);
    free(s->rows.gathered);
    free(s);
}
