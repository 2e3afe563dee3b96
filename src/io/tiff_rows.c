/* Rows of TIFF's planes. A *plane* is one y x image of what is presented: a page, or a band of one.
 *
 * Strips are read by scanlines, for a strip may be the whole image; of tiles one row is held. Separate samples each have a
 * libtiff handle of their own, so that each goes through its file part in order; bands are read by the first handle, one after
 * the other. Bands that lie together are decoded once for all that are asked for.
 */
#include <string.h>

#include "io/convert.h"
#include "io/tiff_read.h"

static distmap_status go_to_page(distmap_reader *reader, dm_tiff_state *s, int k, int64_t page) {
    if (s->page[k] == page)
        return DISTMAP_OK;
    dm_tiff *file = &s->planes[k];
    dm_tiff_page form;
    s->page[k] = -1;
    file->message[0] = 0;
    if (!TIFFSetSubDirectory(file->tiff, s->offsets[page]))
        return dm_tiff_failed(reader, file);
    TRY(dm_tiff_page_read(file, page + 1, &form));
    if (!dm_tiff_same_form(&form, &s->form))
        return dm_broken(&reader->input, "the file was changed while it was read");
    s->page[k] = page;
    s->next[k] = 0;
    TIFFGetFieldDefaulted(file->tiff, TIFFTAG_ROWSPERSTRIP, &s->strip_rows);
    if (!s->strip_rows)
        return dm_broken(&reader->input, "page %lld has strips of no rows", (long long)page + 1);
    return DISTMAP_OK;
}

/* Of separate planes: the sample that handle k reads. */
static uint16_t sample_of(const dm_tiff_state *s, int k) { return s->form.bands ? s->sample : s->form.used[k]; }

