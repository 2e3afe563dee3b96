/* pba/cuda, phase 1, flood=bits: the nearest site of every element within its row, with the transposes fused in.
 *
 * Threads sweep along rows, one to a row, so what they read and write at a time lies a row apart. The paper turns the
 * image by way of shared memory as part of the sweeps instead of by kernels of their own; so here, on the way in and on
 * the way out:
 *
 *   pack:      the mask becomes bits, turned: the words of neighbouring rows lie side by side. 1/8 byte per element
 *   reach:     every band of a row finds its first and last site
 *   propagate: from band to band, by two loops: the nearest sites left and right of the band
 *   flood:     every band sweeps its bits again, forward and back, and puts what it finds through shared memory into rows
 *
 * The paper's sweeps leave a coordinate per element in memory for the next kernel to read. Reading the bits again costs
 * 1/32 of that, so the bands' sweeps for their ends and those for their elements are apart.
 *
 * Ties: at equal distance the left site wins.
 */
#include "methods/pba/pba_cuda.cuh"

enum { PACK_WARPS = 4, PACK_WORDS = 4 };

/* Block: 32 rows of PACK_WORDS words; a warp reads a word's elements at a time. Reads the input, writes 1/8 byte per
 * element. */
static __global__ void __launch_bounds__(PACK_WARPS * 32) pack(const __grid_constant__ pba_work w) {
    const dm_elements *e = &w.elements;
    __shared__ const char *start[32];
    __shared__ uint32_t word[PACK_WORDS][33];
    const int32_t warp = (int32_t)threadIdx.x / 32, lane = (int32_t)threadIdx.x % 32;
    const int32_t words = (w.nx + PBA_WORD - 1) / PBA_WORD, across = (words + PACK_WORDS - 1) / PACK_WORDS;
    unsigned raised = 0;
    for (int64_t turn = blockIdx.x; turn < (w.rows + 31) / 32 * across; turn += gridDim.x) {
        const int64_t group = turn / across, row0 = group * 32;
        const int32_t word0 = (int32_t)(turn - group * across) * PACK_WORDS;
        __syncthreads();
        if (warp == 0 && row0 + lane < w.rows) {
            int64_t at[DM_NDIM];
            dm_element_split(e, (row0 + lane) * w.nx, at);
            start[lane] = dm_element_address(&e->arrays.input, at);
        }
        __syncthreads();
        for (int32_t row = warp; row < 32 && row0 + row < w.rows; row += PACK_WARPS)
#pragma unroll
            for (int32_t k = 0; k < PACK_WORDS && word0 + k < words; k++) {
                const int64_t x = (int64_t)(word0 + k) * PBA_WORD + lane;
                const bool site =
                    x < w.nx && dm_address_is_site(e, start[row] + x * e->arrays.input.stride[DM_X], &raised);
                const uint32_t bits = __ballot_sync(~0u, site);
                if (lane == 0)
                    word[k][row] = bits;
            }
        __syncthreads();
        if (warp < PACK_WORDS && word0 + warp < words && row0 + lane < w.rows)
            w.bits[(word0 + warp) * w.rows + row0 + lane] = word[warp][lane];
    }
    dm_raise(e, raised);
}

/* A thread to a row's band. Grid: rows, bands. Reads 1/8 byte per element, writes 8 bytes per band. */
static __global__ void __launch_bounds__(PBA_THREADS) reach(const __grid_constant__ pba_work w) {
    const int32_t band = (int32_t)blockIdx.y, from = band * w.flood_length;
    const int32_t to = w.nx - from < w.flood_length ? w.nx : from + w.flood_length;
    for (int64_t row = (int64_t)blockIdx.x * PBA_THREADS + threadIdx.x; row < w.rows;
         row += (int64_t)gridDim.x * PBA_THREADS) {
        pba_pair found = {-1, -1};
        for (int32_t x = from; x < to; x += PBA_WORD) {
            const uint32_t bits = w.bits[x / PBA_WORD * w.rows + row];
            if (!bits)
                continue;
            if (found.first < 0)
                found.first = x + __ffs((int)bits) - 1;
            found.last = x + 31 - __clz((int)bits);
        }
        w.reach[pba_place(band, w.rows, row)] = found;
    }
}

/* All floods. A thread to a row, in turns. Reads and writes 8 bytes per band. */
static __global__ void __launch_bounds__(PBA_THREADS) propagate(const __grid_constant__ pba_work w) {
    for (int64_t row = (int64_t)blockIdx.x * PBA_THREADS + threadIdx.x; row < w.rows;
         row += (int64_t)gridDim.x * PBA_THREADS) {
        int32_t left = -1, right = -1;
        for (int32_t band = 0; band < w.flood_bands; band++) {
            int32_t *const last = &w.reach[pba_place(band, w.rows, row)].last;
            const int32_t own = *last;
            *last = left;
            left = own < 0 ? left : own;
        }
        for (int32_t band = w.flood_bands - 1; band >= 0; band--) {
            int32_t *const first = &w.reach[pba_place(band, w.rows, row)].first;
            const int32_t own = *first;
            *first = right;
            right = own < 0 ? right : own;
        }
    }
}

