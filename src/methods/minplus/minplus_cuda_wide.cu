/* minplus/cuda: a pass along one axis in 64-bit integers or in FP64, for all columns of a strip (minplus_cuda_wide.h).
 *
 *     out(y) = min over rows j of f(j) + w (y - j)^2,    f from entries or from memory
 *
 * The row j that wins, the lowest one of several, never decreases as y increases. So *knots*, every 64th row, are solved from coarse
 * to fine, eight times finer at each level, and the rows between two knots in two more levels. Between two known rows seven others are
 * solved together: each candidate from the winner of the one to that of the other is read once. A knot whose distance has a near bound
 * tries only candidates within it.
 *
 * Why this holds in FP64, where values are rounded: let p win row y0 and j < p row y > y0. The difference j - p of the exact values
 * rises by 2 w (p - j) (y - y0) >= 2 w from y0 to y. As p won, it was at least -e at y0, with e the rounding error of two values, and as j
 * won it is at most e at y: 2 w <= 2 e. Since e is at most 2^-52 of the largest value, that is impossible if w is above it; mw_refuses()
 * asks for 2^-50 of the largest value.
 *
 * Cost: two levels of about 1.1 and 1.9 candidates for each row, 80 instructions each for a candidate and seven rows. Reads 1/4, 4 or 8
 * bytes per element about three times, mostly from the L1 cache; writes 8 bytes or the outputs.
 */
#include "methods/minplus/minplus_cuda_wide.cuh"

/* ---- Results ---- */

enum sink { TO_VALUES, TO_OUTPUTS, TO_FLOATS };

DM_DEVICE_APART void emit(const mw_stage &p, const column &c, int32_t y, dm_value v, int64_t site, unsigned *raised) {
    int64_t at[DM_NDIM] = {c.at[0], c.at[1], c.at[2], c.at[3]};
    at[p.axis] = y;
    dm_element_emit(&p.elements, at, v, site, raised);
}

/* Apart, for its code in each loop that stores would take registers and room for instructions. */
DM_DEVICE_APART float distance_of(const mw_stage &, double v) { return (float)sqrt(v); }
DM_DEVICE_APART float distance_of(const mw_stage &p, int64_t n) {
    return dm_unit_distancef(&p.elements.unit, (uint64_t)n);
}

/* A result. */
template <class N> struct result {
    typename N::number least;
    int32_t by;   /* the row that it comes from, */
    int64_t site; /* and the linear index of its site, if wanted */
};

/* Kinds: the result of row y under its cap w e^2 (minplus_cuda_kinds.cuh), with e the distance to the next element of another kind along
 * the pass. The background of labels is at distance 0 from itself. */
template <class N>
DM_DEVICE_APART result<N> under_cap(const mw_stage &p, const column &c, const N &n, int32_t y, result<N> r) {
    const dm_elements *e = &p.elements;
    const int64_t plane = c.at[p.other[0]] * e->shape[p.other[1]] + c.at[p.other[1]];
    const uint2 band = ((const uint2 *)p.across)[(plane * p.bands + y / 32) * p.strips_packed * 32 + c.at[DM_X]];
    unsigned known = 0;
    int64_t at[DM_NDIM] = {c.at[0], c.at[1], c.at[2], c.at[3]};
    at[p.axis] = y;
    if (p.entries && dm_element_is_zero(e, at, &known)) {
        r.least = 0;
        r.site = c.first + y * e->linear[p.axis];
        return r;
    }
    if (!has_any(band) || !p.counts)
        return r;
    const int32_t end = (int32_t)entry_distance(band, y % 32, 1);
    const typename N::number cap = n.along((uint32_t)end * (uint32_t)end);
    if (cap > r.least)
        return r;
    const int32_t row = y + (p.sites && is_other(p, c, y, p.axis, -end) ? -end : end);
    if (cap < r.least || row < r.by)
        r.site = c.first + row * e->linear[p.axis];
    r.least = cap;
    return r;
}

template <class N, class S, sink TO> struct results {
    const mw_stage &p;
    const column &c;
    const N &n;
    const S &source;
    char *distance;
    int64_t step;
    unsigned raised;
    __device__ results(const mw_stage &stage, const column &in, const N &numbers, const S &from)
        : p(stage), c(in), n(numbers), source(from), distance(NULL), step(0), raised(0) {
        if (TO == TO_FLOATS) {
            distance = dm_element_address(&p.elements.arrays.distance, c.at);
            step = p.elements.arrays.distance.stride[p.axis];
        }
    }
    /* Row y's result, by row j. */
    __device__ void store(int32_t y, typename N::number least, int32_t j) {
        const dm_elements *e = &p.elements;
        if (!c.inside)
            return;
        if (TO == TO_FLOATS) {
            const dm_value v = N::value(least);
            const bool none = e->number == DM_F64 ? v.f64 > e->limit2f : v.u64 > e->limit2;
            if (none)
                raised |= DISTMAP_FLAG_NO_SITE;
            __stcs((float *)(distance + y * step), none ? (float)INFINITY : distance_of(p, least));
            return;
        }
        result<N> r = {least, j, !p.sites || least == N::nothing() ? DISTMAP_INDEX_NONE : source.site(p, c, j)};
        if (p.across)
            r = under_cap(p, c, n, y, r);
        if (TO == TO_OUTPUTS) {
            emit(p, c, y, N::value(r.least), r.site, &raised);
            return;
        }
        const int64_t to = c.first + y * e->linear[p.axis];
        ((dm_value *)p.to_value)[to] = N::value(r.least);
        if (p.sites)
            p.to_site[to] = r.site;
    }
};

/* ---- Search ---- */

/* The rows that win, of several with the least value: the first; and, if TWO_SIDED, the last. */
struct winners {
    int32_t first, last;
};

/* Rows y0, y0 + s, ... of one column by candidates from, from + step, ... to. A row without any has the whole range as winners. */
template <int ROWS, class N, class S>
DM_DEVICE void sweep(const N &n, const S &source, int32_t y0, int32_t s, int32_t from, int32_t to, int32_t step,
                     typename N::number least[ROWS], winners by[ROWS]) {
    DM_UNROLL
    for (int i = 0; i < ROWS; i++) {
        least[i] = N::nothing();
        by[i].first = from;
        by[i].last = to;
    }
    if (from > to)
        return;
    const typename S::raw *at = source.row + from * source.step;
    typename S::raw next = S::read(at);
    const int64_t ahead = step * source.step;
    for (int32_t j = from; j <= to; j += step) {
        typename N::number f;
        const bool any = source.f(next, &f);
        at += j + step <= to ? ahead : 0;
        next = S::read(at); /* which is waited for while this one is tried */
        if (!any)
            continue;
        typename N::rows rows = n.from(f, y0 - j, s);
        DM_UNROLL
        for (int i = 0; i < ROWS; i++) {
            const typename N::number v = n.next(&rows);
            if (N::TWO_SIDED)
                by[i].last = v <= least[i] && v < N::nothing() ? j : by[i].last;
            by[i].first = v < least[i] ? j : by[i].first;
            least[i] = v < least[i] ? v : least[i];
        }
    }
    DM_UNROLL
    for (int i = 0; i < ROWS; i++)
        least[i] = n.of_row(least[i], i * s);
}

/* Row y by row j alone. */
template <class N, class S> DM_DEVICE typename N::number value_at(const N &n, const S &source, int32_t y, int32_t j) {
    typename N::number f;
    if (!source.f(S::read(source.row + j * source.step), &f))
        return N::nothing();
    typename N::rows rows = n.from(f, y - j, 0);
    return n.next(&rows);
}

/* Candidates of a row. */
struct window {
    int32_t from, to;
};

