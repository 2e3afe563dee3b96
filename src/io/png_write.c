/* Writing PNG by rows: bool as 1 bit, uint8, uint16, or 8 bit by palette.
 *
 * Compression is zlib's level 4, which for distance maps and masks is within a few per cent of the smallest and several
 * times faster. Samples by palette and bits are not filtered: their neighbours' differences mean nothing.
 */
#include <png.h>
#include <stdlib.h>

#include "io/codec.h"
#include "io/convert.h"
#include "io/png_write.h"

enum { LEVEL = 4, BUFFER_BYTES = 1 << 16 };

typedef struct png {
    png_structp png;
    png_infop head;
    uint8_t *bits; /* bool: one packed row */
} png;

static void on_error(png_structp p, png_const_charp text) {
    (void)text;
    png_longjmp(p, 1);
}

static void on_warning(png_structp p, png_const_charp text) {
    (void)p;
    (void)text;
}

static void on_write(png_structp p, png_bytep data, size_t bytes) {
    if (dm_output_write(png_get_io_ptr(p), data, bytes))
        png_error(p, "write");
}

static void on_flush(png_structp p) { (void)p; }

/* libpng's only other errors here are those of memory, for the writer checked the rest. */
static distmap_status failed(const distmap_writer *writer) {
    return writer->output.error ? dm_output_failed(&writer->output) : dm_no_memory(writer->output.name);
}

distmap_status dm_png_create(distmap_writer *writer) {
    const distmap_image_info *info = &writer->info;
    if (info->shape[0] > PNG_UINT_31_MAX || info->shape[1] > PNG_UINT_31_MAX)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: png holds at most 2^31 - 1 rows and columns",
                                 writer->output.name);
    png *state = writer->state = calloc(1, sizeof *state);
    if (!state)
        return dm_no_memory(writer->output.name);
    if (info->dtype == DISTMAP_BOOL && !(state->bits = malloc(((size_t)info->shape[1] + 7) / 8)))
        return dm_no_memory(writer->output.name);
    state->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, state, on_error, on_warning);
    if (state->png)
        state->head = png_create_info_struct(state->png);
    if (!state->head)
        return dm_no_memory(writer->output.name);
    if (setjmp(png_jmpbuf(state->png)))
        return failed(writer);
    png_set_write_fn(state->png, &writer->output, on_write, on_flush);
    png_set_user_limits(state->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    const int depth = info->dtype == DISTMAP_BOOL ? 1 : info->dtype == DISTMAP_UINT16 ? 16 : 8;
    png_set_IHDR(state->png, state->head, (png_uint_32)info->shape[1], (png_uint_32)info->shape[0], depth,
                 writer->palette ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(state->png, LEVEL);
    png_set_compression_buffer_size(state->png, BUFFER_BYTES);
    png_set_filter(state->png, PNG_FILTER_TYPE_BASE, writer->palette || depth == 1 ? PNG_FILTER_NONE : PNG_FILTER_SUB);
    if (writer->palette) {
        png_color colours[256];
        for (int i = 0; i < 256; i++)
            colours[i] = (png_color){writer->palette[i][0], writer->palette[i][1], writer->palette[i][2]};
        png_set_PLTE(state->png, state->head, colours, 256);
    }
    png_write_info(state->png, state->head);
    if (depth == 16 && !DM_HOST_BIG)
        png_set_swap(state->png);
    return DISTMAP_OK;
}

distmap_status dm_png_write(distmap_writer *writer, int64_t count, const void *slices) {
    png *state = writer->state;
    if (setjmp(png_jmpbuf(state->png)))
        return failed(writer);
    for (int64_t y = 0; y < count; y++) {
        const uint8_t *row = (const uint8_t *)slices + (size_t)y * writer->slice_bytes;
        if (state->bits)
            dm_bits_pack(row, (size_t)writer->info.shape[1], 0, state->bits);
        png_write_row(state->png, state->bits ? state->bits : row);
    }
    return DISTMAP_OK;
}

distmap_status dm_png_finish(distmap_writer *writer) {
    png *state = writer->state;
    if (setjmp(png_jmpbuf(state->png)))
        return failed(writer);
    png_write_end(state->png, NULL);
    return DISTMAP_OK;
}

void dm_png_discard(distmap_writer *writer) {
    png *state = writer->state;
    if (!state)
        return;
    png_destroy_write_struct(&state->png, &state->head);
    free(state->bits);
    free(state);
}
