/* Chunks of HDF5 datasets unpacked without libhdf5, where their filters are shuffle, deflate and Fletcher's checksum, or none.
 *
 * libhdf5 1.10 takes what filters give for a chunk without asking how much it is: one that comes out short is followed by whatever
 * lies behind it in memory. Here each step knows what it has to give. What the file leaves out has the fill value. Deflate is the
 * engine of all our formats, which is faster, and nothing goes from one process to another but the places of chunks.
 */
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/deflate_engine.h"
#include "io/hdf5.h"

enum { SUM_BYTES = 4 };

distmap_status dm_hdf5_chunks_open(distmap_reader *reader, dm_hdf5_chunks *c, const dm_hdf5_form *form,
                                   dm_hdf5_locate *locate) {
    *c = (dm_hdf5_chunks){.form = *form, .locate = locate, .placed = -1, .row_at = -1};
    c->room = (size_t)form->bytes + SUM_BYTES * H5Z_MAX_NFILTERS;
    c->packed = malloc(c->room);
    c->unpacked = form->filters ? malloc(c->room) : NULL;
    c->unpacker = dm_unpacker_make();
    c->places = malloc((size_t)form->row_chunks * sizeof *c->places + 1);
    const bool all = c->packed && (c->unpacked || !form->filters) && c->unpacker && c->places;
    return all ? DISTMAP_OK : dm_no_memory(reader->input.name);
}

void dm_hdf5_chunks_close(dm_hdf5_chunks *c) {
    free(c->packed);
    free(c->unpacked);
    free(c->places);
    free(c->row);
    if (c->unpacker)
        dm_unpacker_free(c->unpacker);
    *c = (dm_hdf5_chunks){.placed = -1};
}

/* ---- Filters, backwards: from `from` to `to`, *bytes of it ---- */

static bool inflate_chunk(dm_unpacker *unpacker, const char *from, size_t *bytes, char *to, size_t most) {
    enum { MOST = 1 << 30 };
    const uint8_t *end = (const uint8_t *)from + *bytes;
    dm_flow flow = {.in = (const uint8_t *)from, .out = (uint8_t *)to};
    uint8_t *stop = (uint8_t *)to + most;
    dm_flow_end how = dm_unpacker_start(unpacker, false) ? DM_FLOW_MORE : DM_FLOW_NO_MEMORY;
    while (how == DM_FLOW_MORE) {
        const uint8_t *in = flow.in, *out = flow.out;
        flow.in_bytes = end - in < MOST ? (size_t)(end - in) : MOST;
        flow.out_bytes = stop - out < MOST ? (size_t)(stop - out) : MOST;
        how = dm_unpacker_run(unpacker, &flow);
        if (how == DM_FLOW_MORE && flow.in == in && flow.out == out)
            return false;
    }
    *bytes = (size_t)(flow.out - (uint8_t *)to);
    return how == DM_FLOW_END;
}

/* Bytes of all elements stand together, the first ones, the second ones, ...; what makes no element follows as it is. */
#define UNSHUFFLE(size)                   \
    for (size_t i = 0; i < count; i++)    \
        for (size_t b = 0; b < size; b++) \
            to[i * size + b] = from[b * count + i];
static void unshuffle(const char *restrict from, size_t bytes, char *restrict to, size_t size) {
    const size_t count = bytes / size;
    if (size == 2)
        UNSHUFFLE(2)
    else if (size == 4)
        UNSHUFFLE(4)
    else
        UNSHUFFLE(size)
    memcpy(to + count * size, from + count * size, bytes - count * size);
}
#undef UNSHUFFLE

/* Fletcher's two sums of words of 16 bits, the first byte being the high one, modulo 65535 with 65535 for 0. */
static uint32_t fletcher(const unsigned char *data, size_t bytes) {
    uint32_t one = 0, two = 0;
    for (size_t i = 0; i < bytes; i += 2) {
        one += (uint32_t)data[i] << 8 | (i + 1 < bytes ? data[i + 1] : 0);
        one = (one & 0xffff) + (one >> 16);
        two += one;
        two = (two & 0xffff) + (two >> 16);
    }
    return two << 16 | one;
}

