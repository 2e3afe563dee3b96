/* A small thread pool: one indexed loop at a time, indices handed out by an atomic counter.
 *
 * Why not a library: libgomp and the packaged pthreadpool hang in a forked child (their threads stay behind in the
 * parent), and the core must depend on libc, libm and pthread alone. Here a child notices that its process id changed
 * and starts its own threads on first use.
 */
#define _GNU_SOURCE
#include "cpu/pool.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct dm_pool {
    pthread_mutex_t mutex;
    pthread_cond_t wake, idle;
    int threads;   /* workers, the caller included */
    int running;   /* started threads */
    int busy;      /* started threads that have not finished the current loop */
    unsigned loop; /* number of the current loop; a change wakes the threads */
    bool quit;
    pid_t owner;
    distmap_task *task;
    void *arg;
    size_t count;
    atomic_size_t next;
    struct seat {
        struct dm_pool *pool;
        int worker;
        unsigned seen; /* last loop served */
        pthread_t thread;
    } seats[];
};

static size_t pool_bytes(int threads) { return sizeof(struct dm_pool) + (size_t)threads * sizeof(struct seat); }

static void work(struct dm_pool *pool, int worker) {
    for (;;) {
        const size_t i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (i >= pool->count)
            return;
        pool->task(pool->arg, i, worker);
    }
}

static void *thread_main(void *arg) {
    struct seat *seat = arg;
    struct dm_pool *pool = seat->pool;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->quit && pool->loop == seat->seen)
            pthread_cond_wait(&pool->wake, &pool->mutex);
        if (pool->quit)
            break;
        seat->seen = pool->loop;
        pthread_mutex_unlock(&pool->mutex);
        work(pool, seat->worker);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* Starts the threads; fewer than wanted is fine for a forked child, which then works with those it has. */
static int start(struct dm_pool *pool) {
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->idle, NULL);
    pool->owner = getpid();
    pool->running = pool->busy = 0;
    for (int w = 1; w < pool->threads; w++) {
        struct seat *seat = &pool->seats[w];
        *seat = (struct seat){.pool = pool, .worker = w, .seen = pool->loop};
        const int error = pthread_create(&seat->thread, NULL, thread_main, seat);
        if (error)
            return error;
        pool->running++;
    }
    return 0;
}

static void stop(struct dm_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->quit = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (int w = 1; w <= pool->running; w++)
        pthread_join(pool->seats[w].thread, NULL);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
}

distmap_status dm_pool_create(const distmap_context *context, int threads, struct dm_pool **made) {
    struct dm_pool *pool = dm_allocate(context, pool_bytes(threads));
    if (!pool)
        return DISTMAP_ERROR_MEMORY;
    memset(pool, 0, pool_bytes(threads));
    pool->threads = threads;
    const int error = start(pool);
    if (error) {
        stop(pool);
        dm_release(context, pool, pool_bytes(threads));
        return dm_error(DISTMAP_ERROR_MEMORY, "cannot start %d threads: %s", threads, strerror(error));
    }
    *made = pool;
    return DISTMAP_OK;
}

void dm_pool_run(void *pool, size_t count, distmap_task *task, void *arg) {
    dm_pool_run_asking(pool, count, task, arg, NULL, NULL);
}

/* The mutex is held. */
static void wait_a_while(struct dm_pool *pool, void (*ask)(void *user), void *user) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += 20000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    if (pthread_cond_timedwait(&pool->idle, &pool->mutex, &end) != ETIMEDOUT)
        return;
    pthread_mutex_unlock(&pool->mutex);
    ask(user);
    pthread_mutex_lock(&pool->mutex);
}

void dm_pool_run_asking(struct dm_pool *pool, size_t count, distmap_task *task, void *arg, void (*ask)(void *user),
                        void *user) {
    if (pool->owner != getpid())
        start(pool);
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->arg = arg;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->busy = pool->running;
    pool->loop++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    work(pool, 0);
    pthread_mutex_lock(&pool->mutex);
    while (pool->busy)
        if (ask)
            wait_a_while(pool, ask, user);
        else
            pthread_cond_wait(&pool->idle, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

void dm_pool_destroy(const distmap_context *context, struct dm_pool **made) {
    struct dm_pool *pool = *made;
    if (!pool)
        return;
    if (pool->owner == getpid()) /* a forked child has no threads to join */
        stop(pool);
    dm_release(context, pool, pool_bytes(pool->threads));
    *made = NULL;
}

int dm_pool_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set) < 1024 ? CPU_COUNT(&set) : 1024;
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 1024 ? 1024 : (int)n;
}
