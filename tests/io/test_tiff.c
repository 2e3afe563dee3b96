/* TIFF's strips and tiles: pictures of libtiff's own in drawn forms, read in drawn bands and by several threads; strips that are too
 * large to be held; what is written in bands. Elements are compared with those that were given to libtiff.
 */
#include <tiffio.h>

#include "../seed.h"
#include "support.h"

static uint64_t seed;

static int64_t draw(int64_t low, int64_t high) {
    return low + (int64_t)(random_next(&seed) % (uint64_t)(high - low + 1));
}

/* A file of 16-bit samples. */
struct form {
    int64_t width, height, samples, pages;
    bool separate, tiled;
    int64_t block[2]; /* rows, and columns of tiles */
    int compression, predictor;
    bool rgb;
};

static size_t elements_of(const struct form *f) { return (size_t)(f->pages * f->samples * f->height * f->width); }

/* The samples: page, sample, row, column. */
static uint16_t sample_at(const struct form *f, const uint16_t *all, int64_t page, int64_t sample, int64_t y,
                          int64_t x) {
    return y < f->height && x < f->width ? all[((page * f->samples + sample) * f->height + y) * f->width + x] : 0;
}

static void write_block(TIFF *t, const struct form *f, const uint16_t *all, int64_t page, int64_t plane, int64_t y0,
                        int64_t x0) {
    const int64_t together = f->separate ? 1 : f->samples, columns = f->tiled ? f->block[1] : f->width;
    const int64_t rows = f->tiled || f->height - y0 > f->block[0] ? f->block[0] : f->height - y0;
    uint16_t *block = malloc((size_t)(rows * columns * together) * sizeof *block), *to = block;
    for (int64_t y = y0; y < y0 + rows; y++)
        for (int64_t x = x0; x < x0 + columns; x++)
            for (int64_t k = 0; k < together; k++)
                *to++ = sample_at(f, all, page, plane + k, y, x);
    const tmsize_t bytes = (tmsize_t)((size_t)(to - block) * sizeof *block);
    const uint32_t number = f->tiled ? TIFFComputeTile(t, (uint32_t)x0, (uint32_t)y0, 0, (uint16_t)plane)
                                     : TIFFComputeStrip(t, (uint32_t)y0, (uint16_t)plane);
    assert_int_equal((f->tiled ? TIFFWriteEncodedTile : TIFFWriteEncodedStrip)(t, number, block, bytes), bytes);
    free(block);
}

static void write_file(const struct form *f, const uint16_t *all) {
    TIFF *t = TIFFOpen("a.tif", "w");
    for (int64_t page = 0; page < f->pages; page++) {
        TIFFSetField(t, TIFFTAG_IMAGEWIDTH, (uint32_t)f->width);
        TIFFSetField(t, TIFFTAG_IMAGELENGTH, (uint32_t)f->height);
        TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 16);
        TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, (int)f->samples);
        TIFFSetField(t, TIFFTAG_PHOTOMETRIC, f->rgb ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
        TIFFSetField(t, TIFFTAG_PLANARCONFIG, f->separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
        const uint16_t unspecified[64] = {0};
        if (!f->rgb && f->samples > 1)
            TIFFSetField(t, TIFFTAG_EXTRASAMPLES, (int)f->samples - 1, unspecified);
        TIFFSetField(t, TIFFTAG_COMPRESSION, f->compression);
        if (f->compression != COMPRESSION_NONE)
            TIFFSetField(t, TIFFTAG_PREDICTOR, f->predictor);
        if (f->tiled) {
            TIFFSetField(t, TIFFTAG_TILELENGTH, (uint32_t)f->block[0]);
            TIFFSetField(t, TIFFTAG_TILEWIDTH, (uint32_t)f->block[1]);
        } else {
            TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, (uint32_t)f->block[0]);
        }
        for (int64_t plane = 0; plane < (f->separate ? f->samples : 1); plane++)
            for (int64_t y = 0; y < f->height; y += f->block[0])
                for (int64_t x = 0; x < f->width; x += f->tiled ? f->block[1] : f->width)
                    write_block(t, f, all, page, plane, y, x);
        assert_true(TIFFWriteDirectory(t));
    }
    TIFFClose(t);
}

/* Bands are the slowest axis but for pages: c z y x. */
static void compare(const struct form *f, const uint16_t *all, const uint16_t *got, const char *how) {
    for (int64_t c = 0; c < f->samples; c++)
        for (int64_t z = 0; z < f->pages; z++)
            for (int64_t y = 0; y < f->height; y++)
                for (int64_t x = 0; x < f->width; x++)
                    if (*got++ != sample_at(f, all, z, c, y, x))
                        fail_msg("seed %llu, %s: page %d, sample %d, row %d, column %d: %d, want %d",
                                 (unsigned long long)seed, how, (int)z, (int)c, (int)y, (int)x, got[-1],
                                 sample_at(f, all, z, c, y, x));
}

