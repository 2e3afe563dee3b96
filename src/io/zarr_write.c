/* Writing Zarr: the metadata first, then chunks, by several threads, each into a file that takes its name when it is whole. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/ome_zarr.h"
#include "io/threads.h"
#include "io/zarr.h"

enum { NEW = 3, HELD_BYTES = 32 << 20 };

typedef struct state {
    int folder; /* the array's */
    int version;
    dm_zarr form;
    dm_rows rows;
    dm_zarr_nodes nodes;
    char *husk; /* of what was made, that which takes no name: a folder around it */
    int workers;
    struct {
        char *chunk;
        dm_zarr_room packed;
    } worker[DM_ZARR_WORKERS];
} state;

/* The version of the group of the array, else the wanted one, else the newer one. */
static distmap_status choose_version(const distmap_writer *writer, int *version) {
    const char *name = writer->output.name;
    const int wanted = writer->info.zarr_format;
    TRY(dm_zarr_parent_version(name, writer->output.target, version));
    if (*version && wanted && wanted != *version)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: its group has Zarr version %d, so the array cannot have version %d", name,
                                 *version, wanted);
    *version = *version ? *version : wanted ? wanted : NEW;
    return *version == 2 && writer->info.shard_asked
               ? distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: its group has Zarr version 2, without shards; version 3 has them", name)
               : DISTMAP_OK;
}

static void choose_chunk(distmap_writer *writer) {
    distmap_image_info *info = &writer->info;
    int64_t chosen[DISTMAP_MAX_AXES];
    dm_chunk_choose(info, chosen);
    for (int a = 0; a < info->ndim; a++) {
        const int64_t most = info->shape[a] ? info->shape[a] : 1;
        if (info->shard[a] && info->shard[a] < chosen[a])
            chosen[a] = info->shard[a];
        info->chunk[a] = info->chunk[a] ? info->chunk[a] : chosen[a];
        info->chunk[a] = info->chunk[a] > most ? most : info->chunk[a] ? info->chunk[a] : 1;
    }
}

/* Whole chunks, no more than the array has. */
static void choose_shard(distmap_image_info *info, int version) {
    bool any = false;
    for (int a = 0; a < info->ndim; a++)
        any |= info->shard[a] > 0;
    for (int a = 0; a < info->ndim; a++) {
        const int64_t chunk = info->chunk[a], wanted = info->shard[a] ? info->shard[a] : chunk,
                      most = info->shape[a] ? info->shape[a] : 1, length = wanted < most ? wanted : most;
        info->shard[a] = any && version == 3 ? (length + chunk - 1) / chunk * chunk : 0;
    }
}

/* ---- Metadata ---- */

/* Goes into a folder below, which is made. */
static distmap_status go_into(const distmap_writer *writer, state *s, const char *name) {
    const int below = mkdirat(s->folder, name, 0777) && errno != EEXIST ? -1 : dm_zarr_open_below(s->folder, name);
    if (below < 0) {
        const dm_output output = {.name = writer->output.name, .error = errno};
        return dm_output_failed(&output);
    }
    close(s->folder);
    s->folder = below;
    return DISTMAP_OK;
}

/* The groups from the target on, to the array's name. `path`, within the target, becomes the array's. */
static distmap_status make_groups(const distmap_writer *writer, state *s, char path[DM_ZARR_PATH]) {
    const char *rest = writer->output.file + strlen(writer->output.target);
    *path = '\0';
    while (*rest) {
        TRY(dm_zarr_nodes_add_group(&s->nodes, s->folder, path, s->version, NULL));
        const char *name = rest + 1;
        const size_t used = strlen(path), length = strcspn(name, "/");
        char one[NAME_MAX + 1];
        if (length > NAME_MAX)
            return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: a name in it is too long", writer->output.name);
        snprintf(one, sizeof one, "%.*s", (int)length, name);
        snprintf(path + used, DM_ZARR_PATH - used, "%s%s", used ? "/" : "", one);
        TRY(go_into(writer, s, one));
        rest = name + length;
    }
    return DISTMAP_OK;
}

static distmap_status make_image(const distmap_writer *writer, state *s, char path[DM_ZARR_PATH]) {
    dm_ome ome;
    if (!dm_ends_with(writer->output.file, ".ome.zarr"))
        return DISTMAP_OK;
    if (writer->info.ndim < 2)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: OME-Zarr holds two axes or more; a plain .zarr one",
                                 writer->output.name);
    dm_ome_of_info(&writer->info, &ome);
    TRY(dm_zarr_nodes_add_group(&s->nodes, s->folder, path, s->version, dm_ome_attributes(&ome, s->version)));
    const size_t used = strlen(path);
    snprintf(path + used, DM_ZARR_PATH - used, "%s0", used ? "/" : "");
    return go_into(writer, s, "0");
}

