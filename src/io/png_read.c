/* Reading PNG by rows: 1 to 16 bit, grey, palette, RGB, each with opacity or without.
 *
 * Grey of 1 bit is bool; 2 and 4 bits are spread to 0..255, as PNG defines its samples to be fractions of full intensity;
 * 16 bits stay. An interlaced picture must be decoded whole, into memory of its own, for it comes in seven passes.
 *
 * libpng leaves by longjmp on errors: each function that calls it sets its own mark, and keeps what must survive in the
 * state.
 */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/codec.h"
#include "io/convert.h"
#include "io/png_write.h"

typedef struct png {
    png_structp png;
    png_infop head;
    int channels;   /* of a row as libpng gives it; 1: grey or palette index */
    int depth;      /* bits of its samples: 1 (one per byte), 8 or 16 */
    bool looked_up; /* samples go through `table` */
    uint8_t table[256];
    uint8_t palette[256][4]; /* RGBA */
    int colours;             /* in it; 0: none */
    bool interlaced;
    int64_t next;     /* the row that libpng gives next */
    size_t row_bytes; /* as libpng gives it */
    uint8_t *row;
    uint8_t *whole; /* interlaced: all rows, once decoded */
    char message[200];
    distmap_status io; /* of the reading callback */
} png;

/* ---- libpng's callbacks ---- */

static void on_error(png_structp p, png_const_charp text) {
    png *state = png_get_error_ptr(p);
    snprintf(state->message, sizeof state->message, "%s", text);
    png_longjmp(p, 1);
}

static void on_warning(png_structp p, png_const_charp text) {
    (void)p;
    (void)text;
}

static void on_read(png_structp p, png_bytep data, size_t bytes) {
    distmap_reader *reader = png_get_io_ptr(p);
    png *state = reader->state;
    size_t got;
    state->io = dm_input_next(&reader->input, data, bytes, &got);
    if (state->io || got < bytes)
        png_error(p, "the file ends too soon");
}

/* After an error the next read starts again. */
static distmap_status failed(distmap_reader *reader) {
    png *state = reader->state;
    state->next = INT64_MAX;
    return state->io ? state->io : dm_broken(&reader->input, "truncated or broken PNG data: %s", state->message);
}

/* ---- Opening ---- */

static bool png_sniff(const uint8_t *head, size_t bytes) { return bytes >= 8 && !png_sig_cmp(head, 0, 8); }

static void stop(png *state) {
    png_destroy_read_struct(&state->png, &state->head, NULL);
    state->png = NULL;
    state->head = NULL;
}

/* (Re)starts libpng at the file's beginning and reads up to the first row. */
static distmap_status start(distmap_reader *reader) {
    png *state = reader->state;
    stop(state);
    dm_input_seek(&reader->input, 0);
    state->next = 0;
    state->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, state, on_error, on_warning);
    if (state->png)
        state->head = png_create_info_struct(state->png);
    if (!state->head)
        return dm_no_memory(reader->input.name);
    if (setjmp(png_jmpbuf(state->png)))
        return failed(reader);
    png_set_read_fn(state->png, reader, on_read);
    png_set_user_limits(state->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* sizes are checked against the file's */
    /* Texts and profiles are nothing to this reader, and can unpack to gigabytes. */
    static const png_byte skipped[] = "tEXt\0zTXt\0iTXt\0iCCP\0sPLT\0eXIf";
    png_set_keep_unknown_chunks(state->png, PNG_HANDLE_CHUNK_NEVER, skipped, (int)sizeof skipped / 5);
    png_read_info(state->png, state->head);
    return DISTMAP_OK;
}

/* Palette index to element. */
static distmap_status make_table(distmap_reader *reader) {
    png *state = reader->state;
    for (int i = 0; i < 256 && state->colours; i++) {
        const uint8_t *c = state->palette[i];
        state->table[i] = reader->info.sample == DISTMAP_SAMPLE_INDEX
                              ? (uint8_t)i
                              : (uint8_t)dm_sample_of((int)reader->info.sample, c[0], c[1], c[2], c[3]);
    }
    return DISTMAP_OK;
}

static void take_palette(png *state) {
    png_colorp colours = NULL;
    png_bytep alpha = NULL;
    int count = 0, alphas = 0;
    png_get_PLTE(state->png, state->head, &colours, &count);
    if (png_get_valid(state->png, state->head, PNG_INFO_tRNS))
        png_get_tRNS(state->png, state->head, &alpha, &alphas, NULL);
    memset(state->palette, 0, sizeof state->palette);
    for (int i = 0; i < count && i < 256; i++) {
        uint8_t *to = state->palette[i];
        to[0] = colours[i].red, to[1] = colours[i].green, to[2] = colours[i].blue;
        to[3] = i < alphas ? alpha[i] : 255;
    }
    state->colours = count;
    state->looked_up = true;
}

