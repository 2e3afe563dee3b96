/* The lower envelope of parabolas along one line, at integer positions.
 *
 * Candidate i stands for p_i(x) = f_i + w^2 (x - i)^2. For i < j the difference p_i - p_j is linear and rising in x, so j
 * takes over from i once and for good, at
 *
 *     start(i, j) = the smallest integer x with p_j(x) < p_i(x).
 *
 * The envelope is a list of candidates, each with the x where it starts to win. A new one j is compared with the last one
 * i: where start(i, j) <= start(i), i wins nowhere and leaves. Every candidate enters and leaves once: linear time. Since
 * j needs to be strictly better, the lower index wins ties.
 *
 * Integers: p_j(x) < p_i(x) is (f_j + w^2 j^2) - (f_i + w^2 i^2) < 2 w^2 (j - i) x, so start is one floored division. Samples
 * are at most 2^61 and so is the largest geometric distance, hence f + w^2 i^2 <= 2^61 + 2^61 + 2^61 < 2^63: int64 holds all.
 *
 * FP64: an element's value is v_i(x) = fma(w^2, (x - i)^2, f_i), the exact p_i(x) rounded once. Rounding is monotone, so the
 * least v is the rounded least p, and it is enough to order the exact p. The division only proposes start; near an
 * integer the exact sign of p_j - p_i decides. That sign costs three operations; only when they cannot tell is the sum
 * carried out without error, as an expansion (J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust
 * Geometric Predicates", 1997, section 2.4). No tolerance decides anything. (Offsets beyond 94,906,265 elements, whose square
 * leaves 53 bits, have that square rounded too, and the order is then that of the exact squares.)
 *
 * C and CUDA alike: kernels say before including this what a function is (HULL_FUNCTION), and where element k of a list lies,
 * since theirs are interleaved (HULL_AT).
 */
#ifndef DISTMAP_CORE_HULL_H
#define DISTMAP_CORE_HULL_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef HULL_FUNCTION
#define HULL_FUNCTION static inline
#define HULL_AT(hull, k) (&(hull)->list[k])
#endif

union value {
    uint64_t u64; /* UINT64_MAX: none */
    double f64;   /* +inf: none */
};

struct parabola {
    union value f;
    int64_t at, site;
    int64_t start; /* the first x that it wins */
};

struct hull {
    struct parabola *list;
    int64_t apart; /* kernels: from one element of the list to the next */
    int64_t count;
    int64_t from, to; /* the x of interest: [from, to) */
    union value w2;
};

HULL_FUNCTION bool is_none(union value v, bool f64) { return f64 ? v.f64 > DBL_MAX : v.u64 == UINT64_MAX; }

/* ---- Integers ---- */

HULL_FUNCTION int64_t start_integer(const struct parabola *i, const struct parabola *j, uint64_t w2) {
    const int64_t above =
        (int64_t)(j->f.u64 + w2 * (uint64_t)(j->at * j->at)) - (int64_t)(i->f.u64 + w2 * (uint64_t)(i->at * i->at));
    const int64_t slope = 2 * (int64_t)w2 * (j->at - i->at);
    return above / slope + (above % slope >= 0); /* floor + 1 */
}

/* ---- FP64 ---- */

/* The sign of a sum of doubles, exactly: each one is added to an expansion, a list of doubles that do not overlap, from its
 * smallest part up; the largest part that is not zero has the sum's sign. */
HULL_FUNCTION double exact_sign(const double *terms, int count) {
    double parts[8];
    for (int n = 0; n < count; n++) {
        double carry = terms[n];
        for (int k = 0; k < n; k++) {
            const double sum = carry + parts[k], other = sum - carry;
            parts[k] = (carry - (sum - other)) + (parts[k] - other);
            carry = sum;
        }
        parts[n] = carry;
    }
    for (int n = count - 1; n >= 0; n--)
        if (parts[n] != 0)
            return parts[n];
    return 0;
}

/* p_j(x) < p_i(x), i < j: the sign of (f_j - f_i) - w^2 ((x - i)^2 - (x - j)^2). */
HULL_FUNCTION bool is_better(const struct parabola *i, const struct parabola *j, int64_t x, double w2) {
    const int64_t squares = (j->at - i->at) * (2 * x - i->at - j->at);
    const double high = (double)squares, rise = j->f.f64 - i->f.f64, fall = w2 * high;
    const double about = rise - fall, doubt = 4 * DBL_EPSILON * fabs(rise) + 4 * DBL_EPSILON * fabs(fall);
    if (fabs(about) > doubt)
        return about < 0;
    const double low = (double)(squares - (int64_t)high), fall_low = w2 * low;
    const double terms[] = {fma(-w2, low, fall_low), -fall_low, fma(-w2, high, fall), -fall, j->f.f64, -i->f.f64};
    return exact_sign(terms, sizeof terms / sizeof *terms) < 0;
}

