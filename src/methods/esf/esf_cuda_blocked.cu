/* esf/cuda, kernel=blocked: several steps of an image to each visit of a tile, in registers (esf_cuda_tile.cuh).
 *
 * A pass takes `depth` steps from one field memory to the other. Tiles overlap by as many elements on every side, along
 * rows by 8 or 16, so that rows begin at whole sectors. With depth 8 a tile of 256 x 144 elements is worth 240 x 128.
 * There are as many blocks as fit the GPU; each goes through tiles of its own, and fetches the next one while it
 * computes (esf_cuda_visit.cuh).
 *
 * An element costs six operations for a step: three sums, two products and the last sum, which a predicate keeps from
 * elements of the shape; and for eight elements two shuffles, three instructions for their predicates, and less than one
 * access to shared memory. With what the compiler adds these are 7.3: steps are unrolled, as from step to step of a loop it
 * moves half of the registers. Nine rows to a thread are what its 128 registers hold. */
#include "methods/esf/esf_cuda_visit.cuh"

enum { ROWS = 9, SMALL = 8, LARGE = 16 /* warps of a block */ };

static int halo_of(int depth) { return depth <= EC_LANES ? EC_LANES : 2 * EC_LANES; }

/* Tiles of as many warps as give a multiprocessor the least to do: large ones have smaller halos, small ones are spread
 * more evenly. Two blocks of small ones share it. */
void ec_plane_tiles(const ec_stage *p, int depth, int multiprocessors, ec_tiles *t) {
    const int across = p->axes == 2 ? depth : 0;
    int64_t least = INT64_MAX;
    for (int warps = SMALL; warps <= LARGE; warps += LARGE - SMALL) {
        ec_tiles of;
        ec_tiles_set(p, depth, EC_COLUMNS - 2 * halo_of(depth), warps * ROWS - 2 * across, 1, &of);
        const int64_t work = (of.count + multiprocessors - 1) / multiprocessors * warps;
        if (work < least) {
            least = work;
            *t = of;
            t->warps = warps;
        }
    }
    t->blocks =
        (int)(t->count < multiprocessors * (LARGE / t->warps) ? t->count : multiprocessors * (LARGE / t->warps));
}

/* ---- Steps ---- */

DM_DEVICE ec_row sum_of(const ec_row &a, const ec_row &b) {
    ec_row sum;
#pragma unroll
    for (int k = 0; k < EC_LANES; k++)
        sum.lane[k] = __fadd_rn(a.lane[k], b.lane[k]);
    return sum;
}

/* What a block shares: the rows that warps show each other, the next tile, and the shape, eight elements in a byte. */
template <int WARPS> struct shared {
    ec_rooms<WARPS> rooms;
    ec_fetched<ROWS> next[WARPS];
    uint32_t shape[WARPS][(ROWS + 3) / 4][32];
};

/* One step of a thread's rows, in place: the sum across the next row is made before this row's values go. */
template <int AXES, int WARPS>
DM_DEVICE void step_rows(const ec_stage &p, ec_row (&v)[ROWS], const shared<WARPS> *s, int turn) {
    ec_row across, beyond;
    if (AXES > 1) {
        beyond = ec_row_above(&s->rooms, turn);
        across = sum_of(beyond, v[1]);
    }
    uint32_t shape = 0;
    DM_UNROLL
    for (int i = 0; i < ROWS; i++) {
        const float left = __shfl_up_sync(EC_WHOLE, v[i].lane[EC_LANES - 1], 1);
        const float right = __shfl_down_sync(EC_WHOLE, v[i].lane[0], 1);
        if (i % 4 == 0)
            shape = s->shape[threadIdx.y][i / 4][threadIdx.x];
        ec_row sum;
        DM_UNROLL
        for (int k = 0; k < EC_LANES; k++) {
            const float before = k > 0 ? v[i].lane[k > 0 ? k - 1 : 0] : left;
            const float after = k < EC_LANES - 1 ? v[i].lane[k < EC_LANES - 1 ? k + 1 : 0] : right;
            const float along = __fadd_rn(before, after);
            sum.lane[k] = AXES > 1 ? __fadd_rn(across.lane[k], along) : along;
        }
        if (AXES > 1 && i == ROWS - 2)
            beyond = ec_row_below(&s->rooms, turn);
        if (AXES > 1 && i < ROWS - 1)
            across = sum_of(v[i], i < ROWS - 2 ? v[i + 2 < ROWS ? i + 2 : 0] : beyond);
        DM_UNROLL
        for (int k = 0; k < EC_LANES; k++) {
            const float next = ec_next(p, v[i].lane[k], sum.lane[k]);
            if (!(shape & 1u << (i % 4 * EC_LANES + k)))
                v[i].lane[k] = next;
        }
    }
}

/* ---- A block's tiles: `first`, and every gridDim.x-th after it, of which 32 are looked at together ---- */

struct walk {
    uint32_t first, alive; /* of the 32: the first one's index; a bit for each that is still to be visited */
};

