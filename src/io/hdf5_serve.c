/* The child process that reads an HDF5 file: what the reader in hdf5_child.c asks for, until that hangs up.
 *
 * It has three descriptors: a socket of messages, the file, and memory that both processes see, into which elements go. libhdf5 may
 * crash here, or never return; a thread of its own looks whether the other side has gone, and ends the process then.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/hdf5.h"

static struct {
    char *memory;
    int64_t bytes;
    uint64_t read; /* bytes of the file, in all */
    uint64_t fair; /* how many it takes at most to learn what is in a file; more is going round in circles */
} child;

static void alive(size_t bytes) {
    child.read += bytes;
    if (child.read < child.fair)
        atomic_fetch_add(&((dm_hdf5_shared *)child.memory)->alive, 1);
}

static void *watch(void *user) {
    (void)user;
    struct pollfd socket = {.fd = DM_HDF5_SOCKET, .events = POLLRDHUP};
    while (poll(&socket, 1, -1) < 0)
        ;
    _exit(0);
}

/* The memory as it is now. It never becomes smaller. */
static bool see_memory(int64_t bytes) {
    if (bytes <= child.bytes)
        return true;
    if (child.memory)
        munmap(child.memory, (size_t)child.bytes);
    child.memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, DM_HDF5_MEMORY, 0);
    child.bytes = bytes;
    return child.memory != MAP_FAILED;
}

static void say(const void *message, size_t bytes) {
    if (send(DM_HDF5_SOCKET, message, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        _exit(0);
}

static void fill_reply(dm_hdf5_reply *reply, distmap_status status) {
    reply->status = (int32_t)status;
    if (status)
        strncpy(reply->text, distmap_error_text(), sizeof reply->text - 1);
}

static distmap_status open_file(distmap_reader *reader, char *names, size_t bytes) {
    struct stat info;
    names[bytes] = names[bytes + 1] = '\0';
    const size_t length = strlen(names);
    reader->input = (dm_input){.name = names, .file = names, .fd = DM_HDF5_FILE};
    if (length + 1 < bytes && names[length + 1])
        reader->input.dataset = names + length + 1;
    if (fstat(DM_HDF5_FILE, &info))
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read", names);
    reader->input.size = info.st_size;
    child.fair = 8 * (uint64_t)info.st_size + (64 << 20);
    return dm_hdf5_here_open(reader);
}

static void answer_opened(distmap_reader *reader, distmap_status status) {
    dm_hdf5_opened opened = {.info = reader->info, .raw_offset = -1};
    fill_reply(&opened.reply, status);
    strncpy(opened.version, DISTMAP_VERSION, sizeof opened.version - 1);
    opened.info.format = NULL;
    if (!status) {
        const dm_hdf5_set *s = reader->state;
#ifdef M_PERTURB
        if (s->form.filters && !s->form.ours)
            mallopt(M_PERTURB, 255); /* zeros, so that what libhdf5's other filters leave out is nothing that was there before */
#endif
        if (reader->raw.is) {
            opened.raw_offset = reader->raw.offset;
            opened.raw_swapped = reader->raw.swapped;
        }
        opened.form = s->form;
    }
    say(&opened, sizeof opened);
}

static void answer(distmap_reader *reader, const dm_hdf5_request *request) {
    dm_hdf5_reply reply = {0};
    if (!see_memory(request->at + request->bytes))
        fill_reply(&reply, dm_no_memory(reader->input.name));
    else if (request->locate)
        fill_reply(&reply, dm_hdf5_here_locate(reader, request->part.first,
                                               (dm_hdf5_spot *)(void *)(child.memory + request->at)));
    else
        fill_reply(&reply, dm_hdf5_here_read(reader, &request->part, child.memory + request->at));
    say(&reply, sizeof reply);
}

_Noreturn void dm_hdf5_serve(void) {
    static char names[1 << 16];
    static distmap_reader reader;
    pthread_t watcher;
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
#ifdef SYS_close_range
    syscall(SYS_close_range, DM_HDF5_DESCRIPTORS, ~0U, 0); /* what the caller has open is none of ours */
#endif
    const ssize_t bytes = recv(DM_HDF5_SOCKET, names, sizeof names - 2, 0);
    if (bytes <= 0 || !see_memory(DM_HDF5_HEAD) || pthread_create(&watcher, NULL, watch, NULL))
        _exit(2);
    dm_hdf5_alive = alive;
    answer_opened(&reader, open_file(&reader, names, (size_t)bytes));
    child.fair = UINT64_MAX; /* elements may be as many as they are */
    for (dm_hdf5_request request; recv(DM_HDF5_SOCKET, &request, sizeof request, 0) == sizeof request;)
        answer(&reader, &request);
    _exit(0);
}
