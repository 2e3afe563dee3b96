/* Reading HDF5: one dataset, named after the file as in vol.h5:/volumes/mask, or the only one there is.
 *
 * A dataset in one piece, of elements as they are in memory, is read and mapped like a raw file, and HDF5 closed again. Others
 * are read by slabs. Chunks that are deeper than a band would be unpacked again for each band; so one row of them is kept, if
 * that is not beyond measure.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/hdf5.h"

enum { CACHE_BYTES = 64 << 20, LISTED = 6 };

typedef struct state {
    hid_t file, dataset, type; /* the type in memory; < 0: closed */
    char path[512];            /* of the dataset */
} state;

static bool hdf5_sniff(const uint8_t *head, size_t bytes) {
    static const uint8_t signature[] = "\x89HDF\r\n\x1a\n";
    for (size_t at = 0; at + 8 <= bytes; at = at ? 2 * at : 512) /* behind a block of the user's, if there is one */
        if (!memcmp(head + at, signature, 8))
            return true;
    return false;
}

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

static distmap_status find_only(distmap_reader *reader, state *s) {
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

static distmap_status find(distmap_reader *reader, state *s) {
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

static distmap_status open_dataset(distmap_reader *reader, state *s) {
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

static distmap_status take_shape(distmap_reader *reader, const state *s) {
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
static distmap_status take_filters(distmap_reader *reader, const state *s, hid_t made, int64_t *ratio) {
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
static void keep_chunks(distmap_reader *reader, state *s, const hsize_t *chunk) {
    const distmap_image_info *info = &reader->info;
    double one = (double)distmap_dtype_size(info->dtype) * (double)chunk[0], count = 1;
    for (int a = 1; a < info->ndim; a++) {
        one *= (double)chunk[a];
        count *= (double)(info->shape[a] / (int64_t)chunk[a] + (info->shape[a] % (int64_t)chunk[a] > 0));
    }
    reader->info.held_bytes = (size_t)fmin(2 * one, 0x1p62);
    if (one * count > CACHE_BYTES || count > 1e5)
        return;
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, 10 * (size_t)count + 1, (size_t)(one * count), 1);
    H5Dclose(s->dataset);
    s->dataset = H5Dopen2(s->file, s->path, access);
    H5Pclose(access);
    reader->info.held_bytes += (size_t)(one * count);
}

/* In one piece, unpacked, as in memory but for the order of bytes. Enumerations lie as their integers do. */
static bool lies_raw(const state *s, hid_t stored, bool *swapped) {
    if (H5Dget_offset(s->dataset) > (haddr_t)INT64_MAX) /* of HADDR_UNDEF, or of a broken file */
        return false;
    *swapped = H5Tequal(stored, s->type) <= 0;
    if (!*swapped)
        return true;
    const hid_t turned = H5Tget_class(stored) == H5T_ENUM ? H5Tget_super(stored) : H5Tcopy(stored);
    const H5T_class_t kind = H5Tget_class(turned);
    bool same = kind == H5T_INTEGER || kind == H5T_FLOAT;
    *swapped = same && H5Tequal(turned, s->type) <= 0;
    same = same && H5Tset_order(turned, H5Tget_order(s->type)) >= 0 && H5Tequal(turned, s->type) > 0;
    H5Tclose(turned);
    return same;
}

static distmap_status take_layout(distmap_reader *reader, state *s, hid_t made, hid_t stored) {
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
    if (layout == H5D_CONTIGUOUS && lies_raw(s, stored, &swapped))
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
        keep_chunks(reader, s, chunk);
    }
    TRY(take_filters(reader, s, made, &ratio));
    /* Chunks that were never written cost nothing, and hold the fill value. */
    H5D_space_status_t space;
    if (ratio && H5Dget_space_status(s->dataset, &space) >= 0 && space == H5D_SPACE_STATUS_ALLOCATED)
        TRY(dm_check_holds(&reader->input, bytes, ratio));
    return DISTMAP_OK;
}

static distmap_status describe(distmap_reader *reader, state *s) {
    const hid_t stored = H5Dget_type(s->dataset), made = H5Dget_create_plist(s->dataset);
    reader->info.dtype = dm_hdf5_dtype(stored, &s->type);
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
            status = take_layout(reader, s, made, stored);
    }
    dm_append(reader->info.stored, sizeof reader->info.stored, ", ", s->path);
    H5Pclose(made);
    H5Tclose(stored);
    return status;
}

/* ---- The codec ---- */

static void close_all(state *s) {
    if (s->type >= 0)
        H5Tclose(s->type);
    if (s->dataset >= 0)
        H5Dclose(s->dataset);
    if (s->file >= 0)
        H5Fclose(s->file);
    s->file = s->dataset = s->type = -1;
}

static distmap_status hdf5_open(distmap_reader *reader) {
    state *s = reader->state = malloc(sizeof *s);
    if (!s)
        return dm_no_memory(reader->input.name);
    *s = (state){-1, -1, -1, ""};
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

static distmap_status read_slab(distmap_reader *reader, state *s, int64_t first, int64_t count, void *out) {
    const distmap_image_info *info = &reader->info;
    hsize_t from[DISTMAP_MAX_AXES] = {(hsize_t)first}, size[DISTMAP_MAX_AXES];
    for (int a = 0; a < info->ndim; a++)
        size[a] = (hsize_t)(a ? info->shape[a] : count);
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

static distmap_status hdf5_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    if (reader->raw.is)
        return dm_raw_read(reader, first, count, out);
    dm_hdf5_call call;
    dm_hdf5_begin(&call);
    const distmap_status status = read_slab(reader, reader->state, first, count, out);
    dm_hdf5_end(&call);
    return status;
}

static void hdf5_close(distmap_reader *reader) {
    state *s = reader->state;
    if (s && s->file >= 0) {
        dm_hdf5_call call;
        dm_hdf5_begin(&call);
        close_all(s);
        dm_hdf5_end(&call);
    }
    free(s);
}

static const char *packings(const char *path) {
    (void)path;
    return "deflate none";
}

const dm_codec dm_codec_hdf5 = {
    .info = {.name = "hdf5",
             .endings = ".h5 .hdf5",
             .reads = true,
             .writes = true,
             .summary = "HDF5, one dataset: FILE:/DATASET; chunks, any filter that libhdf5 has; written with gzip"},
    .sniff = hdf5_sniff,
    .open = hdf5_open,
    .read = hdf5_read,
    .close = hdf5_close,
    .holds = (1u << (DISTMAP_FLOAT64 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 1,
    .max_ndim = DISTMAP_MAX_AXES,
    .holds_empty = true,
    .holds_datasets = true,
    .packings = packings,
    .create = dm_hdf5_create,
    .write = dm_hdf5_write,
    .depth = dm_hdf5_depth,
    .pack = dm_hdf5_pack,
    .place = dm_hdf5_place,
    .finish = dm_hdf5_finish,
    .discard = dm_hdf5_discard,
};
