/* chamfer/cuda's sweeps through bands: see chamfer_cuda.c. A block is a warp, and a warp is a strip. */
#include "methods/chamfer/chamfer_cuda.cuh"

enum { MOST_BLOCKS = INT32_MAX };

static int64_t strips_of(const cc_stage *p) {
    const int64_t own = 32 * CC_LANES - 2 * cc_around(p);
    return (p->words * 32 + own - 1) / own;
}

/* Where a block works: turn by turn through strips, bands, planes. */
struct place {
    int64_t strip, band, plane;
};

DM_DEVICE place place_of(int64_t turn, int64_t strips, int64_t bands) {
    const place at = {turn % strips, turn / strips % bands, turn / strips / bands};
    return at;
}

/* Grid: a block for each strip, band and plane, in turns. Reads 3/8 byte per element, writes two or four lanes for the
 * column of a band. */
template <class T, bool KNIGHTS>
static __global__ void __launch_bounds__(32) alone(const __grid_constant__ cc_stage p, int64_t strips) {
    __shared__ T room[CC_BAND * CC_LANES * 32];
    T *mine = room + threadIdx.x;
    for (int64_t turn = blockIdx.x; turn < strips * p.bands * p.planes; turn += gridDim.x) {
        const place here = place_of(turn, strips, p.bands);
        const cc_strip s = cc_strip_at<CC_LANES>(p, here.strip, KNIGHTS);
        const int64_t first = here.band * CC_BAND;
        const int rows = (int)min((int64_t)CC_BAND, p.height - first);
        cc_rows<T> down = {cc_empty<T>(p), cc_empty<T>(p)}, up = down;
        for (int y = 0; y < rows; y++) {
            const cc_row<T> row = cc_begin<T>(p, s, here.plane, first + y);
            cc_rest(mine, y, row);
            cc_look<T, KNIGHTS>(p, row, &down);
        }
        for (int y = rows - 1; y >= 0; y--)
            cc_look<T, KNIGHTS>(p, cc_resume(mine, y), &up);
        cc_store<T, KNIGHTS>(p, p.own[0], s, here.plane, here.band, down);
        cc_store<T, KNIGHTS>(p, p.own[1], s, here.plane, here.band, up);
    }
}

/* ---- Out ---- */

/* A thread's columns as float32, +inf beyond `most`. */
DM_DEVICE void emit_floats(const dm_elements &e, const cc_stage &p, const int64_t at[DM_NDIM], const uint32_t *lane,
                           unsigned *raised) {
    float value[CC_LANES];
#pragma unroll
    for (int k = 0; k < CC_LANES; k++) {
        const bool none = lane[k] > p.most;
        if (none && at[DM_X] + k < p.width)
            *raised |= DISTMAP_FLAG_NO_SITE;
        value[k] = none ? (float)INFINITY : (float)lane[k];
    }
    const int64_t stride = e.arrays.distance.stride[DM_X];
    char *to = dm_element_address(&e.arrays.distance, at);
    if (stride == sizeof(float) && (uintptr_t)to % sizeof(float4) == 0 && at[DM_X] + CC_LANES <= p.width) {
        ((float4 *)to)[0] = make_float4(value[0], value[1], value[2], value[3]);
        ((float4 *)to)[1] = make_float4(value[4], value[5], value[6], value[7]);
        return;
    }
#pragma unroll
    for (int k = 0; k < CC_LANES; k++)
        if (at[DM_X] + k < p.width)
            *(float *)(to + k * stride) = value[k];
}
DM_DEVICE void emit_floats(const dm_elements &, const cc_stage &, const int64_t[DM_NDIM], const uint64_t *,
                           unsigned *) {}

