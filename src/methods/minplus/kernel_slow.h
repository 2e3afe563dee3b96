/* A slow pass: the min-plus product along an axis other than x, vectors running across neighbouring elements.
 *
 * A tile of neighbouring lines is read once, narrowed to saturating u16 and laid out line by line (vector-wise), so that
 * the search stays in the first-level cache; results go back to the rows they came from. A step is that of the near search,
 * but aligned: about 4 instructions per step and N16 elements. The search ends when w k^2 plus the line's least value reaches
 * the largest of the results. Lines with a result of 65,535 or more,
 * or that need more than SLOW_STEPS steps, are transposed and solved by the far search in 32 bits.
 */

enum { SLOW_STEPS = 128 };

/* Properties of N16 lines: the least value of each, and the first and the last row in which any of them has a value.
 * Planes outside these rows, of which there may be many, need no steps. */
typedef struct slow_lines {
    V16 least;
    int64_t first, last;
} slow_lines;

static inline slow_lines slow_look(const uint16_t *lines, int64_t n) {
    slow_lines l = {v16_load(lines), 0, n - 1};
    for (int64_t i = 1; i < n; i++)
        l.least = v16_min(l.least, v16_load(lines + i * N16));
    const V16 none = v16_set(MP_NO_COLUMN);
    while (l.first < l.last && !v16_any_gt(none, v16_load(lines + l.first * N16)))
        l.first++;
    while (l.last > l.first && !v16_any_gt(none, v16_load(lines + l.last * N16)))
        l.last--;
    return l;
}

/* The steps of element i: from `first` on, up to `pairs` to both sides and then up to `reach` to one side, `side`. Rows beyond `reach`
 * up to `far` are not tried. */
typedef struct slow_steps {
    int64_t first, pairs, reach, far, side;
} slow_steps;

static inline slow_steps slow_steps_of(const slow_lines *l, int64_t i) {
    const int64_t before = i - l->first, after = l->last - i; /* one of these is negative outside of the rows */
    const int64_t both = before < after ? before : after, far = before < after ? after : before;
    const int64_t first = both < 0 ? -both : 1, end = first - 1 + SLOW_STEPS;
    const int64_t reach = end < MP_SLOW ? end : MP_SLOW - 1;
    slow_steps s = {first < MP_SLOW ? first : MP_SLOW, both, far < reach ? far : reach, far, before < after ? 1 : -1};
    s.pairs = both < s.reach ? both : s.reach;
    return s;
}

/* Solves N16 lines into columns [c, c + N16) of the tile's results; false when they need the far search. */
static inline ALWAYS bool slow_near_as(const mp_job *job, const mp_pass *pass, const uint16_t *lines, int c,
                                       mp_worker *w, bool labels) {
    const int64_t n = pass->n;
    const slow_lines known = slow_look(lines, n);
    const V16 cap = v16_set(job->cap16), least = known.least, most = v16_set(0xFFFE);
    for (int64_t i = 0; i < n; i++) {
        const uint16_t *f = lines + i * N16;
        V16 best = v16_min(v16_load(f), labels ? v16_min(cap, line_cap(pass, w, i)) : cap);
        const slow_steps s = slow_steps_of(&known, i);
        int64_t k = s.first;
        for (; k <= s.pairs && v16_any_gt(best, v16_adds(least, v16_set(pass->cost[k]))); k++)
            best =
                v16_min(best, v16_adds(v16_min(v16_load(f - k * N16), v16_load(f + k * N16)), v16_set(pass->cost[k])));
        if (k > s.pairs)
            for (; k <= s.reach && v16_any_gt(best, v16_adds(least, v16_set(pass->cost[k]))); k++)
                best = v16_min(best, v16_adds(v16_load(f + k * s.side * N16), v16_set(pass->cost[k])));
        const V16 sure = k > s.far ? most : v16_min(most, v16_adds(least, v16_set(pass->cost[k])));
        if (v16_any_gt(best, sure))
            return false;
        int32_t *out = w->tile_d2 + i * pass->columns + c;
        v32_store(out, v16_low(best));
        v32_store(out + N32, v16_high(best));
    }
    return true;
}

