/* Finds the planes of a TIFF for a request. A *plane* is one y x image of what is presented: a page, or a band of one.
 *
 * Strips and tiles are decoded whole (tiff_blocks.c). If a call wants one in part, its rows are held for the next call, and so are all
 * bands of a page where they lie together and a call wants some. What would take too much memory is decoded by rows
 * (tiff_scanlines.c), and bands are decoded again.
 */
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_read.h"

/* ---- What is held ---- */

static bool bands_are_held(const dm_tiff_state *s) {
    const size_t page = dm_tiff_out_bytes(s) * s->form.height * (size_t)dm_tiff_bands(s);
    return s->form.bands && s->form.planar != PLANARCONFIG_SEPARATE && page <= DM_TIFF_HELD_BYTES &&
           !dm_tiff_is_scanned(s);
}

size_t dm_tiff_held_bytes(const dm_tiff_state *s) {
    if (dm_tiff_is_scanned(s))
        return 0;
    return dm_tiff_out_bytes(s) * (bands_are_held(s) ? s->form.height * (size_t)dm_tiff_bands(s)
                                   : s->form.bands   ? 0
                                                     : s->most_rows);
}

/* Copies what is wanted from what is held, of which it is a part; decodes `all` first if that is not held. */
static distmap_status read_held(distmap_reader *reader, const dm_tiff_want *want, dm_tiff_want all) {
    dm_tiff_state *s = reader->state;
    const size_t row = dm_tiff_out_bytes(s);
    dm_tiff_want *held = &s->held;
    all.band_bytes = row * (size_t)all.count;
    if (!held->to || held->page != all.page || held->first != all.first) {
        all.to = held->to ? held->to : malloc(dm_tiff_held_bytes(s));
        *held = (dm_tiff_want){.page = -1, .to = all.to};
        if (!all.to)
            return dm_no_memory(reader->input.name);
        TRY(dm_tiff_decode(reader, &all, 1));
        *held = all;
    }
    for (int b = 0; b < want->bands; b++)
        memcpy(want->to + (size_t)b * want->band_bytes,
               held->to + (size_t)(want->band - held->band + b) * held->band_bytes +
                   (size_t)(want->first - held->first) * row,
               row * (size_t)want->count);
    return DISTMAP_OK;
}

/* ---- A picture's rows ---- */

static distmap_status read_rows(distmap_reader *reader, int64_t page, int64_t first, int64_t count, uint8_t *to) {
    dm_tiff_state *s = reader->state;
    const size_t row = dm_tiff_out_bytes(s);
    const int64_t block = s->most_rows, height = s->form.height;
    for (int64_t end = first + count, last; first < end; first = last) {
        dm_tiff_want want = {.page = page, .first = first, .bands = 1, .to = to};
        const int64_t begin = first - first % block, whole = begin + block < height ? begin + block : height;
        /* As many whole blocks as there are, else what is wanted of one. */
        last = end == height ? height : end - end % block;
        if (first % block || last <= first)
            last = whole < end ? whole : end;
        want.count = last - first;
        const bool is_whole = first == begin && (last % block == 0 || last == height);
        if (dm_tiff_is_scanned(s) && !(is_whole && s->plain))
            TRY(dm_tiff_scan(reader, &want));
        else if (is_whole)
            TRY(dm_tiff_decode(reader, &want, 1));
        else
            TRY(read_held(reader, &want,
                          (dm_tiff_want){.page = page, .first = begin, .count = whole - begin, .bands = 1}));
        to += row * (size_t)want.count;
    }
    return DISTMAP_OK;
}

/* ---- Planes ---- */

/* Planes that lie in the file in another order than they are presented in. */
static distmap_status read_piece(distmap_reader *reader, const dm_tiff_state *s, int64_t page, int band, uint8_t *to) {
    const size_t elements = (size_t)s->form.height * s->form.width,
                 bytes = elements * distmap_dtype_size(s->form.dtype);
    TRY(dm_input_at(&reader->input, s->start + (page * dm_tiff_bands(s) + band) * (int64_t)bytes, to, bytes));
    if (s->file_big != DM_HOST_BIG)
        dm_swap(to, elements, distmap_dtype_size(s->form.dtype));
    return DISTMAP_OK;
}

