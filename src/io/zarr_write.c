/* Writing Zarr: each chunk into a file without a name that counts, which is then renamed, so that a chunk is there whole or not at
 * all, whoever dies, and whoever writes the same at the same time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/zarr.h"

typedef struct state {
    dm_zarr form;
    dm_rows rows;
    int64_t written; /* slices */
    char *chunk, *packed;
} state;

static distmap_status failed(distmap_writer *writer) {
    writer->output.error = errno;
    return dm_output_failed(&writer->output);
}

/* ---- A file of the folder ---- */

/* The folders that the name is in. */
static bool make_folders(int folder, const char *name) {
    char part[DM_ZARR_NAME];
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        if (mkdirat(folder, part, 0777) && errno != EEXIST)
            return false;
    }
    return true;
}

static bool write_whole(const distmap_writer *writer, const char *name, const void *data, size_t bytes) {
    dm_output file = {.name = writer->output.name,
                      .fd = openat(writer->output.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    if (file.fd < 0)
        return false;
    const bool written = dm_output_write(&file, data, bytes) == DISTMAP_OK, closed = close(file.fd) == 0;
    if (!written)
        errno = file.error;
    return written && closed;
}

static distmap_status store(distmap_writer *writer, const char *name, const void *data, size_t bytes) {
    const int folder = writer->output.fd;
    uint64_t number;
    char temp[40];
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return failed(writer);
    snprintf(temp, sizeof temp, ".distmap-%016llx", (unsigned long long)number);
    if (write_whole(writer, temp, data, bytes) && !renameat(folder, temp, folder, name))
        return DISTMAP_OK;
    if (errno == ENOENT && make_folders(folder, name) && !renameat(folder, temp, folder, name))
        return DISTMAP_OK;
    const distmap_status status = failed(writer);
    unlinkat(folder, temp, 0);
    return status;
}

/* ---- The array ---- */

static void choose_chunk(distmap_writer *writer) {
    distmap_image_info *info = &writer->info;
    int64_t chosen[DISTMAP_MAX_AXES];
    dm_chunk_choose(info, chosen);
    for (int a = 0; a < info->ndim; a++) {
        const int64_t most = info->shape[a] ? info->shape[a] : 1;
        info->chunk[a] = info->chunk[a] ? info->chunk[a] : chosen[a];
        info->chunk[a] = info->chunk[a] > most ? most : info->chunk[a] ? info->chunk[a] : 1;
    }
}

/* Another process may have made the array: then it must be the same. */
static distmap_status store_form(distmap_writer *writer, const char *text) {
    const dm_input folder = {.name = writer->output.name, .fd = writer->output.fd};
    char *there = NULL;
    TRY(dm_zarr_load(&folder, ".zarray", &there));
    const bool same = there && strcmp(there, text) == 0;
    const bool other = there && !same;
    free(there);
    if (other)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: %s holds another array", writer->output.name,
                                 writer->output.temp);
    if (same)
        return DISTMAP_OK;
    char *attributes = dm_zarr_attributes_text(&writer->info);
    const distmap_status status =
        attributes ? store(writer, ".zattrs", attributes, strlen(attributes)) : dm_no_memory(writer->output.name);
    free(attributes);
    return status ? status : store(writer, ".zarray", text, strlen(text));
}

distmap_status dm_zarr_create(distmap_writer *writer) {
    state *s = writer->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(writer->output.name);
    choose_chunk(writer);
    char *text = dm_zarr_form_text(&writer->info);
    if (!text)
        return dm_no_memory(writer->output.name);
    const dm_input folder = {.name = writer->output.name, .fd = writer->output.fd};
    distmap_status status = dm_zarr_parse(&folder, text, &s->form);
    if (!status && !dm_zarr_packs(s->form.chunk_bytes))
        status = distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: chunks of %zu bytes are too large", writer->output.name,
                                   s->form.chunk_bytes);
    if (!status)
        status = store_form(writer, text);
    free(text);
    TRY(status);
    s->chunk = calloc(1, s->form.chunk_bytes);
    s->packed = malloc(s->form.chunk_bytes + DM_ZARR_MORE);
    s->rows = (dm_rows){.row = writer->info.chunk[0]};
    return s->chunk && s->packed ? DISTMAP_OK : dm_no_memory(writer->output.name);
}

static bool passes_the_end(const dm_zarr *form, const int64_t at[DISTMAP_MAX_AXES]) {
    bool passes = false;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        passes |= (at[a] + 1) * form->chunk[a] > form->shape[a];
    return passes;
}

struct writing {
    distmap_writer *writer;
    const dm_box *box;
    char *elements;
};

static distmap_status write_chunk(void *user, const int64_t at[DISTMAP_MAX_AXES]) {
    const struct writing *w = user;
    state *s = w->writer->state;
    char name[DM_ZARR_NAME];
    dm_zarr_chunk_name(&s->form, at, name);
    if (passes_the_end(&s->form, at)) /* the same elements are the same file */
        memset(s->chunk, 0, s->form.chunk_bytes);
    dm_zarr_copy(&s->form, w->box, at, s->chunk, w->elements, true);
    const size_t bytes = dm_zarr_pack(&s->form, s->chunk, s->packed);
    if (!bytes)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: blosc cannot pack chunk %s", w->writer->output.name, name);
    return store(w->writer, name, s->packed, bytes);
}

distmap_status dm_zarr_put(distmap_writer *writer, const dm_box *box, const void *elements) {
    struct writing writing = {writer, box, (char *)elements};
    const state *s = writer->state;
    return dm_zarr_each(&s->form, box, write_chunk, &writing);
}

/* ---- In order ---- */

static distmap_status put_rows(distmap_writer *writer, int64_t count, const void *slices) {
    state *s = writer->state;
    const dm_box box = dm_box_of_slices(&writer->info, s->written, count);
    s->written += count;
    return dm_zarr_put(writer, &box, slices);
}

distmap_status dm_zarr_write(distmap_writer *writer, int64_t count, const void *slices) {
    state *s = writer->state;
    return dm_rows_write(writer, &s->rows, count, slices, put_rows);
}

distmap_status dm_zarr_finish(distmap_writer *writer) {
    state *s = writer->state;
    return dm_rows_end(writer, &s->rows, put_rows);
}

void dm_zarr_discard(distmap_writer *writer) {
    state *s = writer->state;
    if (!s)
        return;
    free(s->rows.gathered);
    free(s->packed);
    free(s->chunk);
    free(s);
}
