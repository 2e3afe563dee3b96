/* The far search, fourth part: the pixels of a unit, from an interval of rows that contains its winners. About 70 instructions per pixel.
 *
 * The first rows of its quarters, and the row after it, try all rows of the interval: so the winners of a quarter are among a
 * few rows, which are evaluated for all its pixels. A half-warp (team) solves a unit; where winners jump, and it would take long, the
 * whole block does.
 *
 * *Falls* are increments. Where rows are adjacent, 16-bit lanes suffice: a row and a pixel of both columns of a lane take one
 * instruction. With L the least value of any row at y, the quarter's first row, T the last row of its interval, and j another
 * one,
 *
 *     f(j) + w (y + i - j)^2 = L + w i^2 + 2 w i (y - T) + e(j) + 2 w i (T - j)    where e(j) = f(j) + w (y - j)^2 - L >= 0
 *
 * and only the last two terms depend on the row. Their least, from row to row, is min(least so far + 2 w i, e(j)). For the winner
 * of row y, whose e is 0, they are 30 w (T - j) at most; so where that is below CUT for all rows, e may be cut there, and sums fit.
 */
#ifndef DISTMAP_MINPLUS_CUDA_UNITS_CUH
#define DISTMAP_MINPLUS_CUDA_UNITS_CUH

#include "methods/minplus/minplus_cuda_columns.cuh"

/* The results of a quarter's rows, less wy2 i^2, from `count` positions from `first` on. `least` is L. */
template <bool SLOW, int HEIGHT>
DM_DEVICE void fill_falls(const mc_stage &p, const work &w, int32_t y, int32_t first, int32_t count,
                          const int32_t least[2], int32_t best[2][HEIGHT]) {
    uint32_t pair[HEIGHT];
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
        pair[i] = CUT * 0x00010001;
    rows_taken<READ> taken; /* of planes a round ahead, as in queries */
    if (!SLOW)
        taken = take_rows<SLOW, false, READ>(p, w, first);
    for (int32_t at = 0; at < count; at += READ) {
        if (SLOW)
            taken = take_rows<SLOW, false, READ>(p, w, first + at);
        int32_t value[READ][2];
        offered<SLOW, READ>(p, w, taken, value);
        if (!SLOW)
            taken = take_rows<SLOW, false, READ>(p, w, min(first + at + READ, w.count - READ));
#pragma unroll
        for (int r = 0; r < READ; r++) {
            const int32_t t = y - (w.first + first + at + r), rise = p.wy2 * t * t;
            const uint32_t low = (uint32_t)min(value[r][0] + (rise - least[0]), (int32_t)CUT),
                           high = (uint32_t)min(value[r][1] + (rise - least[1]), (int32_t)CUT);
            const uint32_t both = __byte_perm(low, high, 0x5410);
#pragma unroll
            for (int i = 0; i < HEIGHT; i++)
                pair[i] = mc_add_min(pair[i], p.fall[i], both);
        }
    }
    const int32_t slope = 2 * p.wy2 * (y - (w.first + first + count - 1));
#pragma unroll
    for (int i = 0; i < HEIGHT; i++) {
        best[0][i] = least[0] + slope * i + (int32_t)(pair[i] & 0xFFFF);
        best[1][i] = least[1] + slope * i + (int32_t)(pair[i] >> 16);
    }
}

/* The results of HEIGHT rows from y on, less wy2 i^2, and with sites their rows: from the positions first .. last, of which the
 * team takes, READ at once, every one of `parts` from number `part` on. */
