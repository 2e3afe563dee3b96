/* The far search, its second part: units of which nothing is known, exact at any distance, with a bound on its work whatever
 * the image.
 *
 * The winning row rises with y. So rows are queried from coarse to fine, FAN times finer each time: between two queried rows
 * only rows from the one's winner to the other's can win. A level reads each row about once for its FAN - 1 queries, in every
 * column from where that column's winner lies. With h rows there are log8(h / 64) levels down to units; then each quarter of a
 * unit is known to within a few rows, which are evaluated for all its pixels. A level costs some 25 instructions per pixel, the
 * last two 90.
 *
 * Positions are of a list of the rows that have a site at all, or of rows that follow one another. Down to units a winner is
 * known by the STEP positions among which it is, from `at` on, within them by FINE: that saves keeping a position with each
 * value. Rows besides those that can win may be evaluated as well, they win nowhere. Of equals the first row wins.
 *
 * A *team* of 16 lanes has a strip, each lane two columns side by side, and rows of its own: what those share, an entry and the
 * way to it, is had once for both. The two teams of a warp keep step, a team without work has empty ranges.
 */
#ifndef DISTMAP_MINPLUS_CUDA_COLUMNS_CUH
#define DISTMAP_MINPLUS_CUDA_COLUMNS_CUH

#include "methods/minplus/minplus_cuda_rows.cuh"

enum {
    TEAM = 16,
    FAN = 8,
    READ = 4, /* rows read at once */
    STEP = 8,
    FINE = 4,
    FILL = 16, /* rows of a quarter of a unit */
    QUARTERS = MC_UNIT / FILL,
};

/* The block's shared memory. */
typedef struct shared {
    int32_t (*best)[FAN - 1][32];     /* [teams]: what several teams found for one interval, */
    uint16_t (*at)[FAN - 1][32];      /* and where */
    uint16_t (*winner)[32];           /* [units + 1]: where the winner of a unit's first row is; */
    uint16_t (*inner)[32];            /* [QUARTERS + 1]: the same of the quarters of one unit, */
    unsigned long long (*result)[32]; /* [FILL]: and of rows, with their values */
    int32_t *values;                  /* z stage: [height][32], if it fits */
} shared;

DM_DEVICE shared shared_split(const mc_stage &p, char *memory) {
    const int teams = (int)blockDim.x / TEAM;
    shared made;
    made.best = (int32_t(*)[FAN - 1][32]) memory;
    made.at = (uint16_t(*)[FAN - 1][32])(made.best + teams);
    made.winner = (uint16_t(*)[32])(made.at + teams);
    made.inner = made.winner + p.part_units + 1;
    made.result = (unsigned long long(*)[32])(made.inner + QUARTERS + 1);
    made.values = (int32_t *)(made.result + FILL);
    return made;
}
static_assert(MC_UNIT_BYTES == (QUARTERS + 1) * 32 * sizeof(uint16_t) + FILL * 32 * 8,
              "minplus_cuda_stages.c counts on this,");
static_assert(MC_TEAM_BYTES == (FAN - 1) * 32 * (sizeof(int32_t) + sizeof(uint16_t)), "and on this");

/* ---- Rows ---- */

