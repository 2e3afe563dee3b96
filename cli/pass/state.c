/* The record of finished shards: files beside the output, each of which appears complete and once.
 *
 * A file is written under a random name first. The plan then takes its own by link(), which only the first process succeeds
 * with; a mark by rename(), since all say the same of a shard. An output takes its name by link() too, or as a folder by
 * rename(), neither of which replaces what is there, and only after all marks were seen; a mark is set only after the shard's
 * elements are on the disk. So an output with its name is whole; and who has opened the part and does not find his own mark then has
 * opened the part that counts, and not a new one made after the name was taken.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pass.h"

enum { LISTED = 8, MARK = 128 /* bytes of a mark, and more */ };
static const char mark_name[] = "shard-", plan_name[] = "plan.json";

int state_name(struct state *state, const char *output) {
    char folder[PATH_MAX], name[PATH_MAX], real[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", output);
    snprintf(name, sizeof name, "%s", output);
    if (!realpath(output, state->output)) { /* there is none yet: its folder's real name, and its own */
        if (!realpath(dirname(folder), real))
            return fail("%s: cannot use its folder: %s", output, strerror(errno));
        if (snprintf(state->output, sizeof state->output, "%s/%s", real, basename(name)) >= (int)sizeof state->output)
            return fail("%s: the name is too long", output);
    }
    snprintf(state->part, sizeof state->part, "%s.part", state->output);
    snprintf(state->folder, sizeof state->folder, "%s.pass", state->output);
    return 0;
}

static bool there_is(const char *path) { return access(path, F_OK) == 0; }

/* ---- Files that appear whole ---- */

static bool write_text(const char *path, const char *text) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const size_t bytes = strlen(text);
    bool good = fd >= 0 && write(fd, text, bytes) == (ssize_t)bytes && fsync(fd) == 0;
    return fd >= 0 && close(fd) == 0 && good;
}

/* `take` is link or rename. */
static int publish(const struct state *state, const char *name, const char *text,
                   int (*take)(const char *from, const char *to)) {
    char temp[PATH_MAX + 64], path[PATH_MAX + 64];
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return fail("%s: cannot make a name: %s", state->folder, strerror(errno));
    snprintf(temp, sizeof temp, "%s/.%016llx", state->folder, (unsigned long long)number);
    snprintf(path, sizeof path, "%s/%s", state->folder, name);
    const bool good = write_text(temp, text) && (take(temp, path) == 0 || errno == EEXIST);
    const int reason = errno;
    unlink(temp);
    return good ? 0 : fail("%s: cannot write: %s", path, strerror(reason));
}

int state_take_name(const char *part, const char *output) {
    struct stat info;
    const bool folder = stat(part, &info) == 0 && S_ISDIR(info.st_mode);
    const bool taken = (folder ? rename : link)(part, output) == 0;
    const int reason = errno;
    if (!taken && !there_is(output))
        return fail("%s: cannot take its name: %s", output, strerror(reason));
    char folder_name[PATH_MAX];
    snprintf(folder_name, sizeof folder_name, "%s", output);
    const int above = open(dirname(folder_name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above >= 0) {
        /* No power failure may take the name away with the part; a folder that cannot be synced is left. */
        fsync(above);
        close(above);
    }
    /* A second name of the output; or, where another process was first, a part that is none. */
    remove_all(part);
    return 0;
}

void state_tidy(const struct state *state) {
    if (*state->part && there_is(state->output))
        remove_all(state->part);
}

/* ---- What the output was when it had its name ----
 *
 * Size and time of the elements' last change, which a copy of both, output and folder, may keep; of a folder they are of its files, in
 * any order. Whoever puts another file there does not keep them. */

static const char output_name[] = "output";
static int64_t looked[2];

static int look_at(const char *path, const struct stat *info, int kind, struct FTW *place) {
    static const char aside[] = DISTMAP_TEMPORARY; /* of a writer, who was killed or has not finished */
    if (kind == FTW_F && strncmp(path + place->base, aside, sizeof aside - 1) != 0) {
        looked[0] += info->st_size;
        looked[1] = (int64_t)((uint64_t)looked[1] + (uint64_t)info->st_mtim.tv_sec * 1000000007U +
                              (uint64_t)info->st_mtim.tv_nsec);
    }
    return 0;
}

static void describe(const char *output, char text[64]) {
    looked[0] = looked[1] = 0;
    nftw(output, look_at, LISTED, FTW_PHYS);
    snprintf(text, 64, "%lld bytes, times %llx\n", (long long)looked[0], (long long)looked[1]);
}

/* Another process that does a shard once more may still write to the output, the same bytes at other times, and then says what it is too.
 * So each looks again at what it has published: one that is the last to publish has no write of another behind its second look, for that
 * one publishes behind its writes. */
int state_keep_output(const struct state *state) {
    char text[64], now[64];
    describe(state->output, now);
    do {
        memcpy(text, now, sizeof text);
        const int status = publish(state, output_name, text, rename);
        if (status)
            return status;
        describe(state->output, now);
    } while (strcmp(text, now) != 0);
    return 0;
}

int state_check_output(const struct state *state) {
    char path[PATH_MAX + 64], was[64] = "", now[64];
    snprintf(path, sizeof path, "%s/%s", state->folder, output_name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, was, sizeof was - 1) : 0;
    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return 0; /* it was killed before it could say it */
    describe(state->output, now);
    was[strcspn(was, "\n")] = now[strcspn(now, "\n")] = '\0';
    return strcmp(was, now) == 0
               ? 0
               : fail("%s: is not the file that the first pass wrote: %s then, %s now; remove %s/%s to use it as it is",
                      state->output, was, now, state->folder, output_name);
}

/* ---- The plan ---- */

json_object *state_plan(const struct state *state) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", state->folder, plan_name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    json_object *plan = fd >= 0 ? json_read(fd) : NULL;
    if (fd >= 0)
        close(fd);
    if (plan && !json_object_is_type(plan, json_type_object)) {
        json_object_put(plan);
        plan = NULL;
    }
    return plan;
}

