/* Files made by other programs: every one in files/ must read as the array beside it, in bands of any height, backwards,
 * and through its mapping. And the pictures of data/. */
#include <dirent.h>

#include "support.h"

/* Reads NAME in bands backwards; the file is opened once, so that formats that only go forward must start again. */
static void check_backwards(const char *path, const void *want) {
    distmap_reader *reader = NULL;
    assert_int_equal(distmap_reader_open(path, &reader), DISTMAP_OK);
    assert_int_equal(distmap_reader_sample(reader, DISTMAP_SAMPLE_LUMA), DISTMAP_OK);
    const distmap_image_info *info = distmap_reader_info(reader);
    const size_t slice = info_bytes(info) / (size_t)info->shape[0];
    char *out = malloc(3 * slice);
    for (int64_t first = info->shape[0] - 1; first >= 0; first -= 2) {
        const int64_t count = info->shape[0] - first < 3 ? info->shape[0] - first : 3;
        assert_int_equal(distmap_reader_read(reader, first, count, out), DISTMAP_OK);
        assert_memory_equal(out, (const char *)want + (size_t)first * slice, (size_t)count * slice);
    }
    free(out);
    distmap_reader_close(&reader);
}

/* The mapping, where there is one, holds the same elements. Returns whether there is one. */
static bool check_map(const char *path, const char *want) {
    distmap_reader *reader = NULL;
    assert_int_equal(distmap_reader_open(path, &reader), DISTMAP_OK);
    const distmap_view v = distmap_reader_map(reader);
    const size_t size = distmap_dtype_size(v.dtype);
    int64_t at[DISTMAP_MAX_AXES] = {0};
    for (bool more = v.data != NULL; more; want += size) {
        const char *p = v.data;
        for (int a = 0; a < v.ndim; a++)
            p += at[a] * v.strides[a];
        assert_memory_equal(p, want, size);
        more = false;
        for (int a = v.ndim - 1; a >= 0 && !more; a--) {
            more = ++at[a] < v.shape[a];
            if (!more)
                at[a] = 0;
        }
    }
    distmap_reader_close(&reader);
    return v.data;
}

static void check_file(const char *path, const char *expected) {
    distmap_image_info want_info, info;
    void *want = read_all(expected, 1 << 20, &want_info);
    for (int64_t band = 1; band < 40; band = band * 3 + 1) {
        void *got = read_all(path, band, &info);
        if (info.dtype != want_info.dtype || info.ndim != want_info.ndim ||
            memcmp(info.shape, want_info.shape, sizeof info.shape) != 0 || memcmp(got, want, info_bytes(&info)) != 0)
            fail_msg("%s reads wrong in bands of %d: %s, %d axes, %s", path, (int)band, distmap_dtype_name(info.dtype),
                     info.ndim, info.stored);
        free(got);
    }
    char axes[40];
    assert_true(info.stored[0] && (int)strlen(distmap_image_axes(&info, axes, sizeof axes)) == info.ndim);
    check_backwards(path, want);
    const bool mapped = check_map(path, want);
    if (strstr(path, "fortran_f") || strstr(path, "version2.npy") || strstr(path, "one_page_little"))
        assert_true(mapped);
    if (strstr(path, ".png") || strstr(path, ".gz") || strstr(path, "big_i4.nii") || strstr(path, "deflate") ||
        strstr(path, "turned") || strstr(path, "white"))
        assert_false(mapped);
    free(want);
}

static void test_all_files(void **state) {
    (void)state;
    read_sample = DISTMAP_SAMPLE_LUMA;
    DIR *d = opendir(TEST_FILES);
    assert_non_null(d);
    int checked = 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        char path[512], expected[520];
        snprintf(path, sizeof path, "%s/%s", TEST_FILES, e->d_name);
        snprintf(expected, sizeof expected, "%s.npy", path);
        for (char *p = expected + strlen(TEST_FILES) + 1; p < expected + strlen(path); p++)
            *p = *p == '.' ? '_' : *p;
        FILE *there = fopen(expected, "rb");
        if (!there)
            continue;
        fclose(there);
        check_file(path, expected);
        checked++;
    }
    closedir(d);
    assert_true(checked > 100);
}

static void check_spacing(const char *name, const char *unit, double s0, double s1, double s2, double s3) {
    distmap_reader *reader = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", TEST_FILES, name);
    assert_int_equal(distmap_reader_open(path, &reader), DISTMAP_OK);
    const distmap_image_info *info = distmap_reader_info(reader);
    const double want[] = {s0, s1, s2, s3};
    assert_string_equal(distmap_image_unit(info), unit);
    for (int a = 0; a < info->ndim; a++)
        assert_true(distmap_image_pitch(info, a) == want[a]);
    distmap_reader_close(&reader);
}

