/* minplus/cuda: kinds across rows (minplus_cuda_kinds.cuh), 32 rows of a column to a band. Reads each element once, and writes
 * 1/4 byte per element, 1/8 more for each of `ground` and `negative`. */
#include "methods/minplus/minplus_cuda_kinds.cuh"

enum { FEWER = 128, /* threads, of a block that goes down columns */ AT_ONCE = 16 /* bands */ };

/* Rims, background and sides. Grid: a block per band and group, a thread to a column. */
template <int SOURCE>
static __global__ void __launch_bounds__(MC_GROUP)
    rims_across(const __grid_constant__ dm_elements e, const __grid_constant__ mc_stage p,
                const __grid_constant__ mc_rows input) {
    const uint32_t band = blockIdx.x / (uint32_t)p.groups; /* of all planes */
    const uint32_t plane = band / (uint32_t)p.bands;
    const int32_t y = (int32_t)(band - plane * (uint32_t)p.bands) * 32;
    const int32_t x = (int32_t)(blockIdx.x - band * (uint32_t)p.groups) * MC_GROUP + (int32_t)threadIdx.x;
    if (x >= p.width)
        return;
    const char *column = mc_row(input, plane, 0) + x * input.stride[3];
    unsigned raised = 0;
    uint32_t turns = 0, ground = 0, negative = 0;
    auto before = mc_kind<SOURCE>(e, column + max(y - 1, 0) * input.stride[2], &raised);
#pragma unroll 8
    for (int i = 0; i < 32; i++) { /* beyond the last row the same again */
        const char *at = column + min(y + i, p.height - 1) * input.stride[2];
        const auto here = mc_kind<SOURCE>(e, at, &raised);
        turns |= (uint32_t)(here != before) << i;
        if (SOURCE == MC_SIDES)
            negative |= (uint32_t)((here != 0) != (e.sign == DISTMAP_SIGN_INSIDE)) << i;
        else if (p.ground)
            ground |= (uint32_t)dm_address_is_site(&e, at, &raised) << i;
        before = here;
    }
    const auto after = mc_kind<SOURCE>(e, column + min(y + 32, p.height - 1) * input.stride[2], &raised);
    const uint32_t rims = turns | turns >> 1 | (uint32_t)(after != before) << 31;
    const int64_t at = mc_band_at(p, plane, y, x);
    ((uint2 *)p.across)[at] = make_uint2(rims, MC_WHOLE);
    if (p.ground)
        p.ground[at] = ground;
    if (p.negative)
        p.negative[at] = negative;
    if (p.alive && !p.source.data && (rims | ground))
        p.alive[plane] = true;
    dm_raise(&e, raised);
}

/* Both sides of the entries: down a column, and back. Grid: a thread to a column. */
static __global__ void __launch_bounds__(FEWER) sides_across(const __grid_constant__ mc_stage p) {
    const int64_t pitch = (int64_t)p.groups * MC_GROUP, i = (int64_t)blockIdx.x * FEWER + threadIdx.x;
    const int64_t plane = i / p.width;
    if (plane >= p.planes)
        return;
    uint2 *const column = (uint2 *)p.across + mc_band_at(p, plane, 0, (int32_t)(i - plane * p.width));
    uint32_t gap = MC_NONE;
    for (int32_t first = 0; first < p.bands; first += AT_ONCE) {
        uint32_t rims[AT_ONCE];
#pragma unroll
        for (int b = 0; b < AT_ONCE; b++)
            rims[b] = column[min(first + b, p.bands - 1) * pitch].x;
#pragma unroll
        for (int b = 0; b < AT_ONCE; b++) {
            if (first + b < p.bands)
                column[(first + b) * pitch].y = gap;
            gap = rims[b] ? (uint32_t)__clz((int)rims[b]) : min(gap + 32, (uint32_t)MC_NONE);
        }
    }
    gap = MC_NONE;
    for (int32_t last = p.bands - 1; last >= 0; last -= AT_ONCE) {
        uint2 entry[AT_ONCE];
#pragma unroll
        for (int b = 0; b < AT_ONCE; b++)
            entry[b] = column[max(last - b, 0) * pitch];
#pragma unroll
        for (int b = 0; b < AT_ONCE; b++) {
            if (last - b >= 0)
                column[(last - b) * pitch].y = entry[b].y | gap << 16;
            gap = entry[b].x ? (uint32_t)__ffs((int)entry[b].x) - 1 : min(gap + 32, (uint32_t)MC_NONE);
        }
    }
}

cudaError_t mc_pack_across(const dm_elements *e, const mc_stage *p, const mc_rows *input, cudaStream_t stream) {
    static void (*const of_source[])(dm_elements, mc_stage, mc_rows) = {NULL,
                                                                        rims_across<MC_SIDES>,
                                                                        rims_across<MC_LABEL_1>,
                                                                        rims_across<MC_LABEL_2>,
                                                                        rims_across<MC_LABEL_4>,
                                                                        rims_across<MC_LABEL_8>};
    void (*const kernel)(dm_elements, mc_stage, mc_rows) = of_source[mc_source_of(e)];
    DM_LAUNCH(kernel, (unsigned)(p->planes * p->bands * p->groups), MC_GROUP, 0, stream, *e, *p, *input);
    DM_LAUNCH(sides_across, dm_blocks(p->planes * p->width, FEWER, INT32_MAX), FEWER, 0, stream, *p);
    return cudaGetLastError();
}