/* N rows from position `at` on, and what they offer in this lane's columns. There are so many. */
template <bool SLOW, int N>
DM_DEVICE void read_rows(const mc_stage &p, const work &w, int32_t at, int32_t row[N], int32_t value[N][2]) {
#pragma unroll
    for (int i = 0; i < N; i++)
        row[i] = w.list ? p.low + w.list[at + i] : w.first + at + i;
    if (SLOW && w.fits) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int2 both = w.shared_values[(at + i) * 16];
            value[i][0] = both.x, value[i][1] = both.y;
        }
        return;
    }
    if (SLOW) {
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const char *from = w.values + row[i] * p.source.stride[2] + w.column[c] * 4;
                const int32_t v = *(const int32_t *)from;
                value[i][c] = p.sites == MC_SITES_NONE ? v : mc_offset_square(p, (uint32_t)v);
            }
        return;
    }
    uint2 entry[N];
    uint32_t bits = 0;
    if (w.list) {
#pragma unroll
        for (int i = 0; i < N; i++)
            entry[i] = w.entries[row[i]];
    } else { /* one address for all */
        const uint2 *from = w.entries + (w.first + at);
#pragma unroll
        for (int i = 0; i < N; i++)
            entry[i] = from[i];
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        bits |= entry[i].x;
    const bool inside = __any_sync(MC_WHOLE, bits != 0);
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            value[i][c] = (int32_t)outer_distance(entry[i], w.column[c]);
    if (inside) {
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int c = 0; c < 2; c++)
                value[i][c] = (int32_t)entry_distance(entry[i], w.column[c]);
    }
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const uint32_t g = (uint32_t)(value[i][c] + p.rim);
            value[i][c] = (int32_t)(g * g * (uint32_t)p.wx2);
        }
}

/* What a query found in a column: the least value, less wy2 times the square of its row's distance from the first queried row,
 * and where. */
template <int COUNT> struct found { int32_t best[COUNT][2], at[COUNT][2]; };

/* Rows y + q step, q = FIRST .. LAST, from the positions first .. last, of which the team takes, KNOWN at once, every one of
 * `parts` from number `part` on; each winner is among KNOWN positions. */
