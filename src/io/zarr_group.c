/* Nodes of a Zarr store: what kind a folder is, and which array a group stands for. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/ome_zarr.h"
#include "io/zarr.h"

enum { LISTED = 6, DEEPEST = 5 };

static bool has(int folder, const char *file) { return !faccessat(folder, file, F_OK, 0); }

bool dm_zarr_is_node(int folder) {
    return has(folder, "zarr.json") || has(folder, ".zarray") || has(folder, ".zgroup");
}

bool dm_zarr_path_is_good(const char *path) {
    for (const char *name = path;; name += strcspn(name, "/") + 1) {
        const size_t length = strcspn(name, "/");
        if (length == 0 || (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.'))))
            return false;
        if (!name[length])
            return strlen(path) < DM_ZARR_PATH;
    }
}

int dm_zarr_open_below(int folder, const char *path) {
    return openat(folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* ---- One node ---- */

static distmap_status take_v3(const dm_input *input, dm_zarr_folder *folder) {
    const char *type = dm_zarr_text(dm_zarr_member(folder->metadata, "node_type"));
    const int version = json_object_get_int(dm_zarr_member(folder->metadata, "zarr_format"));
    if (version != 3)
        return dm_unsupported(input, "is Zarr version %d by its zarr.json; versions 2 and 3 are read", version);
    folder->version = 3;
    folder->node = strcmp(type, "array") == 0   ? DM_ZARR_ARRAY
                   : strcmp(type, "group") == 0 ? DM_ZARR_GROUP
                                                : DM_ZARR_NOTHING;
    if (!folder->node)
        return dm_broken(input, "the node_type in its zarr.json is neither array nor group");
    folder->attributes = json_object_get(dm_zarr_member(folder->metadata, "attributes"));
    return DISTMAP_OK;
}

static distmap_status take_v2(const dm_input *input, dm_zarr_folder *folder) {
    folder->version = 2;
    TRY(dm_zarr_load(input, folder->fd, ".zarray", &folder->metadata));
    folder->node = folder->metadata ? DM_ZARR_ARRAY : has(folder->fd, ".zgroup") ? DM_ZARR_GROUP : DM_ZARR_NOTHING;
    return dm_zarr_load(input, folder->fd, ".zattrs", &folder->attributes);
}

distmap_status dm_zarr_folder_open(const dm_input *input, int fd, dm_zarr_folder *folder) {
    *folder = (dm_zarr_folder){.fd = fd};
    if (fd < 0)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot open a folder in it: %s", input->name, strerror(errno));
    TRY(dm_zarr_load(input, fd, "zarr.json", &folder->metadata));
    return folder->metadata ? take_v3(input, folder) : take_v2(input, folder);
}

void dm_zarr_folder_close(dm_zarr_folder *folder) {
    json_object_put(folder->attributes);
    json_object_put(folder->metadata);
    if (folder->fd >= 0)
        close(folder->fd);
    *folder = (dm_zarr_folder){.fd = -1};
}

/* ---- The arrays of a group ---- */

typedef struct listing {
    const dm_input *input;
    int count;
    char names[300], first[DM_ZARR_PATH];
} listing;

static int shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static distmap_status list(listing *l, int fd, const char *path, int depth);

/* Adds an array, or an image of several scales; goes on in other groups. */
static distmap_status list_one(listing *l, int parent, const char *path, const char *name, int depth) {
    char below[DM_ZARR_PATH];
    const int fd = dm_zarr_open_below(parent, name);
    if (fd < 0 || !dm_zarr_is_node(fd) ||
        snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", name) >= (int)sizeof below) {
        if (fd >= 0)
            close(fd);
        return DISTMAP_OK;
    }
    dm_zarr_folder folder;
    distmap_status status = dm_zarr_folder_open(l->input, fd, &folder);
    if (!status && (folder.node == DM_ZARR_ARRAY || dm_ome_is_image(folder.attributes))) {
        if (l->count == 0)
            strcpy(l->first, below);
        if (l->count++ < LISTED)
            dm_append(l->names, sizeof l->names, ", ", below);
    } else if (!status && depth < DEEPEST)
        status = list(l, folder.fd, below, depth + 1);
    dm_zarr_folder_close(&folder);
    return status;
}

