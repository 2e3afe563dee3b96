/* Zarr as other programs write it (stores/zarr, made by zarr-python), and as it should not be. */
#define _GNU_SOURCE
#include <math.h>
#include <sys/stat.h>

#include "support.h"

static void *read_array(const char *name, distmap_image_info *info) {
    char path[512];
    snprintf(path, sizeof path, TEST_STORES "/zarr/%s", name);
    return read_all(path, 2, info);
}

#define CHECK(T)                  \
    for (int k = 0; k < 105; k++) \
    assert_true(((const T *)elements)[k] == (T)(100 * (k / 35) + 10 * (k / 7 % 5) + k % 7))

static void test_packers_and_types(void **state) {
    (void)state;
    static const struct {
        const char *name;
        distmap_dtype dtype;
    } arrays[] = {{"plain", DISTMAP_UINT16},   {"blosc", DISTMAP_UINT16}, {"swapped", DISTMAP_UINT16},
                  {"zlib", DISTMAP_INT32},     {"gzip", DISTMAP_FLOAT32}, {"blosclz", DISTMAP_INT64},
                  {"fortran", DISTMAP_FLOAT64}, {"lz4", DISTMAP_UINT16},   {"zstd", DISTMAP_UINT16},
                  {"bz2", DISTMAP_UINT16}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        distmap_image_info info;
        void *elements = read_array(arrays[i].name, &info);
        assert_int_equal(info.dtype, arrays[i].dtype);
        assert_int_equal(info.ndim, 3);
        assert_true(info.shape[0] == 3 && info.shape[1] == 5 && info.shape[2] == 7);
        assert_true(info.chunk[0] == 2 && info.chunk[1] == 5 && info.chunk[2] == 4);
        switch (info.dtype) {
        case DISTMAP_UINT16: CHECK(uint16_t); break;
        case DISTMAP_INT32: CHECK(int32_t); break;
        case DISTMAP_FLOAT32: CHECK(float); break;
        case DISTMAP_INT64: CHECK(int64_t); break;
        default: CHECK(double); break;
        }
        free(elements);
    }
}

static void test_missing_chunks(void **state) {
    (void)state;
    distmap_image_info info;
    float *sparse = read_array("sparse", &info);
    for (int i = 0; i < 24; i++)
        assert_true(i / 6 >= 2 && i % 6 < 3 ? sparse[i] == 5 : isnan(sparse[i]));
    assert_true(info.axis[0].pitch == 2.5 && info.axis[1].pitch == 0.5);
    assert_string_equal(distmap_image_unit(&info), "um");
    free(sparse);
    uint8_t *bools = read_array("bools", &info);
    assert_int_equal(info.dtype, DISTMAP_BOOL);
    for (int i = 0; i < 24; i++)
        assert_int_equal(bools[i], i / 6 < 3);
    free(bools);
}

static void refuse(const char *path, const char *text) {
    read_broken(path);
    if (!strstr(distmap_error_text(), text))
        fail_msg("%s: \"%s\" does not say \"%s\"", path, distmap_error_text(), text);
}

static void test_refusals(void **state) {
    (void)state;
    refuse(TEST_STORES "/zarr", "is a group of arrays; name one of them, as in " TEST_STORES "/zarr/");
    refuse(TEST_STORES "/zarr/lzma", "packed by lzma; blosc, zstd, gzip, zlib, lz4, bz2 and none are read");
    refuse(TEST_STORES "/zarr/filtered", "has the filter delta besides its compressor");
    refuse(TEST_STORES "/zarr/nothing", "its chunk 0 is missing, and there is no fill value");
    refuse(TEST_STORES, "is a folder, not a file");
    mkdir("three.zarr", 0777);
    save("three.zarr/zarr.json", "{}", 2);
    refuse("three.zarr", "is Zarr version 0 by its zarr.json; versions 2 and 3 are read");
    erase("three.zarr");
}

/* One member of a good .zarray is replaced, or its text cut. */
static void test_broken_forms(void **state) {
    (void)state;
    static const struct {
        const char *member, *instead, *text;
    } cases[] = {
        {"", "", NULL},
        {"\"zarr_format\": 2", "\"zarr_format\": 4", "is Zarr version 4"},
        {"[4, 6]", "[4, -6]", "no lists of as many lengths"},
        {"[4, 6]", "[4, 6.5]", "no lists of as many lengths"},
        {"[4, 6]", "[4]", "no lists of as many lengths"},
        {"[4, 6]", "7", "tells no shape"},
        {"[4, 6]", "[1, 1, 1, 1, 1, 1, 1, 4, 6]", "has 9 axes"},
        {"[4, 6]", "[4611686018427387904, 4611686018427387904]", "absurd size"},
        {"[2, 3]", "[0, 3]", "no lists of as many lengths"},
        {"[2, 3]", "[65536, 65536]", "its chunks have 4294967296 bytes"},
        {"[2, 3]", "[3, 2]", "its chunk 0.0 is"},
        {"|u1", "<c8", "element type is <c8"},
        {"|u1", "<u2", "its chunk 0.0 is broken"},
        {"\"C\"", "\"D\"", "order or dimension_separator"},
        {"\"fill_value\": 0", "\"fill_value\": \"x\"", "fill_value is no number"},
        {"\"fill_value\": 0", "\"fill_value\": 300", "fill_value is no number that uint8 holds"},
        {"\"fill_value\": 0", "\"fill_value\": -1", "fill_value is no number that uint8 holds"},
        {"\"fill_value\": 0", "\"fill_value\": 0.5", "fill_value is no number that uint8 holds"},
        {"\"fill_value\": 0", "\"fill_value\": 1e300", "fill_value is no number that uint8 holds"},
        {"\"fill_value\": 0", "\"fill_value\": NaN", "fill_value is no number that uint8 holds"},
        {"\"fill_value\": 0", "\"fill_value\": 255.0", NULL},
        {"}", "", "not a JSON object"},
        {"{", "[", "not a JSON object"},
    };
    static const char good[] = "{\"zarr_format\": 2, \"shape\": [4, 6], \"chunks\": [2, 3], \"dtype\": \"|u1\", "
                               "\"compressor\": null, \"fill_value\": 0, \"order\": \"C\", \"filters\": null}";
    static const uint8_t chunk[6] = {1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        const char *at = strstr(good, cases[i].member);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, cases[i].instead, at + strlen(cases[i].member));
        mkdir("a.zarr", 0777);
        save("a.zarr/.zarray", text, strlen(text));
        save("a.zarr/0.0", chunk, cases[i].text && strcmp(cases[i].text, "its chunk 0.0 is") == 0 ? 5 : 6);
        if (cases[i].text)
            refuse("a.zarr", cases[i].text);
        else
            free(read_all("a.zarr", 1, &(distmap_image_info){0}));
        erase("a.zarr");
    }
}

