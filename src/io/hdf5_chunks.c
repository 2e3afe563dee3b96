/* The chunks of HDF5 datasets that are written: their shape is that of chunks.c; what is in the file of each.
 *
 * A chunk is stored whole, with zeros where it sticks out of the image, shuffled (the first byte of all elements, then
 * the second, ...) and deflated, as libhdf5's filters would do it.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/hdf5.h"

bool dm_hdf5_is_packed(const distmap_image_info *info) {
    return !info->packing_asked || strcmp(info->packing, "none") != 0;
}

/* ---- Shape ---- */

void dm_hdf5_chunk(const distmap_image_info *info, hsize_t chunk[DISTMAP_MAX_AXES]) {
    int64_t chosen[DISTMAP_MAX_AXES] = {0};
    dm_chunk_choose(info, chosen);
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        chunk[a] = (hsize_t)chosen[a];
}

static int64_t along(int64_t length, hsize_t chunk) { return (length + (int64_t)chunk - 1) / (int64_t)chunk; }

static bool is_empty(const distmap_image_info *info) { return !info->shape[0] || !dm_slice_elements(info); }

int64_t dm_hdf5_chunk_count(const distmap_image_info *info, int64_t slices) {
    hsize_t chunk[DISTMAP_MAX_AXES];
    if (is_empty(info))
        return 0;
    dm_hdf5_chunk(info, chunk);
    int64_t count = along(slices, chunk[0]);
    for (int a = 1; a < info->ndim; a++)
        count *= along(info->shape[a], chunk[a]);
    return count;
}

void dm_hdf5_chunk_origin(const distmap_image_info *info, const hsize_t *chunk, int64_t i, hsize_t *origin) {
    for (int a = info->ndim - 1; a >= 0; a--) {
        const int64_t n = along(info->shape[a], chunk[a]);
        origin[a] = (hsize_t)(i % n) * chunk[a];
        i /= n;
    }
}

int64_t dm_hdf5_depth(const distmap_image_info *info) {
    hsize_t chunk[DISTMAP_MAX_AXES] = {1};
    if (!is_empty(info) && dm_hdf5_is_packed(info))
        dm_hdf5_chunk(info, chunk);
    return (int64_t)chunk[0];
}

/* ---- Elements ---- */

/* The chunk that begins at `origin` of `slices`, of which there are `count`. */
static void gather(const distmap_image_info *info, int64_t count, const char *slices, const hsize_t *chunk,
                   const hsize_t *origin, char *to) {
    const int last = info->ndim - 1;
    const int64_t size = (int64_t)distmap_dtype_size(info->dtype);
    int64_t rows = 1, run = info->shape[last] - (int64_t)origin[last];
    for (int a = 0; a < last; a++)
        rows *= (int64_t)chunk[a];
    if (last == 0)
        run = count - (int64_t)origin[0];
    run = run < (int64_t)chunk[last] ? run : (int64_t)chunk[last];
    for (int64_t row = 0; row < rows; row++, to += (int64_t)chunk[last] * size) {
        int64_t rest = row, from = (int64_t)origin[last], stride = info->shape[last];
        bool inside = true;
        for (int a = last - 1; a >= 0; a--) {
            const int64_t at = (int64_t)origin[a] + rest % (int64_t)chunk[a];
            rest /= (int64_t)chunk[a];
            inside = inside && at < (a ? info->shape[a] : count);
            from += at * stride;
            stride *= info->shape[a];
        }
        const int64_t taken = inside ? run : 0;
        if (taken)
            memcpy(to, slices + from * size, (size_t)(taken * size));
        memset(to + taken * size, 0, (size_t)(((int64_t)chunk[last] - taken) * size));
    }
}

static void shuffle(const char *from, size_t count, size_t size, char *to) {
    for (size_t byte = 0; byte < size; byte++)
        for (size_t i = 0; i < count; i++)
            *to++ = from[i * size + byte];
}

distmap_status dm_hdf5_pack(const distmap_image_info *info, int64_t count, const void *slices, distmap_pieces *pieces) {
    if (!is_empty(info) && !dm_hdf5_is_packed(info))
        return dm_raw_pack(info, count, slices, pieces);
    hsize_t chunk[DISTMAP_MAX_AXES], origin[DISTMAP_MAX_AXES];
    const size_t size = distmap_dtype_size(info->dtype);
    size_t elements = 1;
    dm_hdf5_chunk(info, chunk);
    for (int a = 0; a < info->ndim; a++)
        elements *= (size_t)chunk[a];
    const uLong bound = compressBound(elements * size);
    char *memory = malloc(2 * elements * size + bound);
    char *plain = memory, *shuffled = memory + elements * size, *packed = shuffled + elements * size;
    distmap_status status = memory ? dm_pieces_reserve(pieces, dm_hdf5_chunk_count(info, count)) : DISTMAP_ERROR_MEMORY;
    for (int64_t i = 0; i < pieces->count && !status; i++) {
        uLongf bytes = bound;
        dm_hdf5_chunk_origin(info, chunk, i, origin);
        gather(info, count, slices, chunk, origin, plain);
        shuffle(plain, elements, size, shuffled);
        status = compress2((Bytef *)packed, &bytes, (Bytef *)shuffled, elements * size, DM_HDF5_GZIP)
                     ? DISTMAP_ERROR_MEMORY /* all else is excluded */
                     : DISTMAP_OK;
        pieces->data[i] = status ? NULL : malloc(bytes);
        if (!pieces->data[i])
            status = DISTMAP_ERROR_MEMORY;
        else
            memcpy(pieces->data[i], packed, bytes);
        pieces->bytes[i] = bytes;
    }
    free(memory);
    return status ? dm_no_memory(pieces->name) : DISTMAP_OK;
}
