/* minplus/cuda, spans of the bracket search (minplus_cuda_spans.cu): the rows that a block lists, their values, and the least
 * value for each pixel.
 *
 * The integer pipe is the bottleneck; it starts two instructions a cycle and multiprocessor: minima, comparisons, shifts and
 * sums all use it, and multiplications and additions of floats do not.
 *
 * Templates are WHOLE as offers are (minplus_cuda_offers.cuh).
 */
#ifndef DISTMAP_MINPLUS_CUDA_SPANS_CUH
#define DISTMAP_MINPLUS_CUDA_SPANS_CUH

#include "methods/minplus/minplus_cuda_offers.cuh"

enum {
    WARPS = 8,
    PARTS = WARPS,            /* of a span, */
    HEIGHT = MC_SPAN / PARTS, /* so many rows of pixels */
    CHUNK = 60,               /* fours of rows in shared memory */
    ENOUGH = 6,               /* fours that are no more work than to query parts */
};

/* A span's block. */
typedef struct span {
    int64_t plane;
    int32_t strip, y0;
    const char *source;   /* this lane's column, of row 0, */
    const uint8_t *alive; /* and which rows have a site */
    int32_t count;        /* rows in the list, */
    int32_t fours;        /* and by fours */
} span;

/* Its shared memory. */
typedef struct span_rows {
    uint32_t t[CHUNK * 4];                /* a chunk of the list: which rows these are, as offers have it, */
    uint32_t row[CHUNK * 4];              /* and from the first plane, */
    uint32_t start[CHUNK * 4];            /* what is added to their values, */
    uint4 values[CHUNK][32];              /* and what they offer */
    uint32_t found[PARTS + 1][WARPS][32]; /* what warps found for the first rows of parts, and in which four: */
    uint8_t from[PARTS + 1][WARPS][32];   /* WHOLE */
    uint64_t counts;                      /* of rows that they list, a byte each */
} span_rows;

DM_DEVICE int32_t sum_bytes(uint64_t bytes) {
    return (int32_t)__dp4a((uint32_t)bytes, 0x01010101u, __dp4a((uint32_t)(bytes >> 32), 0x01010101u, 0u));
}

DM_DEVICE uint4 four_rows(const span_rows &rows, int32_t four) { return ((const uint4 *)rows.t)[four]; }

/* How many rows pixels lie apart from y0, in what offers have more. */
template <bool WHOLE> DM_DEVICE int32_t level_rows(void) { return WHOLE ? 0 : (int32_t)MC_SPAN; }

/* Rows of a span that are near enough, by its points, in order. A pixel between these is no farther from its site than it is from
 * a point and that from its own. */
DM_DEVICE void list_span_rows(const mc_stage &p, const mc_point ends[2], span *u, span_rows &rows, uint16_t *list) {
    const int warp = warp_number(), lane = (int)threadIdx.x % 32;
    const int32_t end = min(u->y0 + MC_SPAN, p.height - 1), last = max(ends[0].last, ends[1].last);
    const float way = mc_near_root((float)ends[0].farthest) + mc_near_root((float)ends[1].farthest) +
                      mc_near_root((float)p.wy2) * (float)(end - u->y0);
    const float farthest = way * way * 0.25f * 1.0001f + 1.0f; /* whatever the roundings */
    const uint64_t before = (1ull << warp * 8) - 1;
    u->count = 0;
    for (int32_t first = ends[0].first; first <= last; first += WARPS * 32) {
        const int32_t j = first + (int32_t)threadIdx.x;
        const float dy = (float)max(max(u->y0 - j, j - end), 0);
        const bool wanted = j <= last && u->alive[j] && (float)p.wy2 * dy * dy <= farthest;
        const uint32_t own = __ballot_sync(MC_WHOLE, wanted);
        ((uint8_t *)&rows.counts)[warp] = (uint8_t)__popc(own);
        __syncthreads();
        const uint64_t counts = rows.counts;
        const int32_t at = u->count + sum_bytes(counts & before) + __popc(own & ((1u << lane) - 1));
        u->count += sum_bytes(counts);
        if (wanted)
            list[at] = (uint16_t)j;
        __syncthreads();
    }
    u->fours = (u->count + 3) / 4;
}

/* Fours from number `start` on into shared memory, for all to see. After the last row come some without a site, up to a whole
 * four; WHOLE: the last one again. */
