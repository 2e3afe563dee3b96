/* Elements that lie in the file as they are: NPY, NIfTI, binary PGM. What several processes bring follows one another.
 *
 * Bands are read straight into the caller's buffer and their byte order turned there. In Fortran order a band is scattered
 * over the whole file: it is gathered from a mapping, in tiles of 32 x 32 elements, so that each cache line fetched is used
 * before it is lost.
 */
#include <string.h>

#include "io/codec.h"
#include "io/convert.h"

distmap_status dm_raw_open(distmap_reader *reader, int64_t offset, bool swapped, bool fortran) {
    const distmap_image_info *info = &reader->info;
    int64_t bytes;
    TRY(dm_shape_bytes(reader->input.name, info->ndim, info->shape, distmap_dtype_size(info->dtype), &bytes));
    if (offset > reader->input.size || bytes > reader->input.size - offset)
        return dm_broken(&reader->input,
                         "truncated, or a false size: its header states %lld bytes of elements, but %lld follow",
                         (long long)bytes, (long long)(offset > reader->input.size ? 0 : reader->input.size - offset));
    reader->raw.is = true;
    reader->raw.offset = offset;
    reader->raw.swapped = swapped && distmap_dtype_size(info->dtype) > 1;
    reader->raw.fortran = fortran && info->ndim > 1;
    return DISTMAP_OK;
}

enum { TILE = 32 };

/* Copies elements (i, j) for i in [0, rows): out[i * pitch + j] = from[j][i]. */
#define GATHER(type)                         \
    for (size_t i = 0; i < rows; i++)        \
        for (size_t j = 0; j < columns; j++) \
            memcpy(out + (i * pitch + j) * sizeof(type), from[j] + i * sizeof(type), sizeof(type));
static void gather(const char *const from[TILE], size_t rows, size_t columns, size_t pitch, size_t size, char *out) {
    if (size == 1)
        GATHER(uint8_t)
    else if (size == 2)
        GATHER(uint16_t)
    else if (size == 4)
        GATHER(uint32_t)
    else
        GATHER(uint64_t)
}
#undef GATHER

static distmap_status read_fortran(distmap_reader *reader, int64_t first, int64_t count, char *out) {
    const char *data = dm_input_map(&reader->input);
    if (!data)
        return DISTMAP_ERROR_IO;
    const distmap_image_info *info = &reader->info;
    const size_t size = distmap_dtype_size(info->dtype), inner = (size_t)reader->slice_elements;
    data += reader->raw.offset + first * (int64_t)size;
    for (size_t j = 0; j < inner; j += TILE) {
        const size_t columns = inner - j < TILE ? inner - j : TILE;
        const char *from[TILE] = {0};
        for (size_t k = 0; k < columns; k++) {
            /* Row-major index j + k of the inner axes, taken apart from the last axis on. */
            int64_t rest = (int64_t)(j + k), place = 0;
            for (int a = info->ndim - 1; a > 0; a--) {
                int64_t stride = 1;
                for (int b = 0; b < a; b++)
                    stride *= info->shape[b];
                place += rest % info->shape[a] * stride;
                rest /= info->shape[a];
            }
            from[k] = data + place * (int64_t)size;
        }
        for (size_t i = 0; i < (size_t)count; i += TILE) {
            const size_t rows = (size_t)count - i < TILE ? (size_t)count - i : TILE;
            gather(from, rows, columns, inner, size, out + (i * inner + j) * size);
            for (size_t k = 0; k < columns; k++)
                from[k] += rows * size;
        }
    }
    return DISTMAP_OK;
}

distmap_status dm_raw_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    if (reader->raw.fortran)
        TRY(read_fortran(reader, first, count, out));
    else
        TRY(dm_input_at(&reader->input, reader->raw.offset + first * (int64_t)reader->slice_bytes, out,
                        (size_t)count * reader->slice_bytes));
    if (reader->raw.swapped)
        dm_swap(out, (size_t)(count * reader->slice_elements), distmap_dtype_size(reader->info.dtype));
    return DISTMAP_OK;
}

struct runs {
    distmap_reader *reader;
    distmap_writer *writer;
    char *to;
    const char *from;
};

static distmap_status read_run(void *user, int64_t from, int64_t to, int64_t run) {
    const struct runs *r = user;
    const int64_t size = (int64_t)distmap_dtype_size(r->reader->info.dtype);
    return dm_input_at(&r->reader->input, r->reader->raw.offset + from * size, r->to + to * size, (size_t)(run * size));
}

static distmap_status write_run(void *user, int64_t to, int64_t from, int64_t run) {
    const struct runs *r = user;
    const int64_t size = (int64_t)distmap_dtype_size(r->writer->info.dtype);
    return dm_output_write_at(&r->writer->output, r->writer->raw_offset + to * size, r->from + from * size,
                              (size_t)(run * size));
}

distmap_status dm_raw_read_box(distmap_reader *reader, const dm_box *box, void *out) {
    struct runs runs = {.reader = reader, .to = out};
    TRY(dm_box_runs(&reader->info, box, read_run, &runs));
    if (reader->raw.swapped)
        dm_swap(out, (size_t)dm_box_elements(box), distmap_dtype_size(reader->info.dtype));
    return DISTMAP_OK;
}

distmap_status dm_raw_put(distmap_writer *writer, const dm_box *box, const void *elements) {
    struct runs runs = {.writer = writer, .from = elements};
    return dm_box_runs(&writer->info, box, write_run, &runs);
}

distmap_view dm_raw_map(distmap_reader *reader) {
    const distmap_image_info *info = &reader->info;
    const int64_t size = (int64_t)distmap_dtype_size(info->dtype);
    if (!reader->raw.is || reader->raw.swapped || reader->raw.offset % size)
        return (distmap_view){0};
    const char *data = dm_input_map(&reader->input);
    if (!data)
        return (distmap_view){0};
    int64_t strides[DISTMAP_MAX_AXES], stride = size;
    for (int i = 0; i < info->ndim; i++) {
        const int a = reader->raw.fortran ? i : info->ndim - 1 - i;
        strides[a] = stride;
        stride *= info->shape[a];
    }
    return dm_select_view(reader, (char *)data + reader->raw.offset, strides);
}

/* ---- By several processes ---- */

int64_t dm_raw_depth(const distmap_image_info *info) {
    (void)info;
    return 1;
}

distmap_status dm_raw_pack(const distmap_image_info *info, int64_t count, const void *slices, distmap_pieces *pieces) {
    pieces->lent = true;
    TRY(dm_pieces_reserve(pieces, 1));
    pieces->bytes[0] = (uint64_t)(count * dm_slice_elements(info)) * distmap_dtype_size(info->dtype);
    pieces->data[0] = (void *)slices; /* only read */
    return DISTMAP_OK;
}

distmap_status dm_raw_place(distmap_writer *writer, int64_t count, const uint64_t *bytes, int64_t *offsets) {
    const uint64_t whole = (uint64_t)writer->info.shape[0] * writer->slice_bytes;
    uint64_t placed = 0;
    for (int64_t i = 0; i < count && placed <= whole; i++) {
        offsets[i] = writer->raw_offset + (int64_t)placed;
        placed = bytes[i] <= whole - placed ? placed + bytes[i] : whole + 1;
    }
    if (placed != whole)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: bytes: the pieces are not the image's %llu bytes",
                                 writer->output.name, (unsigned long long)whole);
    return DISTMAP_OK;
}
