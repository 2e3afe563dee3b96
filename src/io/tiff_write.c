/* Writing TIFF: uncompressed strips, one page per plane of a volume, BigTIFF when it would pass 4 GB.
 *
 * bool is 1 bit, min-is-black. Rows go out in bands of any height; libtiff gathers them into strips of about STRIP_BYTES.
 */
#include <stdlib.h>

#include "io/convert.h"
#include "io/tiff_file.h"

/* Classic TIFF has 32-bit offsets; what is left is for the directories and strip tables. */
#define CLASSIC_BYTES INT64_C(4000000000)
enum { STRIP_BYTES = 1 << 18, PAGE_BYTES = 1024 };

typedef struct state {
    dm_tiff file;
    int64_t pages;
    int64_t row;   /* of the current page */
    int64_t page;  /* the current one */
    uint8_t *bits; /* bool: one packed row */
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
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, (uint32_t)(STRIP_BYTES / ((uint64_t)width_of(info) * (uint64_t)size) + 1));
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
    state *s = writer->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(writer->output.name);
    s->pages = 1;
    for (int a = 0; a < info->ndim - 2; a++)
        s->pages *= info->shape[a];
    if (info->dtype == DISTMAP_BOOL && !(s->bits = malloc(((size_t)width_of(info) + 7) / 8)))
        return dm_no_memory(writer->output.name);
    const int64_t bytes = (int64_t)writer->slice_bytes * info->shape[0] + s->pages * PAGE_BYTES;
    TRY(dm_tiff_open_output(&s->file, &writer->output, bytes > CLASSIC_BYTES));
    begin_page(writer, s);
    return DISTMAP_OK;
}

distmap_status dm_tiff_write(distmap_writer *writer, int64_t count, const void *slices) {
    state *s = writer->state;
    const distmap_image_info *info = &writer->info;
    const size_t width = (size_t)width_of(info), row_bytes = width * distmap_dtype_size(info->dtype);
    const char *row = slices;
    for (size_t left = (size_t)count * writer->slice_bytes; left; left -= row_bytes, row += row_bytes) {
        if (s->row == height_of(info)) {
            if (!TIFFWriteDirectory(s->file.tiff))
                return failed(writer);
            s->page++;
            begin_page(writer, s);
        }
        if (s->bits)
            dm_bits_pack((const uint8_t *)row, width, 0, s->bits);
        if (TIFFWriteScanline(s->file.tiff, s->bits ? s->bits : (void *)row, (uint32_t)s->row, 0) < 0)
            return failed(writer);
        s->row++;
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
    free(s->bits);
    free(s);
}
