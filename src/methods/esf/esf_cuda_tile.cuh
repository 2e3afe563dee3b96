/* esf/cuda: a tile of an image in the registers of a block, for multigrid and for steps of volumes.
 *
 * A warp has ROWS rows of 256 columns, eight neighbouring ones to a thread; a block's warps lie below each other.
 * Neighbours along rows come by shuffles, the rows above and below a warp's by shared memory. What is needed beyond the
 * tile is not there: so its outer elements come out wrong, one more of them on every side each time, and a halo takes
 * that up.
 *
 * At the image's border an element's missing neighbour is the element itself. Tiles that have a border (EDGE) look for
 * it at every element; all others do without. */
#ifndef DISTMAP_ESF_CUDA_TILE_CUH
#define DISTMAP_ESF_CUDA_TILE_CUH

#include "methods/esf/esf_cuda.cuh"

enum { EC_LANES = 8, EC_COLUMNS = 32 * EC_LANES };

/* A thread's part of a row. */
struct ec_row {
    float lane[EC_LANES];
};

/* Rows of field memory as seen from a thread. */
struct ec_view {
    int64_t first;   /* row of the batch's first */
    int y, x;        /* of the thread's first element, in the batch; may lie outside */
    int rows, width; /* of the batch: y and x beyond them lie outside */
    int pitch;
    bool inside; /* x is inside memory, whose rows have whole words */
};

DM_DEVICE bool ec_has_row(const ec_view &w, int i) { return w.inside && w.y + i >= 0 && w.y + i < w.rows; }
DM_DEVICE int64_t ec_offset(const ec_view &w, int i) { return (w.first + w.y + i) * w.pitch + w.x; }

DM_DEVICE ec_row ec_load_row(const ec_view &w, const float *field, int i) {
    float4 low = make_float4(0, 0, 0, 0), high = low;
    if (ec_has_row(w, i)) {
        const float4 *from = (const float4 *)(field + ec_offset(w, i));
        low = from[0];
        high = from[1];
    }
    return ec_row{{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

DM_DEVICE void ec_store_row(const ec_view &w, float *field, int i, const ec_row &row) {
    float4 *to = (float4 *)(field + ec_offset(w, i));
    to[0] = make_float4(row.lane[0], row.lane[1], row.lane[2], row.lane[3]);
    to[1] = make_float4(row.lane[4], row.lane[5], row.lane[6], row.lane[7]);
}

/* ---- Neighbours ---- */

/* Columns of the border as seen from a thread: of the image's first element and of its last. */
struct ec_ends {
    int first, last;
};
DM_DEVICE ec_ends ec_ends_of(const ec_view &w) { return ec_ends{-w.x, w.width - 1 - w.x}; }

/* The element before lane k, and the one after it. */
template <bool EDGE> DM_DEVICE float ec_before(const ec_row &row, float beyond, ec_ends ends, int k) {
    const float found = k > 0 ? row.lane[k - 1] : beyond;
    return EDGE && k == ends.first ? row.lane[k] : found;
}
template <bool EDGE> DM_DEVICE float ec_after(const ec_row &row, float beyond, ec_ends ends, int k) {
    const float found = k < EC_LANES - 1 ? row.lane[k + 1] : beyond;
    return EDGE && k == ends.last ? row.lane[k] : found;
}

/* Those of the rows above and below row i of the thread. */
template <bool EDGE> DM_DEVICE float ec_above(const ec_view &w, const ec_row &row, const ec_row &above, int i, int k) {
    return EDGE && w.y + i == 0 ? row.lane[k] : above.lane[k];
}
template <bool EDGE> DM_DEVICE float ec_below(const ec_view &w, const ec_row &row, const ec_row &below, int i, int k) {
    return EDGE && w.y + i == w.rows - 1 ? row.lane[k] : below.lane[k];
}

/* The rows of warps that others look at, two of each: its first and its last. Halves of rows lie apart, so that no bank
 * serves two threads. */
struct ec_room {
    float4 half[2][2][32];
};

DM_DEVICE void ec_show(ec_room *room, int which, const ec_row &row) {
    const int lane = (int)threadIdx.x;
    room->half[which][0][lane] = make_float4(row.lane[0], row.lane[1], row.lane[2], row.lane[3]);
    room->half[which][1][lane] = make_float4(row.lane[4], row.lane[5], row.lane[6], row.lane[7]);
}
DM_DEVICE ec_row ec_look(const ec_room *room, int which) {
    const int lane = (int)threadIdx.x;
    const float4 low = room->half[which][0][lane], high = room->half[which][1][lane];
    return ec_row{{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

/* Rooms of a block, in turns: nobody's rows are replaced while another may still look. */
template <int WARPS> struct ec_rooms { ec_room room[2][WARPS]; };

/* Shows a warp's first and last row to the others; a barrier of the block. */
template <int WARPS>
DM_DEVICE void ec_exchange(ec_rooms<WARPS> *rooms, int turn, const ec_row &first, const ec_row &last) {
    ec_show(&rooms->room[turn][threadIdx.y], 0, first);
    ec_show(&rooms->room[turn][threadIdx.y], 1, last);
    __syncthreads();
}
/* Then: the rows above and below the warp's. The outermost warps get rows of their own, which mean nothing. */
template <int WARPS> DM_DEVICE ec_row ec_row_above(const ec_rooms<WARPS> *rooms, int turn) {
    const int warp = (int)threadIdx.y;
    return ec_look(&rooms->room[turn][warp > 0 ? warp - 1 : 0], 1);
}
template <int WARPS> DM_DEVICE ec_row ec_row_below(const ec_rooms<WARPS> *rooms, int turn) {
    const int warp = (int)threadIdx.y;
    return ec_look(&rooms->room[turn][warp < WARPS - 1 ? warp + 1 : warp], 0);
}

#endif
