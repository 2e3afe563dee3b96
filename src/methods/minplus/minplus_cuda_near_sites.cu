/* minplus/cuda, the near search with sites. As minplus_cuda_near.cu, but a lane of 32 bits holds
 *
 *     d2 << 9 | (k + 256)
 *
 * for one pixel: the smallest is the nearest site, and of equals the one in the lowest row. Within its row the site is the
 * one at distance g, on the left if there is one. So where a site k steps on may be as near as the best, the search goes on.
 * Strips are half as high, for twice as many registers to a pixel.
 *
 * Per pixel: 10 instructions to spread, two per step, two dozen for the root and the site.
 */
enum { STRIP = 16 };
#include "methods/minplus/minplus_cuda_tile.cuh"

enum { KEY = 9, MIDDLE = 256 };

/* Steps k + FIRST .. k + LAST on one side; k is a multiple of 8. */
template <int SIDE, int FIRST, int LAST>
DM_DEVICE void key_steps(const mc_stage &p, const uint32_t *const row0[8], int k, uint32_t best[STRIP][2]) {
    uint32_t f[STRIP + LAST - FIRST]; /* nearest first */
#pragma unroll
    for (int i = 0; i < STRIP + LAST - FIRST; i++) {
        const int row = SIDE > 0 ? FIRST + i : STRIP - 1 - FIRST - i; /* plus or minus k */
        f[i] = row0[row & 7][(row + SIDE * k) * PAIRS];
    }
#pragma unroll
    for (int c = FIRST; c <= LAST; c++) {
        const int n = k + c;
        const uint32_t add = min((uint32_t)(p.wy2 * n * n), (uint32_t)MC_SURE) << KEY | (uint32_t)(MIDDLE + SIDE * n);
#pragma unroll
        for (int i = 0; i < STRIP; i++) {
            const uint32_t pair = f[(SIDE > 0 ? i : STRIP - 1 - i) + c - FIRST];
            best[i][0] = __viaddmin_u32((pair & 0xFFFF) << KEY, add, best[i][0]);
            best[i][1] = __viaddmin_u32(pair >> 16 << KEY, add, best[i][1]);
        }
    }
}

template <int FIRST, int LAST>
DM_DEVICE void both_sides(const mc_stage &p, const uint32_t *const row0[8], int k, uint32_t best[STRIP][2]) {
    key_steps<-1, FIRST, LAST>(p, row0, k, best);
    key_steps<1, FIRST, LAST>(p, row0, k, best);
}

DM_DEVICE uint32_t largest(const uint32_t best[STRIP][2]) {
    uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < STRIP; i++)
        most = max(most, max(best[i][0], best[i][1]));
    return most >> KEY;
}

/* Whether any pixel of the warp's may still gain from step k, or get another site of the same distance. */
DM_DEVICE bool beyond(const mc_stage &p, const uint32_t best[STRIP][2], int k) {
    return __any_sync(MC_WHOLE, largest(best) >= min((uint32_t)(p.wy2 * k * k), (uint32_t)MC_SURE));
}

/* A strip's results. PLAIN: of a plane, as roots and int32 indices, and without a limit that could be passed. */
template <bool PLAIN>
DM_DEVICE bool store_rows(const mc_stage &p, const tile &t, int32_t y, int32_t x, const uint32_t best[STRIP][2]) {
    const mc_place at = mc_place_of(p, t.plane);
    char *target = at.target + y * p.target.stride[2] + x * p.target.stride[3];
    char *site = at.site + y * p.site.stride[2] + x * p.site.stride[3];
    const int64_t target_apart = 16 * p.target.stride[3], site_apart = 16 * p.site.stride[3];
    const uint2 *entries = at.entries + x / 32 * (int64_t)p.height + y;
    const int linear = (int)p.linear[2];
    int index = (int)at.index + y * linear + x;
    bool none = false;
#pragma unroll
    for (int i = 0; i < STRIP; i++) {
        if (y + i >= p.height)
            break;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const uint32_t d2 = best[i][h] >> KEY;
            const int32_t k = (int32_t)(best[i][h] % (1 << KEY)) - MIDDLE, here = x + 16 * h;
            const float root = mc_root((float)d2);
            if (here >= p.width)
                continue;
            if (PLAIN) {
                const uint2 entry = entries[i + k];
                const int32_t dx = mc_site_along(p, entry, here, d2 - (uint32_t)(p.wy2 * k * k));
                __stcs((float *)(target + h * target_apart), root);
                __stcs((int *)(site + h * site_apart), index + 16 * h + k * linear + dx);
            } else {
                mc_store_site(p, at, target + h * target_apart, site + h * site_apart, y + i, here, d2, k, root, &none);
            }
        }
        target += p.target.stride[2];
        site += p.site.stride[2];
        index += linear;
    }
    return none;
}

