/* The search of the parallel shortest distance scan, along one column of a plane.
 *
 * Known of every element are the distance `across` to the nearest site of its own row, and the distances `below` and `above`
 * (0 at itself) to the nearest row with a site. Downwards from (y, x) the rows with sites are
 *
 *     r0 = y + below[y],    r1 = r0 + 1 + below[r0 + 1],    r2 = r1 + 1 + below[r1 + 1],    ...
 *
 * and row r offers wy^2 (r - y)^2 + wx^2 across[r]^2. The search ends where the first term alone reaches the least offer so
 * far: rows farther down offer no less. That bound falls with every better row. Upwards likewise. (The paper advances to
 * 1 + U[..], forgetting the distance walked already; meant is what stands here.)
 *
 * Ties: the lowest row, then the left one of two sites of it. Downwards an offer has to be better, upwards as good is
 * enough, so there a bound that is merely reached does not end the search; and above goes before below. Sites need no
 * memory: the nearest one of a row, d away, lies d to the left if that element is a site (across = 0), else d to the right.
 *
 * Exact: rows without sites offer nothing, and all others within the bound are looked at. C and CUDA alike; N is the
 * unsigned type of squared distances: 32 bits are enough where the plan says so, since no offer exceeds the largest
 * possible one.
 */
#ifndef DISTMAP_METHODS_PSDS_SEARCH_H
#define DISTMAP_METHODS_PSDS_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#define PSDS_NOTHING 0x7fffffffu /* no site that way; distances are below, and a scan's step may be added */

/* Arguments: name of the function, its qualifiers, N. `column` is the offset of (0, x) in its plane, y < height. Returns the
 * least offer, N's largest value when there is none, and its row. `walks`: other rows count, too. */
#define PSDS_SEARCH(name, qualifiers, N)                                                                               \
    qualifiers N name(const uint32_t *across, const uint32_t *below, const uint32_t *above, int64_t stride, int64_t y, \
                      int64_t height, bool walks, N wx2, N wy2, int64_t *row) {                                        \
        N up = (N)-1, down = (N)-1;                                                                                    \
        int64_t up_row = -1, down_row = -1;                                                                            \
        if (!walks) {                                                                                                  \
            const N d = across[y * stride];                                                                            \
            *row = d < PSDS_NOTHING ? y : -1;                                                                          \
            return d < PSDS_NOTHING ? wx2 * d * d : (N)-1;                                                             \
        }                                                                                                              \
        for (int64_t r = y; r < height; r++) {                                                                         \
            const uint32_t gap = below[r * stride];                                                                    \
            r += gap;                                                                                                  \
            const N far = (N)(r - y);                                                                                  \
            if (gap == PSDS_NOTHING || wy2 * far * far >= down)                                                        \
                break;                                                                                                 \
            const N d = across[r * stride], offer = wy2 * far * far + wx2 * d * d;                                     \
            if (offer < down) {                                                                                        \
                down = offer;                                                                                          \
                down_row = r;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t r = y; r >= 0; r--) {                                                                             \
            const uint32_t gap = above[r * stride];                                                                    \
            r -= gap;                                                                                                  \
            const N far = (N)(y - r);                                                                                  \
            if (gap == PSDS_NOTHING || wy2 * far * far > up)                                                           \
                break;                                                                                                 \
            const N d = across[r * stride], offer = wy2 * far * far + wx2 * d * d;                                     \
            if (offer <= up) {                                                                                         \
                up = offer;                                                                                            \
                up_row = r;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        *row = up <= down ? up_row : down_row;                                                                         \
        return up <= down ? up : down;                                                                                 \
    }

/* Where in its row, which has one, the nearest site to element x is. */
#define PSDS_NEAREST(name, qualifiers)                           \
    qualifiers int64_t name(const uint32_t *across, int64_t x) { \
        const int64_t d = across[x];                             \
        return d <= x && across[x - d] == 0 ? x - d : x + d;     \
    }

#endif
