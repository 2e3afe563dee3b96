/* Writing a shard: its chunks one behind the other, then an index of where each is, and that index's checksum (CRC-32C).
 *
 * Chunks that lie beyond the array are not there, and the index says so. A shard's file is made in memory, and written in one piece.
 */
#include <stdlib.h>
#include <string.h>

#include "io/crc32c.h"
#include "io/zarr.h"

static bool make_room(dm_zarr_room *file, size_t bytes) {
    if (bytes <= file->bytes)
        return true;
    const size_t room = bytes > 2 * file->bytes ? bytes : 2 * file->bytes;
    char *more = realloc(file->data, room);
    if (more) {
        file->data = more;
        file->bytes = room;
    }
    return more != NULL;
}

/* Whether the chunk's elements are not all among the target's. */
static bool is_cut(const dm_zarr_target *cut, const int64_t chunk[DISTMAP_MAX_AXES]) {
    bool is = false;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        is |= cut->box.count[a] < chunk[a];
    return is;
}

static void put_index(const dm_zarr_shard *shard, const uint64_t *index, char *to) {
    const size_t bytes = (size_t)shard->index_bytes - sizeof(uint32_t);
    memcpy(to, index, bytes);
    const uint32_t sum = dm_crc32c(to, bytes);
    for (unsigned k = 0; k < sizeof sum; k++)
        to[bytes + k] = (char)(sum >> 8 * k);
}

size_t dm_zarr_shard_pack(const dm_zarr *form, const dm_zarr_target *target, char *chunk, dm_zarr_room *file) {
    const dm_zarr_shard *shard = form->pipeline.shard;
    const dm_zarr_pipeline *inner = shard->inner;
    const size_t index_bytes = (size_t)shard->index_bytes, room = dm_zarr_pack_room(inner);
    uint64_t *index = malloc(index_bytes);
    size_t used = 0;
    bool good = index != NULL;
    if (index)
        memset(index, 0xff, index_bytes);
    for (int64_t part = 0; good && part < dm_zarr_target_chunks(target, shard->chunk); part++) {
        int64_t at[DISTMAP_MAX_AXES], number = 0;
        dm_zarr_target_place(target, shard->chunk, part, at);
        for (int a = 0; a < DISTMAP_MAX_AXES; a++)
            number = number * shard->grid[a] + at[a];
        const dm_zarr_target cut = dm_zarr_target_cut(target, shard->chunk, at);
        if (is_cut(&cut, shard->chunk)) /* the same elements are the same file */
            memset(chunk, 0, inner->bytes);
        dm_zarr_copy(&cut, shard->chunk, form->size, chunk, true);
        good = make_room(file, used + room + index_bytes);
        const size_t bytes = good ? dm_zarr_pack(inner, form->size, chunk, file->data + used) : 0;
        good = bytes > 0;
        index[2 * number] = used;
        index[2 * number + 1] = bytes;
        used += bytes;
    }
    if (good)
        put_index(shard, index, file->data + used);
    free(index);
    return good ? used + index_bytes : 0;
}
