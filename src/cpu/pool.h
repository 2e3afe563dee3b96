/* A small pool of POSIX threads that runs one indexed loop at a time. */
#ifndef DISTMAP_CPU_POOL_H
#define DISTMAP_CPU_POOL_H

#include "core/internal.h"

/* Starts threads - 1 threads beside the caller's. Threads >= 2. */
distmap_status dm_pool_create(const distmap_context *context, int threads, struct dm_pool **pool);
/* distmap_executor.run: the calling thread works too, as worker 0. */
void dm_pool_run(void *pool, size_t count, distmap_task *task, void *arg);
/* The same. While the calling thread only waits for others, it calls ask(user) every 20 ms, unless `ask` is NULL. */
void dm_pool_run_asking(struct dm_pool *pool, size_t count, distmap_task *task, void *arg, void (*ask)(void *user),
                        void *user);
void dm_pool_destroy(const distmap_context *context, struct dm_pool **pool);
/* Processors that this process may use. */
int dm_pool_processors(void);

#endif
