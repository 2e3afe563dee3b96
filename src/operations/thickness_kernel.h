/* All kernels of thickness/cpu for one instruction set. A thickness_ISA.c defines TH_TABLE, the name of its table, and
 * includes this; CMake gives that file its compiler flags. Plain loops that compilers make vectors of, but where rows are packed. */
#include <math.h>

#include "cpu/independent.h"
#include "cpu/simd.h"
#include "operations/thickness_cpu.h"

/* most[x]: the largest square of the rows at dz = +-a, dy = +-b, and 0 before and behind them. */
static void gather(const th_select *row, int a, int b) {
    float *most = row->most;
    const int64_t n = row->n;
    memset(most - 1, 0, (size_t)(n + 2) * sizeof *most);
    for (int dz = -a; dz <= a; dz += 2 * a + !a)
        for (int dy = -b; dy <= b; dy += 2 * b + !b) {
            const float *q = row->beside[3 * (dz + 1) + dy + 1];
            if (!q)
                continue;
            INDEPENDENT
            for (int64_t x = 0; x < n; x++)
                most[x] = q[x] > most[x] ? q[x] : most[x];
        }
}

/* Every q of c's ball has |q - c| <= r, r^2 = R^2 - grain; so |q - c'| <= r + |c' - c|, and all are in the ball of c' if
 *
 *     R^2(c') > r^2 + |c' - c|^2 + 2 |c' - c| r
 *
 * Among neighbours at the same distance only the largest is tested: those straight beside, and those one step along x from them. */
static void beside(const th_select *row, int a, int b) {
    const float apart2 = (a ? row->w2[0] : 0) + (b ? row->w2[1] : 0), apart = sqrtf(apart2), grow = 1 + TH_SLACK;
    const float across2 = apart2 + row->w2[2], across = sqrtf(across2), least = a || b ? 0 : 1e30f; /* not itself */
    const float *under = row->under, *twice = row->twice, *most = row->most;
    float *best = row->best;
    gather(row, a, b);
    INDEPENDENT
    for (int64_t x = 0; x < row->n; x++) {
        const float before = most[x - 1], behind = most[x + 1], q = before > behind ? before : behind;
        const float straight = most[x] - (under[x] + apart2 + twice[x] * apart) * grow - least;
        const float over = q - (under[x] + across2 + twice[x] * across) * grow;
        const float larger = straight > over ? straight : over;
        best[x] = larger > best[x] ? larger : best[x];
    }
}

/* The part of c's ball that is not in that of its neighbour c' = c + v, larger and along an axis of pitch w: the q, counted from c, with
 *
 *     -<q, v> >= b,    b = (R^2(c') - w^2 - |q|^2) / 2 >= (R^2(c') - w^2 - r^2) / 2
 *
 * so |q| >= b / w. Two neighbours on one axis with b > 0 leave nothing; those on different ones add up, being at right
 * angles: |q|^2 is at least the sum of b^2 / w^2. Where that is beyond r^2 all of the ball is in theirs. */
static void along(const th_select *row, const float *before, const float *behind, int64_t from, int64_t to, float w2) {
    const float grow = 1 + TH_SLACK, share = 0.25f / w2, all = 1e30f;
    const float *under = row->under;
    float *sum = row->sum;
    INDEPENDENT
    for (int64_t x = from; x < to; x++) {
        const float own = (under[x] + w2) * grow, p = before[x] - own, q = behind[x] - own;
        const float most = p > q ? p : q, least = p > q ? q : p;
        sum[x] += (most > 0 ? most * most * share : 0) + (least > 0 ? all : 0);
    }
}

/* Where there is no neighbour the element stands for it, which takes nothing from itself. */
static void along_axes(const th_select *row) {
    const float *r2 = row->beside[4], *const *b = row->beside;
    const int64_t n = row->n;
    for (int64_t x = 0; x < n; x++)
        row->sum[x] = 0;
    along(row, b[1] ? b[1] : r2, b[7] ? b[7] : r2, 0, n, row->w2[0]);
    along(row, b[3] ? b[3] : r2, b[5] ? b[5] : r2, 0, n, row->w2[1]);
    if (n > 1) {
        along(row, r2, r2 + 1, 0, 1, row->w2[2]);
        along(row, r2 - 1, r2 + 1, 1, n - 1, row->w2[2]);
        along(row, r2 - 1, r2, n - 1, n, row->w2[2]);
    }
    INDEPENDENT
    for (int64_t x = 0; x < n; x++) {
        const float over = row->sum[x] - row->under[x] * (1 + TH_SLACK);
        row->best[x] = over > row->best[x] ? over : row->best[x];
    }
}

