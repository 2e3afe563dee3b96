/* MetaImage (.mha, and .mhd with its elements in a file of their own): lines "Key = value", the last one ElementDataFile.
 *
 * Axes go fastest first in the file, x y z, then time; channels are together in each element. The world is ITK's: LPS.
 */
#ifndef DISTMAP_IO_METAIMAGE_H
#define DISTMAP_IO_METAIMAGE_H

#include "io/text.h"

enum { DM_META_AXES = 4 };

/* The used members of a header. Arrays are the file's, fastest axis first. */
typedef struct dm_meta {
    int ndim, channels;
    int64_t size[DM_META_AXES];
    distmap_dtype dtype;
    bool swapped, packed, in_text; /* in_text: elements are decimals */
    int64_t packed_bytes;          /* 0: not told */
    int64_t skip;                  /* bytes before the elements in their file; -1: whatever is too much */
    bool has_size, has_spacing, has_matrix, has_offset;
    double spacing[DM_META_AXES], offset[DM_META_AXES];
    double matrix[DM_META_AXES * DM_META_AXES]; /* the unit vector along axis i from [i * ndim] on */
    const char *unit;                           /* static text; "": not told */
    const char *type;                           /* as the header names it; in the text, as `file` is */
    const char *file;                           /* "LOCAL", or where elements are */
} dm_meta;

/* Takes a header to pieces; the text is cut up. */
distmap_status dm_meta_parse(const dm_input *input, char *text, dm_meta *header);
/* Sets shape, axes and place. */
distmap_status dm_meta_take(const dm_input *input, const dm_meta *header, distmap_image_info *info);
bool dm_meta_is_last(const char *line);

/* The header of an image that is written, up to its last two lines. `packed` comes back. */
distmap_status dm_meta_make(const distmap_writer *writer, dm_text *text, bool *packed);

/* The writing half, for the codec's row in metaimage_read.c. */
distmap_status dm_meta_create(distmap_writer *writer);
distmap_status dm_meta_finish(distmap_writer *writer);

#endif
