/* Files as the codecs see them: an input that can be read anywhere, an output that takes its name only when whole.
 *
 * Both know the file's name and put it at the head of every error text.
 */
#ifndef DISTMAP_IO_FILE_H
#define DISTMAP_IO_FILE_H

#include <sys/stat.h>

#include "distmap/io.h"
#include "io/temporary.h"

/* ---- Input ---- */

typedef struct dm_input {
    char *name;          /* as the caller gave it */
    char *file;          /* what of it names the file */
    const char *dataset; /* what of it names something in the file: "/a/b"; NULL: nothing */
    int fd;              /* -1: closed */
    bool is_folder;      /* of which `fd` is the folder, and nothing below is used */
    int64_t size;        /* in bytes */
    int64_t at;          /* where dm_input_next goes on */
    uint8_t *buffer;
    int64_t buffer_at;
    size_t buffer_size;
    void *map; /* the whole file, read-only; made by dm_input_map */
} dm_input;

/* Opens a file, or a folder. What cannot be read at any place (pipes, "-") is copied into an anonymous temporary file first. */
distmap_status dm_input_open(dm_input *input, const char *path);
void dm_input_close(dm_input *input);

/* Reads until `bytes` bytes are there, or the end: how many, or -1 and errno. */
int64_t dm_read_at(int fd, int64_t offset, void *data, size_t bytes);

/* Reads exactly `bytes` bytes from `offset`; less is DISTMAP_ERROR_FORMAT "truncated". */
distmap_status dm_input_at(const dm_input *input, int64_t offset, void *data, size_t bytes);
/* Reads up to `bytes` bytes from where the last call ended, buffered; *got is less only at the file's end. */
distmap_status dm_input_next(dm_input *input, void *data, size_t bytes, size_t *got);
void dm_input_seek(dm_input *input, int64_t offset);
/* The whole file in memory, or NULL with the error text set. */
const char *dm_input_map(dm_input *input);

/* ---- Output ---- */

/* How far a name is taken. */
typedef enum dm_taken { DM_NOT_TAKEN, DM_TAKEN_NEW, DM_TAKEN_OVER } dm_taken;

typedef struct dm_output {
    char *name;          /* as the caller gave it; NULL: not open */
    char *file;          /* what of it names the file */
    const char *dataset; /* what of it names something in the file; NULL: nothing */
    char *target;        /* the name to take; NULL: a stream (standard output, a pipe, a device) written as it comes */
    char *temp;          /* the name until then, in the same folder */
    int fd;              /* -1: closed */
    bool is_folder;      /* what takes the name is a folder, and `fd` is it */
    int error;           /* errno of the first write that failed; 0: none. For libraries that swallow it */
    bool abandoned;      /* writes are dropped: the file is about to be removed */
    bool replaces;       /* there is a target, */
    struct stat was;     /* and this is what it was */
    bool grows;          /* the target as it was is part of it, under `lock` */
    dm_lock lock;
    /* While a transaction takes names (commit.c). */
    dm_taken taken;
    struct stat made; /* what it is, whatever its name */
    char *kept;  /* where that is what had the name before; NULL: nowhere */
    int kept_fd; /* marks it */
    struct dm_output *before; /* the one whose name was taken before */
} dm_output;

/* `part` (NULL: a new one) is the name until the output is finished; what a file of that name holds stays. */
distmap_status dm_output_open(dm_output *output, const char *path, const char *part);
/* The same for a folder. There must be none of that name. `target`, which is the path or a folder that it is in, takes its name; the
 * output's from then on. */
distmap_status dm_output_open_folder(dm_output *output, const char *path, char *target, const char *part);
/* Removes a file, or a folder with all that it holds. */
void dm_output_remove(const char *path);
/* "a/b/" for "a/b/c", "" for "c"; NULL: no memory. The caller frees it. */
char *dm_output_folder(const char *path);
/* Writes all of it at the current place, or sets output->error. */
distmap_status dm_output_write(dm_output *output, const void *data, size_t bytes);
/* The same at `offset`, wherever the current place is, which stays. */
distmap_status dm_output_write_at(dm_output *output, int64_t offset, const void *data, size_t bytes);
/* Begins with what the target holds, if there is one (*there). Others that would add to it wait from now on until the output is
 * finished; a program that does not, and changes it meanwhile, is noticed, so that what it did is not lost. */
distmap_status dm_output_begin_with_target(dm_output *output, bool *there);
bool dm_output_target_changed(const dm_output *output);
/* "NAME: cannot write: REASON", from output->error. */
distmap_status dm_output_failed(const dm_output *output);
/* All that was written is with the system, and if `synced` on the disk. */
distmap_status dm_output_complete(dm_output *output, bool synced);
/* Closes, and removes what has no name; or leaves it under its name until now. */
void dm_output_abort(dm_output *output);
void dm_output_leave(dm_output *output);

/* ---- Several outputs, all or none (commit.c) ---- */

typedef struct dm_commit {
    bool synced;     /* names too are on the disk at the end */
    bool alone;      /* one output alone, of one name: nothing needs to be given back */
    dm_output *last; /* whose name was taken; from there `before` */
    dm_lock *locks;  /* of folders */
    int lock_count;
} dm_commit;

/* Locks the folders of names that will be taken, all at once. Some may be the same. */
distmap_status dm_commit_lock(dm_commit *commit, const char *const *folders, int count);
/* Renames the complete output to its target. It stays where it is in memory until the end. */
distmap_status dm_commit_take(dm_commit *commit, dm_output *output);
/* After a failure: gives all names back to what had them. */
void dm_commit_give_back(dm_commit *commit);
/* All names are taken: forgets what had them. An error says that they may not be on the disk. */
distmap_status dm_commit_settle(dm_commit *commit);

#endif
