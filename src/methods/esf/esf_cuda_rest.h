/* esf/cuda, the state at rest: what its host side and its kernels share. esf_rest.c says what is solved, and how. */
#ifndef DISTMAP_ESF_CUDA_REST_H
#define DISTMAP_ESF_CUDA_REST_H

#include "methods/esf/esf_cuda.h"

enum { EC_LEVELS = 34, EC_SWEEPS = 2, EC_LAST_SWEEPS = 4 /* on the coarsest level */ };

/* A level of the multigrid, by value to kernels. */
typedef struct ec_level {
    int axes; /* that count */
    int64_t batches, nz, ny, nx, pitch;
    bool halve_z, halve_y, halve_x; /* on the way to the next level; axes of length 1 stay */
    float *v[2];                    /* what is sought, v on the finest level, else its correction; and room as large */
    float *f, *d;                   /* NULL on the finest */
    float decay;                    /* 1/rho^2, on the finest */
} ec_level;

/* When kernels have nothing left to do: *largest, the bits of the largest |r| seen by an earlier one, is `tolerance` or
 * less. What was not reached yet is 0, so that all that follows leaves too. */
typedef struct ec_stop {
    const unsigned *largest; /* NULL: never */
    unsigned tolerance;      /* bits */
} ec_stop;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Elements one by one (esf_cuda_rest.cu) ---- */

/* Relaxes the elements of one colour, x + y + z + colour even, in place; omega 1: Gauss-Seidel. */
cudaError_t ec_relax(const ec_level *l, int colour, float omega, ec_stop stop, cudaStream_t stream);
/* What remains, to v[1] (NULL: nowhere), and its largest magnitude. */
cudaError_t ec_residual(const ec_level *l, unsigned *largest, ec_stop stop, cudaStream_t stream);
/* v[1] to the next level's f; this level's diagonal to v[1], and that to the next level's d. */
cudaError_t ec_coarser(const ec_level *l, const ec_level *next, ec_stop stop, cudaStream_t stream);
cudaError_t ec_pins(const ec_level *l, const ec_level *next, cudaStream_t stream);
/* Adds the next level's correction. */
cudaError_t ec_finer(const ec_level *l, const ec_level *next, ec_stop stop, cudaStream_t stream);
/* Iterations and residual from what was seen at `count` looks, `each` iterations from look to look. */
cudaError_t ec_judge(const unsigned *largest, int64_t count, int64_t first, int64_t each, unsigned tolerance,
                     dm_outcome *outcome, cudaStream_t stream);

/* ---- Images in tiles (esf_cuda_cycle.cu, esf_cuda_pins.cu) ---- */

/* From v[0], or from 0 on coarser levels, sweeps, to v[1], and what remains to the next level's f. */
cudaError_t ec_down(const ec_level *l, const ec_level *next, unsigned *largest, ec_stop stop, cudaStream_t stream);
/* This level's diagonal to the next level's d. */
cudaError_t ec_pins_tiled(const ec_level *l, const ec_level *next, cudaStream_t stream);
/* From v[1] the next level's correction, and sweeps, to v[0]. */
cudaError_t ec_up(const ec_level *l, const ec_level *next, ec_stop stop, cudaStream_t stream);

/* ---- The state at rest (esf_cuda_rest.c) ---- */

/* Lays out beside the stage; NULL: counts only. */
typedef struct ec_rest {
    ec_level level[EC_LEVELS];
    int levels;
    unsigned *largest; /* of each cycle, or of each look */
    int64_t looks;
} ec_rest;
struct dm_scratch;
void ec_rest_lay_out(const distmap_plan *plan, const ec_stage *p, struct dm_scratch *walk, ec_rest *rest);
/* From v^0 in field[0]; the result is in *field. */
distmap_status ec_rest_run(distmap_plan *plan, const ec_rest *rest, const float **field);

#ifdef __cplusplus
}
#endif

#endif
