/* Where an output goes: "vol.zarr/a/b" is a node of the store vol.zarr, "vol.ome.zarr" an OME image.
 *
 * What is missing of the groups above it is made with it, in one folder that takes its name at the end: the outermost one that is
 * not there. So all of it appears at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "io/zarr.h"

/* The bytes of the path up to the first name that ends with ".zarr". */
static size_t root_of(const char *path) {
    for (const char *end = path;; end++) {
        end += strcspn(end, "/");
        char *part = strndup(path, (size_t)(end - path));
        const bool found = part && dm_ends_with(part, ".zarr");
        free(part);
        if (found || !*end)
            return (size_t)(end - path);
    }
}

/* Names that the format keeps for itself are no nodes. */
static bool is_reserved(const char *name, size_t length) {
    return name[0] == '.' || strncmp(name, "__", 2) == 0 || (length == 9 && strncmp(name, "zarr.json", 9) == 0);
}

static bool names_nodes(const char *path) {
    if (!dm_zarr_path_is_good(path))
        return false;
    for (const char *name = path; *name; name += strspn(name, "/")) {
        const size_t length = strcspn(name, "/");
        if (is_reserved(name, length))
            return false;
        name += length;
    }
    return true;
}

distmap_status dm_zarr_place(const char *path, char **target) {
    struct stat there;
    const size_t root = root_of(path);
    *target = NULL;
    if (path[root] && !names_nodes(path + root + 1))
        return distmap_error_set(
            DISTMAP_ERROR_ARGUMENT,
            "%s: names no array in a store: none of its names may be empty, begin with . or __, or be zarr.json", path);
    for (size_t end = root;; end += 1 + strcspn(path + end + 1, "/")) {
        free(*target);
        *target = strndup(path, end);
        if (!*target)
            return dm_no_memory(path);
        if (!path[end] || lstat(*target, &there))
            return DISTMAP_OK;
    }
}

char *dm_zarr_place_home(const char *target) {
    char *folder = dm_output_folder(target), *path = folder ? realpath(*folder ? folder : ".", NULL) : NULL, *home = NULL;
    if (!path && folder) { /* renaming will tell why */
        home = folder;
        folder = NULL;
    }
    for (bool is_node = path; is_node;) {
        const int fd = open(*path ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char *slash = strrchr(path, '/');
        is_node = fd >= 0 && slash && dm_zarr_is_node(fd);
        if (fd >= 0)
            close(fd);
        if (is_node)
            *slash = '\0';
    }
    if (path && asprintf(&home, "%s/", strcmp(path, "/") ? path : "") < 0)
        home = NULL;
    free(folder);
    free(path);
    return home;
}

distmap_status dm_zarr_parent_version(const char *name, const char *target, int *version) {
    const char *slash = strrchr(target, '/');
    char *parent = strndup(target, slash ? (size_t)(slash - target) + 1 : 0);
    if (!parent)
        return dm_no_memory(name);
    const dm_input input = {.name = (char *)name};
    const int fd = open(*parent ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(parent);
    *version = 0;
    const bool in_store = root_of(target) < strlen(target);
    if (fd < 0 || (!in_store && !dm_zarr_is_node(fd))) {
        if (fd >= 0)
            close(fd);
        return in_store
                   ? distmap_error_set(DISTMAP_ERROR_IO, "%s: the folder that it is put into is not readable", name)
                   : DISTMAP_OK;
    }
    dm_zarr_folder folder;
    distmap_status status = dm_zarr_folder_open(&input, fd, &folder);
    if (!status && folder.node != DM_ZARR_GROUP)
        status = distmap_error_set(DISTMAP_ERROR_IO, "%s: what it is put into is %s, and no group", name,
                                   folder.node ? "an array" : "a folder without metadata of Zarr");
    *version = folder.version;
    dm_zarr_folder_close(&folder);
    return status;
}
