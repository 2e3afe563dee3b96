/* libhdf5 over this library's files.
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

/* Whether chunks are shuffled and deflated. */
bool dm_hdf5_is_packed(const distmap_image_info *info);
/* The shape of a dataset's chunks; the image has elements. */
void dm_hdf5_chunk(const distmap_image_info *info, hsize_t chunk[DISTMAP_MAX_AXES]);
/* How many there are in the first `slices` slices, 0 in an image without elements. */
int64_t dm_hdf5_chunk_count(const distmap_image_info *info, int64_t slices);
/* The first element of chunk number i, row-major. */
void dm_hdf5_chunk_origin(const distmap_image_info *info, const hsize_t *chunk, int64_t i, hsize_t *origin);
int64_t dm_hdf5_depth(const distmap_image_info *info);
distmap_status dm_hdf5_pack(const distmap_image_info *info, int64_t count, const void *slices, distmap_pieces *pieces);

/* The writing half of the codec, for its row in hdf5_read.c. */
distmap_status dm_hdf5_create(distmap_writer *writer);
distmap_status dm_hdf5_write(distmap_writer *writer, int64_t count, const void *slices);
distmap_status dm_hdf5_place(distmap_writer *writer, int64_t count, const uint64_t *bytes, int64_t *offsets);
distmap_status dm_hdf5_finish(distmap_writer *writer);
void dm_hdf5_discard(distmap_writer *writer);

#endif
