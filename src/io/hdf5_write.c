/* Writing HDF5: one dataset, in chunks packed by shuffling and gzip; or in one piece, where packing is not wanted.
 *
 * A name with a dataset in it, out.h5:/a/b, adds that to the file if there is one. Nothing in it is overwritten, and it
 * is never written to itself: the work is done on a copy (a clone, where the file system has them), which takes the
 * name when it is whole. A name without one, out.h5, is a new file with the dataset /data, as in all other formats.
 *
 * Bands come in any height: slices are gathered until a row of chunks is whole. Chunks are packed here (hdf5_chunks.c),
 * and not by libhdf5, so that several processes can do it: then libhdf5, in one of them, is only asked where each chunk
 * belongs. It is given one of that length to write, of which our driver notes the place instead. So no process needs a
 * libhdf5 that knows of the others, and a full disk stays an error of ours; and since chunks are always stored in their
 * order, the file is always the same.
 *
 * A dataset in one piece has its place from the beginning: elements go there as into any file that has them as they are (raw.c), which
 * readers can map.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "io/hdf5.h"

typedef struct state {
    hid_t file, dataset, type; /* < 0: closed */
    hsize_t chunk[DISTMAP_MAX_AXES];
    dm_rows rows;
    int64_t chunks; /* in the file */
} state;

static distmap_status failed(const distmap_writer *writer) {
    char why[200];
    return writer->output.error
               ? dm_output_failed(&writer->output)
               : distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot write: %s", writer->output.name, dm_hdf5_why(why));
}

static const char *path_of(const distmap_writer *writer) {
    return writer->output.dataset ? writer->output.dataset : "/data";
}

/* Whether the dataset can be made: nothing has its name, and what has the names before it are groups. */
static distmap_status check_place(const distmap_writer *writer, hid_t file) {
    const char *name = writer->output.name, *path = path_of(writer);
    if (path[strlen(path) - 1] == '/')
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: names no dataset: it ends with a slash", name);
    char *part = strdup(path);
    if (!part)
        return dm_no_memory(name);
    distmap_status status = DISTMAP_OK;
    for (char *end = part; !status && *end;) {
        end += strcspn(end + 1, "/") + 1;
        const char next = *end;
        H5O_info_t object;
        *end = 0;
        if (part[1] && end[-1] != '/') {
            const htri_t exists = H5Lexists(file, part, H5P_DEFAULT);
            if (exists < 0)
                status = failed(writer);
            if (exists <= 0)
                break;
            if (!next)
                status = distmap_error_set(
                    DISTMAP_ERROR_IO, "%s: there is a %s already; what a file holds is not overwritten", name, part);
            else if (H5Oget_info_by_name(file, part, &object, H5P_DEFAULT) < 0 || object.type != H5O_TYPE_GROUP)
                status = distmap_error_set(DISTMAP_ERROR_IO, "%s: %s is not a group: nothing can be put into it", name,
                                           part);
        }
        *end = next;
    }
    free(part);
    return status;
}

static distmap_status make_dataset(distmap_writer *writer, state *s) {
    const distmap_image_info *info = &writer->info;
    hsize_t shape[DISTMAP_MAX_AXES];
    for (int a = 0; a < info->ndim; a++)
        shape[a] = (hsize_t)info->shape[a];
    const hid_t space = H5Screate_simple(info->ndim, shape, NULL), links = H5Pcreate(H5P_LINK_CREATE),
                made = H5Pcreate(H5P_DATASET_CREATE);
    /* Each counts: a chunk is read by the filters that the file tells. */
    bool good = space >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0 &&
                H5Pset_obj_track_times(made, 0) >= 0; /* the same result is the same file */
    const bool any = writer->slice_bytes && info->shape[0], packed = dm_hdf5_is_packed(info);
    if (any && packed) {
        dm_hdf5_chunk(info, s->chunk);
        s->rows.row = (int64_t)s->chunk[0];
        good = good && H5Pset_chunk(made, info->ndim, s->chunk) >= 0 && H5Pset_shuffle(made) >= 0 &&
               H5Pset_deflate(made, DM_HDF5_GZIP) >= 0;
    } else if (any) {
        good = good && H5Pset_alloc_time(made, H5D_ALLOC_TIME_EARLY) >= 0 && H5Pset_fill_time(made, H5D_FILL_TIME_NEVER) >= 0;
    }
    if (good)
        s->dataset = H5Dcreate2(s->file, path_of(writer), s->type, space, links, made, H5P_DEFAULT);
    good = good && s->dataset >= 0 && dm_hdf5_model_write(s->dataset, info);
    if (good && any && !packed) {
        const haddr_t at = H5Dget_offset(s->dataset);
        good = at != HADDR_UNDEF;
        writer->raw_offset = good ? (int64_t)at : 0;
    }
    const distmap_status status = good ? DISTMAP_OK : failed(writer);
    H5Pclose(made);
    H5Pclose(links);
    H5Sclose(space);
    return status;
}

static distmap_status create(distmap_writer *writer, state *s) {
    bool there = false;
    if (writer->output.dataset)
        TRY(dm_output_begin_with_target(&writer->output, &there));
    char why[200];
    s->file = dm_hdf5_open_output(&writer->output, !there, why);
    if (s->file < 0 && there)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: the file that is there is no HDF5 that can be added to: %s",
                                 writer->output.name, why);
    if (s->file < 0)
        return failed(writer);
    TRY(check_place(writer, s->file));
    s->type = dm_hdf5_type(writer->info.dtype);
    return make_dataset(writer, s);
}

