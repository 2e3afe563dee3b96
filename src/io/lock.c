/* Locks on what cannot be locked itself: a file that is replaced rather than changed, and the names of a folder.
 *
 * The lock is on .distmap-lock-KEY beside it, made for it and removed with it. Who has waited for the lock looks whether the file
 * still has its name, and else begins anew, since the one before has removed it. What a killed process leaves is a file that nobody
 * has locked: the next one locks it, or removes it with other temporaries (temporary.c).
 *
 * The folder itself is not locked: a script may have done that around the very run that would wait for it then. Nor is the file:
 * its readers may lock it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/codec.h"
#include "io/hash.h"
#include "io/temporary.h"

enum { ATTEMPTS = 10000, HELD_AT_ONCE = 64, PATIENCE_MS = 30000, PAUSE_MS = 20 };

/* ---- Which this process holds ---- */

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct held {
    dev_t device;
    ino_t inode;
    int fd;
} table[HELD_AT_ONCE];
static int held_count;

static bool is_held(const struct stat *info, bool *any) {
    bool found = false;
    pthread_mutex_lock(&table_lock);
    for (int i = 0; i < held_count; i++)
        found |= table[i].device == info->st_dev && table[i].inode == info->st_ino;
    *any = held_count > 0;
    pthread_mutex_unlock(&table_lock);
    return found;
}

static void note(int fd, const struct stat *info) {
    pthread_mutex_lock(&table_lock);
    if (held_count < HELD_AT_ONCE)
        table[held_count++] = (struct held){info->st_dev, info->st_ino, fd};
    pthread_mutex_unlock(&table_lock);
}

static void forget(int fd) {
    pthread_mutex_lock(&table_lock);
    for (int i = 0; i < held_count; i++)
        if (table[i].fd == fd) {
            table[i] = table[--held_count];
            break;
        }
    pthread_mutex_unlock(&table_lock);
}

/* ---- One attempt ---- */

static int open_lock(const char *path) {
    const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    return fd >= 0 || errno != EACCES ? fd : open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC); /* another user's */
}

/* 0, or errno: EINTR where the user ends the wait. */
static int lock_and_wait(int fd) {
    while (flock(fd, LOCK_EX))
        if (!dm_goes_on())
            return errno;
    return 0;
}

static bool has_its_name(int fd, const char *path) {
    struct stat opened, named;
    return !fstat(fd, &opened) && !lstat(path, &named) && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

static bool path_of(dm_lock *lock, int folder_bytes, const char *folder, uint64_t key) {
    lock->fd = -1;
    if (asprintf(&lock->path, "%.*s" DM_LOCK_NAME "%016llx", folder_bytes, folder, (unsigned long long)key) < 0)
        lock->path = NULL;
    return lock->path;
}

void dm_lock_names(dm_lock *lock, const char *folder) {
    if (!path_of(lock, (int)strlen(folder), folder, 0))
        return;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        const int fd = open_lock(lock->path);
        if (fd < 0)
            break;
        const int failed = lock_and_wait(fd);
        if (failed) {
            if (failed != EINTR)
                unlink(lock->path); /* nobody can lock it */
            close(fd);
            break;
        }
        if (has_its_name(fd, lock->path)) {
            lock->fd = fd;
            return;
        }
        close(fd);
    }
    free(lock->path);
    lock->path = NULL;
}

/* Waits for the lock as long as that is no danger: 0, or errno. */
static int wait_for(int fd, bool holds_any) {
    if (!holds_any)
        return lock_and_wait(fd);
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    for (int waited = 0; waited < PATIENCE_MS; waited += PAUSE_MS) {
        if (!flock(fd, LOCK_EX | LOCK_NB))
            return 0;
        if (errno != EWOULDBLOCK || nanosleep(&pause, NULL))
            return errno;
    }
    return EWOULDBLOCK;
}

static uint64_t key_of(const char *target, int *folder_bytes) {
    const char *slash = strrchr(target, '/'), *base = slash ? slash + 1 : target;
    const uint64_t hash = dm_hash(DM_HASH_START, base, strlen(base));
    *folder_bytes = (int)(base - target);
    return hash ? hash : 1; /* 0 stands for the folder's names */
}

distmap_status dm_lock_growth(dm_lock *lock, const char *name, const char *target) {
    int folder_bytes;
    const uint64_t key = key_of(target, &folder_bytes);
    if (!path_of(lock, folder_bytes, target, key))
        return dm_no_memory(name);
    for (;;) {
        struct stat info;
        bool any;
        const int fd = open_lock(lock->path);
        if (fd < 0 || fstat(fd, &info)) {
            const int reason = errno;
            if (fd >= 0)
                close(fd);
            return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot be locked by %s: %s", name, lock->path,
                                     strerror(reason));
        }
        if (is_held(&info, &any)) {
            close(fd);
            return distmap_error_set(DISTMAP_ERROR_IO, "%s: this program is adding to it already", name);
        }
        const int reason = wait_for(fd, any);
        const bool without =
            reason == ENOLCK || reason == EOPNOTSUPP || reason == ENOSYS; /* the file system has none */
        if (reason && !without) {
            if (reason != EWOULDBLOCK && reason != EINTR)
                unlink(lock->path); /* nobody can lock it */
            close(fd);
            return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot be locked: %s", name,
                                     reason == EWOULDBLOCK ? "another program is adding to it" : strerror(reason));
        }
        if (has_its_name(fd, lock->path)) {
            lock->fd = fd;
            note(fd, &info);
            return DISTMAP_OK;
        }
        close(fd);
    }
}

void dm_lock_release(dm_lock *lock) {
    if (lock->fd >= 0) {
        forget(lock->fd);
        unlink(lock->path);
        close(lock->fd);
    }
    free(lock->path);
    *lock = (dm_lock){.fd = -1};
}
