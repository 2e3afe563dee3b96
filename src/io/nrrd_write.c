/* Writing NRRD: .nrrd in one file, .nhdr with its elements in NAME.raw (or .raw.gz), plain, or packed by gzip where that is asked for, or the
 * image came from a packed file. */
#include <stdlib.h>

#include "io/headed.h"
#include "io/nrrd.h"

static distmap_status end_header(distmap_writer *writer, dm_text *text, bool packed) {
    char *name = NULL;
    if (dm_ends_with(writer->output.file, ".nhdr")) {
        TRY(dm_headed_part(writer, packed ? ".raw.gz" : ".raw", &name));
        dm_text_add(text, "data file: %s\n", name);
        free(name);
    }
    dm_text_add(text, "\n");
    return dm_headed_begin(writer, text, packed, true);
}

distmap_status dm_nrrd_create(distmap_writer *writer) {
    writer->state = calloc(1, sizeof(dm_headed));
    dm_text text = {0};
    bool packed = false;
    if (!writer->state)
        return dm_no_memory(writer->output.name);
    distmap_status status = dm_nrrd_make(writer, &text, &packed);
    if (!status)
        status = end_header(writer, &text, packed);
    free(text.data);
    return status;
}

distmap_status dm_nrrd_finish(distmap_writer *writer) {
    int64_t packed;
    return dm_headed_end(writer, &packed);
}
