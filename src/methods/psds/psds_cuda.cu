/* psds/cuda's kernels: see psds_cuda.c. */
#include "cuda/elements.cuh"
#include "methods/psds/psds_cuda.h"
#include "methods/psds/psds_search.h"

/* Hillis and Steele's scan with the minimum of what comes along: each thread gives its element's distance and gets the
 * least one of it and of those of the threads before it, longer by the way. `share` holds two elements per thread, the
 * paper's in and out: what a step reads the next one does not write, so one barrier per step is enough. */
DM_DEVICE uint32_t scan_tile(uint32_t *share, uint32_t distance) {
    const unsigned i = threadIdx.x, n = blockDim.x;
    uint32_t *in = share, *out = share + n;
    in[i] = distance;
    __syncthreads();
    for (unsigned step = 1; step < n; step *= 2) {
        if (i >= step)
            distance = min(distance, in[i - step] + step);
        out[i] = distance;
        uint32_t *const swap = in;
        in = out;
        out = swap;
        __syncthreads();
    }
    return distance;
}

/* Scans n elements of `from`, `stride` apart, into `to` (which may be the same), tile by tile; from the last to the first
 * if `back`. The first thread takes over from the tile before (scan_fix). `binary`: elements that are not nothing count as
 * sites. */
DM_DEVICE void scan_line(uint32_t *share, const uint32_t *from, uint32_t *to, int64_t n, int64_t stride, bool binary,
                         bool back) {
    for (int64_t done = 0; done < n; done += blockDim.x) {
        const int64_t i = done + threadIdx.x, place = (back ? n - 1 - i : i) * stride;
        uint32_t distance = PSDS_NOTHING;
        if (i < n) {
            distance = from[place];
            if (binary && distance < PSDS_NOTHING)
                distance = 0;
            if (threadIdx.x == 0 && done > 0)
                distance = min(distance, to[place + (back ? stride : -stride)] + 1);
        }
        distance = scan_tile(share, distance);
        if (i < n)
            to[place] = distance;
        __syncthreads(); /* what the next tile takes over is written */
    }
}

/* Grid: blocks of `threads`, each with a row, in turns. Shared memory: 8 bytes per thread. Reads the input, writes 4 bytes
 * per element, reads and writes them again. */
static __global__ void __launch_bounds__(1024) rows(const __grid_constant__ struct psds_work w) {
    DM_DYNAMIC_SHARED(uint32_t, share);
    const dm_elements *e = &w.elements;
    const int64_t n = e->shape[DM_X];
    unsigned raised = 0;
    for (int64_t row = blockIdx.x; row < e->elements / n; row += gridDim.x) {
        uint32_t *line = w.across + row * n;
        int64_t at[DM_NDIM];
        dm_element_split(e, row * n, at);
        for (at[DM_X] = threadIdx.x; at[DM_X] < n; at[DM_X] += blockDim.x)
            line[at[DM_X]] = dm_element_is_site(e, at, &raised) ? 0 : PSDS_NOTHING;
        if (!w.scan_rows)
            continue;
        scan_line(share, line, line, n, 1, false, false); /* each thread reads what it wrote */
        scan_line(share, line, line, n, 1, false, true);
    }
    dm_raise(e, raised);
}

/* Grid: blocks of `threads`, each with a column, in turns. Shared memory: 8 bytes per thread. Reads 4 bytes per element
 * twice, writes them twice. */
static __global__ void __launch_bounds__(1024) columns(const __grid_constant__ struct psds_work w) {
    DM_DYNAMIC_SHARED(uint32_t, share);
    const int64_t width = w.elements.shape[DM_X], height = w.elements.shape[2];
    for (int64_t column = blockIdx.x; column < w.elements.elements / height; column += gridDim.x) {
        const int64_t first = column / width * height * width + column % width;
        scan_line(share, w.across + first, w.above + first, height, width, true, false);
        scan_line(share, w.across + first, w.below + first, height, width, true, true);
    }
}

PSDS_NEAREST(nearest, DM_DEVICE)
PSDS_SEARCH(search_32, DM_DEVICE, uint32_t)
PSDS_SEARCH(search_64, DM_DEVICE, uint64_t)

/* Grid: blocks of `threads`, each with a row, in turns; a thread to an element. Reads 12 bytes per element, and 8 for each
 * row that it looks at, neighbouring threads neighbouring elements; writes the outputs. */
static __global__ void __launch_bounds__(1024) search(const __grid_constant__ struct psds_work w) {
    const dm_elements *e = &w.elements;
    const int64_t width = e->shape[DM_X], height = e->shape[2];
    unsigned raised = 0;
    for (int64_t line = blockIdx.x; line < e->elements / width; line += gridDim.x) {
        const int64_t y = line % height, plane = (line - y) * width;
        int64_t at[DM_NDIM], row;
        dm_element_split(e, line * width, at);
        for (int64_t x = threadIdx.x; x < width; x += blockDim.x) {
            const uint32_t *across = w.across + plane + x, *below = w.below + plane + x, *above = w.above + plane + x;
            dm_value squared;
            if (e->number == DM_U32) {
                const uint32_t d2 = search_32(across, below, above, width, y, height, w.scan_columns,
                                              (uint32_t)e->w2[DM_X], (uint32_t)e->w2[2], &row);
                squared.u64 = d2 == UINT32_MAX ? UINT64_MAX : d2;
            } else {
                squared.u64 =
                    search_64(across, below, above, width, y, height, w.scan_columns, e->w2[DM_X], e->w2[2], &row);
            }
            int64_t site = DISTMAP_INDEX_NONE;
            if (w.sites && row >= 0)
                site = plane + row * width + nearest(w.across + plane + row * width, x);
            at[DM_X] = x;
            dm_element_emit(e, at, squared, site, &raised);
        }
    }
    dm_raise(e, raised);
}

/* Blocks for so many lines, and threads for lines of n elements. */
static unsigned blocks_of(const struct psds_work *w, int64_t lines) {
    return dm_blocks(lines, 1, w->blocks ? w->blocks : INT32_MAX);
}
static unsigned threads_of(const struct psds_work *w, int64_t n) { return n < w->threads ? (unsigned)n : w->threads; }

cudaError_t psds_rows(const struct psds_work *work, cudaStream_t stream) {
    const struct psds_work w = *work;
    const int64_t n = w.elements.shape[DM_X];
    const unsigned threads = threads_of(&w, n);
    DM_LAUNCH(rows, blocks_of(&w, w.elements.elements / n), threads, threads * 8, stream, w);
    return cudaGetLastError();
}

cudaError_t psds_columns(const struct psds_work *work, cudaStream_t stream) {
    const struct psds_work w = *work;
    const int64_t n = w.elements.shape[2];
    const unsigned threads = threads_of(&w, n);
    DM_LAUNCH(columns, blocks_of(&w, w.elements.elements / n), threads, threads * 8, stream, w);
    return cudaGetLastError();
}

cudaError_t psds_search(const struct psds_work *work, cudaStream_t stream) {
    const struct psds_work w = *work;
    const int64_t n = w.elements.shape[DM_X];
    DM_LAUNCH(search, blocks_of(&w, w.elements.elements / n), threads_of(&w, n), 0, stream, w);
    return cudaGetLastError();
}
