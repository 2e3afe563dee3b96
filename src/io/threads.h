/* Work in parts that do not wait for each other, by several threads: chunks that are packed or unpacked. */
#ifndef DISTMAP_IO_THREADS_H
#define DISTMAP_IO_THREADS_H

#include "distmap/io.h"

/* How many threads work at once, at most. */
int dm_threads(void);

/* Calls for each part from 0 on, until one fails, whose error is returned. `worker` is 0 to workers - 1, and one of these does one
 * part at a time. The calling thread is one of them, and does all where no other can be had. */
distmap_status dm_threads_each(int64_t parts, int workers, distmap_status (*call)(void *user, int worker, int64_t part),
                               void *user);

#endif
