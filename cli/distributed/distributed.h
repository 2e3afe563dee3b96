/* distmap edt --distributed: one image, by all processes ("ranks") that mpirun has started, as distmap-mpi.
 *
 *     each rank reads its slab of the file, all of them transform the image by libdistmap_mpi, each writes its slab
 *
 * One rank's error is everyone's. What a rank does by itself ends in a status, which all bring to ranks_agree();
 * whatever needs all of them comes after that. So the next thing that a rank does with the others is always to agree,
 * and none waits for one that has given up. Of all messages one is said.
 *
 * ranks.c is MPI's side of the command, run.c the course of things, output.c how one file comes from all ranks,
 * hand_over.c the way here.
 */
#ifndef DISTMAP_CLI_DISTRIBUTED_H
#define DISTMAP_CLI_DISTRIBUTED_H

#include "../cli.h"

/* ---- ranks.c ---- */

/* Starts MPI. From here on messages wait for ranks_agree(), and of all ranks the first alone has an stdout. */
void ranks_begin(int *argc, char ***argv);
int ranks_own(void);   /* this rank's number */
int ranks_count(void); /* how many there are */

/* Collective. Everyone brings a status, and gets 0 if all are 0, else that of the lowest rank with an error, whose
 * message is said, with the rank's number unless all have failed. After that there is nothing more to agree on: it
 * returns at once. */
int ranks_agree(int status);
/* Collective. Whether all have the same text as rank 0; that is agreed on. */
int ranks_same(const char *text);
/* Collective. How many ranks this machine has, and which of them this one is, from 0. */
int ranks_here(int *count);
/* How many threads each of `here` ranks of a machine may have so that all have processors. */
int ranks_threads(int here);
/* Collective. Agrees, and ends MPI. */
int ranks_end(int status);

/* ---- output.c ---- */

/* From here on Ctrl-C, SIGTERM and SIGHUP end the process, and with it what there is of its files, on rank 0 at once, on
 * others a second later: mpirun sends SIGTERM to all ranks when one is gone, and whoever waits for that one in MPI does
 * not return. */
void output_guard(void);
/* On rank 0. */
int output_open(struct sink *sink);
/* Collective, and agreed on. Puts every rank's slices into the file. */
int output_write(struct sink *sink, int64_t first, int64_t count, const void *slices);
/* Slices to the place where a rank's may end: so that pieces of the file stay whole. */
int output_depth(const struct sink *sink, int64_t *depth);

/* ---- run.c ---- */

int distributed_run(const struct options *options);

/* ---- cluster.c ---- */

/* Collective: bench --suite cluster. */
int cluster_run(const struct options *options);

#endif
