/* skeleton/cpu: the pairs of neighbours that may be on the skeleton. A template: define T, the coordinates' type, and
 * NAME(x), a name of its own for it. Plain loops that compilers make vectors of.
 *
 * The tests of sk_pair in float32, in doubt passed. Most blocks of pairs have the same site or neighbouring ones, which
 * whole numbers tell sooner. */
#ifndef SLACK
#define SLACK 1e-5f /* more than the roundings of float32 take */
#endif

static inline __attribute__((always_inline)) bool NAME(any_apart)(const sk_edges *p, int axes, int32_t from,
                                                                  int32_t to) {
    const T *e[SK_AXES] = {p->e[0], p->e[1], p->e[2]}, *q[SK_AXES] = {p->q[0], p->q[1], p->q[2]};
    uint32_t most = 0;
    for (int32_t x = from; x < to; x++) {
        uint32_t apart = 0;
        for (int k = 0; k < axes; k++) {
            const int32_t u = e[k][x] - q[k][x];
            apart += (uint32_t)(u < 0 ? -u : u);
        }
        most = apart > most ? apart : most;
    }
    return most > 1;
}

static inline __attribute__((always_inline)) void NAME(filter)(const sk_edges *p, int axes, distmap_pruning pruning,
                                                               int32_t from, int32_t to) {
    const T *e[SK_AXES] = {p->e[0], p->e[1], p->e[2]}, *q[SK_AXES] = {p->q[0], p->q[1], p->q[2]};
    const int32_t at[SK_AXES] = {p->at[0], p->at[1], p->at[2]};
    const int32_t step[SK_AXES] = {p->step[0], p->step[1], p->step[2]};
    const int32_t slope[SK_AXES] = {p->slope[0], p->slope[1], p->slope[2]};
    const float w2[SK_AXES] = {p->w2[0], p->w2[1], p->w2[2]}, gamma2 = p->gamma2, h2 = p->h2, more = p->more;
    uint8_t *pairs = p->pairs;
    INDEPENDENT
    for (int32_t x = from; x < to; x++) {
        float apart = 0, d = 0, ss = 0, vu = 0;
        for (int k = 0; k < axes; k++) {
            const int32_t a = e[k][x], b = q[k][x], place = at[k] + slope[k] * x;
            const float u = (float)(a - b), wu = w2[k] * u;
            const float s = sizeof(T) == 2 ? (float)(2 * place + step[k] - (a + b)) /* else too much for 32 bits */
                                           : (float)(place - a) + (float)(place + step[k] - b);
            apart += fabsf(u);
            d += wu * u;
            ss += (w2[k] * s) * s;
            vu -= (float)step[k] * wu;
        }
        const float t = d - 2 * vu - more + SLACK * (d + 2 * fabsf(vu) + more);
        const float above = d * (1 + SLACK);
        const bool far = pruning == DISTMAP_PRUNING_SQUARE_ROOT ? (t >= 0) & (t * t * (1 + SLACK) >= h2 * ss)
                         : pruning == DISTMAP_PRUNING_LINEAR    ? above >= gamma2 * ss
                                                                : above >= gamma2;
        pairs[x] = (apart > 1) & far;
    }
}

static inline __attribute__((always_inline)) void NAME(prune)(const sk_edges *p, int axes) {
    enum { BLOCK = 64 };
    for (int32_t x = 0; x < p->n; x += BLOCK) {
        const int32_t to = x + BLOCK < p->n ? x + BLOCK : p->n;
        if (!NAME(any_apart)(p, axes, x, to))
            memset(p->pairs + x, 0, (size_t)(to - x));
        else if (p->pruning == DISTMAP_PRUNING_SQUARE_ROOT)
            NAME(filter)(p, axes, DISTMAP_PRUNING_SQUARE_ROOT, x, to);
        else if (p->pruning == DISTMAP_PRUNING_LINEAR)
            NAME(filter)(p, axes, DISTMAP_PRUNING_LINEAR, x, to);
        else
            NAME(filter)(p, axes, DISTMAP_PRUNING_CONSTANT, x, to);
    }
}

static void NAME(edges)(const sk_edges *p) {
    p->axes == 1 ? NAME(prune)(p, 1) : p->axes == 2 ? NAME(prune)(p, 2) : NAME(prune)(p, 3);
    set_bits(p);
}
