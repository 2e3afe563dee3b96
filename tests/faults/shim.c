/* A library to preload: the Nth system call that has to do with a folder fails, or all that would outlive a power failure is noted.
 *
 *     FAULTS_FOLDER  calls on what lies in this folder count (its real name)
 *     FAULTS_CALL    none but these: "flock"; "read", which counts by this name alone, is any reading
 *     FAULTS_AT      which one fails, from 1 on; 0: none; -1: none, and "calls NUMBER" is said at the end
 *     FAULTS_ERRNO   with this error
 *     FAULTS_DO      instead: "stop" (SIGSTOP before it), "kill" (SIGKILL); "short": half of what is to be written is; "torn": then SIGKILL
 *     FAULTS_BOOT    a file that tells the boot's number instead of the system's
 *     FAULTS_LOG     gets a line for each change of a name and each sync, and "fired CALL"
 *     FAULTS_SAVE    a folder: what a sync brought to the disk is copied there, file by file
 *
 * A forked child that calls faults_begin() begins anew with its own environment. With FAULTS_SERVE the program does not run but serves: each
 * request on its standard input (serve.c) runs it in a forked child, which saves the time of loading libraries.
 *
 * A name's changes are "create", "rename", "exchange", "link" and "unlink"; "sync INODE COPY" is a file's, "folder" a folder's. Removing
 * never fails, so that nothing excuses what is left behind.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))real(#name))

static const char *folder, *save, *only, *instead;
static size_t folder_bytes;
static int log_fd = -1, error_number;
static long fail_at;
static atomic_long calls, copies;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static long number_of(const char *variable) {
    const char *text = getenv(variable);
    return text ? atol(text) : 0;
}

void faults_begin(void), faults_end(void);

__attribute__((constructor)) void faults_begin(void) {
    const char *log = getenv("FAULTS_LOG");
    folder = getenv("FAULTS_FOLDER");
    folder_bytes = folder ? strlen(folder) : 0;
    save = getenv("FAULTS_SAVE");
    only = getenv("FAULTS_CALL");
    instead = getenv("FAULTS_DO") ? getenv("FAULTS_DO") : "";
    calls = 0;
    fail_at = number_of("FAULTS_AT");
    error_number = (int)number_of("FAULTS_ERRNO");
    if (log)
        log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
}

static void say(const char *format, ...) {
    char line[2 * PATH_MAX + 64];
    va_list arguments;
    va_start(arguments, format);
    const int bytes = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (log_fd >= 0)
        syscall(SYS_write, log_fd, line, bytes);
}

/* Prints the count of a run with FAULTS_AT=-1. */
__attribute__((destructor)) void faults_end(void) {
    if (fail_at < 0)
        say("calls %ld\n", (long)calls);
    fail_at = 0;
}

/* ---- What a call is about ---- */

static bool within(const char *path) {
    return folder && !strncmp(path, folder, folder_bytes) && (path[folder_bytes] == '/' || !path[folder_bytes]);
}

static bool name_of_fd(int fd, char path[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t bytes = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    return within(path);
}

static bool name_at(int at, const char *name, char path[PATH_MAX]) {
    char base[PATH_MAX] = "";
    if (*name != '/') {
        if (at == AT_FDCWD)
            syscall(SYS_getcwd, base, sizeof base);
        else
            name_of_fd(at, base);
        strcat(base, "/");
    }
    while (!strncmp(name, "./", 2))
        name += 2;
    snprintf(path, PATH_MAX, "%.2000s%.2000s", base, name);
    return within(path);
}

static bool is_half(void) { return !strcmp(instead, "short") || !strcmp(instead, "torn"); }

/* Whether this one fails. */
static bool fails(const char *call) {
    const bool counts =
        (only ? !strcmp(call, only) : strcmp(call, "read") != 0) && (!is_half() || strstr(call, "write"));
    if (!fail_at || !counts || ++calls != fail_at)
        return false;
    say("fired %s\n", call);
    if (!strcmp(instead, "stop")) {
        raise(SIGSTOP);
        return false;
    }
    if (!strcmp(instead, "kill"))
        kill(getpid(), SIGKILL);
    errno = error_number;
    return true;
}

static bool fd_fails(int fd, const char *call) {
    char path[PATH_MAX];
    return fail_at && name_of_fd(fd, path) && fails(call);
}

/* ---- What is on the disk ---- */

/* By another descriptor, since that one may be for writing alone. */
static void copy(int fd) {
    char buffer[1 << 16], name[PATH_MAX];
    struct stat info;
    if (!save || fstat(fd, &info) || !S_ISREG(info.st_mode))
        return;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const int from = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY, 0);
    const long number = ++copies;
    snprintf(name, sizeof name, "%s/%ld", save, number);
    const int to = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    ssize_t bytes;
    for (off_t at = 0; (bytes = syscall(SYS_pread64, from, buffer, sizeof buffer, at)) > 0; at += bytes)
        syscall(SYS_write, to, buffer, bytes);
    syscall(SYS_close, to);
    syscall(SYS_close, from);
    say("sync\t%lu\t%ld\n", (unsigned long)info.st_ino, number);
}

