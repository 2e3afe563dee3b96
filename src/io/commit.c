/* Outputs take their names as one: all, or none.
 *
 * When a transaction begins, every output is complete and on the disk under a temporary name. Then names are taken one by one, and what
 * had a name before is kept under the temporary one (both are exchanged at once, so that the name always means something whole) until
 * the last is taken. If one cannot be taken, those before it are given back in reverse. A process that is killed, or a machine that
 * loses its power, leaves some outputs new and some as they were, but each of them whole.
 *
 * So that two runs with the same outputs do not end with some of either's, names are taken under the locks of all their folders. These
 * are locked in one order, and nobody who holds them waits for another lock.
 *
 * An error after the last exchange changes nothing: it reports folders that could not be written to the disk.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/codec.h"

enum { ATTEMPTS = 10 };

static distmap_status fail(const dm_output *output, const char *what, int reason) {
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: %s: %s", output->name, what, strerror(reason));
}

/* ---- Locks ---- */

struct place {
    const char *folder;
    struct stat info;
};

static int by_inode(const void *a, const void *b) {
    const struct stat *x = &((const struct place *)a)->info, *y = &((const struct place *)b)->info;
    if (x->st_dev != y->st_dev)
        return x->st_dev < y->st_dev ? -1 : 1;
    return x->st_ino < y->st_ino ? -1 : x->st_ino > y->st_ino;
}

distmap_status dm_commit_lock(dm_commit *commit, const char *const *folders, int count) {
    struct place *places = calloc((size_t)count + 1, sizeof *places);
    commit->locks = calloc((size_t)count + 1, sizeof *commit->locks);
    if (!places || !commit->locks) {
        free(places);
        return dm_no_memory("the outputs");
    }
    int known = 0;
    for (int i = 0; i < count; i++) {
        places[known].folder = folders[i];
        known += !stat(*folders[i] ? folders[i] : ".", &places[known].info); /* else renaming will tell */
    }
    qsort(places, (size_t)known, sizeof *places, by_inode);
    for (int i = 0; i < known; i++)
        if (i == 0 || by_inode(&places[i - 1], &places[i]))
            dm_lock_names(&commit->locks[commit->lock_count++], places[i].folder);
    free(places);
    return DISTMAP_OK;
}

static void unlock(dm_commit *commit) {
    for (int i = 0; i < commit->lock_count; i++)
        dm_lock_release(&commit->locks[i]);
    free(commit->locks);
    commit->locks = NULL;
    commit->lock_count = 0;
}

/* ---- Taking one name. Each: 0, or errno ---- */

static bool is_missing(int reason) { return reason == EINVAL || reason == ENOSYS || reason == EOPNOTSUPP; }

/* Where nothing has it. Not every file system can rename without replacing; a second name does the same for a file. */
static int take_new(dm_output *o) {
    if (!renameat2(AT_FDCWD, o->temp, AT_FDCWD, o->target, RENAME_NOREPLACE))
        return 0;
    if (!is_missing(errno))
        return errno;
    if (!o->is_folder && !link(o->temp, o->target)) {
        unlink(o->temp);
        return 0;
    }
    if (!o->is_folder && errno == EEXIST)
        return errno;
    return rename(o->temp, o->target) ? errno : 0;
}

/* The old file gets a temporary name, under which it is kept. */
static int keep_apart(dm_output *o) {
    char *folder = dm_output_folder(o->target), name[DM_TEMPORARY_NAME];
    int reason = folder && dm_temporary_name(name) ? 0 : ENOMEM;
    if (!reason && asprintf(&o->kept, "%s%s", folder, name) < 0) {
        o->kept = NULL;
        reason = ENOMEM;
    }
    free(folder);
    if (reason)
        return reason;
    const bool linked = !link(o->target, o->kept);
    if (!linked && rename(o->target, o->kept))
        reason = errno; /* neither: nothing has happened */
    else if (rename(o->temp, o->target)) {
        reason = errno;
        if (!linked)
            rename(o->kept, o->target);
        else
            unlink(o->kept);
    }
    if (reason) {
        free(o->kept);
        o->kept = NULL;
        return reason;
    }
    free(o->temp);
    o->temp = NULL;
    return 0;
}

