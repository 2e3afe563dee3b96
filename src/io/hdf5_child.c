/* The codec for HDF5: files are read by a child process (hdf5_serve.c), which libhdf5 may crash or keep for ever.
 *
 * Elements that lie in the file as they are need the child no more once it has told where (raw.c). For chunks that hdf5_unpack.c can
 * unpack it tells the places, row by row. All others it reads, into memory that both processes see, in two windows: while one is
 * copied to the caller, the child fills the other. A part that is asked for is whole rows of chunks where these are small, so that
 * none is unpacked twice; of large ones it is a run along the second axis.
 *
 * The child is believed in nothing: what it says of the image is checked like a header, and where it is silent for so long that
 * nothing is to be hoped for (DISTMAP_HDF5_PATIENCE seconds; 30) it is ended, which is an error like that of any broken file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/hdf5.h"
#include "io/helper.h"

enum { WINDOW_BYTES = 4 << 20, WINDOWS = 2, TICK = 100 /* ms */, PATIENCE = 30 /* s */ };

typedef struct state {
    dm_helper helper;
    pid_t owner; /* who has started it: not a process that was forked since */
    int socket, memory_fd;
    char *memory;
    int64_t memory_bytes, window_bytes;
    dm_hdf5_form form;
    dm_hdf5_chunks chunks; /* where form.ours */
} state;

bool dm_hdf5_in_process;

static bool hdf5_sniff(const uint8_t *head, size_t bytes) {
    static const uint8_t signature[] = "\x89HDF\r\n\x1a\n";
    for (size_t at = 0; at + 8 <= bytes; at = at ? 2 * at : 512) /* behind a block of the user's, if there is one */
        if (!memcmp(head + at, signature, 8))
            return true;
    return false;
}

/* ---- The child ---- */

static void stop(state *s, char *how, size_t bytes) {
    if (s->memory)
        munmap(s->memory, (size_t)s->memory_bytes);
    s->memory = NULL;
    s->memory_bytes = 0;
    if (s->memory_fd >= 0)
        close(s->memory_fd);
    if (s->socket >= 0 && s->owner == getpid())
        shutdown(s->socket, SHUT_RDWR); /* others may have the descriptor too */
    if (s->socket >= 0)
        close(s->socket);
    s->socket = s->memory_fd = -1;
    if (s->owner == getpid())
        dm_helper_end(&s->helper, how, bytes);
    s->helper.pid = 0;
}

