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
static inline V16 near_step(V16 best, const uint16_t *f, int k, V16 cost) {
    return v16_min(best, v16_adds(v16_min(v16_load(f - k), v16_load(f + k)), cost));
}

/* Values of a whole padded row into w->d2. open[i] is set to 1 where group i is left to the far search. Returns the number
 * of such groups. */
static size_t near_row(const mp_job *job, mp_worker *w, uint8_t *open) {
    const uint16_t *f = w->padded + MP_PAD, *cost = job->near_cost;
    const V16 cap = v16_set(job->cap16);
    size_t left = 0;
    for (size_t x = 0; x < job->wide; x += 2 * N16) {
        V16 a = v16_min(v16_load(f + x), cap), b = v16_min(v16_load(f + x + N16), cap);
        V16 most = v16_max(a, b);
        int k = 1;
        for (; k <= job->near_steps && v16_any_gt(most, v16_set(cost[k])); k += 2) {
            const V16 c0 = v16_set(cost[k]), c1 = v16_set(cost[k + 1]);
            a = near_step(a, f + x, k, c0);
            b = near_step(b, f + x + N16, k, c0);
            a = near_step(a, f + x, k + 1, c1);
            b = near_step(b, f + x + N16, k + 1, c1);
            most = v16_max(a, b);
        }
        const bool undone = v16_any_gt(most, v16_set(cost[k] < 0xFFFE ? cost[k] : 0xFFFE));
        if (x % NEAR_GROUP == 0)
            open[x / NEAR_GROUP] = 0;
        open[x / NEAR_GROUP] |= undone;
        v32_store(w->d2 + x, v16_low(a));
        v32_store(w->d2 + x + N32, v16_high(a));
        v32_store(w->d2 + x + 2 * N32, v16_low(b));
        v32_store(w->d2 + x + 3 * N32, v16_high(b));
        if ((x + 2 * N16) % NEAR_GROUP == 0)
            left += open[x / NEAR_GROUP];
    }
    return left;
}

/* Keys of N32 pixels -> squared distance and site. */
static inline void near_decode(const mp_job *job, mp_worker *w, V32 key, size_t x, int64_t y) {
    const V32 d2 = v32_shr(key, MP_KEY);
    const V32 dy = v32_sub(v32_and(v32_shr(key, 1), v32_set(63)), v32_set(32));
    const V32 rest = v32_sub(d2, v32_mul(v32_mul(dy, dy), v32_set(job->wy2))); /* wx2 dx^2, at most 511 */
    const F32 scale = f32_set(1.0f / (float)job->wx2);
    const V32 dx = f32_round(f32_sqrt(f32_mul(f32_signed(rest), scale)));
    const M32 right = v32_eq(v32_and(key, v32_set(1)), v32_set(1));
    const V32 here = v32_add(v32_set((int32_t)x), v32_iota());
    v32_store(w->d2 + x, d2);
    v32_store(w->sy + x, v32_add(v32_set((int32_t)y), dy));
    v32_store(w->sx + x, v32_blend(right, v32_add(here, dx), v32_sub(here, dx)));
}

/* The same with sites, over keys; fills d2, sx and sy. */
static size_t near_row_sites(const mp_job *job, mp_worker *w, int64_t y, uint8_t *open) {
    const uint16_t *f = w->padded + MP_PAD, *cost = job->near_cost;
    const V16 one = v16_set(1);
    size_t left = 0;
    for (size_t x = 0; x < job->wide; x += N16) {
        V16 a = v16_load(f + x);
        for (int k = 1; k <= job->near_steps && v16_any_gt(a, v16_set(cost[k])); k++) {
            const V16 c = v16_set(cost[k]);
            a = v16_min(a, v16_adds(v16_load(f + x - k), c));
            a = v16_min(a, v16_adds(v16_load(f + x + k), v16_adds(c, one)));
        }
        if (x % NEAR_GROUP == 0)
            open[x / NEAR_GROUP] = 0;
        open[x / NEAR_GROUP] |= v16_any_gt(a, v16_set(0xFFFE));
        near_decode(job, w, v16_low(a), x, y);
        near_decode(job, w, v16_high(a), x + N32, y);
        if ((x + N16) % NEAR_GROUP == 0)
            left += open[x / NEAR_GROUP];
    }
    return left;
}
