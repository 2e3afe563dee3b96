/* skeleton/cuda's kernel: see skeleton_cuda.c.
 *
 * A warp goes through its brick step by step. (1) For every element of a step, and beside it, the index of its site becomes its
 * offset from the site, o, in registers. (2) Every pair of neighbours, q one step g after e along axis k, is looked at once in
 * float32, by the sums of sk_judge:
 *
 *     v = o(q) - o(e),    u = v - g,    s = o(e) + o(q)
 *
 * (3) Pairs that pass, mostly one in fifty, come to stand in the warp's list; as soon as there is one for each lane, all ask
 * the rule in FP64. (4) Who is marked gets its result; all others are zeroed before. */
#include "operations/skeleton_cuda_look.cuh"

enum { WARPS = 4, BLOCKS = 6 /* of them on a multiprocessor, by 80 registers */, MOST_BLOCKS = 1 << 16 };
enum { MOST_STEPS = 32, FEW_STEPS = 4 };
enum { PAIR_BITS = 9 }; /* of a pair, below its step: lane and, above it, axis and row */

/* ---- Zeros ---- */

static __global__ void clear(const __grid_constant__ dm_elements e, const __grid_constant__ dm_array array) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < e.elements;
         i += (int64_t)gridDim.x * blockDim.x) {
        int64_t at[DM_NDIM];
        dm_element_split(&e, i, at);
        char *const p = dm_element_address(&array, at);
        switch (array.dtype) {
        case DISTMAP_FLOAT32: *(float *)p = 0; break;
        case DISTMAP_FLOAT64: *(double *)p = 0; break;
        default: *(uint8_t *)p = 0;
        }
    }
}

static cudaError_t clear_array(const dm_elements &e, const dm_array &array, cudaStream_t stream) {
    const int64_t size = (int64_t)distmap_dtype_size(array.dtype);
    bool dense = true;
    for (int n = 0; n < DM_NDIM; n++)
        dense = dense && (e.shape[n] == 1 || array.stride[n] == e.linear[n] * size);
    if (dense)
        return cudaMemsetAsync(array.data, 0, (size_t)(e.elements * size), stream);
    DM_LAUNCH(clear, dm_blocks(e.elements, 256, MOST_BLOCKS), 256, 0, stream, e, array);
    return cudaGetLastError();
}

/* ---- The rule ---- */

/* The pairs for a warp to decide, and the results of its batch's first element, NULL: not wanted. In shared memory: registers are few. */
struct list {
    char *mask, *distance;
    uint32_t pair[2 * LANES];
};

template <int AXES, typename T> struct point { T at[AXES], site[AXES]; };

template <int AXES, typename T>
DM_DEVICE point<AXES, T> find_point(const sk_work &w, const brick<AXES, T> &b, const T at[AXES]) {
    const bool inside = is_inside<AXES, T>(w, at);
    const T index = inside ? ((const T *)w.index)[b.base + linear<AXES, T>(w, at)] : DISTMAP_INDEX_NONE;
    point<AXES, T> p;
    split<AXES, T, false>(w, index < 0 ? 0 : index - b.base, p.site);
#pragma unroll
    for (int k = 0; k < AXES; k++) {
        p.at[k] = at[k];
        p.site[k] = inside ? p.site[k] : at[k];
    }
    if (index == DISTMAP_INDEX_BORDER)
        leave<AXES, T>(w, at, p.site);
    return p;
}

template <int AXES, typename T>
DM_DEVICE char *result(const sk_work &w, const dm_array &array, char *first, const T at[AXES]) {
#pragma unroll
    for (int k = 0; k < AXES; k++)
        first += at[k] * array.stride[w.rule.axis[k]];
    return first;
}

template <int AXES, typename T> DM_DEVICE dm_value square(const sk_work &w, const point<AXES, T> &e) {
    dm_value squared;
    squared.u64 = 0; /* the bits of 0.0 as well */
#pragma unroll
    for (int k = AXES - 1; k >= 0; k--) {
        const int64_t d = e.at[k] - e.site[k];
        if (w.elements.number == DM_F64)
            squared.f64 = fma(w.rule.w2[k], (double)(d * d), squared.f64);
        else
            squared.u64 += w.elements.w2[w.rule.axis[k]] * (uint64_t)(d * d);
    }
    return squared;
}

