/* The far search: the same min-plus product at any distance, for a list of candidates (p, f), p rising:
 *     out[x] = min over c of f[c] + w (x - p[c])^2.
 *
 * Pruning. Candidate 1 with neighbours 0 and 2 in the list, a = p1 - p0, b = p2 - p1, is above the other two everywhere
 * when (f1 - f0) b - (f2 - f1) a >= w a b (a + b): it is above the lower envelope. Whole vectors are tested and compacted, in rounds,
 * until a round removes little. A candidate that should have been removed costs only time, so the test is in floats with a margin.
 *
 * Search. The matrix f[c] + w (x - p[c])^2 is totally monotone: the positions of the best candidates increase with x. N32 pixels,
 * one every `step`, scan their interval of candidates together, one lane each. The winners of two neighbouring lanes bound the
 * interval of the pixels between them, which are solved in the same way with step / N32, down to 1. Every level reads
 * each candidate about once, so a row of W pixels and m candidates costs about (m + W / N32) log W / log N32 vector steps,
 * for any image: the worst case. No branch depends on values. (Long lists are first divided at
 * the middle pixel, repeatedly, reading N32 candidates together.)
 *
 * Ties. The leftmost best candidate wins, or with keys the smallest key, then the leftmost. Intervals are wide enough
 * (leftmost winner at the left end, rightmost at the right end) that all tied candidates are seen.
 */

typedef enum far_mode {
    FAR_VALUE, /* d2 */
    FAR_ARG,   /* d2, and found = the position of the best, leftmost of equals */
    FAR_KEY,   /* d2, and found = start + key * pitch + position of the best, smallest key of equals, then leftmost */
    FAR_PACK, /* the same, where value and key fit one lane: f holds f << shift | key - key0, which orders as they do */
} far_mode;

/* Values below this have second differences that are exact in i32; the value itself means a column without a site. */
enum { FAR_EXACT = 1 << 29 };

typedef struct far_query {
    const int32_t *p, *f, *key;
    int32_t *d2;
    uint32_t *found, start;
    int32_t pitch;
    bool offsets; /* found = start + key * pitch + (position - pixel) mod 2^16 */
    int32_t w2;
    int shift;    /* FAR_PACK, else 0 */
    int32_t key0; /* FAR_PACK */
    int32_t end;  /* the first pixel that is not needed; the buffers extend to a multiple of N32 */
    far_mode mode;
} far_query;

/* A round of pruning from list `from` to list `to`; keeps the first and last candidate. Returns the number of candidates left. */
static size_t far_prune(mp_far *far, int from, size_t m, int32_t w2) {
    const int32_t *p = far->p[from], *f = far->f[from];
    int32_t *to_p = far->p[!from], *to_f = far->f[!from];
    const F32 w = f32_set((float)w2), margin = f32_set(0x1p-20f);
    size_t n = 1;
    to_p[0] = p[0], to_f[0] = f[0];
    for (size_t i = 1; i < m - 1; i += N32) {
        const V32 p1 = v32_load(p + i), f1 = v32_load(f + i);
        const F32 a = f32_signed(v32_sub(p1, v32_load(p + i - 1))), b = f32_signed(v32_sub(v32_load(p + i + 1), p1));
        const F32 rise = f32_mul(f32_signed(v32_sub(f1, v32_load(f + i - 1))), b);
        const F32 fall = f32_mul(f32_signed(v32_sub(v32_load(f + i + 1), f1)), a);
        const F32 bend = f32_mul(f32_mul(w, f32_mul(a, b)), f32_add(a, b));
        const F32 excess = f32_sub(f32_sub(rise, fall), bend);
        const F32 scale = f32_add(f32_add(f32_abs(rise), f32_abs(fall)), bend);
        const V32 lane = v32_add(v32_set((int32_t)i), v32_iota());
        const M32 keep =
            m32_and(m32_not(f32_lt(f32_mul(scale, margin), excess)), v32_lt(lane, v32_set((int32_t)m - 1)));
        v32_compress(to_p + n, keep, p1);
        v32_compress(to_f + n, keep, f1);
        n += m32_count(keep);
    }
    to_p[n] = p[m - 1], to_f[n] = f[m - 1];
    return n + 1;
}

