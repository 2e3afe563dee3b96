/* Reading chunks: each that a target meets is read from its file, unpacked, and copied to where its elements belong.
 *
 * A shard is not read as a whole, but its index, and then those of its chunks that are needed, each from its place in the file; a
 * shard that is packed as a whole must be unpacked first. Chunks within chunks are the same task with another target, so that axes
 * are turned by turning the target.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/convert.h"
#include "io/crc32c.h"
#include "io/threads.h"
#include "io/zarr.h"

enum { EVERY_WORKER = -1, HELD_BYTES = 32 << 20 };

/* Bytes of a file, or in memory. */
typedef struct source {
    const char *name; /* the chunk's */
    int64_t inner;    /* the number of a chunk within it; -1: itself */
    int fd;
    const char *memory; /* NULL: in the file */
    int64_t offset, bytes;
} source;

void dm_zarr_chunk_name(const dm_zarr *form, const int64_t at[DISTMAP_MAX_AXES], char name[DM_ZARR_NAME]) {
    int used = form->prefixed ? snprintf(name, DM_ZARR_NAME, "c") : 0;
    for (int a = DISTMAP_MAX_AXES - form->ndim; a < DISTMAP_MAX_AXES; a++) {
        if (used)
            name[used++] = form->separator;
        used += snprintf(name + used, (size_t)(DM_ZARR_NAME - used), "%lld", (long long)at[a]);
    }
}

/* ---- Errors ---- */

static distmap_status chunk_broken(const dm_zarr_array *array, const source *from, const char *why) {
    char inner[48] = "";
    if (from->inner >= 0)
        snprintf(inner, sizeof inner, " (chunk %lld within it)", (long long)from->inner);
    return dm_broken(array->input, "its chunk %s%s %s", from->name, inner, why);
}

static distmap_status chunk_unreadable(const dm_zarr_array *array, const source *from) {
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read its chunk %s: %s", array->input->name, from->name,
                             strerror(errno));
}

/* ---- One chunk ---- */

/* The source's bytes, where they are in memory, or in the room. */
static distmap_status load(const dm_zarr_array *array, const source *from, dm_zarr_room *room, const char **data) {
    if (from->memory) {
        *data = from->memory + from->offset;
        return DISTMAP_OK;
    }
    if (!dm_zarr_room_make(room, from->bytes ? (size_t)from->bytes : 1))
        return dm_no_memory(array->input->name);
    const int64_t got = dm_read_at(from->fd, from->offset, room->data, (size_t)from->bytes);
    *data = room->data;
    if (got < 0)
        return chunk_unreadable(array, from);
    return got == from->bytes ? DISTMAP_OK : chunk_broken(array, from, "is cut short");
}

static distmap_status read_chunk(dm_zarr_array *array, int worker, const dm_zarr_pipeline *pipeline, const source *from,
                                 const dm_zarr_target *target);

/* The most bytes that the packers get: a shard has its chunks, packed, and its index. SIZE_MAX if there is no such number. */
static size_t most_unpacked(const dm_zarr_pipeline *pipeline) {
    const dm_zarr_shard *shard = pipeline->shard;
    if (!shard)
        return pipeline->bytes;
    size_t inner = most_unpacked(shard->inner), most;
    for (int i = 0; i < shard->inner->packers && inner < SIZE_MAX / 4; i++)
        inner = dm_zarr_most_packed(inner);
    const size_t index = (size_t)shard->index_bytes;
    return __builtin_mul_overflow(inner, index / 16, &most) || most > SIZE_MAX / 4 ? SIZE_MAX : most + index;
}

static distmap_status unpack(dm_zarr_array *array, int worker, const dm_zarr_pipeline *pipeline, const source *from,
                             const char **data, size_t *bytes) {
    struct dm_zarr_worker *w = &array->worker[worker < 0 ? 0 : worker];
    const size_t most = most_unpacked(pipeline);
    size_t limit = most;
    for (int i = 0; i < pipeline->packers && limit < SIZE_MAX / 4; i++)
        limit = dm_zarr_most_packed(limit);
    if ((uint64_t)from->bytes > limit) {
        char why[64];
        snprintf(why, sizeof why, "is too large: %lld bytes", (long long)from->bytes);
        return chunk_broken(array, from, why);
    }
    TRY(load(array, from, &w->file, data));
    *bytes = (size_t)from->bytes;
    const char *why = dm_zarr_unpack(pipeline, most, w->rooms, data, bytes);
    if (!why && !pipeline->shard && *bytes != pipeline->bytes)
        why = "is broken, or not of the size that its form tells";
    return why ? chunk_broken(array, from, why) : DISTMAP_OK;
}

