/* Sites rules made ready for one element type.
 *
 * Every sites rule is one closed interval or its complement (flipped):
 *
 *     ZERO [0, 0]    NONZERO [0, 0] flipped    VALUE [lo, lo]    RANGE [lo, hi]    NONE empty
 *
 * For integers the ends are rounded inwards, ceil(lo) and floor(hi), and clipped to the type. That makes the comparison with
 * a double exact even for 64-bit elements, and it leaves one test per element in the element's own width,
 * (unsigned)(x - first) <= span, which holds for signed types too.
 */
#include <math.h>

#include "core/internal.h"

/* The interval in the integers of a type of `bits` bits, ends as bit patterns. False when it is empty. */
static bool integer_interval(double from, double to, int bits, bool is_signed, uint64_t *first, uint64_t *last) {
    const double bottom = is_signed ? -ldexp(1, bits - 1) : 0, top = ldexp(1, is_signed ? bits - 1 : bits);
    const double lo = ceil(from), hi = floor(to);
    if (!(lo <= hi) || lo >= top || hi < bottom)
        return false;
    const uint64_t lowest = is_signed ? ~(uint64_t)0 << (bits - 1) : 0;
    const uint64_t highest = ~(uint64_t)0 >> (64 - bits + is_signed);
    *first = lo <= bottom ? lowest : is_signed ? (uint64_t)(int64_t)lo : (uint64_t)lo;
    *last = hi >= top ? highest : is_signed ? (uint64_t)(int64_t)hi : (uint64_t)hi;
    return true;
}

/* Any nonzero byte counts as 1, so the interval of 0 and 1 becomes one of bytes. */
static bool bool_interval(double lo, double hi, uint64_t *first, uint64_t *last) {
    const bool zero = lo <= 0 && 0 <= hi, one = lo <= 1 && 1 <= hi;
    *first = zero ? 0 : 1;
    *last = one ? UINT8_MAX : 0;
    return zero || one;
}

dm_site_test dm_site_test_make(const distmap_sites *sites, distmap_dtype dtype) {
    dm_site_test test = {0};
    switch (sites->rule) {
    case DISTMAP_SITES_NONZERO: test.flip = true; break;
    case DISTMAP_SITES_VALUE: test.lo = test.hi = sites->lo; break;
    case DISTMAP_SITES_RANGE:
        test.lo = sites->lo;
        test.hi = sites->hi;
        break;
    case DISTMAP_SITES_NONE:
        test.lo = INFINITY;
        test.hi = -INFINITY;
        break;
    default: break;
    }
    if (dm_dtype_is_float(dtype))
        return test;
    uint64_t last = 0;
    const int bits = 8 * (int)distmap_dtype_size(dtype);
    test.empty = !(dtype == DISTMAP_BOOL
                       ? bool_interval(test.lo, test.hi, &test.first, &last)
                       : integer_interval(test.lo, test.hi, bits, dm_dtype_is_signed(dtype), &test.first, &last));
    test.span = last - test.first;
    return test;
}
