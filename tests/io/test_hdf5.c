/* HDF5: which dataset, what it may be, what adding to a file leaves. The files are made by libhdf5 itself. */
#define _GNU_SOURCE
#define H5_USE_110_API
#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hdf5_filter.h"
#include "support.h"

enum { DEPTH = 37, HEIGHT = 23, WIDTH = 31, COUNT = DEPTH * HEIGHT * WIDTH };

static const distmap_image_info volume = {
    .dtype = DISTMAP_UINT16,
    .ndim = 3,
    .shape = {DEPTH, HEIGHT, WIDTH},
    .axis = {{.pitch = 2.5, .unit = "mm"}, {.pitch = 0.7, .unit = "mm"}, {.pitch = 0.3, .unit = "mm"}}};

static void expect(distmap_status got, distmap_status want, const char *words) {
    if (got != want || !strstr(distmap_error_text(), words))
        fail_msg("status %d, want %d; \"%s\" should say \"%s\"", (int)got, (int)want, distmap_error_text(), words);
}

/* A dataset of any type and rank; `chunk` 0: in one piece. */
static void put(hid_t file, const char *path, hid_t type, int rank, const hsize_t *shape, hsize_t chunk,
                const void *data) {
    const hid_t space = rank ? H5Screate_simple(rank, shape, NULL) : H5Screate(H5S_SCALAR);
    const hid_t made = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
    hsize_t chunks[9];
    for (int a = 0; a < rank; a++)
        chunks[a] = chunk < shape[a] ? chunk : shape[a];
    if (chunk) {
        H5Pset_chunk(made, rank, chunks);
        H5Pset_deflate(made, 4);
    }
    H5Pset_create_intermediate_group(links, 1);
    const hid_t set = H5Dcreate2(file, path, type, space, links, made, H5P_DEFAULT);
    assert_true(set >= 0);
    if (data)
        assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set), H5Pclose(links), H5Pclose(made), H5Sclose(space);
}

static hid_t new_file(const char *name) { return H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); }

static void check_equal(const char *path, const void *want, distmap_dtype dtype, int64_t band) {
    distmap_image_info info;
    void *got = read_all(path, band, &info);
    if (info.dtype != dtype || info.ndim != 3 || memcmp(got, want, info_bytes(&info)) != 0)
        fail_msg("%s comes back wrong, as %s in %d axes", path, distmap_dtype_name(info.dtype), info.ndim);
    free(got);
}

/* Bands of any height, forwards, of chunks deeper than they are; either order of bytes; the elements as they lie, mapped. */
static void test_layouts(void **state) {
    (void)state;
    const hsize_t shape[] = {DEPTH, HEIGHT, WIDTH};
    uint16_t *data = make_elements(&volume, 11), *turned = malloc(2 * COUNT);
    for (int i = 0; i < COUNT; i++)
        turned[i] = (uint16_t)(data[i] << 8 | data[i] >> 8);
    const hid_t file = new_file("a.h5");
    put(file, "/in/one", H5T_STD_U16LE, 3, shape, 0, data);
    put(file, "/in/pieces", H5T_STD_U16LE, 3, shape, 16, data);
    put(file, "/in/other_order", H5T_STD_U16BE, 3, shape, 0, turned);
    put(file, "/in/other_pieces", H5T_STD_U16BE, 3, shape, 5, turned);
    H5Fclose(file);
    static const char *const names[] = {"a.h5:/in/pieces", "a.h5:/in/one", "a.h5:/in/other_order",
                                        "a.h5:/in/other_pieces"};
    for (size_t i = 0; i < 4; i++)
        for (int64_t band = 1; band < 40; band += 9)
            check_equal(names[i], data, DISTMAP_UINT16, band);
    distmap_reader *reader = NULL;
    assert_int_equal(distmap_reader_open("a.h5:/in/one", &reader), DISTMAP_OK);
    const distmap_view view = distmap_reader_map(reader);
    assert_non_null(view.data);
    assert_memory_equal(view.data, data, 2 * COUNT);
    distmap_reader_close(&reader);
    free(turned);
    free(data);
    remove("a.h5");
}

