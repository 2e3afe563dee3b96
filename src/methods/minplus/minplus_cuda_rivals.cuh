/* The far search, in planes: rows queried by those that can win there, in any column of a strip.
 *
 * At row y a site in row j and column c offers column x
 *
 *     D(x) = wx2 (x - c)^2 + wy2 (y - j)^2
 *
 * and of two sites the difference of that is linear in x: a site that loses to another at both ends of a strip loses in all
 * columns. A row's sites offer an end no less than the nearest of them does. So a row is passed over where that loses to one
 * site, a *rival*, at both ends. Rivals are the best sites for either end, of some of the rows: they may be any, and good ones
 * leave hardly a row that wins nowhere.
 */
#ifndef DISTMAP_MINPLUS_CUDA_RIVALS_CUH
#define DISTMAP_MINPLUS_CUDA_RIVALS_CUH

#include "methods/minplus/minplus_cuda_columns.cuh"

enum {
    SAMPLES = 2, /* rows that a lane looks at for a rival */
    CLOSE = 64,  /* rows that are queried by without asking which of them can win */
};

/* What rivals offer, less wy2 times the square of the queried row's distance from y: of that for end r what it offers end e. */
typedef int32_t rivals[2][2];

/* The columns of a strip's ends. */
typedef struct strip_ends {
    int32_t column[2];
} strip_ends;

DM_DEVICE strip_ends strip_ends_of(const mc_stage &p, const work &w) {
    const strip_ends made = {{0, lane_column(p, w.strip, 31)}};
    return made;
}

/* For the whole warp: the rivals of query q, from some of the positions first .. last. */
template <bool LISTED>
DM_DEVICE void find_strip_rivals(const mc_stage &p, const work &w, const queries &of, int q, int32_t first, int32_t last,
                           rivals &made) {
    const int lane = (int)threadIdx.x % 32;
    const strip_ends ends = strip_ends_of(p, w);
    const int32_t twice = twice_from(of, q);
    int32_t best[2] = {MC_NOTHING, MC_NOTHING}, other[2] = {MC_NOTHING, MC_NOTHING};
#pragma unroll
    for (int i = 0; i < SAMPLES; i++) {
        const uint32_t part = (uint32_t)(i * 32 + lane) * (uint32_t)(last - first + 1) / (SAMPLES * 32);
        const int32_t row = row_at<LISTED>(p, w, first + (int32_t)part);
        const uint2 entry = w.entries[row];
        const int32_t away = candidate(parabola_at(p, 0, of.y - row), twice);
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const int32_t along = entry_site(entry, ends.column[e]);
            const int32_t beyond = ends.column[e] + along - ends.column[1 - e];
            const uint32_t near = (uint32_t)(abs(along) + p.rim), far = (uint32_t)(abs(beyond) + p.rim);
            const int32_t here = away + (int32_t)(near * near * (uint32_t)p.wx2);
            if (here < best[e])
                best[e] = here, other[e] = away + (int32_t)(far * far * (uint32_t)p.wx2);
        }
    }
#pragma unroll
    for (int e = 0; e < 2; e++) {
        const int32_t least = ~mc_warp_most(~best[e]);
        if (lane == __ffs((int)__ballot_sync(MC_WHOLE, best[e] == least)) - 1)
            made[e][e] = least, made[e][1 - e] = other[e];
    }
}

/* At which queries a row can win: bit q. */
template <int COUNT>
DM_DEVICE uint32_t winnable(const mc_stage &p, uint2 entry, int32_t row, const strip_ends &ends, const queries &of,
                            const rivals by[COUNT]) {
    parabola at[2];
#pragma unroll
    for (int e = 0; e < 2; e++) {
        const uint32_t g = row_distance(entry, ends.column[e], p.rim);
        at[e] = parabola_at(p, (int32_t)(g * g * (uint32_t)p.wx2), of.y - row);
    }
    uint32_t made = 0;
#pragma unroll
    for (int q = 0; q < COUNT; q++) {
        const int32_t twice = twice_from(of, q), one = candidate(at[0], twice), two = candidate(at[1], twice);
        /* It loses to neither; for rivals offer their own end no more than the other one does. */
        if ((one <= by[q][1][0] && two <= by[q][0][1]) || one <= by[q][0][0] || two <= by[q][1][1])
            made |= 1u << q;
    }
    return made & ((1u << of.count) - 1);
}

