/* A block of rows of one plane, from bits to finished rows. */

/* Advances w->above by one row and fills w->padded with the row's values wy2 g^2 for the near search. */
static void row_values(const mp_job *job, mp_worker *w, const uint64_t *bits, const uint16_t *below) {
    const V16 zero = v16_set(0), one = v16_set(1), none = v16_set(0xFFFF), weight = v16_set((uint16_t)job->wy2);
    const V16 most = v16_set(job->near_y);
    uint16_t *f = w->padded + MP_PAD;
    for (size_t x = 0; x < job->padded_width; x += N16) {
        const V16 up = v16_bits(bits, x, zero, v16_adds(v16_load(w->above + x), one));
        v16_store(w->above + x, up);
        const V16 g = v16_min(up, v16_load(below + x));
        v16_store(f + x, v16_blend(v16_le(g, most), v16_mul(v16_mul(g, g), weight), none));
    }
}

/* The same with sites: the row's keys (kernel_near.h). */
static void row_keys(const mp_job *job, mp_worker *w, const uint64_t *bits, const uint16_t *below) {
    const V16 zero = v16_set(0), one = v16_set(1), none = v16_set(0xFFFF), most = v16_set(job->key_y),
              middle = v16_set(64);
    const V16 weight = v16_set((uint16_t)(job->wy2 << MP_KEY));
    uint16_t *left = w->keys_left + MP_PAD, *right = w->keys_right + MP_PAD;
    for (size_t x = 0; x < job->padded_width; x += N16) {
        const V16 up = v16_bits(bits, x, zero, v16_adds(v16_load(w->above + x), one)), down = v16_load(below + x);
        v16_store(w->above + x, up);
        const V16 g = v16_min(up, down), twice = v16_add(g, g);
        const V16 dy = v16_blend(v16_le(up, down), v16_sub(middle, twice), v16_add(middle, twice)); /* 2 (dy + 32) */
        const V16 key = v16_add(v16_mul(v16_mul(g, g), weight), dy);
        const M16 fits = v16_le(g, most);
        v16_store(left + x, v16_blend(fits, key, none));
        v16_store(right + x, v16_blend(fits, v16_add(key, one), none));
    }
}

/* The largest distance to a site in the same column, over columns [x0, x1). */
static uint16_t largest_column(const mp_job *job, const mp_worker *w, const uint16_t *below, size_t x0, size_t x1) {
    const V16 apart = v16_set(job->labels);
    V16 most = v16_set(0);
    for (size_t x = x0; x < x1; x += N16) {
        const V16 rows = v16_min(v16_load(w->above + x), v16_load(below + x));
        most = v16_max(most, v16_min(edge(job, x), v16_adds(rows, apart)));
    }
    uint16_t lanes[N16], g = 0;
    v16_store(lanes, most);
    for (int i = 0; i < N16; i++)
        g = lanes[i] > g ? lanes[i] : g;
    return g;
}

/* The last site of the row before pixel x, and the first at or after it; -1 and `padded_width` if there is none. x is a multiple
 * of 64. */
static int64_t site_before(const uint64_t *bits, size_t x) {
    for (size_t i = x / 64; i-- > 0;)
        if (bits[i])
            return (int64_t)i * 64 + 63 - __builtin_clzll(bits[i]);
    return -1;
}

static size_t site_from(const uint64_t *bits, size_t x, size_t padded_width) {
    for (size_t i = x / 64; i < padded_width / 64; i++)
        if (bits[i])
            return i * 64 + (size_t)__builtin_ctzll(bits[i]);
    return padded_width;
}

static void far_any(const mp_job *job, mp_worker *w, const mp_plane *plane, const uint16_t *below, int64_t y,
                    uint32_t start, size_t first, size_t last, size_t from, size_t to, uint16_t reach_y) {
    if (reach_y >= job->rows) /* no site is farther than the image's plane is tall */
        reach_y = job->rows <= MP_NO_COLUMN ? (uint16_t)(job->rows - 1) : MP_NO_COLUMN;
    if (far_fits(job, first, last, from, to, reach_y))
        far_row(job, w, below, y, start, first, last, from, to, reach_y);
    else
        mp_wide_row(job, w, plane, below, y, start, (int64_t)first, (int64_t)last, (int64_t)from, (int64_t)to);
}

/* Far searches for the groups that the near search left open. Only near columns can win: none farther than the
 * sites of the groups' own columns, and none beyond a site of the row itself, which is nearer. */