static void test_bool(void **state) {
    (void)state;
    distmap_image_info info = volume;
    info.dtype = DISTMAP_BOOL;
    const hsize_t shape[] = {DEPTH, HEIGHT, WIDTH};
    uint8_t *data = make_elements(&info, 12);
    const int8_t no = 0, yes = 1;
    const hid_t type = H5Tenum_create(H5T_STD_I8LE), file = new_file("b.h5");
    H5Tenum_insert(type, "FALSE", &no), H5Tenum_insert(type, "TRUE", &yes); /* as h5py does */
    put(file, "/pieces", type, 3, shape, 16, data);
    put(file, "/one", type, 3, shape, 0, data);
    H5Tclose(type), H5Fclose(file);
    check_equal("b.h5:/pieces", data, DISTMAP_BOOL, 7);
    check_equal("b.h5:/one", data, DISTMAP_BOOL, 7);
    free(data);
    remove("b.h5");
}

/* Enumerations read as their integers, also those that nobody gave a name, in any byte order, and of fewer bits than bytes. */
static void test_enumerations(void **state) {
    (void)state;
    const hsize_t shape[] = {DEPTH, HEIGHT, WIDTH};
    uint16_t *data = make_elements(&volume, 16), *turned = malloc(2 * COUNT), *small = malloc(2 * COUNT);
    for (int i = 0; i < COUNT; i++) {
        turned[i] = (uint16_t)(data[i] << 8 | data[i] >> 8);
        small[i] = data[i] & 127;
    }
    const hid_t byte = H5Tcopy(H5T_STD_U16LE);
    H5Tset_precision(byte, 8);
    const struct {
        const char *name;
        hid_t base;
        const uint16_t *stored, *want;
    } kinds[] = {
        {"little", H5T_STD_U16LE, data, data}, {"big", H5T_STD_U16BE, turned, data}, {"byte", byte, small, small}};
    const hid_t file = new_file("e.h5");
    for (size_t k = 0; k < 3; k++) {
        const hid_t type = H5Tenum_create(kinds[k].base);
        H5Tenum_insert(type, "first", kinds[k].stored);
        char path[40];
        snprintf(path, sizeof path, "/one/%s", kinds[k].name);
        put(file, path, type, 3, shape, 0, kinds[k].stored);
        snprintf(path, sizeof path, "/pieces/%s", kinds[k].name);
        put(file, path, type, 3, shape, 16, kinds[k].stored);
        H5Tclose(type);
    }
    H5Tclose(byte), H5Fclose(file);
    for (size_t k = 0; k < 6; k++) {
        char path[48];
        snprintf(path, sizeof path, "e.h5:/%s/%s", k < 3 ? "one" : "pieces", kinds[k % 3].name);
        check_equal(path, kinds[k % 3].want, DISTMAP_UINT16, 7);
    }
    free(small), free(turned), free(data);
    remove("e.h5");
}

/* What a reader holds beside bands is stated, for who shares out memory: of chunks too large to be kept as well. */
static void test_held(void **state) {
    (void)state;
    const hsize_t shape[] = {130, 1024, 1024};
    const hid_t file = new_file("held.h5");
    put(file, "/row", H5T_STD_U8LE, 3, shape, 16, NULL);
    put(file, "/one", H5T_STD_U8LE, 3, shape, 1024, NULL);
    H5Fclose(file);
    static const struct {
        const char *path;
        size_t least, most;
    } sets[] = {{"held.h5:/row", 16 << 20, 17 << 20}, {"held.h5:/one", 260 << 20, 400 << 20}};
    for (size_t i = 0; i < 2; i++) {
        distmap_reader *reader = NULL;
        assert_int_equal(distmap_reader_open(sets[i].path, &reader), DISTMAP_OK);
        assert_in_range(distmap_reader_info(reader)->held_bytes, sets[i].least, sets[i].most);
        distmap_reader_close(&reader);
    }
    remove("held.h5");
}

static void refuse(const char *path, distmap_status status, const char *words) {
    distmap_reader *reader = NULL;
    expect(distmap_reader_open(path, &reader), status, words);
    assert_null(reader);
    assert_ptr_equal(strstr(distmap_error_text(), path), distmap_error_text());
}

