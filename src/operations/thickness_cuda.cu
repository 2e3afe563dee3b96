/* thickness/cuda's kernels: see thickness_cuda.c, and thickness.h for why balls leave to larger neighbours what they share. */
#include "cuda/launch.h"
#include "operations/thickness_cuda.h"

enum { THREADS = 256, WARP = 32, MOST_BLOCKS = 1 << 16, NEAR = 27, CENTRE = 13 };
static constexpr unsigned EVERY = 0xFFFFFFFF;
static constexpr double SLACK = 1e-12; /* more than the roundings of FP64 take */

/* An element: its volume's squares, and where it is in the volume. */
struct place {
    const char *squares;
    int64_t volume, z, y, x, element;
};

DM_DEVICE place place_of(const th_job &w, int64_t i) {
    const th_volumes &v = w.volumes;
    place p;
    p.volume = v.count == 1 ? 0 : i / v.elements;
    p.element = i - p.volume * v.elements;
    p.squares = (const char *)w.squares + p.volume * v.elements * (v.number == DM_U32 ? 4 : 8);
    const uint32_t nx = (uint32_t)v.length[2], ny = (uint32_t)v.length[1], row = (uint32_t)p.element / nx;
    p.x = (uint32_t)p.element - row * nx;
    p.z = row / ny;
    p.y = row - (uint32_t)p.z * ny;
    return p;
}

/* The key of an element beside it; 0 outside the volume. */
DM_DEVICE uint64_t key_beside(const th_job &w, const place &p, int dz, int dy, int dx) {
    const th_volumes &v = w.volumes;
    const int64_t z = p.z + dz, y = p.y + dy, x = p.x + dx;
    if (z < 0 || z >= v.length[0] || y < 0 || y >= v.length[1] || x < 0 || x >= v.length[2])
        return 0;
    return th_key(v.number, p.squares, p.element + (dz * v.length[1] + dy) * v.length[2] + dx);
}

/* Whether neighbours along the axes together hold all of the ball: along() of thickness_kernel.h. */
DM_DEVICE bool is_within(const th_job &w, const place &p, uint64_t key) {
    const th_volumes &v = w.volumes;
    const double under = th_real(v.number, key) - (v.number == DM_F64 ? 0 : 1);
    double sum = 0;
#pragma unroll
    for (int k = 0; k < TH_AXES; k++) {
        const double own = (under + v.w2f[k]) * (1 + SLACK);
        const double before = th_real(v.number, key_beside(w, p, -(k == 0), -(k == 1), -(k == 2))) - own;
        const double behind = th_real(v.number, key_beside(w, p, k == 0, k == 1, k == 2)) - own;
        const double most = fmax(before, behind);
        if (fmin(before, behind) > 0)
            return true;
        sum += most > 0 ? most * most * (0.25 / v.w2f[k]) : 0;
    }
    return sum > under * (1 + SLACK);
}

DM_DEVICE void raise(const th_job &w, int64_t i, uint64_t key) {
    if (th_key(w.volumes.number, w.largest, i) >= key) /* what is read may be old, and then smaller */
        return;
    if (w.volumes.number == DM_U32)
        atomicMax((unsigned *)w.largest + i, (unsigned)key);
    else
        atomicMax((unsigned long long *)w.largest + i, (unsigned long long)key);
}