static distmap_status read_elements(dm_zarr_array *array, int worker, const dm_zarr_pipeline *pipeline,
                                    const source *from, const dm_zarr_target *target) {
    const size_t size = array->form.size;
    const char *data;
    size_t bytes;
    TRY(unpack(array, worker, pipeline, from, &data, &bytes));
    if (pipeline->swapped && from->memory && data == from->memory + from->offset) { /* which others read too */
        dm_zarr_room *room = &array->worker[worker < 0 ? 0 : worker].file;
        if (!dm_zarr_room_make(room, bytes))
            return dm_no_memory(array->input->name);
        data = memcpy(room->data, data, bytes);
    }
    if (pipeline->swapped)
        dm_swap((char *)data, bytes / size, size);
    dm_zarr_copy(target, pipeline->shape, size, (char *)data, false);
    return DISTMAP_OK;
}

/* ---- A shard ---- */

typedef struct shard_reading {
    dm_zarr_array *array;
    const dm_zarr_shard *shard;
    const source *from;
    const dm_zarr_target *target;
    const uint64_t *index; /* pairs: where a chunk is, and its bytes */
} shard_reading;

static distmap_status read_inner(void *user, int worker, int64_t part) {
    const shard_reading *r = user;
    const dm_zarr_shard *shard = r->shard;
    int64_t at[DISTMAP_MAX_AXES], number = 0;
    dm_zarr_target_place(r->target, shard->chunk, part, at);
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        number = number * shard->grid[a] + at[a];
    const uint64_t offset = r->index[2 * number], bytes = r->index[2 * number + 1];
    const dm_zarr_target cut = dm_zarr_target_cut(r->target, shard->chunk, at);
    source inner = *r->from;
    inner.inner = number;
    if (offset == UINT64_MAX && bytes == UINT64_MAX) {
        dm_zarr_fill(&cut, r->array->form.fill, r->array->form.size);
        return DISTMAP_OK;
    }
    if (offset > (uint64_t)inner.bytes || bytes > (uint64_t)inner.bytes - offset)
        return chunk_broken(r->array, &inner, "is not within its shard, by the shard's index");
    inner.offset += (int64_t)offset;
    inner.bytes = (int64_t)bytes;
    return read_chunk(r->array, worker, shard->inner, &inner, &cut);
}

/* By all threads here, if that keeps them busy or there is no other place for it; by none where one is at work already. */
static distmap_status each(dm_zarr_array *array, int worker, int64_t parts, bool deeper,
                           distmap_status (*call)(void *user, int worker, int64_t part), void *user) {
    if (worker == EVERY_WORKER && (!deeper || parts >= 2 * array->workers))
        return dm_threads_each(parts, array->workers, call, user);
    for (int64_t part = 0; part < parts; part++)
        TRY(call(user, worker, part));
    return DISTMAP_OK;
}

static distmap_status load_index(dm_zarr_array *array, const dm_zarr_shard *shard, const source *from,
                                 dm_zarr_room *room) {
    const char *data;
    source index = *from;
    if (from->bytes < shard->index_bytes)
        return chunk_broken(array, from, "is too short for a shard's index");
    index.bytes = shard->index_bytes;
    index.offset += shard->index_first ? 0 : from->bytes - index.bytes;
    if (!dm_zarr_room_make(room, (size_t)index.bytes))
        return dm_no_memory(array->input->name);
    TRY(load(array, &index, room, &data));
    if (data != room->data)
        memcpy(room->data, data, (size_t)index.bytes);
    const size_t bytes = (size_t)index.bytes - (shard->index_summed ? 4 : 0);
    const uint8_t *sum = (const uint8_t *)room->data + bytes;
    if (shard->index_summed && dm_crc32c(room->data, bytes) !=
                                   (sum[0] | (uint32_t)sum[1] << 8 | (uint32_t)sum[2] << 16 | (uint32_t)sum[3] << 24))
        return chunk_broken(array, from, "is broken: the checksum (crc32c) of its index is wrong");
    if (shard->index_swapped)
        dm_swap(room->data, bytes / 8, 8);
    return DISTMAP_OK;
}

