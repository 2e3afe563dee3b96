/* Reading TIFF and BigTIFF: strips and tiles, samples together or apart, pages as a stack, whatever libtiff decompresses.
 *
 * What is presented is t c z y x, as far as there is such an axis: pages are slices unless ImageJ's text or OME-XML says otherwise,
 * bands are channels. Pages must agree in size and type; pages that are reduced copies of others are left out. Where the elements
 * lie in the file in one piece as they are, libtiff is not asked for them (raw.c). ImageJ's stacks of more than 4 GB are one page,
 * and the other planes behind it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_read.h"

static bool tiff_sniff(const uint8_t *head, size_t bytes) {
    return bytes >= 8 && (!memcmp(head, "II*\0", 4) || !memcmp(head, "MM\0*", 4) || !memcmp(head, "II+\0", 4) ||
                          !memcmp(head, "MM\0+", 4));
}

bool dm_tiff_same_form(const dm_tiff_page *a, const dm_tiff_page *b) {
    return a->width == b->width && a->height == b->height && a->bits == b->bits && a->samples == b->samples &&
           a->format == b->format && a->photometric == b->photometric && a->planar == b->planar &&
           a->tile_width == b->tile_width && a->tile_height == b->tile_height && a->alpha == b->alpha &&
           a->used_count == b->used_count && a->bands == b->bands && a->dtype == b->dtype && a->colour == b->colour;
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

/* Whether the current page's strips lie one behind the other, and behind those of the page before. */
static void follow_strips(dm_tiff_state *s, const dm_tiff_page *page, int64_t page_size) {
    uint64_t *offsets = NULL, *sizes = NULL;
    uint16_t order = FILLORDER_MSB2LSB;
    TIFF *t = s->handle[0].file.tiff;
    TIFFGetFieldDefaulted(t, TIFFTAG_FILLORDER, &order);
    if (order != FILLORDER_MSB2LSB || page->tile_width || page->compression != COMPRESSION_NONE ||
        !dm_tiff_row_is_plain(page) ||
        (page->planar == PLANARCONFIG_SEPARATE && page->samples != (page->bands ? page->bands : 1)) ||
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

static void note_rows(dm_tiff_state *s, const dm_tiff_page *page) {
    uint32_t rows = page->tile_height;
    if (!rows)
        TIFFGetFieldDefaulted(s->handle[0].file.tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    rows = rows < page->height || page->tile_height ? rows : page->height;
    s->most_rows = rows > s->most_rows ? rows : s->most_rows;
}

/* Visits every directory: finds the pages, checks that they agree and that the file can hold them. */
static distmap_status find_pages(distmap_reader *reader, dm_tiff_state *s, int64_t *decoded) {
    dm_tiff *file = &s->handle[0].file;
    int64_t room = 0, worst = 1;
    *decoded = 0;
    for (int64_t number = 1;; number++) {
        uint32_t kind = 0;
        TIFFGetField(file->tiff, TIFFTAG_SUBFILETYPE, &kind);
        if (!(kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) || !s->pages) {
            dm_tiff_page page;
            TRY(dm_tiff_page_read(file, number, &page));
            if (s->pages && !dm_tiff_same_form(&page, &s->form)) {
                s->odd_page = number;
                s->odd_form = page;
                break;
            }
            if (!s->pages)
                s->form = page;
            if (s->pages == room) {
                room = room ? 2 * room : 16;
                uint64_t *more = realloc(s->offsets, (size_t)room * sizeof *more);
                s->offsets = more ? more : s->offsets;
                int64_t *numbers = realloc(s->ifd, (size_t)room * sizeof *numbers);
                s->ifd = numbers ? numbers : s->ifd;
                if (!more || !numbers)
                    return dm_no_memory(reader->input.name);
            }
            s->ifd[s->pages] = number - 1;
            s->offsets[s->pages++] = TIFFCurrentDirOffset(file->tiff);
            int64_t bytes;
            TRY(page_bytes(reader, &page, &s->row_bytes, &bytes));
            const int64_t plane_bytes = bytes; /* of all samples, where they are together */
            if (__builtin_mul_overflow(bytes, page.planar == PLANARCONFIG_SEPARATE ? page.samples : 1, &bytes) ||
                __builtin_add_overflow(*decoded, bytes, decoded))
                return dm_broken(&reader->input, "absurd size");
            note_rows(s, &page);
            follow_strips(s, &page, page.bands ? plane_bytes * page.bands : plane_bytes);
            if (ratio(page.compression) > worst)
                worst = ratio(page.compression);
        }
        file->message[0] = 0;
        if (TIFFLastDirectory(file->tiff))
            break;
        TRY(dm_tiff_directory(file, 0));
    }
    return dm_check_holds(&reader->input, *decoded, worst);
}

static distmap_status make_table(distmap_reader *reader, dm_tiff_state *s) {
    uint16_t *red, *green, *blue;
    if (!TIFFGetField(s->handle[0].file.tiff, TIFFTAG_COLORMAP, &red, &green, &blue))
        return dm_broken(&reader->input, "has palette indices and no palette");
    if (!red || !green || !blue)
        return dm_no_memory(reader->input.name);
    const size_t count = (size_t)1 << s->form.bits;
    s->table = malloc(4 * count);
    if (!s->table)
        return dm_no_memory(reader->input.name);
    int shift = 0; /* old files hold 8-bit colours */
    for (size_t i = 0; i < count; i++)
        if (red[i] > 255 || green[i] > 255 || blue[i] > 255)
            shift = 8;
    for (size_t i = 0; i < count; i++) {
        const uint32_t colour[] = {(uint32_t)red[i] >> shift, (uint32_t)green[i] >> shift, (uint32_t)blue[i] >> shift};
        s->table[i] = (uint8_t)dm_luma(colour[0], colour[1], colour[2]);
        for (size_t k = 0; k < 3; k++)
            s->table[(k + 1) * count + i] = (uint8_t)colour[k];
    }
    return DISTMAP_OK;
}

static distmap_status take_sample(distmap_reader *reader) {
    ((dm_tiff_state *)reader->state)->form.sample = reader->info.sample;
    return DISTMAP_OK;
}

/* Which samples can be chosen. Indices of more than 8 bits are no elements here: such a palette's colours are. */
static distmap_status tell_samples(distmap_reader *reader, const dm_tiff_page *form) {
    distmap_image_info *info = &reader->info;
    const bool indices = form->colour == DM_TIFF_PALETTE && form->bits <= 8;
    if (form->colour != DM_TIFF_GREY)
        info->samples = indices ? DM_SAMPLES_PALETTE : DM_SAMPLES_RGB;
    else if (form->alpha)
        info->samples = 1u << DISTMAP_SAMPLE_LUMA;
    info->samples |= form->alpha ? DM_SAMPLES_ALPHA : 0u;
    info->sample = indices ? DISTMAP_SAMPLE_INDEX : DISTMAP_SAMPLE_OPEN;
    return take_sample(reader);
}

static distmap_status pages_disagree(const distmap_reader *reader, const dm_tiff_state *s) {
    return dm_unsupported(&reader->input,
                          "page %lld is %ux%u, %u x %u bits, page 1 is %ux%u, %u x %u bits; pages must agree in size "
                          "and type",
                          (long long)s->odd_page, s->odd_form.width, s->odd_form.height, s->odd_form.samples,
                          s->odd_form.bits, s->form.width, s->form.height, s->form.samples, s->form.bits);
}

/* How pages make the image. OME-XML may tell of several images, of which the first one is taken. */
static distmap_status find_stack(distmap_reader *reader, dm_tiff_state *s, const char *description,
                                 dm_tiff_text *text) {
    const bool is_ome = dm_ome_is(description), is_imagej = dm_tiff_text_parse(description, text);
    if (is_ome) {
        TRY(dm_native_add(reader, "ome", "xml", description, strlen(description) + 1));
        TRY(dm_ome_read(reader, description, &s->form, s->pages, s->ifd, &s->stack));
        return DISTMAP_OK;
    }
    if (s->odd_page)
        return pages_disagree(reader, s);
    /* A stack of one directory has it in front, and more behind the first plane. */
    if (s->pages == 1 && text->images > 1 && s->in_one_piece && (int64_t)s->offsets[0] < s->start &&
        s->end < reader->input.size)
        s->pages = text->images;
    if (is_imagej)
        TRY(dm_native_add(reader, "imagej", "description", description, strlen(description) + 1));
    return dm_tiff_text_stack(reader, text, s->pages, &s->stack);
}

static void add_axis(distmap_image_info *info, const char *name, int64_t length) {
    info->shape[info->ndim] = length;
    dm_axis_take(&info->axis[info->ndim++], name);
}

static void take_axes(distmap_image_info *info, const dm_tiff_state *s) {
    info->ndim = 0;
    if (s->stack.times)
        add_axis(info, "t", s->stack.times);
    if (s->stack.channels || s->form.bands)
        add_axis(info, "c", dm_at_least_one(s->stack.channels) * dm_tiff_bands(s));
    if (s->stack.slices)
        add_axis(info, "z", s->stack.slices);
    add_axis(info, "y", s->form.height);
    add_axis(info, "x", s->form.width);
}

static distmap_status tell_storage(distmap_reader *reader, const dm_tiff_state *s) {
    distmap_image_info *info = &reader->info;
    char layout[64] = "strips", pages[64] = "", stored[256];
    if (s->form.tile_width)
        snprintf(layout, sizeof layout, "tiles %ux%u", s->form.tile_width, s->form.tile_height);
    if (s->pages > 1)
        snprintf(pages, sizeof pages, ", %lld pages", (long long)s->pages);
    if (s->stack.images > 1)
        snprintf(pages, sizeof pages, ", %lld pages, image 1 of %d", (long long)s->pages, s->stack.images);
    snprintf(stored, sizeof stored, "%s%s, %u x %u bits, %.32s%s",
             TIFFIsBigTIFF(s->handle[0].file.tiff) ? "BigTIFF, " : "", layout, s->form.samples, s->form.bits,
             compression_name(s->form.compression), pages);
    snprintf(info->stored, sizeof info->stored, "%.63s", stored);
    dm_packing_take(info, dm_tiff_packing(s->form.compression));
    return s->form.bands ? dm_native_add(reader, "tiff", "bands", "", 1) : DISTMAP_OK;
}

static distmap_status take_meaning(distmap_reader *reader, dm_tiff_state *s, const dm_tiff_entries *entries,
                                   const char *description) {
    dm_tiff *file = &s->handle[0].file;
    dm_tiff_text text;
    TRY(find_stack(reader, s, description, &text));
    reader->info.dtype = s->form.dtype;
    take_axes(&reader->info, s);
    TRY(dm_tiff_stack_pitches(reader, &s->stack, "its ImageDescription"));
    if (!dm_native_find(&reader->info, "ome", "xml"))
        dm_tiff_spacing_read(file->tiff, &text, &reader->info);
    TRY(tell_storage(reader, s));
    return dm_tiff_geo_read(reader, file, entries);
}

static distmap_status fill_info(distmap_reader *reader, dm_tiff_state *s) {
    dm_tiff *file = &s->handle[0].file;
    dm_tiff_entries entries;
    dm_tiff_tag description;
    TRY(dm_tiff_entries_read(file, &entries));
    distmap_status status = dm_tiff_tag_read(file, &entries, TIFFTAG_IMAGEDESCRIPTION, &description);
    if (!status)
        status = take_meaning(reader, s, &entries, TIFFDataWidth(description.type) == 1 ? description.data : NULL);
    free(description.data);
    dm_tiff_entries_free(&entries);
    return status;
}

static distmap_status tiff_open(distmap_reader *reader) {
    dm_tiff_state *s = reader->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(reader->input.name);
    TRY(dm_tiff_open_input(&s->handle[0].file, &reader->input));
    TRY(dm_tiff_directory(&s->handle[0].file, 0));
    s->in_one_piece = true;
    s->file_big = TIFFIsBigEndian(s->handle[0].file.tiff);
    int64_t decoded;
    TRY(find_pages(reader, s, &decoded));
    TRY(dm_tiff_directory(&s->handle[0].file, s->offsets[0]));
    dm_tiff_page page;
    TRY(dm_tiff_page_read(&s->handle[0].file, 1, &page)); /* sets libtiff's colour mode again */
    if (s->form.colour == DM_TIFF_PALETTE)
        TRY(make_table(reader, s));
    s->plain = dm_tiff_row_is_plain(&s->form);
    TRY(fill_info(reader, s));
    TRY(tell_samples(reader, &s->form));
    s->handle[0].page = s->handle[0].next = -1;
    const size_t held = dm_tiff_prepare(s) + dm_tiff_held_bytes(s);
    if (s->in_one_piece) {
        TRY(dm_raw_open(reader, s->start, s->file_big != DM_HOST_BIG, false));
        reader->raw.is = dm_tiff_in_order(s);
    }
    reader->info.held_bytes = reader->raw.is ? 0 : held;
    return DISTMAP_OK;
}

static void tiff_close(distmap_reader *reader) {
    dm_tiff_state *s = reader->state;
    if (!s)
        return;
    for (int k = 0; k < DM_TIFF_HANDLES; k++) {
        dm_tiff_close(&s->handle[k].file);
        free(s->handle[k].block);
    }
    free(s->held.to);
    free(s->offsets);
    free(s->ifd);
    free(s->stack.page);
    free(s->table);
    free(s);
}

const dm_codec dm_codec_tiff = {
    .info = {.name = "tiff",
             .endings = ".tif .tiff",
             .reads = true,
             .writes = true,
             .summary =
                 "TIFF and BigTIFF, strips and tiles, 1 to 64 bit integers and floats, compressed or not; GeoTIFF, "
                 "OME-TIFF, ImageJ's stacks"},
    .sniff = tiff_sniff,
    .open = tiff_open,
    .read = dm_tiff_read,
    .sample = take_sample,
    .close = tiff_close,
    .holds = (1u << (DISTMAP_FLOAT64 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 2,
    .max_ndim = 5,
    .packings = dm_tiff_packings,
    .create = dm_tiff_create,
    .write = dm_tiff_write,
    .finish = dm_tiff_finish,
    .discard = dm_tiff_discard,
};
