/* Broken files: cut off anywhere, with flipped bits, of random bytes, with headers that lie. None may crash or be believed;
 * each failure is one clear line (support.c checks it). Run under the sanitizers to see what a crash would not show. */
#include <dirent.h>

#include "support.h"

/* Calls act for each committed file but the expectations' own copies. */
static void for_each_file(void (*act)(const char *name, const uint8_t *data, size_t bytes)) {
    DIR *d = opendir(TEST_FILES);
    assert_non_null(d);
    int count = 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        const size_t n = strlen(e->d_name);
        const bool expectation = n > 8 && strchr(e->d_name, '_') && !strcmp(e->d_name + n - 4, ".npy") &&
                                 strncmp(e->d_name, "fortran", 7) != 0;
        if (e->d_name[0] == '.' || expectation || !strcmp(e->d_name, "make.py") || !strcmp(e->d_name, "README.md"))
            continue;
        char path[512];
        size_t bytes;
        snprintf(path, sizeof path, "%s/%s", TEST_FILES, e->d_name);
        uint8_t *data = load(path, &bytes);
        act(e->d_name, data, bytes);
        free(data);
        count++;
    }
    closedir(d);
    assert_true(count > 100);
}

/* Formats whose last byte is part of the elements or of a check on them. */
static bool ends_tight(const char *name) {
    return strstr(name, ".png") || strstr(name, ".npy") || strstr(name, ".nii") || strstr(name, ".pgm") == name + 6 ||
           strstr(name, "binary");
}

static void cut(const char *name, const uint8_t *data, size_t bytes) {
    for (int i = 0; i <= 48; i++) {
        const size_t length = i < 16 ? (size_t)i * 4 : i == 48 ? bytes - 1 : bytes * (size_t)(i - 15) / 33;
        if (length >= bytes)
            continue;
        save("cut", data, length);
        const distmap_status status = read_broken("cut");
        if (!status && (length <= bytes / 2 || (length == bytes - 1 && ends_tight(name))))
            fail_msg("%s cut to %zu of %zu bytes is believed", name, length, bytes);
    }
}

static void flip(const char *name, const uint8_t *data, size_t bytes) {
    uint8_t *copy = malloc(bytes);
    uint64_t seed = 99 + bytes;
    for (int round = 0; round < 60; round++) {
        memcpy(copy, data, bytes);
        for (uint64_t n = 1 + random_next(&seed) % 3; n--;) {
            /* Mostly in the header, where bits mean most. */
            const size_t range = random_next(&seed) % 4 && bytes > 200 ? 200 : bytes;
            copy[random_next(&seed) % range] ^= (uint8_t)(1u << random_next(&seed) % 8);
        }
        save("flip", copy, bytes);
        read_broken("flip");
    }
    (void)name;
    free(copy);
}

static void test_cut(void **state) {
    (void)state;
    for_each_file(cut);
}

static void test_flipped(void **state) {
    (void)state;
    for_each_file(flip);
}

static void test_random(void **state) {
    (void)state;
    static const struct {
        const char *start;
        size_t bytes;
    } starts[] = {{"", 0},
                  {"\x89PNG\r\n\x1a\n", 8},
                  {"II*\0", 4},
                  {"MM\0*", 4},
                  {"II+\0\10\0\0\0", 8},
                  {"P1\n", 3},
                  {"P2\n", 3},
                  {"P3\n", 3},
                  {"P4\n", 3},
                  {"P5\n", 3},
                  {"P6\n9 9 ", 7},
                  {"\xff\xd8\xff", 3},
                  {"\x93NUMPY\1\0v\0", 10},
                  {"\x1f\x8b\x08\0", 4},
                  {"\x5c\1\0\0", 4}};
    uint64_t seed = 5;
    for (int round = 0; round < 40; round++)
        for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
            uint8_t data[3000];
            for (size_t i = 0; i < sizeof data; i++)
                data[i] = (uint8_t)(random_next(&seed) >> 40);
            memcpy(data, starts[s].start, starts[s].bytes);
            save("noise", data, 1 + random_next(&seed) % sizeof data);
            if (!starts[s].bytes)
                assert_int_not_equal(read_broken("noise"), DISTMAP_OK);
            else
                read_broken("noise");
        }
}

static void test_not_files(void **state) {
    (void)state;
    save("empty", "", 0);
    assert_int_equal(read_broken("empty"), DISTMAP_ERROR_FORMAT);
    assert_int_equal(read_broken("missing"), DISTMAP_ERROR_IO);
    assert_int_equal(read_broken("."), DISTMAP_ERROR_IO);
    assert_int_equal(read_broken("missing-folder/file.png"), DISTMAP_ERROR_IO);
}

/* Sizes that the file cannot hold must be refused when it is opened, before anything of that size is reserved. */
static void refuse(const char *name, const void *data, size_t bytes) {
    save(name, data, bytes);
    distmap_reader *reader = NULL;
    assert_int_equal(distmap_reader_open(name, &reader), DISTMAP_ERROR_FORMAT);
    assert_null(reader);
    assert_int_equal(read_broken(name), DISTMAP_ERROR_FORMAT);
}

static void refuse_changed(const char *file, size_t at, const void *with, size_t count) {
    char path[512];
    size_t bytes;
    snprintf(path, sizeof path, "%s/%s", TEST_FILES, file);
    uint8_t *data = load(path, &bytes);
    memcpy(data + at, with, count);
    refuse("lie", data, bytes);
    free(data);
}

static void test_absurd_sizes(void **state) {
    (void)state;
    static const char *const texts[] = {"P5\n100000000000000000 100000000000000000\n255\n",
                                        "P5\n70000 70000\n255\nabc",
                                        "P4 1000000 1000000\n",
                                        "P1 100000 100000\n0 1",
                                        "P2 99999999 9 255\n1 2 3",
                                        "P6 3000000000 3000000000 65535\n",
                                        "P5\n0 5\n255\n",
                                        "P5\n5 5\n0\n",
                                        "P5\n5 5\n65536\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        refuse("lie", texts[i], strlen(texts[i]));
    static const char *const shapes[] = {"(4294967296, 4294967296, 4294967296)", "(1000000, 1000000)",
                                         "(9223372036854775807,)", "(0, 9223372036854775807, 9223372036854775807)"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char npy[200] = "\x93NUMPY\1\0";
        npy[8] = 118;
        const int used = snprintf(npy + 10, 118, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shapes[i]);
        memset(npy + 10 + used, ' ', (size_t)(117 - used));
        npy[127] = '\n';
        refuse("lie", npy, 128 + 64);
    }
    refuse_changed("big_u1.nii", 42, "\x7f\xff\x7f\xff\x7f\xff", 6); /* dim[1..3] */
    refuse_changed("big_u1.nii", 108, "\x7f\x80\0\0", 4);            /* vox_offset: infinity */
    refuse_changed("depth12_little.tif", 18, "\xff\xff\xff\xff", 4); /* the first tag's value: width */
    refuse_changed("depth12_little.tif", 30, "\xff\xff\xff\x7f", 4); /* height */
    /* PNG: a size that deflate could not reach, with its checksum put right. */
    refuse_changed("grey16.png", 16, "\x7f\xff\xff\xff\x7f\xff\xff\xff\x10\0\0\0\0\x61\x32\x88\xf9", 17);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),       cmocka_unit_test(test_flipped),      cmocka_unit_test(test_random),
        cmocka_unit_test(test_not_files), cmocka_unit_test(test_absurd_sizes),
    };
    return cmocka_run_group_tests_name("io.broken", tests, enter_folder, leave_folder);
}
