/* Zarr, versions 2 and 3: an array in chunks that are files of their own, in a folder; arrays lie in groups, which are folders too.
 *
 *     vol.zarr/.zarray, .zattrs, .zgroup    version 2: an array's form, a node's attributes, a group; JSON
 *     vol.zarr/zarr.json                    version 3: all of them in one
 *     vol.zarr/3/0/1                        the chunk at place (3, 0, 1) of the grid, or 3.0.1, or c/3/0/1; one that is not there
 *                                           has the fill value everywhere
 *
 * How a chunk's elements become a file's bytes is a pipeline: axes in another order, elements in a byte order, then packers of bytes.
 * In place of elements there may be a shard: chunks again, smaller ones, with an index of where each is.
 *
 * Chunks at the end of an axis are as large as the others, and their elements beyond it mean nothing. Arrays here have
 * DISTMAP_MAX_AXES axes, leading ones of length 1, as boxes do.
 */
#ifndef DISTMAP_IO_ZARR_H
#define DISTMAP_IO_ZARR_H

#include <json-c/json.h>

#include "io/codec.h"

enum {
    DM_ZARR_PACKERS = 4, /* one after the other */
    DM_ZARR_SHARDS = 3,  /* one within the other */
    DM_ZARR_NAME = 200,  /* of a chunk's file */
    DM_ZARR_PATH = 512,  /* of a node in a store */
};

typedef struct dm_zarr_packer dm_zarr_packer;
typedef struct dm_zarr_pipeline dm_zarr_pipeline;

/* Chunks within a chunk. */
typedef struct dm_zarr_shard {
    int64_t chunk[DISTMAP_MAX_AXES], grid[DISTMAP_MAX_AXES]; /* the shape of one, how many there are along each axis */
    bool index_first;                                        /* before the chunks; else behind them */
    bool index_swapped, index_summed;                        /* in the other byte order; a CRC-32C follows it */
    int64_t index_bytes;                                     /* with that */
    dm_zarr_pipeline *inner;
} dm_zarr_shard;

struct dm_zarr_pipeline {
    int64_t shape[DISTMAP_MAX_AXES]; /* of a chunk as it is stored */
    int order[DISTMAP_MAX_AXES];     /* whose axis i is axis order[i] of the array */
    bool swapped;                    /* elements are in the other byte order */
    dm_zarr_shard *shard;            /* NULL: it holds elements. Owned */
    int packers;
    const dm_zarr_packer *packer[DM_ZARR_PACKERS]; /* in the order in which a chunk is packed */
    size_t bytes;                                  /* of a chunk's elements */
};

typedef struct dm_zarr {
    int version;
    int ndim;
    int64_t shape[DISTMAP_MAX_AXES], chunk[DISTMAP_MAX_AXES];
    distmap_dtype dtype;
    size_t size;   /* of an element */
    bool prefixed; /* chunks' names begin with "c" */
    char separator;
    bool filled;     /* there is a fill value */
    uint8_t fill[8]; /* in this machine's byte order */
    dm_zarr_pipeline pipeline;
    char names[DISTMAP_MAX_AXES][16]; /* of the file's axes; "" where it tells none */
} dm_zarr;

/* ---- json_parse.c, zarr_json.c: JSON texts ---- */

typedef enum dm_json_end { DM_JSON_GOOD, DM_JSON_BROKEN, DM_JSON_TWICE, DM_JSON_NO_MEMORY } dm_json_end;
/* The value of a text of `bytes` bytes and a zero, owned by the caller (json_object_put()): NULL for null, and after an error. */
dm_json_end dm_json_parse(const char *text, size_t bytes, json_object **value);
/* The same for a text that was made here: NULL without memory. */
json_object *dm_json_own(const char *text);

/* A file of the folder as an object, to be put by the caller; NULL in *object where there is none. */
distmap_status dm_zarr_load(const dm_input *input, int folder, const char *file, json_object **object);
/* The member of that name; NULL: none, or null, or no object. */
json_object *dm_zarr_member(json_object *object, const char *name);
/* A string's text, else "". */
const char *dm_zarr_text(json_object *string);
/* Makes an object: what cannot be added, or could not be made itself (NULL), is noted, and makes the text NULL in the end. They take
 * `value`, which is not to be touched any more: so what is within comes first. */
void dm_json_put(json_object *object, const char *name, json_object *value);
void dm_json_put_null(json_object *object, const char *name);
void dm_json_append(json_object *array, json_object *value);
/* A text of its own, which the caller frees; the object is put. NULL without memory. */
char *dm_zarr_finished(json_object *object);
json_object *dm_zarr_lengths(int ndim, const int64_t *lengths);

/* ---- zarr_fill.c ---- */

