/* One file from all ranks: each packs its slices into the pieces that the file is made of, rank 0 finds all places (io.h),
 * each puts its own there. The file grows under another name, which only rank 0 can make the right one, when all are
 * done.
 */
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "distributed.h"

int output_depth(const struct sink *sink, int64_t *depth) {
    return distmap_pieces_depth(sink->path, &sink->info, depth) ? fail_library() : 0;
}

/* ---- Rank 0's files ---- */

static char growing[2][PATH_MAX];
static volatile sig_atomic_t grown;

/* mpirun sends SIGTERM to all ranks and SIGKILL to those that are left, in Open MPI as soon as one has died of SIGTERM:
 * ranks without files let rank 0 go first. */
static void leave(int number) {
    if (ranks_own() > 0)
        sleep(1);
    for (int i = 0; i < grown; i++)
        unlink(growing[i]);
    raise(number); /* its disposition is the default again */
}

void output_guard(void) {
    const struct sigaction action = {.sa_handler = leave, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

int output_open(struct sink *sink) {
    if (distmap_writer_open(sink->path, &sink->info, &sink->writer))
        return fail_library();
    const char *part = distmap_writer_part(sink->writer);
    if (!part)
        return fail("%s: is not a regular file", sink->path);
    snprintf(growing[grown], PATH_MAX, "%s", part);
    grown = grown + 1;
    return 0;
}

/* ---- All ranks' slices ---- */

/* The lists of all ranks, one behind the other, on rank 0. */
struct lists {
    int *count, *first;
    uint64_t *bytes;
    int64_t *offset;
    int64_t total;
};

static int lists_make(struct lists *lists) {
    const int ranks = ranks_count();
    for (int r = 0; r < ranks && lists->total <= INT_MAX; r++) {
        lists->first[r] = (int)lists->total;
        lists->total += lists->count[r];
    }
    if (lists->total > INT_MAX)
        return fail("the output would have more than %d chunks", INT_MAX);
    lists->bytes = malloc((size_t)lists->total * sizeof *lists->bytes + 1);
    lists->offset = malloc((size_t)lists->total * sizeof *lists->offset + 1);
    return lists->bytes && lists->offset
               ? 0
               : fail("not enough memory for the list of %lld chunks", (long long)lists->total);
}

static void lists_free(struct lists *lists) {
    free(lists->count);
    free(lists->first);
    free(lists->bytes);
    free(lists->offset);
}

/* Collective: where this rank's pieces belong. */
static int find_places(struct sink *sink, const uint64_t *bytes, int count, int64_t *offset) {
    struct lists lists = {0};
    const bool root = ranks_own() == 0;
    int status = 0;
    if (root) {
        lists.count = calloc((size_t)ranks_count(), sizeof *lists.count);
        lists.first = calloc((size_t)ranks_count(), sizeof *lists.first);
        if (!lists.count || !lists.first)
            status = fail("not enough memory for the lists of %d ranks", ranks_count());
    }
    if ((status = ranks_agree(status)) == 0) {
        MPI_Gather(&count, 1, MPI_INT, lists.count, 1, MPI_INT, 0, MPI_COMM_WORLD);
        status = ranks_agree(root ? lists_make(&lists) : 0);
    }
    if (status == 0) {
        MPI_Gatherv(bytes, count, MPI_UINT64_T, lists.bytes, lists.count, lists.first, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        if (root && distmap_writer_place(sink->writer, lists.total, lists.bytes, lists.offset))
            status = fail_library();
        status = ranks_agree(status);
    }
    if (status == 0)
        MPI_Scatterv(lists.offset, lists.count, lists.first, MPI_INT64_T, offset, count, MPI_INT64_T, 0,
                     MPI_COMM_WORLD);
    lists_free(&lists);
    return status;
}

int output_write(struct sink *sink, int64_t first, int64_t count, const void *slices) {
    distmap_pieces *pieces = NULL;
    int64_t *offset = NULL, packed = 0;
    const uint64_t *bytes = NULL;
    char part[PATH_MAX] = "";
    int status = distmap_pieces_pack(sink->path, &sink->info, first, count, slices, &pieces) ? fail_library() : 0;
    if (status == 0) {
        bytes = distmap_pieces_bytes(pieces, &packed);
        offset = malloc((size_t)packed * sizeof *offset + 1);
        status = packed > INT_MAX ? fail("%s: a slab would have more than %d chunks", sink->path, INT_MAX)
                 : offset         ? 0
                                  : fail("not enough memory for the list of %lld chunks", (long long)packed);
    }
    status = ranks_agree(status);
    if (status == 0)
        status = find_places(sink, bytes, (int)packed, offset);
    if (status == 0) {
        if (ranks_own() == 0)
            snprintf(part, sizeof part, "%s", distmap_writer_part(sink->writer));
        MPI_Bcast(part, sizeof part, MPI_CHAR, 0, MPI_COMM_WORLD);
        status = ranks_agree(distmap_pieces_put(pieces, part, offset) ? fail_library() : 0);
    }
    distmap_pieces_free(&pieces);
    free(offset);
    return status;
}