/* Defines the values that the vector loads of far_prune read beyond the list's end. */
static inline void far_close(mp_far *far, int list, size_t m) {
    v32_store(far->p[list] + m, v32_set(0));
    v32_store(far->f[list] + m, v32_set(0));
}

/* Prunes list 0 of m candidates; returns the list that holds the result, and its length in *m. */
static int far_reduce(mp_far *far, size_t *m, int32_t w2) {
    int list = 0;
    while (*m > 2 * N32) {
        far_close(far, list, *m);
        const size_t n = far_prune(far, list, *m, w2);
        const bool little = n > *m - *m / 8;
        list = !list;
        *m = n;
        if (little)
            break;
    }
    return list;
}

static inline V32 far_value(const far_query *q, V32 x, size_t c, bool unit, far_mode mode) {
    const V32 d = v32_sub(x, v32_set(q->p[c]));
    V32 square = v32_mul(d, d);
    if (!unit)
        square = v32_mul(square, v32_set(q->w2));
    if (mode == FAR_PACK)
        square = v32_shl(square, q->shift);
    return v32_add(square, v32_set(q->f[c]));
}

/* N32 neighbouring pixels from x0, candidates [a, b]. */
static inline void far_leaf(const far_query *q, int32_t x0, size_t a, size_t b, bool unit, far_mode mode) {
    const V32 x = v32_add(v32_set(x0), v32_iota());
    V32 best = far_value(q, x, a, unit, mode), p = v32_set(q->p[a]), key = v32_set(mode == FAR_KEY ? q->key[a] : 0);
    for (size_t c = a + 1; c <= b; c++) {
        const V32 v = far_value(q, x, c, unit, mode);
        if (mode != FAR_VALUE) {
            M32 better = v32_lt(v, best);
            if (mode == FAR_KEY) {
                const V32 k = v32_set(q->key[c]);
                better = m32_or(better, m32_and(v32_eq(v, best), v32_lt(k, key)));
                key = v32_blend(better, k, key);
            }
            p = v32_blend(better, v32_set(q->p[c]), p);
        }
        best = v32_min(best, v);
    }
    if (mode == FAR_PACK) {
        key = v32_add(v32_and(best, v32_set((1 << q->shift) - 1)), v32_set(q->key0));
        best = v32_shr(best, q->shift);
    }
    v32_store(q->d2 + x0, best);
    if (q->offsets)
        p = v32_and(v32_sub(p, x), v32_set(0xFFFF));
    if (mode == FAR_KEY || mode == FAR_PACK)
        p = v32_add(v32_add(v32_set((int32_t)q->start), p), v32_mul(key, v32_set(q->pitch)));
    if (mode != FAR_VALUE)
        v32_store(q->found + x0, p);
}

static inline void far_leaf_any(const far_query *q, int32_t x0, size_t a, size_t b) {
    const bool unit = q->w2 == 1;
    switch (q->mode) {
    case FAR_VALUE: unit ? far_leaf(q, x0, a, b, true, FAR_VALUE) : far_leaf(q, x0, a, b, false, FAR_VALUE); break;
    case FAR_PACK: unit ? far_leaf(q, x0, a, b, true, FAR_PACK) : far_leaf(q, x0, a, b, false, FAR_PACK); break;
    case FAR_KEY: far_leaf(q, x0, a, b, false, FAR_KEY); break;
    case FAR_ARG: far_leaf(q, x0, a, b, false, FAR_ARG); break;
    }
}

/* The leftmost and, where wanted, rightmost best candidate among [a, b], for N32 pixels x. */
static inline void far_scan(const far_query *q, V32 x, size_t a, size_t b, bool unit, far_mode mode, int32_t *from,
                            int32_t *to) {
    const bool both = mode == FAR_KEY;
    V32 best = far_value(q, x, a, unit, mode), left = v32_set((int32_t)a), right = left;
    for (size_t c = a + 1; c <= b; c++) {
        const V32 v = far_value(q, x, c, unit, mode), at = v32_set((int32_t)c);
        left = v32_blend(v32_lt(v, best), at, left);
        if (both)
            right = v32_blend(v32_lt(best, v), right, at);
        best = v32_min(best, v);
    }
    v32_store(from, left);
    v32_store(to, both ? right : left);
}

