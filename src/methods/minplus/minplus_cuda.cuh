/* Device functions of minplus/cuda's kernels: lanes of 16 bits, roots, where results go. */
#ifndef DISTMAP_MINPLUS_CUDA_CUH
#define DISTMAP_MINPLUS_CUDA_CUH

#include "cuda/elements.cuh"
#include "methods/minplus/minplus_cuda.h"

#define MC_WHOLE 0xFFFFFFFFu /* all lanes of a warp */

/* The least number of a warp, of numbers that are not negative, whose bits compare as integers do; and the largest. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
DM_DEVICE uint32_t mc_warp_least(uint32_t v) { return __reduce_min_sync(MC_WHOLE, v); }
DM_DEVICE float mc_warp_least(float v) { return __uint_as_float(mc_warp_least(__float_as_uint(v))); }
DM_DEVICE int32_t mc_warp_most(int32_t v) { return __reduce_max_sync(MC_WHOLE, v); }
#else
template <class T, class Join> DM_DEVICE T mc_warp_fold(T v, const Join &join) {
    for (int step = 16; step; step /= 2)
        v = join(v, __shfl_xor_sync(MC_WHOLE, v, step));
    return v;
}
DM_DEVICE uint32_t mc_warp_least(uint32_t v) {
    return mc_warp_fold(v, [](uint32_t a, uint32_t b) { return min(a, b); });
}
DM_DEVICE float mc_warp_least(float v) {
    return mc_warp_fold(v, [](float a, float b) { return fminf(a, b); });
}
DM_DEVICE int32_t mc_warp_most(int32_t v) {
    return mc_warp_fold(v, [](int32_t a, int32_t b) { return max(a, b); });
}
#endif

/* On two halves: min(a, b), min(a, b, c), and min(a + b, c) where a + b stays below 2^16. Hopper has each in one instruction. */
DM_DEVICE uint32_t mc_min(uint32_t a, uint32_t b) { return __vminu2(a, b); }
DM_DEVICE uint32_t mc_min3(uint32_t a, uint32_t b, uint32_t c) { return __vimin3_u16x2(a, b, c); }
DM_DEVICE uint32_t mc_add_min(uint32_t a, uint32_t b, uint32_t c) { return __viaddmin_u16x2(a, b, c); }

/* An integer below 2^23 as a float, by way of the mantissa of 2^23. */
DM_DEVICE float mc_float(uint32_t small) { return __uint_as_float(0x4B000000 | small) - 8388608.0f; }

/* The same of a half of a word. */
DM_DEVICE float mc_float_of(uint32_t halves, int half) {
    return __uint_as_float(__byte_perm(halves, 0x4B000000, half ? 0x7632 : 0x7610)) - 8388608.0f;
}

/* 1 / sqrt(x) and sqrt(x), approximately, of x that are 0 or no less than 2^-126: one instruction each. (rsqrtf takes three
 * more, for what is less.) */
#ifdef __CUDACC__
DM_DEVICE float mc_per_root(float x) {
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}
DM_DEVICE float mc_near_root(float x) {
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}
/* Halves, each filled with its highest bit or, if so, with the highest of its low byte. (__byte_perm() does not repeat signs.) */
DM_DEVICE uint32_t mc_signs(uint32_t halves, bool low) {
    uint32_t made;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(made) : "r"(halves), "r"(low ? 0xAA88 : 0xBB99));
    return made;
}
/* a + b, by the pipe of multiplications: that of minima is what binds. Blocks have one layer. */
DM_DEVICE uint32_t mc_plus(uint32_t a, uint32_t b) {
    uint32_t made;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(made) : "r"(a), "r"(blockDim.z), "r"(b));
    return made;
}
/* The same value, but nothing is known of it, save that pointers are to global memory: what was found from it before is not kept in
 * registers until here, and what is found from it later is not taken apart. */
