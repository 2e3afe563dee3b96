/* minplus/cuda: rows of elements into entries (minplus_cuda.h).
 *
 * A warp packs a row. First its sites become bits in shared memory, 16 per lane and load. Then, 32 groups at a time, lanes
 * exchange the last site before each group, and in the reverse direction the first one after it. Finally the
 * block writes the entries of its rows, strip by strip, so that whole sectors are filled. Reads each element once, writes 1/4
 * byte per pixel.
 *
 * With kinds the rims, which are bits already, replace sites. */
#include "cuda/sites.cuh"
#include "methods/minplus/minplus_cuda.cuh"

enum { LOG_WARPS = 2, WARPS = 1 << LOG_WARPS, FEW = 1 << 16 /* lanes at work */ };

/* Of positions of sites, which rise from lane to lane, or -1 or INT32_MAX where a lane has none: the last of the lanes before this
 * one, -1 without; the first of those after it, INT32_MAX without. `row`: the lanes that have the same row. */
DM_DEVICE int32_t last_before(int32_t site, uint32_t row) {
    const uint32_t lanes = __ballot_sync(MC_WHOLE, site >= 0) & row & ((1u << threadIdx.x % 32) - 1);
    const int32_t found = __shfl_sync(MC_WHOLE, site, 31 - __clz((int)(lanes | 1)));
    return lanes ? found : -1;
}
DM_DEVICE int32_t first_after(int32_t site, uint32_t row) {
    const uint32_t lanes = __ballot_sync(MC_WHOLE, site != INT32_MAX) & row & (MC_WHOLE - 1) << threadIdx.x % 32;
    const int32_t found = __shfl_sync(MC_WHOLE, site, lanes ? __ffs((int)lanes) - 1 : 0);
    return lanes ? found : INT32_MAX;
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

/* The plane of a row; most images have one. */
DM_DEVICE uint32_t plane_of(const mc_stage &p, uint32_t row) { return p.planes == 1 ? 0 : row / (uint32_t)p.height; }

/* The block's rows, 2^log_count from `first` on, into entries: neighbouring threads take neighbouring rows of a strip. */
DM_DEVICE void write_rows(const mc_stage &p, const uint4 *shared, uint32_t first, int log_count) {
    const int strips = p.groups * 4;
    const uint32_t slot = threadIdx.x & ((1u << log_count) - 1), row = first + slot;
    if (row >= (uint32_t)p.planes * (uint32_t)p.height)
        return;
    const uint32_t plane = plane_of(p, row), y = row - plane * (uint32_t)p.height;
    const uint32_t *bits = (const uint32_t *)(shared + slot * (uint32_t)row_pitch(p)), *sides = bits + strips;
    uint2 *to = (uint2 *)mc_entries(p, plane, 0) + y;
    for (uint32_t s = threadIdx.x >> log_count; s < (uint32_t)strips; s += (uint32_t)WARPS * 32 >> log_count)
        to[(int64_t)s * p.rows] = make_uint2(bits[s], sides[s]);
}

/* Loops that most threads go through once; unrolled they would be more code than all else. */
DM_DEVICE void set_to_zero(const mc_stage &p, int64_t marks, uint32_t *outcome) {
#pragma unroll 1
    for (int64_t i = (int64_t)blockIdx.x * (WARPS * 32) + threadIdx.x; i < marks;
         i += (int64_t)gridDim.x * (WARPS * 32))
        p.any_open[i] = 0;
    if (!outcome || blockIdx.x != 0)
        return;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < sizeof(dm_outcome) / 4; i += WARPS * 32)
        outcome[i] = 0;
}

/* Where a row's bits come from: any elements; the same where they can all be read 16 bytes at a time; rims. */
typedef enum source { ELEMENTS, WHOLE_BYTES, RIMS } source;

/* 2^log_lanes lanes take a row, so that a warp takes several narrow ones at once. On the way the stages' marks
 * of open units, `clear` words, are set to zero, and the plan's outcome, unless NULL.
 * Grid: any number of blocks of WARPS warps, which take rows in turn. Shared memory per row: groups * 32 bytes and 16. */
