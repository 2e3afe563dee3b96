/* One strip of TIFF, packed by libtiff's codecs in memory, so that several threads can do it. */
#ifndef DISTMAP_IO_TIFF_PACK_H
#define DISTMAP_IO_TIFF_PACK_H

#include "io/tiff_file.h"

/* The tags of a page that say how its samples are stored. */
typedef struct dm_tiff_form {
    uint32_t width;
    int bits, sample_format, compression, predictor;
} dm_tiff_form;

/* The form of elements; compression is one of libtiff's numbers. */
dm_tiff_form dm_tiff_form_of(const distmap_image_info *info, uint16_t compression);
/* Sets those tags, and that of rows per strip. */
void dm_tiff_form_set(TIFF *tiff, bool *refused, const dm_tiff_form *form, uint32_t strip_rows);

/* libtiff's number of what is packed by, NONE for a name that is none. */
uint16_t dm_tiff_compression(const char *packing);

typedef struct dm_tiff_strip {
    const void *rows; /* the caller's */
    uint32_t count;   /* of rows */
    void *packed;     /* NULL: not yet; owned by whoever frees it */
    size_t packed_bytes;
} dm_tiff_strip;

/* Fills in what is packed. `bytes`: of the rows. */
distmap_status dm_tiff_pack(const char *name, const dm_tiff_form *form, size_t bytes, dm_tiff_strip *strip);

#endif
