/* esf/cuda, kernel=blocked: a tile's way from memory to a block and back.
 *
 * Beyond its border the image goes on as its mirror image: v(-1 - x) = v(x). So it stays: what an element's mirror
 * image becomes is the same sum of the same neighbours, left and right or above and below changed over, and a sum of two
 * does not depend on their order, not even by rounding. Steps then know nothing of borders: an element there finds a
 * copy of itself beyond, as its missing neighbour is to be. Only who fetches a tile has to know.
 *
 * A tile is fetched while the one before it is computed: 16 bytes at a time go to shared memory, past the registers. A
 * thread's eight neighbours lie there as two halves, those of a warp's threads beside each other, so that no bank serves
 * two of them. */
#ifndef DISTMAP_ESF_CUDA_VISIT_CUH
#define DISTMAP_ESF_CUDA_VISIT_CUH

#include "methods/esf/esf_cuda_tile.cuh"

/* What is the same for all tiles of a pass. */
struct ec_pass {
    const float *from;
    float *to;
    const uint8_t *before; /* flags */
    uint8_t *after;
    int steps;
    int halo_x, halo_y;
};

/* Where a tile with its halo lies, as seen from a thread: view.inside is not asked. */
struct ec_spot {
    ec_view view;
    bool inside;  /* all of it, in the image */
    int top, end; /* of the thread's rows, [top, end) are the tile's, not the halo's */
};

template <int WARPS, int ROWS>
DM_DEVICE ec_spot ec_spot_of(const ec_stage &p, const ec_tiles &t, const ec_pass &pass, uint32_t index) {
    const uint32_t line = index / (uint32_t)t.x, batch = line / (uint32_t)t.y;
    const int left = (int)(index - line * (uint32_t)t.x) * t.width - pass.halo_x,
              top = (int)(line - batch * (uint32_t)t.y) * t.height - pass.halo_y, first = (int)threadIdx.y * ROWS;
    ec_spot s;
    s.view = ec_view{batch * p.ny, top + first, left + (int)threadIdx.x * EC_LANES, (int)p.ny, (int)p.nx,
                     (int)p.pitch, true};
    s.inside = top >= 0 && top + WARPS * ROWS <= p.ny && left >= 0 && left + EC_COLUMNS <= p.nx;
    s.top = pass.halo_y - first;
    s.end = WARPS * ROWS - pass.halo_y - first;
    return s;
}

/* ---- From memory ---- */

/* Where the mirror images show element `at`, of n. */
DM_DEVICE int ec_mirrored(int at, int n) {
    while (at < 0 || at >= n)
        at = at < 0 ? -1 - at : 2 * n - 1 - at;
    return at;
}

/* Whether anything of the image depends on row i of the thread, or on what begins at column x. */
DM_DEVICE bool ec_row_counts(const ec_spot &s, const ec_pass &pass, int i) {
    return s.view.y + i < s.view.rows + pass.halo_y;
}
DM_DEVICE bool ec_column_counts(const ec_spot &s, const ec_pass &pass, int x) { return x < s.view.width + pass.halo_x; }

DM_DEVICE int64_t ec_row_at(const ec_spot &s, int i) {
    return (s.view.first + ec_mirrored(s.view.y + i, s.view.rows)) * s.view.pitch;
}

/* A warp's rows of a tile, and the shape's bits there, from a whole word on. */
template <int ROWS> struct ec_fetched {
    enum { WORDS = EC_COLUMNS / 32 + 1 };
    float4 half[ROWS][2][32];
    uint32_t bits[ROWS][WORDS];
};

/* The word of a row where a tile's bits begin; -1 where it begins beyond the border. */
DM_DEVICE int ec_first_word(const ec_spot &s) { return (s.view.x - (int)threadIdx.x * EC_LANES + 32) / 32 - 1; }

/* Four neighbours of a row, from column x on, of which some may lie beyond the border. */
DM_DEVICE void ec_fetch_group(const ec_spot &s, const float *row, int x, float4 *to) {
    if (x >= 0 && x + 4 <= s.view.width)
        dm_copy_16(to, row + x);
    else
        for (int k = 0; k < 4; k++)
            dm_copy_4((float *)to + k, row + ec_mirrored(x + k, s.view.width));
}

/* A warp's lanes take its 64 groups of a row so that each half of them fills one row of `half`. */
template <int ROWS> DM_DEVICE void ec_fetch_values(const ec_spot &s, const ec_pass &pass, ec_fetched<ROWS> *f) {
    const int lane = (int)threadIdx.x, half = lane / 16, place = lane % 16;
    const int x = s.view.x - lane * EC_LANES + (2 * place + half) * 4;
    if (s.inside) {
        const float *row = pass.from + (s.view.first + s.view.y) * s.view.pitch + x;
#pragma unroll
        for (int i = 0; i < ROWS; i++, row += s.view.pitch) {
            dm_copy_16(&f->half[i][half][place], row);
            dm_copy_16(&f->half[i][half][place + 16], row + EC_COLUMNS / 2);
        }
        return;
    }
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 2; k++) {
            const int column = x + k * EC_COLUMNS / 2;
            float4 *to = &f->half[i][half][place + k * 16];
            if (ec_row_counts(s, pass, i) && ec_column_counts(s, pass, column))
                ec_fetch_group(s, pass.from + ec_row_at(s, i), column, to);
            else
                *to = make_float4(0, 0, 0, 0);
        }
}