static void select_row(const th_select *row) {
    const float *r2 = row->beside[4], grain = row->grain;
    float *under = row->under, *twice = row->twice, *best = row->best;
    uint8_t *left = row->left;
    const int64_t n = row->n; /* which left, of bytes, might seem to change */
    INDEPENDENT
    for (int64_t x = 0; x < n; x++) {
        const float u = r2[x] - grain;
        under[x] = u > 0 ? u : 0;
        twice[x] = 2 * sqrtf(under[x]);
        best[x] = -1;
    }
    for (int i = 0; i < 4; i++)
        beside(row, i >> 1, i & 1);
    along_axes(row);
    INDEPENDENT
    for (int64_t x = 0; x < n; x++)
        left[x] = (r2[x] > 0) & !(best[x] > 0);
    memset(left + n, 0, (size_t)(-(uint64_t)n % 64));
    for (int64_t x = 0; x < n; x += 64)
        row->bits[x / 64] = bytes_equal(left + x, 1);
}

/* A neighbour's worth is how fast the squares rise towards it; that of one that is as large is told. Its number takes the low bits,
 * so that one maximum gives both. */
static void choose(th_near *near) {
    int32_t code[TH_NEAR]; /* in the same order, being positive */
    const float r2 = near->r2[TH_CENTRE];
    for (int i = 0; i < TH_NEAR; i++) {
        const float rise = near->r2[i] - r2;
        const union {
            float worth;
            int32_t bits;
        } u = {rise > 0 ? rise * near->weight[i] : rise < 0 ? 0 : near->tie[i]};
        code[i] = (u.bits & ~(TH_NEAR - 1)) | i;
    }
    near->count = 0;
    for (int32_t before = INT32_MAX; near->count < TH_BEST;) {
        int32_t best = 0;
        for (int i = 0; i < TH_NEAR; i++) {
            const int32_t next = code[i] < before ? code[i] : 0;
            best = next > best ? next : best;
        }
        if (best < TH_NEAR)
            return;
        near->best[near->count++] = best % TH_NEAR;
        before = best;
    }
}

/* By the row's element that is farthest from a neighbour one step behind along each axis of the class. */
static void sort(const th_rows *rows, const th_packing *packing, const float w2[TH_AXES], const th_list *list,
                 int32_t *bucket) {
    const float wz = w2[0], wy = w2[1], wx = w2[2], top = list->top, per_unit = list->per_unit, least = list->least;
    const int32_t shift = packing->shift, low = (int32_t)(((uint32_t)1 << shift) - 1);
    const int32_t vz = packing->z + (list->kind & 1), vy = packing->y + (list->kind >> 1 & 1), vx = list->kind >> 2;
    const uint32_t *place = rows->place;
    const int32_t *dx = rows->dx;
    INDEPENDENT
    for (int64_t i = 0; i < rows->count; i++) {
        const int32_t at = (int32_t)place[i];
        const float z = (float)((at >> shift) - vz), y = (float)((at & low) - vy), x = (float)(dx[i] + vx);
        const float far = wz * (z * z) + wy * (y * y) + wx * (x * x);
        bucket[i] = far < least ? TH_BUCKETS : (int32_t)((top - far) * per_unit);
    }
}

/* Raises the first n elements of a block to at least `key`; the others are written as they were. */
#define REPEAT_16(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x
#define DEFINE_RAISE(T, name)                                                    \
    static const T name##_bits[2 * TH_BLOCK] = {REPEAT_16((T)-1), REPEAT_16(0)}; \
    static inline void name(char *block, int64_t n, T key) {                     \
        const T *least = name##_bits + TH_BLOCK - (n < TH_BLOCK ? n : TH_BLOCK); \
        T *squares = (T *)(void *)block;                                         \
        INDEPENDENT                                                              \
        for (int i = 0; i < TH_BLOCK; i++) {                                     \
            const T floor = least[i] & key;                                      \
            squares[i] = squares[i] < floor ? floor : squares[i];                \
        }                                                                        \
    }                                                                            \
    static inline void name##_alone(char *element, T key) {                      \
        T *square = (T *)(void *)element;                                        \
        *square = *square < key ? key : *square;                                 \
    }
