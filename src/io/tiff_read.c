/* Reading TIFF and BigTIFF: strips and tiles, planes together or apart, pages as a volume, whatever libtiff decompresses.
 *
 * Strips are read by scanlines, for a strip may be the whole image; of tiles one row is held. Separate planes each have a
 * libtiff handle of their own, so that each goes through its file part in order. Pages must agree in size and type;
 * pages that are reduced copies of others are left out. Where the elements lie in the file in one piece as they are, libtiff
 * is not asked for them (raw.c). ImageJ's stacks of more than 4 GB are one page, and the other planes behind it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_file.h"

typedef struct state {
    dm_tiff planes[DM_TIFF_USED]; /* one handle each; together: the first alone */
    int plane_count;
    int64_t page[DM_TIFF_USED]; /* the page that each handle is at */
    int64_t next[DM_TIFF_USED]; /* strips: the row that follows the last one read there */
    uint32_t strip_rows;
    dm_tiff_page form; /* of every page */
    uint64_t *offsets; /* of the pages' directories */
    int64_t pages;
    uint8_t *rows[DM_TIFF_USED]; /* strips: one row of samples */
    size_t row_bytes;            /* of samples, in one plane */
    bool plain, file_big;
    bool in_one_piece; /* all elements follow each other, from `start` on */
    int64_t start;
    int64_t end;    /* of the page visited last */
    uint8_t *table; /* palette: luma of each index */
} state;

static bool tiff_sniff(const uint8_t *head, size_t bytes) {
    return bytes >= 8 && (!memcmp(head, "II*\0", 4) || !memcmp(head, "MM\0*", 4) || !memcmp(head, "II+\0", 4) ||
                          !memcmp(head, "MM\0+", 4));
}

static distmap_status failed(distmap_reader *reader, dm_tiff *file) {
    const distmap_status status =
        dm_broken(&reader->input, "truncated or broken TIFF data: %s", file->message[0] ? file->message : "no details");
    file->message[0] = 0;
    return status;
}

/* ---- Opening ---- */

/* How much each compression can shrink: PackBits 128 bytes to 2; LZW a string of 4096 to 12 bits; deflate; the others
 * (CCITT rows alike, zstd, LZMA) have no small bound, the largest met being that of zstd, 128 KiB to 4 bytes. */
static int64_t ratio(uint16_t compression) {
    switch (compression) {
    case COMPRESSION_NONE: return 1;
    case COMPRESSION_PACKBITS: return 64;
    case COMPRESSION_LZW: return 2731;
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE: return DM_DEFLATE_RATIO;
    case COMPRESSION_JPEG: return 3 * 1024;
    default: return 65536;
    }
}

static const char *compression_name(uint16_t compression) {
    const TIFFCodec *codec = TIFFFindCODEC(compression);
    return compression == COMPRESSION_NONE ? "uncompressed" : codec ? codec->name : "compressed";
}

/* Tiles at the edges are stored whole: size of what a page decodes to, in one plane. */
static distmap_status page_bytes(const distmap_reader *reader, const dm_tiff_page *p, size_t *row_bytes,
                                 int64_t *bytes) {
    const int64_t samples = p->planar == PLANARCONFIG_SEPARATE ? 1 : p->samples;
    const int64_t tw = p->tile_width ? p->tile_width : 1, th = p->tile_height ? p->tile_height : 1;
    const int64_t width = (p->width + tw - 1) / tw * tw, height = (p->height + th - 1) / th * th;
    const int64_t bits = width * samples * p->bits; /* below 2^33 * 2^16 * 2^6 */
    *row_bytes = (size_t)((bits + 7) / 8);
    return dm_shape_bytes(reader->input.name, 1, &height, *row_bytes, bytes);
}

static bool same_form(const dm_tiff_page *a, const dm_tiff_page *b) {
    return a->width == b->width && a->height == b->height && a->bits == b->bits && a->samples == b->samples &&
           a->format == b->format && a->photometric == b->photometric && a->planar == b->planar &&
           a->tile_width == b->tile_width && a->tile_height == b->tile_height && a->alpha == b->alpha &&
           a->used_count == b->used_count && a->dtype == b->dtype && a->colour == b->colour;
}

