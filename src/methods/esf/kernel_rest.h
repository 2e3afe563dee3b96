/* esf/cpu's rows for the state at rest, plain loops as in kernel_step.h. A template: define T and NAME(x), as there;
 * BITS, the unsigned integer as wide; and BELOW_ONE, the largest value below 1. */

/* Left of `d v` and `f` in the equation of a level, differences first, see esf_rest.c. */
static inline __attribute__((always_inline)) T NAME(differences)(const esf_stencil *p, size_t x, int axes) {
    const T *mid = p->mid, v = mid[x];
    T sum = (mid[(ptrdiff_t)x - 1] - v) + (mid[x + 1] - v);
    if (axes > 1)
        sum = ((((const T *)p->up)[x] - v) + (((const T *)p->down)[x] - v)) + sum;
    if (axes > 2)
        sum = sum + ((((const T *)p->back)[x] - v) + (((const T *)p->front)[x] - v));
    return sum;
}

static inline __attribute__((always_inline)) T NAME(remains)(const esf_stencil *p, size_t x, int axes, bool finest) {
    const T v = ((const T *)p->mid)[x], sum = NAME(differences)(p, x, axes);
    if (finest)
        return v == 1 ? 0 : sum - (T)p->decay * v;
    return (sum - ((const T *)p->d)[x] * v) - ((const T *)p->f)[x];
}

/* The finest level's v becomes `next`, which rounding or a correction may have taken out of [0, 1), where the solution
 * lies; 1 is the shape, and stays. */
static inline __attribute__((always_inline)) T NAME(within)(T v, T next) {
    const T positive = next > 0 ? next : 0, held = positive < BELOW_ONE ? positive : BELOW_ONE;
    return v == 1 ? 1 : held;
}

/* ---- Gauss-Seidel, the elements of one colour ---- */

static inline __attribute__((always_inline)) T NAME(relaxed)(const esf_stencil *p, size_t x, T degree, int axes,
                                                             bool finest) {
    const T v = ((const T *)p->mid)[x], r = NAME(remains)(p, x, axes, finest);
    if (!finest)
        return v + r / (degree + ((const T *)p->d)[x]);
    return NAME(within)(v, v + r * (1 / (degree + (T)p->decay)));
}

static inline __attribute__((always_inline)) void NAME(relax_all)(const esf_stencil *p, void *into, int axes,
                                                                  bool finest) {
    const T *mid = p->mid;
    T *to = into;
    const T degree = (T)p->degree;
    const uint32_t colour = p->colour;
    INDEPENDENT
    for (size_t x = 0; x < p->n; x++) {
        const T next = NAME(relaxed)(p, x, degree, axes, finest);
        to[x] = ((uint32_t)x + colour) & 1 ? mid[x] : next;
    }
    /* The ends have a neighbour less. */
    const size_t last = p->n - 1;
    if (!(colour & 1))
        to[0] = NAME(relaxed)(p, 0, degree - (last == 0 ? 2 : 1), axes, finest);
    if (last > 0 && !((last + colour) & 1))
        to[last] = NAME(relaxed)(p, last, degree - 1, axes, finest);
    to[-1] = to[0];
    to[p->n] = to[last];
}

static void NAME(relax)(const esf_stencil *p, void *to) {
    const int axes = p->axes < 2 ? 1 : p->axes;
    if (p->f)
        axes == 1   ? NAME(relax_all)(p, to, 1, false)
        : axes == 2 ? NAME(relax_all)(p, to, 2, false)
                    : NAME(relax_all)(p, to, 3, false);
    else
        axes == 1   ? NAME(relax_all)(p, to, 1, true)
        : axes == 2 ? NAME(relax_all)(p, to, 2, true)
                    : NAME(relax_all)(p, to, 3, true);
}

/* ---- What remains, and its largest magnitude ---- */

static inline __attribute__((always_inline)) T NAME(residual_all)(const esf_stencil *p, T *to, int axes, bool finest) {
    INDEPENDENT
    for (size_t x = 0; x < p->n; x++)
        to[x] = NAME(remains)(p, x, axes, finest);
    BITS most = 0; /* magnitudes have the order of their bits, and vectors know the larger of two integers */
    for (size_t x = 0; x < p->n; x++) {
        BITS bits;
        memcpy(&bits, &to[x], sizeof bits);
        bits = bits << 1 >> 1;
        most = bits > most ? bits : most;
    }
    T largest;
    memcpy(&largest, &most, sizeof largest);
    return largest;
}

