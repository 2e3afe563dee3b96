/* esf/cuda, kernel=shared and kernel=texture: one step to a launch, as in the paper (Keles 2016, sections 2.1 and 2.2).
 *
 * shared: a block holds a tile with its apron, one element on every side, in shared memory; apron elements beyond the
 * border are copies of those at it. The paper's threads load four corners each, which stand in for the edges; here a
 * warp loads a row. texture: five fetches from a texture, which replicates the ends of rows by itself; the paper's
 * border rows too, but batches and planes of a volume follow each other in one texture, and rows beside their ends are
 * chosen here. */
#include "methods/esf/esf_cuda.cuh"

enum { WARPS = 8, THREADS = WARPS * 32 };

template <int AXES> struct tile_size; /* a multiple of 32 columns, rows, planes */
template <> struct tile_size<1> {
    enum { X = 128, Y = 32, Z = 1 };
};
template <> struct tile_size<2> {
    enum { X = 128, Y = 32, Z = 1 };
};
template <> struct tile_size<3> {
    enum { X = 64, Y = 8, Z = 8 };
};

/* The place of a coordinate at the border replicated. */
DM_DEVICE int64_t clamp(int64_t at, int64_t n) { return at < 0 ? 0 : at >= n ? n - 1 : at; }

/* Grid: a block to a tile. Shared memory: the tile and its apron, 17 to 26 KB. Reads 4 bytes per element, the apron's
 * again, and 1/8 for the shape; writes 4. */
template <int AXES>
static __global__ void __launch_bounds__(THREADS)
    shared_step(const __grid_constant__ ec_stage p, const float *__restrict__ from, float *__restrict__ to) {
    enum {
        X = tile_size<AXES>::X,
        Y = tile_size<AXES>::Y,
        Z = tile_size<AXES>::Z,
        AY = AXES > 1,
        AZ = AXES > 2,
        ROW = X + 2,
        ROWS = Y + 2 * AY,
        PLANES = Z + 2 * AZ
    };
    __shared__ float tile[PLANES][ROWS][ROW];
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const uint32_t across = (uint32_t)((p.nx + X - 1) / X), down = (uint32_t)((p.ny + Y - 1) / Y),
                   deep = (uint32_t)((p.nz + Z - 1) / Z), line = blockIdx.x / across, layer = line / down;
    const int64_t x0 = (int64_t)(blockIdx.x - line * across) * X, y0 = (int64_t)(line - layer * down) * Y,
                  z0 = (int64_t)(layer % deep) * Z, first = layer / deep * p.nz;
    int64_t column[X / 32];
    for (int i = 0; i < X / 32; i++)
        column[i] = clamp(x0 + i * 32 + lane, p.nx);
    const int64_t beside = clamp(x0 + (lane & 1) * (X + 1) - 1, p.nx);
#pragma unroll 2
    for (int r = warp; r < ROWS * PLANES; r += WARPS) {
        const int64_t z = AZ ? clamp(z0 + r / ROWS - AZ, p.nz) : z0, y = clamp(y0 + r % ROWS - AY, p.ny);
        const float *row = from + ((first + z) * p.ny + y) * p.pitch;
        float *own = tile[r / ROWS][r % ROWS];
#pragma unroll
        for (int i = 0; i < X / 32; i++)
            own[1 + i * 32 + lane] = row[column[i]];
        if (lane < 2)
            own[lane * (X + 1)] = row[beside];
    }
    __syncthreads();
    for (int r = warp; r < Y * Z; r += WARPS) {
        const int j = r % Y + AY, k = r / Y + AZ;
        const int64_t y = y0 + r % Y, z = z0 + r / Y;
        if (y >= p.ny || z >= p.nz)
            continue;
        const int64_t row = ((first + z) * p.ny + y) * p.pitch;
#pragma unroll
        for (int i = 0; i < X / 32; i++) {
            const int x = 1 + i * 32 + lane;
            if (x0 + i * 32 >= p.nx)
                break;
            float s = tile[k][j][x - 1] + tile[k][j][x + 1];
            if (AXES > 1)
                s = (tile[k][j - AY][x] + tile[k][j + AY][x]) + s;
            if (AXES > 2)
                s = s + (tile[k - AZ][j][x] + tile[k + AZ][j][x]);
            const uint32_t bits = p.bits[(row + x0) / 32 + i];
            to[row + x0 + i * 32 + lane] = bits >> lane & 1 ? 1.0f : ec_next(p, tile[k][j][x], s);
        }
    }
}

/* Grid: a thread to an element of a row, 8 rows to a block. Reads 4 bytes per element and 1/8 for the shape; writes 4. */
static __global__ void __launch_bounds__(THREADS)
    texture_step(const __grid_constant__ ec_stage p, cudaTextureObject_t from, float *to) {
    const uint32_t across = (uint32_t)((p.nx + 31) / 32), eight = blockIdx.x / across;
    const uint32_t x = (blockIdx.x - eight * across) * 32 + threadIdx.x % 32, row = eight * WARPS + threadIdx.x / 32;
    if (row >= p.rows || x >= p.nx)
        return;
    const uint32_t y = row % (uint32_t)p.ny, z = row / (uint32_t)p.ny % (uint32_t)p.nz;
    const float u = (float)x + 0.5f, w = (float)row + 0.5f, plane = (float)p.ny;
    float s = tex2D<float>(from, u - 1, w) + tex2D<float>(from, u + 1, w);
    if (p.axes > 1)
        s = (tex2D<float>(from, u, y > 0 ? w - 1 : w) + tex2D<float>(from, u, y < p.ny - 1 ? w + 1 : w)) + s;
    if (p.axes > 2)
        s = s + (tex2D<float>(from, u, z > 0 ? w - plane : w) + tex2D<float>(from, u, z < p.nz - 1 ? w + plane : w));
    const uint32_t bits = p.bits[row * (p.pitch / 32) + x / 32];
    to[row * p.pitch + x] = bits >> x % 32 & 1 ? 1.0f : ec_next(p, tex2D<float>(from, u, w), s);
}

template <int AXES> static void launch_shared(const ec_stage &p, const float *from, float *to, cudaStream_t stream) {
    const int64_t tiles = p.batches * ((p.nz + tile_size<AXES>::Z - 1) / tile_size<AXES>::Z) *
                          ((p.ny + tile_size<AXES>::Y - 1) / tile_size<AXES>::Y) *
                          ((p.nx + tile_size<AXES>::X - 1) / tile_size<AXES>::X);
    DM_LAUNCH(shared_step<AXES>, (unsigned)tiles, THREADS, 0, stream, p, from, to);
}

cudaError_t ec_shared(const ec_stage *stage, const float *from, float *to, cudaStream_t stream) {
    const ec_stage p = *stage;
    if (p.axes < 2)
        launch_shared<1>(p, from, to, stream);
    else if (p.axes == 2)
        launch_shared<2>(p, from, to, stream);
    else
        launch_shared<3>(p, from, to, stream);
    return cudaGetLastError();
}

cudaError_t ec_texture(const ec_stage *stage, cudaTextureObject_t from, float *to, cudaStream_t stream) {
    const ec_stage p = *stage;
    const int64_t blocks = (p.nx + 31) / 32 * ((p.rows + WARPS - 1) / WARPS);
    DM_LAUNCH(texture_step, (unsigned)blocks, THREADS, 0, stream, p, from, to);
    return cudaGetLastError();
}
