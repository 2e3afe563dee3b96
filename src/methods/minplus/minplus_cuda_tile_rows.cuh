/* Loads rows of a near search's tile (minplus_cuda_tile.cuh) into shared memory: in the plane stage from entries, which are expanded
 * into squares; in the z stage from the planes' results in memory. */
#ifndef DISTMAP_MINPLUS_CUDA_TILE_ROWS_CUH
#define DISTMAP_MINPLUS_CUDA_TILE_ROWS_CUH

#include "methods/minplus/minplus_cuda_tile.cuh"

/* Pixels i and 16 + i of an entry without a site: 2^16 - 1, others: 0. */
DM_DEVICE void find_vacant(uint32_t bits, uint32_t vacant[16]) {
    bits = mc_forget(~bits);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const uint32_t shifted = bits << (7 - i);
        vacant[i] = mc_signs(shifted, true), vacant[i + 8] = mc_signs(shifted, false);
    }
}

/* A pair of numbers up to 181, squared. */
DM_DEVICE uint32_t square_pair(uint32_t pair) {
    const uint64_t square = (uint64_t)pair * pair; /* g0^2 + 2 g0 g1 2^16 + g1^2 2^32 */
    return __byte_perm((uint32_t)square, (uint32_t)(square >> 32), 0x5410);
}

/* One entry into 16 pairs of squares, at the place of word `word` of row `row`. */
DM_DEVICE void spread(const mc_stage &p, uint2 entry, const tile &t, int row, int word) {
    uint32_t *to = t.squares + place_of(row, word / 2, word % 2 * 16);
    const uint32_t w = entry.x, most = 4096; /* beyond any clamp; more would overflow on the way */
    const uint32_t left = min(entry.y & 0xFFFF, most), right = min(entry.y >> 16, most);
    const uint32_t low = w & 0xFFFF, high = w >> 16, one = 0x00010001;
    /* Before pixels 0 and 16; after pixels 15 and 31. */
    uint32_t vacant[16];
    find_vacant(w, vacant);
    uint32_t d = left | (low ? (uint32_t)__clz((int)low) - 16 : left + 16) << 16;
    uint32_t before[16];
#pragma unroll
    for (int i = 0; i < 16; i++) {
        d = mc_add_min(d, one, vacant[i]); /* 0 at a site */
        before[i] = d;
    }
    d = (high ? (uint32_t)__ffs((int)high) - 1 : right + 16) | right << 16;
    const uint32_t clamp = p.clamp * one, weight = (uint32_t)p.wx2;
    uint32_t lefts = 0;
#pragma unroll
    for (int i = 15; i >= 0; i--) {
        d = mc_add_min(d, one, vacant[i]);
        uint32_t nearest;
        if (SITES) {
            bool first, second; /* has its site on the left, or on both sides */
            nearest = mc_min(__vibmin_u16x2(before[i], d, &second, &first), clamp);
            lefts |= (first ? 1u << i : 0) | (second ? 1u << (16 + i) : 0);
        } else {
            nearest = KINDS ? mc_add_min(mc_min(before[i], d), one, clamp) : mc_min3(before[i], d, clamp);
        }
        to[i] = square_pair(nearest) * weight;
    }
    if (SITES)
        t.lefts[word * HELD + row] = lefts;
}

DM_DEVICE uint2 entry_at(const mc_stage &p, const tile &t, int32_t y, int word) {
    return is_known(p, y) ? t.entries[word * p.rows + y] : make_uint2(0, MC_WHOLE);
}

/* An element of the z stage's source, at most MC_SURE: a square or, with sites, an offset. UNIT: offsets of unit pitch;
 * MC_NO_OFFSET, -2^15 along both axes, is then beyond MC_SURE by itself. */
template <bool UNIT> DM_DEVICE uint32_t source_square(const mc_stage &p, int32_t value) {
    const int32_t dy = value >> 16, dx = (int16_t)value;
    const uint32_t square = !SITES ? (uint32_t)value
                            : UNIT ? (uint32_t)(dy * dy) + (uint32_t)(dx * dx)
                                   : (uint32_t)mc_offset_square(p, (uint32_t)value);
    return min(square, (uint32_t)MC_SURE);
}

