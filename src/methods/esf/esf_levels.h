/* esf/cpu, the state at rest: the levels of the multigrid, and a pass over one of them. What is solved stands in
 * esf_rest.c. */
#ifndef DISTMAP_ESF_LEVELS_H
#define DISTMAP_ESF_LEVELS_H

#include "methods/esf/esf_cpu.h"

enum { ESF_LEVELS = 34 };

/* A level and its field memories. A *slab* is what lies at one place of the slowest axis that counts: a row of an
 * image, a plane of a volume. */
typedef struct esf_level {
    int64_t nj, ni, nx;             /* slabs, rows of a slab, elements of a row */
    bool halve_j, halve_i, halve_x; /* on the way to the next level; axes of length 1 stay */
    size_t pitch;                   /* values from row to row */
    char *v[2];                     /* what is sought: v on the finest level, else its correction */
    char *f, *d;                    /* NULL on the finest */
} esf_level;

typedef enum esf_stage { ESF_DOWN, ESF_PINS, ESF_UP } esf_stage;

typedef struct esf_rest {
    const esf_job *job;
    esf_level level[ESF_LEVELS];
    int levels;
    char *zeros; /* a slab of them */
    size_t zeros_bytes;
    char *workers; /* their buffers, and what each has seen of the residual */
    size_t worker_bytes;
    double *largest;
    /* The pass under way, over level `at`. */
    int at;
    esf_stage stage;
    int sweeps;
    const char *from; /* NULL: zeros */
    char *to;
    bool coarser;  /* DOWN: what remains becomes the next level's f */
    int64_t block; /* slabs to a task, even */
} esf_rest;

/* Bytes of a worker's buffers for passes over a level. */
size_t esf_rest_worker_bytes(const esf_rest *rest, const esf_level *l, int sweeps);
/* DOWN: some sweeps, and what remains to the next level. PINS: this level's diagonal to the next level's d. UP: the
 * next level's correction, and some sweeps. */
distmap_status esf_rest_pass(esf_rest *rest, double share);

static inline char *esf_level_row(const esf_rest *rest, const esf_level *l, char *memory, int64_t batch, int64_t j,
                                  int64_t i) {
    const size_t row = (size_t)((batch * l->nj + j) * l->ni + i);
    return memory + (row * l->pitch + ESF_LINE) * rest->job->grid.size;
}

#endif
