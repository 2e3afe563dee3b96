/* Names of files, and of what lies in a file: "FILE:/DATASET".
 *
 * A colon and a slash may stand in a file's own name, so FILE must be recognised: it is what stands before the first ":/" and
 * is a regular file, or ends as files do that have datasets.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/codec.h"

bool dm_ends_with_any(const char *name, const char *endings) {
    for (const char *ending = endings; *ending; ending += strspn(ending, " ")) {
        char one[16] = "";
        const size_t length = strcspn(ending, " ");
        if (length < sizeof one && dm_ends_with(name, strncpy(one, ending, length)))
            return true;
        ending += length;
    }
    return false;
}

bool dm_lies_in_any(const char *path, const char *endings) {
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        char *folder = strndup(path, (size_t)(slash - path));
        const bool found = folder && dm_ends_with_any(folder, endings);
        free(folder);
        if (found)
            return true;
    }
    return false;
}

static bool may_have_datasets(const char *file) {
    struct stat info;
    if (!stat(file, &info) && S_ISREG(info.st_mode))
        return true;
    for (size_t row = 0; dm_codecs[row]; row++)
        if (dm_codecs[row]->holds_datasets && dm_ends_with_any(file, dm_codecs[row]->info.endings))
            return true;
    return false;
}

size_t distmap_path_file_bytes(const char *path) {
    if (!path)
        return 0;
    for (const char *colon = strstr(path, ":/"); colon; colon = strstr(colon + 1, ":/")) {
        char *file = strndup(path, (size_t)(colon - path));
        const bool found = file && may_have_datasets(file);
        free(file);
        if (found)
            return (size_t)(colon - path);
    }
    return strlen(path);
}

distmap_status dm_name_take(const char *path, char **name, char **file, const char **dataset) {
    const size_t bytes = distmap_path_file_bytes(path);
    *name = strdup(path);
    *file = strndup(path, bytes);
    if (!*name || !*file)
        return dm_no_memory(path);
    *dataset = path[bytes] ? *name + bytes + 1 : NULL;
    return DISTMAP_OK;
}