static void far_groups(const mp_job *job, mp_worker *w, const mp_plane *plane, const uint64_t *bits,
                       const uint16_t *below, int64_t y, uint32_t start) {
    const size_t groups = job->padded_width / NEAR_GROUP;
    for (size_t first = 0, last; first < groups; first = last) {
        last = first + 1;
        if (!w->open[first])
            continue;
        while (last < groups && w->open[last])
            last++;
        const size_t x0 = first * NEAR_GROUP, x1 = last * NEAR_GROUP;
        const int64_t left = site_before(bits, x0);
        const size_t right = site_from(bits, x1, job->padded_width);
        size_t from = left < 0 ? 0 : (size_t)left, to = right < job->padded_width ? right + 1 : right;
        const uint16_t g = largest_column(job, w, below, x0, x1);
        if (g < MP_NO_COLUMN) {
            const size_t reach = 1 + (size_t)(g * sqrt((double)job->wy2 / job->wx2));
            from = x0 > from + reach ? x0 - reach : from;
            to = x1 + reach < to ? x1 + reach : to;
        }
        to = (to + N16 - 1) / N16 * N16;
        far_any(job, w, plane, below, y, start, x0, x1, from / N16 * N16, to, g);
    }
}

/* Row y of a plane into w->d2 and w->found. `below` are the row's counters, with labels those of the next row; `*skip`
 * rows go to the far search at once, because a near search has just failed. */
static void solve_row(const mp_job *job, const mp_plane *plane, int64_t y, uint32_t start, const uint16_t *below,
                      int *skip, mp_worker *w) {
    enum { SKIP_ROWS = 15 };
    const size_t groups = job->padded_width / NEAR_GROUP, row = (size_t)y * job->words;
    const int64_t image_row = job->first_row + y;
    const uint64_t *bits = plane->bits + row, *barriers = bits, *ground = w->inside;
    if (job->labels) {
        barriers = plane->turns + row;
        if (plane->ground)
            memcpy(w->inside, plane->ground + row, job->words * sizeof *w->inside);
        row_kinds(job, w, bits, barriers, ground, below);
        if (job->height == 1) { /* nothing but the row's own turns */
            fill_none(job, w, 0, job->padded_width);
            cap_row(job, w, ground);
            return;
        }
    } else if (job->sites) {
        row_keys(job, w, bits, below);
    } else {
        row_values(job, w, bits, below);
    }
    size_t left = groups;
    if (*skip) {
        --*skip;
    } else {
        left =
            job->sites ? near_row_sites(job, w, below, start + (uint32_t)(image_row * job->width)) : near_row(job, w);
        *skip = 2 * left > groups ? SKIP_ROWS : 0;
    }
    if (!left)
        return;
    if (!job->labels)
        find_inside(job, w, bits);
    if (2 * left > groups)
        far_any(job, w, plane, below, image_row, start, 0, job->padded_width, 0, job->padded_width, MP_NO_COLUMN);
    else
        far_groups(job, w, plane, barriers, below, image_row, start);
    if (job->labels)
        cap_row(job, w, ground);
}

static void solve_block(const mp_job *job, const mp_plane *plane, int64_t block, mp_worker *w) {
    const int rows = block_rows(job, block);
    const uint64_t *bits = plane->bits + (size_t)(block * MP_BLOCK) * job->words;
    const uint16_t *down = plane->down + (size_t)block * job->padded_width;
    const int64_t *linear = job->plan->linear;
    const uint32_t start = (uint32_t)(plane->t * linear[0] + plane->z * linear[1] + plane->y * linear[2]);
    if (job->tile_rows < rows)
        step_boundaries(job, bits, rows, down, w);
    memcpy(w->above, plane->up + (size_t)block * job->padded_width, job->padded_width * sizeof *w->above);

    memset(w->deep, 0, job->padded_width / NEAR_GROUP);
    int skip = 0;
    for (int first = 0; first < rows; first += job->tile_rows) {
        const int last = first + job->tile_rows < rows ? first + job->tile_rows : rows;
        const uint16_t *after = last == rows ? down : w->boundary + (size_t)(last / job->tile_rows) * job->padded_width;
        const uint16_t *next = after;
        for (int r = last - 1; r >= first; r--) {
            uint16_t *out = w->below + (size_t)(r - first) * job->padded_width;
            step_row(job, bits + (size_t)r * job->words, next, out);
            next = out;
        }
        for (int r = first; r < last; r++) {
            const int row = r - first + job->labels;
            const uint16_t *below = first + row < last ? w->below + (size_t)row * job->padded_width : after;
            const int64_t y = block * MP_BLOCK + r, at[DM_NDIM] = {plane->t, plane->z, plane->y + y, 0};
            if (job->ball.on && job->last_is_plane) {
                ball_row(job, w, at, bits + (size_t)r * job->words, below);
                continue;
            }
            if (job->real) {
                real_plane_row(job, w, at, bits + (size_t)r * job->words, below, &skip);
                continue;
            }
            w->wide_row = false;
            solve_row(job, plane, y, start, below, &skip, w);
            const uint32_t *site = job->sites ? w->found : NULL;
            if (job->last_is_plane)
                emit_final(job, w, at, w->d2, site, (size_t)job->width);
            else if (job->ball.on)
                ball_rest(job, w, at, w->d2, (size_t)job->width);
            else
                emit_between(job, at, w->d2, job->plane_most, job->factor, site, (size_t)job->width);
        }
    }
    stream_fence();
}
