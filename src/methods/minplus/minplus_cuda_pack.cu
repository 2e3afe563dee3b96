/* minplus/cuda: rows of elements into entries (minplus_cuda.h).
 *
 * A warp packs a row. First its sites become bits in shared memory, 16 per lane and load. Then, 32 groups at a time, a
 * max-scan over lanes finds the last site before each group, and coming back a min-scan the first one after it; the
 * entries are written on the way back. Reads each element once, writes 1/4 byte per pixel. */
#include "methods/minplus/minplus_cuda.cuh"

enum { WARPS = 4 };

/* 4 bytes -> 4 bits, 1 where the byte is zero. */
DM_DEVICE uint32_t zero_bytes(uint32_t x) {
    const uint32_t some = ((x & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | x; /* bit 7 of a byte: it is not zero */
    return ((~some & 0x80808080u) >> 7) * 0x10204080u >> 28;
}

/* Sites among 16 elements from x on, as bits. `plain`: bytes that lie side by side, 16-aligned, zero being the sites (or, by
 * the flip, all others). */
DM_DEVICE uint32_t sixteen(const dm_elements *e, bool plain, int64_t at[DM_NDIM], int32_t x, int32_t width,
                           unsigned *raised) {
    if (plain && x + 16 <= width) {
        at[DM_X] = x;
        const uint4 v = __ldcs((const uint4 *)dm_element_address(&e->arrays.input, at));
        const uint32_t zeros = zero_bytes(v.x) | zero_bytes(v.y) << 4 | zero_bytes(v.z) << 8 | zero_bytes(v.w) << 12;
        return e->sites.flip ? ~zeros & 0xFFFF : zeros;
    }
    uint32_t bits = 0;
    for (int i = 0; i < 16 && x + i < width; i++) {
        at[DM_X] = x + i;
        bits |= (uint32_t)dm_element_is_site(e, at, raised) << i;
    }
    return bits;
}

DM_DEVICE int32_t warp_max_before(int32_t v, int lane) { /* of the lanes before; -1 without */
    for (int step = 1; step < 32; step *= 2) {
        const int32_t other = __shfl_up_sync(MC_WHOLE, v, step);
        if (lane >= step && other > v)
            v = other;
    }
    v = __shfl_up_sync(MC_WHOLE, v, 1);
    return lane ? v : -1;
}

DM_DEVICE int32_t warp_min_after(int32_t v, int lane) { /* of the lanes after; INT32_MAX without */
    for (int step = 1; step < 32; step *= 2) {
        const int32_t other = __shfl_down_sync(MC_WHOLE, v, step);
        if (lane + step < 32 && other < v)
            v = other;
    }
    v = __shfl_down_sync(MC_WHOLE, v, 1);
    return lane < 31 ? v : INT32_MAX;
}

/* Position of the last / first site among four words that start at pixel `base`. */
DM_DEVICE int32_t last_site(uint4 w, int32_t base) {
    return w.w   ? base + 127 - __clz((int)w.w)
           : w.z ? base + 95 - __clz((int)w.z)
           : w.y ? base + 63 - __clz((int)w.y)
           : w.x ? base + 31 - __clz((int)w.x)
                 : -1;
}
DM_DEVICE int32_t first_site(uint4 w, int32_t base) {
    return w.x   ? base + __ffs((int)w.x) - 1
           : w.y ? base + __ffs((int)w.y) + 31
           : w.z ? base + __ffs((int)w.z) + 63
           : w.w ? base + __ffs((int)w.w) + 95
                 : INT32_MAX;
}

DM_DEVICE uint16_t before(int32_t base, int32_t site) {
    return (uint16_t)(site < 0 ? (int32_t)MC_NONE : base - 1 - site);
}
DM_DEVICE uint16_t after(int32_t base, int32_t site) {
    return (uint16_t)(site == INT32_MAX ? (int32_t)MC_NONE : site - base - 32);
}

/* Grid: any number of blocks of WARPS warps, which take rows in turn. Shared memory per warp: groups * 16 bytes of bits and
 * groups * 4 of last sites. */
static __global__ void __launch_bounds__(WARPS * 32)
    pack(const __grid_constant__ dm_elements e, const __grid_constant__ mc_stage p, bool plain) {
    DM_DYNAMIC_SHARED(uint4, shared);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    uint4 *words = shared + (size_t)warp * p.groups;
    int32_t *last = (int32_t *)(shared + (size_t)WARPS * p.groups) + (size_t)warp * p.groups;
    uint16_t *halves = (uint16_t *)words;
    const uint32_t rows = (uint32_t)p.planes * (uint32_t)p.height; /* below 2^31: 32-bit divisions will do */
    unsigned raised = 0;
    for (uint32_t row = blockIdx.x * WARPS + (uint32_t)warp; row < rows; row += gridDim.x * WARPS) {
        const uint32_t plane = row / (uint32_t)p.height, y = row - plane * (uint32_t)p.height;
        const uint32_t outer = plane / (uint32_t)e.shape[1];
        int64_t at[DM_NDIM] = {outer, plane - outer * (uint32_t)e.shape[1], y, 0};
#pragma unroll 4
        for (int32_t x = lane * 16; x < p.groups * MC_GROUP; x += 512)
            halves[x / 16] = (uint16_t)sixteen(&e, plain, at, x, p.width, &raised);
        __syncwarp();
        int32_t run = -1;
        for (int32_t g0 = 0; g0 < p.groups; g0 += 32) {
            const int32_t g = g0 + lane;
            const int32_t own = g < p.groups ? last_site(words[g], g * MC_GROUP) : -1;
            const int32_t earlier = max(run, warp_max_before(own, lane));
            if (g < p.groups)
                last[g] = earlier;
            run = __shfl_sync(MC_WHOLE, max(earlier, own), 31);
        }
        __syncwarp();
        run = INT32_MAX;
        for (int32_t g0 = (p.groups - 1) / 32 * 32; g0 >= 0; g0 -= 32) {
            const int32_t g = g0 + lane, base = g * MC_GROUP;
            const uint4 w = g < p.groups ? words[g] : make_uint4(0, 0, 0, 0);
            const int32_t own = first_site(w, base);
            const int32_t later = min(run, warp_min_after(own, lane));
            run = __shfl_sync(MC_WHOLE, min(later, own), 0);
            if (g >= p.groups)
                continue;
            const uint32_t bits[4] = {w.x, w.y, w.z, w.w};
            mc_entry out[4];
            int32_t site = last[g];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                out[i].bits = bits[i];
                out[i].left = before(base + i * 32, site);
                site = bits[i] ? base + i * 32 + 31 - __clz((int)bits[i]) : site;
            }
            site = later;
#pragma unroll
            for (int i = 3; i >= 0; i--) {
                out[i].right = after(base + i * 32, site);
                site = bits[i] ? base + i * 32 + __ffs((int)bits[i]) - 1 : site;
            }
            uint4 *to = (uint4 *)(p.entries + (((int64_t)plane * p.groups + g) * p.height + y) * 4);
            to[0] = make_uint4(out[0].bits, out[0].left | (uint32_t)out[0].right << 16, out[1].bits,
                               out[1].left | (uint32_t)out[1].right << 16);
            to[1] = make_uint4(out[2].bits, out[2].left | (uint32_t)out[2].right << 16, out[3].bits,
                               out[3].left | (uint32_t)out[3].right << 16);
        }
        __syncwarp();
    }
    dm_raise(&e, raised);
}

/* Whether rows may be read 16 bytes at a time, the sites being the zeros, or all others. */
static bool is_plain(const dm_elements *e) {
    const dm_array *input = &e->arrays.input;
    const bool bytes = input->dtype == DISTMAP_BOOL || input->dtype == DISTMAP_UINT8 || input->dtype == DISTMAP_INT8;
    if (!bytes || e->sites.empty || e->sites.first != 0 || e->sites.span != 0 || (uintptr_t)input->data % 16)
        return false;
    for (int a = 0; a < DM_X; a++)
        if (e->shape[a] > 1 && input->stride[a] % 16)
            return false;
    return input->stride[DM_X] == 1 || e->shape[DM_X] == 1;
}

cudaError_t mc_pack(const dm_elements *e, const mc_stage *p, cudaStream_t stream) {
    const size_t shared = (size_t)WARPS * (size_t)p->groups * (sizeof(uint4) + sizeof(int32_t));
    if (shared > 48 << 10) {
        const cudaError_t error =
            cudaFuncSetAttribute((const void *)pack, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (error != cudaSuccess)
            return error;
    }
    DM_LAUNCH(pack, dm_blocks(p->planes * p->height, WARPS, 1 << 20), WARPS * 32, shared, stream, *e, *p, is_plain(e));
    return cudaGetLastError();
}

/* Grid: any; threads take elements in turn. */
static __global__ void __launch_bounds__(256)
    emit(const __grid_constant__ dm_elements e, const int32_t *__restrict__ squared, const int32_t *__restrict__ site) {
    unsigned raised = 0;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < e.elements; i += step) {
        int64_t at[DM_NDIM];
        dm_element_split(&e, i, at);
        dm_value v;
        v.u64 = squared[i] == MC_NOTHING ? UINT64_MAX : (uint64_t)squared[i];
        dm_element_emit(&e, at, v, site ? site[i] : DISTMAP_INDEX_NONE, &raised);
    }
    dm_raise(&e, raised);
}

cudaError_t mc_emit(const dm_elements *e, const int32_t *squared, const int32_t *site, int multiprocessors,
                    cudaStream_t stream) {
    DM_LAUNCH(emit, dm_blocks(e->elements, 256, multiprocessors * 32), 256, 0, stream, *e, squared, site);
    return cudaGetLastError();
}
