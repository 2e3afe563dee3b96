/* libhdf5 over this library's files.
 *
 * Reading is done by a child process (hdf5_child.c, which is the codec's half here; hdf5_serve.c, the child's), since there are files
 * on which libhdf5 crashes or never ends. Only writing calls libhdf5 in the caller's process.
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

/* Opens the file behind an input, or behind an output: new, or with what it holds. Files that it names in turn (external links,
 * sources of virtual datasets) are not found. Negative after an error, and then `why` tells it. */
hid_t dm_hdf5_open_input(dm_input *input, char why[200]);
hid_t dm_hdf5_open_output(dm_output *output, bool fresh, char why[200]);
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

/* ---- Reading by a child (hdf5_child.c, hdf5_serve.c) ---- */

enum { DM_HDF5_SOCKET = 3, DM_HDF5_FILE, DM_HDF5_MEMORY, DM_HDF5_DESCRIPTORS }; /* of the child */
enum { DM_HDF5_HEAD = 4096 }; /* bytes of the shared memory before the elements */

/* The beginning of the shared memory. */
typedef struct dm_hdf5_shared {
    _Atomic uint64_t alive; /* grows while the child works */
} dm_hdf5_shared;

/* For elements, or for the places of chunks in the row that begins with part.first. */
typedef struct dm_hdf5_request {
    bool locate;
    dm_hdf5_part part;
    int64_t at; /* in the shared memory, which has room for the answer there */
    int64_t bytes;
} dm_hdf5_request;

typedef struct dm_hdf5_reply {
    int32_t status;
    char text[500];
} dm_hdf5_reply;

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

/* The writing half of the codec, for its row in hdf5_child.c. */
distmap_status dm_hdf5_create(distmap_writer *writer);
distmap_status dm_hdf5_write(distmap_writer *writer, int64_t count, const void *slices);
distmap_status dm_hdf5_place(distmap_writer *writer, int64_t count, const uint64_t *bytes, int64_t *offsets);
distmap_status dm_hdf5_finish(distmap_writer *writer);
void dm_hdf5_discard(distmap_writer *writer);

#endif
