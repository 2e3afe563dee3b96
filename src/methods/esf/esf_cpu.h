/* esf/cpu: what its driver, its stages and its kernels share. */
#ifndef DISTMAP_ESF_CPU_H
#define DISTMAP_ESF_CPU_H

#include <string.h>

#include "core/scratch.h"
#include "methods/esf/esf.h"

typedef enum esf_type { ESF_F32, ESF_F64, ESF_TYPES } esf_type;

enum { ESF_ROWS = 4 };

/* A step of one row, or of ESF_ROWS that follow each other. `mid` has an element more on either side. */
typedef struct esf_rows {
    int count;
    const void *up, *mid[ESF_ROWS], *down; /* up of the first row, down of the last */
    const void *back[ESF_ROWS], *front[ESF_ROWS];
    void *to[ESF_ROWS];
    const uint8_t *shape[ESF_ROWS]; /* 1 on it; NULL: v = 1 stands for it */
    size_t n;
    double a, dt;
} esf_rows;

/* Gives a row the neighbours beyond its ends, by replication. */
static inline void esf_seal(const esf_grid *g, void *row, size_t n) {
    char *first = row, *last = first + (n - 1) * g->size;
    memcpy(first - g->size, first, g->size);
    memcpy(last + g->size, last, g->size);
}

/* One row of a level of the multigrid (esf_rest.c). */
typedef struct esf_stencil {
    const void *mid, *up, *down, *back, *front; /* beyond the border: the row itself */
    const void *f, *d; /* NULL on the finest level, where f = 0, d = 1/rho^2 and v = 1 is the shape */
    size_t n;
    int axes;
    int degree;      /* neighbours, were it not for the ends of the row */
    unsigned colour; /* the elements of even x + colour are relaxed */
    double decay;
} esf_stencil;

/* For one type and one instruction set. Rows have an element more on either side, which `to` gets by replication. */
typedef struct esf_kernels {
    void (*from_sites)(const uint8_t *site, size_t n, void *to);
    void (*step)(const esf_rows *rows, int axes);
    bool (*is_zero)(const void *row, size_t n);
    void (*emit)(const void *row, size_t n, char *to, int64_t stride);
    void (*relax)(const esf_stencil *stencil, void *to);
    double (*residual)(const esf_stencil *stencil, void *to); /* the largest magnitude */
    void (*pins)(const esf_stencil *stencil, double softness, void *to);
    void (*coarser)(void *fine, size_t n, void *coarse);
    void (*add)(double weight, const void *row, size_t n, void *to);
    void (*finer)(const void *row, size_t n, void *coarse, bool halved, bool finest, void *to);
} esf_kernels;

extern const esf_kernels dm_esf_plain[ESF_TYPES], dm_esf_sse4[ESF_TYPES], dm_esf_avx2[ESF_TYPES],
    dm_esf_avx512[ESF_TYPES], dm_esf_neon[ESF_TYPES];

/* Parameters, in the order of the method's table. */
enum { ESF_KERNEL, ESF_DEPTH, ESF_SOLVER };
enum { ESF_BLOCKED, ESF_PLAIN, ESF_SERIAL, ESF_SKIPPING };
enum { ESF_MULTIGRID, ESF_SOR };

/* What every stage knows. */
typedef struct esf_job {
    distmap_plan *plan;
    esf_grid grid;
    dm_array input, strength; /* in the grid's order */
    const esf_kernels *rows;
    bool by_value; /* v = 1 stands for the shape */
} esf_job;

/* v^0 of a run of a row, from the mask. `site` has room for n bytes; NULL where the run's shape is not wanted. */
void esf_load(const esf_job *job, int64_t row, int64_t x, size_t n, uint8_t *site, void *to);
/* A run of a row to the output. */
void esf_emit(const esf_job *job, int64_t row, int64_t x, size_t n, const void *from);

/* ---- Explicit steps, by each kernel ---- */

size_t esf_sweep_scratch(const esf_job *job); /* plain, serial and skipping */
distmap_status esf_sweep_run(const esf_job *job);
size_t esf_blocked_scratch(const esf_job *job);
distmap_status esf_blocked_run(const esf_job *job);

/* ---- The state at rest, by each solver ---- */

size_t esf_rest_scratch(const esf_job *job); /* multigrid */
distmap_status esf_rest_run(const esf_job *job);
size_t esf_sor_scratch(const esf_job *job);
distmap_status esf_sor_run(const esf_job *job);

#endif
