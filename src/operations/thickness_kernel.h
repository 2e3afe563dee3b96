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

static void measure(const th_ball *ball, const float w2[TH_AXES], const int step[TH_AXES], float *reach) {
    const float z = 2 * w2[0] * (float)step[0], y = 2 * w2[1] * (float)step[1], x = 2 * w2[2] * (float)step[2];
    const float apart2 = (step[0] ? w2[0] : 0) + (step[1] ? w2[1] : 0) + (step[2] ? w2[2] : 0);
    const int32_t *dz = ball->dz, *dy = ball->dy, *dx = ball->dx;
    const float *far2 = ball->far2;
    INDEPENDENT
    for (int64_t k = 0; k < ball->count; k++)
        reach[k] = far2[k] + apart2 + x * (float)dx[k] - y * (float)dy[k] - z * (float)dz[k];
    for (int64_t k = ball->count; k % TH_PAD; k++)
        reach[k] = -INFINITY;
}

static void compare(const th_ball *ball, const float *const reach[TH_BEST], const float within[TH_BEST]) {
    const float *a = reach[0], *b = reach[1], *c = reach[2];
    const float in_a = within[0], in_b = within[1], in_c = within[2];
    uint8_t *needed = ball->needed;
    const int64_t count = (ball->count + TH_PAD - 1) / TH_PAD * TH_PAD;
    INDEPENDENT
    for (int64_t k = 0; k < count; k++)
        needed[k] = (a[k] >= in_a) & (b[k] >= in_b) & (c[k] >= in_c);
}

const th_kernels TH_TABLE = {select_row, choose, measure, compare};
