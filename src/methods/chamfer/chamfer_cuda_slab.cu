/* chamfer/cuda: axes slower than planes, a slab to a launch. A slab looks at the one before it, at all elements that a step
 * along its axis can come from, those along faster axes at the same time included; first forwards, then backwards, when the
 * slabs of the last axis also go out. See chamfer_sweep.c for why that is exact. */
#include "methods/chamfer/chamfer_cuda.cuh"

enum { THREADS = 128, MOST_BLOCKS = 1 << 20 };

/* What element `at` is worth so far, from slab at[axis] - back: 3^n neighbours, n measured axes being faster than `axis`. */
template <class T>
DM_DEVICE T look_at_slab(const dm_elements &e, const cc_stage &p, const int64_t at[DM_NDIM], int axis, int back,
                         T best) {
    const T *lanes = (const T *)p.lanes;
    int reach[DM_NDIM];
#pragma unroll
    for (int a = 0; a < DM_NDIM; a++)
        reach[a] = a > axis && e.measured[a] ? 1 : 0;
    const int64_t from[2] = {axis == 0 ? at[0] - back : at[0], axis == 1 ? at[1] - back : at[1]};
    for (int dz = -reach[1]; dz <= reach[1]; dz++)
        for (int dy = -reach[2]; dy <= reach[2]; dy++) {
            const int64_t z = from[1] + dz, y = at[2] + dy;
            if (z < 0 || z >= e.shape[1] || y < 0 || y >= e.shape[2])
                continue;
            const T *row = lanes + ((from[0] * e.shape[1] + z) * e.shape[2] + y) * p.words * 32 + at[DM_X];
            const int axes = 1 + (dz != 0) + (dy != 0);
            best = cc_min(best, (T)(row[0] + (T)p.steps[axes]));
            const T left = at[DM_X] > 0 ? row[-1] : (T)p.cap, right = at[DM_X] + 1 < p.width ? row[1] : (T)p.cap;
            best = cc_min(best, (T)(cc_min(left, right) + (T)p.steps[axes + 1]));
        }
    return best;
}

/* Grid: a thread for each element of the slabs with that place along `axis`, in turns. back: 1 forwards, -1 backwards, 0
 * where there is nothing to look at. Reads 9 or 27 lanes for each, mostly from caches, and writes one, or the outputs. */
template <class T>
static __global__ void __launch_bounds__(THREADS)
    slab(const __grid_constant__ dm_elements e, const __grid_constant__ cc_stage p, int axis, int64_t place, int back,
         bool finish) {
    const int64_t count = e.elements / e.shape[axis], step = (int64_t)gridDim.x * THREADS;
    unsigned raised = 0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
        int64_t at[DM_NDIM], rest = i;
#pragma unroll
        for (int a = DM_X; a >= 0; a--) {
            at[a] = a == axis ? place : rest % e.shape[a];
            rest = a == axis ? rest : rest / e.shape[a];
        }
        T *lane = (T *)p.lanes + ((at[0] * e.shape[1] + at[1]) * e.shape[2] + at[2]) * p.words * 32 + at[DM_X];
        const T best = back ? look_at_slab<T>(e, p, at, axis, back, *lane) : *lane;
        *lane = best;
        if (finish)
            cc_emit<T>(e, p, at, 0, best, &raised);
    }
    dm_raise(&e, raised);
}

cudaError_t cc_slab(const dm_elements *e, const cc_stage *p, int axis, int64_t place, int back, bool finish,
                    cudaStream_t stream) {
    const dm_elements elements = *e;
    const cc_stage stage = *p;
    const unsigned blocks = dm_blocks(e->elements / e->shape[axis], THREADS, MOST_BLOCKS);
    if (p->keys)
        DM_LAUNCH(slab<uint64_t>, blocks, THREADS, 0, stream, elements, stage, axis, place, back, finish);
    else
        DM_LAUNCH(slab<uint32_t>, blocks, THREADS, 0, stream, elements, stage, axis, place, back, finish);
    return cudaGetLastError();
}