static int agree(const struct state *state, json_object *plan) {
    const int style = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
    const char *text = json_text(plan, style);
    if (mkdir(state->folder, 0777) && errno != EEXIST)
        return fail("%s: cannot make the folder: %s", state->folder, strerror(errno));
    const int status = text ? publish(state, plan_name, text, link) : fail("%s: out of memory", state->folder);
    if (status)
        return status;
    json_object *there = state_plan(state);
    const int compared = there ? plan_compare(state->folder, there, plan)
                               : fail("%s/%s: is not the plan of a pass", state->folder, plan_name);
    json_object_put(there);
    return compared;
}

int state_begin(struct state *state, json_object *plan, bool *whole) {
    *whole = false;
    if (there_is(state->output) && !there_is(state->folder))
        return fail("%s: exists already and is not overwritten", state->output);
    int status = agree(state, plan);
    if (status == 0)
        status = state_count(state, NULL, 0);
    if (status)
        return status;
    /* In this order: the part may be taking its name just now. */
    const bool part = there_is(state->part), named = there_is(state->output);
    if (named && (status = state_count(state, NULL, 0)))
        return status;
    *whole = named && state->done == state->shards;
    if (named && !*whole)
        return fail("%s: exists already and is not overwritten", state->output);
    if (!part && !named && state->done)
        return fail("%s: records %lld shards as done, but there is no %s; remove the folder to start again",
                    state->folder, (long long)state->done, state->part);
    return status;
}

/* ---- Marks ---- */

bool state_has(const struct state *state, int64_t shard) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s%lld", state->folder, mark_name, (long long)shard);
    return there_is(path);
}

int state_mark(const struct state *state, int64_t shard, const struct mark *mark) {
    char name[48], text[MARK];
    if (cut_short())
        return fail("interrupted");
    snprintf(name, sizeof name, "%s%lld", mark_name, (long long)shard);
    snprintf(text, sizeof text, "flags %u largest %.17g bytes %lld %lld\n", mark->flags, mark->largest,
             (long long)mark->bytes[0], (long long)mark->bytes[1]);
    return publish(state, name, text, rename);
}

/* Reads a mark, and adds it to those before. 1: it is one. 0: it is none. -1: it cannot be read. */
static int take_mark(struct mark *all, int folder, const char *name) {
    char text[MARK] = "";
    unsigned flags;
    double largest;
    long long bytes[STEPS_OUTPUTS];
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    const int reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    if (got < 0 || sscanf(text, "flags %u largest %lf bytes %lld %lld", &flags, &largest, &bytes[0], &bytes[1]) != 4)
        return got < 0 ? -1 : 0;
    all->flags |= flags;
    all->largest = largest > all->largest ? largest : all->largest;
    for (int r = 0; r < STEPS_OUTPUTS; r++)
        all->bytes[r] = bytes[r] > all->bytes[r] ? bytes[r] : all->bytes[r];
    return 1;
}

static void list_missing(const struct state *state, const bool *done, char *text, size_t size) {
    int listed = 0;
    size_t used = 0;
    for (int64_t i = 0; i < state->shards && listed < LISTED; i++)
        if (!done[i] && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%lld", listed++ ? ", " : "", (long long)i + 1);
    const int64_t more = state->shards - state->done - listed;
    if (more > 0 && used < size)
        snprintf(text + used, size - used, " and %lld more", (long long)more);
}

int state_count(struct state *state, char *missing, size_t size) {
    DIR *folder = opendir(state->folder);
    bool *done = calloc((size_t)state->shards + 1, sizeof *done);
    int unreadable = 0;
    state->done = 0;
    state->told = (struct mark){.largest = -1};
    for (struct dirent *entry; folder && done && (entry = readdir(folder));) {
        char *end;
        const size_t prefix = sizeof mark_name - 1;
        const long long shard =
            strncmp(entry->d_name, mark_name, prefix) == 0 ? strtoll(entry->d_name + prefix, &end, 10) : 0;
        if (shard < 1 || shard > state->shards || *end || done[shard - 1])
            continue;
        const int taken = take_mark(&state->told, dirfd(folder), entry->d_name);
        if (taken < 0) {
            unreadable = fail("%s/%s: cannot read: %s", state->folder, entry->d_name, strerror(errno));
            break;
        }
        done[shard - 1] = taken;
        state->done += taken;
    }
    if (missing && done)
        list_missing(state, done, missing, size);
    const int status = unreadable       ? unreadable
                       : folder && done ? 0
                                        : fail("%s: cannot read: %s", state->folder, strerror(errno));
    if (folder)
        closedir(folder);
    free(done);
    return status;
}
