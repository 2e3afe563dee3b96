/* See pipeline.h. */
#include <pthread.h>
#include <stdio.h>

#include "../cli.h"
#include "pipeline.h"

enum { STAGES = 3, WORK = 1, TEXT = 512 };

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct pipeline *pipeline;
    int64_t done[STAGES]; /* the next item of each */
    distmap_status status;
    char text[TEXT];
};

struct stage {
    struct shared *shared;
    int number;
};

/* Waits until the item may begin; false when it is not to. */
static bool may_begin(struct shared *s, int stage, int64_t item) {
    pthread_mutex_lock(&s->lock);
    while (!s->status && ((stage > 0 && s->done[stage - 1] <= item) ||
                          (stage < STAGES - 1 && s->done[stage + 1] <= item - PIPELINE_SLOTS)))
        pthread_cond_wait(&s->changed, &s->lock);
    const bool begin = !s->status;
    pthread_mutex_unlock(&s->lock);
    return begin;
}

static void tell(struct shared *s, int stage, int64_t item, distmap_status status) {
    pthread_mutex_lock(&s->lock);
    s->done[stage] = item + 1;
    if (status && !s->status) {
        s->status = status;
        snprintf(s->text, TEXT, "%s", distmap_error_text());
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void *run_stage(void *user) {
    const struct stage *stage = user;
    struct shared *s = stage->shared;
    const struct pipeline *p = s->pipeline;
    pipeline_stage *const stages[] = {p->fetch, p->work, p->store};
    const int place = stage->number == WORK ? -1 : signals_reach_me();
    for (int64_t item = p->first; item < p->end && may_begin(s, stage->number, item); item++)
        tell(s, stage->number, item, stages[stage->number](p->user, item, (int)(item % PIPELINE_SLOTS)));
    if (place >= 0)
        signals_leave_me(place);
    return NULL;
}

distmap_status pipeline_run(const struct pipeline *pipeline) {
    struct shared s = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .pipeline = pipeline};
    struct stage stages[STAGES];
    pthread_t threads[STAGES];
    bool started[STAGES] = {false};
    for (int i = 0; i < STAGES; i++) {
        s.done[i] = pipeline->first;
        stages[i] = (struct stage){&s, i};
    }
    for (int i = 0; i < STAGES; i++) {
        started[i] = i != WORK && pthread_create(&threads[i], NULL, run_stage, &stages[i]) == 0;
        if (i != WORK && !started[i]) {
            distmap_error_set(DISTMAP_ERROR_MEMORY, "cannot start a thread");
            tell(&s, i, pipeline->first, DISTMAP_ERROR_MEMORY);
        }
    }
    run_stage(&stages[WORK]);
    for (int i = 0; i < STAGES; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    return s.status ? distmap_error_set(s.status, "%s", s.text) : DISTMAP_OK;
}
