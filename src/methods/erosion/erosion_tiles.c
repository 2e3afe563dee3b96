/* The shape of a pass of erosions: see erosion_tiles.h. */
#include "methods/erosion/erosion_tiles.h"

enum { LINES = 16, DEEP = 8 }; /* lines that go together, and one function's reach, where a pass is one-dimensional */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
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
        .reach = axes == EROSION_ALONG_BOTH ? 1 : DEEP,
    };
    int64_t functions = 0;
    for (int a = 0; a < 2; a++) {
        if ((axes == EROSION_ALONG_BOTH || (int)axes == a) && dm_axis_counts(plan, a + 2))
            p.last[a] = p.size[a] - 1;
        if (p.last[a] > 0)
            p.frame[a] = p.reach;
        if (functions < divide_up(p.last[a], p.reach))
            functions = divide_up(p.last[a], p.reach);
    }
    /* The area of an ordinary region; the axis that is thin, or not walked along, says what is left for the other. Where both
     * are long, each gets what it would alone. */
    const int64_t side = tile + 2 * steps * p.reach, other = axes == EROSION_ALONG_BOTH ? side : LINES;
    const int64_t area = (side + 2 * p.reach) * (other + (axes == EROSION_ALONG_BOTH ? 2 * p.reach : 0));
    const int thin = p.last[1] == 0 || (p.last[0] > 0 && p.size[1] < p.size[0]), wide = 1 - thin;
    const int64_t across = least(p.size[thin], p.last[thin] > 0 ? side : least(other, tile));
    p.steps = functions;
    cut(&p, thin, across, tile, steps);
    cut(&p, wide, area / (across + 2 * p.frame[thin]) - 2 * p.frame[wide], tile, steps);
    p.count = p.planes;
    p.area = 1;
    for (int a = 0; a < 2; a++) {
        p.tiles[a] = divide_up(p.size[a], p.tile[a]);
        p.count *= p.tiles[a];
        p.area *= least(p.size[a], p.tile[a] + 2 * p.halo[a]) + 2 * p.frame[a];
    }
    p.rounds = functions > 0 ? divide_up(functions, p.steps) : 0;
    return p;
}
