/* Reading HDF5, in the child: one dataset, named after the file as in vol.h5:/volumes/mask, or the only one there is.
 *
 * A dataset in one piece, of elements as they are in memory, is read and mapped like a raw file, and HDF5 closed again. Others
 * are read by slabs. Chunks that are deeper than a band would be unpacked again for each band; so one row of them is kept, if
 * that is not beyond measure.
 *
 * libhdf5 1.10 does not compare what a layout or a filter gives with what elements take, and then hands out what lies behind it in
 * memory: so a layout's size is checked here, and chunks are unpacked by hdf5_unpack.c, in the caller's process, wherever their
 * filters are known to it: then only the chunks' places are libhdf5's to tell (hdf5_locate.c).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/hdf5.h"

enum { CACHE_BYTES = 64 << 20, LISTED = 6 };

/* ---- Which dataset ---- */

struct found {
    int count;
    char path[512], list[300];
};

static herr_t visit(hid_t file, const char *name, const H5O_info_t *object, void *user) {
    (void)file;
    struct found *found = user;
    if (object->type != H5O_TYPE_DATASET)
        return 0;
    if (found->count == 0)
        snprintf(found->path, sizeof found->path, "/%s", name);
    if (found->count < LISTED) {
        dm_append(found->list, sizeof found->list, ", /", name);
    } else if (found->count == LISTED)
        dm_append(found->list, sizeof found->list, ", ", "...");
    found->count++;
    return 0;
}

static distmap_status find_only(distmap_reader *reader, dm_hdf5_set *s) {
    struct found found = {0};
    char why[200];
    if (H5Ovisit(s->file, H5_INDEX_NAME, H5_ITER_INC, visit, &found) < 0)
        return dm_broken(&reader->input, "broken HDF5: %s", dm_hdf5_why(why));
    if (found.count == 0)
        return dm_unsupported(&reader->input, "there is no dataset in it");
    if (found.count > 1)
        return dm_unsupported(&reader->input, "holds %d datasets; name one of them behind it, as in %s:%s (/%s)",
                              found.count, reader->input.name, found.path, found.list);
    snprintf(s->path, sizeof s->path, "%s", found.path);
    return DISTMAP_OK;
}

static distmap_status find(distmap_reader *reader, dm_hdf5_set *s) {
    char why[200];
    s->file = dm_hdf5_open_input(&reader->input, why);
    if (s->file < 0)
        return dm_broken(&reader->input, "truncated or broken HDF5: %s", why);
    if (!reader->input.dataset)
        return find_only(reader, s);
    if (strlen(reader->input.dataset) >= sizeof s->path)
        return dm_unsupported(&reader->input, "its dataset's name is too long");
    strcpy(s->path, reader->input.dataset);
    return DISTMAP_OK;
}

static distmap_status open_dataset(distmap_reader *reader, dm_hdf5_set *s) {
    char why[200];
    const hid_t object = H5Oopen(s->file, s->path, H5P_DEFAULT);
    if (object < 0)
        return dm_broken(&reader->input, "there is no dataset %s in the file, or it is broken: %s", s->path,
                         dm_hdf5_why(why));
    const bool is_dataset = H5Iget_type(object) == H5I_DATASET;
    H5Oclose(object);
    if (!is_dataset)
        return dm_unsupported(&reader->input, "%s is not a dataset", s->path);
    s->dataset = H5Dopen2(s->file, s->path, H5P_DEFAULT);
    return s->dataset < 0 ? dm_broken(&reader->input, "%s is broken: %s", s->path, dm_hdf5_why(why)) : DISTMAP_OK;
}

/* ---- Its form ---- */