template <source FROM>
static __global__ void __launch_bounds__(WARPS * 32)
    pack(const __grid_constant__ dm_elements e, const __grid_constant__ mc_stage p, bool plain, int log_lanes,
         int64_t clear, uint32_t *outcome) {
    DM_DYNAMIC_SHARED(uint4, shared);
    if (p.brackets) /* others gain nothing, and small images lose */
        dm_let_next_begin();
    const int lanes = 1 << log_lanes, log_rows = 5 - log_lanes, warp = (int)threadIdx.x / 32,
              lane = (int)threadIdx.x % 32;
    const int slot = (warp << log_rows) + (lane >> log_lanes), place = lane & (lanes - 1);
    const uint32_t together = MC_WHOLE >> (32 - lanes) << (lane - place), block_rows = (uint32_t)WARPS << log_rows;
    uint4 *words = shared + slot * row_pitch(p), *sides = words + p.groups;
    uint16_t *halves = (uint16_t *)words;
    const uint32_t rows = (uint32_t)p.planes * (uint32_t)p.height; /* below 2^31: 32-bit divisions will do */
    unsigned raised = 0;
    for (uint32_t first = blockIdx.x * block_rows; first < rows; first += gridDim.x * block_rows) {
        const uint32_t row = min(first + (uint32_t)slot, rows - 1); /* the last one more than once, if need be */
        const uint32_t plane = plane_of(p, row), y = row - plane * (uint32_t)p.height;
        const uint32_t outer = plane ? plane / (uint32_t)e.shape[1] : 0;
        int64_t at[DM_NDIM] = {outer, plane - outer * (uint32_t)e.shape[1], y, 0};
        if (FROM == RIMS) {
#pragma unroll 1
            for (int32_t g = place; g < p.groups; g += lanes)
                words[g] = ((const uint4 *)p.along)[(int64_t)row * p.groups + g];
        } else if (FROM == WHOLE_BYTES) {
            const char *elements = dm_element_address(&e.arrays.input, at);
#pragma unroll 4
            for (int32_t x = place * 16; x < p.groups * MC_GROUP; x += lanes * 16)
                halves[x / 16] = (uint16_t)(x < p.width ? dm_sixteen_plain(&e, elements + x) : 0);
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
            const int32_t earlier = max(run, last_before(own, together));
            if (g < p.groups)
                sides[g].x = (uint32_t)earlier;
            run = __shfl_sync(MC_WHOLE, max(earlier, own), lanes - 1, lanes);
        }
        if (p.alive && run >= 0 && place == 0)
            p.alive[plane] = true;
        __syncwarp();
        run = INT32_MAX;
        for (int32_t g0 = (p.groups - 1) & -lanes; g0 >= 0; g0 -= lanes) {
            const int32_t g = g0 + place;
            const uint4 w = g < p.groups ? words[g] : make_uint4(0, 0, 0, 0);
            const int32_t own = first_site(w, g * MC_GROUP);
            const int32_t later = min(run, first_after(own, together));
            run = __shfl_sync(MC_WHOLE, min(later, own), 0, lanes);
            if (g < p.groups)
                sides[g] = group_sides(w, g * MC_GROUP, (int32_t)sides[g].x, later);
        }
        __syncthreads();
        write_rows(p, shared, first, LOG_WARPS + log_rows);
        __syncthreads();
    }
    set_to_zero(p, clear, outcome);
    if (FROM == RIMS) /* sides across, which may still be written: this grid does not end before that one */
        dm_wait_for_last();
    dm_let_next_begin();
    dm_raise(&e, raised);
}

cudaError_t mc_pack(const dm_elements *e, const mc_stage *p, int64_t clear, dm_outcome *outcome, cudaStream_t stream) {
    const bool plain = dm_sites_are_plain(e);
    void (*kernel)(dm_elements, mc_stage, bool, int, int64_t, uint32_t *) = pack<ELEMENTS>;
    if (p->along)
        kernel = pack<RIMS>;
    else if (dm_rows_are_plain(e))
        kernel = pack<WHOLE_BYTES>;
    /* A lane to a group; with few rows, more of them, for less to wait for. */
    const int64_t rows = p->planes * p->height;
    int log_lanes = 0;
    while (log_lanes < 5 && (1 << log_lanes < p->groups || (rows << log_lanes < FEW && 16 << log_lanes < p->width)))
        log_lanes++;
    const int block_rows = WARPS * 32 >> log_lanes;
    const size_t shared = (size_t)block_rows * (size_t)(p->groups * 2 + 1) * sizeof(uint4);
    if (shared > 48 << 10) {
        const cudaError_t error =
            cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (error != cudaSuccess)
            return error;
    }
    const unsigned blocks = dm_blocks(p->planes * p->height, block_rows, 1 << 20);
    if (p->along) /* these are there when the sides across begin */
        DM_LAUNCH_EARLY(kernel, blocks, WARPS * 32, shared, stream, *e, *p, plain, log_lanes, clear,
                        (uint32_t *)outcome);
    else
        DM_LAUNCH(kernel, blocks, WARPS * 32, shared, stream, *e, *p, plain, log_lanes, clear, (uint32_t *)outcome);
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
