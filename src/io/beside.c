/* A header in one file, its elements in another: see text.h.
 *
 * A header is believed as to a file's name only where that lies in the header's own folder or below it: a header that somebody sends
 * is not to show what else is on a disk.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/text.h"

static bool goes_up(const char *file) {
    for (const char *part = file; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (!strncmp(part, "..", 2) && (!part[2] || part[2] == '/'))
            return true;
    }
    return false;
}

distmap_status dm_beside_path(const dm_input *header, const char *file, bool may_be_absolute, char **path) {
    *path = NULL;
    const bool absolute = *file == '/';
    if (!*file)
        return dm_broken(header, "names no file for its elements");
    if (goes_up(file))
        return dm_unsupported(header, "its header names %.200s for its elements; the name must not contain ..", file);
    if (absolute && !may_be_absolute)
        return dm_unsupported(header, "its header names %.200s for its elements; the name must be relative to its own folder",
                              file);
    const char *slash = strrchr(header->file, '/');
    const int folder = slash && !absolute ? (int)(slash - header->file) + 1 : 0;
    if (asprintf(path, "%.*s%s", folder, header->file, file) < 0) {
        *path = NULL;
        return dm_no_memory(header->name);
    }
    struct stat info;
    distmap_status status = DISTMAP_OK;
    if (stat(*path, &info))
        status = distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read its elements, in %.200s: %s", header->name, file,
                                   strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = dm_broken(header, "its header names %.200s for its elements, which is not a file", file);
    if (status) {
        free(*path);
        *path = NULL;
    }
    return status;
}

distmap_status dm_beside_open(const dm_input *header, const char *file, bool may_be_absolute, dm_input *elements) {
    char *path;
    *elements = (dm_input){.fd = -1};
    TRY(dm_beside_path(header, file, may_be_absolute, &path));
    distmap_status status = dm_input_open(elements, path);
    free(path);
    if (status)
        return dm_broken(header, "cannot read its elements, in %.200s, or there are none", file);
    char *name = strdup(header->name);
    if (!name)
        status = dm_no_memory(header->name);
    else if (elements->dataset || elements->is_folder)
        status = dm_broken(header, "its header names %.200s for its elements, which is not a file", file);
    free(elements->name);
    elements->name = name;
    elements->dataset = NULL;
    if (status)
        dm_input_close(elements);
    return status;
}

void dm_beside_replace(distmap_reader *reader, dm_input *elements) {
    reader->has_header = fstat(reader->input.fd, &reader->header) == 0;
    dm_input_close(&reader->input);
    reader->input = *elements;
    *elements = (dm_input){.fd = -1};
}

distmap_status dm_beside_create(const dm_output *header, const char *ending, dm_output *elements, char **name) {
    const char *slash = strrchr(header->file, '/'), *own = slash ? slash + 1 : header->file, *dot = strrchr(own, '.');
    char *path = NULL;
    *name = NULL;
    if (asprintf(&path, "%.*s%s", (int)(dot - header->file), header->file, ending) < 0 ||
        asprintf(name, "%.*s%s", (int)(dot - own), own, ending) < 0) {
        free(path);
        *name = NULL;
        return dm_no_memory(header->name);
    }
    distmap_status status = DISTMAP_OK;
    for (const char *c = *name; *c && !status; c++)
        if (strchr("\n\r%", *c)) /* % stands for a number in such names */
            status = distmap_error_set(DISTMAP_ERROR_ARGUMENT,
                                       "%s: a header cannot name a file whose name has a %% or a line break",
                                       header->name);
    /* A file without such a header belongs to something else, perhaps to the input. */
    if (!status && !access(path, F_OK) && access(header->file, F_OK))
        status = distmap_error_set(DISTMAP_ERROR_IO, "%s: its elements would go to %s, which exists already and is not overwritten",
                                   header->name, *name);
    if (!status)
        status = dm_output_open(elements, path, NULL);
    free(path);
    if (status) {
        free(*name);
        *name = NULL;
    }
    return status;
}
