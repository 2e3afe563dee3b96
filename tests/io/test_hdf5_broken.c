/* Broken HDF5 files: whatever libhdf5 makes of them, a reader ends with elements or with one line.
 *
 *     io_hdf5_broken [CASES [FOLDER]]
 *
 * Small files of the fuzz targets get some bytes drawn anew. FOLDER keeps those that libhdf5 did not survive. Three of them, on which
 * libhdf5 1.10.8 crashes or never ends, are among tests/io/files.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../seed.h"
#include "support.h"

static int cases = 150;
static const char *keep;

static bool says(const char *words) { return strstr(distmap_error_text(), words) != NULL; }

static int seeds(struct dirent ***list) {
    const int count = scandir(TEST_CORPUS, list, NULL, alphasort);
    assert_true(count > 2);
    return count;
}

static void test_mutations(void **state) {
    (void)state;
    struct dirent **list;
    uint64_t seed = test_seed();
    const int count = seeds(&list);
    int good = 0, died = 0;
    printf("seed %llu\n", (unsigned long long)seed);
    random_next(&seed), random_next(&seed);
    for (int i = 0; i < cases; i++) {
        const char *name = list[random_next(&seed) % (uint64_t)count]->d_name;
        char path[4096];
        size_t bytes;
        if (name[0] == '.')
            continue;
        snprintf(path, sizeof path, TEST_CORPUS "/%s", name);
        uint8_t *data = load(path, &bytes);
        for (uint64_t flips = 1 + random_next(&seed) % 6; flips > 0; flips--) {
            /* Mostly by a bit, in what comes before the elements. */
            const size_t at = random_next(&seed) % (random_next(&seed) % 4 ? bytes / 2 + 1 : bytes);
            data[at] = random_next(&seed) % 2 ? (uint8_t)random_next(&seed)
                                              : (uint8_t)(data[at] ^ 1U << random_next(&seed) % 8);
        }
        save("mutant.h5", data, bytes);
        const distmap_status status = read_broken("mutant.h5");
        good += status == DISTMAP_OK;
        if (status && (says("does not stand it, and ended") || says("was silent"))) {
            died++;
            snprintf(path, sizeof path, "%s/%d_%s_%s", keep ? keep : ".", i, says("silent") ? "hang" : "crash", name);
            if (keep)
                save(path, data, bytes);
        }
        free(data);
    }
    printf("%d cases: %d read, %d refused, of which libhdf5 did not survive %d\n", cases, good, cases - good, died);
    for (int i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

/* Where libhdf5 is still so. */
static void expect_death(const char *name, const char *words) {
    char path[4096];
    size_t bytes;
    snprintf(path, sizeof path, TEST_FILES "/%s", name);
    uint8_t *data = load(path, &bytes);
    save(name, data, bytes);
    free(data);
    const distmap_status status = read_broken(name);
    unsigned major, minor, release;
    H5get_libversion(&major, &minor, &release);
    const bool known = major == 1 && minor == 10 && release == 8;
    if (known && (status != DISTMAP_ERROR_FORMAT || !says(words)))
        fail_msg("%s: status %d, \"%s\" should say \"%s\"", name, (int)status, distmap_error_text(), words);
}

static void test_crashes(void **state) {
    (void)state;
    expect_death("crash_segfault.h5",
                 "libhdf5 does not stand it, and ended"); /* by a signal, or the sanitizer that catches it */
    expect_death("crash_other.h5", "libhdf5 does not stand it, and ended");
}

static void test_hang(void **state) {
    (void)state;
    const time_t began = time(NULL);
    expect_death("hang.h5", "was silent for 1 s");
    assert_in_range(time(NULL) - began, 0, 6);
}

int main(int argc, char **argv) {
    cases = argc > 1 ? atoi(argv[1]) : test_cases(cases);
    keep = argc > 2 ? realpath(argv[2], NULL) : NULL;
    setenv("DISTMAP_HDF5_PATIENCE", "1", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutations), cmocka_unit_test(test_crashes),
                                       cmocka_unit_test(test_hang)};
    return cmocka_run_group_tests_name("io.hdf5_broken", tests, enter_folder, leave_folder);
}