/* Whether it is a fill value of form->dtype; then form->fill is it. null is none. */
bool dm_zarr_take_fill(json_object *value, dm_zarr *form);

/* ---- zarr_form.c, zarr_v2.c, zarr_v3.c: an array's form ---- */

/* From .zarray or zarr.json. To be freed, after an error too. */
distmap_status dm_zarr_parse(const dm_input *input, json_object *array, dm_zarr *form);
void dm_zarr_free(dm_zarr *form);
/* The texts for what is written. The caller frees them. */
char *dm_zarr_v2_text(const distmap_image_info *info);
char *dm_zarr_v2_attributes_text(const distmap_image_info *info);
char *dm_zarr_v3_text(const distmap_image_info *info);
/* The axes' names, as a list. */
json_object *dm_zarr_axis_names(const distmap_image_info *info);
/* Of the attributes those that are ours, "spacing" and "unit", and xarray's names of the axes. */
json_object *dm_zarr_attributes(const distmap_image_info *info);
void dm_zarr_take_attributes(json_object *attributes, const dm_zarr *form, distmap_image_info *info);

/* What the two versions share. `lengths` are the file's. */
bool dm_zarr_take_lengths(json_object *array, int64_t least, int ndim, int64_t lengths[DISTMAP_MAX_AXES]);
distmap_status dm_zarr_take_shape(const dm_input *input, const char *file, json_object *shape, json_object *chunks,
                                  dm_zarr *form);
/* The file's lengths behind leading ones. */
void dm_zarr_behind_ones(const dm_zarr *form, const int64_t lengths[DISTMAP_MAX_AXES], int64_t ours[DISTMAP_MAX_AXES]);
/* Sets the sizes in a pipeline of chunks of that shape, whose order is set. */
distmap_status dm_zarr_size_pipeline(const dm_input *input, const dm_zarr *form, const int64_t chunk[DISTMAP_MAX_AXES],
                                     dm_zarr_pipeline *pipeline);
distmap_status dm_zarr_parse_v2(const dm_input *input, json_object *array, dm_zarr *form);
distmap_status dm_zarr_parse_v3(const dm_input *input, json_object *array, dm_zarr *form);
/* zarr_codecs.c: version 3's list of codecs, as form->pipeline. */
distmap_status dm_zarr_take_codecs(const dm_input *input, json_object *codecs, dm_zarr *form);
void dm_zarr_free_pipeline(dm_zarr_pipeline *pipeline);
/* Whether an extension that is not known may be passed over. */
bool dm_zarr_may_ignore(json_object *extension);
/* The name of an extension: a string, or an object's "name". "" where there is none. */
const char *dm_zarr_name(json_object *extension);

/* ---- zarr_packers.c: bytes to bytes ---- */

/* A buffer that grows. */
typedef struct dm_zarr_room {
    char *data;
    size_t bytes;
} dm_zarr_room;
/* Makes at least that much room; what it held is lost. */
bool dm_zarr_room_make(dm_zarr_room *room, size_t bytes);

/* The packer of that name in a version, NULL if there is none. */
const dm_zarr_packer *dm_zarr_packer_find(int version, const char *name);
/* Their names in a version: "blosc, zstd, ..." */
void dm_zarr_packer_names(int version, char *names, size_t size);
/* The most that `bytes` become in any packer when they do not shrink. */
size_t dm_zarr_most_packed(size_t bytes);
/* Unpacks *data, of *bytes, into at most `most` bytes, which stand in one of the two rooms, or still where they were if nothing had
 * to be done. NULL, or why not: "is broken". */
const char *dm_zarr_unpack(const dm_zarr_pipeline *pipeline, size_t most, dm_zarr_room rooms[2], const char **data,
                           size_t *bytes);
/* Packs a chunk's elements of `size` bytes as they are written, by the pipeline's one packer, if any, into dm_zarr_pack_room() bytes: how
 * many it takes, or 0. */
size_t dm_zarr_pack(const dm_zarr_pipeline *pipeline, size_t size, const void *chunk, void *packed);
/* 0: chunks of that size cannot be written. */
size_t dm_zarr_pack_room(const dm_zarr_pipeline *pipeline);
/* The file of a shard (zarr_shard.c), whose elements the target has, counted from the shard's first one: how many bytes of *file it takes, or 0.
 * `chunk`: room for one of its chunks. */
struct dm_zarr_target;
size_t dm_zarr_shard_pack(const dm_zarr *form, const struct dm_zarr_target *target, char *chunk, dm_zarr_room *file);
/* The name of the packer that elements are packed by; "none". */
const char *dm_zarr_packing(const dm_zarr_pipeline *pipeline);
/* How they are written. */
enum { DM_ZARR_ZSTD_LEVEL = 1, DM_ZARR_GZIP_LEVEL = 3, DM_ZARR_BLOSC_LEVEL = 5 };
#define DM_ZARR_BLOSC_NAME "lz4"