template <int ROWS>
DM_DEVICE void ec_fetch(const ec_stage &p, const ec_spot &s, const ec_pass &pass, ec_fetched<ROWS> *f) {
    enum { WORDS = ec_fetched<ROWS>::WORDS };
    const int first = ec_first_word(s), words = s.view.pitch / 32;
    ec_fetch_values(s, pass, f);
    for (int k = (int)threadIdx.x; k < ROWS * WORDS; k += 32) {
        const int i = k / WORDS, word = first + k % WORDS;
        if (ec_row_counts(s, pass, i) && word >= 0 && word < words)
            dm_copy_4(&f->bits[i][k % WORDS], p.bits + ec_row_at(s, i) / 32 + word);
    }
}

/* The shape of the thread's part of row i, a bit for each element. */
template <int ROWS>
DM_DEVICE uint32_t ec_shape(const ec_spot &s, const ec_pass &pass, const ec_fetched<ROWS> *f, int i) {
    const uint8_t *bits = (const uint8_t *)f->bits[i];
    const int x = s.view.x, first = ec_first_word(s) * 32;
    if (!ec_row_counts(s, pass, i) || !ec_column_counts(s, pass, x))
        return 0;
    if (x >= 0 && x + EC_LANES <= s.view.width)
        return bits[(x - first) / 8];
    uint32_t shape = 0;
    for (int k = 0; k < EC_LANES; k++) {
        const int at = ec_mirrored(x + k, s.view.width) - first;
        shape |= (bits[at / 8] >> at % 8 & 1u) << k;
    }
    return shape;
}

/* What was fetched, once it is there: values to registers, the shape of four rows to a word. */
template <int ROWS>
DM_DEVICE void ec_take(const ec_spot &s, const ec_pass &pass, const ec_fetched<ROWS> *f, ec_row (&v)[ROWS],
                       uint32_t (*shape)[32]) {
    const int lane = (int)threadIdx.x;
    uint32_t word = 0;
    dm_copies_wait();
    __syncwarp();
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float4 low = f->half[i][0][lane], high = f->half[i][1][lane];
        v[i] = ec_row{{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
        const uint32_t byte = ec_shape(s, pass, f, i);
        word = i % 4 ? word | byte << i % 4 * EC_LANES : byte;
        shape[i / 4][lane] = word;
    }
    __syncwarp();
}

/* ---- To memory ---- */

/* A thread's eight neighbours lie 32 bytes apart from the next thread's, and accesses of 16 bytes each would fill half of
 * every sector. So lane n takes the n-th and the (n + 32)-th group of four of a row instead; the warp's room changes
 * them over. */
DM_DEVICE void ec_change_over(ec_room *room, ec_row *row) {
    float4 *groups = &room->half[0][0][0];
    const int lane = (int)threadIdx.x;
    groups[2 * lane] = make_float4(row->lane[0], row->lane[1], row->lane[2], row->lane[3]);
    groups[2 * lane + 1] = make_float4(row->lane[4], row->lane[5], row->lane[6], row->lane[7]);
    __syncwarp();
    const float4 low = groups[lane], high = groups[lane + 32];
    __syncwarp();
    *row = ec_row{{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

/* The tile's own elements. */
template <int ROWS>
DM_DEVICE void ec_store(const ec_spot &s, const ec_pass &pass, ec_room *room, const ec_row (&v)[ROWS]) {
    const ec_view &w = s.view;
    const int column = (int)threadIdx.x * 4, x = w.x - column;
    const bool low = column >= pass.halo_x && x < w.pitch,
               high = column + EC_COLUMNS / 2 < EC_COLUMNS - pass.halo_x && x + EC_COLUMNS / 2 < w.pitch;
    float *row = pass.to + (w.first + w.y) * w.pitch + x;
#pragma unroll
    for (int i = 0; i < ROWS; i++, row += w.pitch) {
        if (i < s.top || i >= s.end || w.y + i >= w.rows)
            continue;
        ec_row r = v[i];
        ec_change_over(room, &r);
        if (low)
            *(float4 *)row = make_float4(r.lane[0], r.lane[1], r.lane[2], r.lane[3]);
        if (high)
            *(float4 *)(row + EC_COLUMNS / 2) = make_float4(r.lane[4], r.lane[5], r.lane[6], r.lane[7]);
    }
}

/* Whether any of them is not 0. */
template <int ROWS> DM_DEVICE bool ec_moved(const ec_spot &s, const ec_pass &pass, const ec_row (&v)[ROWS]) {
    const int column = (int)threadIdx.x * EC_LANES;
    bool moved = false;
    if (column < pass.halo_x || column >= EC_COLUMNS - pass.halo_x)
        return false;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int k = 0; k < EC_LANES; k++)
            moved = moved || (v[i].lane[k] != 0 && i >= s.top && i < s.end && s.view.y + i < s.view.rows &&
                              s.view.x + k < s.view.width);
    return moved;
}

#endif
