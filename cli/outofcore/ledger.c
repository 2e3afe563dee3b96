/* The record of the finished work of a run out of core, so that another run can continue it.
 *
 * The heading is text, a line for each thing that must be the same; it ends with the boot of the machine, because what was written
 * before a power failure may not be on the disk, and is not relied upon. A line is added when a slab or panel is stored; one that
 * a killed process left unfinished does not count.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outofcore.h"

int ledger_path(const char *output, const char *folder, const char *ending, char path[PATHS]) {
    char file[PATH_MAX], real[PATH_MAX], copy[PATH_MAX], name[NAME_MAX + 1];
    snprintf(file, sizeof file, "%.*s", (int)distmap_path_file_bytes(output), output);
    if (!realpath(file, real)) /* a link's target, where there is one */
        snprintf(real, sizeof real, "%s", file);
    const distmap_format_info *format = distmap_format_of(output);
    /* Beside the outermost of the groups that are to be made with a Zarr array. */
    for (char *slash; format && format->chunked && (slash = strrchr(real, '/')); *slash = '_') {
        *slash = '\0';
        const bool there = access(*real ? real : "/", F_OK) == 0;
        *slash = '/';
        if (there)
            break;
    }
    snprintf(copy, sizeof copy, "%s", real);
    const char *dataset = output + strlen(file);
    const bool standard = strcmp(output, "-") == 0; /* several processes have one */
    const int length = standard ? snprintf(name, sizeof name, "%ld", (long)getpid())
                                : snprintf(name, sizeof name, "%s%s", basename(copy), dataset);
    for (char *p = name; *p; p++)
        *p = *p == '/' || *p == ':' ? '_' : *p;
    snprintf(copy, sizeof copy, "%s", real);
    const int used = snprintf(path, PATHS, "%s/" DISTMAP_TEMPORARY "%s.%s", folder ? folder : dirname(copy), name, ending);
    return used < PATHS && length < (int)sizeof name - 32 ? 0 : fail("%s: the name is too long", output);
}

enum { SHOWN = 120, LINE = 64 };

/* For a message: what a damaged file holds must not break the line. */
static void show(const char *line, size_t length, char text[SHOWN]) {
    snprintf(text, SHOWN, "%.*s", (int)(length < SHOWN ? length : SHOWN), line);
    for (char *p = text; *p; p++)
        *p = (unsigned char)*p < ' ' || (unsigned char)*p > '~' ? '?' : *p;
}

/* The first line that is in the heading and not in the text at the same place. */
static int tell_difference(const struct ledger *ledger, const char *heading, const char *text) {
    const char *here = heading, *there = text;
    size_t a = 0, b = 0;
    for (;;) {
        a = strcspn(here, "\n"), b = strcspn(there, "\n");
        if (a != b || memcmp(here, there, a) != 0 || !here[a] || !there[b])
            break;
        here += a + 1;
        there += b + 1;
    }
    char texts[2][SHOWN];
    show(there, b, texts[0]);
    show(here, a, texts[1]);
    return fail("--resume: %s belongs to another run: '%s' there, '%s' here", ledger->state, texts[0], texts[1]);
}

/* Returns the end of the last line that counts; none does behind one that is damaged. */
static const char *count_lines(struct ledger *ledger, const char *line) {
    for (const char *end = strchr(line, '\n'); end; line = end + 1, end = strchr(line, '\n')) {
        char kind[8], one[LINE];
        unsigned flags;
        double largest, least;
        snprintf(one, sizeof one, "%.*s", (int)(end - line < LINE ? end - line : 0), line);
        if (sscanf(one, "%7s %u %lf %lf", kind, &flags, &largest, &least) != 4)
            break;
        const bool slab = strcmp(kind, "slab") == 0, panel = strcmp(kind, "panel") == 0;
        if (!slab && !panel)
            break;
        ledger->slabs += slab;
        ledger->panels += panel;
        ledger->flags |= flags;
        ledger->largest = largest > ledger->largest ? largest : ledger->largest;
        ledger->least = least < ledger->least ? least : ledger->least;
    }
    return line;
}

/* Whether the heading is missing, or unfinished because the process was killed: then nothing was done. */
static bool is_unfinished(const char *text) {
    static const char beginning[] = "distmap ";
    const size_t length = strlen(text), common = length < sizeof beginning - 1 ? length : sizeof beginning - 1;
    const char *boot = strstr(text, "\nboot ");
    return strncmp(text, beginning, common) == 0 && !(boot && strchr(boot + 1, '\n'));
}

/* Whether this run can continue from an existing ledger; then so many bytes of it stay. */
static int judge(struct ledger *ledger, const struct options *options, const char *heading, const char *text, off_t *kept) {
    const size_t length = strlen(heading), boot = (size_t)(strstr(heading, "\nboot ") + 1 - heading);
    if (is_unfinished(text))
        return 0;
    if (strncmp(text, heading, length) == 0) {
        const char *end = count_lines(ledger, text + length);
        ledger->goes_on = ledger->slabs || ledger->panels; /* else its files may not be whole yet */
        *kept = ledger->goes_on ? end - text : 0;
        return 0;
    }
    if (strncmp(text, heading, boot) != 0)
        return tell_difference(ledger, heading, text);
    say(options, "distmap: the machine was restarted since; the earlier work is not used");
    return 0;
}