/* Tiles where nothing happens are passed over: both field memories hold what they are worth from the beginning. */
DM_DEVICE void look(const ec_tiles &t, const ec_pass &pass, walk *w) {
    const int64_t index = w->first + (int64_t)threadIdx.x * gridDim.x;
    unsigned around = 0;
    if (index < t.count) {
        const ec_tile_place at = ec_tile_at(t, index);
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++)
                if (at.x + x >= 0 && at.x + x < t.x && at.y + y >= 0 && at.y + y < t.y)
                    around |= pass.before[index + y * t.x + x];
        if (around != EC_ALIVE && threadIdx.y == 0)
            pass.after[index] = pass.before[index];
    }
    w->alive = __ballot_sync(EC_WHOLE, around == EC_ALIVE);
}

DM_DEVICE walk walk_from(const ec_tiles &t, const ec_pass &pass, uint32_t first) {
    walk w = {first, 0};
    look(t, pass, &w);
    return w;
}

/* The next tile to visit, if there is one. */
DM_DEVICE bool walk_on(const ec_tiles &t, const ec_pass &pass, walk *w, uint32_t *index) {
    while (!w->alive) {
        if (t.count - w->first <= 32 * (int64_t)gridDim.x)
            return false;
        w->first += 32 * gridDim.x;
        look(t, pass, w);
    }
    *index = w->first + (uint32_t)(__ffs((int)w->alive) - 1) * gridDim.x;
    w->alive &= w->alive - 1;
    return true;
}

/* ---- The kernel ---- */

/* Grid: t.blocks. Shared memory: 107 or 214 KB. Reads 4 bytes per element of tiles and halos, and 1/8 for the shape;
 * writes 4. */
template <int AXES, int WARPS>
static __global__ void __launch_bounds__(32 * WARPS, LARGE / WARPS)
    steps_plane(const __grid_constant__ ec_stage p, const __grid_constant__ ec_tiles t,
                const __grid_constant__ ec_pass pass) {
    DM_DYNAMIC_SHARED(float4, memory);
    shared<WARPS> &s = *(shared<WARPS> *)memory;
    const int lane = (int)threadIdx.x, warp = (int)threadIdx.y;
    walk w = walk_from(t, pass, blockIdx.x);
    uint32_t index;
    bool more = walk_on(t, pass, &w, &index);
    ec_spot next;
    if (more) {
        next = ec_spot_of<WARPS, ROWS>(p, t, pass, index);
        ec_fetch(p, next, pass, &s.next[warp]);
    }
    int turn = 0;
    while (more) {
        const ec_spot now = next;
        const uint32_t visited = index;
        ec_row v[ROWS];
        ec_take(now, pass, &s.next[warp], v, s.shape[warp]);
        more = walk_on(t, pass, &w, &index);
        if (more) {
            next = ec_spot_of<WARPS, ROWS>(p, t, pass, index);
            ec_fetch(p, next, pass, &s.next[warp]);
        }
#pragma unroll 4
        for (int step = 0; step < pass.steps; step++, turn ^= 1) {
            if (AXES > 1)
                ec_exchange(&s.rooms, turn, v[0], v[ROWS - 1]);
            step_rows<AXES>(p, v, &s, turn);
        }
        ec_store(now, pass, &s.rooms.room[turn][warp], v);
        bool moves = (pass.before[visited] & EC_MOVES) != 0;
        if (!moves)
            moves = __syncthreads_or(ec_moved(now, pass, v));
        if (lane == 0 && warp == 0)
            pass.after[visited] = (uint8_t)(pass.before[visited] | (moves ? EC_MOVES : 0));
    }
}

/* ---- Launches ---- */

template <int AXES, int WARPS>
static cudaError_t launch(const ec_stage &p, const ec_tiles &t, const ec_pass &pass, cudaStream_t stream) {
    const size_t bytes = sizeof(shared<WARPS>);
    const cudaError_t error =
        cudaFuncSetAttribute(steps_plane<AXES, WARPS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess)
        DM_LAUNCH((steps_plane<AXES, WARPS>), (unsigned)t.blocks, dim3(32, WARPS), bytes, stream, p, t, pass);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

template <int AXES>
static cudaError_t launch(const ec_stage &p, const ec_tiles &t, const ec_pass &pass, cudaStream_t stream) {
    return t.warps == SMALL ? launch<AXES, SMALL>(p, t, pass, stream) : launch<AXES, LARGE>(p, t, pass, stream);
}

cudaError_t ec_steps_plane(const ec_stage *p, const ec_tiles *t, int pass, int steps, cudaStream_t stream) {
    const ec_pass of = {
        p->field[pass % 2], p->field[(pass + 1) % 2],  t->flags[pass % 2], t->flags[(pass + 1) % 2], steps,
        halo_of(t->depth),  p->axes < 2 ? 0 : t->depth};
    return p->axes < 2 ? launch<1>(*p, *t, of, stream) : launch<2>(*p, *t, of, stream);
}
