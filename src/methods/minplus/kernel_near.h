/* The near search: out[x] = min over |k| <= K of f[x + k] + w k^2, in saturating u16, N16 pixels at a time.
 *
 * A group of pixels is settled when w k^2 reaches the largest of its values: no candidate farther away can improve it. Values of
 * 65,535 and more are saturated, so results below are exact; groups that near_steps do not settle are left
 * open for the far search. About 4 instructions per step and N16 pixels, most of them loads.
 *
 * With indices there are two formats. Among equal d2 the lowest row must win, then the leftmost column.
 *
 * Keys: v = d2 << 7 | (dy + 32) << 1 | side. The smallest key is the nearest site, of the lowest row, then (same row, so
 * same |dx|) the one to the left. A key is still a value plus a parabola, only 128 times as large, so the search is the
 * same, on two arrays (side 0 and 1). d2 <= 510 fits: 22 steps, enough for sites of 1% and more.
 *
 * Steps: a lane holds 2 d2 + (1 if the site is below), with the winning k beside it. A site above wins over one
 * below. Among two above the one with the smaller |k| (it is higher up) wins, which is seen first and kept. Among two below the one
 * with the larger |k| wins, which is seen later and replaces the other. At +k and -k (the same row) the left one wins. One comparison
 * does all of it: replace if v with its low bit cleared is less than the best. d2 <= 32766 fits. It is half as fast, so only
 * groups that the keys cannot settle use it.
 */

enum { NEAR_GROUP = 64 }; /* pixels; a multiple of 2 * N16 */

/* Constant arguments must become constants: left to itself a compiler shares one body between the cases, 8% slower. */
#define ALWAYS __attribute__((always_inline))

/* One candidate column on either side, k away. */
static inline V16 near_step(V16 best, const uint16_t *f, int k, V16 cost) {
    return v16_min(best, v16_adds(v16_min(v16_load(f - k), v16_load(f + k)), cost));
}

static size_t open_groups(const mp_job *job, const mp_worker *w) {
    size_t count = 0;
    for (size_t i = 0; i < job->padded_width / NEAR_GROUP; i++)
        count += w->open[i];
    return count;
}

/* 0 in the lanes of pixels x.. beyond the image's edge, which must not delay the search; else 0xFFFF. */
static inline V16 edge(const mp_job *job, size_t x) {
    const size_t group = job->padded_width - NEAR_GROUP;
    return x < group ? v16_set(0xFFFF) : v16_load(job->edge + (x - group));
}

/* Searches a pair of vectors at f + x until it is settled. After NEAR_TRY steps, values that near_steps cannot
 * settle are left to the far search. False if not settled. */
enum { NEAR_TRY = 24 };

static inline ALWAYS bool near_pair(const mp_job *job, const uint16_t *f, const uint16_t *cap, size_t x, bool labels,
                                    V16 *out_a, V16 *out_b) {
    const uint16_t *cost = job->near_cost;
    const V16 limit = v16_set(job->near_cap);
    const V16 cap_a = labels ? v16_load(cap + x) : limit, cap_b = labels ? v16_load(cap + x + N16) : limit;
    V16 a = v16_min(v16_load(f + x), v16_min(cap_a, edge(job, x)));
    V16 b = v16_min(v16_load(f + x + N16), v16_min(cap_b, edge(job, x + N16)));
    V16 most = v16_max(a, b);
    f += x;
    int k = 1;
    while (k <= job->near_steps && v16_any_gt(most, v16_set(cost[k]))) {
        for (int i = 0; i < 2; i++, k++) {
            const V16 c = v16_set(cost[k]);
            a = near_step(a, f, k, c);
            b = near_step(b, f + N16, k, c);
        }
        most = v16_max(a, b);
        if (k == NEAR_TRY + 1 && v16_any_gt(most, v16_set(job->near_most)))
            break;
    }
    *out_a = a, *out_b = b;
    return !v16_any_gt(most, v16_set(cost[k] < 0xFFFE ? cost[k] : 0xFFFE));
}

/* Values of a whole padded row into w->d2, with labels at most w->cap. open[i] is set to 1 if group i is left to the far
 * search. Returns the number of such groups. */