static bool slow_near(const mp_job *job, const mp_pass *pass, const uint16_t *lines, int c, mp_worker *w) {
    return job->labels ? slow_near_as(job, pass, lines, c, w, true) : slow_near_as(job, pass, lines, c, w, false);
}

/* The sites of elements i + k of the lines, k being the winning one of each lane (low and high half), all within
 * [-reach, reach]; `own` is the linear index of the first lane's element i. Few steps are cheaper looked up one by one than
 * gathered. */
static inline void slow_sites(const mp_job *job, const mp_pass *pass, const int32_t *lines, int64_t i, V32 low_k,
                              V32 high_k, int64_t reach, uint32_t own, int32_t *found) {
    enum { FEW = 4 };
    const int64_t n = pass->n;
    const int32_t *f = lines + i * N16;
    V32 low, high;
    if (reach > FEW) {
        const V32 lane = v32_iota(), pitch = v32_set(N16);
        low = v32_gather(f, v32_add(v32_mul(low_k, pitch), lane));
        high = v32_gather(f + N32, v32_add(v32_mul(high_k, pitch), lane));
    } else {
        low = v32_load(f), high = v32_load(f + N32);
        for (int64_t k = i - reach < 0 ? -i : -reach; k <= reach && i + k < n; k++) {
            const V32 here = v32_set((int32_t)k);
            low = v32_blend(v32_eq(low_k, here), v32_load(f + k * N16), low);
            high = v32_blend(v32_eq(high_k, here), v32_load(f + k * N16 + N32), high);
        }
    }
    if (job->offsets) {
        const V32 here = v32_add(v32_set((int32_t)own), v32_iota());
        low = v32_add(here, offset_site(job, pass, low, low_k));
        high = v32_add(v32_add(here, v32_set(N32)), offset_site(job, pass, high, high_k));
    }
    v32_store(found, low);
    v32_store(found + N32, high);
}

/* With sites, the lowest of equal elements of a line wins. As in a row there are two formats: keys and steps.
 *
 * A key is d2 << 6 | (k + 32), with k the offset of the winner: the smallest key is the nearest element, the lowest of
 * equals. w->tile_key holds d2 << 6 of each element, with as many "none" values on either side as there are steps; the cost of a step
 * depends only on k. d2 <= 1022 and |k| <= 31 fit. */
enum { SLOW_KEY_NONE = MP_SLOW_KEY_MOST << MP_SLOW_KEY, SLOW_UNSETTLED = INT16_MAX };

static inline V16 slow_key(V16 d2) {
    return v16_mul(v16_min(d2, v16_set(MP_SLOW_KEY_MOST)), v16_set(1 << MP_SLOW_KEY));
}

static void slow_keys(const mp_pass *pass, const uint16_t *lines, uint16_t *keys) {
    for (int64_t i = 0; i < pass->n; i++)
        v16_store(keys + i * N16, slow_key(v16_load(lines + i * N16)));
    for (int64_t i = 1; i <= MP_SLOW_KEY_STEPS; i++) {
        v16_store(keys - i * N16, v16_set(SLOW_KEY_NONE));
        v16_store(keys + (pass->n - 1 + i) * N16, v16_set(SLOW_KEY_NONE));
    }
}

/* Two elements of N16 lines, at f, by keys; `least` is the lines' least key. Returns the steps taken, or SLOW_UNSETTLED when
 * keys do not do. */
static inline int slow_pair_keys(const mp_pass *pass, const uint16_t *f, V16 least, V16 cap, V16 best[2]) {
    const uint16_t *cost = pass->key_cost;
    const int all =
        pass->n - 1 < MP_SLOW_KEY_STEPS ? (int)pass->n - 1 : MP_SLOW_KEY_STEPS + 1; /* steps: none is left */
    for (int j = 0; j < 2; j++)
        best[j] = v16_min(v16_adds(v16_load(f + j * N16), v16_set(MP_SLOW_KEY_ZERO)), cap);
    int k = 1;
    /* An element equal to the best still wins if it is lower: continue until all would be worse. */
    for (; k <= all && v16_any_gt(v16_max(best[0], best[1]), v16_adds(least, v16_set(cost[k]))); k++) {
        if (k > MP_SLOW_KEY_STEPS)
            return SLOW_UNSETTLED;
        const V16 down = v16_set((uint16_t)(cost[k] + MP_SLOW_KEY_ZERO - k));
        const V16 up = v16_set((uint16_t)(cost[k] + MP_SLOW_KEY_ZERO + k));
        for (int j = 0; j < 2; j++)
            best[j] = v16_min(best[j], v16_min(v16_adds(v16_load(f + (j - k) * N16), down),
                                               v16_adds(v16_load(f + (j + k) * N16), up)));
    }
    return v16_any_gt(v16_max(best[0], best[1]), v16_set(SLOW_KEY_NONE - 1)) ? SLOW_UNSETTLED : k - 1;
}

