/* Strips and tiles of TIFF, decoded by several threads, each with a handle of libtiff's.
 *
 * A block is decoded whole: libtiff's codecs are then two to four times as fast as by scanlines (of deflate, libdeflate takes a strip in
 * one piece). Where the elements are the samples as they are, a strip is decoded to where its elements belong; others go through a
 * buffer of the thread's. Where there are many pages each thread takes one after the other, else each page's blocks are shared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/threads.h"
#include "io/tiff_read.h"

enum { BLOCKS_BYTES = 32 << 20 };

/* ---- Handles ---- */

distmap_status dm_tiff_go(distmap_reader *reader, int number, int64_t page) {
    dm_tiff_state *s = reader->state;
    dm_tiff_handle *h = &s->handle[number];
    dm_tiff *file = &h->file;
    dm_tiff_page form;
    if (!file->tiff) {
        TRY(dm_tiff_open_input(file, &reader->input));
        h->page = -1;
    }
    if (h->page == page)
        return DISTMAP_OK;
    h->page = -1;
    h->next = -1;
    TRY(dm_tiff_directory(file, s->offsets[page]));
    TRY(dm_tiff_page_read(file, page + 1, &form));
    if (!dm_tiff_same_form(&form, &s->form))
        return dm_broken(&reader->input, "the file was changed while it was read");
    h->page = page;
    TIFFGetFieldDefaulted(file->tiff, TIFFTAG_ROWSPERSTRIP, &h->strip_rows);
    if (!h->strip_rows)
        return dm_broken(&reader->input, "page %lld has strips of no rows", (long long)page + 1);
    return DISTMAP_OK;
}

static int64_t rows_of_block(const dm_tiff_state *s, const dm_tiff_handle *h) {
    const int64_t rows = s->form.tile_height ? s->form.tile_height : h->strip_rows;
    return rows < s->form.height || s->form.tile_height ? rows : s->form.height;
}

/* Bytes of a row of a block's samples, in one plane. */
static size_t row_of_block(const dm_tiff_state *s) {
    const dm_tiff_page *p = &s->form;
    return p->tile_width
               ? ((size_t)p->tile_width * (p->planar == PLANARCONFIG_SEPARATE ? 1 : p->samples) * p->bits + 7) / 8
               : s->row_bytes;
}

/* A strip's elements are then decoded to where they belong. */
static bool is_direct(const dm_tiff_state *s) { return s->plain && !s->form.tile_width; }

size_t dm_tiff_prepare(dm_tiff_state *s) {
    const size_t one = is_direct(s) ? 0 : row_of_block(s) * s->most_rows * (size_t)dm_tiff_planes(s);
    const size_t fit = BLOCKS_BYTES / (one ? one : 1);
    const int most = dm_threads() < DM_TIFF_HANDLES ? dm_threads() : DM_TIFF_HANDLES;
    s->workers = fit < 1 ? 1 : fit < (size_t)most ? (int)fit : most;
    return one * (size_t)s->workers;
}

/* ---- One block ---- */

void dm_tiff_emit(const dm_tiff_state *s, const dm_tiff_want *want, const uint8_t *const planes[], int band, int64_t y,
                  uint32_t x, uint32_t width) {
    const size_t size = distmap_dtype_size(s->form.dtype);
    uint8_t *to = want->to + (size_t)(y - want->first) * dm_tiff_out_bytes(s) + x * size;
    dm_tiff_page one = s->form;
    one.width = width;
    if (band >= 0)
        to += (size_t)(band - want->band) * want->band_bytes;
    if (s->plain) {
        memcpy(to, planes[0], width * size);
        return;
    }
    for (int b = 0; b < (band < 0 ? want->bands : 1); b++) {
        if (one.bands)
            one.used[0] = (uint16_t)((band < 0 ? want->band : band) + b);
        dm_tiff_row(&one, planes, s->table, s->file_big, to + (size_t)b * want->band_bytes);
    }
}

static bool make_room(dm_tiff_handle *h, size_t bytes) {
    if (bytes <= h->block_bytes)
        return true;
    free(h->block);
    h->block = malloc(bytes);
    h->block_bytes = h->block ? bytes : 0;
    return h->block != NULL;
}

static distmap_status decode_block(distmap_reader *reader, dm_tiff_handle *h, uint32_t x, int64_t y, uint16_t sample,
                                   size_t bytes, void *to) {
    const dm_tiff_state *s = reader->state;
    TIFF *t = h->file.tiff;
    h->next = -1;
    errno = 0;
    if (!s->form.tile_width)
        return TIFFReadEncodedStrip(t, TIFFComputeStrip(t, (uint32_t)y, sample), to, (tmsize_t)bytes) < 0
                   ? dm_tiff_failed(&h->file)
                   : DISTMAP_OK;
    const tmsize_t found = TIFFTileSize(t);
    if (found < 0 || (size_t)found != bytes)
        return dm_broken(&reader->input, "broken TIFF data: tiles of a false size");
    return TIFFReadEncodedTile(t, TIFFComputeTile(t, x, (uint32_t)y, 0, sample), to, found) < 0
               ? dm_tiff_failed(&h->file)
               : DISTMAP_OK;
}

