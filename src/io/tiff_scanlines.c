/* Strips of TIFF that are too large to be held, as of pictures in one strip: row by row, each once while they are read in order.
 *
 * Compressed strips can only be decoded from their beginning, so that rows between are decoded and dropped. Planes have a handle
 * each, so that each goes through its part of the file in order; bands are read by the first handle, one after the other.
 */
#include <errno.h>
#include <stdlib.h>

#include "io/tiff_read.h"

bool dm_tiff_is_scanned(const dm_tiff_state *s) {
    const size_t strip = s->row_bytes * s->most_rows * (size_t)dm_tiff_planes(s);
    return !s->form.tile_width && strip > DM_TIFF_HELD_BYTES;
}

/* Row y of a page's plane `sample`, into the handle's room. */
static distmap_status read_row(distmap_reader *reader, int number, int64_t page, int64_t y, int sample) {
    const dm_tiff_state *s = reader->state;
    dm_tiff_handle *h = &((dm_tiff_state *)reader->state)->handle[number];
    if (h->next < 0) /* libtiff may be within the strip, and think that it is at its beginning */
        h->page = -1;
    TRY(dm_tiff_go(reader, number, page));
    const size_t scanline = (size_t)TIFFScanlineSize64(h->file.tiff),
                 bytes = scanline > s->row_bytes ? scanline : s->row_bytes;
    if (h->block_bytes < bytes) {
        free(h->block);
        h->block = malloc(bytes);
        h->block_bytes = h->block ? bytes : 0;
        if (!h->block)
            return dm_no_memory(reader->input.name);
    }
    const int64_t begin = y - y % h->strip_rows;
    int64_t at = y;
    if (s->form.compression != COMPRESSION_NONE)
        at = h->band == sample && h->next >= begin && h->next <= y ? h->next : begin;
    h->band = sample;
    errno = 0;
    for (; at <= y; at++)
        if (TIFFReadScanline(h->file.tiff, h->block, (uint32_t)at, (uint16_t)sample) < 0) {
            h->page = h->next = -1;
            return dm_tiff_failed(&h->file);
        }
    h->next = at;
    return DISTMAP_OK;
}

distmap_status dm_tiff_scan(distmap_reader *reader, const dm_tiff_want *want) {
    const dm_tiff_state *s = reader->state;
    const bool separate = s->form.planar == PLANARCONFIG_SEPARATE, apart = separate && s->form.bands;
    for (int band = 0; band < (apart ? want->bands : 1); band++)
        for (int64_t y = want->first; y < want->first + want->count; y++) {
            const uint8_t *rows[DM_TIFF_USED] = {0};
            for (int k = 0; k < dm_tiff_planes(s); k++) {
                TRY(read_row(reader, k, want->page, y, apart ? want->band + band : separate ? s->form.used[k] : 0));
                rows[k] = s->handle[k].block;
            }
            dm_tiff_emit(s, want, rows, apart ? want->band + band : -1, y, 0, s->form.width);
        }
    return DISTMAP_OK;
}
