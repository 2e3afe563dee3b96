/* Boxes of elements and the chunks that they meet. */
#include <string.h>

#include "io/zarr.h"

distmap_status dm_zarr_each(const dm_zarr *form, const dm_box *box,
                            distmap_status (*call)(void *user, const int64_t at[DISTMAP_MAX_AXES]), void *user) {
    int64_t first[DISTMAP_MAX_AXES], last[DISTMAP_MAX_AXES], at[DISTMAP_MAX_AXES];
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        first[a] = at[a] = box->first[a] / form->chunk[a];
        last[a] = (box->first[a] + box->count[a] - 1) / form->chunk[a];
    }
    for (int a = 0; a >= 0;) {
        TRY(call(user, at));
        for (a = DISTMAP_MAX_AXES - 1; a >= 0 && at[a]++ == last[a]; a--)
            at[a] = first[a];
    }
    return DISTMAP_OK;
}

/* Bytes from one element to the next along each axis of an array of that shape. */
static void find_strides(const int64_t *shape, size_t size, bool fortran, int64_t strides[DISTMAP_MAX_AXES]) {
    int64_t stride = (int64_t)size;
    for (int i = 0; i < DISTMAP_MAX_AXES; i++) {
        const int a = fortran ? i : DISTMAP_MAX_AXES - 1 - i;
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

void dm_zarr_copy(const dm_zarr *form, const dm_box *box, const int64_t at[DISTMAP_MAX_AXES], char *chunk,
                  char *elements, bool to_chunk) {
    int64_t of_chunk[DISTMAP_MAX_AXES] = {0}, of_box[DISTMAP_MAX_AXES], count[DISTMAP_MAX_AXES];
    char fill[sizeof form->fill], *inner = fill;
    memcpy(fill, form->fill, sizeof fill);
    if (chunk) {
        find_strides(form->chunk, form->size, form->fortran, of_chunk);
        inner = chunk;
    }
    find_strides(box->count, form->size, false, of_box);
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        const int64_t begin = at[a] * form->chunk[a], end = begin + form->chunk[a];
        const int64_t lo = begin > box->first[a] ? begin : box->first[a];
        const int64_t box_end = box->first[a] + box->count[a], hi = end < box_end ? end : box_end;
        count[a] = hi - lo;
        inner += (lo - begin) * of_chunk[a];
        elements += (lo - box->first[a]) * of_box[a];
    }
    const int last = DISTMAP_MAX_AXES - 1;
    int64_t i[DISTMAP_MAX_AXES] = {0};
    for (int a = 0; a >= 0;) {
        char *c = inner, *e = elements;
        for (int b = 0; b < last; b++) {
            c += i[b] * of_chunk[b];
            e += i[b] * of_box[b];
        }
        copy_row(to_chunk ? c : e, to_chunk ? of_chunk[last] : of_box[last], to_chunk ? e : c,
                 to_chunk ? of_box[last] : of_chunk[last], count[last], form->size);
        for (a = last - 1; a >= 0 && ++i[a] == count[a]; a--)
            i[a] = 0;
    }
}
