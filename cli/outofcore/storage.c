/* Pieces of files, at any place: whole, or an error with the file's name. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "outofcore.h"

enum { BATCH = 512 };

static distmap_status failed(const char *name, const char *what) {
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot %s: %s", name, what, strerror(errno));
}

distmap_status storage_read(int fd, const char *name, int64_t at, void *to, size_t bytes) {
    for (char *place = to; bytes;) {
        const ssize_t n = pread(fd, place, bytes, at);
        if (n < 0 && errno == EINTR && !signal_caught())
            continue;
        if (n == 0)
            return distmap_error_set(DISTMAP_ERROR_IO, "%s: is shorter than what was written to it", name);
        if (n < 0)
            return failed(name, "read");
        place += n;
        at += n;
        bytes -= (size_t)n;
    }
    return DISTMAP_OK;
}

distmap_status storage_write(int fd, const char *name, int64_t at, const void *from, size_t bytes) {
    for (const char *place = from; bytes;) {
        const ssize_t n = pwrite(fd, place, bytes, at);
        if (n < 0 && errno == EINTR && !signal_caught())
            continue;
        if (n <= 0)
            return failed(name, "write");
        place += n;
        at += n;
        bytes -= (size_t)n;
    }
    return DISTMAP_OK;
}

/* One piece of the file, many of the memory: by preadv or pwritev, which have one form. */
static distmap_status move_runs(int fd, const char *name, int64_t at, char *memory, const struct runs *r, bool reads) {
    struct iovec pieces[BATCH];
    for (int64_t done = 0; done < r->count;) {
        const int count = r->count - done < BATCH ? (int)(r->count - done) : BATCH;
        for (int i = 0; i < count; i++)
            pieces[i] = (struct iovec){memory + (size_t)(done + i) * r->stride, r->run};
        const ssize_t n = (reads ? preadv : pwritev)(fd, pieces, count, at);
        if (n < 0 && errno == EINTR && !signal_caught())
            continue;
        if (n == 0)
            return distmap_error_set(DISTMAP_ERROR_IO, "%s: is shorter than what was written to it", name);
        if (n < 0)
            return failed(name, reads ? "read" : "write");
        /* The rest of a partly moved run is moved separately. */
        const int64_t whole = n / (ssize_t)r->run;
        const size_t part = (size_t)n % r->run;
        char *rest = memory + (size_t)(done + whole) * r->stride + part;
        if (part)
            TRY(reads ? storage_read(fd, name, at + n, rest, r->run - part)
                      : storage_write(fd, name, at + n, rest, r->run - part));
        done += whole + (part != 0);
        at += (whole + (part != 0)) * (int64_t)r->run;
    }
    return DISTMAP_OK;
}

distmap_status storage_collect(int fd, const char *name, int64_t at, const char *from, const struct runs *runs) {
    return move_runs(fd, name, at, (char *)from, runs, false);
}

distmap_status storage_deal(int fd, const char *name, int64_t at, char *to, const struct runs *runs) {
    return move_runs(fd, name, at, to, runs, true);
}

distmap_status storage_scatter(int fd, const char *name, int64_t at, const char *from, const struct runs *r) {
    if (r->run == r->stride)
        return storage_write(fd, name, at, from, (size_t)r->count * r->run);
    for (int64_t i = 0; i < r->count; i++)
        TRY(storage_write(fd, name, at + i * (int64_t)r->stride, from + (size_t)i * r->run, r->run));
    return DISTMAP_OK;
}