static void test_spacing(void **state) {
    (void)state;
    check_spacing("imagej.tif", "um", 1, 2.5, 0.25, 0.5);
    check_spacing("imagej_one_page_big.tif", "um", 3, 1, 1, 0);
    check_spacing("big_f4.nii", "mm", 2.5, 0.8, 0.7, 0); /* floats in the file: the decimal that was meant */
    check_spacing("two_u1.nii.gz", "um", 2.5, 0.8, 0.7, 0);
    check_spacing("grey2.png", "", 1, 1, 0, 0);
}

/* A TIFF of two pixels with this description, and this resolution along both axes. */
static void save_tiff(const char *path, const char *text, uint32_t over, uint32_t under, uint16_t unit) {
    enum { COUNT = 11, TEXT = 8 + 2 + 12 * COUNT + 4 + 8 + 2 };
    const uint32_t length = (uint32_t)strlen(text) + 1,
                   tags[COUNT][4] = {{256, 3, 1, 2},         {257, 3, 1, 1},   {258, 3, 1, 8},
                                     {259, 3, 1, 1},         {262, 3, 1, 1},   {270, 2, length, TEXT},
                                     {273, 4, 1, TEXT - 2},  {279, 4, 1, 2},   {282, 5, 1, TEXT - 10},
                                     {283, 5, 1, TEXT - 10}, {296, 3, 1, unit}};
    uint8_t file[400] = {'I', 'I', 42, 0, 8, 0, 0, 0, COUNT};
    for (int i = 0; i < COUNT; i++)
        for (int byte = 0; byte < 12; byte++) {
            const uint32_t value = byte < 2 ? tags[i][0] : byte < 4 ? tags[i][1] : tags[i][byte < 8 ? 2 : 3];
            file[10 + 12 * i + byte] = (uint8_t)(value >> 8 * (byte < 4 ? byte & 1 : byte & 3));
        }
    for (int byte = 0; byte < 4; byte++) {
        file[TEXT - 10 + byte] = (uint8_t)(over >> 8 * byte);
        file[TEXT - 6 + byte] = (uint8_t)(under >> 8 * byte);
    }
    memcpy(file + TEXT, text, length);
    save(path, file, TEXT + length);
}

/* The pitch that a resolution was made from, not its reciprocal. */
static void test_resolution(void **state) {
    (void)state;
    static const char imagej[] = "ImageJ=1.54f\nunit=um\n", other[] = "ImageJ=1.11a\nunit=um\n";
    static const struct {
        const char *text;
        uint32_t over, under;
        uint16_t unit;
        double pitch;
    } rows[] = {
        {imagej, 1538461, 1000000, 1, 0.65},             /* cut to millionths: the reciprocal is 0.650000225 */
        {imagej, 142857, 1000000, 1, 7},                 /* 7.000007 */
        {imagej, 1030927, 1000000, 1, 0.97},             /* 0.9700008 */
        {imagej, 33333, 1000000, 1, 30},                 /* 30.0003 */
        {other, 33333, 1000000, 1, 30.0003},             /* which this program does not cut */
        {other, 2000000, 1300000, 1, 0.65},              /* a float beside it: 0.64999999 */
        {other, 4000000000u, 3123456789u, 1, 0.7808642}, /* no short decimal: to seven digits */
        {"", 10000000, 650, 3, 0.00065},                 /* pixels in a centimetre, in mm */
        {"", 254, 1, 2, 0.1},                            /* dots per inch */
        {"", 300, 1, 2, 0.08466667},
        {"", 72, 1, 2, 1}, /* what says nothing */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        save_tiff("r.tif", rows[i].text, rows[i].over, rows[i].under, rows[i].unit);
        distmap_image_info got;
        free(read_all("r.tif", 1, &got));
        if (distmap_image_pitch(&got, 0) != rows[i].pitch || distmap_image_pitch(&got, 1) != rows[i].pitch)
            fail_msg("resolution %u / %u is read as a pitch of %.17g", rows[i].over, rows[i].under,
                     distmap_image_pitch(&got, 1));
    }
    erase("r.tif");
}

