/* libtiff's callbacks over dm_input and dm_output.
 *
 * libtiff prints by default; each handle here has its own handlers, which keep the first error's text and drop warnings.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/tiff_file.h"

/* Decoders that need a whole strip or tile ask for it in one piece; more than this plus a few times the file's size is
 * a false header. */
enum { LARGEST_PIECE = 192 << 20 };

/* libtiff puts the first strip at the file's end, which for a new one is byte 8 or 16. Behind some zeros it begins at a
 * cache line, as suits vectors when it is mapped, and the system's copying when it is read. */
enum { ALIGNMENT = 64 };

/* libtiff (4.5) goes on without what found no memory, and follows invalid pointers then. So it does not go on: the reader of the directory
 * gets control back from here (dm_tiff_directory). A custom tag it has counted by then, so it follows one even when it is closed. errno
 * tells of memory; a limit of ours that a file exceeds sets none. */
static void note_memory(dm_tiff *file, int number, const char *format) {
    file->starved |= number == ENOMEM;
    file->refused |= file->catches && strstr(format, "list of custom values");
    if (file->catches && (file->starved || file->refused))
        longjmp(file->caught, 1);
}

static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list args) {
    (void)tiff;
    (void)module;
    dm_tiff *file = user;
    const int number = errno;
    if (!file->message[0]) {
        vsnprintf(file->message, sizeof file->message, format, args);
        if (!strncmp(file->message, ": ", 2)) /* behind a name that is none here */
            memmove(file->message, file->message + 2, strlen(file->message + 2) + 1);
    }
    note_memory(file, number, format);
    return 1;
}

static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list args) {
    (void)tiff, (void)module, (void)args;
    note_memory(user, errno, format);
    return 1;
}

static tmsize_t on_read(thandle_t handle, void *data, tmsize_t bytes) {
    dm_tiff *file = handle;
    const int64_t got = dm_read_at(file->input ? file->input->fd : file->output->fd, file->at, data, (size_t)bytes);
    if (file->look.on && got == bytes)
        dm_tiff_hide(file, data, (size_t)bytes);
    file->at += got > 0 ? got : 0;
    return got;
}

static tmsize_t on_write(thandle_t handle, void *data, tmsize_t bytes) {
    dm_tiff *file = handle;
    if (file->input || lseek(file->output->fd, file->at, SEEK_SET) < 0 ||
        dm_output_write(file->output, data, (size_t)bytes))
        return -1;
    file->at += bytes;
    return bytes;
}

static toff_t on_size(thandle_t handle) {
    dm_tiff *file = handle;
    if (file->input)
        return (toff_t)file->input->size;
    const off_t end = lseek(file->output->fd, 0, SEEK_END);
    return end < 0 ? 0 : (toff_t)end;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
    dm_tiff *file = handle;
    const int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file->at : (int64_t)on_size(handle);
    int64_t to;
    if (__builtin_add_overflow(base, (int64_t)offset, &to) || to < 0)
        return (toff_t)-1;
    file->at = to;
    return (toff_t)to;
}

static int on_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static void open_handle(dm_tiff *file, const char *mode, int64_t largest) {
    errno = 0;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return;
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, file);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, file);
    if (largest)
        TIFFOpenOptionsSetMaxSingleMemAlloc(options, largest);
    /* No mapping procedures: a file that is shortened while it is read must be an error, not a signal. */
    file->tiff = TIFFClientOpenExt("", mode, file, on_read, on_write, on_seek, on_close, on_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
}

distmap_status dm_tiff_failed(dm_tiff *file) {
    const distmap_status status = file->starved ? dm_no_memory(file->input->name)
                                                : dm_broken(file->input, "truncated or broken TIFF data: %s",
                                                            file->message[0] ? file->message : "no details");
    file->message[0] = 0;
    file->starved = file->refused;
    return status;
}

/* "h": the header alone. */
distmap_status dm_tiff_open_input(dm_tiff *file, dm_input *input) {
    file->input = input;
    open_handle(file, "rh", LARGEST_PIECE + 4 * input->size);
    file->starved |= !file->tiff && !file->message[0];
    return file->tiff ? DISTMAP_OK : dm_tiff_failed(file);
}

distmap_status dm_tiff_directory(dm_tiff *file, uint64_t offset) {
    file->message[0] = 0;
    if (file->refused)
        return dm_tiff_failed(file);
    file->starved = false;
    file->look.on = true;
    file->look.behind = -1;
    int there = 0;
    errno = 0;
    if (setjmp(file->caught)) {
        file->starved = true;
    } else {
        file->catches = true;
        there = offset ? TIFFSetSubDirectory(file->tiff, offset) : TIFFReadDirectory(file->tiff);
        file->starved |= errno == ENOMEM; /* some tags are left out without a word */
    }
    file->catches = file->look.on = false;
    return there && !file->starved ? DISTMAP_OK : dm_tiff_failed(file);
}

distmap_status dm_tiff_open_output(dm_tiff *file, dm_output *output, bool big) {
    file->output = output;
    open_handle(file, big ? "w8" : "w", 0);
    if (!file->tiff)
        return output->error ? dm_output_failed(output) : dm_no_memory(output->name);
    static const char zeros[ALIGNMENT];
    return dm_output_write(output, zeros, ALIGNMENT - (size_t)on_size(file) % ALIGNMENT);
}

void dm_tiff_set(TIFF *tiff, bool *refused, uint32_t tag, ...) {
    va_list values;
    va_start(values, tag);
    if (!*refused && !TIFFVSetField(tiff, tag, values))
        *refused = true;
    va_end(values);
}

void dm_tiff_close(dm_tiff *file) {
    if (file->tiff && !file->refused)
        TIFFClose(file->tiff);
    *file = (dm_tiff){0};
}
