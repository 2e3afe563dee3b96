/* The far search, its second part: rows of a strip, queried by others. (minplus_cuda_levels.cuh: which by which.)
 *
 * Positions are of a list of the rows that have a site at all, or of rows that follow one another. Down to units a winner is
 * known by the STEP positions among which it is, or FINE, from `at` on: that saves keeping a position with each value. Rows
 * besides those that can win may be evaluated as well, they win nowhere. Of equals the first row wins.
 *
 * A *team* of 16 lanes has a strip, each lane two columns side by side, and rows of its own: what those share, an entry and
 * the way to it, is had once for both. The two teams of a warp keep step, a team without work has empty ranges.
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
    FILL = MC_FILL, /* rows of a quarter of a unit */
    QUARTERS = MC_UNIT / FILL,
};

/* The block's shared memory. */
typedef struct shared {
    int32_t (*best)[FAN + 1][32];     /* [teams]: what several teams found for one interval, */
    uint16_t (*at)[FAN + 1][32];      /* and where */
    uint16_t (*winner)[32];           /* [units + 1]: where the winner of a unit's first row is; */
    uint16_t (*inner)[32];            /* [QUARTERS + 1]: the same of the quarters of one unit, */
    unsigned long long (*result)[32]; /* [FILL]: and of rows, with their values */
    int32_t *values;                  /* z stage: [value_rows][32] */
} shared;

DM_DEVICE shared shared_split(const mc_stage &p, char *memory) {
    const int teams = (int)blockDim.x / TEAM;
    shared made;
    made.best = (int32_t(*)[FAN + 1][32]) memory;
    made.at = (uint16_t(*)[FAN + 1][32])(made.best + teams);
    made.winner = (uint16_t(*)[32])(made.at + teams);
    made.inner = made.winner + p.part_units + 1;
    made.result = (unsigned long long(*)[32])(made.inner + QUARTERS + 1);
    made.values = (int32_t *)(made.result + FILL);
    return made;
}
static_assert(MC_UNIT_BYTES == (QUARTERS + 1) * 32 * sizeof(uint16_t) + FILL * 32 * 8,
              "minplus_cuda_stages.c counts on this,");
static_assert(MC_TEAM_BYTES == (FAN + 1) * 32 * (sizeof(int32_t) + sizeof(uint16_t)), "and on this");

/* ---- Rows ---- */

/* N rows, as they come: of planes entries, of the z stage what they are worth in this lane's columns. */
template <int N> struct rows_taken { int32_t row[N], raw[N][2]; };

/* The row at a position. LISTED: by the list. */
template <bool LISTED> DM_DEVICE int32_t row_at(const mc_stage &p, const work &w, int32_t position) {
    return LISTED ? p.low + w.list[position] : w.first + position;
}

/* Those from position `at` on. There are so many. */
template <bool SLOW, bool LISTED, int N>
DM_DEVICE rows_taken<N> take_rows(const mc_stage &p, const work &w, int32_t at) {
    rows_taken<N> t;
#pragma unroll
    for (int i = 0; i < N; i++)
        t.row[i] = row_at<LISTED>(p, w, at + i);
    const uint2 *from = SLOW || LISTED ? NULL : w.entries + (w.first + at); /* one address for all */
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (!SLOW) {
            const uint2 entry = LISTED ? w.entries[t.row[i]] : from[i];
            t.raw[i][0] = (int32_t)entry.x, t.raw[i][1] = (int32_t)entry.y;
        } else if (at + N <= w.held) {
            const int2 both = w.shared_values[(at + i) * 16];
            t.raw[i][0] = both.x, t.raw[i][1] = both.y;
        } else {
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const char *place = w.values + t.row[i] * p.source.stride[2] + w.column[c] * 4;
                const int32_t v = *(const int32_t *)place;
                t.raw[i][c] = p.sites == MC_SITES_NONE ? v : mc_offset_square(p, (uint32_t)v);
            }
        }
    }
    return t;
}

