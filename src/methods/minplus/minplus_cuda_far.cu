/* minplus/cuda, the far search: what the near search left open, exact at any distance.
 *
 *     d2(y) = min over rows j of f(j) + wy2 (y - j)^2    in one column
 *
 * A block takes a strip, or a piece of one, if it has open units. Those of planes to which few rows matter are solved from
 * these (minplus_cuda_few.cuh), all others together, from coarse to fine (minplus_cuda_levels.cuh).
 */
#include "methods/minplus/minplus_cuda_few.cuh"
#include "methods/minplus/minplus_cuda_levels.cuh"
#include "methods/minplus/minplus_cuda_units.cuh"

/* The units left open, as bits; whether there are any. */
DM_DEVICE bool find_open(const mc_stage &p, const work &w, uint32_t *units) {
    const uint8_t *open = p.open + (w.plane * p.strips + w.strip) * p.units + w.u0;
    bool any = false;
    for (int32_t i = (int)threadIdx.x; i < ((w.units + 31) & -32); i += (int)blockDim.x) {
        const uint32_t bits = __ballot_sync(MC_WHOLE, i < w.units && open[i]);
        if (i % 32 == 0)
            units[i / 32] = bits;
        any |= bits != 0;
    }
    return __syncthreads_or(any);
}

/* Where the winners of a unit that is left are: rows, less p.low. */
typedef struct reach {
    uint16_t first, last;
} reach;

enum {
    WORTH = 208,      /* rows within reach, per unit of the piece, that cost what the levels do, */
    WORTH_SMALL = 64, /* or take as long, where blocks share a strip: few teams have units then */
    LONG = 512,       /* rows within reach of one unit that take as long by themselves, there */
    FEW_ROWS = 32,    /* that have a site, in all: too few for levels */
};

/* What units are left, and how to solve them. */
typedef enum plan { NOTHING, EACH_ALONE, ALL_TOGETHER } plan;

/* Solves those of the units that few rows matter to. `sum` and `most` are the block's. */
template <row_results HOW>
DM_DEVICE plan solve_few(const mc_stage &p, const work &w, uint32_t *units, reach *reaches, int32_t *sum, int32_t *most,
                         bool *none) {
    enum { HEIGHT = MC_UNIT / 2 }; /* registers */
    const int lane = (int)threadIdx.x % 32;
    if (threadIdx.x == 0)
        *sum = *most = 0;
    __syncthreads();
    for (int32_t i = (int)threadIdx.x / 32; i < w.units; i += (int)blockDim.x / 32) {
        if (!(units[i / 32] >> i % 32 & 1))
            continue;
        const int32_t y0 = (w.u0 + i) * MC_UNIT;
        const few found = find_rows(p, w.entries, lane, y0);
        if (found.count <= MOST)
            for (int32_t y = y0; y < min(y0 + MC_UNIT, p.height); y += HEIGHT)
                *none |= solve_rows<HOW, HEIGHT>(p, w, y, found);
        if (lane != 0)
            continue;
        if (found.count <= MOST) {
            atomicAnd(&units[i / 32], ~(1u << i % 32));
        } else {
            const int32_t rows = found.last - found.first + 1;
            reaches[i].first = (uint16_t)(found.first - p.low), reaches[i].last = (uint16_t)(found.last - p.low);
            atomicAdd(sum, rows);
            atomicMax(most, rows);
        }
    }
    __syncthreads();
    const bool alone =
        p.parts > 1 ? *most <= LONG && *sum <= w.units * WORTH_SMALL : *most <= WIDEST && *sum <= w.units * WORTH;
    return *most == 0 ? NOTHING : alone ? EACH_ALONE : ALL_TOGETHER;
}

/* Whether row j has a site. All columns of a row have one, or none. */
template <bool SLOW> DM_DEVICE bool has_site(const mc_stage &p, const work &w, int32_t j) {
    if (SLOW)
        return mc_alive(p, w.plane)[j];
    return has_any(w.entries[j]);
}

