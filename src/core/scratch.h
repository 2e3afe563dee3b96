/* How scratch is laid out: one walk counts it, and the same walk hands it out. */
#ifndef DISTMAP_CORE_SCRATCH_H
#define DISTMAP_CORE_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

typedef struct dm_scratch {
    char *base; /* NULL: only count */
    size_t used;
    size_t unit; /* pieces start at multiples of it, a power of two: DM_CPU_UNIT on the CPU */
} dm_scratch;

enum { DM_CPU_UNIT = 64 };

static inline size_t dm_round64(size_t bytes) { return (bytes + DM_CPU_UNIT - 1) & ~(size_t)(DM_CPU_UNIT - 1); }

/* The next piece, of `count` things of `size` bytes; NULL when only counting. */
static inline void *dm_take(dm_scratch *s, int64_t count, size_t size) {
    void *piece = s->base ? s->base + s->used : NULL;
    s->used += ((size_t)count * size + s->unit - 1) & ~(s->unit - 1);
    return piece;
}

#endif
