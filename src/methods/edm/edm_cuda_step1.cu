/* edm/cuda, step 1: from each element to the nearest site of its line. */
#include "methods/edm/edm_cuda.cuh"

enum { TAKE = 16 };

/* The nearer of a site at or before the element and one at or after it; at equal distance the one before. */
DM_DEVICE int32_t nearer(int32_t before, int32_t after) {
    if (before == EDM_NONE || after == EDM_NONE)
        return before == EDM_NONE ? after : before;
    return after < -before ? after : before;
}

/* Sites among the TAKE elements of a line from k on, as bits. Those of single bytes are all read before the first is looked
 * at. */
DM_DEVICE uint32_t sites_of(const struct edm_work *w, struct edm_place *p, int32_t k, unsigned *raised) {
    const dm_elements *e = &w->elements;
    const dm_array *input = &e->arrays.input;
    uint32_t sites = 0;
    edm_line_move(p, k);
    if (input->dtype != DISTMAP_BOOL && input->dtype != DISTMAP_INT8 && input->dtype != DISTMAP_UINT8) {
        for (int32_t i = 0; i < TAKE && k + i < p->length; i++) {
            edm_line_move(p, k + i);
            sites |= (uint32_t)dm_element_is_site(e, p->at, raised) << i;
        }
        return sites;
    }
    const char *from = dm_element_address(input, p->at);
    const int64_t stride = input->stride[p->column ? 2 : DM_X];
    uint8_t value[TAKE];
#pragma unroll
    for (int i = 0; i < TAKE; i++)
        value[i] = k + i < p->length ? *(const uint8_t *)(from + i * stride) : 0;
#pragma unroll
    for (int i = 0; i < TAKE; i++)
        sites |= (uint32_t)dm_address_is_site(e, (const char *)&value[i], raised) << i;
    return sites;
}

/* A thread to a line, in turns; neighbouring lines to neighbouring threads; TAKE elements at a time. One sweep towards the
 * line's end reads the input and writes `before` as it reads; one back reads `before`, which tells the sites as well (0), and
 * writes the nearer of the two to `offset` (VTV: `after`, as it reads). Reads the input and 4 bytes per element, writes 8. */
static __global__ void __launch_bounds__(EDM_THREADS) sweep(const __grid_constant__ struct edm_work w) {
    const dm_elements *e = &w.elements;
    const int64_t lines = edm_lines(&w, w.columns_first), step = (int64_t)gridDim.x * EDM_THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * EDM_THREADS + threadIdx.x; i < lines; i += step) {
        struct edm_place p = edm_line_place(&w, i, w.columns_first);
        const int64_t read_apart = edm_line_apart(&w, &p, false);
        int32_t *before = w.before + edm_line_first(&p, false);
        int32_t last = -1;
        for (int32_t from = 0; from < p.length; from += TAKE) {
            const uint32_t sites = sites_of(&w, &p, from, &raised);
#pragma unroll
            for (int k = 0; k < TAKE; k++) {
                if (sites >> k & 1)
                    last = from + k;
                if (from + k < p.length)
                    before[(from + k) * read_apart] = last < 0 ? EDM_NONE : last - from - k;
            }
        }
        const bool turned = w.turned && !w.tiles;
        const int64_t write_apart = edm_line_apart(&w, &p, turned);
        int32_t *to = (w.tiles ? w.after : w.offset) + edm_line_first(&p, turned);
        last = -1;
        for (int32_t from = (p.length - 1) / TAKE * TAKE; from >= 0; from -= TAKE) {
            int32_t mine[TAKE];
#pragma unroll
            for (int k = 0; k < TAKE; k++)
                mine[k] = from + k < p.length ? before[(from + k) * read_apart] : EDM_NONE;
#pragma unroll
            for (int k = TAKE - 1; k >= 0; k--) {
                if (mine[k] == 0)
                    last = from + k;
                const int32_t after = last < 0 ? EDM_NONE : last - from - k;
                if (from + k < p.length)
                    to[(from + k) * write_apart] = w.tiles ? after : nearer(mine[k], after);
            }
        }
    }
    dm_raise(e, raised);
}

/* VTV: the nearer of `before` and `after`, turned. A block to a tile, in turns: it reads rows and writes columns, both
 * in whole pieces of EDM_TILE elements, by way of shared memory with one element more in each of its rows, so that a
 * column lies in EDM_TILE different banks (PAD 0, the paper's Figure 17: in one). Reads 8 bytes per element, writes 4. */
template <int PAD>
static __global__ void __launch_bounds__(EDM_TILE *EDM_TILE_ROWS) join(const __grid_constant__ struct edm_work w) {
    __shared__ int32_t tile[EDM_TILE][EDM_TILE + PAD];
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
    auto *const turns = w.padded ? join<1> : join<0>;
    if (w.tiles)
        DM_LAUNCH(turns, edm_tile_blocks(&w), dim3(EDM_TILE, EDM_TILE_ROWS), 0, stream, w);
    return cudaGetLastError();
}
