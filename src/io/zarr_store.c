/* Files of a Zarr store: each is written under a name that does not count, which is then renamed, so that it is there whole or not
 * at all, whoever dies, and whoever writes the same at the same time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/zarr.h"

static distmap_status failed(const char *name, int error) {
    const dm_output output = {.name = (char *)name, .error = error};
    return dm_output_failed(&output);
}

/* The folders that the file is in. */
static bool make_folders(int folder, const char *file) {
    char part[DM_ZARR_PATH];
    for (const char *slash = strchr(file, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - file), file);
        if (mkdirat(folder, part, 0777) && errno != EEXIST)
            return false;
    }
    return true;
}

distmap_status dm_zarr_store(const char *name, int folder, const char *file, const void *data, size_t bytes, bool synced) {
    char aside[DM_TEMPORARY_NAME];
    dm_output output = {.name = (char *)name, .fd = dm_temporary_open(folder, false, 0666, aside)};
    if (output.fd < 0)
        return failed(name, errno);
    if (!dm_output_write(&output, data, bytes) && !dm_output_complete(&output, false) &&
        ((synced && fsync(output.fd)) || renameat(folder, aside, folder, file)) &&
        (errno != ENOENT || !make_folders(folder, file) || renameat(folder, aside, folder, file)))
        output.error = errno;
    if (output.error)
        unlinkat(folder, aside, 0);
    close(output.fd);
    return output.error ? failed(name, output.error) : DISTMAP_OK;
}