DEFINE_RAISE(uint16_t, raise_16)
DEFINE_RAISE(uint32_t, raise_32)
DEFINE_RAISE(uint64_t, raise_64)

static inline void raise_alone(th_width width, char *element, uint64_t key) {
    if (width == TH_16)
        raise_16_alone(element, (uint16_t)key);
    else if (width == TH_32)
        raise_32_alone(element, (uint32_t)key);
    else
        raise_64_alone(element, key);
}

/* By whole blocks, one for most rows: lengths foretell badly. */
static inline void raise_run(th_width width, char *squares, int64_t n, uint64_t key) {
    for (; n > 0; n -= TH_BLOCK, squares += TH_BLOCK * ((int64_t)2 << width))
        if (width == TH_16)
            raise_16(squares, n, (uint16_t)key);
        else if (width == TH_32)
            raise_32(squares, n, (uint32_t)key);
        else
            raise_64(squares, n, key);
}

/* ---- Painting ---- */

/* The ball, turned round to how rows are listed. */
typedef struct turned {
    int z, y;           /* 1, or -1 */
    int64_t plane, row; /* from one to the next, in elements */
    int64_t centre;
    bool clear; /* all blocks of its rows are on the canvas, and their elements in the image */
} turned;

static inline turned turn(const th_canvas *c, const th_rows *rows, const th_near *near) {
    const int best = near->count ? near->best[0] : TH_CENTRE;
    turned t = {.z = th_step(best, 0) < 0 ? -1 : 1, .y = th_step(best, 1) < 0 ? -1 : 1};
    const int32_t *e = rows->extent;
    const int64_t nx = c->length[2], plane = c->length[1] * nx;
    t.plane = t.z * plane;
    t.row = t.y * nx;
    t.centre = c->at[0] * plane + c->at[1] * nx + c->at[2];
    t.clear = c->at[0] - e[0] >= c->from[0] && c->at[0] + e[0] < c->to[0] && c->at[1] - e[1] >= c->from[1] &&
              c->at[1] + e[1] < c->to[1] && c->at[2] >= e[2] && c->at[2] + e[2] < nx &&
              t.centre + e[0] * plane + e[1] * nx + e[2] + TH_BLOCK <= c->end;
    return t;
}

/* The elements of row k from dx = `from` to dx = `to`. */
static inline void paint_run(th_width width, const th_canvas *c, const th_rows *rows, const turned *t, int64_t k,
                             int64_t from, int64_t to, uint64_t key) {
    const uint32_t place = rows->place[k];
    const int64_t dz = (int64_t)(place >> c->packing.shift) - c->packing.z;
    const int64_t dy = (int64_t)(place & (((uint32_t)1 << c->packing.shift) - 1)) - c->packing.y;
    const int64_t column = t->centre + dz * t->plane + dy * t->row, size = (int64_t)2 << width;
    if (t->clear) {
        raise_run(width, c->squares + (column + from) * size, to - from + 1, key);
        return;
    }
    const int64_t z = c->at[0] + t->z * dz, y = c->at[1] + t->y * dy;
    if (z < c->from[0] || z >= c->to[0] || y < c->from[1] || y >= c->to[1])
        return;
    from = th_larger(from, -c->at[2]);
    to = th_smaller(to, c->length[2] - 1 - c->at[2]);
    for (; from <= to && column + to + TH_BLOCK >= c->end; to--) /* blocks would reach beyond the canvas */
        raise_alone(width, c->squares + (column + to) * size, key);
    raise_run(width, c->squares + (column + from) * size, to - from + 1, key);
}

/* The rows that neighbours do not hold, packed: no branch asks for each, as it would be foretold badly. They are asked for either
 * half, x <= 0 and x >= 0, by what is farthest from the neighbour there:
 *
 *     |q - v|^2 = |q|^2 + |v|^2 - 2 <q, v>,    and along x  dx^2, (dx + 1)^2 or max((dx - 1)^2, 1)
 *
 * Two neighbours that hold a half each hold the row. open[] has 4 k, 1 more where the first half is held, 2 where the second is. */