/* Chunks cut and changed at every place are an error with a word, or other elements. */
static void test_broken_chunks(void **state) {
    (void)state;
    static const char *const arrays[] = {"plain", "zlib", "blosc", "blosclz", "zstd", "lz4", "bz2"};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        char path[512];
        size_t form_bytes, bytes;
        snprintf(path, sizeof path, TEST_STORES "/zarr/%s/.zarray", arrays[i]);
        uint8_t *form = load(path, &form_bytes);
        snprintf(path, sizeof path, TEST_STORES "/zarr/%s/0.0.0", arrays[i]);
        uint8_t *chunk = load(path, &bytes);
        mkdir("c.zarr", 0777);
        save("c.zarr/.zarray", form, form_bytes);
        for (size_t at = 0; at < bytes; at++) {
            save("c.zarr/0.0.0", chunk, at);
            refuse("c.zarr", "its chunk 0.0.0 is broken");
            chunk[at] ^= 0x55;
            save("c.zarr/0.0.0", chunk, bytes);
            read_broken("c.zarr");
            chunk[at] ^= 0x55;
        }
        erase("c.zarr");
        free(chunk);
        free(form);
    }
}

/* The limits of each type as fill values, and what is just beyond them. */
static void test_fill_values(void **state) {
    (void)state;
    static const struct {
        const char *type, *value;
        uint64_t bits; /* little end first */
        bool good;
    } cases[] = {
        {"|i1", "-128", 0x80, true},
        {"|i1", "128", 0, false},
        {"<u2", "65535", 0xffff, true},
        {"<u2", "65536", 0, false},
        {"<i4", "-2147483649", 0, false},
        {"<u4", "4294967295", 0xffffffff, true},
        {"<i8", "9223372036854775807", INT64_MAX, true},
        {"<i8", "9223372036854775808", 0, false},
        {"<i8", "-9223372036854775808", (uint64_t)INT64_MIN, true},
        {"<u8", "18446744073709551615", UINT64_MAX, true},
        {"<u8", "-1", 0, false},
        {"<u8", "3.0", 3, true},
        {"<f4", "0.1", 0x3dcccccd, true},
        {"|b1", "true", 1, true},
    };
    mkdir("f.zarr", 0777);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        const int used = snprintf(text, sizeof text,
                                  "{\"zarr_format\": 2, \"shape\": [1], \"chunks\": [1], \"dtype\": \"%s\", "
                                  "\"compressor\": null, \"fill_value\": %s, \"order\": \"C\", \"filters\": null}",
                                  cases[i].type, cases[i].value);
        save("f.zarr/.zarray", text, (size_t)used);
        if (!cases[i].good) {
            refuse("f.zarr", "fill_value is no number that ");
            continue;
        }
        distmap_image_info info;
        void *element = read_all("f.zarr", 1, &info);
        assert_memory_equal(element, &cases[i].bits, distmap_dtype_size(info.dtype));
        free(element);
    }
    erase("f.zarr");
}

static void test_not_overwritten(void **state) {
    (void)state;
    const distmap_image_info info = {.dtype = DISTMAP_UINT8, .ndim = 2, .shape = {4, 6}};
    const uint8_t elements[24] = {1};
    distmap_writer *writer;
    assert_int_equal(write_all("b.zarr", &info, elements, 3), DISTMAP_OK);
    assert_int_equal(distmap_writer_open("b.zarr", &info, &writer), DISTMAP_ERROR_IO);
    assert_non_null(strstr(distmap_error_text(), "b.zarr: exists already and is not overwritten"));
    erase("b.zarr");
    assert_int_equal(distmap_writer_open("b.zarr", &info, &writer), DISTMAP_OK);
    assert_int_equal(distmap_writer_write(writer, 4, elements), DISTMAP_OK);
    distmap_writer_abort(&writer);
    assert_int_equal(count_files(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packers_and_types), cmocka_unit_test(test_missing_chunks),
        cmocka_unit_test(test_refusals),          cmocka_unit_test(test_broken_forms),
        cmocka_unit_test(test_broken_chunks),     cmocka_unit_test(test_fill_values),
        cmocka_unit_test(test_not_overwritten),
    };
    return cmocka_run_group_tests_name("io.zarr", tests, enter_folder, leave_folder);
}
