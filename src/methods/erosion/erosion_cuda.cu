/* erosion/cuda's kernels: see erosion_cuda.c. */
#include "core/sequential.h"
#include "cuda/elements.cuh"
#include "methods/erosion/erosion_cuda.h"

enum { MOST_BLOCKS = 1 << 16, BLOCKS_EACH = 8 /* for a multiprocessor, of tiles in turns */ };

/* Elements of a region, row by row, as a thread meets them. */
struct walk {
    int y, x;
};
DM_DEVICE walk walk_start(int width) { return walk{(int)threadIdx.x / width, (int)threadIdx.x % width}; }
DM_DEVICE walk walk_next(walk at, int width) {
    at.y += EROSION_THREADS / width;
    at.x += EROSION_THREADS % width;
    if (at.x >= width) {
        at.x -= width;
        at.y++;
    }
    return at;
}

/* Offers `from` to `to` of a function, on a whole region, from `in` to `out`, whose rows are `pitch` apart. Whether a thread
 * changed something. */
template <class N>
DM_DEVICE bool erode_region(const struct erosion_offer *all, int from, int to, const N *in, N *out, int pitch,
                            int height, int width) {
    const struct erosion_offer *offers = all + from;
    const int count = to - from;
    int first[EROSION_OFFERS], second[EROSION_OFFERS];
    N cost[EROSION_OFFERS];
#pragma unroll
    for (int k = 0; k < EROSION_OFFERS; k++) {
        first[k] = k < count ? (int)offers[k].first : 0;
        second[k] = k < count ? (int)offers[k].second : 0;
        cost[k] = k < count ? (N)offers[k].cost : 0;
    }
    bool changed = false;
    for (walk at = walk_start(width); at.y < height; at = walk_next(at, width)) {
        const int place = at.y * pitch + at.x;
        const N own = in[place];
        N least = own;
#pragma unroll
        for (int k = 0; k < EROSION_OFFERS; k++) {
            if (k < count) {
                const N come = min(in[place + first[k]], in[place + second[k]]) + cost[k];
                least = come < cost[k] ? least : min(least, come); /* what overflows is none */
            }
        }
        out[place] = least;
        changed |= least != own;
    }
    return changed;
}

/* A tile of the round. All threads; shared memory: two regions with frames. */
template <class N> DM_DEVICE void erode_tile(const erosion_round *w, int64_t tile, N *shared) {
    const erosion_pass *p = &w->pass;
    const erosion_region r = erosion_region_of(p, tile);
    const int height = (int)(r.high[0] - r.low[0]), width = (int)(r.high[1] - r.low[1]);
    const int top = (int)p->frame[0], left = (int)p->frame[1], pitch = width + 2 * left, rows = height + 2 * top;
    const N *from = (const N *)w->from + r.first;
    N *to = (N *)w->to + r.first, *in = shared, *out = shared + rows * pitch;
    for (walk at = walk_start(pitch); at.y < rows; at = walk_next(at, pitch)) {
        const int y = at.y - top, x = at.x - left;
        const bool inside = y >= 0 && y < height && x >= 0 && x < width;
        in[at.y * pitch + at.x] = inside ? from[(r.low[0] + y) * p->size[1] + r.low[1] + x] : (N)-1;
        out[at.y * pitch + at.x] = (N)-1;
    }
    __syncthreads();
    in += top * pitch + left;
    out += top * pitch + left;
    for (int64_t i = 1; i <= p->steps; i++) {
        struct erosion_offer offers[EROSION_OFFERS];
        const int count = erosion_offers(p, w->number * p->steps + i, pitch, offers);
        if (w->split && p->reach == 1 && count > 2) { /* what is least along y, then along x: the diagonal is the sum */
            bool changed = erode_region(offers, 0, 1, in, out, pitch, height, width);
            __syncthreads();
            changed |= erode_region(offers, 1, 2, out, in, pitch, height, width);
            if (!__syncthreads_or(changed))
                break;
            continue;
        }
        const bool changed = erode_region(offers, 0, count, in, out, pitch, height, width);
        if (!__syncthreads_or(changed))
            break; /* both hold the same */
        N *const swap = in;
        in = out;
        out = swap;
    }
    bool changed = false;
    const int tile_height = (int)(r.to[0] - r.from[0]), tile_width = (int)(r.to[1] - r.from[1]);
    in += (r.from[0] - r.low[0]) * pitch + (r.from[1] - r.low[1]);
    for (walk at = walk_start(tile_width); at.y < tile_height; at = walk_next(at, tile_width)) {
        const int64_t place = (r.from[0] + at.y) * p->size[1] + r.from[1] + at.x;
        const N value = in[at.y * pitch + at.x];
        changed |= value != from[place];
        to[place] = value;
    }
    if (__syncthreads_or(changed) && threadIdx.x == 0) {
        w->changed[tile] = 1;
        w->any[w->number % 3] = 1;
    }
}

/* Grid: as many blocks as run at once, with the tiles in turns. A block looks at the flags of as many tiles as it has
 * threads, and then erodes those that have something to do. Reads 9 flags and writes one for each tile; for active ones
 * reads them with their halos, then without, and writes them. Shared memory: two regions with frames, at most 45 KiB. */