static void copy_all(const char *path) {
    DIR *list = opendir(path);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char below[PATH_MAX];
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        snprintf(below, sizeof below, "%.2000s/%s", path, entry->d_name);
        const int fd = (int)syscall(SYS_openat, AT_FDCWD, below, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        struct stat info;
        if (fd >= 0 && !fstat(fd, &info) && S_ISDIR(info.st_mode))
            copy_all(below);
        else if (fd >= 0)
            copy(fd);
        if (fd >= 0)
            syscall(SYS_close, fd);
    }
    if (list)
        closedir(list);
}

static void created(const char *path) {
    struct stat info;
    if (save && !lstat(path, &info))
        say("create\t%s\t%lu\t%s\n", path, (unsigned long)info.st_ino, S_ISDIR(info.st_mode) ? "folder" : "file");
}

/* ---- Opening ---- */

static int open_as(const char *call, int at, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    struct stat info;
    const bool ours = name_at(at, name, path), news = ours && flags & O_CREAT && fstatat(at, name, &info, 0);
    if (getenv("FAULTS_BOOT") && !strcmp(name, "/proc/sys/kernel/random/boot_id"))
        name = getenv("FAULTS_BOOT");
    const bool removing = (flags & (O_DIRECTORY | O_NOFOLLOW)) == (O_DIRECTORY | O_NOFOLLOW); /* what a folder holds */
    if (ours && !removing && fails(call))
        return -1;
    const int fd = (int)syscall(SYS_openat, at, name, flags, mode);
    if (fd >= 0 && news)
        created(path);
    return fd;
}

#define MODE(flags)                                                                    \
    va_list arguments;                                                                 \
    va_start(arguments, flags);                                                        \
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments)

int open(const char *name, int flags, ...) {
    MODE(flags);
    return open_as("open", AT_FDCWD, name, flags, mode);
}
int open64(const char *name, int flags, ...) {
    MODE(flags);
    return open_as("open", AT_FDCWD, name, flags, mode);
}
int openat(int at, const char *name, int flags, ...) {
    MODE(flags);
    return open_as("openat", at, name, flags, mode);
}
int openat64(int at, const char *name, int flags, ...) {
    MODE(flags);
    return open_as("openat", at, name, flags, mode);
}

static int make_folder(int at, const char *name, mode_t mode) {
    char path[PATH_MAX];
    const bool ours = name_at(at, name, path);
    if (ours && fails("mkdir"))
        return -1;
    const int made = (int)syscall(SYS_mkdirat, at, name, mode);
    if (!made && ours)
        created(path);
    return made;
}
int mkdir(const char *name, mode_t mode) { return make_folder(AT_FDCWD, name, mode); }
int mkdirat(int at, const char *name, mode_t mode) { return make_folder(at, name, mode); }

FILE *fopen(const char *name, const char *mode) {
    const char *boot = strcmp(name, "/proc/sys/kernel/random/boot_id") ? NULL : getenv("FAULTS_BOOT");
    return REAL(fopen)(boot ? boot : name, mode);
}
FILE *fopen64(const char *name, const char *mode) { return fopen(name, mode); }

/* ---- Writing and reading ---- */

/* The number of bytes, out of `bytes`, that are written now; 0: the call fails. */
static size_t share(int fd, const char *call, size_t bytes) {
    return !fd_fails(fd, call) ? bytes : is_half() ? bytes / 2 : 0;
}

static ssize_t written(size_t wanted, size_t bytes, ssize_t done) {
    if (bytes < wanted && !strcmp(instead, "torn"))
        kill(getpid(), SIGKILL);
    return done;
}

