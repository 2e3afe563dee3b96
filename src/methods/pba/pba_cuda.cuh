/* pba/cuda: what its kernels share: words, columns, squared distances. */
#ifndef DISTMAP_METHODS_PBA_CUDA_CUH
#define DISTMAP_METHODS_PBA_CUDA_CUH

#include "cuda/elements.cuh"
#include "methods/pba/pba_cuda.h"

enum { PBA_MOST_BLOCKS = 1 << 20 };

/* The two widths of everything. Squared distances, and h = f + w y^2 of phase 2, are at most the problem's largest squared
 * distance: below 2^31, or at most 2^61. A product is such a difference times a length. */
struct pba_narrow {
    typedef uint32_t word;
    typedef int32_t number;
    typedef int64_t product;
    typedef uint16_t link;
    typedef uint32_t apart; /* one multiplication gives an address */
};
struct pba_wide {
    typedef uint64_t word;
    typedef int64_t number;
    __extension__ typedef __int128 product;
    typedef uint32_t link;
    typedef uint64_t apart;
};

template <class Word> DM_DEVICE Word pba_none() { return ~(Word)0; }

/* The nearer of a site at or before x and one at or after it; at equal distance the one before. -1: none. */
DM_DEVICE int32_t pba_nearer(int32_t x, int32_t before, int32_t after) {
    return before < 0 || (after >= 0 && after - x < x - before) ? after : before;
}

/* Which of pba_work.reach or pba_pass.end: `count` lines or columns to a band. */
DM_DEVICE int64_t pba_place(int32_t band, int64_t count, int64_t index) { return band * count + index; }

/* ---- Columns: Z along z, else along y ---- */

template <class T> struct pba_column {
    int64_t first;           /* linear index of its first element */
    int32_t x, y;            /* y: along z only */
    typename T::word *words; /* at its first element */
    typename T::apart apart;
};

template <class T, bool Z>
DM_DEVICE pba_column<T> pba_column_make(const pba_work *w, const pba_pass *p, int64_t index) {
    pba_column<T> c;
    const int64_t outer = index / p->apart, inner = index - outer * p->apart;
    c.first = outer * p->apart * p->length + inner;
    c.y = Z ? (int32_t)(inner / w->nx) : 0;
    c.x = (int32_t)(inner - (int64_t)c.y * w->nx);
    c.words = (typename T::word *)p->words + c.first;
    c.apart = (typename T::apart)p->apart;
    return c;
}

/* From the column's first element to that one. */
template <class T> DM_DEVICE uint64_t pba_step(const pba_column<T> *c, int32_t at) {
    return (uint64_t)(uint32_t)at * c->apart;
}

template <class T> DM_DEVICE typename T::word pba_load(const pba_column<T> *c, int32_t at) {
    return c->words[pba_step(c, at)];
}

/* ---- Words ---- */

template <class T> DM_DEVICE int32_t pba_site_x(const pba_work *w, typename T::word v) {
    return (int32_t)(v & (((typename T::word)1 << w->shift_y) - 1));
}

template <class T> DM_DEVICE int32_t pba_site_y(const pba_work *w, typename T::word v) {
    return (int32_t)(v >> w->shift_y & (((typename T::word)1 << (w->shift_z - w->shift_y)) - 1));
}

/* The bits along the column: a link, or once more a coordinate. */
template <class T, bool Z> DM_DEVICE int32_t pba_link(const pba_work *w, typename T::word v) {
    return Z ? (int32_t)(v >> w->shift_z) : pba_site_y<T>(w, v);
}

template <class T, bool Z> DM_DEVICE typename T::word pba_with_link(const pba_work *w, typename T::word v, int32_t at) {
    typedef typename T::word word;
    const int32_t shift = Z ? w->shift_z : w->shift_y;
    return (v & (((word)1 << shift) - 1)) | (word)at << shift; /* bits above are still zero */
}

/* ---- Distances ---- */

/* From the column to the word's site, across it. */
template <class T, bool Z>
DM_DEVICE typename T::number pba_across(const pba_work *w, const pba_column<T> *c, typename T::word v) {
    typedef typename T::number number;
    const number dx = pba_site_x<T>(w, v) - c->x;
    number f = (number)w->w2[0] * dx * dx;
    if (Z) {
        const number dy = pba_site_y<T>(w, v) - c->y;
        f += (number)w->w2[1] * dy * dy;
    }
    return f;
}

/* f + w (at - from)^2 */
template <class T, bool Z>
DM_DEVICE typename T::number pba_squared(const pba_work *w, typename T::number f, int32_t from, int32_t at) {
    typedef typename T::number number;
    const number along = at - from;
    return f + (number)w->w2[Z ? 2 : 1] * along * along;
}

#endif
