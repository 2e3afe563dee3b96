/* A row's own distances, R: the first of chamfer/cpu's operations, for one lane without sites. A template as kernel_lane.h;
 * WIDER is a type that sums of a whole row fit, and
 * NAME(outside) brings the carries in.
 *
 *     R[x] = step * (elements to the nearest site of the row, on either side)
 *
 * Eight elements are a pattern of eight bits, and a table tells their distances to the nearest site among themselves; what
 * comes from outside is a carry from either side, 8 steps more for each group without a site:
 *
 *     R[8 g + k] = min(near[pattern][k], before + (k + 1) step, after + (8 - k) step)
 *
 * So there is one chain of an addition and a minimum for eight elements, whatever the image, and one from either end go
 * together; the rest is vectors. */

static void NAME(start)(const ch_start *s, void *to) {
    LANE *row = to, *before = s->before, *after = s->after;
    uint8_t *pattern = s->pattern;
    const LANE(*near)[CH_GROUP] = s->near;
    const size_t groups = s->groups;
    const LANE cap = (LANE)s->cap, step = (LANE)s->step;
    NAME(pad)(row, CH_GROUP * groups, cap);
    if (!s->along) {
        for (size_t x = 0; x < CH_GROUP * groups; x++)
            row[x] = s->site[x] ? 0 : cap;
        return;
    }
    for (size_t g = 0; g < groups; g++) {
        uint64_t bytes;
        memcpy(&bytes, s->site + CH_GROUP * g, sizeof bytes);
        pattern[g] = (uint8_t)(bytes * 0x0102040810204080u >> 56); /* byte k to bit k, the lowest byte first */
        memcpy(row + CH_GROUP * g, near[pattern[g]], sizeof *near);
    }
    const WIDER group = (WIDER)(CH_GROUP * s->step);
    WIDER left = (WIDER)s->left, right = (WIDER)s->right;
    for (size_t g = 0; g < groups; g++) {
        const size_t h = groups - 1 - g;
        const WIDER last = near[pattern[g]][CH_GROUP - 1], first = near[pattern[h]][0];
        before[g] = (LANE)(left < cap ? left : cap);
        after[h] = (LANE)(right < cap ? right : cap);
        left = left + group < last ? left + group : last;
        right = right + group < first ? right + group : first;
    }
    NAME(outside)(before, after, groups, step, row);
}
