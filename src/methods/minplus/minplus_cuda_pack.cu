/* minplus/cuda: rows of elements into entries (minplus_cuda.h).
 *
 * A warp packs a row. First its sites become bits in shared memory, 16 per lane and load. Then, 32 groups at a time, a
 * max-scan over lanes finds the last site before each group, and coming back a min-scan the first one after it. At last the
 * block writes the entries of its rows, strip by strip, so that whole sectors are filled. Reads each element once, writes 1/4
 * byte per pixel.
 *
 * Of kinds, whose rims are bits already, these take the place of sites. */
#include "cuda/sites.cuh"
#include "methods/minplus/minplus_cuda.cuh"

enum { WARPS = 4, FEW = 1 << 16 /* lanes at work */ };

/* Scans over `lanes` neighbouring lanes: the largest of those before, -1 without; the smallest of those after, INT32_MAX
 * without. */
DM_DEVICE int32_t max_before(int32_t v, int place, int lanes) {
    for (int step = 1; step < lanes; step *= 2) {
        const int32_t other = __shfl_up_sync(MC_WHOLE, v, (unsigned)step, lanes);
        if (place >= step && other > v)
            v = other;
    }
    v = __shfl_up_sync(MC_WHOLE, v, 1, lanes);
    return place ? v : -1;
}
DM_DEVICE int32_t min_after(int32_t v, int place, int lanes) {
    for (int step = 1; step < lanes; step *= 2) {
        const int32_t other = __shfl_down_sync(MC_WHOLE, v, (unsigned)step, lanes);
        if (place + step < lanes && other < v)
            v = other;
    }
    v = __shfl_down_sync(MC_WHOLE, v, 1, lanes);
    return place < lanes - 1 ? v : INT32_MAX;
}

/* Position of the last / first site among four words that start at pixel `base`. */
DM_DEVICE int32_t last_site(uint4 w, int32_t base) {
    return w.w   ? base + 127 - __clz((int)w.w)
           : w.z ? base + 95 - __clz((int)w.z)
           : w.y ? base + 63 - __clz((int)w.y)
           : w.x ? base + 31 - __clz((int)w.x)
                 : -1;
}
DM_DEVICE int32_t first_site(uint4 w, int32_t base) {
    return w.x   ? base + __ffs((int)w.x) - 1
           : w.y ? base + __ffs((int)w.y) + 31
           : w.z ? base + __ffs((int)w.z) + 63
           : w.w ? base + __ffs((int)w.w) + 95
                 : INT32_MAX;
}

DM_DEVICE uint16_t before(int32_t base, int32_t site) {
    return (uint16_t)(site < 0 ? (int32_t)MC_NONE : base - 1 - site);
}
DM_DEVICE uint16_t after(int32_t base, int32_t site) {
    return (uint16_t)(site == INT32_MAX ? (int32_t)MC_NONE : site - base - 32);
}

/* Both sides of a group's entries, from its bits and the nearest sites before and after it. */
DM_DEVICE uint4 group_sides(uint4 w, int32_t base, int32_t earlier, int32_t later) {
    const uint32_t bits[4] = {w.x, w.y, w.z, w.w};
    uint32_t sides[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        sides[i] = before(base + i * 32, earlier);
        earlier = bits[i] ? base + i * 32 + 31 - __clz((int)bits[i]) : earlier;
    }
#pragma unroll
    for (int i = 3; i >= 0; i--) {
        sides[i] |= (uint32_t)after(base + i * 32, later) << 16;
        later = bits[i] ? base + i * 32 + __ffs((int)bits[i]) - 1 : later;
    }
    return make_uint4(sides[0], sides[1], sides[2], sides[3]);
}

/* A row in shared memory: bits and sides of its groups; one more group keeps rows in different banks. */
DM_DEVICE int row_pitch(const mc_stage &p) { return p.groups * 2 + 1; }

/* The block's rows, from `first` on, into entries: neighbouring threads take neighbouring rows of a strip. `count` rows are a
 * power of two. */
DM_DEVICE void write_rows(const mc_stage &p, const uint4 *shared, uint32_t first, uint32_t count) {
    const int strips = p.groups * 4;
    const uint32_t slot = threadIdx.x % count, row = first + slot;
    if (row >= (uint32_t)p.planes * (uint32_t)p.height)
        return;
    const uint32_t plane = row / (uint32_t)p.height, y = row - plane * (uint32_t)p.height;
    const uint32_t *bits = (const uint32_t *)(shared + slot * (uint32_t)row_pitch(p)), *sides = bits + strips;
    uint2 *to = (uint2 *)mc_entries(p, plane, 0) + y;
    for (uint32_t s = threadIdx.x / count; s < (uint32_t)strips; s += WARPS * 32 / count)
        to[(int64_t)s * p.rows] = make_uint2(bits[s], sides[s]);
}

/* `lanes` lanes, a power of two, take a row, so that a warp takes several narrow ones at once. On the way the stages' marks
 * of open units, `clear` words, are set to zero, and the plan's outcome, unless NULL.
 * Grid: any number of blocks of WARPS warps, which take rows in turn. Shared memory per row: groups * 32 bytes and 16. */
