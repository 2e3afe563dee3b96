/* Status names and the calling thread's error text. */
#include <stdarg.h>
#include <stdio.h>

#include "core/internal.h"

static _Thread_local char error_text[512];

static void set(const char *format, va_list args) { vsnprintf(error_text, sizeof error_text, format, args); }

distmap_status dm_error(distmap_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    set(format, args);
    va_end(args);
    return status;
}

distmap_status distmap_error_set(distmap_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    set(format, args);
    va_end(args);
    return status;
}

const char *distmap_error_text(void) { return error_text; }

const char *distmap_version(void) { return DISTMAP_VERSION; }

const char *distmap_status_name(distmap_status status) {
    static const char *const names[] = {
        [DISTMAP_OK] = "ok",
        [DISTMAP_ERROR_ARGUMENT] = "argument",
        [DISTMAP_ERROR_MEMORY] = "memory",
        [DISTMAP_ERROR_UNSUPPORTED] = "unsupported",
        [DISTMAP_ERROR_CANCELLED] = "cancelled",
        [DISTMAP_ERROR_VALUE] = "value",
        [DISTMAP_ERROR_IO] = "io",
        [DISTMAP_ERROR_FORMAT] = "format",
        [DISTMAP_ERROR_DEVICE] = "device",
    };
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown";
}