template <bool SLOW, bool SITES, int HEIGHT>
DM_DEVICE void fill(const mc_stage &p, const work &w, int32_t y, int32_t first, int32_t last, int part, int parts,
                    int32_t best[2][HEIGHT], int32_t from[2][HEIGHT]) {
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            best[c][i] = MC_NOTHING, from[c][i] = 0;
    const int32_t end = max(w.count - READ, 0);
    for (int32_t next = first + part * READ; __any_sync(MC_WHOLE, next <= last); next += parts * READ) {
        int32_t value[READ][2];
        const rows_taken<READ> taken = w.list ? take_rows<SLOW, true, READ>(p, w, min(next, end))
                                              : take_rows<SLOW, false, READ>(p, w, min(next, end));
        offered<SLOW, READ>(p, w, taken, value);
        const int32_t *row = taken.row;
#pragma unroll
        for (int r = 0; r < READ; r += 2)
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const parabola one = parabola_at(p, value[r][c], y - row[r]);
                const parabola two = parabola_at(p, value[r + 1][c], y - row[r + 1]);
#pragma unroll
                for (int i = 0; i < HEIGHT; i++) {
                    const int32_t here = candidate(one, 2 * i), then = candidate(two, 2 * i);
                    if (SITES) {
                        from[c][i] = here < best[c][i] ? row[r] : from[c][i];
                        from[c][i] = then < min(best[c][i], here) ? row[r + 1] : from[c][i];
                    }
                    best[c][i] = __vimin3_s32(best[c][i], here, then);
                }
            }
    }
}

/* Where the winners of a unit's rows are: positions; none, if no row has a site. */
typedef struct bracket {
    bool wanted; /* the unit is to be solved */
    int32_t first, last;
} bracket;

/* The first rows of a unit's quarters, and the row after the last one's. */
template <bool SLOW>
DM_DEVICE found<QUARTERS + 1> query_quarters(const mc_stage &p, const work &w, int32_t y, const bracket &b, int part,
                                             int parts) {
    const queries of = {y, FILL, QUARTERS * FILL, QUARTERS + 1};
    return query<SLOW, QUARTERS + 1, FINE>(p, w, of, b.first, b.last, part, parts);
}

/* A quarter's pixels, from its bracket and, if that was `asked`, the least that its first row is offered. */
template <bool SLOW, row_results HOW>
DM_DEVICE bool solve_quarter(const mc_stage &p, const work &w, int32_t y, const bracket &b, bool asked,
                             const int32_t least[2]) {
    enum { SITES = HOW == WITH_SITES, HEIGHT = SITES ? FILL / 2 : FILL };
    /* The same for all lanes, so that one row comes after another in all. */
    const int32_t count = (mc_warp_most(b.wanted ? b.last - b.first : 0) / READ + 1) * READ;
    const bool falls = !SITES && asked && !w.list && count <= min(w.count, CUT / (2 * (FILL - 1) * p.wy2));
    bool none = false;
    for (int h = 0; h < FILL; h += HEIGHT) {
        int32_t best[2][HEIGHT], row[2][HEIGHT];
        if (falls)
            fill_falls<SLOW, HEIGHT>(p, w, y, b.wanted ? min(b.first, w.count - count) : 0, count, least, best);
        else
            fill<SLOW, SITES, HEIGHT>(p, w, y + h, b.first, b.wanted ? b.last : -1, 0, 1, best, row);
        if (b.wanted)
            none |=
                store_rows<HOW, HEIGHT, 2>(p, w.plane, w.strip * 32 + (int)threadIdx.x % TEAM * 2, y + h, best, row);
    }
    return none;
}

/* One of a quarter each, in registers, which have no index. */
DM_DEVICE int32_t pick(const int32_t *of, int q) { return q == 0 ? of[0] : q == 1 ? of[1] : q == 2 ? of[2] : of[3]; }

