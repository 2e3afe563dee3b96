/* The rules of distmap/io.h: arguments, what a failed or abandoned output leaves (nothing), full disks, pipes, links. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static const distmap_image_info form = {.dtype = DISTMAP_FLOAT32, .ndim = 2, .shape = {300, 1000}};

static void expect(distmap_status got, distmap_status want, const char *words) {
    assert_int_equal(got, want);
    if (!strstr(distmap_error_text(), words))
        fail_msg("\"%s\" does not say \"%s\"", distmap_error_text(), words);
}

static void test_reader_arguments(void **state) {
    (void)state;
    distmap_reader *reader = NULL;
    expect(distmap_reader_open(NULL, &reader), DISTMAP_ERROR_ARGUMENT, "path");
    expect(distmap_reader_open("x", NULL), DISTMAP_ERROR_ARGUMENT, "reader");
    save("a.pgm", "P5 2 2 255\nabcd", 15);
    assert_int_equal(distmap_reader_open("a.pgm", &reader), DISTMAP_OK);
    char out[4];
    expect(distmap_reader_read(NULL, 0, 1, out), DISTMAP_ERROR_ARGUMENT, "reader");
    expect(distmap_reader_read(reader, -1, 1, out), DISTMAP_ERROR_ARGUMENT, "first");
    expect(distmap_reader_read(reader, 0, 3, out), DISTMAP_ERROR_ARGUMENT, "first, count");
    expect(distmap_reader_read(reader, 1, INT64_MAX, out), DISTMAP_ERROR_ARGUMENT, "first, count");
    expect(distmap_reader_read(reader, 0, -1, out), DISTMAP_ERROR_ARGUMENT, "first, count");
    expect(distmap_reader_read(reader, 0, 1, NULL), DISTMAP_ERROR_ARGUMENT, "out");
    assert_int_equal(distmap_reader_read(reader, 2, 0, NULL), DISTMAP_OK);
    assert_int_equal(distmap_reader_read(reader, 1, 1, out), DISTMAP_OK);
    assert_memory_equal(out, "cd", 2);
    assert_null(distmap_reader_info(NULL));
    assert_null(distmap_reader_map(NULL).data);
    distmap_reader_close(&reader);
    distmap_reader_close(&reader);
    distmap_reader_close(NULL);
    remove("a.pgm");
}

static void test_writer_arguments(void **state) {
    (void)state;
    distmap_writer *writer = NULL;
    expect(distmap_writer_open(NULL, &form, &writer), DISTMAP_ERROR_ARGUMENT, "path");
    expect(distmap_writer_open("a.npy", NULL, &writer), DISTMAP_ERROR_ARGUMENT, "info");
    expect(distmap_writer_open("a.npy", &form, NULL), DISTMAP_ERROR_ARGUMENT, "writer");
    expect(distmap_writer_open_palette("a.png", &form, NULL, &writer), DISTMAP_ERROR_ARGUMENT, "palette");
    distmap_image_info bad = form;
    bad.ndim = 9;
    expect(distmap_writer_open("a.npy", &bad, &writer), DISTMAP_ERROR_ARGUMENT, "ndim");
    bad = form;
    bad.dtype = (distmap_dtype)77;
    expect(distmap_writer_open("a.npy", &bad, &writer), DISTMAP_ERROR_ARGUMENT, "dtype");
    bad = form;
    bad.shape[1] = -1;
    expect(distmap_writer_open("a.npy", &bad, &writer), DISTMAP_ERROR_ARGUMENT, "shape[1]");
    bad = form;
    bad.axis[0].pitch = -1;
    expect(distmap_writer_open("a.npy", &bad, &writer), DISTMAP_ERROR_ARGUMENT, "pitch of axis 0");
    bad = form;
    memset(bad.axis[1].unit, 'x', sizeof bad.axis[1].unit);
    expect(distmap_writer_open("a.npy", &bad, &writer), DISTMAP_ERROR_ARGUMENT, "unit");
    expect(distmap_writer_open("a.xyz", &form, &writer), DISTMAP_ERROR_ARGUMENT, ".tif");
    expect(distmap_writer_open("a", &form, &writer), DISTMAP_ERROR_ARGUMENT, "ending");
    expect(distmap_writer_open("a.jpg", &form, &writer), DISTMAP_ERROR_UNSUPPORTED, "a.jpg");
    expect(distmap_writer_open("a.png", &form, &writer), DISTMAP_ERROR_UNSUPPORTED, "it holds bool, uint8, uint16");
    expect(distmap_writer_open("a.png", &form, &writer), DISTMAP_ERROR_UNSUPPORTED, ".npy .tif .tiff .nii .nii.gz");
    assert_null(writer);
    const char elements[4000] = {0};
    assert_int_equal(distmap_writer_open("a.npy", &form, &writer), DISTMAP_OK);
    expect(distmap_writer_write(NULL, 1, elements), DISTMAP_ERROR_ARGUMENT, "writer");
    expect(distmap_writer_write(writer, 301, elements), DISTMAP_ERROR_ARGUMENT, "count");
    expect(distmap_writer_write(writer, -1, elements), DISTMAP_ERROR_ARGUMENT, "count");
    expect(distmap_writer_write(writer, 1, NULL), DISTMAP_ERROR_ARGUMENT, "slices");
    assert_int_equal(distmap_writer_write(writer, 1, elements), DISTMAP_OK);
    expect(distmap_writer_finish(&writer), DISTMAP_ERROR_ARGUMENT, "only 1 of its 300");
    assert_null(writer);
    expect(distmap_writer_finish(&writer), DISTMAP_ERROR_ARGUMENT, "writer");
    expect(distmap_writer_finish(NULL), DISTMAP_ERROR_ARGUMENT, "writer");
    distmap_writer_abort(&writer);
    distmap_writer_abort(NULL);
    assert_null(distmap_writer_map(NULL).data);
    assert_int_equal(count_files(), 0);
}

static void test_abandoned(void **state) {
    (void)state;
    static const char *const paths[] = {"a.npy", "a.tif", "a.nii", "a.nii.gz", "a.h5"};
    void *elements = make_elements(&form, 1);
    save("a.npy", "old", 3);
    for (size_t i = 0; i < (is_written("a.h5") ? 5 : 4); i++) {
        distmap_writer *writer = NULL;
        assert_int_equal(distmap_writer_open(paths[i], &form, &writer), DISTMAP_OK);
        assert_int_equal(distmap_writer_write(writer, 100, elements), DISTMAP_OK);
        assert_int_equal(count_files(), 2); /* the old file and the new one, not yet of that name */
        distmap_writer_abort(&writer);
        assert_int_equal(count_files(), 1);
    }
    size_t bytes;
    uint8_t *old = load("a.npy", &bytes);
    assert_int_equal(bytes, 3);
    assert_memory_equal(old, "old", 3);
    free(old);
    free(elements);
    remove("a.npy");
}