static void test_refused(void **state) {
    (void)state;
    const hsize_t shape[] = {1, 2, 1, 2, 1};
    hid_t file = new_file("r.h5");
    H5Fclose(file);
    refuse("r.h5", DISTMAP_ERROR_UNSUPPORTED, "no dataset in it");
    file = new_file("r.h5");
    put(file, "/only", H5T_STD_U8LE, 2, shape, 0, "ab");
    H5Fclose(file);
    free(read_all("r.h5", 1, &(distmap_image_info){0}));
    file = new_file("r.h5");
    const hid_t text = H5Tcopy(H5T_C_S1);
    put(file, "/nine", H5T_STD_U8LE, 9, (const hsize_t[]){1, 1, 1, 1, 1, 1, 1, 1, 4}, 0, "abcd");
    put(file, "/scalar", H5T_STD_U8LE, 0, shape, 0, "a");
    put(file, "/text", text, 2, shape, 0, "ab");
    put(file, "/group/set", H5T_STD_U8LE, 2, shape, 0, "ab");
    H5Lcreate_external("elsewhere.h5", "/set", file, "/link", H5P_DEFAULT, H5P_DEFAULT);
    H5Tclose(text), H5Fclose(file);
    refuse("r.h5", DISTMAP_ERROR_UNSUPPORTED,
           "holds 4 datasets; name one of them behind it, as in r.h5:/group/set (/group/set, /nine");
    refuse("r.h5:/none", DISTMAP_ERROR_FORMAT, "there is no dataset /none");
    refuse("r.h5:/link", DISTMAP_ERROR_FORMAT, "there is no dataset /link");
    refuse("r.h5:/group", DISTMAP_ERROR_UNSUPPORTED, "/group is not a dataset");
    refuse("r.h5:/nine", DISTMAP_ERROR_UNSUPPORTED, "/nine has 9 axes; 1 to 8 are read");
    refuse("r.h5:/scalar", DISTMAP_ERROR_UNSUPPORTED, "/scalar has 0 axes");
    refuse("r.h5:/text", DISTMAP_ERROR_UNSUPPORTED, "/text has elements of no type that is read");
    refuse("missing.h5:/a", DISTMAP_ERROR_IO, "No such file");
    save("p.pgm", "P5 2 2 255\nabcd", 15);
    refuse("p.pgm:/a", DISTMAP_ERROR_UNSUPPORTED, "one image");
    remove("p.pgm");
    remove("r.h5");
}

/* Cut off anywhere: an error, or the elements. */
static void test_cut(void **state) {
    (void)state;
    void *data = make_elements(&volume, 13);
    assert_int_equal(write_all("whole.h5", &volume, data, 9), DISTMAP_OK);
    size_t bytes;
    uint8_t *file = load("whole.h5", &bytes);
    for (size_t length = 1; length < bytes; length += 1 + length / 7) {
        save("cut.h5", file, length);
        assert_int_not_equal(read_broken("cut.h5"), DISTMAP_OK);
    }
    free(file);
    free(data);
    remove("whole.h5"), remove("cut.h5");
}

static void assert_pitches(const distmap_image_info *got) {
    for (int a = 0; a < 3; a++)
        assert_true(got->axis[a].pitch == volume.axis[a].pitch);
}

