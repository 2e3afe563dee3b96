/* Packing a strip of TIFF: a file of one strip in memory, out of which the packed bytes are taken.
 *
 * libtiff's own levels are made for archives (deflate 6, zstd 9). Maps shrink little more at them than at these, at three times the time.
 */
#include <stdlib.h>
#include <string.h>

#include "io/tiff_pack.h"

enum { DEFLATE_LEVEL = 3, ZSTD_LEVEL = 1, FIRST_ROOM = 1 << 16 };

/* ---- Names ---- */

static const struct {
    uint16_t code;
    const char *name;
} known[] = {{COMPRESSION_NONE, "none"},
             {COMPRESSION_ADOBE_DEFLATE, "deflate"},
             {COMPRESSION_LZW, "lzw"},
             {COMPRESSION_ZSTD, "zstd"},
             {COMPRESSION_DEFLATE, "deflate"}};
enum { KNOWN = sizeof known / sizeof *known };

const char *dm_tiff_packing(uint16_t compression) {
    for (int k = 0; k < KNOWN; k++)
        if (known[k].code == compression)
            return known[k].name;
    return "other";
}

uint16_t dm_tiff_compression(const char *packing) {
    for (int k = 0; k < KNOWN; k++)
        if (!strcmp(known[k].name, packing))
            return known[k].code;
    return COMPRESSION_NONE;
}

const char *dm_tiff_packings(const char *path) {
    (void)path;
    return TIFFIsCODECConfigured(COMPRESSION_ZSTD) ? "none deflate lzw zstd" : "none deflate lzw";
}

/* ---- The form ---- */

dm_tiff_form dm_tiff_form_of(const distmap_image_info *info, uint16_t compression) {
    const bool is_float = info->dtype == DISTMAP_FLOAT32 || info->dtype == DISTMAP_FLOAT64,
               is_signed = info->dtype == DISTMAP_INT8 || info->dtype == DISTMAP_INT16 ||
                           info->dtype == DISTMAP_INT32 || info->dtype == DISTMAP_INT64;
    return (dm_tiff_form){.width = (uint32_t)info->shape[info->ndim - 1],
                          .bits = info->dtype == DISTMAP_BOOL ? 1 : 8 * (int)distmap_dtype_size(info->dtype),
                          .sample_format = is_float    ? SAMPLEFORMAT_IEEEFP
                                           : is_signed ? SAMPLEFORMAT_INT
                                                       : SAMPLEFORMAT_UINT,
                          .compression = compression,
                          .predictor = compression == COMPRESSION_NONE || info->dtype == DISTMAP_BOOL ? 0
                                       : is_float ? PREDICTOR_FLOATINGPOINT
                                                  : PREDICTOR_HORIZONTAL};
}

void dm_tiff_form_set(TIFF *t, bool *refused, const dm_tiff_form *form, uint32_t strip_rows) {
    dm_tiff_set(t, refused, TIFFTAG_IMAGEWIDTH, form->width);
    dm_tiff_set(t, refused, TIFFTAG_BITSPERSAMPLE, form->bits);
    dm_tiff_set(t, refused, TIFFTAG_SAMPLEFORMAT, form->sample_format);
    dm_tiff_set(t, refused, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    dm_tiff_set(t, refused, TIFFTAG_COMPRESSION, form->compression);
    if (form->predictor)
        dm_tiff_set(t, refused, TIFFTAG_PREDICTOR, form->predictor);
    dm_tiff_set(t, refused, TIFFTAG_ROWSPERSTRIP, strip_rows);
}

/* ---- A file in memory ---- */

typedef struct memory {
    uint8_t *data;
    size_t bytes, room, at;
    char why[200];
} memory;

static tmsize_t on_read(thandle_t handle, void *data, tmsize_t bytes) {
    memory *m = handle;
    const size_t left = m->at < m->bytes ? m->bytes - m->at : 0, n = (size_t)bytes < left ? (size_t)bytes : left;
    if (n)
        memcpy(data, m->data + m->at, n);
    m->at += n;
    return (tmsize_t)n;
}

static tmsize_t on_write(thandle_t handle, void *data, tmsize_t bytes) {
    memory *m = handle;
    const size_t end = m->at + (size_t)bytes;
    if (end > m->room) {
        const size_t room = 2 * end > FIRST_ROOM ? 2 * end : FIRST_ROOM;
        uint8_t *more = realloc(m->data, room);
        if (!more)
            return -1;
        m->data = more;
        m->room = room;
    }
    if (m->at > m->bytes)
        memset(m->data + m->bytes, 0, m->at - m->bytes);
    memcpy(m->data + m->at, data, (size_t)bytes);
    m->at = end;
    m->bytes = end > m->bytes ? end : m->bytes;
    return bytes;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
    memory *m = handle;
    m->at = (size_t)offset + (whence == SEEK_CUR ? m->at : whence == SEEK_END ? m->bytes : 0);
    return m->at;
}

static toff_t on_size(thandle_t handle) { return ((memory *)handle)->bytes; }

static int on_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static int on_message(TIFF *tiff, void *user, const char *module, const char *format, va_list args) {
    (void)tiff, (void)module;
    memory *m = user;
    if (m && !m->why[0])
        vsnprintf(m->why, sizeof m->why, format, args);
    return 1;
}

static TIFF *open_memory(memory *m) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_message, m);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_message, NULL);
    TIFF *t = TIFFClientOpenExt("", "w8", m, on_read, on_write, on_seek, on_close, on_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return t;
}

distmap_status dm_tiff_pack(const char *name, const dm_tiff_form *form, size_t bytes, dm_tiff_strip *strip) {
    memory m = {0};
    TIFF *t = open_memory(&m);
    if (!t) {
        free(m.data);
        return dm_no_memory(name);
    }
    bool refused = false;
    dm_tiff_set(t, &refused, TIFFTAG_IMAGELENGTH, strip->count);
    dm_tiff_form_set(t, &refused, form, strip->count);
    if (form->compression == COMPRESSION_ADOBE_DEFLATE)
        dm_tiff_set(t, &refused, TIFFTAG_ZIPQUALITY, DEFLATE_LEVEL);
    if (form->compression == COMPRESSION_ZSTD)
        dm_tiff_set(t, &refused, TIFFTAG_ZSTD_LEVEL, ZSTD_LEVEL);
    const bool good = !refused && TIFFWriteEncodedStrip(t, 0, (void *)strip->rows, (tmsize_t)bytes) >= 0;
    const uint64_t at = TIFFGetStrileOffset(t, 0), packed = TIFFGetStrileByteCount(t, 0);
    TIFFCleanup(t); /* no directory is written */
    if (!good || at + packed > m.bytes) {
        free(m.data);
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot pack a strip: %s", name, m.why);
    }
    memmove(m.data, m.data + at, packed);
    strip->packed = m.data;
    strip->packed_bytes = packed;
    return DISTMAP_OK;
}