static distmap_status list(listing *l, int fd, const char *path, int depth) {
    struct dirent **entries;
    const int count = scandirat(fd, ".", &entries, shown, alphasort);
    if (count < 0)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot list what is in it: %s", l->input->name,
                                 strerror(errno));
    distmap_status status = DISTMAP_OK;
    for (int i = 0; i < count; i++) {
        if (!status && l->count <= LISTED)
            status = list_one(l, fd, path, entries[i]->d_name, depth);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static distmap_status find_only(const dm_input *input, int fd, char path[DM_ZARR_PATH]) {
    listing l = {.input = input};
    TRY(list(&l, fd, "", 0));
    if (l.count == 0)
        return dm_unsupported(input, "is a group without arrays");
    if (l.count > 1)
        return dm_unsupported(input, "is a group of arrays; name one of them, as in %s/%s (%s%s)", input->name, l.first,
                              l.names, l.count > LISTED ? ", ..." : "");
    strcpy(path, l.first);
    return DISTMAP_OK;
}

/* The node at that path below takes the folder's place. */
static distmap_status go_below(const dm_input *input, dm_zarr_folder *folder, const char *path) {
    dm_zarr_folder below;
    if (!dm_zarr_path_is_good(path))
        return dm_broken(input, "its path %.64s leads out of it", path);
    const int fd = dm_zarr_open_below(folder->fd, path);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return dm_broken(input, "there is no %.64s in it", path);
    const distmap_status status = dm_zarr_folder_open(input, fd, &below);
    if (status)
        dm_zarr_folder_close(&below);
    TRY(status);
    dm_zarr_folder_close(folder);
    *folder = below;
    return DISTMAP_OK;
}

distmap_status dm_zarr_choose_array(const dm_input *input, dm_zarr_folder *folder, dm_zarr_folder *image) {
    char path[DM_ZARR_PATH];
    *image = (dm_zarr_folder){.fd = -1};
    if (folder->node == DM_ZARR_GROUP && !dm_ome_is_image(folder->attributes)) {
        TRY(find_only(input, folder->fd, path));
        TRY(go_below(input, folder, path));
    }
    if (folder->node == DM_ZARR_GROUP) {
        TRY(dm_ome_first_path(input, folder->attributes, path));
        *image = *folder;
        image->fd = -1;
        image->metadata = NULL;
        folder->attributes = NULL;
        strcpy(image->path, path);
        TRY(go_below(input, folder, path));
    }
    return folder->node == DM_ZARR_ARRAY ? DISTMAP_OK : dm_broken(input, "has no array where it should be");
}

distmap_status dm_zarr_find_image(const dm_input *input, const dm_zarr_folder *folder, dm_zarr_folder *image) {
    const char *end = input->file + strlen(input->file);
    while (end > input->file && end[-1] == '/')
        end--;
    const char *name = end;
    while (name > input->file && name[-1] != '/')
        name--;
    const int fd = dm_zarr_open_below(folder->fd, "..");
    *image = (dm_zarr_folder){.fd = -1};
    if (fd < 0 || !dm_zarr_is_node(fd) || end - name >= DM_ZARR_PATH) {
        if (fd >= 0)
            close(fd);
        return DISTMAP_OK;
    }
    TRY(dm_zarr_folder_open(input, fd, image));
    snprintf(image->path, sizeof image->path, "%.*s", (int)(end - name), name);
    if (!dm_ome_has_path(image->attributes, image->path))
        dm_zarr_folder_close(image);
    return DISTMAP_OK;
}
