/* esf/cuda, the state at rest of images: what a cycle does at a level, a tile to a block, in registers
 * (esf_cuda_level.cuh).
 *
 * Downwards a tile makes two sweeps, and gathers what remains for the next level; upwards it takes the next level's
 * correction and makes two more. Each half of a sweep reaches one element farther, what remains one more, and gathering
 * another: a halo of six rows does, and of eight columns, so that rows begin at whole sectors. So each level's values go
 * through memory twice a cycle. Tiles begin at even rows and columns: which elements have which colour is known when
 * this is compiled. */
#include "methods/esf/esf_cuda_level.cuh"

enum { HALO_Y = 6, LAST_HALO_Y = 8 };

/* A thread's elements, and what does not change while they are relaxed. */
template <bool FINEST> struct tile_rows {
    ec_row v[ec_level_shape<FINEST>::ROWS];
    ec_row f[FINEST ? 1 : ec_level_shape<FINEST>::ROWS],
        inverse[FINEST ? 1 : ec_level_shape<FINEST>::ROWS]; /* coarser levels */
};

/* Neighbours that element (i, k) of the thread has. */
template <bool EDGE> DM_DEVICE float degree_of(const ec_view &w, ec_ends ends, int i, int k) {
    return !EDGE ? 4.0f : (float)(4 - (k == ends.first) - (k == ends.last) - (w.y + i == 0) - (w.y + i == w.rows - 1));
}

/* The sum of the neighbours of an element of a coarser level, of those that it has. */
template <bool EDGE> DM_DEVICE float others_of(float v, float degree, float x0, float x1, float y0, float y1) {
    const float sum = (y0 + y1) + (x0 + x1);
    return EDGE ? __fmaf_rn(degree - 4, v, sum) : sum;
}

/* ---- Sweeps ---- */

/* Half a sweep: elements with i + k + HALF even. */
template <bool FINEST, bool EDGE, int HALF>
DM_DEVICE void relax_half(const ec_level &l, const ec_view &w, tile_rows<FINEST> *t,
                          ec_rooms<ec_level_shape<FINEST>::WARPS> *rooms) {
    enum { ROWS = ec_level_shape<FINEST>::ROWS };
    const ec_ends ends = ec_ends_of(w);
    const float inverse = 1.0f / (4 + l.decay), fewer = 1.0f / (3 + l.decay), fewest = 1.0f / (2 + l.decay);
    ec_exchange(rooms, HALF, t->v[0], t->v[ROWS - 1]);
    const ec_row above = ec_row_above(rooms, HALF), below = ec_row_below(rooms, HALF);
    DM_UNROLL
    for (int i = 0; i < ROWS; i++) {
        const ec_row &up = i ? t->v[i ? i - 1 : 0] : above,
                     &down = i < ROWS - 1 ? t->v[i < ROWS - 1 ? i + 1 : 0] : below;
        ec_row &row = t->v[i];
        const bool first = (i + HALF) % 2 == 0; /* lanes 0, 2, ... else 1, 3, ... */
        const float beyond =
            first ? __shfl_up_sync(EC_WHOLE, row.lane[EC_LANES - 1], 1) : __shfl_down_sync(EC_WHOLE, row.lane[0], 1);
        DM_UNROLL
        for (int k = first ? 0 : 1; k < EC_LANES; k += 2) {
            const float v = row.lane[k], x0 = ec_before<EDGE>(row, beyond, ends, k),
                        x1 = ec_after<EDGE>(row, beyond, ends, k);
            const float y0 = ec_above<EDGE>(w, row, up, i, k), y1 = ec_below<EDGE>(w, row, down, i, k);
            const float degree = degree_of<EDGE>(w, ends, i, k);
            if (FINEST) {
                const float sum = ((y0 - v) + (y1 - v)) + ((x0 - v) + (x1 - v));
                const float by = degree == 4 ? inverse : degree == 3 ? fewer : fewest;
                const float next = ec_held(__fmaf_rn(__fmaf_rn(-l.decay, v, sum), by, v));
                row.lane[k] = v == 1 ? 1 : next;
            } else {
                row.lane[k] = (others_of<EDGE>(v, degree, x0, x1, y0, y1) - t->f[i].lane[k]) * t->inverse[i].lane[k];
            }
        }
    }
}

