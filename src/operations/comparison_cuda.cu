/* comparison/cuda's kernels: see comparison_cuda.c and comparison.h. */
#include "cuda/elements.cuh"
#include "operations/comparison_cuda.h"

enum { THREADS = 256, MOST_BLOCKS = 1 << 15, WARPS = THREADS / 32 };

/* ---- Points ---- */

/* Whether an element of the set has all its neighbours in the set. */
DM_DEVICE bool is_inside(const dm_elements *e, const int64_t at[DM_NDIM], unsigned *raised) {
    const char *p = dm_element_address(&e->arrays.input, at);
#pragma unroll
    for (int a = 0; a < DM_NDIM; a++) {
        if (!e->measured[a])
            continue;
        if (at[a] == 0 || at[a] == e->shape[a] - 1)
            return false;
        const int64_t stride = e->arrays.input.stride[a];
        if (!dm_address_is_site(e, p - stride, raised) || !dm_address_is_site(e, p + stride, raised))
            return false;
    }
    return true;
}

DM_DEVICE bool is_point(const co_work &w, const dm_elements *e, const int64_t at[DM_NDIM], unsigned *raised) {
    return !w.surfaces || !is_inside(e, at, raised);
}

/* A thread for each element, in turns. Reads it and its neighbours, which caches share; writes a byte. */
static __global__ void __launch_bounds__(THREADS) mark(const __grid_constant__ co_work w) {
    const dm_elements *e = &w.set[1];
    const int64_t turn = (int64_t)gridDim.x * THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < e->elements; i += turn) {
        int64_t at[DM_NDIM];
        dm_element_split(e, i, at);
        w.memory.mask[i] = dm_element_is_site(e, at, &raised) && is_point(w, e, at, &raised);
    }
    dm_raise(e, raised);
}

/* ---- Values at points ---- */

DM_DEVICE uint64_t key_at(const co_work &w, int64_t i) {
    return w.set[0].number == DM_U32 ? ((const uint32_t *)w.memory.map)[i] : ((const uint64_t *)w.memory.map)[i];
}

DM_DEVICE void put_key(const co_work &w, int64_t i, uint64_t key) {
    if (w.set[0].number == DM_U32)
        ((uint32_t *)w.memory.map)[i] = (uint32_t)key;
    else
        ((uint64_t *)w.memory.map)[i] = key;
}

/* A sum of 128 bits in memory: who makes the low half overflow carries. */
DM_DEVICE void wide_atomic_add(uint64_t sum[2], const uint64_t add[2]) {
    const unsigned long long old = atomicAdd((unsigned long long *)&sum[0], (unsigned long long)add[0]);
    const uint64_t high = add[1] + (old + add[0] < old);
    if (high)
        atomicAdd((unsigned long long *)&sum[1], (unsigned long long)high);
}

DM_DEVICE void count_atomic_add(uint64_t *sum, uint64_t add) {
    if (add)
        atomicAdd((unsigned long long *)sum, (unsigned long long)add);
}

DM_DEVICE void merge(dm_distances *to, const dm_distances *from) {
    count_atomic_add(&to->points, from->points);
    count_atomic_add(&to->within, from->within);
    if (from->largest)
        atomicMax((unsigned long long *)&to->largest, (unsigned long long)from->largest);
    wide_atomic_add(to->sum, from->sum);
    wide_atomic_add(to->squares, from->squares);
}

/* How many threads before this one have a point, and in `all`, how many of the block have. All threads come here. */
DM_DEVICE int place_among(bool point, int counts[WARPS], int *all) {
    const unsigned votes = __ballot_sync(~0u, point), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0)
        counts[warp] = __popc(votes);
    __syncthreads();
    int before = __popc(votes & ((1u << lane) - 1));
    *all = 0;
    for (unsigned i = 0; i < WARPS; i++) {
        before += i < warp ? counts[i] : 0;
        *all += counts[i];
    }
    return before;
}

/* A block for each piece, in turns; a thread for each of 256 elements that follow each other. Reads the elements, with their
 * neighbours, and the map at points; writes these values, side by side, and the mask. What a tile writes lies where it, or an
 * earlier one, was read. */
