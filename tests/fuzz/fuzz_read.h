/* A file of any bytes through one codec's reader. Each fuzz_read_FORMAT.c sets FORMAT and includes this;
 * it may set AFTER_EACH, a function to call after each input, and ENDING, without which the format is not recognised.
 *
 * The bytes are handed over as a memory file by its name in /proc, or by a link to that with the ending.
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
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
#ifdef ENDING
        char link[64];
        snprintf(link, sizeof link, "/dev/shm/distmap-fuzz-%ld%s", (long)getpid(), ENDING);
        unlink(link);
        if (symlink(path, link))
            abort();
        strcpy(path, link);
#endif
    }
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    read_path(path);
#ifdef AFTER_EACH
    AFTER_EACH();
#endif
    return 0;
}
