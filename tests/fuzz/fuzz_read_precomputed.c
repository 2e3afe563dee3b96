/* Fuzz target: the reader of precomputed volumes. The input is a volume with one chunk:
 *
 *     info, a zero byte, the chunk
 *
 * which stands in the scale "k" as 0-4_0-3_0-2, and in the scale "g" as 0-4_0-3_0-2.gz. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT "precomputed"
#include "fuzz_reader.h"

enum { INFO, CHUNK, FILES };
static const char *const links[] = {"info", "k/0-4_0-3_0-2", "g/0-4_0-3_0-2.gz"};
static char folder[40];
static int fds[FILES];

static void demand(int good) {
    if (!good)
        abort();
}

static const char *path_of(const char *file) {
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

static void remove_files(void) {
    for (int l = 0; l < 3; l++)
        unlink(path_of(links[l]));
    rmdir(path_of("k"));
    rmdir(path_of("g"));
    rmdir(folder);
}

static void make_files(void) {
    char memory[64];
    strcpy(folder, "/tmp/fuzz-precomputed-XXXXXX");
    demand(mkdtemp(folder) != NULL);
    atexit(remove_files);
    demand(!mkdir(path_of("k"), 0700) && !mkdir(path_of("g"), 0700));
    for (int f = 0; f < FILES; f++)
        demand((fds[f] = memfd_create("fuzz", 0)) >= 0);
    for (int l = 0; l < 3; l++) {
        snprintf(memory, sizeof memory, "/proc/self/fd/%d", fds[l ? CHUNK : INFO]);
        demand(!symlink(memory, path_of(links[l])));
    }
}

static void fill(int fd, const uint8_t *data, size_t bytes) {
    demand(!ftruncate(fd, 0) && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!*folder)
        make_files();
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    const size_t info = zero ? (size_t)(zero - data) : size;
    fill(fds[INFO], data, info);
    fill(fds[CHUNK], zero ? zero + 1 : data + size, zero ? size - info - 1 : 0);
    read_path(folder);
    return 0;
}
