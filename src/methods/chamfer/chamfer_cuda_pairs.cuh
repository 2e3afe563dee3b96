/* Device functions of chamfer/cuda's kernels: rows of a strip in 16-bit lanes, two to a register.
 *
 * Within a band and a strip all distances are near to each other. The least of all that enters, sites or what is carried in,
 * is the *base*, and a lane holds min(distance - base, CC_PAIR_CAP). No sum overflows, and lanes below the cap are right
 * whatever others are: a sum with one at the cap is not below it.
 *
 * And all results are below it: where the base enters, a walk through the strip and the band goes on to any element; it costs
 * a step along an axis for each of at most CC_PAIR_STEPS elements. What does not fit in spite of this is farther than
 * something else that enters. So lanes are at the cap where nothing enters at all, and nowhere else. */
#ifndef DISTMAP_CHAMFER_CUDA_PAIRS_CUH
#define DISTMAP_CHAMFER_CUDA_PAIRS_CUH

#include "methods/chamfer/chamfer_cuda.cuh"

enum {
    CP_LANES = 2 * CC_PAIRS, /* columns of a thread */
    CP_PITCH = 34,           /* of a pair in shared memory: 16 columns by 2 threads are in 32 banks either way */
    CP_ROOM = CC_BAND * CC_PAIRS * CP_PITCH,
};
#define CP_NONE (CC_PAIR_CAP * 0x00010001u)

/* Pair k: columns k and, in the high half, k + CC_PAIRS. So the neighbours of a pair are the pairs beside it. */
struct cp_row {
    uint32_t pair[CC_PAIRS];
};

/* A row and the one before it, in the direction of a sweep. */
struct cp_rows {
    cp_row one, two;
};

DM_DEVICE cp_row cp_empty() {
    cp_row row;
#pragma unroll
    for (int k = 0; k < CC_PAIRS; k++)
        row.pair[k] = CP_NONE;
    return row;
}

/* ---- A band's rows in memory, and its base ---- */

/* A thread's words of the rows, from the band's first on. */
struct cp_source {
    const uint32_t *bits, *left, *right;
    int32_t words, rows;
    uint32_t place; /* of its columns in the words */
    bool inside;    /* they are in memory; else these words are others' */
};

DM_DEVICE cp_source cp_source_of(const cc_stage &p, const cc_strip &s, int64_t row, int rows) {
    const int64_t at = row * p.words + (s.inside ? s.column / 32 : 0);
    const cp_source source = {p.bits + at, p.left + at, p.right + at, (int32_t)p.words, rows, (uint32_t)(s.column & 31),
                              s.inside};
    return source;
}

/* Row y of them, the last one if there are fewer rows: read a row ahead of its use. */
struct cp_words {
    uint32_t bits, left, right;
};

DM_DEVICE cp_words cp_fetch(const cp_source &s, int y) {
    const int32_t at = min(y, s.rows - 1) * s.words;
    const cp_words words = {s.bits[at], s.left[at], s.right[at]};
    return words;
}

/* Outside there is nothing to see. */
DM_DEVICE cc_sight cp_sight(const cp_source &s, const cp_words &words) {
    return cc_sight_of<CP_LANES>(s.inside ? words.bits : 0, s.inside ? words.left : CC_NO_SITE,
                                 s.inside ? words.right : CC_NO_SITE, s.place);
}

struct cp_base {
    uint32_t base, reach; /* so many elements away lanes are at the cap, whatever lies there */
    bool some;            /* something enters */
};

DM_DEVICE uint32_t cp_warp_min(uint32_t x) {
    for (int step = 16; step > 0; step /= 2)
        x = min(x, __shfl_xor_sync(CC_WHOLE, x, step));
    return x;
}

/* Whether any row has a site in the strip; then the base is 0. On the way the caches are asked for what the rows need besides.
 * Two threads look at each row, at every other of the words that the strip can reach into. */
DM_DEVICE bool cp_any_site(const cc_stage &p, const cc_strip &s, int64_t row, int rows) {
    enum { WORDS = 32 * CP_LANES / 32 + 2, SECTOR = 8 };
    const int lane = (int)threadIdx.x, y = min(lane / 2, rows - 1);
    const int32_t last = (int32_t)p.words - 1, first = (int32_t)((s.column - lane * CP_LANES) >> 5);
    const int64_t at = (row + y) * p.words;
    const uint32_t *side = (lane % 2 ? p.left : p.right) + at;
    uint32_t some = 0;
#pragma unroll
    for (int i = lane % 2; i < WORDS; i += 2)
        some |= p.bits[at + min(max(first + i, 0), last)];
#pragma unroll
    for (int i = 0; i < WORDS; i += SECTOR)
        dm_prefetch(side + min(max(first + i, 0), last));
    return __any_sync(CC_WHOLE, some != 0);
}

