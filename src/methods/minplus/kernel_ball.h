/* Masks without distances: the elements with a site within the limit R, given by L = floor(R^2).
 *
 * A site that is g rows away covers the columns up to h(g) = floor(sqrt((L - wy g^2) / wx)) from its own. An element is within R if any
 * column covers it. With h(0) - h(g) as a column's *cost*, an element of a row is within if
 *
 *     min over k of cost[x + k] + |k|  <=  h(0),
 *
 * since this means |k| <= h(g). Costs that increase by 1 with each step need no search: the least ones are spread by s = 1, 2, 4,
 * ... steps at a time, since every |k| is a sum of different ones of these; the last one is shortened so that they add up to
 * h(0). A row takes log2 h(0) rounds of five instructions for N16 elements, for any image.
 *
 * Volumes work in the same way: the squared distances d2 of a row in its plane give the costs
 * h(0) - floor(sqrt((L - d2) / wz)), which fit one byte. They are stored in the mask's own memory, and two sweeps along
 * the slow axis spread them, one step at a time.
 *
 * The border, if it counts, is nearest along a perpendicular: a whole row is within R of it, or a run at either end.
 */

/* The most steps k of squared pitch w2 with w2 k^2 <= left, 0 <= left < 2^24: rounded, the root is k or k + 1. */
static inline V32 ball_steps(V32 left, int32_t w2, int32_t most) {
    const V32 k = f32_round(f32_sqrt(f32_mul(f32_signed(left), f32_set(1.0f / (float)w2))));
    const M32 over = v32_lt(left, v32_mul(v32_mul(k, k), v32_set(w2)));
    return v32_min(v32_blend(over, v32_sub(k, v32_set(1)), k), v32_set(most));
}

/* Costs of N32 elements from the limit minus a squared distance; below 0: beyond the limit. */
static inline V32 ball_costs(V32 left, int32_t w2, int32_t most) {
    const M32 beyond = v32_lt(left, v32_set(0));
    const V32 steps = ball_steps(v32_blend(beyond, v32_set(0), left), w2, most);
    return v32_blend(beyond, v32_set(0xFFFF), v32_sub(v32_set(most), steps));
}

/* Whether the border is within the limit along an axis other than x and `but`. */
static bool ball_border(const mp_job *job, const int64_t at[DM_NDIM], int but) {
    const distmap_plan *plan = job->plan;
    bool within = false;
    for (int a = 0; a < DM_X && plan->problem.border; a++) {
        const int64_t before = at[a] + 1, after = plan->shape[a] - at[a], k = before < after ? before : after;
        within |= plan->measured[a] && a != but && plan->w2[a] * (uint64_t)(k * k) <= (uint64_t)job->ball.limit2;
    }
    return within;
}

/* ---- Output ---- */

/* Bytes that lie as the array's elements do. */
static void ball_scatter(const uint8_t *from, char *to, int64_t stride, size_t n) {
    for (size_t x = 0; x < n; x++)
        to[(int64_t)x * stride] = (char)from[x];
}

/* One row, or run of a row, of a mask: `yes` where the cost is at most `most`, else 1 - yes. */
static void ball_store(mp_worker *w, const dm_array *mask, const int64_t at[DM_NDIM], const uint16_t *cost,
                       uint16_t most, size_t n, bool yes) {
    char *to = dm_row_address(mask, at);
    const bool direct = mask->stride[DM_X] == 1;
    uint8_t *row = direct ? (uint8_t *)to : w->bytes;
    const V16 limit = v16_set(most), in = v16_set(yes), out = v16_set(!yes);
    size_t x = 0;
    for (; x + N16 <= n; x += N16)
        v16_store_bytes(row + x, v16_blend(v16_le(v16_load(cost + x), limit), in, out));
    for (; x < n; x++)
        row[x] = (cost[x] <= most) == yes;
    if (!direct)
        ball_scatter(row, to, mask->stride[DM_X], n);
}

static void ball_emit(const mp_job *job, mp_worker *w, const int64_t at[DM_NDIM], const uint16_t *cost, uint16_t most,
                      size_t n) {
    const dm_arrays *out = job->arrays;
    if (out->within.data)
        ball_store(w, &out->within, at, cost, most, n, true);
    if (out->beyond.data)
        ball_store(w, &out->beyond, at, cost, most, n, false);
    bool none = false;
    size_t x = 0;
    for (; x + N16 <= n; x += N16)
        none |= v16_any_gt(v16_load(cost + x), v16_set(most));
    for (; x < n; x++)
        none |= cost[x] > most;
    if (none)
        dm_flag(job->plan, DISTMAP_FLAG_NO_SITE);
}

/* ---- Planes ---- */

/* The costs of N16 columns whose sites are g rows away; most of them are all on a site, or all beyond the limit. */
static inline void ball_start(const mp_job *job, V16 g, uint16_t *cost) {
    const mp_ball *ball = &job->ball;
    const V32 limit = v32_set(ball->limit2), w2 = v32_set(job->wy2);
    if (!v16_any_gt(g, v16_set(0))) {
        v16_store(cost, g);
        return;
    }
    const V16 near = v16_min(g, v16_set((uint16_t)(ball->down + 1)));
    if (!v16_any_gt(v16_set((uint16_t)(ball->down + 1)), near)) {
        v16_store(cost, v16_set(0xFFFF));
        return;
    }
    const V32 low = v16_low(near), high = v16_high(near);
    v16_store(cost, v32_narrow(ball_costs(v32_sub(limit, v32_mul(v32_mul(low, low), w2)), job->wx2, ball->across),
                               ball_costs(v32_sub(limit, v32_mul(v32_mul(high, high), w2)), job->wx2, ball->across)));
}

