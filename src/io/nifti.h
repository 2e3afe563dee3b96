/* NIfTI headers of both versions and byte orders, as one. */
#ifndef DISTMAP_IO_NIFTI_H
#define DISTMAP_IO_NIFTI_H

#include "io/codec.h"

enum { DM_NIFTI_START = 544 }; /* bytes that hold either version's header */

typedef struct dm_nifti {
    int version;  /* 1 or 2 */
    bool swapped; /* in the other byte order */
    int64_t dim[8];
    double pixdim[8];
    int datatype, units;
    int64_t offset; /* of the elements */
    double slope, inter;
} dm_nifti;

/* Takes the file's first `bytes` bytes apart. */
distmap_status dm_nifti_parse(const dm_input *input, const uint8_t *start, size_t bytes, dm_nifti *header);
/* The header of a file of info's shape, spacing, unit and dtype; *bytes of it, the elements follow. */
void dm_nifti_make(const distmap_image_info *info, uint8_t start[DM_NIFTI_START], size_t *bytes);
/* Whether these may be the first bytes of a NIfTI file. */
bool dm_nifti_is(const uint8_t *start, size_t bytes);

/* NIfTI's number for a dtype, 0 if none, and back (DISTMAP_NONE). */
int dm_nifti_datatype(distmap_dtype dtype);
distmap_dtype dm_nifti_dtype(int datatype);

/* The writing half of the codec, for its row in nifti_read.c. */
distmap_status dm_nifti_create(distmap_writer *writer);
distmap_status dm_nifti_write(distmap_writer *writer, int64_t count, const void *slices);
distmap_status dm_nifti_finish(distmap_writer *writer);
void dm_nifti_discard(distmap_writer *writer);

#endif
