/* pba/cuda, phase 1, flood=turned and coordinates: the nearest site of every element within its row, coordinates being
 * flooded. flood=turned, with transposes by kernels of their own:
 *
 *   load:           the mask becomes words, as the image lies: a site is its own nearest
 *   transpose:      so that neighbouring rows lie side by side
 *   sweep:          every band of a row, in place: forward, the nearest site of the band at or left of the element; and
 *                   back, on either side
 *   propagate:      from band to band, by two loops: the nearest sites left and right of the band
 *   update:         every element takes one of those if it is nearer
 *   transpose:      back
 *
 * flood=coordinates, with the transposes fused into the sweeps, by way of shared memory:
 *
 *   sweep_fused:    as load, transpose and sweep: the mask comes by tiles of 32 columns
 *   update_fused:   as update and transpose
 *
 * The published kernel turns tiles of 64 x 64 in shared memory without a gap, so that all threads of a warp meet in one
 * bank. Here tiles have a column more.
 *
 * Ties: at equal distance the left site wins.
 */
#include "methods/pba/pba_cuda.cuh"

enum { TILE = 32, TILE_ROWS = 4, LOAD_THREADS = 256 };

/* A thread to an element, in turns. Reads the input, writes a word per element. */
template <class T> static __global__ void __launch_bounds__(LOAD_THREADS) load(const __grid_constant__ pba_work w) {
    typedef typename T::word word;
    const dm_elements *e = &w.elements;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * LOAD_THREADS + threadIdx.x; i < e->elements;
         i += (int64_t)gridDim.x * LOAD_THREADS) {
        int64_t at[DM_NDIM];
        dm_element_split(e, i, at);
        ((word *)w.words)[i] = dm_element_is_site(e, at, &raised) ? (word)at[DM_X] : pba_none<word>();
    }
    dm_raise(e, raised);
}

/* to[x][y] = from[y][x] for `height` x `width` words. A block to a tile, in turns. Reads and writes a word per element. */
template <class T>
static __global__ void __launch_bounds__(TILE *TILE_ROWS)
    transpose(const typename T::word *__restrict__ from, typename T::word *__restrict__ to, int64_t height,
              int64_t width) {
    __shared__ typename T::word tile[TILE][TILE + 1];
    const int64_t across = (width + TILE - 1) / TILE, count = (height + TILE - 1) / TILE * across;
    const int32_t lane = (int32_t)threadIdx.x;
    for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
        const int64_t y0 = i / across * TILE, x0 = i % across * TILE;
        __syncthreads();
        for (int32_t row = (int32_t)threadIdx.y; row < TILE; row += TILE_ROWS)
            if (y0 + row < height && x0 + lane < width)
                tile[row][lane] = from[(y0 + row) * width + x0 + lane];
        __syncthreads();
        for (int32_t row = (int32_t)threadIdx.y; row < TILE; row += TILE_ROWS)
            if (x0 + row < width && y0 + lane < height)
                to[(x0 + row) * height + y0 + lane] = tile[lane][row];
    }
}

/* The site in a word of this phase, -1: none; and back. */
template <class Word> DM_DEVICE int32_t site_of(Word v) { return v == pba_none<Word>() ? -1 : (int32_t)v; }
template <class Word> DM_DEVICE Word word_of(int32_t site) { return site < 0 ? pba_none<Word>() : (Word)site; }

/* A thread to a row's band. Grid: rows, bands. Reads and writes a word per element, twice, and writes 8 bytes per band. */
template <class T> static __global__ void __launch_bounds__(PBA_THREADS) sweep(const __grid_constant__ pba_work w) {
    typedef typename T::word word;
    const int32_t band = (int32_t)blockIdx.y, from = band * w.flood_length;
    const int32_t to = w.nx - from < w.flood_length ? w.nx : from + w.flood_length;
    for (int64_t row = (int64_t)blockIdx.x * PBA_THREADS + threadIdx.x; row < w.rows;
         row += (int64_t)gridDim.x * PBA_THREADS) {
        word *const words = (word *)w.turned + row;
        pba_pair found = {-1, -1};
        for (int32_t x = from; x < to; x++) {
            const int32_t own = site_of(words[x * w.rows]);
            found.last = own < 0 ? found.last : own;
            words[x * w.rows] = word_of<word>(found.last);
        }
        for (int32_t x = to - 1; x >= from; x--) {
            const int32_t before = site_of(words[x * w.rows]);
            found.first = before == x ? x : found.first;
            words[x * w.rows] = word_of<word>(pba_nearer(x, before, found.first));
        }
        w.reach[pba_place(band, w.rows, row)] = found;
    }
}

