/* minplus/cuda: rims of signed maps (minplus_cuda_kinds.cuh) whose elements can be read 16 bytes at a time. A warp has the 32 rows of
 * a band in a group. Sides are bits, in words of 32 elements of a row: they tell rims along rows, and transposed, as words of
 * columns, rims across them. Reads each element once for each stage, and writes as much as minplus_cuda_kinds.cu does. */
#include "cuda/sites.cuh"
#include "methods/minplus/minplus_cuda_kinds.cuh"

enum {
    WARPS = 4,
    STRIPS = MC_GROUP / 32,
    SIXTEENS = MC_GROUP / 16, /* lanes that read a row, */
    AT_ONCE = 32 / SIXTEENS,  /* and rows that a warp reads at once */
    ABOVE = 32,               /* the places of the rows beside the band, */
    BELOW,
    ROWS, /* and of all */
};

/* The rims among 32 elements of a line, by their sides and those of their neighbours. */
DM_DEVICE uint32_t rims_of(uint32_t sides, uint32_t before, uint32_t after) {
    return mc_rims(sides ^ (sides << 1 | before), sides >> 31 ^ after);
}

/* Bit r of lane c becomes bit c of lane r: halves, quarters, ... of 32 by 32 bits change places. */
DM_DEVICE uint32_t transposed(uint32_t word, int lane) {
    uint32_t low = 0x0000FFFF;
#pragma unroll
    for (int step = 16; step; step /= 2, low ^= low << step) {
        const uint32_t other = __shfl_xor_sync(MC_WHOLE, word, step);
        word = lane & step ? (word & ~low) | (other >> step & low) : (word & low) | (other << step & ~low);
    }
    return word;
}

/* A row's sides, of which `count` are in the image, a multiple of 16; beyond it the last one comes again. */
typedef struct row_sides {
    uint32_t word[STRIPS];
} row_sides;

DM_DEVICE row_sides sides_of(uint4 words, int32_t count) {
    row_sides made = {{words.x, words.y, words.z, words.w}};
#pragma unroll
    for (int s = 0; s < STRIPS; s++) {
        const int32_t here = count - s * 32;
        if (here >= 32)
            continue;
        const uint32_t own = here > 0 ? 0xFFFF : 0,
                       last = here > 0 ? made.word[s] >> 15 : made.word[max(s - 1, 0)] >> 31;
        made.word[s] = (made.word[s] & own) | (last & 1 ? ~own : 0);
    }
    return made;
}

/* The bits of a group's sides in the rows of a band from row y on, and in those beside it, into shared memory. */
DM_DEVICE void read_rows(const dm_elements &e, const mc_stage &p, const mc_rows &input, const char *group, int32_t y,
                         int32_t count, uint4 rows[ROWS]) {
    const int lane = (int)threadIdx.x % 32, place = lane % SIXTEENS;
    uint16_t *const sixteens = (uint16_t *)rows;
    uint32_t bits[(ROWS + AT_ONCE - 1) / AT_ONCE];
#pragma unroll
    for (int i = 0; i < ROWS; i += AT_ONCE) {
        const int row = i + lane / SIXTEENS;
        const int32_t from = min(max(row == ABOVE ? y - 1 : y + min(row, 32), 0), p.height - 1);
        const bool wanted = row < ROWS && place * 16 < count;
        bits[i / AT_ONCE] = wanted ? dm_sixteen_plain(&e, group + from * input.stride[2] + place * 16) : 0;
    }
#pragma unroll
    for (int i = 0; i < ROWS; i += AT_ONCE)
        if (i + lane / SIXTEENS < ROWS)
            sixteens[(i + lane / SIXTEENS) * SIXTEENS + place] = (uint16_t)bits[i / AT_ONCE];
    __syncwarp();
}

/* The side of the element that lies so far from a group's first one in row y. */
DM_DEVICE uint32_t side_at(const dm_elements &e, const mc_stage &p, const mc_rows &input, const char *group, int32_t y,
                           int32_t x) {
    unsigned raised = 0;
    return mc_kind<MC_SIDES_1>(e, group + min(y, p.height - 1) * input.stride[2] + x, &raised);
}

/* Rims across rows and, in the plane stage, along them; on which side elements are. Grid: a warp per band and group. */
template <bool ALONG>
static __global__ void __launch_bounds__(WARPS * 32)
    find_sides(const __grid_constant__ dm_elements e, const __grid_constant__ mc_stage p,
               const __grid_constant__ mc_rows input) {
    __shared__ uint4 rows[WARPS][ROWS];
    dm_let_next_begin();
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const mc_tract tract = mc_tract_at(p, blockIdx.x * WARPS + (uint32_t)warp);
    const uint32_t plane = tract.plane;
    if (plane >= p.planes)
        return;
    const int32_t y = tract.y, x0 = tract.group * MC_GROUP, count = min(p.width - x0, (int32_t)MC_GROUP);
    const char *const first = mc_row(input, plane, 0) + x0;
    uint32_t before = 0, after = 0;
    if (ALONG) {
        before = x0 > 0 ? side_at(e, p, input, first, y + lane, -1) : 0;
        after = x0 + MC_GROUP < p.width ? side_at(e, p, input, first, y + lane, MC_GROUP) : 0;
    }
    read_rows(e, p, input, first, y, count, rows[warp]);
    const row_sides own = sides_of(rows[warp][lane], count), above = sides_of(rows[warp][ABOVE], count),
                    below = sides_of(rows[warp][BELOW], count);
    bool any = false;
#pragma unroll
    for (int s = 0; s < STRIPS; s++) {
        const uint32_t column = transposed(own.word[s], lane);
        const uint32_t rims = rims_of(column, above.word[s] >> lane & 1, below.word[s] >> lane & 1);
        const int64_t at = mc_band_at(p, plane, y, x0) + s * 32 + lane;
        any |= rims != 0;
        if (s * 32 + lane >= count)
            continue;
        ((uint2 *)p.across)[at] = make_uint2(rims, MC_WHOLE);
        if (p.negative)
            p.negative[at] = e.sign == DISTMAP_SIGN_INSIDE ? ~column : column;
    }
    if (!ALONG)
        return;
    if (p.alive && __any_sync(MC_WHOLE, any) && lane == 0)
        p.alive[plane] = true;
    before = x0 > 0 ? before : own.word[0] & 1;
    after = x0 + MC_GROUP < p.width ? after : own.word[STRIPS - 1] >> 31;
    uint32_t rims[STRIPS];
#pragma unroll
    for (int s = 0; s < STRIPS; s++)
        rims[s] =
            rims_of(own.word[s], s ? own.word[s - 1] >> 31 : before, s < STRIPS - 1 ? own.word[s + 1] & 1 : after);
    if (y + lane < p.height)
        ((uint4 *)p.along)[((int64_t)plane * p.height + y + lane) * p.groups + tract.group] =
            make_uint4(rims[0], rims[1], rims[2], rims[3]);
}

void mc_find_sides(const dm_elements *e, const mc_stage *p, const mc_rows *input, cudaStream_t stream) {
    const int64_t items = p->planes * p->bands * p->groups;
    void (*const kernel)(dm_elements, mc_stage, mc_rows) = p->along ? find_sides<true> : find_sides<false>;
    DM_LAUNCH(kernel, dm_blocks(items, WARPS, INT32_MAX), WARPS * 32, 0, stream, *e, *p, *input);
}
