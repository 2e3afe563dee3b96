/* The child process that reads or writes an HDF5 file: what the reader in hdf5_child.c or the writer in hdf5_write.c asks for, until that
 * hangs up.
 *
 * It has three descriptors: a socket of messages, and for reading memory that both processes see, and the file. One that is
 * written the other side reads and writes for it. libhdf5 may crash here, or never return; a thread of its own looks whether the other side
 * has gone, and ends the process then.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
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

/* ---- Reading ---- */

static distmap_status open_file(distmap_reader *reader, char *name, const char *dataset) {
    struct stat info;
    reader->input = (dm_input){.name = name, .file = name, .fd = DM_HDF5_FILE, .dataset = *dataset ? dataset : NULL};
    if (fstat(DM_HDF5_FILE, &info))
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read", name);
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
            mallopt(M_PERTURB,
                    255); /* zeros, so that what libhdf5's other filters leave out is nothing that was there before */
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

static void serve_reader(char *name, const char *dataset) {
    static distmap_reader reader;
    dm_hdf5_alive = alive;
    answer_opened(&reader, open_file(&reader, name, dataset));
    child.fair = UINT64_MAX; /* elements may be as many as they are */
    for (dm_hdf5_request request; recv(DM_HDF5_SOCKET, &request, sizeof request, 0) == sizeof request;)
        answer(&reader, &request);
}

/* ---- Writing ---- */

static void say_told(const dm_hdf5_told *told, size_t bytes) { say(told, offsetof(dm_hdf5_told, data) + bytes); }

/* Whether there is an order, or an answer. */
static bool hear(dm_hdf5_order *order) {
    return recv(DM_HDF5_SOCKET, order, sizeof *order, 0) >= (ssize_t)offsetof(dm_hdf5_order, data);
}

/* The other side does it; a large piece in parts. */
int64_t dm_hdf5_ask(dm_hdf5_what what, int64_t at, void *data, size_t bytes) {
    static dm_hdf5_told told;
    static dm_hdf5_order answer;
    size_t done = 0;
    do {
        const size_t part = bytes - done < DM_HDF5_CALL ? bytes - done : DM_HDF5_CALL;
        told.what = what;
        told.at = at + (int64_t)done;
        told.bytes = (int64_t)part;
        if (what == DM_HDF5_WRITE)
            memcpy(told.data, (char *)data + done, part);
        say_told(&told, what == DM_HDF5_WRITE ? part : 0);
        if (!hear(&answer))
            _exit(0);
        if (what == DM_HDF5_READ) {
            if (answer.number < 0 || answer.number > (int64_t)part)
                return -1;
            memcpy((char *)data + done, answer.data, (size_t)answer.number);
            if (answer.number < (int64_t)part)
                return (int64_t)done + answer.number;
        }
        done += part;
    } while (done < bytes);
    return (int64_t)done;
}

static void serve_writer(const dm_hdf5_hello *hello, const char *name, const char *dataset) {
    static dm_hdf5_making making;
    static dm_hdf5_told done;
    static dm_hdf5_order order;
    making.output = (dm_hdf5_output){.name = name, .fresh = hello->fresh, .size = hello->size};
    making.path = dataset;
    making.info = hello->info;
    distmap_status status = dm_hdf5_make(&making);
    done.at = making.raw_offset;
    strncpy(done.version, DISTMAP_VERSION, sizeof done.version - 1);
    fill_reply(&done.reply, status);
    say_told(&done, 0);
    while (!status && hear(&order)) {
        const size_t table = (size_t)order.number * sizeof(int64_t);
        if (order.number) {
            status = dm_hdf5_make_room(&making, order.number, (int64_t *)(void *)order.data);
            memcpy(done.data, order.data, table);
        } else {
            status = dm_hdf5_make_end(&making);
        }
        fill_reply(&done.reply, status);
        say_told(&done, table);
    }
}

/* ---- Both ---- */

_Noreturn void dm_hdf5_serve(void) {
    static union {
        dm_hdf5_hello hello;
        char bytes[1 << 16];
    } first;
    pthread_t watcher;
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
#ifdef SYS_close_range
    syscall(SYS_close_range, DM_HDF5_DESCRIPTORS, ~0U, 0); /* what the caller has open is none of ours */
#endif
    const ssize_t bytes = recv(DM_HDF5_SOCKET, first.bytes, sizeof first - 2, 0); /* two zeros are behind it */
    if (bytes <= (ssize_t)sizeof first.hello || pthread_create(&watcher, NULL, watch, NULL))
        _exit(2);
    char *name = first.bytes + sizeof first.hello, *dataset = name + strlen(name) + 1;
    if (first.hello.writes) {
        close(DM_HDF5_FILE); /* it has neither */
        close(DM_HDF5_MEMORY);
        serve_writer(&first.hello, name, dataset);
    } else if (see_memory(DM_HDF5_HEAD)) {
        serve_reader(name, dataset);
    }
    _exit(0);
}
