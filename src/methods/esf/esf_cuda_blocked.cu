/* esf/cuda, kernel=blocked: several steps of an image to each visit of a tile, in registers (esf_cuda_tile.cuh).
 *
 * A pass takes `depth` steps from one field memory to the other. Tiles overlap by as many elements on every side, along
 * rows by 8 or 16, so that rows begin at whole sectors. With depth 8 a tile of 256 x 72 elements is worth 240 x 56.
 *
 * An element costs six operations for a step: three sums, two products and the last sum, which a predicate keeps from
 * elements of the shape; and for eight elements two shuffles, one instruction for their predicates, and less than one
 * access to shared memory. With what the compiler adds these are 8.2. Nine rows to a thread are what its 128 registers
 * hold; fewer warps with 16 or 20 rows were a fifth slower on an H200. */
#include "methods/esf/esf_cuda_tile.cuh"

enum { WARPS = 8, ROWS = 9, HEIGHT = WARPS * ROWS };

static int halo_of(int depth) { return depth <= EC_LANES ? EC_LANES : 2 * EC_LANES; }

void ec_plane_tiles(const ec_stage *p, int depth, ec_tiles *t) {
    ec_tiles_set(p, depth, EC_COLUMNS - 2 * halo_of(depth), p->axes == 2 ? HEIGHT - 2 * depth : HEIGHT, 1, t);
}

/* ---- Steps ---- */

/* The y-neighbours' sum, of a thread's row i. */
template <int AXES, bool EDGE>
DM_DEVICE ec_row sum_across(const ec_view &w, const ec_row &above, const ec_row &row, const ec_row &below, int i) {
    ec_row sum;
#pragma unroll
    for (int k = 0; k < EC_LANES; k++)
        sum.lane[k] =
            AXES > 1 ? __fadd_rn(ec_above<EDGE>(w, row, above, i, k), ec_below<EDGE>(w, row, below, i, k)) : 0;
    return sum;
}

/* What a block shares: the rows that warps show each other, and the shape, eight elements in a byte. */
struct shared {
    ec_rooms<WARPS> rooms;
    uint32_t shape[WARPS][(ROWS + 3) / 4][32];
};

/* One step of a thread's rows, in place: the sum across the next row is made before this row's values go. */
template <int AXES, bool EDGE>
DM_DEVICE void step_rows(const ec_stage &p, const ec_view &w, ec_row (&v)[ROWS], const shared *s, int turn) {
    const ec_ends ends = ec_ends_of(w);
    ec_row across, beyond;
    if (AXES > 1)
        beyond = ec_row_above(&s->rooms, turn);
    across = sum_across<AXES, EDGE>(w, beyond, v[0], v[1], 0);
    uint32_t shape = 0;
    DM_UNROLL
    for (int i = 0; i < ROWS; i++) {
        ec_row sum;
        const float left = __shfl_up_sync(EC_WHOLE, v[i].lane[EC_LANES - 1], 1);
        const float right = __shfl_down_sync(EC_WHOLE, v[i].lane[0], 1);
        if (i % 4 == 0)
            shape = s->shape[threadIdx.y][i / 4][threadIdx.x];
        DM_UNROLL
        for (int k = 0; k < EC_LANES; k++) {
            const float along = __fadd_rn(ec_before<EDGE>(v[i], left, ends, k), ec_after<EDGE>(v[i], right, ends, k));
            sum.lane[k] = AXES > 1 ? __fadd_rn(across.lane[k], along) : along;
        }
        if (AXES > 1 && i == ROWS - 2)
            beyond = ec_row_below(&s->rooms, turn);
        if (i < ROWS - 1)
            across =
                sum_across<AXES, EDGE>(w, v[i], v[i + 1], i < ROWS - 2 ? v[i + 2 < ROWS ? i + 2 : 0] : beyond, i + 1);
        DM_UNROLL
        for (int k = 0; k < EC_LANES; k++) {
            const float next = ec_next(p, v[i].lane[k], sum.lane[k]);
            if (!(shape & 1u << (i % 4 * EC_LANES + k)))
                v[i].lane[k] = next;
        }
    }
}

/* What a thread does with its part of a tile. */
struct visit {
    ec_view view;
    const float *from;
    float *to;
    int steps, halo, top, end; /* of the thread's rows, [top, end) are the tile's, not the halo's */
    bool known;                /* that something moves */
};

