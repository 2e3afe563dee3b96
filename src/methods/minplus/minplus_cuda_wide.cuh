/* minplus/cuda's second engine: the numbers that it searches in, and the sources of f (minplus_cuda_wide.cu). A source is one column of a
 * strip: raw values, a fixed step apart, and what each is as a number, or that it is none. */
#ifndef DISTMAP_MINPLUS_CUDA_WIDE_CUH
#define DISTMAP_MINPLUS_CUDA_WIDE_CUH

#include "methods/minplus/minplus_cuda_rows.cuh"
#include "methods/minplus/minplus_cuda_wide.h"

/* ---- Numbers ---- */

/* Integers, at most 2^62: samples are at most 2^61, and so is what is added to them. Rows beyond the image may overflow; nobody looks at
 * them. Rows y0, y0 + s, ... of a candidate d rows below: f + w (d + i s)^2 = f + w d^2 + 2 w s d i + w (i s)^2. The last
 * term is that of the row, not of the candidate, and is left out of comparisons. */
struct whole {
    typedef int64_t number;
    struct rows {
        uint64_t at, step;
    };
    enum { TWO_SIDED = 0 };
    int64_t w2;
    explicit __device__ whole(const mw_stage &p, int axis) : w2((int64_t)p.elements.w2[axis]) {}
    static __device__ number nothing(void) { return INT64_MAX; }
    static __device__ number of(dm_value v) { return v.u64 == UINT64_MAX ? nothing() : (int64_t)v.u64; }
    static __device__ dm_value value(number n) {
        dm_value v;
        v.u64 = n == nothing() ? UINT64_MAX : (uint64_t)n;
        return v;
    }
    __device__ number along(uint32_t g2) const { return (number)((uint64_t)w2 * g2); }
    __device__ rows from(number f, int32_t d, int32_t s) const {
        const uint64_t slope = (uint64_t)w2 * (uint64_t)(int64_t)d;
        const rows made = {(uint64_t)f + slope * (uint64_t)(int64_t)d, slope * (uint64_t)(2 * (int64_t)s)};
        return made;
    }
    __device__ number next(rows *r) const {
        const number value = (number)r->at;
        r->at += r->step;
        return value;
    }
    __device__ number of_row(number least, int32_t i_s) const {
        return least == nothing() ? least : (number)((uint64_t)least + (uint64_t)w2 * (uint64_t)((int64_t)i_s * i_s));
    }
    __device__ double in_rows(number v) const { return (double)v / (double)w2; }
};

/* FP64: one formula, fma(w, (y - j)^2, f). */
struct real {
    typedef double number;
    struct rows {
        double f, d, step;
    };
    enum { TWO_SIDED = 0 };
    double w2;
    explicit __device__ real(const mw_stage &p, int axis) : w2(p.elements.w2f[axis]) {}
    static __device__ number nothing(void) { return (double)INFINITY; }
    static __device__ number of(dm_value v) { return v.f64; }
    static __device__ dm_value value(number n) {
        dm_value v;
        v.f64 = n;
        return v;
    }
    __device__ number along(uint32_t g2) const { return w2 * (double)g2; }
    __device__ rows from(number f, int32_t d, int32_t s) const {
        const rows made = {f, (double)d, (double)s};
        return made;
    }
    __device__ number next(rows *r) const {
        const number value = fma(w2, r->d * r->d, r->f);
        r->d += r->step;
        return value;
    }
    __device__ number of_row(number least, int32_t) const { return least; }
    __device__ double in_rows(number v) const { return v / w2; }
};

/* The same of any samples, whose sums may be so large that w is lost in the rounding. The exact winner is among the rows with the least
 * rounded value, and exact winners are monotone: the candidates between two known rows are those from the first winner of the one to the
 * last winner of the other. */
struct real_of_samples : real {
    enum { TWO_SIDED = 1 };
    explicit __device__ real_of_samples(const mw_stage &p, int axis) : real(p, axis) {}
};

/* ---- Sources of f: one column of a strip ---- */

/* Where a column begins: its element 0 along the pass. */
struct column {
    int64_t at[DM_NDIM];
    int64_t first; /* linear */
    bool inside;   /* the image */
};