/* Pixels [x0, x0 + N32 * step) below q->end, whose best candidates are all within [a, b]. */
static void far_search(const far_query *q, int32_t x0, int32_t step, size_t a, size_t b) {
    const int32_t stop = x0 + N32 * step < q->end ? x0 + N32 * step : q->end;
    if (step == 1 || a == b) {
        for (int32_t x = x0; x < stop; x += N32)
            far_leaf_any(q, x, a, b);
        return;
    }
    const V32 x = v32_min(v32_add(v32_set(x0), v32_mul(v32_iota(), v32_set(step))), v32_set(q->end - 1));
    int32_t from[N32], to[N32 + 1];
    const bool unit = q->w2 == 1;
    if (q->mode == FAR_KEY)
        far_scan(q, x, a, b, false, FAR_KEY, from, to);
    else if (q->mode == FAR_PACK)
        unit ? far_scan(q, x, a, b, true, FAR_PACK, from, to) : far_scan(q, x, a, b, false, FAR_PACK, from, to);
    else
        unit ? far_scan(q, x, a, b, true, FAR_VALUE, from, to) : far_scan(q, x, a, b, false, FAR_VALUE, from, to);
    to[N32] = (int32_t)b;
    for (int i = 0; i < N32 && x0 + i * step < stop; i++)
        far_search(q, x0 + i * step, step / N32, (size_t)from[i], (size_t)to[i + 1]);
}

/* The same best candidates for one pixel, N32 candidates at a time. */
static void far_middle(const far_query *q, int32_t x0, size_t a, size_t b, size_t *from, size_t *to) {
    const V32 x = v32_set(x0), w2 = v32_set(q->w2);
    V32 best = v32_set(MP_NONE), left = v32_set(0), right = left;
    for (size_t c = a; c <= b; c += N32) {
        const V32 d = v32_sub(x, v32_load(q->p + c)), at = v32_add(v32_set((int32_t)c), v32_iota());
        const V32 exact = v32_add(v32_shl(v32_mul(v32_mul(d, d), w2), q->shift), v32_load(q->f + c));
        const V32 v = v32_blend(v32_lt(v32_set((int32_t)b), at), v32_set(MP_NONE), exact);
        left = v32_blend(v32_lt(v, best), at, left);
        right = v32_blend(v32_lt(best, v), right, at);
        best = v32_min(best, v);
    }
    int32_t values[N32], lefts[N32], rights[N32];
    v32_store(values, best), v32_store(lefts, left), v32_store(rights, right);
    int32_t least = MP_NONE;
    for (int i = 0; i < N32; i++)
        least = values[i] < least ? values[i] : least;
    int32_t first = INT32_MAX, last = -1;
    for (int i = 0; i < N32; i++)
        if (values[i] == least) {
            first = lefts[i] < first ? lefts[i] : first;
            last = rights[i] > last ? rights[i] : last;
        }
    *from = (size_t)first, *to = (size_t)last;
}

/* Pixels [x0, x1), multiples of N32 except for the end. Many candidates are first divided among halves of the pixels,
 * reading N32 of them at a time; then N32 pixels are solved at a time. */
static void far_divide(const far_query *q, int32_t x0, int32_t x1, size_t a, size_t b) {
    enum { FEW = 24 * N32 };
    if (b - a < FEW || x1 - x0 <= N32 * N32) {
        int32_t step = 1;
        while ((int64_t)step * N32 < x1 - x0)
            step *= N32;
        far_query part = *q;
        part.end = x1;
        far_search(&part, x0, step, a, b);
        return;
    }
    const int32_t middle = x0 + (x1 - x0) / 2 / N32 * N32;
    size_t from, to;
    far_middle(q, middle, a, b, &from, &to);
    far_divide(q, x0, middle, a, to);
    far_divide(q, middle, x1, from, b);
}

