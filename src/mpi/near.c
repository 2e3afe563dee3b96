/* Ranks of one machine copy what they have for each other, once, where a message would be packed, moved and unpacked.
 *
 * The arrays of a rank's part of a panel lie in memory that its neighbours see. So with the ranks' two agreements for
 * each panel, (1) when lines are to be finished and (2) when they are,
 *
 *     put     each rank puts what its slab has of a part into that part's arrays        before (1)
 *     finish  the part's rank alone uses them                                           between (1) and (2)
 *     take    each rank takes from there what comes into its slab                       after (2)
 *
 * Nobody puts into arrays that are still in use: samples of a panel are put after the (2) of the panel before. Nor are
 * results overwritten that somebody still takes: they are, after the next (1), to which all have come with what they
 * took.
 *
 * The memory is POSIX's. MPI_Win_allocate_shared() would make it too, but where there is too little of it Open MPI tells one
 * rank, and the others wait for that one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/internal.h"

/* ---- Who is near ---- */

static distmap_status translate(MPI_Comm comm, int size, struct dmm_near *near) {
    MPI_Group all, mine;
    int here;
    TRY_MPI(MPI_Comm_size(near->comm, &here));
    TRY_MPI(MPI_Comm_group(comm, &all));
    TRY_MPI(MPI_Comm_group(near->comm, &mine));
    for (int r = 0; r < here; r++) {
        int rank;
        TRY_MPI(MPI_Group_translate_ranks(mine, 1, &r, all, &rank));
        near->is[rank] = true;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
    near->all = here == size;
    return DISTMAP_OK;
}

distmap_status dmm_near_find(MPI_Comm comm, int size, int most, struct dmm_near *near) {
    near->is = calloc((size_t)size, sizeof *near->is);
    near->panel = calloc((size_t)size, sizeof *near->panel);
    near->names = calloc((size_t)size, sizeof *near->names);
    TRY_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near->comm));
    if (most) {
        MPI_Comm machine = near->comm;
        int rank;
        MPI_Comm_rank(machine, &rank);
        const int code = MPI_Comm_split(machine, rank / most, 0, &near->comm);
        MPI_Comm_free(&machine);
        near->comm = code ? MPI_COMM_NULL : near->comm;
        TRY_MPI(code);
    }
    if (!near->is || !near->panel || !near->names)
        return distmap_error_set(DISTMAP_ERROR_MEMORY, "no memory for the lists of %d ranks", size);
    return translate(comm, size, near);
}

/* ---- Their arrays ---- */

static distmap_status no_memory(size_t bytes, const char *why) {
    return distmap_error_set(DISTMAP_ERROR_MEMORY,
                             "no shared memory for %zu bytes of a panel: %s (options.near_ranks: how many share it)",
                             bytes, why);
}

/* `fd` -1: nobody else's. */
static distmap_status map(int fd, size_t bytes, void **memory) {
    *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
    const int reason = errno;
    if (fd >= 0)
        close(fd);
    if (*memory != MAP_FAILED)
        return DISTMAP_OK;
    *memory = NULL;
    return no_memory(bytes, strerror(reason));
}

/* Room is reserved first, so that too little is an error and not a signal. */
static distmap_status create(size_t bytes, char name[DMM_NAME], void **memory) {
    static atomic_int made;
    int fd = -1;
    for (int attempt = 0; fd < 0 && attempt < 100; attempt++) {
        snprintf(name, DMM_NAME, "/distmap-%ld-%d", (long)getpid(), atomic_fetch_add(&made, 1));
        fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        *name = '\0';
        return no_memory(bytes, strerror(errno));
    }
    const int reason = posix_fallocate(fd, 0, (off_t)bytes);
    if (!reason)
        return map(fd, bytes, memory);
    close(fd);
    return no_memory(bytes, strerror(reason));
}

static distmap_status find(size_t bytes, const char *name, void **memory) {
    const int fd = shm_open(name, O_RDWR, 0600);
    return fd < 0 ? no_memory(bytes, strerror(errno)) : map(fd, bytes, memory);
}

