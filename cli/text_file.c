/* A text file, whole or not at all: it is written under another name, one of this process alone, and takes its own when all is whole. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static int cannot_write(const struct text_file *text, int reason) {
    return fail("%s: cannot write: %s", text->path, strerror(reason));
}

int text_file_open(struct text_file *text, const char *path) {
    struct stat there;
    text->path = path;
    if (snprintf(text->part, sizeof text->part, "%s.part%ld", path, (long)getpid()) >= (int)sizeof text->part)
        return fail("%s: the name is too long", path);
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode))
        return cannot_write(text, EISDIR);
    text->file = fopen(text->part, "wx");
    text->exists = text->file;
    return text->file ? 0 : cannot_write(text, errno);
}

int text_file_close(struct text_file *text) {
    int reason = ferror(text->file) ? errno : 0; /* of the last write: what comes behind it fails alike */
    if (fclose(text->file) && !reason)
        reason = errno;
    text->file = NULL;
    return reason ? cannot_write(text, reason) : 0;
}

int text_file_take_name(struct text_file *text) {
    if (text->exists && rename(text->part, text->path))
        return fail("%s: cannot take its name: %s", text->path, strerror(errno));
    text->exists = false;
    return 0;
}

void text_file_drop(struct text_file *text) {
    if (text->file)
        fclose(text->file);
    if (text->exists)
        unlink(text->part);
    text->file = NULL;
    text->exists = false;
}