int ledger_size(struct ledger *ledger, int fd, const char *name, int64_t bytes) {
    struct stat there;
    if (ledger->goes_on ? fstat(fd, &there) : ftruncate(fd, bytes))
        return fail("%s: cannot write: %s", name, strerror(errno));
    if (!ledger->goes_on || there.st_size >= bytes)
        return 0;
    close(ledger->scratch_fd); /* nothing goes on */
    ledger->scratch_fd = -1;
    return fail("--resume: %s has %lld of its %lld bytes; run without --resume to start again", name,
                (long long)there.st_size, (long long)bytes);
}

int ledger_reserve(struct ledger *ledger, int64_t bytes) {
    ledger->scratch_fd = open(ledger->scratch, O_RDWR | O_CLOEXEC | (ledger->goes_on ? 0 : O_CREAT | O_TRUNC), 0666);
    if (ledger->scratch_fd < 0)
        return fail("%s: cannot open: %s", ledger->scratch, strerror(errno));
    /* A full disk is told before the work. Not every file system can reserve. */
    if (!ledger->goes_on && bytes && fallocate(ledger->scratch_fd, 0, 0, bytes) && errno != EOPNOTSUPP)
        return fail("%s: no room for %lld bytes of scratch: %s", ledger->scratch, (long long)bytes, strerror(errno));
    return ledger_size(ledger, ledger->scratch_fd, ledger->scratch, bytes);
}

/* Opens and locks it. The run that had the lock may have removed the file since it was opened here, and another one made a new
 * one: a lock counts that is on what the name tells. */
static int take_lock(struct ledger *ledger, const struct options *options) {
    for (;;) {
        struct stat locked, named;
        ledger->fd = open(ledger->state, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (ledger->fd < 0)
            return fail("%s: cannot open: %s", ledger->state, strerror(errno));
        const bool mine = flock(ledger->fd, LOCK_EX | LOCK_NB) == 0;
        const int reason = errno;
        if (mine && fstat(ledger->fd, &locked) == 0 && stat(ledger->state, &named) == 0 &&
            locked.st_dev == named.st_dev && locked.st_ino == named.st_ino)
            return 0;
        if (!mine && reason != EWOULDBLOCK && fstat(ledger->fd, &locked) == 0 && locked.st_size == 0)
            unlink(ledger->state); /* new, and cannot be locked */
        close(ledger->fd);
        ledger->fd = -1;
        if (!mine)
            return reason == EWOULDBLOCK ? fail("%s: another run is writing this output", options->output)
                                         : fail("%s: cannot be locked: %s", ledger->state, strerror(reason));
    }
}

static int write_heading(const struct ledger *ledger, const char *heading) {
    return write(ledger->fd, heading, strlen(heading)) == (ssize_t)strlen(heading)
               ? 0
               : fail("%s: cannot write: %s", ledger->state, strerror(errno));
}

int ledger_begin_anew(struct ledger *ledger, const char *heading) {
    ledger->goes_on = false;
    ledger->slabs = ledger->panels = 0;
    ledger->flags = 0;
    ledger->largest = -1;
    ledger->least = 0;
    return ftruncate(ledger->fd, 0) ? fail("%s: cannot write: %s", ledger->state, strerror(errno))
                                    : write_heading(ledger, heading);
}

int ledger_open(struct ledger *ledger, const struct options *options, const char *heading) {
    struct stat there;
    const int locked = take_lock(ledger, options);
    if (locked)
        return locked;
    if (fstat(ledger->fd, &there))
        return fail("%s: cannot read: %s", ledger->state, strerror(errno));
    char *text = calloc(1, (size_t)there.st_size + 1);
    if (!text || pread(ledger->fd, text, (size_t)there.st_size, 0) != there.st_size) {
        free(text);
        return fail("%s: cannot read: %s", ledger->state, strerror(errno));
    }
    off_t kept = 0;
    int status = options->resume ? judge(ledger, options, heading, text, &kept) : 0;
    free(text);
    if (status == 0 && ftruncate(ledger->fd, kept))
        status = fail("%s: cannot write: %s", ledger->state, strerror(errno));
    if (status == 0 && !ledger->goes_on)
        status = write_heading(ledger, heading);
    return status;
}

distmap_status ledger_mark(struct ledger *ledger, const char *kind, unsigned flags, double largest, double least) {
    char line[LINE];
    if (cut_short())
        return distmap_error_set(DISTMAP_ERROR_CANCELLED, "%s: the input was cut short", ledger->state);
    const int length = snprintf(line, sizeof line, "%s %u %.17g %.17g\n", kind, flags, largest, least);
    if (write(ledger->fd, line, (size_t)length) != length)
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot write: %s", ledger->state, strerror(errno));
    ledger->flags |= flags;
    ledger->largest = largest > ledger->largest ? largest : ledger->largest;
    ledger->least = least < ledger->least ? least : ledger->least;
    return DISTMAP_OK;
}

void ledger_close(struct ledger *ledger, bool keep) {
    if (ledger->fd >= 0 && !keep) {
        unlink(ledger->state); /* first: without it the other means nothing */
        unlink(ledger->scratch);
    }
    if (ledger->scratch_fd >= 0)
        close(ledger->scratch_fd);
    if (ledger->fd >= 0)
        close(ledger->fd);
    ledger->fd = ledger->scratch_fd = -1;
}
