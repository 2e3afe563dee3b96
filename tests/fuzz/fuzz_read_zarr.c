/* Fuzz target: the zarr reader. The input is a store with one chunk:
 *
 *     a letter that says which layout it is (layouts[]), .zarray, a zero byte, .zattrs, a zero byte, the chunk
 *     the same for version 3, with the zarr.json of an array, and that of the group in which it is the array "0"
 *
 * so that a seed can be read. There is a folder for each layout, with three links to memory files: nothing but bytes changes
 * from one input to the next.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT "zarr"
#include "fuzz_reader.h"

enum { FILES = 3, CHUNK = 2 };
#define V2(chunk) \
    { ".zarray", ".zattrs", chunk }
#define V3(chunk) \
    { "0/zarr.json", "zarr.json", "0/" chunk }
static const char *const layouts[][FILES] = {
    V2("0"),   V2("0.0"),   V2("0/0"), V2("0.0.0"),   V2("0/0/0"), V2("0.0.0.0"),   V2("0/0/0/0"),
    V3("c/0"), V3("c/0/0"), V3("0.0"), V3("c/0/0/0"), V3("c.0.0"), V3("c/0/0/0/0"), V3("c/0/0/0/0/0"),
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static struct {
    char folder[40];
    int fds[FILES];
} store;

static void demand(int good) {
    if (!good)
        abort();
}

static void path_of(char path[96], int name, const char *file) {
    snprintf(path, 96, "%s/%c%s%s", store.folder, '0' + name, *file ? "/" : "", file); /* ... 8 9 : ; < = */
}

/* At the end; a run that crashes leaves its empty links. */
static void remove_store(void) {
    char path[96];
    for (int n = 0; n < LAYOUTS; n++) {
        for (int f = 0; f < FILES; f++) {
            path_of(path, n, layouts[n][f]);
            unlink(path);
        }
        for (char *slash = strrchr(path, '/'); strlen(path) > strlen(store.folder); slash = strrchr(path, '/')) {
            *slash = 0;
            rmdir(path);
        }
    }
}

static void make_store(void) {
    char path[96], memory[64];
    strcpy(store.folder, "/tmp/fuzz-zarr-XXXXXX");
    demand(mkdtemp(store.folder) != NULL);
    atexit(remove_store);
    for (int f = 0; f < FILES; f++)
        demand((store.fds[f] = memfd_create("fuzz", 0)) >= 0);
    for (int n = 0; n < LAYOUTS; n++) {
        const char *chunk = layouts[n][CHUNK];
        path_of(path, n, "");
        demand(!mkdir(path, 0700));
        path_of(path, n, chunk);
        for (char *slash = path + strlen(path) - strlen(chunk); (slash = strchr(slash, '/')); *slash++ = '/') {
            *slash = 0;
            demand(!mkdir(path, 0700));
        }
        for (int f = 0; f < FILES; f++) {
            path_of(path, n, layouts[n][f]);
            snprintf(memory, sizeof memory, "/proc/self/fd/%d", store.fds[f]);
            demand(!symlink(memory, path));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!*store.folder)
        make_store();
    if (size == 0 || data[0] < '0' || data[0] >= '0' + LAYOUTS)
        return 0;
    const uint8_t *at = data + 1, *const end = data + size;
    for (int f = 0; f < FILES; f++) {
        const uint8_t *zero = f == CHUNK ? NULL : memchr(at, 0, (size_t)(end - at));
        const size_t bytes = (size_t)((zero ? zero : end) - at);
        demand(!ftruncate(store.fds[f], 0) && pwrite(store.fds[f], at, bytes, 0) == (ssize_t)bytes);
        at += bytes + (zero != NULL);
    }
    char path[96];
    path_of(path, data[0] - '0', "");
    read_path(path);
    if (strcmp(layouts[data[0] - '0'][0], ".zarray") != 0) {
        path_of(path, data[0] - '0', "0");
        read_path(path);
    }
    return 0;
}
