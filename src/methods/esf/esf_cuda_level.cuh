/* esf/cuda, the state at rest of images: a level by tiles, each in the registers of a block (esf_cuda_tile.cuh), and
 * what its elements are worth to the next level's cells.
 *
 * A cell gathers along both axes 1/4, 3/4, 3/4, 1/4 of four elements, as ec_parts_of says: along rows from registers and
 * by shuffles, across them from the cells' rows that warps show each other. Tiles begin at even rows and columns. */
#ifndef DISTMAP_ESF_CUDA_LEVEL_CUH
#define DISTMAP_ESF_CUDA_LEVEL_CUH

#include "methods/esf/esf_cuda_rest.cuh"
#include "methods/esf/esf_cuda_tile.cuh"

enum { EC_HALO_X = EC_LANES };

/* Rows of a thread: coarser levels keep three values for each element. */
template <bool FINEST> struct ec_level_shape {
    enum { ROWS = FINEST ? 8 : 4, WARPS = 8, HEIGHT = WARPS * ROWS, BLOCKS = 2 /* on a multiprocessor */ };
};

/* A block's tile, of rows HEIGHT - 2 halo apart. */
struct ec_place {
    ec_view view;
    int top, end; /* of the thread's rows, those that are the tile's */
    bool own, edge;
};

template <bool FINEST> DM_DEVICE ec_place ec_place_of(const ec_level &l, int halo) {
    enum { ROWS = ec_level_shape<FINEST>::ROWS, HEIGHT = ec_level_shape<FINEST>::HEIGHT };
    const int width = EC_COLUMNS - 2 * EC_HALO_X, height = HEIGHT - 2 * halo;
    const int64_t across = (l.nx + width - 1) / width, down = (l.ny + height - 1) / height;
    const int64_t index = blockIdx.x, batch = index / across / down;
    const int left = (int)(index % across) * width - EC_HALO_X, top = (int)(index / across % down) * height - halo;
    const int column = (int)threadIdx.x * EC_LANES, first = (int)threadIdx.y * ROWS;
    ec_place p;
    p.view = ec_view{batch * l.ny, top + first, left + column, (int)l.ny, (int)l.nx, (int)l.pitch, false};
    p.view.inside = p.view.x >= 0 && p.view.x < l.pitch;
    p.top = halo - first;
    p.end = HEIGHT - halo - first;
    p.own = p.view.inside && column >= EC_HALO_X && column < EC_COLUMNS - EC_HALO_X;
    p.edge = top <= 0 || top + HEIGHT >= l.ny || left <= 0 || left + EC_COLUMNS >= l.nx;
    return p;
}

/* Whether the thread's part of row i is the tile's, and in the image. */
DM_DEVICE bool ec_is_own_row(const ec_place &p, int i) {
    return p.own && ec_has_row(p.view, i) && i >= p.top && i < p.end;
}

template <bool FINEST> static unsigned ec_level_tiles(const ec_level *l, int halo) {
    const int64_t width = EC_COLUMNS - 2 * EC_HALO_X, height = ec_level_shape<FINEST>::HEIGHT - 2 * halo;
    return (unsigned)(l->batches * ((l->nx + width - 1) / width) * ((l->ny + height - 1) / height));
}

/* ---- Cells ---- */

/* Half a row of cells: what a row of elements is worth to them. */
struct ec_cells {
    float cell[EC_LANES / 2];
};

/* Rows of cells that warps show each other. */
template <int WARPS> struct ec_cell_rooms { float4 row[WARPS][2][32]; };

DM_DEVICE float4 ec_float4_of(const ec_cells &r) { return make_float4(r.cell[0], r.cell[1], r.cell[2], r.cell[3]); }
DM_DEVICE ec_cells ec_cells_of(float4 r) { return ec_cells{{r.x, r.y, r.z, r.w}}; }

template <int WARPS> struct ec_level_shared {
    ec_rooms<WARPS> rooms;
    ec_cell_rooms<WARPS> cells;
};

/* What a row of elements is worth to cells along it. */
template <bool EDGE> DM_DEVICE ec_cells ec_worth_along(const ec_view &w, const ec_row &r) {
    const ec_ends ends = ec_ends_of(w);
    float before = __shfl_up_sync(EC_WHOLE, r.lane[EC_LANES - 1], 1), after = __shfl_down_sync(EC_WHOLE, r.lane[0], 1);
    before = EDGE && ends.first == 0 ? r.lane[0] : before;
    ec_cells worth;
    DM_UNROLL
    for (int c = 0; c < EC_LANES / 2; c++) {
        const float a = c ? r.lane[c ? 2 * c - 1 : 0] : before, second = r.lane[2 * c + 1];
        float b = c < EC_LANES / 2 - 1 ? r.lane[c < EC_LANES / 2 - 1 ? 2 * c + 2 : 0] : after;
        b = EDGE && 2 * c + 1 >= ends.last ? 2 * c + 1 == ends.last ? second : 0 : b;
        worth.cell[c] = (0.25f * a + 0.75f * r.lane[2 * c]) + (0.75f * second + 0.25f * b);
    }
    return worth;
}

/* Gathers a thread's rows across, times `sign`, to memory of the next level. Rows beyond the border are worth 0. */
template <bool EDGE, int ROWS, int WARPS>
DM_DEVICE void ec_gather_across(const ec_level &next, const ec_place &p, const ec_cells (&worth)[ROWS], float sign,
                                ec_cell_rooms<WARPS> *cells, float *to) {
    const ec_view &w = p.view;
    const int warp = (int)threadIdx.y, lane = (int)threadIdx.x;
    cells->row[warp][0][lane] = ec_float4_of(worth[0]);
    cells->row[warp][1][lane] = ec_float4_of(worth[ROWS - 1]);
    __syncthreads();
    const ec_cells higher = ec_cells_of(cells->row[warp > 0 ? warp - 1 : 0][1][lane]);
    const ec_cells lower = ec_cells_of(cells->row[warp < WARPS - 1 ? warp + 1 : warp][0][lane]);
#pragma unroll
    for (int i = 0; i < ROWS; i += 2) {
        if (!ec_is_own_row(p, i))
            continue;
        ec_cells sum;
        const int y = w.y + i;
#pragma unroll
        for (int c = 0; c < EC_LANES / 2; c++) {
            const float second = worth[i + 1].cell[c];
            float a = i ? worth[i ? i - 1 : 0].cell[c] : higher.cell[c];
            float b = i < ROWS - 2 ? worth[i < ROWS - 2 ? i + 2 : 0].cell[c] : lower.cell[c];
            a = EDGE && y == 0 ? worth[i].cell[c] : a;
            b = EDGE && y + 1 >= w.rows - 1 ? y + 1 == w.rows - 1 ? second : 0 : b;
            sum.cell[c] = sign * ((0.25f * a + 0.75f * worth[i].cell[c]) + (0.75f * second + 0.25f * b));
        }
        const int64_t batch = w.first / w.rows;
        *(float4 *)(to + (batch * next.ny + y / 2) * next.pitch + w.x / 2) = ec_float4_of(sum);
    }
}

#endif
