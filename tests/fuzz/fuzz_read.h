/* A file of any bytes through one codec's reader. Each fuzz_read_FORMAT.c sets FORMAT and includes this; what another codec
 * recognises is left to that one's target.
 *
 * The bytes are handed over as a memory file by its name in /proc. Bands are read forwards, then one again from the middle,
 * because going back starts the decoders again. Nothing of an image that would take more than MAX_SLICE bytes a slice is
 * read: that much is the caller's to give.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "distmap/io.h"

enum { MAX_SLICE = 1 << 24, MAX_SLICES = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_bands(distmap_reader *reader) {
    const distmap_image_info *info = distmap_reader_info(reader);
    size_t slice = distmap_dtype_size(info->dtype);
    for (int a = 1; a < info->ndim; a++)
        if (__builtin_mul_overflow(slice, (size_t)info->shape[a], &slice))
            return;
    if (slice > MAX_SLICE)
        return;
    char *out = malloc(slice + 1);
    if (!out)
        return;
    distmap_status status = DISTMAP_OK;
    for (int64_t i = 0; !status && i < info->shape[0] && i < MAX_SLICES; i++)
        status = distmap_reader_read(reader, i, 1, out);
    if (info->shape[0])
        distmap_reader_read(reader, info->shape[0] < MAX_SLICES ? info->shape[0] / 2 : MAX_SLICES / 2, 1, out);
    free(out);
    distmap_reader_map(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    distmap_reader *reader = NULL;
    const distmap_status status = distmap_reader_open(path, &reader);
    if (!status && !strcmp(distmap_reader_info(reader)->format, FORMAT))
        read_bands(reader);
    if (status && (strncmp(distmap_error_text(), path, strlen(path)) != 0 || strchr(distmap_error_text(), '\n')))
        abort(); /* not one line that begins with the file's name */
    distmap_reader_close(&reader);
    return 0;
}