/* Threads that mark the same element store the same. */
template <int AXES, typename T> DM_DEVICE void mark_point(const sk_work &w, const list &l, const point<AXES, T> &e) {
    const dm_arrays &to = w.elements.arrays;
    if (l.mask)
        *(uint8_t *)result<AXES, T>(w, to.mask, l.mask, e.at) = 1;
    if (l.distance)
        dm_store_distance(&w.elements, &to.distance, result<AXES, T>(w, to.distance, l.distance, e.at),
                          square<AXES, T>(w, e), false);
}

/* Elements outside are not marked, being background. */
template <int AXES, typename T>
DM_DEVICE void judge(const sk_work &w, const brick<AXES, T> &b, const list &l, unsigned pair) {
    constexpr int ROWS = rows<AXES>();
    const int lane = pair % LANES, bit = (pair >> 5) & ((1 << (PAIR_BITS - 5)) - 1), axis = bit / ROWS;
    T at[AXES];
    find_place<AXES, T>(b, (int)(pair >> PAIR_BITS) - (AXES == 3 && axis == 0), bit % ROWS, lane, at);
    const point<AXES, T> e = find_point<AXES, T>(w, b, at);
#pragma unroll
    for (int k = 0; k < AXES; k++)
        at[k] += k == axis;
    if (!w.rule.border && !is_inside<AXES, T>(w, at))
        return;
    const point<AXES, T> q = find_point<AXES, T>(w, b, at);
    sk_sums sums = {};
#pragma unroll
    for (int k = 0; k < AXES; k++)
        sk_add(&sums, w.rule.w2[k], (double)(e.site[k] - q.site[k]), k == axis ? -1 : 0,
               (double)(e.at[k] - e.site[k]) + (double)(q.at[k] - q.site[k]));
    const unsigned marked = sk_judge(&w.rule, &sums);
    if (marked & SK_FIRST)
        mark_point<AXES, T>(w, l, e);
    if (marked & SK_SECOND)
        mark_point<AXES, T>(w, l, q);
}

/* Lists the lanes' pairs of a step, and judges whole warps of them; after the last step the others as well. */
template <int AXES, typename T>
DM_DEVICE void judge_passed(const sk_work &w, const brick<AXES, T> &b, int step, unsigned passed, bool last, list &l,
                            int *listed) {
    const unsigned lane = threadIdx.x % LANES;
    unsigned who = __ballot_sync(ALL, passed != 0);
    while (who != 0 || (last && *listed > 0)) {
        if (passed != 0) {
            const unsigned bit = (unsigned)__ffs((int)passed) - 1;
            l.pair[*listed + __popc(who & ((1u << lane) - 1))] = (unsigned)step << PAIR_BITS | bit << 5 | lane;
            passed &= passed - 1;
        }
        *listed += __popc(who);
        who = __ballot_sync(ALL, passed != 0);
        if (*listed < LANES && (who != 0 || !last))
            continue;
        __syncwarp();
        const int count = *listed < LANES ? *listed : LANES;
        *listed -= count;
        if ((int)lane < count)
            judge<AXES, T>(w, b, l, l.pair[*listed + (int)lane]);
        __syncwarp();
    }
}

/* ---- The kernel ---- */