/* The arrays of the other ranks, by the names of their memory. */
static distmap_status find_others(const distmap_problem *p, const struct dms_layout *l, int rank, distmap_dtype samples,
                                  struct dmm_near *near) {
    int number = 0; /* in near->comm, whose ranks follow each other as everywhere */
    for (int r = 0; r < l->size; r++) {
        if (!near->is[r])
            continue;
        const char *name = near->names[number++];
        void *memory;
        if (r == rank || !*name)
            continue;
        TRY(find(near->each, name, &memory));
        dms_panel_lay(p, l, l->width, samples, memory, &near->panel[r]);
    }
    return DISTMAP_OK;
}

distmap_status dmm_near_allocate(MPI_Comm comm, const distmap_problem *p, const struct dms_layout *l, int rank,
                                 distmap_dtype samples, struct dmm_near *near) {
    char name[DMM_NAME] = "";
    struct dms_panel *own = &near->panel[rank];
    void *memory = NULL;
    int here = 1;
    MPI_Comm_size(near->comm, &here);
    near->each = dms_panel_lay(p, l, l->width, samples, NULL, own);
    near->bytes = dms_share(l->shape[l->cut], l->size, rank).count > 0 ? near->each : 0;
    distmap_status status = DISTMAP_OK;
    if (near->bytes)
        status = here > 1 ? create(near->bytes, name, &memory) : map(-1, near->bytes, &memory);
    if (memory)
        dms_panel_lay(p, l, l->width, samples, memory, own);
    status = dmm_agree(comm, status, NULL);
    if (status == DISTMAP_OK)
        status = dmm_mpi_status(MPI_Allgather(name, DMM_NAME, MPI_CHAR, near->names, DMM_NAME, MPI_CHAR, near->comm),
                                "MPI_Allgather");
    if (status == DISTMAP_OK)
        status = dmm_agree(comm, find_others(p, l, rank, samples, near), NULL);
    if (*name)
        shm_unlink(name); /* all have it */
    return status;
}

void dmm_near_free(int size, bool finalised, struct dmm_near *near) {
    for (int r = 0; r < size && near->panel; r++)
        if (near->panel[r].memory)
            munmap(near->panel[r].memory, near->each);
    if (!finalised && near->comm != MPI_COMM_NULL)
        MPI_Comm_free(&near->comm);
    free(near->names);
    free(near->panel);
    free(near->is);
}

/* ---- Panels ---- */

void dmm_near_shape(const struct dms_layout *l, int64_t panel, struct dmm_near *near) {
    for (int r = 0; r < l->size; r++)
        if (near->is[r]) {
            const struct dms_box part = dms_panel_part(l, panel, r);
            dms_panel_shape(l, &part, &near->panel[r]);
        }
}

void dmm_near_views(const struct dms_panel *panel, const struct dms_box *part, struct dmm_views *in,
                    struct dmm_views *out) {
    *in = *out = (struct dmm_views){0};
    memcpy(in->origin, part->lo, sizeof part->lo);
    memcpy(out->origin, part->lo, sizeof part->lo);
    dmm_views_add(in, &panel->sample);
    dmm_views_add(in, &panel->payload);
    dmm_views_add(in, &panel->kind);
    dmm_views_add(out, &panel->distance);
    dmm_views_add(out, &panel->squared);
    dmm_views_add(out, &panel->index);
}

/* Copies the intersection of this rank's slab and each near part; not all ranks begin with the same part. */
static void copy(const struct dms_layout *l, int rank, int64_t panel, const struct dmm_views *slab,
                 const struct dmm_near *near, bool back) {
    for (int i = 1; i <= l->size; i++) {
        const int r = (rank + i) % l->size;
        if (!near->is[r])
            continue;
        const struct dms_box part = dms_panel_part(l, panel, r), common = dms_box_in_slab(l, part, rank);
        struct dmm_views in, out;
        dmm_near_views(&near->panel[r], &part, &in, &out);
        dmm_copy(l, &common, back ? &out : slab, back ? slab : &in);
    }
}

/* The fences go with the agreements, which are messages: what is written before one is seen after it. */
void dmm_near_put(const struct dms_layout *l, int rank, int64_t panel, const struct dmm_views *slab,
                  const struct dmm_near *near) {
    copy(l, rank, panel, slab, near, false);
    dmm_near_sync();
}

void dmm_near_take(const struct dms_layout *l, int rank, int64_t panel, const struct dmm_views *slab,
                   const struct dmm_near *near) {
    dmm_near_sync();
    copy(l, rank, panel, slab, near, true);
}

void dmm_near_sync(void) { atomic_thread_fence(memory_order_seq_cst); }
