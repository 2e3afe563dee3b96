/* All kernels of thickness/cpu for one instruction set. A thickness_ISA.c defines TH_TABLE, the name of its table, and
 * includes this; CMake gives that file its compiler flags. Plain loops that compilers make vectors of, but where rows are packed. */
#include <math.h>

#include "cpu/independent.h"
#include "cpu/simd.h"
#include "operations/thickness_cpu.h"

/* Every q of c's ball has |q - c| <= r, r^2 = R^2 - grain; so |q - c'| <= r + |c' - c|, and all are in the ball of c' if
 *
 *     R^2(c') > r^2 + |c' - c|^2 + 2 |c' - c| r
 */
static void beside(const th_select *row, const float *other, int dx, float apart2) {
    const float apart = sqrtf(apart2), grow = 1 + TH_SLACK;
    const float *under = row->under, *twice = row->twice, *q = other + dx;
    float *best = row->best;
    const int64_t to = row->n - (dx > 0);
    INDEPENDENT
    for (int64_t x = dx < 0; x < to; x++) {
        const float over = q[x] - (under[x] + apart2 + twice[x] * apart) * grow;
        best[x] = over > best[x] ? over : best[x];
    }
}

/* What of c's ball is not in that of its neighbour c' = c + v, larger and along an axis of pitch w: the q, counted from c, with
 *
 *     -<q, v> >= b,    b = (R^2(c') - w^2 - |q|^2) / 2 >= (R^2(c') - w^2 - r^2) / 2
 *
 * so |q| >= b / w. Of two neighbours on one axis with b > 0 nothing is left; those on different ones add up, being at right
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
    INDEPENDENT
    for (int64_t x = 0; x < row->n; x++) {
        const float u = r2[x] - grain;
        under[x] = u > 0 ? u : 0;
        twice[x] = 2 * sqrtf(under[x]);
        best[x] = -1;
    }
    for (int j = 0; j < 9; j++)
        for (int dx = -1; row->beside[j] && dx <= 1; dx++)
            if (j != 4 || dx)
                beside(row, row->beside[j], dx,
                       (j / 3 != 1 ? row->w2[0] : 0) + (j % 3 != 1 ? row->w2[1] : 0) + (dx ? row->w2[2] : 0));
    along_axes(row);
}

/* A neighbour's worth is how fast the squares rise towards it. Its number takes the low bits, so that one maximum gives both. */
static void choose(th_near *near) {
    int32_t code[TH_NEAR]; /* in the same order, being positive */
    const float r2 = near->r2[TH_CENTRE];
    for (int i = 0; i < TH_NEAR; i++) {
        const float rise = near->r2[i] - r2;
        const union {
            float worth;
            int32_t bits;
        } u = {rise > 0 ? rise * near->weight[i] : 0};
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

/* Raises the first n elements of a block to at least `key`; the others are written as they were. Copies, and bits for lanes, or
 * compilers make no vectors of it. */
#define REPEAT_16(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x
#define DEFINE_RAISE(T, name)                                                                \
    static const T name##_bits[2 * TH_BLOCK] = {REPEAT_16((T)-1), REPEAT_16(0)};             \
    static inline void name(void *squares, int n, T key) {                                   \
        T block[TH_BLOCK], least[TH_BLOCK];                                                  \
        memcpy(block, squares, sizeof block);                                                \
        memcpy(least, name##_bits + TH_BLOCK - (n < TH_BLOCK ? n : TH_BLOCK), sizeof least); \
        for (int i = 0; i < TH_BLOCK; i++) {                                                 \
            least[i] &= key;                                                                 \
            block[i] = block[i] < least[i] ? least[i] : block[i];                            \
        }                                                                                    \
        memcpy(squares, block, sizeof block);                                                \
    }
DEFINE_RAISE(uint32_t, raise_32)
DEFINE_RAISE(uint64_t, raise_64)

/* By whole blocks, one for most rows: lengths foretell badly. But nothing beyond the canvas is written. */
static inline void paint_row(const th_canvas *c, const th_ball *ball, int64_t k, uint64_t key, bool wide) {
    const int64_t z = c->at[0] + ball->dz[k], y = c->at[1] + ball->dy[k];
    if (z < c->from[0] || z >= c->to[0] || y < c->from[1] || y >= c->to[1])
        return;
    const int64_t from = th_larger(c->at[2] - ball->dx[k], 0);
    const int64_t to = th_smaller(c->at[2] + ball->dx[k] + 1, c->length[2]);
    const int64_t first = (z * c->length[1] + y) * c->length[2] + from, size = wide ? 8 : 4;
    char *s = c->squares + first * size;
    int n = (int)(to - from);
    for (; n > 0 && first + (to - from + TH_BLOCK - 1) / TH_BLOCK * TH_BLOCK > c->end; n--)
        if (th_key(wide ? DM_U64 : DM_U32, s, n - 1) < key)
            memcpy(s + (n - 1) * size, &key, (size_t)size);
    for (; n > 0; n -= TH_BLOCK, s += TH_BLOCK * size)
        if (wide)
            raise_64(s, n, key);
        else
            raise_32(s, n, (uint32_t)key);
}

/* The numbers of the rows that are in none of the chosen neighbours' balls, packed: no branch asks for each, as it would be
 * foretold badly. Of an element q in a row the one that is farthest from the
 * neighbour at v is an end, and
 *
 *     |q - v|^2 = |q|^2 + |v|^2 - 2 <q, v>
 */
static inline int64_t find_open(const th_ball *ball, const th_near *near, const float w2[TH_AXES], float slack,
                                int32_t *open) {
    F32 z[TH_BEST], y[TH_BEST], x[TH_BEST], most[TH_BEST];
    for (int i = 0; i < TH_BEST; i++) {
        const int at = near->count ? near->best[i < near->count ? i : 0] : TH_CENTRE;
        const int step[TH_AXES] = {at / 9 - 1, at / 3 % 3 - 1, at % 3 != 1};
        const float apart2 = (step[0] ? w2[0] : 0) + (step[1] ? w2[1] : 0) + (step[2] ? w2[2] : 0);
        z[i] = f32_set(-2 * w2[0] * (float)step[0]);
        y[i] = f32_set(-2 * w2[1] * (float)step[1]);
        x[i] = f32_set(2 * w2[2] * (float)step[2]);
        most[i] = f32_set(near->count ? near->r2[at] - slack - apart2 : 0);
    }
    int64_t count = 0;
    for (int64_t k = 0; k < ball->count; k += N32) {
        const F32 q2 = f32_load(ball->far2 + k), qz = f32_signed(v32_load(ball->dz + k));
        const F32 qy = f32_signed(v32_load(ball->dy + k)), qx = f32_signed(v32_load(ball->dx + k));
        M32 held = f32_lt(q2, f32_set(0)); /* padding */
        for (int i = 0; i < TH_BEST; i++) {
            const F32 xy = f32_add(f32_mul(x[i], qx), f32_mul(y[i], qy));
            held = m32_or(held, f32_lt(f32_add(q2, f32_add(xy, f32_mul(z[i], qz))), most[i]));
        }
        v32_compress(open + count, m32_not(held), v32_add(v32_iota(), v32_set((int32_t)k)));
        count += (int64_t)m32_count(m32_not(held));
    }
    return count;
}

static inline void paint(const th_canvas *c, const th_ball *ball, const th_near *near, float slack, uint64_t key,
                         bool wide) {
    int32_t open[TH_PART];
    for (int64_t from = 0; from < ball->count; from += TH_PART) {
        const th_ball part = {th_smaller(ball->count - from, TH_PART), ball->dz + from, ball->dy + from,
                              ball->dx + from, ball->far2 + from};
        const int64_t count = find_open(&part, near, c->w2, slack, open);
        for (int64_t i = 0; i < count; i++)
            paint_row(c, &part, open[i], key, wide);
    }
}

static void paint_32(const th_canvas *c, const th_ball *ball, const th_near *near, float slack, uint64_t key) {
    paint(c, ball, near, slack, key, false);
}
static void paint_64(const th_canvas *c, const th_ball *ball, const th_near *near, float slack, uint64_t key) {
    paint(c, ball, near, slack, key, true);
}

const th_kernels TH_TABLE = {select_row, choose, {paint_32, paint_64}};
