/* What is said on stderr: always one line, always "distmap: ...". */
#include <stdarg.h>
#include <stdio.h>

#include "cli.h"

static void line(const char *format, va_list arguments) {
    progress_end();
    fputs("distmap: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int fail(const char *format, ...) {
    const int caught = signal_caught();
    if (caught) { /* the failure is the interruption's, and the person who did it knows */
        progress_end();
        return 128 + caught;
    }
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
