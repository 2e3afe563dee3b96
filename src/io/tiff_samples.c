/* TIFF's samples to elements.
 *
 * Integers of any depth from 1 to 64 bits become the smallest dtype that holds them, as the numbers stored; one bit is
 * bool. Half floats become float32. Min-is-white is turned, so that white is large everywhere. Palette, RGB and CMYK become
 * luma of 8 or 16 bits. A sample that is opacity makes elements 0 where it is 0. Where there are more samples than colours and
 * opacity, all of them are bands: images of their own, never blended.
 *
 * libtiff gives samples of 8, 16, 24, 32 and 64 bits in the host's byte order, 40 to 56 in the file's, and others as a
 * stream of bits, the highest first.
 */
#include <stdlib.h>
#include <string.h>

#include "io/convert.h"
#include "io/tiff_file.h"

static distmap_dtype integer_dtype(unsigned bits, bool is_signed) {
    static const distmap_dtype by_size[2][4] = {{DISTMAP_UINT8, DISTMAP_UINT16, DISTMAP_UINT32, DISTMAP_UINT64},
                                                {DISTMAP_INT8, DISTMAP_INT16, DISTMAP_INT32, DISTMAP_INT64}};
    return by_size[is_signed][bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3];
}

static distmap_status check_samples(const dm_input *input, int64_t number, dm_tiff_page *page) {
    const unsigned bits = page->bits;
    const bool is_float = page->format == SAMPLEFORMAT_IEEEFP, is_signed = page->format == SAMPLEFORMAT_INT;
    if (is_float ? bits != 16 && bits != 32 && bits != 64 : bits < 1 || bits > 64)
        return dm_unsupported(input,
                              "page %lld has %u-bit %s; integers of 1 to 64 bits and floats of 16, 32, 64 are read",
                              (long long)number, bits, is_float ? "floats" : "integers");
    if (page->format > SAMPLEFORMAT_VOID)
        return dm_unsupported(input, "page %lld has complex samples", (long long)number);
    if (page->colour != DM_TIFF_GREY &&
        (is_float || is_signed || (bits != 8 && bits != 16 && page->colour != DM_TIFF_PALETTE) ||
         (page->colour == DM_TIFF_PALETTE && bits > 16)))
        return dm_unsupported(input, "page %lld has colours of %u bits; 8 and 16 are read", (long long)number, bits);
    page->dtype = is_float                          ? (bits == 64 ? DISTMAP_FLOAT64 : DISTMAP_FLOAT32)
                  : page->colour == DM_TIFF_PALETTE ? DISTMAP_UINT8
                  : bits == 1                       ? DISTMAP_BOOL
                                                    : integer_dtype(bits, is_signed);
    return DISTMAP_OK;
}

