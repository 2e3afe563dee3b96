/* Fuzz target: the reader of ROS maps. The input is the YAML; map.pgm, a good picture of 3 x 2, stands beside it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT "rosmap"
#include "fuzz_reader.h"

static char folder[40], yaml[64], picture[64];
static int fd = -1;

static void demand(int good) {
    if (!good)
        abort();
}

static void remove_files(void) {
    unlink(yaml);
    unlink(picture);
    rmdir(folder);
}

static void make_files(void) {
    static const char cells[] = "P5\n3 2\n255\n\0\xcd\xfe\xfe\0\0";
    char memory[64];
    strcpy(folder, "/tmp/fuzz-rosmap-XXXXXX");
    demand(mkdtemp(folder) != NULL);
    atexit(remove_files);
    snprintf(yaml, sizeof yaml, "%s/map.yaml", folder);
    snprintf(picture, sizeof picture, "%s/map.pgm", folder);
    const int file = open(picture, O_WRONLY | O_CREAT, 0600);
    demand(file >= 0 && write(file, cells, sizeof cells - 1) == (ssize_t)sizeof cells - 1 && !close(file));
    demand((fd = memfd_create("fuzz", 0)) >= 0);
    snprintf(memory, sizeof memory, "/proc/self/fd/%d", fd);
    demand(!symlink(memory, yaml));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (fd < 0)
        make_files();
    demand(!ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
    read_path(yaml);
    return 0;
}