/* Whether the current page's strips lie one behind the other, and behind those of the page before. */
static void follow_strips(state *s, const dm_tiff_page *page, int64_t page_size) {
    uint64_t *offsets = NULL, *sizes = NULL;
    uint16_t order = FILLORDER_MSB2LSB;
    TIFF *t = s->planes[0].tiff;
    TIFFGetFieldDefaulted(t, TIFFTAG_FILLORDER, &order);
    if (order != FILLORDER_MSB2LSB || page->tile_width || page->compression != COMPRESSION_NONE ||
        !dm_tiff_row_is_plain(page) || (page->planar == PLANARCONFIG_SEPARATE && page->samples > 1) ||
        !TIFFGetField(t, TIFFTAG_STRIPOFFSETS, &offsets) || !TIFFGetField(t, TIFFTAG_STRIPBYTECOUNTS, &sizes) ||
        !offsets || !sizes) {
        s->in_one_piece = false;
        return;
    }
    if (s->pages == 1)
        s->start = s->end = (int64_t)offsets[0];
    const int64_t begin = s->end;
    for (uint32_t i = 0; i < TIFFNumberOfStrips(t) && s->in_one_piece; i++)
        if ((int64_t)offsets[i] != s->end || __builtin_add_overflow(s->end, (int64_t)sizes[i], &s->end) ||
            s->end < begin)
            s->in_one_piece = false;
    s->in_one_piece &= s->start > 0 && s->end - begin == page_size;
}

/* Visits every directory: finds the pages, checks that they agree and that the file can hold them. */
static distmap_status find_pages(distmap_reader *reader, state *s, int64_t *decoded) {
    dm_tiff *file = &s->planes[0];
    int64_t room = 0, worst = 1;
    *decoded = 0;
    for (int64_t number = 1;; number++) {
        uint32_t kind = 0;
        TIFFGetField(file->tiff, TIFFTAG_SUBFILETYPE, &kind);
        if (!(kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) || !s->pages) {
            dm_tiff_page page;
            TRY(dm_tiff_page_read(file, number, &page));
            if (s->pages && !same_form(&page, &s->form))
                return dm_unsupported(&reader->input,
                                      "page %lld is %ux%u, %u x %u bits, page 1 is %ux%u, %u x %u bits; pages "
                                      "must agree in size and type",
                                      (long long)number, page.width, page.height, page.samples, page.bits,
                                      s->form.width, s->form.height, s->form.samples, s->form.bits);
            if (!s->pages)
                s->form = page;
            if (s->pages == room) {
                room = room ? 2 * room : 16;
                uint64_t *more = realloc(s->offsets, (size_t)room * sizeof *more);
                if (!more)
                    return dm_no_memory(reader->input.name);
                s->offsets = more;
            }
            s->offsets[s->pages++] = TIFFCurrentDirOffset(file->tiff);
            int64_t bytes;
            TRY(page_bytes(reader, &page, &s->row_bytes, &bytes));
            const int64_t plane_bytes = bytes;
            if (__builtin_mul_overflow(bytes, page.planar == PLANARCONFIG_SEPARATE ? page.samples : 1, &bytes) ||
                __builtin_add_overflow(*decoded, bytes, decoded))
                return dm_broken(&reader->input, "absurd size");
            follow_strips(s, &page, plane_bytes);
            if (ratio(page.compression) > worst)
                worst = ratio(page.compression);
        }
        file->message[0] = 0;
        if (TIFFLastDirectory(file->tiff))
            break;
        if (!TIFFReadDirectory(file->tiff))
            return failed(reader, file);
    }
    return dm_check_holds(&reader->input, *decoded, worst);
}

static distmap_status make_table(distmap_reader *reader, state *s) {
    uint16_t *red, *green, *blue;
    if (!TIFFGetField(s->planes[0].tiff, TIFFTAG_COLORMAP, &red, &green, &blue))
        return dm_broken(&reader->input, "has palette indices and no palette");
    const size_t count = (size_t)1 << s->form.bits;
    s->table = malloc(count);
    if (!s->table)
        return dm_no_memory(reader->input.name);
    int shift = 0; /* old files hold 8-bit colours */
    for (size_t i = 0; i < count; i++)
        if (red[i] > 255 || green[i] > 255 || blue[i] > 255)
            shift = 8;
    for (size_t i = 0; i < count; i++)
        s->table[i] =
            (uint8_t)dm_luma((uint32_t)red[i] >> shift, (uint32_t)green[i] >> shift, (uint32_t)blue[i] >> shift);
    return DISTMAP_OK;
}

/* Handles for further planes, and the buffers: rows of samples, or a row of tiles. */
static distmap_status make_buffers(distmap_reader *reader, state *s) {
    const bool separate = s->form.planar == PLANARCONFIG_SEPARATE;
    s->plane_count = separate ? s->form.used_count : 1;
    for (int k = 0; k < s->plane_count; k++) {
        dm_tiff *file = &s->planes[k];
        if (k)
            TRY(dm_tiff_open_input(file, &reader->input));
        s->page[k] = -1;
        if (!s->form.tile_width) {
            const size_t scanline = (size_t)TIFFScanlineSize64(s->planes[0].tiff);
            s->rows[k] = malloc(scanline > s->row_bytes ? scanline : s->row_bytes);
        } else {
            file->rows = malloc(s->row_bytes * s->form.tile_height);
            file->tile = malloc((size_t)TIFFTileSize64(s->planes[0].tiff));
        }
        if (s->form.tile_width ? !file->rows || !file->tile : !s->rows[k])
            return dm_no_memory(reader->input.name);
    }
    return DISTMAP_OK;
}

