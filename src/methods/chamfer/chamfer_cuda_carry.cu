/* chamfer/cuda: what leaves each band in truth, from band to band: the only part that is a chain.
 *
 * What comes from the band before goes through CC_BAND empty rows, and the band's own joins it. A block takes some bands
 * one after another, in a strip so wide that its own columns come out right: its warps carry a part of it each, and some
 * columns of their neighbours', which they get anew after every band, by way of shared memory. */
#include "methods/chamfer/chamfer_cuda.cuh"

enum { WARPS = 4, MOST_BLOCKS = INT32_MAX };

/* Columns: a warp's own, a block's, and the block's that are right in the end, after AT_ONCE bands. */
template <class T, bool KNIGHTS> struct widths {
    enum { KEPT = KNIGHTS ? 2 : 1, AT_ONCE = CC_AT_ONCE * 4 / KEPT / sizeof(T) };
    enum { AROUND = CC_BAND * KEPT, WARP = 32 * CC_LANES - 2 * AROUND, BLOCK = WARPS * WARP };
    enum { OWN = BLOCK - 2 * AROUND * (AT_ONCE - 1) };
};

/* left[x] = min(left[x], left[x - BY] + aside), and right[x] likewise from x + BY. The outermost threads of a warp see
 * nonsense beyond it: so do the columns that they are to lose anyway. */
template <int BY, class T> DM_DEVICE void look_aside(T aside, cc_row<T> *left, cc_row<T> *right) {
    T before[BY], after[BY];
    DM_UNROLL
    for (int k = 0; k < BY; k++) {
        before[k] = __shfl_up_sync(CC_WHOLE, left->lane[CC_LANES - BY + k], 1);
        after[k] = __shfl_down_sync(CC_WHOLE, right->lane[k], 1);
    }
    DM_UNROLL
    for (int k = CC_LANES - 1; k >= 0; k--)
        left->lane[k] = cc_min(left->lane[k], (T)((k < BY ? before[k] : left->lane[k - BY]) + aside));
    DM_UNROLL
    for (int k = 0; k < CC_LANES; k++) {
        const T beyond = k + BY < CC_LANES ? right->lane[k + BY] : after[k + BY - CC_LANES];
        right->lane[k] = cc_min(right->lane[k], (T)(beyond + aside));
    }
}

/* Through a band's empty rows. Without knights, a walk that goes aside by d <= CC_BAND columns has d diagonal steps: so
 * it is the least of f[x +- d] + (diagonal - straight) d, and CC_BAND straight steps. Windows of 2, 4, 8, 16 and 17 columns,
 * each from the one before, give it in five steps instead of CC_BAND; their sums need room above the cap. */
template <class T, bool KNIGHTS> DM_DEVICE void pass(const cc_stage &p, cc_rows<T> *seen) {
    static_assert(CC_BAND == 16 && CC_LANES >= 8, "the windows");
    if (KNIGHTS || !p.roomy) {
#pragma unroll 1
        for (int y = 0; y < CC_BAND; y++)
            cc_look<T, KNIGHTS>(p, cc_empty<T>(p), seen);
        return;
    }
    const T aside = (T)(p.diagonal - p.straight);
    cc_row<T> left = seen->one, right = seen->one;
    look_aside<1, T>(aside, &left, &right);
    look_aside<2, T>(2 * aside, &left, &right);
    look_aside<4, T>(4 * aside, &left, &right);
    look_aside<8, T>(8 * aside, &left, &right);
    look_aside<1, T>(aside, &left, &right);
    DM_UNROLL
    for (int k = 0; k < CC_LANES; k++)
        seen->one.lane[k] = cc_min((T)(cc_min(left.lane[k], right.lane[k]) + CC_BAND * (T)p.straight), (T)p.cap);
}

/* A warp's row to its neighbours and back, with theirs beside it. `room` has AROUND columns of `cap` at either end, and is
 * not written again before all have read it: two rooms in turns see to that. */