/* The candidates from..to that can win row y: at most as far from it as the least value of a few of them allows. */
template <class N, class S>
DM_DEVICE window within_reach(const N &n, const S &source, int32_t y, int32_t from, int32_t to) {
    typename N::number bound = value_at(n, source, y, min(max(y, from), to));
    for (int32_t k = 1; y - k >= from || y + k <= to; k *= 4) {
        const typename N::number below = value_at(n, source, y, max(y - k, from)),
                                 above = value_at(n, source, y, min(y + k, to));
        bound = below < bound ? below : bound;
        bound = above < bound ? above : bound;
        if (n.in_rows(bound) <= (double)k * (double)k)
            break;
    }
    const double rows = bound == N::nothing() ? 0x1p31 : sqrt(n.in_rows(bound)) * (1 + 0x1p-40) + 1;
    const int32_t reach = rows < 0x1p30 ? (int32_t)rows : 1 << 30;
    const window made = {max(from, y - reach), min(to, y + reach)};
    return made;
}

/* The rows that a block solves, from a to b - 1, and their knots: every 64th, and the last row, which is number `last`. */
struct part {
    int32_t a, b;
    int last;
    __device__ int32_t knot(int k) const { return min(a + k * MW_KNOT, b - 1); }
};

/* The winners of a part's knots, in shared memory. `last` is `first` unless TWO_SIDED. */
struct knots {
    int32_t (*first)[32], (*last)[32];
    int lane;
    template <class N> __device__ void set(int k, winners by) const {
        first[k][lane] = by.first;
        if (N::TWO_SIDED)
            last[k][lane] = by.last;
    }
};

/* Knots first, first + apart, ... before `end`, at most seven, by the rows from..to, of which this warp takes every `step`-th from number
 * `skip` on. Calls keep(number, least value, winners). Knots are solved one by one if near sites leave each less than half of the
 * candidates: to read one costs as much as to try it for four knots. */
template <class N, class S, class K>
DM_DEVICE void solve_knots(const N &n, const S &source, const struct part &part, int first, int apart, int end,
                           int32_t from, int32_t to, int32_t skip, int32_t step, const K &keep) {
    const window middle = within_reach(n, source, part.knot((first + end - 1) / 2), from, to);
    if (end - first > 1 && mc_warp_most(to - from) / 2 < mc_warp_most(middle.to - middle.from)) {
        typename N::number least[MW_INNER];
        winners by[MW_INNER];
        sweep<MW_INNER>(n, source, part.knot(first), apart * MW_KNOT, from + skip, to, step, least, by);
        DM_UNROLL
        for (int i = 0; i < MW_INNER; i++)
            if (first + i * apart < end)
                keep(i, least[i], by[i]);
        return;
    }
#pragma unroll 1
    for (int k = first; k < end; k += apart) {
        const window w = within_reach(n, source, part.knot(k), from, to);
        typename N::number least;
        winners by;
        sweep<1>(n, source, part.knot(k), 0, w.from + skip, w.to, step, &least, &by);
        const winners any = {from, to};
        keep((k - first) / apart, least, least == N::nothing() ? any : by);
    }
}

/* The results of a block's warps for the same rows, in shared memory. */
template <class N> struct found_rows {
    typename N::number least[MW_WARPS][MW_INNER][32];
    int32_t first[MW_WARPS][MW_INNER][32], last[N::TWO_SIDED ? MW_WARPS : 1][MW_INNER][32];
};