template <bool FINEST, bool EDGE>
DM_DEVICE void relax(const ec_level &l, const ec_view &w, int sweeps, tile_rows<FINEST> *t,
                     ec_rooms<ec_level_shape<FINEST>::WARPS> *rooms) {
    for (int i = 0; i < sweeps; i++) {
        relax_half<FINEST, EDGE, 0>(l, w, t, rooms);
        relax_half<FINEST, EDGE, 1>(l, w, t, rooms);
    }
}

/* f and 1 / (degree + d). */
template <bool EDGE> DM_DEVICE void load_fixed(const ec_level &, const ec_view &, tile_rows<true> *) {}
template <bool EDGE> DM_DEVICE void load_fixed(const ec_level &l, const ec_view &w, tile_rows<false> *t) {
    const ec_ends ends = ec_ends_of(w);
#pragma unroll
    for (int i = 0; i < ec_level_shape<false>::ROWS; i++) {
        const ec_row d = ec_load_row(w, l.d, i);
        t->f[i] = ec_load_row(w, l.f, i);
#pragma unroll
        for (int k = 0; k < EC_LANES; k++)
            t->inverse[i].lane[k] = __fdividef(1.0f, degree_of<EDGE>(w, ends, i, k) + d.lane[k]);
    }
}

/* ---- What remains ---- */

/* What remains in row i, gathered along it, and its largest magnitude where `own`. */
template <bool FINEST, bool EDGE>
DM_DEVICE ec_cells remains(const ec_level &l, const ec_view &w, const tile_rows<FINEST> &t, const ec_row &up,
                           const ec_row &down, int i, bool own, float *largest) {
    const ec_ends ends = ec_ends_of(w);
    const ec_row &row = t.v[i];
    const float left = __shfl_up_sync(EC_WHOLE, row.lane[EC_LANES - 1], 1);
    const float right = __shfl_down_sync(EC_WHOLE, row.lane[0], 1);
    ec_row r, d;
    if (!FINEST)
        d = ec_load_row(w, l.d, i);
    DM_UNROLL
    for (int k = 0; k < EC_LANES; k++) {
        const float v = row.lane[k], x0 = ec_before<EDGE>(row, left, ends, k), x1 = ec_after<EDGE>(row, right, ends, k);
        const float y0 = ec_above<EDGE>(w, row, up, i, k), y1 = ec_below<EDGE>(w, row, down, i, k);
        if (FINEST) {
            const float sum = ((y0 - v) + (y1 - v)) + ((x0 - v) + (x1 - v));
            r.lane[k] = v == 1 ? 0 : __fmaf_rn(-l.decay, v, sum);
        } else {
            const float degree = degree_of<EDGE>(w, ends, i, k);
            r.lane[k] =
                __fmaf_rn(-(degree + d.lane[k]), v, others_of<EDGE>(v, degree, x0, x1, y0, y1)) - t.f[i].lane[k];
        }
        if (EDGE && (k > ends.last || k < ends.first))
            r.lane[k] = 0;
        if (FINEST)
            *largest = fmaxf(*largest, own ? fabsf(r.lane[k]) : 0);
    }
    return ec_worth_along<EDGE>(w, r);
}

/* Gathers what remains for the next level's f. */
template <bool FINEST, bool EDGE>
DM_DEVICE float gather(const ec_level &l, const ec_level &next, const ec_place &p, const tile_rows<FINEST> &t,
                       ec_level_shared<ec_level_shape<FINEST>::WARPS> *s) {
    enum { ROWS = ec_level_shape<FINEST>::ROWS };
    const ec_view &w = p.view;
    float largest = 0;
    ec_cells worth[ROWS];
    ec_exchange(&s->rooms, 0, t.v[0], t.v[ROWS - 1]);
    const ec_row above = ec_row_above(&s->rooms, 0), below = ec_row_below(&s->rooms, 0);
    DM_UNROLL
    for (int i = 0; i < ROWS; i++) {
        const ec_row &up = i ? t.v[i ? i - 1 : 0] : above, &down = i < ROWS - 1 ? t.v[i < ROWS - 1 ? i + 1 : 0] : below;
        worth[i] = remains<FINEST, EDGE>(l, w, t, up, down, i, ec_is_own_row(p, i), &largest);
        if (EDGE && !ec_has_row(w, i))
            worth[i] = ec_cells{};
    }
    ec_gather_across<EDGE>(next, p, worth, -1, &s->cells, next.f);
    return largest;
}

/* ---- The next level's correction ---- */

/* A row of cells, clamped to the level. */
DM_DEVICE ec_cells cells_at(const ec_level &next, const ec_view &w, int64_t batch, int y) {
    const int64_t row = y < 0 ? 0 : y >= next.ny ? next.ny - 1 : y;
    return w.inside ? ec_cells_of(*(const float4 *)(next.v[0] + (batch * next.ny + row) * next.pitch + w.x / 2))
                    : ec_cells{};
}

template <bool FINEST, bool EDGE> DM_DEVICE void correct(const ec_level &next, const ec_view &w, tile_rows<FINEST> *t) {
    enum { ROWS = ec_level_shape<FINEST>::ROWS };
    const ec_ends ends = ec_ends_of(w);
    const int64_t batch = w.first / w.rows;
    ec_cells around[ROWS / 2 + 2];
#pragma unroll
    for (int j = 0; j < ROWS / 2 + 2; j++)
        around[j] = cells_at(next, w, batch, w.y / 2 - 1 + j);
    DM_UNROLL
    for (int i = 0; i < ROWS; i++) {
        ec_cells e;
#pragma unroll
        for (int c = 0; c < EC_LANES / 2; c++)
            e.cell[c] = 0.75f * around[i / 2 + 1].cell[c] + 0.25f * around[i / 2 + i % 2 * 2].cell[c];
        float before = __shfl_up_sync(EC_WHOLE, e.cell[EC_LANES / 2 - 1], 1),
              after = __shfl_down_sync(EC_WHOLE, e.cell[0], 1);
        before = EDGE && ends.first == 0 ? e.cell[0] : before;
        DM_UNROLL
        for (int k = 0; k < EC_LANES; k++) {
            const int c = k / 2;
            float beside = k % 2 ? (c < EC_LANES / 2 - 1 ? e.cell[c < EC_LANES / 2 - 1 ? c + 1 : 0] : after)
                                 : (c > 0 ? e.cell[c > 0 ? c - 1 : 0] : before);
            beside = EDGE && k % 2 && k >= ends.last ? e.cell[c] : beside;
            const float v = t->v[i].lane[k], moved = v + (0.75f * e.cell[c] + 0.25f * beside);
            t->v[i].lane[k] = !FINEST ? moved : v == 1 ? 1 : ec_held(moved);
        }
    }
}

/* ---- Kernels ---- */

template <bool FINEST> DM_DEVICE void store(const ec_place &p, float *to, const tile_rows<FINEST> &t) {
#pragma unroll
    for (int i = 0; i < ec_level_shape<FINEST>::ROWS; i++)
        if (ec_is_own_row(p, i))
            ec_store_row(p.view, to, i, t.v[i]);
}

template <bool FINEST, bool EDGE>
DM_DEVICE float go_down(const ec_level &l, const ec_level &next, const ec_place &p, int sweeps,
                        ec_level_shared<ec_level_shape<FINEST>::WARPS> *s) {
    tile_rows<FINEST> t;
    const bool last = !next.v[0];
#pragma unroll
    for (int i = 0; i < ec_level_shape<FINEST>::ROWS; i++)
        t.v[i] = FINEST ? ec_load_row(p.view, l.v[0], i) : ec_row{};
    load_fixed<EDGE>(l, p.view, &t);
    relax<FINEST, EDGE>(l, p.view, sweeps, &t, &s->rooms);
    store(p, last ? l.v[0] : l.v[1], t);
    return last ? 0 : gather<FINEST, EDGE>(l, next, p, t, s);
}

template <bool FINEST, bool EDGE>
DM_DEVICE void go_up(const ec_level &l, const ec_level &next, const ec_place &p,
                     ec_level_shared<ec_level_shape<FINEST>::WARPS> *s) {
    tile_rows<FINEST> t;
#pragma unroll
    for (int i = 0; i < ec_level_shape<FINEST>::ROWS; i++)
        t.v[i] = ec_load_row(p.view, l.v[1], i);
    load_fixed<EDGE>(l, p.view, &t);
    correct<FINEST, EDGE>(next, p.view, &t);
    relax<FINEST, EDGE>(l, p.view, EC_SWEEPS, &t, &s->rooms);
    store(p, l.v[0], t);
}

