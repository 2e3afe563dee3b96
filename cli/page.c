/* distmap report: the results of the benches as a page. The page is the Python package's work (python/distmap/report); this
 * finds a Python that can do it and becomes that: $PYTHON, python3 on the PATH, or Debian's. */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

static const char can_do_it[] = "import matplotlib, distmap.report";

/* In a build folder of the source tree the package need not be installed: it is ../../python. */
static void see_source_tree(void) {
    char command[PATH_MAX] = "", place[PATH_MAX + 32], path[2 * PATH_MAX + 64];
    if (readlink("/proc/self/exe", command, sizeof command - 1) < 0)
        return;
    snprintf(place, sizeof place, "%s/../../python", dirname(command));
    snprintf(path, sizeof path, "%s/distmap/report", place);
    if (access(path, R_OK) != 0)
        return;
    const char *others = getenv("PYTHONPATH");
    snprintf(path, sizeof path, "%s%s%.*s", place, others ? ":" : "", PATH_MAX, others ? others : "");
    setenv("PYTHONPATH", path, 1);
}

/* Whether that Python runs the line; it says nothing. */
static bool runs(const char *python, const char *line) {
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_RDWR);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execlp(python, python, "-c", line, (char *)NULL);
        _exit(127);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run(const struct options *options) {
    const char *named = getenv("PYTHON"), *pythons[] = {named ? named : "python3", "python3", "/usr/bin/python3"};
    see_source_tree();
    for (size_t i = 0; i < sizeof pythons / sizeof *pythons; i++) {
        if (!runs(pythons[i], can_do_it))
            continue;
        const char *arguments[8] = {pythons[i], "-m", "distmap.report", "-o", options->output};
        int count = 5;
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
    .summary = "the results of the benches as a page",
    .about =
        "Writes one HTML page, which needs no other file, of the results that `make bench` and `make bench-gpu`\n"
        "wrote: plots of time against size and density, ratios, memory, what others do on odd shapes, and a gallery\n"
        "of maps. RESULTS is a file or a folder of them; by default the source tree's bench/results. Python with\n"
        "matplotlib does the work.",
    .example = "  distmap report -o report.html\n",
    .run = run,
};
