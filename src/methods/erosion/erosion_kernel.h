/* erosion/cpu's rounds, for values of one width. A template: N, its unsigned type, and NAME(x), which gives x a name of its
 * own for it, are defined before this is included. Tested with uint32_t and uint64_t.
 *
 * A worker has two regions with frames. A function reads one and writes the other, in the box around what the function
 * before changed, and as far beyond as it reaches: elsewhere nothing can change, and both regions hold the same. So a front
 * on its way through a tile costs what the front does.
 */

struct NAME(box) {
    int64_t from[2], to[2];
};

/* to = min(to, first + cost, second + cost), where "none" and what leads beyond N's range is none. */
static void NAME(relax)(N *restrict to, const N *first, const N *second, int64_t count, N cost) {
    for (int64_t i = 0; i < count; i++) {
        const N nearer = first[i] < second[i] ? first[i] : second[i];
        N come = nearer + cost;
        come = come < cost ? (N)-1 : come;
        to[i] = come < to[i] ? come : to[i];
    }
}

/* One function over the box; gives the box around what it changed, empty if nothing. */
static struct NAME(box)
    NAME(erode)(const struct erosion_offer *offers, int count, const N *in, N *out, int64_t pitch, struct NAME(box) b) {
    struct NAME(box) changed = {{INT64_MAX, INT64_MAX}, {0, 0}};
    const int64_t n = b.to[1] - b.from[1];
    for (int64_t y = b.from[0]; y < b.to[0]; y++) {
        const N *own = in + y * pitch + b.from[1];
        N *row = out + y * pitch + b.from[1];
        memcpy(row, own, (size_t)n * sizeof *row);
        for (int k = 0; k < count; k++)
            NAME(relax)(row, own + offers[k].first, own + offers[k].second, n, (N)offers[k].cost);
        if (memcmp(row, own, (size_t)n * sizeof *row) == 0)
            continue;
        int64_t left = 0, right = n;
        while (row[left] == own[left])
            left++;
        while (row[right - 1] == own[right - 1])
            right--;
        changed.from[0] = changed.from[0] < y ? changed.from[0] : y;
        changed.to[0] = y + 1;
        if (b.from[1] + left < changed.from[1])
            changed.from[1] = b.from[1] + left;
        if (b.from[1] + right > changed.to[1])
            changed.to[1] = b.from[1] + right;
    }
    return changed;
}

/* A round of a pass for one tile, from one map to the other. `regions`: 2 * pass->area values. Whether the tile changed. */
static bool NAME(round)(const struct erosion_pass *p, const struct erosion_region *r, int64_t round, const N *from,
                        N *to, N *regions) {
    const int64_t height = r->high[0] - r->low[0], width = r->high[1] - r->low[1], pitch = width + 2 * p->frame[1];
    const int64_t framed = pitch * (height + 2 * p->frame[0]);
    N *in = regions, *out = regions + framed;
    memset(regions, 0xff, (size_t)(2 * framed) * sizeof *regions);
    in += p->frame[0] * pitch + p->frame[1];
    out += p->frame[0] * pitch + p->frame[1];
    for (int64_t y = 0; y < height; y++) {
        const N *row = from + r->first + (r->low[0] + y) * p->size[1] + r->low[1];
        memcpy(in + y * pitch, row, (size_t)width * sizeof *in);
        memcpy(out + y * pitch, row, (size_t)width * sizeof *in);
    }
    struct NAME(box) box = {{0, 0}, {height, width}};
    for (int64_t i = round * p->steps; i < (round + 1) * p->steps && box.from[0] < box.to[0]; i++) {
        struct erosion_offer offers[EROSION_OFFERS];
        const int count = erosion_offers(p, i + 1, pitch, offers);
        box = NAME(erode)(offers, count, in, out, pitch, box);
        for (int a = 0; a < 2; a++) {
            const int64_t most = a == 0 ? height : width;
            box.from[a] = box.from[a] > p->frame[a] ? box.from[a] - p->frame[a] : 0;
            box.to[a] = most - box.to[a] > p->frame[a] ? box.to[a] + p->frame[a] : most;
        }
        N *const swap = in;
        in = out;
        out = swap;
    }
    bool changed = false;
    const int64_t inside = (r->from[0] - r->low[0]) * pitch + r->from[1] - r->low[1];
    for (int64_t y = 0; y < r->to[0] - r->from[0]; y++) {
        const size_t bytes = (size_t)(r->to[1] - r->from[1]) * sizeof *in;
        const int64_t place = r->first + (r->from[0] + y) * p->size[1] + r->from[1];
        changed |= memcmp(from + place, in + inside + y * pitch, bytes) != 0;
        memcpy(to + place, in + inside + y * pitch, bytes);
    }
    return changed;
}
