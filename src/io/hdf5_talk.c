/* The child process that calls libhdf5: its life, and messages to it and from it. hdf5_child.c reads by one, hdf5_write.c writes by one;
 * hdf5_serve.c is the child's own half.
 *
 * Where it is silent for so long that nothing is to be hoped for (DISTMAP_HDF5_PATIENCE seconds; 30) it is ended, which is an error like
 * its crash.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/hdf5.h"

enum { TICK = 100 /* ms */, PATIENCE = 30 /* s */ };

void dm_hdf5_child_stop(dm_hdf5_child *c, char *how, size_t bytes) {
    if (c->memory)
        munmap(c->memory, (size_t)c->memory_bytes);
    c->memory = NULL;
    c->memory_bytes = 0;
    if (c->memory_fd >= 0)
        close(c->memory_fd);
    if (c->socket >= 0 && c->owner == getpid())
        shutdown(c->socket, SHUT_RDWR); /* others may have the descriptor too */
    if (c->socket >= 0)
        close(c->socket);
    c->socket = c->memory_fd = -1;
    if (c->owner == getpid())
        dm_helper_end(&c->helper, how, bytes);
    c->helper.pid = 0;
}

static distmap_status ended(dm_hdf5_child *c) {
    char how[80];
    dm_hdf5_child_stop(c, how, sizeof how);
    return c->writes ? distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot write: libhdf5 ended %s", c->name, how)
                     : distmap_error_set(DISTMAP_ERROR_FORMAT,
                                         "%s: broken HDF5: libhdf5 does not stand it, and ended %s", c->name, how);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double patience(void) {
    const char *text = secure_getenv("DISTMAP_HDF5_PATIENCE");
    const double seconds = text ? strtod(text, NULL) : 0;
    return seconds >= 1 && seconds <= 86400 ? seconds : PATIENCE;
}

static uint64_t signs_of_life(const dm_hdf5_child *c) {
    return c->memory ? atomic_load(&((dm_hdf5_shared *)c->memory)->alive) : 0;
}

distmap_status dm_hdf5_hear(dm_hdf5_child *c, void *message, size_t least, size_t most) {
    uint64_t alive = signs_of_life(c);
    double since = now();
    struct pollfd socket = {.fd = c->socket, .events = POLLIN};
    for (int ready; (ready = poll(&socket, 1, TICK)) <= 0;) {
        if (ready < 0 && errno != EINTR)
            return ended(c);
        const uint64_t then = signs_of_life(c);
        if (then != alive)
            since = now();
        alive = then;
        if (now() - since > patience()) {
            dm_hdf5_child_stop(c, NULL, 0);
            return distmap_error_set(
                c->writes ? DISTMAP_ERROR_IO : DISTMAP_ERROR_FORMAT, "%s: %s: libhdf5 was silent for %g s", c->name,
                c->writes ? "cannot write" : "broken HDF5, or a disk that does not answer", patience());
        }
    }
    const ssize_t got = recv(c->socket, message, most, 0);
    return got >= (ssize_t)least ? DISTMAP_OK : ended(c);
}

distmap_status dm_hdf5_tell(dm_hdf5_child *c, const void *message, size_t bytes) {
    ssize_t sent;
    while ((sent = send(c->socket, message, bytes, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent == (ssize_t)bytes ? DISTMAP_OK : ended(c);
}

distmap_status dm_hdf5_grow(dm_hdf5_child *c, int64_t bytes) {
    if (bytes <= c->memory_bytes)
        return DISTMAP_OK;
    if (ftruncate(c->memory_fd, bytes))
        return dm_no_memory(c->name);
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->memory_fd, 0);
    if (memory == MAP_FAILED)
        return dm_no_memory(c->name);
    if (c->memory)
        munmap(c->memory, (size_t)c->memory_bytes);
    c->memory = memory;
    c->memory_bytes = bytes;
    return DISTMAP_OK;
}

/* It cannot become smaller, since this process would get a signal then. */
static distmap_status share_memory(dm_hdf5_child *c) {
    c->memory_fd = memfd_create("distmap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (c->memory_fd < 0 || fcntl(c->memory_fd, F_ADD_SEALS, F_SEAL_SHRINK))
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot make shared memory: %s", c->name, strerror(errno));
    return dm_hdf5_grow(c, DM_HDF5_HEAD);
}

static distmap_status start(dm_hdf5_child *c, int fd) {
    int pair[2];
    c->owner = getpid();
    if (!c->writes)
        TRY(share_memory(c));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot make a socket: %s", c->name, strerror(errno));
    c->socket = pair[0];
    const int descriptors[] = {pair[1], c->memory_fd, fd};
    const distmap_status status = dm_helper_start(&c->helper, c->name, descriptors, c->writes ? 1 : 3);
    close(pair[1]);
    return status;
}

distmap_status dm_hdf5_child_start(dm_hdf5_child *c, int fd, const dm_hdf5_hello *hello, const char *dataset) {
    const size_t name = strlen(c->name) + 1, set = dataset ? strlen(dataset) + 1 : 1,
                 bytes = sizeof *hello + name + set;
    char *message = calloc(1, bytes);
    if (!message)
        return dm_no_memory(c->name);
    memcpy(message, hello, sizeof *hello);
    memcpy(message + sizeof *hello, c->name, name);
    if (dataset)
        memcpy(message + sizeof *hello + name, dataset, set);
    distmap_status status = start(c, fd);
    if (!status)
        status = dm_hdf5_tell(c, message, bytes);
    free(message);
    return status;
}

distmap_status dm_hdf5_check_version(const dm_hdf5_child *c, const char version[16]) {
    if (!strncmp(version, DISTMAP_VERSION, 16))
        return DISTMAP_OK;
    return distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: the program that %s it is of another version", c->name,
                             c->writes ? "writes" : "reads");
}

/* Statuses that a child may give. */
static bool is_sound(const dm_hdf5_child *c, int32_t status) {
    return status == DISTMAP_ERROR_MEMORY || status == DISTMAP_ERROR_UNSUPPORTED || status == DISTMAP_ERROR_IO ||
           (c->writes && status == DISTMAP_ERROR_ARGUMENT);
}

distmap_status dm_hdf5_take_reply(const dm_hdf5_child *c, dm_hdf5_reply *reply) {
    reply->text[sizeof reply->text - 1] = '\0';
    if (reply->status == DISTMAP_OK)
        return DISTMAP_OK;
    const size_t name = strlen(c->name);
    const bool named = !strncmp(reply->text, c->name, name) && reply->text[name] == ':';
    const distmap_status status = is_sound(c, reply->status) ? (distmap_status)reply->status
                                  : c->writes                ? DISTMAP_ERROR_IO
                                                             : DISTMAP_ERROR_FORMAT;
    return distmap_error_set(status, "%s%s%s", named ? "" : c->name, named ? "" : ": ", reply->text);
}