/* `carried`: the least distance that this thread's columns are given from above and below, not looked at where there is a
 * site. */
template <class CARRIED>
DM_DEVICE cp_base cp_base_of(const cc_stage &p, const cp_source &s, bool any_site, const CARRIED &carried) {
    cp_base b = {0, CC_PAIR_CAP / p.step + 1, true};
    if (any_site)
        return b;
    uint32_t elements = CC_NO_SITE;
    for (int y = 0; y < s.rows; y++) {
        const cc_sight seen = cp_sight(s, cp_fetch(s, y));
        elements = min(elements, min(seen.left, seen.right));
    }
    const uint32_t beside = elements < p.reach ? elements * p.step : UINT32_MAX;
    const uint32_t least = cp_warp_min(min(beside, carried()));
    b.some = least < CC_NO_SITE;
    if (b.some) {
        b.base = least;
        b.reach = (least + CC_PAIR_CAP) / p.step + 1;
    }
    return b;
}

/* ---- A row's own distances ---- */

/* That many elements away; from the base's reach on a little above the cap. */
DM_DEVICE uint32_t cp_lane(const cc_stage &p, const cp_base &b, uint32_t elements) {
    return min(elements, b.reach) * p.step - b.base;
}

/* From the left, min(lane before + step, 0 at sites and the cap elsewhere); then from the right, by itself. */
DM_DEVICE cp_row cp_begin(const cc_stage &p, const cp_source &s, const cp_words &words, const cp_base &b) {
    const cc_sight seen = cp_sight(s, words);
    const uint32_t low = seen.bits & 0xFF, high = seen.bits >> 8, step = p.step * 0x00010001u;
    const uint32_t vacant = ~(low | high << 16);
    /* From columns -1 and 7; from columns 8 and 16. */
    const uint32_t inner_left = low ? (uint32_t)__clz((int)low) - 24 : seen.left + CC_PAIRS;
    const uint32_t inner_right = high ? (uint32_t)__ffs((int)high) - 1 : seen.right + CC_PAIRS;
    uint32_t left = cp_lane(p, b, seen.left) | cp_lane(p, b, inner_left) << 16;
    uint32_t right = cp_lane(p, b, inner_right) | cp_lane(p, b, seen.right) << 16;
    cp_row row;
#pragma unroll
    for (int k = 0; k < CC_PAIRS; k++)
        row.pair[k] = left = __viaddmin_u16x2(left, step, vacant << (15 - k) & CP_NONE);
#pragma unroll
    for (int k = CC_PAIRS - 1; k >= 0; k--)
        row.pair[k] = right = __viaddmin_u16x2(right, step, row.pair[k]);
    return row;
}

/* ---- A row from those before it ---- */

/* Pairs -2, -1 and CC_PAIRS, CC_PAIRS + 1 of a row: one of their columns is this thread's, one a neighbour's. */
struct cp_ends {
    uint32_t before[2], after[2];
};

template <int REACH> DM_DEVICE cp_ends cp_ends_of(const cp_row &row) {
    cp_ends ends;
#pragma unroll
    for (int i = 0; i < REACH; i++) {
        const int last = CC_PAIRS - 1 - i;
        const uint32_t left = __shfl_up_sync(CC_WHOLE, row.pair[last], 1);
        const uint32_t right = __shfl_down_sync(CC_WHOLE, row.pair[i], 1);
        ends.before[1 - i] = __byte_perm(threadIdx.x > 0 ? left : CP_NONE, row.pair[last], 0x5432);
        ends.after[i] = __byte_perm(row.pair[i], threadIdx.x < 31 ? right : CP_NONE, 0x5432);
    }
    return ends;
}

DM_DEVICE uint32_t cp_beside(const cp_row &row, const cp_ends &ends, int k) {
    return k < 0 ? ends.before[k + 2] : k >= CC_PAIRS ? ends.after[k - CC_PAIRS] : row.pair[k];
}

DM_DEVICE uint32_t cp_sides(const cp_row &row, const cp_ends &ends, int k, int by) {
    return __vminu2(cp_beside(row, ends, k - by), cp_beside(row, ends, k + by));
}

/* One step of a sweep: `row`, by itself so far, looks at those before it, and becomes the first of them. */
template <bool KNIGHTS> DM_DEVICE void cp_look(const cc_stage &p, cp_row row, cp_rows *seen) {
    const uint32_t straight = (uint32_t)p.straight * 0x00010001u, diagonal = (uint32_t)p.diagonal * 0x00010001u;
    const cp_ends ends = cp_ends_of < KNIGHTS ? 2 : 1 > (seen->one);
    DM_UNROLL
    for (int k = 0; k < CC_PAIRS; k++) {
        row.pair[k] = __viaddmin_u16x2(seen->one.pair[k], straight, row.pair[k]);
        row.pair[k] = __viaddmin_u16x2(cp_sides(seen->one, ends, k, 1), diagonal, row.pair[k]);
    }
    if (KNIGHTS) {
        const uint32_t knight = (uint32_t)p.knight * 0x00010001u;
        const cp_ends farther = cp_ends_of<1>(seen->two);
        DM_UNROLL
        for (int k = 0; k < CC_PAIRS; k++) {
            const uint32_t either = __vminu2(cp_sides(seen->one, ends, k, 2), cp_sides(seen->two, farther, k, 1));
            row.pair[k] = __viaddmin_u16x2(either, knight, row.pair[k]);
        }
        seen->two = seen->one;
    }
    seen->one = row;
}

