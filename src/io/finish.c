/* How writers end: all of a call as one transaction. Each is completed by its codec, then on the disk; then all take their names
 * (commit.c). On any failure none does. */
#include <stdlib.h>

#include "io/codec.h"

static distmap_status complete(distmap_writer *w, bool synced) {
    if (w->shared)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "writer: is shared, and left rather than finished");
    if (!w->map && !w->placed && w->codec->info.endings && w->done < w->info.shape[0])
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: only %lld of its %lld slices were written",
                                 w->output.name, (long long)w->done, (long long)w->info.shape[0]);
    if (w->codec->finish)
        TRY(w->codec->finish(w));
    if (!w->codec->take)
        dm_writer_release(w); /* else it has more to do */
    if (w->beside.name)
        TRY(dm_output_complete(&w->beside, synced));
    return dm_output_complete(&w->output, synced);
}

/* Elements take their name before their header: where there is a header, they are there. */
static distmap_status take(distmap_writer *w, dm_commit *commit) {
    if (w->codec->arrive)
        TRY(w->codec->arrive(w, commit));
    if (w->beside.name)
        TRY(dm_commit_take(commit, &w->beside));
    TRY(dm_commit_take(commit, &w->output));
    return w->codec->take ? w->codec->take(w, commit) : DISTMAP_OK;
}

/* Those of a header and its elements are one. */
static distmap_status lock_all(distmap_writer *const *writers, int count, dm_commit *commit) {
    char **folders = calloc((size_t)count + 1, sizeof *folders);
    int known = 0;
    distmap_status status = folders ? DISTMAP_OK : dm_no_memory("the outputs");
    for (int i = 0; i < count && !status; i++) {
        const distmap_writer *w = writers[i];
        if (!w || !w->output.target)
            continue;
        folders[known] = w->codec->home ? w->codec->home(w) : dm_output_folder(w->output.target);
        if (!folders[known++])
            status = dm_no_memory(w->output.name);
    }
    if (!status)
        status = dm_commit_lock(commit, (const char *const *)folders, known);
    for (int i = 0; folders && i < known; i++)
        free(folders[i]);
    free(folders);
    return status;
}

distmap_status distmap_writers_finish(distmap_writer **writers, int count, unsigned flags) {
    if (count < 0 || (count && !writers))
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "writers, count: a list of %d writers is needed", count);
    dm_commit commit = {.synced = !(flags & DISTMAP_FINISH_UNSYNCED)};
    distmap_status status = DISTMAP_OK;
    int there = 0;
    if (flags & ~(unsigned)DISTMAP_FINISH_UNSYNCED)
        status = distmap_error_set(DISTMAP_ERROR_ARGUMENT, "flags: %#x has bits that mean nothing", flags);
    for (int i = 0; i < count && !status; i++)
        if (writers[i]) {
            status = complete(writers[i], commit.synced);
            commit.alone = ++there == 1 && !writers[i]->beside.name && !writers[i]->codec->take;
        }
    if (!status)
        status = lock_all(writers, count, &commit);
    for (int i = 0; i < count && !status; i++)
        if (writers[i])
            status = take(writers[i], &commit);
    if (status)
        dm_commit_give_back(&commit);
    else
        status = dm_commit_settle(&commit);
    for (int i = 0; i < count; i++)
        distmap_writer_abort(&writers[i]); /* of what has its name nothing is left to remove */
    return status;
}

distmap_status distmap_writer_finish(distmap_writer **writer) {
    if (!writer || !*writer)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "writer: must not be NULL");
    return distmap_writers_finish(writer, 1, 0);
}

/* ---- Files of any bytes ---- */

static distmap_status create_bytes(distmap_writer *writer) {
    (void)writer;
    return DISTMAP_OK;
}

/* No row of the table: no name's ending leads here. */
static const dm_codec bytes_codec = {.info = {.name = "bytes", .writes = true}, .create = create_bytes};

distmap_status distmap_writer_open_bytes(const char *path, distmap_writer **writer) {
    if (!writer)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "writer: must not be NULL");
    *writer = NULL;
    if (!path)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "path: must not be NULL");
    distmap_writer *made = calloc(1, sizeof *made);
    if (!made)
        return dm_no_memory(path);
    made->codec = &bytes_codec;
    made->info = (distmap_image_info){.dtype = DISTMAP_UINT8, .ndim = 1};
    made->beside = (dm_output){.fd = -1, .lock = {.fd = -1}, .kept_fd = -1};
    const distmap_status status = dm_output_open(&made->output, path, NULL);
    if (status)
        distmap_writer_abort(&made);
    *writer = made;
    return status;
}

distmap_status distmap_writer_append(distmap_writer *writer, const void *data, size_t bytes) {
    if (!writer || writer->codec != &bytes_codec)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "writer: must be one of bytes");
    if (bytes && !data)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "data: must not be NULL");
    return dm_output_write(&writer->output, data, bytes);
}
