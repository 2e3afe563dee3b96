/* skeleton/cuda's kernel: see skeleton_cuda.c.
 *
 * A block takes tiles of the measured axes. (1) For every element of a tile and around it the index of its site becomes its offset
 * from the site, o, in shared memory, so that indices are divided into coordinates once for all neighbours. (2) Every pair of
 * neighbours, q one step after e along axis k, is looked at once in float32, by sk_pair's sums:
 *
 *     u = o(q) - o(e) - (q - e),    s = o(e) + o(q)
 *
 * (3) Pairs that pass, mostly one in fifty, come to stand in a list, so that the threads of a warp ask the rule in FP64 for one
 * each. Where the list is too short, as in noise, all pairs of the tile are asked. (4) What is marked is stored. */
#include "operations/skeleton_cuda_tile.cuh"

enum { AT_ONCE = 4, MOST_BLOCKS = 1 << 16 };
#define SLACK 1e-5f /* more than the roundings of float32 take */

/* ---- 1. Offsets ---- */

/* The offset of the element at `local`, which is inside, from its site, whose index is given; 0 of background, where there is no site
 * at all, and of those nearest to the border, which leave() tells. */
template <int AXES, typename T>
DM_DEVICE void find_offset(const sk_work &w, const corner<AXES> &c, const int local[AXES], T index, T offset[AXES]) {
    const bool is = index >= 0 && index != element_at<AXES, T>(w, c, local);
    T place[AXES];
    place_along<AXES, T>(w, index, place);
#pragma unroll
    for (int k = 0; k < AXES; k++)
        offset[k] = is ? (T)c.first[k] + local[k] - place[k] : 0;
}

template <int AXES, typename T>
DM_DEVICE void leave(const sk_work &w, const corner<AXES> &c, const int local[AXES], T offset[AXES]) {
    sk_point p = {}; /* in memory: its places are numbered there */
    for (int k = 0; k < AXES; k++)
        p.at[k] = c.first[k] + local[k];
    sk_leave(&w.rule, &p);
#pragma unroll
    for (int k = 0; k < AXES; k++)
        offset[k] = (T)(p.at[k] - p.site[k]);
}

template <int AXES, typename T> DM_DEVICE void keep_offset(tile<AXES> &t, int b, const T offset[AXES]) {
#pragma unroll
    for (int k = 0; k < AXES; k++)
        t.offset[k][b] = (float)offset[k];
}

/* Indices, which are far away, are asked for several at a time. Elements outside are background. */
template <int AXES, typename T> DM_DEVICE void fill(const sk_work &w, tile<AXES> &t) {
    const corner<AXES> c = t.place;
    for (int first = threadIdx.x; first < box<AXES>(); first += AT_ONCE * THREADS) {
        T index[AT_ONCE];
        int local[AXES];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            split_box<AXES>(first + i * THREADS, local);
            const bool is = first + i * THREADS < box<AXES>() && is_inside<AXES>(c, local);
            index[i] = is ? ((const T *)w.index)[element_at<AXES, T>(w, c, local)] : DISTMAP_INDEX_NONE;
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int b = first + i * THREADS;
            T offset[AXES];
            if (b >= box<AXES>())
                break;
            split_box<AXES>(b, local);
            find_offset<AXES, T>(w, c, local, index[i], offset);
            keep_offset<AXES, T>(t, b, offset);
            t.mark[b] = 0;
        }
    }
}

/* By the threads that filled them. */
template <int AXES, typename T> DM_DEVICE void fill_beside_border(const sk_work &w, tile<AXES> &t) {
    const corner<AXES> c = t.place;
    for (int b = threadIdx.x; b < box<AXES>(); b += THREADS) {
        int local[AXES];
        T offset[AXES];
        split_box<AXES>(b, local);
        if (!is_inside<AXES>(c, local) ||
            ((const T *)w.index)[element_at<AXES, T>(w, c, local)] != DISTMAP_INDEX_BORDER)
            continue;
        leave<AXES, T>(w, c, local, offset);
        keep_offset<AXES, T>(t, b, offset);
    }
}

/* ---- 2. A look at each pair ---- */

/* Whether sk_pair may say that e, in the box, and the next element along axis k are marked because of each other. Squares in
 * units of h^2. */
