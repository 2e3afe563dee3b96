/* Writing NRRD: .nrrd in one file, .nhdr with its elements in NAME.raw (or .raw.gz), plain, or packed by gzip where the image came from
 * a packed one. Of two files the elements take their name first: where there is a header, they are there. */
#include <stdlib.h>

#include "io/deflate.h"
#include "io/nrrd.h"

typedef struct state {
    dm_output elements; /* of a pair */
    bool pair;
    dm_deflate *stream; /* NULL: plain */
} state;

static distmap_status end_header(distmap_writer *writer, state *s, dm_text *text, bool packed) {
    char *name = NULL;
    if (dm_ends_with(writer->output.file, ".nhdr")) {
        TRY(dm_beside_create(&writer->output, packed ? ".raw.gz" : ".raw", &s->elements, &name));
        s->pair = true;
        dm_text_add(text, "data file: %s\n", name);
        free(name);
    }
    dm_text_add(text, "\n");
    if (text->failed)
        return dm_no_memory(writer->output.name);
    TRY(dm_output_write(&writer->output, text->data, text->bytes));
    s->stream = packed ? dm_deflate_open(s->pair ? &s->elements : &writer->output, true) : NULL;
    return packed && !s->stream ? dm_no_memory(writer->output.name) : DISTMAP_OK;
}

distmap_status dm_nrrd_create(distmap_writer *writer) {
    state *s = writer->state = calloc(1, sizeof *s);
    dm_text text = {0};
    bool packed = false;
    if (!s)
        return dm_no_memory(writer->output.name);
    distmap_status status = dm_nrrd_make(writer, &text, &packed);
    if (!status)
        status = end_header(writer, s, &text, packed);
    free(text.data);
    return status;
}

distmap_status dm_nrrd_write(distmap_writer *writer, int64_t count, const void *slices) {
    state *s = writer->state;
    const size_t bytes = (size_t)count * writer->slice_bytes;
    return s->stream ? dm_deflate_write(s->stream, slices, bytes)
                     : dm_output_write(s->pair ? &s->elements : &writer->output, slices, bytes);
}

distmap_status dm_nrrd_finish(distmap_writer *writer) {
    state *s = writer->state;
    int64_t packed;
    if (s->stream)
        TRY(dm_deflate_finish(s->stream, &packed));
    if (!s->pair)
        return DISTMAP_OK;
    s->pair = false;
    return dm_output_finish(&s->elements);
}

void dm_nrrd_discard(distmap_writer *writer) {
    state *s = writer->state;
    if (!s)
        return;
    dm_deflate_close(&s->stream);
    if (s->pair)
        dm_output_abort(&s->elements);
    free(s);
}
