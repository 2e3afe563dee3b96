/* esf/cuda, kernel=shared and kernel=texture: one step to a launch, as in the paper (Keles 2016, sections 2.1 and 2.2).
 *
 * shared: a block holds a tile with its apron in shared memory; apron elements beyond the border are copies of those at
 * it. The paper's threads load four corners each, which stand in for the edges; here groups of four neighbours of a row
 * are copied as they are, 16 bytes at a time, without passing through registers: so all of a tile is under way at once,
 * and other blocks' tiles beside it. A thread steps four neighbours too. texture: five fetches from a texture, which
 * replicates the ends of rows by itself; the paper's border rows too, but batches and planes of a volume follow each
 * other in one texture, and rows beside their ends are chosen here. */
#include "methods/esf/esf_cuda.cuh"

enum { WARPS = 8, THREADS = WARPS * 32, GROUP = 4 };

template <int AXES> struct tile_size; /* columns, rows, planes */
template <> struct tile_size<1> {
    enum { X = 128, Y = 32, Z = 1 };
};
template <> struct tile_size<2> {
    enum { X = 256, Y = 16, Z = 1 };
};
template <> struct tile_size<3> {
    enum { X = 64, Y = 8, Z = 8 };
};

/* A tile with an apron of one plane, of one row and of a group of columns, on every side of axes that count. */
template <int AXES> struct apron_tile {
    enum {
        AY = AXES > 1,
        AZ = AXES > 2,
        GROUPS = tile_size<AXES>::X / GROUP + 2,
        ROWS = tile_size<AXES>::Y + 2 * AY,
        PLANES = tile_size<AXES>::Z + 2 * AZ
    };
    float4 group[PLANES][ROWS][GROUPS];
};

/* The place of a coordinate at the border replicated. */
DM_DEVICE int64_t clamp(int64_t at, int64_t n) { return at < 0 ? 0 : at >= n ? n - 1 : at; }

/* Where a block's tile begins; the row of the batch's first. */
struct corner {
    int64_t x, y, z, first;
};

template <int AXES>
DM_DEVICE void copy_tile(const ec_stage &p, const corner &c, const float *from, apron_tile<AXES> *t) {
    typedef apron_tile<AXES> tile;
#pragma unroll
    for (int i = (int)threadIdx.x; i < tile::PLANES * tile::ROWS * tile::GROUPS; i += THREADS) {
        const int g = i % tile::GROUPS, j = i / tile::GROUPS % tile::ROWS, k = i / tile::GROUPS / tile::ROWS;
        const int64_t x = c.x + (g - 1) * GROUP, y = clamp(c.y + j - tile::AY, p.ny),
                      z = clamp(c.z + k - tile::AZ, p.nz);
        const float *row = from + ((c.first + z) * p.ny + y) * p.pitch;
        float4 *group = &t->group[k][j][g];
        if (x >= 0 && x + GROUP <= p.nx)
            dm_copy_16(group, row + x);
        else
            for (int n = 0; n < GROUP; n++)
                dm_copy_4((float *)group + n, row + clamp(x + n, p.nx));
    }
}

/* The group at (z, y, g) of the tile, of which `shape` has the bits, after a step. */
template <int AXES>
DM_DEVICE float4 step_group(const ec_stage &p, const apron_tile<AXES> &t, int z, int y, int g, uint32_t shape) {
    typedef apron_tile<AXES> tile;
    const int k = z + tile::AZ, j = y + tile::AY, i = g + 1;
    const float4 v = t.group[k][j][i], up = t.group[k][j - tile::AY][i], down = t.group[k][j + tile::AY][i],
                 back = t.group[k - tile::AZ][j][i], front = t.group[k + tile::AZ][j][i];
    const float before = t.group[k][j][i - 1].w, after = t.group[k][j][i + 1].x;
    float4 s = make_float4(before + v.y, v.x + v.z, v.y + v.w, v.z + after);
    if (AXES > 1)
        s = make_float4((up.x + down.x) + s.x, (up.y + down.y) + s.y, (up.z + down.z) + s.z, (up.w + down.w) + s.w);
    if (AXES > 2)
        s = make_float4(s.x + (back.x + front.x), s.y + (back.y + front.y), s.z + (back.z + front.z),
                        s.w + (back.w + front.w));
    return make_float4(shape & 1 ? 1 : ec_next(p, v.x, s.x), shape & 2 ? 1 : ec_next(p, v.y, s.y),
                       shape & 4 ? 1 : ec_next(p, v.z, s.z), shape & 8 ? 1 : ec_next(p, v.w, s.w));
}

/* Grid: a block to a tile. Shared memory: the tile and its apron, 18 to 29 KB. Reads 4 bytes per element, the apron's
 * again, and 1/8 for the shape; writes 4. */
template <int AXES>
static __global__ void __launch_bounds__(THREADS)
    shared_step(const __grid_constant__ ec_stage p, const float *__restrict__ from, float *__restrict__ to) {
    enum { X = tile_size<AXES>::X, Y = tile_size<AXES>::Y, Z = tile_size<AXES>::Z, ACROSS = X / GROUP };
    enum { EACH = ACROSS * Y * Z / THREADS }; /* groups to a thread */
    __shared__ apron_tile<AXES> tile;
    const uint32_t across = (uint32_t)((p.nx + X - 1) / X), down = (uint32_t)((p.ny + Y - 1) / Y),
                   deep = (uint32_t)((p.nz + Z - 1) / Z), line = blockIdx.x / across, layer = line / down;
    const corner c = {(int64_t)(blockIdx.x - line * across) * X, (int64_t)(line - layer * down) * Y,
                      (int64_t)(layer % deep) * Z, layer / deep * p.nz};
    copy_tile(p, c, from, &tile);
    uint32_t shape[EACH];
    int64_t at[EACH]; /* in field memory; -1: beyond the border */
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int i = (int)threadIdx.x + e * THREADS;
        const int64_t x = c.x + i % ACROSS * GROUP, y = c.y + i / ACROSS % Y, z = c.z + i / ACROSS / Y;
        at[e] = x < p.pitch && y < p.ny && z < p.nz ? ((c.first + z) * p.ny + y) * p.pitch + x : -1;
        shape[e] = at[e] >= 0 ? ((const uint8_t *)p.bits)[at[e] / 8] >> at[e] % 8 : 0;
    }
    dm_copies_wait();
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int i = (int)threadIdx.x + e * THREADS;
        if (at[e] >= 0)
            *(float4 *)(to + at[e]) = step_group(p, tile, i / ACROSS / Y, i / ACROSS % Y, i % ACROSS, shape[e]);
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
