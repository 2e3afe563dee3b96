/* Writing a text header and elements: in one file or the elements in one of their own beside it, plain or packed. MetaImage, NRRD. */
#ifndef DISTMAP_IO_HEADED_H
#define DISTMAP_IO_HEADED_H

#include "io/deflate.h"
#include "io/text.h"

/* A writer's state, or how it begins. */
typedef struct dm_headed {
    dm_deflate *stream; /* NULL: plain */
} dm_headed;

/* Gives the elements a file of their own, NAME less its ending and with this one; *name is what the header calls it, the caller's. */
distmap_status dm_headed_part(distmap_writer *writer, const char *ending, char **name);
/* Writes the header, behind or beside which elements follow, if `packed` by zlib or gzip. */
distmap_status dm_headed_begin(distmap_writer *writer, const dm_text *header, bool packed, bool gzip);
/* The end; *packed: the bytes that packed elements became. The header may still be written into. */
distmap_status dm_headed_end(distmap_writer *writer, int64_t *packed);
/* A codec's `write` and `discard`. */
distmap_status dm_headed_write(distmap_writer *writer, int64_t count, const void *slices);
void dm_headed_discard(distmap_writer *writer);

#endif