template <bool SLOW, int FIRST, int LAST, int KNOWN>
DM_DEVICE found<LAST - FIRST + 1> query(const mc_stage &p, const work &w, int32_t y, int32_t step, int32_t first,
                                        int32_t last, int part, int parts) {
    enum { COUNT = LAST - FIRST + 1 };
    found<COUNT> f;
#pragma unroll
    for (int q = 0; q < COUNT; q++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            f.best[q][c] = MC_NOTHING, f.at[q][c] = first;
    const int32_t end = max(w.count - KNOWN, 0);
    for (int32_t next = first + part * KNOWN; __any_sync(MC_WHOLE, next <= last); next += parts * KNOWN) {
        const int32_t from = min(next, end);
        int32_t here[COUNT][2];
#pragma unroll
        for (int q = 0; q < COUNT; q++)
            here[q][0] = here[q][1] = MC_NOTHING;
#pragma unroll
        for (int some = 0; some < KNOWN; some += READ) {
            int32_t row[READ], value[READ][2];
            read_rows<SLOW, READ>(p, w, from + some, row, value);
#pragma unroll
            for (int i = 0; i < READ; i += 2)
#pragma unroll
                for (int c = 0; c < 2; c++) {
                    const parabola one = parabola_at(p, value[i][c], y - row[i], step);
                    const parabola two = parabola_at(p, value[i + 1][c], y - row[i + 1], step);
#pragma unroll
                    for (int q = 0; q < COUNT; q++)
                        here[q][c] = __vimin3_s32(here[q][c], candidate(one, FIRST + q), candidate(two, FIRST + q));
                }
        }
#pragma unroll
        for (int q = 0; q < COUNT; q++)
#pragma unroll
            for (int c = 0; c < 2; c++)
                if (here[q][c] < f.best[q][c])
                    f.best[q][c] = here[q][c], f.at[q][c] = from;
    }
    return f;
}

/* ---- Levels ---- */

/* Positions between which winners of this lane's columns are, for rows from that of point i on, or up to it. Points are the
 * first rows of units; the last one of all is the image's last row. */
DM_DEVICE int32_t first_of(const shared &s, int32_t i) {
    const ushort2 at = ((const ushort2 *)s.winner[i])[threadIdx.x % TEAM];
    return min(at.x, at.y);
}
DM_DEVICE int32_t last_of(const work &w, const shared &s, int32_t i) {
    const ushort2 at = ((const ushort2 *)s.winner[i])[threadIdx.x % TEAM];
    return min(max(at.x, at.y) + STEP - 1, w.count - 1);
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

/* What the teams, of all the block, found for query q. By a warp, a lane to a column. */
DM_DEVICE void join(const shared &s, int q, uint16_t winner[32]) {
    const int lane = (int)threadIdx.x % 32, teams = (int)blockDim.x / TEAM;
    int32_t best = s.best[0][q][lane], at = s.at[0][q][lane];
#pragma unroll 4
    for (int team = 1; team < teams; team++) {
        const int32_t b = s.best[team][q][lane], a = s.at[team][q][lane];
        if (b < best || (b == best && a < at))
            best = b, at = a;
    }
    winner[lane] = (uint16_t)at;
}

template <int COUNT> DM_DEVICE void keep(const shared &s, const found<COUNT> &f) {
    const int team = (int)threadIdx.x / TEAM, lane = (int)threadIdx.x % TEAM;
#pragma unroll
    for (int q = 0; q < COUNT; q++) {
        ((int2 *)s.best[team][q])[lane] = make_int2(f.best[q][0], f.best[q][1]);
        ((ushort2 *)s.at[team][q])[lane] = make_ushort2((uint16_t)f.at[q][0], (uint16_t)f.at[q][1]);
    }
}

/* The block's first row, and the one after its last. The teams share the rows, here and in the levels: so all have as much to
 * do, wherever winners jump. */
template <bool SLOW> DM_DEVICE void find_ends(const mc_stage &p, const work &w, const shared &s) {
    const int warp = (int)threadIdx.x / 32, team = (int)threadIdx.x / TEAM, teams = (int)blockDim.x / TEAM;
    const int32_t y = w.u0 * MC_UNIT, end = min(y + w.units * MC_UNIT, p.height - 1);
    keep(s, query<SLOW, 0, 1, STEP>(p, w, y, end - y, 0, w.count - 1, team, teams));
    __syncthreads();
    if (warp < 2)
        join(s, warp, s.winner[warp * w.units]);
    __syncthreads();
}

/* Points `units` apart, between those FAN times farther apart. */
template <bool SLOW>
DM_DEVICE void find_level(const mc_stage &p, const work &w, const shared &s, const uint32_t *hard, int32_t units) {
    const int warp = (int)threadIdx.x / 32, team = (int)threadIdx.x / TEAM, teams = (int)blockDim.x / TEAM;
    for (int32_t i0 = 0; i0 < w.units; i0 += FAN * units) {
        const int32_t i1 = min(i0 + FAN * units, w.units);
        if (i0 + units >= i1 || !any_hard(hard, i0, i1))
            continue;
        keep(s, query<SLOW, 1, FAN - 1, STEP>(p, w, (w.u0 + i0) * MC_UNIT, units * MC_UNIT, first_of(s, i0),
                                              last_of(w, s, i1), team, teams));
        __syncthreads();
        for (int q = warp; q < FAN - 1; q += (int)blockDim.x / 32)
            if (i0 + (q + 1) * units < i1)
                join(s, q, s.winner[i0 + (q + 1) * units]);
        __syncthreads();
    }
}

/* ---- Units ---- */

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
        int32_t row[READ], value[READ][2];
        read_rows<SLOW, READ>(p, w, min(next, end), row, value);
#pragma unroll
        for (int r = 0; r < READ; r += 2)
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const parabola one = parabola_at(p, value[r][c], y - row[r], 1);
                const parabola two = parabola_at(p, value[r + 1][c], y - row[r + 1], 1);
#pragma unroll
                for (int i = 0; i < HEIGHT; i++) {
                    const int32_t here = candidate(one, i), then = candidate(two, i);
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

/* Quarters q0 .. q0 + count - 1 of unit i of the block, from the bracket. ENDS: it may be far wider than what the unit's first
 * and last row need. */
template <bool SLOW, bool SITES, bool ENDS>
DM_DEVICE bool solve_unit(const mc_stage &p, const work &w, int32_t i, const bracket &b, int q0, int count) {
    enum { HEIGHT = SITES ? FILL / 2 : FILL, FROM = ENDS ? 0 : 1, TO = ENDS ? QUARTERS : QUARTERS - 1 };
    const int32_t y = (w.u0 + i) * MC_UNIT;
    /* Where winners of the quarters' first rows are, from `low` to `high`. */
    int32_t low[QUARTERS + 1], high[QUARTERS + 1];
#pragma unroll
    for (int q = 0; q <= QUARTERS; q++)
        low[q] = b.first, high[q] = b.last;
    if (__any_sync(MC_WHOLE, b.last - b.first >= FILL)) {
        const found<TO - FROM + 1> f = query<SLOW, FROM, TO, FINE>(p, w, y, FILL, b.first, b.last, 0, 1);
#pragma unroll
        for (int q = FROM; q <= TO; q++)
            if (y + q * FILL < p.height) {
                low[q] = min(f.at[q - FROM][0], f.at[q - FROM][1]);
                high[q] = min(max(f.at[q - FROM][0], f.at[q - FROM][1]) + FINE - 1, b.last);
            }
    }
    bool none = false;
#pragma unroll 1
    for (int q = q0; q < q0 + count; q++) {
        const int32_t from = q == 0 ? low[0] : q == 1 ? low[1] : q == 2 ? low[2] : low[3];
        const int32_t to = q == 0 ? high[1] : q == 1 ? high[2] : q == 2 ? high[3] : high[4];
        const bool wanted = b.wanted && y + q * FILL < p.height;
        for (int h = 0; h < FILL; h += HEIGHT) {
            int32_t best[2][HEIGHT], row[2][HEIGHT];
            fill<SLOW, SITES, HEIGHT>(p, w, y + q * FILL + h, from, wanted ? to : -1, 0, 1, best, row);
            if (wanted)
                none |= store_rows<SITES, HEIGHT, 2>(p, w.plane, w.strip * 32 + (int)threadIdx.x % TEAM * 2,
                                                     y + q * FILL + h, best, row);
        }
    }
    return none;
}

/* The same for the whole block and all quarters: winners jump, and would keep one team busy for long. */
template <bool SLOW, bool SITES>
DM_DEVICE bool solve_long(const mc_stage &p, const work &w, const shared &s, int32_t i, const bracket &b) {
    enum { HEIGHT = SITES ? FILL / 2 : FILL };
    const int warp = (int)threadIdx.x / 32, team = (int)threadIdx.x / TEAM, teams = (int)blockDim.x / TEAM;
    const int lane = (int)threadIdx.x % TEAM;
    const int32_t y = (w.u0 + i) * MC_UNIT;
    keep(s, query<SLOW, 0, QUARTERS, FINE>(p, w, y, FILL, b.first, b.last, team, teams));
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
                for (int c = 0; c < 2; c++) /* in the order of signed values, and then of rows */
                    atomicMin(&s.result[h + r][lane * 2 + c],
                              (unsigned long long)((uint32_t)best[c][r] ^ 0x80000000u) << 32 | (uint32_t)row[c][r]);
        }
        __syncthreads();
        for (int r = team; r < FILL; r += teams) {
            int32_t best[2][1], row[2][1];
            for (int c = 0; c < 2; c++) {
                const unsigned long long result = s.result[r][lane * 2 + c];
                best[c][0] = (int32_t)((uint32_t)(result >> 32) ^ 0x80000000u) + p.wy2 * (r % HEIGHT) * (r % HEIGHT);
                row[c][0] = (int32_t)(uint32_t)result;
            }
            none |= store_rows<SITES, 1, 2>(p, w.plane, w.strip * 32 + lane * 2, y + q * FILL + r, best, row);
        }
        __syncthreads();
    }
    return none;
}

#endif