/* The rows that have a site: a list, unless they follow one another and are STEP at least. */
template <bool SLOW> DM_DEVICE void list_rows(const mc_stage &p, work *w, uint16_t *list, int32_t *counts) {
    int32_t first = p.low + p.rows, last = p.low - 1, count = 0; /* counts[0..2] */
    if (threadIdx.x == 0)
        counts[0] = first, counts[1] = last, counts[2] = 0;
    __syncthreads();
#pragma unroll 8
    for (int32_t j = p.low + (int)threadIdx.x; j < p.low + p.rows; j += (int)blockDim.x)
        if (has_site<SLOW>(p, *w, j))
            first = min(first, j), last = j, count++;
    if (count) {
        atomicMin(&counts[0], first);
        atomicMax(&counts[1], last);
        atomicAdd(&counts[2], count);
    }
    __syncthreads();
    w->list = NULL;
    w->first = counts[0];
    w->count = counts[2];
    const bool follow = counts[1] - counts[0] + 1 == w->count && w->count >= STEP;
    __syncthreads();
    if (follow)
        return;
    w->count = 0;
    for (int32_t start = 0; start < p.rows; start += (int)blockDim.x) {
        const int32_t j = start + (int)threadIdx.x;
        w->count = append_rows(j < p.rows && has_site<SLOW>(p, *w, p.low + j), j, list, w->count, counts);
    }
    if (threadIdx.x < STEP) /* the last row again */
        list[w->count + (int32_t)threadIdx.x] = w->count ? list[w->count - 1] : 0;
    __syncthreads();
    w->list = list;
}