template <bool KINDS>
static __global__ void __launch_bounds__(WARPS * 32)
    pack(const __grid_constant__ dm_elements e, const __grid_constant__ mc_stage p, bool plain, int lanes,
         int64_t clear, uint32_t *outcome) {
    DM_DYNAMIC_SHARED(uint4, shared);
    const int at_once = 32 / lanes, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int slot = warp * at_once + lane / lanes, place = lane % lanes;
    uint4 *words = shared + slot * row_pitch(p), *sides = words + p.groups;
    uint16_t *halves = (uint16_t *)words;
    const uint32_t rows = (uint32_t)p.planes * (uint32_t)p.height; /* below 2^31: 32-bit divisions will do */
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * (WARPS * 32) + threadIdx.x; i < clear;
         i += (int64_t)gridDim.x * (WARPS * 32))
        p.any_open[i] = 0;
    for (uint32_t i = threadIdx.x; outcome && blockIdx.x == 0 && i < sizeof(dm_outcome) / 4; i += WARPS * 32)
        outcome[i] = 0;
    for (uint32_t first = blockIdx.x * (uint32_t)(WARPS * at_once); first < rows;
         first += gridDim.x * (uint32_t)(WARPS * at_once)) {
        const uint32_t row = min(first + (uint32_t)slot, rows - 1); /* the last one more than once, if need be */
        const uint32_t plane = row / (uint32_t)p.height, y = row - plane * (uint32_t)p.height;
        const uint32_t outer = plane / (uint32_t)e.shape[1];
        int64_t at[DM_NDIM] = {outer, plane - outer * (uint32_t)e.shape[1], y, 0};
        if (KINDS) {
            for (int32_t g = place; g < p.groups; g += lanes)
                words[g] = ((const uint4 *)p.along)[(int64_t)row * p.groups + g];
        } else {
#pragma unroll 4
            for (int32_t x = place * 16; x < p.groups * MC_GROUP; x += lanes * 16)
                halves[x / 16] = (uint16_t)dm_sixteen_sites(&e, plain, at, x, p.width, &raised);
        }
        __syncwarp();
        int32_t run = -1;
        for (int32_t g0 = 0; g0 < p.groups; g0 += lanes) {
            const int32_t g = g0 + place;
            const int32_t own = g < p.groups ? last_site(words[g], g * MC_GROUP) : -1;
            const int32_t earlier = max(run, max_before(own, place, lanes));
            if (g < p.groups)
                sides[g].x = (uint32_t)earlier;
            run = __shfl_sync(MC_WHOLE, max(earlier, own), lanes - 1, lanes);
        }
        if (p.alive && run >= 0 && place == 0)
            p.alive[plane] = true;
        __syncwarp();
        run = INT32_MAX;
        for (int32_t g0 = (p.groups - 1) / lanes * lanes; g0 >= 0; g0 -= lanes) {
            const int32_t g = g0 + place;
            const uint4 w = g < p.groups ? words[g] : make_uint4(0, 0, 0, 0);
            const int32_t own = first_site(w, g * MC_GROUP);
            const int32_t later = min(run, min_after(own, place, lanes));
            run = __shfl_sync(MC_WHOLE, min(later, own), 0, lanes);
            if (g < p.groups)
                sides[g] = group_sides(w, g * MC_GROUP, (int32_t)sides[g].x, later);
        }
        __syncthreads();
        write_rows(p, shared, first, (uint32_t)(WARPS * at_once));
        __syncthreads();
    }
    dm_raise(&e, raised);
}

cudaError_t mc_pack(const dm_elements *e, const mc_stage *p, int64_t clear, dm_outcome *outcome, cudaStream_t stream) {
    void (*const kernel)(dm_elements, mc_stage, bool, int, int64_t, uint32_t *) = p->along ? pack<true> : pack<false>;
    /* A lane to a group; with few rows, more of them, for less to wait for. */
    const int64_t rows = p->planes * p->height;
    int lanes = 1;
    while (lanes < 32 && (lanes < p->groups || (rows * lanes < FEW && lanes * 16 < p->width)))
        lanes *= 2;
    const int block_rows = WARPS * 32 / lanes;
    const size_t shared = (size_t)block_rows * (size_t)(p->groups * 2 + 1) * sizeof(uint4);
    if (shared > 48 << 10) {
        const cudaError_t error =
            cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (error != cudaSuccess)
            return error;
    }
    DM_LAUNCH(kernel, dm_blocks(p->planes * p->height, block_rows, 1 << 20), WARPS * 32, shared, stream, *e, *p,
              dm_sites_are_plain(e), lanes, clear, (uint32_t *)outcome);
    return cudaGetLastError();
}

/* For volumes spread over several GPUs: what others packed is not in this one's marks yet. A row has a site if its first entry
 * knows of one. Grid: a block per plane; reads 8 bytes per row. */
static __global__ void __launch_bounds__(256) find_alive(const __grid_constant__ mc_stage p) {
    const uint2 *entries = mc_entries(p, blockIdx.x, 0) + p.low;
    bool any = false;
    for (int32_t y = (int)threadIdx.x; y < p.rows; y += (int)blockDim.x)
        any |= has_any(entries[y]);
    any = __syncthreads_or(any);
    if (threadIdx.x == 0)
        p.alive[blockIdx.x] = any;
}

cudaError_t mc_find_alive(const mc_stage *p, cudaStream_t stream) {
    DM_LAUNCH(find_alive, (unsigned)p->planes, 256, 0, stream, *p);
    return cudaGetLastError();
}
