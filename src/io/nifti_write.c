/* Writing NIfTI, plain or gzipped, or as a .hdr and .img pair, by the name's ending: NIfTI-1, or NIfTI-2 when an axis is longer than
 * 32767 or the image came from one.
 *
 * bool becomes uint8.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "io/deflate.h"
#include "io/nifti.h"

/* The state is the dm_deflate of a gzipped file, else NULL. */
static distmap_status put(distmap_writer *writer, const void *data, size_t bytes) {
    return writer->state ? dm_deflate_write(writer->state, data, bytes)
                         : dm_output_write(writer->beside.name ? &writer->beside : &writer->output, data, bytes);
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
    const bool pair = dm_ends_with(writer->output.file, ".hdr");
    uint8_t start[DM_NIFTI_START];
    size_t bytes;
    TRY(dm_nifti_make(writer, pair, start, &bytes));
    if (pair) {
        TRY(open_elements(writer));
        return dm_output_write(&writer->output, start, bytes);
    }
    if (dm_ends_with(writer->output.name, ".gz") && !(writer->state = dm_deflate_open(&writer->output, true)))
        return dm_no_memory(writer->output.name);
    return put(writer, start, bytes);
}

distmap_status dm_nifti_write(distmap_writer *writer, int64_t count, const void *slices) {
    return put(writer, slices, (size_t)count * writer->slice_bytes);
}

distmap_status dm_nifti_finish(distmap_writer *writer) {
    int64_t packed;
    return writer->state ? dm_deflate_finish(writer->state, &packed) : DISTMAP_OK;
}

void dm_nifti_discard(distmap_writer *writer) {
    dm_deflate *gz = writer->state;
    dm_deflate_close(&gz);
}