/* ---- zarr_boxes.c: a box and the chunks that it meets ---- */

/* Elements in memory: a box of an array, the first one's place, bytes from one to the next along each axis. */
typedef struct dm_zarr_target {
    dm_box box;
    char *elements;
    int64_t strides[DISTMAP_MAX_AXES];
} dm_zarr_target;

/* The box of an array, row-major in memory. */
dm_zarr_target dm_zarr_target_make(const dm_box *box, const void *elements, size_t size);
/* With axis order[i] as axis i. */
dm_zarr_target dm_zarr_target_turn(const dm_zarr_target *target, const int order[DISTMAP_MAX_AXES]);
/* What of it lies in the chunk at that place of the grid, counted from the chunk's first element. */
dm_zarr_target dm_zarr_target_cut(const dm_zarr_target *target, const int64_t chunk[DISTMAP_MAX_AXES],
                                  const int64_t at[DISTMAP_MAX_AXES]);
/* The chunks that it meets: how many, and the place of one of them in the grid, in order. */
int64_t dm_zarr_target_chunks(const dm_zarr_target *target, const int64_t chunk[DISTMAP_MAX_AXES]);
/* The number of the chunk at that place of the grid; -1: it is not listed. */
int64_t dm_zarr_target_part(const dm_zarr_target *target, const int64_t chunk[DISTMAP_MAX_AXES],
                            const int64_t at[DISTMAP_MAX_AXES]);
void dm_zarr_target_place(const dm_zarr_target *target, const int64_t chunk[DISTMAP_MAX_AXES], int64_t number,
                          int64_t at[DISTMAP_MAX_AXES]);
/* Copies from a row-major chunk of that shape to the target, or the other way. */
void dm_zarr_copy(const dm_zarr_target *target, const int64_t shape[DISTMAP_MAX_AXES], size_t size, char *chunk,
                  bool to_chunk);
void dm_zarr_fill(const dm_zarr_target *target, const void *value, size_t size);

/* ---- zarr_present.c: the existing chunks ---- */

/* An array's chunks, as files. */
typedef struct dm_zarr_grid {
    const dm_input *input; /* for messages */
    int folder;            /* -1: no folder */
    int levels;            /* nested folders, with this one, down to the files */
    const int64_t *shape, *chunk; /* of DISTMAP_MAX_AXES axes */
    /* Whether the file of that name, "3/0/1", is a chunk, and its place in the grid. */
    bool (*place)(const void *form, const char *name, int64_t at[DISTMAP_MAX_AXES]);
    const void *form;
} dm_zarr_grid;

typedef struct dm_zarr_present {
    bool listed;
    int64_t *number; /* in the grid, row-major, rising; owned */
    size_t count, room;
} dm_zarr_present;

/* Whether the target has enough chunks to list the folder. */
bool dm_zarr_is_many(const dm_zarr_grid *grid, const dm_zarr_target *target);
/* Those of the target that are there, rising, as numbers for dm_zarr_target_place(), into *parts, which the caller frees, also after an
 * error. */
distmap_status dm_zarr_present_list(const dm_zarr_grid *grid, dm_zarr_present *present, const dm_zarr_target *target, int64_t **parts,
                                    int64_t *count);

/* ---- zarr_chunk.c: what chunks' files hold ---- */

enum { DM_ZARR_WORKERS = 16 };

/* An array that is read, and what each of the threads that do so has. */
typedef struct dm_zarr_array {
    const dm_input *input; /* for messages */
    int folder;
    dm_zarr form;
    dm_zarr_present present;
    int workers;
    struct dm_zarr_worker {
        dm_zarr_room file, rooms[2]; /* a chunk as it is in the file, and unpacked */
    } worker[DM_ZARR_WORKERS];
} dm_zarr_array;

/* "3/0/1" */
void dm_zarr_chunk_name(const dm_zarr *form, const int64_t at[DISTMAP_MAX_AXES], char name[DM_ZARR_NAME]);
/* The shape of the smallest chunks, as the array's axes lie. */
void dm_zarr_smallest_chunk(const dm_zarr *form, int64_t chunk[DISTMAP_MAX_AXES]);
/* Sets how many threads work, and says how many bytes they hold at most. */
size_t dm_zarr_array_prepare(dm_zarr_array *array);
/* Reads the target's elements. */
distmap_status dm_zarr_array_read(dm_zarr_array *array, const dm_zarr_target *target);
/* Frees the form too. */
void dm_zarr_array_free(dm_zarr_array *array);

/* ---- zarr_group.c: nodes ---- */

typedef enum dm_zarr_node { DM_ZARR_NOTHING, DM_ZARR_GROUP, DM_ZARR_ARRAY } dm_zarr_node;

