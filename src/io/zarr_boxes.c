/* Boxes of elements and the chunks that they meet. */
#include <string.h>

#include "io/zarr.h"

distmap_status dm_zarr_each(const dm_zarr *form, const dm_box *box,
                            distmap_status (*call)(void *user, const int64_t at[DISTMAP_MAX_NDIM]), void *user) {
    int64_t first[DISTMAP_MAX_NDIM], last[DISTMAP_MAX_NDIM], at[DISTMAP_MAX_NDIM];
    for (int a = 0; a < DISTMAP_MAX_NDIM; a++) {
        first[a] = at[a] = box->first[a] / form->chunk[a];
        last[a] = (box->first[a] + box->count[a] - 1) / form->chunk[a];
    }
    for (int a = 0; a >= 0;) {
        TRY(call(user, at));
        for (a = DISTMAP_MAX_NDIM - 1; a >= 0 && at[a]++ == last[a]; a--)
            at[a] = first[a];
    }
    return DISTMAP_OK;
}

/* Bytes from one element to the next along each axis of an array of that shape. */
static void find_strides(const int64_t *shape, size_t size, bool fortran, int64_t strides[DISTMAP_MAX_NDIM]) {
    int64_t stride = (int64_t)size;
    for (int i = 0; i < DISTMAP_MAX_NDIM; i++) {
        const int a = fortran ? i : DISTMAP_MAX_NDIM - 1 - i;
        strides[a] = stride;
        stride *= shape[a];
    }
}

static void copy_row(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t count, size_t size) {
    if (to_stride == (int64_t)size && from_stride == (int64_t)size) {
        memcpy(to, from, (size_t)count * size);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * to_stride, from + i * from_stride, size);
}

void dm_zarr_copy(const dm_zarr *form, const dm_box *box, const int64_t at[DISTMAP_MAX_NDIM], char *chunk,
                  char *elements, bool to_chunk) {
    int64_t of_chunk[DISTMAP_MAX_NDIM] = {0}, of_box[DISTMAP_MAX_NDIM], count[DISTMAP_MAX_NDIM];
    char fill[sizeof form->fill], *inner = fill;
    memcpy(fill, form->fill, sizeof fill);
    if (chunk) {
        find_strides(form->chunk, form->size, form->fortran, of_chunk);
        inner = chunk;
    }
    find_strides(box->count, form->size, false, of_box);
    for (int a = 0; a < DISTMAP_MAX_NDIM; a++) {
        const int64_t begin = at[a] * form->chunk[a], end = begin + form->chunk[a];
        const int64_t lo = begin > box->first[a] ? begin : box->first[a];
        const int64_t box_end = box->first[a] + box->count[a], hi = end < box_end ? end : box_end;
        count[a] = hi - lo;
        inner += (lo - begin) * of_chunk[a];
        elements += (lo - box->first[a]) * of_box[a];
    }
    for (int64_t i = 0; i < count[0]; i++)
        for (int64_t j = 0; j < count[1]; j++)
            for (int64_t k = 0; k < count[2]; k++) {
                char *c = inner + i * of_chunk[0] + j * of_chunk[1] + k * of_chunk[2];
                char *e = elements + i * of_box[0] + j * of_box[1] + k * of_box[2];
                copy_row(to_chunk ? c : e, to_chunk ? of_chunk[3] : of_box[3], to_chunk ? e : c,
                         to_chunk ? of_box[3] : of_chunk[3], count[3], form->size);
            }
}
