/* Messages on stderr: always one line, always "distmap: ...". */
#include <stdarg.h>
#include <stdio.h>

#include "cli.h"

static struct {
    char *text; /* NULL: lines are said */
    size_t size;
} kept;

void messages_keep(char *text, size_t size) {
    kept.text = text;
    kept.size = size;
}

static void line(const char *format, va_list arguments) {
    progress_end();
    if (kept.text) {
        vsnprintf(kept.text, kept.size, format, arguments);
        return;
    }
    fputs("distmap: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

/* What failed then, failed by it. */
static int fail_cut_short(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    line(format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

int fail(const char *format, ...) {
    const int caught = signal_caught();
    if (caught) { /* the failure is the interruption's, and the person who did it knows */
        progress_end();
        return 128 + caught;
    }
    if (cut_short())
        return fail_cut_short("%s: was cut short, or its disk failed, while it was read", cut_short_name());
    va_list arguments;
    va_start(arguments, format);
    line(format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

int usage(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    line(format, arguments);
    va_end(arguments);
    return EXIT_USAGE;
}

int fail_library(void) { return fail("%s", distmap_error_text()); }

void say(const struct options *options, const char *format, ...) {
    if (options->quiet)
        return;
    va_list arguments;
    va_start(arguments, format);
    progress_end();
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

int results_flush(int status) {
    const bool broken = ferror(stdout);
    if ((fflush(stdout) || broken) && status == 0)
        return fail("standard output: writing failed");
    return status;
}