/* Asks libpng for bytes or 16-bit samples of the host's order, and starts the rows. */
static distmap_status transform(distmap_reader *reader) {
    png *state = reader->state;
    if (setjmp(png_jmpbuf(state->png)))
        return failed(reader);
    const int colour = png_get_color_type(state->png, state->head), depth = png_get_bit_depth(state->png, state->head);
    const bool transparent = png_get_valid(state->png, state->head, PNG_INFO_tRNS);
    state->depth = depth == 16 ? 16 : 8;
    state->looked_up = false;
    if (colour == PNG_COLOR_TYPE_PALETTE) {
        take_palette(state);
        make_table(reader);
        png_set_packing(state->png);
    } else if (colour == PNG_COLOR_TYPE_GRAY && depth == 1) {
        state->depth = 1;
        png_set_packing(state->png);
        png_color_16p key = NULL;
        if (transparent)
            png_get_tRNS(state->png, state->head, NULL, NULL, &key);
        state->table[0] = 0;
        state->table[1] = !(key && key->gray == 1);
        state->looked_up = !state->table[1];
    } else {
        if (depth < 8)
            png_set_expand_gray_1_2_4_to_8(state->png);
        if (transparent)
            png_set_tRNS_to_alpha(state->png);
        if (depth == 16 && !DM_HOST_BIG)
            png_set_swap(state->png);
    }
    png_set_interlace_handling(state->png);
    png_read_update_info(state->png, state->head);
    state->channels = png_get_channels(state->png, state->head);
    const size_t row_bytes = png_get_rowbytes(state->png, state->head);
    if (state->row && row_bytes != state->row_bytes)
        png_error(state->png, "the file was changed while it was read");
    state->row_bytes = row_bytes;
    return DISTMAP_OK;
}

static void describe(distmap_reader *reader) {
    png *state = reader->state;
    const int colour = png_get_color_type(state->png, state->head);
    const char *name = colour == PNG_COLOR_TYPE_PALETTE      ? "palette"
                       : colour == PNG_COLOR_TYPE_GRAY       ? "grey"
                       : colour == PNG_COLOR_TYPE_GRAY_ALPHA ? "grey with opacity"
                       : colour == PNG_COLOR_TYPE_RGB        ? "RGB"
                                                             : "RGBA";
    state->interlaced = png_get_interlace_type(state->png, state->head) != PNG_INTERLACE_NONE;
    distmap_image_info *info = &reader->info;
    dm_packing_take(info, "deflate");
    snprintf(info->stored, sizeof info->stored, "%d-bit %s%s", png_get_bit_depth(state->png, state->head), name,
             state->interlaced ? ", interlaced (decoded whole)" : "");
    if (colour == PNG_COLOR_TYPE_PALETTE)
        info->samples = DM_SAMPLES_PALETTE, info->sample = DISTMAP_SAMPLE_INDEX;
    else if (colour & PNG_COLOR_MASK_COLOR)
        info->samples = DM_SAMPLES_RGB;
    else if (colour & PNG_COLOR_MASK_ALPHA)
        info->samples = 1u << DISTMAP_SAMPLE_LUMA;
    if (colour & PNG_COLOR_MASK_ALPHA || (info->samples && png_get_valid(state->png, state->head, PNG_INFO_tRNS)))
        info->samples |= DM_SAMPLES_ALPHA;
    info->ndim = 2;
    info->shape[0] = png_get_image_height(state->png, state->head);
    info->shape[1] = png_get_image_width(state->png, state->head);
}

static distmap_status png_open(distmap_reader *reader) {
    png *state = reader->state = calloc(1, sizeof *state);
    if (!state)
        return dm_no_memory(reader->input.name);
    TRY(start(reader));
    describe(reader);
    const int64_t bits =
        (int64_t)png_get_bit_depth(state->png, state->head) * png_get_channels(state->png, state->head);
    const int64_t stored = 1 + (reader->info.shape[1] * bits + 7) / 8; /* a filter byte, the samples */
    int64_t bytes;
    TRY(dm_shape_bytes(reader->input.name, 1, reader->info.shape, (size_t)stored, &bytes));
    TRY(dm_check_holds(&reader->input, bytes, DM_DEFLATE_RATIO));
    TRY(transform(reader));
    reader->info.dtype = state->depth == 1 ? DISTMAP_BOOL : state->depth == 16 ? DISTMAP_UINT16 : DISTMAP_UINT8;
    state->row = malloc(state->row_bytes);
    return state->row ? DISTMAP_OK : dm_no_memory(reader->input.name);
}

