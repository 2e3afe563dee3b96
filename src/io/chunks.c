/* Arrays in chunks that are written by slices: how large chunks are, and slices gathered until a row of chunks is whole, so that
 * bands may come in any height and no chunk is packed twice. HDF5 and Zarr. */
#include <stdlib.h>
#include <string.h>

#include "io/codec.h"

enum { SLICES_BYTES = 8 << 20, CHUNK_BYTES = 1 << 19, DEEPEST = 64 };

/* As deep as SLICES_BYTES of slices, in volumes no deeper than DEEPEST, and halved along the longest axis until they are of
 * CHUNK_BYTES or less. */
void dm_chunk_choose(const distmap_image_info *info, int64_t chunk[DISTMAP_MAX_AXES]) {
    const int64_t slice = dm_slice_elements(info) * (int64_t)distmap_dtype_size(info->dtype),
                  fit = slice ? SLICES_BYTES / slice : 1, deepest = info->ndim > 2 && fit > DEEPEST ? DEEPEST : fit;
    size_t bytes = distmap_dtype_size(info->dtype);
    for (int a = 0; a < info->ndim; a++) {
        const int64_t most = a ? info->shape[a] : deepest > 1 ? deepest : 1;
        chunk[a] = info->shape[a] < most ? info->shape[a] : most;
        bytes *= (size_t)chunk[a];
    }
    const int last = info->ndim - 1;
    while (bytes > CHUNK_BYTES) {
        int longest = last;
        for (int a = last; a >= 0; a--)
            longest = chunk[a] > chunk[longest] ? a : longest;
        bytes = bytes / (size_t)chunk[longest] * (size_t)((chunk[longest] + 1) / 2);
        chunk[longest] = (chunk[longest] + 1) / 2;
    }
}

static distmap_status hand_on(distmap_writer *writer, dm_rows *rows, int64_t count, const void *slices,
                              dm_rows_put *put) {
    const dm_box box = dm_box_of_slices(&writer->info, rows->done, count);
    rows->done += count;
    return put(writer, &box, slices);
}

distmap_status dm_rows_write(distmap_writer *writer, dm_rows *rows, int64_t count, const void *slices,
                             dm_rows_put *put) {
    const char *from = slices;
    while (count) {
        int64_t taken = rows->row - rows->waiting < count ? rows->row - rows->waiting : count;
        if (!rows->waiting && count >= rows->row) {
            taken = count / rows->row * rows->row;
            TRY(hand_on(writer, rows, taken, from, put));
        } else {
            if (!rows->gathered && !(rows->gathered = malloc((size_t)rows->row * writer->slice_bytes)))
                return dm_no_memory(writer->output.name);
            memcpy(rows->gathered + (size_t)rows->waiting * writer->slice_bytes, from,
                   (size_t)taken * writer->slice_bytes);
            rows->waiting += taken;
            if (rows->waiting == rows->row) {
                rows->waiting = 0;
                TRY(hand_on(writer, rows, rows->row, rows->gathered, put));
            }
        }
        from += (size_t)taken * writer->slice_bytes;
        count -= taken;
    }
    return DISTMAP_OK;
}

distmap_status dm_rows_end(distmap_writer *writer, dm_rows *rows, dm_rows_put *put) {
    const int64_t count = rows->waiting;
    rows->waiting = 0;
    return count ? hand_on(writer, rows, count, rows->gathered, put) : DISTMAP_OK;
}
