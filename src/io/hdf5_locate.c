/* How the chunks of an HDF5 dataset are packed, and where in the file they are, as libhdf5 knows it. */
#include <string.h>

#include "io/hdf5.h"

enum { MOST_CHUNKS = 1 << 22 }; /* of a row whose places are told at once */

static bool is_known(const dm_hdf5_form *form) {
    for (int i = 0; i < form->filters; i++)
        if (form->filter[i] != H5Z_FILTER_SHUFFLE && form->filter[i] != H5Z_FILTER_DEFLATE &&
            form->filter[i] != H5Z_FILTER_FLETCHER32)
            return false;
    return true;
}

/* Places are told from the file's beginning, but not by all versions where a block of the user's comes first. */
static bool has_user_block(const dm_hdf5_set *s) {
    const hid_t made = H5Fget_create_plist(s->file);
    hsize_t bytes = 0;
    const bool has = H5Pget_userblock(made, &bytes) < 0 || bytes > 0;
    H5Pclose(made);
    return has;
}

distmap_status dm_hdf5_form_take(distmap_reader *reader, hid_t made) {
    dm_hdf5_set *s = reader->state;
    dm_hdf5_form *form = &s->form;
    const distmap_image_info *info = &reader->info;
    hsize_t chunk[DISTMAP_MAX_AXES];
    unsigned options = 0;
    bool countable = true;
    form->filters = H5Pget_nfilters(made);
    if (form->filters < 0 || form->filters > H5Z_MAX_NFILTERS || H5Pget_chunk(made, info->ndim, chunk) != info->ndim ||
        H5Pget_chunk_opts(made, &options) < 0)
        return dm_broken(&reader->input, "%s is broken: its chunks are", s->path);
    for (int i = 0; i < form->filters; i++) {
        unsigned flags;
        size_t values = 0;
        form->filter[i] = H5Pget_filter2(made, (unsigned)i, &flags, &values, NULL, 0, NULL, NULL);
    }
    form->bytes = (int64_t)H5Tget_size(s->stored);
    form->row_chunks = 1;
    for (int a = 0; a < info->ndim; a++) {
        if (!chunk[a] || chunk[a] > UINT32_MAX || __builtin_mul_overflow(form->bytes, (int64_t)chunk[a], &form->bytes))
            return dm_broken(&reader->input, "%s is broken: its chunks are", s->path);
        form->chunk[a] = (int64_t)chunk[a];
        const int64_t along = info->shape[a] / form->chunk[a] + (info->shape[a] % form->chunk[a] > 0);
        countable = countable && (a == 0 || !__builtin_mul_overflow(form->row_chunks, along, &form->row_chunks));
    }
    if (H5Pget_fill_value(made, s->type, form->fill) < 0)
        memset(form->fill, 0, sizeof form->fill);
    /* libhdf5 has no chunks beyond 4 GiB, and may leave partial ones unpacked if it is told so. */
    form->ours = is_known(form) && !options && countable && form->row_chunks <= MOST_CHUNKS &&
                 form->bytes <= UINT32_MAX && dm_hdf5_is_same(s, &form->swapped) && !has_user_block(s);
    return DISTMAP_OK;
}

distmap_status dm_hdf5_here_locate(distmap_reader *reader, int64_t first, dm_hdf5_spot *places) {
    const dm_hdf5_set *s = reader->state;
    hsize_t origin[DISTMAP_MAX_AXES] = {(hsize_t)first};
    char why[200];
    dm_hdf5_call call;
    distmap_status status = DISTMAP_OK;
    dm_hdf5_begin(&call);
    for (int64_t i = 0; i < s->form.row_chunks && !status; i++) {
        unsigned skipped = 0;
        haddr_t at = HADDR_UNDEF;
        hsize_t bytes = 0;
        if (H5Dget_chunk_info_by_coord(s->dataset, origin, &skipped, &at, &bytes) < 0)
            status = dm_broken(&reader->input, "%s is broken: %s", s->path, dm_hdf5_why(why));
        const bool there = at != HADDR_UNDEF;
        places[i] = (dm_hdf5_spot){there ? (int64_t)at : -1, (int64_t)bytes, skipped};
        if (there && (at > (haddr_t)INT64_MAX || bytes > (hsize_t)INT64_MAX))
            status = dm_broken(&reader->input, "%s is broken: a chunk of it lies beyond the file", s->path);
        for (int a = reader->info.ndim - 1;
             a > 0 && (origin[a] += (hsize_t)s->form.chunk[a]) >= (hsize_t)reader->info.shape[a]; a--)
            origin[a] = 0;
    }
    dm_hdf5_end(&call);
    return status;
}
