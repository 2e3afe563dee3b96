/* MPI's side of the command: who there is, and how one rank's error becomes everyone's. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "distributed.h"

enum { TEXT = 8192 };

static struct {
    int own, count;
    bool over;       /* all know of an error */
    char text[TEXT]; /* this rank's */
} ranks;

void ranks_begin(int *argc, char ***argv) {
    int provided; /* libdistmap_mpi looks whether that is enough for its threads */
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
    messages_keep(ranks.text, sizeof ranks.text);
    if (ranks.own > 0 && !freopen("/dev/null", "w", stdout))
        fclose(stdout);
}

int ranks_own(void) { return ranks.own; }
int ranks_count(void) { return ranks.count; }

int ranks_agree(int status) {
    if (ranks.over)
        return status;
    /* The least of these is the lowest rank with an error, and whether all have one. */
    int least[] = {status ? ranks.own : ranks.count, status != 0};
    MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (least[0] == ranks.count)
        return 0;
    ranks.over = true;
    MPI_Bcast(&status, 1, MPI_INT, least[0], MPI_COMM_WORLD);
    if (ranks.own == least[0]) {
        messages_keep(NULL, 0);
        if (least[1])
            fail("%s", ranks.text);
        else
            fail("rank %d: %s", ranks.own, ranks.text);
    }
    return status;
}

int ranks_same(const char *text) {
    char first[TEXT] = "";
    if (ranks.own == 0)
        snprintf(first, sizeof first, "%s", text);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    const bool same = strncmp(first, text, sizeof first - 1) == 0;
    return ranks_agree(same ? 0 : fail("this rank was started for %s, rank 0 for %s", text, first));
}

int ranks_here(int *count) {
    MPI_Comm machine;
    int place;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &place);
    MPI_Comm_size(machine, count);
    MPI_Comm_free(&machine);
    return place;
}

int ranks_threads(int here) {
    const int share = (int)sysconf(_SC_NPROCESSORS_ONLN) / here;
    cpu_set_t own; /* mpirun may have bound the rank to some of them */
    const int allowed = sched_getaffinity(0, sizeof own, &own) ? share : CPU_COUNT(&own);
    const int least = allowed < share ? allowed : share;
    return least > 1 ? least : 1;
}

int ranks_end(int status) {
    status = ranks_agree(status);
    MPI_Finalize();
    return status;
}
