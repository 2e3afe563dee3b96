/* distmap report: the results of the benches as a page. The page is the Python package's work (python/distmap/report); this
 * finds a Python that can do it and becomes that: $PYTHON; else python3 on the PATH, or Debian's.
 *
 * Python runs isolated (-I): else it would look for its modules in the current folder first, and whoever may put a
 * matplotlib.py there would have it run. */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

/* The first argument is a folder to look in before others, or empty. */
#define LOOK "import sys; sys.path[:0] = filter(None, [sys.argv.pop(1)]); "
static const char can_do_it[] = LOOK "import matplotlib, distmap.report";
static const char does_it[] = LOOK "from distmap.report.__main__ import main; sys.exit(main())";

/* In a build folder of the source tree the package need not be installed: it is ../../python, if whoever owns the command
 * owns that as well. Else a command in /home/me/bin would trust /home/python. */
static void find_source_tree(char place[PATH_MAX]) {
    char command[PATH_MAX] = "", path[PATH_MAX + 32];
    struct stat ours, package;
    place[0] = '\0';
    const ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);
    if (length < 0 || stat(command, &ours) != 0 ||
        snprintf(path, sizeof path, "%s/../../python", dirname(command)) >= PATH_MAX || !realpath(path, place))
        return;
    snprintf(path, sizeof path, "%s/distmap/report", place);
    if (stat(path, &package) != 0 || package.st_uid != ours.st_uid)
        place[0] = '\0';
}

/* Whether that Python can make the page, with the package in `place`, if not empty; it says nothing. */
static bool can(const char *python, const char *place) {
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_RDWR);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execlp(python, python, "-I", "-c", can_do_it, place, (char *)NULL);
        _exit(127);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run(const struct options *options) {
    const char *named = getenv("PYTHON"), *pythons[] = {named ? named : "python3", "/usr/bin/python3"};
    char place[PATH_MAX];
    find_source_tree(place);
    for (size_t i = 0; i < (named ? 1 : sizeof pythons / sizeof *pythons); i++) {
        if (!can(pythons[i], place))
            continue;
        const char *arguments[10] = {pythons[i], "-I", "-c", does_it, place, "-o", options->output};
        int count = 7;
        if (options->quiet)
            arguments[count++] = "-q";
        if (options->input)
            arguments[count++] = options->input;
        execvp(pythons[i], (char *const *)arguments);
    }
    return fail("report: there is no Python with matplotlib and the package distmap (Debian: python3-matplotlib; pip "
                "install .); the environment variable PYTHON may name one");
}

const struct command command_report = {
    .name = "report",
    .bit = REPORT,
    .arguments = "[RESULTS] -o OUT.html",
    .summary = "a page of the benchmark results",
    .about =
        "Writes one HTML page, which needs no other file, from the results of `make bench` and `make bench-gpu`: "
        "plots\n"
        "of time against size and density, ratios, memory, what other libraries do on odd shapes, and a gallery of\n"
        "maps. RESULTS is a file of results or a folder of them; default: bench/results of the source tree. Python\n"
        "with matplotlib makes the page; it runs isolated: it ignores the current folder and PYTHONPATH.",
    .example = "  distmap report -o report.html\n",
    .run = run,
};