template <class T, bool KNIGHTS> DM_DEVICE void exchange(T *room, cc_row<T> *row) {
    typedef widths<T, KNIGHTS> W;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, at = warp * W::WARP + lane * CC_LANES;
    if (lane * CC_LANES >= W::AROUND && lane * CC_LANES < W::AROUND + W::WARP)
        *(cc_row<T> *)(room + at) = *row;
    __syncthreads();
    *row = *(const cc_row<T> *)(room + at);
}

/* Bands are counted from the end that the sweep comes from: all that are carried through have CC_BAND rows, for the last one
 * downwards, which may have less, is not, and upwards is where it starts. The own lanes of all bands are asked for at once,
 * before the first is needed.
 * Grid: a block of WARPS warps for each strip, direction and plane, in turns. Reads and writes a lane for the column of a
 * band, with knights two. */
template <class T, bool KNIGHTS>
static __global__ void __launch_bounds__(WARPS * 32)
    carry(const __grid_constant__ cc_stage p, int64_t strips, int64_t begin) {
    typedef widths<T, KNIGHTS> W;
    enum { WIDE = W::BLOCK + 2 * W::AROUND };
    __shared__ __align__(16) T room[2 * WIDE];
    for (int i = (int)threadIdx.x; i < 2 * WIDE; i += WARPS * 32)
        room[i] = (T)p.cap;
    __syncthreads();
    for (int64_t turn = blockIdx.x; turn < strips * 2 * p.planes; turn += gridDim.x) {
        const bool up = turn / strips % 2;
        const int64_t plane = turn / strips / 2, first = turn % strips * W::OWN, last = p.bands - 1;
        const int inside =
            (int)threadIdx.x / 32 * W::WARP + (int)threadIdx.x % 32 * CC_LANES; /* of the block's strip */
        const int64_t column = first - W::AROUND * W::AT_ONCE + inside;
        cc_strip s = {first, column, column >= 0 && column < p.words * 32, false};
        const int place = (int)threadIdx.x % 32 * CC_LANES - W::AROUND;
        s.own = s.inside && place >= 0 && place < W::WARP && column >= first && column < first + W::OWN;
        const int count = (int)min(last - begin, (int64_t)W::AT_ONCE);
        const int64_t number = up ? last - begin : begin, apart = (up ? -1 : 1) * p.kept * p.words * 32;
        const T *own = cc_lanes<T>(p, p.own[up], s, plane, number);
        T *carried = cc_lanes<T>(p, p.carry[up], s, plane, number);
        cc_rows<T> seen = cc_load<T, KNIGHTS>(p, p.carry[up], s, plane, up ? number + 1 : number - 1);
        cc_rows<T> mine[W::AT_ONCE];
#pragma unroll
        for (int i = 0; i < W::AT_ONCE; i++)
            mine[i] = cc_read<T, KNIGHTS>(p, s.inside && i < count ? own + i * apart : NULL);
#pragma unroll
        for (int i = 0; i < W::AT_ONCE; i++) {
            if (i == count)
                break;
            if (begin + i > 0)
                pass<T, KNIGHTS>(p, &seen);
            cc_join<T, KNIGHTS>(mine[i], &seen);
            if (s.own)
                cc_write<T, KNIGHTS>(p, carried + i * apart, seen);
            exchange<T, KNIGHTS>(room + (KNIGHTS ? 0 : i % 2 * WIDE), &seen.one);
            if (KNIGHTS)
                exchange<T, KNIGHTS>(room + WIDE, &seen.two);
        }
        __syncthreads();
    }
}

cudaError_t cc_carry(const cc_stage *p, int64_t first, cudaStream_t stream) {
    const cc_stage stage = *p;
#define LAUNCH(T, knights)                                                                   \
    do {                                                                                     \
        enum { OWN = widths<T, knights>::OWN };                                              \
        const int64_t strips = (p->words * 32 + OWN - 1) / OWN;                              \
        const unsigned blocks = dm_blocks(strips * 2 * p->planes, 1, MOST_BLOCKS);           \
        DM_LAUNCH((carry<T, knights>), blocks, WARPS * 32, 0, stream, stage, strips, first); \
    } while (0)
    CC_BY_LANE(p, LAUNCH);
#undef LAUNCH
    return cudaGetLastError();
}