/* A folder's kind of node, and its version; what JSON it has. */
typedef struct dm_zarr_folder {
    int fd;
    dm_zarr_node node;
    int version;
    json_object *metadata;   /* zarr.json, or .zarray */
    json_object *attributes; /* a member of `metadata`, or .zattrs */
    char path[DM_ZARR_PATH]; /* of an image: its array */
} dm_zarr_folder;

/* Looks at the folder `fd`, which becomes its own. To be closed, after an error too. */
distmap_status dm_zarr_folder_open(const dm_input *input, int fd, dm_zarr_folder *folder);
void dm_zarr_folder_close(dm_zarr_folder *folder);
/* Whether there is a node: a look at the files' names alone. */
bool dm_zarr_is_node(int folder);
/* Finds the one array that is meant by a group: that of its multiscales, or its only one. *folder becomes the array's, and
 * `image` that with the multiscales that tell of it, or nothing. */
distmap_status dm_zarr_choose_array(const dm_input *input, dm_zarr_folder *folder, dm_zarr_folder *image);
/* For an array that was named itself: the group that it is in, where its multiscales tell of it, or nothing. */
distmap_status dm_zarr_find_image(const dm_input *input, const dm_zarr_folder *folder, dm_zarr_folder *image);
/* Whether the path is one within a store: names between slashes, none of them "." or "..". */
bool dm_zarr_path_is_good(const char *path);
/* Opens a folder below another one; -1: errno. */
int dm_zarr_open_below(int folder, const char *path);

/* ---- zarr_store.c: files of a store, written. `name` is for messages ---- */

/* With the folders that it is in, where they are missing. */
distmap_status dm_zarr_store(const char *name, int folder, const char *file, const void *data, size_t bytes,
                             bool synced);

/* ---- zarr_place.c ---- */

/* The folder, "/a/b/", that holds the outermost group above `target`, whatever name that was reached by; NULL: no memory. The caller
 * frees it. */
char *dm_zarr_place_home(const char *target);
/* The folder that takes its name at the end, for an output of that name: the outermost that is not there yet. The caller frees it. */
distmap_status dm_zarr_place(const char *path, char **target);
/* The version of the group of the output; 0: it is in no group. */
distmap_status dm_zarr_parent_version(const char *name, const char *target, int *version);

/* ---- zarr_nodes.c: what is added to a store ---- */

enum { DM_ZARR_TEXTS = 40, DM_ZARR_GROUPS = 16 };

typedef struct dm_zarr_nodes {
    char *name;  /* for messages */
    bool synced; /* each file is on the disk before it has its name */
    int texts, groups;
    struct dm_zarr_node_text {
        char *path;       /* below the folder that takes its name at the end */
        const char *file; /* "zarr.json" */
        char *text;
    } text[DM_ZARR_TEXTS];
    dm_output group[DM_ZARR_GROUPS]; /* the new texts of those above it that have consolidated metadata, from the inside out */
} dm_zarr_nodes;

/* Writes one of a node's files, whose text is taken; NULL is no memory. */
distmap_status dm_zarr_nodes_add(dm_zarr_nodes *nodes, int folder, const char *path, const char *file, char *text);
/* A group. Takes the attributes, which may be NULL. */
distmap_status dm_zarr_nodes_add_group(dm_zarr_nodes *nodes, int folder, const char *path, int version,
                                       json_object *attributes);
/* Forgets the nodes above `path`: they are not added after all. The others' paths are then below it. */
void dm_zarr_nodes_leave_out(dm_zarr_nodes *nodes, const char *path);
/* Prepares the consolidated metadata of all groups above `target` where `commit` is not NULL; whether there is any. */
distmap_status dm_zarr_nodes_consolidate(dm_zarr_nodes *nodes, const char *target, int version, const dm_commit *commit,
                                         bool *any);
/* Puts it in its place. */
distmap_status dm_zarr_nodes_take(dm_zarr_nodes *nodes, dm_commit *commit);
/* Also removes what was prepared and not put in its place. */
void dm_zarr_nodes_free(dm_zarr_nodes *nodes);

/* ---- The writing half of the codec, for its row in zarr_read.c ---- */

distmap_status dm_zarr_create(distmap_writer *writer);
distmap_status dm_zarr_write(distmap_writer *writer, int64_t count, const void *slices);
distmap_status dm_zarr_put(distmap_writer *writer, const dm_box *box, const void *elements);
distmap_status dm_zarr_finish(distmap_writer *writer);
char *dm_zarr_home(const distmap_writer *writer);
distmap_status dm_zarr_arrive(distmap_writer *writer, const dm_commit *commit);
distmap_status dm_zarr_take(distmap_writer *writer, dm_commit *commit);
void dm_zarr_discard(distmap_writer *writer);

#endif
