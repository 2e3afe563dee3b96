/* Everything that a format claims to hold comes back as it was: every writing format x dtype x shape, in bands. Formats are
 * taken from the library's table, so a new one is tested without an edit. */
#define _GNU_SOURCE
#include "support.h"

static const int64_t shapes[][5] = {
    /* axes, shape */
    {1, 1},         {1, 37},         {2, 1, 1}, {2, 1, 9}, {2, 13, 1},   {2, 31, 8},    {2, 65, 131},  {3, 2, 5, 7},
    {3, 9, 17, 15}, {4, 2, 3, 5, 7}, {1, 0},    {2, 0, 5}, {3, 4, 0, 3}, {2, 3, 70000}, {2, 40000, 2},
};

/* Elements as a format gives them back: some have no bool. */
static distmap_dtype kept_as(const char *format, distmap_dtype dtype) {
    static const char *const without_bool[] = {"nifti", "metaimage", "nrrd", "precomputed"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(format, without_bool[i]) && dtype == DISTMAP_BOOL)
            return DISTMAP_UINT8;
    return dtype;
}

/* One round trip; whether the format held the image at all. */
static bool round_trip(const distmap_format_info *format, const char *path, const distmap_image_info *info) {
    void *elements = make_elements(info, 1 + info->dtype);
    const distmap_status status = write_all(path, info, elements, 7);
    if (status == DISTMAP_ERROR_UNSUPPORTED) {
        assert_non_null(strstr(distmap_error_text(), path));
        free(elements);
        return false;
    }
    if (status)
        fail_msg("%s", distmap_error_text());
    distmap_image_info got;
    void *back = read_all(path, 5, &got);
    const distmap_dtype dtype = kept_as(format->name, info->dtype);
    if (strcmp(got.format, format->name) != 0 || got.dtype != dtype || got.ndim != info->ndim ||
        memcmp(got.shape, info->shape, (size_t)info->ndim * sizeof *got.shape) != 0 ||
        memcmp(back, elements, info_bytes(info)) != 0)
        fail_msg("%s of %s with %d axes comes back wrong, as %s of %s with %d axes", path,
                 distmap_dtype_name(info->dtype), info->ndim, got.format, distmap_dtype_name(got.dtype), got.ndim);
    free(back);
    free(elements);
    erase(path);
    return true;
}

static void test_every_format(void **state) {
    (void)state;
    const distmap_format_info *format;
    for (size_t row = 0; (format = distmap_format_get(row)); row++) {
        if (!format->writes)
            continue;
        char endings[64], *rest = NULL;
        snprintf(endings, sizeof endings, "%s", format->endings);
        for (char *ending = strtok_r(endings, " ", &rest); ending; ending = strtok_r(NULL, " ", &rest)) {
            char path[64];
            int held = 0;
            snprintf(path, sizeof path, "image%s", ending);
            for (int dtype = DISTMAP_BOOL; dtype <= DISTMAP_FLOAT64; dtype++)
                for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                    distmap_image_info info = {.dtype = (distmap_dtype)dtype, .ndim = (int)shapes[s][0]};
                    memcpy(info.shape, shapes[s] + 1, sizeof shapes[s] - sizeof *shapes[s]);
                    for (int a = 0; a < info.ndim; a++) /* some formats hold nothing else */
                        info.axis[a] = (distmap_axis){.unit = "mm", .pitch = 2};
                    if (info.ndim == 4)
                        info.axis[0] = (distmap_axis){.type = DISTMAP_AXIS_TIME};
                    held += round_trip(format, path, &info);
                }
            assert_true(held >= 7); /* the 2-D shapes of one dtype at the very least */
        }
    }
    assert_int_equal(count_files(), 0);
}

/* What each format must hold, told apart from its own word. */
static void test_promises(void **state) {
    (void)state;
    static const struct {
        const char *path;
        int dtypes; /* how many of the eleven */
        int ndim_high;
    } promises[] = {{"a.npy", 11, 4}, {"a.png", 3, 2},  {"a.tif", 11, 4},    {"a.TIFF", 11, 4}, {"a.pgm", 2, 2},
                    {"a.pbm", 1, 2},  {"a.nii", 11, 4}, {"a.nii.gz", 11, 4},
                    {"a.mha", 11, 4}, {"a.mhd", 11, 4}, {"a.nrrd", 11, 4},   {"a.nhdr", 11, 4}, {"a.h5", 11, 4},   {"a.zarr", 11, 4}};
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
        if (i >= 12 && !is_written(promises[i].path))
            continue;
        int dtypes = 0, ndim_high = 0;
        for (int dtype = DISTMAP_BOOL; dtype <= DISTMAP_FLOAT64; dtype++)
            for (int ndim = 2; ndim <= 4; ndim++) {
                distmap_image_info info = {.dtype = (distmap_dtype)dtype, .ndim = ndim, .shape = {2, 2, 2, 2}};
                info.axis[0].type = ndim == 4 ? DISTMAP_AXIS_TIME : DISTMAP_AXIS_SPACE;
                const uint8_t elements[128] = {0};
                if (write_all(promises[i].path, &info, elements, 1))
                    continue;
                erase(promises[i].path);
                dtypes += ndim == 2;
                ndim_high = ndim > ndim_high ? ndim : ndim_high;
            }
        assert_int_equal(dtypes, promises[i].dtypes);
        assert_int_equal(ndim_high, promises[i].ndim_high);
    }
}

