/* A child process: the program that is installed with the library for it, or the caller's own (distmap_io_own_helper). */
#ifndef DISTMAP_IO_HELPER_H
#define DISTMAP_IO_HELPER_H

#include <sys/types.h>

#include "distmap/io.h"

typedef struct dm_helper {
    pid_t pid; /* 0: none */
    int handle; /* of the process; -1: this kernel has none */
} dm_helper;

/* Starts it with descriptors[i] as its descriptor 3 + i; `name` is for messages. */
distmap_status dm_helper_start(dm_helper *helper, const char *name, const int *descriptors, int count);
/* Ends it, if it has not ended, and says how it did: "by signal 11 (Segmentation fault)". */
void dm_helper_end(dm_helper *helper, char *how, size_t bytes);

#endif