/* The same by steps, with the winning k beside the value. Elements below i, lower than all seen so far, win ties; those
 * above i lose them. */
static inline bool slow_element_steps(const mp_pass *pass, const uint16_t *lines, const slow_lines *known, V16 cap,
                                      int64_t i, V16 *found, V16 *found_k, int64_t *steps) {
    const uint16_t *f = lines + i * N16;
    const V16 least = known->least;
    V16 best = v16_min(v16_load(f), cap), arg = v16_set(0);
    const slow_steps s = slow_steps_of(known, i);
    const bool lower = s.side < 0;
    int64_t k = s.first;
    for (; k <= s.pairs && v16_any_gt(best, v16_adds(least, v16_set((uint16_t)(pass->cost[k] - 1)))); k++) {
        const V16 cost = v16_set(pass->cost[k]);
        const V16 before = v16_adds(v16_load(f - k * N16), cost), after = v16_adds(v16_load(f + k * N16), cost);
        arg = v16_blend(v16_le(before, best), v16_set((uint16_t)-k), arg);
        best = v16_min(best, before);
        arg = v16_blend(v16_le(best, after), arg, v16_set((uint16_t)k));
        best = v16_min(best, after);
    }
    if (k > s.pairs)
        for (; k <= s.reach && v16_any_gt(best, v16_adds(least, v16_set((uint16_t)(pass->cost[k] - 1)))); k++) {
            const V16 v = v16_adds(v16_load(lower ? f - k * N16 : f + k * N16), v16_set(pass->cost[k]));
            const M16 keep = lower ? v16_le(v16_adds(best, v16_set(1)), v) : v16_le(best, v);
            arg = v16_blend(keep, arg, v16_set((uint16_t)(lower ? -k : k)));
            best = v16_min(best, v);
        }
    *found = best, *found_k = arg;
    *steps = k - 1;
    const V16 most = v16_set(0xFFFE);
    const V16 sure = k > s.far ? most : v16_min(most, v16_adds(least, v16_set((uint16_t)(pass->cost[k] - 1))));
    return !v16_any_gt(best, sure);
}

/* Like slow_near, with the sites. If keys failed for the previous elements, steps are used at once. */
static bool slow_near_sites(const mp_job *job, const mp_pass *pass, const uint16_t *lines, const int32_t *sites,
                            uint32_t own, int c, mp_worker *w) {
    const int64_t n = pass->n;
    const slow_lines known = slow_look(lines, n);
    const V16 cap = v16_set(job->cap16);
    const V16 least_key = slow_key(known.least), key_cap = v16_add(slow_key(cap), v16_set(MP_SLOW_KEY_ZERO));
    const V32 sign = v32_set(0x8000), zero = v32_set(MP_SLOW_KEY_ZERO), low_bits = v32_set((1 << MP_SLOW_KEY) - 1);
    uint16_t *keys = w->tile_key + MP_SLOW_KEY_STEPS * N16;
    bool deep = false;
    slow_keys(pass, lines, keys);
    for (int64_t first = 0; first < n; first += 2) {
        const int64_t i = first + 1 < n ? first : n - 2; /* the last of an odd number with the one before it */
        V16 best[2], arg;
        int64_t steps = deep ? SLOW_UNSETTLED : slow_pair_keys(pass, keys + i * N16, least_key, key_cap, best);
        const bool stepping = steps == SLOW_UNSETTLED;
        deep = false;
        for (int64_t j = 0; j < 2; j++) {
            V32 low, high, low_k, high_k;
            if (stepping) {
                if (!slow_element_steps(pass, lines, &known, cap, i + j, &best[j], &arg, &steps))
                    return false;
                deep |= steps > MP_SLOW_KEY_STEPS || v16_any_gt(best[j], v16_set(MP_SLOW_KEY_MOST - 1));
                low = v16_low(best[j]), low_k = v32_sub(v32_xor(v16_low(arg), sign), sign);
                high = v16_high(best[j]), high_k = v32_sub(v32_xor(v16_high(arg), sign), sign);
            } else {
                low = v16_low(best[j]), low_k = v32_sub(v32_and(low, low_bits), zero);
                high = v16_high(best[j]), high_k = v32_sub(v32_and(high, low_bits), zero);
                low = v32_shr(low, MP_SLOW_KEY), high = v32_shr(high, MP_SLOW_KEY);
            }
            int32_t *out = w->tile_d2 + (i + j) * pass->columns + c;
            v32_store(out, low);
            v32_store(out + N32, high);
            slow_sites(job, pass, sites, i + j, low_k, high_k, steps,
                       own + (uint32_t)((i + j) * job->plan->linear[pass->axis]),
                       w->tile_found + (i + j) * pass->columns + c);
        }
    }
    return true;
}