static int take_over(dm_output *o) {
    if (o->kept_fd < 0)
        o->kept_fd = open(o->target, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (o->kept_fd >= 0)
        dm_temporary_mark(o->kept_fd);
    if (renameat2(AT_FDCWD, o->temp, AT_FDCWD, o->target, RENAME_EXCHANGE))
        return is_missing(errno) ? keep_apart(o) : errno;
    o->kept = o->temp;
    o->temp = NULL;
    return 0;
}

static int take_once(const dm_commit *commit, dm_output *o, dm_taken *how) {
    struct stat info;
    const bool there = !lstat(o->target, &info);
    *how = there && !o->is_folder ? DM_TAKEN_OVER : DM_TAKEN_NEW;
    if (*how == DM_TAKEN_NEW)
        return take_new(o);
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    if (!commit->alone)
        return take_over(o);
    return rename(o->temp, o->target) ? errno : 0;
}

distmap_status dm_commit_take(dm_commit *commit, dm_output *o) {
    if (!o->target)
        return DISTMAP_OK;
    if (o->grows && dm_output_target_changed(o))
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: was changed by another program meanwhile: nothing was added",
                                 o->name);
    if (lstat(o->temp, &o->made))
        return fail(o, "cannot take its name", errno);
    int reason = EEXIST;
    dm_taken how = DM_NOT_TAKEN;
    /* Others, who do not lock, may make or remove what has the name. */
    for (int attempt = 0; attempt < ATTEMPTS && (reason == EEXIST || reason == ENOENT); attempt++)
        reason = take_once(commit, o, &how);
    if (reason)
        return fail(o, "cannot take its name", reason);
    o->taken = how;
    o->before = commit->last;
    commit->last = o;
    return DISTMAP_OK;
}

/* ---- Giving back ---- */

static bool is_still_ours(const dm_output *o) {
    struct stat named;
    return !lstat(o->target, &named) && named.st_dev == o->made.st_dev && named.st_ino == o->made.st_ino;
}

/* A file that cannot get its name back stays under the temporary name: it is not ours to remove. */
static void give_back(dm_output *o) {
    if (!is_still_ours(o))
        return;
    if (o->taken == DM_TAKEN_NEW) {
        if (rename(o->target, o->temp))
            dm_output_remove(o->target);
    } else if (!rename(o->kept, o->target) || !rename(o->kept, o->target)) {
        free(o->kept);
        o->kept = NULL;
    }
}

void dm_commit_give_back(dm_commit *commit) {
    for (dm_output *o = commit->last; o; o = o->before)
        if (!commit->alone)
            give_back(o);
    commit->last = NULL;
    unlock(commit);
}

/* ---- The end ---- */

/* File systems that have nothing to say about a folder refuse it; one that may not be read is written with all others. */
static int sync_folder(const dm_output *o) {
    char folder[PATH_MAX] = "."; /* nothing may fail for want of memory here */
    const char *slash = strrchr(o->target, '/');
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - o->target) + 1, o->target);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int reason = (fd < 0 ? syncfs(o->fd) : fsync(fd)) ? errno : 0;
    if (fd >= 0)
        close(fd);
    return is_missing(reason) || reason == EBADF || reason == EROFS ? 0 : reason;
}

static bool lie_together(const dm_output *a, const dm_output *b) {
    const char *ends[] = {strrchr(a->target, '/'), strrchr(b->target, '/')};
    const size_t lengths[] = {ends[0] ? (size_t)(ends[0] - a->target) : 0, ends[1] ? (size_t)(ends[1] - b->target) : 0};
    return !ends[0] == !ends[1] && lengths[0] == lengths[1] && !strncmp(a->target, b->target, lengths[0]);
}

distmap_status dm_commit_settle(dm_commit *commit) {
    distmap_status status = DISTMAP_OK;
    for (dm_output *o = commit->last; o; o = o->before) {
        const int reason = commit->synced && (o == commit->last || !lie_together(o, commit->last)) ? sync_folder(o) : 0;
        if (reason && !status)
            status = fail(o, "is written whole, but its folder cannot be written to the disk", reason);
    }
    for (dm_output *o = commit->last; o; o = o->before) {
        free(o->temp);
        o->temp = NULL;
        if (o->kept)
            unlink(o->kept);
        free(o->kept);
        o->kept = NULL;
    }
    commit->last = NULL;
    unlock(commit);
    return status;
}