/* Grid: a block to a tile. Shared memory: 40 KB. Reads 4 bytes per element of the finest level's tiles and halos,
 * 8 of others; writes 4, and 4 per cell. */
template <bool FINEST>
static __global__ void __launch_bounds__(32 * ec_level_shape<FINEST>::WARPS, ec_level_shape<FINEST>::BLOCKS)
    down(const __grid_constant__ ec_level l, const __grid_constant__ ec_level next, int sweeps, int halo,
         unsigned *largest, ec_stop stop) {
    DM_DYNAMIC_SHARED(float4, memory);
    if (ec_stopped(stop))
        return;
    ec_level_shared<ec_level_shape<FINEST>::WARPS> *s = (ec_level_shared<ec_level_shape<FINEST>::WARPS> *)memory;
    const ec_place p = ec_place_of<FINEST>(l, halo);
    const float seen =
        p.edge ? go_down<FINEST, true>(l, next, p, sweeps, s) : go_down<FINEST, false>(l, next, p, sweeps, s);
    if (largest)
        ec_largest(seen, largest);
}

/* Likewise; reads 4 bytes per cell more, and writes none. */
template <bool FINEST>
static __global__ void __launch_bounds__(32 * ec_level_shape<FINEST>::WARPS, ec_level_shape<FINEST>::BLOCKS)
    up(const __grid_constant__ ec_level l, const __grid_constant__ ec_level next, ec_stop stop) {
    DM_DYNAMIC_SHARED(float4, memory);
    if (ec_stopped(stop))
        return;
    ec_level_shared<ec_level_shape<FINEST>::WARPS> *s = (ec_level_shared<ec_level_shape<FINEST>::WARPS> *)memory;
    const ec_place p = ec_place_of<FINEST>(l, HALO_Y);
    if (p.edge)
        go_up<FINEST, true>(l, next, p, s);
    else
        go_up<FINEST, false>(l, next, p, s);
}

/* ---- Launches ---- */

template <bool FINEST>
static cudaError_t launch_down(const ec_level &l, const ec_level &next, unsigned *largest, ec_stop stop,
                               cudaStream_t stream) {
    const bool last = !next.v[0];
    const int sweeps = last ? EC_LAST_SWEEPS : EC_SWEEPS, halo = last ? LAST_HALO_Y : HALO_Y;
    const size_t bytes = sizeof(ec_level_shared<ec_level_shape<FINEST>::WARPS>);
    const cudaError_t error =
        cudaFuncSetAttribute(down<FINEST>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess)
        DM_LAUNCH(down<FINEST>, ec_level_tiles<FINEST>(&l, halo), dim3(32, ec_level_shape<FINEST>::WARPS), bytes,
                  stream, l, next, sweeps, halo, largest, stop);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

template <bool FINEST>
static cudaError_t launch_up(const ec_level &l, const ec_level &next, ec_stop stop, cudaStream_t stream) {
    const size_t bytes = sizeof(ec_level_shared<ec_level_shape<FINEST>::WARPS>);
    const cudaError_t error = cudaFuncSetAttribute(up<FINEST>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess)
        DM_LAUNCH(up<FINEST>, ec_level_tiles<FINEST>(&l, HALO_Y), dim3(32, ec_level_shape<FINEST>::WARPS), bytes,
                  stream, l, next, stop);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

cudaError_t ec_down(const ec_level *l, const ec_level *coarse, unsigned *largest, ec_stop stop, cudaStream_t stream) {
    const ec_level none = {}, &next = coarse ? *coarse : none;
    return l->d ? launch_down<false>(*l, next, largest, stop, stream)
                : launch_down<true>(*l, next, largest, stop, stream);
}

cudaError_t ec_up(const ec_level *l, const ec_level *next, ec_stop stop, cudaStream_t stream) {
    return l->d ? launch_up<false>(*l, *next, stop, stream) : launch_up<true>(*l, *next, stop, stream);
}
