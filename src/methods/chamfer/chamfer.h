/* chamfer/cpu: what its driver and its kernels share.
 *
 * A *lane* is one element's distance as it grows shorter: u16 or u32, or with sites a u64 *key*, distance << 32 | index, of
 * which the smallest is the nearest site of the lowest index. Lanes never exceed `cap`, the type's largest value less the
 * dearest step: so sums need no care, and cap says "none so far".
 */
#ifndef DISTMAP_CHAMFER_H
#define DISTMAP_CHAMFER_H

#include "core/internal.h"

enum {
    CH_GROUP = 8, /* elements that a row scan takes at once */
    CH_UNIT = 32, /* what runs are rounded up to: whole groups, and the widest vector of u16 */
    CH_PAD = 32,  /* lanes of cap on either side of a row, so that neighbours need no tests; whole cache lines */
};

typedef enum ch_lane { CH_U16, CH_U32, CH_KEY, CH_LANES } ch_lane;

static inline size_t ch_lane_size(ch_lane lane) { return (size_t)2 << lane; }
static inline int ch_lane_shift(ch_lane lane) { return lane == CH_KEY ? 32 : 0; } /* of a cost */

/* A run of a row to begin with: sites in, distances along the row out. */
typedef struct ch_start {
    const uint8_t *site; /* 1 at sites, 0 elsewhere and up to the next whole unit */
    size_t groups;       /* a whole number of units */
    const void *near; /* [256][CH_GROUP] for every pattern of sites in a group, the distances to the nearest of them; of
                         keys the nearest ones, by their places in the group */
    void *before, *after; /* [groups] room for the scan */
    uint8_t *pattern;     /* [groups] the same */
    uint64_t left, right; /* distance of the elements before and after the run; cap: none */
    uint64_t step, cap;   /* in lanes */
    uint32_t index;       /* keys: of the first element */
    bool along;           /* false: rows are not measured along, every element stands for itself */
} ch_start;

/* For one lane and one instruction set. Rows are given by their first lane; n need not be a multiple of anything. */
typedef struct ch_rows {
    void (*start)(const ch_start *start, void *row); /* writes whole units, and CH_PAD on either side */
    /* row[x] = min(row[x], from[x] + straight) */
    void (*straight)(void *row, const void *from, size_t n, uint64_t straight);
    /* ... and from[x - 1] + diagonal, from[x + 1] + diagonal */
    void (*diagonal)(void *row, const void *from, size_t n, uint64_t straight, uint64_t diagonal);
    /* row[x] = min(row[x], one[x +- 2] + knight, two[x +- 1] + knight): one and two rows away */
    void (*knights)(void *row, const void *one, const void *two, size_t n, uint64_t knight);
    /* Copies cache lines, past the cache. What went past it is seen by other threads after `settle`. */
    void (*put)(void *to, const void *from, size_t bytes);
    void (*settle)(void);
    /* Lanes as float32, +inf beyond `most`; past the cache with `stream`. Whether there was one. Not for keys. */
    bool (*emit)(const void *row, size_t n, uint32_t most, bool stream, float *out);
    /* The same of keys, with indices as int64, -1 where there is none. */
    bool (*emit_sites)(const void *row, size_t n, uint32_t most, bool stream, float *out, int64_t *index);
} ch_rows;

/* By instruction set: tables of CH_LANES. */
extern const ch_rows dm_chamfer_plain[], dm_chamfer_sse4[], dm_chamfer_avx2[], dm_chamfer_avx512[], dm_chamfer_neon[];

#endif
