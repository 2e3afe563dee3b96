/* esf/cuda: the mask in, as bits; values out. */
#include "cuda/sites.cuh"
#include "methods/esf/esf_cuda.cuh"

enum { THREADS = 256, MOST_BLOCKS = 1 << 20 };

/* Places along the grid's axes of the first element of a row. */
DM_DEVICE void row_place(const dm_elements &e, int axes, int64_t row, int64_t at[DM_NDIM]) {
    at[DM_X] = 0;
#pragma unroll
    for (int a = DM_X; a >= 0; a--) {
        if (a == DM_X && axes > 0)
            continue;
        at[a] = row % e.shape[a];
        row /= e.shape[a];
    }
}

/* A thread to 16 elements of a row, in turns. Reads the input, writes 1/8 byte per element. */
static __global__ void __launch_bounds__(THREADS)
    pack(const __grid_constant__ dm_elements e, const __grid_constant__ ec_stage p, bool plain) {
    const int64_t groups = p.pitch / 16, step = (int64_t)gridDim.x * THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < p.rows * groups; i += step) {
        const int64_t row = i / groups, x = i % groups * 16;
        uint32_t bits = 0;
        if (x < p.nx) {
            int64_t at[DM_NDIM];
            row_place(e, p.axes, row, at);
            if (p.axes > 0)
                bits = dm_sixteen_sites(&e, plain, at, x, p.nx, &raised);
            else
                bits = dm_element_is_site(&e, at, &raised);
        }
        ((uint16_t *)p.bits)[i] = (uint16_t)bits;
        uint32_t *shaped = &p.shaped[row / p.batch_rows];
        if (bits && !*(volatile uint32_t *)shaped)
            *shaped = 1;
    }
    dm_raise(&e, raised);
}

/* A thread to four elements, in turns. Reads their bits, writes 4 bytes per element to one field or to both. */
static __global__ void __launch_bounds__(THREADS) start(const __grid_constant__ ec_stage p) {
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < p.rows * p.pitch / 4; i += step) {
        const uint32_t bits = p.bits[i / 8] >> i % 8 * 4;
        const float4 v =
            make_float4((float)(bits & 1), (float)(bits >> 1 & 1), (float)(bits >> 2 & 1), (float)(bits >> 3 & 1));
        ((float4 *)p.field[0])[i] = v;
        if (p.field[1])
            ((float4 *)p.field[1])[i] = v;
    }
}

/* A thread to an element, in turns. Reads and writes 4 bytes per element. */
static __global__ void __launch_bounds__(THREADS)
    emit(const __grid_constant__ dm_elements e, const __grid_constant__ ec_stage p, const float *field) {
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < e.elements; i += step) {
        const int64_t row = i < UINT32_MAX ? (uint32_t)i / (uint32_t)p.nx : i / p.nx, x = i - row * p.nx;
        int64_t at[DM_NDIM];
        row_place(e, p.axes, row, at);
        if (p.axes > 0)
            at[DM_X] = x;
        *(float *)dm_element_address(&e.arrays.strength, at) = field[row * p.pitch + x];
    }
}

/* A thread to a batch, in turns. */
static __global__ void __launch_bounds__(THREADS)
    look_for_shapes(const __grid_constant__ dm_elements e, const __grid_constant__ ec_stage p) {
    const int64_t step = (int64_t)gridDim.x * THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < p.rows / p.batch_rows; i += step)
        raised |= p.shaped[i] ? 0 : DISTMAP_FLAG_NO_SITE;
    dm_raise(&e, raised);
}

/* Grid: a warp to a tile of kernel=blocked, in turns. Reads 1/8 byte per element. */
static __global__ void __launch_bounds__(32)
    survey(const __grid_constant__ ec_stage p, const __grid_constant__ ec_tiles t) {
    for (int64_t index = blockIdx.x; index < t.count; index += gridDim.x) {
        const ec_tile_place at = ec_tile_at(t, index);
        unsigned flags = 0;
        const int64_t x0 = at.x * t.width, x1 = x0 + t.width < p.nx ? x0 + t.width : p.nx;
        const int64_t words = (x1 + 31) / 32 - x0 / 32;
        for (int64_t i = threadIdx.x; i < words * t.height * t.z; i += 32) {
            const int64_t y = at.y * t.height + i / words % t.height, z = at.z * t.z + i / words / t.height;
            if (y >= p.ny || z >= p.nz)
                continue;
            const int64_t word = x0 / 32 + i % words, before = x0 - word * 32, after = (word + 1) * 32 - x1;
            const uint32_t bits = p.bits[((at.batch * p.nz + z) * p.ny + y) * (p.pitch / 32) + word];
            const uint32_t own =
                (before > 0 ? EC_WHOLE << before : EC_WHOLE) & (after > 0 ? EC_WHOLE >> after : EC_WHOLE);
            flags |= (bits & own ? EC_MOVES : 0) | (~bits & own ? EC_FREE : 0);
        }
        flags = ec_flags_of_warp(flags);
        if (threadIdx.x == 0)
            t.flags[0][index] = (uint8_t)flags;
    }
}

void ec_tiles_set(const ec_stage *p, int depth, int width, int height, int z, ec_tiles *t) {
    *t = ec_tiles{depth, width, height, z, 0, 0, 0, 0, {NULL, NULL}};
    t->x = (p->nx + width - 1) / width;
    t->y = (p->ny + height - 1) / height;
    t->zs = (p->nz + z - 1) / z;
    t->count = p->batches * t->zs * t->y * t->x;
}

cudaError_t ec_survey(const ec_stage *stage, const ec_tiles *tiles, cudaStream_t stream) {
    const ec_stage p = *stage;
    const ec_tiles t = *tiles;
    DM_LAUNCH(survey, dm_blocks(t.count, 1, MOST_BLOCKS), 32, 0, stream, p, t);
    return cudaGetLastError();
}

cudaError_t ec_load(const dm_elements *elements, const ec_stage *stage, cudaStream_t stream) {
    const dm_elements e = *elements;
    const ec_stage p = *stage;
    const bool plain = dm_sites_are_plain(&e);
    const cudaError_t error = cudaMemsetAsync(p.shaped, 0, (size_t)(p.rows / p.batch_rows) * sizeof *p.shaped, stream);
    if (error != cudaSuccess)
        return error;
    DM_LAUNCH(pack, dm_blocks(p.rows * p.pitch / 16, THREADS, MOST_BLOCKS), THREADS, 0, stream, e, p, plain);
    DM_LAUNCH(start, dm_blocks(p.rows * p.pitch / 4, THREADS, MOST_BLOCKS), THREADS, 0, stream, p);
    return cudaGetLastError();
}

cudaError_t ec_emit(const dm_elements *elements, const ec_stage *stage, const float *field, cudaStream_t stream) {
    const dm_elements e = *elements;
    const ec_stage p = *stage;
    DM_LAUNCH(emit, dm_blocks(e.elements, THREADS, MOST_BLOCKS), THREADS, 0, stream, e, p, field);
    DM_LAUNCH(look_for_shapes, dm_blocks(p.rows / p.batch_rows, THREADS, MOST_BLOCKS), THREADS, 0, stream, e, p);
    return cudaGetLastError();
}