distmap_status dm_hdf5_create(distmap_writer *writer) {
    if (!writer->output.target)
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: hdf5 needs a regular file to write to",
                                 writer->output.name);
    state *s = writer->state = malloc(sizeof *s);
    if (!s)
        return dm_no_memory(writer->output.name);
    *s = (state){.file = -1, .dataset = -1, .type = -1};
    dm_hdf5_call call;
    dm_hdf5_begin(&call);
    const distmap_status status = create(writer, s);
    dm_hdf5_end(&call);
    return status;
}

/* The chunk's packed bytes, behind those before it. */
static bool write_chunk(const distmap_writer *writer, state *s, uint64_t bytes, const void *packed) {
    hsize_t origin[DISTMAP_MAX_AXES];
    dm_hdf5_chunk_origin(&writer->info, s->chunk, s->chunks++, origin);
    return H5Dwrite_chunk(s->dataset, H5P_DEFAULT, 0, origin, bytes, packed) >= 0 && !writer->output.error;
}

/* Whole rows of chunks, and what is left at the end: one row packed at a time. */
static distmap_status put(distmap_writer *writer, const dm_box *box, const void *slices) {
    state *s = writer->state;
    const int64_t most = s->rows.row, count = box->count[DISTMAP_MAX_AXES - writer->info.ndim];
    for (int64_t first = 0; first < count; first += most) {
        distmap_pieces row = {.name = writer->output.name};
        distmap_status status = dm_hdf5_pack(&writer->info, count - first < most ? count - first : most,
                                             (const char *)slices + (size_t)first * writer->slice_bytes, &row);
        for (int64_t i = 0; i < row.count && !status; i++)
            status = write_chunk(writer, s, row.bytes[i], row.data[i]) ? DISTMAP_OK : failed(writer);
        dm_pieces_clear(&row);
        TRY(status);
    }
    return DISTMAP_OK;
}

distmap_status dm_hdf5_write(distmap_writer *writer, int64_t count, const void *slices) {
    state *s = writer->state;
    if (writer->raw_offset)
        return dm_output_write_at(&writer->output, writer->raw_offset + writer->done * (int64_t)writer->slice_bytes, slices,
                                  (size_t)count * writer->slice_bytes);
    dm_hdf5_call call;
    dm_hdf5_begin(&call);
    const distmap_status status = dm_rows_write(writer, &s->rows, count, slices, put);
    dm_hdf5_end(&call);
    return status;
}

/* ---- By several processes ---- */

static distmap_status place(distmap_writer *writer, state *s, int64_t count, const uint64_t *bytes, int64_t *offsets,
                            const void *ghost) {
    for (int64_t i = 0; i < count; i++) {
        haddr_t at = HADDR_UNDEF;
        dm_hdf5_haunt(ghost, &at);
        const bool good = write_chunk(writer, s, bytes[i], ghost);
        dm_hdf5_haunt(NULL, NULL);
        if (!good || at == HADDR_UNDEF)
            return failed(writer);
        offsets[i] = (int64_t)at;
    }
    return DISTMAP_OK;
}

distmap_status dm_hdf5_place(distmap_writer *writer, int64_t count, const uint64_t *bytes, int64_t *offsets) {
    if (writer->raw_offset)
        return dm_raw_place(writer, count, bytes, offsets);
    const int64_t chunks = dm_hdf5_chunk_count(&writer->info, writer->info.shape[0]);
    if (count != chunks)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "%s: count: %lld pieces, the image has %lld",
                                 writer->output.name, (long long)count, (long long)chunks);
    uint64_t most = 1;
    for (int64_t i = 0; i < count; i++)
        most = bytes[i] > most ? bytes[i] : most;
    void *ghost = malloc(most); /* never looked at */
    if (!ghost)
        return dm_no_memory(writer->output.name);
    dm_hdf5_call call;
    dm_hdf5_begin(&call);
    const distmap_status status = place(writer, writer->state, count, bytes, offsets, ghost);
    dm_hdf5_end(&call);
    free(ghost);
    return status;
}

/* ---- The end ---- */

static bool close_all(state *s) {
    bool good = s->type < 0 || H5Tclose(s->type) >= 0;
    good = (s->dataset < 0 || H5Dclose(s->dataset) >= 0) && good;
    good = (s->file < 0 || dm_hdf5_close(s->file) >= 0) && good;
    s->file = s->dataset = s->type = -1;
    return good;
}

distmap_status dm_hdf5_finish(distmap_writer *writer) {
    state *s = writer->state;
    dm_hdf5_call call;
    dm_hdf5_begin(&call);
    distmap_status status = dm_rows_end(writer, &s->rows, put);
    if (!status && (!close_all(s) || writer->output.error))
        status = failed(writer);
    dm_hdf5_end(&call);
    return status;
}

void dm_hdf5_discard(distmap_writer *writer) {
    state *s = writer->state;
    if (!s)
        return;
    dm_hdf5_call call;
    dm_hdf5_begin(&call);
    close_all(s);
    dm_hdf5_end(&call);
    free(s->rows.gathered);
    free(s);
}
