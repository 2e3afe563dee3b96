/* Three stages at work on different items at the same time: fetch, work, store.
 *
 * Stages have two slots each to hand items over in: item i is in slot i % 2. A stage begins item i when the stage before it has
 * done i, and the stage behind it i - 2, whose slot it fills anew. `work` is done by the thread that calls, the others by threads
 * of their own. Fetching and storing wait for disks and copy out of the system's cache, and take what time `work` leaves them.
 */
#ifndef DISTMAP_CLI_OUTOFCORE_PIPELINE_H
#define DISTMAP_CLI_OUTOFCORE_PIPELINE_H

#include <distmap.h>

enum { PIPELINE_SLOTS = 2 };

typedef distmap_status pipeline_stage(void *user, int64_t item, int slot);

struct pipeline {
    int64_t first, end; /* the items */
    pipeline_stage *fetch, *work, *store;
    void *user;
};

/* Until all are stored, or one stage fails: then the others stop before their next item. Its status and text are the caller's. */
distmap_status pipeline_run(const struct pipeline *pipeline);

#endif