/* start(i, j), cut to [from, to]. The equality of p_i and p_j lies at `about`, of which the divisor, the quotient and the sum
 * were rounded, less than `doubt` in all: away from an integer that is enough. */
HULL_FUNCTION int64_t start_f64(const struct parabola *i, const struct parabola *j, double w2, int64_t from,
                                int64_t to) {
    const double shift = (j->f.f64 - i->f.f64) / (2 * w2 * (double)(j->at - i->at));
    const double middle = (double)(i->at + j->at) / 2, about = shift + middle;
    const double doubt = 4 * DBL_EPSILON * (fabs(shift) + middle);
    int64_t x = about <= (double)from ? from : about >= (double)to ? to : (int64_t)about + 1;
    if (about - doubt > (double)from && about + doubt < (double)to &&
        (int64_t)(about - doubt) == (int64_t)(about + doubt))
        return x;
    while (x > from && is_better(i, j, x - 1, w2))
        x--;
    while (x < to && !is_better(i, j, x, w2))
        x++;
    return x;
}

/* ---- Both: `f64` is a constant at every call, and the functions are inlined ---- */

HULL_FUNCTION union value value_none(bool f64) {
    union value none;
    if (f64)
        none.f64 = (double)INFINITY;
    else
        none.u64 = UINT64_MAX;
    return none;
}

/* Adds a candidate right of all others; its f is not "none". */
HULL_FUNCTION void hull_push(struct hull *h, int64_t at, union value f, int64_t site, bool f64) {
    struct parabola added;
    added.f = f;
    added.at = at;
    added.site = site;
    added.start = h->from;
    for (; h->count > 0; h->count--) {
        const struct parabola *last = HULL_AT(h, h->count - 1);
        added.start = f64 ? start_f64(last, &added, h->w2.f64, h->from, h->to) : start_integer(last, &added, h->w2.u64);
        if (added.start >= h->to)
            return;
        if (added.start > last->start)
            break;
        added.start = h->from;
    }
    *HULL_AT(h, h->count) = added;
    h->count++;
}

/* The envelope's values and sites at [from, to), `step` elements from one to the next. `site` may be NULL. */
HULL_FUNCTION void hull_fill(const struct hull *h, union value *value, int64_t *site, int64_t step, bool f64) {
    for (int64_t x = h->from; h->count == 0 && x < h->to; x++) {
        value[x * step] = value_none(f64);
        if (site)
            site[x * step] = -1;
    }
    for (int64_t k = 0; k < h->count; k++) {
        const struct parabola p = *HULL_AT(h, k);
        const int64_t end = k + 1 < h->count ? HULL_AT(h, k + 1)->start : h->to;
        for (int64_t x = p.start; x < end; x++) {
            const int64_t square = (x - p.at) * (x - p.at);
            union value *v = &value[x * step];
            if (f64)
                v->f64 = fma(h->w2.f64, (double)square, p.f.f64);
            else
                v->u64 = p.f.u64 + h->w2.u64 * (uint64_t)square;
            if (site)
                site[x * step] = is_none(*v, f64) ? -1 : p.site; /* a huge sample may overflow to none */
        }
    }
}

/* One line of a whole problem, in place: values, and sites where `site` is not NULL. `linear` is the linear index of its first element,
 * `stride` from one element to the next. Labels (`label` not NULL): each run of one label has an envelope of its own, with the
 * elements beyond its ends as candidates; runs that are `ruled` keep what they have. */
HULL_FUNCTION void hull_line(struct hull hull, int64_t n, union value *value, int64_t *site, const int64_t *label,
                             const uint8_t *ruled, int64_t linear, int64_t stride, bool f64) {
    union value zero;
    zero.u64 = 0; /* the bits of 0.0 as well */
    for (hull.from = hull.to = 0; hull.to < n; hull.from = hull.to) {
        hull.to = n;
        hull.count = 0;
        if (label) {
            for (hull.to = hull.from + 1; hull.to < n && label[hull.to] == label[hull.from];)
                hull.to++;
            if (ruled[hull.from])
                continue;
            if (hull.from > 0)
                hull_push(&hull, hull.from - 1, zero, linear + (hull.from - 1) * stride, f64);
        }
        for (int64_t i = hull.from; i < hull.to; i++)
            if (!is_none(value[i], f64))
                hull_push(&hull, i, value[i], site ? site[i] : -1, f64);
        if (hull.to < n)
            hull_push(&hull, hull.to, zero, linear + hull.to * stride, f64);
        hull_fill(&hull, value, site, 1, f64);
    }
}

#endif
