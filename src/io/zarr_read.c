/* Reading Zarr: chunk by chunk, those that a box meets. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/convert.h"
#include "io/zarr.h"

enum { LISTED = 6 };

typedef struct state {
    dm_zarr form;
    char *chunk, *packed; /* NULL until there is a chunk to be read */
    size_t room;          /* of `packed` */
} state;

/* No packer makes more of a chunk that does not shrink: deflate at its worst takes an eighth and a 64th more. */
static int64_t most_packed(const dm_zarr *form) { return (int64_t)(form->chunk_bytes + form->chunk_bytes / 4 + 4096); }

static const char *const parts[] = {".zarray", ".zgroup", "zarr.json"};

static bool has(int folder, const char *file) { return !faccessat(folder, file, F_OK, 0); }

static bool zarr_sniff(int folder) { return has(folder, parts[0]) || has(folder, parts[1]) || has(folder, parts[2]); }

/* Why there is no array. */
static distmap_status refuse(const dm_input *input) {
    char names[300] = "", first[NAME_MAX + 1] = "", inner[NAME_MAX + 16];
    if (has(input->fd, parts[2]))
        return dm_unsupported(input, "is Zarr version 3; version 2 is read");
    const int copy = fcntl(input->fd, F_DUPFD_CLOEXEC, 3);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    int count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(inner, sizeof inner, "%s/%s", entry->d_name, parts[0]);
        if (!has(input->fd, inner) || count++ >= LISTED)
            continue;
        dm_append(names, sizeof names, ", ", entry->d_name);
        if (!*first)
            snprintf(first, sizeof first, "%s", entry->d_name);
    }
    if (folder)
        closedir(folder);
    return count ? dm_unsupported(input, "is a group of arrays; name one of them, as in %s/%s (%s%s)", input->name,
                                  first, names, count > LISTED ? ", ..." : "")
                 : dm_unsupported(input, "is a group without arrays of its own");
}

static distmap_status zarr_open(distmap_reader *reader) {
    const dm_input *input = &reader->input;
    distmap_image_info *info = &reader->info;
    state *s = reader->state = calloc(1, sizeof *s);
    char *text = NULL, *attributes = NULL;
    if (!s)
        return dm_no_memory(input->name);
    TRY(dm_zarr_load(input, parts[0], &text));
    if (!text)
        return refuse(input);
    const distmap_status status = dm_zarr_parse(input, text, &s->form);
    free(text);
    TRY(status);
    info->dtype = s->form.dtype;
    info->ndim = s->form.ndim;
    info->held_bytes = s->form.chunk_bytes + (size_t)most_packed(&s->form);
    snprintf(info->stored, sizeof info->stored, "chunks ");
    for (int a = 0; a < info->ndim; a++) {
        char length[24];
        info->shape[a] = s->form.shape[DISTMAP_MAX_AXES - info->ndim + a];
        info->chunk[a] = s->form.chunk[DISTMAP_MAX_AXES - info->ndim + a];
        snprintf(length, sizeof length, a ? "x%lld" : "%lld", (long long)info->chunk[a]);
        dm_append(info->stored, sizeof info->stored, "", length);
    }
    TRY(dm_zarr_load(input, ".zattrs", &attributes));
    if (attributes)
        dm_zarr_take_attributes(attributes, info);
    free(attributes);
    return DISTMAP_OK;
}

/* ---- Elements ---- */

static distmap_status reserve(const dm_input *input, state *s, size_t bytes) {
    if (!s->chunk && !(s->chunk = malloc(s->form.chunk_bytes)))
        return dm_no_memory(input->name);
    if (bytes <= s->room)
        return DISTMAP_OK;
    free(s->packed);
    s->packed = malloc(bytes);
    s->room = s->packed ? bytes : 0;
    return s->packed ? DISTMAP_OK : dm_no_memory(input->name);
}

static distmap_status load_chunk(const dm_input *input, state *s, int fd, const char *name) {
    struct stat file;
    if (fstat(fd, &file) || !S_ISREG(file.st_mode))
        return dm_broken(input, "its chunk %s is no file", name);
    if (file.st_size > most_packed(&s->form))
        return dm_broken(input, "its chunk %s is too large: %lld bytes", name, (long long)file.st_size);
    TRY(reserve(input, s, (size_t)file.st_size));
    if (dm_read_at(fd, 0, s->packed, (size_t)file.st_size) != file.st_size)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read its chunk %s: %s", input->name, name,
                                 strerror(errno));
    if (!dm_zarr_unpack(&s->form, s->packed, (size_t)file.st_size, s->chunk))
        return dm_broken(input, "its chunk %s is broken, or not of the size that .zarray tells", name);
    if (s->form.swapped)
        dm_swap(s->chunk, s->form.chunk_bytes / s->form.size, s->form.size);
    return DISTMAP_OK;
}

struct reading {
    distmap_reader *reader;
    const dm_box *box;
    char *out;
};

static distmap_status read_chunk(void *user, const int64_t at[DISTMAP_MAX_AXES]) {
    const struct reading *r = user;
    const dm_input *input = &r->reader->input;
    state *s = r->reader->state;
    char name[DM_ZARR_NAME];
    dm_zarr_chunk_name(&s->form, at, name);
    const int fd = openat(input->fd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot open its chunk %s: %s", input->name, name,
                                 strerror(errno));
    if (fd < 0 && !s->form.filled)
        return dm_broken(input, "its chunk %s is missing, and there is no fill value", name);
    const distmap_status status = fd < 0 ? DISTMAP_OK : load_chunk(input, s, fd, name);
    if (fd >= 0)
        close(fd);
    if (!status)
        dm_zarr_copy(&s->form, r->box, at, fd < 0 ? NULL : s->chunk, r->out, false);
    return status;
}

static distmap_status zarr_read_box(distmap_reader *reader, const dm_box *box, void *out) {
    struct reading reading = {reader, box, out};
    const state *s = reader->state;
    return dm_zarr_each(&s->form, box, read_chunk, &reading);
}

static distmap_status zarr_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    const dm_box box = dm_box_of_slices(&reader->info, first, count);
    return zarr_read_box(reader, &box, out);
}

static void zarr_close(distmap_reader *reader) {
    state *s = reader->state;
    if (!s)
        return;
    free(s->packed);
    free(s->chunk);
    free(s);
}

const dm_codec dm_codec_zarr = {
    .info = {.name = "zarr",
             .endings = ".zarr",
             .reads = true,
             .writes = true,
             .summary = "version 2, a folder of chunks: read of blosc, zlib, gzip or none, written by blosc",
             .shares = true,
             .chunked = true},
    .sniff_folder = zarr_sniff,
    .open = zarr_open,
    .read = zarr_read,
    .read_box = zarr_read_box,
    .close = zarr_close,
    .holds = (1u << (DISTMAP_FLOAT64 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 1,
    .max_ndim = DISTMAP_MAX_AXES,
    .holds_empty = true,
    .is_folder = true,
    .create = dm_zarr_create,
    .write = dm_zarr_write,
    .put = dm_zarr_put,
    .finish = dm_zarr_finish,
    .discard = dm_zarr_discard,
};
