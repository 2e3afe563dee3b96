/* Zarr, version 2: an array in chunks that are files of their own, in a folder.
 *
 *     vol.zarr/.zarray     its form, JSON: shape, chunks, dtype as NumPy names it, order, compressor, fill_value, ...
 *     vol.zarr/.zattrs     attributes, JSON
 *     vol.zarr/3/0/1       the chunk at place (3, 0, 1) of the grid, or 3.0.1 by the dimension_separator; one that
 *                          is not there has the fill value everywhere
 *
 * Chunks at the end of an axis are as large as the others, and their elements beyond it mean nothing. Arrays here have DISTMAP_MAX_AXES axes,
 * leading ones of length 1, as boxes do.
 */
#ifndef DISTMAP_IO_ZARR_H
#define DISTMAP_IO_ZARR_H

#include "io/codec.h"

typedef struct dm_zarr_packer dm_zarr_packer;

typedef struct dm_zarr {
    int ndim;
    int64_t shape[DISTMAP_MAX_AXES], chunk[DISTMAP_MAX_AXES];
    distmap_dtype dtype;
    size_t size;           /* of an element */
    bool swapped, fortran; /* within a chunk: the other byte order, first axis fastest */
    char separator;
    const dm_zarr_packer *packer;
    bool filled;        /* there is a fill value */
    uint8_t fill[8];    /* in this machine's byte order */
    size_t chunk_bytes; /* unpacked */
} dm_zarr;

/* ---- zarr_form.c: .zarray and .zattrs ---- */

/* A file of the folder as a text, which the caller frees; NULL in *text where there is none. */
distmap_status dm_zarr_load(const dm_input *input, const char *file, char **text);
distmap_status dm_zarr_parse(const dm_input *input, const char *text, dm_zarr *form);
/* What of the attributes is understood. */
void dm_zarr_take_attributes(const char *text, distmap_image_info *info);
/* The texts for what is written: blosc with lz4, the first axis slowest, no fill value. The caller frees them. */
char *dm_zarr_form_text(const distmap_image_info *info);
char *dm_zarr_attributes_text(const distmap_image_info *info);

/* ---- zarr_chunk.c: one chunk ---- */

enum { DM_ZARR_NAME = 96 };

/* The packer of that name, NULL if there is none. "" is none at all. */
const dm_zarr_packer *dm_zarr_packer_find(const char *name);
const char *dm_zarr_packer_names(void);
/* "3/0/1" */
void dm_zarr_chunk_name(const dm_zarr *form, const int64_t at[DISTMAP_MAX_AXES], char name[DM_ZARR_NAME]);
/* Unpacks what a chunk's file holds; whether that was right. */
bool dm_zarr_unpack(const dm_zarr *form, const void *packed, size_t bytes, void *chunk);
/* Packs a chunk: the bytes, at most chunk_bytes + DM_ZARR_MORE, or 0. */
enum { DM_ZARR_MORE = 16 };
size_t dm_zarr_pack(const dm_zarr *form, const void *chunk, void *packed);
/* Whether what is written can have chunks of that size. */
bool dm_zarr_packs(size_t chunk_bytes);

/* ---- zarr_boxes.c: a box and the chunks that it meets ---- */

/* Calls with the place of each of them in the grid. */
distmap_status dm_zarr_each(const dm_zarr *form, const dm_box *box,
                            distmap_status (*call)(void *user, const int64_t at[DISTMAP_MAX_AXES]), void *user);
/* Copies what the two have in common, from the chunk to the box's elements, or the other way. A chunk of NULL is all fill value. */
void dm_zarr_copy(const dm_zarr *form, const dm_box *box, const int64_t at[DISTMAP_MAX_AXES], char *chunk,
                  char *elements, bool to_chunk);

/* The writing half of the codec, for its row in zarr_read.c. */
distmap_status dm_zarr_create(distmap_writer *writer);
distmap_status dm_zarr_write(distmap_writer *writer, int64_t count, const void *slices);
distmap_status dm_zarr_put(distmap_writer *writer, const dm_box *box, const void *elements);
distmap_status dm_zarr_finish(distmap_writer *writer);
void dm_zarr_discard(distmap_writer *writer);

#endif
