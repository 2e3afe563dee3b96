/* esf/cpu's rows for explicit steps, written as plain loops that compilers make vectors of. A template: define T, float
 * or double, and NAME(x), a name of its own for each. */

static void NAME(from_sites)(const uint8_t *site, size_t n, void *to) {
    T *row = to;
    for (size_t x = 0; x < n; x++)
        row[x] = site[x];
}

/* The formula of distmap_esf. Rows that follow each other share what they read. */
static inline __attribute__((always_inline)) void NAME(step_rows)(const esf_rows *r, int axes, int count,
                                                                  bool by_value) {
    const T *mid[ESF_ROWS], *back[ESF_ROWS], *front[ESF_ROWS], *up = r->up, *down = r->down;
    const uint8_t *shape[ESF_ROWS];
    T *to[ESF_ROWS];
    const T a = (T)r->a, dt = (T)r->dt;
    for (int k = 0; k < count; k++) {
        mid[k] = r->mid[k];
        back[k] = r->back[k];
        front[k] = r->front[k];
        shape[k] = r->shape[k];
        to[k] = r->to[k];
    }
    INDEPENDENT
    for (size_t x = 0; x < r->n; x++) {
        T above = axes > 1 ? up[x] : 0, v = mid[0][x];
        for (int k = 0; k < count; k++) {
            const T below = k + 1 < count ? mid[k + 1][x] : axes > 1 ? down[x] : 0;
            T s = mid[k][(ptrdiff_t)x - 1] + mid[k][x + 1];
            if (axes > 1)
                s = (above + below) + s;
            if (axes > 2)
                s = s + (back[k][x] + front[k][x]);
            const T next = a * v + dt * s;
            to[k][x] = (by_value ? v == 1 : shape[k][x] != 0) ? 1 : next;
            above = v;
            v = below;
        }
    }
}

static inline __attribute__((always_inline)) void NAME(step_axes)(const esf_rows *r, int axes) {
    if (r->count > 1)
        r->shape[0] ? NAME(step_rows)(r, axes, ESF_ROWS, false) : NAME(step_rows)(r, axes, ESF_ROWS, true);
    else
        r->shape[0] ? NAME(step_rows)(r, axes, 1, false) : NAME(step_rows)(r, axes, 1, true);
}

static void NAME(step)(const esf_rows *r, int axes) {
    axes < 2 ? NAME(step_axes)(r, 1) : axes == 2 ? NAME(step_axes)(r, 2) : NAME(step_axes)(r, 3);
}

static bool NAME(is_zero)(const void *from, size_t n) {
    const T *row = from;
    bool any = false;
    for (size_t x = 0; x < n; x++)
        any |= row[x] != 0;
    return !any;
}

static void NAME(emit)(const void *from, size_t n, char *to, int64_t stride) {
    const T *row = from;
    if (stride == sizeof(T)) {
        memcpy(to, row, n * sizeof(T));
        return;
    }
    for (size_t x = 0; x < n; x++)
        *(T *)(to + (int64_t)x * stride) = row[x];
}