ssize_t write(int fd, const void *data, size_t bytes) {
    const size_t now = share(fd, "write", bytes);
    return bytes && !now ? -1 : written(bytes, now, syscall(SYS_write, fd, data, now));
}
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at) {
    const size_t now = share(fd, "pwrite", bytes);
    return bytes && !now ? -1 : written(bytes, now, syscall(SYS_pwrite64, fd, data, now, at));
}
ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t at) { return pwrite(fd, data, bytes, at); }
ssize_t pwritev(int fd, const struct iovec *data, int count, off_t at) {
    return fd_fails(fd, "pwritev") ? -1 : syscall(SYS_pwritev, fd, data, count, (long)at, 0L);
}
ssize_t pwritev64(int fd, const struct iovec *data, int count, off_t at) { return pwritev(fd, data, count, at); }
ssize_t read(int fd, void *data, size_t bytes) {
    return fd_fails(fd, "read") ? -1 : syscall(SYS_read, fd, data, bytes);
}
ssize_t pread(int fd, void *data, size_t bytes, off_t at) {
    return fd_fails(fd, "read") ? -1 : syscall(SYS_pread64, fd, data, bytes, at);
}
ssize_t pread64(int fd, void *data, size_t bytes, off_t at) { return pread(fd, data, bytes, at); }
int ftruncate(int fd, off_t bytes) { return fd_fails(fd, "ftruncate") ? -1 : (int)syscall(SYS_ftruncate, fd, bytes); }
int ftruncate64(int fd, off_t bytes) { return ftruncate(fd, bytes); }
int fallocate(int fd, int mode, off_t at, off_t bytes) {
    return fd_fails(fd, "fallocate") ? -1 : (int)syscall(SYS_fallocate, fd, mode, at, bytes);
}
int posix_fallocate(int fd, off_t at, off_t bytes) {
    return fd_fails(fd, "posix_fallocate") ? error_number : REAL(posix_fallocate)(fd, at, bytes);
}
int posix_fallocate64(int fd, off_t at, off_t bytes) { return posix_fallocate(fd, at, bytes); }
void *mmap(void *place, size_t bytes, int protection, int flags, int fd, off_t at) {
    return fd >= 0 && fd_fails(fd, "mmap") ? MAP_FAILED
                                           : (void *)syscall(SYS_mmap, place, bytes, protection, flags, fd, at);
}
void *mmap64(void *place, size_t bytes, int protection, int flags, int fd, off_t at) {
    return mmap(place, bytes, protection, flags, fd, at);
}
int fchmod(int fd, mode_t mode) { return fd_fails(fd, "fchmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode); }
int flock(int fd, int how) { return fd_fails(fd, "flock") ? -1 : (int)syscall(SYS_flock, fd, how); }

static int sync_one(int fd, const char *call, int number) {
    char path[PATH_MAX];
    struct stat info;
    const bool ours = name_of_fd(fd, path);
    if (ours && fails(call))
        return -1;
    if (save) /* whoever replays it need not wait for the disk */
        copy(fd);
    else if (syscall(number, fd))
        return -1;
    if (ours && save && !fstat(fd, &info) && S_ISDIR(info.st_mode))
        say("folder\t%s\n", path);
    return 0;
}
int fsync(int fd) { return sync_one(fd, "fsync", SYS_fsync); }
int fdatasync(int fd) { return sync_one(fd, "fdatasync", SYS_fdatasync); }
int syncfs(int fd) {
    if (fd_fails(fd, "syncfs"))
        return -1;
    if (save) {
        copy_all(folder);
        say("folder\t%s\n", folder);
    }
    return 0;
}

/* ---- Names ---- */

static int rename_as(const char *call, int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    char a[PATH_MAX], b[PATH_MAX];
    const bool from_is = name_at(from_at, from, a), ours = name_at(to_at, to, b) || from_is;
    if (ours && fails(call))
        return -1;
    const int done = (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
    if (!done && ours && save)
        say("%s\t%s\t%s\n", flags & RENAME_EXCHANGE ? "exchange" : "rename", a, b);
    return done;
}
int rename(const char *from, const char *to) { return rename_as("rename", AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_at, const char *from, int to_at, const char *to) {
    return rename_as("renameat", from_at, from, to_at, to, 0);
}
/* FAULTS_OLD: a file system that knows no flags. */
int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    if (flags && getenv("FAULTS_OLD")) {
        errno = EINVAL;
        return -1;
    }
    return rename_as("renameat2", from_at, from, to_at, to, flags);
}
int link(const char *from, const char *to) {
    char a[PATH_MAX], b[PATH_MAX];
    const bool from_is = name_at(AT_FDCWD, from, a), ours = name_at(AT_FDCWD, to, b) || from_is;
    if (ours && fails("link"))
        return -1;
    const int done = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (!done && ours && save)
        say("link\t%s\t%s\n", a, b);
    return done;
}
int unlinkat(int at, const char *name, int flags) {
    char path[PATH_MAX];
    const bool ours = name_at(at, name, path);
    const int done = (int)syscall(SYS_unlinkat, at, name, flags);
    if (!done && ours && save)
        say("unlink\t%s\n", path);
    return done;
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }
