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
#include "cuda/elements.cuh"
#include "operations/skeleton_cuda.h"

enum { THREADS = 256, TILE = 2048, LIST = 1024, MOST_BLOCKS = 1 << 16 };
#define SLACK 1e-5f /* more than the roundings of float32 take */

/* A tile's sides, slowest axis first; the box is one element larger on each side. */
template <int AXES> static __device__ constexpr int side(int k) {
    return AXES == 1 ? TILE : k == AXES - 1 ? (AXES == 2 ? 64 : 32) : AXES == 2 ? 32 : 8;
}
template <int AXES> static __device__ constexpr int box_step(int k) {
    int step = 1;
    for (int i = AXES - 1; i > k; i--)
        step *= side<AXES>(i) + 2;
    return step;
}
template <int AXES> static __device__ constexpr int box() { return (side<AXES>(0) + 2) * box_step<AXES>(0); }

template <int AXES> struct tile {
    float offset[AXES][box<AXES>()];
    uint8_t mark[box<AXES>()];
    uint16_t list[LIST]; /* of pairs: 4 e + k, e counted in the box */
    int passed;
    /* Where the tile is; all along measured axes by their own numbers. */
    int64_t first[AXES], element; /* of the image */
    int count[AXES];              /* elements of the tile that are of the image, */
    int from[AXES], to[AXES];     /* and those that may be in pairs, counted from the tile's first one */
    char *mask, *distance;        /* of the first element */
};

DM_DEVICE int64_t index_at(const sk_work &w, int64_t element) {
    return w.wide ? ((const int64_t *)w.index)[element] : ((const int32_t *)w.index)[element];
}

DM_DEVICE uint32_t divide(const sk_divider &by, uint32_t i) { return (uint32_t)((uint64_t)i * by.factor >> by.shift); }

/* Where element `index` lies along the measured axes. In linear order axes are divided off from the last one on, and what lies
 * between them. */
template <int AXES> DM_DEVICE void place_along(const sk_work &w, int64_t index, int64_t place[SK_AXES]) {
    uint32_t rest = (uint32_t)index;
#pragma unroll
    for (int k = AXES - 1; k >= 0; k--) {
        if (w.wide) {
            place[k] = index / w.elements.linear[w.rule.axis[k]] % w.rule.length[k];
            continue;
        }
        if (w.gap[k].n > 1)
            rest = divide(w.gap[k], rest);
        const uint32_t slower = divide(w.length[k], rest);
        place[k] = rest - slower * w.length[k].n;
        rest = slower;
    }
}

/* Sets the site of the element at p->at, `element` in linear order; `inside`: in the image. Elements outside are sites, those
 * without a site are taken for such, none of the others having one either. */
template <int AXES> DM_DEVICE void find_site(const sk_work &w, bool inside, int64_t element, sk_point *p) {
#pragma unroll
    for (int k = 0; k < AXES; k++)
        p->site[k] = p->at[k];
    const int64_t index = inside ? index_at(w, element) : element;
    if (index == element)
        return;
    if (index >= 0) {
        place_along<AXES>(w, index, p->site);
    } else if (index == DISTMAP_INDEX_BORDER) {
        sk_point outside = *p; /* in memory: its places are numbered there */
        sk_leave(&w.rule, &outside);
        *p = outside;
    }
}

/* By one thread: where tile `number` is. */
template <int AXES> DM_DEVICE void find_tile(const sk_work &w, uint64_t number, tile<AXES> *t) {
    const dm_elements *p = &w.elements;
    int64_t at[DM_NDIM];
    t->passed = w.filters ? 0 : LIST + 1;
    for (int k = AXES - 1; k >= 0; k--) {
        const int64_t length = w.rule.length[k], along = (length + side<AXES>(k) - 1) / side<AXES>(k);
        const int64_t first = (int64_t)(number % (uint64_t)along) * side<AXES>(k), left = length - first;
        number /= (uint64_t)along;
        at[w.rule.axis[k]] = t->first[k] = first;
        t->count[k] = left < side<AXES>(k) ? (int)left : side<AXES>(k);
        t->from[k] = first > 0 || w.rule.border ? -1 : 0;
        t->to[k] = left > side<AXES>(k) || w.rule.border ? t->count[k] + 1 : t->count[k];
    }
    t->element = 0;
    for (int n = DM_X; n >= 0; n--) {
        if (!p->measured[n]) {
            at[n] = (int64_t)(number % (uint64_t)p->shape[n]);
            number /= (uint64_t)p->shape[n];
        }
        t->element += at[n] * p->linear[n];
    }
    t->mask = p->arrays.mask.data ? dm_element_address(&p->arrays.mask, at) : nullptr;
    t->distance = p->arrays.distance.data ? dm_element_address(&p->arrays.distance, at) : nullptr;
}

