/* minplus/cuda, its second engine: problems whose numbers do not fit the 32 bits of the first one, or whose axes or outputs it does not
 * take. Squared distances are integers of 64 bits, or FP64 where the pitches have no unit. minplus_cuda_wide.cu describes the search. */
#ifndef DISTMAP_MINPLUS_CUDA_WIDE_H
#define DISTMAP_MINPLUS_CUDA_WIDE_H

#include "methods/minplus/minplus_cuda_stages.h"

enum {
    MW_WARPS = 8,        /* of a block */
    MW_KNOT = 64,        /* rows from one knot to the next */
    MW_INNER = 7,        /* rows that are solved together, between two that are known */
    MW_MOST_ROWS = 8192, /* that a block solves of a strip */
};

/* A pass along `axis`, for all columns: those of 32 neighbours along `lanes` are a strip. By value to kernels. */
typedef struct mw_stage {
    dm_elements elements;
    int axis, lanes;      /* x, except in the pass along x itself, which only samples have */
    int other[2];         /* the other axes, the slower one first */
    bool counts, along_x; /* whether distances along the axis count, else elements keep their results; and along x */
    int32_t height, strips;
    int32_t part_rows, parts; /* a block solves so many rows of a strip; blocks to a strip */
    /* The first pass reads entries, */
    const mc_entry *entries;
    int64_t entry_step[4]; /* from one element to the next along an axis, and along x from one strip to the next */
    /* Kinds: entries of rims, and for each pass those across rows (minplus_cuda_kinds.cuh); NULL: a mask. */
    const mc_entry *across;
    int32_t bands, strips_packed; /* of a column; of a row that entries have */
    /* Further passes read what the last one wrote, in linear order: 8 bytes for each squared distance, and for each site's linear index. */
    void *value;
    const int64_t *site;
    /* or, along z, 4 bytes for each element: squared distances in the numbers of the first engine, of which one is `factor`, or with sites
     * their offsets. Only planes that have a site were written. */
    const uint8_t *alive; /* [plane] */
    uint64_t factor;
    /* The units that the first engine left open in planes; NULL: all. */
    const uint8_t *open; /* [plane][strip][unit] */
    int32_t units;
    /* The last pass fills the outputs, the others these. */
    void *to_value;
    int64_t *to_site;
    bool sites;       /* wanted */
    bool last, plain; /* plain: the only output is float32 distances, without border and sign */
} mw_stage;

/* Planes of columns: one for each place along the other axes. */
static inline int64_t mw_columns(const mw_stage *p) {
    return p->elements.shape[p->other[0]] * p->elements.shape[p->other[1]];
}

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t mw_search(const mw_stage *stage, cudaStream_t stream);
/* Samples into the stage's to_value and to_site. */
cudaError_t mw_load(const mw_stage *stage, cudaStream_t stream);
/* As in a method's row; `outcome`, unless NULL, becomes zero before any flag is raised. */
const char *mw_refuses(const distmap_plan *plan);
size_t mw_scratch_bytes(const distmap_plan *plan);
distmap_status mw_run(distmap_plan *plan, const dm_arrays *arrays, dm_outcome *outcome);
/* The rest after the first engine: z, or open units. */
distmap_status mw_finish(distmap_plan *plan, const dm_elements *elements, const mc_layout *l);
#ifdef __cplusplus
}
#endif
#endif
