/* pba/cuda: what its host side and its kernels share.
 *
 * The image is `batches` volumes of nz x ny x nx, rows along x; without a measured z axis nz is 1, and without a
 * measured y axis ny is. A *word* per element holds the element's nearest site so far, as the site's coordinates along
 * the axes that are done, side by side in bits: x lowest, then y, then z. While an axis is worked on, the coordinate
 * along it is where the word lies, and its bits in the word are a link of the list that phase 2 makes. All ones: no
 * site.
 *
 * Words have 32 bits where the coordinates and squared distances fit: planes up to 32,768 x 32,768 (the paper's
 * short2), volumes up to 1024 a side (the paper's ten bits each) or 2048 x 1024 x 1024; otherwise 64.
 */
#ifndef DISTMAP_METHODS_PBA_CUDA_H
#define DISTMAP_METHODS_PBA_CUDA_H

#include "cuda/elements.h"

enum {
    PBA_WORD = 32,    /* elements to a word of bits, or a tile of phase 1 */
    PBA_THREADS = 64, /* of a block in phases 1 and 2 */
    PBA_COLUMNS = 32, /* columns to a block of phase 3 */
    PBA_MOST_M3 = 32, /* so that a block of phase 3 has 1024 threads */
    PBA_MOST_BANDS = 1024,
};

struct pba_pair {
    int32_t first, last; /* -1: none */
};

struct pba_work {
    dm_elements elements;
    bool narrow;   /* words of 32 bits, squared distances below 2^31; else both have 64 */
    bool blocks;   /* block colouring, else independent colouring */
    bool floats;   /* dominance by quotients in FP64, else by products of integers */
    bool converts; /* links towards higher coordinates by kernels of their own, before merging and after */
    bool plain;    /* outputs are one of float32 distances and uint32 squares at most, and indices */
    int32_t nx, ny, nz;
    int64_t rows; /* along x, of all batches */
    int32_t shift_y, shift_z;
    int64_t w2[3]; /* squared pitches of x, y, z */
    /* Phase 1. */
    int32_t flood_bands, flood_length; /* m1 bands of so many elements, the last one of fewer; multiples of PBA_WORD */
    struct pba_pair
        *reach;     /* [band][row]: first and last site of the band; then the nearest ones left and right of it */
    uint32_t *bits; /* flood=bits: [x / PBA_WORD][row]: a bit is a site */
    void *turned;   /* else: words, [x][row] */
    void *words;    /* what phase 1 leaves, as the image lies */
};

/* Phases 2 and 3 along y or z. A column is the elements that differ in that coordinate alone; neighbouring ones to
 * neighbouring threads. */
struct pba_pass {
    bool z;               /* along z, else along y */
    int32_t length;       /* elements of a column */
    int64_t apart;        /* from one to the next; narrow: below 2^31 */
    int64_t columns;      /* of all batches */
    int32_t bands, band;  /* m2 bands of `band` elements, the last one of fewer */
    int32_t m3;           /* threads to a column in phase 3 */
    void *words;          /* the nearest sites so far; then the lists */
    void *next;           /* links towards higher coordinates, uint16 or (wide) uint32; NULL with one band */
    struct pba_pair *end; /* [band][column]: first and last of the band's list */
    void *target;         /* words with the nearest sites; NULL: outputs are written */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Phase 1: flood=bits, coordinates and turned. */
cudaError_t pba_flood(const struct pba_work *work, cudaStream_t stream);
cudaError_t pba_flood_fused(const struct pba_work *work, cudaStream_t stream);
cudaError_t pba_flood_turned(const struct pba_work *work, cudaStream_t stream);
/* What they share: between the bands of every row. */
cudaError_t pba_propagate(const struct pba_work *work, cudaStream_t stream);
/* Phases 2 and 3. */
cudaError_t pba_points(const struct pba_work *work, const struct pba_pass *pass, cudaStream_t stream);
cudaError_t pba_colour(const struct pba_work *work, const struct pba_pass *pass, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