distmap_status dm_tiff_page_read(dm_tiff *file, int64_t number, dm_tiff_page *page) {
    TIFF *t = file->tiff;
    *page = (dm_tiff_page){0};
    if (!TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &page->width) || !TIFFGetField(t, TIFFTAG_IMAGELENGTH, &page->height) ||
        !page->width || !page->height)
        return dm_broken(file->input, "page %lld has no size", (long long)number);
    TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &page->bits);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &page->samples);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &page->format);
    TIFFGetFieldDefaulted(t, TIFFTAG_PLANARCONFIG, &page->planar);
    TIFFGetFieldDefaulted(t, TIFFTAG_COMPRESSION, &page->compression);
    if (!TIFFGetField(t, TIFFTAG_PHOTOMETRIC, &page->photometric))
        page->photometric = PHOTOMETRIC_MINISBLACK;
    if (TIFFIsTiled(t)) {
        TIFFGetField(t, TIFFTAG_TILEWIDTH, &page->tile_width);
        TIFFGetField(t, TIFFTAG_TILELENGTH, &page->tile_height);
        if (!page->tile_width || !page->tile_height || page->tile_width % 16)
            return dm_broken(file->input, "page %lld has tiles of a width that is no multiple of 16",
                             (long long)number);
    }
    if (!TIFFIsCODECConfigured(page->compression))
        return dm_unsupported(file->input, "page %lld is compressed by method %u, which is not built in",
                              (long long)number, page->compression);
    if (page->photometric == PHOTOMETRIC_YCBCR && page->compression == COMPRESSION_JPEG) {
        TIFFSetField(t, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        page->photometric = PHOTOMETRIC_RGB;
    }
    unsigned colours = 1;
    switch (page->photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MASK: break;
    case PHOTOMETRIC_PALETTE: page->colour = DM_TIFF_PALETTE; break;
    case PHOTOMETRIC_RGB: page->colour = DM_TIFF_RGB, colours = 3; break;
    case PHOTOMETRIC_SEPARATED: page->colour = DM_TIFF_CMYK, colours = 4; break;
    default:
        return dm_unsupported(file->input, "page %lld has colours of kind %u; grey, palette, RGB and CMYK are read",
                              (long long)number, page->photometric);
    }
    if (page->samples < colours)
        return dm_broken(file->input, "page %lld has %u samples per pixel, its colours need %u", (long long)number,
                         page->samples, colours);
    for (unsigned k = 0; k < colours; k++)
        page->used[page->used_count++] = (uint16_t)k;
    uint16_t extras = 0, *kinds = NULL;
    TIFFGetFieldDefaulted(t, TIFFTAG_EXTRASAMPLES, &extras, &kinds);
    if (extras && !kinds)
        return dm_no_memory(file->input->name);
    for (unsigned i = 0; i < extras && colours + i < page->samples && !page->alpha; i++)
        if (kinds[i] == EXTRASAMPLE_ASSOCALPHA || kinds[i] == EXTRASAMPLE_UNASSALPHA) {
            page->used[page->used_count++] = (uint16_t)(colours + i);
            page->alpha = true;
        }
    /* More than colours and opacity, or colours in numbers that are no picture's: bands. Indices of a palette stay what they are. */
    const bool is_picture =
        page->colour == DM_TIFF_GREY || (page->format != SAMPLEFORMAT_IEEEFP && page->format != SAMPLEFORMAT_INT &&
                                         (page->bits == 8 || page->bits == 16));
    if (page->colour != DM_TIFF_PALETTE && (page->samples > page->used_count || !is_picture)) {
        page->bands = page->samples;
        page->colour = DM_TIFF_GREY;
        page->alpha = false;
        page->used_count = 1;
    }
    return check_samples(file->input, number, page);
}

/* ---- Rows ---- */

bool dm_tiff_row_is_plain(const dm_tiff_page *page) {
    return page->colour == DM_TIFF_GREY &&
           (page->samples == 1 || (page->planar == PLANARCONFIG_SEPARATE && !page->alpha)) &&
           (page->photometric != PHOTOMETRIC_MINISWHITE || page->format != SAMPLEFORMAT_UINT) &&
           page->bits == 8 * distmap_dtype_size(page->dtype) && page->dtype != DISTMAP_BOOL;
}

static float from_half(uint16_t h) {
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    if (!exponent) /* zero or subnormal: fraction / 2^24 */
        return (sign ? -1.0f : 1.0f) * (float)fraction / 16777216.0f;
    const uint32_t bits = sign | (exponent == 31 ? 255u : exponent + 112) << 23 | fraction << 13;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Numbers of `count` samples of any depth, every `step`-th from the `first` on. */
static void widen(const dm_tiff_page *page, const uint8_t *from, size_t first, size_t step, size_t count, bool file_big,
                  uint64_t *to) {
    const unsigned bits = page->bits, bytes = bits / 8;
    if (bits % 8) {
        for (size_t i = 0; i < count; i++)
            to[i] = dm_sample(from, (first + i * step) * bits, bits);
        return;
    }
    const bool big = bits > 32 && bits < 64 ? file_big : DM_HOST_BIG;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = from + (first + i * step) * bytes;
        uint64_t v = 0;
        for (unsigned k = 0; k < bytes; k++)
            v = v << 8 | at[big ? k : bytes - 1 - k];
        to[i] = v;
    }
}

static void store(const dm_tiff_page *page, uint64_t v, size_t x, void *out) {
    const unsigned bits = page->bits;
    if (page->format == SAMPLEFORMAT_INT && bits < 64 && v >> (bits - 1) & 1)
        v |= ~UINT64_C(0) << bits;
    if (page->format == SAMPLEFORMAT_IEEEFP && bits == 16) {
        ((float *)out)[x] = from_half((uint16_t)v);
        return;
    }
    switch (distmap_dtype_size(page->dtype)) {
    case 1: ((uint8_t *)out)[x] = (uint8_t)v; break;
    case 2: ((uint16_t *)out)[x] = (uint16_t)v; break;
    case 4: ((uint32_t *)out)[x] = (uint32_t)v; break;
    default: ((uint64_t *)out)[x] = v; break;
    }
}

enum { CHUNK = 512 };

