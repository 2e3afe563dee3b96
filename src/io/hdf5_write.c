/* Writing HDF5: one dataset, in chunks packed by shuffling and gzip; or in one piece, where packing is not wanted.
 *
 * A name with a dataset in it, out.h5:/a/b, adds that to the file if there is one. Nothing in it is overwritten, and it
 * is never written to itself: the work is done on a copy (a clone, where the file system has them), which takes the
 * name when it is whole. A name without one, out.h5, is a new file with the dataset /data, as in all other formats.
 *
 * Bands come in any height: slices are gathered until a row of chunks is whole. Chunks are packed here (hdf5_chunks.c),
 * and not by libhdf5, so that several processes can do it: libhdf5, in a child (hdf5_make.c), is only asked where each chunk
 * belongs, and the caller's process, or one of several, writes it there. The metadata that libhdf5 itself writes and reads goes through
 * here: so its end leaves an output that is given up as any other, and a full disk is an error of ours. Chunks are always stored in
 * their order, so that the file is always the same.
 *
 * A dataset in one piece has its place from the beginning: elements go there as into any file that has them as they are (raw.c), which
 * readers can map.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/hdf5.h"

typedef struct state {
    dm_hdf5_child child;
    dm_rows rows;
} state;

/* ---- The child ---- */

/* Does with the file what libhdf5 wants; what it read is the answer's data. */
static void serve(distmap_writer *writer, const dm_hdf5_told *told, dm_hdf5_order *answer) {
    dm_output *output = &writer->output;
    answer->number = 0;
    switch (told->what) {
    case DM_HDF5_READ: answer->number = dm_read_at(output->fd, told->at, answer->data, (size_t)told->bytes); break;
    case DM_HDF5_WRITE:
        dm_output_write_at(output, told->at, told->data, (size_t)told->bytes);
        break; /* keeps its error */
    case DM_HDF5_CUT:
        if (!output->abandoned && !output->error && ftruncate(output->fd, (off_t)told->at))
            output->error = errno;
        break;
    default: break;
    }
}

static distmap_status tell(distmap_writer *writer, const dm_hdf5_order *message, int64_t bytes) {
    state *s = writer->state;
    return dm_hdf5_tell(&s->child, message, offsetof(dm_hdf5_order, data) + (size_t)(bytes > 0 ? bytes : 0));
}

/* The end of an order, behind all that is to be done before it. */
static distmap_status hear(distmap_writer *writer, dm_hdf5_told *told) {
    state *s = writer->state;
    for (;;) {
        TRY(dm_hdf5_hear(&s->child, told, offsetof(dm_hdf5_told, data), sizeof *told));
        if (told->what == DM_HDF5_DONE)
            break;
        if (told->at < 0 || told->bytes < 0 || told->bytes > DM_HDF5_CALL) {
            dm_hdf5_child_stop(&s->child, NULL, 0);
            return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot write: libhdf5 talks nonsense", writer->output.name);
        }
        dm_hdf5_order answer;
        serve(writer, told, &answer);
        TRY(tell(writer, &answer, answer.number));
    }
    return writer->output.error ? dm_output_failed(&writer->output) : dm_hdf5_take_reply(&s->child, &told->reply);
}

static distmap_status start(distmap_writer *writer) {
    state *s = writer->state;
    struct stat info;
    bool there = false;
    dm_hdf5_told told;
    dm_hdf5_hello hello = {.writes = true, .info = writer->info};
    if (writer->output.dataset)
        TRY(dm_output_begin_with_target(&writer->output, &there));
    if (fstat(writer->output.fd, &info)) {
        writer->output.error = errno;
        return dm_output_failed(&writer->output);
    }
    hello.fresh = !there;
    hello.size = info.st_size;
    hello.info.format = NULL;
    hello.info.crs = NULL;
    hello.info.native = NULL;
    hello.info.native_count = 0;
    TRY(dm_hdf5_child_start(&s->child, -1, &hello, writer->output.dataset ? writer->output.dataset : "/data"));
    TRY(hear(writer, &told));
    TRY(dm_hdf5_check_version(&s->child, told.version));
    writer->raw_offset = told.at > 0 ? told.at : 0;
    return DISTMAP_OK;
}