/* Which rows of the source have been written, as bits: row y, and a bit for each `step` on. By a warp. */
DM_DEVICE uint32_t written_rows(const mc_stage &p, const tile &t, int32_t y, int32_t step) {
    const int32_t mine = y + (int32_t)threadIdx.x % 32 * step;
    return __ballot_sync(MC_WHOLE, (uint32_t)mine < (uint32_t)p.height && t.alive[mine]);
}

/* z stage: rows first.. of the shared memory; the thread's least values, in halves. A warp takes AT_ONCE rows together: they
 * lie far apart, and wait for memory. FULL: a tile without columns beyond the last; those get what the last one has, and nobody
 * looks at them. */
template <int AT_ONCE, bool FULL, bool UNIT>
DM_DEVICE uint32_t copy_rows(const mc_stage &p, const tile &t, int first, int count) {
    enum { STEP = MC_DOWN };
    uint32_t least = MC_SURE * 0x00010001u;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int half = half_of(warp);
    const int32_t x = column_of(t.strip, half, lane), top = t.y0 - WIDE;
    /* Counted, a tile's rows are known to come out even: no branch parts their loads. `count` is a multiple of 8. */
    for (int n = 0, start = first + warp / HALVES; n < count / STEP; n += AT_ONCE, start += STEP * AT_ONCE) {
        int32_t value[AT_ONCE][2];
        const uint32_t alive = written_rows(p, t, top + start, STEP);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            /* Without a condition that would be waited for: what was not written may be read, and is not used. */
            const int32_t y = min(max(top + start + i * STEP, 0), p.height - 1);
            const int32_t *from = (const int32_t *)(t.source + y * p.source.stride[2]) + (FULL ? x : 0);
#pragma unroll
            for (int c = 0; c < 2; c++)
                value[i][c] = from[FULL ? c * 16 : min(x + c * 16, p.width - 1)];
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int row = start + i * STEP;
            if (n + i >= count / STEP)
                break;
            const uint32_t low = source_square<UNIT>(p, value[i][0]), high = source_square<UNIT>(p, value[i][1]);
            const uint32_t pair = alive >> i & 1 ? low | high << 16 : MC_SURE * 0x00010001u;
            t.squares[place_of(row, half, lane)] = pair;
            least = mc_min(least, pair);
        }
    }
    return least;
}

template <int AT_ONCE, bool UNIT> DM_DEVICE uint32_t copy_rows(const mc_stage &p, const tile &t, int first, int count) {
    return t.strip * 32 + TILE_COLUMNS <= p.width ? copy_rows<AT_ONCE, true, UNIT>(p, t, first, count)
                                                  : copy_rows<AT_ONCE, false, UNIT>(p, t, first, count);
}

template <int AT_ONCE> DM_DEVICE uint32_t copy_rows(const mc_stage &p, const tile &t, int first, int count) {
    return SITES && p.source_w2[0] == 1 && p.source_w2[1] == 1 ? copy_rows<AT_ONCE, true>(p, t, first, count)
                                                               : copy_rows<AT_ONCE, false>(p, t, first, count);
}

/* Rows of the shared memory, of which row WIDE is the tile's first: `count` from `first` on, and as many from `then` on. */
template <bool SLOW> DM_DEVICE void load_rows(const mc_stage &p, const tile &t, int first, int then, int count) {
    if (SLOW) {
#pragma unroll 1 /* short code */
        for (int part = 0; part < 2; part++)
            copy_rows<11>(p, t, part ? then : first, count);
    } else {
        for (unsigned task = threadIdx.x; task < (unsigned)count * 2 * WORDS; task += THREADS) {
            const int n = task_row(task), row = n < count ? first + n : then + n - count, word = task_word(task);
            spread(p, entry_at(p, t, t.y0 - WIDE + row, word), t, row, word);
        }
    }
}

/* The same above and below, on from `from` rows to `to` of them, no fewer. */
template <bool SLOW> DM_DEVICE void widen_rows(const mc_stage &p, const tile &t, int from, int to) {
    load_rows<SLOW>(p, t, WIDE - to, WIDE + ROWS + from, to - from);
}

#endif