/* solve_knots() by all warps of the block, each with its share of the candidates. */
template <class N, class S>
DM_DEVICE void solve_together(const N &n, const S &source, const struct part &part, int first, int apart, int end,
                              int32_t from, int32_t to, found_rows<N> *found, const knots &winner) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, k = first + warp * apart;
    solve_knots(n, source, part, first, apart, end, from, to, warp, MW_WARPS,
                [&](int i, typename N::number least, winners by) {
                    found->least[warp][i][lane] = least;
                    found->first[warp][i][lane] = by.first;
                    if (N::TWO_SIDED)
                        found->last[warp][i][lane] = by.last;
                });
    __syncthreads();
    if (warp < MW_INNER && k < end) {
        typename N::number least = N::nothing();
        winners by = {from, to};
        for (int w = 0; w < MW_WARPS; w++) {
            const typename N::number v = found->least[w][warp][lane];
            if (v == N::nothing() || v > least)
                continue;
            const int32_t j = found->first[w][warp][lane], last = found->last[N::TWO_SIDED ? w : 0][warp][lane];
            by.first = v < least ? j : min(by.first, j);
            by.last = v < least ? last : max(by.last, last);
            least = v;
        }
        winner.set<N>(k, by);
    }
    __syncthreads();
}

/* All knots of a part one by one, each by the candidates within its reach, if these are few everywhere; false if not. */
template <class N, class S>
DM_DEVICE bool find_near_winners(const N &n, const S &source, const struct part &part, int32_t height,
                                 const knots &winner) {
    enum { NEAR = 128 };
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    bool far = false;
    for (int k = warp; k <= part.last && !far; k += MW_WARPS) {
        const int32_t y = part.knot(k);
        const window w = within_reach(n, source, y, 0, height - 1);
        winner.first[k][lane] = max(y - w.from, w.to - y);
        far = __any_sync(MC_WHOLE, winner.first[k][lane] > NEAR);
    }
    if (__syncthreads_or(far))
        return false;
    for (int k = warp; k <= part.last; k += MW_WARPS) {
        const int32_t y = part.knot(k), reach = winner.first[k][lane];
        typename N::number least;
        winners by;
        sweep<1>(n, source, y, 0, max(y - reach, 0), min(y + reach, height - 1), 1, &least, &by);
        winner.set<N>(k, by);
    }
    __syncthreads();
    return true;
}

/* All knots of a part, from coarse to fine unless all are near. */
template <class N, class S>
DM_DEVICE void find_winners(const N &n, const S &source, const struct part &part, int32_t height, found_rows<N> *found,
                            const knots &winner) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    if (find_near_winners(n, source, part, height, winner))
        return;
    int apart = 1; /* of the first level between the first knot and the last */
    while (apart * 8 < part.last)
        apart *= 8;
#pragma unroll 1
    for (int job = 0; job < 3; job++) {
        const bool inner = job == 2;
        const int first = inner ? apart : job ? part.last : 0, end = inner ? part.last : first + 1;
        if (first < end)
            solve_together(n, source, part, first, apart, end, inner ? winner.first[0][lane] : 0,
                           inner ? winner.last[part.last][lane] : height - 1, found, winner);
    }
    for (; apart > 1; apart /= 8) {
        for (int k = warp * apart; k < part.last; k += MW_WARPS * apart) {
            const int end = min(k + apart, part.last);
            solve_knots(n, source, part, k + apart / 8, apart / 8, end, winner.first[k][lane], winner.last[end][lane],
                        0, 1,
                        [&](int i, typename N::number, winners by) { winner.set<N>(k + (i + 1) * (apart / 8), by); });
        }
        __syncthreads();
    }
}

/* The rows from y0 to y1 - 1 by the candidates from..to, of which `from` wins row y0: every eighth, then the seven between two of these.
 * `eighth`: room for the warp, for the first winners of these and, if TWO_SIDED, for the last. */