/* Whether anything moves, if that was not known. */
template <int AXES, bool EDGE> DM_DEVICE bool make_visit(const ec_stage &p, const visit &now, shared *s) {
    const ec_view &w = now.view;
    ec_row v[ROWS];
    uint32_t shape = 0;
    ec_load_rows(w, now.from, &s->rooms.room[0][threadIdx.y], v);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t bits = ec_has_row(w, i) ? ((const uint8_t *)p.bits)[ec_offset(w, i) / 8] : 0;
        shape = i % 4 ? shape | bits << i % 4 * EC_LANES : bits;
        s->shape[threadIdx.y][i / 4][threadIdx.x] = shape;
    }
    for (int step = 0; step < now.steps; step++) {
        if (AXES > 1)
            ec_exchange(&s->rooms, step & 1, v[0], v[ROWS - 1]);
        step_rows<AXES, EDGE>(p, w, v, s, step & 1);
    }
    ec_store_rows(w, now.to, &s->rooms.room[now.steps & 1][threadIdx.y], now.top, now.end, now.halo, v);
    const int column = (int)threadIdx.x * EC_LANES;
    bool moves = false;
    if (now.known || column < now.halo || column >= EC_COLUMNS - now.halo)
        return false;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int k = 0; k < EC_LANES; k++)
            moves =
                moves || (v[i].lane[k] != 0 && ec_has_row(w, i) && i >= now.top && i < now.end && w.x + k < w.width);
    return moves;
}

/* Grid: a block to a tile. Shared memory: 35 KB. Reads 4 bytes per element of tiles and halos, and 1/8 for the shape;
 * writes 4. Tiles where nothing happens are passed over: both field memories hold what they are worth from the
 * beginning. */
template <int AXES>
static __global__ void __launch_bounds__(32 * WARPS, 2)
    steps_plane(const __grid_constant__ ec_stage p, const __grid_constant__ ec_tiles t, const float *from, float *to,
                const uint8_t *before, uint8_t *after, int steps, int halo) {
    DM_DYNAMIC_SHARED(float4, memory);
    shared &s = *(shared *)memory;
    const int64_t index = blockIdx.x;
    const ec_tile_place at = ec_tile_at(t, index);
    if (ec_flags_around(t, at, before, threadIdx.x) != EC_ALIVE) {
        if (threadIdx.x == 0 && threadIdx.y == 0)
            after[index] = before[index];
        return;
    }
    const int skip = AXES > 1 ? t.depth : 0;
    ec_view w = {at.batch * p.ny,
                 (int)at.y * t.height - skip + (int)threadIdx.y * ROWS,
                 (int)at.x * t.width - halo + (int)threadIdx.x * EC_LANES,
                 (int)p.ny,
                 (int)p.nx,
                 (int)p.pitch,
                 false};
    w.inside = w.x >= 0 && w.x < w.pitch;
    const int top = (int)at.y * t.height - skip, left = (int)at.x * t.width - halo, first = (int)threadIdx.y * ROWS;
    const bool edge = top < 0 || top + HEIGHT >= w.rows || left < 0 || left + EC_COLUMNS >= w.width;
    const visit now = {w, from, to, steps, halo, skip - first, HEIGHT - skip - first, (before[index] & EC_MOVES) != 0};
    const bool moved = edge ? make_visit<AXES, true>(p, now, &s) : make_visit<AXES, false>(p, now, &s);
    const bool moves = __syncthreads_or(moved);
    if (threadIdx.x == 0 && threadIdx.y == 0)
        after[index] = (uint8_t)(before[index] | (moves ? EC_MOVES : 0));
}

/* ---- Launches ---- */

template <int AXES>
static cudaError_t launch(const ec_stage &p, const ec_tiles &t, const float *from, float *to, const uint8_t *before,
                          uint8_t *after, int steps, int halo, cudaStream_t stream) {
    const size_t bytes = sizeof(shared);
    const cudaError_t error =
        cudaFuncSetAttribute(steps_plane<AXES>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess)
        DM_LAUNCH(steps_plane<AXES>, (unsigned)t.count, dim3(32, WARPS), bytes, stream, p, t, from, to, before, after,
                  steps, halo);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

cudaError_t ec_steps_plane(const ec_stage *stage, const ec_tiles *tiles, int pass, int steps, cudaStream_t stream) {
    const ec_stage p = *stage;
    const ec_tiles t = *tiles;
    const float *from = p.field[pass % 2];
    float *to = p.field[(pass + 1) % 2];
    const uint8_t *before = t.flags[pass % 2];
    uint8_t *after = t.flags[(pass + 1) % 2];
    const int halo = halo_of(t.depth);
    return p.axes < 2 ? launch<1>(p, t, from, to, before, after, steps, halo, stream)
                      : launch<2>(p, t, from, to, before, after, steps, halo, stream);
}
