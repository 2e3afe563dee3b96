/* minplus/cuda: results in a unit other than 1. The searches store squared distances N, as they do for uint32 outputs, into the
 * output's own memory; here they become u sqrt(N), or u^2 N, in place, 8 bytes per element read and written.
 *
 * The root is found as kernel_roots.h does, which says why: the root s of float(u^2 N) is at most one place off, e = u^2 N - s^2 tells
 * the neighbour t that may be nearer. What is too near to the middle between the two is settled in doubles and, where these do not
 * do, exactly (core/unit.h). */
#include "methods/minplus/minplus_cuda.cuh"

DM_DEVICE float unit_root(const dm_unit &unit, uint32_t n) {
    const float number = (float)n, x = number * unit.root_high, s = __fsqrt_rn(x);
    const float low = fmaf(number, unit.root_low, fmaf(number, unit.root_high, -x));
    const float e = low - fmaf(s, s, -x), t = __uint_as_float(__float_as_uint(s) + (e < 0 ? -1 : 1));
    const float apart = fmaf(s, t - s, -e); /* of another sign than e where t is nearer */
    if (fabsf(apart) < x * 0x1p-43f || n >= DM_UNIT_EXACT_FLOAT || unit.root_high == 0)
        return dm_unit_distancef(&unit, n);
    return (e < 0 ? apart > 0 : apart < 0) ? t : s;
}

template <bool ROOT> DM_DEVICE uint32_t in_unit(const dm_unit &unit, uint32_t n) {
    if (n == UINT32_MAX)
        return ROOT ? __float_as_uint((float)INFINITY) : n;
    return ROOT ? __float_as_uint(unit_root(unit, n)) : n * (uint32_t)unit.whole;
}

/* Elements side by side, four to a thread and step. Grid: any. */
template <bool ROOT>
static __global__ void __launch_bounds__(256)
    scale_all(const __grid_constant__ dm_unit unit, uint4 *__restrict__ data, int64_t count) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const uint4 n = data[i];
        data[i] = make_uint4(in_unit<ROOT>(unit, n.x), in_unit<ROOT>(unit, n.y), in_unit<ROOT>(unit, n.z),
                             in_unit<ROOT>(unit, n.w));
    }
}

/* Elements from `first` on, wherever they lie. */
template <bool ROOT>
static __global__ void __launch_bounds__(256)
    scale_each(const __grid_constant__ dm_elements e, const __grid_constant__ dm_array out, int64_t first) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < e.elements; i += step) {
        int64_t at[DM_NDIM];
        dm_element_split(&e, i, at);
        uint32_t *const to = (uint32_t *)dm_element_address(&out, at);
        *to = in_unit<ROOT>(e.unit, *to);
    }
}

static bool is_side_by_side(const dm_elements *e, const dm_array *out) {
    for (int a = 0; a < DM_NDIM; a++)
        if (e->shape[a] > 1 && out->stride[a] != e->linear[a] * 4)
            return false;
    return (uintptr_t)out->data % sizeof(uint4) == 0;
}

template <bool ROOT>
static void scale(const dm_elements *e, const dm_array *out, int multiprocessors, cudaStream_t stream) {
    const int64_t fours = is_side_by_side(e, out) ? e->elements / 4 : 0;
    if (fours)
        DM_LAUNCH(scale_all<ROOT>, dm_blocks(fours, 256, multiprocessors * 8), 256, 0, stream, e->unit,
                  (uint4 *)out->data, fours);
    if (fours * 4 < e->elements)
        DM_LAUNCH(scale_each<ROOT>, dm_blocks(e->elements - fours * 4, 256, multiprocessors * 8), 256, 0, stream, *e,
                  *out, fours * 4);
}

cudaError_t mc_scale(const dm_elements *e, int multiprocessors, cudaStream_t stream) {
    if (e->arrays.distance.data)
        scale<true>(e, &e->arrays.distance, multiprocessors, stream);
    else
        scale<false>(e, &e->arrays.squared, multiprocessors, stream);
    return cudaGetLastError();
}
