/* edm/cuda: a thread's stack of proximate points (edm_stack.h): pushing a line's points, and going through their intervals.
 *
 * Stacks lie in global memory, as in the paper, side by side: point k of neighbouring lines together. What a thread is about
 * to touch is kept where it need not wait for it: offsets are read some elements ahead; the top of the stack is in
 * registers, and below it EDM_RING points in shared memory, so that threads that pop do not wait for memory, nor all others of
 * their warp with them; on the way back, the points to come are read ahead into the same ring.
 *
 * Lines of up to 65,536 elements have points of 8 bytes, others of 16. */
#ifndef DISTMAP_METHODS_EDM_CUDA_STACK_CUH
#define DISTMAP_METHODS_EDM_CUDA_STACK_CUH

#include "methods/edm/edm_cuda.cuh"

enum {
    EDM_AHEAD = 4, /* offsets read ahead */
    EDM_RING = 32, /* points of a thread in shared memory */
    EDM_BATCH = 8, /* points read at once; twice and two more are in the ring at most before they are needed */
};

struct edm_narrow {
    uint16_t at, start;
    int32_t offset;
};
struct edm_wide {
    int32_t at, start, offset, unused;
};

DM_DEVICE void edm_pack(struct edm_narrow *to, const struct edm_point &p) {
    to->at = (uint16_t)p.at;
    to->start = (uint16_t)p.start;
    to->offset = p.offset;
}
DM_DEVICE void edm_pack(struct edm_wide *to, const struct edm_point &p) {
    to->at = p.at;
    to->start = p.start;
    to->offset = p.offset;
}
template <class ENTRY> DM_DEVICE struct edm_point edm_unpack(const ENTRY &e) {
    struct edm_point p;
    p.at = e.at;
    p.start = e.start;
    p.offset = e.offset;
    return p;
}

template <class ENTRY> struct edm_line {
    const int32_t *offset; /* of element k: offset[k * offset_apart] */
    int64_t offset_apart;
    ENTRY *stack; /* its k-th point from the bottom: stack[k * stack_apart] */
    int64_t stack_apart;
    ENTRY *ring; /* point k, if it is there: ring[k % EDM_RING * EDM_THREADS] */
    int32_t length;
    struct edm_rule rule;
};

template <class ENTRY> DM_DEVICE ENTRY *edm_in_ring(const edm_line<ENTRY> &l, int32_t k) {
    return l.ring + k % EDM_RING * EDM_THREADS;
}

/* ---- Pushing ---- */

template <class ENTRY>
DM_DEVICE void edm_read_offsets(const edm_line<ENTRY> &l, int32_t from, int32_t offset[EDM_AHEAD]) {
#pragma unroll
    for (int i = 0; i < EDM_AHEAD; i++)
        offset[i] = from + i < l.length ? l.offset[(from + i) * l.offset_apart] : EDM_NONE;
}

/* A stack while it grows: `count` points, of which those from `held` on are in the ring, and the last one here. */
struct edm_top {
    struct edm_point last;
    int32_t count, held;
};

/* The last point leaves. Where the one under it is not in the ring, several are read. */
template <class ENTRY> DM_DEVICE void edm_pop(const edm_line<ENTRY> &l, struct edm_top *top) {
    if (--top->count == 0)
        return;
    const int32_t k = top->count - 1;
    if (k < top->held) {
#pragma unroll
        for (int i = 0; i < EDM_BATCH; i++)
            if (k >= i)
                *edm_in_ring(l, k - i) = l.stack[(k - i) * l.stack_apart];
        top->held = max(k + 1 - EDM_BATCH, 0);
    }
    top->last = edm_unpack(*edm_in_ring(l, k));
}

