/* Boxes of elements and the chunks that they meet. */
#include <string.h>

#include "io/zarr.h"

/* Bytes from one element to the next along each axis of a row-major array. */
static void find_strides(const int64_t *shape, size_t size, int64_t strides[DISTMAP_MAX_AXES]) {
    int64_t stride = (int64_t)size;
    for (int a = DISTMAP_MAX_AXES - 1; a >= 0; a--) {
        strides[a] = stride;
        stride *= shape[a];
    }
}

dm_zarr_target dm_zarr_target_make(const dm_box *box, const void *elements, size_t size) {
    dm_zarr_target target = {.box = *box, .elements = (char *)elements};
    find_strides(box->count, size, target.strides);
    return target;
}

dm_zarr_target dm_zarr_target_turn(const dm_zarr_target *target, const int order[DISTMAP_MAX_AXES]) {
    dm_zarr_target turned = {.elements = target->elements};
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        turned.box.first[a] = target->box.first[order[a]];
        turned.box.count[a] = target->box.count[order[a]];
        turned.strides[a] = target->strides[order[a]];
    }
    return turned;
}

dm_zarr_target dm_zarr_target_cut(const dm_zarr_target *target, const int64_t chunk[DISTMAP_MAX_AXES],
                                  const int64_t at[DISTMAP_MAX_AXES]) {
    dm_zarr_target cut = *target;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        const int64_t first = target->box.first[a], end = first + target->box.count[a], begin = at[a] * chunk[a];
        const int64_t lo = begin > first ? begin : first, hi = end - begin > chunk[a] ? begin + chunk[a] : end;
        cut.box.first[a] = lo - begin;
        cut.box.count[a] = hi - lo;
        cut.elements += (lo - first) * target->strides[a];
    }
    return cut;
}

static int64_t chunks_along(const dm_zarr_target *target, const int64_t *chunk, int axis) {
    const int64_t first = target->box.first[axis], last = first + target->box.count[axis] - 1;
    return last / chunk[axis] - first / chunk[axis] + 1;
}

int64_t dm_zarr_target_chunks(const dm_zarr_target *target, const int64_t chunk[DISTMAP_MAX_AXES]) {
    int64_t chunks = 1;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++)
        chunks *= chunks_along(target, chunk, a);
    return chunks;
}

void dm_zarr_target_place(const dm_zarr_target *target, const int64_t chunk[DISTMAP_MAX_AXES], int64_t number,
                          int64_t at[DISTMAP_MAX_AXES]) {
    for (int a = DISTMAP_MAX_AXES - 1; a >= 0; a--) {
        const int64_t count = chunks_along(target, chunk, a);
        at[a] = target->box.first[a] / chunk[a] + number % count;
        number /= count;
    }
}

int64_t dm_zarr_target_part(const dm_zarr_target *target, const int64_t chunk[DISTMAP_MAX_AXES],
                            const int64_t at[DISTMAP_MAX_AXES]) {
    int64_t part = 0;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        const int64_t count = chunks_along(target, chunk, a), place = at[a] - target->box.first[a] / chunk[a];
        if (place < 0 || place >= count)
            return -1;
        part = part * count + place;
    }
    return part;
}

static void copy_elements(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t count,
                          size_t size) {
    if (to_stride == (int64_t)size && from_stride == (int64_t)size) {
        memcpy(to, from, (size_t)count * size);
        return;
    }
    switch (size) {
#define COPY(T)                         \
    for (int64_t i = 0; i < count; i++) \
    memcpy(to + i * to_stride, from + i * from_stride, sizeof(T))
    case 1: COPY(uint8_t); break;
    case 2: COPY(uint16_t); break;
    case 4: COPY(uint32_t); break;
    default: COPY(uint64_t); break;
#undef COPY
    }
}

/* The axis in whose direction elements lie together in the target runs innermost; in the chunk it is the last one. */
void dm_zarr_copy(const dm_zarr_target *target, const int64_t shape[DISTMAP_MAX_AXES], size_t size, char *chunk,
                  bool to_chunk) {
    int64_t of_chunk[DISTMAP_MAX_AXES];
    int axes[DISTMAP_MAX_AXES], inner = DISTMAP_MAX_AXES - 1;
    find_strides(shape, size, of_chunk);
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        chunk += target->box.first[a] * of_chunk[a];
        if (target->box.count[a] > 1 && target->strides[a] == (int64_t)size)
            inner = a;
    }
    axes[DISTMAP_MAX_AXES - 1] = inner;
    for (int a = 0, k = 0; a < DISTMAP_MAX_AXES; a++)
        if (a != inner)
            axes[k++] = a;
    const int64_t *count = target->box.count, *of_target = target->strides;
    int64_t at[DISTMAP_MAX_AXES] = {0};
    for (int k = 0; k >= 0;) {
        char *c = chunk, *e = target->elements;
        for (int i = 0; i < DISTMAP_MAX_AXES - 1; i++) {
            c += at[i] * of_chunk[axes[i]];
            e += at[i] * of_target[axes[i]];
        }
        copy_elements(to_chunk ? c : e, to_chunk ? of_chunk[inner] : of_target[inner], to_chunk ? e : c,
                      to_chunk ? of_target[inner] : of_chunk[inner], count[inner], size);
        for (k = DISTMAP_MAX_AXES - 2; k >= 0 && ++at[k] == count[axes[k]]; k--)
            at[k] = 0;
    }
}

void dm_zarr_fill(const dm_zarr_target *target, const void *value, size_t size) {
    const int64_t *count = target->box.count, *strides = target->strides;
    int64_t at[DISTMAP_MAX_AXES] = {0};
    for (int k = 0; k >= 0;) {
        char *e = target->elements;
        for (int a = 0; a < DISTMAP_MAX_AXES - 1; a++)
            e += at[a] * strides[a];
        copy_elements(e, strides[DISTMAP_MAX_AXES - 1], value, 0, count[DISTMAP_MAX_AXES - 1], size);
        for (k = DISTMAP_MAX_AXES - 2; k >= 0 && ++at[k] == count[k]; k--)
            at[k] = 0;
    }
}