static distmap_status ended(distmap_reader *reader) {
    char how[80];
    stop(reader->state, how, sizeof how);
    return dm_broken(&reader->input, "broken HDF5: libhdf5 does not stand it, and ended %s", how);
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

/* Waits for a message of that size, as long as the child shows signs of life. */
static distmap_status hear(distmap_reader *reader, void *message, size_t bytes) {
    state *s = reader->state;
    dm_hdf5_shared *shared = (dm_hdf5_shared *)s->memory;
    uint64_t alive = atomic_load(&shared->alive);
    double since = now();
    struct pollfd socket = {.fd = s->socket, .events = POLLIN};
    for (int ready; (ready = poll(&socket, 1, TICK)) <= 0;) {
        if (ready < 0 && errno != EINTR)
            return ended(reader);
        const uint64_t then = atomic_load(&shared->alive);
        if (then != alive)
            since = now();
        alive = then;
        if (now() - since > patience()) {
            stop(s, NULL, 0);
            return dm_broken(&reader->input, "broken HDF5, or a disk that does not answer: libhdf5 was silent for %g s",
                             patience());
        }
    }
    const ssize_t got = recv(s->socket, message, bytes, 0);
    return got == (ssize_t)bytes ? DISTMAP_OK : ended(reader);
}

static distmap_status tell(distmap_reader *reader, const void *message, size_t bytes) {
    const state *s = reader->state;
    ssize_t sent;
    while ((sent = send(s->socket, message, bytes, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent == (ssize_t)bytes ? DISTMAP_OK : ended(reader);
}

/* Makes the memory that both see at least so large. What has become smaller would be a signal here: so it cannot. */
static distmap_status grow(distmap_reader *reader, int64_t bytes) {
    state *s = reader->state;
    if (bytes <= s->memory_bytes)
        return DISTMAP_OK;
    if (ftruncate(s->memory_fd, bytes))
        return dm_no_memory(reader->input.name);
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->memory_fd, 0);
    if (memory == MAP_FAILED)
        return dm_no_memory(reader->input.name);
    if (s->memory)
        munmap(s->memory, (size_t)s->memory_bytes);
    s->memory = memory;
    s->memory_bytes = bytes;
    return DISTMAP_OK;
}

static distmap_status start(distmap_reader *reader) {
    state *s = reader->state;
    int pair[2];
    s->owner = getpid();
    s->memory_fd = memfd_create("distmap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->memory_fd < 0 || fcntl(s->memory_fd, F_ADD_SEALS, F_SEAL_SHRINK))
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot make shared memory: %s", reader->input.name,
                                 strerror(errno));
    TRY(grow(reader, DM_HDF5_HEAD));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot make a socket: %s", reader->input.name, strerror(errno));
    s->socket = pair[0];
    const int descriptors[] = {pair[1], reader->input.fd, s->memory_fd};
    const distmap_status status = dm_helper_start(&s->helper, reader->input.name, descriptors, 3);
    close(pair[1]);
    return status;
}

/* ---- What it says ---- */

static distmap_status take_reply(const distmap_reader *reader, dm_hdf5_reply *reply) {
    reply->text[sizeof reply->text - 1] = '\0';
    if (reply->status == DISTMAP_OK)
        return DISTMAP_OK;
    const size_t name = strlen(reader->input.name);
    const bool named = !strncmp(reply->text, reader->input.name, name) && reply->text[name] == ':';
    const distmap_status status = reply->status == DISTMAP_ERROR_MEMORY || reply->status == DISTMAP_ERROR_UNSUPPORTED ||
                                          reply->status == DISTMAP_ERROR_IO
                                      ? (distmap_status)reply->status
                                      : DISTMAP_ERROR_FORMAT;
    return distmap_error_set(status, "%s%s%s", named ? "" : reader->input.name, named ? "" : ": ", reply->text);
}

static bool is_text(const char *text, size_t bytes) { return memchr(text, '\0', bytes) != NULL; }

/* Whether what hdf5_unpack.c relies upon is so. */
static bool is_form(const dm_hdf5_form *form, const distmap_image_info *info) {
    int64_t bytes = (int64_t)distmap_dtype_size(info->dtype), row = 1;
    bool good = form->filters >= 0 && form->filters <= H5Z_MAX_NFILTERS;
    for (int a = 0; good && form->ours && a < info->ndim; a++) {
        good = form->chunk[a] > 0 && !__builtin_mul_overflow(bytes, form->chunk[a], &bytes) &&
               (a == 0 || !__builtin_mul_overflow(
                              row, info->shape[a] / form->chunk[a] + (info->shape[a] % form->chunk[a] > 0), &row));
    }
    for (int a = 0; good && a < 2; a++)
        good = form->chunk[a] >= 0;
    return good && (!form->ours || (bytes == form->bytes && bytes <= UINT32_MAX && row == form->row_chunks));
}

static distmap_status take_info(distmap_reader *reader, dm_hdf5_opened *opened) {
    state *s = reader->state;
    distmap_image_info *info = &opened->info;
    bool good = info->ndim >= 1 && info->ndim <= DISTMAP_MAX_AXES && distmap_dtype_size(info->dtype) > 0 &&
                is_text(info->stored, sizeof info->stored) && is_text(info->packing, sizeof info->packing) &&
                is_form(&opened->form, info);
    for (int a = 0; good && a < info->ndim; a++)
        good = info->shape[a] >= 0 && is_text(info->axis[a].name, sizeof info->axis[a].name) &&
               is_text(info->axis[a].unit, sizeof info->axis[a].unit);
    if (!good)
        return dm_broken(&reader->input, "broken HDF5: its reader talks nonsense");
    info->format = reader->info.format;
    info->crs = NULL;
    info->native = NULL;
    info->native_count = 0;
    info->samples = 0;
    info->sample = DISTMAP_SAMPLE_OPEN;
    reader->info = *info;
    s->form = opened->form;
    int64_t bytes;
    TRY(dm_shape_bytes(reader->input.name, info->ndim, info->shape, distmap_dtype_size(info->dtype), &bytes));
    reader->slice_bytes = (size_t)dm_slice_elements(info) * distmap_dtype_size(info->dtype);
    return opened->raw_offset < 0 ? DISTMAP_OK : dm_raw_open(reader, opened->raw_offset, opened->raw_swapped, false);
}

/* Starts the child, and sends names: the input's, and the dataset's where one is named. */
static distmap_status introduce(distmap_reader *reader, dm_hdf5_opened *opened) {
    const size_t name = strlen(reader->input.name) + 1;
    const size_t set = reader->input.dataset ? strlen(reader->input.dataset) + 1 : 1;
    char *names = calloc(1, name + set);
    if (!names)
        return dm_no_memory(reader->input.name);
    memcpy(names, reader->input.name, name);
    if (reader->input.dataset)
        memcpy(names + name, reader->input.dataset, set);
    distmap_status status = start(reader);
    if (!status)
        status = tell(reader, names, name + set);
    free(names);
    if (!status)
        status = hear(reader, opened, sizeof *opened);
    if (!status && strncmp(opened->version, DISTMAP_VERSION, sizeof opened->version) != 0)
        status = distmap_error_set(DISTMAP_ERROR_UNSUPPORTED, "%s: the program that reads it is of another version",
                                   reader->input.name);
    return status ? status : take_reply(reader, &opened->reply);
}

/* ---- Elements ---- */

static int64_t part_bytes(const distmap_reader *reader, const dm_hdf5_part *part) {
    const int64_t rows = reader->info.ndim > 1 ? reader->info.shape[1] : 1;
    return part->count * part->rows * ((int64_t)reader->slice_bytes / rows);
}

/* The next part of slices [part->first + part->count, end), or of what is left of the same slices along the second axis. Whole rows
 * of chunks are cut along that, where they are large. */
static void next_part(const distmap_reader *reader, dm_hdf5_part *part, int64_t end) {
    const state *s = reader->state;
    const int64_t rows = reader->info.ndim > 1 ? reader->info.shape[1] : 1, slice = (int64_t)reader->slice_bytes;
    const int64_t deep = s->form.chunk[0] ? s->form.chunk[0] : 1, wide = s->form.chunk[1] ? s->form.chunk[1] : 1;
    if (part->row + part->rows < rows && part->count) {
        part->row += part->rows;
    } else {
        part->first += part->count;
        part->row = 0;
        part->rows = rows;
        const int64_t within = part->first % deep, left = end - part->first, fit = s->window_bytes / slice;
        const int64_t chunks_end = deep - within < left ? deep - within : left;
        const bool whole = within == 0 && (chunks_end == deep || end == reader->info.shape[0]);
        if (fit >= deep) /* several rows of chunks */
            part->count = fit / deep * deep - within < left ? fit / deep * deep - within : left;
        else if (whole || !s->form.keeps_row)
            part->count = chunks_end;
        else
            part->count = fit < 1 ? 1 : fit < chunks_end ? fit : chunks_end;
        const int64_t one = part_bytes(reader, part) / rows; /* of the second axis */
        if (part->count * slice > s->window_bytes && rows > 1) {
            const int64_t these = s->window_bytes / (one > 0 ? one : 1) / wide * wide;
            part->rows = these < wide ? wide : these;
        }
    }
    part->rows = part->rows < rows - part->row ? part->rows : rows - part->row;
}

/* From the window to the caller's slices, of which `first` is the first one. */
static void hand_over(const distmap_reader *reader, const dm_hdf5_part *part, const char *from, int64_t first,
                      char *out) {
    const int64_t slice = (int64_t)reader->slice_bytes, bytes = part_bytes(reader, part) / part->count;
    const int64_t row = part->rows ? bytes / part->rows : 0;
    if (bytes == slice) {
        memcpy(out + (part->first - first) * slice, from, (size_t)(part->count * slice));
        return;
    }
    for (int64_t i = 0; i < part->count; i++)
        memcpy(out + (part->first + i - first) * slice + part->row * row, from + i * bytes, (size_t)bytes);
}

/* Very large parts have one window, and the child waits. */
static int windows_for(const state *s, int64_t part) { return part > 4 * s->window_bytes ? 1 : WINDOWS; }

static distmap_status ask(distmap_reader *reader, const dm_hdf5_part *part, int64_t at) {
    const dm_hdf5_request request = {.part = *part, .at = at, .bytes = part_bytes(reader, part)};
    return tell(reader, &request, sizeof request);
}

/* The largest part, so that windows need not grow while they are in use. */
static int64_t largest_part(const distmap_reader *reader, int64_t first, int64_t end) {
    int64_t largest = 0;
    const state *s = reader->state;
    const int64_t enough = first + 3 * (s->form.chunk[0] + s->window_bytes); /* then they are as before */
    for (dm_hdf5_part part = {.first = first}; part.first + part.count < end && part.first < enough;) {
        next_part(reader, &part, end);
        const int64_t bytes = part_bytes(reader, &part);
        largest = bytes > largest ? bytes : largest;
        part.rows = reader->info.ndim > 1 ? reader->info.shape[1] : 1; /* the others of these slices are no larger */
        part.row = 0;
    }
    return largest;
}

static bool is_last(const distmap_reader *reader, const dm_hdf5_part *part, int64_t end) {
    return part->first + part->count == end &&
           part->row + part->rows == (reader->info.ndim > 1 ? reader->info.shape[1] : 1);
}

static distmap_status read_parts(distmap_reader *reader, int64_t first, int64_t end, char *out) {
    state *s = reader->state;
    const int64_t window = (largest_part(reader, first, end) + 4095) / 4096 * 4096;
    const int windows = windows_for(s, window);
    TRY(grow(reader, DM_HDF5_HEAD + windows * window));
    dm_hdf5_part part = {.first = first}, next;
    next_part(reader, &part, end);
    TRY(ask(reader, &part, DM_HDF5_HEAD));
    for (int64_t i = 0;; i++, part = next) {
        const bool last = is_last(reader, &part, end), ahead = !last && windows > 1;
        const int64_t at = DM_HDF5_HEAD + i % windows * window, then = DM_HDF5_HEAD + (i + 1) % windows * window;
        next = part;
        if (!last)
            next_part(reader, &next, end);
        if (ahead)
            TRY(ask(reader, &next, then));
        dm_hdf5_reply reply;
        TRY(hear(reader, &reply, sizeof reply));
        const distmap_status status = take_reply(reader, &reply);
        if (status && ahead)
            stop(s, NULL, 0); /* with an answer on its way that nobody waits for */
        TRY(status);
        hand_over(reader, &part, s->memory + at, first, out);
        if (last)
            return DISTMAP_OK;
        if (!ahead)
            TRY(ask(reader, &next, then));
    }
}

/* ---- Places of chunks ---- */

/* The child again, where it was ended by an error, or is another process's. */
static distmap_status wake(distmap_reader *reader) {
    state *s = reader->state;
    dm_hdf5_opened opened;
    const distmap_image_info *was = &reader->info;
    if (s->helper.pid && s->owner == getpid())
        return DISTMAP_OK;
    stop(s, NULL, 0);
    TRY(introduce(reader, &opened));
    const bool same = opened.info.dtype == was->dtype && opened.info.ndim == was->ndim &&
                      !memcmp(opened.info.shape, was->shape, sizeof was->shape) &&
                      !memcmp(&opened.form, &s->form, sizeof s->form);
    return same ? DISTMAP_OK : dm_broken(&reader->input, "changed while it was read");
}

static distmap_status locate(distmap_reader *reader, int64_t first, dm_hdf5_spot *places) {
    state *s = reader->state;
    const dm_hdf5_request request = {.locate = true,
                                     .part = {.first = first},
                                     .at = DM_HDF5_HEAD,
                                     .bytes = s->form.row_chunks * (int64_t)sizeof *places};
    dm_hdf5_reply reply;
    TRY(wake(reader));
    TRY(grow(reader, request.at + request.bytes));
    TRY(tell(reader, &request, sizeof request));
    TRY(hear(reader, &reply, sizeof reply));
    TRY(take_reply(reader, &reply));
    memcpy(places, s->memory + request.at, (size_t)request.bytes);
    return DISTMAP_OK;
}

/* ---- The codec ---- */

static distmap_status open_by_child(distmap_reader *reader) {
    state *s = reader->state;
    dm_hdf5_opened opened;
    TRY(introduce(reader, &opened));
    TRY(take_info(reader, &opened));
    if (reader->raw.is)
        stop(s, NULL, 0);
    else if (s->form.ours)
        return dm_hdf5_chunks_open(reader, &s->chunks, &s->form, locate);
    else if (reader->slice_bytes) {
        const int64_t part = largest_part(reader, 0, reader->info.shape[0]);
        reader->info.held_bytes += (size_t)(windows_for(s, part) * part);
    }
    return DISTMAP_OK;
}

static distmap_status hdf5_open(distmap_reader *reader) {
    if (dm_hdf5_in_process)
        return dm_hdf5_here_open(reader);
    state *s = reader->state = calloc(1, sizeof *s);
    if (!s)
        return dm_no_memory(reader->input.name);
    s->helper.handle = s->socket = s->memory_fd = -1;
    s->window_bytes = WINDOW_BYTES;
    return open_by_child(reader);
}

/* As the child and the caller's process do together. */
static distmap_status read_in_process(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    const dm_hdf5_set *s = reader->state;
    if (!s->form.ours) {
        const dm_hdf5_part part = {first, count, 0, reader->info.ndim > 1 ? reader->info.shape[1] : 1};
        return dm_hdf5_here_read(reader, &part, out);
    }
    dm_hdf5_chunks chunks;
    distmap_status status = dm_hdf5_chunks_open(reader, &chunks, &s->form, dm_hdf5_here_locate);
    if (!status)
        status = dm_hdf5_chunks_read(reader, &chunks, first, count, out);
    dm_hdf5_chunks_close(&chunks);
    return status;
}

static distmap_status hdf5_read(distmap_reader *reader, int64_t first, int64_t count, void *out) {
    state *s = reader->state;
    if (reader->raw.is)
        return dm_raw_read(reader, first, count, out);
    if (dm_hdf5_in_process)
        return read_in_process(reader, first, count, out);
    if (s->form.ours)
        return dm_hdf5_chunks_read(reader, &s->chunks, first, count, out);
    TRY(wake(reader));
    return read_parts(reader, first, first + count, out);
}

static void hdf5_close(distmap_reader *reader) {
    if (dm_hdf5_in_process) {
        dm_hdf5_here_close(reader);
        return;
    }
    state *s = reader->state;
    if (s) {
        stop(s, NULL, 0);
        dm_hdf5_chunks_close(&s->chunks);
    }
    free(s);
}

static const char *packings(const char *path) {
    (void)path;
    return "deflate none";
}

const dm_codec dm_codec_hdf5 = {
    .info = {.name = "hdf5",
             .endings = ".h5 .hdf5 .hdf",
             .reads = true,
             .writes = true,
             .summary = "HDF5, one dataset: FILE:/DATASET; chunks, any filter that libhdf5 has; written with gzip"},
    .sniff = hdf5_sniff,
    .by_name = true,
    .open = hdf5_open,
    .read = hdf5_read,
    .close = hdf5_close,
    .holds = (1u << (DISTMAP_FLOAT64 + 1)) - (1u << DISTMAP_BOOL),
    .min_ndim = 1,
    .max_ndim = DISTMAP_MAX_AXES,
    .holds_empty = true,
    .holds_datasets = true,
    .packings = packings,
    .create = dm_hdf5_create,
    .write = dm_hdf5_write,
    .depth = dm_hdf5_depth,
    .pack = dm_hdf5_pack,
    .place = dm_hdf5_place,
    .finish = dm_hdf5_finish,
    .discard = dm_hdf5_discard,
};