/* Kinds: whether the element `by` along `axis` from the one in row y of a column is in the image, and of another kind. */
DM_DEVICE_APART bool is_other(const mw_stage &p, const column &c, int32_t y, int axis, int32_t by) {
    unsigned known = 0; /* raised already, by packing */
    int64_t at[DM_NDIM] = {c.at[0], c.at[1], c.at[2], c.at[3]};
    at[p.axis] = y;
    const int64_t kind = dm_element_kind(&p.elements, at, &known);
    at[axis] += by;
    return at[axis] >= 0 && at[axis] < p.elements.shape[axis] && dm_element_kind(&p.elements, at, &known) != kind;
}

template <class N> struct from_entries {
    typedef uint2 raw;
    const uint2 *row;
    int64_t step;
    N along;
    int lane;
    int32_t rim, far; /* rows whose nearest site is as far have none that counts */
    __device__ from_entries(const mw_stage &p, const column &c)
        : row((const uint2 *)p.entries), step(p.entry_step[p.axis]), along(p, DM_X), lane((int)threadIdx.x % 32),
          rim(p.across ? 1 : 0), far(p.along_x ? MC_NONE : 1) {
        row += c.at[p.other[0]] * p.entry_step[p.other[0]] + c.at[p.other[1]] * p.entry_step[p.other[1]] +
               c.at[DM_X] / 32 * p.entry_step[DM_X];
        if (!p.along_x)
            along.w2 = 0;
    }
    static __device__ raw read(const raw *at) { return __ldg(at); }
    __device__ bool f(raw e, typename N::number *value) const {
        const uint32_t g = entry_distance(e, lane, rim);
        *value = along.along(g * g); /* of a row without a site anything */
        return (int32_t)g < far;
    }
    __device__ int64_t site(const mw_stage &p, const column &c, int32_t j) const {
        const raw e = read(row + j * step);
        int32_t from = entry_site(e, lane);
        if (rim) { /* the element beside the rim, on whichever side is of another kind */
            const int32_t g = (int32_t)entry_distance(e, lane, rim);
            from = is_other(p, c, j, DM_X, -g) ? -g : g;
        }
        return c.first + j * p.elements.linear[p.axis] + from;
    }
};

template <class N> struct from_values {
    typedef dm_value raw;
    const dm_value *row;
    int64_t step;
    __device__ from_values(const mw_stage &p, const column &c)
        : row((const dm_value *)p.value + c.first), step(p.elements.linear[p.axis]) {}
    static __device__ raw read(const raw *at) { return *at; }
    __device__ bool f(raw v, typename N::number *value) const {
        *value = N::of(v);
        return *value != N::nothing();
    }
    __device__ int64_t site(const mw_stage &p, const column &c, int32_t j) const { return p.site[c.first + j * step]; }
};

/* Planes that the first engine solved: squared distances in its numbers, or the offsets of sites. */
template <class N> struct from_planes {
    typedef uint32_t raw;
    const uint32_t *row;
    int64_t step;
    uint64_t factor, w2[2];
    uint32_t none;
    bool offsets;
    __device__ from_planes(const mw_stage &p, const column &c)
        : row((const uint32_t *)p.value + c.first), step(p.elements.linear[p.axis]),
          factor(p.factor), w2{p.elements.w2[2], p.elements.w2[DM_X]},
          none(p.sites ? MC_NO_OFFSET : (uint32_t)MC_NOTHING), offsets(p.sites) {}
    static __device__ raw read(const raw *at) { return *at; }
    __device__ bool f(raw r, typename N::number *value) const {
        const int32_t dy = (int32_t)r >> 16, dx = (int16_t)r;
        *value = offsets ? (int64_t)(w2[0] * (uint64_t)(dy * dy) + w2[1] * (uint64_t)(dx * dx)) : (int64_t)(factor * r);
        return r != none;
    }
    __device__ int64_t site(const mw_stage &p, const column &c, int32_t j) const {
        const uint32_t offset = row[j * step];
        return c.first + j * step + ((int32_t)offset >> 16) * p.elements.linear[2] + (int16_t)offset;
    }
};

#endif