/* Which is nearest to x: the band's own, or what is outside (after propagate: first lies right). */
DM_DEVICE int32_t nearest_of(int32_t x, int32_t best, pba_pair outside) {
    if (outside.last >= 0 && (best < 0 || x - outside.last <= abs(x - best)))
        best = outside.last;
    if (outside.first >= 0 && (best < 0 || outside.first - x < abs(x - best)))
        best = outside.first;
    return best;
}

/* A thread to a row's band. Grid: rows, bands. Reads and writes a word per element. */
template <class T> static __global__ void __launch_bounds__(PBA_THREADS) update(const __grid_constant__ pba_work w) {
    typedef typename T::word word;
    const int32_t band = (int32_t)blockIdx.y, from = band * w.flood_length;
    const int32_t to = w.nx - from < w.flood_length ? w.nx : from + w.flood_length;
    for (int64_t row = (int64_t)blockIdx.x * PBA_THREADS + threadIdx.x; row < w.rows;
         row += (int64_t)gridDim.x * PBA_THREADS) {
        word *const words = (word *)w.turned + row;
        const pba_pair outside = w.reach[pba_place(band, w.rows, row)];
        for (int32_t x = from; x < to; x++)
            words[x * w.rows] = word_of<word>(nearest_of(x, site_of(words[x * w.rows]), outside));
    }
}

/* A thread to a row's band, a block to PBA_THREADS rows. Grid: rows, bands. A tile of the mask, PBA_WORD columns wide, at a time
 * goes through shared memory. Reads the input; writes, reads and writes a word per element; writes 8 bytes per band. */
template <class T>
static __global__ void __launch_bounds__(PBA_THREADS) sweep_fused(const __grid_constant__ pba_work w) {
    typedef typename T::word word;
    const dm_elements *e = &w.elements;
    __shared__ uint8_t tile[PBA_THREADS][PBA_WORD + 4];
    const int32_t band = (int32_t)blockIdx.y, from = band * w.flood_length, mine = (int32_t)threadIdx.x;
    const int32_t to = w.nx - from < w.flood_length ? w.nx : from + w.flood_length;
    unsigned raised = 0;
    for (int64_t row0 = (int64_t)blockIdx.x * PBA_THREADS; row0 < w.rows; row0 += (int64_t)gridDim.x * PBA_THREADS) {
        const bool active = row0 + mine < w.rows;
        word *const words = (word *)w.turned + row0 + mine;
        pba_pair found = {-1, -1};
        for (int32_t x0 = from; x0 < to; x0 += PBA_WORD) {
            __syncthreads();
            for (int32_t k = mine / PBA_WORD; k < PBA_THREADS; k += PBA_THREADS / PBA_WORD) {
                const int32_t lane = mine % PBA_WORD;
                int64_t at[DM_NDIM];
                if (row0 + k < w.rows && x0 + lane < to) {
                    dm_element_split(e, (row0 + k) * w.nx + x0 + lane, at);
                    tile[k][lane] = dm_element_is_site(e, at, &raised);
                }
            }
            __syncthreads();
            for (int32_t x = x0; active && x < to && x < x0 + PBA_WORD; x++) {
                found.last = tile[mine][x - x0] ? x : found.last;
                words[x * w.rows] = word_of<word>(found.last);
            }
        }
        for (int32_t x = to - 1; active && x >= from; x--) {
            const int32_t before = site_of(words[x * w.rows]);
            found.first = before == x ? x : found.first;
            words[x * w.rows] = word_of<word>(pba_nearer(x, before, found.first));
        }
        if (active)
            w.reach[pba_place(band, w.rows, row0 + mine)] = found;
    }
    dm_raise(e, raised);
}

