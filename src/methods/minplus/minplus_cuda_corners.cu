/* minplus/cuda, the corner search: units of planes that the near search left open, each from those rows that can win in it
 * (minplus_cuda_corners.cuh: which rows these are; minplus_cuda_corner_unit.cuh: how a block finds and evaluates them).
 *
 * Of large volumes, and of strips of other planes in which little is open, blocks look for open units when the near search has ended.
 * In planes of middle size each unit has a block, the search begins when the near search has, and takes each unit as soon as that is
 * done with it.
 */
#include "methods/minplus/minplus_cuda_corner_unit.cuh"

/* Whether a unit whose rivals are known is one for corners: of volumes all are. In large planes offers of rows that can win must be
 * below 2^24, as they are where sites are nearer than 2^11.5, what is added being 2^22 at most, by the weight; and where more rows are
 * within reach the far search, which shares work among units, takes less. */
DM_DEVICE bool suits(const mc_stage &p, const corner_room &room) {
    enum { MOST_REACH = 1024 };
    return !p.few || (room.farthest < 1 << 23 && room.reach <= MOST_REACH);
}

/* For the whole block: what is open of a unit, or nothing. */
template <bool SITES> DM_DEVICE void solve_open(const mc_stage &p, uint32_t number, uint32_t strip, corner_room &room) {
    unit u = unit_at(p, number);
    u.open &= p.open[number];
    const rectangle all = rows_of(p, u, top_of(u), bottom_of(u));
    find_rivals(p, u, all, sample_of(p, u), room);
    if (!suits(p, room)) {
        if (threadIdx.x == 0) /* the far search has what is left of the strip */
            atomicOr(p.open_rows + strip, (uint32_t)MC_MANY);
        __syncthreads();
        return;
    }
    if (threadIdx.x == 0)
        p.open[number] = 0;
    const int32_t i0 = warp_number() * HEIGHT, end = end_within(p, u, all, room);
    int32_t best[HEIGHT], from[HEIGHT];
    set_none<false, HEIGHT>(best);
    for (int32_t start = first_within(u, all, room); start < end;) {
        const int32_t count = list_some(u, all, &start, end, room);
        if (u.open >> i0 / HEIGHT & 1)
            take_listed<HEIGHT, SITES>(p, u, i0, count, room, best, from);
        __syncthreads();
    }
    if (!(u.open >> i0 / HEIGHT & 1))
        return;
    if (SITES)
        store_sites<HEIGHT>(p, u, i0, best, from);
    else
        store_unit<HEIGHT, true>(p, u, i0, best);
}

/* Open units, wherever they are. Grid: any; blocks have some of the units. */
template <bool SITES>
static __global__ void __launch_bounds__(THREADS, SITES ? 4 : 8) search_some(const __grid_constant__ mc_stage p) {
    __shared__ corner_room room;
    dm_wait_for_last();
    if (p.any_open[MC_DEEP] || (p.few && p.any_open[MC_BLIND]))
        for_wanted((uint32_t)(p.planes * p.strips * p.units),
                   [&](uint32_t i) { return p.open[i] && by_corners(p, mc_over(i, p.by_units)); },
                   [&](uint32_t i) { solve_open<SITES>(p, i, mc_over(i, p.by_units), room); });
}

/* ---- Units of planes of middle size ---- */

/* For the whole block: when the near search is done with a unit; what it left open of that. */
DM_DEVICE uint32_t wait_for_near(const mc_stage &p, uint32_t at, int32_t height) {
    __shared__ uint32_t known;
    if (threadIdx.x == 0) {
        uint32_t told;
        while ((told = mc_told(p.finished[at])) % MC_FINISHED_OPEN < (uint32_t)height)
            __nanosleep(20);
        known = told;
    }
    __syncthreads();
    return known / MC_FINISHED_OPEN;
}

/* Where more rows can win than find room, as around the centre of a circle, a unit is shared: its rows of pixels are parted among
 * other blocks, *sharers*, whose warps have some of the rows each. These come after three quarters of the units' blocks, and again
 * after the others: two rounds, whose sharers wait until all that have units know whether they share. So blocks only ever wait for
 * such as were begun before them. */
enum {
    PART = 8, /* rows of pixels */
    PARTS = MC_UNIT / PART,
    SHARERS = 128, /* of a round */
};

/* A round: which; how many units, the first of which is `first`. */
typedef struct turn {
    uint32_t round, units, first;
} turn;

/* By one thread: whether the block shares its unit. */
DM_DEVICE void decide(const mc_stage &p, const turn &t, uint32_t own, bool shares) {
    if (shares) {
        p.shared[t.first + atomicAdd(p.any_open + MC_SHARED + t.round, 1u)] = own + 1;
        __threadfence();
    }
    atomicAdd(p.any_open + MC_DECIDED + t.round, 1u);
}

/* By one thread: the unit that a round shares as its i-th one, from 1 on, as soon as it does; 0 if there are not as many. */
DM_DEVICE uint32_t wait_for_shared(const mc_stage &p, const turn &t, uint32_t i) {
    for (;;) {
        const bool all = mc_told(p.any_open[MC_DECIDED + t.round]) == t.units;
        __threadfence();
        const uint32_t number = mc_told(p.shared[t.first + i]);
        if (number || all)
            return number;
        __nanosleep(200);
    }
}

