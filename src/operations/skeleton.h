/* The integer medial axis: the rule of distmap_skeleton for one element and one neighbour, for CPU and GPU alike, to the
 * bit. Where elements lie, and their sites, are told along the measured axes alone, slowest first.
 *
 * Source: W. H. Hesselink, J. B. T. M. Roerdink, IEEE TPAMI 30(12), 2008: definition 6 and section 6 (pruning). */
#ifndef DISTMAP_OPERATIONS_SKELETON_H
#define DISTMAP_OPERATIONS_SKELETON_H

#include <math.h>

#include "core/internal.h"

enum { SK_AXES = 3 };

typedef struct sk_rule {
    int axes;                /* measured ones */
    int axis[SK_AXES];       /* their numbers in the normal form */
    int64_t length[SK_AXES]; /* elements along them */
    double w2[SK_AXES];      /* squared pitches, in the plan's unit as all that follows */
    double pitch, more;      /* h, and C h^2 */
    double gamma2;
    distmap_pruning pruning;
    bool border;
} sk_rule;

typedef struct sk_point {
    int64_t at[SK_AXES], site[SK_AXES];
} sk_point;

/* The nearest outside element, for one that is nearest to the border. Among equally near ones that with the first coordinates:
 * before the image along the slowest axis, ..., the fastest; behind it along the fastest, ..., the slowest. */
DM_ANYWHERE void sk_leave(const sk_rule *r, sk_point *e) {
    double nearest = (double)INFINITY;
    for (int i = 0; i < 2 * r->axes; i++) {
        const int k = i < r->axes ? i : 2 * r->axes - 1 - i;
        const int64_t outside = i < r->axes ? -1 : r->length[k];
        const double steps = (double)(i < r->axes ? e->at[k] + 1 : outside - e->at[k]), d = r->w2[k] * (steps * steps);
        if (!(d < nearest))
            continue;
        nearest = d;
        for (int other = 0; other < r->axes; other++)
            e->site[other] = other == k ? outside : e->at[other];
    }
}

/* The rule for neighbours e and q, with u = e' - q', v = e - q and s = e - e' + q - q': sums over the axes. */
typedef struct sk_sums {
    double apart, d, us, ss, vu;
} sk_sums;

DM_ANYWHERE void sk_add(sk_sums *sums, double w2, double u, double v, double s) {
    sums->apart += fabs(u);
    sums->d += w2 * (u * u);
    sums->us += w2 * (u * s);
    sums->ss += w2 * (s * s);
    sums->vu += w2 * (v * u);
}

/* Which of them are on the skeleton because of each other.
 *
 * Background is never marked. For let q be of it, q = q', and e not. With g = q - e, one step along axis k, and s = e - e'
 * is u = e' - q = -s - g, so that every term of <u, s>, -w_j s_j^2 and -w_k s_k (s_k + g_k), is at most 0, s_k being whole;
 * and all are 0 only where e' = q, which is not apart. So e alone is marked. Nor are two of the background apart. */
enum { SK_FIRST = 1, SK_SECOND = 2 };
DM_ANYWHERE unsigned sk_judge(const sk_rule *r, const sk_sums *sums) {
    const bool far = r->pruning == DISTMAP_PRUNING_SQUARE_ROOT
                         ? sums->d > r->pitch * sqrt(sums->ss) + 2 * sums->vu + r->more
                     : r->pruning == DISTMAP_PRUNING_LINEAR ? sums->d > r->gamma2 * sums->ss
                                                            : sums->d > r->gamma2;
    /* <u, e' + q' - e - q> is -us */
    const unsigned sides = (sums->us <= 0) * SK_FIRST | (sums->us >= 0) * SK_SECOND;
    return sums->apart > 1 && far ? sides : 0;
}

DM_ANYWHERE unsigned sk_pair(const sk_rule *r, const sk_point *e, const sk_point *q) {
    sk_sums sums = {0, 0, 0, 0, 0};
    for (int k = 0; k < r->axes; k++)
        sk_add(&sums, r->w2[k], (double)(e->site[k] - q->site[k]), (double)(e->at[k] - q->at[k]),
               (double)(e->at[k] - e->site[k] + (q->at[k] - q->site[k])));
    return sk_judge(r, &sums);
}

#ifdef __cplusplus
extern "C" {
#endif
sk_rule sk_rule_of(const distmap_plan *plan);
/* Whether coordinates, those of outside elements too, fit 16 bits. */
bool sk_is_narrow(const distmap_plan *plan);
#ifdef __cplusplus
}
#endif
#endif