template <class T> DM_DEVICE T mc_forget(T value) {
    if constexpr (sizeof(T) == 8) {
        asm volatile("" : "+l"(value));
        __builtin_assume(__isGlobal(value));
    } else
        asm volatile("" : "+r"(value));
    return value;
}
/* a b, of which with a sum after it compilers make more than one instruction. */
DM_DEVICE uint64_t mc_wide(uint32_t a, uint32_t b) {
    uint64_t made;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(made) : "r"(a), "r"(b));
    return made;
}
/* a b + c, rounded down. */
DM_DEVICE float mc_fma_down(float a, float b, float c) { return __fmaf_rd(a, b, c); }
/* n 2^by, without what is beyond 32 bits: for any `by`, in one instruction. */
DM_DEVICE uint32_t mc_shifted(uint32_t n, uint32_t by) {
    uint32_t made;
    asm("shl.b32 %0, %1, %2;" : "=r"(made) : "r"(n), "r"(by));
    return made;
}
#else
DM_DEVICE float mc_per_root(float x) { return rsqrtf(x); }
DM_DEVICE float mc_near_root(float x) { return __fsqrt_rn(x); }
DM_DEVICE uint32_t mc_signs(uint32_t halves, bool low) { return (halves >> (low ? 7 : 15) & 0x00010001) * 0xFFFF; }
DM_DEVICE uint32_t mc_plus(uint32_t a, uint32_t b) { return a + b; }
template <class T> DM_DEVICE T mc_forget(T value) { return value; }
DM_DEVICE uint64_t mc_wide(uint32_t a, uint32_t b) { return (uint64_t)a * b; }
DM_DEVICE float mc_fma_down(float a, float b, float c) {
    const double sum = (double)a * (double)b + (double)c;
    const float near = (float)sum;
    return (double)near > sum ? nextafterf(near, -INFINITY) : near;
}
DM_DEVICE uint32_t mc_shifted(uint32_t n, uint32_t by) { return by < 32 ? n << by : 0; }
#endif

/* sqrtf of an integer below 2^24, correctly rounded: a step of Newton's from the approximate 1 / sqrt, with the rest taken
 * exactly. (A GPU has been through all of them.) Of other numbers above 2^-60 at most one place off. */
DM_DEVICE float mc_root(float x) {
    const float r = mc_per_root(x + 1e-30f), s = x * r;
    return fmaf(fmaf(-s, s, x), 0.5f * r, s);
}

/* sqrtf of an integer below 2^32, correctly rounded. The root s of float(n), rounded down, is less than that of n by no more than 1.3
 * of its last places, and more by no more than 0.3: so the nearest number is s or the next one. With s = m 2^-e, m an integer of 24 bits,
 * it is the next one where n 2^2e > (m + 1/2)^2, which is where it is more than m^2 + m. Both are known to differ by less than 2^31, so
 * that 32 bits of each will do. (A GPU has been through all n, with 1 / sqrt as much as three places off.) */
DM_DEVICE float mc_large_root(uint32_t n) {
    const float x = (float)n, r = mc_per_root(x + 1e-30f), near = x * r;
    const uint32_t s = __float_as_uint(mc_fma_down(fmaf(-near, near, x), 0.5f * r, near));
    const uint32_t m = (s & 0x7FFFFF) | 0x800000;
    const uint32_t less = m * m + m - mc_shifted(n, 2 * (127 + 23) - 2 * (s >> 23));
    return __uint_as_float(s + (less >> 31));
}

/* Numbers from 2^24 on whose roots lie close to one of them, between two powers of two, share most of mc_large_root(). */
typedef struct mc_close {
    bool small;     /* all are below 2^24, */
    bool fits;      /* or none is, and then: */
    float half;     /* 1 / 2 root of that one */
    uint32_t lead;  /* their roots are s = m 2^-e: the bits of s less m, */
    uint32_t times; /* and 2^2e */
} mc_close;

/* The roots are at most `apart` from that of n, 1 of it for what is rounded. */
DM_DEVICE mc_close mc_close_to(uint32_t n, float apart) {
    const float x = (float)n, per_root = mc_per_root(x + 1e-30f), root = x * per_root, least = root - apart,
                most = root + apart;
    const uint32_t exponent = __float_as_uint(most) >> 23;
    const bool fits = __float_as_uint(least) >> 23 == exponent && least >= 4096 && apart <= root * (1.0f / 64);
    const mc_close made = {most < 4096, fits, 0.5f * per_root, (exponent - 1) << 23,
                           mc_shifted(1, 2 * (127 + 23 - exponent))};
    return made;
}

/* mc_large_root() of such a number, in 9 instructions, not 14. Newton's step corrects `near` by at most 3 of its last places, so that a
 * factor that is 1/64 off puts s 0.05 places farther away: the nearest number is still s or the next one. (A GPU has been through all n,
 * with factors 1/65 off and 1 / sqrt as much as three places off.) */
DM_DEVICE float mc_close_root(uint32_t n, const mc_close &close) {
    const float x = (float)n, near = x * mc_per_root(x);
    const uint32_t s = __float_as_uint(mc_fma_down(fmaf(-near, near, x), close.half, near)), m = s - close.lead;
    const uint32_t less = m * m + m - n * close.times;
    return __uint_as_float(s + (less >> 31));
}

/* u sqrt(n), rounded once, for any unit that is `simple` (core/unit.h) and any n, for which `number` may be rounded: whether u^2 n, a sum
 * of two doubles, is beyond the square of the middle between two floats, which a double holds. The difference is right to 2^-100 of u^2
 * n, and at least 2^-97 of it unless it is 0, a tie. Apart, for it is seldom called and 40 instructions long. */
