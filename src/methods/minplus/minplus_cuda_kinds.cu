/* minplus/cuda: rims (boundary elements), across rows by bands, and along rows (minplus_cuda_kinds.cuh). Reads each element once for each
 * stage, and writes 1/4 byte per element, 1/8 more for each of `along`, `ground` and `negative`. */
#include "methods/minplus/minplus_cuda_kinds.cuh"

#include "cuda/sites.cuh"

enum {
    FEWER = 128,  /* threads, of a block that goes along columns */
    AT_ONCE = 16, /* rows, or bands, that are waited for together */
};

/* One row of a band, as a lane with a column sees it. */
template <class T> struct cell {
    T here, beside; /* beside: lanes 0 and 31, the element before the strip, and after it */
};

/* The rims along a row, in lane 31. */
template <class T> DM_DEVICE uint32_t rims_along(const cell<T> &c, int lane) {
    const T before = __shfl_up_sync(MC_WHOLE, c.here, 1);
    const uint32_t turns = __ballot_sync(MC_WHOLE, c.here != (lane == 0 ? c.beside : before));
    return mc_rims(turns, c.here != c.beside);
}

/* Rims across rows and, in the plane stage, along them; background and sides. What is beyond the image is taken for the last
 * element again. Grid: a block per band and group, a thread to a column. */
template <int SOURCE, bool ALONG>
static __global__ void __launch_bounds__(MC_GROUP)
    find_rims(const __grid_constant__ dm_elements e, const __grid_constant__ mc_stage p,
              const __grid_constant__ mc_rows input) {
    __shared__ uint4 rows[32];
    dm_let_next_begin();
    const mc_tract own = mc_tract_at(p, blockIdx.x);
    const uint32_t plane = own.plane;
    const int32_t lane = (int32_t)threadIdx.x % 32, y = own.y, last = p.height - 1;
    const int32_t x = own.group * MC_GROUP + (int32_t)threadIdx.x;
    const int32_t beside = min(max(lane == 0 ? x - 1 : x + 1, 0), p.width - 1);
    const char *row = mc_row(input, plane, y), *const above = mc_row(input, plane, max(y - 1, 0));
    const int64_t across = min(x, p.width - 1) * input.stride[3], side = beside * input.stride[3];
    unsigned raised = 0;
    uint32_t turns = 0, ground = 0, negative = 0;
    auto before = mc_kind<SOURCE>(e, above + across, &raised);
#pragma unroll
    for (int start = 0; start < 32; start += AT_ONCE) {
        cell<decltype(before)> cells[AT_ONCE];
        const char *const first = row;
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            cells[i].here = mc_kind<SOURCE>(e, row + across, &raised);
            if (ALONG && (lane == 0 || lane == 31))
                cells[i].beside = mc_kind<SOURCE>(e, row + side, &raised);
            row += y + start + i < last ? input.stride[2] : 0;
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            turns |= (uint32_t)(cells[i].here != before) << (start + i);
            before = cells[i].here;
            if (SOURCE == MC_SIDES || SOURCE == MC_SIDES_1)
                negative |= (uint32_t)((before != 0) != (e.sign == DISTMAP_SIGN_INSIDE)) << (start + i);
            if (ALONG) {
                const uint32_t rims = rims_along(cells[i], lane);
                if (lane == 31)
                    ((uint32_t *)&rows[start + i])[threadIdx.x / 32] = rims;
            }
        }
        if (p.ground) {
            row = first;
            for (int i = start; i < start + AT_ONCE; i++) {
                ground |= (uint32_t)dm_address_is_site(&e, row + across, &raised) << i;
                row += y + i < last ? input.stride[2] : 0;
            }
        }
    }
    const auto after = mc_kind<SOURCE>(e, row + across, &raised);
    const uint32_t rims = mc_rims(turns, after != before);
    if (x < p.width) {
        const int64_t at = mc_band_at(p, plane, y, x);
        ((uint2 *)p.across)[at] = make_uint2(rims, MC_WHOLE);
        if (p.ground)
            p.ground[at] = ground;
        if (p.negative)
            p.negative[at] = negative;
    }
    if (ALONG) {
        __syncthreads();
        if (p.alive && __any_sync(MC_WHOLE, (rims | ground) != 0) && lane == 0)
            p.alive[plane] = true;
        if (threadIdx.x < 32 && y + (int32_t)threadIdx.x <= last)
            ((uint4 *)p.along)[((int64_t)plane * p.height + y + threadIdx.x) * p.groups + own.group] =
                rows[threadIdx.x];
    }
    dm_raise(&e, raised);
}

/* The sides of entries: of one kind down a column, of the other back, by different threads. Grid: two threads to a column. */
static __global__ void __launch_bounds__(FEWER) sides_across(const __grid_constant__ mc_stage p) {
    const int64_t pitch = (int64_t)p.groups * MC_GROUP, columns = p.planes * p.width;
    const int64_t i = (int64_t)blockIdx.x * FEWER + threadIdx.x, own = i < columns ? i : i - columns;
    dm_wait_for_last();
    dm_let_next_begin(); /* not before: packing, which comes next, needs the rims along rows, and does not wait for them */
    if (own >= columns)
        return;
    const bool back = i >= columns;
    const int64_t plane = own / p.width;
    uint2 *column = (uint2 *)p.across + mc_band_at(p, plane, 0, (int32_t)(own - plane * p.width));
    column += back ? (p.bands - 1) * pitch : 0;
    const int64_t next = back ? -pitch : pitch;
    uint32_t gap = MC_NONE;
    for (int32_t first = 0; first < p.bands; first += AT_ONCE) {
        uint32_t rims[AT_ONCE];
#pragma unroll
        for (int b = 0; b < AT_ONCE; b++)
            rims[b] = column[min(first + b, p.bands - 1) * next].x;
#pragma unroll
        for (int b = 0; b < AT_ONCE; b++) {
            if (first + b < p.bands)
                ((uint16_t *)&column[(first + b) * next].y)[back] = (uint16_t)gap;
            gap = !rims[b] ? min(gap + 32, (uint32_t)MC_NONE)
                  : back   ? (uint32_t)__ffs((int)rims[b]) - 1
                           : (uint32_t)__clz((int)rims[b]);
        }
    }
}

template <bool ALONG>
static void launch(const dm_elements *e, const mc_stage *p, const mc_rows *input, cudaStream_t stream) {
    static void (*const of_source[])(dm_elements, mc_stage, mc_rows) = {
        find_rims<MC_SIDES, ALONG>,   find_rims<MC_SIDES_1, ALONG>, find_rims<MC_LABEL_1, ALONG>,
        find_rims<MC_LABEL_2, ALONG>, find_rims<MC_LABEL_4, ALONG>, find_rims<MC_LABEL_8, ALONG>};
    void (*const kernel)(dm_elements, mc_stage, mc_rows) = of_source[mc_source_of(e)];
    DM_LAUNCH(kernel, (unsigned)(p->planes * p->bands * p->groups), MC_GROUP, 0, stream, *e, *p, *input);
}

cudaError_t mc_pack_kinds(const dm_elements *e, const mc_stage *p, const mc_rows *input, cudaStream_t stream) {
    if (e->sign && dm_rows_are_plain(e))
        mc_find_sides(e, p, input, stream);
    else if (p->along)
        launch<true>(e, p, input, stream);
    else
        launch<false>(e, p, input, stream);
    DM_LAUNCH_EARLY(sides_across, dm_blocks(2 * p->planes * p->width, FEWER, INT32_MAX), FEWER, 0, stream, *p);
    return cudaGetLastError();
}
