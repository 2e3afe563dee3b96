/* A row's own distances, R: the first of chamfer/cpu's operations. A template as kernel_lane.h; NAME(at)(lane, index) is a
 * lane whose site, if lanes have one, lies `index` elements farther on, and NAME(outside) brings the carries in.
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
            row[x] = s->site[x] ? NAME(at)(0, s->index + x) : cap;
        return;
    }
    for (size_t g = 0; g < groups; g++) {
        uint64_t bytes;
        memcpy(&bytes, s->site + CH_GROUP * g, sizeof bytes);
        pattern[g] = (uint8_t)(bytes * 0x0102040810204080u >> 56); /* byte k to bit k, the lowest byte first */
        LANE lanes[CH_GROUP];
        memcpy(lanes, near[pattern[g]], sizeof lanes);
        for (size_t k = 0; k < CH_GROUP; k++)
            lanes[k] = NAME(at)(lanes[k], s->index + CH_GROUP * g);
        memcpy(row + CH_GROUP * g, lanes, sizeof lanes);
    }
    const LANE group = (LANE)(CH_GROUP * s->step); /* the cap leaves room for it */
    LANE left = (LANE)s->left, right = (LANE)s->right;
    for (size_t g = 0; g < groups; g++) {
        const size_t h = groups - 1 - g;
        before[g] = left;
        after[h] = right;
        left = NAME(least)((LANE)(left + group), NAME(at)(near[pattern[g]][CH_GROUP - 1], s->index + CH_GROUP * g));
        right = NAME(least)((LANE)(right + group), NAME(at)(near[pattern[h]][0], s->index + CH_GROUP * h));
    }
    NAME(outside)(before, after, groups, step, row);
}
