/* Files of a Zarr store: each is written under a name that does not count, which is then renamed, so that it is there whole or not
 * at all, whoever dies, and whoever writes the same at the same time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
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

distmap_status dm_zarr_store_aside(const char *name, int folder, const void *data, size_t bytes,
                                   char aside[DM_ZARR_ASIDE]) {
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return failed(name, errno);
    snprintf(aside, DM_ZARR_ASIDE, ".distmap-%016llx", (unsigned long long)number);
    dm_output file = {.name = (char *)name, .fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    if (file.fd < 0)
        return failed(name, errno);
    dm_output_write(&file, data, bytes);
    if (close(file.fd) && !file.error)
        file.error = errno;
    if (!file.error)
        return DISTMAP_OK;
    unlinkat(folder, aside, 0);
    return failed(name, file.error);
}

distmap_status dm_zarr_store(const char *name, int folder, const char *file, const void *data, size_t bytes) {
    char aside[DM_ZARR_ASIDE];
    TRY(dm_zarr_store_aside(name, folder, data, bytes, aside));
    if (!renameat(folder, aside, folder, file) ||
        (errno == ENOENT && make_folders(folder, file) && !renameat(folder, aside, folder, file)))
        return DISTMAP_OK;
    const distmap_status status = failed(name, errno);
    unlinkat(folder, aside, 0);
    return status;
}