/* As sweep_fused. Reads a word per element and writes one, where it lies in the image. */
template <class T>
static __global__ void __launch_bounds__(PBA_THREADS) update_fused(const __grid_constant__ pba_work w) {
    typedef typename T::word word;
    __shared__ int32_t tile[PBA_THREADS][PBA_WORD + 1];
    const int32_t band = (int32_t)blockIdx.y, from = band * w.flood_length, mine = (int32_t)threadIdx.x;
    const int32_t to = w.nx - from < w.flood_length ? w.nx : from + w.flood_length;
    for (int64_t row0 = (int64_t)blockIdx.x * PBA_THREADS; row0 < w.rows; row0 += (int64_t)gridDim.x * PBA_THREADS) {
        const bool active = row0 + mine < w.rows;
        const word *const words = (const word *)w.turned + row0 + mine;
        const pba_pair outside = active ? w.reach[pba_place(band, w.rows, row0 + mine)] : pba_pair{-1, -1};
        for (int32_t x0 = from; x0 < to; x0 += PBA_WORD) {
            __syncthreads();
            for (int32_t x = x0; active && x < to && x < x0 + PBA_WORD; x++)
                tile[mine][x - x0] = nearest_of(x, site_of(words[x * w.rows]), outside);
            __syncthreads();
            const int32_t lane = mine % PBA_WORD;
            for (int32_t k = mine / PBA_WORD; k < PBA_THREADS; k += PBA_THREADS / PBA_WORD)
                if (row0 + k < w.rows && x0 + lane < to)
                    ((word *)w.words)[(row0 + k) * w.nx + x0 + lane] = word_of<word>(tile[k][lane]);
        }
    }
}

template <class T> static cudaError_t launch_fused(const pba_work *work, cudaStream_t stream) {
    const pba_work w = *work;
    const dim3 grid(dm_blocks(w.rows, PBA_THREADS, PBA_MOST_BLOCKS), (unsigned)w.flood_bands);
    DM_LAUNCH(sweep_fused<T>, grid, PBA_THREADS, 0, stream, w);
    const cudaError_t error = pba_propagate(work, stream);
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH(update_fused<T>, grid, PBA_THREADS, 0, stream, w);
    return cudaGetLastError();
}

cudaError_t pba_flood_fused(const pba_work *w, cudaStream_t stream) {
    return w->narrow ? launch_fused<pba_narrow>(w, stream) : launch_fused<pba_wide>(w, stream);
}

template <class T> static cudaError_t launch(const pba_work *work, cudaStream_t stream) {
    typedef typename T::word word;
    const pba_work w = *work;
    const int64_t tiles = (w.rows + TILE - 1) / TILE * ((w.nx + TILE - 1) / TILE);
    const unsigned turns = dm_blocks(tiles, 1, PBA_MOST_BLOCKS);
    const dim3 grid(dm_blocks(w.rows, PBA_THREADS, PBA_MOST_BLOCKS), (unsigned)w.flood_bands), tile(TILE, TILE_ROWS);
    word *const words = (word *)w.words, *const turned = (word *)w.turned;
    const int64_t rows = w.rows, nx = w.nx;
    DM_LAUNCH(load<T>, dm_blocks(w.elements.elements, LOAD_THREADS, PBA_MOST_BLOCKS), LOAD_THREADS, 0, stream, w);
    DM_LAUNCH(transpose<T>, turns, tile, 0, stream, words, turned, rows, nx);
    DM_LAUNCH(sweep<T>, grid, PBA_THREADS, 0, stream, w);
    const cudaError_t error = pba_propagate(work, stream);
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH(update<T>, grid, PBA_THREADS, 0, stream, w);
    DM_LAUNCH(transpose<T>, turns, tile, 0, stream, turned, words, nx, rows);
    return cudaGetLastError();
}

cudaError_t pba_flood_turned(const pba_work *w, cudaStream_t stream) {
    return w->narrow ? launch<pba_narrow>(w, stream) : launch<pba_wide>(w, stream);
}