static distmap_status read_shard(dm_zarr_array *array, int worker, const dm_zarr_shard *shard, const source *from,
                                 const dm_zarr_target *target) {
    dm_zarr_room index = {0};
    distmap_status status = load_index(array, shard, from, &index);
    shard_reading reading = {array, shard, from, target, (const uint64_t *)(const void *)index.data};
    if (!status)
        status = each(array, worker, dm_zarr_target_chunks(target, shard->chunk), shard->inner->shard != NULL,
                      read_inner, &reading);
    free(index.data);
    return status;
}

/* The room is taken from the worker, since chunks within need it too. */
static distmap_status read_packed_shard(dm_zarr_array *array, int worker, const dm_zarr_pipeline *pipeline,
                                        const source *from, const dm_zarr_target *target) {
    source inner = {.name = from->name, .inner = from->inner, .fd = -1};
    size_t bytes;
    TRY(unpack(array, worker, pipeline, from, &inner.memory, &bytes));
    struct dm_zarr_worker *w = &array->worker[worker < 0 ? 0 : worker];
    dm_zarr_room *const rooms[] = {&w->file, &w->rooms[0], &w->rooms[1]};
    char *taken = NULL;
    inner.bytes = (int64_t)bytes;
    for (int i = 0; i < 3 && !taken; i++)
        if (inner.memory == rooms[i]->data) {
            taken = rooms[i]->data;
            *rooms[i] = (dm_zarr_room){0};
        }
    const distmap_status status = read_shard(array, worker, pipeline->shard, &inner, target);
    free(taken);
    return status;
}

static distmap_status read_chunk(dm_zarr_array *array, int worker, const dm_zarr_pipeline *pipeline, const source *from,
                                 const dm_zarr_target *target) {
    const dm_zarr_target turned = dm_zarr_target_turn(target, pipeline->order);
    if (!pipeline->shard)
        return read_elements(array, worker, pipeline, from, &turned);
    return pipeline->packers ? read_packed_shard(array, worker, pipeline, from, &turned)
                             : read_shard(array, worker, pipeline->shard, from, &turned);
}

/* ---- All chunks ---- */

typedef struct reading {
    dm_zarr_array *array;
    const dm_zarr_target *target;
    const int64_t *parts; /* numbers of the existing chunks; NULL: each chunk is opened */
} reading;

static distmap_status chunk_missing(const dm_zarr_array *array, const dm_zarr_target *target, int64_t part) {
    int64_t at[DISTMAP_MAX_AXES];
    char name[DM_ZARR_NAME];
    dm_zarr_target_place(target, array->form.chunk, part, at);
    dm_zarr_chunk_name(&array->form, at, name);
    return chunk_broken(array, &(source){.name = name, .inner = -1}, "is missing, and there is no fill value");
}