template <int AXES> DM_DEVICE bool may_mark(const sk_work &w, const tile<AXES> &t, int e, int k) {
    const int q = e + box_step<AXES>(k);
    float u[AXES], apart = 0, d = 0, ss = 0, along = 0;
#pragma unroll
    for (int i = 0; i < AXES; i++) {
        u[i] = t.offset[i][q] - t.offset[i][e] - (float)(i == k);
        apart += fabsf(u[i]);
    }
    if (!(apart > 1)) /* sites of neighbours mostly are neighbours, for whole warps */
        return false;
#pragma unroll
    for (int i = 0; i < AXES; i++) {
        const float s = t.offset[i][e] + t.offset[i][q];
        d += w.w2[i] * (u[i] * u[i]);
        ss += w.w2[i] * (s * s);
        along += i == k ? w.w2[i] * u[i] : 0;
    }
    const float rest = d + 2 * along - w.more + SLACK * (d + 2 * fabsf(along) + w.more), above = d * (1 + SLACK);
    /* Said by what it is not, so that overflows pass as well. */
    return !(w.rule.pruning == DISTMAP_PRUNING_SQUARE_ROOT ? rest < 0 || rest * rest * (1 + SLACK) < ss
             : w.rule.pruning == DISTMAP_PRUNING_LINEAR    ? above < w.gamma2 * ss
                                                           : above < w.gamma2);
}

template <int AXES> DM_DEVICE void list_pair(tile<AXES> &t, int e, int k) {
    const int place = atomicAdd(&t.passed, 1);
    if (place < LIST)
        t.list[place] = (uint16_t)(4 * e + k);
}

/* Each element of the tile with those after it; then those at its beginning with those before. */
template <int AXES> DM_DEVICE void look_at_pairs(const sk_work &w, tile<AXES> &t) {
    const corner<AXES> c = t.place;
    int local[AXES];
    split_tile<AXES>(threadIdx.x, AXES, local);
    for (; is_counted<AXES>(c, local); local[0] += stride<AXES>()) {
        const int e = in_box<AXES>(local);
        bool pass[AXES]; /* all before the first is listed: nothing is read twice */
#pragma unroll
        for (int k = 0; k < AXES; k++)
            pass[k] = local[k] + 1 < c.to[k] && may_mark<AXES>(w, t, e, k);
#pragma unroll
        for (int k = 0; k < AXES; k++)
            if (pass[k])
                list_pair<AXES>(t, e, k);
    }
#pragma unroll
    for (int k = 0; k < AXES; k++)
        for (int i = threadIdx.x; c.from[k] < 0 && i < TILE / side<AXES>(k); i += THREADS) {
            local[k] = -1;
            split_tile<AXES>(i, k, local);
            const int e = in_box<AXES>(local);
            if (is_counted<AXES>(c, local) && may_mark<AXES>(w, t, e, k))
                list_pair<AXES>(t, e, k);
        }
}

/* ---- 3. The rule ---- */

/* The element at `local`, `b` in the box, as the rule sees it, by its offset: float32 holds it where filters may be used. */
template <int AXES, typename T>
DM_DEVICE void find_point(const sk_work &w, const tile<AXES> &t, const int local[AXES], int b, sk_point *p) {
    const corner<AXES> c = t.place;
    T offset[AXES] = {};
    if (!w.filters && is_inside<AXES>(c, local)) {
        const T index = ((const T *)w.index)[element_at<AXES, T>(w, c, local)];
        if (index == DISTMAP_INDEX_BORDER)
            leave<AXES, T>(w, c, local, offset);
        else
            find_offset<AXES, T>(w, c, local, index, offset);
    }
#pragma unroll
    for (int k = 0; k < AXES; k++) {
        p->at[k] = local[k];
        p->site[k] = local[k] - (w.filters ? (int64_t)(int32_t)t.offset[k][b] : (int64_t)offset[k]);
    }
}

/* Of pair 4 e + k. Marks beside the tile are its neighbours'. */
template <int AXES, typename T> DM_DEVICE void judge(const sk_work &w, const sk_rule &r, tile<AXES> &t, int pair) {
    const corner<AXES> c = t.place;
    const int box_e = pair / 4, k = pair % 4, box_q = box_e + box_step<AXES>(k);
    int local[AXES];
    sk_point e, q;
    split_box<AXES>(box_e, local);
    const bool e_inside = is_inside<AXES>(c, local);
    find_point<AXES, T>(w, t, local, box_e, &e);
#pragma unroll
    for (int i = 0; i < AXES; i++)
        local[i] += i == k;
    const bool q_inside = is_inside<AXES>(c, local);
    if (!(e_inside && q_inside) && !(r.border && (e_inside || q_inside)))
        return;
    find_point<AXES, T>(w, t, local, box_q, &q);
    const unsigned marked = sk_pair(&r, &e, &q);
    if (marked & SK_FIRST)
        t.mark[box_e] = 1;
    if (marked & SK_SECOND)
        t.mark[box_q] = 1;
}