template <class N, class S, class R>
DM_DEVICE void fill(const N &n, const S &source, int32_t y0, int32_t y1, int32_t from, int32_t to, const knots &eighth,
                    R *results) {
    const int lane = (int)threadIdx.x % 32;
    typename N::number least[MW_INNER];
    winners by[MW_INNER];
    sweep<MW_INNER>(n, source, y0 + 8, 8, from, to, 1, least, by);
    DM_UNROLL
    for (int i = 0; i < MW_INNER; i++)
        eighth.set<N>(i, by[i]);
#pragma unroll 1
    for (int i = 0; i <= MW_INNER && y0 + i * 8 < y1; i++) {
        const int32_t y = y0 + i * 8;
        results->store(y, value_at(n, source, y, from), from);
        sweep<MW_INNER>(n, source, y + 1, 1, from, i < MW_INNER ? eighth.last[i][lane] : to, 1, least, by);
        DM_UNROLL
        for (int r = 0; r < MW_INNER; r++)
            if (y + 1 + r < y1)
                results->store(y + 1 + r, least[r], by[r].first);
        from = eighth.first[min(i, MW_INNER - 1)][lane];
    }
}

/* Whether anything of a unit is left to be solved. */
DM_DEVICE bool is_open(const mw_stage &p, int64_t strip, int32_t unit) {
    return !p.open || p.open[strip * p.units + unit];
}

/* Grid: a block to a part of a strip of a plane of columns. Shared memory: found_rows, and 128 bytes for each knot, 256 if TWO_SIDED. */
template <class N, class S, sink TO>
static __global__ void __launch_bounds__(MW_WARPS * 32, 3) search(const __grid_constant__ mw_stage p) {
    DM_DYNAMIC_SHARED(uint4, shared);
    found_rows<N> *found = (found_rows<N> *)shared;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const dm_elements *e = &p.elements;
    uint32_t item = blockIdx.x;
    const int32_t a = (int32_t)(item % (uint32_t)p.parts) * p.part_rows, b = min(p.height, a + p.part_rows);
    item /= (uint32_t)p.parts;
    const uint32_t strip = item % (uint32_t)p.strips, plane = item / (uint32_t)p.strips;
    const uint32_t slower = plane / (uint32_t)e->shape[p.other[1]];
    const int32_t x = (int32_t)strip * 32 + lane;
    column c;
    c.inside = x < e->shape[p.lanes];
    c.at[p.axis] = 0;
    c.at[p.other[0]] = slower;
    c.at[p.other[1]] = plane - slower * (uint32_t)e->shape[p.other[1]];
    c.at[p.lanes] = min((int64_t)x, e->shape[p.lanes] - 1);
    c.first = c.at[p.other[0]] * e->linear[p.other[0]] + c.at[p.other[1]] * e->linear[p.other[1]] +
              c.at[p.lanes] * e->linear[p.lanes];
    const S source(p, c);
    const N n(p, p.axis);
    results<N, S, TO> results(p, c, n, source);
    const struct part part = {a, b, (b - 1 - a + MW_KNOT - 1) / MW_KNOT};
    int32_t(*const room)[32] = (int32_t(*)[32])(found + 1);
    const knots winner = {room, N::TWO_SIDED ? room + part.last + 1 : room, lane};
    const knots eighth = {found->first[warp], N::TWO_SIDED ? found->last[N::TWO_SIDED ? warp : 0] : found->first[warp],
                          lane};
    const int64_t all_strips = (int64_t)plane * p.strips + strip;
    if (p.open) { /* parts are whole units: a knot is the first row of one */
        const int32_t unit = a / MW_KNOT + (int32_t)threadIdx.x;
        if (!__syncthreads_or(unit * MW_KNOT < b && is_open(p, all_strips, unit)))
            return;
    }
    if (p.counts) {
        find_winners(n, source, part, p.height, found, winner);
        for (int k = warp; k < part.last; k += MW_WARPS)
            if (is_open(p, all_strips, a / MW_KNOT + k))
                fill(n, source, part.knot(k), part.knot(k + 1), winner.first[k][lane], winner.last[k + 1][lane], eighth,
                     &results);
        if (warp == 0)
            results.store(b - 1, value_at(n, source, b - 1, winner.first[part.last][lane]),
                          winner.first[part.last][lane]);
    } else {
        for (int32_t y = a + warp; y < b; y += MW_WARPS)
            results.store(y, value_at(n, source, y, y), y);
    }
    dm_raise(e, results.raised);
}

