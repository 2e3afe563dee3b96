/* Distances of a row in a unit u, rounded once: sqrt(u^2 N) for integers N < 2^24, N32 at a time, where there are fused
 * multiply-adds.
 *
 *     x + l = u^2 N      l from the product's own error, and from u^2 - float(u^2): right to 2^-47 of x
 *     s = sqrt(x)        at most one place from the result
 *     e = u^2 N - s^2    l - (s^2 - x); the difference in brackets is exact
 *     t                  the neighbour of s on the side of e
 *     g = t - s
 *
 * The result is t if |e| > |s g|, except for g^2 / 4. If the two are within 2^-43 of
 * x, this term and rounding errors may matter, about once in 2^18 values: a row with such a value is processed again, and its
 * vectors decided exactly (core/unit.h). About 14 instructions besides the root. Multiplications compete with the root's pipe and
 * are as few as possible, so neighbours and small fractions of x come from the bits.
 */

#ifdef SIMD_FUSED
/* The bits of a float are its logarithm in units of 2^-23, to within 0.09: a difference below this means a ratio below 2^-42.8, and
 * every ratio below 2^-43 has such a difference. */
enum { UNIT_SURE = -(int32_t)(42.9 * (1 << 23)) };

/* *least collects the distances of results from the middle, as logarithms: one below UNIT_SURE may be the other neighbour. */
static inline ALWAYS F32 unit_roots(F32 high, F32 low, const int32_t *n, V32 *least) {
    const F32 number = f32_signed(v32_load(n)), x = f32_mul(number, high), s = f32_sqrt(x);
    const F32 l = f32_fma(number, low, f32_fms(number, high, x)), e = f32_sub(l, f32_fms(s, s, x));
    const F32 t = f32_of_bits(v32_add(f32_bits(s), v32_sign(f32_bits(e)))), apart = f32_fms(s, f32_sub(t, s), e);
    *least = v32_min(*least, v32_sub(f32_bits(f32_abs(apart)), f32_bits(x)));
    /* apart is of another sign than e where t is nearer */
    return f32_blend(v32_lt(v32_xor(f32_bits(apart), f32_bits(e)), v32_set(0)), t, s);
}
#endif
