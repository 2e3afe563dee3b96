/* The life of one output file, or folder: opened here under a name that does not count (temporary.c) in the folder of what it
 * means (target.c), written, completed, which waits for the disk; and named or given up by the transaction that it is part of
 * (commit.c). So a reader sees the old file or the new one, whoever dies.
 *
 * Descriptors, devices and pipes are written directly: to replace them would do harm.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/codec.h"
#include "io/target.h"
#include "io/temporary.h"

enum { COPY_BYTES = 1 << 20 };

static distmap_status fail(const dm_output *output, const char *what) {
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: %s: %s", output->name, what, strerror(errno));
}

/* ---- Opening ---- */

char *dm_output_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    return strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
}

/* A file that replaces another one is inaccessible to others until it has the mode of the old one. */
static distmap_status create_temp(dm_output *output) {
    char *folder = dm_output_folder(output->target), name[DM_TEMPORARY_NAME];
    if (!folder)
        return dm_no_memory(output->name);
    const int at = open(*folder ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    output->fd = at < 0 ? -1
                        : dm_temporary_open(at, output->is_folder,
                                            output->is_folder  ? 0777
                                            : output->replaces ? 0600
                                                               : 0666,
                                            name);
    distmap_status status = DISTMAP_OK;
    if (output->fd < 0)
        status = distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot create a file in folder %s: %s", output->name,
                                   *folder ? folder : ".", strerror(errno));
    else if (asprintf(&output->temp, "%s%s", folder, name) < 0) {
        dm_remove_at(at, name);
        output->temp = NULL;
        status = dm_no_memory(output->name);
    } else {
        dm_temporary_sweep(at);
        dm_target_hand_on(output);
    }
    if (at >= 0)
        close(at);
    free(folder);
    return status;
}

/* A folder that cannot be opened holds files of others, and is not removed with this output. */
static distmap_status open_part(dm_output *output, const char *part) {
    if (!output->is_folder)
        output->fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    else if (!mkdir(part, 0777) || errno == EEXIST)
        output->fd = open(part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (output->fd < 0)
        return fail(output, "cannot create the file for its parts");
    output->temp = strdup(part);
    if (!output->temp)
        return dm_no_memory(output->name);
    dm_target_hand_on(output);
    return DISTMAP_OK;
}

static distmap_status open_either(dm_output *output, const char *path, char *folder, const char *part) {
    *output = (dm_output){.fd = -1, .is_folder = folder != NULL, .target = folder, .lock = {.fd = -1}, .kept_fd = -1};
    const bool standard = !strcmp(path, "-");
    struct stat info;
    distmap_status status =
        dm_name_take(standard ? "standard output" : path, &output->name, &output->file, &output->dataset);
    if (!status && !folder)
        status = dm_target_find(output, standard);
    else if (!status && !lstat(output->file, &info))
        status = distmap_error_set(DISTMAP_ERROR_IO, "%s: exists already and is not overwritten", output->name);
    if (!status && output->target)
        status = part ? open_part(output, part) : create_temp(output);
    if (status)
        dm_output_abort(output);
    return status;
}

distmap_status dm_output_open(dm_output *output, const char *path, const char *part) {
    return open_either(output, path, NULL, part);
}

distmap_status dm_output_open_folder(dm_output *output, const char *path, char *target, const char *part) {
    return open_either(output, path, target, part);
}

/* ---- Writing ---- */

distmap_status dm_output_failed(const dm_output *output) {
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot write: %s", output->name,
                             strerror(output->error ? output->error : EIO));
}

