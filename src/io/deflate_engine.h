/* Compresses and decompresses deflate streams for deflate.c: ISA-L where it is installed (deflate_isal.c), else zlib (deflate_zlib.c). */
#ifndef DISTMAP_IO_DEFLATE_ENGINE_H
#define DISTMAP_IO_DEFLATE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The remaining input, and the output. */
typedef struct dm_flow {
    const uint8_t *in;
    size_t in_bytes; /* at most 2^30 */
    uint8_t *out;
    size_t out_bytes; /* the same */
    size_t back;      /* at the end of a stream: bytes that were taken and lie behind it */
} dm_flow;

typedef enum dm_flow_end { DM_FLOW_MORE, DM_FLOW_END, DM_FLOW_BROKEN, DM_FLOW_NO_MEMORY } dm_flow_end;

typedef struct dm_unpacker dm_unpacker;

/* NULL without memory. */
dm_unpacker *dm_unpacker_make(void);
/* Begins a stream with gzip's heading, or zlib's. */
bool dm_unpacker_start(dm_unpacker *unpacker, bool gzip);
/* Goes on until input or room is out, or the stream is at its end and its checksum right. */
dm_flow_end dm_unpacker_run(dm_unpacker *unpacker, dm_flow *flow);
void dm_unpacker_free(dm_unpacker *unpacker);

typedef struct dm_packer dm_packer;

dm_packer *dm_packer_make(bool gzip);
/* Goes on until all input is taken and, with `last`, the stream is ended (DM_FLOW_END), or room is out. */
dm_flow_end dm_packer_run(dm_packer *packer, dm_flow *flow, bool last);
void dm_packer_free(dm_packer *packer);

#endif