template <class ENTRY>
DM_DEVICE void edm_push(const edm_line<ENTRY> &l, int32_t at, int32_t offset, struct edm_top *top) {
    struct edm_pair pair = {0, 1, false};
    while (top->count > 0) {
        pair = edm_compare(&l.rule, top->last, at, offset);
        if (!edm_takes(&pair, top->last.start))
            break;
        edm_pop(l, top);
    }
    const int64_t start = top->count > 0 ? edm_start(&pair) : 0;
    if (start >= l.length)
        return;
    top->last.at = at;
    top->last.start = (int32_t)start;
    top->last.offset = offset;
    ENTRY entry;
    edm_pack(&entry, top->last);
    *edm_in_ring(l, top->count) = entry;
    l.stack[top->count * l.stack_apart] = entry;
    top->count++;
    top->held = max(top->held, top->count - EDM_RING);
}

/* Reads the line and leaves its proximate points on the stack; how many. */
template <class ENTRY> DM_DEVICE int32_t edm_push_all(const edm_line<ENTRY> &l) {
    struct edm_top top = {{0, 0, 0}, 0, 0};
    int32_t next[EDM_AHEAD], offset[EDM_AHEAD];
    edm_read_offsets(l, 0, next);
    for (int32_t from = 0; from < l.length; from += EDM_AHEAD) {
#pragma unroll
        for (int i = 0; i < EDM_AHEAD; i++)
            offset[i] = next[i];
        edm_read_offsets(l, from + EDM_AHEAD, next);
#pragma unroll
        for (int i = 0; i < EDM_AHEAD; i++)
            if (offset[i] != EDM_NONE)
                edm_push(l, from + i, offset[i], &top);
    }
    return top.count;
}

/* ---- Intervals ---- */

/* The point nearest to x, as x rises from 0: number k of `count`, next to which the interval from `next` on lies. Points up to
 * `have` are in the ring, the following ones under way. An interval has an element at least: so EDM_BATCH elements need the
 * EDM_BATCH points after k, and the start of one more. */
template <class ENTRY> struct edm_cursor {
    struct edm_point point;
    int32_t k, count, next, have;
    ENTRY coming[EDM_BATCH];
};

template <class ENTRY> DM_DEVICE void edm_ask(const edm_line<ENTRY> &l, edm_cursor<ENTRY> *c) {
#pragma unroll
    for (int i = 0; i < EDM_BATCH; i++)
        if (c->have + i < c->count)
            c->coming[i] = l.stack[(c->have + i) * l.stack_apart];
}

/* Those that were asked for, as far as the ring has room. */
template <class ENTRY> DM_DEVICE void edm_receive(const edm_line<ENTRY> &l, edm_cursor<ENTRY> *c) {
    const int32_t end = min(min(c->have + EDM_BATCH, c->count), c->k + EDM_RING);
#pragma unroll
    for (int i = 0; i < EDM_BATCH; i++)
        if (c->have + i < end)
            *edm_in_ring(l, c->have + i) = c->coming[i];
    c->have = end;
}

template <class ENTRY> DM_DEVICE void edm_enter(const edm_line<ENTRY> &l, edm_cursor<ENTRY> *c) {
    c->point = edm_unpack(*edm_in_ring(l, c->k));
    c->next = c->k + 1 < c->count ? edm_unpack(*edm_in_ring(l, c->k + 1)).start : l.length;
}

/* At x = 0. Without points it stays where it is, nowhere. */
template <class ENTRY> DM_DEVICE edm_cursor<ENTRY> edm_first(const edm_line<ENTRY> &l, int32_t count) {
    edm_cursor<ENTRY> c = {{-1, 0, EDM_NONE}, 0, count, l.length, 0, {}};
    edm_ask(l, &c);
    edm_receive(l, &c);
    edm_ask(l, &c);
    if (count)
        edm_enter(l, &c);
    return c;
}

/* To x = 0, 1, 2, ... */
template <class ENTRY> DM_DEVICE void edm_move(const edm_line<ENTRY> &l, int32_t x, edm_cursor<ENTRY> *c) {
    if (x % EDM_BATCH == 0) {
        edm_receive(l, c);
        edm_ask(l, c);
    }
    if (x < c->next)
        return;
    c->k++;
    edm_enter(l, c);
}

#endif
