/* minplus/cuda, the near search of the z stage in lanes of 32 bits: for weights so large that 16 bits, which end at MC_SURE, hold
 * fewer than MC_REACH rows (minplus_cuda_near.cu has those).
 *
 *     d2(y) = min over |k| <= MC_REACH of f(y + k) + w k^2    in one column
 *
 * A block has ROWS rows of a strip, of which it first loads FIRST more on either side into shared memory; each warp then takes STRIP
 * rows into registers, a lane to a column. It stops when w (k + 1)^2 reaches the largest of its results. Where that is not after FIRST
 * steps, but MC_REACH are sure to do, the block loads the other rows around it. What is still open is left to the bracket or the far
 * search.
 *
 * Per pixel: 9/8 loads, two instructions a step, 11 to 20 for the root.
 */
#include "methods/minplus/minplus_cuda_pixels.cuh"

enum {
    WARPS = 8,
    STRIP = MC_FILL, /* rows of a warp */
    ROWS = WARPS * STRIP,
    FIRST = 8,
    HELD = ROWS + 2 * MC_REACH,
    SEGMENT = 8, /* steps between tests beyond FIRST */
};
static_assert((MC_REACH - FIRST) % SEGMENT == 0, "whole segments");

/* A block's. */
typedef struct tile {
    int64_t plane;
    int32_t strip, y0;    /* the first row */
    const char *source;   /* this lane's column, of row 0, */
    const uint8_t *alive; /* and which rows have been written */
    uint32_t (*rows)[32]; /* [HELD]: of row y0 - MC_REACH on. Shared memory */
} tile;

