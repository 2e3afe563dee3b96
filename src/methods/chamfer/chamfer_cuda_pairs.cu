/* chamfer/cuda's sweeps through bands in 16-bit lanes: the twins of those in chamfer_cuda_sweep.cu, for distances without
 * sites. A block is a warp, and a warp is a strip of 512 columns, 16 to a thread. */
#include "methods/chamfer/chamfer_cuda_pairs.cuh"

enum { ROW = CC_PAIRS * CP_PITCH };

/* Where a block works: turn by turn through strips, bands, planes. */
struct place {
    cc_strip strip;
    cp_source source;
    int64_t plane, band, row; /* row: its first of all planes' */
};

template <bool KNIGHTS> DM_DEVICE place place_of(const cc_stage &p, int64_t turn, int64_t strips) {
    place here;
    here.strip = cc_strip_at<CP_LANES>(p, cc_take(&turn, strips), KNIGHTS);
    here.band = cc_take(&turn, p.bands);
    here.plane = turn;
    here.row = here.plane * p.height + here.band * CC_BAND;
    here.source = cp_source_of(p, here.strip, here.row, (int)min((int64_t)CC_BAND, p.height - here.band * CC_BAND));
    return here;
}

DM_DEVICE bool any_site(const cc_stage &p, const place &here) {
    return cp_any_site(p, here.strip, here.row, here.source.rows);
}

/* Grid: a block for each strip, band and plane, in turns. Reads 3/8 byte per element, writes two or four lanes for the
 * column of a band. */
template <bool KNIGHTS>
static __global__ void __launch_bounds__(32) alone(const __grid_constant__ cc_stage p, int64_t strips) {
    __shared__ uint32_t room[CP_ROOM];
    for (int64_t turn = blockIdx.x; turn < strips * p.bands * p.planes; turn += gridDim.x) {
        const place here = place_of<KNIGHTS>(p, turn, strips);
        const cp_base b = cp_base_of(p, here.source, any_site(p, here), [] { return UINT32_MAX; });
        const uint32_t origin = cp_origin(p, b);
        cp_rows down = {cp_empty(), cp_empty()}, up = down;
        uint32_t *mine = room + threadIdx.x;
        cp_words words = cp_fetch(here.source, 0);
#pragma unroll 2
        for (int y = 0; y < here.source.rows; y++, mine += ROW) {
            const cp_row row = cp_begin(p, here.source, words, b);
            words = cp_fetch(here.source, y + 1);
            cp_rest(mine, row);
            cp_look<KNIGHTS>(p, row, &down);
        }
#pragma unroll 2
        while (mine != room + threadIdx.x)
            cp_look<KNIGHTS>(p, cp_resume(mine -= ROW), &up);
        cp_store_rows<KNIGHTS>(p, p.own[0], here.strip, here.plane, here.band, down, origin);
        cp_store_rows<KNIGHTS>(p, p.own[1], here.strip, here.plane, here.band, up, origin);
    }
}

/* ---- Out ---- */

/* A strip on its way out: threads take a row's own columns in turn, 32 apart, `columns` of them from this thread's first one
 * on, and find them where two threads of each 32 have laid them to rest. */
struct going_out {
    int64_t at[DM_NDIM]; /* of the band's first row */
    int32_t columns, from;
    uint32_t half; /* chooses this thread's half of a pair, below the upper half of 2^23 as a float */
    uint32_t origin;
    bool plain; /* all are distances that count, and floats side by side */
};

template <bool KNIGHTS>
DM_DEVICE going_out take_out(const dm_elements &e, const cc_stage &p, const place &here, const cp_base &b) {
    const int32_t thread = (int32_t)threadIdx.x, around = KNIGHTS ? 2 : 1;
    going_out out;
    dm_element_split(&e, here.row * p.width, out.at);
    out.at[DM_X] = here.strip.first + thread;
    out.columns = (int32_t)min(p.width - here.strip.first, (int64_t)512 - 32 * around) - thread;
    out.from = thread % CC_PAIRS * CP_PITCH + around + thread / CP_LANES;
    out.half = thread / CC_PAIRS % 2 ? 0x5432 : 0x5410;
    out.origin = cp_origin(p, b);
    out.plain = b.some && p.quick && !p.lanes && b.base + CC_PAIR_CAP < min(p.most, 1u << 24) &&
                e.arrays.distance.stride[DM_X] == sizeof(float);
    return out;
}

/* A row, to where its first column's distance goes. With 2^23 added, a lane is the lower bits of a float; the distance is that
 * less 2^23 - base, all of them whole numbers below 2^24 and so exact. */
template <bool KNIGHTS> DM_DEVICE void emit_floats(const going_out &out, const uint32_t *row, float *to) {
    const float less = 8388608.0f - (float)out.origin;
#pragma unroll
    for (int i = 0; i < (KNIGHTS ? 14 : 15); i++)
        if (32 * i < out.columns)
            to[32 * i] = __uint_as_float(__byte_perm(row[2 * i], 0x4B00, out.half)) - less;
}