/* At the current place where `offset` is negative. */
static distmap_status write_all(dm_output *output, int64_t offset, const void *data, size_t bytes) {
    const char *from = data;
    while (bytes && !output->abandoned) {
        const ssize_t n = output->error ? -1
                          : offset < 0  ? write(output->fd, from, bytes)
                                        : pwrite(output->fd, from, bytes, offset + (from - (const char *)data));
        if (n < 0 && !output->error && dm_goes_on())
            continue;
        if (n <= 0) {
            if (!output->error)
                output->error = n ? errno : ENOSPC;
            return dm_output_failed(output);
        }
        from += n;
        bytes -= (size_t)n;
        errno = EINTR; /* a signal cuts a long write to a pipe short, and the next one would wait */
        if (bytes && !dm_goes_on()) {
            output->error = EINTR;
            return dm_output_failed(output);
        }
    }
    return DISTMAP_OK;
}

distmap_status dm_output_write(dm_output *output, const void *data, size_t bytes) {
    return write_all(output, -1, data, bytes);
}

distmap_status dm_output_write_at(dm_output *output, int64_t offset, const void *data, size_t bytes) {
    return write_all(output, offset, data, bytes);
}

/* ---- What is there is added to ---- */

/* All bytes of `fd` to the output's beginning: by sharing them where the file system can. */
static distmap_status copy_from(dm_output *output, int fd) {
    if (!ioctl(output->fd, FICLONE, fd))
        return DISTMAP_OK;
    char *buffer = malloc(COPY_BYTES);
    if (!buffer)
        return dm_no_memory(output->name);
    distmap_status status = DISTMAP_OK;
    for (int64_t at = 0, n; !status && (n = dm_read_at(fd, at, buffer, COPY_BYTES)) != 0; at += n)
        status = n < 0 ? fail(output, "cannot read what it holds") : dm_output_write_at(output, at, buffer, (size_t)n);
    free(buffer);
    return status;
}

distmap_status dm_output_begin_with_target(dm_output *output, bool *there) {
    TRY(dm_lock_growth(&output->lock, output->name, output->target));
    output->grows = true;
    *there = output->replaces = !stat(output->target, &output->was); /* what others did while we waited */
    if (!*there)
        return DISTMAP_OK;
    dm_target_hand_on(output);
    const int fd = open(output->target, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(output, "cannot read what it holds");
    const distmap_status status = copy_from(output, fd);
    close(fd);
    return status;
}

bool dm_output_target_changed(const dm_output *output) {
    struct stat now;
    const struct stat *was = &output->was;
    if (stat(output->target, &now))
        return output->replaces;
    return !output->replaces || now.st_dev != was->st_dev || now.st_ino != was->st_ino || now.st_size != was->st_size ||
           now.st_mtim.tv_sec != was->st_mtim.tv_sec || now.st_mtim.tv_nsec != was->st_mtim.tv_nsec;
}

/* ---- The end ---- */

/* A network's file system tells at a closing what it could not write: the descriptor's copy is closed, for the file stays ours. A
 * folder's files are more than its descriptor: all of the file system. */
distmap_status dm_output_complete(dm_output *output, bool synced) {
    if (output->error)
        return dm_output_failed(output);
    const int copy = fcntl(output->fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0 || close(copy))
        return fail(output, "cannot write");
    if (synced && output->target && (output->is_folder ? syncfs(output->fd) : fsync(output->fd)))
        return fail(output, "cannot write to the disk");
    return DISTMAP_OK;
}

void dm_output_leave(dm_output *output) {
    free(output->temp);
    output->temp = NULL;
    dm_output_abort(output);
}

void dm_output_remove(const char *path) { dm_remove_at(AT_FDCWD, path); }

/* The temporary goes before its lock does. */
void dm_output_abort(dm_output *output) {
    if (output->temp)
        dm_output_remove(output->temp);
    if (output->fd >= 0)
        close(output->fd);
    if (output->kept_fd >= 0)
        close(output->kept_fd);
    dm_lock_release(&output->lock);
    free(output->kept);
    free(output->temp);
    free(output->target);
    free(output->file);
    free(output->name);
    *output = (dm_output){.fd = -1, .lock = {.fd = -1}, .kept_fd = -1};
}
