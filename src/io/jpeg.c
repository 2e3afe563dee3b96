/* Reading JPEG by rows, as luma.
 *
 * A JPEG in colour holds its luma as a channel of its own (Rec. 601), which libjpeg gives without computing the others.
 * CMYK, stored inverted by Adobe's programs and so by everyone, is turned into RGB first. Progressive files are decoded by
 * libjpeg into coefficients of the whole picture.
 *
 * libjpeg leaves by longjmp on errors. Its warnings about data that is missing or wrong count as errors here.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <jerror.h>

#include "io/codec.h"
#include "io/convert.h"

/* In Huffman coding a block of 64 pixels takes a bit at least in a progressive file's first scan: 512 pixels per byte.
 * Arithmetic coding knows no such bound; a block of nothing takes about 1/64 bit. MAX_SCANS: far above what encoders make;
 * each one costs a pass over the whole picture. */
enum { HUFFMAN_RATIO = 1024, ARITHMETIC_RATIO = 65536, MAX_SCANS = 500, BUFFER_BYTES = 1 << 16 };

typedef struct jpeg {
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf mark;
    distmap_reader *reader;
    distmap_status status; /* set when libjpeg left */
    bool begun;            /* rows, or trying to */
    uint8_t *row;          /* CMYK: four bytes per pixel */
    uint8_t buffer[BUFFER_BYTES];
} jpeg;

/* ---- libjpeg's callbacks ---- */

static void fail(j_common_ptr d) {
    jpeg *state = d->client_data;
    char text[JMSG_LENGTH_MAX];
    d->err->format_message(d, text);
    state->status = d->err->msg_code == JERR_OUT_OF_MEMORY
                        ? dm_no_memory(state->reader->input.name)
                        : dm_broken(&state->reader->input, "truncated or broken JPEG data: %s", text);
    longjmp(state->mark, 1);
}

static void on_message(j_common_ptr d, int level) {
    const int code = d->err->msg_code;
    if (level < 0 && (code == JWRN_HIT_MARKER || code == JWRN_JPEG_EOF || code == JWRN_HUFF_BAD_CODE ||
                      code == JWRN_MUST_RESYNC || code == JWRN_ARITH_BAD_CODE))
        fail(d);
}

static void on_output(j_common_ptr d) { (void)d; }

static void on_progress(j_common_ptr d) {
    if (((j_decompress_ptr)d)->input_scan_number > MAX_SCANS) {
        jpeg *state = d->client_data;
        state->status = dm_broken(&state->reader->input, "broken JPEG data: more than %d scans", MAX_SCANS);
        longjmp(state->mark, 1);
    }
}

static void on_start(j_decompress_ptr d) { (void)d; }

static boolean on_fill(j_decompress_ptr d) {
    jpeg *state = d->client_data;
    size_t got;
    state->status = dm_input_next(&state->reader->input, state->buffer, BUFFER_BYTES, &got);
    if (state->status)
        longjmp(state->mark, 1);
    if (!got)
        ERREXIT(d, JERR_INPUT_EOF);
    state->source.next_input_byte = state->buffer;
    state->source.bytes_in_buffer = got;
    return TRUE;
}

static void on_skip(j_decompress_ptr d, long bytes) {
    jpeg *state = d->client_data;
    if (bytes <= 0)
        return;
    const size_t have = state->source.bytes_in_buffer, skip = (size_t)bytes < have ? (size_t)bytes : have;
    state->source.next_input_byte += skip;
    state->source.bytes_in_buffer -= skip;
    dm_input_seek(&state->reader->input, state->reader->input.at + (bytes - (long)skip));
}

/* ---- Opening ---- */

static bool jpeg_sniff(const uint8_t *head, size_t bytes) {
    return bytes >= 3 && head[0] == 0xff && head[1] == 0xd8 && head[2] == 0xff;
}

/* Reads the header and says what the rows shall be. */
static distmap_status start(jpeg *state) {
    if (setjmp(state->mark))
        return state->status;
    state->status = DISTMAP_OK;
    jpeg_abort_decompress(&state->d);
    dm_input_seek(&state->reader->input, 0);
    state->source.bytes_in_buffer = 0;
    jpeg_read_header(&state->d, TRUE);
    const bool cmyk = state->d.jpeg_color_space == JCS_CMYK || state->d.jpeg_color_space == JCS_YCCK;
    state->d.out_color_space = cmyk                                               ? JCS_CMYK
                               : state->reader->info.sample >= DISTMAP_SAMPLE_RED ? JCS_RGB
                                                                                  : JCS_GRAYSCALE;
    return DISTMAP_OK;
}

