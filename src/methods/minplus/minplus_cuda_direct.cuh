/* minplus/cuda, the direct search (minplus_cuda_direct.cu): the values of rows, with and without sites, and their storage. */
#ifndef DISTMAP_MINPLUS_CUDA_DIRECT_CUH
#define DISTMAP_MINPLUS_CUDA_DIRECT_CUH

#include "methods/minplus/minplus_cuda_offers.cuh"

enum {
    WARPS = 8,
    HEIGHT = MC_DIRECT_ROWS / WARPS,        /* rows of a warp */
    AROUND = 8 * WARPS,                     /* rows that come first: */
    BEFORE = (AROUND - MC_DIRECT_ROWS) / 2, /* so many before the block's own, and after them */
    STEP = 16,                              /* rows between those that are queried, */
    QUERIES = MC_DIRECT_ROWS / STEP + 1,    /* and how many these are */
    EACH = 2,                               /* other rows, listed at once, to a thread */
    FOURS = EACH * WARPS * 8,
    ENOUGH = 8, /* fours that are no more work than to query */
    /* What rows without a site offer as a key: 3 2^29, of which slopes take less than 2^29. What others do is below. */
    NONE_KEY = 3 << 29,
    ANY_KEY = 1 << 30,
};

/* A block's place. */
typedef struct place {
    int64_t plane;
    int32_t strip, y0;
    const uint2 *entries; /* planes */
    const char *source;   /* z stage: this lane's column, of row 0 */
    const uint8_t *alive;
    int column; /* this lane's */
} place;

/* A row on the list. */
typedef struct listed {
    int32_t j, place;
    uint2 entry; /* planes */
} listed;

/* Its shared memory. */
typedef struct direct_rows {
    uint4 values[FOURS][32];          /* what rows offer, by fours; before, of those on the list: entry and row */
    uint4 t[FOURS];                   /* which rows these are */
    int32_t best[QUERIES][WARPS][32]; /* what warps found for the rows queried, */
    uint8_t from[QUERIES][WARPS][32]; /* and where: fours */
    uint8_t winner[QUERIES][32];
    int32_t counts[EACH][WARPS];
    float least[WARPS];
    __align__(16) uint8_t any[AROUND / 4]; /* of the rows around: fours that have a site */
} direct_rows;

/* z stage: row j in the lane's column. */
DM_DEVICE int32_t slow_value(const mc_stage &p, const place &at, int32_t j) {
    const int32_t v = *(const int32_t *)(at.source + j * p.source.stride[2]);
    return p.sites == MC_SITES_NONE ? v : mc_offset_square(p, (uint32_t)v);
}

/* Planes: f of a row that has a site; `inside`: maybe in the strip. */
DM_DEVICE uint32_t along_row(const mc_stage &p, uint2 entry, int column, bool inside) {
    const uint32_t g = inside ? entry_distance(entry, column, p.rim) : outer_distance(entry, column, p.rim);
    return g * g * (uint32_t)p.wx2;
}

/* h of row y0 + t, or with sites its key. */
template <bool SITES> DM_DEVICE uint32_t row_offer(const mc_stage &p, const place &at, uint32_t f, int32_t t) {
    const uint32_t h = offer_start(p, f, t, MC_DIRECT_ROWS);
    return SITES ? (h << p.row_bits) + (uint32_t)(at.y0 + t - p.low) : offer_number<false>((int32_t)h);
}
template <bool SITES> DM_DEVICE int32_t no_row(void) { return SITES ? (int32_t)NONE_KEY : no_offer<false>(); }
template <bool SITES> DM_DEVICE bool is_row(int32_t best) {
    return SITES ? best < (int)ANY_KEY : is_offer<false>(best);
}

/* The squared distance of pixel y0 + i, if it has a site; else it is large. */
template <bool SITES> DM_DEVICE int32_t square_of(const mc_stage &p, int32_t best, int32_t i) {
    return offered_square(p, SITES ? best >> p.row_bits : offer_value<false>(best), i, MC_DIRECT_ROWS);
}

#endif