/* A file that grows over several runs, in no order. */
static void test_part(void **state) {
    (void)state;
    float *elements = make_elements(&form, 6);
    const size_t half = info_bytes(&form) / 2;
    distmap_writer *writer = NULL;
    int64_t offset = 0;
    expect(distmap_writer_open_part("a.npy", NULL, &form, &writer), DISTMAP_ERROR_ARGUMENT, "part");
    expect(distmap_writer_open_part("a.tif", "part", &form, &writer), DISTMAP_ERROR_UNSUPPORTED, "a.tif");
    expect(distmap_writer_open_part("-", "part", &form, &writer), DISTMAP_ERROR_UNSUPPORTED, "regular file");
    expect(distmap_writer_open_part("a.npy", "none/part", &form, &writer), DISTMAP_ERROR_IO, "a.npy: cannot create");
    assert_int_equal(distmap_writer_descriptor(NULL, &offset), -1);
    assert_int_equal(count_files(), 0);

    assert_int_equal(distmap_writer_open_part("a.npy", "part", &form, &writer), DISTMAP_OK);
    int fd = distmap_writer_descriptor(writer, &offset);
    assert_int_equal(pwrite(fd, (char *)elements + half, half, offset + (off_t)half), half);
    expect(distmap_writer_write(writer, 1, elements), DISTMAP_ERROR_ARGUMENT, "count");
    assert_null(distmap_writer_map(writer).data);
    distmap_writer_leave(&writer);
    assert_null(writer);
    distmap_writer_leave(&writer);
    assert_int_equal(count_files(), 1);
    assert_int_equal(distmap_writer_open_part("a.npy", "part", &form, &writer), DISTMAP_OK);
    fd = distmap_writer_descriptor(writer, &offset);
    assert_int_equal(pwrite(fd, elements, half, offset), half);
    assert_int_equal(distmap_writer_finish(&writer), DISTMAP_OK);
    assert_int_equal(count_files(), 1);
    distmap_image_info got;
    void *back = read_all("a.npy", 300, &got);
    assert_memory_equal(back, elements, 2 * half);
    free(back);
    remove("a.npy");

    assert_int_equal(distmap_writer_open("a.npy", &form, &writer), DISTMAP_OK);
    assert_int_equal(distmap_writer_descriptor(writer, &offset), -1);
    distmap_writer_abort(&writer);
    assert_int_equal(distmap_writer_open_part("a.npy", "part", &form, &writer), DISTMAP_OK);
    distmap_writer_abort(&writer);
    assert_int_equal(count_files(), 0);
    free(elements);
}