/* The element at `local`, counted from the tile's first one: its site; whether it is of the image. */
template <int AXES>
DM_DEVICE bool find_point(const sk_work &w, const tile<AXES> &t, const int local[AXES], sk_point *p) {
    int64_t element = t.element;
    bool inside = true;
#pragma unroll
    for (int k = 0; k < AXES; k++) {
        p->at[k] = t.first[k] + local[k];
        inside = inside && p->at[k] >= 0 && p->at[k] < w.rule.length[k];
        element += local[k] * w.elements.linear[w.rule.axis[k]];
    }
    find_site<AXES>(w, inside, element, p);
    return inside;
}

/* Counted in the tile, where sides are powers of two and axis `without` is left out. */
template <int AXES> DM_DEVICE void split_tile(int i, int without, int local[AXES]) {
#pragma unroll
    for (int k = AXES - 1; k >= 0; k--)
        if (k != without) {
            local[k] = i % side<AXES>(k);
            i /= side<AXES>(k);
        }
}

template <int AXES> DM_DEVICE int in_box(const int local[AXES]) {
    int b = 0;
#pragma unroll
    for (int k = 0; k < AXES; k++)
        b += (local[k] + 1) * box_step<AXES>(k);
    return b;
}

template <int AXES> DM_DEVICE bool is_counted(const tile<AXES> &t, const int local[AXES]) {
    bool is = true;
#pragma unroll
    for (int k = 0; k < AXES; k++)
        is = is && local[k] < t.count[k];
    return is;
}

/* ---- 1. Offsets ---- */

template <int AXES> DM_DEVICE void split_box(int b, int local[AXES]) {
#pragma unroll
    for (int k = AXES - 1; k >= 0; k--) {
        local[k] = b % (side<AXES>(k) + 2) - 1;
        b /= side<AXES>(k) + 2;
    }
}

template <int AXES> DM_DEVICE void fill(const sk_work &w, tile<AXES> &t) {
    for (int b = threadIdx.x; b < box<AXES>(); b += THREADS) {
        int local[AXES];
        sk_point p;
        split_box<AXES>(b, local);
        find_point<AXES>(w, t, local, &p);
        t.mark[b] = 0;
#pragma unroll
        for (int k = 0; k < AXES; k++)
            t.offset[k][b] = (float)(int32_t)(p.at[k] - p.site[k]);
    }
}

/* ---- 2. A look at each pair ---- */

/* Whether sk_pair may say that e, in the box, and the next element along axis k are marked because of each other. Squares in
 * units of h^2. */
template <int AXES> DM_DEVICE bool may_mark(const sk_work &w, const tile<AXES> &t, int e, int k) {
    const int q = e + box_step<AXES>(k);
    float apart = 0, d = 0, ss = 0, along = 0;
#pragma unroll
    for (int i = 0; i < AXES; i++) {
        const float oe = t.offset[i][e], oq = t.offset[i][q], u = oq - oe - (float)(i == k), s = oe + oq;
        apart += fabsf(u);
        d += w.w2[i] * (u * u);
        ss += w.w2[i] * (s * s);
        along += i == k ? w.w2[i] * u : 0;
    }
    const float rest = d + 2 * along - w.more + SLACK * (d + 2 * fabsf(along) + w.more), above = d * (1 + SLACK);
    /* Said by what it is not, so that overflows pass as well. */
    return apart > 1 && !(w.rule.pruning == DISTMAP_PRUNING_SQUARE_ROOT ? rest < 0 || rest * rest * (1 + SLACK) < ss
                          : w.rule.pruning == DISTMAP_PRUNING_LINEAR    ? above < w.gamma2 * ss
                                                                        : above < w.gamma2);
}

template <int AXES> DM_DEVICE void look(const sk_work &w, tile<AXES> &t, const int local[AXES], int k) {
    const int e = in_box<AXES>(local);
    if (!may_mark<AXES>(w, t, e, k))
        return;
    const int place = atomicAdd(&t.passed, 1);
    if (place < LIST)
        t.list[place] = (uint16_t)(4 * e + k);
}

/* Each element of the tile with those after it; then those at its beginning with those before. */
template <int AXES> DM_DEVICE void look_at_pairs(const sk_work &w, tile<AXES> &t) {
    int local[AXES];
    for (int i = threadIdx.x; i < TILE; i += THREADS) {
        split_tile<AXES>(i, AXES, local);
        if (!is_counted<AXES>(t, local))
            continue;
#pragma unroll
        for (int k = 0; k < AXES; k++)
            if (local[k] + 1 < t.to[k])
                look<AXES>(w, t, local, k);
    }
#pragma unroll
    for (int k = 0; k < AXES; k++)
        for (int i = threadIdx.x; t.from[k] < 0 && i < TILE / side<AXES>(k); i += THREADS) {
            local[k] = -1;
            split_tile<AXES>(i, k, local);
            if (is_counted<AXES>(t, local))
                look<AXES>(w, t, local, k);
        }
}

/* ---- 3. The rule ---- */

