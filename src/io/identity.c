/* The identity of a file, which differs from that of other files, and of itself after a change: inode, size, and the times of the last
 * change of its elements and of anything about it, in nanoseconds. The last one cannot be set, so that a file that was replaced and given
 * its old time is noticed too. The device is left out: two machines that see one file system give it different numbers.
 *
 * A folder's is a digest over the same of all files in it, chunks among them: a sum of numbers that each file gives, so
 * that the order in which they are listed does not count.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "io/codec.h"
#include "io/hash.h"

enum { DEEP = 64 /* nested folders */, PIECE_BYTES = 1 << 20 };

typedef struct digest {
    uint64_t files, bytes, sum[2];
} digest;

/* Two numbers for a file in the folder, from its path's hash and its facts or bytes. False and errno. */
typedef bool facts(int folder, const char *name, const struct stat *info, uint64_t path, uint64_t number[2]);

static bool mix_times(int folder, const char *name, const struct stat *info, uint64_t path, uint64_t number[2]) {
    (void)folder, (void)name;
    const int64_t all[] = {(int64_t)info->st_ino,         (int64_t)info->st_size,
                           (int64_t)info->st_mtim.tv_sec, (int64_t)info->st_mtim.tv_nsec,
                           (int64_t)info->st_ctim.tv_sec, (int64_t)info->st_ctim.tv_nsec};
    const uint64_t hash = dm_hash(path, all, sizeof all);
    number[0] = (hash ^ hash >> 31) * 0x9e3779b97f4a7c15;
    return true;
}

/* Two numbers from all bytes, with `seed`. */
static bool read_through(int fd, uint64_t seed, uint64_t number[2]) {
    XXH3_state_t *state = XXH3_createState();
    char *buffer = malloc(PIECE_BYTES);
    int64_t got = state && buffer ? 1 : -1;
    if (got < 0)
        errno = ENOMEM;
    else
        XXH3_128bits_reset_withSeed(state, seed);
    for (int64_t at = 0; got > 0; at += got) {
        got = dm_read_at(fd, at, buffer, PIECE_BYTES);
        if (got > 0)
            XXH3_128bits_update(state, buffer, (size_t)got);
    }
    if (got == 0) {
        const XXH128_hash_t hash = XXH3_128bits_digest(state);
        number[0] = hash.high64;
        number[1] = hash.low64;
    }
    free(buffer);
    XXH3_freeState(state);
    return got == 0;
}

static bool mix_bytes(int folder, const char *name, const struct stat *info, uint64_t path, uint64_t number[2]) {
    const int fd = S_ISREG(info->st_mode) ? openat(folder, name, O_RDONLY | O_CLOEXEC) : -1;
    const bool good = fd >= 0 ? read_through(fd, path, number) : !S_ISREG(info->st_mode);
    if (fd >= 0)
        close(fd);
    return good;
}

/* Takes `fd`. Whether all of it could be looked at. */
static bool visit(int fd, uint64_t name, int depth, facts *mix, digest *d) {
    static const char aside[] = DISTMAP_TEMPORARY; /* of writers, who have not finished */
    DIR *folder = fd >= 0 && depth < DEEP ? fdopendir(fd) : NULL;
    bool good = folder != NULL;
    if (!folder && fd >= 0)
        close(fd);
    struct dirent *entry;
    while (good && (errno = 0, entry = readdir(folder))) {
        struct stat info;
        uint64_t number[2] = {0};
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
            !strncmp(entry->d_name, aside, sizeof aside - 1))
            continue;
        const uint64_t path = dm_hash(dm_hash(name, "/", 1), entry->d_name, strlen(entry->d_name));
        if (fstatat(dirfd(folder), entry->d_name, &info, 0))
            good = errno == ENOENT; /* it has just gone, which its absence tells */
        else if (S_ISDIR(info.st_mode))
            good = visit(openat(dirfd(folder), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path, depth + 1, mix,
                         d);
        else if ((good = mix(dirfd(folder), entry->d_name, &info, path, number))) {
            d->files++;
            d->bytes += (uint64_t)info.st_size;
            d->sum[0] += number[0];
            d->sum[1] += number[1];
        }
    }
    good = good && errno == 0;
    if (folder)
        closedir(folder);
    return good;
}