DM_DEVICE void emit_row(const dm_elements &e, const cc_stage &p, const going_out &out, const uint32_t *row, int y,
                        int64_t number, unsigned *raised) {
    int64_t at[DM_NDIM] = {out.at[0], out.at[1], out.at[2] + y, out.at[DM_X]};
#pragma unroll 1
    for (int i = 0; 32 * i < out.columns; i++, at[DM_X] += 32) {
        const uint32_t distance = __byte_perm(row[2 * i], 0, out.half) + out.origin;
        if (p.lanes)
            ((uint32_t *)p.lanes)[number * p.words * 32 + at[DM_X]] = distance;
        else
            cc_emit<uint32_t>(e, p, at, 0, distance, raised);
    }
}

/* The sweep upwards, from what comes from below, and out. */
template <bool KNIGHTS, bool PLAIN>
DM_DEVICE void rise(const dm_elements &e, const cc_stage &p, const place &here, const going_out &out, cp_rows seen,
                    uint32_t *room, unsigned *raised) {
    const int64_t apart = e.arrays.distance.stride[2];
    int y = here.source.rows;
    char *to = PLAIN ? dm_element_address(&e.arrays.distance, out.at) + y * apart : NULL;
    for (uint32_t *row = room + y * ROW; y-- > 0;) {
        row -= ROW;
        cp_look<KNIGHTS>(p, cp_resume(row + threadIdx.x), &seen);
        cp_rest(row + threadIdx.x, seen.one);
        __syncwarp();
        if (PLAIN)
            emit_floats<KNIGHTS>(out, row + out.from, (float *)(to -= apart));
        else
            emit_row(e, p, out, row + out.from, y, here.row + y, raised);
    }
}

/* Rows rest between the sweeps, and between the second one and their way out. Grid as `alone`. Reads 3/8 byte per element
 * and the carries, writes the outputs. */
template <bool KNIGHTS>
static __global__ void __launch_bounds__(32)
    finish(const __grid_constant__ dm_elements e, const __grid_constant__ cc_stage p, int64_t strips) {
    __shared__ uint32_t room[CP_ROOM];
    unsigned raised = 0;
    for (int64_t turn = blockIdx.x; turn < strips * p.bands * p.planes; turn += gridDim.x) {
        const place here = place_of<KNIGHTS>(p, turn, strips);
        const cp_lanes *above = cp_lanes_of(p, p.carry[0], here.strip, here.plane, here.band - 1);
        const cp_lanes *below = cp_lanes_of(p, p.carry[1], here.strip, here.plane, here.band + 1);
        const cp_base b = cp_base_of(p, here.source, any_site(p, here),
                                     [&] { return min(cp_least<KNIGHTS>(p, above), cp_least<KNIGHTS>(p, below)); });
        cp_rows seen = cp_load_rows<KNIGHTS>(p, above, b.base);
        const cp_rows after = cp_load_rows<KNIGHTS>(p, below, b.base);
        uint32_t *mine = room + threadIdx.x;
        cp_words words = cp_fetch(here.source, 0);
#pragma unroll 2
        for (int y = 0; y < here.source.rows; y++, mine += ROW) {
            const cp_row row = cp_begin(p, here.source, words, b);
            words = cp_fetch(here.source, y + 1);
            cp_look<KNIGHTS>(p, row, &seen);
            cp_rest(mine, seen.one);
        }
        const going_out out = take_out<KNIGHTS>(e, p, here, b);
        if (out.plain)
            rise<KNIGHTS, true>(e, p, here, out, after, room, &raised);
        else
            rise<KNIGHTS, false>(e, p, here, out, after, room, &raised);
        __syncwarp(); /* the next turn's rows rest in the same room */
    }
    dm_raise(&e, raised);
}

/* ---- Launches ---- */

static int64_t strips_of(const cc_stage *p) {
    const int64_t own = 32 * CP_LANES - 2 * cc_around(p);
    return (p->words * 32 + own - 1) / own;
}

cudaError_t cc_alone_in_pairs(const cc_stage *p, cudaStream_t stream) {
    const int64_t strips = strips_of(p);
    const unsigned blocks = dm_blocks(strips * p->bands * p->planes, 1, INT32_MAX);
    const cc_stage stage = *p;
    if (p->kept > 1)
        DM_LAUNCH(alone<true>, blocks, 32, 0, stream, stage, strips);
    else
        DM_LAUNCH(alone<false>, blocks, 32, 0, stream, stage, strips);
    return cudaGetLastError();
}

cudaError_t cc_finish_in_pairs(const dm_elements *e, const cc_stage *p, cudaStream_t stream) {
    const int64_t strips = strips_of(p);
    const unsigned blocks = dm_blocks(strips * p->bands * p->planes, 1, INT32_MAX);
    const dm_elements elements = *e;
    const cc_stage stage = *p;
    if (p->kept > 1)
        DM_LAUNCH(finish<true>, blocks, 32, 0, stream, elements, stage, strips);
    else
        DM_LAUNCH(finish<false>, blocks, 32, 0, stream, elements, stage, strips);
    return cudaGetLastError();
}
