/* The chunks that exist, by the names in an array's folder: an array of 10^10 chunks takes the time of the existing ones, instead of that
 * of 10^10 failed open() calls. The folder is listed once, and only for a reader that needs many chunks at a time.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/zarr.h"

enum { MANY = 4096 };

static bool add(dm_zarr_present *p, int64_t number) {
    if (p->count == p->room) {
        const size_t room = p->room ? 2 * p->room : 256;
        int64_t *more = realloc(p->number, room * sizeof *more);
        if (!more)
            return false;
        p->number = more;
        p->room = room;
    }
    p->number[p->count++] = number;
    return true;
}

static int64_t along(const dm_zarr_grid *grid, int axis) {
    return grid->shape[axis] / grid->chunk[axis] + (grid->shape[axis] % grid->chunk[axis] > 0);
}

static distmap_status take(const dm_zarr_grid *grid, dm_zarr_present *p, const char *name) {
    int64_t at[DISTMAP_MAX_AXES] = {0}, number = 0;
    if (!grid->place(grid->form, name, at))
        return DISTMAP_OK;
    for (int a = 0; a < DISTMAP_MAX_AXES; a++) {
        if (at[a] < 0 || at[a] >= along(grid, a))
            return DISTMAP_OK;
        number = number * along(grid, a) + at[a];
    }
    return add(p, number) ? DISTMAP_OK : dm_no_memory(grid->input->name);
}

/* Lists `levels` nested folders, from `fd`, which it closes; `path` is its name. */
static distmap_status list(const dm_zarr_grid *grid, dm_zarr_present *p, int fd, const char *path, int levels) {
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    distmap_status status = DISTMAP_OK;
    if (!folder)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot list its chunks: %s", grid->input->name, strerror(errno));
    for (struct dirent *entry; !status && (errno = 0, entry = readdir(folder));) {
        char name[DM_ZARR_NAME];
        if (entry->d_name[0] == '.' ||
            snprintf(name, sizeof name, "%s%s%s", path, *path ? "/" : "", entry->d_name) >= (int)sizeof name)
            continue;
        if (levels == 1) {
            status = take(grid, p, name);
            continue;
        }
        const int below = dm_zarr_open_below(dirfd(folder), entry->d_name);
        if (below >= 0)
            status = list(grid, p, below, name, levels - 1);
    }
    if (!status && errno)
        status = distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot list its chunks: %s", grid->input->name, strerror(errno));
    closedir(folder);
    return status;
}

static int by_number(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A chunk can have two names (compressed and not). */
static void sort(dm_zarr_present *p) {
    size_t kept = 0;
    if (p->count)
        qsort(p->number, p->count, sizeof *p->number, by_number);
    for (size_t i = 0; i < p->count; i++)
        if (!kept || p->number[kept - 1] != p->number[i])
            p->number[kept++] = p->number[i];
    p->count = kept;
}

bool dm_zarr_is_many(const dm_zarr_grid *grid, const dm_zarr_target *target) {
    return dm_zarr_target_chunks(target, grid->chunk) > MANY;
}

distmap_status dm_zarr_present_list(const dm_zarr_grid *grid, dm_zarr_present *p, const dm_zarr_target *target, int64_t **parts,
                                    int64_t *count) {
    if (!p->listed && grid->folder >= 0)
        TRY(list(grid, p, dm_zarr_open_below(grid->folder, "."), "", grid->levels));
    if (!p->listed)
        sort(p);
    p->listed = true;
    *count = 0;
    *parts = malloc((p->count + 1) * sizeof **parts);
    if (!*parts)
        return dm_no_memory(grid->input->name);
    for (size_t i = 0; i < p->count; i++) {
        int64_t at[DISTMAP_MAX_AXES], number = p->number[i];
        for (int a = DISTMAP_MAX_AXES - 1; a >= 0; a--) {
            at[a] = number % along(grid, a);
            number /= along(grid, a);
        }
        const int64_t part = dm_zarr_target_part(target, grid->chunk, at);
        if (part >= 0)
            (*parts)[(*count)++] = part;
    }
    return DISTMAP_OK;
}