template <bool WHOLE>
DM_DEVICE void spread_chunk(const mc_stage &p, const span &u, const uint16_t *list, int32_t start, span_rows &rows) {
    const int lane = (int)threadIdx.x % 32;
    const int32_t fours = min(u.fours - start, (int32_t)CHUNK), count = min(u.count - start * 4, CHUNK * 4);
    const int32_t i = (int32_t)threadIdx.x;
    static_assert(CHUNK * 4 <= WARPS * 32, "a row each");
    __syncthreads(); /* for those who still read */
    if (i < fours * 4) {
        const int32_t row = list[start * 4 + min(i, count - 1)], t = row - u.y0;
        rows.t[i] = offer_number<WHOLE>(t + (WHOLE ? 0 : max(i - count + 1, 0)));
        rows.row[i] = (uint32_t)row;
        rows.start[i] =
            WHOLE || i < count ? offer_start(p, 0, t, level_rows<WHOLE>()) : (uint32_t)__uint_as_float(NO_OFFER);
    }
    __syncthreads();
#pragma unroll 1
    for (int32_t four = warp_number(); four < fours; four += WARPS) {
        rows.values[four][lane] =
            slow_offers<WHOLE>(p, u.source, ((const uint4 *)rows.row)[four], ((const uint4 *)rows.start)[four]);
    }
    __syncthreads();
}

/* Among which fours of a chunk the winners of a warp's pixels are, the lane's own, and the least that its first row is offered. */
typedef struct bracket {
    int32_t first, last;
    float least;
} bracket;

/* An offer, below 2^24, and a four as one number. */
DM_DEVICE uint32_t found_in(int32_t offer, int32_t four) {
    static_assert(CHUNK <= 64, "six bits");
    return (uint32_t)__int_as_float(min(offer, (int32_t)ANY_OFFER)) << 6 | (uint32_t)four;
}

/* The best of what warps found for the first row of a part, and in which four. */
typedef struct found_four {
    uint32_t least;
    int32_t four;
} found_four;
template <bool WHOLE> DM_DEVICE found_four join_found(const span_rows &rows, int part) {
    const int lane = (int)threadIdx.x % 32;
    uint32_t least = rows.found[part][0][lane];
    int32_t four = WHOLE ? rows.from[part][0][lane] : 0;
#pragma unroll
    for (int other = 1; other < WARPS; other++) {
        const uint32_t found = rows.found[part][other][lane];
        if (WHOLE && (int32_t)found < (int32_t)least)
            four = rows.from[part][other][lane];
        least = WHOLE ? (uint32_t)min((int32_t)least, (int32_t)found) : min(least, found);
    }
    const found_four made = {WHOLE ? least : least >> 6, WHOLE ? four : (int32_t)(least & 63)};
    return made;
}

/* The first rows of parts, and the row after the last one, by a chunk of so many fours. */
template <bool WHOLE> DM_DEVICE bracket query_parts(const mc_stage &p, int32_t y0, int32_t fours, span_rows &rows) {
    const int warp = warp_number(), lane = (int)threadIdx.x % 32;
    int32_t best[PARTS + 1], from[PARTS + 1];
    uint32_t turn[PARTS + 1];
    set_none<WHOLE, PARTS + 1>(best);
#pragma unroll
    for (int q = 0; q <= PARTS; q++)
        from[q] = 0;
    set_turns<WHOLE, PARTS + 1>(p, 0, HEIGHT, 0, turn);
    if (WHOLE) /* there is no room for what rows beyond the plane are offered */
#pragma unroll
        for (int q = 0; q <= PARTS; q++)
            turn[q] = (uint32_t)(-2 * p.wy2 * min(q * HEIGHT, p.height - 1 - y0));
    const uint4 *values = rows.values[warp] + lane, *t = (const uint4 *)rows.t + warp;
#pragma unroll 2
    for (int32_t four = warp; four < fours; four += WARPS, values += WARPS * 32, t += WARPS) {
#pragma unroll
        for (int q = 0; q <= PARTS; q++) {
            const int32_t before = best[q];
            take_four<WHOLE, 1>(*values, *t, turn + q, best + q);
            from[q] = best[q] < before ? four : from[q];
        }
    }
#pragma unroll
    for (int q = 0; q <= PARTS; q++) {
        rows.found[q][warp][lane] = WHOLE ? (uint32_t)best[q] : found_in(best[q], from[q]);
        if (WHOLE)
            rows.from[q][warp][lane] = (uint8_t)from[q];
    }
    __syncthreads();
    const found_four first = join_found<WHOLE>(rows, warp), next = join_found<WHOLE>(rows, warp + 1);
    const bracket made = {first.four, next.four, (float)first.least};
    return made;
}

