/* PBM, PGM and PPM, plain and binary: "P5 WIDTH HEIGHT MAXVAL" in ASCII with # comments, one white-space byte, rows.
 *
 * Elements are intensities, as in every other picture format here: a PBM's 1 is black and reads as 0, its 0 is white and
 * reads as 1. Samples are the numbers stored, whatever the maximum. Binary PGM lies in the file as it is (raw.c; 16-bit
 * samples are big-endian).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/codec.h"
#include "io/convert.h"

typedef struct pnm {
    char kind; /* '1' to '6' */
    uint32_t maximum;
    int64_t offset;   /* of the samples */
    size_t row_bytes; /* binary: of one stored row */
    uint8_t *row;
    int64_t next; /* plain: the row that the stream stands at */
} pnm;

/* ---- Reading ---- */

static bool sniff(const uint8_t *head, size_t bytes, const char *kinds) {
    return bytes >= 3 && head[0] == 'P' && head[1] && strchr(kinds, head[1]) && (isspace(head[2]) || head[2] == '#');
}
static bool pbm_sniff(const uint8_t *head, size_t bytes) { return sniff(head, bytes, "14"); }
static bool pgm_sniff(const uint8_t *head, size_t bytes) { return sniff(head, bytes, "25"); }
static bool ppm_sniff(const uint8_t *head, size_t bytes) { return sniff(head, bytes, "36"); }

/* The next byte that is no comment; -1 at the end. */
static distmap_status next_byte(dm_input *input, int *byte) {
    uint8_t c = 0;
    size_t got;
    TRY(dm_input_next(input, &c, 1, &got));
    if (got && c == '#')
        while (got && c != '\n' && c != '\r')
            TRY(dm_input_next(input, &c, 1, &got));
    *byte = got ? c : -1;
    return DISTMAP_OK;
}

/* The next number, of at most `digits` digits, and the one byte behind it. */
static distmap_status next_number(dm_input *input, int digits, int64_t *number) {
    int c;
    do
        TRY(next_byte(input, &c));
    while (c >= 0 && isspace(c));
    *number = 0;
    if (c < 0)
        return dm_broken(input, "truncated: the file ends where a number should follow");
    for (int n = 0; isdigit(c); n++) {
        if (n == digits)
            return dm_broken(input, "holds a number of more than %d digits", digits);
        *number = 10 * *number + (c - '0');
        TRY(next_byte(input, &c));
        if (c < 0)
            return DISTMAP_OK;
    }
    return isspace(c) ? DISTMAP_OK : dm_broken(input, "holds something else where a number should stand");
}

static distmap_status pnm_open(distmap_reader *reader) {
    dm_input *input = &reader->input;
    distmap_image_info *info = &reader->info;
    pnm *p = calloc(1, sizeof *p);
    if (!p)
        return dm_no_memory(input->name);
    reader->state = p;
    char head[2];
    size_t got;
    int64_t maximum = 1;
    TRY(dm_input_next(input, head, 2, &got));
    p->kind = head[1];
    TRY(next_number(input, 18, &info->shape[1]));
    TRY(next_number(input, 18, &info->shape[0]));
    const bool bits = p->kind == '1' || p->kind == '4', colour = p->kind == '3' || p->kind == '6',
               plain = p->kind < '4';
    if (!bits)
        TRY(next_number(input, 18, &maximum));
    if (!info->shape[0] || !info->shape[1] || maximum < 1 || maximum > 65535)
        return dm_broken(input, "broken header: %lld x %lld, maximum %lld", (long long)info->shape[1],
                         (long long)info->shape[0], (long long)maximum);
    p->maximum = (uint32_t)maximum;
    p->offset = input->at;
    info->ndim = 2;
    info->samples = colour ? DM_SAMPLES_RGB : 0;
    info->dtype = bits ? DISTMAP_BOOL : maximum < 256 ? DISTMAP_UINT8 : DISTMAP_UINT16;
    snprintf(info->stored, sizeof info->stored, "%s %s, maximum %lld", plain ? "plain" : "binary",
             bits     ? "bits"
             : colour ? "RGB"
                      : "grey",
             (long long)maximum);
    if (p->kind == '5')
        return dm_raw_open(reader, p->offset, !DM_HOST_BIG, false);

    /* The least that the samples can take: plain bits need no white space, plain numbers one digit and one space each. */
    const size_t samples = colour ? 3 : 1;
    int64_t row_bytes, bytes;
    const int64_t bit_row[1] = {(info->shape[1] + 7) / 8};
    TRY(dm_shape_bytes(input->name, 1, p->kind == '4' ? bit_row : &info->shape[1],
                       p->kind == '4' || p->kind == '1' ? 1
                       : plain                          ? 2 * samples
                                                        : samples * distmap_dtype_size(info->dtype),
                       &row_bytes));
    TRY(dm_shape_bytes(input->name, 1, info->shape, (size_t)row_bytes, &bytes));
    if (bytes - (plain && !bits) > input->size - p->offset)
        return dm_broken(input, "truncated, or a false size: %lld x %lld needs %lld bytes, %lld follow",
                         (long long)info->shape[1], (long long)info->shape[0], (long long)bytes,
                         (long long)(input->size - p->offset));
    if (!plain) {
        p->row_bytes = (size_t)row_bytes;
        p->row = malloc(p->row_bytes);
        if (!p->row)
            return dm_no_memory(input->name);
    }
    return DISTMAP_OK;
}

