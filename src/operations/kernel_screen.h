/* skeleton/cpu: the pairs of neighbours that may be on the skeleton, where all pitches are h and coordinates below SK_SCREEN,
 * in whole numbers of 16 bits. In units of h a pair, q the next after e along axis k, is marked only where
 *
 *     constant       |u|^2 > gamma^2                              i.e.  |u|^2          >= floor(gamma^2) + 1
 *     square root    |u|^2 + 2 u_k > |s| + C >= |s|_inf + C       so    |u|^2 + 2 u_k  >= |s|_inf + floor(C)
 *
 * with u and s as in sk_pair. In smooth bodies one pair in 60 passes by that, and 90 in 100 of those are marked. A component
 * of u beyond MOST_U counts as MOST_U, which makes the left side larger than all that the right side is taken for. */
enum { MOST_U = 146, MOST_S = MOST_U * MOST_U - 2 * MOST_U - 2 };

static inline V16 magnitude(V16 a) { return v16_min(a, v16_sub(v16_set(0), a)); }

static inline __attribute__((always_inline)) void screen(const sk_edges *p, int axes, bool root) {
    static const uint16_t twice_lane[] = {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                          32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62};
    const V16 most_u = v16_set(MOST_U), zero = v16_set(0), one = v16_set(1);
    const V16 bound = v16_set((uint16_t)(p->bound + (root ? 2 * MOST_U : 0)));
    for (int32_t done = 0; done < p->n; done += N16) {
        const int32_t x = done + N16 <= p->n ? done : p->n - N16;
        V16 left = zero, right = zero;
        for (int k = 0; k < axes; k++) {
            const V16 e = v16_load((const uint16_t *)p->e[k] + x), q = v16_load((const uint16_t *)p->q[k] + x);
            const V16 u = v16_sub(e, q), c = v16_min(magnitude(u), most_u);
            left = v16_add(left, v16_mul(c, c));
            if (!root)
                continue;
            V16 s = v16_sub(v16_set((uint16_t)(2 * (p->at[k] + p->slope[k] * x) + p->step[k])), v16_add(e, q));
            if (p->slope[k])
                s = v16_add(s, v16_load(twice_lane));
            right = v16_max(right, magnitude(s));
            if (p->step[k]) { /* 2 (u_k + MOST_U); less than -MOST_U wraps, and counts as the most */
                const V16 along = v16_min(v16_add(u, most_u), v16_set(2 * MOST_U));
                left = v16_add(left, v16_add(along, along));
            }
        }
        right = v16_add(bound, v16_min(right, v16_set(MOST_S)));
        v16_store_bytes(p->pairs + x, v16_blend(v16_le(right, left), one, zero));
    }
}

static void screen_edges(const sk_edges *p) {
    if (p->n < N16) {
        edges_i16(p);
        return;
    }
    if (p->pruning == DISTMAP_PRUNING_SQUARE_ROOT)
        p->axes == 1 ? screen(p, 1, true) : p->axes == 2 ? screen(p, 2, true) : screen(p, 3, true);
    else
        p->axes == 1 ? screen(p, 1, false) : p->axes == 2 ? screen(p, 2, false) : screen(p, 3, false);
    set_bits(p);
}