static void test_adding(void **state) {
    (void)state;
    uint16_t *first = make_elements(&volume, 14), *second = make_elements(&volume, 15);
    distmap_image_info info = volume, got;
    assert_int_equal(write_all("a.h5:/x/first", &info, first, 8), DISTMAP_OK);
    for (int a = 0; a < 3; a++)
        strcpy(info.axis[a].unit, "um");
    assert_int_equal(write_all("a.h5:/x/y/second", &info, second, 5), DISTMAP_OK);
    check_equal("a.h5:/x/first", first, DISTMAP_UINT16, 6);
    check_equal("a.h5:/x/y/second", second, DISTMAP_UINT16, 6);
    free(read_all("a.h5:/x/first", 9, &got));
    assert_string_equal(distmap_image_unit(&got), "mm");
    assert_pitches(&got);
    free(read_all("a.h5:/x/y/second", 9, &got));
    assert_string_equal(distmap_image_unit(&got), "um");
    assert_pitches(&got);

    size_t bytes, again;
    uint8_t *before = load("a.h5", &bytes);
    expect(write_all("a.h5:/x/first", &info, first, 8), DISTMAP_ERROR_IO,
           "/x/first already; what a file holds is not overwritten");
    expect(write_all("a.h5:/x", &info, first, 8), DISTMAP_ERROR_IO, "/x already");
    expect(write_all("a.h5:/x/first/z", &info, first, 8), DISTMAP_ERROR_IO, "/x/first is not a group");
    expect(write_all("a.h5:/x/", &info, first, 8), DISTMAP_ERROR_ARGUMENT, "names no dataset");
    expect(write_all("a.npy:/x", &info, first, 8), DISTMAP_ERROR_ARGUMENT, "no format has this ending");
    distmap_writer *writer = NULL;
    assert_int_equal(distmap_writer_open("a.h5:/third", &info, &writer), DISTMAP_OK);
    assert_int_equal(distmap_writer_write(writer, 20, first), DISTMAP_OK);
    assert_int_equal(count_files(), 3); /* what grows, and the lock */
    expect(write_all("a.h5:/fourth", &info, first, 8), DISTMAP_ERROR_IO, "this program is adding to it already");
    assert_int_equal(count_files(), 3);
    distmap_writer_abort(&writer);
    chmod("a.h5", 0444);
    expect(write_all("a.h5:/third", &info, first, 8), DISTMAP_ERROR_IO, "read-only");
    chmod("a.h5", 0640);
    uint8_t *after = load("a.h5", &again);
    assert_int_equal(count_files(), 1);
    assert_int_equal(bytes, again);
    assert_memory_equal(before, after, bytes);
    free(before), free(after);

    /* Somebody else writes to the file meanwhile. */
    assert_int_equal(distmap_writer_open("a.h5:/third", &info, &writer), DISTMAP_OK);
    assert_int_equal(distmap_writer_write(writer, DEPTH, first), DISTMAP_OK);
    assert_int_equal(utimensat(AT_FDCWD, "a.h5", (const struct timespec[]){{.tv_nsec = UTIME_NOW}, {.tv_sec = 1}}, 0), 0);
    expect(distmap_writer_finish(&writer), DISTMAP_ERROR_IO, "changed by another program");
    check_equal("a.h5:/x/first", first, DISTMAP_UINT16, 6);
    struct stat s;
    assert_int_equal(stat("a.h5", &s), 0);
    assert_int_equal(s.st_mode & 0777, 0640);
    assert_int_equal(count_files(), 1);
    save("a.h5", "old", 3);
    expect(write_all("a.h5:/third", &info, first, 8), DISTMAP_ERROR_IO, "no HDF5 that can be added to");
    assert_int_equal(write_all("a.h5", &info, first, 8), DISTMAP_OK); /* a new file, as in all formats */
    check_equal("a.h5", first, DISTMAP_UINT16, 6);
    check_equal("a.h5:/data", first, DISTMAP_UINT16, 6);
    free(first), free(second);
    remove("a.h5");
}

/* Packed: of zeros little is left. The same result is the same file. */
static void test_packed(void **state) {
    (void)state;
    void *zeros = calloc(COUNT, 2);
    size_t bytes, again;
    assert_int_equal(write_all("z.h5", &volume, zeros, 4), DISTMAP_OK);
    uint8_t *one = load("z.h5", &bytes);
    assert_true(bytes < 2 * COUNT / 3);
    assert_int_equal(write_all("z.h5", &volume, zeros, 9), DISTMAP_OK);
    uint8_t *other = load("z.h5", &again);
    assert_int_equal(bytes, again);
    assert_memory_equal(one, other, bytes);
    free(one), free(other), free(zeros);
    remove("z.h5");
}

/* Not packed: one piece, as any program would write it, in a new file and beside what is there; by bands and through a mapping. */
static void test_one_piece(void **state) {
    (void)state;
    uint16_t *data = make_elements(&volume, 17), *got = malloc(2 * COUNT);
    distmap_image_info info = volume;
    strcpy(info.packing, "none");
    info.packing_asked = true;
    assert_int_equal(write_all("n.h5:/bands", &info, data, 5), DISTMAP_OK);
    distmap_writer *writer = NULL;
    assert_int_equal(distmap_writer_open("n.h5:/mapped", &info, &writer), DISTMAP_OK);
    const distmap_view to = distmap_writer_map(writer);
    assert_non_null(to.data);
    memcpy(to.data, data, 2 * COUNT);
    assert_int_equal(distmap_writer_finish(&writer), DISTMAP_OK);
    assert_int_equal(write_all("n.h5:/packed", &volume, data, 5), DISTMAP_OK);
    static const char *const names[] = {"/bands", "/mapped", "/packed"};
    const hid_t file = H5Fopen("n.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int i = 0; i < 3; i++) {
        const hid_t set = H5Dopen2(file, names[i], H5P_DEFAULT), made = H5Dget_create_plist(set);
        assert_int_equal(H5Pget_layout(made), i < 2 ? H5D_CONTIGUOUS : H5D_CHUNKED);
        assert_true(H5Dread(set, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, got) >= 0);
        assert_memory_equal(got, data, 2 * COUNT);
        H5Pclose(made), H5Dclose(set);
    }
    H5Fclose(file);
    check_equal("n.h5:/bands", data, DISTMAP_UINT16, 6);
    check_equal("n.h5:/mapped", data, DISTMAP_UINT16, 6);
    info.shape[1] = 0;
    assert_int_equal(write_all("n.h5:/empty", &info, data, 5), DISTMAP_OK);
    distmap_image_info empty;
    free(read_all("n.h5:/empty", 1, &empty));
    assert_int_equal(empty.shape[1], 0);
    free(got), free(data);
    remove("n.h5");
}