/* COUNT rows from row y on to where they belong in the shared memory, by the whole block. Rows without a site are MC_NOTHING. */
template <int COUNT> DM_DEVICE void load_rows(const mc_stage &p, const tile &t, int32_t y) {
    enum { EACH = COUNT / WARPS };
    static_assert(COUNT % WARPS == 0 && EACH <= 32, "a lane looks whether a row is written");
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int32_t mine = y + warp + lane * WARPS;
    const bool written = lane < EACH && (uint32_t)mine < (uint32_t)p.height && t.alive[mine];
    const uint32_t any = __ballot_sync(MC_WHOLE, written);
    uint32_t value[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) { /* also of rows that are not there: a branch would wait for each */
        const int32_t row = min(max(y + warp + i * WARPS, 0), p.height - 1);
        value[i] = *(const uint32_t *)(t.source + row * p.source.stride[2]);
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
        t.rows[y + warp + i * WARPS - t.y0 + MC_REACH][lane] = any >> i & 1 ? value[i] : (uint32_t)MC_NOTHING;
}

/* Steps FROM..TO of a strip, whose row i is f[FIRST + i]. From the farthest step on, each adds what that costs more than the one before
 * it: one minimum for both rows. */
template <int FROM, int TO>
DM_DEVICE void steps(uint32_t w, const uint32_t f[STRIP + 2 * FIRST], uint32_t best[STRIP]) {
#pragma unroll
    for (int i = 0; i < STRIP; i++) {
        uint32_t least = min(f[FIRST + i - TO], f[FIRST + i + TO]);
#pragma unroll
        for (int k = TO - 1; k >= FROM; k--)
            least = __vimin3_u32(f[FIRST + i - k], f[FIRST + i + k], least + w * (uint32_t)(2 * k + 1));
        best[i] = __viaddmin_u32(least, w * (uint32_t)(FROM * FROM), best[i]);
    }
}

DM_DEVICE uint32_t largest(const uint32_t best[STRIP]) {
    uint32_t most = best[0];
#pragma unroll
    for (int i = 1; i < STRIP; i++)
        most = max(most, best[i]);
    return most;
}

/* Whether any pixel of the warp's may still gain from step k. */
DM_DEVICE bool beyond(uint32_t w, const uint32_t best[STRIP], int k) {
    return __any_sync(MC_WHOLE, largest(best) > w * (uint32_t)(k * k));
}

/* Steps k..k + SEGMENT - 1 on one SIDE. row0: the strip's row 0, the lane's column. */
template <int SIDE> DM_DEVICE void segment(uint32_t w, const uint32_t (*row0)[32], int32_t k, uint32_t best[STRIP]) {
    uint32_t f[STRIP + SEGMENT - 1];
#pragma unroll
    for (int i = 0; i < STRIP + SEGMENT - 1; i++)
        f[i] = row0[SIDE > 0 ? k + i : STRIP - 1 - k - i][0];
#pragma unroll
    for (int j = 0; j < SEGMENT; j++) {
        const uint32_t cost = w * (uint32_t)((k + j) * (k + j));
#pragma unroll
        for (int i = 0; i < STRIP; i++) {
            uint32_t &to = best[SIDE > 0 ? i : STRIP - 1 - i];
            to = __viaddmin_u32(f[i + j], cost, to);
        }
    }
}

/* Grid: a block per tile, strips of a plane side by side. */
static __global__ void __launch_bounds__(WARPS * 32, 4)
    near_whole(const __grid_constant__ mc_stage p, mc_divisor tiles) {
    __shared__ uint32_t rows[HELD][32];
    dm_wait_for_last();
    dm_let_next_begin();
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const mc_divided plane = mc_divide(blockIdx.x, tiles), place = mc_divide(plane.rest, p.by_strips);
    const int32_t strip = (int32_t)place.rest, x = min(strip * 32 + lane, p.width - 1);
    const tile t = {plane.whole,
                    strip,
                    (int32_t)place.whole * ROWS,
                    mc_row(p.source, plane.whole, 0) + (int64_t)x * 4,
                    mc_alive(p, plane.whole),
                    rows};
    const int32_t y = t.y0 + warp * STRIP;
    const uint32_t w = (uint32_t)p.wy2, deep = w * (MC_REACH + 1) * (MC_REACH + 1);
    load_rows<ROWS + 2 * FIRST>(p, t, t.y0 - FIRST);
    __syncthreads();

    const uint32_t(*row0)[32] = (const uint32_t(*)[32]) & rows[MC_REACH + warp * STRIP][lane];
    uint32_t f[STRIP + 2 * FIRST], best[STRIP], least = MC_NOTHING;
#pragma unroll
    for (int i = 0; i < STRIP + 2 * FIRST; i++)
        f[i] = row0[i - FIRST][0], least = min(least, f[i]);
#pragma unroll
    for (int i = 0; i < STRIP; i++)
        best[i] = y + i < p.height ? f[FIRST + i] : 0;
    least = mc_warp_least(least);
    bool open = beyond(w, best, 1);
    if (open && least <= deep) {
        steps<1, 2>(w, f, best), open = beyond(w, best, 3);
        if (open)
            steps<3, 5>(w, f, best), open = beyond(w, best, 6);
        if (open)
            steps<6, 8>(w, f, best), open = beyond(w, best, 9);
    }
    /* More steps make results smaller, so that these are sure to be settled by them. */
    const bool goes_on = open && !beyond(w, best, MC_REACH + 1);
    if (__syncthreads_or(goes_on)) {
        load_rows<MC_REACH - FIRST>(p, t, t.y0 - MC_REACH);
        load_rows<MC_REACH - FIRST>(p, t, t.y0 + ROWS + FIRST);
        __syncthreads();
#pragma unroll 1
        for (int32_t k = FIRST + 1; goes_on && open; k += SEGMENT) {
            segment<1>(w, row0, k, best);
            segment<-1>(w, row0, k, best);
            open = beyond(w, best, k + SEGMENT);
        }
    }
    if (open && lane == 0)
        mc_leave_open(p, t.plane, y, STRIP, strip, least < MC_NOTHING ? MC_DEEP : MC_BLIND);
    const auto pixel_at = [&](int r) {
        const pixel made = {best[r], (float)best[r], true};
        return made;
    };
    if (!open && deep < DM_UNIT_EXACT_FLOAT)
        store_pixels<false, true, STRIP>(p, t.plane, strip, y, pixel_at);
    else if (!open)
        store_pixels<true, true, STRIP>(p, t.plane, strip, y, pixel_at);
}

cudaError_t mc_near_whole(const mc_stage *p, cudaStream_t stream) {
    const int64_t tiles = (int64_t)p->strips * ((p->height + ROWS - 1) / ROWS);
    DM_LAUNCH_EARLY(near_whole, (unsigned)(p->planes * tiles), WARPS * 32, 0, stream, *p, mc_divisor_of(tiles));
    return cudaGetLastError();
}
