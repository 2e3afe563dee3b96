/* Distances of a row in a unit u, rounded once: sqrt(u^2 N) for integers N < 2^24, N32 at a time, where there are fused
 * multiply-adds.
 *
 *     x + l = u^2 N      l from the product's own error, and from u^2 - float(u^2): right to 2^-47 of x
 *     s = sqrt(x)        at most one place from the result
 *     e = u^2 N - s^2    l - (s^2 - x); the difference in brackets is exact
 *     t                  the neighbour of s on the side of e: s (1 +- 1.25 2^-24) lies 0.6 to 1.3 places from it
 *     g = t - s
 *
 * The middle between s and t is nearer to s than the result is where |e| > |s g|, but for g^2 / 4. Where the two are within 2^-43 of
 * x, that and what is not exact may matter, about once in 2^18 values: a row with such a value is gone through once more, and its
 * vectors settled (core/unit.h). Some 15 instructions beside the root's.
 */

#ifdef SIMD_FUSED
/* `unsure` gathers where the result may be the other neighbour. */
static inline ALWAYS F32 unit_roots(F32 high, F32 low, const int32_t *n, M32 *unsure) {
    const F32 number = f32_signed(v32_load(n)), x = f32_mul(number, high), s = f32_sqrt(x);
    const F32 l = f32_fma(number, low, f32_fms(number, high, x)), e = f32_sub(l, f32_fms(s, s, x));
    const V32 side = v32_and(f32_bits(e), v32_set(INT32_MIN)), place = f32_bits(f32_set(1.25f * 0x1p-24f));
    const F32 t = f32_fma(s, f32_of_bits(v32_xor(place, side)), s);
    const F32 apart = f32_fms(s, f32_sub(t, s), e); /* of another sign than e where t is nearer */
    *unsure = m32_or(*unsure, f32_lt(f32_abs(apart), f32_mul(x, f32_set(0x1p-43f))));
    return f32_blend(v32_lt(v32_xor(f32_bits(apart), side), v32_set(0)), t, s);
}
#endif
