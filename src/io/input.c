/* Reading a file at any place, or in order through a buffer.
 *
 * Codecs seek, and check what a header claims against the file's size; so whatever is not a regular file is first copied
 * into an anonymous temporary file (TMPDIR, else /tmp), which vanishes with its descriptor.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/codec.h"

enum { BUFFER_BYTES = 1 << 16 };

static distmap_status fail(const char *name, const char *what) {
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: %s: %s", name, what, strerror(errno));
}

static int (*_Atomic asked_to_stop)(void);

void distmap_io_on_interrupt(int (*asked)(void)) { atomic_store(&asked_to_stop, asked); }

bool dm_goes_on(void) {
    if (errno != EINTR)
        return false;
    int (*const asked)(void) = atomic_load(&asked_to_stop);
    const bool stop = asked && asked();
    errno = EINTR;
    return !stop;
}

static bool write_all(int fd, const char *data, size_t bytes) {
    while (bytes) {
        const ssize_t n = write(fd, data, bytes);
        if (n < 0 && dm_goes_on())
            continue;
        if (n <= 0)
            return false;
        data += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Copies the rest of input->fd to an anonymous file, which takes its place. */
static distmap_status spool(dm_input *input) {
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder)
        folder = "/tmp";
    char path[4096];
    if (snprintf(path, sizeof path, "%s/distmap-XXXXXX", folder) >= (int)sizeof path)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: TMPDIR is too long a name", input->name);
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return fail(input->name, "cannot make a temporary file");
    unlink(path);
    distmap_status status = DISTMAP_OK;
    for (;;) {
        const ssize_t n = read(input->fd, input->buffer, BUFFER_BYTES);
        if (n < 0 && dm_goes_on())
            continue;
        if (n < 0)
            status = fail(input->name, "cannot read");
        if (n <= 0)
            break;
        if (!write_all(fd, (const char *)input->buffer, (size_t)n)) {
            status = fail(input->name, "cannot copy into a temporary file");
            break;
        }
    }
    close(input->fd);
    input->fd = fd;
    return status;
}

distmap_status dm_input_open(dm_input *input, const char *path) {
    const bool standard = !strcmp(path, "-");
    *input = (dm_input){.fd = -1};
    distmap_status status =
        dm_name_take(standard ? "standard input" : path, &input->name, &input->file, &input->dataset);
    input->buffer = malloc(BUFFER_BYTES);
    struct stat info;
    if (!status && !input->buffer)
        status = dm_no_memory(path);
    if (!status) {
        do /* opening a pipe waits for its writer */
            input->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(input->file, O_RDONLY | O_CLOEXEC);
        while (input->fd < 0 && dm_goes_on());
        if (input->fd < 0)
            status = fail(input->name, "cannot open");
        else if (fstat(input->fd, &info))
            status = fail(input->name, "cannot read");
        else if (S_ISDIR(info.st_mode))
            input->is_folder = true;
        else if (!S_ISREG(info.st_mode) || (standard && lseek(input->fd, 0, SEEK_CUR) != 0))
            status = spool(input);
    }
    if (!status && fstat(input->fd, &info))
        status = fail(input->name, "cannot read");
    if (!status && !input->is_folder) {
        input->size = info.st_size;
        if (!input->size)
            status = distmap_error_set(DISTMAP_ERROR_FORMAT, "%s: the file is empty", input->name);
    }
    if (status)
        dm_input_close(input);
    return status;
}

void dm_input_close(dm_input *input) {
    if (input->map)
        munmap(input->map, (size_t)input->size);
    if (input->fd >= 0)
        close(input->fd);
    free(input->buffer);
    free(input->file);
    free(input->name);
    *input = (dm_input){.fd = -1};
}

int64_t dm_read_at(int fd, int64_t offset, void *data, size_t bytes) {
    for (size_t got = 0; got < bytes;) {
        const ssize_t n = pread(fd, (char *)data + got, bytes - got, offset + (int64_t)got);
        if (n < 0 && dm_goes_on())
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            return (int64_t)got;
        got += (size_t)n;
    }
    return (int64_t)bytes;
}

/* Reads up to `bytes` bytes from `offset`: *got is less only at the end. */
static distmap_status read_at(const dm_input *input, int64_t offset, void *data, size_t bytes, size_t *got) {
    const int64_t n = dm_read_at(input->fd, offset, data, bytes);
    *got = n < 0 ? 0 : (size_t)n;
    return n < 0 ? fail(input->name, "cannot read") : DISTMAP_OK;
}

distmap_status dm_input_at(const dm_input *input, int64_t offset, void *data, size_t bytes) {
    size_t got;
    const distmap_status status = read_at(input, offset, data, bytes, &got);
    if (!status && got < bytes)
        return distmap_error_set(DISTMAP_ERROR_FORMAT, "%s: truncated: the file ends where data should follow",
                                 input->name);
    return status;
}

distmap_status dm_input_next(dm_input *input, void *data, size_t bytes, size_t *got) {
    *got = 0;
    while (*got < bytes) {
        const int64_t skip = input->at - input->buffer_at;
        if (skip < 0 || skip >= (int64_t)input->buffer_size) {
            const distmap_status status = read_at(input, input->at, input->buffer, BUFFER_BYTES, &input->buffer_size);
            input->buffer_at = input->at;
            if (status || !input->buffer_size)
                return status;
            continue;
        }
        size_t n = input->buffer_size - (size_t)skip;
        if (n > bytes - *got)
            n = bytes - *got;
        memcpy((char *)data + *got, input->buffer + skip, n);
        *got += n;
        input->at += (int64_t)n;
    }
    return DISTMAP_OK;
}

void dm_input_seek(dm_input *input, int64_t offset) { input->at = offset; }

const char *dm_input_map(dm_input *input) {
    if (!input->map) {
        void *map = mmap(NULL, (size_t)input->size, PROT_READ, MAP_SHARED, input->fd, 0);
        if (map == MAP_FAILED)
            fail(input->name, "cannot map into memory");
        else
            input->map = map;
    }
    return input->map;
}