static distmap_status take_shape(distmap_reader *reader, const dm_hdf5_set *s) {
    distmap_image_info *info = &reader->info;
    hsize_t shape[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(s->dataset);
    const bool simple = H5Sget_simple_extent_type(space) == H5S_SIMPLE;
    info->ndim = simple ? H5Sget_simple_extent_dims(space, shape, NULL) : 0;
    H5Sclose(space);
    if (info->ndim < 1 || info->ndim > DISTMAP_MAX_AXES)
        return dm_unsupported(&reader->input, "%s has %d axes; 1 to %d are read", s->path, info->ndim,
                              DISTMAP_MAX_AXES);
    for (int a = 0; a < info->ndim; a++) {
        if (shape[a] > INT64_MAX)
            return dm_broken(&reader->input, "absurd size of %s", s->path);
        info->shape[a] = (int64_t)shape[a];
    }
    return DISTMAP_OK;
}

/* Appends the filters' names to the text on how it is stored. *ratio: by how much they may shrink; 0: nobody knows. */
static distmap_status take_filters(distmap_reader *reader, const dm_hdf5_set *s, hid_t made, int64_t *ratio) {
    *ratio = 1;
    for (int i = 0; i < H5Pget_nfilters(made); i++) {
        unsigned flags, settings;
        size_t values = 0;
        char name[64] = "";
        const H5Z_filter_t filter =
            H5Pget_filter2(made, (unsigned)i, &flags, &values, NULL, sizeof name, name, &settings);
        if (H5Zfilter_avail(filter) <= 0)
            return dm_unsupported(&reader->input, "%s is packed by filter %d%s%s, which libhdf5 has not got here",
                                  s->path, (int)filter, *name ? ", " : "", name);
        if (filter == H5Z_FILTER_DEFLATE)
            *ratio *= DM_DEFLATE_RATIO;
        else if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
            *ratio = 0;
        if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
            dm_packing_take(&reader->info, filter == H5Z_FILTER_DEFLATE ? "deflate" : "other");
        dm_append(reader->info.stored, sizeof reader->info.stored, ", ", filter == H5Z_FILTER_DEFLATE ? "gzip" : name);
    }
    return DISTMAP_OK;
}

/* A row of chunks is kept between bands, where that is little. Beside it libhdf5 holds a chunk before and behind a filter. */
static void keep_chunks(distmap_reader *reader, dm_hdf5_set *s, const hsize_t *chunk) {
    const distmap_image_info *info = &reader->info;
    double one = (double)distmap_dtype_size(info->dtype) * (double)chunk[0], count = 1;
    for (int a = 1; a < info->ndim; a++) {
        one *= (double)chunk[a];
        count *= (double)(info->shape[a] / (int64_t)chunk[a] + (info->shape[a] % (int64_t)chunk[a] > 0));
    }
    reader->info.held_bytes = (size_t)fmin(2 * one, 0x1p62);
    s->form.keeps_row = one * count <= CACHE_BYTES && count <= 1e5 && (s->form.filters || !s->form.ours);
    if (!s->form.keeps_row)
        return;
    reader->info.held_bytes += (size_t)(one * count);
    if (s->form.ours)
        return;
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, 10 * (size_t)count + 1, (size_t)(one * count), 1);
    H5Dclose(s->dataset);
    s->dataset = H5Dopen2(s->file, s->path, access);
    H5Pclose(access);
}

bool dm_hdf5_is_same(const dm_hdf5_set *s, bool *swapped) {
    *swapped = H5Tequal(s->stored, s->type) <= 0;
    if (!*swapped)
        return true;
    const hid_t turned = H5Tget_class(s->stored) == H5T_ENUM ? H5Tget_super(s->stored) : H5Tcopy(s->stored);
    const H5T_class_t kind = H5Tget_class(turned);
    bool same = kind == H5T_INTEGER || kind == H5T_FLOAT;
    *swapped = same && H5Tequal(turned, s->type) <= 0;
    same = same && H5Tset_order(turned, H5Tget_order(s->type)) >= 0 && H5Tequal(turned, s->type) > 0;
    H5Tclose(turned);
    return same;
}

/* Elements in one piece, also those within the header: their layout has a size of its own. */
static distmap_status check_storage(const distmap_reader *reader, const dm_hdf5_set *s) {
    int64_t bytes;
    H5D_space_status_t space;
    TRY(dm_shape_bytes(reader->input.name, reader->info.ndim, reader->info.shape, H5Tget_size(s->stored), &bytes));
    if (H5Dget_space_status(s->dataset, &space) >= 0 && space == H5D_SPACE_STATUS_NOT_ALLOCATED)
        return DISTMAP_OK; /* of the fill value */
    const hsize_t there = H5Dget_storage_size(s->dataset);
    return there >= (hsize_t)bytes ? DISTMAP_OK
                                   : dm_broken(&reader->input, "%s is broken: it has room for %llu bytes of its %lld",
                                               s->path, (unsigned long long)there, (long long)bytes);
}