template <int AXES, typename T> DM_DEVICE void judge_pairs(const sk_work &w, const sk_rule &r, tile<AXES> &t) {
    const bool all = t.passed > LIST;
    const int count = all ? AXES * box<AXES>() : t.passed;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        const int e = i / AXES, k = i % AXES;
        const bool is =
            !all || e / box_step<AXES>(k) % (side<AXES>(k) + 2) <= side<AXES>(k); /* has a neighbour in the box */
        if (is)
            judge<AXES, T>(w, r, t, all ? 4 * e + k : t.list[i]);
    }
}

/* ---- 4. Results ---- */

template <int AXES, typename T>
DM_DEVICE void store_distance(const sk_work &w, const sk_rule &r, const tile<AXES> &t, const int local[AXES], bool on) {
    const corner<AXES> c = t.place;
    const dm_elements *p = &w.elements;
    char *to = c.distance;
    dm_value squared;
    squared.u64 = 0; /* the bits of 0.0 as well */
    sk_point e = {};
    if (on)
        find_point<AXES, T>(w, t, local, in_box<AXES>(local), &e);
#pragma unroll
    for (int k = AXES - 1; k >= 0; k--) {
        const int64_t d = on ? e.at[k] - e.site[k] : 0;
        to += local[k] * p->arrays.distance.stride[r.axis[k]];
        if (p->number == DM_F64)
            squared.f64 = fma(r.w2[k], (double)(d * d), squared.f64);
        else
            squared.u64 += p->w2[r.axis[k]] * (uint64_t)(d * d);
    }
    dm_store_distance(p, &p->arrays.distance, to, squared, false);
}

template <int AXES, typename T> DM_DEVICE void store(const sk_work &w, const sk_rule &r, const tile<AXES> &t) {
    const corner<AXES> c = t.place;
    int local[AXES];
    split_tile<AXES>(threadIdx.x, AXES, local);
    const int64_t *const strides = w.elements.arrays.mask.stride, step = stride<AXES>() * strides[r.axis[0]];
    char *mask = c.mask;
#pragma unroll
    for (int k = 0; k < AXES; k++)
        mask += mask ? local[k] * strides[r.axis[k]] : 0;
    for (; is_counted<AXES>(c, local); local[0] += stride<AXES>()) {
        const bool on = t.mark[in_box<AXES>(local)];
        if (mask) {
            *(uint8_t *)mask = on;
            mask += step;
        }
        if (c.distance)
            store_distance<AXES, T>(w, r, t, local, on);
    }
}

/* A block for each tile, in turns. Reads the indices of it and around it, 1.7 of the tile's in volumes; writes mask and
 * distance. */
template <int AXES, typename T>
static __global__ void __launch_bounds__(THREADS) mark(const __grid_constant__ sk_work w, uint64_t tiles) {
    __shared__ tile<AXES> t;
    sk_rule r = w.rule;
    r.axes = AXES;
    for (uint64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
        if (threadIdx.x == 0) {
            t.passed = w.filters ? 0 : LIST + 1;
            find_tile<AXES>(w, number, &t.place);
        }
        __syncthreads();
        fill<AXES, T>(w, t);
        if (r.border)
            fill_beside_border<AXES, T>(w, t);
        __syncthreads();
        if (w.filters)
            look_at_pairs<AXES>(w, t);
        __syncthreads();
        judge_pairs<AXES, T>(w, r, t);
        __syncthreads();
        store<AXES, T>(w, r, t);
        __syncthreads();
    }
}

template <int AXES> static cudaError_t mark_tiles(const sk_work &w, cudaStream_t stream) {
    void (*const kernel)(sk_work, uint64_t) = w.wide ? mark<AXES, int64_t> : mark<AXES, int32_t>;
    int64_t tiles = w.elements.elements;
    for (int k = 0; k < AXES; k++)
        tiles = tiles / w.rule.length[k] * ((w.rule.length[k] + side<AXES>(k) - 1) / side<AXES>(k));
    DM_LAUNCH(kernel, dm_blocks(tiles, 1, MOST_BLOCKS), THREADS, 0, stream, w, (uint64_t)tiles);
    return cudaGetLastError();
}

cudaError_t sk_mark(const struct sk_work *work, cudaStream_t stream) {
    static cudaError_t (*const of_axes[])(const sk_work &, cudaStream_t) = {mark_tiles<1>, mark_tiles<2>,
                                                                            mark_tiles<3>};
    return of_axes[work->rule.axes - 1](*work, stream);
}
