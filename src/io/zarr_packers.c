/* What packs the bytes of a chunk: rows of a table. A packer's own text says what is needed to unpack, so that its configuration in
 * the metadata is not. blosc brings five of its own. */
#include <blosc.h>
#include <bzlib.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "io/crc32c.h"
#include "io/zarr.h"

enum { FIRST_ROOM = 1 << 16 };

static const char *const broken = "is broken, or not of the size that its form tells";

struct dm_zarr_packer {
    const char *name;
    int since; /* which version */
    /* Unpacks into `room` bytes; NULL and *got, or why not. */
    const char *(*unpack)(const char *packed, size_t bytes, char *out, size_t room, size_t *got);
    /* What is there already has only to be cut. */
    const char *(*check)(const char *packed, size_t *bytes);
    /* Packs elements of `size` bytes into bound(bytes) bytes: how many it takes, or 0. bound() is 0 where there are too many. NULL: not written. */
    size_t (*bound)(size_t bytes);
    size_t (*pack)(const void *elements, size_t bytes, size_t size, void *packed, size_t room);
};

bool dm_zarr_room_make(dm_zarr_room *room, size_t bytes) {
    if (bytes <= room->bytes)
        return true;
    free(room->data);
    room->data = malloc(bytes);
    room->bytes = room->data ? bytes : 0;
    return room->data != NULL;
}

