/* Writing NIfTI, plain or gzipped by the name's ending: NIfTI-1, or NIfTI-2 when an axis is longer than 32767.
 *
 * bool becomes uint8. gzip is zlib's level 3: volumes of distances shrink little more at higher levels, at several times
 * the time.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "io/nifti.h"

static distmap_status failed(distmap_writer *writer) {
    int code = Z_ERRNO;
    if (writer->state)
        gzerror(writer->state, &code);
    if (!writer->output.error)
        writer->output.error = code == Z_MEM_ERROR ? ENOMEM : errno ? errno : EIO;
    return dm_output_failed(&writer->output);
}

static distmap_status put(distmap_writer *writer, const void *data, size_t bytes) {
    if (!writer->state)
        return dm_output_write(&writer->output, data, bytes);
    const char *from = data;
    while (bytes) {
        errno = 0;
        const int n = gzwrite(writer->state, from, bytes > 1 << 30 ? 1u << 30 : (unsigned)bytes);
        if (n <= 0)
            return failed(writer);
        from += n;
        bytes -= (size_t)n;
    }
    return DISTMAP_OK;
}

distmap_status dm_nifti_create(distmap_writer *writer) {
    if (dm_ends_with(writer->output.name, ".gz")) {
        const int fd = dup(writer->output.fd);
        if (fd < 0 || !(writer->state = gzdopen(fd, "wb3"))) {
            if (fd >= 0)
                close(fd);
            return dm_no_memory(writer->output.name);
        }
        gzbuffer(writer->state, 1 << 17);
    }
    uint8_t start[DM_NIFTI_START];
    size_t bytes;
    TRY(dm_nifti_make(writer, start, &bytes));
    return put(writer, start, bytes);
}

distmap_status dm_nifti_write(distmap_writer *writer, int64_t count, const void *slices) {
    return put(writer, slices, (size_t)count * writer->slice_bytes);
}

distmap_status dm_nifti_finish(distmap_writer *writer) {
    if (!writer->state)
        return DISTMAP_OK;
    errno = 0;
    const int code = gzclose(writer->state);
    writer->state = NULL;
    return code == Z_OK ? DISTMAP_OK : failed(writer);
}

void dm_nifti_discard(distmap_writer *writer) {
    if (writer->state)
        gzclose(writer->state);
}
