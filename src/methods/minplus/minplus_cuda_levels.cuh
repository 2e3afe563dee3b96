/* The far search, its third part: units of which nothing is known, exact at any distance, with a bound on its work whatever
 * the image.
 *
 * The winning row rises with y. So rows are queried from coarse to fine, FAN times finer each time: between two queried rows
 * only rows from the one's winner to the other's can win. A level looks at each row about once for its FAN - 1 queries; the
 * first one queries the last row besides. With h rows there are log8(h / 64) levels down to units, which are solved then
 * (minplus_cuda_units.cuh). In the z stage a level costs some 22 instructions per pixel, in every column from where that
 * column's winner lies; in planes a third of that, for most rows lose in all columns (minplus_cuda_rivals.cuh).
 */
#ifndef DISTMAP_MINPLUS_CUDA_LEVELS_CUH
#define DISTMAP_MINPLUS_CUDA_LEVELS_CUH

#include "methods/minplus/minplus_cuda_rivals.cuh"

/* Positions between which winners of this lane's columns are, for rows from that of point i on, or up to it. Points are the
 * first rows of units; the last one of all is the image's last row. */
DM_DEVICE int32_t first_of(const shared &s, int32_t i) {
    const ushort2 at = ((const ushort2 *)s.winner[i])[threadIdx.x % TEAM];
    return min(at.x, at.y);
}
template <bool SLOW> DM_DEVICE int32_t last_of(const work &w, const shared &s, int32_t i) {
    const ushort2 at = ((const ushort2 *)s.winner[i])[threadIdx.x % TEAM];
    return min(max(at.x, at.y) + (SLOW ? STEP : FINE) - 1, w.count - 1);
}

/* Whether any of the units [i0, i1) is to be solved. */
DM_DEVICE bool any_hard(const uint32_t *hard, int32_t i0, int32_t i1) {
    uint32_t any = 0;
    for (int32_t i = i0; i < i1; i = (i | 31) + 1) {
        const uint32_t from = MC_WHOLE << i % 32;
        any |= hard[i / 32] & (i1 - (i & ~31) < 32 ? from & ~(MC_WHOLE << i1 % 32) : from);
    }
    return any;
}

/* For the whole block: queries of rows, by the positions first .. last of this lane's columns. The teams share these: so all
 * have as much to do, wherever winners jump. */
template <bool SLOW, int COUNT>
DM_DEVICE void query_level(const mc_stage &p, const work &w, const shared &s, const queries &of, int32_t first,
                           int32_t last) {
    if constexpr (SLOW) {
        const int team = (int)threadIdx.x / TEAM, teams = (int)blockDim.x / TEAM;
        keep(s, query<SLOW, COUNT, STEP>(p, w, of, first, last, team, teams));
    } else {
        keep(s, w.list ? query_winnable<true, COUNT>(p, w, of, first, last)
                       : query_winnable<false, COUNT>(p, w, of, first, last));
    }
    __syncthreads();
}

/* The first level: points `units` apart, the block's first row the first of them, and the row after its last one. */
template <bool SLOW> DM_DEVICE void find_first(const mc_stage &p, const work &w, const shared &s, int32_t units) {
    const int32_t y = w.u0 * MC_UNIT, end = min(y + w.units * MC_UNIT, p.height - 1);
    const queries of = {y, units * MC_UNIT, end - y, FAN + 1};
    query_level<SLOW, FAN + 1>(p, w, s, of, 0, w.count - 1);
    for (int q = (int)threadIdx.x / 32; q <= FAN; q += (int)blockDim.x / 32)
        if (q == FAN || q * units < w.units)
            join(s, q, s.winner[q == FAN ? w.units : q * units]);
    __syncthreads();
}

/* Points `units` apart, between those FAN times farther apart. */
template <bool SLOW>
DM_DEVICE void find_level(const mc_stage &p, const work &w, const shared &s, const uint32_t *hard, int32_t units) {
    for (int32_t i0 = 0; i0 < w.units; i0 += FAN * units) {
        const int32_t i1 = min(i0 + FAN * units, w.units);
        if (i0 + units >= i1 || !any_hard(hard, i0, i1))
            continue;
        const queries of = {(w.u0 + i0 + units) * MC_UNIT, units * MC_UNIT, FAN * units * MC_UNIT,
                            (i1 - i0 - 1) / units};
        query_level<SLOW, FAN - 1>(p, w, s, of, first_of(s, i0), last_of<SLOW>(w, s, i1));
        for (int q = (int)threadIdx.x / 32; q < of.count; q += (int)blockDim.x / 32)
            join(s, q, s.winner[i0 + (q + 1) * units]);
        __syncthreads();
    }
}

/* Where the winners of the first rows of all units are, as far as they are wanted. */
template <bool SLOW>
DM_DEVICE void find_winners(const mc_stage &p, const work &w, const shared &s, const uint32_t *hard) {
    int32_t apart = 1;
    while (apart * FAN < w.units)
        apart *= FAN;
    find_first<SLOW>(p, w, s, apart);
    for (apart /= FAN; apart; apart /= FAN)
        find_level<SLOW>(p, w, s, hard, apart);
}

#endif