static uint32_t little(const char *at) {
    const uint8_t *b = (const uint8_t *)at;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* ---- Rows ---- */

/* With zlib's heading or gzip's, of which there may be several, one behind the other. */
static const char *unpack_deflate(const char *packed, size_t bytes, char *out, size_t room, size_t *got) {
    enum { EITHER = 15 + 32 };
    z_stream stream = {
        .next_in = (Bytef *)packed, .avail_in = (uInt)bytes, .next_out = (Bytef *)out, .avail_out = (uInt)room};
    if (inflateInit2(&stream, EITHER) != Z_OK)
        return broken;
    int end = inflate(&stream, Z_FINISH);
    while (end == Z_STREAM_END && stream.avail_in > 1 && stream.next_in[0] == 0x1f && stream.next_in[1] == 0x8b &&
           inflateReset(&stream) == Z_OK)
        end = inflate(&stream, Z_FINISH);
    *got = room - stream.avail_out;
    inflateEnd(&stream);
    return end == Z_STREAM_END ? NULL : broken;
}

static const char *unpack_blosc(const char *packed, size_t bytes, char *out, size_t room, size_t *got) {
    if (blosc_cbuffer_validate(packed, bytes, got) != 0 || *got > room)
        return broken;
    return *got == 0 || blosc_decompress_ctx(packed, out, room, 1) == (int)*got ? NULL : broken;
}

static const char *unpack_zstd(const char *packed, size_t bytes, char *out, size_t room, size_t *got) {
    *got = ZSTD_decompress(out, room, packed, bytes);
    return ZSTD_isError(*got) ? broken : NULL;
}

/* A block, behind its length. */
static const char *unpack_lz4(const char *packed, size_t bytes, char *out, size_t room, size_t *got) {
    enum { HEAD = 4 };
    if (bytes < HEAD || bytes > INT32_MAX || little(packed) > room)
        return broken;
    const int count = LZ4_decompress_safe(packed + HEAD, out, (int)bytes - HEAD, (int)little(packed));
    *got = count < 0 ? 0 : (size_t)count;
    return count >= 0 && *got == little(packed) ? NULL : broken;
}

static const char *unpack_bz2(const char *packed, size_t bytes, char *out, size_t room, size_t *got) {
    unsigned count = (unsigned)room;
    const int end = BZ2_bzBuffToBuffDecompress(out, &count, (char *)packed, (unsigned)bytes, 0, 0);
    *got = count;
    return end == BZ_OK ? NULL : broken;
}

static const char *check_crc32c(const char *packed, size_t *bytes) {
    enum { SUM = 4 };
    if (*bytes < SUM)
        return broken;
    *bytes -= SUM;
    return dm_crc32c(packed, *bytes) == little(packed + *bytes) ? NULL : "is broken: its checksum (crc32c) is wrong";
}

/* ---- Packing, by the levels that the metadata tell (zarr_v2.c, zarr_v3.c) ---- */

static size_t bound_blosc(size_t bytes) { return bytes <= BLOSC_MAX_BUFFERSIZE ? bytes + BLOSC_MAX_OVERHEAD : 0; }
static size_t pack_blosc(const void *elements, size_t bytes, size_t size, void *packed, size_t room) {
    const int count = blosc_compress_ctx(DM_ZARR_BLOSC_LEVEL, BLOSC_SHUFFLE, size, bytes, elements, packed, room,
                                         DM_ZARR_BLOSC_NAME, 0, 1);
    return count > 0 ? (size_t)count : 0;
}

static size_t bound_zstd(size_t bytes) { return bytes <= INT32_MAX ? ZSTD_compressBound(bytes) : 0; }
static size_t pack_zstd(const void *elements, size_t bytes, size_t size, void *packed, size_t room) {
    (void)size;
    const size_t count = ZSTD_compress(packed, room, elements, bytes, DM_ZARR_ZSTD_LEVEL);
    return ZSTD_isError(count) ? 0 : count;
}

enum { GZIP_HEAD = 32 };
static size_t bound_gzip(size_t bytes) { return bytes <= INT32_MAX ? compressBound((uLong)bytes) + GZIP_HEAD : 0; }
static size_t pack_gzip(const void *elements, size_t bytes, size_t size, void *packed, size_t room) {
    (void)size;
    enum { WINDOW = 15 + 16, MEMORY = 8 };
    z_stream stream = {
        .next_in = (Bytef *)elements, .avail_in = (uInt)bytes, .next_out = packed, .avail_out = (uInt)room};
    if (deflateInit2(&stream, DM_ZARR_GZIP_LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    const int end = deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return end == Z_STREAM_END ? room - stream.avail_out : 0;
}

static const dm_zarr_packer packers[] = {
    {"blosc", 2, unpack_blosc, NULL, bound_blosc, pack_blosc},
    {"zstd", 2, unpack_zstd, NULL, bound_zstd, pack_zstd},
    {"gzip", 2, unpack_deflate, NULL, bound_gzip, pack_gzip},
    {"zlib", 2, unpack_deflate, NULL, NULL, NULL},
    {"lz4", 2, unpack_lz4, NULL, NULL, NULL},
    {"bz2", 2, unpack_bz2, NULL, NULL, NULL},
    {"crc32c", 3, NULL, check_crc32c, NULL, NULL},
};
enum { PACKERS = sizeof packers / sizeof *packers };

/* In version 3 what is numcodecs' own has its name in front. */
const dm_zarr_packer *dm_zarr_packer_find(int version, const char *name) {
    static const char own[] = "numcodecs.";
    if (version == 3 && strncmp(name, own, sizeof own - 1) == 0)
        name += sizeof own - 1;
    for (int i = 0; i < PACKERS; i++)
        if (strcmp(packers[i].name, name) == 0 && version >= packers[i].since)
            return &packers[i];
    return NULL;
}

void dm_zarr_packer_names(int version, char *names, size_t size) {
    *names = '\0';
    for (int i = 0; i < PACKERS; i++)
        if (version >= packers[i].since)
            dm_append(names, size, ", ", packers[i].name);
}

const char *dm_zarr_packing(const dm_zarr_pipeline *pipeline) {
    while (pipeline->shard && !pipeline->packers)
        pipeline = pipeline->shard->inner;
    for (int i = 0; i < pipeline->packers; i++)
        if (pipeline->packer[i]->unpack)
            return pipeline->packer[i]->name;
    return "none";
}

/* ---- One after the other ---- */

/* Deflate at its worst takes an eighth and a 64th more. */
size_t dm_zarr_most_packed(size_t bytes) { return bytes + bytes / 4 + 4096; }

const char *dm_zarr_unpack(const dm_zarr_pipeline *pipeline, size_t most, dm_zarr_room rooms[2], const char **data,
                           size_t *bytes) {
    int turn = 0;
    for (int i = pipeline->packers - 1; i >= 0; i--) {
        const dm_zarr_packer *packer = pipeline->packer[i];
        const char *why;
        if (packer->check) {
            if ((why = packer->check(*data, bytes)))
                return why;
            continue;
        }
        size_t room = most, got = 0;
        for (int k = 0; k < i && room <= UINT32_MAX; k++)
            room = dm_zarr_most_packed(room);
        if (room > UINT32_MAX || *bytes > UINT32_MAX)
            return "is too large to be unpacked";
        /* That much is hardly ever needed, but for a chunk's elements. */
        size_t some = i == 0 && !pipeline->shard ? room : FIRST_ROOM + 4 * *bytes;
        for (;; some *= 8) {
            some = some < room ? some : room;
            if (!dm_zarr_room_make(&rooms[turn], some ? some : 1))
                return "is too large for the memory";
            why = packer->unpack(*data, *bytes, rooms[turn].data, some, &got);
            if (!why)
                break;
            if (some == room)
                return why;
        }
        *data = rooms[turn].data;
        *bytes = got;
        turn = !turn;
    }
    return NULL;
}

/* ---- As it is written: by one packer, or none ---- */

size_t dm_zarr_pack_room(const dm_zarr_pipeline *pipeline) {
    return pipeline->packers ? pipeline->packer[0]->bound(pipeline->bytes) : pipeline->bytes;
}

size_t dm_zarr_pack(const dm_zarr_pipeline *pipeline, size_t size, const void *chunk, void *packed) {
    const size_t bytes = pipeline->bytes;
    if (pipeline->packers)
        return pipeline->packer[0]->pack(chunk, bytes, size, packed, dm_zarr_pack_room(pipeline));
    memcpy(packed, chunk, bytes);
    return bytes;
}
