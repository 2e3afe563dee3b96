/* esf/cuda, kernel=blocked, volumes: two steps to each visit of a tile, plane by plane.
 *
 * A block goes through the planes of a tile, a column of 240 x 28 x 64 elements, with a halo of as many elements as
 * there are steps on every side (along rows of 8, so that rows begin at whole sectors). Once plane j has come in, plane
 * j - 1 makes step 1 and plane j - 2 step 2; of each step two planes stay in registers, as rows of warps
 * (esf_cuda_tile.cuh). So an element is read once, the halo's aside, and written once for two steps. */
#include "methods/esf/esf_cuda_tile.cuh"

enum { WARPS = 16, ROWS = 2, HEIGHT = WARPS * ROWS, HALO = EC_LANES, TILE_Z = 64 };

/* A thread's part of a plane. */
struct plane {
    ec_row row[ROWS];
};

DM_DEVICE plane load_plane(const ec_view &w, const float *field) {
    plane v;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        v.row[i] = ec_load_row(w, field, i);
    return v;
}

/* One step of the plane `mid`, of which `w` is the view, between those before and after it, if it is not the first or
 * the last one. */
template <bool EDGE>
DM_DEVICE plane step_plane(const ec_stage &p, const ec_view &w, const plane &back, const plane &mid, const plane &front,
                           bool first, bool last, const ec_row &above, const ec_row &below) {
    const ec_ends ends = ec_ends_of(w);
    plane made;
    DM_UNROLL
    for (int i = 0; i < ROWS; i++) {
        const ec_row &v = mid.row[i], &up = i ? mid.row[0] : above, &down = i < ROWS - 1 ? mid.row[ROWS - 1] : below;
        const uint32_t shape = ec_has_row(w, i) ? ((const uint8_t *)p.bits)[ec_offset(w, i) / 8] : 0;
        const float left = __shfl_up_sync(EC_WHOLE, v.lane[EC_LANES - 1], 1);
        const float right = __shfl_down_sync(EC_WHOLE, v.lane[0], 1);
        DM_UNROLL
        for (int k = 0; k < EC_LANES; k++) {
            const float x = __fadd_rn(ec_before<EDGE>(v, left, ends, k), ec_after<EDGE>(v, right, ends, k));
            const float y = __fadd_rn(ec_above<EDGE>(w, v, up, i, k), ec_below<EDGE>(w, v, down, i, k));
            const float before = first ? v.lane[k] : back.row[i].lane[k],
                        after = last ? v.lane[k] : front.row[i].lane[k];
            const float z = __fadd_rn(before, after);
            const float next = ec_next(p, v.lane[k], __fadd_rn(__fadd_rn(y, x), z));
            made.row[i].lane[k] = shape >> k & 1 ? 1.0f : next;
        }
    }
    return made;
}

/* What is the same for all planes of a tile. */
struct column {
    ec_view view;   /* of the batch's first plane */
    int64_t z0, z1; /* planes of the tile */
    bool own;       /* the thread's columns are the tile's, not the halo's */
    int top, end;   /* rows of the tile, counted as the thread's */
};

DM_DEVICE ec_view view_of(const ec_stage &p, const column &c, int64_t z) {
    ec_view w = c.view;
    w.first += z * p.ny;
    return w;
}

DM_DEVICE bool put_plane(const ec_view &w, const column &c, float *to, const plane &v) {
    bool moves = false;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        if (!c.own || !ec_has_row(w, i) || i < c.top || i >= c.end)
            continue;
        ec_store_row(w, to, i, v.row[i]);
#pragma unroll
        for (int k = 0; k < EC_LANES; k++)
            moves = moves || (v.row[i].lane[k] != 0 && w.x + k < w.width);
    }
    return moves;
}