/* One line, `count` <= N16 of them from column c on, in full width. */
static void slow_far(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first,
                     const int32_t *sites, uint32_t own, int c, int count, mp_worker *w) {
    const size_t n = (size_t)pass->n, pitch = (n + N32 - 1) / N32 * N32 + N32;
    if (job->needs_64_bits) {
        for (int j = 0; j < count; j++) {
            const int64_t lane[DM_NDIM] = {at[0], at[1], at[2], at[3] + first + c + j};
            mp_wide_line(job, pass, lane, sites + j, N16, w, w->tile_found + c + j, (size_t)pass->columns);
        }
        return;
    }
    const uint8_t *alive = slow_alive(pass, at);
    for (size_t i = 0; i < n; i++) {
        int32_t copy[2 * N16];
        const int32_t *row = copy;
        if (alive && !alive[i])
            for (int j = 0; j < N16; j++)
                copy[j] = MP_NONE;
        else if (job->offsets)
            for (int j = 0; j < N16; j += N32)
                v32_store(copy + j, offset_square(job, v32_load(sites + i * N16 + (size_t)j)));
        else
            row = slow_row(&job->d2_store, pass, at, first + c, (int64_t)i, count, copy);
        for (int j = 0; j < count; j++)
            w->line[(size_t)j * pitch + i] = job->function && (uint32_t)row[j] > (uint32_t)job->most ? MP_NONE : row[j];
    }
    for (int j = 0; j < count; j++) {
        const int32_t *line = w->line + (size_t)j * pitch;
        int32_t *d2 = w->line_d2 + (size_t)j * pitch;
        uint32_t *arg = w->line_arg + (size_t)j * pitch;
        size_t m = 0;
        for (size_t i = 0; i < n; i++) {
            w->far.p[0][m] = (int32_t)i;
            w->far.f[0][m] = line[i];
            m += line[i] != MP_NONE;
        }
        if (m == 0) {
            for (size_t i = 0; i < n; i++)
                d2[i] = MP_NONE, arg[i] = (uint32_t)i;
            continue;
        }
        const int list = far_reduce(&w->far, &m, pass->w2);
        const far_query q = {
            .p = w->far.p[list],
            .f = w->far.f[list],
            .d2 = d2,
            .found = arg,
            .w2 = pass->w2,
            .end = (int32_t)n,
            .mode = job->sites ? FAR_ARG : FAR_VALUE,
        };
        far_divide(&q, 0, (int32_t)n, 0, m - 1);
    }
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < count; j++) {
            const size_t to = i * (size_t)pass->columns + (size_t)(c + j), from = (size_t)j * pitch + i;
            w->tile_d2[to] = w->line_d2[from];
            if (job->labels)
                w->tile_d2[to] = capped(w->tile_d2[to], pass, w->tile_turn[i * N16 + (size_t)j]);
            if (!job->sites)
                continue;
            const uint32_t best = w->line_arg[from], site = (uint32_t)sites[(size_t)best * N16 + (size_t)j];
            const int64_t here = own + (int64_t)j + best * job->plan->linear[pass->axis];
            w->tile_found[to] =
                (int32_t)(job->offsets ? (uint32_t)(here + (int16_t)(site >> 16) * job->width + (int16_t)site) : site);
        }
}
