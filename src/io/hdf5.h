/* libhdf5 over this library's files.
 *
 * A child process calls it (hdf5_talk.c, hdf5_serve.c), since there are files on which libhdf5 crashes or never ends, and it does not
 * stand a failed allocation. hdf5_child.c is the codec's reading half in the caller's process, hdf5_write.c its writing half.
 *
 * The library need not be safe for threads, and prints what goes wrong: every group of calls stands between dm_hdf5_begin() and
 * dm_hdf5_end(), which hold one lock for the whole process and keep it quiet. Two programs in one process, this library and
 * another user of libhdf5, are told apart by no lock of ours.
 */
#ifndef DISTMAP_IO_HDF5_H
#define DISTMAP_IO_HDF5_H

#define H5_USE_110_API
#include <hdf5.h>

#include "io/codec.h"
#include "io/helper.h"

typedef struct dm_hdf5_call {
    H5E_auto2_t print; /* what the caller's program had set */
    void *user;
    bool known;
} dm_hdf5_call;

void dm_hdf5_begin(dm_hdf5_call *call);
void dm_hdf5_end(dm_hdf5_call *call);

/* Between the two: */

/* The innermost of the errors since the last call into the library that went well, as one line. */
const char *dm_hdf5_why(char text[200]);

/* A file that the caller's process writes and reads for its child (dm_hdf5_ask): new, or with what it holds. */
typedef struct dm_hdf5_output {
    const char *name;
    bool fresh;
    int64_t size;
} dm_hdf5_output;

/* Opens the file behind an input, or an output. Files that it names in turn (external links, sources of virtual datasets) are not found.
 * Negative after an error, and then `why` tells it. */
hid_t dm_hdf5_open_input(dm_input *input, char why[200]);
hid_t dm_hdf5_open_output(const dm_hdf5_output *output, char why[200]);
/* Closes the file; negative after an error. */
herr_t dm_hdf5_close(hid_t opened);

/* The element type in memory for a type in a file: NONE if there is none. *type is to be closed. */
distmap_dtype dm_hdf5_dtype(hid_t stored, hid_t *type);
/* The type in memory and in files for elements of a dtype; to be closed. */
hid_t dm_hdf5_type(distmap_dtype dtype);

/* Names of axes, pitches, unit and place, in a dataset's attributes (hdf5_model.c). */
distmap_status dm_hdf5_model_read(distmap_reader *reader, hid_t dataset);
bool dm_hdf5_model_write(hid_t dataset, const distmap_image_info *info);

/* What is written from `ghost` from now on is not: *at becomes the place in the file where it belongs. NULL: no more. */
void dm_hdf5_haunt(const void *ghost, haddr_t *at);

/* ---- hdf5_chunks.c: no libhdf5, no lock ---- */

enum { DM_HDF5_GZIP = 1 }; /* level */

/* Whether the elements are in chunks, shuffled and deflated; else they are in one piece. */
bool dm_hdf5_is_packed(const distmap_image_info *info);
/* The shape of a dataset's chunks; the image has elements. */
void dm_hdf5_chunk(const distmap_image_info *info, hsize_t chunk[DISTMAP_MAX_AXES]);
/* How many there are in the first `slices` slices, 0 in an image without elements. */
int64_t dm_hdf5_chunk_count(const distmap_image_info *info, int64_t slices);
/* The first element of chunk number i, row-major. */
void dm_hdf5_chunk_origin(const distmap_image_info *info, const hsize_t *chunk, int64_t i, hsize_t *origin);
int64_t dm_hdf5_depth(const distmap_image_info *info);
distmap_status dm_hdf5_pack(const distmap_image_info *info, int64_t count, const void *slices, distmap_pieces *pieces);

/* ---- Reading: the dataset, by libhdf5 (hdf5_read.c, hdf5_locate.c) ---- */

/* How a dataset's chunks are packed. `ours`: by filters that hdf5_unpack.c knows, of elements as they are in memory but for the order
 * of bytes; else libhdf5 unpacks. */
typedef struct dm_hdf5_form {
    bool ours, swapped;
    bool keeps_row; /* a row of chunks along the first axis is kept between bands, since that is little */
    int32_t filters;
    int32_t filter[H5Z_MAX_NFILTERS];
    int64_t chunk[DISTMAP_MAX_AXES]; /* 0: not in chunks */
    int64_t bytes;                   /* of a chunk, unpacked; less than 2^32 */
    int64_t row_chunks;              /* how many there are in a row */
    char fill[8];                    /* an element that nobody has written */
} dm_hdf5_form;

