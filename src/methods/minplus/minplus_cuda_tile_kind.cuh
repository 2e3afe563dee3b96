/* Decides how a block treats a tile of the near searches (minplus_cuda_tile.cuh), by the sites in it: leave it to another search,
 * list its sites, or search along columns, and with how many rows around it. */
#ifndef DISTMAP_MINPLUS_CUDA_TILE_KIND_CUH
#define DISTMAP_MINPLUS_CUDA_TILE_KIND_CUH

#include "methods/minplus/minplus_cuda_tile_rows.cuh"

/* Leaves all units of a tile open. */
DM_DEVICE void leave_tile(const mc_stage &p, const tile &t, mc_left why) {
    enum { UNITS = (ROWS + MC_UNIT - 1) / MC_UNIT };
    const int32_t y = t.y0 + (int32_t)threadIdx.x / WORDS * MC_UNIT, strip = t.strip + (int32_t)threadIdx.x % WORDS;
    if (threadIdx.x < UNITS * WORDS && y < p.height)
        mc_leave_open(p, t.plane, y, min((int32_t)ROWS, (int32_t)MC_UNIT), strip, why);
}

/* What to do with a tile: nothing, for hardly an entry of it has a site in sight, or all sites are beyond the first steps, where
 * brackets take less than more steps; to list its sites, so few are there; or to search along columns, for which its rows are
 * loaded. */
typedef enum tile_kind { TILE_HOPELESS, TILE_DEEP, TILE_SPARSE, TILE_LOADED } tile_kind;

/* Counts over the block's threads: how many have sites `near`, whether any has one `within` reach, how many sites there are, and in how
 * many of the words that threads read. */
typedef struct sight {
    int32_t near;
    bool within;
    int32_t sites, words;
} sight;

DM_DEVICE sight see_all(bool near, bool within, uint32_t sites) {
    enum { NEAR = 1 << 16, WITHIN = 1 << 28 };
    __shared__ uint32_t seen[THREADS / 32], counting[THREADS / 32];
    const uint32_t lanes = __ballot_sync(MC_WHOLE, sites != 0);
    for (int step = 16; step; step /= 2)
        sites += __shfl_xor_sync(MC_WHOLE, sites, step);
    const uint32_t threads = (uint32_t)__popc(__ballot_sync(MC_WHOLE, near));
    const uint32_t any = __any_sync(MC_WHOLE, within);
    if (threadIdx.x % 32 == 0)
        seen[threadIdx.x / 32] = any * WITHIN + threads * NEAR + min(sites, (NEAR - 1u) / (THREADS / 32)),
                           counting[threadIdx.x / 32] = lanes;
    __syncthreads();
    uint32_t sum = 0, some = 0;
#pragma unroll
    for (int i = 0; i < THREADS / 32; i++)
        sum += seen[i], some |= counting[i];
    sight all = {(int32_t)(sum % WITHIN / NEAR), sum >= WITHIN, (int32_t)(sum % NEAR), 0};
#pragma unroll
    for (int word = 0; word < WORDS; word++) /* as task_word() has them */
        all.words += (some & (WORDS == 2 ? 0x00FF00FFu : 0xFFu) << word * 8) != 0;
    return all;
}

/* Squared distances above this are beyond the first steps. */
DM_DEVICE uint32_t first_steps(const mc_stage &p) { return p.done[MC_REACH + 1]; }

/* How many of the rows that are loaded first there are. */
DM_DEVICE int32_t first_rows(const mc_stage &p, const tile &t) {
    return min(t.y0 + ROWS + REACH, p.low + p.rows) - max(t.y0 - REACH, p.low);
}

/* Loads the first rows of the plane stage, if they are to be searched. `near` is what else speaks for it. *sites: how many
 * these rows have; sites that share an entry, as those of lines and areas do, which are better searched for, count four. */