static inline ALWAYS size_t near_row_as(const mp_job *job, mp_worker *w, bool labels) {
    const uint16_t *f = w->padded + MP_PAD, *cap = w->cap;
    memset(w->open, 0, job->padded_width / NEAR_GROUP);
    for (size_t x = 0; x < job->padded_width; x += 2 * N16) {
        V16 a, b;
        w->open[x / NEAR_GROUP] |= !near_pair(job, f, cap, x, labels, &a, &b);
        v32_store(w->d2 + x, v16_low(a));
        v32_store(w->d2 + x + N32, v16_high(a));
        v32_store(w->d2 + x + 2 * N32, v16_low(b));
        v32_store(w->d2 + x + 3 * N32, v16_high(b));
    }
    return open_groups(job, w);
}

static size_t near_row(const mp_job *job, mp_worker *w) {
    return job->labels ? near_row_as(job, w, true) : near_row_as(job, w, false);
}

/* The same over keys, `right` being those with the side bit. */
static inline bool near_pair_keys(const mp_job *job, const uint16_t *left, const uint16_t *right, size_t x,
                                  V16 best[2]) {
    const uint16_t *cost = job->key_cost;
    best[0] = v16_min(v16_load(left + x), edge(job, x));
    best[1] = v16_min(v16_load(left + x + N16), edge(job, x + N16));
    left += x, right += x;
    V16 most = v16_max(best[0], best[1]);
    int k = 1;
    while (k <= job->key_steps && v16_any_gt(most, v16_set(cost[k]))) {
        for (int step = 0; step < 2; step++, k++) {
            const V16 c = v16_set(cost[k]);
            for (int i = 0; i < 2; i++)
                best[i] =
                    v16_min(best[i], v16_adds(v16_min(v16_load(left + i * N16 - k), v16_load(right + i * N16 + k)), c));
        }
        most = v16_max(best[0], best[1]);
    }
    return !v16_any_gt(most, v16_set(0xFFFE));
}

/* A site (dx, dy) away from each of N32 pixels: as linear index, or as offset. `start` + x: the pixels' own indices. */
static inline ALWAYS void store_site(mp_worker *w, size_t x, V32 start, V32 width, V32 dx, V32 dy, bool offsets) {
    if (offsets)
        v32_store(w->found + x, v32_add(v32_shl(dy, 16), v32_and(dx, v32_set(0xFFFF))));
    else
        v32_store(w->found + x, v32_add(v32_add(v32_add(start, v32_set((int32_t)x)), dx), v32_mul(dy, width)));
}

/* N32 keys -> squared distance and site. */
static inline ALWAYS void near_decode_keys(const mp_job *job, mp_worker *w, V32 key, size_t x, V32 start, bool unit,
                                           bool offsets) {
    const V32 d2 = v32_shr(key, MP_KEY);
    const V32 dy = v32_sub(v32_and(v32_shr(key, 1), v32_set(63)), v32_set(32));
    V32 dy2 = v32_mul(dy, dy);
    if (!unit)
        dy2 = v32_mul(dy2, v32_set(job->wy2));
    F32 rest = f32_signed(v32_sub(d2, dy2)); /* wx2 dx^2 */
    if (!unit)
        rest = f32_mul(rest, f32_set(1.0f / (float)job->wx2));
    const V32 dx = f32_round(f32_sqrt(rest));
    const M32 right = v32_eq(v32_and(key, v32_set(1)), v32_set(1));
    v32_store(w->d2 + x, d2);
    store_site(w, x, start, v32_set((int32_t)job->width), v32_blend(right, dx, v32_sub(v32_set(0), dx)), dy, offsets);
}

/* The same by steps: `best` has the values described above, `arg` the winning k. */
static inline bool near_pair_sites(const mp_job *job, const uint16_t *f, size_t x, V16 best[2], V16 arg[2]) {
    const uint16_t *cost = job->near_cost;
    const V16 even = v16_set(0xFFFE);
    for (int i = 0; i < 2; i++) {
        const size_t at = x + (size_t)(i * N16);
        best[i] = v16_min(v16_load(f + at), edge(job, at));
        arg[i] = v16_set(0);
    }
    f += x;
    V16 most = v16_max(best[0], best[1]);
    int k = 1;
    for (; k <= job->near_steps && v16_any_gt(most, v16_set(cost[k])); k++) {
        const V16 c = v16_set(cost[k]), plus = v16_set((uint16_t)k), minus = v16_set((uint16_t)-k);
        for (int i = 0; i < 2; i++) {
            const V16 left = v16_load(f + i * N16 - k), right = v16_load(f + i * N16 + k);
            const V16 v = v16_adds(v16_min(left, right), c);
            const V16 side = v16_blend(v16_le(left, right), minus, plus);
            arg[i] = v16_blend(v16_le(best[i], v16_and(v, even)), arg[i], side);
            best[i] = v16_min(best[i], v);
        }
        most = v16_max(best[0], best[1]);
        if (k == NEAR_TRY && v16_any_gt(most, v16_set(job->near_most)))
            break;
    }
    return !v16_any_gt(most, v16_set(cost[k] < 0xFFFE ? cost[k] : 0xFFFE));
}