/* z stage: the values of rows that have a site into shared memory, as many as fit. */
DM_DEVICE void copy_values(const mc_stage &p, work *w, int32_t *values) {
    enum { AT_ONCE = 8 };
    const int warps = (int)blockDim.x / 32, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    w->values = mc_row(p.source, w->plane, 0) + (int64_t)w->strip * 32 * 4;
    w->shared_values = (const int2 *)values + threadIdx.x % TEAM;
    const char *from = w->values + lane_column(p, w->strip, lane) * 4;
    const int32_t count = min(w->list ? w->count + STEP : w->count /* with the padding */, p.value_rows);
    w->held = count;
    if (!w->count)
        return;
    for (int32_t start = warp; start < count; start += warps * AT_ONCE) {
        int32_t value[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int32_t at = min(start + i * warps, count - 1), row = w->list ? w->list[at] : w->first + at;
            value[i] = __ldcs((const int32_t *)(from + row * p.source.stride[2]));
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (start + i * warps < count)
                values[(start + i * warps) * 32 + lane] =
                    p.sites == MC_SITES_NONE ? value[i] : mc_offset_square(p, (uint32_t)value[i]);
    }
    __syncthreads();
}

/* The first of two tasks for a warp's two teams. */
DM_DEVICE int32_t next_tasks(int32_t *taken) {
    int32_t start = 0;
    if (threadIdx.x % 32 == 0)
        start = atomicAdd(taken, 2);
    return __shfl_sync(MC_WHOLE, start, 0);
}

/* The first position whose row is p.low + j at least. */
DM_DEVICE int32_t position_of(const mc_stage &p, const work &w, int32_t j) {
    if (!w.list)
        return min(max(p.low + j - w.first, 0), w.count);
    return first_from(w.list, w.count, j);
}

/* Where the winners of a unit are: the rows within its reach, or, without `reaches`, what the levels found. */
template <bool SLOW>
DM_DEVICE bracket bracket_of(const mc_stage &p, const work &w, const shared &s, const reach *reaches, int32_t i,
                             bool wanted) {
    bracket b = {wanted, 0, -1};
    if (wanted && !reaches)
        b.first = first_of(s, i), b.last = last_of<SLOW>(w, s, i + 1);
    else if (wanted && w.count <= FEW_ROWS)
        b.last = w.count - 1;
    else if (wanted)
        b.first = position_of(p, w, reaches[i].first), b.last = position_of(p, w, reaches[i].last + 1) - 1;
    return b;
}

/* The units that are left: a team to a unit, or to its quarters where units are few; and then the whole block to each of those
 * that would take a team long. */
template <bool SLOW, row_results HOW>
DM_DEVICE bool solve_units(const mc_stage &p, const work &w, const shared &s, uint32_t *units, const reach *reaches,
                           int32_t *taken) {
    const int team = (int)threadIdx.x / TEAM, teams = (int)blockDim.x / TEAM;
    const int32_t sharing = w.units * 4 <= teams ? 4 : w.units * 2 <= teams ? 2 : 1;
    const int32_t long_unit = p.parts > 1 ? 256 : 1024;
    const int count = QUARTERS / sharing;
    bool none = false, left = false;
    for (int32_t start; (start = next_tasks(taken)) < w.units * sharing;) {
        const int32_t task = start + team % 2, i = min(task / sharing, w.units - 1);
        const bool mine = task < w.units * sharing && (units[i / 32] >> i % 32 & 1);
        bracket b = bracket_of<SLOW>(p, w, s, reaches, i, mine);
        const uint32_t lengthy = __ballot_sync(MC_WHOLE, b.last - b.first >= long_unit);
        if (lengthy >> (team % 2 * TEAM) & 0xFFFF) { /* in any column of the strip */
            b.wanted = false, b.first = 0, b.last = -1;
            left = true;
        } else if (mine && task % sharing == 0 && threadIdx.x % TEAM == 0) {
            atomicOr(&units[MC_MOST_UNITS / 32 + i / 32], 1u << i % 32);
        }
        if (__any_sync(MC_WHOLE, b.wanted))
            none |= solve_unit<SLOW, HOW>(p, w, i, b, task % sharing * count, count);
    }
    if (!__syncthreads_or(left))
        return none;
    for (int32_t i = 0; i < w.units; i++)
        if (units[i / 32] & ~units[MC_MOST_UNITS / 32 + i / 32] & 1u << i % 32)
            none |= solve_long<SLOW, HOW>(p, w, s, i, bracket_of<SLOW>(p, w, s, reaches, i, true));
    return none;
}

/* The block's next piece: they are drawn, for they differ. The first wait is for those who still read the last piece's. */
DM_DEVICE uint32_t next_piece(const mc_stage &p, uint32_t *drawn) {
    __syncthreads();
    if (threadIdx.x == 0)
        *drawn = atomicAdd(p.any_open + MC_TAKEN, 1);
    __syncthreads();
    return *drawn;
}

/* Grid: any; blocks take pieces of strips. */
template <bool SLOW, row_results HOW>
static __global__ void __launch_bounds__(SLOW ? MC_Z_THREADS : MC_PLANE_THREADS, SLOW ? 1 : 2)
    far_strips(const __grid_constant__ mc_stage p) {
    DM_DYNAMIC_SHARED(char, memory);
    __shared__ uint32_t units[2 * MC_MOST_UNITS / 32]; /* left open; of those, solved by teams */
    __shared__ reach reaches[SLOW ? 1 : MC_MOST_UNITS];
    __shared__ int32_t counts[32], taken, sum, most;
    __shared__ uint32_t drawn;
    dm_let_next_begin();
    if (!p.any_open[MC_BLIND] && (p.mixed || !p.any_open[MC_DEEP]))
        return;
    const shared s = shared_split(p, memory);
    uint16_t *list = p.list + (int64_t)blockIdx.x * p.list_pitch;
    bool none = false;
    for (uint32_t piece; (piece = next_piece(p, &drawn)) < (uint32_t)(p.planes * p.strips * p.parts);) {
        const int64_t column = piece / (uint32_t)p.parts;
        if (by_corners(p, column))
            continue;
        work w;
        w.u0 = (int32_t)(piece - column * p.parts) * p.part_units;
        w.units = min(p.part_units, p.units - w.u0);
        w.plane = column / p.strips;
        w.strip = (int32_t)(column - w.plane * p.strips);
        for (int c = 0; c < 2; c++)
            w.column[c] = lane_column(p, w.strip, (int)threadIdx.x % TEAM * 2 + c);
        if (!find_open(p, w, units))
            continue;
        w.entries = SLOW ? NULL : mc_entries(p, w.plane, w.strip);
        const plan left = SLOW ? ALL_TOGETHER : solve_few<HOW>(p, w, units, reaches, &sum, &most, &none);
        if (left == NOTHING)
            continue;
        if (threadIdx.x == 0)
            taken = 0; /* there are waits before it is used, */
        if (threadIdx.x < MC_MOST_UNITS / 32)
            units[MC_MOST_UNITS / 32 + threadIdx.x] = 0; /* and these */
        list_rows<SLOW>(p, &w, list, counts);
        if (SLOW)
            copy_values(p, &w, s.values);
        const bool levels = left == ALL_TOGETHER && (SLOW || w.count > FEW_ROWS);
        if (levels)
            find_winners<SLOW>(p, w, s, units);
        none |= solve_units<SLOW, HOW>(p, w, s, units, levels ? NULL : reaches, &taken);
    }
    mc_raise(p, none);
}

template <bool SLOW, row_results HOW> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    const cudaError_t error = cudaFuncSetAttribute((const void *)far_strips<SLOW, HOW>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, p->column_bytes);
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH((far_strips<SLOW, HOW>), (unsigned)p->blocks, (unsigned)p->column_threads, (size_t)p->column_bytes,
              stream, *p);
    return cudaGetLastError();
}

template <bool SLOW> static cudaError_t launch(const mc_stage *p, cudaStream_t stream) {
    switch (results_of(p)) {
    case ALL_ROOTS: return launch<SLOW, ALL_ROOTS>(p, stream);
    case ALL_LARGE_ROOTS: return launch<SLOW, ALL_LARGE_ROOTS>(p, stream);
    case ANY_RESULTS: return launch<SLOW, ANY_RESULTS>(p, stream);
    default: return launch<SLOW, WITH_SITES>(p, stream);
    }
}

cudaError_t mc_far(const mc_stage *p, cudaStream_t stream) {
    return p->source.data ? launch<true>(p, stream) : launch<false>(p, stream);
}
