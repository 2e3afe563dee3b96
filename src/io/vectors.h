/* Where an image lies, told by a vector for each axis of the file: MetaImage, NRRD. */
#ifndef DISTMAP_IO_VECTORS_H
#define DISTMAP_IO_VECTORS_H

#include "io/codec.h"

enum { DM_VECTOR = 4 }; /* x, y, z and a time */

typedef struct dm_vectors {
    int world_ndim;                               /* 1 to DM_VECTOR, the fourth one of which is time */
    bool has[DISTMAP_MAX_AXES];                   /* the axis has one; in the order of the image's shape */
    double vector[DISTMAP_MAX_AXES][DM_VECTOR];   /* from one element to the next */
    double origin[DM_VECTOR];                     /* of the first element's centre */
} dm_vectors;

/* Into reader->info, whose axes have their types; pitches too, of axes that have none yet. Time and space must not be mixed. */
distmap_status dm_vectors_take(const dm_input *input, const dm_vectors *vectors, distmap_image_info *info);

/* A length in another unit; decimals stay the nearest to what they were (0.7 um is 0.0007 mm). 0: nobody knows. */
double dm_length_in(double length, const char *from, const char *to);

#endif