static void test_unwritable(void **state) {
    (void)state;
    distmap_writer *writer = NULL;
    expect(distmap_writer_open("none/a.npy", &form, &writer), DISTMAP_ERROR_IO, "folder none/");
    assert_int_equal(mkdir("dir.npy", 0777), 0);
    expect(distmap_writer_open("dir.npy", &form, &writer), DISTMAP_ERROR_IO, "dir.npy: is a folder");
    rmdir("dir.npy");
    expect(distmap_writer_open("/proc/a.npy", &form, &writer), DISTMAP_ERROR_IO, "folder /proc/");
    assert_int_equal(count_files(), 0);
}

/* A full disk, as a limit on files' size: at every point of the file, in every format, also where libraries buffer. */
static void test_full_disk(void **state) {
    (void)state;
    static const char *const paths[] = {"a.npy", "a.tif", "a.nii", "a.nii.gz", "b.png", "b.pgm", "c.pbm", "a.h5"};
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    for (size_t i = 0; i < (is_written("a.h5") ? 8 : 7); i++) {
        distmap_image_info info = form;
        info.dtype = paths[i][0] == 'a' ? DISTMAP_FLOAT32 : paths[i][0] == 'b' ? DISTMAP_UINT16 : DISTMAP_BOOL;
        void *elements = make_elements(&info, 1);
        assert_int_equal(write_all(paths[i], &info, elements, 50), DISTMAP_OK);
        struct stat whole;
        assert_int_equal(stat(paths[i], &whole), 0);
        remove(paths[i]);
        for (int k = 0; k < 12; k++) {
            limit = old;
            limit.rlim_cur = k == 11 ? (rlim_t)whole.st_size - 1 : (rlim_t)(whole.st_size * k / 11);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
            const distmap_status status = write_all(paths[i], &info, elements, 50);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
            if (status != DISTMAP_ERROR_IO || !strstr(distmap_error_text(), "cannot write: File too large"))
                fail_msg("%s: %d %s", paths[i], (int)status, distmap_error_text());
            assert_int_equal(count_files(), 0);
        }
        free(elements);
    }
    /* Reserved before it is mapped: no view rather than a signal. */
    distmap_writer *writer = NULL;
    assert_int_equal(distmap_writer_open("a.npy", &form, &writer), DISTMAP_OK);
    limit = old;
    limit.rlim_cur = 100000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_null(distmap_writer_map(writer).data);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    distmap_writer_abort(&writer);
    assert_int_equal(count_files(), 0);
}

