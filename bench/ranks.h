/* What the benches over MPI ranks share. */
#ifndef DISTMAP_BENCH_RANKS_H
#define DISTMAP_BENCH_RANKS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void *reserve(size_t bytes) {
    void *memory = malloc(bytes + 1);
    if (!memory) {
        fprintf(stderr, "bench: no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* Until all ranks are there, without taking a processor from those that work. */
static inline void meet(void) {
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

#endif