/* w->inside: the sites of a row with a site on either side. They are nearest only to themselves, so they need not be
 * candidates: site_pixels() writes their results. */
static void find_inside(const mp_job *job, mp_worker *w, const uint64_t *bits) {
    for (size_t i = 0; i < job->words; i++) {
        const uint64_t left = bits[i] << 1 | (i > 0 ? bits[i - 1] >> 63 : 0);
        const uint64_t right = bits[i] >> 1 | (i + 1 < job->words ? bits[i + 1] << 63 : 0);
        w->inside[i] = bits[i] & left & right;
    }
}

/* Distance 0 from themselves for the sites inside, pixels [first, last); `here` is the row's first linear index. */
static void site_pixels(const mp_job *job, mp_worker *w, uint32_t here, size_t first, size_t last) {
    const V16 zero = v16_set(0), one = v16_set(1);
    for (size_t x = first; x < last; x += N16) {
        const V16 outside = v16_bits(w->inside, x, zero, one);
        for (int half = 0; half < 2; half++) {
            const size_t at = x + (size_t)(half * N32);
            const V32 self = job->offsets ? v32_set(0) : v32_add(v32_set((int32_t)(here + (uint32_t)at)), v32_iota());
            const M32 inside = v32_eq(half ? v16_high(outside) : v16_low(outside), v32_set(0));
            v32_store(w->d2 + at, v32_blend(inside, v32_set(0), v32_load(w->d2 + at)));
            if (job->sites)
                v32_store(w->found + at, v32_blend(inside, self, v32_load(w->found + at)));
        }
    }
}

/* The candidates of row y among columns [first, last): the columns with a site, as (x, wy2 g^2), except those above the
 * envelope of their two neighbours (far_prune with a = b = 1, in integers; not in planes so tall that these could overflow) and those
 * beyond `reach_y` rows or `limit`. Returns their number. */
static size_t far_collect(const mp_job *job, mp_worker *w, const uint16_t *below, size_t first, size_t last,
                          uint16_t reach_y, int32_t limit) {
    const V16 absent = v16_set(0xFFFF), apart = v16_set(job->labels);
    const bool tall = (int64_t)job->wy2 * job->rows * job->rows >= FAR_EXACT;
    const int32_t no_site = tall ? MP_NONE : FAR_EXACT;
    const V32 none = v32_set(reach_y < MP_NO_COLUMN ? reach_y + 1 : MP_NO_COLUMN), far_away = v32_set(no_site),
              weight = v32_set(job->wy2);
    int32_t *value = w->column + N32; /* one vector of room before it */
    for (size_t x = first; x < last; x += N16) {
        const V16 rows = v16_min(v16_load(w->above + x), v16_load(below + x));
        const V16 g16 = v16_bits(w->inside, x, absent, v16_adds(rows, apart));
        for (int half = 0; half < 2; half++) {
            const V32 g = half ? v16_high(g16) : v16_low(g16);
            v32_store(value + x + (size_t)(half * N32),
                      v32_blend(v32_lt(g, none), v32_mul(v32_mul(g, g), weight), far_away));
        }
    }
    value[(int64_t)first - 1] = value[last] = no_site;

    const V32 most = v32_set(limit < no_site ? limit : no_site - 1);
    const V32 bend = v32_set(tall ? INT32_MAX : 2 * job->wx2); /* nothing is greater than INT32_MAX: no pruning */
    int32_t *p = w->far.p[0], *f = w->far.f[0];
    size_t n = 0;
    for (size_t x = first; x < last; x += N32) {
        const V32 v = v32_load(value + x);
        const V32 rise = v32_sub(v, v32_load(value + x - 1)), fall = v32_sub(v32_load(value + x + 1), v);
        const M32 keep = m32_not(m32_or(v32_lt(most, v), v32_lt(bend, v32_sub(rise, fall))));
        if (!m32_any(keep))
            continue;
        v32_compress(p + n, keep, v32_add(v32_set((int32_t)x), v32_iota()));
        v32_compress(f + n, keep, v);
        n += m32_count(keep);
    }
    return n;
}

