/* Writing NIfTI, plain or gzipped, or as a .hdr and .img pair, by the name's ending: NIfTI-1, or NIfTI-2 when an axis is longer than
 * 32767 or the image came from one.
 *
 * bool becomes uint8. gzip is zlib's level 3: volumes of distances shrink little more at higher levels, at several times
 * the time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/nifti.h"

typedef struct state {
    gzFile gz; /* NULL: plain */
} state;

static distmap_status failed(distmap_writer *writer, gzFile gz) {
    int code = Z_ERRNO;
    if (gz)
        gzerror(gz, &code);
    if (!writer->output.error)
        writer->output.error = code == Z_MEM_ERROR ? ENOMEM : errno ? errno : EIO;
    return dm_output_failed(&writer->output);
}

static distmap_status put(distmap_writer *writer, const void *data, size_t bytes) {
    state *s = writer->state;
    if (!s->gz)
        return dm_output_write(writer->beside.name ? &writer->beside : &writer->output, data, bytes);
    const char *from = data;
    while (bytes) {
        errno = 0;
        const int n = gzwrite(s->gz, from, bytes > 1 << 30 ? 1u << 30 : (unsigned)bytes);
        if (n <= 0)
            return failed(writer, s->gz);
        from += n;
        bytes -= (size_t)n;
    }
    return DISTMAP_OK;
}

static distmap_status open_gz(distmap_writer *writer, state *s) {
    const int fd = dup(writer->output.fd);
    if (fd < 0 || !(s->gz = gzdopen(fd, "wb3"))) {
        if (fd >= 0)
            close(fd);
        return dm_no_memory(writer->output.name);
    }
    gzbuffer(s->gz, 1 << 17);
    return DISTMAP_OK;
}

static distmap_status open_elements(distmap_writer *writer) {
    const char *file = writer->output.file;
    char *name = strdup(file);
    if (!name)
        return dm_no_memory(writer->output.name);
    memcpy(name + strlen(file) - 4, ".img", 4);
    const distmap_status status = dm_output_open(&writer->beside, name, NULL);
    free(name);
    return status;
}

distmap_status dm_nifti_create(distmap_writer *writer) {
    state *s = writer->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(writer->output.name);
    const bool pair = dm_ends_with(writer->output.file, ".hdr");
    uint8_t start[DM_NIFTI_START];
    size_t bytes;
    TRY(dm_nifti_make(writer, pair, start, &bytes));
    if (pair) {
        TRY(open_elements(writer));
        return dm_output_write(&writer->output, start, bytes);
    }
    if (dm_ends_with(writer->output.name, ".gz"))
        TRY(open_gz(writer, s));
    return put(writer, start, bytes);
}

distmap_status dm_nifti_write(distmap_writer *writer, int64_t count, const void *slices) {
    return put(writer, slices, (size_t)count * writer->slice_bytes);
}

distmap_status dm_nifti_finish(distmap_writer *writer) {
    state *s = writer->state;
    if (!s->gz)
        return DISTMAP_OK;
    errno = 0;
    const int code = gzclose(s->gz);
    s->gz = NULL;
    return code == Z_OK ? DISTMAP_OK : failed(writer, NULL);
}

void dm_nifti_discard(distmap_writer *writer) {
    state *s = writer->state;
    if (s && s->gz)
        gzclose(s->gz);
    free(s);
}
