/* Reading precomputed volumes: a folder with `info`, whose first scale is read, or one of its scales' folders; then boxes of it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/convert.h"
#include "io/precomputed.h"
#include "io/threads.h"

enum { LOOKED_AT = 1 << 16, LEVELS = 3 }; /* LEVELS: how deep below its volume a scale is looked for */

typedef struct state {
    dm_precomputed volume;
    int folder; /* the scale's; -1: there is none, and no chunk */
    dm_zarr_present present;
    int workers;
    struct {
        dm_zarr_room file, rooms[2];
    } worker[DM_ZARR_WORKERS];
} state;

static bool tells_of_scales(int folder, const char *path) {
    static char looked_at[] = "\"scales\"";
    const int fd = openat(folder, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char *text = fd < 0 ? NULL : malloc(LOOKED_AT);
    const int64_t bytes = text ? dm_read_at(fd, 0, text, LOOKED_AT) : 0;
    const bool found = bytes > 0 && memmem(text, (size_t)bytes, looked_at, sizeof looked_at - 1);
    free(text);
    if (fd >= 0)
        close(fd);
    return found;
}

/* How many folders above this one there is an info; -1: nowhere. */
static int find_level(int folder) {
    static const char *const paths[LEVELS] = {"info", "../info", "../../info"};
    for (int level = 0; level < LEVELS; level++)
        if (tells_of_scales(folder, paths[level]))
            return level;
    return -1;
}

static bool precomputed_sniff(int folder) { return find_level(folder) >= 0; }

/* The last names of the folder's path, as many as `level`: the scale's key. */
static distmap_status find_key(const dm_input *input, int level, char key[DM_ZARR_PATH]) {
    char *path = realpath(input->file, NULL);
    if (!path)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot find its volume: %s", input->name, strerror(errno));
    const char *name = path + strlen(path);
    for (int i = 0; i < level && name > path; i++)
        do
            name--;
        while (name > path && *name != '/');
    snprintf(key, DM_ZARR_PATH, "%s", *name == '/' ? name + 1 : name);
    free(path);
    return DISTMAP_OK;
}

static distmap_status open_scale(distmap_reader *reader, state *s, json_object *info, int level) {
    const dm_input *input = &reader->input;
    char key[DM_ZARR_PATH];
    if (level)
        TRY(find_key(input, level, key));
    TRY(dm_precomputed_parse(input, info, level ? key : NULL, &s->volume));
    s->folder = level ? fcntl(input->fd, F_DUPFD_CLOEXEC, 3) : dm_zarr_open_below(input->fd, s->volume.key);
    if (s->folder < 0 && errno != ENOENT)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot open its scale %s: %s", input->name, s->volume.key,
                                 strerror(errno));
    return DISTMAP_OK;
}

static distmap_status precomputed_open(distmap_reader *reader) {
    static const char *const above[LEVELS] = {"info", "../info", "../../info"};
    distmap_image_info *info = &reader->info;
    const int level = find_level(reader->input.fd);
    state *s = reader->state = calloc(1, sizeof *s);
    json_object *found = NULL;
    if (!s)
        return dm_no_memory(reader->input.name);
    s->folder = -1;
    TRY(dm_zarr_load(&reader->input, reader->input.fd, above[level < 0 ? 0 : level], &found));
    const distmap_status status = open_scale(reader, s, found, level);
    json_object_put(found);
    TRY(status);
    dm_precomputed_take(&s->volume, info);
    const size_t one = 2 * dm_zarr_most_packed(dm_precomputed_chunk_bytes(&s->volume));
    s->workers = dm_precomputed_workers(one);
    info->held_bytes = one * (size_t)s->workers;
    snprintf(info->stored, sizeof info->stored, "%.30s, chunks %lldx%lldx%lld", s->volume.key,
             (long long)info->chunk[info->ndim - 3], (long long)info->chunk[info->ndim - 2],
             (long long)info->chunk[info->ndim - 1]);
    return DISTMAP_OK;
}

/* ---- Chunks ---- */

typedef struct reading {
    const dm_input *input;
    state *s;
    const dm_zarr_target *target;
    const int64_t *parts; /* numbers of the existing chunks; NULL: each chunk is opened */
} reading;

/* The chunk's bytes from the open file, unpacked; they stay in one of the worker's rooms. */
static distmap_status load(const reading *r, int worker, int fd, const char *name, bool packed, size_t bytes, char **chunk) {
    state *s = r->s;
    struct stat file;
    if (fstat(fd, &file) || !S_ISREG(file.st_mode))
        return dm_broken(r->input, "its chunk %s is no file", name);
    const size_t most = packed ? dm_zarr_most_packed(bytes) : bytes, there = (size_t)file.st_size;
    if (packed ? there > most : there != bytes)
        return dm_broken(r->input, "its chunk %s has %zu bytes; %zu %s", name, there, most, packed ? "are the most" : "are needed");
    if (!dm_zarr_room_make(&s->worker[worker].file, there + 1))
        return dm_no_memory(r->input->name);
    const int64_t got = dm_read_at(fd, 0, s->worker[worker].file.data, there);
    if (got < 0)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read its chunk %s: %s", r->input->name, name, strerror(errno));
    const dm_zarr_pipeline pipeline = {.packers = packed, .packer = {dm_zarr_packer_find(3, "gzip")}, .bytes = bytes};
    const char *data = s->worker[worker].file.data;
    size_t unpacked = (size_t)got;
    const char *why = dm_zarr_unpack(&pipeline, bytes, s->worker[worker].rooms, &data, &unpacked);
    if (!why && unpacked != bytes)
        why = "is cut short";
    *chunk = (char *)data; /* which is the worker's */
    return why ? dm_broken(r->input, "its chunk %s %s", name, why) : DISTMAP_OK;
}

