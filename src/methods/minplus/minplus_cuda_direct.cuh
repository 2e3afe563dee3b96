/* minplus/cuda, the direct search (minplus_cuda_direct.cu): what rows offer, with and without sites, and where they are kept. */
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

/* h of row y0 + t, or its key. */
template <bool SITES> DM_DEVICE uint32_t offer_of(const mc_stage &p, const place &at, uint32_t f, int32_t t) {
    const uint32_t h = offer_start(p, f, t, MC_DIRECT_ROWS);
    return SITES ? (h << p.row_bits) + (uint32_t)(at.y0 + t - p.low) : offer_bits(true, h);
}
template <bool SITES> DM_DEVICE int32_t no_offer(void) { return SITES ? (int32_t)NONE_KEY : (int32_t)NO_OFFER; }
template <bool SITES> DM_DEVICE bool is_any(int32_t best) { return best < (SITES ? (int)ANY_KEY : (int)ANY_OFFER); }

/* t as offers take it. */
template <bool SITES> DM_DEVICE uint32_t row_number(int32_t t) {
    return SITES ? (uint32_t)t : __float_as_uint((float)t);
}

/* The turns of COUNT rows of pixels, `step` apart, from row i on: an offer is h + turn t. */
template <bool SITES, int COUNT>
DM_DEVICE void set_turns(const mc_stage &p, int32_t i, int32_t step, uint32_t turn[COUNT]) {
#pragma unroll
    for (int r = 0; r < COUNT; r++) {
        const int32_t own = -2 * p.wy2 * (i + r * step);
        turn[r] = SITES ? (uint32_t)own << p.row_bits : __float_as_uint((float)own);
    }
}

/* The least that four rows offer pixels, and `best`. */
template <bool SITES, int COUNT>
DM_DEVICE void take_four(uint4 four, uint4 rows, const uint32_t turn[COUNT], int32_t best[COUNT]) {
    const uint32_t h[4] = {four.x, four.y, four.z, four.w}, t[4] = {rows.x, rows.y, rows.z, rows.w};
#pragma unroll
    for (int r = 0; r < COUNT; r++)
#pragma unroll
        for (int n = 0; n < 4; n += 2) {
            int32_t offer[2];
#pragma unroll
            for (int m = 0; m < 2; m++)
                offer[m] = SITES ? (int32_t)(h[n + m] + t[n + m] * turn[r])
                                 : offer_at(h[n + m], __uint_as_float(t[n + m]), __uint_as_float(turn[r]));
            best[r] = __vimin3_s32(best[r], offer[0], offer[1]);
        }
}

/* The squared distance of pixel y0 + i, if it has a site; else it is large. */
template <bool SITES> DM_DEVICE int32_t square_of(const mc_stage &p, int32_t best, int32_t i) {
    return offered_square(p, SITES ? best >> p.row_bits : (int32_t)__int_as_float(best), i, MC_DIRECT_ROWS);
}

#endif
