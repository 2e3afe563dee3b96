/* Masks in FP64: rows of planes, and the pass along z or t.
 *
 * The formula has x innermost: fma(wy, dy^2, w dx^2), the product rounded. For one column it is least at the least |dy|, so that the
 * vertical phase of the integer lanes serves unchanged, and a row is
 *
 *     out[x] = min over k of fma(wy, min(g[x - k]^2, g[x + k]^2), cost[k]),    cost[k] = wx k^2 rounded
 *
 * until cost[k] reaches the largest result of the group. In volumes a word per voxel, in the memory of an output, holds k << 16 | g, from
 * which the pass along the slow axis computes the value again.
 */

enum { REAL_NO_SITE = -1 }; /* such a word */

/* The row's g^2, +inf where a column has no site, into w->real; advances w->above. */
static void real_squares(const mp_job *job, mp_worker *w, const uint64_t *bits, const uint16_t *below) {
    const V16 zero = v16_set(0), one = v16_set(1);
    const F64 none = f64_set((double)INFINITY), most = f64_set(MP_NO_COLUMN - 1);
    double *f = w->real + MP_REAL_PAD;
    for (size_t x = 0; x < job->padded_width; x += N16) {
        const V16 up = v16_bits(bits, x, zero, v16_adds(v16_load(w->above + x), one));
        v16_store(w->above + x, up);
        const V16 rows = v16_min(up, v16_load(below + x));
        for (int half = 0; half < 2; half++) {
            const V32 g = half ? v16_high(rows) : v16_low(rows);
            const F64 low = f64_low(g), high = f64_high(g);
            double *to = f + x + (size_t)(half * N32);
            f64_store(to, f64_blend(f64_lt(most, low), none, f64_mul(low, low)));
            f64_store(to + N64, f64_blend(f64_lt(most, high), none, f64_mul(high, high)));
        }
    }
}

static inline ALWAYS bool real_below(double cost, const F64 best[2]) {
    return m64_any(m64_or(f64_lt(f64_set(cost), best[0]), f64_lt(f64_set(cost), best[1])));
}

/* REAL_LANES pixels at f; with `words` the winners' g^2 and k as well. False if they are not settled. */
static inline ALWAYS bool real_near(const mp_job *job, const double *f, F64 wy, bool words, F64 best[2], F64 square[2],
                                    F64 steps[2]) {
    const double *cost = job->real_cost;
    const int64_t all = job->width - 1, reach = all < MP_REAL_STEPS ? all : MP_REAL_STEPS;
    for (int i = 0; i < 2; i++) {
        square[i] = f64_load(f + i * N64);
        best[i] = f64_min(f64_mul(wy, square[i]), f64_set(job->real_most));
        steps[i] = f64_set(0);
    }
    int64_t k = 1;
    for (; k <= reach; k++) {
        if (!real_below(cost[k], best))
            return true;
        if (k == REAL_TRY && reach < all && real_below(cost[reach + 1], best))
            return false;
        for (int i = 0; i < 2; i++) {
            const F64 g2 = f64_min(f64_load(f + i * N64 - k), f64_load(f + i * N64 + k));
            const F64 v = f64_fma(wy, g2, f64_set(cost[k]));
            if (words) {
                const M64 less = f64_lt(v, best[i]);
                square[i] = f64_blend(less, g2, square[i]);
                steps[i] = f64_blend(less, f64_set((double)k), steps[i]);
            }
            best[i] = f64_min(best[i], v);
        }
    }
    return reach == all || !real_below(cost[k], best);
}

static inline ALWAYS V32 real_words(const mp_job *job, const F64 best[2], const F64 square[2], const F64 steps[2]) {
    const F64 most = f64_set(job->real_limit), none = f64_set(MP_NO_COLUMN);
    F64 g[2], k[2];
    for (int i = 0; i < 2; i++) {
        const M64 beyond = f64_lt(most, best[i]);
        g[i] = f64_blend(beyond, none, f64_sqrt(square[i]));
        k[i] = f64_blend(beyond, none, steps[i]);
    }
    return v32_add(v32_shl(f64_narrow(k[0], k[1]), 16), f64_narrow(g[0], g[1]));
}

