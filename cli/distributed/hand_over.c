/* From `distmap edt --distributed` and `distmap bench --suite cluster` to distmap-mpi, the same command with MPI in it.
 *
 * Whoever has no MPI shall not need it, and whoever has it not wait for it: so the command is not linked with MPI, but
 * a second program beside it is, where the build found MPI. It takes over this process, which mpirun has started.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "../cli.h"

int distributed_hand_over(const char *what, const char **argv) {
    static const char name[] = "distmap-mpi";
    char path[PATH_MAX + sizeof name];
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length < 0)
        return fail("%s: cannot find the folder of distmap: %s", what, strerror(errno));
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, name);
    execv(path, (char *const *)argv); /* which leaves the arguments as they are */
    return errno == ENOENT ? fail("%s: there is no %s: this distmap was built without MPI", what, path)
                           : fail("%s: cannot start %s: %s", what, path, strerror(errno));
}
