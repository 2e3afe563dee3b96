/* Zarr version 3 as zarr-python writes it (stores/zarr3), as it should not be, and groups that are written into. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "../seed.h"
#include "support.h"

#define STORE TEST_STORES "/zarr3"

static const struct {
    const char *name;
    distmap_dtype dtype;
    int64_t chunk[3];  /* the smallest */
    const char *first; /* chunk */
    bool summed;       /* every byte is, of the chunks' own codecs or of an index */
} arrays[] = {
    {"plain", DISTMAP_UINT16, {2, 4, 4}, "c/0/0/0", false},
    {"big", DISTMAP_FLOAT32, {2, 4, 4}, "0.0.0", false},
    {"dotted", DISTMAP_INT64, {2, 4, 4}, "c.0.0.0", false},
    {"turned", DISTMAP_FLOAT64, {2, 4, 4}, "c/0/0/0", false},
    {"summed", DISTMAP_UINT16, {2, 4, 4}, "c/0/0/0", true},
    {"shards", DISTMAP_UINT16, {1, 2, 2}, "c/0/0/0", true},
    {"shards_first", DISTMAP_UINT16, {2, 2, 1}, "c/0/0/0", false},
    {"shards_deep", DISTMAP_UINT16, {1, 2, 2}, "c/0/0/0", true},
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static double value_of(const void *elements, distmap_dtype dtype, int k) {
    switch (dtype) {
    case DISTMAP_UINT16: return ((const uint16_t *)elements)[k];
    case DISTMAP_FLOAT32: return ((const float *)elements)[k];
    case DISTMAP_INT64: return (double)((const int64_t *)elements)[k];
    default: return ((const double *)elements)[k];
    }
}

static void check_elements(const void *elements, distmap_dtype dtype) {
    for (int k = 0; k < 105; k++)
        assert_true(value_of(elements, dtype, k) == 100 * (k / 35) + 10 * (k / 7 % 5) + k % 7);
}

static void test_arrays(void **state) {
    (void)state;
    for (int i = 0; i < ARRAYS; i++)
        for (int threads = 0; threads < 4; threads++) {
            char path[512];
            distmap_image_info info;
            assert_int_equal(distmap_io_set_threads(threads), DISTMAP_OK);
            snprintf(path, sizeof path, STORE "/%s", arrays[i].name);
            void *elements = read_all(path, 1 + threads, &info);
            assert_int_equal(info.dtype, arrays[i].dtype);
            assert_true(info.ndim == 3 && info.shape[0] == 3 && info.shape[1] == 5 && info.shape[2] == 7);
            for (int a = 0; a < 3; a++)
                assert_int_equal(info.chunk[a], arrays[i].chunk[a]);
            check_elements(elements, info.dtype);
            free(elements);
        }
    assert_int_equal(distmap_io_set_threads(-1), DISTMAP_ERROR_ARGUMENT);
    assert_int_equal(distmap_io_set_threads(0), DISTMAP_OK);
}

static void test_missing_chunks(void **state) {
    (void)state;
    distmap_image_info info;
    uint16_t *elements = read_all(STORE "/shards_sparse", 2, &info);
    for (int k = 0; k < 105; k++) {
        const int z = k / 35, y = k / 7 % 5, x = k % 7;
        assert_int_equal(elements[k], z < 2 && y < 2 && x < 3 ? 100 * z + 10 * y + x : 7);
    }
    free(elements);
}

/* A store with one array, of which a file may be changed. */
static void copy_file(const char *array, const char *file) {
    char from[512], to[512];
    size_t bytes;
    snprintf(from, sizeof from, STORE "/%s/%s", array, file);
    snprintf(to, sizeof to, "a.zarr/%s", file);
    for (char *slash = strchr(to, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(to, 0777);
        *slash = '/';
    }
    uint8_t *data = load(from, &bytes);
    save(to, data, bytes);
    free(data);
}

static distmap_status read_first(void *out) {
    const int64_t first[3] = {0}, count[3] = {2, 4, 4};
    distmap_reader *reader;
    distmap_status status = distmap_reader_open("a.zarr", &reader);
    if (!status)
        status = distmap_reader_read_box(reader, first, count, out);
    distmap_reader_close(&reader);
    return status;
}

/* A chunk cut and changed at every place: an error with a word, or, where there is no sum, other elements. */
static void test_broken_chunks(void **state) {
    (void)state;
    for (int i = 0; i < ARRAYS; i++) {
        char path[64];
        size_t bytes;
        uint64_t out[32];
        copy_file(arrays[i].name, "zarr.json");
        copy_file(arrays[i].name, arrays[i].first);
        snprintf(path, sizeof path, "a.zarr/%s", arrays[i].first);
        uint8_t *chunk = load(path, &bytes);
        assert_int_equal(read_first(out), DISTMAP_OK);
        for (size_t at = 0; at < bytes; at++) {
            save(path, chunk, at);
            assert_int_equal(read_first(out), DISTMAP_ERROR_FORMAT);
            assert_non_null(strstr(distmap_error_text(), "a.zarr: its chunk "));
            chunk[at] ^= 0x55;
            save(path, chunk, bytes);
            const distmap_status status = read_first(out);
            if (status ? status != DISTMAP_ERROR_FORMAT : arrays[i].summed)
                fail_msg("%s: byte %zu changed: status %d", arrays[i].name, at, (int)status);
            chunk[at] ^= 0x55;
        }
        erase("a.zarr");
        free(chunk);
    }
}

static void put_words(uint8_t *at, uint64_t offset, uint64_t bytes) {
    for (int i = 0; i < 8; i++) {
        at[7 - i] = (uint8_t)(offset >> 8 * i);
        at[15 - i] = (uint8_t)(bytes >> 8 * i);
    }
}

/* Of shards_first, whose index is big-endian, at the start, and has no sum. */
static void test_index_out_of_shard(void **state) {
    (void)state;
    static const uint64_t cases[][2] = {{1 << 20, 8},
                                        {128, 1 << 20},
                                        {UINT64_MAX, 8},
                                        {8, UINT64_MAX},
                                        {UINT64_MAX - 3, 8},
                                        {(uint64_t)INT64_MAX, (uint64_t)INT64_MAX},
                                        {(uint64_t)1 << 63, (uint64_t)1 << 63}};
    size_t bytes;
    uint64_t out[32];
    copy_file("shards_first", "zarr.json");
    copy_file("shards_first", "c/0/0/0");
    uint8_t *shard = load("a.zarr/c/0/0/0", &bytes);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_words(shard, cases[i][0], cases[i][1]);
        save("a.zarr/c/0/0/0", shard, bytes);
        assert_int_equal(read_first(out), DISTMAP_ERROR_FORMAT);
        assert_non_null(strstr(distmap_error_text(), "(chunk 0 within it) is not within its shard"));
    }
    free(shard);
    erase("a.zarr");
}

/* The text of an array, with one part of it replaced. */
static void save_form(const char *array, const char *part, const char *instead) {
    char path[512];
    size_t bytes;
    snprintf(path, sizeof path, STORE "/%s/zarr.json", array);
    char *text = (char *)load(path, &bytes), *form = calloc(1, bytes + strlen(instead) + 1);
    text = realloc(text, bytes + 1);
    text[bytes] = 0;
    const char *at = strstr(text, part);
    assert_non_null(at);
    sprintf(form, "%.*s%s%s", (int)(at - text), text, instead, at + strlen(part));
    mkdir("a.zarr", 0777);
    save("a.zarr/zarr.json", form, strlen(form));
    free(form);
    free(text);
}

static void test_broken_forms(void **state) {
    (void)state;
    static const struct {
        const char *array, *part, *instead, *text;
    } cases[] = {
        {"plain", "\"array\"", "\"tree\"", "neither array nor group"},
        {"plain", "\"array\"", "\"group\"", "is a group without arrays"},
        {"plain", "\"zarr_format\": 3", "\"zarr_format\": 4", "is Zarr version 4"},
        {"plain", "{", "[", "not a JSON object"},
        {"plain", "\"regular\"", "\"rectilinear\"", "its chunk_grid is rectilinear"},
        {"plain", "\"uint16\"", "\"complex64\"", "element type is complex64"},
        {"plain", "\"little\"", "\"middle\"", "neither little nor big"},
        {"plain", "\"bytes\"", "\"pickle\"", "codec pickle, which is not known"},
        {"plain", "\"default\"", "\"fancy\"", "chunk_key_encoding is fancy"},
        {"plain", "\"separator\": \"/\"", "\"separator\": \"..\"", "neither . nor /"},
        {"plain", "\"fill_value\": 7", "\"fill_value\": 65536", "no number that uint16 holds"},
        {"plain", "\"fill_value\": 7", "\"fill_value\": \"0x0007\"", "no number that uint16 holds"},
        {"turned", "\"fill_value\": 7.0", "\"fill_value\": \"0x7fc00000\"", "no number that float64 holds"},
        {"plain", "\"node_type\"", "\"unheard\": {}, \"node_type\"", "extension unheard"},
        {"shards", "\"sharding_indexed\"", "\"sharding_guessed\"", "codec sharding_guessed"},
        {"shards", "\"end\"", "\"middle\"", "neither start nor end"},
        {"summed", "\"crc32c\"", "\"transpose\"", "transpose does not stand where it can"},
        {"turned", "\"order\"", "\"disorder\"", "no list of its axes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        save_form(cases[i].array, cases[i].part, cases[i].instead);
        read_broken("a.zarr");
        if (!strstr(distmap_error_text(), cases[i].text))
            fail_msg("\"%s\" does not say \"%s\"", distmap_error_text(), cases[i].text);
        erase("a.zarr");
    }
}

/* ---- Groups ---- */

static const distmap_image_info small = {
    .dtype = DISTMAP_UINT8,
    .ndim = 2,
    .shape = {4, 6},
    .axis = {{.name = "v", .unit = "um", .pitch = 2}, {.name = "u", .unit = "um", .pitch = 0.5}}};
static const uint8_t elements[24] = {1, 2, 3};

static void expect(const char *path, distmap_status status, const char *text) {
    assert_int_equal(write_all(path, &small, elements, 3), status);
    if (text && !strstr(distmap_error_text(), text))
        fail_msg("%s: \"%s\" does not say \"%s\"", path, distmap_error_text(), text);
}

static void check_read(const char *path) {
    distmap_image_info info;
    void *got = read_all(path, 3, &info);
    assert_memory_equal(got, elements, sizeof elements);
    for (int a = 0; a < 2; a++) {
        assert_string_equal(info.axis[a].name, small.axis[a].name);
        assert_string_equal(info.axis[a].unit, "um");
        assert_true(info.axis[a].pitch == small.axis[a].pitch);
    }
    free(got);
}

static void test_groups(void **state) {
    (void)state;
    expect("g.zarr/a/b", DISTMAP_OK, NULL);
    check_read("g.zarr/a/b");
    check_read("g.zarr"); /* its only array */
    expect("g.zarr/a/b", DISTMAP_ERROR_IO, "exists already");
    expect("g.zarr/a/b/x/y", DISTMAP_ERROR_IO, "is an array, and no group");
    expect("g.zarr//c", DISTMAP_ERROR_ARGUMENT, "names no array");
    expect("g.zarr/../c", DISTMAP_ERROR_ARGUMENT, "names no array");
    expect("g.zarr/./c", DISTMAP_ERROR_ARGUMENT, "names no array");
    expect("g.zarr/", DISTMAP_ERROR_ARGUMENT, "names no array");
    expect("g.zarr/.zattrs", DISTMAP_ERROR_ARGUMENT, "names no array");
    expect("g.zarr/a/__b", DISTMAP_ERROR_ARGUMENT, "names no array");
    expect("g.zarr/zarr.json/b", DISTMAP_ERROR_ARGUMENT, "names no array");
    expect("g.zarr/i.ome.zarr", DISTMAP_OK, NULL);
    check_read("g.zarr/i.ome.zarr");
    check_read("g.zarr/i.ome.zarr/0");
    distmap_reader *reader;
    assert_int_equal(distmap_reader_open("g.zarr", &reader), DISTMAP_ERROR_UNSUPPORTED);
    assert_non_null(strstr(distmap_error_text(), "as in g.zarr/a/b (a/b, i.ome.zarr)"));
    assert_string_equal(distmap_format_of("g.zarr/a/b")->name, "zarr");
    assert_string_equal(distmap_format_of("g.zarr/a.npy")->name, "npy");
    assert_null(distmap_format_of("g.zarx/a"));
    assert_null(distmap_format_of(NULL));
    erase("g.zarr");
    assert_int_equal(count_files(), 0);
}

/* An output that is given up leaves a group as it was, and one that is whole does not overwrite what came meanwhile. */
static void test_given_up(void **state) {
    (void)state;
    distmap_writer *writers[2];
    expect("g.zarr/a", DISTMAP_OK, NULL);
    assert_int_equal(distmap_writer_open("g.zarr/b/c", &small, &writers[0]), DISTMAP_OK);
    assert_int_equal(distmap_writer_write(writers[0], 4, elements), DISTMAP_OK);
    distmap_writer_abort(&writers[0]);
    struct stat there;
    assert_int_equal(stat("g.zarr/b", &there), -1);
    for (int w = 0; w < 2; w++) {
        assert_int_equal(distmap_writer_open("g.zarr/b/c", &small, &writers[w]), DISTMAP_OK);
        assert_int_equal(distmap_writer_write(writers[w], 4, elements), DISTMAP_OK);
    }
    assert_int_equal(distmap_writer_finish(&writers[0]), DISTMAP_OK);
    assert_int_equal(distmap_writer_finish(&writers[1]), DISTMAP_ERROR_IO);
    check_read("g.zarr/b/c");
    erase("g.zarr/a");
    check_read("g.zarr"); /* nothing else is there */
    erase("g.zarr");
    assert_int_equal(count_files(), 0);
}

static void test_consolidated(void **state) {
    (void)state;
    static const char group[] = "{\"zarr_format\": 2}",
                      listed[] = "{\"zarr_consolidated_format\": 1, \"metadata\": {\".zgroup\": {\"zarr_format\": 2}}}";
    size_t bytes;
    mkdir("g.zarr", 0777);
    save("g.zarr/.zgroup", group, strlen(group));
    save("g.zarr/.zmetadata", listed, strlen(listed));
    expect("g.zarr/a/b", DISTMAP_OK, NULL);
    char *text = (char *)load("g.zarr/.zmetadata", &bytes);
    static const char *const keys[] = {"\".zgroup\"", "\"a/.zgroup\"", "\"a/b/.zarray\"", "\"a/b/.zattrs\""};
    for (int i = 0; i < 4; i++)
        assert_non_null(memmem(text, bytes, keys[i], strlen(keys[i])));
    free(text);
    distmap_writer *writer;
    assert_int_equal(distmap_writer_open_shared("g.zarr/s", "g.zarr/s.part", &small, &writer),
                     DISTMAP_ERROR_UNSUPPORTED);
    assert_non_null(strstr(distmap_error_text(), "consolidated metadata"));
    save("g.zarr/.zmetadata", "{", 1); /* which nothing can be added to */
    expect("g.zarr/c", DISTMAP_ERROR_FORMAT, "its .zmetadata is not a JSON object");
    struct stat there;
    assert_int_equal(stat("g.zarr/c", &there), -1);
    erase("g.zarr");
    assert_int_equal(count_files(), 0);
}

/* More axes than plans take. */
static void test_five_axes(void **state) {
    (void)state;
    static const char form[] =
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [1, %s, 2, 3], \"data_type\": \"uint8\", "
        "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [1, 1, 1, 2, 3]}}, "
        "\"chunk_key_encoding\": {\"name\": \"default\"}, \"fill_value\": 5, \"codecs\": [{\"name\": \"transpose\", "
        "\"configuration\": {\"order\": [4, 0, 3, 1, 2]}}, {\"name\": \"bytes\"}]}";
    static const uint8_t chunk[6] = {0, 3, 1, 4, 2, 5};
    char text[600];
    distmap_image_info info;
    mkdir("a.zarr", 0777);
    snprintf(text, sizeof text, form, "1, 4");
    save("a.zarr/zarr.json", text, strlen(text));
    mkdir("a.zarr/c", 0777);
    mkdir("a.zarr/c/0", 0777);
    mkdir("a.zarr/c/0/0", 0777);
    mkdir("a.zarr/c/0/0/2", 0777);
    mkdir("a.zarr/c/0/0/2/0", 0777);
    save("a.zarr/c/0/0/2/0/0", chunk, 6);
    uint8_t *got = read_all("a.zarr", 3, &info);
    const int lead = info.ndim - 3;
    assert_true(info.shape[lead] == 4 && info.shape[lead + 1] == 2 && info.shape[lead + 2] == 3);
    for (int k = 0; k < 24; k++)
        assert_int_equal(got[k], k / 6 == 2 ? k % 6 : 5);
    free(got);
    erase("a.zarr");
}

/* OME-Zarr tells where an image is, or, where its axes are mirrored or turned, nothing of it. */
static void test_place(void **state) {
    (void)state;
    static const double columns[][2][2] = {{{0, 0.5}, {2, 0}}, {{0, -0.5}, {2, 0}}, {{1, 0.5}, {2, -0.2}}};
    for (int i = 0; i < 3; i++) {
        distmap_image_info info = small, got;
        info.axis[0] = (distmap_axis){.name = "y", .unit = "um", .pitch = 2};
        info.axis[1] = (distmap_axis){.name = "x", .unit = "um", .pitch = 0.5};
        info.world_ndim = 2;
        for (int w = 0; w < 2; w++) {
            memcpy(info.matrix[w], columns[i][w], sizeof columns[i][w]);
            info.origin[w] = 30 + w;
        }
        assert_int_equal(write_all("p.ome.zarr", &info, elements, 3), DISTMAP_OK);
        free(read_all("p.ome.zarr", 3, &got));
        assert_int_equal(got.world_ndim, 2);
        for (int w = 0; w < 2; w++) { /* of an image that is turned the file says no place, which is 0 */
            assert_true(got.origin[w] == (i ? 0 : info.origin[w]));
            assert_memory_equal(got.matrix[w], columns[0][w], sizeof columns[0][w]);
        }
        erase("p.ome.zarr");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays),        cmocka_unit_test(test_missing_chunks),
        cmocka_unit_test(test_broken_chunks), cmocka_unit_test(test_index_out_of_shard),
        cmocka_unit_test(test_broken_forms),  cmocka_unit_test(test_groups),
        cmocka_unit_test(test_given_up),      cmocka_unit_test(test_consolidated),
        cmocka_unit_test(test_five_axes),     cmocka_unit_test(test_place),
    };
    return cmocka_run_group_tests_name("io.zarr3", tests, enter_folder, leave_folder);
}
