/* Starting a process from within a library, whose caller may have threads, MPI or a GPU.
 *
 * fork() alone would be wrong there: the child would have one thread of many, and whatever locks the others held. So it is
 * posix_spawn() of a program, which shares the caller's memory until then and copies nothing. The program lies where this library
 * knows it: beside it in the installed tree or the build's, or it is the caller itself. Neither the environment nor the current
 * folder has a say in that.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/codec.h"
#include "io/helper.h"
#ifdef DISTMAP_HAVE_HDF5
#include "io/hdf5.h"
#endif

static const char self[] = "/proc/self/exe", argument[] = "--distmap-io-helper", file_name[] = "distmap-io-helper";
static bool is_own; /* set before there are threads */

void distmap_io_own_helper(int argc, const char *const *argv) {
    is_own = true;
    if (argc != 2 || strcmp(argv[1], argument) != 0)
        return;
#ifdef DISTMAP_HAVE_HDF5
    dm_hdf5_serve();
#else
    _exit(2);
#endif
}

/* The folder of the file that this code is in, or false. Names that are not absolute would depend on the current folder. */
static bool own_folder(char folder[PATH_MAX]) {
    Dl_info info;
    char path[PATH_MAX] = "";
    if (dladdr(file_name, &info) && info.dli_fname && info.dli_fname[0] == '/')
        snprintf(path, sizeof path, "%s", info.dli_fname);
    else {
        const ssize_t length = readlink(self, path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
    }
    if (path[0] != '/' || !realpath(path, folder))
        return false;
    *strrchr(folder, '/') = '\0';
    return true;
}

static bool find(char path[PATH_MAX]) {
    static const char *const from_here[] = {DM_HELPER_FROM_LIBRARY, "../libexec/distmap"};
    char folder[PATH_MAX];
    if (is_own) {
        strcpy(path, self);
        return true;
    }
    for (size_t i = 0; i < 2 && own_folder(folder); i++)
        if (snprintf(path, PATH_MAX, "%s/%s/%s", folder, from_here[i], file_name) < PATH_MAX && !access(path, X_OK))
            return true;
    return snprintf(path, PATH_MAX, "%s/%s", DM_HELPER_INSTALLED, file_name) < PATH_MAX && !access(path, X_OK);
}

static int spawn(pid_t *pid, const char *path, const int *descriptors, int count) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char *const arguments[] = {(char *)file_name, (char *)argument, NULL};
    sigemptyset(&none);
    sigfillset(&all);
    int status = posix_spawn_file_actions_init(&actions);
    if (status)
        return status;
    if (!(status = posix_spawnattr_init(&attributes))) {
        /* In a group of its own: what a terminal sends is for the caller, who then ends the child. */
        posix_spawnattr_setflags(&attributes,
                                 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        for (int fd = 0; fd < 3 && !status; fd++)
            status = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
        for (int i = 0; i < count && !status; i++)
            status = posix_spawn_file_actions_adddup2(&actions, descriptors[i], 3 + i);
        if (!status)
            status = posix_spawn(pid, path, &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

distmap_status dm_helper_start(dm_helper *helper, const char *name, const int *descriptors, int count) {
    enum { MOST = 8 };
    char path[PATH_MAX];
    int high[MOST], made = 0, status = 0; /* out of the way of the numbers that they get */
    *helper = (dm_helper){.handle = -1};
    if (!find(path))
        return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: is read by the program %s, which is not at %s", name,
                                 file_name, path);
    while (made < count && (high[made] = fcntl(descriptors[made], F_DUPFD_CLOEXEC, 3 + MOST)) >= 0)
        made++;
    status = made < count ? errno : spawn(&helper->pid, path, high, count);
    while (made > 0)
        close(high[--made]);
    if (status) {
        helper->pid = 0;
        return distmap_error_set(status == ENOMEM ? DISTMAP_ERROR_MEMORY : DISTMAP_ERROR_IO,
                                 "%s: cannot start its reader, %s: %s", name, path, strerror(status));
    }
#ifdef SYS_pidfd_open
    helper->handle = (int)syscall(SYS_pidfd_open, helper->pid, 0);
#endif
    return DISTMAP_OK;
}

void dm_helper_end(dm_helper *helper, char *how, size_t bytes) {
    int status = 0;
    if (bytes)
        snprintf(how, bytes, "without a word");
    if (!helper->pid)
        return;
    /* By its number alone it is not killed: who has reaped it for us may have let another process have that. It goes when its socket
     * is closed anyway. */
#ifdef SYS_pidfd_send_signal
    if (helper->handle >= 0)
        syscall(SYS_pidfd_send_signal, helper->handle, SIGKILL, NULL, 0);
#endif
    pid_t ended;
    while ((ended = waitpid(helper->pid, &status, 0)) < 0 && errno == EINTR)
        ;
    if (bytes && ended == helper->pid && WIFSIGNALED(status))
        snprintf(how, bytes, "by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (helper->handle >= 0)
        close(helper->handle);
    *helper = (dm_helper){.handle = -1};
}
