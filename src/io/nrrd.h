/* NRRD (.nrrd, and .nhdr with its elements in a file of their own): "NRRD0004", lines "field: value" and "key:=value", an empty line,
 * elements. Axes go fastest first in the file.
 */
#ifndef DISTMAP_IO_NRRD_H
#define DISTMAP_IO_NRRD_H

#include "io/text.h"
#include "io/vectors.h"

typedef enum dm_nrrd_centers { DM_NRRD_UNKNOWN, DM_NRRD_CELL, DM_NRRD_NODE } dm_nrrd_centers;

/* The used members of a header. Arrays are in the file's order, fastest axis first; texts point into the header's text. NULL, NaN, zero:
 * not stated. */
typedef struct dm_nrrd {
    int version, ndim;
    int64_t size[DISTMAP_MAX_AXES];
    distmap_dtype dtype;
    const char *type;     /* as the header names it */
    const char *encoding; /* "raw", "gzip", or another as the header names it */
    bool has_size, has_endian, swapped;
    int64_t line_skip, byte_skip;
    const char *file; /* NULL: elements follow the header */
    const char *space;
    int space_ndim;
    bool has_directions, has_origin;
    bool has_vector[DISTMAP_MAX_AXES];
    double vector[DISTMAP_MAX_AXES][DM_VECTOR], origin[DM_VECTOR];
    double spacing[DISTMAP_MAX_AXES], least[DISTMAP_MAX_AXES]; /* least: "axis mins" */
    dm_nrrd_centers center[DISTMAP_MAX_AXES];
    char *kind[DISTMAP_MAX_AXES], *label[DISTMAP_MAX_AXES], *unit[DISTMAP_MAX_AXES];
    char *space_unit[DM_VECTOR];
} dm_nrrd;

/* nrrd_header.c: takes a header to pieces; the text is cut up. */
distmap_status dm_nrrd_parse(const dm_input *input, char *text, dm_nrrd *header);
bool dm_nrrd_is_last(const char *line);
/* The field of a line in small letters and without spaces ("spacedirections"), and where its value begins; false for comments and
 * for "key:=value". */
enum { DM_NRRD_FIELD = 24 };
bool dm_nrrd_field(const char *line, char field[DM_NRRD_FIELD], const char **value);

/* nrrd_model.c: sets shape, axes and place. */
distmap_status dm_nrrd_take(const dm_input *input, const dm_nrrd *header, distmap_image_info *info);
/* The header of an image that is written, up to the line that says where elements are. `packed` comes back. */
distmap_status dm_nrrd_make(const distmap_writer *writer, dm_text *text, bool *packed);

/* The writing half, for the codec's row in nrrd_read.c. */
distmap_status dm_nrrd_create(distmap_writer *writer);
distmap_status dm_nrrd_finish(distmap_writer *writer);

#endif
