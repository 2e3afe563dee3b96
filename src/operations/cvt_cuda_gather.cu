/* cvt/cuda: the sums over cells.
 *
 * A thread goes down a column of a tile and adds up the elements of a cell in registers while they follow each other; where
 * the cell changes it adds them to the cell's sums in memory, three or four words of one sector. Neighbouring threads read
 * neighbouring columns, so that all reads are whole lines; a cell of d x d elements is added to about d times for each tile that it
 * reaches into. Atomic adds want no answer, and integers no order. */
#include "operations/cvt_cuda.cuh"

enum { ROWS = 32, UNROLL = 8 };

/* Weights of a column. */
template <class T> struct column {
    const char *data;
    int64_t stride;
    bool flag; /* bool: any byte but 0 is 1 */
    __device__ __forceinline__ uint64_t at(int64_t row) const {
        const uint64_t w = *(const T *)(data + row * stride);
        return flag ? w != 0 : w;
    }
};

typedef struct run {
    int64_t site; /* -1: none */
    uint64_t weight, moment;
} run;

DM_DEVICE void give(const cv_args &a, const run &r, int64_t z, int64_t x) {
    if (r.weight == 0)
        return;
    cv_sums *to = &a.sums[a.stand[r.site] - 1];
    cv_add(&to->weight, r.weight);
    if (z)
        cv_add(&to->moment[0], r.weight * (uint64_t)z);
    cv_add(&to->moment[1], r.moment);
    cv_add(&to->moment[2], r.weight * (uint64_t)x);
}

/* A block for a tile of 256 columns and 32 rows of a plane, in turns. Reads 4 or 8 bytes of indices and the weight of each
 * element, of `stand` 4 bytes for each run. */
template <class T, class I>
static __global__ void __launch_bounds__(CV_THREADS) gather(const __grid_constant__ cv_args a) {
    const int64_t across = (a.grid.shape[2] + CV_THREADS - 1) / CV_THREADS, down = (a.grid.shape[1] + ROWS - 1) / ROWS;
    const I *index = (const I *)a.index;
    for (int64_t tile = blockIdx.x; tile < across * down * a.grid.shape[0]; tile += gridDim.x) {
        const int64_t x = tile % across * CV_THREADS + threadIdx.x, z = tile / across / down;
        const int64_t y = tile / across % down * ROWS;
        const int64_t rows = a.grid.shape[1] - y < ROWS ? a.grid.shape[1] - y : (int64_t)ROWS;
        if (x >= a.grid.shape[2])
            continue;
        const int64_t first = z * a.grid.linear[0] + y * a.grid.linear[1] + x;
        const int64_t from[CV_AXES] = {z, y, x};
        const column<T> weight = {a.grid.weight ? (const char *)(a.grid.weight + first) : cv_address(&a.input, from),
                                  a.grid.weight ? a.grid.linear[1] * 8 : a.input.stride[2],
                                  !a.grid.weight && a.input.dtype == DISTMAP_BOOL};
        run r = {-1, 0, 0};
        for (int64_t row = 0; row < rows; row += UNROLL) {
            int64_t site[UNROLL];
            uint64_t w[UNROLL];
            DM_UNROLL
            for (int i = 0; i < UNROLL; i++) { /* all are asked for before the first is needed */
                const bool inside = row + i < rows;
                site[i] = inside ? (int64_t)index[first + (row + i) * a.grid.linear[1]] : r.site;
                w[i] = inside ? weight.at(row + i) : 0;
            }
            DM_UNROLL
            for (int i = 0; i < UNROLL; i++) {
                if (w[i] && site[i] != r.site) {
                    give(a, r, z, x);
                    r.site = site[i];
                    r.weight = r.moment = 0;
                }
                r.weight += w[i];
                r.moment += w[i] * (uint64_t)(y + row + i);
            }
        }
        give(a, r, z, x);
    }
}

template <class T> static void launch(const cv_args &a, cudaStream_t stream) {
    const int64_t across = (a.grid.shape[2] + CV_THREADS - 1) / CV_THREADS, down = (a.grid.shape[1] + ROWS - 1) / ROWS;
    const unsigned blocks = dm_blocks(across * down * a.grid.shape[0], 1, 1 << 20);
    if (a.wide)
        DM_LAUNCH((gather<T, int64_t>), blocks, CV_THREADS, 0, stream, a);
    else
        DM_LAUNCH((gather<T, int32_t>), blocks, CV_THREADS, 0, stream, a);
}

cudaError_t cv_launch_gather(const cv_args *args, cudaStream_t stream) {
    const cv_args a = *args;
    if (a.grid.weight)
        launch<uint64_t>(a, stream);
    else if (a.input.dtype == DISTMAP_UINT32)
        launch<uint32_t>(a, stream);
    else if (a.input.dtype == DISTMAP_UINT16)
        launch<uint16_t>(a, stream);
    else
        launch<uint8_t>(a, stream);
    return cudaGetLastError();
}