template <class N, class S> static cudaError_t launch(const mw_stage *p, cudaStream_t stream) {
    void (*const kernel)(mw_stage) = !p->last   ? search<N, S, TO_VALUES>
                                     : p->plain ? search<N, S, TO_FLOATS>
                                                : search<N, S, TO_OUTPUTS>;
    const int64_t knots = (p->part_rows + MW_KNOT - 1) / MW_KNOT + 1, blocks = mw_columns(p) * p->strips * p->parts;
    const size_t bytes = sizeof(found_rows<N>) + (size_t)knots * 32 * sizeof(int32_t) * (1 + N::TWO_SIDED);
    const cudaError_t error =
        cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH(kernel, (unsigned)blocks, MW_WARPS * 32, bytes, stream, *p);
    return cudaGetLastError();
}

/* Samples into values, and their own linear indices as sites. Grid: any; a thread to an element, in turns. */
static __global__ void __launch_bounds__(MW_WARPS * 32) load(const __grid_constant__ mw_stage p) {
    const dm_elements *e = &p.elements;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * (MW_WARPS * 32) + threadIdx.x; i < e->elements;
         i += (int64_t)gridDim.x * (MW_WARPS * 32)) {
        int64_t at[DM_NDIM];
        dm_element_split(e, i, at);
        const dm_value v = dm_element_value(e, at, &raised);
        ((dm_value *)p.to_value)[i] = v;
        if (p.sites)
            p.to_site[i] = dm_value_is_none(e, v) ? DISTMAP_INDEX_NONE : i;
    }
    dm_raise(e, raised);
}

cudaError_t mw_load(const mw_stage *p, cudaStream_t stream) {
    DM_LAUNCH(load, dm_blocks(p->elements.elements, MW_WARPS * 32, 1 << 16), MW_WARPS * 32, 0, stream, *p);
    return cudaGetLastError();
}

/* Planes without a site, which were not written. Grid: EMPTY_BLOCKS for each plane. */
enum { EMPTY_BLOCKS = 8 };
static __global__ void __launch_bounds__(MW_WARPS * 32) fill_empty(const __grid_constant__ mw_stage p) {
    const int64_t plane = blockIdx.x / EMPTY_BLOCKS, elements = p.elements.shape[2] * p.elements.shape[DM_X];
    if (p.alive[plane])
        return;
    uint32_t *const to = (uint32_t *)p.value + plane * elements;
    for (int64_t i = blockIdx.x % EMPTY_BLOCKS * (MW_WARPS * 32) + threadIdx.x; i < elements;
         i += EMPTY_BLOCKS * MW_WARPS * 32)
        to[i] = p.sites ? MC_NO_OFFSET : (uint32_t)MC_NOTHING;
}

cudaError_t mw_search(const mw_stage *p, cudaStream_t stream) {
    if (p->alive) {
        DM_LAUNCH(fill_empty, (unsigned)(p->elements.shape[0] * p->elements.shape[1] * EMPTY_BLOCKS), MW_WARPS * 32, 0,
                  stream, *p);
        const cudaError_t error = cudaGetLastError();
        return error ? error : launch<whole, from_planes<whole>>(p, stream);
    }
    if (p->elements.number == DM_F64 && p->elements.input == DISTMAP_INPUT_SAMPLED)
        return launch<real_of_samples, from_values<real_of_samples>>(p, stream);
    if (p->elements.number == DM_F64)
        return p->entries ? launch<real, from_entries<real>>(p, stream) : launch<real, from_values<real>>(p, stream);
    return p->entries ? launch<whole, from_entries<whole>>(p, stream) : launch<whole, from_values<whole>>(p, stream);
}