static inline int64_t find_open(const th_canvas *c, const th_rows *rows, const th_near *near, const turned *t,
                                float slack, int32_t *open) {
    const float *w2 = c->w2;
    F32 z[TH_BEST], y[TH_BEST], most[TH_BEST];
    int first[TH_BEST];
    for (int i = 0; i < TH_BEST; i++) {
        const int at = near->best[i < near->count ? i : 0];
        const int vz = th_step(at, 0) * t->z, vy = th_step(at, 1) * t->y;
        z[i] = f32_set(-2 * w2[0] * (float)vz);
        y[i] = f32_set(-2 * w2[1] * (float)vy);
        most[i] = f32_set(near->r2[at] - slack - (vz ? w2[0] : 0) - (vy ? w2[1] : 0));
        first[i] = 1 + th_step(at, 2);
    }
    const F32 wz = f32_set(w2[0]), wy = f32_set(w2[1]), wx = f32_set(w2[2]), unit = f32_set(1);
    const V32 low = v32_set((int32_t)(((uint32_t)1 << c->packing.shift) - 1)), none = v32_set(0);
    const V32 z0 = v32_set(c->packing.z), y0 = v32_set(c->packing.y), end = v32_set((int32_t)rows->count);
    int64_t count = 0;
    for (int64_t k = 0; k < rows->count; k += N32) {
        const V32 place = v32_load(rows->place + k), number = v32_add(v32_iota(), v32_set((int32_t)k));
        const F32 dz = f32_signed(v32_sub(v32_shr(place, c->packing.shift), z0));
        const F32 dy = f32_signed(v32_sub(v32_and(place, low), y0)), dx = f32_signed(v32_load(rows->dx + k));
        const F32 less = f32_sub(dx, unit), more = f32_add(dx, unit), less2 = f32_mul(less, less);
        const F32 plane2 = f32_add(f32_mul(wz, f32_mul(dz, dz)), f32_mul(wy, f32_mul(dy, dy)));
        const F32 along[3] = {f32_mul(wx, f32_blend(f32_lt(less2, unit), unit, less2)), f32_mul(wx, f32_mul(dx, dx)),
                              f32_mul(wx, f32_mul(more, more))};
        M32 before = v32_lt(number, none), behind = before; /* which halves are held; none as yet */
        for (int i = 0; i < TH_BEST; i++) {
            const F32 rest = f32_sub(most[i], f32_add(plane2, f32_add(f32_mul(z[i], dz), f32_mul(y[i], dy))));
            before = m32_or(before, f32_lt(along[first[i]], rest));
            behind = m32_or(behind, f32_lt(along[2 - first[i]], rest));
        }
        const V32 halves = v32_add(v32_blend(before, v32_set(1), none), v32_blend(behind, v32_set(2), none));
        const M32 is_open = m32_and(m32_not(m32_and(before, behind)), v32_lt(number, end));
        v32_compress(open + count, is_open, v32_add(v32_shl(number, 2), halves));
        count += (int64_t)m32_count(is_open);
    }
    return count;
}

static inline void paint(th_width width, const th_canvas *c, const th_rows *rows, const th_near *near, float slack,
                         uint64_t key) {
    const turned t = turn(c, rows, near);
    int32_t open[TH_PART + TH_PAD];
    if (!near->count)
        for (int64_t k = 0; k < rows->count; k++)
            paint_run(width, c, rows, &t, k, -rows->dx[k], rows->dx[k], key);
    for (int64_t from = 0; near->count && from < rows->count; from += TH_PART) {
        const th_rows part = {th_smaller(rows->count - from, TH_PART), rows->place + from, rows->dx + from,
                              rows->extent};
        const int64_t count = find_open(c, &part, near, &t, slack, open);
        for (int64_t i = 0; i < count; i++) {
            const int64_t dx = part.dx[open[i] >> 2];
            paint_run(width, c, &part, &t, open[i] >> 2, open[i] & 1 ? 0 : -dx, open[i] & 2 ? 0 : dx, key);
        }
    }
}

#define DEFINE_PAINT(width, name)                                                                               \
    static void name(const th_canvas *c, const th_rows *rows, const th_near *near, float slack, uint64_t key) { \
        paint(width, c, rows, near, slack, key);                                                                \
    }
DEFINE_PAINT(TH_16, paint_16)
DEFINE_PAINT(TH_32, paint_32)
DEFINE_PAINT(TH_64, paint_64)

const th_kernels TH_TABLE = {select_row, choose, sort, {paint_16, paint_32, paint_64}};