distmap_status dm_hdf5_create(distmap_writer *writer) {
    if (!writer->output.target)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: hdf5 needs a regular file to write to",
                                 writer->output.name);
    state *s = writer->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(writer->output.name);
    s->child = dm_hdf5_child_of(writer->output.name, true);
    s->rows.row = dm_hdf5_depth(&writer->info);
    return start(writer);
}

/* ---- Elements ---- */

/* Where chunks of these sizes belong, behind those before them. */
static distmap_status find_places(distmap_writer *writer, int64_t count, const uint64_t *bytes, int64_t *offsets) {
    dm_hdf5_order order;
    dm_hdf5_told told;
    for (int64_t first = 0; first < count; first += order.number) {
        order.number = count - first < DM_HDF5_BATCH ? count - first : DM_HDF5_BATCH;
        const size_t table = (size_t)order.number * sizeof *bytes;
        memcpy(order.data, bytes + first, table);
        TRY(tell(writer, &order, (int64_t)table));
        TRY(hear(writer, &told));
        memcpy(offsets + first, told.data, table);
    }
    for (int64_t i = 0; i < count; i++)
        if (offsets[i] <= 0)
            return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot write: libhdf5 gives a chunk no place",
                                     writer->output.name);
    return DISTMAP_OK;
}

static distmap_status write_row(distmap_writer *writer, const distmap_pieces *row) {
    int64_t *offsets = malloc((size_t)row->count * sizeof *offsets);
    distmap_status status =
        offsets ? find_places(writer, row->count, row->bytes, offsets) : dm_no_memory(writer->output.name);
    for (int64_t i = 0; i < row->count && !status; i++)
        status = dm_output_write_at(&writer->output, offsets[i], row->data[i], row->bytes[i]);
    free(offsets);
    return status;
}

/* Whole rows of chunks, and what is left at the end: one row packed at a time. */
static distmap_status put(distmap_writer *writer, const dm_box *box, const void *slices) {
    const state *s = writer->state;
    const int64_t most = s->rows.row, count = box->count[DISTMAP_MAX_AXES - writer->info.ndim];
    for (int64_t first = 0; first < count; first += most) {
        distmap_pieces row = {.name = writer->output.name};
        distmap_status status = dm_hdf5_pack(&writer->info, count - first < most ? count - first : most,
                                             (const char *)slices + (size_t)first * writer->slice_bytes, &row);
        if (!status)
            status = write_row(writer, &row);
        dm_pieces_clear(&row);
        TRY(status);
    }
    return DISTMAP_OK;
}

distmap_status dm_hdf5_write(distmap_writer *writer, int64_t count, const void *slices) {
    state *s = writer->state;
    if (writer->raw_offset)
        return dm_output_write_at(&writer->output, writer->raw_offset + writer->done * (int64_t)writer->slice_bytes,
                                  slices, (size_t)count * writer->slice_bytes);
    return dm_rows_write(writer, &s->rows, count, slices, put);
}

/* By several processes. */
distmap_status dm_hdf5_place(distmap_writer *writer, int64_t count, const uint64_t *bytes, int64_t *offsets) {
    if (writer->raw_offset)
        return dm_raw_place(writer, count, bytes, offsets);
    const int64_t chunks = dm_hdf5_chunk_count(&writer->info, writer->info.shape[0]);
    if (count != chunks)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: count: %lld pieces, the image has %lld",
                                 writer->output.name, (long long)count, (long long)chunks);
    return count ? find_places(writer, count, bytes, offsets) : DISTMAP_OK;
}

/* ---- The end ---- */

distmap_status dm_hdf5_finish(distmap_writer *writer) {
    state *s = writer->state;
    TRY(dm_rows_end(writer, &s->rows, put));
    const dm_hdf5_order end = {.number = 0};
    dm_hdf5_told told;
    TRY(tell(writer, &end, 0));
    return hear(writer, &told);
}

void dm_hdf5_discard(distmap_writer *writer) {
    state *s = writer->state;
    if (!s)
        return;
    dm_hdf5_child_stop(&s->child, NULL, 0);
    free(s->rows.gathered);
    free(s);
}
