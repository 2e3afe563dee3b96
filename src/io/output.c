/* A file, or a folder, that takes its name only when it is whole.
 *
 * It is written as .distmap-RANDOM in its target's folder, with the mode that the umask gives, and renamed at the end: a
 * reader sees the old file or the new one. A symbolic link is followed, so that the link stays. Devices and pipes are
 * written directly: to replace them would do harm.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/codec.h"

enum { COPY_BYTES = 1 << 20, OPEN_FOLDERS = 16 };

static distmap_status fail(const dm_output *output, const char *what) {
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: %s: %s", output->name, what, strerror(errno));
}

/* Makes the file, or the folder, of that name and opens it. `flags` may say that there must be none. */
static int open_new(const dm_output *output, const char *name, int flags) {
    if (!output->is_folder)
        return open(name, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0666);
    if (mkdir(name, 0777) && (flags & O_EXCL || errno != EEXIST))
        return -1;
    return open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Makes output->temp beside output->target and opens it. */
static distmap_status create_temp(dm_output *output) {
    const char *slash = strrchr(output->target, '/');
    const int folder = slash ? (int)(slash - output->target) + 1 : 0;
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t number;
        if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
            return fail(output, "cannot make a name");
        free(output->temp);
        if (asprintf(&output->temp, "%.*s.distmap-%016llx", folder, output->target, (unsigned long long)number) < 0) {
            output->temp = NULL;
            return distmap_error_set(DISTMAP_ERROR_MEMORY, "%s: out of memory", output->name);
        }
        output->fd = open_new(output, output->temp, O_EXCL);
        if (output->fd >= 0)
            return DISTMAP_OK;
        if (errno != EEXIST)
            break;
    }
    free(output->temp);
    output->temp = NULL;
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot create a file in folder %.*s: %s", output->name,
                             folder ? folder : 1, folder ? output->target : ".", strerror(errno));
}

static distmap_status open_part(dm_output *output, const char *part) {
    output->temp = strdup(part);
    if (!output->temp)
        return dm_no_memory(output->name);
    output->fd = open_new(output, part, 0);
    return output->fd < 0 ? fail(output, "cannot create the file for its parts") : DISTMAP_OK;
}

static distmap_status open_folder(dm_output *output, const char *part) {
    struct stat info;
    if (!lstat(output->file, &info))
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: is there already, and is not overwritten", output->name);
    return part ? open_part(output, part) : create_temp(output);
}

static distmap_status open_target(dm_output *output, const char *part, bool standard) {
    const char *path = output->file;
    if (output->is_folder)
        return open_folder(output, part);
    if (standard) {
        output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        return output->fd < 0 ? fail(output, "cannot write") : DISTMAP_OK;
    }
    struct stat info;
    const bool exists = !stat(path, &info);
    if (exists && S_ISDIR(info.st_mode))
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: is a folder, not a file", output->name);
    if (exists && !S_ISREG(info.st_mode)) {
        output->fd = open(path, O_WRONLY | O_CLOEXEC);
        return output->fd < 0 ? fail(output, "cannot open for writing") : DISTMAP_OK;
    }
    const bool link = exists && !lstat(path, &info) && S_ISLNK(info.st_mode);
    output->target = link ? realpath(path, NULL) : strdup(path);
    if (!output->target)
        return fail(output, "cannot open for writing");
    return part ? open_part(output, part) : create_temp(output);
}

static distmap_status open_either(dm_output *output, const char *path, char *folder, const char *part) {
    *output = (dm_output){.fd = -1, .is_folder = folder != NULL, .target = folder};
    const bool standard = !strcmp(path, "-");
    distmap_status status =
        dm_name_take(standard ? "standard output" : path, &output->name, &output->file, &output->dataset);
    if (!status)
        status = open_target(output, part, standard);
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
    }
    return DISTMAP_OK;
}

distmap_status dm_output_write(dm_output *output, const void *data, size_t bytes) {
    return write_all(output, -1, data, bytes);
}

distmap_status dm_output_write_at(dm_output *output, int64_t offset, const void *data, size_t bytes) {
    return write_all(output, offset, data, bytes);
}

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
    *there = !stat(output->target, &output->was);
    if (!*there)
        return DISTMAP_OK;
    /* Whoever may write to anything is told too. */
    if (!(output->was.st_mode & 0222) || access(output->target, W_OK))
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: is read-only: nothing is added to it", output->name);
    const int fd = open(output->target, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(output, "cannot read what it holds");
    output->grows = true;
    distmap_status status = fchmod(output->fd, output->was.st_mode & 0777) ? fail(output, "cannot write") : DISTMAP_OK;
    if (!status)
        status = copy_from(output, fd);
    close(fd);
    return status;
}

static bool target_changed(const dm_output *output) {
    struct stat now;
    const struct stat *was = &output->was;
    return stat(output->target, &now) || now.st_dev != was->st_dev || now.st_ino != was->st_ino ||
           now.st_size != was->st_size || now.st_mtim.tv_sec != was->st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != was->st_mtim.tv_nsec;
}

distmap_status dm_output_finish(dm_output *output) {
    distmap_status status = output->error ? dm_output_failed(output) : DISTMAP_OK;
    const int fd = output->fd;
    output->fd = -1;
    if (close(fd) && !status)
        status = fail(output, "cannot write");
    if (!status && output->grows && target_changed(output))
        status = distmap_error_set(DISTMAP_ERROR_IO, "%s: was changed by another program meanwhile: nothing was added",
                                   output->name);
    if (!status && output->target && rename(output->temp, output->target))
        status = fail(output, "cannot take its name");
    if (!status) {
        free(output->temp);
        output->temp = NULL;
    }
    dm_output_abort(output);
    return status;
}

void dm_output_leave(dm_output *output) {
    free(output->temp);
    output->temp = NULL;
    dm_output_abort(output);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    remove(path);
    return 0;
}

void dm_output_remove(const char *path) { nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS); }

void dm_output_abort(dm_output *output) {
    if (output->fd >= 0)
        close(output->fd);
    if (output->temp)
        dm_output_remove(output->temp);
    free(output->temp);
    free(output->target);
    free(output->file);
    free(output->name);
    *output = (dm_output){.fd = -1};
}
