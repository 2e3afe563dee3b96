/* Which file an output's name means, by one rule, that of a shell's redirection: links are followed to where they point, whether
 * something is there or not, and stay; descriptors, pipes and devices are written as they are; a file that may not be written is
 * refused. A file that will be replaced hands on its mode, its owner, its access list and the user's attributes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "io/codec.h"
#include "io/target.h"

enum { LINKS = 40 }; /* as many as the kernel follows */
static const char ACCESS_LIST[] = "system.posix_acl_access";

static distmap_status fail(const dm_output *output, const char *what) {
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: %s: %s", output->name, what, strerror(errno));
}

/* The descriptor that a name stands for: "/dev/stdout", "/dev/fd/3"; -1: none. */
static int descriptor_of(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr"))
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t length = strlen(folders[i]);
        if (!strncmp(path, folders[i], length) && strspn(path + length, "0123456789") == strlen(path + length) &&
            path[length])
            return atoi(path + length);
    }
    return -1;
}

/* The target of a link, relative to the link's folder; NULL and errno. */
static char *follow(const char *link) {
    char text[PATH_MAX];
    const ssize_t bytes = readlink(link, text, sizeof text - 1);
    if (bytes < 0)
        return NULL;
    text[bytes] = '\0';
    const char *slash = strrchr(link, '/');
    char *path;
    if (asprintf(&path, "%.*s%s", slash && *text != '/' ? (int)(slash - link) + 1 : 0, link, text) < 0)
        return NULL;
    return path;
}

static distmap_status take_descriptor(dm_output *output, int fd) {
    output->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return output->fd < 0 ? fail(output, "cannot write") : DISTMAP_OK;
}

distmap_status dm_target_find(dm_output *output, bool standard) {
    struct stat info;
    int descriptor = standard ? STDOUT_FILENO : descriptor_of(output->file);
    char *path = strdup(output->file);
    for (int links = 0; path && descriptor < 0 && !lstat(path, &info) && S_ISLNK(info.st_mode); links++) {
        char *next = links < LINKS ? follow(path) : NULL;
        if (links == LINKS)
            errno = ELOOP;
        free(path);
        path = next;
        descriptor = path ? descriptor_of(path) : -1;
    }
    if (!path)
        return fail(output, "cannot open for writing");
    if (descriptor >= 0) {
        free(path);
        return take_descriptor(output, descriptor);
    }
    distmap_status status = DISTMAP_OK;
    const bool exists = !stat(path, &info);
    if (exists && S_ISDIR(info.st_mode)) {
        status = distmap_error_set(DISTMAP_ERROR_IO, "%s: is a folder, not a file", output->name);
    } else if (exists && !S_ISREG(info.st_mode)) {
        do /* opening a pipe waits for its reader */
            output->fd = open(path, O_WRONLY | O_CLOEXEC);
        while (output->fd < 0 && dm_goes_on());
        status = output->fd < 0 ? fail(output, "cannot open for writing") : DISTMAP_OK;
    } else if (exists &&
               (!(info.st_mode & 0222) || access(path, W_OK))) { /* whoever may write to anything is told too */
        status = distmap_error_set(DISTMAP_ERROR_IO, "%s: is read-only, and is not replaced", output->name);
    } else {
        output->replaces = exists;
        output->was = info;
        output->target = path;
        return DISTMAP_OK;
    }
    free(path);
    return status;
}

/* ---- Attributes of a replaced file ---- */

/* The user's attributes are copied, and the POSIX access list; the system makes its own attributes and those of security modules. */
static bool is_handed_on(const char *name, bool lists) {
    return !strncmp(name, "user.", 5) || (lists && !strcmp(name, ACCESS_LIST));
}

/* An attribute that cannot be read or set is left out: some file systems have none, and one may have less room than the other. */
static void copy_attribute(int from, int to, const char *name) {
    const ssize_t bytes = fgetxattr(from, name, NULL, 0);
    char *value = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
    if (value && fgetxattr(from, name, value, (size_t)bytes) == bytes)
        fsetxattr(to, name, value, (size_t)bytes, 0);
    free(value);
}

static void copy_attributes(int from, int to, bool lists) {
    const ssize_t bytes = flistxattr(from, NULL, 0);
    char *names = bytes > 0 ? malloc((size_t)bytes) : NULL;
    if (names && flistxattr(from, names, (size_t)bytes) == bytes)
        for (const char *name = names; name < names + bytes; name += strlen(name) + 1)
            if (is_handed_on(name, lists))
                copy_attribute(from, to, name);
    free(names);
}

/* A process that cannot set the group gives the group no more rights than all others have, and copies no access list. A new file begins
 * with the folder's default list; it is removed, because the replaced file's rights apply. */
void dm_target_hand_on(const dm_output *output) {
    mode_t mode = output->was.st_mode & 0777;
    struct stat made;
    if (!output->replaces || fstat(output->fd, &made))
        return;
    const bool other = made.st_uid != output->was.st_uid || made.st_gid != output->was.st_gid;
    const bool kept = !other || !fchown(output->fd, output->was.st_uid, output->was.st_gid) ||
                      !fchown(output->fd, (uid_t)-1, output->was.st_gid);
    if (!kept)
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    fremovexattr(output->fd, ACCESS_LIST);
    fchmod(output->fd, mode);
    const int was = open(output->target, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (was >= 0) {
        copy_attributes(was, output->fd, kept);
        close(was);
    }
}