/* N32 pixels' value and k -> squared distance and site: dy^2 = (d2 - wx2 k^2) / wy2. */
static inline ALWAYS void near_decode(const mp_job *job, mp_worker *w, V32 value, V32 arg, size_t x, V32 start,
                                      bool unit, bool offsets) {
    const V32 d2 = v32_shr(value, 1), k = v32_sub(v32_xor(arg, v32_set(0x8000)), v32_set(0x8000)); /* sign extended */
    V32 dx2 = v32_mul(k, k);
    if (!unit)
        dx2 = v32_mul(dx2, v32_set(job->wx2));
    F32 rest = f32_signed(v32_sub(d2, dx2));
    if (!unit)
        rest = f32_mul(rest, f32_set(1.0f / (float)job->wy2));
    const V32 rows = f32_round(f32_sqrt(rest));
    const M32 below = v32_eq(v32_and(value, v32_set(1)), v32_set(1));
    v32_store(w->d2 + x, d2);
    store_site(w, x, start, v32_set((int32_t)job->width), k, v32_blend(below, rows, v32_sub(v32_set(0), rows)),
               offsets);
}

/* The values for steps, into w->padded: twice wy2 g^2, plus 1 if the site is below. */
static void step_values(const mp_job *job, mp_worker *w, const uint16_t *below) {
    const V16 zero = v16_set(0), one = v16_set(1), none = v16_set(0xFFFF), weight = v16_set((uint16_t)(2 * job->wy2));
    const V16 most = v16_set(job->near_y);
    uint16_t *f = w->padded + MP_PAD;
    for (size_t x = 0; x < job->padded_width; x += N16) {
        const V16 up = v16_load(w->above + x), down = v16_load(below + x), g = v16_min(up, down);
        const V16 value = v16_add(v16_mul(v16_mul(g, g), weight), v16_blend(v16_le(up, down), zero, one));
        v16_store(f + x, v16_blend(v16_le(g, most), value, none));
    }
}

static inline V32 quarter(const V16 pair[2], int i) { return i % 2 ? v16_high(pair[i / 2]) : v16_low(pair[i / 2]); }

/* The same with sites; `start` is the linear index of the row's first pixel. If keys failed in the previous row, steps are
 * used at once. */
static inline ALWAYS size_t near_row_sites_as(const mp_job *job, mp_worker *w, const uint16_t *below, uint32_t start,
                                              bool unit, bool offsets) {
    bool stepping = false; /* w->padded is filled */
    const uint16_t *f = w->padded + MP_PAD, *left = w->keys_left + MP_PAD, *right = w->keys_right + MP_PAD;
    const V32 from = v32_add(v32_set((int32_t)start), v32_iota());
    memset(w->open, 0, job->padded_width / NEAR_GROUP);
    for (size_t x = 0; x < job->padded_width; x += 2 * N16) {
        uint8_t *deep = &w->deep[x / NEAR_GROUP];
        V16 best[2], arg[2];
        if (!*deep && near_pair_keys(job, left, right, x, best)) {
            for (int i = 0; i < 4; i++)
                near_decode_keys(job, w, quarter(best, i), x + (size_t)(i * N32), from, unit, offsets);
            continue;
        }
        if (!stepping)
            step_values(job, w, below);
        stepping = true;
        w->open[x / NEAR_GROUP] |= !near_pair_sites(job, f, x, best, arg);
        *deep = v16_any_gt(v16_max(best[0], best[1]), v16_set(2 * MP_KEY_MOST));
        for (int i = 0; i < 4; i++)
            near_decode(job, w, quarter(best, i), quarter(arg, i), x + (size_t)(i * N32), from, unit, offsets);
    }
    return open_groups(job, w);
}

static size_t near_row_sites(const mp_job *job, mp_worker *w, const uint16_t *below, uint32_t start) {
    const bool unit = job->wx2 == 1 && job->wy2 == 1;
    if (job->offsets)
        return unit ? near_row_sites_as(job, w, below, start, true, true)
                    : near_row_sites_as(job, w, below, start, false, true);
    return unit ? near_row_sites_as(job, w, below, start, true, false)
                : near_row_sites_as(job, w, below, start, false, false);
}