/* A thread's columns of a row, whose first is `at`: to where they go. `room` for them, a warp apart. */
template <class T>
DM_DEVICE void emit_row(const dm_elements &e, const cc_stage &p, const int64_t from[DM_NDIM], int64_t row,
                        int64_t start, const cc_row<T> &found, T *room, unsigned *raised) {
    if (p.lanes) {
        T *to = (T *)p.lanes + row * p.words * 32 + from[DM_X];
#pragma unroll
        for (int k = 0; k < CC_LANES; k++)
            to[k] = found.lane[k];
        return;
    }
    if (p.quick) {
        emit_floats(e, p, from, found.lane, raised);
        return;
    }
    cc_rest(room, 0, found);
    int64_t at[DM_NDIM] = {from[0], from[1], from[2], from[DM_X]};
#pragma unroll 1
    for (int k = 0; k < CC_LANES && at[DM_X] < p.width; k++, at[DM_X]++)
        cc_emit<T>(e, p, at, start, room[k * 32], raised);
}

/* Rows rest between the sweeps. Grid as `alone`. Reads 3/8 byte per element and the carries, writes the outputs. */
template <class T, bool KNIGHTS>
static __global__ void __launch_bounds__(32)
    finish(const __grid_constant__ dm_elements e, const __grid_constant__ cc_stage p, int64_t strips) {
    __shared__ T room[CC_BAND * CC_LANES * 32];
    T *mine = room + threadIdx.x;
    unsigned raised = 0;
    for (int64_t turn = blockIdx.x; turn < strips * p.bands * p.planes; turn += gridDim.x) {
        const place here = place_of(turn, strips, p.bands);
        const cc_strip s = cc_strip_at<CC_LANES>(p, here.strip, KNIGHTS);
        const int64_t first = here.band * CC_BAND;
        const int rows = (int)min((int64_t)CC_BAND, p.height - first);
        cc_rows<T> seen = cc_load<T, KNIGHTS>(p, p.carry[0], s, here.plane, here.band - 1);
        for (int y = 0; y < rows; y++) {
            cc_look<T, KNIGHTS>(p, cc_begin<T>(p, s, here.plane, first + y), &seen);
            cc_rest(mine, y, seen.one);
        }
        int64_t at[DM_NDIM];
        dm_element_split(&e, (here.plane * p.height + first) * p.width, at);
        at[DM_X] = s.column;
        seen = cc_load<T, KNIGHTS>(p, p.carry[1], s, here.plane, here.band + 1);
        for (int y = rows - 1; y >= 0; y--) {
            cc_look<T, KNIGHTS>(p, cc_resume(mine, y), &seen);
            const int64_t from[DM_NDIM] = {at[0], at[1], at[2] + y, at[DM_X]};
            if (s.own)
                emit_row<T>(e, p, from, here.plane * p.height + first + y, here.plane * p.height * p.width, seen.one,
                            mine + y * CC_LANES * 32, &raised);
        }
    }
    dm_raise(&e, raised);
}

/* ---- Launches ---- */

cudaError_t cc_alone(const cc_stage *p, cudaStream_t stream) {
    const int64_t strips = strips_of(p);
    const unsigned blocks = dm_blocks(strips * p->bands * p->planes, 1, MOST_BLOCKS);
    const cc_stage stage = *p;
#define LAUNCH(T, knights) DM_LAUNCH((alone<T, knights>), blocks, 32, 0, stream, stage, strips)
    CC_BY_LANE(p, LAUNCH);
#undef LAUNCH
    return cudaGetLastError();
}

cudaError_t cc_finish(const dm_elements *e, const cc_stage *p, cudaStream_t stream) {
    const int64_t strips = strips_of(p);
    const unsigned blocks = dm_blocks(strips * p->bands * p->planes, 1, MOST_BLOCKS);
    const dm_elements elements = *e;
    const cc_stage stage = *p;
#define LAUNCH(T, knights) DM_LAUNCH((finish<T, knights>), blocks, 32, 0, stream, elements, stage, strips)
    CC_BY_LANE(p, LAUNCH);
#undef LAUNCH
    return cudaGetLastError();
}
