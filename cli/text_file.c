/* A text file, written like every other output (distmap/io.h): whole or not at all, through pipes and devices as it comes. */
#include <stdio.h>

#include "cli.h"

/* A stdio stream's bytes. */
static ssize_t append(void *writer, const char *data, size_t bytes) {
    return distmap_writer_append(writer, data, bytes) ? 0 : (ssize_t)bytes;
}

int text_file_open(struct text_file *text, const char *path) {
    text->sink.path = path;
    if (distmap_writer_open_bytes(path, &text->sink.writer))
        return fail_library();
    text->file = fopencookie(text->sink.writer, "w", (cookie_io_functions_t){.write = append});
    return text->file ? 0 : fail("%s: not enough memory", path);
}

int text_file_close(struct text_file *text) {
    const bool failed = ferror(text->file);
    const bool unwritten = fclose(text->file) != 0;
    text->file = NULL;
    return failed || unwritten ? fail_library() : 0;
}

int text_file_finish(struct text_file *text, bool no_sync) {
    const int status = text_file_close(text);
    if (status)
        return status;
    return distmap_writers_finish(&text->sink.writer, 1, no_sync ? DISTMAP_FINISH_UNSYNCED : 0) ? fail_library() : 0;
}

void text_file_drop(struct text_file *text) {
    if (text->file)
        fclose(text->file);
    text->file = NULL;
    sink_close(&text->sink);
}
