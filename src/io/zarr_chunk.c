/* One chunk of a Zarr array: its file's name, and how it is packed. Packers are rows of a table; blosc brings five of its own. */
#include <blosc.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "io/zarr.h"

struct dm_zarr_packer {
    const char *name;
    bool (*unpack)(const void *packed, size_t bytes, void *chunk, size_t size);
};

static bool copy(const void *packed, size_t bytes, void *chunk, size_t size) {
    if (bytes != size)
        return false;
    memcpy(chunk, packed, size);
    return true;
}

/* With zlib's heading or gzip's. */
static bool inflate_all(const void *packed, size_t bytes, void *chunk, size_t size) {
    enum { EITHER = 15 + 32 };
    z_stream stream = {.next_in = (Bytef *)packed, .avail_in = (uInt)bytes, .next_out = chunk, .avail_out = (uInt)size};
    if (inflateInit2(&stream, EITHER) != Z_OK)
        return false;
    const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == size;
    inflateEnd(&stream);
    return whole;
}

static bool unpack_blosc(const void *packed, size_t bytes, void *chunk, size_t size) {
    size_t unpacked;
    return blosc_cbuffer_validate(packed, bytes, &unpacked) == 0 && unpacked == size &&
           blosc_decompress_ctx(packed, chunk, size, 1) == (int)size;
}

static const dm_zarr_packer packers[] = {
    {"", copy}, {"blosc", unpack_blosc}, {"zlib", inflate_all}, {"gzip", inflate_all}};
enum { PACKERS = sizeof packers / sizeof *packers };

const dm_zarr_packer *dm_zarr_packer_find(const char *name) {
    for (int i = 0; i < PACKERS; i++)
        if (strcmp(packers[i].name, name) == 0)
            return &packers[i];
    return NULL;
}

const char *dm_zarr_packer_names(void) { return "blosc, zlib, gzip and chunks as they are"; }

void dm_zarr_chunk_name(const dm_zarr *form, const int64_t at[DISTMAP_MAX_AXES], char name[DM_ZARR_NAME]) {
    int used = 0;
    for (int a = DISTMAP_MAX_AXES - form->ndim; a < DISTMAP_MAX_AXES; a++)
        used += snprintf(name + used, (size_t)(DM_ZARR_NAME - used), "%lld%c", (long long)at[a],
                         a < DISTMAP_MAX_AXES - 1 ? form->separator : '\0');
}

bool dm_zarr_unpack(const dm_zarr *form, const void *packed, size_t bytes, void *chunk) {
    return form->packer->unpack(packed, bytes, chunk, form->chunk_bytes);
}

bool dm_zarr_packs(size_t chunk_bytes) { return chunk_bytes <= BLOSC_MAX_BUFFERSIZE; }

size_t dm_zarr_pack(const dm_zarr *form, const void *chunk, void *packed) {
    _Static_assert(DM_ZARR_MORE >= BLOSC_MAX_OVERHEAD, "room for what does not shrink");
    const int bytes = blosc_compress_ctx(5, BLOSC_SHUFFLE, form->size, form->chunk_bytes, chunk, packed,
                                         form->chunk_bytes + DM_ZARR_MORE, "lz4", 0, 1);
    return bytes > 0 ? (size_t)bytes : 0;
}
