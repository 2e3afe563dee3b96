/* The far search in FP64: the best of m candidates (p, f), p rising, for every pixel of a range, as in kernel_far.h.
 *
 * N64 pixels, one every `step`, scan their interval of candidates together. The leftmost and the rightmost winner of neighbouring lanes
 * bound the interval of the pixels between them. There are two forms of a candidate's value at distance d,
 *
 *     lines     fma(w, d^2, f)
 *     across    fma(wy, f, w d^2), the product rounded: rows of planes, where f = g^2 and the formula has x innermost
 *
 * Lines: values are exact parabolas rounded once. Where the exact difference of two has a sign, the rounded one never has the other, so
 * the winners of the rounded values bound those between as the exact ones do.
 *
 * Across: w d^2 was rounded before. Let V be at least every result of the range. Numbers up to 2 V err by less than 2^-50 V, so a
 * candidate c left of the true winner o of pixel x0, whose value there exceeds the least by more than `slack` = 2^-48 V, is worse than o
 * by more than 2^-49 V in exact numbers, and by more still at every x > x0. If c were the winner at x, with a value up to V, o's rounded
 * value there would be less: a contradiction. (A value above 2 V at x0 exceeds the least by half of itself, far more than it errs.) So
 * the intervals end at the outermost candidates within `slack` of the least, on either side.
 */

typedef struct real_far {
    const double *p, *f;
    double w, wy, slack, most; /* wy 0: lines */
    double *best, *from;       /* results, at most `most`, and the number of the winner, the leftmost of equals */
    int64_t end;               /* the first pixel that is not needed; the results have room for N64 more */
} real_far;

static const double real_iota[] = {0, 1, 2, 3, 4, 5, 6, 7};

static inline ALWAYS F64 real_far_value(const real_far *q, F64 x, int64_t c, bool across) {
    const F64 d = f64_sub(x, f64_set(q->p[c])), square = f64_mul(d, d), f = f64_set(q->f[c]);
    return across ? f64_fma(f64_set(q->wy), f, f64_mul(f64_set(q->w), square)) : f64_fma(f64_set(q->w), square, f);
}

/* N64 neighbouring pixels from x0, candidates [a, b]. */
static inline ALWAYS void real_far_leaf(const real_far *q, int64_t x0, int64_t a, int64_t b, bool across) {
    const F64 x = f64_sub(f64_load(real_iota), f64_set((double)-x0));
    F64 best = real_far_value(q, x, a, across), from = f64_set((double)a);
    for (int64_t c = a + 1; c <= b; c++) {
        const F64 v = real_far_value(q, x, c, across);
        from = f64_blend(f64_lt(v, best), f64_set((double)c), from);
        best = f64_min(best, v);
    }
    f64_store(q->best + x0, f64_min(best, f64_set(q->most)));
    f64_store(q->from + x0, from);
}

/* The outermost candidates within `slack` of the best among [a, b], for N64 pixels x. */
static inline ALWAYS void real_far_scan(const real_far *q, F64 x, int64_t a, int64_t b, bool across, double *left,
                                        double *right) {
    F64 best = real_far_value(q, x, a, across), first = f64_set((double)b), last = f64_set((double)a);
    for (int64_t c = a + 1; c <= b; c++)
        best = f64_min(best, real_far_value(q, x, c, across));
    const F64 enough = f64_sub(best, f64_set(-q->slack)), none = f64_set((double)b);
    for (int64_t c = a; c <= b; c++) {
        const F64 at = f64_set((double)c);
        const M64 wins = f64_le(real_far_value(q, x, c, across), enough);
        first = f64_min(first, f64_blend(wins, at, none));
        last = f64_blend(wins, at, last);
    }
    f64_store(left, first);
    f64_store(right, last);
}

/* Pixels [x0, x0 + N64 step) below q->end, whose winners are all within [a, b]. */
static void real_far_search(const real_far *q, int64_t x0, int64_t step, int64_t a, int64_t b) {
    const int64_t stop = x0 + N64 * step < q->end ? x0 + N64 * step : q->end;
    if (step == 1 || a == b) {
        for (int64_t x = x0; x < stop; x += N64)
            q->wy > 0 ? real_far_leaf(q, x, a, b, true) : real_far_leaf(q, x, a, b, false);
        return;
    }
    const F64 apart = f64_fma(f64_load(real_iota), f64_set((double)step), f64_set((double)x0));
    const F64 x = f64_min(apart, f64_set((double)(q->end - 1)));
    double left[N64], right[N64 + 1];
    q->wy > 0 ? real_far_scan(q, x, a, b, true, left, right) : real_far_scan(q, x, a, b, false, left, right);
    right[N64] = (double)b;
    for (int i = 0; i < N64 && x0 + i * step < stop; i++)
        real_far_search(q, x0 + i * step, step / N64, (int64_t)left[i], (int64_t)right[i + 1]);
}

/* Pixels [x0, q->end), candidates [0, m). */
static void real_far_divide(const real_far *q, int64_t x0, int64_t m) {
    int64_t step = 1;
    while (step * N64 < q->end - x0)
        step *= N64;
    real_far_search(q, x0, step, 0, m - 1);
}

static void real_far_line(const double *p, const double *f, int64_t m, double w2, double most, int64_t n, double *best,
                          double *from) {
    const real_far q = {.p = p, .f = f, .w = w2, .most = most, .best = best, .from = from, .end = n};
    real_far_divide(&q, 0, m);
}