/* Of pair 4 e + k. Marks beside the tile are its neighbours'. */
template <int AXES> DM_DEVICE void judge(const sk_work &w, const sk_rule &r, tile<AXES> &t, int pair) {
    const int box_e = pair / 4, k = pair % 4, box_q = box_e + box_step<AXES>(k);
    int local[AXES];
    sk_point e, q;
    split_box<AXES>(box_e, local);
    const bool e_inside = find_point<AXES>(w, t, local, &e);
#pragma unroll
    for (int i = 0; i < AXES; i++)
        local[i] += i == k;
    const bool q_inside = find_point<AXES>(w, t, local, &q);
    if (!(e_inside && q_inside) && !(r.border && (e_inside || q_inside)))
        return;
    const unsigned marked = sk_pair(&r, &e, &q);
    if (marked & SK_FIRST)
        t.mark[box_e] = 1;
    if (marked & SK_SECOND)
        t.mark[box_q] = 1;
}

template <int AXES> DM_DEVICE void judge_pairs(const sk_work &w, const sk_rule &r, tile<AXES> &t) {
    const bool all = t.passed > LIST;
    const int count = all ? AXES * box<AXES>() : t.passed;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        const int e = i / AXES, k = i % AXES;
        if (!all)
            judge<AXES>(w, r, t, t.list[i]);
        else if (e / box_step<AXES>(k) % (side<AXES>(k) + 2) <= side<AXES>(k))
            judge<AXES>(w, r, t, 4 * e + k);
    }
}

/* ---- 4. Results ---- */

template <int AXES>
DM_DEVICE void store_distance(const sk_work &w, const sk_rule &r, const tile<AXES> &t, const int local[AXES], bool on,
                              char *to) {
    const dm_elements *p = &w.elements;
    dm_value squared;
    squared.u64 = 0; /* the bits of 0.0 as well */
    sk_point e;
    if (on)
        find_point<AXES>(w, t, local, &e);
#pragma unroll
    for (int k = AXES - 1; k >= 0; k--) {
        const int64_t d = on ? e.at[k] - e.site[k] : 0;
        if (p->number == DM_F64)
            squared.f64 = fma(r.w2[k], (double)(d * d), squared.f64);
        else
            squared.u64 += p->w2[r.axis[k]] * (uint64_t)(d * d);
    }
    dm_store_distance(p, &p->arrays.distance, to, squared, false);
}

template <int AXES> DM_DEVICE void store(const sk_work &w, const sk_rule &r, const tile<AXES> &t) {
    const dm_arrays *out = &w.elements.arrays;
    for (int i = threadIdx.x; i < TILE; i += THREADS) {
        int local[AXES];
        split_tile<AXES>(i, AXES, local);
        if (!is_counted<AXES>(t, local))
            continue;
        const bool on = t.mark[in_box<AXES>(local)];
        int64_t mask = 0, distance = 0; /* bytes from the tile's first element */
#pragma unroll
        for (int k = 0; k < AXES; k++) {
            mask += local[k] * out->mask.stride[r.axis[k]];
            distance += local[k] * out->distance.stride[r.axis[k]];
        }
        if (t.mask)
            *(uint8_t *)(t.mask + mask) = on;
        if (t.distance)
            store_distance<AXES>(w, r, t, local, on, t.distance + distance);
    }
}

/* A block for each tile, in turns. Reads the indices of it and around it, 1.7 of the tile's in volumes; writes mask and
 * distance. */
template <int AXES>
static __global__ void __launch_bounds__(THREADS) mark(const __grid_constant__ sk_work w, uint64_t tiles) {
    __shared__ tile<AXES> t;
    sk_rule r = w.rule;
    r.axes = AXES;
    for (uint64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
        if (threadIdx.x == 0)
            find_tile<AXES>(w, number, &t);
        __syncthreads();
        fill<AXES>(w, t);
        __syncthreads();
        if (w.filters)
            look_at_pairs<AXES>(w, t);
        __syncthreads();
        judge_pairs<AXES>(w, r, t);
        __syncthreads();
        store<AXES>(w, r, t);
        __syncthreads();
    }
}

template <int AXES> static cudaError_t mark_tiles(const sk_work &w, cudaStream_t stream) {
    int64_t tiles = w.elements.elements;
    for (int k = 0; k < AXES; k++)
        tiles = tiles / w.rule.length[k] * ((w.rule.length[k] + side<AXES>(k) - 1) / side<AXES>(k));
    DM_LAUNCH(mark<AXES>, dm_blocks(tiles, 1, MOST_BLOCKS), THREADS, 0, stream, w, (uint64_t)tiles);
    return cudaGetLastError();
}

cudaError_t sk_mark(const struct sk_work *work, cudaStream_t stream) {
    static cudaError_t (*const of_axes[])(const sk_work &, cudaStream_t) = {mark_tiles<1>, mark_tiles<2>,
                                                                            mark_tiles<3>};
    return of_axes[work->rule.axes - 1](*work, stream);
}
