/* Time, signals, and a progress bar that shows up only on a terminal and only when there is something to wait for.
 * mpirun gives its processes no terminal: what they share says now and then how far it is, by a line.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void signals_ignore(void) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static volatile sig_atomic_t caught;

static void note(int number) { caught = number; }

void signals_catch(void) {
    /* Without SA_RESTART, so that a blocked write gives up too. */
    struct sigaction action = {.sa_handler = note};
    sigemptyset(&action.sa_mask);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) /* as nohup sets it */
            sigaction(numbers[i], &action, NULL);
    }
}

int signal_caught(void) { return caught; }

enum { BAR_WIDTH = 40 };
static const double FIRST_SHOWN = 0.5, BETWEEN = 0.1, BETWEEN_LINES = 10; /* seconds */

static struct {
    const char *phase; /* NULL: no bar wanted */
    double began, shown;
    bool visible;
    bool lines; /* instead */
} bar;

void progress_begin(const struct options *options, const char *phase) {
    progress_end();
    bar.lines = options->distributed && !isatty(STDERR_FILENO);
    bar.phase = options->quiet || (!bar.lines && !isatty(STDERR_FILENO)) ? NULL : phase;
    bar.began = seconds_now();
    bar.shown = bar.lines ? bar.began : bar.shown;
}

int progress_step(void *user, double fraction) {
    (void)user;
    if (bar.phase) {
        const double now = seconds_now();
        if (bar.lines && now - bar.shown > BETWEEN_LINES) {
            fprintf(stderr, "%s %d%%\n", bar.phase, (int)(fraction * 100));
            bar.shown = now;
        } else if (!bar.lines && now - bar.began > FIRST_SHOWN && now - bar.shown > BETWEEN) {
            const int full = (int)(fraction * BAR_WIDTH);
            fprintf(stderr, "\r%-9s [%.*s%*s] %3d%%", bar.phase, full, "########################################",
                    BAR_WIDTH - full, "", (int)(fraction * 100));
            fflush(stderr);
            bar.shown = now;
            bar.visible = true;
        }
    }
    return caught != 0 || cut_short();
}

void progress_end(void) {
    if (bar.visible)
        fprintf(stderr, "\r%*s\r", BAR_WIDTH + 20, "");
    bar.visible = false;
    bar.phase = NULL;
}
