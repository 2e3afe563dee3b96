/* A file of any bytes through one codec's reader. Each fuzz_read_FORMAT.c sets FORMAT and includes this;
 * it may set AFTER_EACH, a function to call after each input.
 *
 * The bytes are handed over as a memory file by its name in /proc. What looks like HDF5 is for the hdf5 target alone: what libhdf5
 * does with a fuzzer's bytes is not ours, and every target would meet it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int fd = -1;
    static char path[64];
    if (strcmp(FORMAT, "hdf5") != 0 && memmem(data, size, "\x89HDF\r\n\x1a\n", 8))
        return 0;
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    read_path(path);
#ifdef AFTER_EACH
    AFTER_EACH();
#endif
    return 0;
}