static double NAME(residual)(const esf_stencil *p, void *to) {
    const int axes = p->axes < 2 ? 1 : p->axes;
    if (p->f)
        return axes == 1   ? NAME(residual_all)(p, to, 1, false)
               : axes == 2 ? NAME(residual_all)(p, to, 2, false)
                           : NAME(residual_all)(p, to, 3, false);
    return axes == 1   ? NAME(residual_all)(p, to, 1, true)
           : axes == 2 ? NAME(residual_all)(p, to, 2, true)
                       : NAME(residual_all)(p, to, 3, true);
}

/* ---- Coarser and finer ---- */

/* The diagonal less the grid's own part, softened for the next level: q / (1 + resistance q), where q is d, or on the
 * finest level 1/rho^2 and 1 for each neighbour on the shape. */
static void NAME(pins)(const esf_stencil *p, double resistance, void *into) {
    const T *mid = p->mid, *up = p->up, *down = p->down, *back = p->back, *front = p->front;
    const T soft = (T)resistance, decay = (T)p->decay;
    T *to = into;
    for (size_t x = 0; x < p->n; x++) {
        T q;
        if (p->d) {
            q = ((const T *)p->d)[x];
        } else {
            int shape = (mid[(ptrdiff_t)x - 1] == 1) + (mid[x + 1] == 1);
            shape += p->axes > 1 ? (up[x] == 1) + (down[x] == 1) : 0;
            shape += p->axes > 2 ? (back[x] == 1) + (front[x] == 1) : 0;
            q = mid[x] == 1 ? 0 : decay + (T)shape;
        }
        to[x] = q / (1 + soft * q);
    }
}

/* The transpose of `finer`: 1/4, 3/4, 3/4, 1/4. `row` has two elements more behind it, and one before. */
static void NAME(coarser)(void *fine, size_t n, void *coarse) {
    T *row = fine, *to = coarse;
    row[-1] = row[0];
    row[n] = n % 2 ? 0 : row[n - 1];
    row[n + 1] = 0;
    INDEPENDENT
    for (size_t x = 0; x < (n + 1) / 2; x++) {
        const T *r = row + 2 * x;
        to[x] = ((T)0.25 * r[-1] + (T)0.75 * r[0]) + ((T)0.75 * r[1] + (T)0.25 * r[2]);
    }
}

/* to += weight row */
static void NAME(add)(double weight, const void *from, size_t n, void *into) {
    const T *row = from, w = (T)weight;
    T *to = into;
    INDEPENDENT
    for (size_t x = 0; x < n; x++)
        to[x] = to[x] + w * row[x];
}

static inline __attribute__((always_inline)) T NAME(corrected)(T v, T e, bool finest) {
    return finest ? NAME(within)(v, v + e) : v + e;
}

/* to = row + e, e between the centres of cells of twice the length, of which each element takes 3/4 of its own and 1/4
 * of the one it lies nearer to. `halved`: else cells are elements. `coarse` gets one cell more on either side. */
static void NAME(finer)(const void *from, size_t n, void *coarse, bool halved, bool finest, void *into) {
    const T *row = from;
    T *e = coarse, *to = into;
    const size_t cells = halved ? (n + 1) / 2 : n;
    e[-1] = e[0];
    e[cells] = e[cells - 1];
    if (halved) {
        INDEPENDENT
        for (size_t x = 0; x < n / 2; x++) {
            const T own = (T)0.75 * e[x];
            to[2 * x] = NAME(corrected)(row[2 * x], own + (T)0.25 * e[(ptrdiff_t)x - 1], finest);
            to[2 * x + 1] = NAME(corrected)(row[2 * x + 1], own + (T)0.25 * e[x + 1], finest);
        }
        if (n % 2)
            to[n - 1] = NAME(corrected)(row[n - 1], (T)0.75 * e[n / 2] + (T)0.25 * e[(ptrdiff_t)(n / 2) - 1], finest);
    } else {
        for (size_t x = 0; x < n; x++)
            to[x] = NAME(corrected)(row[x], e[x], finest);
    }
    to[-1] = to[0];
    to[n] = to[n - 1];
}