static void fill_info(distmap_reader *reader, state *s) {
    distmap_image_info *info = &reader->info;
    TIFF *t = s->planes[0].tiff;
    char *description = NULL;
    TIFFGetField(t, TIFFTAG_IMAGEDESCRIPTION, &description);
    dm_tiff_text text;
    dm_tiff_text_parse(description, &text);
    /* A stack of one directory has it in front, and more behind the first plane. */
    if (s->pages == 1 && text.images > 1 && s->in_one_piece && (int64_t)s->offsets[0] < s->start &&
        s->end < reader->input.size)
        s->pages = text.images;
    info->dtype = s->form.dtype;
    const bool series =
        text.frames > 1 && text.slices > 0 && s->pages % text.frames == 0 && s->pages / text.frames == text.slices;
    info->ndim = series ? 4 : s->pages > 1 || text.slices == 1 ? 3 : 2;
    info->shape[0] = series ? text.frames : s->pages;
    info->shape[info->ndim - 3 > 0 ? 1 : 0] = series ? text.slices : s->pages;
    info->shape[info->ndim - 2] = s->form.height;
    info->shape[info->ndim - 1] = s->form.width;
    if (series || (text.frames > 1 && !text.slices && s->pages == text.frames))
        dm_axis_take(&info->axis[0], "t");
    dm_tiff_spacing_read(t, &text, info);

    char layout[64] = "strips", pages[64] = "", stored[256];
    if (s->form.tile_width)
        snprintf(layout, sizeof layout, "tiles %ux%u", s->form.tile_width, s->form.tile_height);
    if (s->pages > 1)
        snprintf(pages, sizeof pages, ", %lld pages", (long long)s->pages);
    snprintf(stored, sizeof stored, "%s%s, %u x %u bits, %.32s%s", TIFFIsBigTIFF(t) ? "BigTIFF, " : "", layout,
             s->form.samples, s->form.bits, compression_name(s->form.compression), pages);
    snprintf(info->stored, sizeof info->stored, "%.63s", stored);
}

static distmap_status tiff_open(distmap_reader *reader) {
    state *s = reader->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(reader->input.name);
    TRY(dm_tiff_open_input(&s->planes[0], &reader->input));
    s->in_one_piece = true;
    s->file_big = TIFFIsBigEndian(s->planes[0].tiff);
    int64_t decoded;
    TRY(find_pages(reader, s, &decoded));
    if (!TIFFSetSubDirectory(s->planes[0].tiff, s->offsets[0]))
        return failed(reader, &s->planes[0]);
    dm_tiff_page page;
    TRY(dm_tiff_page_read(&s->planes[0], 1, &page)); /* sets libtiff's colour mode again */
    if (s->form.colour == DM_TIFF_PALETTE)
        TRY(make_table(reader, s));
    s->plain = dm_tiff_row_is_plain(&s->form);
    fill_info(reader, s);
    if (s->in_one_piece)
        return dm_raw_open(reader, s->start, s->file_big != DM_HOST_BIG, false);
    return make_buffers(reader, s);
}

/* ---- Rows ---- */

static distmap_status go_to_page(distmap_reader *reader, state *s, int k, int64_t page) {
    if (s->page[k] == page)
        return DISTMAP_OK;
    dm_tiff *file = &s->planes[k];
    dm_tiff_page form;
    s->page[k] = -1;
    file->message[0] = 0;
    if (!TIFFSetSubDirectory(file->tiff, s->offsets[page]))
        return failed(reader, file);
    TRY(dm_tiff_page_read(file, page + 1, &form));
    if (!same_form(&form, &s->form))
        return dm_broken(&reader->input, "the file was changed while it was read");
    s->page[k] = page;
    s->next[k] = 0;
    TIFFGetFieldDefaulted(file->tiff, TIFFTAG_ROWSPERSTRIP, &s->strip_rows);
    if (!s->strip_rows)
        return dm_broken(&reader->input, "page %lld has strips of no rows", (long long)page + 1);
    return DISTMAP_OK;
}