static bool check_sum(const char *from, size_t *bytes) {
    if (*bytes < SUM_BYTES)
        return false;
    *bytes -= SUM_BYTES;
    const unsigned char *at = (const unsigned char *)from + *bytes;
    const uint32_t want = (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
    const uint32_t sum = fletcher((const unsigned char *)from, *bytes);
    /* Versions before 1.6.3 had the bytes of each half the other way round. */
    const uint32_t old = (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);
    return want == sum || want == old;
}

/* What is wrong with it, or NULL. */
static const char *unpack(dm_hdf5_chunks *c, size_t size, uint32_t skipped, size_t bytes) {
    for (int i = c->form.filters - 1; i >= 0; i--) {
        const int filter = c->form.filter[i];
        if ((skipped >> i & 1) || (filter == H5Z_FILTER_SHUFFLE && size == 1))
            continue;
        if (filter == H5Z_FILTER_FLETCHER32) {
            if (!check_sum(c->packed, &bytes))
                return "its checksum is another one";
            continue;
        }
        if (filter == H5Z_FILTER_SHUFFLE)
            unshuffle(c->packed, bytes, c->unpacked, size);
        else if (!inflate_chunk(c->unpacker, c->packed, &bytes, c->unpacked, c->room))
            return "it cannot be unpacked";
        char *other = c->packed;
        c->packed = c->unpacked;
        c->unpacked = other;
    }
    return bytes == (size_t)c->form.bytes ? NULL : "it is longer or shorter than its elements";
}

/* ---- Chunks ---- */

/* Room for a chunk that packing has made longer. */
static bool widen(dm_hdf5_chunks *c, size_t bytes) {
    if (bytes <= c->room)
        return true;
    char *packed = realloc(c->packed, bytes);
    c->packed = packed ? packed : c->packed;
    char *unpacked = packed && c->form.filters ? realloc(c->unpacked, bytes) : NULL;
    c->unpacked = unpacked ? unpacked : c->unpacked;
    if (!packed || (c->form.filters && !unpacked))
        return false;
    c->room = bytes;
    return true;
}

/* The chunk's elements into c->packed; where it is not packed at all, those of slices [skip, skip + slices) alone. */
static distmap_status fetch(distmap_reader *reader, dm_hdf5_chunks *c, const dm_hdf5_spot *place, int64_t skip,
                            int64_t slices) {
    const size_t size = distmap_dtype_size(reader->info.dtype), count = (size_t)c->form.bytes / size;
    if (place->offset < 0) {
        for (size_t i = 0; i < count; i++)
            memcpy(c->packed + i * size, c->form.fill, size);
        return DISTMAP_OK;
    }
    if (place->bytes < 0 || place->bytes > reader->input.size || place->offset > reader->input.size - place->bytes)
        return dm_broken(&reader->input, "a chunk of it lies beyond the file's end");
    const char *fault = NULL;
    if ((size_t)place->bytes / 2 > c->room)
        fault = "it is longer than its elements";
    else if (!widen(c, (size_t)place->bytes))
        return dm_no_memory(reader->input.name);
    else if (!c->form.filters && place->bytes == c->form.bytes) {
        const int64_t slice = c->form.bytes / c->form.chunk[0];
        TRY(dm_input_at(&reader->input, place->offset + skip * slice, c->packed + skip * slice,
                        (size_t)(slices * slice)));
        if (c->form.swapped && size > 1)
            dm_swap(c->packed + skip * slice, (size_t)(slices * slice) / size, size);
        return DISTMAP_OK;
    }
    if (!fault)
        TRY(dm_input_at(&reader->input, place->offset, c->packed, (size_t)place->bytes));
    if (!fault)
        fault = unpack(c, size, place->skipped, (size_t)place->bytes);
    if (fault)
        return dm_broken(&reader->input, "a chunk of it is broken: %s", fault);
    if (c->form.swapped && size > 1)
        dm_swap(c->packed, count, size);
    return DISTMAP_OK;
}

/* What the chunk at `origin` has of slices [first, first + count), from c->packed. */
static void place(const distmap_image_info *info, const dm_hdf5_chunks *c, const int64_t *origin, int64_t first,
                  int64_t count, char *out) {
    const int last = info->ndim - 1;
    const int64_t size = (int64_t)distmap_dtype_size(info->dtype), end = first + count;
    int64_t low[DISTMAP_MAX_AXES], length[DISTMAP_MAX_AXES], at[DISTMAP_MAX_AXES] = {0};
    for (int a = 0; a <= last; a++) {
        const int64_t stop = a ? info->shape[a] : end, chunk_end = origin[a] + c->form.chunk[a];
        low[a] = a || origin[a] > first ? origin[a] : first;
        length[a] = (chunk_end < stop ? chunk_end : stop) - low[a];
    }
    for (;;) {
        int64_t from = 0, to = 0;
        for (int a = 0; a <= last; a++) {
            from = from * c->form.chunk[a] + low[a] + at[a] - origin[a];
            to = to * (a ? info->shape[a] : count) + low[a] + at[a] - (a ? 0 : first);
        }
        memcpy(out + to * size, c->packed + from * size, (size_t)(length[last] * size));
        int a = last - 1;
        while (a >= 0 && ++at[a] == length[a])
            at[a--] = 0;
        if (a < 0)
            return;
    }
}

/* Slices of the row of chunks that begins with slice `begin`. */
static distmap_status unpack_row(distmap_reader *reader, dm_hdf5_chunks *c, int64_t begin, int64_t first, int64_t count,
                                 char *out) {
    const distmap_image_info *info = &reader->info;
    int64_t origin[DISTMAP_MAX_AXES] = {begin};
    if (c->placed != begin) {
        c->placed = -1;
        TRY(c->locate(reader, begin, c->places));
        c->placed = begin;
    }
    for (int64_t i = 0; i < c->form.row_chunks; i++) {
        TRY(fetch(reader, c, &c->places[i], first - begin, count));
        place(info, c, origin, first, count, out);
        for (int a = info->ndim - 1; a > 0 && (origin[a] += c->form.chunk[a]) >= info->shape[a]; a--)
            origin[a] = 0;
    }
    return DISTMAP_OK;
}

/* Some slices of such a row, by the one that is kept. */
static distmap_status from_row(distmap_reader *reader, dm_hdf5_chunks *c, int64_t begin, int64_t height, int64_t first,
                               int64_t count, char *out) {
    const int64_t slice = (int64_t)reader->slice_bytes;
    if (!c->row && !(c->row = malloc((size_t)(c->form.chunk[0] * slice))))
        return dm_no_memory(reader->input.name);
    if (c->row_at != begin) {
        c->row_at = -1;
        TRY(unpack_row(reader, c, begin, begin, height, c->row));
        c->row_at = begin;
    }
    memcpy(out, c->row + (first - begin) * slice, (size_t)(count * slice));
    return DISTMAP_OK;
}

distmap_status dm_hdf5_chunks_read(distmap_reader *reader, dm_hdf5_chunks *c, int64_t first, int64_t count, char *out) {
    const int64_t deep = c->form.chunk[0], end = first + count;
    for (int64_t at = first; at < end;) {
        const int64_t begin = at / deep * deep, left = reader->info.shape[0] - begin;
        const int64_t height = left < deep ? left : deep, stop = begin + height < end ? begin + height : end;
        char *to = out + (at - first) * (int64_t)reader->slice_bytes;
        TRY(stop - at < height && c->form.keeps_row ? from_row(reader, c, begin, height, at, stop - at, to)
                                                    : unpack_row(reader, c, begin, at, stop - at, to));
        at = stop;
    }
    return DISTMAP_OK;
}