static void test_devices(void **state) {
    (void)state;
    const uint8_t bits[2] = {1, 0};
    const distmap_image_info info = {.dtype = DISTMAP_BOOL, .ndim = 2, .shape = {1, 2}};
    /* A device stays what it is; one that is full is an error. */
    assert_int_equal(symlink("/dev/full", "full.pbm"), 0);
    expect(write_all("full.pbm", &info, bits, 1), DISTMAP_ERROR_IO, "full.pbm: cannot write: No space left");
    assert_int_equal(symlink("/dev/null", "null.npy"), 0);
    assert_int_equal(write_all("null.npy", &info, bits, 1), DISTMAP_OK);
    struct stat s;
    assert_int_equal(stat("/dev/null", &s), 0);
    assert_true(S_ISCHR(s.st_mode));
    assert_int_equal(symlink("/dev/null", "null.tif"), 0);
    expect(write_all("null.tif", &info, bits, 1), DISTMAP_ERROR_UNSUPPORTED, "regular file");
    remove("full.pbm"), remove("null.npy"), remove("null.tif");
}

static void test_links_and_modes(void **state) {
    (void)state;
    const distmap_image_info info = {.dtype = DISTMAP_BOOL, .ndim = 2, .shape = {1, 2}};
    const uint8_t bits[2] = {1, 0};
    save("real.npy", "old", 3);
    assert_int_equal(symlink("real.npy", "link.npy"), 0);
    chmod("real.npy", 0604);
    const mode_t mask = umask(027);
    assert_int_equal(write_all("link.npy", &info, bits, 1), DISTMAP_OK);
    assert_int_equal(write_all("new.npy", &info, bits, 1), DISTMAP_OK);
    umask(mask);
    struct stat s;
    assert_int_equal(lstat("new.npy", &s), 0);
    assert_int_equal(s.st_mode & 0777, 0640);
    assert_int_equal(lstat("link.npy", &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_int_equal(lstat("real.npy", &s), 0);
    assert_true(S_ISREG(s.st_mode) && s.st_size > 100);
    assert_int_equal(s.st_mode & 0777, 0604); /* as it was */
    remove("link.npy"), remove("real.npy"), remove("new.npy");
}

/* Standard input from a pipe and from a file, standard output. */
static void test_standard_streams(void **state) {
    (void)state;
    const distmap_image_info info = {.dtype = DISTMAP_INT16, .ndim = 2, .shape = {3, 5}};
    void *elements = make_elements(&info, 9);
    assert_int_equal(write_all("a.tif", &info, elements, 3), DISTMAP_OK);
    size_t bytes;
    uint8_t *file = load("a.tif", &bytes);
    const int in = dup(0), out = dup(1);
    for (int pipe_in = 0; pipe_in < 2; pipe_in++) {
        int ends[2] = {open("a.tif", O_RDONLY), -1};
        if (pipe_in) {
            close(ends[0]);
            assert_int_equal(pipe(ends), 0);
            assert_int_equal(write(ends[1], file, bytes), bytes);
            close(ends[1]);
        }
        dup2(ends[0], 0);
        close(ends[0]);
        distmap_image_info got;
        void *back = read_all("-", 2, &got);
        assert_memory_equal(back, elements, info_bytes(&info));
        assert_string_equal(got.format, "tiff");
        free(back);
    }
    fflush(stdout);
    const int to = open("out.npy", O_WRONLY | O_CREAT, 0666);
    dup2(to, 1);
    close(to);
    const distmap_status status = write_all("-", &info, elements, 2);
    dup2(in, 0), dup2(out, 1);
    close(in), close(out);
    assert_int_equal(status, DISTMAP_OK);
    distmap_image_info got;
    void *back = read_all("out.npy", 3, &got);
    assert_memory_equal(back, elements, info_bytes(&info));
    free(back);
    free(file);
    free(elements);
    remove("a.tif"), remove("out.npy");
}

static void test_table(void **state) {
    (void)state;
    size_t rows = 0, readers = 0;
    for (const distmap_format_info *f; (f = distmap_format_get(rows)); rows++) {
        assert_true(f->name[0] && f->endings[0] == '.' && f->summary[0]);
        readers += f->reads;
    }
    assert_true(rows >= 8 && readers >= 8);
    assert_null(distmap_format_get(rows + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_arguments), cmocka_unit_test(test_writer_arguments),
        cmocka_unit_test(test_abandoned),        cmocka_unit_test(test_part),
        cmocka_unit_test(test_unwritable),       cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_devices),          cmocka_unit_test(test_links_and_modes),
        cmocka_unit_test(test_standard_streams), cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests_name("io.rules", tests, enter_folder, leave_folder);
}