DM_DEVICE_APART float mc_unit_settled(uint32_t n, float number, float root_high, double square_high,
                                      double square_low) {
    const float s = mc_root(number * root_high); /* at most one place off */
    const double whole = (double)n, v = whole * square_high, rest = fma(whole, square_high, -v) + whole * square_low;
    const bool above = (v - (double)s * (double)s) + rest > 0;
    const float other = __uint_as_float(__float_as_uint(s) + (above ? 1 : -1));
    const double middle = 0.5 * ((double)s + (double)other), beyond = (v - middle * middle) + rest;
    const bool tie = fabs(beyond) < v * 0x1p-98, nearer = tie ? __float_as_uint(s) & 1 : (beyond > 0) == above;
    return nearer ? other : s;
}

/* The same, of which most n below 2^24 need floats alone: the root is s or the next float, as in minplus/cpu (kernel_roots.h says why). */
DM_DEVICE float mc_unit_root(const mc_stage &p, uint32_t n, float number) {
    const float x = fmaf(number, p.root_high, number * p.root_lower),
                l = fmaf(number, p.root_low, fmaf(number, p.root_high, -x));
    const uint32_t s = __float_as_uint(mc_root(x));
    const float apart = fmaf(__uint_as_float(s), __uint_as_float(s + 1), -x) - l;
    if (n < DM_UNIT_EXACT_FLOAT && !(fabsf(apart) < x * 0x1p-43f))
        return __uint_as_float(s + (__float_as_uint(apart) >> 31));
    return mc_unit_settled(n, number, p.root_high, p.square_high, p.square_low);
}

/* What is given out as float: of any number. */
DM_DEVICE float mc_distance(const mc_stage &p, uint32_t n) {
    return p.in_unit ? mc_unit_root(p, n, (float)n) : mc_large_root(n);
}
/* The same apart, for edges and the like: long kernels wait for their instructions. */
DM_DEVICE_APART float mc_distance_apart(const mc_stage &p, uint32_t n) { return mc_distance(p, n); }

/* n / by; and with what is left. */
DM_DEVICE uint32_t mc_over(uint32_t n, const mc_divisor &d) { return __umulhi(2 * n, d.times) >> d.shift; }
typedef struct mc_divided {
    uint32_t whole, rest;
} mc_divided;
DM_DEVICE mc_divided mc_divide(uint32_t n, const mc_divisor &d) {
    const uint32_t whole = mc_over(n, d);
    const mc_divided made = {whole, n - whole * d.by};
    return made;
}

DM_DEVICE char *mc_row(const mc_rows &rows, int64_t plane, int32_t y) {
    const mc_divided at = mc_divide((uint32_t)plane, rows.inner);
    return rows.data + at.whole * rows.stride[0] + at.rest * rows.stride[1] + y * rows.stride[2];
}

/* z stage: which rows of a plane have been written. Those are planes of (y, x), one after another, the same for all y. */
DM_DEVICE const uint8_t *mc_alive(const mc_stage &p, int64_t plane) {
    return p.alive + mc_over((uint32_t)plane, p.source.inner) * (int64_t)p.height;
}

/* Whether there are entries of row y. */
DM_DEVICE bool is_known(const mc_stage &p, int32_t y) { return (uint32_t)(y - p.low) < (uint32_t)p.rows; }

/* What other blocks, of this grid or of one beside it, tell. */
template <typename T> DM_DEVICE T mc_told(const T &word) { return *(const volatile T *)&word; }

/* Entries of a strip's rows; those of the next strip are p.rows on. */
DM_DEVICE const uint2 *mc_entries(const mc_stage &p, int64_t plane, int32_t strip) {
    return (const uint2 *)p.entries + (plane * p.groups * 4 + strip) * p.rows;
}

/* Whether an entry's row has a site. */
DM_DEVICE bool has_any(uint2 entry) { return entry.x != 0 || entry.y != MC_WHOLE; }

/* A result; `none` is set where it is beyond the limit. */
DM_DEVICE void mc_store(const mc_stage &p, char *to, uint32_t d2, float root, bool *none) {
    const bool beyond = d2 > p.most;
    *none |= beyond;
    if (p.squared)
        __stcs((unsigned *)to, beyond ? p.nothing : d2 * p.factor);
    else
        __stcs((float *)to, beyond ? (float)INFINITY : root);
}

/* A site's squared distance by its offset within the plane. */
DM_DEVICE int32_t mc_offset_square(const mc_stage &p, uint32_t offset) {
    const int32_t dy = (int32_t)offset >> 16, dx = (int16_t)offset;
    /* Unsigned, for what was never written is squared as well (minplus_cuda_tile_rows.cuh). */
    const uint32_t square =
        (uint32_t)p.source_w2[0] * (uint32_t)(dy * dy) + (uint32_t)p.source_w2[1] * (uint32_t)(dx * dx);
    return offset == MC_NO_OFFSET ? (int32_t)MC_NOTHING : (int32_t)square;
}