/* Which of the chunk's files there is; -1: none, and errno. */
static int open_chunk(const state *s, char name[DM_PRECOMPUTED_NAME + 4], bool *packed) {
    errno = ENOENT;
    int fd = s->folder < 0 ? -1 : openat(s->folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    *packed = fd < 0 && errno == ENOENT && s->folder >= 0;
    if (!*packed)
        return fd;
    strcat(name, ".gz");
    return openat(s->folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static distmap_status read_chunk(void *user, int worker, int64_t part) {
    const reading *r = user;
    const dm_precomputed *v = &r->s->volume;
    int64_t at[DISTMAP_MAX_AXES], shape[DISTMAP_MAX_AXES];
    char name[DM_PRECOMPUTED_NAME + 4], brotli[DM_PRECOMPUTED_NAME + 8], *chunk = NULL;
    bool packed;
    dm_zarr_target_place(r->target, v->chunk, r->parts ? r->parts[part] : part, at);
    const size_t bytes = dm_precomputed_chunk(v, at, shape, name);
    const dm_zarr_target cut = dm_zarr_target_cut(r->target, v->chunk, at);
    snprintf(brotli, sizeof brotli, "%s.br", name);
    const int fd = open_chunk(r->s, name, &packed);
    if (fd < 0 && errno != ENOENT)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot open its chunk %s: %s", r->input->name, name, strerror(errno));
    if (fd < 0 && r->s->folder >= 0 && !faccessat(r->s->folder, brotli, F_OK, 0))
        return dm_unsupported(r->input, "its chunk %s is packed by brotli; gzip and chunks as they are are read", brotli);
    if (fd < 0) {
        dm_zarr_fill(&cut, &(uint64_t){0}, v->bytes);
        return DISTMAP_OK;
    }
    const distmap_status status = load(r, worker, fd, name, packed, bytes, &chunk);
    close(fd);
    TRY(status);
    if (DM_HOST_BIG)
        dm_swap(chunk, bytes / v->bytes, v->bytes);
    dm_zarr_copy(&cut, shape, v->bytes, chunk, false);
    return DISTMAP_OK;
}

/* The name of a chunk, compressed or not: "0-64_64-128_0-64.gz". */
static bool find_place(const void *user, const char *name, int64_t at[DISTMAP_MAX_AXES]) {
    const dm_precomputed *v = user;
    int64_t shape[DISTMAP_MAX_AXES];
    char same[DM_PRECOMPUTED_NAME];
    const char *number = name;
    for (int i = 0; i < 3; i++) {
        const int a = DISTMAP_MAX_AXES - 1 - i;
        char *end;
        int64_t from_start;
        if (__builtin_sub_overflow(strtoll(number, &end, 10), v->offset[i], &from_start) || from_start < 0 ||
            from_start >= v->shape[a])
            return false;
        at[a] = from_start / v->chunk[a];
        number = end + strcspn(end, "_");
        number += *number == '_';
    }
    dm_precomputed_chunk(v, at, shape, same);
    const size_t bytes = strlen(same);
    return !strncmp(name, same, bytes) && (!name[bytes] || !strcmp(name + bytes, ".gz") || !strcmp(name + bytes, ".br"));
}

static distmap_status precomputed_read_box(distmap_reader *reader, const dm_box *box, void *out) {
    state *s = reader->state;
    const dm_precomputed *v = &s->volume;
    const dm_zarr_target target = dm_zarr_target_make(box, out, v->bytes);
    const dm_zarr_grid grid = {&reader->input, s->folder, 1, v->shape, v->chunk, find_place, v};
    reading r = {&reader->input, s, &target, NULL};
    int64_t *parts = NULL, count = dm_zarr_target_chunks(&target, v->chunk);
    distmap_status status = DISTMAP_OK;
    if (dm_zarr_is_many(&grid, &target)) {
        status = dm_zarr_present_list(&grid, &s->present, &target, &parts, &count);
        r.parts = parts;
        if (!status)
            dm_zarr_fill(&target, &(uint64_t){0}, v->bytes);
    }
    if (!status)
        status = dm_threads_each(count, s->workers, read_chunk, &r);
    free(parts);
    return status;
}

static distmap_status precomputed_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    const dm_box box = dm_box_of_slices(&reader->info, first, count);
    return precomputed_read_box(reader, &box, out);
}

static void precomputed_close(distmap_reader *reader) {
    state *s = reader->state;
    if (!s)
        return;
    if (s->folder >= 0)
        close(s->folder);
    free(s->present.number);
    for (int w = 0; w < DM_ZARR_WORKERS; w++) {
        free(s->worker[w].file.data);
        free(s->worker[w].rooms[0].data);
        free(s->worker[w].rooms[1].data);
    }
    free(s);
}

const dm_codec dm_codec_precomputed = {
    .info = {.name = "precomputed",
             .endings = ".precomputed",
             .reads = true,
             .writes = true,
             .summary = "neuroglancer's, a folder of raw chunks, of one scale: PATH/SCALE, else the first",
             .shares = true,
             .chunked = true},
    .sniff_folder = precomputed_sniff,
    .open = precomputed_open,
    .read = precomputed_read,
    .read_box = precomputed_read_box,
    .close = precomputed_close,
    .holds = (1u << (DISTMAP_FLOAT32 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 3,
    .max_ndim = 4,
    .is_folder = true,
    .target = dm_precomputed_place,
    .create = dm_precomputed_create,
    .write = dm_precomputed_write,
    .put = dm_precomputed_put,
    .finish = dm_precomputed_finish,
    .discard = dm_precomputed_discard,
};
