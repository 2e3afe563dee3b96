/* Writing TIFF: uncompressed strips, one page per plane of a volume, BigTIFF when it would pass 4 GB.
 *
 * bool is 1 bit, min-is-black. Bands come in any height: a strip that lies whole in a band is written from there, others
 * are gathered first.
 */
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_file.h"

/* Classic TIFF has 32-bit offsets; what is left is for the directories and strip tables. */
#define CLASSIC_BYTES INT64_C(4000000000)
enum { STRIP_BYTES = 1 << 18, PAGE_BYTES = 1024 };

typedef struct state {
    dm_tiff file;
    int64_t pages, page; /* how many; the current one */
    int64_t row;         /* the next one of the current page */
    int64_t strip_rows;  /* of every strip but a page's last */
    size_t row_bytes;    /* as stored */
    uint8_t *strip;      /* rows of a strip that is not whole yet */
    int64_t gathered;    /* how many it holds */
} state;

static distmap_status failed(const distmap_writer *writer) {
    const state *s = writer->state;
    if (writer->output.error)
        return dm_output_failed(&writer->output);
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot write: %s", writer->output.name, s->file.message);
}

static int64_t height_of(const distmap_image_info *info) { return info->shape[info->ndim - 2]; }
static int64_t width_of(const distmap_image_info *info) { return info->shape[info->ndim - 1]; }

/* The tags of the page that begins. */
static void begin_page(distmap_writer *writer, state *s) {
    TIFF *t = s->file.tiff;
    const distmap_image_info *info = &writer->info;
    const int size = (int)distmap_dtype_size(info->dtype);
    const bool is_float = info->dtype == DISTMAP_FLOAT32 || info->dtype == DISTMAP_FLOAT64;
    const bool is_signed = info->dtype == DISTMAP_INT8 || info->dtype == DISTMAP_INT16 ||
                           info->dtype == DISTMAP_INT32 || info->dtype == DISTMAP_INT64;
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, (uint32_t)width_of(info));
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, (uint32_t)height_of(info));
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, info->dtype == DISTMAP_BOOL ? 1 : 8 * size);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT,
                 is_float    ? SAMPLEFORMAT_IEEEFP
                 : is_signed ? SAMPLEFORMAT_INT
                             : SAMPLEFORMAT_UINT);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, (uint32_t)s->strip_rows);
    if (!s->page)
        dm_tiff_spacing_write(t, info, s->pages);
    s->row = 0;
}

distmap_status dm_tiff_create(distmap_writer *writer) {
    const distmap_image_info *info = &writer->info;
    if (!writer->output.target)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: tiff needs a regular file to write to",
                                 writer->output.name);
    if (width_of(info) > UINT32_MAX || height_of(info) > UINT32_MAX)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: tiff holds at most 2^32 - 1 rows and columns",
                                 writer->output.name);
    if (!dm_axes_follow(info, "tzyx")) /* pages are slices, of frames where there are four axes */
        return dm_axes_refused(writer, "t z y x");
    state *s = writer->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(writer->output.name);
    s->pages = 1;
    for (int a = 0; a < info->ndim - 2; a++)
        s->pages *= info->shape[a];
    const size_t width = (size_t)width_of(info);
    s->row_bytes = info->dtype == DISTMAP_BOOL ? (width + 7) / 8 : width * distmap_dtype_size(info->dtype);
    s->strip_rows = (int64_t)(STRIP_BYTES / s->row_bytes) + 1;
    if (s->strip_rows > height_of(info))
        s->strip_rows = height_of(info);
    if (!(s->strip = malloc((size_t)s->strip_rows * s->row_bytes)))
        return dm_no_memory(writer->output.name);
    const int64_t bytes = (int64_t)writer->slice_bytes * info->shape[0] + s->pages * PAGE_BYTES;
    TRY(dm_tiff_open_output(&s->file, &writer->output, bytes > CLASSIC_BYTES));
    begin_page(writer, s);
    return DISTMAP_OK;
}

/* Writes the strip that ends before the next row. */
static distmap_status put_strip(const distmap_writer *writer, state *s, const void *rows, int64_t count) {
    const uint32_t strip = (uint32_t)((s->row - 1) / s->strip_rows);
    return TIFFWriteRawStrip(s->file.tiff, strip, (void *)rows, (tmsize_t)((size_t)count * s->row_bytes)) < 0
               ? failed(writer)
               : DISTMAP_OK;
}

distmap_status dm_tiff_write(distmap_writer *writer, int64_t count, const void *slices) {
    state *s = writer->state;
    const distmap_image_info *info = &writer->info;
    const size_t width = (size_t)width_of(info), row_bytes = width * distmap_dtype_size(info->dtype);
    const char *from = slices;
    for (int64_t left = (int64_t)((size_t)count * writer->slice_bytes / row_bytes), taken; left; left -= taken) {
        if (s->row == height_of(info)) {
            if (!TIFFWriteDirectory(s->file.tiff))
                return failed(writer);
            s->page++;
            begin_page(writer, s);
        }
        const int64_t begin = s->row - s->gathered; /* of the strip */
        const int64_t rows = height_of(info) - begin < s->strip_rows ? height_of(info) - begin : s->strip_rows;
        if (!s->gathered && left >= rows && info->dtype != DISTMAP_BOOL) {
            taken = rows;
            s->row += taken;
            TRY(put_strip(writer, s, from, rows));
        } else {
            uint8_t *to = s->strip + (size_t)s->gathered * s->row_bytes;
            if (info->dtype == DISTMAP_BOOL)
                dm_bits_pack((const uint8_t *)from, width, 0, to);
            else
                memcpy(to, from, row_bytes);
            taken = 1;
            s->row++;
            if (++s->gathered == rows) {
                s->gathered = 0;
                TRY(put_strip(writer, s, s->strip, rows));
            }
        }
        from += (size_t)taken * row_bytes;
    }
    return DISTMAP_OK;
}

distmap_status dm_tiff_finish(distmap_writer *writer) {
    state *s = writer->state;
    return TIFFWriteDirectory(s->file.tiff) && !writer->output.error ? DISTMAP_OK : failed(writer);
}

void dm_tiff_discard(distmap_writer *writer) {
    state *s = writer->state;
    if (!s)
        return;
    dm_tiff_close(&s->file);
    free(s->strip);
    free(s);
}