/* A warp for each brick, in turns. Reads the indices of it and around it, 1.3 of the brick's. */
template <int AXES, typename T, bool EQUAL>
static __global__ void __launch_bounds__(WARPS *LANES, BLOCKS)
    mark(const __grid_constant__ sk_work w, uint64_t bricks) {
    constexpr int ROWS = rows<AXES>();
    constexpr unsigned between_planes = (1u << ROWS) - 1;
    __shared__ list lists[WARPS];
    const unsigned warp = threadIdx.x / LANES;
    for (uint64_t number = (uint64_t)blockIdx.x * WARPS + warp; number < bricks;
         number += (uint64_t)gridDim.x * WARPS) {
        list &l = lists[warp];
        const brick<AXES, T> b = find_brick<AXES, T>(w, number, &l.mask, &l.distance);
        const int last = AXES == 3 ? b.steps : b.steps - 1;
        float before[ROWS][AXES] = {};
        T index[held<AXES>()];
        int listed = 0;
        bool empty_before = true;
        part<AXES, T> p = find_part<AXES, T>(w, b, 0);
        read_rows<AXES, T>(w, b, p, 0, index);
        for (int step = 0; step <= last; step++) {
            float offset[held<AXES>()][AXES];
            unsigned passed = p.pairs;
            if (AXES == 3)
                passed &= (step > 0 ? between_planes : 0) | (step < last ? ~between_planes : 0);
            const bool empty = is_background<AXES, T>(w, b, p, step, index);
            if (empty)
                memset(offset, 0, sizeof offset);
            else if (w.plain)
                find_offsets<AXES, T, true>(w, b, step, index, offset);
            else
                find_offsets<AXES, T, false>(w, b, step, index, offset);
            if (step < last) { /* on their way while this one's are looked at */
                p = AXES == 3 ? p : find_part<AXES, T>(w, b, step + 1);
                read_rows<AXES, T>(w, b, p, step + 1, index);
            }
            if (empty && (AXES < 3 || empty_before))
                passed = 0;
            else if (w.filters)
                passed &= w.rule.pruning == DISTMAP_PRUNING_SQUARE_ROOT ? look<AXES, EQUAL, true>(w, before, offset)
                                                                        : look<AXES, EQUAL, false>(w, before, offset);
            judge_passed<AXES, T>(w, b, step, passed, step == last, l, &listed);
            empty_before = empty;
#pragma unroll
            for (int row = 0; row < ROWS; row++)
#pragma unroll
                for (int i = 0; i < AXES; i++)
                    before[row][i] = offset[row][i];
        }
    }
}

/* Steps are fewer where multiprocessors would have bricks for less than two rounds; and few, where not even for one. */
template <int AXES> static uint64_t cut_bricks(sk_work *w, int multiprocessors) {
    for (w->steps = MOST_STEPS;; w->steps /= 2) {
        int64_t bricks = w->elements.elements;
        for (int k = 0; k < AXES; k++) {
            const int64_t pairs = w->rule.length[k] + w->rule.border, along = side<AXES>(k) * (k == 0 ? w->steps : 1);
            w->bricks[k] = (pairs + along - 1) / along;
            bricks = bricks / w->rule.length[k] * w->bricks[k];
        }
        const int at_once = BLOCKS * WARPS * multiprocessors, rounds = w->steps > FEW_STEPS ? 2 : 1;
        if (bricks >= rounds * at_once || w->steps == 1)
            return (uint64_t)bricks;
    }
}

template <int AXES> static cudaError_t mark_bricks(sk_work *w, int multiprocessors, cudaStream_t stream) {
    static void (*const kernels[2][2])(sk_work, uint64_t) = {{mark<AXES, int32_t, false>, mark<AXES, int32_t, true>},
                                                             {mark<AXES, int64_t, false>, mark<AXES, int64_t, true>}};
    void (*const kernel)(sk_work, uint64_t) = kernels[w->wide][w->equal];
    const uint64_t bricks = cut_bricks<AXES>(w, multiprocessors);
    DM_LAUNCH(kernel, dm_blocks((int64_t)bricks, WARPS, MOST_BLOCKS), WARPS * LANES, 0, stream, *w, bricks);
    return cudaGetLastError();
}

cudaError_t sk_mark(struct sk_work *work, int multiprocessors, cudaStream_t stream) {
    static cudaError_t (*const of_axes[])(sk_work *, int, cudaStream_t) = {mark_bricks<1>, mark_bricks<2>,
                                                                           mark_bricks<3>};
    const dm_array *const outputs[] = {&work->elements.arrays.mask, &work->elements.arrays.distance};
    for (const dm_array *output : outputs) {
        const cudaError_t error = output->data ? clear_array(work->elements, *output, stream) : cudaSuccess;
        if (error != cudaSuccess)
            return error;
    }
    return of_axes[work->rule.axes - 1](work, multiprocessors, stream);
}