/* The first site at or after `from`, before `to`, or else `beyond`. */
DM_DEVICE int32_t site_after(const uint32_t *bits, int64_t rows, int32_t from, int32_t to, int32_t beyond) {
    for (int32_t x = from; x < to; x += PBA_WORD) {
        const uint32_t word = bits[x / PBA_WORD * rows];
        if (word)
            return x + __ffs((int)word) - 1;
    }
    return beyond;
}

/* A thread to a row's band, a block to PBA_THREADS rows. Grid: rows, bands. A tile of PBA_WORD columns at a time goes
 * through shared memory, whose rows have one element more so that columns lie in different banks. Reads 1/8 byte per
 * element (what lies to the right of the tile is looked for once in each word), writes a word per element. */
template <class T> static __global__ void __launch_bounds__(PBA_THREADS) flood(const __grid_constant__ pba_work w) {
    typedef typename T::word word;
    __shared__ int32_t tile[PBA_THREADS][PBA_WORD + 1];
    const int32_t band = (int32_t)blockIdx.y, from = band * w.flood_length, mine = (int32_t)threadIdx.x;
    const int32_t to = w.nx - from < w.flood_length ? w.nx : from + w.flood_length;
    for (int64_t row0 = (int64_t)blockIdx.x * PBA_THREADS; row0 < w.rows; row0 += (int64_t)gridDim.x * PBA_THREADS) {
        const int64_t row = row0 + mine;
        const bool active = row < w.rows;
        const uint32_t *const bits = w.bits + row;
        const pba_pair outside =
            active ? w.reach[pba_place(band, w.rows, row)] : pba_pair{-1, -1}; /* after propagate: first lies right */
        int32_t left = outside.last, right = -1;
        for (int32_t x0 = from; x0 < to; x0 += PBA_WORD) {
            __syncthreads();
            if (active) {
                const uint32_t sites = bits[x0 / PBA_WORD * w.rows];
                if (x0 == from || (right >= 0 && right < x0 + PBA_WORD))
                    right =
                        x0 + PBA_WORD < to ? site_after(bits, w.rows, x0 + PBA_WORD, to, outside.first) : outside.first;
                int32_t after = right;
#pragma unroll
                for (int32_t k = 0; k < PBA_WORD; k++) {
                    left = sites >> k & 1 ? x0 + k : left;
                    tile[mine][k] = left;
                }
#pragma unroll
                for (int32_t k = PBA_WORD - 1; k >= 0; k--) {
                    after = sites >> k & 1 ? x0 + k : after;
                    tile[mine][k] = pba_nearer(x0 + k, tile[mine][k], after);
                }
            }
            __syncthreads();
            const int32_t lane = mine % 32, x = x0 + lane;
            for (int32_t k = mine / 32; k < PBA_THREADS; k += PBA_THREADS / 32)
                if (row0 + k < w.rows && x < to) {
                    const int32_t site = tile[k][lane];
                    ((word *)w.words)[(row0 + k) * w.nx + x] = site < 0 ? pba_none<word>() : (word)site;
                }
        }
    }
}

cudaError_t pba_propagate(const pba_work *work, cudaStream_t stream) {
    const pba_work w = *work;
    DM_LAUNCH(propagate, dm_blocks(w.rows, PBA_THREADS, PBA_MOST_BLOCKS), PBA_THREADS, 0, stream, w);
    return cudaGetLastError();
}

cudaError_t pba_flood(const pba_work *work, cudaStream_t stream) {
    const pba_work w = *work;
    const int64_t tiles = (w.rows + 31) / 32 * ((w.nx + PBA_WORD * PACK_WORDS - 1) / (PBA_WORD * PACK_WORDS));
    const dim3 grid(dm_blocks(w.rows, PBA_THREADS, PBA_MOST_BLOCKS), (unsigned)w.flood_bands);
    auto *const last = w.narrow ? flood<pba_narrow> : flood<pba_wide>;
    DM_LAUNCH(pack, dm_blocks(tiles, 1, PBA_MOST_BLOCKS), PACK_WARPS * 32, 0, stream, w);
    DM_LAUNCH(reach, grid, PBA_THREADS, 0, stream, w);
    const cudaError_t error = pba_propagate(work, stream);
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH(last, grid, PBA_THREADS, 0, stream, w);
    return cudaGetLastError();
}
