/* Parts by several threads, which live as long as the work: a chunk takes a hundred times as long as it takes to start one. Whoever
 * is free takes the next part. Signals are for the threads that were there before.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "io/threads.h"

enum { MOST = 16, TEXT = 512 };

static atomic_int wanted; /* 0: one for each processor */

distmap_status distmap_io_set_threads(int threads) {
    if (threads < 0)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "threads: is %d, must be 0 or more", threads);
    atomic_store(&wanted, threads);
    return DISTMAP_OK;
}

int dm_threads(void) {
    const int asked = atomic_load(&wanted);
    cpu_set_t set;
    const int found = asked ? asked : sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return found > MOST ? MOST : found;
}

typedef struct work {
    int64_t parts;
    distmap_status (*call)(void *user, int worker, int64_t part);
    void *user;
    atomic_llong next;
    atomic_int workers;
    pthread_mutex_t lock; /* of the first error */
    distmap_status status;
    char text[TEXT]; /* error texts are a thread's own */
} work;

static void *run(void *user) {
    work *w = user;
    const int worker = atomic_fetch_add(&w->workers, 1);
    for (int64_t part; (part = atomic_fetch_add(&w->next, 1)) < w->parts;) {
        const distmap_status status = w->call(w->user, worker, part);
        if (!status)
            continue;
        atomic_store(&w->next, w->parts);
        pthread_mutex_lock(&w->lock);
        if (!w->status) {
            w->status = status;
            snprintf(w->text, sizeof w->text, "%s", distmap_error_text());
        }
        pthread_mutex_unlock(&w->lock);
        break;
    }
    return NULL;
}

distmap_status dm_threads_each(int64_t parts, int workers, distmap_status (*call)(void *user, int worker, int64_t part),
                               void *user) {
    work w = {.parts = parts, .call = call, .user = user, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[MOST];
    sigset_t all, before;
    int started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < workers - 1 && started < parts - 1 && !pthread_create(&threads[started], NULL, run, &w))
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    run(&w);
    while (started)
        pthread_join(threads[--started], NULL);
    pthread_mutex_destroy(&w.lock);
    return w.status ? distmap_error_set(w.status, "%s", w.text) : DISTMAP_OK;
}
