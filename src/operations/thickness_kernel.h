/* All kernels of thickness/cpu for one instruction set. A thickness_ISA.c defines TH_TABLE, the name of its table, and
 * includes this; CMake gives that file its compiler flags. Plain loops that compilers make vectors of. */
#include <math.h>

#include "cpu/independent.h"
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
    union {
        float worth[TH_NEAR];
        int32_t code[TH_NEAR]; /* in the same order, being positive */
    } u;
    const float r2 = near->r2[TH_CENTRE];
    for (int i = 0; i < TH_NEAR; i++) {
        const float rise = near->r2[i] - r2;
        u.worth[i] = rise > 0 ? rise * near->weight[i] : 0;
    }
    for (int i = 0; i < TH_NEAR; i++)
        u.code[i] = (u.code[i] & ~(TH_NEAR - 1)) | i;
    near->count = 0;
    for (int k = 0; k < TH_BEST; k++) {
        int32_t best = 0;
        for (int i = 0; i < TH_NEAR; i++)
            best = u.code[i] > best ? u.code[i] : best;
        if (best < TH_NEAR)
            return;
        near->best[near->count++] = best % TH_NEAR;
        u.code[best % TH_NEAR] = 0;
    }
}

/* Of an element q in row k the one that is farthest from the neighbour at v is an end, and
 *
 *     |q - v|^2 = |q|^2 + |v|^2 - 2 <q, v>
 */
static void compare(const th_ball *ball, const th_near *near, const float w2[TH_AXES], float slack, uint8_t *needed) {
    const int32_t *dz = ball->dz, *dy = ball->dy, *dx = ball->dx;
    const float *far2 = ball->far2;
    float z[TH_BEST], y[TH_BEST], x[TH_BEST], most[TH_BEST];
    for (int i = 0; i < TH_BEST; i++) {
        const int at = near->best[i < near->count ? i : 0];
        const int step[TH_AXES] = {at / 9 - 1, at / 3 % 3 - 1, at % 3 != 1};
        z[i] = 2 * w2[0] * (float)step[0];
        y[i] = 2 * w2[1] * (float)step[1];
        x[i] = 2 * w2[2] * (float)step[2];
        most[i] = near->r2[at] - slack - ((step[0] ? w2[0] : 0) + (step[1] ? w2[1] : 0) + (step[2] ? w2[2] : 0));
    }
    for (int64_t from = 0; from < ball->count; from += TH_PAD) {
        int32_t open[TH_PAD];
        INDEPENDENT
        for (int i = 0; i < TH_PAD; i++) {
            const int64_t k = from + i;
            const float q2 = far2[k], qz = (float)dz[k], qy = (float)dy[k], qx = (float)dx[k];
            open[i] = 1;
            for (int other = 0; other < TH_BEST; other++)
                open[i] &= q2 + x[other] * qx - y[other] * qy - z[other] * qz >= most[other];
        }
        INDEPENDENT
        for (int i = 0; i < TH_PAD; i++)
            needed[from + i] = (uint8_t)open[i];
    }
}

/* Runs are short. Blocks of 8 and of 4 are vectors, and the last one may overlap the one before. */
#define DEFINE_RAISE(T, name)                                  \
    static inline void name##_block(T *s, int n, T key) {      \
        for (int i = 0; i < n; i++)                            \
            s[i] = s[i] < key ? key : s[i];                    \
    }                                                          \
    static void name(void *squares, int64_t n, uint64_t key) { \
        T *s = squares;                                        \
        if (n >= 8) {                                          \
            for (int64_t i = 0; i + 8 < n; i += 8)             \
                name##_block(s + i, 8, (T)key);                \
            name##_block(s + n - 8, 8, (T)key);                \
        } else if (n >= 4) {                                   \
            name##_block(s, 4, (T)key);                        \
            name##_block(s + n - 4, 4, (T)key);                \
        } else {                                               \
            for (int64_t i = 0; i < n; i++)                    \
                name##_block(s + i, 1, (T)key);                \
        }                                                      \
    }
DEFINE_RAISE(uint32_t, raise_32)
DEFINE_RAISE(uint64_t, raise_64)

const th_kernels TH_TABLE = {select_row, choose, compare, {raise_32, raise_64}};
