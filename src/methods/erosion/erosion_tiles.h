/* How erosions go over a plane: tiles, their halos, rounds, and what a structuring function offers. For CPU and CUDA alike.
 *
 * A *pass* erodes by a sequence of structuring functions, along y and x or along one of them, until nothing changes. It
 * goes in *rounds*, each of which applies the next `steps` functions to all tiles: a tile is read with a *halo* as wide as
 * those reach, eroded where it lies near the processor, and written without the halo, of which the outer parts went stale
 * meanwhile. From round to round results go from one map to the other.
 *
 * A tile of which no element changed in a round, nor of those around it that reach into its halo, has nothing to do in the
 * next: later functions cost more, so what did not improve anything will not now. Both maps hold the same there. When no
 * tile changed, the pass is complete; at the latest it is after as many functions as the longest way needs.
 *
 * The functions, at pitch w along an axis:
 *
 *     b_i, reach 1:    w^2 (2i - 1) for one step along an axis, both axes' terms for a diagonal one
 *     G_k, reach 8:    w^2 (d^2 + 16 (k - 1) d) for d steps along the axis, 1 <= d <= 8
 *
 * G_k is the sum of the one-dimensional b_i for i = 8 (k - 1) + 1, ..., 8 k: the cheapest d of those, added up. What would
 * lead over the length of its axis is left out; so every cost is a difference of squared distances in the plane, and fits
 * their type.
 */
#ifndef DISTMAP_METHODS_EROSION_TILES_H
#define DISTMAP_METHODS_EROSION_TILES_H

#include "core/planes.h"

#ifdef __CUDACC__
#define EROSION_INLINE static __device__ __host__ __forceinline__
#else
#define EROSION_INLINE static inline
#endif

/* The parameter `kernel`. */
enum erosion_kernel { EROSION_2D, EROSION_1D, EROSION_1D_LZ };
extern const char *const erosion_kernels[];
#define EROSION_KERNEL_SUMMARY "3 x 3 functions; 1 x 16 ones, columns then rows; the same, columns sequentially"

/* Lines that go together, and one function's reach, where a pass is one-dimensional. */
enum { EROSION_LINES = 16, EROSION_DEEP = 8 };

enum erosion_axes { EROSION_ALONG_Y, EROSION_ALONG_X, EROSION_ALONG_BOTH };

/* Pairs of y (0) and x (1). */
struct erosion_pass {
    int64_t planes, size[2];
    uint64_t w2[2];
    int64_t last[2];  /* steps along the axis that make sense: its length less 1; 0: the pass does not go along it */
    int64_t reach;    /* of one function */
    int64_t steps;    /* functions of a round */
    int64_t rounds;   /* that are enough */
    int64_t tile[2];  /* elements */
    int64_t halo[2];  /* on either side; 0 where a tile spans the axis */
    int64_t tiles[2]; /* of a plane */
    int64_t count;    /* of tiles in all */
    int64_t frame[2]; /* elements of "none" around a region, as far as one function reaches */
    int64_t area;     /* of the largest region with its frame */
};

/* A tile has `tile` elements along each axis that the pass goes along, and EROSION_LINES across; a round has `steps`
 * functions. Where a plane is thinner than that, tiles and rounds are longer in the same proportion, so that regions fill
 * the same area. Along both axes of a plane of which only one counts, eight b_i go together as a G_k. */
struct erosion_pass erosion_pass_make(const distmap_plan *plan, enum erosion_axes axes, int64_t tile, int64_t steps);

/* A tile and its region, in elements of the plane: [from, to) within [low, high). */
struct erosion_region {
    int64_t first; /* element of the plane in the map */
    int64_t from[2], to[2], low[2], high[2];
};

EROSION_INLINE struct erosion_region erosion_region_of(const struct erosion_pass *p, int64_t tile) {
    const int64_t each = p->tiles[0] * p->tiles[1], in_plane = tile % each;
    const int64_t place[2] = {in_plane / p->tiles[1], in_plane % p->tiles[1]};
    struct erosion_region r;
    r.first = tile / each * p->size[0] * p->size[1];
    for (int a = 0; a < 2; a++) {
        const int64_t from = place[a] * p->tile[a], to = from + p->tile[a];
        r.from[a] = from;
        r.to[a] = to < p->size[a] ? to : p->size[a];
        r.low[a] = from > p->halo[a] ? from - p->halo[a] : 0;
        r.high[a] = p->size[a] - r.to[a] > p->halo[a] ? r.to[a] + p->halo[a] : p->size[a];
    }
    return r;
}

/* Whether the tile, or one that lies in its region, changed in the round before. */
EROSION_INLINE bool erosion_is_active(const struct erosion_pass *p, const struct erosion_region *r, int64_t tile,
                                      const uint8_t *changed) {
    const uint8_t *plane = changed + (tile - tile % (p->tiles[0] * p->tiles[1]));
    for (int64_t y = r->low[0] / p->tile[0]; y <= (r->high[0] - 1) / p->tile[0]; y++)
        for (int64_t x = r->low[1] / p->tile[1]; x <= (r->high[1] - 1) / p->tile[1]; x++)
            if (plane[y * p->tiles[1] + x])
                return true;
    return false;
}

/* What an element is offered by two others, so far from it in memory: their values plus cost. */
struct erosion_offer {
    int64_t first, second;
    uint64_t cost;
};

enum { EROSION_OFFERS = 8 };

/* The offers of function i >= 1 of the pass to the elements of a region whose rows are `pitch` apart. Returns how many.
 * Straight ones come first, those along y before those along x. */
EROSION_INLINE int erosion_offers(const struct erosion_pass *p, int64_t i, int64_t pitch,
                                  struct erosion_offer *offers) {
    const int64_t apart[2] = {pitch, 1};
    int count = 0;
    for (int a = 0; a < 2; a++) {
        for (int64_t d = 1, way = (i - 1) * p->reach; d <= p->reach && way + d <= p->last[a]; d++) {
            offers[count].first = -d * apart[a];
            offers[count].second = d * apart[a];
            offers[count++].cost = p->w2[a] * (uint64_t)(d * (d + 2 * way));
        }
    }
    if (count == 2 && p->reach == 1) { /* straight both ways, so diagonal ones, too */
        const uint64_t cost = offers[0].cost + offers[1].cost;
        for (int side = -1; side <= 1; side += 2) {
            offers[count].first = side * pitch - 1;
            offers[count].second = side * pitch + 1;
            offers[count++].cost = cost;
        }
    }
    return count;
}

#endif
