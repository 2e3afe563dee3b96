/* A text header and its elements, written (headed.h). */
#include <stdlib.h>

#include "io/headed.h"

static dm_output *output_of(distmap_writer *writer) {
    return writer->beside.name ? &writer->beside : &writer->output;
}

distmap_status dm_headed_part(distmap_writer *writer, const char *ending, char **name) {
    return dm_beside_create(&writer->output, ending, &writer->beside, name);
}

distmap_status dm_headed_begin(distmap_writer *writer, const dm_text *header, bool packed, bool gzip) {
    dm_headed *s = writer->state;
    if (header->failed)
        return dm_no_memory(writer->output.name);
    TRY(dm_output_write(&writer->output, header->data, header->bytes));
    s->stream = packed ? dm_deflate_open(output_of(writer), gzip) : NULL;
    return packed && !s->stream ? dm_no_memory(writer->output.name) : DISTMAP_OK;
}

distmap_status dm_headed_write(distmap_writer *writer, int64_t count, const void *slices) {
    dm_headed *s = writer->state;
    const size_t bytes = (size_t)count * writer->slice_bytes;
    return s->stream ? dm_deflate_write(s->stream, slices, bytes) : dm_output_write(output_of(writer), slices, bytes);
}

distmap_status dm_headed_end(distmap_writer *writer, int64_t *packed) {
    dm_headed *s = writer->state;
    return s->stream ? dm_deflate_finish(s->stream, packed) : DISTMAP_OK;
}

void dm_headed_discard(distmap_writer *writer) {
    dm_headed *s = writer->state;
    if (!s)
        return;
    dm_deflate_close(&s->stream);
    free(s);
}