static __global__ void __launch_bounds__(THREADS) look_up(const __grid_constant__ co_work w) {
    __shared__ dm_distances found;
    __shared__ unsigned long long both[3];
    __shared__ int counts[2][WARPS];
    const dm_elements *e = &w.set[w.direction], *other = &w.set[!w.direction];
    dm_distances own = {};
    uint64_t own_both[3] = {};
    unsigned raised = 0;
    if (threadIdx.x == 0) {
        dm_distances none = {};
        found = none;
        both[0] = both[1] = both[2] = 0;
    }
    for (int64_t piece = blockIdx.x; piece < w.memory.pieces; piece += gridDim.x) {
        const int64_t first = piece * w.memory.piece, end = min(first + w.memory.piece, e->elements);
        int64_t kept = 0;
        int turn = 0;
        for (int64_t tile = first; tile < end; tile += THREADS, turn ^= 1) {
            const int64_t i = tile + threadIdx.x;
            bool point = false;
            if (i < end) {
                int64_t at[DM_NDIM];
                dm_element_split(e, i, at);
                const bool of_set = dm_element_is_site(e, at, &raised);
                point = of_set && is_point(w, e, at, &raised);
                if (w.direction == 0) {
                    const bool of_other = dm_element_is_site(other, at, &raised);
                    own_both[0] += of_set;
                    own_both[1] += of_other;
                    own_both[2] += of_set && of_other;
                    if (w.surfaces)
                        w.memory.mask[i] = point;
                }
            }
            const uint64_t key = point ? key_at(w, i) : 0;
            int all;
            const int place = place_among(point, counts[turn], &all); /* all have read their values */
            if (point) {
                put_key(w, first + kept + place, key);
                co_add(&w.comparison, e->number, key, &own);
            }
            kept += all;
        }
        if (threadIdx.x == 0)
            w.memory.count[piece] = (uint32_t)kept;
        __syncthreads();
    }
    __syncthreads();
    merge(&found, &own);
    for (int k = 0; k < 3; k++)
        count_atomic_add((uint64_t *)&both[k], own_both[k]);
    dm_raise(e, raised);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    merge(&w.compared->directed[w.direction], &found);
    count_atomic_add(&w.compared->elements[0], both[0]);
    count_atomic_add(&w.compared->elements[1], both[1]);
    count_atomic_add(&w.compared->common, both[2]);
}

/* ---- Order statistics ---- */

/* One block, a thread for each percentile. Also raises the flag of empty sets. */
static __global__ void __launch_bounds__(DISTMAP_MAX_PERCENTILES) begin(const __grid_constant__ co_work w) {
    dm_distances *d = &w.compared->directed[w.direction];
    const int t = (int)threadIdx.x;
    double part;
    co_target target = {};
    if (t < w.percentiles && d->points)
        target.rank = dm_rank(d->points, w.percentile[t], &part);
    w.target[t] = target;
    if (t < w.percentiles)
        d->order[t][0] = d->order[t][1] = d->largest;
    if (t == 0 && (w.compared->elements[0] == 0 || w.compared->elements[1] == 0))
        dm_raise(&w.set[0], DISTMAP_FLAG_NO_SITE);
}

/* Blocks for pieces, in turns, times one for each percentile. Reads its values; adds to its bins those of values that have the
 * digits found. Leaves at once where no value has digits as high as `shift`. */
static __global__ void __launch_bounds__(THREADS) count_digits(const __grid_constant__ co_work w, int shift) {
    __shared__ unsigned bins[CO_BINS];
    const int t = (int)blockIdx.y;
    if (shift > co_first_shift(w.compared->directed[w.direction].largest))
        return;
    for (int i = (int)threadIdx.x; i < CO_BINS; i += THREADS)
        bins[i] = 0;
    __syncthreads();
    const uint64_t digits = w.target[t].digits;
    for (int64_t piece = blockIdx.x; piece < w.memory.pieces; piece += gridDim.x)
        for (int64_t i = threadIdx.x; i < w.memory.count[piece]; i += THREADS) {
            const uint64_t key = key_at(w, piece * w.memory.piece + i) >> shift;
            if (key >> CO_DIGIT == digits)
                atomicAdd(&bins[key & (CO_BINS - 1)], 1u);
        }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < CO_BINS; i += THREADS)
        if (bins[i])
            atomicAdd(&w.bins[t][i], (unsigned long long)bins[i]);
}