template <class N>
static __global__ void __launch_bounds__(EROSION_THREADS) erode(const __grid_constant__ struct erosion_round w) {
    DM_DYNAMIC_SHARED(unsigned long long, memory);
    __shared__ int64_t active[EROSION_THREADS];
    __shared__ int count;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        w.any[(w.number + 1) % 3] = 0;
    if (w.number > 0 && w.any[(w.number + 2) % 3] == 0)
        return;
    for (int64_t turn = 0; turn * gridDim.x < w.pass.count; turn += EROSION_THREADS) {
        const int64_t tile = (turn + threadIdx.x) * gridDim.x + blockIdx.x;
        if (threadIdx.x == 0)
            count = 0;
        __syncthreads();
        if (tile < w.pass.count) {
            const erosion_region r = erosion_region_of(&w.pass, tile);
            if (w.number == 0 || !w.skip || erosion_is_active(&w.pass, &r, tile, w.before))
                active[atomicAdd(&count, 1)] = tile;
            w.changed[tile] = 0;
        }
        __syncthreads();
        const int many = count;
        for (int k = 0; k < many; k++)
            erode_tile(&w, active[k], (N *)memory);
        __syncthreads();
    }
}

/* A thread to an element, in turns. Reads the input, writes 4 or 8 bytes per element. */
static __global__ void __launch_bounds__(EROSION_THREADS) load(const __grid_constant__ dm_elements e, void *map) {
    const int64_t step = (int64_t)gridDim.x * EROSION_THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * EROSION_THREADS + threadIdx.x; i < e.elements; i += step) {
        int64_t at[DM_NDIM];
        dm_element_split(&e, i, at);
        const uint64_t value = dm_element_is_site(&e, at, &raised) ? 0 : UINT64_MAX;
        if (e.number == DM_U32)
            ((uint32_t *)map)[i] = (uint32_t)value;
        else
            ((uint64_t *)map)[i] = value;
    }
    dm_raise(&e, raised);
}

DM_SEQUENTIAL(column_32, DM_DEVICE, uint32_t)
DM_SEQUENTIAL(column_64, DM_DEVICE, uint64_t)

/* A thread to a column, in turns; neighbouring threads have neighbouring columns. Reads and writes 4 or 8 bytes per element
 * twice. */
static __global__ void __launch_bounds__(EROSION_THREADS) columns(const __grid_constant__ dm_elements e, void *map) {
    const int64_t width = e.shape[DM_X], height = e.shape[2], step = (int64_t)gridDim.x * EROSION_THREADS;
    for (int64_t i = (int64_t)blockIdx.x * EROSION_THREADS + threadIdx.x; i < e.elements / height; i += step) {
        const int64_t first = i / width * height * width + i % width;
        if (e.number == DM_U32)
            column_32_line((uint32_t *)map + first, height, width, (uint32_t)e.w2[2]);
        else
            column_64_line((uint64_t *)map + first, height, width, e.w2[2]);
    }
}

/* A thread to an element, in turns. Reads 4 or 8 bytes per element, writes the outputs. */
static __global__ void __launch_bounds__(EROSION_THREADS) emit(const __grid_constant__ dm_elements e, const void *map) {
    const int64_t step = (int64_t)gridDim.x * EROSION_THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * EROSION_THREADS + threadIdx.x; i < e.elements; i += step) {
        int64_t at[DM_NDIM];
        dm_element_split(&e, i, at);
        dm_value squared;
        if (e.number == DM_U32) {
            const uint32_t d2 = ((const uint32_t *)map)[i];
            squared.u64 = d2 == UINT32_MAX ? UINT64_MAX : d2;
        } else {
            squared.u64 = ((const uint64_t *)map)[i];
        }
        dm_element_emit(&e, at, squared, DISTMAP_INDEX_NONE, &raised);
    }
    dm_raise(&e, raised);
}

cudaError_t erosion_load(const dm_elements *elements, void *map, cudaStream_t stream) {
    const dm_elements e = *elements;
    DM_LAUNCH(load, dm_blocks(e.elements, EROSION_THREADS, MOST_BLOCKS), EROSION_THREADS, 0, stream, e, map);
    return cudaGetLastError();
}

cudaError_t erosion_erode(const struct erosion_round *round, int multiprocessors, cudaStream_t stream) {
    const struct erosion_round w = *round;
    const unsigned blocks = dm_blocks(w.pass.count, 1, (int64_t)multiprocessors * BLOCKS_EACH);
    const size_t shared = 2 * (size_t)w.pass.area * (w.wide ? 8 : 4);
    if (w.wide)
        DM_LAUNCH(erode<uint64_t>, blocks, EROSION_THREADS, shared, stream, w);
    else
        DM_LAUNCH(erode<uint32_t>, blocks, EROSION_THREADS, shared, stream, w);
    return cudaGetLastError();
}

cudaError_t erosion_columns(const dm_elements *elements, void *map, cudaStream_t stream) {
    const dm_elements e = *elements;
    const int64_t count = e.elements / e.shape[2];
    DM_LAUNCH(columns, dm_blocks(count, EROSION_THREADS, MOST_BLOCKS), EROSION_THREADS, 0, stream, e, map);
    return cudaGetLastError();
}

cudaError_t erosion_emit(const dm_elements *elements, const void *map, cudaStream_t stream) {
    const dm_elements e = *elements;
    DM_LAUNCH(emit, dm_blocks(e.elements, EROSION_THREADS, MOST_BLOCKS), EROSION_THREADS, 0, stream, e, map);
    return cudaGetLastError();
}
