/* Squared distances along one line to its own sites, in two sequential passes.
 *
 * f is 0 at the sites, N's largest value elsewhere. In a pass away from a site each element is one step farther than the previous
 * one, so its square is w^2 (2i - 1) more, where i counts the steps from the site: 1 after an element that was not improved, 2 after
 * one that was, ... The pass back starts from the result of the first pass and stops where that is nearer.
 *
 * C and CUDA alike; N is the unsigned type of squared distances, which are all below its largest value.
 */
#ifndef DISTMAP_CORE_SEQUENTIAL_H
#define DISTMAP_CORE_SEQUENTIAL_H

#include <stdbool.h>
#include <stdint.h>

/* Arguments: the functions' common name, their qualifiers, N. Defines
 *     bool name_offer(N from, N cost, N *to)                     *to = min(*to, from + cost); whether that is an improvement
 *     void name_line(N *f, int64_t n, int64_t stride, N w2)      both passes */
#define DM_SEQUENTIAL(name, qualifiers, N)                                                       \
    qualifiers bool name##_offer(N from, N cost, N *to) {                                        \
        if (from >= *to || *to - from <= cost)                                                   \
            return false;                                                                        \
        *to = from + cost;                                                                       \
        return true;                                                                             \
    }                                                                                            \
    qualifiers void name##_line(N *f, int64_t n, int64_t stride, N w2) {                         \
        N cost = w2;                                                                             \
        for (int64_t x = 1; x < n; x++)                                                          \
            cost = name##_offer(f[(x - 1) * stride], cost, &f[x * stride]) ? cost + 2 * w2 : w2; \
        cost = w2;                                                                               \
        for (int64_t x = n - 2; x >= 0; x--)                                                     \
            cost = name##_offer(f[(x + 1) * stride], cost, &f[x * stride]) ? cost + 2 * w2 : w2; \
    }

#endif
