/* A reader over whatever is at a path, for the targets fuzz_read_FORMAT.c, which set FORMAT; what another codec recognises is left to
 * that one's target.
 *
 * Bands are read forwards, then one again from the middle, because going back starts the decoders again; then a box, of formats
 * that are read by boxes. Nothing of an image that would take more than MAX_SLICE bytes a slice, or a chunk, is read: that much is
 * the caller's to give.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distmap/io.h"

enum { MAX_SLICE = 1 << 24, MAX_SLICES = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_small(const distmap_image_info *info, size_t *slice) {
    size_t chunk = distmap_dtype_size(info->dtype);
    *slice = chunk;
    for (int a = 0; a < info->ndim; a++)
        if (__builtin_mul_overflow(*slice, a ? (size_t)info->shape[a] : 1, slice) ||
            __builtin_mul_overflow(chunk, info->chunk[a] ? (size_t)info->chunk[a] : 1, &chunk))
            return false;
    return *slice <= MAX_SLICE && chunk <= MAX_SLICE;
}

static void read_box(distmap_reader *reader, char *out) {
    const distmap_image_info *info = distmap_reader_info(reader);
    int64_t first[DISTMAP_MAX_AXES], count[DISTMAP_MAX_AXES];
    for (int a = 0; a < info->ndim; a++) {
        first[a] = info->shape[a] / 3;
        count[a] = a ? info->shape[a] - first[a] : info->shape[a] > 0;
    }
    distmap_reader_read_box(reader, first, count, out);
}

static void read_bands(distmap_reader *reader) {
    const distmap_image_info *info = distmap_reader_info(reader);
    size_t slice;
    if (!is_small(info, &slice))
        return;
    char *out = malloc(slice + 1);
    if (!out)
        return;
    distmap_status status = DISTMAP_OK;
    for (int64_t i = 0; !status && i < info->shape[0] && i < MAX_SLICES; i++)
        status = distmap_reader_read(reader, i, 1, out);
    if (info->shape[0])
        distmap_reader_read(reader, info->shape[0] < MAX_SLICES ? info->shape[0] / 2 : MAX_SLICES / 2, 1, out);
    read_box(reader, out);
    distmap_reader_map(reader);
    if (!info->samples && info->ndim > 1 && info->shape[1] > 0 && !distmap_reader_select(reader, 1, info->shape[1] / 2) && info->shape[0])
        distmap_reader_read(reader, info->shape[0] / 2, 1, out);
    free(out);
}

/* What was read of its meaning, into the header of another file of the format. */
static void write_again(const distmap_image_info *info) {
    const distmap_format_info *format;
    char path[64];
    for (size_t row = 0; (format = distmap_format_get(row)); row++) {
        distmap_writer *writer = NULL;
        if (!format->writes || strcmp(format->name, FORMAT) != 0)
            continue;
        snprintf(path, sizeof path, "/dev/shm/distmap-fuzz%.*s", (int)strcspn(format->endings, " "), format->endings);
        distmap_writer_open(path, info, &writer);
        distmap_writer_abort(&writer);
    }
}

static void read_path(const char *path) {
    distmap_reader *reader = NULL;
    const distmap_status status = distmap_reader_open(path, &reader);
    if (!status && !strcmp(distmap_reader_info(reader)->format, FORMAT)) {
        write_again(distmap_reader_info(reader));
        const unsigned samples = distmap_reader_info(reader)->samples;
        read_bands(reader);
        for (int s = 1; samples >> s; s++)
            if (samples >> s & 1 && !distmap_reader_sample(reader, (distmap_sample)s))
                read_bands(reader);
    }
    if (status && (strncmp(distmap_error_text(), path, strlen(path)) != 0 || strchr(distmap_error_text(), '\n')))
        abort(); /* not one line that begins with the file's name */
    distmap_reader_close(&reader);
}
