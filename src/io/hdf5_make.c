/* Making an HDF5 dataset by libhdf5, in the child that writes: its place, its form, its model; then where each chunk belongs; at last
 * the end of the file. Elements are never here: hdf5_write.c, in the caller's process, writes them to these places.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "io/hdf5.h"

static distmap_status failed(const dm_hdf5_making *m) {
    char why[200];
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot write: %s", m->output.name, dm_hdf5_why(why));
}

/* Whether the dataset can be made: nothing has its name, and what has the names before it are groups. */
static distmap_status check_place(dm_hdf5_making *m) {
    const char *name = m->output.name, *path = m->path;
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
            const htri_t exists = H5Lexists(m->file, part, H5P_DEFAULT);
            if (exists < 0)
                status = failed(m);
            if (exists <= 0)
                break;
            if (!next)
                status = distmap_error_set(
                    DISTMAP_ERROR_IO, "%s: there is a %s already; what a file holds is not overwritten", name, part);
            else if (H5Oget_info_by_name(m->file, part, &object, H5P_DEFAULT) < 0 || object.type != H5O_TYPE_GROUP)
                status = distmap_error_set(DISTMAP_ERROR_IO, "%s: %s is not a group: nothing can be put into it", name,
                                           part);
        }
        *end = next;
    }
    free(part);
    return status;
}

static distmap_status make_dataset(dm_hdf5_making *m) {
    const distmap_image_info *info = &m->info;
    hsize_t shape[DISTMAP_MAX_AXES];
    for (int a = 0; a < info->ndim; a++)
        shape[a] = (hsize_t)info->shape[a];
    const hid_t space = H5Screate_simple(info->ndim, shape, NULL), links = H5Pcreate(H5P_LINK_CREATE),
                made = H5Pcreate(H5P_DATASET_CREATE);
    /* Each counts: a chunk is read by the filters that the file tells. */
    bool good = space >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0 &&
                H5Pset_obj_track_times(made, 0) >= 0; /* the same result is the same file */
    const bool any = dm_hdf5_chunk_count(info, info->shape[0]) > 0, packed = dm_hdf5_is_packed(info);
    if (any && packed) {
        dm_hdf5_chunk(info, m->chunk);
        good = good && H5Pset_chunk(made, info->ndim, m->chunk) >= 0 && H5Pset_shuffle(made) >= 0 &&
               H5Pset_deflate(made, DM_HDF5_GZIP) >= 0;
    } else if (any) {
        good = good && H5Pset_alloc_time(made, H5D_ALLOC_TIME_EARLY) >= 0 &&
               H5Pset_fill_time(made, H5D_FILL_TIME_NEVER) >= 0;
    }
    if (good)
        m->dataset = H5Dcreate2(m->file, m->path, m->type, space, links, made, H5P_DEFAULT);
    good = good && m->dataset >= 0 && dm_hdf5_model_write(m->dataset, info);
    if (good && any && !packed) {
        const haddr_t at = H5Dget_offset(m->dataset);
        good = at != HADDR_UNDEF;
        m->raw_offset = good ? (int64_t)at : 0;
    }
    const distmap_status status = good ? DISTMAP_OK : failed(m);
    H5Pclose(made);
    H5Pclose(links);
    H5Sclose(space);
    return status;
}

static distmap_status create(dm_hdf5_making *m) {
    char why[200];
    m->file = dm_hdf5_open_output(&m->output, why);
    if (m->file < 0 && !m->output.fresh)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: the file that is there is no HDF5 that can be added to: %s",
                                 m->output.name, why);
    if (m->file < 0)
        return failed(m);
    TRY(check_place(m));
    m->type = dm_hdf5_type(m->info.dtype);
    return make_dataset(m);
}

distmap_status dm_hdf5_make(dm_hdf5_making *m) {
    dm_hdf5_call call;
    m->file = m->dataset = m->type = -1;
    dm_hdf5_begin(&call);
    const distmap_status status = create(m);
    dm_hdf5_end(&call);
    return status;
}

/* libhdf5 is given a chunk of that length to write, and our driver notes the place instead. `ghost` is never looked at. */
static distmap_status place(dm_hdf5_making *m, int64_t count, int64_t *table, const void *ghost) {
    for (int64_t i = 0; i < count; i++) {
        hsize_t origin[DISTMAP_MAX_AXES];
        haddr_t at = HADDR_UNDEF;
        dm_hdf5_chunk_origin(&m->info, m->chunk, m->chunks++, origin);
        dm_hdf5_haunt(ghost, &at);
        const bool good = H5Dwrite_chunk(m->dataset, H5P_DEFAULT, 0, origin, (size_t)table[i], ghost) >= 0;
        dm_hdf5_haunt(NULL, NULL);
        if (!good || at == HADDR_UNDEF)
            return failed(m);
        table[i] = (int64_t)at;
    }
    return DISTMAP_OK;
}

distmap_status dm_hdf5_make_room(dm_hdf5_making *m, int64_t count, int64_t *table) {
    int64_t most = 1;
    for (int64_t i = 0; i < count; i++)
        most = table[i] > most ? table[i] : most;
    void *ghost = malloc((size_t)most);
    if (!ghost)
        return dm_no_memory(m->output.name);
    dm_hdf5_call call;
    dm_hdf5_begin(&call);
    const distmap_status status = place(m, count, table, ghost);
    dm_hdf5_end(&call);
    free(ghost);
    return status;
}

distmap_status dm_hdf5_make_end(dm_hdf5_making *m) {
    dm_hdf5_call call;
    dm_hdf5_begin(&call);
    bool good = H5Tclose(m->type) >= 0;
    good = H5Dclose(m->dataset) >= 0 && good;
    good = dm_hdf5_close(m->file) >= 0 && good;
    const distmap_status status = good ? DISTMAP_OK : failed(m);
    dm_hdf5_end(&call);
    return status;
}
