/* Names that do not count, locks, and what they have in common: an owner whose death is seen. temporary.c, lock.c. */
#ifndef DISTMAP_IO_TEMPORARY_H
#define DISTMAP_IO_TEMPORARY_H

#include <sys/types.h>

#include "distmap/io.h"

enum { DM_TEMPORARY_NAME = 48 };
#define DM_LOCK_NAME DISTMAP_TEMPORARY "lock-"

/* Makes a file, or a folder, of a new name in the folder `at` and opens it, marked as this process's until `fd` is closed: the
 * descriptor, or -1 and errno. */
int dm_temporary_open(int at, bool is_folder, mode_t mode, char name[DM_TEMPORARY_NAME]);
/* A name alone. */
bool dm_temporary_name(char name[DM_TEMPORARY_NAME]);
/* Marks what an open descriptor is of in the same way, where that can be. */
void dm_temporary_mark(int fd);
/* Removes from the folder what dead processes left there: of each call of the process for the same folder only the first one looks. */
void dm_temporary_sweep(int folder);
/* Removes a file, or a folder with all that it holds. */
void dm_remove_at(int folder, const char *name);

/* A lock by a file of its own, beside what it guards, since that is replaced. The kernel frees it when its owner dies. */
typedef struct dm_lock {
    int fd; /* -1: not held */
    char *path;
} dm_lock;

/* Guards one file of the folder against others that would grow it too, for as long as a run takes: by name. One process holds it once: a
 * second call is an error, as is one that would have to wait for long while the process holds another one. `name` is for messages. */
distmap_status dm_lock_growth(dm_lock *lock, const char *name, const char *target);
/* Guards a folder while names in it are taken, by milliseconds. Where a folder takes no such file there is no lock. */
void dm_lock_names(dm_lock *lock, const char *folder);
void dm_lock_release(dm_lock *lock);

#endif