typedef struct dm_hdf5_set {
    hid_t file, dataset, type, stored; /* types in memory and in the file; < 0: closed */
    char path[512];                    /* of the dataset */
    dm_hdf5_form form;
} dm_hdf5_set;

/* A part of a dataset: slices of the first axis, and of these rows of the second one, where there is any. */
typedef struct dm_hdf5_part {
    int64_t first, count, row, rows;
} dm_hdf5_part;

/* Where a chunk is. */
typedef struct dm_hdf5_spot {
    int64_t offset; /* < 0: nowhere, it has the fill value */
    int64_t bytes;
    uint32_t skipped; /* bit i: filter i was not applied */
} dm_hdf5_spot;

/* Fills reader->info and, where elements lie in the file as they are, reader->raw; reader->state becomes a dm_hdf5_set. */
distmap_status dm_hdf5_here_open(distmap_reader *reader);
distmap_status dm_hdf5_here_read(distmap_reader *reader, const dm_hdf5_part *part, void *out);
void dm_hdf5_here_close(distmap_reader *reader);

/* Whether elements in the file are those in memory but for the order of bytes. Enumerations are as their integers. */
bool dm_hdf5_is_same(const dm_hdf5_set *s, bool *swapped);
distmap_status dm_hdf5_form_take(distmap_reader *reader, hid_t made);
/* The chunks of the row that begins with slice `first`: form.row_chunks of them, row-major. */
distmap_status dm_hdf5_here_locate(distmap_reader *reader, int64_t first, dm_hdf5_spot *places);

/* ---- Unpacking, without libhdf5 (hdf5_unpack.c) ---- */

typedef distmap_status dm_hdf5_locate(distmap_reader *reader, int64_t first, dm_hdf5_spot *places);

typedef struct dm_hdf5_chunks {
    dm_hdf5_form form;
    dm_hdf5_locate *locate;
    char *packed, *unpacked;
    size_t room; /* of each */
    struct dm_unpacker *unpacker;
    dm_hdf5_spot *places; /* of the row that begins with slice `placed` */
    int64_t placed;       /* -1: none */
    char *row;            /* a row of chunks, unpacked; NULL: not yet, or never */
    int64_t row_at;       /* its first slice; -1: none */
} dm_hdf5_chunks;

distmap_status dm_hdf5_chunks_open(distmap_reader *reader, dm_hdf5_chunks *chunks, const dm_hdf5_form *form,
                                   dm_hdf5_locate *locate);
distmap_status dm_hdf5_chunks_read(distmap_reader *reader, dm_hdf5_chunks *chunks, int64_t first, int64_t count,
                                   char *out);
void dm_hdf5_chunks_close(dm_hdf5_chunks *chunks);

/* Called when the input is read, with how many bytes. NULL: nobody. */
extern void (*dm_hdf5_alive)(size_t bytes);

/* For the fuzz target, which is to see what libhdf5 does: readers work in this process. */
extern bool dm_hdf5_in_process;

/* ---- The child, from the caller's side (hdf5_talk.c) ---- */

enum {
    DM_HDF5_SOCKET = 3,
    DM_HDF5_MEMORY,
    DM_HDF5_FILE,
    DM_HDF5_DESCRIPTORS
}; /* of the child; the file is for reading only */

/* Bytes of the shared memory before the elements. Only reading has that memory: it is a file, and `ulimit -f` is about outputs. */
enum { DM_HDF5_HEAD = 4096 };

/* The beginning of the shared memory. */
typedef struct dm_hdf5_shared {
    _Atomic uint64_t alive; /* grows while the child works */
} dm_hdf5_shared;

typedef struct dm_hdf5_child {
    const char *name; /* of the file, for messages */
    bool writes;
    dm_helper helper;
    pid_t owner; /* who has started it: not a process that was forked since */
    int socket, memory_fd;
    char *memory; /* shared */
    int64_t memory_bytes;
} dm_hdf5_child;

/* The first message, with the names of the file and of the dataset behind it. */
typedef struct dm_hdf5_hello {
    bool writes, fresh; /* the rest is for writing */
    int64_t size;
    distmap_image_info info; /* all pointers NULL */
} dm_hdf5_hello;

typedef struct dm_hdf5_reply {
    int32_t status;
    char text[500];
} dm_hdf5_reply;

