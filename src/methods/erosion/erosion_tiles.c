/* The shape of a pass of erosions: see erosion_tiles.h. */
#include "methods/erosion/erosion_tiles.h"

const char *const erosion_kernels[] = {"2d", "1d", "1d-lz"};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* The tile along an axis: the whole of it, or as much of `length` as halos leave, which share it as wanted. */
static void cut(struct erosion_pass *p, int a, int64_t length, int64_t tile, int64_t steps) {
    if (p->last[a] == 0 || p->size[a] <= length) {
        p->tile[a] = least(p->size[a], length);
        return;
    }
    p->steps = length * steps / (tile + 2 * steps * p->reach);
    p->halo[a] = p->steps * p->reach;
    p->tile[a] = length - 2 * p->halo[a];
}

struct erosion_pass erosion_pass_make(const distmap_plan *plan, enum erosion_axes axes, int64_t tile, int64_t steps) {
    struct erosion_pass p = {
        .planes = dm_plane_count(plan),
        .size = {plan->shape[2], plan->shape[DM_X]},
        .w2 = {plan->w2[2], plan->w2[DM_X]},
    };
    int64_t longest = 0;
    for (int a = 0; a < 2; a++) {
        if ((axes == EROSION_ALONG_BOTH || (int)axes == a) && dm_axis_counts(plan, a + 2))
            p.last[a] = p.size[a] - 1;
        longest = most(longest, p.last[a]);
    }
    p.reach = p.last[0] > 0 && p.last[1] > 0 ? 1 : EROSION_DEEP;
    for (int a = 0; a < 2; a++)
        p.frame[a] = p.last[a] > 0 ? p.reach : 0;

    /* What the thin axis, or the one not gone along, takes of the area says what is left for the other. Where both are long,
     * both get the same. */
    const int64_t square = tile + 2 * steps + 2, strip = tile + 2 * EROSION_DEEP * (steps + 1);
    const int64_t area = most(p.last[0] > 0 && p.last[1] > 0 ? square * square : 0, EROSION_LINES * strip);
    const int thin = p.last[1] == 0 || (p.last[0] > 0 && p.size[1] < p.size[0]), wide = 1 - thin;
    const int64_t side = tile + 2 * steps * p.reach,
                  across = least(p.size[thin], p.last[thin] > 0 ? side : EROSION_LINES);
    const int64_t rest = area / (across + 2 * p.frame[thin]) - 2 * p.frame[wide];
    p.steps = divide_up(longest, p.reach);
    p.rounds = p.steps;
    cut(&p, thin, across, tile, steps);
    cut(&p, wide, p.halo[thin] > 0 ? side : rest, tile, steps);
    p.rounds = p.rounds > 0 ? divide_up(p.rounds, p.steps) : 0;
    p.count = p.planes;
    p.area = 1;
    for (int a = 0; a < 2; a++) {
        p.tiles[a] = divide_up(p.size[a], p.tile[a]);
        p.count *= p.tiles[a];
        p.area *= least(p.size[a], p.tile[a] + 2 * p.halo[a]) + 2 * p.frame[a];
    }
    return p;
}