static distmap_status begin_rows(jpeg *state) {
    if (setjmp(state->mark))
        return state->status;
    state->begun = true;
    jpeg_start_decompress(&state->d);
    return DISTMAP_OK;
}

static const char *colour_name(J_COLOR_SPACE space) {
    return space == JCS_GRAYSCALE ? "grey" : space == JCS_CMYK || space == JCS_YCCK ? "CMYK" : "colour";
}

static distmap_status jpeg_open(distmap_reader *reader) {
    jpeg *state = reader->state = calloc(1, sizeof *state);
    if (!state)
        return dm_no_memory(reader->input.name);
    state->reader = reader;
    state->d.client_data = state;
    state->d.err = jpeg_std_error(&state->errors);
    state->errors.error_exit = fail;
    state->errors.emit_message = on_message;
    state->errors.output_message = on_output;
    if (setjmp(state->mark))
        return state->status;
    jpeg_create_decompress(&state->d);
    state->source = (struct jpeg_source_mgr){
        .init_source = on_start,
        .fill_input_buffer = on_fill,
        .skip_input_data = on_skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = on_start,
    };
    state->d.src = &state->source;
    state->progress.progress_monitor = on_progress;
    state->d.progress = &state->progress;
    TRY(start(state));

    distmap_image_info *info = &reader->info;
    info->ndim = 2;
    info->dtype = DISTMAP_UINT8;
    info->shape[0] = state->d.image_height;
    info->shape[1] = state->d.image_width;
    dm_packing_take(info, "jpeg");
    snprintf(info->stored, sizeof info->stored, "8-bit %s%s", colour_name(state->d.jpeg_color_space),
             jpeg_has_multiple_scans(&state->d) ? ", progressive (decoded whole)" : "");
    TRY(dm_check_holds(&reader->input, info->shape[0] * info->shape[1],
                       state->d.arith_code ? ARITHMETIC_RATIO : HUFFMAN_RATIO));
    if (state->d.jpeg_color_space != JCS_GRAYSCALE)
        info->samples = DM_SAMPLES_RGB;
    if (info->samples && !(state->row = malloc(4 * (size_t)info->shape[1])))
        return dm_no_memory(reader->input.name);
    return DISTMAP_OK;
}

/* ---- Rows ---- */

static void from_cmyk(const uint8_t *s, int sample, size_t width, uint8_t *out) {
    for (size_t x = 0; x < width; x++, s += 4)
        out[x] = (uint8_t)dm_sample_of(sample, (s[0] * s[3] + 127u) / 255, (s[1] * s[3] + 127u) / 255,
                                       (s[2] * s[3] + 127u) / 255, 1);
}

static void from_rgb(const uint8_t *s, int sample, size_t width, uint8_t *out) {
    for (size_t x = 0; x < width; x++, s += 3)
        out[x] = s[sample - DISTMAP_SAMPLE_RED];
}

static distmap_status next_row(jpeg *state, uint8_t *out) {
    if (setjmp(state->mark))
        return state->status;
    const bool grey = state->d.out_color_space == JCS_GRAYSCALE;
    JSAMPROW row = grey ? out : state->row;
    jpeg_read_scanlines(&state->d, &row, 1);
    if (!grey)
        (state->d.out_color_space == JCS_CMYK ? from_cmyk : from_rgb)(state->row, (int)state->reader->info.sample,
                                                                      state->d.output_width, out);
    return DISTMAP_OK;
}

/* From the file's beginning, as the sample wants the rows. */
static distmap_status jpeg_sample(distmap_reader *reader) {
    jpeg *state = reader->state;
    state->begun = false;
    return start(state);
}

static distmap_status jpeg_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    jpeg *state = reader->state;
    if (state->begun && (state->status || first < (int64_t)state->d.output_scanline)) {
        state->begun = false;
        TRY(start(state));
    }
    if (!state->begun)
        TRY(begin_rows(state));
    while ((int64_t)state->d.output_scanline < first + count) {
        const int64_t y = (int64_t)state->d.output_scanline - first;
        TRY(next_row(state, (uint8_t *)out + (y < 0 ? 0 : (size_t)y * reader->slice_bytes)));
    }
    return DISTMAP_OK;
}

static void jpeg_close(distmap_reader *reader) {
    jpeg *state = reader->state;
    if (!state)
        return;
    jpeg_destroy_decompress(&state->d);
    free(state->row);
    free(state);
}

const dm_codec dm_codec_jpeg = {
    .info = {.name = "jpeg",
             .endings = ".jpg .jpeg",
             .reads = true,
             .summary = "8 bit, baseline and progressive, one sample or luma"},
    .sniff = jpeg_sniff,
    .open = jpeg_open,
    .read = jpeg_read,
    .sample = jpeg_sample,
    .close = jpeg_close,
};