/* Near searches of a row; the groups of 64 pixels that they leave open. */
static inline ALWAYS size_t real_near_row(const mp_job *job, mp_worker *w, F64 wy, bool words) {
    const double *f = w->real + MP_REAL_PAD;
    memset(w->open, 0, job->padded_width / NEAR_GROUP);
    for (int64_t x = 0; x < job->width; x += REAL_LANES) {
        /* The last pixels together with those before them: lanes beyond the width would go on searching. */
        const int64_t at = x + REAL_LANES <= job->width || job->width < REAL_LANES ? x : job->width - REAL_LANES;
        F64 best[2], square[2], steps[2];
        const uint8_t open = !real_near(job, f + at, wy, words, best, square, steps);
        w->open[at / NEAR_GROUP] |= open;
        w->open[x / NEAR_GROUP] |= open;
        f64_store(w->real_best + at, best[0]);
        f64_store(w->real_best + at + N64, best[1]);
        if (words)
            v32_store(w->d2 + at, real_words(job, best, square, steps));
    }
    return open_groups(job, w);
}

/* Pixels [first, last) of the row among all of its columns. */
static void real_far_row(const mp_job *job, mp_worker *w, double wy, int64_t first, int64_t last, bool words) {
    const double *f = w->real + MP_REAL_PAD, wx = job->plan->w2f[DM_X];
    double *p = w->real_list[0], *values = w->real_list[1];
    int64_t m = 0;
    for (int64_t x = 0; x < job->width; x++) {
        p[m] = (double)x, values[m] = f[x];
        m += f[x] < (double)INFINITY;
    }
    if (m == 0) {
        for (int64_t x = first; x < last; x++) {
            w->real_best[x] = job->real_most;
            w->d2[x] = REAL_NO_SITE;
        }
        return;
    }
    const double largest = fma(wy, values[0], wx * (double)(job->width * job->width));
    const real_far q = {
        .p = p,
        .f = values,
        .w = wx,
        .wy = wy,
        .slack = fmin(largest, DBL_MAX) * 0x1p-48,
        .most = job->real_most,
        .best = w->real_best,
        .from = w->real_from,
        .end = last < job->width ? last : job->width,
    };
    real_far_divide(&q, first, m);
    for (int64_t x = first; words && x < q.end; x++) {
        const int64_t c = (int64_t)w->real_from[x], k = x < (int64_t)p[c] ? (int64_t)p[c] - x : x - (int64_t)p[c];
        const bool none = w->real_best[x] > job->real_limit;
        w->d2[x] = none ? REAL_NO_SITE : (int32_t)((uint32_t)k << 16 | (uint32_t)sqrt(values[c]));
    }
}

static void real_emit(const mp_job *job, const int64_t at[DM_NDIM], double *best, int64_t n) {
    distmap_plan *plan = job->plan;
    const distmap_outputs *want = &plan->problem.want;
    if (job->emit_general || want->squared || plan->wants_mask)
        dm_row_emit(plan, job->arrays, at, n, best, NULL);
    else if (real_roots(best, n, job->real_limit, (float *)(void *)dm_row_address(&job->arrays->distance, at)))
        dm_flag(plan, DISTMAP_FLAG_NO_SITE);
}

/* Advances w->above by one row, and finishes the row. *skip rows go to the far search at once, because a near search has just failed. */
static void real_plane_row(const mp_job *job, mp_worker *w, const int64_t at[DM_NDIM], const uint64_t *bits,
                           const uint16_t *below, int *skip) {
    enum { SKIP_ROWS = 15 };
    const size_t groups = job->padded_width / NEAR_GROUP;
    const bool words = !job->last_is_plane;
    const double wy = dm_axis_counts(job->plan, 2) ? job->plan->w2f[2] : 1;
    real_squares(job, w, bits, below);
    size_t left = groups;
    if (*skip) {
        --*skip;
    } else {
        left = words ? real_near_row(job, w, f64_set(wy), true) : real_near_row(job, w, f64_set(wy), false);
        *skip = 2 * left > groups ? SKIP_ROWS : 0;
    }
    if (2 * left > groups) {
        real_far_row(job, w, wy, 0, job->width, words);
    } else {
        for (size_t first = 0, last; left && first < groups; first = last) {
            last = first + 1;
            if (!w->open[first])
                continue;
            while (last < groups && w->open[last])
                last++;
            real_far_row(job, w, wy, (int64_t)(first * NEAR_GROUP), (int64_t)(last * NEAR_GROUP), words);
        }
    }
    if (words)
        emit_between(job, at, w->d2, MP_NONE - 1, 1, NULL, (size_t)job->width);
    else
        real_emit(job, at, w->real_best, job->width);
}