static distmap_status look_into(const dm_input *input, facts *mix, digest *d) {
    *d = (digest){0};
    return visit(openat(input->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), DM_HASH_START, 0, mix, d)
               ? DISTMAP_OK
               : distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot examine its files: %s", input->name, strerror(errno));
}

static distmap_status cannot_read(const dm_input *input) {
    return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read: %s", input->name, strerror(errno));
}

static void tell(const struct stat *info, const char *what, char *text, size_t bytes) {
    snprintf(text, bytes, "%sinode %lld of %lld bytes, changed %lld.%09ld, touched %lld.%09ld", what,
             (long long)info->st_ino, (long long)info->st_size, (long long)info->st_mtim.tv_sec, info->st_mtim.tv_nsec,
             (long long)info->st_ctim.tv_sec, info->st_ctim.tv_nsec);
}

distmap_status distmap_reader_identity(const distmap_reader *reader, char text[DISTMAP_IDENTITY_BYTES]) {
    if (!reader || !text)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "reader, text: must not be NULL");
    const dm_input *input = &reader->input;
    struct stat info;
    digest d;
    if (input->is_folder) {
        TRY(look_into(input, mix_times, &d));
        snprintf(text, DISTMAP_IDENTITY_BYTES, "%" PRIu64 " files of %" PRIu64 " bytes, digest %016" PRIx64, d.files,
                 d.bytes, d.sum[0]);
        return DISTMAP_OK;
    }
    if (fstat(input->fd, &info))
        return cannot_read(input);
    tell(&info, "", text, DISTMAP_IDENTITY_BYTES);
    if (reader->has_header) { /* which has been closed: it was read whole */
        const size_t used = strlen(text);
        tell(&reader->header, "; header ", text + used, DISTMAP_IDENTITY_BYTES - used);
    }
    return DISTMAP_OK;
}

/* ---- From the bytes ---- */

static distmap_status tell_bytes(const dm_input *input, int fd, const char *what, char *text, size_t bytes) {
    struct stat info;
    uint64_t number[2];
    if (fd < 0 || fstat(fd, &info) || !read_through(fd, 0, number))
        return cannot_read(input);
    snprintf(text, bytes, "%s%lld bytes, digest %016" PRIx64 "%016" PRIx64, what, (long long)info.st_size, number[0],
             number[1]);
    return DISTMAP_OK;
}

distmap_status distmap_reader_digest(const distmap_reader *reader, char text[DISTMAP_IDENTITY_BYTES]) {
    if (!reader || !text)
        return distmap_error_set(DISTMAP_ERROR_ARGUMENT, "reader, text: must not be NULL");
    const dm_input *input = &reader->input;
    if (input->is_folder) {
        digest d;
        TRY(look_into(input, mix_bytes, &d));
        snprintf(text, DISTMAP_IDENTITY_BYTES,
                 "%" PRIu64 " files of %" PRIu64 " bytes, digest %016" PRIx64 "%016" PRIx64, d.files, d.bytes, d.sum[0],
                 d.sum[1]);
        return DISTMAP_OK;
    }
    TRY(tell_bytes(input, input->fd, "", text, DISTMAP_IDENTITY_BYTES));
    if (!reader->has_header)
        return DISTMAP_OK;
    const size_t used = strlen(text);
    const int header = open(input->name, O_RDONLY | O_CLOEXEC); /* the header; the elements may be in a file beside it */
    const distmap_status status = tell_bytes(input, header, "; header ", text + used, DISTMAP_IDENTITY_BYTES - used);
    if (header >= 0)
        close(header);
    return status;
}