static distmap_status take_layout(distmap_reader *reader, dm_hdf5_set *s, hid_t made) {
    distmap_image_info *info = &reader->info;
    hsize_t chunk[DISTMAP_MAX_AXES];
    int64_t ratio, bytes;
    bool swapped;
    const H5D_layout_t layout = H5Pget_layout(made);
    if (layout == H5D_VIRTUAL)
        return dm_unsupported(&reader->input, "%s is a virtual dataset, put together from others; read those", s->path);
    if (H5Pget_external_count(made) > 0)
        return dm_unsupported(&reader->input, "%s keeps its elements in other files", s->path);
    TRY(dm_shape_bytes(reader->input.name, info->ndim, info->shape, distmap_dtype_size(info->dtype), &bytes));
    dm_append(info->stored, sizeof info->stored, "", layout == H5D_CONTIGUOUS ? "in one piece" : "");
    if (layout != H5D_CHUNKED)
        TRY(check_storage(reader, s));
    /* Not HADDR_UNDEF, nor what a broken file says. */
    if (layout == H5D_CONTIGUOUS && H5Dget_offset(s->dataset) <= (haddr_t)INT64_MAX && dm_hdf5_is_same(s, &swapped))
        return dm_raw_open(reader, (int64_t)H5Dget_offset(s->dataset), swapped, false);
    if (layout == H5D_CHUNKED) {
        if (H5Pget_chunk(made, info->ndim, chunk) != info->ndim)
            return dm_broken(&reader->input, "the chunks of %s have other axes than it has itself", s->path);
        for (int a = 0; a < info->ndim; a++) {
            char length[24];
            snprintf(length, sizeof length, "%llu", (unsigned long long)chunk[a]);
            dm_append(info->stored, sizeof info->stored, a ? "x" : "", length);
        }
        dm_append(info->stored, sizeof info->stored, " ", "chunks");
    }
    TRY(take_filters(reader, s, made, &ratio));
    if (layout == H5D_CHUNKED) {
        TRY(dm_hdf5_form_take(reader, made));
        keep_chunks(reader, s, chunk);
    }
    /* Chunks that were never written cost nothing, and hold the fill value. */
    H5D_space_status_t space;
    if (ratio && H5Dget_space_status(s->dataset, &space) >= 0 && space == H5D_SPACE_STATUS_ALLOCATED)
        TRY(dm_check_holds(&reader->input, bytes, ratio));
    return DISTMAP_OK;
}

static distmap_status describe(distmap_reader *reader, dm_hdf5_set *s) {
    const hid_t made = H5Dget_create_plist(s->dataset);
    s->stored = H5Dget_type(s->dataset);
    reader->info.dtype = dm_hdf5_dtype(s->stored, &s->type);
    distmap_status status =
        reader->info.dtype
            ? take_shape(reader, s)
            : dm_unsupported(&reader->input,
                             "%s has elements of no type that is read; integers of up to 8 bytes, float32, float64 "
                             "and h5py's bool are",
                             s->path);
    if (!status) {
        status = dm_hdf5_model_read(reader, s->dataset);
        if (!status)
            status = take_layout(reader, s, made);
    }
    dm_append(reader->info.stored, sizeof reader->info.stored, ", ", s->path);
    H5Pclose(made);
    return status;
}

/* ---- The reader ---- */

static void close_all(dm_hdf5_set *s) {
    if (s->type >= 0)
        H5Tclose(s->type);
    if (s->stored >= 0)
        H5Tclose(s->stored);
    if (s->dataset >= 0)
        H5Dclose(s->dataset);
    if (s->file >= 0)
        dm_hdf5_close(s->file);
    s->file = s->dataset = s->type = s->stored = -1;
}

distmap_status dm_hdf5_here_open(distmap_reader *reader) {
    dm_hdf5_set *s = reader->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(reader->input.name);
    s->file = s->dataset = s->type = s->stored = -1;
    dm_hdf5_call call;
    dm_hdf5_begin(&call);
    distmap_status status = find(reader, s);
    if (!status)
        status = open_dataset(reader, s);
    if (!status)
        status = describe(reader, s);
    if (status || reader->raw.is)
        close_all(s);
    dm_hdf5_end(&call);
    return status;
}

static distmap_status read_slab(distmap_reader *reader, dm_hdf5_set *s, const dm_hdf5_part *part, void *out) {
    const distmap_image_info *info = &reader->info;
    hsize_t from[DISTMAP_MAX_AXES] = {(hsize_t)part->first, (hsize_t)part->row}, size[DISTMAP_MAX_AXES];
    for (int a = 0; a < info->ndim; a++)
        size[a] = (hsize_t)(a == 0 ? part->count : a == 1 ? part->rows : info->shape[a]);
    const hid_t there = H5Dget_space(s->dataset), here = H5Screate_simple(info->ndim, size, NULL);
    char why[200];
    const bool good = H5Sselect_hyperslab(there, H5S_SELECT_SET, from, NULL, size, NULL) >= 0 &&
                      H5Dread(s->dataset, s->type, here, there, H5P_DEFAULT, out) >= 0;
    const distmap_status status =
        good ? DISTMAP_OK : dm_broken(&reader->input, "%s is broken: %s", s->path, dm_hdf5_why(why));
    H5Sclose(here);
    H5Sclose(there);
    return status;
}

distmap_status dm_hdf5_here_read(distmap_reader *reader, const dm_hdf5_part *part, void *out) {
    dm_hdf5_set *s = reader->state;
    dm_hdf5_call call;
    dm_hdf5_begin(&call);
    const distmap_status status = read_slab(reader, s, part, out);
    dm_hdf5_end(&call);
    return status;
}

void dm_hdf5_here_close(distmap_reader *reader) {
    dm_hdf5_set *s = reader->state;
    if (!s)
        return;
    if (s->file >= 0) {
        dm_hdf5_call call;
        dm_hdf5_begin(&call);
        close_all(s);
        dm_hdf5_end(&call);
    }
    free(s);
    reader->state = NULL;
}