/* One plain sample: a bit may touch the next. */
static distmap_status plain_sample(dm_input *input, const pnm *p, int64_t *sample) {
    if (p->kind != '1') {
        TRY(next_number(input, 6, sample));
        return *sample <= p->maximum ? DISTMAP_OK : dm_broken(input, "holds a sample above its maximum");
    }
    int c;
    do
        TRY(next_byte(input, &c));
    while (c >= 0 && isspace(c));
    if (c != '0' && c != '1')
        return dm_broken(input, c < 0 ? "truncated: the file ends where a bit should follow"
                                      : "holds a bit that is not 0 or 1");
    *sample = c == '0';
    return DISTMAP_OK;
}

static uint32_t colour(const distmap_reader *reader, uint32_t red, uint32_t green, uint32_t blue) {
    return dm_sample_of((int)reader->info.sample, red, green, blue, 1);
}

static distmap_status plain_row(distmap_reader *reader, const pnm *p, char *out) {
    for (int64_t x = 0; x < reader->info.shape[1]; x++) {
        int64_t s[3];
        for (int k = 0; k < (p->kind == '3' ? 3 : 1); k++)
            TRY(plain_sample(&reader->input, p, &s[k]));
        const uint32_t value =
            p->kind == '3' ? colour(reader, (uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2]) : (uint32_t)s[0];
        if (reader->info.dtype == DISTMAP_UINT16)
            ((uint16_t *)out)[x] = (uint16_t)value;
        else
            ((uint8_t *)out)[x] = (uint8_t)value;
    }
    return DISTMAP_OK;
}

/* A stored row of bits, or of 8- or 16-bit RGB, to elements. */
static void binary_row(const distmap_reader *reader, const pnm *p, char *out) {
    const size_t width = (size_t)reader->info.shape[1];
    const uint8_t *r = p->row;
    if (p->kind == '4') {
        dm_bits_expand(r, width, 1, (uint8_t *)out);
    } else if (reader->info.dtype == DISTMAP_UINT8) {
        for (size_t x = 0; x < width; x++, r += 3)
            ((uint8_t *)out)[x] = (uint8_t)colour(reader, r[0], r[1], r[2]);
    } else {
        for (size_t x = 0; x < width; x++, r += 6)
            ((uint16_t *)out)[x] = (uint16_t)colour(reader, (uint32_t)(r[0] << 8 | r[1]), (uint32_t)(r[2] << 8 | r[3]),
                                                    (uint32_t)(r[4] << 8 | r[5]));
    }
}