DM_DEVICE tile_kind load_entries(const mc_stage &p, const tile &t, bool near, int32_t *sites) {
    uint2 own[TASKS];
    uint32_t count = 0, nearest = MC_NONE;
#pragma unroll
    for (int i = 0; i < TASKS; i++) {
        const unsigned task = threadIdx.x + i * THREADS;
        own[i] = entry_at(p, t, task < SPREAD * WORDS ? t.y0 - REACH + task_row(task) : p.low - 1, task_word(task));
        nearest = own[i].x ? 0 : min(nearest, min(own[i].y & MC_NONE, own[i].y >> 16));
        if (LISTS && own[i].x)
            count += 4 * (uint32_t)__popc(own[i].x) - 3;
    }
    near |= nearest < MC_WIDE;
    const int32_t rows = first_rows(p, t), hope = (LOW ? rows * 2 / 3 : rows) * WORDS / 4;
    if (!LISTS) {
        if (__syncthreads_count(near) * TASKS < hope)
            return TILE_HOPELESS;
    } else {
        const float across = (float)(nearest + 1);
        const sight all = see_all(near, (float)p.wx2 * across * across <= (float)first_steps(p), count);
        if (all.near * TASKS < hope)
            return TILE_HOPELESS;
        if (p.brackets && !all.within)
            return TILE_DEEP;
        *sites = all.sites;
        if (*sites && *sites * 10 <= rows * WORDS) { /* one pixel in 320, where a search takes some 30 steps */
            /* Many in few words are not spread over the tile, and most of it would stay open, for which corners take less. */
            const bool spread = *sites <= 8 || all.words == min(p.strips - t.strip, (int32_t)WORDS);
            return p.brackets && !p.mixed && !spread ? TILE_HOPELESS : TILE_SPARSE;
        }
    }
    /* The entries move through the first one's registers, for short code: instructions are what tiles wait for most. */
#pragma unroll 1
    for (unsigned task = threadIdx.x; task < SPREAD * WORDS; task += THREADS) {
        spread(p, own[0], t, WIDE - REACH + task_row(task), task_word(task));
#pragma unroll
        for (int i = 1; i < TASKS; i++)
            own[i - 1] = own[i];
    }
    __syncthreads();
    return TILE_LOADED;
}

/* The same as load_entries(), of the z stage. */
DM_DEVICE tile_kind load_values(const mc_stage &p, const tile &t, bool near) {
    const uint32_t halves = copy_rows < SITES ? 11 : 22 > (p, t, WIDE - Z_REACH, Z_SPREAD),
                   least = min(halves & 0xFFFF, halves >> 16);
    if (__syncthreads_or((p.brackets ? least <= first_steps(p) : least < MC_SURE) || near))
        return TILE_LOADED;
    return p.brackets && __syncthreads_or(least < MC_SURE) ? TILE_DEEP : TILE_HOPELESS;
}

/* Loads the first rows, for the whole block to see. Where that gives no hope, all units are left open, except in planes of a
 * volume without a site, which are left alone. */
template <bool SLOW> DM_DEVICE tile_kind load_tile(const mc_stage &p, const tile &t, bool near, int32_t *sites) {
    const tile_kind kind = SLOW ? load_values(p, t, near) : load_entries(p, t, near, sites);
    if (kind <= TILE_DEEP && (SLOW || !p.alive || p.alive[t.plane]))
        leave_tile(p, t, kind == TILE_DEEP ? MC_DEEP : MC_BLIND);
    return kind;
}

/* For the whole block: on from `reach` steps with as many rows more as the hardest of the open strips can need, in two
 * strides. The same `reach` comes back where that is the end: nothing is open, or most pixels have not seen a site yet and are
 * likely to lie too deep; before brackets, which take less, many are farther than the first stride. `most` is
 * the largest of this thread's values where its strip is open; *hardest is 0 between calls. */
template <bool SLOW>
DM_DEVICE int32_t widen(const mc_stage &p, const tile &t, int32_t reach, bool open, uint32_t most, uint32_t *hardest) {
    const int32_t far = p.brackets ? p.mixed ? (int32_t)MC_STRIDE : (int32_t)MC_SOON : (int32_t)WIDE;
    const int32_t many = p.brackets ? p.mixed ? THREADS / 8 : 0 : THREADS / 2;
    const uint32_t deep = (uint32_t)min(p.wy2 * far * far, (int32_t)MC_SURE);
    if (reach == WIDE || !__syncthreads_or(open) || __syncthreads_count(open && most >= deep) > many)
        return reach;
    if (open)
        atomicMax(hardest, most);
    __syncthreads();
    /* In the z stage, whose values change little from row to row, what is too deep now stays so. */
    if (SLOW && reach == MC_REACH && *hardest > (uint32_t)p.wy2 * WIDE * WIDE)
        return reach;
    const float needed = fminf(sqrtf((float)(*hardest / (uint32_t)p.wy2)), (float)WIDE);
    const int32_t segments = max(((int32_t)needed - reach + SEGMENT - 1) / SEGMENT, 1);
    const int32_t to = min(reach + segments * SEGMENT, reach == MC_REACH ? (int32_t)MC_STRIDE : (int32_t)WIDE);
    widen_rows<SLOW>(p, t, reach, to);
    __syncthreads();
    *hardest = 0;
    return to;
}

#endif
