/* Distances of a row in a unit u, rounded once: sqrt(u^2 N) for integers N < 2^24, N32 at a time, where there are fused
 * multiply-adds.
 *
 *     x = u^2 N (1 - B 2^-24)    rounded, B = 5/4: with its rounding, never more than u^2 N
 *     s = sqrt(x)                rounded: the result or the float before it
 *     t                          the float after s
 *     s t - u^2 N                below 0: the result is t
 *
 * Why s and t are enough. For x in [1, 4) the last place of s is 2^-23. B moves the root down by B sqrt(x) / 4 of such places, and the
 * rounding of x moves it by at most 1 / (4 sqrt(x)) of one for x below 2, by 1 / (2 sqrt(x)) from 2 on, up or down. With B from 1 to 1.5
 * both together are from 0 to 1 place down. Other x differ from these by a power of 4.
 *
 * The middle of s and t has the square s t + (t - s)^2 / 4, where the last term is below 2^-48 of x. u^2 N is x + l,
 * l = (high N - x) + low N, right to 2^-46 of x. Where s t and u^2 N are within 2^-43 of x, what is not exact may matter, about once
 * in 2^19 values: a row with such a value is gone through once more, and its vectors settled (core/unit.h). 13 instructions beside the
 * root's own.
 */

#ifdef SIMD_FUSED
/* Bits of floats are their logarithms in units of 2^-23, but for 0.09: what is below this is less than 2^-42.8 of another, and so is
 * all that is less than 2^-43 of it. */
enum { UNIT_SURE = -(int32_t)(42.9 * (1 << 23)) };

typedef struct unit_square {
    F32 high, low, lower; /* u^2 = high + low; u^2 (1 - B 2^-24) = high + lower */
} unit_square;

static inline unit_square square_of(const dm_unit *unit) {
    return (unit_square){f32_set(unit->root_high), f32_set(unit->root_low), f32_set(unit->root_lower)};
}

/* *least gathers how far results are from the middle, as logarithms: one below UNIT_SURE may be the other neighbour. */
static inline ALWAYS F32 unit_roots(unit_square u, const int32_t *n, V32 *least) {
    const F32 number = f32_signed(v32_load(n)), x = f32_fma(number, u.high, f32_mul(number, u.lower)), s = f32_sqrt(x);
    const F32 l = f32_fma(number, u.low, f32_fms(number, u.high, x));
    const F32 t = f32_of_bits(v32_add(f32_bits(s), v32_set(1))), apart = f32_sub(f32_fms(s, t, x), l);
    *least = v32_min(*least, v32_sub(f32_bits(f32_abs(apart)), f32_bits(x)));
    return f32_of_bits(v32_sub(f32_bits(s), v32_negative(f32_bits(apart))));
}
#endif