/* Another process may have made the array: then it must be the same. */
static distmap_status check_form(const distmap_writer *writer, const state *s, const char *file, json_object *array,
                                 bool *there) {
    const dm_input folder = {.name = writer->output.name};
    json_object *other = NULL;
    TRY(dm_zarr_load(&folder, s->folder, file, &other));
    *there = other != NULL;
    const bool same = !other || json_object_equal(other, array);
    json_object_put(other);
    return same ? DISTMAP_OK
                : distmap_error_set(DISTMAP_ERROR_IO, "%s: %s holds another array", writer->output.name,
                                    writer->output.temp);
}

/* What becomes of the chunks that are packed. */
static const dm_zarr_pipeline *smallest(const state *s) {
    return s->form.pipeline.shard ? s->form.pipeline.shard->inner : &s->form.pipeline;
}

static distmap_status make_array(distmap_writer *writer, state *s, const char *path) {
    const distmap_image_info *info = &writer->info;
    const dm_input folder = {.name = writer->output.name};
    const char *file = s->version == 3 ? "zarr.json" : ".zarray";
    char *text = s->version == 3 ? dm_zarr_v3_text(info) : dm_zarr_v2_text(info);
    json_object *array = text ? dm_json_own(text) : NULL;
    bool there = false;
    distmap_status status = array ? dm_zarr_parse(&folder, array, &s->form) : dm_no_memory(writer->output.name);
    if (!status && !dm_zarr_pack_room(smallest(s)))
        status = distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: chunks of %zu bytes are too large", writer->output.name,
                                   smallest(s)->bytes);
    if (!status)
        status = check_form(writer, s, file, array, &there);
    json_object_put(array);
    if (!status && !there && s->version == 2)
        status = dm_zarr_nodes_add(&s->nodes, s->folder, path, ".zattrs", dm_zarr_v2_attributes_text(info));
    if (!status && !there) {
        status = dm_zarr_nodes_add(&s->nodes, s->folder, path, file, text);
        text = NULL;
    }
    free(text);
    return status;
}

/* Several processes write one array, in a group that is there and that nobody else need tell of it. */
static distmap_status check_shared(const distmap_writer *writer, state *s) {
    const dm_output *output = &writer->output;
    bool any;
    if (strcmp(output->target, output->file) != 0)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: there is no group %s, which several processes do not make",
                                 output->name, output->target);
    TRY(dm_zarr_nodes_consolidate(&s->nodes, output->target, s->version, NULL, &any));
    return any ? distmap_error_set(DISTMAP_ERROR_UNSUPPORTED,
                                   "%s: its group has consolidated metadata, which several processes do not keep true",
                                   output->name)
               : DISTMAP_OK;
}

/* A shard's file is as large as its chunks make it. */
static distmap_status reserve(distmap_writer *writer, state *s) {
    const size_t room = dm_zarr_pack_room(smallest(s)), bytes = smallest(s)->bytes,
                 one = room + (s->form.pipeline.shard ? s->form.pipeline.bytes : bytes), fit = HELD_BYTES / one;
    const int most = dm_threads() < DM_ZARR_WORKERS ? dm_threads() : DM_ZARR_WORKERS;
    s->workers = fit < 1 ? 1 : fit < (size_t)most ? (int)fit : most;
    for (int w = 0; w < s->workers; w++) {
        s->worker[w].chunk = calloc(1, bytes);
        if (!s->worker[w].chunk || !dm_zarr_room_make(&s->worker[w].packed, room))
            return dm_no_memory(writer->output.name);
    }
    return DISTMAP_OK;
}

distmap_status dm_zarr_create(distmap_writer *writer) {
    const dm_output *output = &writer->output;
    char path[DM_ZARR_PATH];
    state *s = writer->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(output->name);
    s->folder = dm_zarr_open_below(output->fd, ".");
    s->nodes.name = strdup(output->name);
    s->nodes.synced = writer->shared; /* whoever goes on after a power failure compares its array with what is there */
    if (s->folder < 0 || !s->nodes.name)
        return dm_no_memory(output->name);
    TRY(choose_version(writer, &s->version));
    if (writer->shared)
        TRY(check_shared(writer, s));
    choose_chunk(writer);
    choose_shard(&writer->info, s->version);
    if (s->version == 2 && !writer->info.packing_asked)
        dm_packing_take(&writer->info, "blosc");
    TRY(make_groups(writer, s, path));
    TRY(make_image(writer, s, path));
    TRY(make_array(writer, s, path));
    if (writer->info.shard[0])
        memcpy(writer->info.chunk, writer->info.shard, sizeof writer->info.chunk);
    if (writer->shared) /* chunks that a killed process had not finished */
        dm_temporary_sweep(s->folder);
    s->rows = (dm_rows){.row = writer->info.chunk[0]};
    return reserve(writer, s);
}

/* ---- Chunks ---- */

