/* Time, signals, and a progress bar that shows up only on a terminal and only when there is something to wait for.
 * mpirun gives its processes no terminal: what they share says now and then how far it is, by a line.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
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

/* ---- Signals ----
 *
 * The first one is noted. It interrupts a system call that waits, but what it finds just before such a call, or in another thread, it
 * does not: so from then on an alarm interrupts the main thread again and again, which passes it on to the threads that said
 * that they wait for files. A second one that comes later than a moment after it, when this cannot have been in vain, kills.
 */
enum { AGAIN_US = 20000, MOMENT_S = 1, MOST_WAITING = 8 };

static volatile sig_atomic_t caught;
static double caught_at;
static pthread_t main_thread;
enum { FREE, TAKEN, READY };
static struct {
    pthread_t thread;
    atomic_int state;
} waiting[MOST_WAITING];

static void note(int number) {
    const int error = errno;
    if (caught == number && seconds_now() - caught_at > MOMENT_S) {
        signal(number, SIG_DFL);
        raise(number);
    } else if (!caught) {
        caught_at = seconds_now();
        caught = number;
        setitimer(ITIMER_REAL, &(struct itimerval){{0, AGAIN_US}, {0, AGAIN_US}}, NULL);
    }
    errno = error;
}

static void again(int number) {
    const int error = errno;
    if (pthread_equal(pthread_self(), main_thread))
        for (int i = 0; i < MOST_WAITING; i++)
            if (atomic_load(&waiting[i].state) == READY)
                pthread_kill(waiting[i].thread, number);
    errno = error;
}

void signals_catch(void) {
    main_thread = pthread_self();
    /* Without SA_RESTART, so that a blocked write gives up too. */
    struct sigaction action = {.sa_handler = again};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    action.sa_handler = note;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) /* as nohup sets it */
            sigaction(numbers[i], &action, NULL);
    }
    distmap_io_on_interrupt(signal_caught);
}

int signals_reach_me(void) {
    for (int i = 0; i < MOST_WAITING; i++) {
        int state = FREE;
        if (atomic_compare_exchange_strong(&waiting[i].state, &state, TAKEN)) {
            waiting[i].thread = pthread_self();
            atomic_store(&waiting[i].state, READY);
            return i;
        }
    }
    return MOST_WAITING;
}

void signals_leave_me(int place) {
    if (place < MOST_WAITING)
        atomic_store(&waiting[place].state, FREE);
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