static inline dm_hdf5_child dm_hdf5_child_of(const char *name, bool writes) {
    return (dm_hdf5_child){.name = name, .writes = writes, .helper = {.handle = -1}, .socket = -1, .memory_fd = -1};
}
/* `fd`: the file, -1: none; `dataset` may be NULL. */
distmap_status dm_hdf5_child_start(dm_hdf5_child *c, int fd, const dm_hdf5_hello *hello, const char *dataset);
/* Ends it, if there is one, and says how it did (dm_helper_end). */
void dm_hdf5_child_stop(dm_hdf5_child *c, char *how, size_t bytes);
/* Waits for a message of `least` to `most` bytes, as long as the child shows signs of life. */
distmap_status dm_hdf5_hear(dm_hdf5_child *c, void *message, size_t least, size_t most);
distmap_status dm_hdf5_tell(dm_hdf5_child *c, const void *message, size_t bytes);
/* Makes the memory that both see at least so large. */
distmap_status dm_hdf5_grow(dm_hdf5_child *c, int64_t bytes);
distmap_status dm_hdf5_check_version(const dm_hdf5_child *c, const char version[16]);
/* The reply's status and text as an error of this process. */
distmap_status dm_hdf5_take_reply(const dm_hdf5_child *c, dm_hdf5_reply *reply);

/* ---- Messages of a child that reads (hdf5_child.c, hdf5_serve.c) ---- */

/* For elements, or for the places of chunks in the row that begins with part.first. */
typedef struct dm_hdf5_request {
    bool locate;
    dm_hdf5_part part;
    int64_t at; /* in the shared memory, which has room for the answer there */
    int64_t bytes;
} dm_hdf5_request;

/* The first reply, to the file's name and the dataset's. */
typedef struct dm_hdf5_opened {
    dm_hdf5_reply reply;
    char version[16];
    distmap_image_info info; /* all pointers NULL */
    int64_t raw_offset;      /* < 0: elements do not lie in the file as they are */
    bool raw_swapped;
    dm_hdf5_form form;
} dm_hdf5_opened;

/* The child's whole life; ends the process. */
_Noreturn void dm_hdf5_serve(void);

/* ---- Messages of a child that writes (hdf5_write.c, hdf5_serve.c) ---- */

/* Messages have as many bytes of `data` as they need. */
enum { DM_HDF5_CALL = 1 << 15, DM_HDF5_BATCH = DM_HDF5_CALL / (int)sizeof(int64_t) };

typedef enum dm_hdf5_what { DM_HDF5_DONE, DM_HDF5_READ, DM_HDF5_WRITE, DM_HDF5_CUT } dm_hdf5_what;

/* To the child. An order: `number` chunks need places, whose sizes are the data; 0: the file is to be closed. Or an answer, when something
 * was done with the file for it: how many bytes of it were read, < 0: an error. */
typedef struct dm_hdf5_order {
    int64_t number;
    char data[DM_HDF5_CALL];
} dm_hdf5_order;

/* From the child: that an order is done, with the places of chunks, or that the dataset is made; or, before that, what the caller's process
 * is to do with `bytes` of the file at `at`, which are the data of WRITE. */
typedef struct dm_hdf5_told {
    dm_hdf5_what what;
    int64_t at; /* where the dataset is made: where elements lie as they are, 0: nowhere */
    int64_t bytes;
    dm_hdf5_reply reply;
    char version[16]; /* where the dataset is made */
    char data[DM_HDF5_CALL];
} dm_hdf5_told;

/* In the child: has that done. How many bytes were read; < 0: an error. */
int64_t dm_hdf5_ask(dm_hdf5_what what, int64_t at, void *data, size_t bytes);

/* ---- Making a dataset, in the child (hdf5_make.c) ---- */

typedef struct dm_hdf5_making {
    dm_hdf5_output output;
    const char *path; /* of the dataset */
    distmap_image_info info;
    hid_t file, dataset, type; /* < 0: closed */
    hsize_t chunk[DISTMAP_MAX_AXES];
    int64_t chunks;     /* in the file */
    int64_t raw_offset; /* > 0: elements lie from here on as they are */
} dm_hdf5_making;

/* output, path and info are given. */
distmap_status dm_hdf5_make(dm_hdf5_making *m);
/* Makes room for the next `count` chunks: their sizes become their places. */
distmap_status dm_hdf5_make_room(dm_hdf5_making *m, int64_t count, int64_t *table);
distmap_status dm_hdf5_make_end(dm_hdf5_making *m);

/* The writing half of the codec, for its row in hdf5_child.c. */
distmap_status dm_hdf5_create(distmap_writer *writer);
distmap_status dm_hdf5_write(distmap_writer *writer, int64_t count, const void *slices);
distmap_status dm_hdf5_place(distmap_writer *writer, int64_t count, const uint64_t *bytes, int64_t *offsets);
distmap_status dm_hdf5_finish(distmap_writer *writer);
void dm_hdf5_discard(distmap_writer *writer);

#endif
