/* esf/cuda: what its host side and its kernels share. See esf_cuda.c. */
#ifndef DISTMAP_ESF_CUDA_H
#define DISTMAP_ESF_CUDA_H

#include "cuda/elements.h"

/* Parameters, in the order of the method's table. */
enum { EC_KERNEL, EC_DEPTH, EC_SOLVER };
enum { EC_BLOCKED, EC_SHARED, EC_TEXTURE, EC_LINEAR };
enum { EC_MULTIGRID, EC_SOR };

/* A stage, by value to kernels. Field memory holds a value per element in the grid's order (esf.h), rows padded. */
typedef struct ec_stage {
    int axes;                    /* that count; with one or none the rows of all batches are one batch's, and apart */
    int64_t batches, nz, ny, nx; /* seen so */
    int64_t rows, batch_rows;    /* in all; of a batch of the problem */
    int64_t pitch;               /* values, and bits, from row to row: a multiple of 32 */
    uint32_t *bits;              /* [row][pitch / 32], 1 on the shape */
    uint32_t *shaped;            /* [batch of the problem], not 0: it has a shape */
    float *field[2];
    float a, dt; /* of a step */
} ec_stage;

/* kernel=blocked: tiles with halos. `flags` are of each tile, before and after a pass. */
typedef struct ec_tiles {
    int depth;            /* the most steps of a pass */
    int width, height, z; /* of a tile, halo aside */
    int64_t x, y, zs;     /* tiles along each axis of a batch */
    int64_t count;
    uint8_t *flags[2];
} ec_tiles;

/* Of a tile's elements: some v is not 0; some element is not of the shape. Unless both are so of a tile and those around
 * it, nothing happens there. */
enum { EC_MOVES = 1, EC_FREE = 2, EC_ALIVE = EC_MOVES | EC_FREE };

#ifdef __cplusplus
extern "C" {
#endif

/* ---- In and out (esf_cuda_load.cu) ---- */

/* The mask into bits, and v = 1 on them, 0 elsewhere, into the fields that are not NULL. Elements and arrays in the
 * grid's order. */
cudaError_t ec_load(const dm_elements *e, const ec_stage *p, cudaStream_t stream);
/* A field's values to the output; batches without a shape raise NO_SITE. */
cudaError_t ec_emit(const dm_elements *e, const ec_stage *p, const float *field, cudaStream_t stream);

/* ---- One step, from `from` to `to` ---- */

cudaError_t ec_shared(const ec_stage *p, const float *from, float *to, cudaStream_t stream);
cudaError_t ec_texture(const ec_stage *p, cudaTextureObject_t from, float *to, cudaStream_t stream);

/* ---- kernel=blocked (esf_cuda_blocked.cu, esf_cuda_volume.cu) ---- */

/* For passes of at most `depth` steps. */
void ec_plane_tiles(const ec_stage *p, int depth, int multiprocessors, ec_tiles *tiles);
void ec_volume_tiles(const ec_stage *p, int depth, ec_tiles *tiles);
void ec_tiles_set(const ec_stage *p, int depth, int width, int height, int z, ec_tiles *tiles);
/* flags[0] from the bits. */
cudaError_t ec_survey(const ec_stage *p, const ec_tiles *tiles, cudaStream_t stream);
/* Pass number `pass`, of at most tiles->depth steps, from one field and flags to the others. */
cudaError_t ec_steps_plane(const ec_stage *p, const ec_tiles *tiles, int pass, int steps, cudaStream_t stream);
cudaError_t ec_steps_volume(const ec_stage *p, const ec_tiles *tiles, int pass, int steps, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
