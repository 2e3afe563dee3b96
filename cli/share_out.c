/* Work on all processors: indices from one counter. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cli.h"

enum { MOST = 256 };

struct shared {
    _Atomic int64_t next;
    int64_t count;
    void (*task)(void *arg, int64_t i);
    void *arg;
};

static void *work(void *user) {
    struct shared *s = user;
    for (int64_t i; (i = s->next++) < s->count;)
        s->task(s->arg, i);
    return NULL;
}

void share_out(int64_t count, void (*task)(void *arg, int64_t i), void *arg) {
    struct shared s = {.count = count, .task = task, .arg = arg};
    pthread_t threads[MOST];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int started = 0;
    while (started < MOST && started < processors - 1 && started < count - 1 &&
           pthread_create(&threads[started], NULL, work, &s) == 0)
        started++;
    work(&s);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}