/* FINE positions, for those of the queries that are `asked`, as bits. */
template <bool LISTED, int COUNT>
DM_DEVICE void take_fine(const mc_stage &p, const work &w, const queries &of, int32_t from, uint32_t asked,
                         found<COUNT> *f) {
    const rows_taken<FINE> taken = take_rows<false, LISTED, FINE>(p, w, from);
    int32_t value[FINE][2];
    offered<false, FINE>(p, w, taken, value);
    parabola at[FINE][2];
#pragma unroll
    for (int i = 0; i < FINE; i++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            at[i][c] = parabola_at(p, value[i][c], of.y - taken.row[i]);
#pragma unroll
    for (int q = 0; q < COUNT; q++) {
        if (!(asked >> q & 1))
            continue;
        const int32_t twice = twice_from(of, q);
#pragma unroll
        for (int c = 0; c < 2; c++) {
            int32_t here = MC_NOTHING;
#pragma unroll
            for (int i = 0; i < FINE; i += 2)
                here = __vimin3_s32(here, candidate(at[i][c], twice), candidate(at[i + 1][c], twice));
            if (here < f->best[q][c])
                f->best[q][c] = here, f->at[q][c] = from;
        }
    }
}

/* For the whole block: what its teams find for the queries, from the positions between the first and the last of its lanes'. A
 * warp looks at 32 positions together, which are STEP by STEP as many as there are warps apart; of each STEP that has one that
 * can win a team takes one half. Each winner is among FINE positions. */
template <bool LISTED, int COUNT>
DM_DEVICE found<COUNT> query_winnable(const mc_stage &p, const work &w, const queries &of, int32_t first,
                                      int32_t last) {
    static_assert(STEP == 2 * FINE, "a warp has two teams");
    __shared__ rivals by[COUNT];
    const int warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32, lane = (int)threadIdx.x % 32;
    first = -mc_warp_most(-first), last = mc_warp_most(last);
    const bool close = last - first < CLOSE;
    for (int q = warp; q < of.count && !close; q += warps)
        find_strip_rivals<LISTED>(p, w, of, q, first, last, by[q]);
    __syncthreads();
    const strip_ends ends = strip_ends_of(p, w);
    found<COUNT> f = nothing_found<COUNT>(first);
    int32_t own = first + (warp + lane / STEP * warps) * STEP + lane % STEP;
    /* Entries are taken a round ahead, for they are waited for. */
    int32_t row = row_at<LISTED>(p, w, min(own, last));
    uint2 entry = w.entries[row];
    for (int32_t start = first + warp * STEP; start <= last; start += warps * 32) {
        uint32_t reach = close ? (1u << of.count) - 1 : winnable<COUNT>(p, entry, row, ends, of, by);
        reach = own <= last ? reach : 0;
        own += warps * 32;
        row = row_at<LISTED>(p, w, min(own, last)), entry = w.entries[row];
        for (int step = 1; step < STEP; step *= 2)
            reach |= __shfl_xor_sync(MC_WHOLE, reach, step);
        for (uint32_t left = __ballot_sync(MC_WHOLE, reach != 0) & 0x01010101; left; left &= left - 1) {
            const int from = __ffs((int)left) - 1;
            const int32_t at = start + from / STEP * warps * STEP + (int32_t)threadIdx.x / TEAM % 2 * FINE;
            take_fine<LISTED, COUNT>(p, w, of, min(at, w.count - FINE), __shfl_sync(MC_WHOLE, reach, from), &f);
        }
    }
    return f;
}

#endif