/* How far from column x the site of row j lies, which is wx2 g^2 = f away along the row; the left one of two. */
DM_DEVICE int32_t mc_site_along(const mc_stage &p, uint2 entry, int32_t x, uint32_t f) {
    const uint32_t at = entry.x << (31 - x % 32);
    const int32_t left = at ? __clz((int)at) : (int32_t)(entry.y & MC_NONE) + x % 32 + 1;
    /* g is a whole number below 2^16: roundings cannot reach the next. */
    const int32_t g = __float2int_rn(mc_near_root((float)f * p.per_wx2));
    return g == left ? -g : g;
}

/* A plane, as results with sites need it: its first pixel's places, and its linear index. */
typedef struct mc_place {
    const uint2 *entries; /* plane stage */
    const char *source;   /* z stage */
    char *target, *site;
    int64_t index;
} mc_place;

DM_DEVICE mc_place mc_place_of(const mc_stage &p, int64_t plane) {
    const mc_divided q = mc_divide((uint32_t)plane, p.site.inner);
    mc_place made;
    made.entries = mc_entries(p, plane, 0);
    made.source = p.source.data ? mc_row(p.source, plane, 0) : NULL;
    made.target = p.target.data ? mc_row(p.target, plane, 0) : NULL;
    made.site = p.site.data + q.whole * p.site.stride[0] + q.rest * p.site.stride[1];
    made.index = p.index_first + q.whole * p.linear[0] + q.rest * p.linear[1];
    return made;
}

/* A pixel's result with its site, k rows and dx columns on and, in the z stage, `across` of what lies between its planes.
 * `target` and `site` are where they go. */
DM_DEVICE void mc_store_found(const mc_stage &p, const mc_place &at, char *target, char *site, int32_t y, int32_t x,
                              uint32_t d2, int32_t across, int32_t k, int32_t dx, float root, bool *none) {
    const bool beyond = d2 > p.most;
    if (at.target)
        mc_store(p, target, d2, root, none);
    *none |= beyond;
    if (p.sites == MC_SITES_OFFSET)
        __stcg((unsigned *)site, beyond ? MC_NO_OFFSET : (uint32_t)k << 16 | (uint16_t)dx);
    else if (p.sites == MC_SITES_INT32) /* fewer than 2^31 elements */
        __stcs((int *)site, beyond ? DISTMAP_INDEX_NONE
                                   : (int)at.index + across * (int)p.linear[1] + (y + k) * (int)p.linear[2] + x + dx);
    else
        *(int64_t *)site =
            beyond ? DISTMAP_INDEX_NONE : at.index + across * p.linear[1] + (y + k) * p.linear[2] + x + dx;
}

/* The same of the site of row y + k: of a plane, or by the offset in the plane that row y + k of the z stage belongs to. */
DM_DEVICE void mc_store_site(const mc_stage &p, const mc_place &at, char *target, char *site, int32_t y, int32_t x,
                             uint32_t d2, int32_t k, float root, bool *none) {
    int32_t dx = 0, across = 0;
    if (d2 <= p.most && at.source) {
        const uint32_t offset = *(const uint32_t *)(at.source + (y + k) * p.source.stride[2] + (int64_t)x * 4);
        across = (int32_t)offset >> 16, dx = (int16_t)offset;
    } else if (d2 <= p.most) {
        dx = mc_site_along(p, at.entries[x / 32 * (int64_t)p.rows + y + k], x, d2 - (uint32_t)(p.wy2 * k * k));
    }
    mc_store_found(p, at, target, site, y, x, d2, across, k, dx, root, none);
}

/* A near search leaves so many rows from row y of a strip on, which lie in one unit, to the other searches. */
DM_DEVICE void mc_leave_open(const mc_stage &p, int64_t plane, int32_t y, int32_t rows, int32_t strip, mc_left why) {
    if (strip * 32 >= p.width)
        return;
    const int64_t at = plane * p.strips + strip;
    const int32_t first = y % MC_UNIT / MC_FILL, end = (y % MC_UNIT + rows + MC_FILL - 1) / MC_FILL;
    const uintptr_t byte = (uintptr_t)(p.open + at * p.units + y / MC_UNIT);
    atomicOr((uint32_t *)(byte & ~(uintptr_t)3), ((1u << end) - (1u << first)) << byte % 4 * 8);
    if (p.few)
        atomicAdd(p.open_rows + at, (uint32_t)rows);
    p.left[at * 2 + why] = true;
    p.any_open[why] = true;
}

DM_DEVICE void mc_raise(const mc_stage &p, bool none) {
    if (none && p.flags)
        atomicOr(p.flags, (unsigned)DISTMAP_FLAG_NO_SITE);
}

#endif
