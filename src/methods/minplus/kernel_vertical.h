/* The vertical phase: each pixel's distance to the nearest site of its own column, in u16 (0xFFFF: none), from one bit
 * per pixel.
 *
 * A column is divided into blocks of MP_BLOCK rows: `up` and `down` carry the distance across the edges of a block, so that
 * blocks can be solved independently and the scratch is 1/8 + 4/64 bytes per pixel. One step per row and direction is
 *     v = site ? 0 : v + 1 (saturating),
 * two instructions for N16 columns.
 */

/* Row y of a plane as bits: its sites, or its turns. */
static void pack_row(const mp_job *job, const mp_plane *plane, int64_t y, mp_worker *w) {
    const int64_t at[DM_NDIM] = {plane->t, plane->z, plane->y + y, 0};
    if (job->labels)
        pack_kinds(job, plane, y, w);
    else
        pack_sites(job, at, plane->bits + (size_t)y * job->words, w);
}

static inline int block_rows(const mp_job *job, int64_t block) {
    const int64_t left = job->height - block * MP_BLOCK;
    return left < MP_BLOCK ? (int)left : MP_BLOCK;
}

/* Packs the rows of a block and stores, for the next and the previous block, the distance to its last and first site. */
static void pack_block(const mp_job *job, const mp_plane *plane, int64_t block, mp_worker *w) {
    const int rows = block_rows(job, block);
    uint64_t *bits = plane->bits + (size_t)(block * MP_BLOCK) * job->words;
    for (int r = 0; r < rows; r++)
        pack_row(job, plane, block * MP_BLOCK + r, w);

    const V16 zero = v16_set(0), one = v16_set(1), none = v16_set(0xFFFF);
    uint16_t *after = block + 1 < job->blocks ? plane->up + (size_t)(block + 1) * job->padded_width : NULL;
    uint16_t *before = block > 0 ? plane->down + (size_t)(block - 1) * job->padded_width : NULL;
    for (size_t x = 0; x < job->padded_width; x += N16) {
        V16 last = none, first = none;
        if (after)
            for (int r = 0; r < rows; r++)
                last = v16_bits(bits + (size_t)r * job->words, x, zero, v16_adds(last, one));
        if (before)
            for (int r = rows - 1; r >= 0; r--)
                first = v16_bits(bits + (size_t)r * job->words, x, zero, v16_adds(first, one));
        if (after)
            v16_store(after + x, last);
        if (before)
            v16_store(before + x, first);
    }
}

/* first_site and last_site of a tall plane's columns [first, last). */
static void column_ends(const mp_job *job, const mp_plane *plane, size_t first, size_t last) {
    for (size_t word = first / 64; word < last / 64; word++)
        for (int end = 0; end < 2; end++) {
            uint32_t *row = (end ? plane->last_site : plane->first_site) + word * 64;
            uint64_t missing = UINT64_MAX;
            for (int64_t i = 0; i < job->height && missing; i++) {
                const int64_t y = end ? job->height - 1 - i : i;
                uint64_t found = plane->bits[(size_t)y * job->words + word] & missing;
                missing &= ~found;
                for (; found; found &= found - 1)
                    row[__builtin_ctzll(found)] = (uint32_t)(job->first_row + y);
            }
            for (; missing; missing &= missing - 1) {
                const int bit = __builtin_ctzll(missing);
                row[bit] = mp_window_site(job, (int64_t)word * 64 + bit, end);
            }
        }
}

/* Replaces these distances by distances to the nearest site in any block above (below), for columns [first, last), starting with
 * the carries that enter the plane. */
static void carry(const mp_job *job, const mp_plane *plane, size_t first, size_t last) {
    if (job->tall)
        column_ends(job, plane, first, last);
    for (size_t x = first; x < last; x += N16) {
        V16 up = v16_load(plane->up + x),
            down = v16_load(plane->down + (size_t)(job->blocks - 1) * job->padded_width + x);
        for (int64_t b = 1; b < job->blocks; b++) {
            uint16_t *p = plane->up + (size_t)b * job->padded_width + x;
            up = v16_min(v16_load(p), v16_adds(up, v16_set(MP_BLOCK)));
            v16_store(p, up);
        }
        for (int64_t b = job->blocks - 2; b >= 0; b--) {
            uint16_t *p = plane->down + (size_t)b * job->padded_width + x;
            down = v16_min(v16_load(p), v16_adds(down, v16_set((uint16_t)block_rows(job, b + 1))));
            v16_store(p, down);
        }
    }
}

/* One row's step: out = site ? 0 : in + 1, over a whole row. */
static inline void step_row(const mp_job *job, const uint64_t *bits, const uint16_t *in, uint16_t *out) {
    const V16 zero = v16_set(0), one = v16_set(1);
    for (size_t x = 0; x < job->padded_width; x += N16)
        v16_store(out + x, v16_bits(bits, x, zero, v16_adds(v16_load(in + x), one)));
}

/* For the sub-blocks of a block: boundary[s] = distances at row s * tile_rows to the sites at or below it. */
static void step_boundaries(const mp_job *job, const uint64_t *bits, int rows, const uint16_t *down, mp_worker *w) {
    const V16 zero = v16_set(0), one = v16_set(1);
    for (size_t x = 0; x < job->padded_width; x += N16) {
        V16 v = v16_load(down + x);
        for (int r = rows - 1; r >= job->tile_rows; r--) {
            v = v16_bits(bits + (size_t)r * job->words, x, zero, v16_adds(v, one));
            if (r % job->tile_rows == 0)
                v16_store(w->boundary + (size_t)(r / job->tile_rows) * job->padded_width + x, v);
        }
    }
}
