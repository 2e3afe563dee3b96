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
 * C and CUDA alike: kernels say before including this what a function is (EDM_FUNCTION). The stack's own memory is the
 * device's affair.
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
    int32_t at;     /* where on the line */
    int32_t start;  /* the first x of its interval */
    int32_t offset; /* to its site, across the line */
};

struct edm_rule {
    int64_t v, w; /* squared pitch across the line and along it */
    bool by_row;  /* ties go to the lower offset first */
};

/* Of points i < j, what the difference above is at x = 0, and by how much it falls with each x. */
struct edm_pair {
    int64_t above, slope;
    bool tie; /* where they are equally near, j has the element */
};

EDM_FUNCTION int64_t edm_square(int32_t x) { return (int64_t)x * x; }

EDM_FUNCTION struct edm_pair edm_compare(const struct edm_rule *r, struct edm_point i, int32_t j, int32_t offset) {
    struct edm_pair p;
    p.above = r->v * (edm_square(offset) - edm_square(i.offset)) + r->w * (edm_square(j) - edm_square(i.at));
    p.slope = 2 * r->w * (j - i.at);
    p.tie = r->by_row && offset < i.offset;
    return p;
}

EDM_FUNCTION bool edm_takes(const struct edm_pair *p, int64_t x) {
    const int64_t fallen = p->slope * x;
    return p->above < fallen || (p->above == fallen && p->tie);
}

/* The first x that j takes; may lie outside the line. Division takes several times longer in 64 bits. */
EDM_FUNCTION int64_t edm_start(const struct edm_pair *p) {
    const bool narrow = p->above == (int32_t)p->above && p->slope == (int32_t)p->slope;
    const int64_t quotient = narrow ? (int32_t)p->above / (int32_t)p->slope : p->above / p->slope;
    const int64_t rest = p->above - quotient * p->slope;
    if (rest == 0 && p->tie)
        return quotient;
    return quotient + (rest >= 0); /* floor + 1 */
}

EDM_FUNCTION uint64_t edm_squared(const struct edm_rule *r, const struct edm_point *p, int32_t x) {
    return (uint64_t)(r->v * edm_square(p->offset) + r->w * edm_square(x - p->at));
}

#endif