/* What is wanted of the block at column x, rows from `begin` on; `band` as in dm_tiff_emit(). */
static distmap_status read_block(distmap_reader *reader, int number, const dm_tiff_want *want, int band, int64_t begin,
                                 uint32_t x) {
    const dm_tiff_state *s = reader->state;
    dm_tiff_handle *h = &((dm_tiff_state *)reader->state)->handle[number];
    const int64_t height = rows_of_block(s, h),
                  last = s->form.height - begin < height ? s->form.height : begin + height,
                  end = want->first + want->count < last ? want->first + want->count : last,
                  first = begin > want->first ? begin : want->first;
    const uint32_t tile = s->form.tile_width, rest = s->form.width - x, width = tile && tile < rest ? tile : rest;
    const size_t row = row_of_block(s), bytes = row * (size_t)(tile ? height : last - begin);
    const bool separate = s->form.planar == PLANARCONFIG_SEPARATE;
    const int planes = dm_tiff_planes(s);
    if (is_direct(s) && first == begin && end == last)
        return decode_block(reader, h, x, begin, (uint16_t)(band < 0 ? 0 : band), bytes,
                            want->to + (size_t)(begin - want->first) * row +
                                (size_t)(band < 0 ? 0 : band - want->band) * want->band_bytes);
    if (!make_room(h, bytes * (size_t)planes))
        return dm_no_memory(reader->input.name);
    for (int k = 0; k < planes; k++)
        TRY(decode_block(reader, h, x, begin,
                         (uint16_t)(band >= 0  ? band
                                    : separate ? s->form.used[k]
                                               : 0),
                         bytes, h->block + (size_t)k * bytes));
    for (int64_t y = first; y < end; y++) {
        const uint8_t *rows[DM_TIFF_USED] = {0};
        for (int k = 0; k < planes; k++)
            rows[k] = h->block + (size_t)k * bytes + (size_t)(y - begin) * row;
        dm_tiff_emit(s, want, rows, band, y, x, width);
    }
    return DISTMAP_OK;
}

/* ---- What is wanted ---- */

typedef struct decoding {
    distmap_reader *reader;
    const dm_tiff_want *wants;
} decoding;

static int64_t blocks_of(const dm_tiff_state *s, const dm_tiff_want *want, int64_t height, int64_t *columns) {
    const int64_t tile = s->form.tile_width, rows = (want->first + want->count - 1) / height - want->first / height + 1;
    *columns = tile ? (s->form.width - 1) / tile + 1 : 1;
    return rows * *columns * (s->form.bands && s->form.planar == PLANARCONFIG_SEPARATE ? want->bands : 1);
}

/* Block `part` of the first want: bands that are apart slowest, then rows of blocks. */
static distmap_status decode_part(void *user, int worker, int64_t part) {
    const decoding *d = user;
    dm_tiff_state *s = d->reader->state;
    const dm_tiff_want *want = d->wants;
    TRY(dm_tiff_go(d->reader, worker, want->page));
    const int64_t height = rows_of_block(s, &s->handle[worker]);
    const bool apart = s->form.bands && s->form.planar == PLANARCONFIG_SEPARATE;
    int64_t columns;
    const int64_t blocks = blocks_of(s, want, height, &columns) / (apart ? want->bands : 1), within = part % blocks;
    return read_block(d->reader, worker, want, apart ? want->band + (int)(part / blocks) : -1,
                      (want->first / height + within / columns) * height,
                      (uint32_t)(within % columns) * s->form.tile_width);
}

static distmap_status decode_page(void *user, int worker, int64_t part) {
    const decoding *d = user, one = {d->reader, d->wants + part};
    dm_tiff_state *s = d->reader->state;
    int64_t columns;
    TRY(dm_tiff_go(d->reader, worker, one.wants->page));
    const int64_t blocks = blocks_of(s, one.wants, rows_of_block(s, &s->handle[worker]), &columns);
    for (int64_t block = 0; block < blocks; block++)
        TRY(decode_part((void *)&one, worker, block));
    return DISTMAP_OK;
}

distmap_status dm_tiff_decode(distmap_reader *reader, const dm_tiff_want *wants, int64_t count) {
    dm_tiff_state *s = reader->state;
    decoding d = {reader, wants};
    if (count >= 2 * s->workers)
        return dm_threads_each(count, s->workers, decode_page, &d);
    for (; d.wants < wants + count; d.wants++) {
        int64_t columns;
        TRY(dm_tiff_go(reader, 0, d.wants->page));
        TRY(dm_threads_each(blocks_of(s, d.wants, rows_of_block(s, &s->handle[0]), &columns), s->workers, decode_part,
                            &d));
    }
    return DISTMAP_OK;
}