/* Whether anything moves at last. */
template <int STEPS, bool EDGE>
DM_DEVICE bool make_steps(const ec_stage &p, const column &c, ec_rooms<WARPS> *rooms, const float *from, float *to) {
    plane back[STEPS] = {}, mid[STEPS] = {};
    bool moves = false;
    int turn = 0;
    for (int64_t j = c.z0 > STEPS ? c.z0 - STEPS : 0; j < c.z1 + STEPS; j++) {
        plane came = {};
        if (j < p.nz)
            came = load_plane(view_of(p, c, j), from);
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            const int64_t z = j - step - 1;
            const ec_row *rows = mid[step].row;
            ec_exchange(rooms, turn, rows[0], rows[ROWS - 1]);
            plane made = {};
            if (z >= 0 && z < p.nz)
                made = step_plane<EDGE>(p, view_of(p, c, z), back[step], mid[step], came, z == 0, z == p.nz - 1,
                                        ec_row_above(rooms, turn), ec_row_below(rooms, turn));
            turn ^= 1;
            back[step] = mid[step];
            mid[step] = came;
            came = made;
        }
        if (j - STEPS >= c.z0)
            moves |= put_plane(view_of(p, c, j - STEPS), c, to, came);
    }
    return moves;
}

/* Grid: a block to a tile. Shared memory: 64 KB. Reads 4 bytes per element of tiles and halos, and 1/8 for the shape at
 * each step; writes 4. */
template <int STEPS>
static __global__ void __launch_bounds__(32 * WARPS)
    steps_volume(const __grid_constant__ ec_stage p, const __grid_constant__ ec_tiles t, const float *from, float *to,
                 const uint8_t *before, uint8_t *after) {
    DM_DYNAMIC_SHARED(float4, memory);
    ec_rooms<WARPS> *rooms = (ec_rooms<WARPS> *)memory;
    const int64_t index = blockIdx.x;
    const ec_tile_place at = ec_tile_at(t, index);
    if (ec_flags_around(t, at, before, threadIdx.x) != EC_ALIVE) {
        if (threadIdx.x == 0 && threadIdx.y == 0)
            after[index] = before[index];
        return;
    }
    const int left = (int)at.x * t.width - HALO, top = (int)at.y * t.height - t.depth,
              lane = (int)threadIdx.x * EC_LANES;
    const int first = (int)threadIdx.y * ROWS;
    column c;
    c.view = ec_view{at.batch * p.nz * p.ny, top + first, left + lane, (int)p.ny, (int)p.nx, (int)p.pitch, false};
    c.view.inside = c.view.x >= 0 && c.view.x < c.view.pitch;
    c.z0 = at.z * t.z;
    c.z1 = c.z0 + t.z < p.nz ? c.z0 + t.z : p.nz;
    c.own = lane >= HALO && lane < EC_COLUMNS - HALO && c.view.inside;
    c.top = t.depth - first;
    c.end = HEIGHT - t.depth - first;
    const bool edge = top < 0 || top + HEIGHT >= c.view.rows || left < 0 || left + EC_COLUMNS >= c.view.width;
    const bool moved =
        edge ? make_steps<STEPS, true>(p, c, rooms, from, to) : make_steps<STEPS, false>(p, c, rooms, from, to);
    const int moves = __syncthreads_or(moved);
    if (threadIdx.x == 0 && threadIdx.y == 0)
        after[index] = (uint8_t)(before[index] | (moves ? EC_MOVES : 0));
}

template <int STEPS>
static cudaError_t launch(const ec_stage &p, const ec_tiles &t, const float *from, float *to, const uint8_t *before,
                          uint8_t *after, cudaStream_t stream) {
    const size_t shared = sizeof(ec_rooms<WARPS>);
    const cudaError_t error =
        cudaFuncSetAttribute(steps_volume<STEPS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH(steps_volume<STEPS>, (unsigned)t.count, dim3(32, WARPS), shared, stream, p, t, from, to, before, after);
    return cudaGetLastError();
}

void ec_volume_tiles(const ec_stage *p, int depth, ec_tiles *t) {
    const int most = depth < 2 ? depth : 2;
    ec_tiles_set(p, most, EC_COLUMNS - 2 * HALO, HEIGHT - 2 * most, TILE_Z, t);
}

cudaError_t ec_steps_volume(const ec_stage *p, const ec_tiles *t, int pass, int steps, cudaStream_t stream) {
    const float *from = p->field[pass % 2];
    float *to = p->field[(pass + 1) % 2];
    const uint8_t *before = t->flags[pass % 2];
    uint8_t *after = t->flags[(pass + 1) % 2];
    return steps == 1 ? launch<1>(*p, *t, from, to, before, after, stream)
                      : launch<2>(*p, *t, from, to, before, after, stream);
}