/* What they offer in this lane's columns. */
template <bool SLOW, int N>
DM_DEVICE void offered(const mc_stage &p, const work &w, const rows_taken<N> &t, int32_t value[N][2]) {
    if (SLOW) {
#pragma unroll
        for (int i = 0; i < N; i++)
            value[i][0] = t.raw[i][0], value[i][1] = t.raw[i][1];
        return;
    }
    uint2 entry[N];
    uint32_t bits = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        entry[i] = make_uint2((uint32_t)t.raw[i][0], (uint32_t)t.raw[i][1]);
        bits |= entry[i].x;
    }
    const bool inside = __any_sync(MC_WHOLE, bits != 0);
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            value[i][c] = (int32_t)outer_distance(entry[i], w.column[c], p.rim);
    if (inside) {
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int c = 0; c < 2; c++)
                value[i][c] = (int32_t)entry_distance(entry[i], w.column[c], p.rim);
    }
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            const uint32_t g = (uint32_t)value[i][c];
            value[i][c] = (int32_t)(g * g * (uint32_t)p.wx2);
        }
}

/* Rows that are queried: number q is y + min(q apart, most). There are `count`. */
typedef struct queries {
    int32_t y, apart, most, count;
} queries;

DM_DEVICE int32_t twice_from(const queries &of, int q) { return 2 * min(q * of.apart, of.most); }

/* What a query found in a column: the least value, less wy2 times the square of its row's distance from y, and where. */
template <int COUNT> struct found { int32_t best[COUNT][2], at[COUNT][2]; };

template <int COUNT> DM_DEVICE found<COUNT> nothing_found(int32_t at) {
    found<COUNT> f;
#pragma unroll
    for (int q = 0; q < COUNT; q++)
#pragma unroll
        for (int c = 0; c < 2; c++)
            f.best[q][c] = MC_NOTHING, f.at[q][c] = at;
    return f;
}

template <bool SLOW, bool LISTED, int COUNT, int KNOWN>
DM_DEVICE found<COUNT> query_rows(const mc_stage &p, const work &w, const queries &of, int32_t first, int32_t last,
                                  int part, int parts) {
    int32_t twice[COUNT];
#pragma unroll
    for (int q = 0; q < COUNT; q++)
        twice[q] = twice_from(of, q);
    found<COUNT> f = nothing_found<COUNT>(first);
    const int32_t end = max(w.count - KNOWN, 0);
    int32_t next = first + part * KNOWN;
    /* Entries are taken a round ahead, for they are waited for. */
    rows_taken<KNOWN> taken;
    if (!SLOW)
        taken = take_rows<SLOW, LISTED, KNOWN>(p, w, min(next, end));
    while (__any_sync(MC_WHOLE, next <= last)) {
        const int32_t from = min(next, end);
        if (SLOW)
            taken = take_rows<SLOW, LISTED, KNOWN>(p, w, from);
        int32_t row[KNOWN], value[KNOWN][2], here[COUNT][2];
        offered<SLOW, KNOWN>(p, w, taken, value);
#pragma unroll
        for (int i = 0; i < KNOWN; i++)
            row[i] = taken.row[i];
        next += parts * KNOWN;
        if (!SLOW)
            taken = take_rows<SLOW, LISTED, KNOWN>(p, w, min(next, end));
#pragma unroll
        for (int q = 0; q < COUNT; q++)
            here[q][0] = here[q][1] = MC_NOTHING;
#pragma unroll
        for (int i = 0; i < KNOWN; i += 2)
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const parabola one = parabola_at(p, value[i][c], of.y - row[i]);
                const parabola two = parabola_at(p, value[i + 1][c], of.y - row[i + 1]);
#pragma unroll
                for (int q = 0; q < COUNT; q++)
                    here[q][c] = __vimin3_s32(here[q][c], candidate(one, twice[q]), candidate(two, twice[q]));
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

/* Queries from the positions first .. last, of which the team takes, KNOWN at once, every one of `parts` from number `part` on;
 * each winner is among KNOWN positions. */
template <bool SLOW, int COUNT, int KNOWN>
DM_DEVICE found<COUNT> query(const mc_stage &p, const work &w, const queries &of, int32_t first, int32_t last, int part,
                             int parts) {
    return w.list ? query_rows<SLOW, true, COUNT, KNOWN>(p, w, of, first, last, part, parts)
                  : query_rows<SLOW, false, COUNT, KNOWN>(p, w, of, first, last, part, parts);
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

#endif