static bool passes_the_end(const dm_zarr *form, const int64_t at[DISTMAP_MAX_AXES]) {
    bool passes = false;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        passes |= (at[a] + 1) * form->chunk[a] > form->shape[a];
    return passes;
}

struct writing {
    distmap_writer *writer;
    const dm_zarr_target *elements;
};

static distmap_status write_chunk(void *user, int worker, int64_t part) {
    const struct writing *w = user;
    state *s = w->writer->state;
    const dm_zarr *form = &s->form;
    char *chunk = s->worker[worker].chunk;
    dm_zarr_room *packed = &s->worker[worker].packed;
    int64_t at[DISTMAP_MAX_AXES];
    char name[DM_ZARR_NAME];
    size_t bytes;
    dm_zarr_target_place(w->elements, form->chunk, part, at);
    dm_zarr_chunk_name(form, at, name);
    const dm_zarr_target cut = dm_zarr_target_cut(w->elements, form->chunk, at);
    if (form->pipeline.shard) {
        bytes = dm_zarr_shard_pack(form, &cut, chunk, packed);
    } else {
        if (passes_the_end(form, at)) /* the same elements are the same file */
            memset(chunk, 0, form->pipeline.bytes);
        dm_zarr_copy(&cut, form->chunk, form->size, chunk, true);
        bytes = dm_zarr_pack(&form->pipeline, form->size, chunk, packed->data);
    }
    if (!bytes)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot pack chunk %s", w->writer->output.name, name);
    return dm_zarr_store(w->writer->output.name, s->folder, name, packed->data, bytes, false);
}

distmap_status dm_zarr_put(distmap_writer *writer, const dm_box *box, const void *elements) {
    const state *s = writer->state;
    const dm_zarr_target target = dm_zarr_target_make(box, elements, s->form.size);
    struct writing writing = {writer, &target};
    const distmap_status status =
        dm_threads_each(dm_zarr_target_chunks(&target, s->form.chunk), s->workers, write_chunk, &writing);
    if (status && !writer->output.error)
        writer->output.error = EIO; /* so that it does not take its name */
    return status;
}

/* ---- In order ---- */

distmap_status dm_zarr_write(distmap_writer *writer, int64_t count, const void *slices) {
    state *s = writer->state;
    return dm_rows_write(writer, &s->rows, count, slices, dm_zarr_put);
}

/* ---- The end ---- */

/* Some of the groups that were to be made are there meanwhile, perhaps by another output of the same run: then only what is still
 * missing takes its name. */
static distmap_status place_again(distmap_writer *writer, state *s) {
    dm_output *output = &writer->output;
    char *target, *temp = NULL;
    int version;
    TRY(dm_zarr_place(output->file, &target));
    const size_t before = strlen(output->target);
    if (strlen(target) == before) {
        free(target);
        return DISTMAP_OK;
    }
    distmap_status status = dm_zarr_parent_version(output->name, target, &version);
    if (!status && version != s->version)
        status = distmap_error_set(DISTMAP_ERROR_IO, "%s: there is a group of another version meanwhile", output->name);
    if (!status && asprintf(&temp, "%s%s", output->temp, target + before) < 0) {
        temp = NULL;
        status = dm_no_memory(output->name);
    }
    if (status) {
        free(target);
        return status;
    }
    /* Texts of what is there already are not ours. */
    dm_zarr_nodes_leave_out(&s->nodes, target + before + 1);
    s->husk = output->temp;
    output->temp = temp;
    free(output->target);
    output->target = target;
    return DISTMAP_OK;
}

distmap_status dm_zarr_finish(distmap_writer *writer) {
    state *s = writer->state;
    return dm_rows_end(writer, &s->rows, dm_zarr_put);
}

char *dm_zarr_home(const distmap_writer *writer) { return dm_zarr_place_home(writer->output.target); }

distmap_status dm_zarr_arrive(distmap_writer *writer, const dm_commit *commit) {
    state *s = writer->state;
    bool any;
    TRY(place_again(writer, s));
    return dm_zarr_nodes_consolidate(&s->nodes, writer->output.target, s->version, commit, &any);
}

distmap_status dm_zarr_take(distmap_writer *writer, dm_commit *commit) {
    state *s = writer->state;
    return dm_zarr_nodes_take(&s->nodes, commit);
}

void dm_zarr_discard(distmap_writer *writer) {
    state *s = writer->state;
    if (!s)
        return;
    for (int w = 0; w < DM_ZARR_WORKERS; w++) {
        free(s->worker[w].chunk);
        free(s->worker[w].packed.data);
    }
    if (s->husk)
        dm_output_remove(s->husk);
    dm_zarr_nodes_free(&s->nodes);
    dm_zarr_free(&s->form);
    if (s->folder >= 0)
        close(s->folder);
    free(s->rows.gathered);
    free(s->husk);
    free(s);
    writer->state = NULL;
}
