/* edm: the proximate points of one line, by a stack.
 *
 * Step 1 left every element of the line the distance h to the nearest site across the line, as an offset: the site lies
 * `offset` elements further on, h = |offset|. Element i of the line so stands for a point at height h_i above the line, and
 *
 *     d2(x) = min over points i of f_i + w (x - i)^2,    f_i = v h_i^2
 *
 * asks which point is nearest to each x on the line. Point i is *proximate* where it is nearest to some x, and these x
 * are an interval (section 2 of the paper, lemma 2.2). A stack holds the proximate points of what was read so far, each
 * with the first x of its interval. Of a new point j and the last one i, the difference
 *
 *     (f_j + w (x - j)^2) - (f_i + w (x - i)^2) = (f_j + w j^2) - (f_i + w i^2) - 2 w (j - i) x
 *
 * falls with x, so j's interval starts at the boundary point where it is zero and has no end so far. Where it starts at or
 * before i's, i is *dominated* by j and the point under it, and leaves the stack. Each point enters and leaves once.
 *
 * The paper compares boundary points as fractions. Here an interval starts at its first whole x, found by one floored
 * division in 64-bit integers: exact (squared distances are at most 2^61, so each sum is below 2^63), and points that
 * are nearest to no element are dropped as well.
 *
 * Ties. Of equally near points the first one along the line stays, which is the lower linear index where lines run
 * along the slower axis. Where they run along rows, the tie is decided by the sites' rows before their columns: x is
 * then given to j already where both are equally near and j's site lies in a row before i's. "j is before i at x, by
 * distance, then row, then column" still holds from some x on and not before it, which is all that the stack needs.
 *
 * Time O(n). Source: D. Man, K. Uda, Y. Ito, K. Nakano, sections 2 and 3.
 *
 * C and CUDA alike: kernels say before including this what a function is (EDM_FUNCTION).
 */
#ifndef DISTMAP_METHODS_EDM_STACK_H
#define DISTMAP_METHODS_EDM_STACK_H

#include <stdbool.h>
#include <stdint.h>

#ifndef EDM_FUNCTION
#define EDM_FUNCTION static inline
#endif

#define EDM_NONE INT32_MIN /* an offset: there is no site */

struct edm_point {
    int32_t at;    /* where on the line */
    int32_t start; /* the first x of its interval */
};

struct edm_line {
    const int32_t *offset; /* of element k: offset[k * offset_apart] */
    int64_t offset_apart;
    struct edm_point *stack; /* its k-th point from the bottom: stack[k * stack_apart] */
    int64_t stack_apart;
    int32_t length, count; /* elements of the line; points on the stack */
    int64_t v, w;          /* squared pitch across the line and along it */
    bool by_row;           /* ties go to the lower offset first */
};

EDM_FUNCTION int64_t edm_offset(const struct edm_line *l, int32_t at) { return l->offset[at * l->offset_apart]; }

/* Of points i < j, what the difference above is at x = 0, and by how much it falls with each x. */
struct edm_pair {
    int64_t above, slope;
    bool tie; /* where they are equally near, j has the element */
};

EDM_FUNCTION struct edm_pair edm_compare(const struct edm_line *l, int64_t i, int64_t offset_i, int64_t j,
                                         int64_t offset_j) {
    struct edm_pair p;
    p.above = l->v * (offset_j * offset_j - offset_i * offset_i) + l->w * (j * j - i * i);
    p.slope = 2 * l->w * (j - i);
    p.tie = l->by_row && offset_j < offset_i;
    return p;
}

EDM_FUNCTION bool edm_takes(const struct edm_pair *p, int64_t x) {
    const int64_t fallen = p->slope * x;
    return p->above < fallen || (p->above == fallen && p->tie);
}

/* The first x that j takes; may lie outside the line. */
EDM_FUNCTION int64_t edm_start(const struct edm_pair *p) {
    const int64_t quotient = p->above / p->slope, rest = p->above - quotient * p->slope;
    if (rest == 0 && p->tie)
        return quotient;
    return quotient + (rest >= 0); /* floor + 1 */
}

/* Reads the line and leaves its proximate points on the stack. A point that leaves it costs no division. */
EDM_FUNCTION void edm_push_all(struct edm_line *l) {
    l->count = 0;
    for (int32_t j = 0; j < l->length; j++) {
        const int64_t offset_j = edm_offset(l, j);
        if (offset_j == EDM_NONE)
            continue;
        int64_t start = 0;
        for (; l->count > 0; l->count--) {
            const struct edm_point last = l->stack[(l->count - 1) * l->stack_apart];
            const struct edm_pair pair = edm_compare(l, last.at, edm_offset(l, last.at), j, offset_j);
            if (edm_takes(&pair, last.start))
                continue;
            start = edm_start(&pair);
            break;
        }
        if (start >= l->length)
            continue;
        struct edm_point *top = &l->stack[l->count++ * l->stack_apart];
        top->at = j;
        top->start = (int32_t)start;
    }
}

/* Goes through the intervals as x rises: the point nearest to x, of which `k` is the place on the stack and `offset` is
 * known, both from the x before. */
struct edm_cursor {
    int32_t k, next; /* next: where the interval ends */
    int32_t at;
    int64_t offset;
};

EDM_FUNCTION void edm_enter(const struct edm_line *l, struct edm_cursor *c) {
    c->at = l->stack[c->k * l->stack_apart].at;
    c->offset = edm_offset(l, c->at);
    c->next = c->k + 1 < l->count ? l->stack[(c->k + 1) * l->stack_apart].start : l->length;
}

/* At x = 0; the stack is not empty. */
EDM_FUNCTION struct edm_cursor edm_first(const struct edm_line *l) {
    struct edm_cursor c;
    c.k = 0;
    edm_enter(l, &c);
    return c;
}

EDM_FUNCTION void edm_move(const struct edm_line *l, struct edm_cursor *c, int32_t x) {
    if (x < c->next)
        return;
    c->k++;
    edm_enter(l, c);
}

EDM_FUNCTION uint64_t edm_squared(const struct edm_line *l, const struct edm_cursor *c, int32_t x) {
    const int64_t along = (int64_t)x - c->at;
    return (uint64_t)(l->v * c->offset * c->offset + l->w * along * along);
}

#endif