/* What TIFFs of other programs mean, and a copy of each means the same. Columns of matrices are those of the space axes. */
static void test_tiff_means(void **state) {
    (void)state;
    static const struct {
        const char *name, *copy, *axes, *unit, *crs;
        double pitch[5], row[3], origin;
        distmap_world world;
        bool has_nodata;
    } rows[] = {
        {"map.tif", "a.tif", "cyx", "us-ft", "EPSG:2227", {0, 30, 30}, {0, 30}, 500015, DISTMAP_WORLD_PROJECTED, true},
        {"hyperstack.tif", "a.tif", "tczyx", "um", NULL, {3, 0, 2, 0.5, 0.5}, {0}, 0, DISTMAP_WORLD_UNKNOWN, false},
        {"stack.ome.tif",
         "a.ome.tif",
         "tczyx",
         "um",
         NULL,
         {2, 0, 2000, 0.5, 0.5},
         {0},
         0,
         DISTMAP_WORLD_UNKNOWN,
         false},
        {"hyperstack.tif", "a.ome.tif", "tczyx", "um", NULL, {3, 0, 2, 0.5, 0.5}, {0}, 0, DISTMAP_WORLD_UNKNOWN, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[512], text[160];
        distmap_image_info first = {0};
        void *elements = NULL;
        distmap_reader *readers[2] = {NULL, NULL};
        snprintf(path, sizeof path, "%s/%s", TEST_FILES, rows[i].name);
        elements = read_all(path, 2, &first);
        assert_int_equal(distmap_reader_open(path, &readers[0]), DISTMAP_OK);
        assert_int_equal(write_all(rows[i].copy, distmap_reader_info(readers[0]), elements, 1), DISTMAP_OK);
        assert_int_equal(distmap_reader_open(rows[i].copy, &readers[1]), DISTMAP_OK);
        for (int copy = 0; copy < 2; copy++) {
            const distmap_image_info *info = distmap_reader_info(readers[copy]);
            assert_string_equal(distmap_image_axes(info, text, sizeof text), rows[i].axes);
            assert_string_equal(distmap_image_unit(info), rows[i].unit);
            for (int a = 0; a < info->ndim; a++)
                assert_true(info->axis[a].pitch == rows[i].pitch[a]);
            assert_int_equal(info->world, rows[i].world);
            assert_true(!rows[i].crs == !info->crs && (!info->crs || !strcmp(info->crs, rows[i].crs)));
            assert_true(info->has_nodata == rows[i].has_nodata && (!info->has_nodata || info->nodata == 9));
            assert_true(info->matrix[0][0] == rows[i].row[0] && info->matrix[0][1] == rows[i].row[1]);
            assert_true(info->origin[0] == rows[i].origin);
        }
        assert_true(
            distmap_image_same_grid(distmap_reader_info(readers[0]), distmap_reader_info(readers[1]), text, 160));
        void *again = read_all(rows[i].copy, 1, &first);
        assert_memory_equal(elements, again, info_bytes(&first));
        free(again);
        free(elements);
        distmap_reader_close(&readers[0]);
        distmap_reader_close(&readers[1]);
        erase(rows[i].copy);
    }
}

/* FNV-1a of the elements, so that a change in what real files read as is noticed. */
static uint64_t hash(const uint8_t *p, size_t n) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    while (n--)
        h = (h ^ *p++) * UINT64_C(0x100000001b3);
    return h;
}

static void test_pictures(void **state) {
    (void)state;
    static const struct {
        const char *name, *axes;
        int64_t shape[3];
        uint64_t hash; /* by Pillow and NumPy */
    } pictures[] = {
        {"horse.png", "yx", {328, 400}, UINT64_C(0x223fd8d011f9bb79)},
        {"coins.png", "yx", {303, 384}, UINT64_C(0x0fbdb13f2ecae696)},
        {"page.png", "yx", {191, 384}, UINT64_C(0x29c111bb6df9b3af)},
        {"text.png", "yx", {172, 448}, UINT64_C(0x182334ed69980d8a)},
        {"retina.jpg", "yx", {1411, 1411}, UINT64_C(0xbdb6ba8693dae242)},
        {"mni152_gray_matter.nii.gz", "zyx", {189, 233, 197}, UINT64_C(0x2156bb1e6e9ac5f9)},
    };
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        char path[512];
        distmap_image_info info;
        snprintf(path, sizeof path, "%s/%s", DATA_FILES, pictures[i].name);
        uint8_t *got = read_all(path, 17, &info);
        char axes[40];
        assert_string_equal(distmap_image_axes(&info, axes, sizeof axes), pictures[i].axes);
        assert_int_equal(info.dtype, DISTMAP_UINT8);
        assert_memory_equal(info.shape, pictures[i].shape, (size_t)info.ndim * sizeof *info.shape);
        if (hash(got, info_bytes(&info)) != pictures[i].hash)
            fail_msg("%s reads as something else: %016llx", path, (unsigned long long)hash(got, info_bytes(&info)));
        free(got);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_files),  cmocka_unit_test(test_spacing),  cmocka_unit_test(test_resolution),
        cmocka_unit_test(test_tiff_means), cmocka_unit_test(test_pictures),
    };
    return cmocka_run_group_tests_name("io.files", tests, NULL, NULL);
}
