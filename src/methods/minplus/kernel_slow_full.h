/* A slow pass in 32-bit lanes: for lines that do not fit 16 bits, before the far search.
 *
 * These have long distances, or short ones in a small unit: at 40 : 13 : 13 the squares of a plane exceed 65,535 beyond 20 elements. The
 * search is that of kernel_slow.h, at half its rate. It takes steps k with w k^2 below 2^30, and 2^30 means "none"; lines
 * with a larger value, or that need more steps, are left to the far search.
 */

enum { FULL_NONE = 1 << 30 };

/* Lines of a pass, [n][N16] in w->line. */
typedef struct full_lines {
    const int32_t *value;
    int64_t first, last; /* rows in which any line has a value */
    V32 least[2];        /* of each line; by halves */
    int64_t most_steps;
} full_lines;

/* Row i, with FULL_NONE for "none"; false if a value is too large. */
static inline bool full_row(const mp_job *job, const int32_t *from, int32_t *to, V32 least[2], bool *any) {
    const V32 none = v32_set(FULL_NONE), absent = v32_set(MP_NONE);
    M32 large = v32_lt(none, none), some = large;
    for (int half = 0; half < 2; half++) {
        V32 v = v32_load(from + half * N32);
        if (job->function) /* samples are unsigned */
            v = v32_blend(m32_or(v32_lt(v, v32_set(0)), v32_lt(v32_set(job->most), v)), absent, v);
        const M32 is_none = v32_eq(v, absent), has = m32_not(is_none);
        large = m32_or(large, m32_and(has, v32_lt(v32_set(FULL_NONE - 1), v)));
        some = m32_or(some, has);
        v = v32_blend(is_none, none, v);
        v32_store(to + half * N32, v);
        least[half] = v32_min(least[half], v);
    }
    *any = m32_any(some);
    return !m32_any(large);
}

static bool full_load(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first, int count,
                      const int32_t *sites, mp_worker *w, full_lines *lines) {
    const V32 none = v32_set(FULL_NONE);
    const uint8_t *alive = slow_alive(pass, at);
    *lines = (full_lines){.value = w->line, .first = pass->n, .last = -1, .least = {none, none}};
    for (int64_t i = 0; i < pass->n; i++) {
        int32_t copy[2 * N16], *to = w->line + i * N16;
        const int32_t *row = copy;
        if (alive && !alive[i]) {
            v32_store(to, none);
            v32_store(to + N32, none);
            continue;
        }
        if (job->offsets)
            for (int half = 0; half < N16; half += N32)
                v32_store(copy + half, offset_square(job, v32_load(sites + i * N16 + half)));
        else
            row = slow_row(&job->d2_store, pass, at, first, i, count, copy);
        bool any;
        if (!full_row(job, row, to, lines->least, &any))
            return false;
        lines->first = any && i < lines->first ? i : lines->first;
        lines->last = any ? i : lines->last;
    }
    lines->most_steps = (int64_t)sqrt((FULL_NONE - 1) / (double)pass->w2);
    return lines->last >= 0; /* else there is nothing to search */
}

/* One half of an element: the best value, and with `sites` its offset in steps, negative for lower rows; the lowest of equals. */
static inline ALWAYS bool full_element(const mp_pass *pass, const full_lines *lines, int64_t i, int half, V32 cap,
                                       bool sites, V32 *found, V32 *found_k) {
    const int32_t *f = lines->value + i * N16 + half * N32;
    const slow_lines known = {.first = lines->first, .last = lines->last};
    slow_steps s = slow_steps_of(&known, i);
    s.reach = s.reach < lines->most_steps ? s.reach : lines->most_steps;
    s.pairs = s.pairs < s.reach ? s.pairs : s.reach;
    const int32_t slack = sites; /* an equal one still matters while it is lower */
    const V32 least = lines->least[half];
    V32 best = v32_min(v32_load(f), cap), arg = v32_set(0);
    int64_t k = s.first;
    for (; k <= s.reach; k++) {
        const V32 cost = v32_set((int32_t)(pass->w2 * k * k)), bound = v32_add(least, v32_sub(cost, v32_set(slack)));
        if (!m32_any(v32_lt(bound, best)))
            break;
        if (k <= s.pairs || s.side < 0) {
            const V32 before = v32_add(v32_load(f - k * N16), cost);
            if (sites)
                arg = v32_blend(v32_lt(best, before), arg, v32_set((int32_t)-k));
            best = v32_min(best, before);
        }
        if (k <= s.pairs || s.side > 0) {
            const V32 after = v32_add(v32_load(f + k * N16), cost);
            if (sites)
                arg = v32_blend(v32_lt(after, best), v32_set((int32_t)k), arg);
            best = v32_min(best, after);
        }
    }
    const M32 has = v32_lt(best, v32_set(FULL_NONE));
    *found = v32_blend(has, best, v32_set(MP_NONE));
    *found_k = arg;
    if (k > s.far)
        return true;
    if (k > lines->most_steps) /* what is farther is no less than FULL_NONE */
        return !m32_any(m32_not(has));
    return !m32_any(v32_lt(v32_add(least, v32_set((int32_t)(pass->w2 * k * k) - slack)), best));
}

/* The upper bounds of the lines from their own turns. */
static inline V32 full_cap(const mp_pass *pass, const mp_worker *w, int64_t i, int half) {
    const V16 turns = v16_load(w->tile_turn + i * N16);
    const V32 e = half ? v16_high(turns) : v16_low(turns);
    const M32 large = v32_lt(v32_set((int32_t)sqrt((FULL_NONE - 1) / (double)pass->w2)), e);
    return v32_blend(large, v32_set(FULL_NONE), v32_mul(v32_mul(e, e), v32_set(pass->w2)));
}

/* Solves N16 lines as slow_near and slow_near_sites do. */
static bool slow_full(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first,
                      const int32_t *sites, uint32_t own, int c, int count, mp_worker *w) {
    const V32 limit = v32_set(job->most < FULL_NONE ? job->most + 1 : FULL_NONE);
    full_lines lines;
    if (job->needs_64_bits || !full_load(job, pass, at, first + c, count, sites, w, &lines))
        return false;
    for (int64_t i = 0; i < pass->n; i++) {
        V32 k[2];
        for (int half = 0; half < 2; half++) {
            const V32 cap = job->labels ? v32_min(limit, full_cap(pass, w, i, half)) : limit;
            V32 best;
            const bool settled = sites ? full_element(pass, &lines, i, half, cap, true, &best, &k[half])
                                       : full_element(pass, &lines, i, half, cap, false, &best, &k[half]);
            if (!settled)
                return false;
            v32_store(w->tile_d2 + i * pass->columns + c + half * N32, best);
        }
        if (sites)
            slow_sites(job, pass, sites, i, k[0], k[1], pass->n, own + (uint32_t)(i * job->plan->linear[pass->axis]),
                       w->tile_found + i * pass->columns + c);
    }
    return true;
}