static distmap_status read_file(void *user, int worker, int64_t part) {
    const reading *r = user;
    dm_zarr_array *array = r->array;
    const dm_zarr *form = &array->form;
    int64_t at[DISTMAP_MAX_AXES];
    char name[DM_ZARR_NAME];
    dm_zarr_target_place(r->target, form->chunk, r->parts ? r->parts[part] : part, at);
    dm_zarr_chunk_name(form, at, name);
    const dm_zarr_target cut = dm_zarr_target_cut(r->target, form->chunk, at);
    source from = {.name = name, .inner = -1, .fd = openat(array->folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    if (from.fd < 0 && errno != ENOENT)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot open its chunk %s: %s", array->input->name, name,
                                 strerror(errno));
    if (from.fd < 0 && !form->filled)
        return chunk_missing(array, r->target, r->parts ? r->parts[part] : part);
    if (from.fd < 0) {
        dm_zarr_fill(&cut, form->fill, form->size);
        return DISTMAP_OK;
    }
    struct stat file;
    distmap_status status = DISTMAP_OK;
    if (fstat(from.fd, &file))
        status = chunk_unreadable(array, &from);
    else if (!S_ISREG(file.st_mode))
        status = chunk_broken(array, &from, "is no file");
    from.bytes = file.st_size;
    if (!status)
        status = read_chunk(array, worker, &form->pipeline, &from, &cut);
    close(from.fd);
    return status;
}

static bool find_place(const void *user, const char *name, int64_t at[DISTMAP_MAX_AXES]) {
    const dm_zarr *form = user;
    char same[DM_ZARR_NAME];
    const char *number = name + (form->prefixed ? 2 : 0);
    for (int a = DISTMAP_MAX_AXES - form->ndim; a < DISTMAP_MAX_AXES && number <= name + strlen(name); a++) {
        char *end;
        at[a] = strtoll(number, &end, 10);
        number = end + 1;
    }
    dm_zarr_chunk_name(form, at, same);
    return !strcmp(name, same);
}

/* Reads the existing ones of many chunks; the others have the fill value. */
static distmap_status read_present(dm_zarr_array *array, const dm_zarr_grid *grid, const dm_zarr_target *target) {
    const dm_zarr *form = &array->form;
    reading r = {array, target, NULL};
    int64_t *parts = NULL, count, gap = 0;
    distmap_status status = dm_zarr_present_list(grid, &array->present, target, &parts, &count);
    const bool all = !status && count == dm_zarr_target_chunks(target, form->chunk);
    while (!status && !form->filled && gap < count && parts[gap] == gap)
        gap++;
    if (!status && !all && !form->filled)
        status = chunk_missing(array, target, gap);
    else if (!status && !all)
        dm_zarr_fill(target, form->fill, form->size);
    r.parts = parts;
    if (!status)
        status = each(array, EVERY_WORKER, count, form->pipeline.shard != NULL, read_file, &r);
    free(parts);
    return status;
}

distmap_status dm_zarr_array_read(dm_zarr_array *array, const dm_zarr_target *target) {
    const dm_zarr *form = &array->form;
    const dm_zarr_grid grid = {array->input,
                               array->folder,
                               form->separator == '/' ? form->ndim + form->prefixed : 1,
                               form->shape,
                               form->chunk,
                               find_place,
                               form};
    if (dm_zarr_is_many(&grid, target))
        return read_present(array, &grid, target);
    reading r = {array, target, NULL};
    return each(array, EVERY_WORKER, dm_zarr_target_chunks(target, form->chunk), form->pipeline.shard != NULL, read_file,
                &r);
}

/* ---- Sizes ---- */

void dm_zarr_smallest_chunk(const dm_zarr *form, int64_t chunk[DISTMAP_MAX_AXES]) {
    int place[DISTMAP_MAX_AXES]; /* axis i of the level is the array's axis place[i] */
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        place[a] = a;
    memcpy(chunk, form->chunk, sizeof form->chunk);
    for (const dm_zarr_pipeline *p = &form->pipeline; p->shard; p = p->shard->inner) {
        int turned[DISTMAP_MAX_AXES];
        for (int a = 0; a < DISTMAP_MAX_AXES; a++)
            turned[a] = place[p->order[a]];
        memcpy(place, turned, sizeof place);
        for (int a = 0; a < DISTMAP_MAX_AXES; a++)
            chunk[place[a]] = p->shard->chunk[a];
    }
}

/* The memory of one thread: a chunk compressed and decompressed, and the levels above it. */
static size_t bytes_of_one(const dm_zarr_pipeline *pipeline) {
    size_t bytes = 0;
    if (pipeline->shard)
        bytes = (size_t)pipeline->shard->index_bytes + bytes_of_one(pipeline->shard->inner);
    if (!pipeline->shard || pipeline->packers)
        bytes += pipeline->bytes * (pipeline->packers ? 1 : 0) + dm_zarr_most_packed(pipeline->bytes);
    return bytes;
}

size_t dm_zarr_array_prepare(dm_zarr_array *array) {
    const size_t one = bytes_of_one(&array->form.pipeline), fit = HELD_BYTES / (one ? one : 1);
    const int most = dm_threads() < DM_ZARR_WORKERS ? dm_threads() : DM_ZARR_WORKERS;
    array->workers = fit < 1 ? 1 : fit < (size_t)most ? (int)fit : most;
    return one * (size_t)array->workers;
}

void dm_zarr_array_free(dm_zarr_array *array) {
    for (int w = 0; w < DM_ZARR_WORKERS; w++) {
        free(array->worker[w].file.data);
        free(array->worker[w].rooms[0].data);
        free(array->worker[w].rooms[1].data);
    }
    free(array->present.number);
    dm_zarr_free(&array->form);
}