/* ---- Rows at rest in shared memory, from this thread's first pair on ---- */

DM_DEVICE void cp_rest(uint32_t *room, const cp_row &row) {
#pragma unroll
    for (int k = 0; k < CC_PAIRS; k++)
        room[k * CP_PITCH] = row.pair[k];
}

DM_DEVICE cp_row cp_resume(const uint32_t *room) {
    cp_row row;
#pragma unroll
    for (int k = 0; k < CC_PAIRS; k++)
        row.pair[k] = room[k * CP_PITCH];
    return row;
}

/* ---- What enters and leaves a band ---- */

/* A thread's lanes in memory, which are moved 16 bytes at a time. */
struct __align__(16) cp_lanes {
    uint32_t lane[CP_LANES];
};

/* NULL: there are none. The next row's, with knights: cp_next. */
DM_DEVICE cp_lanes *cp_lanes_of(const cc_stage &p, void *rows, const cc_strip &s, int64_t plane, int64_t band) {
    return s.inside && band >= 0 && band < p.bands ? (cp_lanes *)cc_lanes<uint32_t>(p, rows, s, plane, band) : NULL;
}

DM_DEVICE int64_t cp_next(const cc_stage &p) { return p.words * 32 / CP_LANES; }

template <bool KNIGHTS> DM_DEVICE uint32_t cp_least(const cc_stage &p, const cp_lanes *lanes) {
    uint32_t least = UINT32_MAX;
    for (int row = 0; lanes && row <= KNIGHTS; row++) {
        const cp_lanes from = lanes[row * cp_next(p)];
#pragma unroll
        for (int k = 0; k < CP_LANES; k++)
            least = min(least, from.lane[k]);
    }
    return least;
}

DM_DEVICE cp_row cp_load(const cp_lanes &from, uint32_t base) {
    cp_row row;
#pragma unroll
    for (int k = 0; k < CC_PAIRS; k++)
        row.pair[k] = min(from.lane[k] - base, CC_PAIR_CAP) | min(from.lane[k + CC_PAIRS] - base, CC_PAIR_CAP) << 16;
    return row;
}

template <bool KNIGHTS> DM_DEVICE cp_rows cp_load_rows(const cc_stage &p, const cp_lanes *lanes, uint32_t base) {
    cp_rows rows = {cp_empty(), cp_empty()};
    if (lanes)
        rows.one = cp_load(*lanes, base);
    if (lanes && KNIGHTS)
        rows.two = cp_load(lanes[cp_next(p)], base);
    return rows;
}

/* What added to a lane makes it a distance, or the stage's cap where nothing enters. */
DM_DEVICE uint32_t cp_origin(const cc_stage &p, const cp_base &b) {
    return b.some ? b.base : (uint32_t)p.cap - CC_PAIR_CAP;
}

DM_DEVICE void cp_store(cp_lanes *lanes, const cp_row &row, uint32_t origin) {
    uint4 *to = (uint4 *)lanes;
#pragma unroll
    for (int k = 0; k < CC_PAIRS; k += 4) {
        const uint32_t *pair = row.pair + k;
        to[k / 4] = make_uint4((pair[0] & 0xFFFF) + origin, (pair[1] & 0xFFFF) + origin, (pair[2] & 0xFFFF) + origin,
                               (pair[3] & 0xFFFF) + origin);
        to[(k + CC_PAIRS) / 4] = make_uint4((pair[0] >> 16) + origin, (pair[1] >> 16) + origin,
                                            (pair[2] >> 16) + origin, (pair[3] >> 16) + origin);
    }
}

/* (The row before the first one of a band of one row has lanes at the cap. They are farther than all that enters, and so can
 * be taken for distances.) */
template <bool KNIGHTS>
DM_DEVICE void cp_store_rows(const cc_stage &p, void *rows, const cc_strip &s, int64_t plane, int64_t band,
                             const cp_rows &seen, uint32_t origin) {
    if (!s.own)
        return;
    cp_lanes *lanes = cp_lanes_of(p, rows, s, plane, band);
    cp_store(lanes, seen.one, origin);
    if (KNIGHTS)
        cp_store(lanes + cp_next(p), seen.two, origin);
}

#endif