/* ---- The pass along a slow axis ---- */

/* Values of the words of N32 elements. */
static inline void real_values(const mp_job *job, V32 word, double *to) {
    const F64 none = f64_set((double)INFINITY), most = f64_set(MP_NO_COLUMN - 1), wx = f64_set(job->plan->w2f[DM_X]);
    const F64 wy = f64_set(job->plan->w2f[2]);
    const V32 rows = v32_and(word, v32_set(0xFFFF)), columns = v32_shr(word, 16);
    for (int half = 0; half < 2; half++) {
        const F64 g = half ? f64_high(rows) : f64_low(rows), k = half ? f64_high(columns) : f64_low(columns);
        const F64 v = f64_fma(wy, f64_mul(g, g), f64_mul(wx, f64_mul(k, k)));
        f64_store(to + half * N64, f64_blend(f64_lt(most, k), none, v));
    }
}

static void real_load(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first, int count,
                      mp_worker *w) {
    const uint8_t *alive = slow_alive(pass, at);
    const int64_t n = pass->n;
    for (int64_t i = 0; i < n; i++) {
        const bool stored = !alive || alive[i];
        const int32_t *row = stored ? slow_row(&job->d2_store, pass, at, first, i, count, w->d2) : NULL;
        for (int c = 0; c < count; c += REAL_LANES)
            real_values(job, stored ? v32_load(row + c) : v32_set(REAL_NO_SITE), w->real_tile + c * n + i * REAL_LANES);
    }
}

/* A line that the near search left: one lane of a group. */
static void real_line(const mp_job *job, const mp_pass *pass, const double *line, mp_worker *w, double *best) {
    double *p = w->real_list[0], *values = w->real_list[1], *found = w->real_list[2];
    int64_t m = 0;
    for (int64_t i = 0; i < pass->n; i++) {
        p[m] = (double)i, values[m] = line[i * REAL_LANES];
        m += values[m] < (double)INFINITY;
    }
    if (m)
        real_far_line(p, values, m, job->plan->w2f[pass->axis], job->real_most, pass->n, found, w->real_list[3]);
    for (int64_t i = 0; i < pass->n; i++)
        best[i * pass->columns] = m ? found[i] : job->real_most;
}

static void real_slow_tile(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first, int count,
                           mp_worker *w) {
    enum { SKIP_LINES = 7 };
    real_load(job, pass, at, first, count, w);
    mp_real_lines l = {
        .w2 = job->plan->w2f[pass->axis],
        .n = pass->n,
        .reach = MP_REAL_STEPS < pass->n - 1 ? MP_REAL_STEPS : pass->n - 1,
        .square = job->real_square,
        .most = job->real_most,
        .pitch = pass->columns,
    };
    int skip = 0;
    for (int c = 0; c < count; c += REAL_LANES) {
        l.f = w->real_tile + c * pass->n;
        l.best = w->real_best + c;
        if (!skip && real_tile(&l))
            continue;
        skip = skip ? skip - 1 : SKIP_LINES;
        for (int j = 0; j < REAL_LANES && c + j < count; j++)
            real_line(job, pass, l.f + j, w, l.best + j);
    }
    int64_t to[DM_NDIM] = {at[0], at[1], at[2], at[3] + first};
    for (int64_t i = 0; i < pass->n; i++) {
        to[pass->axis] = i;
        real_emit(job, to, w->real_best + i * pass->columns, count);
    }
}