/* A filter that libhdf5 finds in HDF5_PLUGIN_PATH calls it back: the child, which has libhdf5 inside, must answer. */
static void test_plugin(void **state) {
    (void)state;
    const hsize_t shape[] = {DEPTH, HEIGHT, WIDTH}, chunk[] = {16, 16, 16};
    uint16_t *data = make_elements(&volume, 18);
    const hid_t file = new_file("p.h5"), made = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(3, shape, NULL);
    H5Pset_chunk(made, 3, chunk);
    assert_true(H5Pset_filter(made, TEST_FILTER, 0, 0, NULL) >= 0);
    const hid_t set = H5Dcreate2(file, "/a", H5T_STD_U16LE, space, H5P_DEFAULT, made, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set), H5Sclose(space), H5Pclose(made), H5Fclose(file);
    check_equal("p.h5", data, DISTMAP_UINT16, 6);
    free(data);
    remove("p.h5");
}

static void *work(void *user) {
    const int number = *(int *)user;
    char path[32];
    snprintf(path, sizeof path, "t%d.h5:/set", number);
    void *data = make_elements(&volume, (uint64_t)number);
    bool good = true;
    for (int round = 0; round < 8 && good; round++) {
        distmap_image_info info;
        good = write_all(path, &volume, data, 3 + round) == DISTMAP_OK;
        void *got = good ? read_all(path, 2 + round, &info) : NULL;
        good = good && memcmp(got, data, info_bytes(&info)) == 0;
        free(got);
        snprintf(path + strlen(path), 2, "x"); /* the next one beside it */
    }
    free(data);
    return good ? user : NULL;
}

/* Spacing in single precision: the decimals that were meant. */
static void test_single_spacing(void **state) {
    (void)state;
    const hsize_t shape[] = {2, 3, 4}, axes = 3;
    const float pitches[] = {2.5f, 0.7f, 0.108f};
    const hid_t file = new_file("f.h5");
    put(file, "/a", H5T_NATIVE_UINT8, 3, shape, 0, NULL);
    const hid_t set = H5Dopen2(file, "/a", H5P_DEFAULT), row = H5Screate_simple(1, &axes, NULL);
    const hid_t attribute = H5Acreate2(set, "element_size_um", H5T_IEEE_F32BE, row, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_FLOAT, pitches) >= 0);
    H5Aclose(attribute), H5Sclose(row), H5Dclose(set), H5Fclose(file);
    distmap_image_info got;
    free(read_all("f.h5", 2, &got));
    assert_true(got.axis[0].pitch == 2.5 && got.axis[1].pitch == 0.7 && got.axis[2].pitch == 0.108);
    remove("f.h5");
}

/* From several threads, though libhdf5 need not be safe for them. */
static void test_threads(void **state) {
    (void)state;
    pthread_t threads[4];
    int numbers[] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *good;
        pthread_join(threads[i], &good);
        assert_ptr_equal(good, &numbers[i]);
    }
}

int main(void) {
    setenv("HDF5_PLUGIN_PATH", TEST_PLUGINS, 1); /* read when libhdf5 starts */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),        cmocka_unit_test(test_bool),    cmocka_unit_test(test_enumerations),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_cut),     cmocka_unit_test(test_adding),
        cmocka_unit_test(test_packed),         cmocka_unit_test(test_threads), cmocka_unit_test(test_held),
        cmocka_unit_test(test_single_spacing), cmocka_unit_test(test_one_piece), cmocka_unit_test(test_plugin),
    };
    return cmocka_run_group_tests_name("io.hdf5", tests, enter_folder, leave_folder);
}