/* A round: to[x] = the least of from[x] and, s more, from[x - s] and from[x + s]. */
static inline void ball_round(const uint16_t *from, uint16_t *to, size_t padded_width, size_t s) {
    const V16 more = v16_set((uint16_t)s);
    for (size_t x = 0; x < padded_width; x += N16) {
        const V16 beside = v16_min(v16_load(from + x - s), v16_load(from + x + s));
        v16_store(to + x, v16_min(v16_load(from + x), v16_adds(beside, more)));
    }
}

/* Advances w->above by one row, and finishes the row. */
static void ball_row(const mp_job *job, mp_worker *w, const int64_t at[DM_NDIM], const uint64_t *bits,
                     const uint16_t *below) {
    const mp_ball *ball = &job->ball;
    const V16 zero = v16_set(0), one = v16_set(1);
    const bool border = job->plan->problem.border, covered = ball_border(job, at, DM_X);
    uint16_t *now = w->cost[0] + ball->pad, *next = w->cost[1] + ball->pad;
    for (size_t x = 0; x < job->padded_width; x += N16) {
        const V16 up = v16_bits(bits, x, zero, v16_adds(v16_load(w->above + x), one));
        v16_store(w->above + x, up);
        ball_start(job, covered ? zero : v16_min(up, v16_load(below + x)), now + x);
    }
    if (border) /* sites just outside, for lanes there are; w->cost has the others for good */
        now[job->width] = 0;
    size_t left = covered ? 0 : ball->across;
    for (size_t s = 1; left > 0; s *= 2) {
        s = s < left ? s : left;
        ball_round(now, next, job->padded_width, s);
        uint16_t *swap = now;
        now = next, next = swap;
        left -= s;
    }
    ball_emit(job, w, at, now, ball->across, (size_t)job->width);
}

/* ---- Volumes ---- */

/* A row's costs along the slow axis into the mask, from its squared distances; 255 means beyond the limit. */
static void ball_rest(const mp_job *job, mp_worker *w, const int64_t at[DM_NDIM], int32_t *d2, size_t n) {
    const mp_ball *ball = &job->ball;
    const dm_array *mask = job->costs;
    const size_t ends = n < ball->across ? n : ball->across;
    if (ball_border(job, at, ball->axis))
        memset(d2, 0, n * sizeof *d2);
    else if (job->plan->problem.border)
        for (size_t x = 0; x < ends; x++)
            d2[x] = d2[n - 1 - x] = 0;
    const V32 most = v32_set(job->most), limit = v32_set(ball->limit2), beyond = v32_set(-1);
    for (size_t x = 0; x < n; x += N16) {
        V32 cost[2];
        for (int half = 0; half < 2; half++) {
            const V32 square = v32_load(d2 + x + (size_t)(half * N32));
            const V32 left = v32_blend(v32_lt(most, square), beyond, v32_sub(limit, square));
            cost[half] = ball_costs(left, ball->w2, ball->along);
        }
        v16_store_bytes(w->bytes + x, v16_min(v32_narrow(cost[0], cost[1]), v16_set(255)));
    }
    ball_scatter(w->bytes, dm_row_address(mask, at), mask->stride[DM_X], n);
}

/* `count` costs at `from` as u16, lowered by one step from `before`. */
static inline void ball_step(const char *from, int64_t stride, const uint16_t *before, uint16_t *to, size_t count) {
    const V16 one = v16_set(1);
    size_t c = 0;
    for (; stride == 1 && c + N16 <= count; c += N16)
        v16_store(to + c, v16_min(v16_load_bytes((const uint8_t *)from + c), v16_adds(v16_load(before + c), one)));
    for (; c < count; c++) {
        const uint16_t own = (uint8_t)from[(int64_t)c * stride], passed = before[c] < 0xFFFF ? before[c] + 1 : 0xFFFF;
        to[c] = own < passed ? own : passed;
    }
}

/* Lines [first, first + count) of the run that starts at `at`: up the slow axis, then down and out. Every row is read
 * before the first is written. */
static void ball_tile(const mp_job *job, const mp_pass *pass, const int64_t at[DM_NDIM], int64_t first, int count,
                      mp_worker *w) {
    enum { AHEAD = 8, LINE = 64 };
    const dm_array *mask = job->costs;
    const size_t pitch = (size_t)pass->columns, n = (size_t)pass->n;
    uint16_t *outside = w->tile + n * pitch;
    const bool border =
        job->plan->problem.border; /* the slow axis is measured: the border is a step away from its ends */
    memset(outside, border ? 0 : 0xFF, pitch * sizeof *outside);
    int64_t place[DM_NDIM] = {at[0], at[1], at[2], at[3] + first};
    for (size_t i = 0; i < n; i++) {
        place[pass->axis] = (int64_t)i;
        const char *from = dm_row_address(mask, place);
        if (i + AHEAD < n)
            for (int c = 0; c < count; c += LINE)
                __builtin_prefetch(from + AHEAD * mask->stride[pass->axis] + c * mask->stride[DM_X]);
        ball_step(from, mask->stride[DM_X], i > 0 ? w->tile + (i - 1) * pitch : outside, w->tile + i * pitch,
                  (size_t)count);
    }
    const V16 one = v16_set(1);
    for (size_t i = n; i-- > 0;) {
        uint16_t *row = w->tile + i * pitch, *before = row + pitch; /* of the last row: outside */
        for (size_t c = 0; c < (size_t)count; c += N16)
            v16_store(row + c, v16_min(v16_load(row + c), v16_adds(v16_load(before + c), one)));
        place[pass->axis] = (int64_t)i;
        ball_emit(job, w, place, row, job->ball.along, (size_t)count);
    }
}