/* key = the row of the site, for each remaining candidate. */
static void far_keys(mp_worker *w, const uint16_t *below, int64_t y, int list, size_t m) {
    const int32_t *p = w->far.p[list];
    for (size_t i = 0; i < m; i++) {
        const int32_t up = w->above[p[i]], down = below[p[i]];
        w->far.key[i] = (int32_t)y + (up <= down ? -up : down);
    }
}

static void fill_none(const mp_job *job, mp_worker *w, size_t first, size_t last) {
    for (size_t x = first; x < last; x += N32) {
        v32_store(w->d2 + x, v32_set(MP_NONE));
        if (job->sites)
            v32_store(w->found + x, v32_set((int32_t)(job->offsets ? MP_NO_OFFSET : MP_NO_SITE)));
    }
}

/* Packs f and key into one lane, for pixels [first, last), if they fit; every f is at most `bound` = wy2 g^2 for a g <= reach_y.
 * The largest value is bound + wx2 span^2, and keys differ from y by at most reach_y. */
static void far_pack(const mp_job *job, far_query *q, int32_t *f, size_t m, int64_t y, int32_t bound, int32_t reach_y,
                     size_t first, size_t last) {
    const int64_t right = (int64_t)last - q->p[0], left = q->p[m - 1] - (int64_t)first;
    const int64_t span = right > left ? right : left;
    const int64_t most = bound + (int64_t)job->wx2 * span * span;
    const int shift = 64 - __builtin_clzll(2 * (unsigned long long)reach_y | 1);
    if (most >= (int64_t)1 << (31 - shift))
        return;
    q->mode = FAR_PACK;
    q->shift = shift;
    q->key0 = (int32_t)y - (1 << (shift - 1));
    for (size_t i = 0; i < m; i++)
        f[i] = f[i] << shift | (q->key[i] - q->key0);
}

/* Whether every value of far_row fits i32; in problems that are not wide it does. */
static bool far_fits(const mp_job *job, size_t first, size_t last, size_t from, size_t to, uint16_t reach_y) {
    if (!job->needs_64_bits)
        return true;
    const int64_t span = (int64_t)((last > to ? last : to) - (first < from ? first : from));
    return (int64_t)job->wy2 * reach_y * reach_y + (int64_t)job->wx2 * span * span < MP_NONE;
}

/* Pixels [first, last) of the image's row y, groups' bounds, by the candidates of columns [from, to), multiples of N16, that are at
 * most `reach_y` rows away. `start` is the linear index of the plane's first pixel. */
static void far_row(const mp_job *job, mp_worker *w, const uint16_t *below, int64_t y, uint32_t start, size_t first,
                    size_t last, size_t from, size_t to, uint16_t reach_y) {
    const int64_t bound = (int64_t)job->wy2 * reach_y * reach_y;
    const int32_t most = bound < job->plane_most ? (int32_t)bound : job->plane_most;
    const int32_t end = (int64_t)last < job->width ? (int32_t)last : (int32_t)job->width;
    size_t m = far_collect(job, w, below, from, to, reach_y, most);
    if (m == 0) {
        fill_none(job, w, first, last);
        return;
    }
    const int list = far_reduce(&w->far, &m, job->wx2);
    far_query q = {
        .p = w->far.p[list],
        .f = w->far.f[list],
        .key = w->far.key,
        .d2 = w->d2,
        .found = w->found,
        .start = job->offsets ? (uint32_t)-y << 16 : start,
        .pitch = job->offsets ? 1 << 16 : (int32_t)job->width,
        .offsets = job->offsets,
        .w2 = job->wx2,
        .end = end,
        .mode = job->sites ? FAR_KEY : FAR_VALUE,
    };
    if (job->sites) {
        far_keys(w, below, y, list, m);
        far_pack(job, &q, w->far.f[list], m, y, most, reach_y, first, last);
    }
    far_divide(&q, (int32_t)first, end, 0, m - 1);
    site_pixels(job, w, start + (uint32_t)(y * job->width), first, last);
}