DM_DEVICE void store_strip(const mc_stage &p, const tile &t, int32_t y, int32_t x, const uint32_t best[STRIP][2]) {
    if (!p.source.data && p.target.data && !p.squared && p.sites == MC_SITES_INT32 && p.most >= MC_SURE)
        store_rows<true>(p, t, y, x, best);
    else
        mc_raise(p, store_rows<false>(p, t, y, x, best));
}

/* Grid: a block per tile, tiles of a plane column by column. */
template <bool SLOW>
static __global__ void __launch_bounds__(THREADS, 2)
    near_tiles_sites(const __grid_constant__ mc_stage p, int32_t tiles_down) {
    DM_DYNAMIC_SHARED(uint32_t, squares); /* [MC_WIDE + ROWS + MC_WIDE][PAIRS] */
    __shared__ uint32_t hardest;
    const tile t = tile_at(p, blockIdx.x, tiles_down, squares);
    hardest = 0;
    if (!load_tile<SLOW>(p, t))
        return;
    __syncthreads();

    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, half = warp % 2;
    const int32_t x = column_of(t.group, half, lane), y = t.y0 + warp / 2 * STRIP;
    const uint32_t *row0[8];
    lane_rows(t, warp, lane, row0);
    uint32_t best[STRIP][2];
#pragma unroll
    for (int i = 0; i < STRIP; i++) {
        const uint32_t pair = row0[i & 7][i * PAIRS];
        best[i][0] = y + i < p.height && x < p.width ? (pair & 0xFFFF) << KEY | MIDDLE : 0;
        best[i][1] = y + i < p.height && x + 16 < p.width ? pair >> 16 << KEY | MIDDLE : 0;
    }
    bool open = beyond(p, best, 1);
    if (open)
        both_sides<1, 2>(p, row0, 0, best), open = beyond(p, best, 3);
    if (open)
        both_sides<3, 4>(p, row0, 0, best), open = beyond(p, best, 5);
    if (open)
        both_sides<5, 8>(p, row0, 0, best), open = beyond(p, best, 9);
    int32_t reach = 8;
    for (int32_t to = MC_REACH; to > reach; to = widen<SLOW>(p, t, reach, open, largest(best), &hardest)) {
        for (; open && reach < to; reach += SEGMENT) {
            both_sides<1, SEGMENT>(p, row0, reach, best);
            open = beyond(p, best, reach + SEGMENT + 1);
        }
        reach = to;
    }
    if (open) {
        if (lane % 16 == 0)
            leave_open(p, t.plane, y, t.group * 4 + half * 2 + lane / 16);
        return;
    }
    store_strip(p, t, y, x, best);
}

template <bool SLOW> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    const int32_t tiles_down = (p->height + ROWS - 1) / ROWS;
    const cudaError_t error = cudaFuncSetAttribute((const void *)near_tiles_sites<SLOW>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, TILE_BYTES);
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH(near_tiles_sites<SLOW>, (unsigned)(p->planes * p->groups * tiles_down), THREADS, (size_t)TILE_BYTES,
              stream, *p, tiles_down);
    return cudaGetLastError();
}

cudaError_t mc_near_sites(const mc_stage *p, cudaStream_t stream) {
    return p->source.data ? launch<true>(p, stream) : launch<false>(p, stream);
}