/* The page of plane p, counted as presented, and which band of it. */
static int64_t plane_page(const dm_tiff_state *s, int64_t p, int *band) {
    const int64_t slices = dm_at_least_one(s->stack.slices), channels = dm_at_least_one(s->stack.channels);
    const int64_t z = p % slices, c = p / slices % (channels * dm_tiff_bands(s)),
                  t = p / slices / channels / dm_tiff_bands(s);
    *band = (int)(c % dm_tiff_bands(s));
    return dm_tiff_stack_page(&s->stack, (t * channels + c / dm_tiff_bands(s)) * slices + z);
}

static int64_t count_planes(const dm_tiff_state *s) {
    return dm_at_least_one(s->stack.times) * dm_at_least_one(s->stack.channels) * dm_tiff_bands(s) *
           dm_at_least_one(s->stack.slices);
}

bool dm_tiff_in_order(const dm_tiff_state *s) {
    int band;
    if (!s->stack.page && (!s->form.bands || !s->stack.slices))
        return true;
    for (int64_t p = 0; p < count_planes(s); p++) {
        const int64_t page = plane_page(s, p, &band);
        if (page * dm_tiff_bands(s) + band != p)
            return false;
    }
    return true;
}

/* Planes [begin, end), as wants: how many. Bands of a page are one. */
static int64_t make_wants(const dm_tiff_state *s, int64_t begin, int64_t end, uint8_t *out, dm_tiff_want *wants) {
    const int64_t height = s->form.height, slices = dm_at_least_one(s->stack.slices), bands = dm_tiff_bands(s);
    const size_t plane = dm_tiff_out_bytes(s) * (size_t)height;
    int64_t count = 0;
    for (int64_t p = begin; p < end; p++) {
        dm_tiff_want want = {
            .count = height, .to = out + (size_t)(p - begin) * plane, .band_bytes = plane * (size_t)slices};
        want.page = plane_page(s, p, &want.band);
        if (want.band && p - slices >= begin)
            continue; /* it comes with the band before */
        const int64_t left = (end - 1 - p) / slices + 1;
        want.bands = (int)(left < bands - want.band ? left : bands - want.band);
        wants[count++] = want;
    }
    return count;
}

static distmap_status read_wants(distmap_reader *reader, const dm_tiff_want *wants, int64_t count) {
    const dm_tiff_state *s = reader->state;
    const bool scans = dm_tiff_is_scanned(s) && !s->plain;
    if (!bands_are_held(s) && !scans)
        return dm_tiff_decode(reader, wants, count);
    for (const dm_tiff_want *want = wants; want < wants + count; want++) {
        if (scans)
            TRY(dm_tiff_scan(reader, want));
        else if (want->bands == dm_tiff_bands(s))
            TRY(dm_tiff_decode(reader, want, 1));
        else
            TRY(read_held(reader, want,
                          (dm_tiff_want){.page = want->page, .count = want->count, .bands = (int)dm_tiff_bands(s)}));
    }
    return DISTMAP_OK;
}

distmap_status dm_tiff_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    dm_tiff_state *s = reader->state;
    int band;
    if (reader->raw.is)
        return dm_raw_read(reader, first, count, out);
    if (reader->info.ndim == 2)
        return read_rows(reader, plane_page(s, 0, &band), first, count, out);
    const size_t plane = dm_tiff_out_bytes(s) * s->form.height;
    const int64_t planes = (int64_t)(reader->slice_bytes / plane); /* of a slice of the slowest axis */
    const int64_t begin = first * planes, end = (first + count) * planes;
    for (int64_t p = begin; s->in_one_piece && p < end; p++) {
        const int64_t page = plane_page(s, p, &band);
        TRY(read_piece(reader, s, page, band, (uint8_t *)out + (size_t)(p - begin) * plane));
    }
    if (s->in_one_piece)
        return DISTMAP_OK;
    dm_tiff_want *wants = malloc((size_t)(end - begin) * sizeof *wants);
    if (!wants)
        return dm_no_memory(reader->input.name);
    const distmap_status status = read_wants(reader, wants, make_wants(s, begin, end, out, wants));
    free(wants);
    return status;
}