static uint64_t colour_value(const dm_tiff_page *page, uint64_t s[][CHUNK], size_t x, const uint8_t *table) {
    switch (page->colour) {
    case DM_TIFF_PALETTE: {
        const size_t part = page->sample < DISTMAP_SAMPLE_RED ? 0 : 1 + (size_t)(page->sample - DISTMAP_SAMPLE_RED);
        return page->sample == DISTMAP_SAMPLE_INDEX ? s[0][x] : table[(part << page->bits) + s[0][x]];
    }
    case DM_TIFF_CMYK: {
        const uint64_t full = (UINT64_C(1) << page->bits) - 1, light = full - s[3][x];
        uint32_t rgb[3];
        for (int k = 0; k < 3; k++)
            rgb[k] = (uint32_t)(((full - s[k][x]) * light + full / 2) / full);
        return dm_sample_of((int)page->sample, rgb[0], rgb[1], rgb[2], 1);
    }
    default: return s[0][x];
    }
}

/* The common case of colour, without the way through 64-bit numbers: seven times as fast. */
#define RGB(type)                                                                                                    \
    do {                                                                                                             \
        const type *s[4] = {0};                                                                                      \
        for (int k = 0; k < page->used_count; k++)                                                                   \
            s[k] = (const type *)planes[separate ? k : 0] + (separate ? 0 : page->used[k]);                          \
        for (size_t x = 0, at = 0; x < page->width; x++, at += step)                                                 \
            ((type *)out)[x] = (type)dm_sample_of(sample, s[0][at], s[1][at], s[2][at], page->alpha ? s[3][at] : 1); \
    } while (0)
static void rgb_row(const dm_tiff_page *page, const uint8_t *const planes[], bool separate, void *out) {
    const int sample = (int)page->sample;
    const size_t step = separate ? 1 : page->samples;
    if (page->bits == 8)
        RGB(uint8_t);
    else
        RGB(uint16_t);
}
#undef RGB

/* One sample of each pixel, of elements as they are. */
#define PICK(type)                                   \
    for (size_t x = 0; x < width; x++, from += step) \
    ((type *)out)[x] = ((const type *)row)[from]
static void pick_row(const uint8_t *row, size_t from, size_t step, size_t width, unsigned bits, void *out) {
    if (bits == 8)
        PICK(uint8_t);
    else if (bits == 16)
        PICK(uint16_t);
    else if (bits == 32)
        PICK(uint32_t);
    else
        PICK(uint64_t);
}
#undef PICK

void dm_tiff_row(const dm_tiff_page *page, const uint8_t *const planes[], const uint8_t *table, bool file_big,
                 void *out) {
    const size_t width = page->width, samples = page->samples;
    const bool separate = page->planar == PLANARCONFIG_SEPARATE;
    const bool turn = page->photometric == PHOTOMETRIC_MINISWHITE && page->format != SAMPLEFORMAT_INT &&
                      page->format != SAMPLEFORMAT_IEEEFP;
    const uint64_t largest = ~UINT64_C(0) >> (64 - page->bits);
    if (page->dtype == DISTMAP_BOOL && samples == 1) {
        dm_bits_expand(planes[0], width, turn, out);
        return;
    }
    if (page->colour == DM_TIFF_RGB) {
        rgb_row(page, planes, separate, out);
        return;
    }
    if (page->colour == DM_TIFF_GREY && !page->alpha && !turn && page->dtype != DISTMAP_BOOL &&
        page->bits == 8 * distmap_dtype_size(page->dtype)) {
        pick_row(planes[0], separate ? 0 : page->used[0], separate ? 1 : samples, width, page->bits, out);
        return;
    }
    uint64_t s[DM_TIFF_USED][CHUNK];
    for (size_t begin = 0; begin < width; begin += CHUNK) {
        const size_t count = width - begin < CHUNK ? width - begin : CHUNK;
        for (int k = 0; k < page->used_count; k++)
            widen(page, planes[separate ? k : 0], separate ? begin : begin * samples + page->used[k],
                  separate ? 1 : samples, count, file_big, s[k]);
        const uint64_t *alpha = page->alpha ? s[page->used_count - 1] : NULL;
        const bool hides = alpha && page->sample <= DISTMAP_SAMPLE_LUMA && page->sample != DISTMAP_SAMPLE_INDEX;
        for (size_t x = 0; x < count; x++) {
            const bool is_alpha = alpha && page->sample == DISTMAP_SAMPLE_ALPHA;
            const uint64_t v = is_alpha ? alpha[x] : colour_value(page, s, x, table);
            store(page, hides && !alpha[x] ? 0 : turn && !is_alpha ? largest - v : v, begin + x, out);
        }
    }
}
