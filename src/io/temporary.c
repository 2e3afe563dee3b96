/* Files that have no name of their own yet, and whose they are.
 *
 * A temporary's name is .distmap-HOST-NUMBER in the folder where it will be renamed. Its process holds a shared lock (flock) on it as
 * long as it is needed, which the kernel takes away when the process ends, however that is. So whoever gets an exclusive lock on
 * such a file knows that nobody needs it, and removes it: no process number is compared, which a container or another machine
 * counts anew. A shared lock, since libraries that read the file with one of theirs, as libhdf5 does, must be able to in the moment
 * between its renaming and its closing.
 *
 * Locks tell of the dead only among those who see each other's. On a file system that is this machine's own these are all who can
 * see the file; on others (NFS, FUSE, ...) locks may be kept by each machine for itself, so that only names that bear this
 * machine's HOST, a hash of its boot, are looked at there.
 *
 * Who makes a temporary may be overtaken between making and locking it, and then finds that the name is gone and takes another one.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "io/hash.h"
#include "io/temporary.h"

enum {
    ATTEMPTS = 100,
    PREFIX = sizeof DISTMAP_TEMPORARY - 1,
    NAME_BYTES = PREFIX + 16 + 1 + 16, /* ".distmap-HOST-NUMBER" */
    LOOKED_AT = 1 << 16,          /* names of a folder: a sweep is to take no longer than a run */
    FOLDERS_SWEPT = 16,
    UNKNOWN_HOST = 0,
};

/* ---- Names ---- */

static uint64_t host_number(void) {
    char boot[64];
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t bytes = fd < 0 ? 0 : read(fd, boot, sizeof boot);
    if (fd >= 0)
        close(fd);
    return bytes > 0 ? dm_hash(DM_HASH_START, boot, (size_t)bytes) : UNKNOWN_HOST;
}

static uint64_t host;
static pthread_once_t host_known = PTHREAD_ONCE_INIT;
static void find_host(void) { host = host_number(); }

bool dm_temporary_name(char name[DM_TEMPORARY_NAME]) {
    uint64_t number;
    pthread_once(&host_known, find_host);
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return false;
    snprintf(name, DM_TEMPORARY_NAME, DISTMAP_TEMPORARY "%016llx-%016llx", (unsigned long long)host, (unsigned long long)number);
    return true;
}

static bool is_ours(const char *name, unsigned long long *its_host) {
    static const char digits[] = "0123456789abcdef";
    return strlen(name) == NAME_BYTES && sscanf(name, DISTMAP_TEMPORARY "%16llx-%*16x", its_host) == 1 &&
           strspn(name + PREFIX, digits) == 16 && name[PREFIX + 16] == '-' && strspn(name + PREFIX + 17, digits) == 16;
}

/* A lock file's name (lock.c): its host is "lock" and it has no owner for longer than its lock. */
static bool is_lock(const char *name) {
    const size_t prefix = sizeof DM_LOCK_NAME - 1;
    return strncmp(name, DM_LOCK_NAME, prefix) == 0 && strlen(name) == prefix + 16;
}

/* ---- Making ---- */

static bool is_still_named(int fd, int at, const char *name) {
    struct stat opened, named;
    return !fstat(fd, &opened) && !fstatat(at, name, &named, AT_SYMLINK_NOFOLLOW) && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

void dm_temporary_mark(int fd) {
    while (flock(fd, LOCK_SH) && errno == EINTR)
        ;
}

int dm_temporary_open(int at, bool is_folder, mode_t mode, char name[DM_TEMPORARY_NAME]) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (!dm_temporary_name(name))
            return -1;
        if (is_folder && mkdirat(at, name, mode) && errno != EEXIST)
            return -1;
        const int fd = is_folder ? openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                 : openat(at, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0) {
            dm_temporary_mark(fd);
            if (is_still_named(fd, at, name))
                return fd;
            close(fd);
        } else if (errno != EEXIST && !(is_folder && errno == ENOENT)) {
            const int reason = errno;
            if (is_folder)
                unlinkat(at, name, AT_REMOVEDIR);
            errno = reason;
            return -1;
        }
    }
    errno = EEXIST;
    return -1;
}

/* ---- Removing ---- */

void dm_remove_at(int folder, const char *name) {
    if (!unlinkat(folder, name, 0) || (errno != EISDIR && errno != EPERM))
        return;
    const int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = below < 0 ? NULL : fdopendir(below);
    if (!list && below >= 0)
        close(below);
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            dm_remove_at(dirfd(list), entry->d_name);
    if (list)
        closedir(list);
    unlinkat(folder, name, AT_REMOVEDIR);
}

/* File systems that one machine alone has mounted, by their magic numbers of statfs(2). */
static bool is_of_this_machine(int folder) {
    static const unsigned long local[] = {0xef53 /* ext2 to ext4 */,
                                          0x58465342 /* XFS */,
                                          0x9123683e /* Btrfs */,
                                          0x01021994 /* tmpfs */,
                                          0x858458f6 /* ramfs */,
                                          0xf2f52010 /* F2FS */,
                                          0x794c7630 /* overlay */,
                                          0x2fc12fc1 /* ZFS */,
                                          0xca451a4e /* bcachefs */,
                                          0x4d44 /* FAT */,
                                          0x2011bab0 /* exFAT */};
    struct statfs info;
    if (fstatfs(folder, &info))
        return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((unsigned long)info.f_type == local[i])
            return true;
    return false;
}

/* Whether this process looks into the folder for the first time. */
static bool is_first_look(int folder) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        dev_t device;
        ino_t inode;
    } swept[FOLDERS_SWEPT];
    static unsigned next;
    struct stat info;
    if (fstat(folder, &info))
        return false;
    pthread_mutex_lock(&one_at_a_time);
    bool known = false;
    for (unsigned i = 0; i < FOLDERS_SWEPT && i < next; i++)
        known |= swept[i].device == info.st_dev && swept[i].inode == info.st_ino;
    if (!known) {
        swept[next % FOLDERS_SWEPT].device = info.st_dev;
        swept[next++ % FOLDERS_SWEPT].inode = info.st_ino;
    }
    pthread_mutex_unlock(&one_at_a_time);
    return !known;
}

/* Only what belongs to this user: another one's folder may be made into something else while it is being removed. */
static void remove_if_dead(int folder, const char *name) {
    const int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;
    if (fd < 0)
        return;
    if (!fstat(fd, &info) && info.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB) &&
        is_still_named(fd, folder, name))
        dm_remove_at(folder, name);
    close(fd);
}

void dm_temporary_sweep(int folder) {
    if (!is_first_look(folder))
        return;
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (!list && fd >= 0)
        close(fd);
    pthread_once(&host_known, find_host);
    struct dirent *entry;
    unsigned long long its_host;
    for (int looked = 0; list && looked < LOOKED_AT && (entry = readdir(list)); looked++)
        if (is_lock(entry->d_name) ||
            (is_ours(entry->d_name, &its_host) && (is_of_this_machine(folder) || (its_host == host && host))))
            remove_if_dead(folder, entry->d_name);
    if (list)
        closedir(list);
}