static distmap_status pnm_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    pnm *p = reader->state;
    if (p->kind == '5')
        return dm_raw_read(reader, first, count, out);
    if (p->kind > '3') {
        for (int64_t y = 0; y < count; y++) {
            TRY(dm_input_at(&reader->input, p->offset + (first + y) * (int64_t)p->row_bytes, p->row, p->row_bytes));
            binary_row(reader, p, (char *)out + (size_t)y * reader->slice_bytes);
        }
        return DISTMAP_OK;
    }
    if (first < p->next)
        p->next = 0;
    if (!p->next)
        dm_input_seek(&reader->input, p->offset);
    /* Rows before `first` go through the first row of `out`, which is overwritten afterwards. */
    for (; p->next < first + count; p->next++) {
        const int64_t y = p->next < first ? 0 : p->next - first;
        const distmap_status status = plain_row(reader, p, (char *)out + (size_t)y * reader->slice_bytes);
        if (status) {
            p->next = 0;
            return status;
        }
    }
    return DISTMAP_OK;
}

static void pnm_close(distmap_reader *reader) {
    pnm *p = reader->state;
    if (p)
        free(p->row);
    free(p);
}

/* ---- Writing ---- */

static distmap_status pnm_create(distmap_writer *writer) {
    const distmap_image_info *info = &writer->info;
    const long long width = info->shape[1], height = info->shape[0];
    char text[80];
    const int bytes = info->dtype == DISTMAP_BOOL ? snprintf(text, sizeof text, "P4\n%lld %lld\n", width, height)
                                                  : snprintf(text, sizeof text, "P5\n%lld %lld\n%d\n", width, height,
                                                             info->dtype == DISTMAP_UINT8 ? 255 : 65535);
    writer->state = malloc((size_t)width * 2);
    if (!writer->state)
        return dm_no_memory(writer->output.name);
    return dm_output_write(&writer->output, text, (size_t)bytes);
}

static distmap_status pnm_write(distmap_writer *writer, int64_t count, const void *slices) {
    const distmap_image_info *info = &writer->info;
    if (info->dtype == DISTMAP_UINT8)
        return dm_output_write(&writer->output, slices, (size_t)count * writer->slice_bytes);
    const size_t columns = (size_t)info->shape[1];
    const char *from = slices;
    for (int64_t y = 0; y < count; y++, from += writer->slice_bytes) {
        size_t bytes = columns * 2;
        if (info->dtype == DISTMAP_BOOL) {
            bytes = (columns + 7) / 8;
            dm_bits_pack((const uint8_t *)from, columns, 1, writer->state);
        } else {
            memcpy(writer->state, from, bytes);
            if (!DM_HOST_BIG)
                dm_swap(writer->state, columns, 2);
        }
        TRY(dm_output_write(&writer->output, writer->state, bytes));
    }
    return DISTMAP_OK;
}

static void pnm_discard(distmap_writer *writer) { free(writer->state); }

#define READS .open = pnm_open, .read = pnm_read, .close = pnm_close
#define WRITES .min_ndim = 2, .max_ndim = 2, .create = pnm_create, .write = pnm_write, .discard = pnm_discard

const dm_codec dm_codec_pgm = {
    .info = {.name = "pgm",
             .endings = ".pgm .pnm",
             .reads = true,
             .writes = true,
             .summary = "8 and 16 bit, binary (memory-mapped when 8 bit) and plain"},
    .sniff = pgm_sniff,
    .holds = 1u << DISTMAP_UINT8 | 1u << DISTMAP_UINT16,
    READS,
    WRITES,
};
const dm_codec dm_codec_pbm = {
    .info = {.name = "pbm",
             .endings = ".pbm",
             .reads = true,
             .writes = true,
             .summary = "bits, binary and plain; black is 0, white is 1"},
    .sniff = pbm_sniff,
    .holds = 1u << DISTMAP_BOOL,
    READS,
    WRITES,
};
const dm_codec dm_codec_ppm = {
    .info = {.name = "ppm",
             .endings = ".ppm",
             .reads = true,
             .summary = "8 and 16 bit colour, binary and plain, read as luma"},
    .sniff = ppm_sniff,
    READS,
};