/* A warp's pixels, from the fours of a bracket. */
template <bool WHOLE>
DM_DEVICE void fill(const mc_stage &p, const span_rows &rows, const bracket &b, int32_t best[HEIGHT]) {
    const int warp = warp_number(), lane = (int)threadIdx.x % 32;
    uint32_t turn[HEIGHT];
    set_turns<WHOLE, HEIGHT>(p, warp * HEIGHT, 1, 0, turn);
    const int32_t count = mc_warp_most(b.last - b.first) + 1;
    for (int32_t k = 0; k < count; k++) {
        const int32_t four = min(b.first + k, b.last);
        take_four<WHOLE, HEIGHT>(rows.values[four][lane], four_rows(rows, four), turn, best);
    }
}

/* The same by falls (minplus_cuda_units.cuh), of a chunk of `fours` whose rows follow one another: pixels i and i + HEIGHT / 2 of
 * the lane's column share a word. With L the least that any row offers the part's first pixel, and T the last row, a row t offers
 *
 *     L + e(t) + 2 w i (T - t) - 2 w i T    where e(t) = what it offers the first pixel, less L
 */
DM_DEVICE void fill_falls(const mc_stage &p, const span_rows &rows, int32_t fours, const bracket &b,
                          int32_t best[HEIGHT]) {
    enum { HALF = HEIGHT / 2 };
    const int warp = warp_number(), lane = (int)threadIdx.x % 32;
    const float turn = (float)(-2 * p.wy2 * warp * HEIGHT),
                exponent = 8388608.0f; /* whose mantissa holds whole numbers */
    const float low = b.least - exponent;
    uint32_t pair[HALF];
#pragma unroll
    for (int r = 0; r < HALF; r++)
        pair[r] = CUT * 0x00010001u;
    const uint32_t fall = 2 * (uint32_t)p.wy2, halves = fall * 0x00010001u;
    /* The same for all lanes, so that T is their last one's. */
    const int32_t count = mc_warp_most(b.last - b.first) + 1, first = min(b.first, fours - count);
    const uint4 *values = rows.values[first] + lane;
    const float4 *ts = (const float4 *)rows.t + first; /* floats, as this is for */
    for (int32_t k = 0; k < count; k++) {
        const uint4 bits = values[k * 32];
        const float4 t = ts[k];
        const int32_t e[4] = {offer_at(bits.x, t.x, turn), offer_at(bits.y, t.y, turn), offer_at(bits.z, t.z, turn),
                              offer_at(bits.w, t.w, turn)};
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const int32_t above = __float_as_int(__int_as_float(e[n]) - low);
            const uint32_t both = __byte_perm((uint32_t)min(above, 0x4B000000 + CUT), 0, 0x1010);
#pragma unroll
            for (int r = 0; r < HALF; r++)
                pair[r] = mc_add_min(pair[r], halves * (uint32_t)r + (fall * HALF << 16), both);
        }
    }
    const float slope = (float)(-2 * p.wy2) * (ts[0].x + (float)(count * 4 - 1));
#pragma unroll
    for (int r = 0; r < HALF; r++) {
        const float one = fmaf((float)r, slope, low) + __uint_as_float(__byte_perm(pair[r], 0x4B00, 0x5410));
        const float two = fmaf((float)(r + HALF), slope, low) + __uint_as_float(__byte_perm(pair[r], 0x4B00, 0x5432));
        best[r] = min(best[r], __float_as_int(one));
        best[r + HALF] = min(best[r + HALF], __float_as_int(two));
    }
}

/* Whether a chunk's rows follow one another, and fall little enough. */
DM_DEVICE bool suits_falls(const mc_stage &p, const span_rows &rows, int32_t fours) {
    const float apart = __uint_as_float(rows.t[fours * 4 - 1]) - __uint_as_float(rows.t[0]);
    return apart == (float)(fours * 4 - 1) && fours * 4 * 2 * (HEIGHT - 1) * p.wy2 <= CUT;
}

/* A warp's pixels, from a chunk. */
template <bool WHOLE>
DM_DEVICE void take_chunk(const mc_stage &p, int32_t y0, int32_t fours, span_rows &rows, bool wanted,
                          int32_t best[HEIGHT]) {
    bracket b = {0, fours - 1, 0.0f};
    bool falls = false;
    if (fours > ENOUGH) {
        b = query_parts<WHOLE>(p, y0, fours, rows);
        falls = !WHOLE && suits_falls(p, rows, fours);
    }
    if (wanted && falls)
        fill_falls(p, rows, fours, b, best);
    else if (wanted)
        fill<WHOLE>(p, rows, b, best);
}

#endif