/* For the whole block: rows of pixels from i0 on. */
template <bool UNITS> DM_DEVICE void solve_part(const mc_stage &p, const unit &u, int32_t i0, corner_room &room) {
    static_assert(sizeof room.row >= WARPS * PART * 32 * sizeof(int32_t) && PART % WARPS == 0, "room for results");
    enum { EACH = PART / WARPS };
    const int warp = warp_number(), lane = (int)threadIdx.x % 32;
    const rectangle r = rows_of(p, u, i0, min(i0 + PART, u.height) - 1);
    find_rivals(p, u, r, sample_of(p, u), room);
    int32_t best[PART];
    set_none<false, PART>(best);
    const int32_t end = end_within(p, u, r, room);
    for (int32_t start = first_within(u, r, room); start < end;) {
        const int32_t count = list_some(u, r, &start, end, room);
        for (int32_t i = warp * 4; i < count; i += WARPS * 4) {
            site_row row[4];
#pragma unroll
            for (int n = 0; n < 4; n++)
                row[n] = room.row[min(i + n, count - 1)];
            take_rows<PART>(u, i0, row, best);
        }
        __syncthreads();
    }
    int32_t *results = (int32_t *)room.row; /* [row][warp][lane] */
#pragma unroll
    for (int i = 0; i < PART; i++)
        results[(i * WARPS + warp) * 32 + lane] = best[i];
    __syncthreads();
    int32_t least[EACH];
    set_none<false, EACH>(least);
#pragma unroll
    for (int i = 0; i < EACH; i++)
        for (int other = 0; other < WARPS; other++)
            least[i] = min(least[i], results[((warp * EACH + i) * WARPS + other) * 32 + lane]);
    const int32_t from = warp * EACH;
    store_offered<false, UNITS, EACH>(p, u.plane, u.strip, u.y0 + i0 + from, from, HEIGHT, least);
    __syncthreads();
}

/* For the whole block: every SHARERS-th part of what the round shares. */
template <bool UNITS> DM_DEVICE void take_parts(const mc_stage &p, const turn &t, uint32_t sharer, corner_room &room) {
    __shared__ uint32_t shared;
    for (uint32_t part = sharer; part < t.units * PARTS; part += SHARERS) {
        if (threadIdx.x == 0)
            shared = wait_for_shared(p, t, part / PARTS);
        __syncthreads();
        const uint32_t number = shared;
        if (number == 0)
            break;
        const unit u = unit_at(p, number - 1);
        const int32_t i0 = (int32_t)(part % PARTS) * PART;
        if (wait_for_near(p, number - 1, u.height) >> i0 / HEIGHT & 1)
            solve_part<UNITS>(p, u, i0, room);
    }
}

/* Grid: rounds of blocks. UNITS: see store_pixels(). */
template <bool UNITS>
static __global__ void __launch_bounds__(THREADS, 8)
    search_units(const __grid_constant__ mc_stage p, uint32_t units, uint32_t first_units) {
    __shared__ corner_room room;
    const uint32_t first_blocks = first_units + SHARERS;
    const bool first = blockIdx.x < first_blocks;
    const turn t = first ? turn{0, first_units, 0} : turn{1, units - first_units, first_units};
    const uint32_t place = blockIdx.x - (first ? 0 : first_blocks), own = t.first + place;
    if (place >= t.units) {
        take_parts<UNITS>(p, t, place - t.units, room);
        dm_wait_for_last(); /* so that this grid does not end before that one */
        return;
    }
    unit u = unit_at(p, own);
    const uint2 sample = sample_of(p, u);
    u.open = wait_for_near(p, own, u.height);
    bool shares = false;
    int32_t count = 0;
    if (u.open) {
        const rectangle all = rows_of(p, u, top_of(u), bottom_of(u));
        find_rivals(p, u, all, sample, room);
        const int32_t end = end_within(p, u, all, room);
        int32_t start = first_within(u, all, room);
        count = list_some(u, all, &start, end, room);
        shares = start < end;
    }
    if (threadIdx.x == 0)
        decide(p, t, own, shares);
    if (!u.open || shares)
        return;
    const int32_t warp = warp_number();
    if (__popc(u.open) > WARPS / 2) {
        if (u.open >> warp & 1)
            solve_rows<HEIGHT, UNITS>(p, u, warp * HEIGHT, count, room);
    } else { /* two warps to a quarter */
        const uint32_t quarter = warp < 2 ? u.open : u.open & (u.open - 1);
        if (quarter)
            solve_rows<HEIGHT / 2, UNITS>(p, u, (__ffs((int)quarter) - 1) * HEIGHT + warp % 2 * (HEIGHT / 2), count,
                                          room);
    }
}

cudaError_t mc_corners(const mc_stage *p, cudaStream_t stream) {
    const uint32_t units = (uint32_t)(p->planes * p->strips * p->units);
    if (p->mixed || p->few) {
        const uint32_t most = (uint32_t)p->resident;
        const uint32_t blocks = units < most ? units : most;
        if (p->sites == MC_SITES_NONE)
            DM_LAUNCH_EARLY(search_some<false>, blocks, THREADS, 0, stream, *p);
        else
            DM_LAUNCH_EARLY(search_some<true>, blocks, THREADS, 0, stream, *p);
    } else {
        const uint32_t first_units = units - units / 4;
        const uint32_t blocks = units + MC_ROUNDS * SHARERS;
        if (p->in_unit)
            DM_LAUNCH_IN_ORDER(search_units<true>, blocks, THREADS, 0, stream, *p, units, first_units);
        else
            DM_LAUNCH_IN_ORDER(search_units<false>, blocks, THREADS, 0, stream, *p, units, first_units);
    }
    return cudaGetLastError();
}