/* Pitches come back as the same doubles: float32 in NIfTI, the resolution of a TIFF, text. */
static void test_spacing(void **state) {
    (void)state;
    static const char *const paths[] = {"a.nii", "a.nii.gz", "a.tif", "a.nrrd", "a.nhdr", "a.h5", "a.zarr"};
    static const double pitches[][3] = {
        {2.5, 0.7, 0.3}, {2, 0.65, 0.65}, {30, 0.108, 0.97}, {1000, 0.1625, 0.2635}, {0.001, 7.0001, 0.123457}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (size_t j = 0; j < 2 * sizeof pitches / sizeof *pitches && is_written(paths[i]); j++) {
            const double *pitch = pitches[j / 2];
            distmap_image_info info = {.dtype = DISTMAP_FLOAT32,
                                       .ndim = j & 1 ? 3 : 2,
                                       .shape = {2, 3, 4},
                                       .axis = {{.pitch = pitch[0], .unit = "um"},
                                                {.pitch = pitch[1], .unit = "um"},
                                                {.pitch = pitch[2], .unit = "um"}}},
                               got;
            void *elements = make_elements(&info, 3);
            assert_int_equal(write_all(paths[i], &info, elements, 2), DISTMAP_OK);
            free(read_all(paths[i], 2, &got));
            assert_string_equal(distmap_image_unit(&got), "um");
            for (int a = 0; a < info.ndim; a++)
                if (got.axis[a].pitch != pitch[a])
                    fail_msg("%s: a pitch of %.17g came back as %.17g", paths[i], pitch[a], got.axis[a].pitch);
            free(elements);
            erase(paths[i]);
        }
}

static void test_palette(void **state) {
    (void)state;
    uint8_t palette[256][3], indices[6] = {0, 1, 2, 100, 200, 255};
    for (int i = 0; i < 256; i++)
        palette[i][0] = (uint8_t)i, palette[i][1] = (uint8_t)(255 - i), palette[i][2] = (uint8_t)(3 * i);
    distmap_image_info info = {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {2, 3}}, got;
    distmap_writer *writer = NULL;
    assert_int_equal(distmap_writer_open_palette("p.png", &info, palette, &writer), DISTMAP_OK);
    assert_int_equal(distmap_writer_write(writer, 2, indices), DISTMAP_OK);
    assert_int_equal(distmap_writer_finish(&writer), DISTMAP_OK);
    uint8_t *back = read_all("p.png", 2, &got);
    for (int i = 0; i < 6; i++) {
        const uint8_t *c = palette[indices[i]];
        const unsigned want[] = {indices[i], (c[0] * 19595u + c[1] * 38470u + c[2] * 7471u + 32768u) >> 16, c[0], c[1],
                                 c[2]};
        assert_int_equal(back[i], want[0]);
        for (int s = 0; s < 5; s++) {
            uint8_t row[3];
            distmap_reader *reader = NULL;
            assert_int_equal(distmap_reader_open("p.png", &reader), DISTMAP_OK);
            assert_int_equal(distmap_reader_info(reader)->sample, DISTMAP_SAMPLE_INDEX);
            assert_int_equal(distmap_reader_sample(reader, (distmap_sample)(DISTMAP_SAMPLE_INDEX + s)), DISTMAP_OK);
            assert_int_equal(distmap_reader_info(reader)->sample, DISTMAP_SAMPLE_INDEX + s);
            assert_int_equal(distmap_reader_read(reader, i / 3, 1, row), DISTMAP_OK);
            assert_int_equal(row[i % 3], want[s]);
            assert_int_equal(distmap_reader_sample(reader, DISTMAP_SAMPLE_ALPHA), DISTMAP_ERROR_ARGUMENT);
            assert_non_null(
                strstr(distmap_error_text(), "p.png: its elements have no alpha; they have index, luma, red"));
            distmap_reader_close(&reader);
        }
    }
    assert_non_null(strstr(got.stored, "palette"));
    free(back);
    assert_int_equal(distmap_writer_open_palette("p.tif", &info, palette, &writer), DISTMAP_ERROR_UNSUPPORTED);
    assert_non_null(strstr(distmap_error_text(), ".png"));
    info.dtype = DISTMAP_UINT16;
    assert_int_equal(distmap_writer_open_palette("p.png", &info, palette, &writer), DISTMAP_ERROR_ARGUMENT);
    remove("p.png");
}

/* Written in place through a mapping; more than one call gives the same view. */
static void test_map(void **state) {
    (void)state;
    distmap_image_info info = {.dtype = DISTMAP_FLOAT64, .ndim = 3, .shape = {5, 17, 31}}, got;
    void *elements = make_elements(&info, 5);
    distmap_writer *writer = NULL;
    assert_int_equal(distmap_writer_open("m.npy", &info, &writer), DISTMAP_OK);
    const distmap_view view = distmap_writer_map(writer);
    assert_non_null(view.data);
    assert_ptr_equal(distmap_writer_map(writer).data, view.data);
    assert_int_equal((uintptr_t)view.data % 64, 0);
    memcpy(view.data, elements, info_bytes(&info));
    assert_int_equal(distmap_writer_write(writer, 1, elements), DISTMAP_ERROR_ARGUMENT);
    assert_int_equal(distmap_writer_finish(&writer), DISTMAP_OK);
    void *back = read_all("m.npy", 2, &got);
    assert_memory_equal(back, elements, info_bytes(&info));
    free(back);
    free(elements);
    remove("m.npy");
    assert_int_equal(distmap_writer_open("m.tif", &info, &writer), DISTMAP_OK);
    assert_null(distmap_writer_map(writer).data);
    distmap_writer_abort(&writer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format), cmocka_unit_test(test_promises), cmocka_unit_test(test_spacing),
        cmocka_unit_test(test_palette),      cmocka_unit_test(test_map),
    };
    return cmocka_run_group_tests_name("io.roundtrip", tests, enter_folder, leave_folder);
}
