/* edm/cuda, step 1: from each element to the nearest site of its line. */
#include "methods/edm/edm_cuda.cuh"

/* The nearer of a site at or before the element and one at or after it; at equal distance the one before. */
DM_DEVICE int32_t nearer(int32_t before, int32_t after) {
    if (before == EDM_NONE || after == EDM_NONE)
        return before == EDM_NONE ? after : before;
    return after < -before ? after : before;
}

/* A thread to a line, in turns; neighbouring lines to neighbouring threads. One sweep towards the line's end reads the
 * input and writes `before` as it reads; one back reads `before`, which tells the sites as well (0), and writes the
 * nearer of the two to `offset` (VTV: `after`, as it reads). Reads the input and 4 bytes per element, writes 8. */
static __global__ void __launch_bounds__(EDM_THREADS) sweep(const __grid_constant__ struct edm_work w) {
    const dm_elements *e = &w.elements;
    const int64_t lines = edm_lines(&w, w.columns_first), step = (int64_t)gridDim.x * EDM_THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * EDM_THREADS + threadIdx.x; i < lines; i += step) {
        struct edm_place p = edm_line_place(&w, i, w.columns_first);
        const int64_t read_apart = edm_line_apart(&w, &p, false);
        int32_t *before = w.before + edm_line_first(&p, false);
        int32_t last = -1;
        for (int32_t k = 0; k < p.length; k++) {
            edm_line_move(&p, k);
            if (dm_element_is_site(e, p.at, &raised))
                last = k;
            before[k * read_apart] = last < 0 ? EDM_NONE : last - k;
        }
        const bool turned = w.turned && !w.tiles;
        const int64_t write_apart = edm_line_apart(&w, &p, turned);
        int32_t *to = (w.tiles ? w.after : w.offset) + edm_line_first(&p, turned);
        last = -1;
        for (int32_t k = p.length - 1; k >= 0; k--) {
            const int32_t mine = before[k * read_apart];
            if (mine == 0)
                last = k;
            const int32_t after = last < 0 ? EDM_NONE : last - k;
            to[k * write_apart] = w.tiles ? after : nearer(mine, after);
        }
    }
    dm_raise(e, raised);
}

/* VTV: the nearer of `before` and `after`, turned. A block to a tile, in turns: it reads rows and writes columns, both
 * in whole pieces of EDM_TILE elements, by way of shared memory with one element more in each of its rows, so that a
 * column lies in EDM_TILE different banks. Reads 8 bytes per element, writes 4. */
static __global__ void __launch_bounds__(EDM_TILE *EDM_TILE_ROWS) join(const __grid_constant__ struct edm_work w) {
    __shared__ int32_t tile[EDM_TILE][EDM_TILE + 1];
    const int32_t lane = (int32_t)threadIdx.x;
    for (int64_t i = blockIdx.x; i < edm_tile_count(&w); i += gridDim.x) {
        const struct edm_tile t = edm_tile_place(&w, i);
        __syncthreads();
        for (int32_t row = (int32_t)threadIdx.y; row < EDM_TILE; row += EDM_TILE_ROWS) {
            const int64_t from = t.plane + (int64_t)(t.y + row) * w.width + t.x + lane;
            if (t.y + row < w.height && t.x + lane < w.width)
                tile[row][lane] = nearer(w.before[from], w.after[from]);
        }
        __syncthreads();
        for (int32_t row = (int32_t)threadIdx.y; row < EDM_TILE; row += EDM_TILE_ROWS)
            if (t.x + row < w.width && t.y + lane < w.height)
                w.offset[t.plane + (int64_t)(t.x + row) * w.height + t.y + lane] = tile[lane][row];
    }
}

cudaError_t edm_step1(const struct edm_work *work, cudaStream_t stream) {
    const struct edm_work w = *work;
    const int64_t lines = w.planes * (w.columns_first ? w.width : w.height);
    DM_LAUNCH(sweep, dm_blocks(lines, EDM_THREADS, EDM_MOST_BLOCKS), EDM_THREADS, 0, stream, w);
    if (w.tiles)
        DM_LAUNCH(join, edm_tile_blocks(&w), dim3(EDM_TILE, EDM_TILE_ROWS), 0, stream, w);
    return cudaGetLastError();
}
