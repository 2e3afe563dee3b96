/* NIfTI headers of both versions and byte orders, as one. */
#ifndef DISTMAP_IO_NIFTI_H
#define DISTMAP_IO_NIFTI_H

#include "io/codec.h"

/* Bytes of either version's header, and room for both. */
enum { DM_NIFTI_1 = 348, DM_NIFTI_2 = 540, DM_NIFTI_START = 544 };

typedef struct dm_nifti {
    int version;  /* 1 or 2 */
    bool swapped; /* in the other byte order */
    int64_t dim[8];
    double pixdim[8];
    int datatype, units;
    int64_t offset; /* of the elements */
    double slope, inter;
    /* Where it is: quaternion b, c, d and offset with pixdim, the rows of a matrix; each counts where its code is above 0. */
    int qform, sform;
    double quatern[3], qoffset[3], srow[3][4];
    double toffset, slice_duration;
    int64_t slice_start, slice_end;
    int slice_code, dim_info, intent;
    double intent_p[3];
    char intent_name[17], descrip[81], aux_file[25];
    bool pair; /* elements are in a file of their own, NAME.img */
} dm_nifti;

/* Takes the file's first `bytes` bytes apart. */
distmap_status dm_nifti_parse(const dm_input *input, const uint8_t *start, size_t bytes, dm_nifti *header);
/* The header of a file of that form; *bytes of it, the elements follow, or are in a file of their own. */
distmap_status dm_nifti_make(const distmap_writer *writer, bool pair, uint8_t start[DM_NIFTI_START], size_t *bytes);

/* ---- nifti_model.c: its meaning ---- */

/* Of a header that was parsed: shape and axes, pitches, units, kind and the place in the world. */
distmap_status dm_nifti_take(distmap_reader *reader, const dm_nifti *header);
/* The other way, all but type and offset. A header that the image came with is followed as far as it says the same. */
distmap_status dm_nifti_fill(const distmap_writer *writer, dm_nifti *header);
/* Takes the bytes of a header apart that was read before; whether they are one. */
bool dm_nifti_reread(const void *start, size_t bytes, dm_nifti *header);
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