/* By all lanes of a warp: each takes rows of the ball, and holds the key of one neighbour for all. */
DM_DEVICE void grow_ball(const th_job &w, int64_t i, int lane) {
    const th_volumes &v = w.volumes;
    const place p = place_of(w, i);
    const uint64_t key = th_key(v.number, w.squares, i);
    uint64_t beside = lane < NEAR ? key_beside(w, p, lane / 9 - 1, lane / 3 % 3 - 1, lane % 3 - 1) : 0;
    const unsigned larger = __ballot_sync(EVERY, beside > key || (beside == key && lane < CENTRE));
    const int64_t most_z = th_extent(&v, key, 0), most_y = th_extent(&v, key, 1);
    const int64_t across = 2 * most_y + 1, rows = (2 * most_z + 1) * across;
    for (int64_t from = 0; from < rows; from += WARP) {
        const int64_t row = from + lane, down = row / across, dz = down - most_z, dy = row - down * across - most_y;
        const int64_t z = p.z + dz, y = p.y + dy;
        const bool inside = row < rows && z >= 0 && z < v.length[0] && y >= 0 && y < v.length[1];
        const int64_t reach = inside ? th_reach(&v, key, dz, dy) : -1;
        bool open = reach >= 0;
        for (unsigned rest = larger; rest && __any_sync(EVERY, open); rest &= rest - 1) {
            const int other = __ffs((int)rest) - 1;
            const uint64_t theirs = __shfl_sync(EVERY, beside, other);
            open = open && !th_holds(&v, theirs, dz - (other / 9 - 1), dy - (other / 3 % 3 - 1),
                                     reach + (other % 3 != 1)); /* the end that is farther from them */
        }
        if (!open)
            continue;
        const int64_t first = p.x > reach ? p.x - reach : 0;
        const int64_t last = p.x + reach < v.length[2] ? p.x + reach : v.length[2] - 1;
        const int64_t start = p.volume * v.elements + (z * v.length[1] + y) * v.length[2];
        for (int64_t x = first; x <= last; x++)
            raise(w, start + x, key);
    }
}

/* A warp for 32 elements in turns, and then for each ball that is left of theirs. Reads the squares of elements and their
 * neighbours, which caches share; reads and raises `largest` where balls are not their larger neighbours'. */
static __global__ void __launch_bounds__(THREADS) grow(const __grid_constant__ th_job w) {
    const th_volumes &v = w.volumes;
    const int64_t all = v.count * v.elements, turn = (int64_t)gridDim.x * THREADS;
    const int lane = threadIdx.x % WARP;
    for (int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x - lane; first < all; first += turn) {
        bool is = false;
        if (first + lane < all) {
            const uint64_t key = th_key(v.number, w.squares, first + lane);
            is = key > v.least && !th_is_none(v.number, key) && !is_within(w, place_of(w, first + lane), key);
        }
        for (unsigned rest = __ballot_sync(EVERY, is); rest; rest &= rest - 1)
            grow_ball(w, first + __ffs((int)rest) - 1, lane);
    }
}

DM_DEVICE void store_value(const th_job &w, const dm_array &out, const int64_t at[DM_NDIM], uint64_t key,
                           bool thickness) {
    if (!out.data)
        return;
    char *p = out.data;
#pragma unroll
    for (int n = 0; n < DM_NDIM; n++)
        p += at[n] * out.stride[n];
    const uint64_t bits = th_ink_of(&w.volumes, out.dtype, key, thickness);
    if (out.dtype == DISTMAP_FLOAT32 || out.dtype == DISTMAP_UINT32)
        *(uint32_t *)p = (uint32_t)bits;
    else
        *(uint64_t *)p = bits;
}

/* A thread for each element, in turns. Reads `largest`, writes the outputs. */
static __global__ void __launch_bounds__(THREADS) store(const __grid_constant__ th_job w) {
    const th_volumes &v = w.volumes;
    const int64_t all = v.count * v.elements, turn = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < all; i += turn) {
        const place p = place_of(w, i);
        int64_t at[DM_NDIM] = {0, 0, 0, 0}, volume = p.volume;
        for (int b = v.batches - 1; b >= 0; b--) {
            const int64_t slower = volume / w.shape[v.batch[b]];
            at[v.batch[b]] = volume - slower * w.shape[v.batch[b]];
            volume = slower;
        }
        const int64_t where[TH_AXES] = {p.z, p.y, p.x};
        for (int k = 0; k < TH_AXES; k++)
            if (v.axis[k] >= 0)
                at[v.axis[k]] = where[k];
        const uint64_t key = th_key(v.number, w.largest, i);
        store_value(w, w.distance, at, key, true);
        store_value(w, w.squared, at, key, false);
    }
}

cudaError_t th_grow(const struct th_job *job, cudaStream_t stream) {
    const struct th_job w = *job;
    DM_LAUNCH(grow, dm_blocks(w.volumes.count * w.volumes.elements, THREADS, MOST_BLOCKS), THREADS, 0, stream, w);
    return cudaGetLastError();
}

cudaError_t th_store(const struct th_job *job, cudaStream_t stream) {
    const struct th_job w = *job;
    DM_LAUNCH(store, dm_blocks(w.volumes.count * w.volumes.elements, THREADS, MOST_BLOCKS), THREADS, 0, stream, w);
    return cudaGetLastError();
}
