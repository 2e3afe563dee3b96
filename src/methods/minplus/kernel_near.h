/* The near search: out[x] = min over |k| <= K of f[x + k] + w k^2, in saturating u16, N16 pixels at a time.
 *
 * A group of pixels is done when w k^2 reaches the largest of its values: nothing farther away can improve it. Values of
 * 65,535 and more are not told apart, so the result is exact wherever it is below; groups that are not done within
 * near_steps are left to the far search. About 4 instructions per step and N16 pixels, most of them loads.
 *
 * With indices the lanes hold keys, v = d2 << 7 | (dy + 32) << 1 | side: among equal d2 the smallest key is the site of
 * the lowest row, then (same row, so same |dx|) the one to the left. That is the tie rule, at no cost: a key is still a
 * value plus a parabola, only 128 times as large. d2 <= 511 fits, so |dx| and |dy| are at most 22.
 */

enum { NEAR_GROUP = 64 }; /* pixels; a multiple of 2 * N16 */

/* One candidate column on either side, k away. */
static inline V16 near_step(V16 best, const uint16_t *f, const uint16_t *right, int k, V16 cost) {
    return v16_min(best, v16_adds(v16_min(v16_load(f - k), v16_load(right + k)), cost));
}

static size_t open_groups(const mp_job *job, const mp_worker *w) {
    size_t count = 0;
    for (size_t i = 0; i < job->wide / NEAR_GROUP; i++)
        count += w->open[i];
    return count;
}

/* 0 in the lanes of pixels x.. beyond the image's edge, which nobody waits for; else 0xFFFF. */
static inline V16 edge(const mp_job *job, size_t x) {
    const size_t group = job->wide - NEAR_GROUP;
    return x < group ? v16_set(0xFFFF) : v16_load(job->edge + (x - group));
}

/* A pair of vectors at f + x (and right, which is f, or with sites f with the side bit set), searched until done or hopeless.
 * `hope` bounds what is worth searching on for: after NEAR_TRY steps a group with larger values is left to the far search. */
enum { NEAR_TRY = 24 };

static inline bool near_pair(const mp_job *job, const uint16_t *f, const uint16_t *right, size_t x, V16 *out_a, V16 *out_b) {
    const uint16_t *cost = job->near_cost;
    const V16 cap = v16_set(job->near_cap);
    V16 a = v16_min(v16_load(f + x), v16_min(cap, edge(job, x)));
    V16 b = v16_min(v16_load(f + x + N16), v16_min(cap, edge(job, x + N16)));
    V16 most = v16_max(a, b);
    f += x, right += x;
    int k = 1;
    while (k <= job->near_steps && v16_any_gt(most, v16_set(cost[k]))) {
        for (int i = 0; i < 2; i++, k++) {
            const V16 c = v16_set(cost[k]);
            a = near_step(a, f, right, k, c);
            b = near_step(b, f + N16, right + N16, k, c);
        }
        most = v16_max(a, b);
        if (k == NEAR_TRY + 1 && v16_any_gt(most, v16_set(job->near_most)))
            break;
    }
    *out_a = a, *out_b = b;
    return !v16_any_gt(most, v16_set(cost[k] < 0xFFFE ? cost[k] : 0xFFFE));
}

/* Values of a whole padded row into w->d2. open[i] is set to 1 where group i is left to the far search. Returns the number
 * of such groups. */
static size_t near_row(const mp_job *job, mp_worker *w) {
    const uint16_t *f = w->padded + MP_PAD;
    memset(w->open, 0, job->wide / NEAR_GROUP);
    for (size_t x = 0; x < job->wide; x += 2 * N16) {
        V16 a, b;
        w->open[x / NEAR_GROUP] |= !near_pair(job, f, f, x, &a, &b);
        v32_store(w->d2 + x, v16_low(a));
        v32_store(w->d2 + x + N32, v16_high(a));
        v32_store(w->d2 + x + 2 * N32, v16_low(b));
        v32_store(w->d2 + x + 3 * N32, v16_high(b));
    }
    return open_groups(job, w);
}

/* Keys of N32 pixels -> squared distance and site. */
static inline void near_decode(const mp_job *job, mp_worker *w, V32 key, size_t x, V32 start, bool unit) {
    const V32 d2 = v32_shr(key, MP_KEY);
    const V32 dy = v32_sub(v32_and(v32_shr(key, 1), v32_set(63)), v32_set(32));
    V32 dy2 = v32_mul(dy, dy);
    if (!unit)
        dy2 = v32_mul(dy2, v32_set(job->wy2));
    F32 rest = f32_signed(v32_sub(d2, dy2)); /* wx2 dx^2, at most 511 */
    if (!unit)
        rest = f32_mul(rest, f32_set(1.0f / (float)job->wx2));
    const V32 dx = f32_round(f32_sqrt(rest));
    const M32 right = v32_eq(v32_and(key, v32_set(1)), v32_set(1));
    const V32 row = v32_add(v32_add(start, v32_set((int32_t)x)), v32_mul(dy, v32_set((int32_t)job->width)));
    v32_store(w->d2 + x, d2);
    v32_store(w->found + x, v32_blend(right, v32_add(row, dx), v32_sub(row, dx)));
}

/* The same with sites, over keys; `start` is the linear index of the row's first pixel. */
static size_t near_row_sites(const mp_job *job, mp_worker *w, uint32_t start) {
    const uint16_t *f = w->padded + MP_PAD, *right = w->padded_right + MP_PAD;
    const V32 from = v32_add(v32_set((int32_t)start), v32_iota());
    const bool unit = job->wx2 == 1 && job->wy2 == 1;
    memset(w->open, 0, job->wide / NEAR_GROUP);
    for (size_t x = 0; x < job->wide; x += 2 * N16) {
        V16 pair[2];
        w->open[x / NEAR_GROUP] |= !near_pair(job, f, right, x, &pair[0], &pair[1]);
        for (int i = 0; i < 2; i++) {
            const V32 low = v16_low(pair[i]), high = v16_high(pair[i]);
            const size_t at = x + (size_t)(i * N16);
            if (unit) {
                near_decode(job, w, low, at, from, true);
                near_decode(job, w, high, at + N32, from, true);
            } else {
                near_decode(job, w, low, at, from, false);
                near_decode(job, w, high, at + N32, from, false);
            }
        }
    }
    return open_groups(job, w);
}