/* Decodes the row of tiles that holds row y into file->rows. */
static distmap_status read_tiles(distmap_reader *reader, dm_tiff_state *s, int k, int64_t y) {
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
        const uint32_t tile = TIFFComputeTile(file->tiff, x, (uint32_t)y, 0, separate ? sample_of(s, k) : 0);
        if (TIFFReadEncodedTile(file->tiff, tile, file->tile, tile_bytes) < 0)
            return dm_tiff_failed(reader, file);
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
static distmap_status read_row(distmap_reader *reader, dm_tiff_state *s, int k, int64_t page, int64_t y,
                               uint8_t *direct, const uint8_t **row) {
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
    const uint16_t sample = s->form.planar == PLANARCONFIG_SEPARATE ? sample_of(s, k) : 0;
    for (; at <= y; at++) {
        uint8_t *to = direct && at == y ? direct : s->rows[k];
        if (TIFFReadScanline(file->tiff, to, (uint32_t)at, sample) < 0) {
            s->page[k] = -1;
            return dm_tiff_failed(reader, file);
        }
        *row = to;
    }
    s->next[k] = at;
    return DISTMAP_OK;
}

/* Rows of planes p, p + step, ..., `count` of them, which are bands of one page, from its band `band` on. */
static distmap_status read_bands(distmap_reader *reader, dm_tiff_state *s, int64_t page, uint16_t band, int64_t count,
                                 int64_t step, uint8_t *out) {
    const int64_t height = s->form.height;
    const size_t bytes = s->form.width * distmap_dtype_size(s->form.dtype);
    const bool separate = s->form.planar == PLANARCONFIG_SEPARATE;
    dm_tiff_page one = s->form;
    const uint8_t *row = NULL;
    for (int64_t outer = 0; outer < (separate ? count : 1); outer++) {
        if (separate && s->sample != band + outer) {
            s->sample = (uint16_t)(band + outer);
            s->next[0] = -1;
            s->planes[0].rows_page = -1;
        }
        for (int64_t y = 0; y < height; y++) {
            TRY(read_row(reader, s, 0, page, y, NULL, &row));
            for (int64_t k = separate ? outer : 0; k < (separate ? outer + 1 : count); k++) {
                one.used[0] = (uint16_t)(band + k);
                dm_tiff_row(&one, &row, s->table, s->file_big, out + (size_t)(k * step * height + y) * bytes);
            }
        }
    }
    return DISTMAP_OK;
}

static distmap_status read_plane(distmap_reader *reader, dm_tiff_state *s, int64_t page, int64_t first, int64_t count,
                                 uint8_t *to) {
    const size_t bytes = s->form.width * distmap_dtype_size(s->form.dtype);
    for (int64_t y = first; y < first + count; y++, to += bytes) {
        const uint8_t *planes[DM_TIFF_USED] = {0};
        uint8_t *direct = s->plain && bytes == s->row_bytes ? to : NULL;
        for (int k = 0; k < s->plane_count; k++)
            TRY(read_row(reader, s, k, page, y, direct, &planes[k]));
        if (!s->plain)
            dm_tiff_row(&s->form, planes, s->table, s->file_big, to);
        else if (planes[0] != to)
            memcpy(to, planes[0], bytes);
    }
    return DISTMAP_OK;
}

/* Planes that lie in the file in another order than they are presented in. */
static distmap_status read_piece(distmap_reader *reader, const dm_tiff_state *s, int64_t page, uint16_t band,
                                 uint8_t *to) {
    const size_t elements = (size_t)s->form.height * s->form.width,
                 bytes = elements * distmap_dtype_size(s->form.dtype);
    TRY(dm_input_at(&reader->input, s->start + (page * dm_tiff_bands(s) + band) * (int64_t)bytes, to, bytes));
    if (s->file_big != DM_HOST_BIG)
        dm_swap(to, elements, distmap_dtype_size(s->form.dtype));
    return DISTMAP_OK;
}

/* ---- Planes ---- */

/* Of plane p, counted as presented: its page, and which band of it. */
static int64_t plane_page(const dm_tiff_state *s, int64_t p, uint16_t *band) {
    const int64_t slices = dm_at_least_one(s->stack.slices), channels = dm_at_least_one(s->stack.channels);
    const int64_t z = p % slices, c = p / slices % (channels * dm_tiff_bands(s)),
                  t = p / slices / channels / dm_tiff_bands(s);
    *band = (uint16_t)(c % dm_tiff_bands(s));
    return dm_tiff_stack_page(&s->stack, (t * channels + c / dm_tiff_bands(s)) * slices + z);
}

static int64_t count_planes(const dm_tiff_state *s) {
    return dm_at_least_one(s->stack.times) * dm_at_least_one(s->stack.channels) * dm_tiff_bands(s) *
           dm_at_least_one(s->stack.slices);
}

/* Whether planes lie in the file in the order in which they are presented. */
bool dm_tiff_in_order(const dm_tiff_state *s) {
    uint16_t band;
    if (!s->stack.page && (!s->form.bands || !s->stack.slices))
        return true;
    for (int64_t p = 0; p < count_planes(s); p++) {
        const int64_t page = plane_page(s, p, &band);
        if (page * dm_tiff_bands(s) + band != p)
            return false;
    }
    return true;
}

distmap_status dm_tiff_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    dm_tiff_state *s = reader->state;
    if (reader->raw.is)
        return dm_raw_read(reader, first, count, out);
    if (reader->info.ndim == 2)
        return read_plane(reader, s, 0, first, count, out);
    const int64_t height = s->form.height, slices = dm_at_least_one(s->stack.slices);
    const int64_t planes = reader->slice_elements / height / s->form.width; /* of a slice of the slowest axis */
    const size_t bytes = (size_t)height * s->form.width * distmap_dtype_size(s->form.dtype);
    const int64_t begin = first * planes, end = (first + count) * planes;
    for (int64_t p = begin; p < end; p++) {
        uint8_t *to = (uint8_t *)out + (size_t)(p - begin) * bytes;
        uint16_t band;
        const int64_t page = plane_page(s, p, &band);
        if (s->in_one_piece) {
            TRY(read_piece(reader, s, page, band, to));
        } else if (!s->form.bands) {
            TRY(read_plane(reader, s, page, 0, height, to));
        } else if (!band || p - slices < begin) { /* else it came with the band before */
            const int64_t left = (end - 1 - p) / slices + 1;
            TRY(read_bands(reader, s, page, band, left < dm_tiff_bands(s) - band ? left : dm_tiff_bands(s) - band,
                           slices, to));
        }
    }
    return DISTMAP_OK;
}
