/* The identity of a file, which differs from that of other files, and of itself after a change: inode, size, and the times of the last change of its elements and
 * of anything about it, in nanoseconds. The last one cannot be set, so that a file that was replaced and given its old time is
 * noticed too. The device is left out: two machines that see one file system give it different numbers.
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
#include <string.h>
#include <unistd.h>

#include "io/codec.h"
#include "io/hash.h"

enum { DEEP = 64 }; /* folders in folders */

typedef struct digest {
    uint64_t files, bytes, sum;
} digest;

static uint64_t mix_file(uint64_t hash, const struct stat *info) {
    const int64_t facts[] = {(int64_t)info->st_ino,         (int64_t)info->st_size,
                             (int64_t)info->st_mtim.tv_sec, (int64_t)info->st_mtim.tv_nsec,
                             (int64_t)info->st_ctim.tv_sec, (int64_t)info->st_ctim.tv_nsec};
    hash = dm_hash(hash, facts, sizeof facts);
    return (hash ^ hash >> 31) * 0x9e3779b97f4a7c15;
}

/* Takes `fd`. Whether all of it could be looked at. */
static bool visit(int fd, uint64_t name, int depth, digest *d) {
    static const char aside[] = ".distmap-"; /* of writers, who have not finished */
    DIR *folder = fd >= 0 && depth < DEEP ? fdopendir(fd) : NULL;
    bool good = folder != NULL;
    if (!folder && fd >= 0)
        close(fd);
    struct dirent *entry;
    while (good && (errno = 0, entry = readdir(folder))) {
        struct stat info;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
            !strncmp(entry->d_name, aside, sizeof aside - 1))
            continue;
        const uint64_t path = dm_hash(dm_hash(name, "/", 1), entry->d_name, strlen(entry->d_name));
        if (fstatat(dirfd(folder), entry->d_name, &info, 0))
            good = errno == ENOENT; /* it has just gone, which its absence tells */
        else if (S_ISDIR(info.st_mode))
            good = visit(openat(dirfd(folder), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path, depth + 1, d);
        else {
            d->files++;
            d->bytes += (uint64_t)info.st_size;
            d->sum += mix_file(path, &info);
        }
    }
    good = good && errno == 0;
    if (folder)
        closedir(folder);
    return good;
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
    if (input->is_folder) {
        digest d = {0};
        if (!visit(openat(input->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), DM_HASH_START, 0, &d))
            return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot look at its files: %s", input->name,
                                     strerror(errno));
        snprintf(text, DISTMAP_IDENTITY_BYTES, "%" PRIu64 " files of %" PRIu64 " bytes, digest %016" PRIx64, d.files,
                 d.bytes, d.sum);
        return DISTMAP_OK;
    }
    if (fstat(input->fd, &info))
        return distmap_error_set(DISTMAP_ERROR_IO, "%s: cannot read: %s", input->name, strerror(errno));
    tell(&info, "", text, DISTMAP_IDENTITY_BYTES);
    if (reader->has_header) { /* which has been closed: it was read whole */
        const size_t used = strlen(text);
        tell(&reader->header, "; header ", text + used, DISTMAP_IDENTITY_BYTES - used);
    }
    return DISTMAP_OK;
}