/* Drawn slices, some of them again. */
static void read_somewhere(const uint16_t *whole, int64_t slices, size_t slice_bytes) {
    distmap_reader *reader;
    assert_int_equal(distmap_reader_open("a.tif", &reader), DISTMAP_OK);
    for (int i = 0; i < 6; i++) {
        const int64_t first = draw(0, slices - 1), count = draw(1, slices - first);
        char *part = malloc((size_t)count * slice_bytes);
        assert_int_equal(distmap_reader_read(reader, first, count, part), DISTMAP_OK);
        if (memcmp(part, (const char *)whole + (size_t)first * slice_bytes, (size_t)count * slice_bytes) != 0)
            fail_msg("slices %d + %d", (int)first, (int)count);
        free(part);
    }
    distmap_reader_close(&reader);
}

static void read_drawn_forms(void **state) {
    (void)state;
    const int cases = test_cases(300);
    for (int i = 0; i < cases; i++) {
        struct form f = {.width = draw(1, 70),
                         .height = draw(1, 70),
                         .samples = draw(0, 1) ? 1 : draw(2, 5),
                         .pages = draw(0, 1) ? 1 : draw(2, 9),
                         .separate = draw(0, 1),
                         .tiled = draw(0, 1)};
        f.separate &= f.samples > 1;
        f.block[0] = f.tiled ? 16 * draw(1, 3) : draw(1, f.height);
        f.block[1] = 16 * draw(1, 3);
        static const int kinds[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD};
        f.compression = kinds[draw(0, TIFFIsCODECConfigured(COMPRESSION_ZSTD) ? 3 : 2)];
        f.predictor = (int)draw(PREDICTOR_NONE, PREDICTOR_HORIZONTAL);
        uint16_t *all = malloc(elements_of(&f) * sizeof *all);
        for (size_t e = 0; e < elements_of(&f); e++)
            all[e] = (uint16_t)draw(0, 999);
        write_file(&f, all);
        assert_int_equal(distmap_io_set_threads((int)draw(1, 4)), DISTMAP_OK);
        distmap_image_info info;
        uint16_t *whole = read_all("a.tif", INT32_MAX, &info), *bands = read_all("a.tif", draw(1, 9), &info);
        compare(&f, all, whole, "whole");
        compare(&f, all, bands, "in bands");
        read_somewhere(whole, info.shape[0], info_bytes(&info) / (size_t)info.shape[0]);
        free(bands);
        free(whole);
        free(all);
    }
    assert_int_equal(distmap_io_set_threads(0), DISTMAP_OK);
}

/* More than the reader holds in one strip: 16 bits, three samples. */
static void read_a_large_strip(void **state) {
    (void)state;
    enum { WIDTH = 6000, HEIGHT = 2100, CHECKED = 50 };
    for (int separate = 0; separate < 2; separate++) {
        const struct form f = {.width = WIDTH,
                               .height = HEIGHT,
                               .samples = 3,
                               .pages = 1,
                               .separate = separate,
                               .rgb = true,
                               .block = {HEIGHT},
                               .compression = COMPRESSION_ADOBE_DEFLATE,
                               .predictor = PREDICTOR_NONE};
        uint16_t *all = calloc(elements_of(&f), sizeof *all), *part = malloc((size_t)CHECKED * WIDTH * sizeof *part);
        for (size_t i = 0; i < 1000; i++)
            all[draw(0, (int64_t)elements_of(&f) - 1)] = (uint16_t)draw(0, 65535);
        write_file(&f, all);
        distmap_reader *reader;
        assert_int_equal(distmap_reader_open("a.tif", &reader), DISTMAP_OK);
        assert_true(distmap_reader_info(reader)->held_bytes < (size_t)200 << 20);
        static const int64_t firsts[] = {700, 750, 1400, 100};
        for (int i = 0; i < 4; i++) {
            const int sample = (int)draw(0, 2);
            assert_int_equal(distmap_reader_sample(reader, (distmap_sample)(DISTMAP_SAMPLE_RED + sample)), DISTMAP_OK);
            assert_int_equal(distmap_reader_read(reader, firsts[i], CHECKED, part), DISTMAP_OK);
            assert_memory_equal(part, all + ((size_t)sample * HEIGHT + (size_t)firsts[i]) * WIDTH,
                                (size_t)CHECKED * WIDTH * sizeof *part);
        }
        distmap_reader_close(&reader);
        free(part);
        free(all);
    }
}

int main(void) {
    seed = test_seed();
    printf("seed %llu\n", (unsigned long long)seed);
    TIFFSetWarningHandler(NULL);
    const struct CMUnitTest tests[] = {cmocka_unit_test(read_drawn_forms), cmocka_unit_test(read_a_large_strip)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