/* A block for each percentile. Reads and clears its bins: thread i has bins 8 i to 8 i + 7, and the one whose bins the rank
 * falls among finds the digit. */
static __global__ void __launch_bounds__(THREADS) choose_digit(const __grid_constant__ co_work w, int shift) {
    enum { EACH = CO_BINS / THREADS };
    __shared__ unsigned long long sums[THREADS];
    const int t = (int)blockIdx.x, i = (int)threadIdx.x;
    if (shift > co_first_shift(w.compared->directed[w.direction].largest))
        return;
    unsigned long long bins[EACH], sum = 0, before = 0;
    for (int k = 0; k < EACH; k++) {
        sum += bins[k] = w.bins[t][i * EACH + k];
        w.bins[t][i * EACH + k] = 0;
    }
    co_target target = w.target[t];
    sums[i] = sum;
    __syncthreads();
    for (int k = 0; k < i; k++)
        before += sums[k];
    __syncthreads();
    if (target.rank < before || target.rank >= before + sum)
        return;
    target.rank -= before;
    int k = 0;
    for (; target.rank >= bins[k]; k++)
        target.rank -= bins[k];
    target.digits = target.digits << CO_DIGIT | (uint64_t)(i * EACH + k);
    target.alike = bins[k];
    w.target[t] = target;
    if (shift == 0)
        w.compared->directed[w.direction].order[t][0] = target.digits;
}

/* Blocks for pieces, in turns, times one for each percentile. The value after it: the same once more, or the least above. */
static __global__ void __launch_bounds__(THREADS) find_next(const __grid_constant__ co_work w) {
    const int t = (int)blockIdx.y;
    dm_distances *d = &w.compared->directed[w.direction];
    const co_target target = w.target[t];
    if (target.rank + 1 < target.alike) {
        if (blockIdx.x == 0 && threadIdx.x == 0)
            d->order[t][1] = target.digits;
        return;
    }
    uint64_t next = UINT64_MAX;
    for (int64_t piece = blockIdx.x; piece < w.memory.pieces; piece += gridDim.x)
        for (int64_t i = threadIdx.x; i < w.memory.count[piece]; i += THREADS) {
            const uint64_t key = key_at(w, piece * w.memory.piece + i);
            next = key > target.digits && key < next ? key : next;
        }
    if (next != UINT64_MAX)
        atomicMin((unsigned long long *)&d->order[t][1], (unsigned long long)next);
}

/* ---- Launching ---- */

cudaError_t co_mark(const struct co_work *work, cudaStream_t stream) {
    const struct co_work w = *work;
    DM_LAUNCH(mark, dm_blocks(w.set[1].elements, THREADS, MOST_BLOCKS), THREADS, 0, stream, w);
    return cudaGetLastError();
}

cudaError_t co_look_up(const struct co_work *work, cudaStream_t stream) {
    const struct co_work w = *work;
    DM_LAUNCH(look_up, dm_blocks(w.memory.pieces, 1, MOST_BLOCKS), THREADS, 0, stream, w);
    return cudaGetLastError();
}

cudaError_t co_select(const struct co_work *work, cudaStream_t stream) {
    const struct co_work w = *work;
    const dim3 grid(dm_blocks(w.memory.pieces, 8, 1024), (unsigned)w.percentiles);
    const int first = w.set[0].number == DM_U32 ? co_first_shift(UINT32_MAX) : co_first_shift(UINT64_MAX);
    DM_LAUNCH(begin, 1, DISTMAP_MAX_PERCENTILES, 0, stream, w);
    for (int shift = first; shift >= 0; shift -= CO_DIGIT) {
        DM_LAUNCH(count_digits, grid, THREADS, 0, stream, w, shift);
        DM_LAUNCH(choose_digit, (unsigned)w.percentiles, THREADS, 0, stream, w, shift);
    }
    DM_LAUNCH(find_next, grid, THREADS, 0, stream, w);
    return cudaGetLastError();
}
