/* NPY, NumPy's format: versions 1 to 3, C and Fortran order, both byte orders, memory-mapped both ways.
 *
 * "\x93NUMPY", version (2 bytes), the header's length (2 bytes, from version 2 on 4), then a Python dictionary in ASCII
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 * padded with spaces and a newline, so that the elements begin at a multiple of 64. Python's syntax is wider than what
 * NumPy writes; the three keys may come in any order and with any spacing here, and anything else is refused.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/codec.h"

enum { MAGIC = 6, MAX_HEADER = 1 << 16 };

/* ---- Reading ---- */

typedef struct header {
    char descr[16];
    bool fortran;
    int ndim;
    int64_t shape[DISTMAP_MAX_AXES];
    bool has_descr, has_order, has_shape;
} header;

static const char *skip(const char *p) {
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* The text behind `p` if it begins with `word`, else NULL. */
static const char *expect(const char *p, const char *word) {
    p = skip(p);
    return strncmp(p, word, strlen(word)) ? NULL : p + strlen(word);
}

/* A string in either kind of quotes; NULL if there is none or it is longer than text. */
static const char *parse_string(const char *p, char *text, size_t size) {
    p = skip(p);
    const char quote = *p;
    if (quote != '\'' && quote != '"')
        return NULL;
    const char *end = strchr(++p, quote);
    if (!end || (size_t)(end - p) >= size)
        return NULL;
    memcpy(text, p, (size_t)(end - p));
    text[end - p] = 0;
    return end + 1;
}

/* (3, 4) or (3,) or (); axes beyond the fourth are counted, not kept. */
static const char *parse_shape(const char *p, header *h) {
    p = expect(p, "(");
    h->ndim = 0;
    while (p && !expect(p, ")")) {
        p = skip(p);
        int64_t n = 0;
        if (!isdigit((unsigned char)*p))
            return NULL;
        for (; isdigit((unsigned char)*p); p++)
            if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n))
                return NULL;
        if (*p == 'L') /* as Python 2 wrote it */
            p++;
        if (h->ndim < DISTMAP_MAX_AXES)
            h->shape[h->ndim] = n;
        h->ndim++;
        const char *comma = expect(p, ",");
        if (!comma)
            return expect(p, ")");
        p = comma;
    }
    return p ? expect(p, ")") : NULL;
}

static const char *parse_value(const char *p, const char *key, header *h) {
    if (!strcmp(key, "descr")) {
        h->has_descr = true;
        return parse_string(p, h->descr, sizeof h->descr);
    }
    if (!strcmp(key, "fortran_order")) {
        h->has_order = true;
        h->fortran = expect(p, "True");
        return h->fortran ? expect(p, "True") : expect(p, "False");
    }
    if (!strcmp(key, "shape")) {
        h->has_shape = true;
        return parse_shape(p, h);
    }
    return NULL;
}

static bool parse(const char *text, header *h) {
    const char *p = expect(text, "{");
    while (p && !expect(p, "}")) {
        char key[16];
        if ((p = parse_string(p, key, sizeof key)) && (p = expect(p, ":")) && (p = parse_value(p, key, h))) {
            const char *comma = expect(p, ",");
            if (!comma)
                break;
            p = comma;
        }
    }
    p = p ? expect(p, "}") : NULL;
    return p && !*skip(p) && h->has_descr && h->has_order && h->has_shape;
}

static distmap_status apply(distmap_reader *reader, const header *h, int64_t offset) {
    const dm_input *input = &reader->input;
    distmap_image_info *info = &reader->info;
    bool swapped;
    info->dtype = dm_numpy_dtype(h->descr, &swapped);
    if (!info->dtype)
        return dm_unsupported(input, "its element type is %s; bool, integers and float32, float64 are read", h->descr);
    if (h->ndim < 1 || h->ndim > DISTMAP_MAX_AXES)
        return dm_unsupported(input, "has %d axes; 1 to %d are read", h->ndim, DISTMAP_MAX_AXES);
    info->ndim = h->ndim;
    memcpy(info->shape, h->shape, sizeof info->shape);
    snprintf(info->stored, sizeof info->stored, "%s, %s order", h->descr, h->fortran ? "Fortran" : "C");
    return dm_raw_open(reader, offset, swapped, h->fortran);
}

static bool npy_sniff(const uint8_t *head, size_t bytes) { return bytes >= MAGIC && !memcmp(head, "\x93NUMPY", MAGIC); }

static distmap_status npy_open(distmap_reader *reader) {
    const dm_input *input = &reader->input;
    uint8_t start[12] = {0};
    TRY(dm_input_at(input, 0, start, MAGIC + 4));
    if (start[6] < 1 || start[6] > 3)
        return dm_unsupported(input, "is NPY version %d; 1 to 3 are read", start[6]);
    const int fixed = start[6] == 1 ? MAGIC + 4 : MAGIC + 6;
    TRY(dm_input_at(input, 0, start, (size_t)fixed));
    const size_t length = start[6] == 1
                              ? start[8] | (size_t)start[9] << 8
                              : start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (length > MAX_HEADER)
        return dm_broken(input, "broken NPY header: it states a length of %zu bytes", length);
    char *text = malloc(length + 1);
    if (!text)
        return dm_no_memory(input->name);
    distmap_status status = dm_input_at(input, fixed, text, length);
    header h = {0};
    if (!status) {
        text[length] = 0;
        if (strlen(text) != length || !parse(text, &h))
            status = dm_unsupported(input, "its NPY header is broken, or of a structured type");
    }
    free(text);
    TRY(status);
    return apply(reader, &h, fixed + (int64_t)length);
}

/* ---- Writing ---- */

static distmap_status npy_create(distmap_writer *writer) {
    const distmap_image_info *info = &writer->info;
    char text[256], type[8], shape[100] = "";
    dm_numpy_name(info->dtype, type);
    for (int a = 0; a < info->ndim; a++)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), a ? ", %lld" : "%lld", (long long)info->shape[a]);
    const int used =
        snprintf(text, sizeof text, "\x93NUMPY\x01%c%c%c{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }", 0,
                 0, 0, type, shape, info->ndim == 1 ? "," : "");
    const int bytes = (used + 1 + 63) / 64 * 64;
    memset(text + used, ' ', (size_t)(bytes - used));
    text[bytes - 1] = '\n';
    text[8] = (char)((bytes - MAGIC - 4) & 0xff);
    text[9] = (char)((bytes - MAGIC - 4) >> 8);
    writer->raw_offset = bytes;
    return dm_output_write(&writer->output, text, (size_t)bytes);
}

static distmap_status npy_write(distmap_writer *writer, int64_t count, const void *slices) {
    return dm_output_write(&writer->output, slices, (size_t)count * writer->slice_bytes);
}

const dm_codec dm_codec_npy = {
    .info = {.name = "npy",
             .endings = ".npy",
             .reads = true,
             .writes = true,
             .summary = "any shape, element type and order; memory-mapped when read and written",
             .shares = true},
    .sniff = npy_sniff,
    .open = npy_open,
    .read = dm_raw_read,
    .read_box = dm_raw_read_box,
    .holds = (1u << (DISTMAP_FLOAT64 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 1,
    .max_ndim = DISTMAP_MAX_AXES,
    .holds_empty = true,
    .is_plain = true,
    .create = npy_create,
    .write = npy_write,
    .put = dm_raw_put,
    .depth = dm_raw_depth,
    .pack = dm_raw_pack,
    .place = dm_raw_place,
};
