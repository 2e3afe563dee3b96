/* The writing half of the PNG codec, for its row in png_read.c. */
#ifndef DISTMAP_IO_PNG_WRITE_H
#define DISTMAP_IO_PNG_WRITE_H

#include "io/codec.h"

distmap_status dm_png_create(distmap_writer *writer);
distmap_status dm_png_write(distmap_writer *writer, int64_t count, const void *slices);
distmap_status dm_png_finish(distmap_writer *writer);
void dm_png_discard(distmap_writer *writer);

#endif
