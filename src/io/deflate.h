/* Elements in one deflate stream, with zlib's heading or gzip's. MetaImage, NRRD, NIfTI. */
#ifndef DISTMAP_IO_DEFLATE_H
#define DISTMAP_IO_DEFLATE_H

#include "io/codec.h"

typedef struct dm_inflate dm_inflate;

/* Of the input's bytes [offset, offset + bytes), of which all are the stream's; both headings are recognised, and gzip may be in several parts.
 * NULL without memory. */
dm_inflate *dm_inflate_open(const dm_input *input, int64_t offset, int64_t bytes);
/* Reads the unpacked bytes [at, at + bytes). In rising order it is cheapest: going back starts again. With the last one of `whole`, the checksum
 * is checked too. */
distmap_status dm_inflate_read(dm_inflate *stream, int64_t at, void *data, size_t bytes, int64_t whole);
/* The first `bytes` unpacked bytes, or as many as there are: *got. */
distmap_status dm_inflate_start(dm_inflate *stream, void *data, size_t bytes, size_t *got);
void dm_inflate_close(dm_inflate **stream);

/* A codec's elements in such a stream, behind `skip` unpacked bytes, as the reader's state. */
distmap_status dm_packed_open(distmap_reader *reader, int64_t offset, int64_t bytes, int64_t skip, bool swapped);
distmap_status dm_packed_read(distmap_reader *reader, int64_t first, int64_t count, void *out);
void dm_packed_close(distmap_reader *reader);

typedef struct dm_deflate dm_deflate;

/* Packs into the output, from its current place on. NULL without memory. */
dm_deflate *dm_deflate_open(dm_output *output, bool gzip);
distmap_status dm_deflate_write(dm_deflate *stream, const void *data, size_t bytes);
/* The end: how many bytes they became. */
distmap_status dm_deflate_finish(dm_deflate *stream, int64_t *packed);
void dm_deflate_close(dm_deflate **stream);

#endif