/* Quarters q0 .. q0 + count - 1 of unit i of the block, from the bracket. */
template <bool SLOW, row_results HOW>
DM_DEVICE bool solve_unit(const mc_stage &p, const work &w, int32_t i, const bracket &b, int q0, int count) {
    const int32_t y = (w.u0 + i) * MC_UNIT;
    /* Where winners of the quarters' first rows are, from `low` to `high`, and the least that these were offered. */
    int32_t low[QUARTERS + 1], high[QUARTERS + 1], least[2][QUARTERS];
#pragma unroll
    for (int q = 0; q <= QUARTERS; q++)
        low[q] = b.first, high[q] = b.last;
    const bool asked = __any_sync(MC_WHOLE, b.last - b.first >= FILL);
    if (asked) {
        const found<QUARTERS + 1> f = query_quarters<SLOW>(p, w, y, b, 0, 1);
#pragma unroll
        for (int q = 0; q <= QUARTERS; q++)
            if (y + q * FILL < p.height) {
                low[q] = min(f.at[q][0], f.at[q][1]);
                high[q] = min(max(f.at[q][0], f.at[q][1]) + FINE - 1, b.last);
            }
#pragma unroll
        for (int q = 0; q < QUARTERS; q++)
#pragma unroll
            for (int c = 0; c < 2; c++)
                least[c][q] = f.best[q][c] + p.wy2 * (q * FILL) * (q * FILL);
    }
    bool none = false;
#pragma unroll 1
    for (int q = q0; q < q0 + count; q++) {
        const bracket own = {b.wanted && y + q * FILL < p.height, pick(low, q), pick(high + 1, q)};
        const int32_t offered[2] = {pick(least[0], q), pick(least[1], q)};
        none |= solve_quarter<SLOW, HOW>(p, w, y + q * FILL, own, asked, offered);
    }
    return none;
}

/* The same for the whole block and all quarters: winners jump, and would keep one team busy for long. */
template <bool SLOW, row_results HOW>
DM_DEVICE bool solve_long(const mc_stage &p, const work &w, const shared &s, int32_t i, const bracket &b) {
    enum { SITES = HOW == WITH_SITES, HEIGHT = SITES ? FILL / 2 : FILL };
    const int warp = (int)threadIdx.x / 32, team = (int)threadIdx.x / TEAM, teams = (int)blockDim.x / TEAM;
    const int lane = (int)threadIdx.x % TEAM;
    const int32_t y = (w.u0 + i) * MC_UNIT;
    keep(s, query_quarters<SLOW>(p, w, y, b, team, teams));
    __syncthreads();
    for (int q = warp; q <= QUARTERS; q += (int)blockDim.x / 32)
        join(s, q, s.inner[q]);
    bool none = false;
    for (int q = 0; q < QUARTERS && y + q * FILL < p.height; q++) {
        for (int task = (int)threadIdx.x; task < FILL * 32; task += (int)blockDim.x)
            s.result[task / 32][task % 32] = ~0ull;
        __syncthreads();
        const ushort2 from = ((const ushort2 *)s.inner[q])[lane], to = ((const ushort2 *)s.inner[q + 1])[lane];
        const int32_t first = min(from.x, from.y);
        const int32_t last = y + (q + 1) * FILL < p.height ? min(max(to.x, to.y) + FINE - 1, b.last) : b.last;
        for (int h = 0; h < FILL; h += HEIGHT) {
            int32_t best[2][HEIGHT], row[2][HEIGHT];
            fill<SLOW, SITES, HEIGHT>(p, w, y + q * FILL + h, first, last, team, teams, best, row);
#pragma unroll
            for (int r = 0; r < HEIGHT; r++)
#pragma unroll
                for (int c = 0; c < 2;
                     c++) /* in the order of signed values, and then of rows, some of which are negative */
                    atomicMin(&s.result[h + r][lane * 2 + c], (unsigned long long)((uint32_t)best[c][r] ^ 0x80000000u)
                                                                      << 32 |
                                                                  (uint32_t)(row[c][r] - p.low));
        }
        __syncthreads();
        for (int r = team; r < FILL; r += teams) {
            int32_t best[2][1], row[2][1];
            for (int c = 0; c < 2; c++) {
                const unsigned long long result = s.result[r][lane * 2 + c];
                best[c][0] = (int32_t)((uint32_t)(result >> 32) ^ 0x80000000u) + p.wy2 * (r % HEIGHT) * (r % HEIGHT);
                row[c][0] = (int32_t)(uint32_t)result + p.low;
            }
            none |= store_rows<HOW, 1, 2>(p, w.plane, w.strip * 32 + lane * 2, y + q * FILL + r, best, row);
        }
        __syncthreads();
    }
    return none;
}

#endif
