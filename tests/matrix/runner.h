/* What cases run on: the contexts of one device, and views in the memory that they take. runner_cpu.c and runner_cuda.c
 * answer for their devices; a program links one of them. */
#ifndef TESTS_MATRIX_RUNNER_H
#define TESTS_MATRIX_RUNNER_H

#include "layout.h"

enum { MAX_RUNNERS = 16 };

struct runner {
    distmap_context *context;
    bool device_views;
};

extern const char *const runner_device; /* its name in the method table */

/* Fills runners[]; returns how many there are. */
int runner_open(struct runner *runners);
void runner_close(struct runner *runners, int count);

/* The view that execute gets: the placed one, or its twin in the device's memory with the same bytes all around. */
distmap_view runner_send(const struct runner *runner, struct placed *placed);
/* The bytes as execute left them, back into placed->memory. */
void runner_fetch(const struct runner *runner, struct placed *placed);
/* Frees the memory. */
void runner_drop(struct placed *placed);

#endif