/* ---- Rows ---- */

/* A row of libpng's to elements: palette, luma where it is not transparent, or a sample of it. */
#define CONVERT(type)                                                                                     \
    do {                                                                                                  \
        const type *s = (const type *)from;                                                               \
        type *o = (type *)out;                                                                            \
        for (size_t x = 0; x < width; x++, s += channels) {                                               \
            const bool seen = channels == 1 || channels == 3 || s[channels - 1];                          \
            o[x] = (type)(at >= 0 ? s[at] : !seen ? 0 : channels < 3 ? s[0] : dm_luma(s[0], s[1], s[2])); \
        }                                                                                                 \
    } while (0)
static void convert(const png *state, distmap_sample sample, const uint8_t *from, size_t width, char *out) {
    const int channels = state->channels;
    const int at = sample == DISTMAP_SAMPLE_ALPHA ? channels - 1
                   : sample >= DISTMAP_SAMPLE_RED ? (int)(sample - DISTMAP_SAMPLE_RED)
                                                  : -1;
    if (state->looked_up)
        for (size_t x = 0; x < width; x++)
            out[x] = (char)state->table[from[x]];
    else if (channels == 1)
        memcpy(out, from, state->row_bytes);
    else if (state->depth == 16)
        CONVERT(uint16_t);
    else
        CONVERT(uint8_t);
}
#undef CONVERT

/* The next row into `row`; after the last one, what follows it is checked too. */
static distmap_status next_row(distmap_reader *reader, uint8_t *row) {
    png *state = reader->state;
    if (setjmp(png_jmpbuf(state->png)))
        return failed(reader);
    png_read_row(state->png, row, NULL);
    if (++state->next == reader->info.shape[0])
        png_read_end(state->png, NULL);
    return DISTMAP_OK;
}

static distmap_status decode_whole(distmap_reader *reader) {
    png *state = reader->state;
    if (setjmp(png_jmpbuf(state->png)))
        return failed(reader);
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++)
        for (int64_t y = 0; y < reader->info.shape[0]; y++)
            png_read_row(state->png, state->whole + (size_t)y * state->row_bytes, NULL);
    png_read_end(state->png, NULL);
    return DISTMAP_OK;
}

static distmap_status read_interlaced(distmap_reader *reader, int64_t first, int64_t count, char *out) {
    png *state = reader->state;
    if (!state->whole) {
        state->whole = calloc((size_t)reader->info.shape[0], state->row_bytes);
        distmap_status status = state->whole ? start(reader) : dm_no_memory(reader->input.name);
        if (!status)
            status = transform(reader);
        if (!status)
            status = decode_whole(reader);
        if (status) {
            free(state->whole);
            state->whole = NULL;
            return status;
        }
    }
    for (int64_t y = 0; y < count; y++)
        convert(state, reader->info.sample, state->whole + (size_t)(first + y) * state->row_bytes,
                (size_t)reader->info.shape[1], out + (size_t)y * reader->slice_bytes);
    return DISTMAP_OK;
}

static distmap_status png_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    png *state = reader->state;
    if (state->interlaced)
        return read_interlaced(reader, first, count, out);
    if (first < state->next) {
        TRY(start(reader));
        TRY(transform(reader));
    }
    while (state->next < first + count) {
        const int64_t y = state->next - first;
        TRY(next_row(reader, state->row));
        if (y >= 0)
            convert(state, reader->info.sample, state->row, (size_t)reader->info.shape[1],
                    (char *)out + (size_t)y * reader->slice_bytes);
    }
    return DISTMAP_OK;
}

static void png_close(distmap_reader *reader) {
    png *state = reader->state;
    if (!state)
        return;
    stop(state);
    free(state->row);
    free(state->whole);
    free(state);
}

static const char *packings(const char *path) {
    (void)path;
    return "deflate";
}

const dm_codec dm_codec_png = {
    .info =
        {.name = "png",
         .endings = ".png",
         .reads = true,
         .writes = true,
         .summary =
             "1 to 16 bit, grey, palette, colour, opacity, interlaced; written as bool, uint8, uint16 or by palette"},
    .sniff = png_sniff,
    .open = png_open,
    .packings = packings,
    .read = png_read,
    .sample = make_table,
    .close = png_close,
    .holds = 1u << DISTMAP_BOOL | 1u << DISTMAP_UINT8 | 1u << DISTMAP_UINT16,
    .min_ndim = 2,
    .max_ndim = 2,
    .holds_palette = true,
    .create = dm_png_create,
    .write = dm_png_write,
    .finish = dm_png_finish,
    .discard = dm_png_discard,
};
