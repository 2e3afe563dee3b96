/* edm/cuda, step 2: the proximate points of each line, their intervals, and the results. */
#include "methods/edm/edm_cuda_stack.cuh"

/* The linear index of the site that lies `offset` from point `point`, both on the axes of the steps. */
DM_DEVICE int64_t site_of(const struct edm_work *w, int64_t plane, int64_t line, int64_t point, int64_t offset) {
    const int64_t y = w->columns_first ? line + offset : point, x = w->columns_first ? point : line + offset;
    return plane + y * w->width + x;
}

/* A thread to a line, in turns; neighbouring lines to neighbouring threads. Reads 4 bytes per element, pushes up to 8 or 16
 * and reads them again, and writes the outputs as it goes along the line (VTV: 4 bytes to `point`). */
template <class ENTRY>
static __global__ void __launch_bounds__(EDM_THREADS) points(const __grid_constant__ struct edm_work w) {
    __shared__ ENTRY ring[EDM_RING * EDM_THREADS];
    const dm_elements *e = &w.elements;
    const int64_t lines = edm_lines(&w, !w.columns_first), step = (int64_t)gridDim.x * EDM_THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * EDM_THREADS + threadIdx.x; i < lines; i += step) {
        struct edm_place p = edm_line_place(&w, i, !w.columns_first);
        const int64_t first = edm_line_first(&p, w.turned), apart = edm_line_apart(&w, &p, w.turned);
        edm_line<ENTRY> line;
        line.offset = w.offset + first;
        line.offset_apart = apart;
        line.stack = (ENTRY *)w.stack + i;
        line.stack_apart = lines;
        line.ring = ring + threadIdx.x;
        line.length = p.length;
        line.rule = w.rule;
        const int32_t count = edm_push_all(line);
        edm_cursor<ENTRY> c = edm_first(line, count);
        for (int32_t k = 0; k < p.length; k++) {
            edm_move(line, k, &c);
            if (w.tiles) {
                w.point[first + k * apart] = c.point.at;
                continue;
            }
            edm_line_move(&p, k);
            dm_value squared = dm_value_none(e);
            if (count)
                squared.u64 = edm_squared(&w.rule, &c.point, k);
            dm_element_emit(e, p.at, squared,
                            count ? site_of(&w, p.plane, p.line, c.point.at, c.point.offset) : DISTMAP_INDEX_NONE,
                            &raised);
        }
    }
    dm_raise(e, raised);
}

/* VTV: points, turned, to the outputs. A block to a tile, in turns: it reads columns of the image and writes rows,
 * through shared memory as in step 1. Reads 4 bytes per element and the offset of its point, writes the outputs. */
template <int PAD>
static __global__ void __launch_bounds__(EDM_TILE *EDM_TILE_ROWS) turn(const __grid_constant__ struct edm_work w) {
    const dm_elements *e = &w.elements;
    __shared__ int32_t point[EDM_TILE][EDM_TILE + PAD], offset[EDM_TILE][EDM_TILE + PAD];
    const int32_t lane = (int32_t)threadIdx.x;
    unsigned raised = 0;
    for (int64_t i = blockIdx.x; i < edm_tile_count(&w); i += gridDim.x) {
        const struct edm_tile t = edm_tile_place(&w, i);
        __syncthreads();
        for (int32_t row = (int32_t)threadIdx.y; row < EDM_TILE; row += EDM_TILE_ROWS) {
            if (t.x + row >= w.width || t.y + lane >= w.height)
                continue;
            const int32_t at = w.point[t.plane + (int64_t)(t.x + row) * w.height + t.y + lane];
            point[row][lane] = at;
            offset[row][lane] = at < 0 ? EDM_NONE : w.offset[t.plane + (int64_t)at * w.height + t.y + lane];
        }
        __syncthreads();
        for (int32_t row = (int32_t)threadIdx.y; row < EDM_TILE; row += EDM_TILE_ROWS) {
            if (t.y + row >= w.height || t.x + lane >= w.width)
                continue;
            const int64_t at[DM_NDIM] = {t.at[0], t.at[1], t.y + row, t.x + lane};
            const struct edm_point found = {point[lane][row], 0, offset[lane][row]};
            dm_value squared = dm_value_none(e);
            if (found.at >= 0)
                squared.u64 = edm_squared(&w.rule, &found, t.x + lane);
            dm_element_emit(e, at, squared,
                            found.at < 0 ? DISTMAP_INDEX_NONE : site_of(&w, t.plane, at[2], found.at, found.offset),
                            &raised);
        }
    }
    dm_raise(e, raised);
}

cudaError_t edm_step2(const struct edm_work *work, cudaStream_t stream) {
    const struct edm_work w = *work;
    const int64_t lines = w.planes * (w.columns_first ? w.height : w.width);
    const unsigned blocks = dm_blocks(lines, EDM_THREADS, EDM_MOST_BLOCKS);
    if (w.narrow)
        DM_LAUNCH(points<struct edm_narrow>, blocks, EDM_THREADS, 0, stream, w);
    else
        DM_LAUNCH(points<struct edm_wide>, blocks, EDM_THREADS, 0, stream, w);
    auto *const turns = w.padded ? turn<1> : turn<0>;
    if (w.tiles)
        DM_LAUNCH(turns, edm_tile_blocks(&w), dim3(EDM_TILE, EDM_TILE_ROWS), 0, stream, w);
    return cudaGetLastError();
}