/* Decodes the row of tiles that holds row y into file->rows. */
static distmap_status read_tiles(distmap_reader *reader, state *s, int k, int64_t y) {
    dm_tiff *file = &s->planes[k];
    const dm_tiff_page *form = &s->form;
    const int64_t index = y / form->tile_height;
    if (file->rows_page == s->page[k] && file->rows_index == index)
        return DISTMAP_OK;
    file->rows_page = -1;
    const bool separate = form->planar == PLANARCONFIG_SEPARATE;
    const size_t tile_row = ((size_t)form->tile_width * (separate ? 1 : form->samples) * form->bits + 7) / 8;
    const tmsize_t tile_bytes = TIFFTileSize(file->tiff);
    if (tile_bytes < 0 || (size_t)tile_bytes < tile_row * form->tile_height)
        return dm_broken(&reader->input, "broken TIFF data: tiles of a false size");
    for (uint32_t x = 0, column = 0; x < form->width; x += form->tile_width, column++) {
        const uint32_t tile = TIFFComputeTile(file->tiff, x, (uint32_t)y, 0, separate ? form->used[k] : 0);
        if (TIFFReadEncodedTile(file->tiff, tile, file->tile, tile_bytes) < 0)
            return failed(reader, file);
        for (uint32_t r = 0; r < form->tile_height; r++)
            memcpy(file->rows + r * s->row_bytes + column * tile_row, file->tile + r * tile_row, tile_row);
        if (form->width - x <= form->tile_width)
            break; /* before x can run over */
    }
    file->rows_page = s->page[k];
    file->rows_index = index;
    return DISTMAP_OK;
}

/* Sets *row to row y of plane k of a page. `direct`: where it may be decoded to. */
static distmap_status read_row(distmap_reader *reader, state *s, int k, int64_t page, int64_t y, uint8_t *direct,
                               const uint8_t **row) {
    dm_tiff *file = &s->planes[k];
    TRY(go_to_page(reader, s, k, page));
    if (s->form.tile_width) {
        TRY(read_tiles(reader, s, k, y));
        *row = file->rows + (size_t)(y % s->form.tile_height) * s->row_bytes;
        return DISTMAP_OK;
    }
    /* Compressed strips can only be decoded in order: rows between are read and dropped. */
    const int64_t begin = y - y % s->strip_rows;
    int64_t at = y;
    if (s->form.compression != COMPRESSION_NONE)
        at = s->next[k] >= begin && s->next[k] <= y ? s->next[k] : begin;
    const uint16_t sample = s->form.planar == PLANARCONFIG_SEPARATE ? s->form.used[k] : 0;
    for (; at <= y; at++) {
        uint8_t *to = direct && at == y ? direct : s->rows[k];
        if (TIFFReadScanline(file->tiff, to, (uint32_t)at, sample) < 0) {
            s->page[k] = -1;
            return failed(reader, file);
        }
        *row = to;
    }
    s->next[k] = at;
    return DISTMAP_OK;
}

static distmap_status tiff_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    state *s = reader->state;
    if (reader->raw.is)
        return dm_raw_read(reader, first, count, out);
    const int64_t height = s->form.height, rows = reader->info.ndim == 2 ? 1 : reader->slice_elements / s->form.width;
    const size_t bytes = s->form.width * distmap_dtype_size(s->form.dtype);
    uint8_t *to = out;
    for (int64_t y = first * rows; y < (first + count) * rows; y++, to += bytes) {
        const uint8_t *planes[DM_TIFF_USED] = {0};
        uint8_t *direct = s->plain && bytes == s->row_bytes ? to : NULL;
        for (int k = 0; k < s->plane_count; k++)
            TRY(read_row(reader, s, k, y / height, y % height, direct, &planes[k]));
        if (!s->plain)
            dm_tiff_row(&s->form, planes, s->table, s->file_big, to);
        else if (planes[0] != to)
            memcpy(to, planes[0], bytes);
    }
    return DISTMAP_OK;
}

static void tiff_close(distmap_reader *reader) {
    state *s = reader->state;
    if (!s)
        return;
    for (int k = 0; k < DM_TIFF_USED; k++) {
        dm_tiff_close(&s->planes[k]);
        free(s->rows[k]);
    }
    free(s->offsets);
    free(s->table);
    free(s);
}

const dm_codec dm_codec_tiff = {
    .info = {.name = "tiff",
             .endings = ".tif .tiff",
             .reads = true,
             .writes = true,
             .summary = "TIFF and BigTIFF, strips and tiles, 1 to 64 bit integers and floats, pages as a volume, "
                        "compressed or not"},
    .sniff = tiff_sniff,
    .open = tiff_open,
    .read = tiff_read,
    .close = tiff_close,
    .holds = (1u << (DISTMAP_FLOAT64 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 2,
    .max_ndim = 4,
    .create = dm_tiff_create,
    .write = dm_tiff_write,
    .finish = dm_tiff_finish,
    .discard = dm_tiff_discard,
};
