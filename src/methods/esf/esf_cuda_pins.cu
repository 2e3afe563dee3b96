/* esf/cuda, the state at rest of images: the next level's d, a tile to a block (esf_cuda_level.cuh).
 *
 * The diagonal less the grid's own part, q, is d, or on the finest level 1/rho^2 and 1 for each neighbour on the shape;
 * cells gather q / (1 + R q), softened (esf_rest.c). */
#include "methods/esf/esf_cuda_level.cuh"

enum { HALO_Y = 2 };

DM_DEVICE float softened(float q) { return q / (1 + EC_SOFTNESS * q); }

/* A thread's row of the finest level. */
template <bool EDGE>
DM_DEVICE ec_row pins_of(const ec_level &l, const ec_view &w, const ec_row &up, const ec_row &row, const ec_row &down,
                         int i) {
    const ec_ends ends = ec_ends_of(w);
    const float left = __shfl_up_sync(EC_WHOLE, row.lane[EC_LANES - 1], 1);
    const float right = __shfl_down_sync(EC_WHOLE, row.lane[0], 1);
    ec_row r;
    DM_UNROLL
    for (int k = 0; k < EC_LANES; k++) {
        const int shape = (ec_before<EDGE>(row, left, ends, k) == 1) + (ec_after<EDGE>(row, right, ends, k) == 1) +
                          (ec_above<EDGE>(w, row, up, i, k) == 1) + (ec_below<EDGE>(w, row, down, i, k) == 1);
        r.lane[k] = row.lane[k] == 1 ? 0 : softened(l.decay + (float)shape);
    }
    return r;
}

template <bool FINEST, bool EDGE>
DM_DEVICE void gather(const ec_level &l, const ec_level &next, const ec_place &p,
                      ec_level_shared<ec_level_shape<FINEST>::WARPS> *s) {
    enum { ROWS = ec_level_shape<FINEST>::ROWS };
    const ec_view &w = p.view;
    const ec_ends ends = ec_ends_of(w);
    ec_row v[ROWS], above, below;
    ec_cells worth[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        v[i] = ec_load_row(w, FINEST ? l.v[0] : l.d, i);
    if (FINEST) {
        ec_exchange(&s->rooms, 0, v[0], v[ROWS - 1]);
        above = ec_row_above(&s->rooms, 0);
        below = ec_row_below(&s->rooms, 0);
    }
    DM_UNROLL
    for (int i = 0; i < ROWS; i++) {
        const ec_row &up = i ? v[i ? i - 1 : 0] : above, &down = i < ROWS - 1 ? v[i < ROWS - 1 ? i + 1 : 0] : below;
        ec_row q = v[i];
        if (FINEST)
            q = pins_of<EDGE>(l, w, up, v[i], down, i);
        DM_UNROLL
        for (int k = 0; k < EC_LANES; k++) {
            if (!FINEST)
                q.lane[k] = softened(q.lane[k]);
            if (EDGE && (k > ends.last || k < ends.first || !ec_has_row(w, i)))
                q.lane[k] = 0;
        }
        worth[i] = ec_worth_along<EDGE>(w, q);
    }
    ec_gather_across<EDGE>(next, p, worth, 1, &s->cells, next.d);
}

/* Grid: a block to a tile. Shared memory: 40 KB. Reads 4 bytes per element of tiles and halos, writes 4 per cell. */
template <bool FINEST>
static __global__ void __launch_bounds__(32 * ec_level_shape<FINEST>::WARPS)
    pins(const __grid_constant__ ec_level l, const __grid_constant__ ec_level next) {
    DM_DYNAMIC_SHARED(float4, memory);
    ec_level_shared<ec_level_shape<FINEST>::WARPS> *s = (ec_level_shared<ec_level_shape<FINEST>::WARPS> *)memory;
    const ec_place p = ec_place_of<FINEST>(l, HALO_Y);
    if (p.edge)
        gather<FINEST, true>(l, next, p, s);
    else
        gather<FINEST, false>(l, next, p, s);
}

template <bool FINEST> static cudaError_t launch(const ec_level &l, const ec_level &next, cudaStream_t stream) {
    enum { WARPS = ec_level_shape<FINEST>::WARPS };
    const size_t bytes = sizeof(ec_level_shared<WARPS>);
    const cudaError_t error =
        cudaFuncSetAttribute(pins<FINEST>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess)
        DM_LAUNCH(pins<FINEST>, ec_level_tiles<FINEST>(&l, HALO_Y), dim3(32, WARPS), bytes, stream, l, next);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

cudaError_t ec_pins_tiled(const ec_level *l, const ec_level *next, cudaStream_t stream) {
    return l->d ? launch<false>(*l, *next, stream) : launch<true>(*l, *next, stream);
}
